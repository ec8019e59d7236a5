#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sonde in perf's place: perf_name_test.py SONDE [script...]

Runs the shell scripts in tests/perfname/ as people's own scripts run: with `perf` first in PATH, a link to SONDE. What only
sonde does they ask for if `perf version` names it; `perf_name_test.py PERF` tries them on stock perf.
"""
import glob
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import support

SONDE = os.path.abspath(sys.argv[1])
SCRIPTS = os.path.join(HERE, "perfname")


def run(script, links):
    """A script in a folder and home of its own."""
    with tempfile.TemporaryDirectory(prefix="perfname-") as folder:
        env = dict(support.ENV, PATH=links + ":" + os.environ.get("PATH", "/usr/bin:/bin"), HOME=folder + "/home",
                   LIB=os.path.join(SCRIPTS, "lib.sh"))
        work = os.path.join(folder, "work")
        os.mkdir(env["HOME"])
        os.mkdir(work)
        return support.run(["sh", script], env=env, cwd=work)


def main():
    t = support.Report("perf's name")
    chosen = [os.path.abspath(n) for n in sys.argv[2:]] or sorted(n for n in glob.glob(os.path.join(SCRIPTS, "*.sh")) if not n.endswith("/lib.sh"))
    with tempfile.TemporaryDirectory() as links, support.recording():
        os.symlink(SONDE, os.path.join(links, "perf"))
        for script in chosen:
            r = run(script, links)
            name = os.path.basename(script)
            if r.status == support.SKIP:
                print(f"SKIP {name}: {r.out.decode().strip()}")
            else:
                t.check(name, r.status == 0, r)
    return t.finish()


if __name__ == "__main__":
    sys.exit(main())
