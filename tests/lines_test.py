#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Source lines of whole commands: lines_test.py SONDE

A recording is written here whose samples lie in sonde's own workloads, which are always built with debugging
information; script and report must name their files and lines, and only where there are some.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import support

SONDE = os.path.realpath(sys.argv[1])
BASE = 0x7f0000000000
IP_TID_TIME = 7
MMAP_SAMPLE_ID_ALL_MMAP2 = 1 << 8 | 1 << 18 | 1 << 23


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def recording(path, offsets):
    """A perf.data in which `path` is mapped whole, with a sample at each of its file offsets."""
    attr = struct.pack("<IIQQQQQ", 0, 64, 0, 1, IP_TID_TIME, 0, MMAP_SAMPLE_ID_ALL_MMAP2).ljust(64, b"\0")
    name = path.encode() + b"\0"
    name += bytes(-len(name) % 8)
    size = (os.path.getsize(path) + 4095) & ~4095
    tail = struct.pack("<IIQ", 7, 7, 1)
    data = record(10, 2, struct.pack("<IIQQQIIQQII", 7, 7, BASE, size, 0, 0, 0, 0, 0, 5, 2) + name + tail)
    for offset in offsets:
        data += record(9, 2, struct.pack("<QIIQ", BASE + offset, 7, 7, 2))
    at = 104
    entry = attr + struct.pack("<QQ", 0, 0)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", at, len(entry), at, len(entry), at + len(entry), len(data), 0, 0)
    return header + bytes(at - len(header)) + entry + data


def places():
    """{name: file offset} of the binary's functions; nothing when its code is not at its addresses less a constant."""
    sections = subprocess.run(["readelf", "-SW", SONDE], capture_output=True, text=True, check=True).stdout
    text = re.search(r"\]\s+\.text\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)", sections)
    shift = int(text[1], 16) - int(text[2], 16)
    symbols = subprocess.run(["nm", SONDE], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in symbols.splitlines() if re.search(r" [tT] ", line)]
    return {name: int(address, 16) - shift for address, _, name in rows}


def main():
    report = support.Report("lines")
    if not shutil.which("nm") or not shutil.which("readelf"):
        skip("there is no nm or readelf")
    if support.run([SONDE, "check", "-q", "feature", "dwarf"]).status != 0:
        skip("built without libdw")
    functions = places()
    wanted = [name for name in ("workload_noploop", "workload_leafloop", "leaf", "noploop", "leafloop") if name in functions]
    if not wanted:
        skip("the binary has no symbols")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as f:
            f.write(recording(SONDE, [functions[wanted[0]], 0]))
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
    """Nothing that is inlined is shown unless asked for; a chain of frames stays one line each without any."""
    plain = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym"])
    asked = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym", "--inline"])
    report.check("--inline without callchains", plain.status == 0 and plain.out == asked.out, asked.out.decode()[:300])


main()
