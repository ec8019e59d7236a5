#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Annotates what is gone when it is looked at: a program that was deleted while recording, and code made at run time.

annotate_test.py SONDE

SKIPs without a C compiler, and where the kernel lets us record nothing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check

PROGRAM = r"""
#include <time.h>
volatile unsigned long sink;
__attribute__((noinline, noclone, used)) void spin(void) { for (unsigned long i = 0; i < 3000000; i++) sink += i; }
int main(void) {
    while (clock() < CLOCKS_PER_SEC / 2)
        spin();
    return 0;
}
"""


def record(folder, name, *options):
    """A recording of a program that is deleted before its end."""
    victim, path = os.path.join(folder, "victim"), os.path.join(folder, name + ".data")
    shutil.copy(os.path.join(folder, "program"), victim)
    r = support.run([SONDE, "record", "-q", "-N", "-e", "cpu-clock:u", "-c", "1000000", *options, "-o", path, "--",
                     "sh", "-c", f"{victim}; rm {victim}"], cwd=folder)
    if r.status != 0:
        print(f"SKIP: nothing can be recorded here: {r.err}")
        sys.exit(support.SKIP)
    return path


def annotate(path, *options):
    return support.run([SONDE, "--buildid-dir", "/nonexistent", "annotate", "-i", path, *options])


def hits(text):
    return sum(int(x.split(" :")[0]) for x in text.splitlines() if re.search(r"\d :   [0-9a-f]+:", x))


def deleted(folder):
    path = record(folder, "whole", "--keep=full")
    r = annotate(path, "-s", "spin", "-n")
    text = r.out.decode()
    title = re.search(r"Disassembly of victim for cpu-clock:u \((\d+) samples", text)
    check(r.status == 0 and title and hits(text) == int(title[1]) > 0, f"a deleted program that was kept: {r}")
    report = support.run([SONDE, "report", "--stdio", "-i", path, "-n", "-s", "sym", "-t", ","]).out.decode()
    row = re.search(r"^ *[\d.]+% *, *(\d+) *,\[\.\] spin *$", report, re.M)
    check(row and title and row[1] == title[1], f"as many samples as report has: {title}, {report}")
    r = annotate(record(folder, "tables"), "-s", "spin")
    check(r.status == 1 and not r.out and "cannot annotate spin:" in r.err and "--keep=full" in r.err,
          f"a deleted program whose symbols were kept: {r}")


def made_at_run_time(folder):
    path = os.path.join(folder, "jit.data")
    r = support.run([SONDE, "record", "-q", "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "-c", "1000000", "-o", path, "--", SONDE,
                     "test", "-w", "jitdump", "0.5"], cwd=folder)
    if r.status != 0:
        print(f"no jitdump: {r.err}")
        return
    r = annotate(path, "-s", "jit_workload", "-n")
    text = r.out.decode()
    title = re.search(r" for cpu-clock:u \((\d+) samples", text)
    check(r.status == 0 and title and hits(text) == int(title[1]) > 0 and "<jit_workload>:" in text, f"code of a jitdump: {r}")


def main():
    if os.uname().machine not in ("x86_64", "aarch64") or not shutil.which("cc"):
        print("SKIP: there is no C compiler, or it is for another architecture")
        sys.exit(support.SKIP)
    if support.run([SONDE, "check", "-q", "feature", "libcapstone"]).status != 0:
        print("SKIP: built without capstone")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.c")
        with open(source, "w", encoding="ascii") as f:
            f.write(PROGRAM)
        subprocess.run(["cc", "-O1", "-Wl,--build-id", "-o", os.path.join(folder, "program"), source], check=True)
        deleted(folder)
        made_at_run_time(folder)
    sys.exit(support.status())


main()
