#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What tracing costs the traced: CPU time of `dd bs=1`, which does two system calls a block, alone and under tracers.

trace.py SONDE [BLOCKS]     under `sonde trace -s`, and with fewer blocks under `sonde trace -o`, strace and perf (if installed)

Prints for each: microseconds of CPU time a call, alone and traced, their ratio, and how many reads were counted. Each is
measured between two runs alone. Status 1 if sonde has missed a call.
"""
import os
import re
import shutil
import subprocess
import sys

INNER = """
import resource, subprocess, sys
subprocess.run(['dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1', 'count=' + sys.argv[1]], stderr=subprocess.DEVNULL)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(u.ru_utime + u.ru_stime)
"""


def seconds(tracer, blocks):
    r = subprocess.run([*tracer, sys.executable, "-c", INNER, str(blocks)], capture_output=True, text=True)
    if r.returncode:
        return None, r.stderr
    return float(r.stdout.split()[-1]), r.stderr


def measure(name, tracer, blocks):
    before, traced, after = seconds([], blocks)[0], seconds(tracer, blocks), seconds([], blocks)[0]
    if traced[0] is None:
        print(f"{name:24s} {blocks:8d} failed: {traced[1].strip()[-100:]}")
        return 0
    alone = (before + after) / 2
    reads = [int(n) for n in re.findall(r"^\s+read +(\d+)", traced[1], re.M)]
    print(f"{name:24s} {blocks:8d} {alone * 5e5 / blocks:8.3f} {traced[0] * 5e5 / blocks:8.3f} {traced[0] / alone:7.1f}x  "
          f"{max(reads) if reads else '-'}", flush=True)
    return max(reads, default=0)


def main():
    sonde, blocks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500000
    print(f"{'':24s} {'blocks':>8s} {'alone':>8s} {'traced':>8s} {'':>8s}  reads")
    counts = [measure("sonde trace -s", [sonde, "trace", "-s"], blocks) for _ in range(3)]
    measure("sonde trace -o", [sonde, "trace", "-o", os.devnull], blocks // 5)
    measure("sonde trace -F maj -o", [sonde, "trace", "-F", "maj", "-o", os.devnull], blocks // 5)
    if shutil.which("strace"):
        measure("strace -f -c", ["strace", "-f", "-c"], blocks // 10)
    if shutil.which("perf"):
        measure("perf trace -s", ["perf", "trace", "-s"], blocks // 5)
    sys.exit(min(counts) < blocks)


main()
