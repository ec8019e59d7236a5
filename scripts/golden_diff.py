#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Notes what the newest perf prints for `diff` of made recordings: golden_diff.py --perf perf OBJECT > tests/golden_diff.txt

OBJECT is compared-1.0.so of the build. Each text stands below a line with the options (tests/lib/compared.py).
"""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "lib"))
import compared


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("object")
    p.add_argument("--perf", type=shlex.split, default=["perf"])
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compared.make(folder, os.path.abspath(o.object))
        for options in compared.INVOCATIONS:
            r = subprocess.run(o.perf + ["diff", "-f", *options], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, check=True)
            print(">>>", *options)
            print(r.stdout.decode(), end="")


main()
