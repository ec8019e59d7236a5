#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the text of annotate with perf's, function by function: percentages, addresses, source lines, instructions.

annotate_equal.py SONDE PERF RECORDING... [-- OPTION...]     PERF: the newest perf, or a script that runs it

Prints a line for each recording; with -v also what differs. Status 1 if a percentage or an address does.
"""
import re
import subprocess
import sys

TITLE = re.compile(r"^ (?:Percent|Samples|Period) *\|\tSource code & Disassembly of (.*) for (.*) \((\d+) samples, .*\)$")
LABEL = re.compile(r"^ *: 5 +([0-9a-f]{8,16}) <(.*)>:$")
CODE = re.compile(r"^((?: *[0-9.]+)+) : +([0-9a-f]+):(.*)$")
SOURCE = re.compile(r"^ *: (\d+) +(.*)$")


class Function:
    def __init__(self, title):
        self.object, self.event, self.samples = title
        self.label, self.rows, self.source = None, [], []


def annotated(command):
    """{(object, event, label): Function}"""
    text = subprocess.run(command, capture_output=True).stdout.decode("utf-8", "replace")
    functions, last = [], None
    for line in text.split("\n"):
        if m := TITLE.match(line):
            last = Function(m.groups())
            functions.append(last)
        elif last is None or line.startswith("----"):
            continue
        elif m := LABEL.match(line):
            last.label = (int(m.group(1), 16), m.group(2))
        elif m := CODE.match(line):
            last.rows.append((int(m.group(2), 16), tuple(m.group(1).split()), m.group(3).strip()))
        elif m := SOURCE.match(line):
            if not m.group(2).startswith("Disassembly of section"):
                last.source.append((len(last.rows), m.group(2)))
    return {(f.object, f.event, f.label and f.label[0]): f for f in functions if f.rows}


def compare(sonde, perf, recording, options, verbose):
    ours = annotated([sonde, "annotate", "-i", recording, "--stdio"] + options)
    theirs = annotated([perf, "annotate", "-i", recording, "--stdio"] + options)
    count = dict.fromkeys(("functions", "rows", "equal", "text", "lines", "lines_equal", "samples"), 0)
    only = [k for k in theirs if k not in ours]
    bad = list(only)
    for key, b in theirs.items():
        a = ours.get(key)
        if not a:
            continue
        count["functions"] += 1
        count["samples"] += a.samples == b.samples
        mine = {r[0]: r for r in a.rows}
        for address, sums, text in b.rows:
            r = mine.get(address)
            count["rows"] += 1
            count["equal"] += bool(r and r[1] == sums)
            count["text"] += bool(r and r[2] == text)
            if not (r and r[1] == sums):
                bad.append((key, hex(address), sums, r))
            elif verbose > 1 and r[2] != text:
                print("   ", hex(address), repr(text), repr(r[2]))
        if len(mine) != len(b.rows):
            bad.append((key, "rows", len(mine), len(b.rows)))
        if a.samples != b.samples:
            bad.append((key, "samples", a.samples, b.samples))
        count["lines"] += len(b.source)
        count["lines_equal"] += len(set(b.source) & set(a.source)) if len(set(b.source)) == len(b.source) else sum(
            1 for s in b.source if s in a.source)
        if verbose and sorted(set(b.source)) != sorted(set(a.source)):
            for s in sorted(set(b.source) ^ set(a.source))[:20]:
                print("   ", key, "perf" if s in b.source else "sonde", s)
    print(f"{recording}: functions {count['functions']}, missing here {len(only)}, only here {len(set(ours) - set(theirs))}; "
          f"rows {count['rows']}, percentage and address equal {count['equal']}; instruction text equal {count['text']}; "
          f"source lines {count['lines']}, equal {count['lines_equal']}")
    for b in bad[:10 if not verbose else 100]:
        print("   ", b)
    return not bad


def main(argv):
    verbose = sum(a.count("v") for a in argv if re.match("-v+$", a))
    argv = [a for a in argv if not re.match("-v+$", a)]
    options = argv[argv.index("--") + 1:] if "--" in argv else []
    files = argv[:argv.index("--")] if "--" in argv else argv
    if len(files) < 3:
        sys.exit(__doc__.strip())
    equal = [compare(files[0], files[1], f, options, verbose) for f in files[2:]]
    sys.exit(0 if all(equal) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
