#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings that sonde made (recordings/make.sh) against all that the commands said of them: recordings_test.py SONDE [--update]

NAME.txt has for each command a line "$ sonde ..." and its standard output. They need no files but themselves, and are the
same on every machine. With --update the texts are written anew: look at what `git diff` shows then.
"""
import glob
import os
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings")
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import support

SONDE = os.path.abspath(sys.argv[1])
KALLSYMS = os.path.join(HERE, "kallsyms")  # without it, a machine with the recorded kernel would name more than others
COMMANDS = [
    "report --stdio",
    "report --stdio --no-children -s pid,comm,dso,sym --grades",
    "report --stdio --children -g callee,count -s sym,srcline --percent-limit 5",
    "report --stats",
    "report --tasks",
    "report --json --no-children -g none",
    "script --show-task-events --show-mmap-events",
    "script --json",
    "script -F comm,pid,tid,time,event,period,ip,sym,symoff,dso,srcline --ns",
    "evlist -v",
    "buildid-list",
    "report --header-only",
]
# Of recordings that have code, too; by capstone.
ANNOTATE = {
    "kept.data": ["annotate --stdio", "annotate leaf -n --asm-raw --no-source", "annotate leaf --show-total-period -M intel",
                  "annotate leaf -l --jump", "annotate middle --percent-type global-hits -l --inlines"],
}


def commands(name):
    known = support.run([SONDE, "check", "-q", "feature", "libcapstone"]).status == 0
    return COMMANDS + (ANNOTATE.get(name, []) if known else [])


def text(name):
    """All that is said of a recording, without a report's last line (a tip) and the time of the file."""
    out = ""
    with tempfile.TemporaryDirectory() as empty:
        for command in commands(name):
            verb, *options = command.split()
            nowhere = ["--symfs", empty, "--kallsyms", KALLSYMS] if verb in ("report", "script", "annotate") else []
            r = support.run([SONDE, "--buildid-dir", empty, verb, *options, *nowhere, "-f", "-i", name])
            out += f"$ sonde {command}\n" + r.out.decode() + (f"(status {r.status}: {r.err})\n" if r.status else "")
    return "".join(line + "\n" for line in out.splitlines() if not line.startswith(("# (Tip: ", "# captured on")))


def difference(got, want):
    got, want = got.splitlines(), want.splitlines()
    command = ""
    for at, (a, b) in enumerate(zip(got + [None] * len(want), want + [None] * len(got))):
        if b and b.startswith("$ "):
            command = b
        if a != b:
            return f"{command}: line {at + 1} is {a!r}, not {b!r}"
    return None


def main():
    report = support.Report("recordings")
    os.chdir(HERE)
    for name, got in support.parallel(text, sorted(glob.glob("*.data"))):
        path = name.replace(".data", ".txt")
        if isinstance(got, Exception):
            report.bad(name, str(got))
        elif "--update" in sys.argv:
            with open(path, "w", encoding="utf-8") as f:
                f.write(got)
            report.good("written")
        else:
            with open(path, encoding="utf-8") as f:
                wrong = difference(got, f.read())
            report.check(name, wrong is None, wrong)
    report.finish()


main()
