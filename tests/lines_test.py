#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source lines of whole commands: lines_test.py SONDE

A recording is written here whose samples lie in sonde's own workloads, which are always built with debugging
information; script and report must name their files and lines, and only where there are some.
"""
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import made
import support

SONDE = os.path.realpath(sys.argv[1])


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


def main():
    report = support.Report("lines")
    if not shutil.which("nm") or not shutil.which("readelf"):
        skip("there is no nm or readelf")
    if support.run([SONDE, "check", "-q", "feature", "dwarf"]).status != 0:
        skip("built without libdw")
    functions = made.functions(SONDE)
    wanted = [name for name in ("workload_noploop", "workload_leafloop", "leaf", "noploop", "leafloop") if name in functions]
    if not wanted:
        skip("the binary has no symbols")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as f:
            f.write(made.recording(SONDE, [[functions[wanted[0]]], [0]]))
        script = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym,srcline"]).out.decode().splitlines()
        line = re.fullmatch(r"  ([a-z]+loop\.c):([1-9]\d*)", script[1])
        report.check("script names file and line", line and wanted[0] in script[0], str(script))
        report.check("and says where else there is none", script[3] == f"  {os.path.basename(SONDE)}[0]", str(script))
        full = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,srcline", "--full-source-path"]).out.decode()
        report.check("the whole path", line and re.search(rf"/src/workload/{line[1]}:{line[2]}\n", full), full)
        keys = support.run([SONDE, "report", "-f", "--stdio", "-i", path, "-s", "srcline,srcfile"]).out.decode()
        rows = [row.split() for row in keys.splitlines() if row and not row.startswith("#")]
        want = [["50.00%", f"{line[1]}:{line[2]}", line[1]], ["50.00%", f"{os.path.basename(SONDE)}[0]"]] if line else None
        report.check("report groups by them", sorted(rows) == sorted(want or []), keys)
        check_inlined(report, folder, path, functions)
    report.finish()


def check_inlined(report, folder, path, functions):
    """What is inlined is shown in callchains only: a sample without any stays one line."""
    plain = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym", "--no-inline"])
    usual = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym"])
    report.check("inlined functions without callchains", plain.status == 0 and plain.out == usual.out, usual.out.decode()[:300])


main()
