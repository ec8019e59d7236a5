#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page (web/): built anew and compared, its sums, and in a browser: page_test.py WEB [--packages]

Its tests are written where it is, for node; this gets their packages and runs them. Without node, npm, the packages or
chromium it skips what cannot run, which fails where CI=true: there nothing may go missing unseen.
"""
import fcntl
import os
import shutil
import subprocess
import sys

SKIP = 77
WEB = os.path.abspath(sys.argv[1])
SECONDS = 2400  # a guard against endless loops only
CI = os.environ.get("CI") == "true"


def missing(what):
    print(f"SKIP: {what}")
    sys.exit(1 if CI else SKIP)


def current():
    """Whether the installed packages are those of the lock file: npm leaves its own copy of it beside them."""
    lock, installed = (os.path.join(WEB, p) for p in ("package-lock.json", "node_modules/.package-lock.json"))
    return os.path.exists(installed) and os.path.getmtime(installed) >= os.path.getmtime(lock)


def packages():
    """Gets the packages that the tests need, unless they are there. Two tests may want them at the same time."""
    for program in ("node", "npm"):
        if not shutil.which(program):
            missing(f"{program} is not installed")
    with open(os.path.join(WEB, "package.json"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        install()


def install():
    if not current():
        r = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--prefix", WEB], stdin=subprocess.DEVNULL, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        if r.returncode != 0:
            print(r.stdout[-2000:])
            missing("npm cannot get the packages that the page is built with")


def main():
    packages()
    if "--packages" in sys.argv[2:]:
        if not any(shutil.which(p) for p in ("chromium", "chromium-browser", "google-chrome")):
            missing("chromium is not installed")
        return
    sys.exit(subprocess.run(["node", "test/run.mjs"], cwd=WEB, stdin=subprocess.DEVNULL, timeout=SECONDS).returncode)


if __name__ == "__main__":
    main()
