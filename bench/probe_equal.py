#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `probe` makes of a program's functions with what another perf makes of them. Nothing is set.

probe_equal.py SONDE PERF FILE [COUNT [SEED]]     COUNT functions are drawn (default 200)

PERF is a command that takes perf's arguments. For each function: `-D 'FUNC $params'` (address, registers and types),
`-L FUNC` and `-V FUNC`; and the names that `-F` lists. Prints one line a difference, then a table:

  equal   the same text
  sonde   only sonde has an answer    perf    only perf has one
  differ  both have, and they differ  neither

A difference is no verdict: which of the two is right is told by the program's own words (tests/live/probe_test.py).
"""
import collections
import random
import re
import subprocess
import sys

SONDE, PERF, FILE = sys.argv[1:4]
COUNT = int(sys.argv[4]) if len(sys.argv) > 4 else 200
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1


def run(program, *words):
    """Standard output; empty when it failed."""
    r = subprocess.run([program, "probe", "-x", FILE, *words], capture_output=True, text=True, errors="replace", check=False)
    return r.stdout if r.returncode == 0 else ""


def arguments(text):
    """{(place, names and places of arguments)} of definitions; the events' own names are left out."""
    found = set()
    for line in text.splitlines():
        m = re.match(r"[pr]\S* (\S+:0x[0-9a-f]+)(.*)", line)
        if m:
            found.add((m[1].rsplit(":", 1)[1], tuple(m[2].split())))
    return found


def lines(text):
    return tuple(line.rstrip() for line in text.splitlines())


def variables(text):
    return tuple(sorted(line.rstrip() for line in text.splitlines() if line.startswith("\t\t") and "No matched" not in line))


def verdict(ours, theirs):
    if ours and theirs:
        return "equal" if ours == theirs else "differ"
    return "sonde" if ours else "perf" if theirs else "neither"


def main():
    functions = {name.strip() for name in run(SONDE, "-F", "--no-demangle").splitlines()}
    theirs = {name.strip() for name in run(PERF, "-F", "--no-demangle").splitlines()}
    plain = sorted(f for f in functions if re.fullmatch(r"[\w.()*]+", f) and not f.startswith("_Z"))
    random.Random(SEED).shuffle(plain)
    table = collections.Counter()
    for f in plain[:COUNT]:
        for kind, option, words, read in (("definition", "-D", f"{f} $params", arguments), ("lines", "-L", f, lines),
                                          ("variables", "-V", f, variables)):
            a, b = read(run(SONDE, option, words)), read(run(PERF, option, words))
            v = verdict(a, b)
            table[kind, v] += 1
            if v in ("differ", "perf"):
                print(f"{v} {kind} {f}\n  sonde: {a}\n  perf:  {b}")
    print(f"\n{FILE}: {min(len(plain), COUNT)} functions, seed {SEED}")
    for kind in ("definition", "lines", "variables"):
        print(f"  {kind:<12}" + "".join(f"{v} {table[kind, v]:<6}" for v in ("equal", "sonde", "perf", "differ", "neither")))
    print(f"  functions   {len(functions & theirs)} in both, {len(functions - theirs)} only sonde, {len(theirs - functions)} only perf")


if __name__ == "__main__":
    main()
