#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Notes what the newest perf prints for `report` of recordings: golden_report.py --perf perf FILE... > tests/golden_report.sums

A line is a recording's name, a set of options (REPORTS of tests/lib/golden.py), and the beginning of the SHA-256 of perf's text
without the line with the tip, which perf picks at random. Nothing is named, so that the text does not depend on the machine. What perf
cannot read has no line.
"""
import argparse
import concurrent.futures
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import golden


def sum_of(job):
    perf, folder, path, name, options, timeout = job
    try:
        r = subprocess.run(perf + golden.arguments(folder, options) + ["--stdio", "--no-inline", "-i", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    rows = any(line and line[:1] != b"#" for line in r.stdout.split(b"\n"))
    return (name, golden.digest(name, r.stdout)) if r.returncode == 0 and rows else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--perf", type=shlex.split, default=["perf"])
    p.add_argument("--timeout", type=float, default=60)
    o = p.parse_args()
    print("# What perf prints: recording, options, sum. Made by scripts/golden_report.py.")
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(o.perf, folder, os.path.abspath(f), name, options, o.timeout) for f in sorted(o.files)
                for name, options in golden.REPORTS.items()]
        for job, got in zip(jobs, pool.map(sum_of, jobs)):
            if got:
                print(os.path.basename(job[2]).split(".")[0], *got)


main()
