#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inlined functions and source lines against llvm-symbolizer: inlines_test.py SONDE [PROGRAM COUNT]

Without PROGRAM a small one is built in every form that DWARF comes in, and each tenth byte of its code is asked
about; with it, COUNT addresses of its .text, drawn anew the same way each time (for large programs).

Differences that are none:
  name      the outermost function's is the symbol table's: where one function has several names, another of them
  path      llvm-symbolizer joins "." and the like in other ways: paths are compared as they normalise
  no line   line 0 is printed without a file by one of them
  split     llvm-symbolizer 14 leaves out what is inlined with a list of ranges in a .dwo file: there the answers
            must be those that it has for the same code, built with the same options but that one
"""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import made
import support

SONDE = os.path.realpath(sys.argv[1])

SOURCE = """
#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>
template <int N> struct item { unsigned long v; bool operator<(const item &o) const { return (v ^ N) < (o.v ^ N); } };
template <int N> static inline unsigned long mix(unsigned long x) { return (x ^ x >> N) * (2 * N + 1); }
template <int N> __attribute__((noinline)) unsigned long work(unsigned long n) {
    std::vector<item<N>> v;
    for (unsigned long i = 0; i < n; i++)
        v.push_back({mix<N>(i)});
    std::sort(v.begin(), v.end());
    std::map<unsigned long, std::string> m;
    for (auto &x : v)
        m[x.v % 16] += char('a' + x.v % 26);
    return std::accumulate(v.begin(), v.end(), m.size(), [](unsigned long a, const item<N> &x) { return mix<N + 1>(a + x.v); });
}
unsigned long other(unsigned long);
int main(int c, char **) { return work<3>(c * 10) + work<7>(c * 20) + other(c) == 1; }
"""
OTHER = """
static inline __attribute__((always_inline)) unsigned long inner(unsigned long x) { return x * 7 + 1; }
static inline __attribute__((always_inline)) unsigned long outer(unsigned long x) {
    unsigned long s = 0;
    for (unsigned long i = 0; i < x; i++)
        s += inner(s ^ i);
    return s;
}
unsigned long other(unsigned long x) { return outer(x) + outer(x * 3) + inner(x); }
"""
FORMS = [
    ["g++", "-O3", "-g"],
    ["g++", "-O2", "-gdwarf-4"],
    ["g++", "-O2", "-gdwarf-3", "-gstrict-dwarf"],
    ["g++", "-O2", "-g", "-gz"],
    ["g++", "-O2", "-g", "-gsplit-dwarf"],
    ["g++", "-O2", "-gdwarf-4", "-gsplit-dwarf"],
    ["g++", "-O2", "-g", "-flto"],
    ["clang++", "-O2", "-g"],
    ["clang++", "-O2", "-gdwarf-4"],
    ["clang++", "-O2", "-g", "-gsplit-dwarf"],
]


def text_of(program):
    """(address, offset, size) of .text"""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    m = re.search(r"\]\s+\.text\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)\s+([0-9a-f]+)", sections)
    return tuple(int(x, 16) for x in m.groups())


def place(path, line):
    return (os.path.normpath(path), line) if path and path != "??" and line else None


def llvm_answers(program, addresses):
    asked = subprocess.run(["llvm-symbolizer", "--no-demangle", "--inlines", "-e", program],
                           input="".join(f"0x{a:x}\n" for a in addresses), capture_output=True, text=True, check=True).stdout
    answers = []
    for block in asked.split("\n\n")[:len(addresses)]:
        lines = block.splitlines()
        frames = []
        for name, where in zip(lines[::2], lines[1::2]):
            path, line, _ = where.rsplit(":", 2)
            frames.append((name, place(path, int(line))))
        answers.append(frames)
    return answers


def sonde_answers(folder, program, offsets):
    path = os.path.join(folder, "perf.data")
    with open(path, "wb") as f:
        f.write(made.recording(program, [[offset, 0] for offset in offsets]))
    out = support.run([SONDE, "script", "-f", "-i", path, "--no-demangle", "-F", "ip,sym,srcline",
                       "--full-source-path"]).out.decode()
    answers = []
    for block in out.strip("\n").split("\n\n"):
        frames = []
        for name, where in re.findall(r"^\s*[0-9a-f]+ (\S.*)\n  (.*?)(?: \(inlined\))?$", block, re.M):
            m = re.fullmatch(r"(.*):(\d+)", where)
            frames.append((name, place(m[1], int(m[2])) if m else None))
        answers.append(frames[:-1])  # the second frame is there for the chain only
    return answers


def compare(report, what, folder, program, addresses, shift, judge=None):
    theirs = llvm_answers(judge or program, addresses)
    ours = sonde_answers(folder, program, [a - shift for a in addresses])
    report.check(f"{what}: an answer to each question", len(ours) == len(theirs), f"{len(ours)} {len(theirs)}")
    different, deep = [], 0
    for address, a, b in zip(addresses, ours, theirs):
        deep += len(b) > 1
        names = [n for n, _ in a[:-1]] == [n for n, _ in b[:-1]]
        if len(a) != len(b) or not names or [w for _, w in a] != [w for _, w in b]:
            different.append(f"0x{address:x}\n  ours   {a}\n  theirs {b}")
    print(f"{what}: {len(addresses)} addresses, {deep} of them in inlined code, {len(different)} differ")
    return different, deep


def main():
    report = support.Report("inlines")
    for tool in ("llvm-symbolizer", "readelf"):
        if not shutil.which(tool):
            ci = os.environ.get("CI") == "true"
            print(f"{'FAIL' if ci else 'SKIP'}: there is no {tool}")
            sys.exit(1 if ci else support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 3:
            program = os.path.realpath(sys.argv[2])
            address, offset, size = text_of(program)
            draw = random.Random(1)
            addresses = [address + draw.randrange(size) for _ in range(int(sys.argv[3]))]
            different, _ = compare(report, program, folder, program, addresses, address - offset)
            report.check(f"{program}: equal", not different, "\n".join(different[:20]))
            report.finish()
            return
        for source, name in ((SOURCE, "main.cc"), (OTHER, "other.cc")):
            with open(os.path.join(folder, name), "w") as f:
                f.write(source)
        for form in FORMS:
            if shutil.which(form[0]):
                check_form(report, folder, form)
    report.finish()


def build(folder, form):
    """The program, or None where this compiler cannot make it. Objects come first: .dwo files lie beside these."""
    place = os.path.join(folder, "".join(form))
    os.mkdir(place)
    objects = []
    for name in ("main", "other"):
        subprocess.run([*form, "-c", f"../{name}.cc", "-o", f"{name}.o"], cwd=place, capture_output=True)
        objects.append(f"{name}.o")
    linked = subprocess.run([*form, *objects, "-o", "program"], cwd=place, capture_output=True)
    return None if linked.returncode else os.path.join(place, "program")


def check_form(report, folder, form):
    what = " ".join(form)
    program, judge = build(folder, form), None
    if not program:
        print(f"{what}: not built here")
        return
    if "-gsplit-dwarf" in form:
        judge = os.path.join(folder, "".join(x for x in form if x != "-gsplit-dwarf"), "program")
        if not os.path.exists(judge):
            judge = build(folder, [x for x in form if x != "-gsplit-dwarf"])
        report.check(f"{what}: the same code as when it is not split", text_of(program) == text_of(judge), "")
    address, offset, size = text_of(program)
    addresses = [address + at for at in range(0, size, 10)]
    different, deep = compare(report, what, folder, program, addresses, address - offset, judge)
    report.check(f"{what}: equal", not different, "\n".join(different[:5]))
    report.check(f"{what}: with inlined code", deep, "")
    if form == FORMS[0]:
        check_export(report, folder, program, addresses, address - offset)
    if judge:
        check_package(report, folder, what, program, judge)


def check_export(report, folder, program, addresses, shift):
    """Exports show what is inlined unless told not to, and their totals stay the same."""
    path = os.path.join(folder, "stacks.data")
    chains = llvm_answers(program, addresses)
    with open(path, "wb") as f:
        f.write(made.recording(program, [[a - shift, 0] for a in addresses]))

    def folded(*options):
        out = support.run([SONDE, "export", "folded", "-f", path, *options]).out.decode().splitlines()
        return [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in out]

    plain, inlined = folded("--no-inline"), folded()
    report.check("export: equal totals", plain and sum(n for _, n in plain) == sum(n for _, n in inlined), "")
    bare = {"_ZL5innerm": "inner", "_ZL5outerm": "outer", "_Z5otherm": "other"}
    want, found = {}, {}
    for i, chain in enumerate(chains):
        names = tuple(bare.get(name, name) for name, _ in reversed(chain))
        if names[0] == "other":
            want[names] = want.get(names, 0) + i + 1
    for stack, n in inlined:
        names = tuple(name.split("(")[0] for name in stack)
        if "other" in names:
            names = names[names.index("other"):]
            found[names] = found.get(names, 0) + n
    report.check("export: what is inlined lies in the function whose code it is", max(map(len, want)) > 1 and found == want,
                 f"{found} instead of {want}")
    report.check("export: not with --no-inline", not any("outer" in stack or "inner" in stack for stack, _ in plain), "")


def check_package(report, folder, what, program, judge):
    """Split files in one .dwp: the .dwo files are gone then. Of GCC's version 5 llvm-dwp 14 never makes an end."""
    if not shutil.which("llvm-dwp") or not what.startswith("clang"):
        return
    place = os.path.dirname(program)
    if subprocess.run(["llvm-dwp", "-e", program, "-o", program + ".dwp"], cwd=place, capture_output=True,
                      timeout=60).returncode:
        print(f"{what}: llvm-dwp cannot pack it")
        return
    for name in os.listdir(place):
        if name.endswith(".dwo"):
            os.remove(os.path.join(place, name))
    address, offset, size = text_of(program)
    addresses = [address + at for at in range(0, size, 30)]
    different, deep = compare(report, what + ", in a .dwp", folder, program, addresses, address - offset, judge)
    report.check(f"{what}, in a .dwp: equal", not different and deep, "\n".join(different[:5]))


main()
