#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many lines of a disassembly equal objdump's: disasm_equal.py [options] [FILE...]

Without files: of the C library in use.

Both disassemble all code of each file from the same places on (the symbols that objdump heads functions with); names
of symbols are left out on both sides, and where objdump has tabs spaces count as equal. A line is equal when address and text are. Needs `ninja tests/disassemble`.

    --functions    only lines inside functions whose symbols have a size: tables between them are no code
    --tool PATH    tests/disassemble, wherever it is
    --build DIR    where tests/disassemble is (default: build beside the sources)
    --intel        the Intel syntax
    --objdump NAME the objdump to compare with (default: objdump)
    --show N       the N commonest differences, by mnemonic
    --least P      status 1 when fewer than P percent of a file's lines are equal
"""
import argparse
import bisect
import collections
import os
import re
import shutil
import subprocess
import sys

HEADING = re.compile(r"^([0-9a-f]+) <.*>:$")
LINE = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
SPACES = re.compile(r"\s+")
SYMBOL = re.compile(r" <.*>(?=$|\s+//)")


def objdump_lines(args, path):
    """({address: text}, [(start, end)]) of all code."""
    command = [args.objdump, "-d", "--no-show-raw-insn", "-w"] + (["-M", "intel"] if args.intel else []) + [path]
    out = subprocess.run(command, env={**os.environ, "LC_ALL": "C"}, capture_output=True, text=True, errors="replace", check=True)
    sections, lines, starts = section_ends(args, path), {}, []
    for line in out.stdout.splitlines():
        if m := LINE.match(line):
            lines[int(m[1], 16)] = SYMBOL.sub("", m[2].rstrip()).rstrip()
        elif m := HEADING.match(line):
            starts.append(int(m[1], 16))
    starts.sort()
    ranges = []
    for start, following in zip(starts, starts[1:] + [1 << 64]):
        end = min([e for s, e in sections if s <= start < e] + [following])
        ranges.append((start, end))
    return lines, ranges


def section_ends(args, path):
    out = subprocess.run([args.objdump, "-h", "-w", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines() if " CODE" in line]
    return [(int(r[3], 16), int(r[3], 16) + int(r[2], 16)) for r in rows]


def inside_functions(path, addresses):
    """Those of the sorted addresses that symbols of functions cover."""
    spans = set()
    for option in ([], ["-D"]):
        out = subprocess.run(["nm", "-S", "--defined-only", *option, path], capture_output=True, text=True, errors="replace").stdout
        for line in out.splitlines():
            words = line.split(" ", 3)
            if len(words) == 4 and words[2] in "tTwWiu" and re.fullmatch("[0-9a-f]+", words[1]):
                spans.add((int(words[0], 16), int(words[0], 16) + int(words[1], 16)))
    inside = []
    for start, end in sorted(spans):
        inside += addresses[bisect.bisect_left(addresses, start):bisect.bisect_left(addresses, end)]
    return set(inside)


def comparable(objdump):
    out = subprocess.run([objdump, "--version"], capture_output=True, text=True).stdout
    m = re.search(r"GNU objdump.* 2\.(\d+)", out)
    return m and 38 <= int(m[1]) <= 44


def own_libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next((line.split()[-1] for line in maps if "/libc.so.6" in line), None)


def compare(args, path):
    theirs, ranges = objdump_lines(args, path)
    if args.functions:
        inside = inside_functions(path, sorted(theirs))
        theirs = {address: words for address, words in theirs.items() if address in inside}
    text = "".join(f"{s:x} {e:x}\n" for s, e in ranges)
    tool = args.tool or os.path.join(args.build, "tests", "disassemble")
    out = subprocess.run([tool, path] + (["intel"] if args.intel else []), input=text, capture_output=True, text=True, check=True)
    ours = {}
    for line in out.stdout.splitlines():
        address, _, words = line.partition("\t")
        ours[int(address, 16)] = SYMBOL.sub("", words)
    equal, missing = 0, 0
    kinds = collections.defaultdict(list)
    for address, words in theirs.items():
        if words == "...":
            continue
        mine = ours.get(address)
        if mine == words or ("\t" in words and mine and SPACES.sub(" ", words) == SPACES.sub(" ", mine)):
            equal += 1
            continue
        missing += mine is None
        kinds[words.split()[0]].append((address, mine, words))
    count = sum(w != "..." for w in theirs.values())
    percent = 100.0 * equal / count if count else 100.0
    print(f"{percent:7.3f} % of {count:8} lines equal, {count - equal:6} are not, {missing:5} of them at other addresses  {path}")
    for kind, found in sorted(kinds.items(), key=lambda k: -len(k[1]))[:args.show]:
        print(f"  {len(found):6} {kind}")
        shown = set()
        for address, mine, words in found:
            form = re.sub(r"[0-9a-f]{2,}", "N", f"{mine} {words}")
            if form not in shown and len(shown) < 3:
                shown.add(form)
                print(f"         {address:x}: {mine!r} for {words!r}")
    return percent


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--build", default=os.path.join(here, "..", "build"))
    parser.add_argument("--intel", action="store_true")
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--tool")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--least", type=float, default=0)
    args = parser.parse_args()
    if not shutil.which(args.objdump):
        print(f"SKIP: no {args.objdump}")
        return 77
    if args.least and not comparable(args.objdump):
        print("SKIP: another version of objdump than 2.38 to 2.44, which spell alike")
        return 77
    files = args.files or [own_libc()]
    if not files[0]:
        print("SKIP: no libc.so.6 here")
        return 77
    return 1 if min(compare(args, path) for path in files) < args.least else 0


if __name__ == "__main__":
    sys.exit(main())
