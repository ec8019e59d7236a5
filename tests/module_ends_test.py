#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernel modules whose maps tell too little: module_ends_test.py SONDE EXAMPLE

How far one reaches whose recorded end is none, as old perfs wrote the last one. What may tell is given in turn: nothing,
the module's file, a list of symbols, section maps, what lies above it. And one without a map, as perf leaves those that
are loaded while it records: lists of the same boot's symbols name its frames, others do not. libsonde's example prints
the same every time.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import library
import support

SONDE, EXAMPLE = map(os.path.abspath, sys.argv[1:3])
RELEASE, OSRELEASE = "4.2.0-7-test", 4
KERNEL, START = 0xffffffff81000000, 0xffffffffa0400000
KSYMBOL, KMOD_SEC_MAP = 17, 83
CODE, COLD, INIT = 0x9000, 0x800, 0x5000
SOURCE = f""".section .init.text,"ax"
.fill {INIT}, 1, 0x90
.text
.globl first, last
.type first, @function
.type last, @function
first: .fill 0x1000, 1, 0x90
.size first, 0x1000
last: .fill {CODE - 0x1000}, 1, 0x90
.size last, {CODE - 0x1000}
.section .text.unlikely,"ax"
.fill {COLD}, 1, 0x90
.data
.fill 0x20000
"""
OFFSETS = [0x10, 0x8fff, 0x9fff, 0xa000, 0x2fff0, 0x30000, 0xfffff, 0x100000, 0xffffff, 0x1000000]


def module_file(folder, release):
    """A module below a folder of its own, which is for --symfs."""
    path = os.path.join(folder, "lib/modules", release, "kernel/last.ko")
    os.makedirs(os.path.dirname(path))
    subprocess.run(["cc", "-c", "-x", "assembler", "-", "-o", path], input=SOURCE.encode(), check=True)
    return path


def recording(path, name, records=()):
    r = pd.Recording()
    r.features[OSRELEASE] = struct.pack("<I", 64) + RELEASE.encode().ljust(64, b"\0")
    r.kernel(KERNEL, 0x1000000)
    r.add(pd.MMAP, pd.KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, START, (1 << 64) - 1 - START, 0) + pd.text(name) +
          r.tail(0, 0))
    for kind, body in records:
        r.add(kind, pd.KERNEL, body + r.tail(0, 0))
    for offset in OFFSETS:
        r.sample(0, START + offset, [pd.CONTEXT_KERNEL, START + offset], misc=pd.KERNEL)
    r.write(path)


def reach(path, *args):
    """The offsets that are shown as the module's."""
    r = support.run([SONDE, "script", "-f", "-i", path, "-F", "ip,sym,dso", "-G", *args])
    lines = r.out.decode().splitlines()
    assert len(lines) == len(OFFSETS), (r.out, r.err)
    return [o for o, line in zip(OFFSETS, lines) if line.endswith(("([last])", "last.ko)"))]


def section(start, length, name, file):
    """The Linux RFC's record of one section of a module."""
    head = struct.pack("<I4xQQQHH", 0xffffffff, start, length, 0, len(name) + 1, len(file) + 1)
    return KMOD_SEC_MAP, head + (name + "\0" + file + "\0").encode().ljust((len(name) + len(file) + 9) // 8 * 8, b"\0")


def check_without_map(t, folder):
    """A module of which no record tells, beside one that was there before."""
    data, late = os.path.join(folder, "late.data"), START + 0x100000
    r = pd.Recording()
    r.kernel(KERNEL, 0x1000000)
    r.add(pd.MMAP, pd.KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, START, 0x4000, 0) + pd.text("[before]") + r.tail(0, 0))
    for at in (START + 8, late + 0x110, late + 0x210, late + 0x3000):
        r.sample(0, at, [pd.CONTEXT_KERNEL, at], misc=pd.KERNEL)
    r.write(data)
    own = ["entry ([before]) {inferred}", "first ([late]) {inferred}", "second ([late]) {inferred}", "[unknown] ([unknown]) {unknown}"]
    unknown = 3 * ["[unknown] ([unknown]) {unknown}"]
    for name, kernel, before, want in (("the same boot", 0, 0, own), ("modules elsewhere", 0, 0x10000, None),
                                       ("another kernel", 0x200000, 0, None)):
        path = os.path.join(folder, "kallsyms")
        with open(path, "w", encoding="ascii") as f:
            f.write(f"{KERNEL + kernel:x} T _text\n{KERNEL + kernel + 0xfff000:x} T _etext\n{START + before:x} t entry\t[before]\n"
                    f"{late + 0x100:x} t first\t[late]\n{late + 0x200:x} t second\t[late]\n")
        r = support.run([SONDE, "script", "-f", "-i", data, "-F", "ip,sym,dso", "--grades", "-G", "--kallsyms", path])
        got = [line.split(None, 1)[1] for line in r.out.decode().splitlines()]
        t.check(f"no map, {name}", got == want if want else got[1:] == unknown, got)
        differs = library.difference(SONDE, EXAMPLE, data, "--kallsyms", path)
        t.check(f"no map, {name}: libsonde", not differs, differs)
        r = support.run([SONDE, "report", "-f", "-i", data, "-g", "none", "-s", "dso,sym", "--stdio", "--no-children", "--kallsyms", path])
        t.check(f"no map, {name}: report", (re.search(r"\[late\] +\[k\] first", r.out.decode()) is not None) == (want == own), r.out)
        if want:
            r = support.run([SONDE, "why", "-f", "-i", data, "--symbol", "first", "--kallsyms", path])
            t.check("no map: why", "by no record, but lists" in r.out.decode() and "inferred: " in r.out.decode(), r)
            known = "0123456789abcdef0123456789abcdef01234567 [late]"
            support.run([SONDE, "inject", "-f", "-b", "--known-build-ids", known, "--kallsyms", path, "-i", data, "-o", data + ".ids"])
            r = support.run([SONDE, "report", "-f", "-D", "-i", data + ".ids"])
            t.check("no map: inject -b finds its samples", b"PERF_RECORD_BUILD_ID" in r.out and b"[late]" in r.out, r)
            r = support.run([SONDE, "report", "-f", "-i", data, "--mmaps"])
            t.check("no map: none is shown as recorded", "[late]" not in r.out.decode(), r.out)


def main():
    if not shutil.which("cc"):
        print("SKIP: there is no compiler")
        sys.exit(support.SKIP)
    t = support.Report("module ends")
    at = tempfile.mkdtemp(prefix="sonde-ends-")
    data, kallsyms, elsewhere = (os.path.join(at, n) for n in ("a.data", "kallsyms", "elsewhere"))
    own = f"/lib/modules/{RELEASE}/kernel/last.ko"

    def check(what, end, *args):
        found = reach(data, *args)
        t.check(what, found == [o for o in OFFSETS if o < end], lambda: f"{[hex(o) for o in found]}, not up to {end:#x}")
        differs = library.difference(SONDE, EXAMPLE, data, *args)
        t.check(f"{what}: libsonde", not differs, differs)

    try:
        recording(data, own)
        check("nothing tells", 0x100000, "--symfs", at)
        module_file(os.path.join(at, "own"), RELEASE)
        check("its file tells", 0xa000, "--symfs", os.path.join(at, "own"))
        module_file(os.path.join(at, "other"), "4.2.0-8-test")
        recording(data, own.replace(RELEASE, "4.2.0-8-test"))
        check("another release's file does not", 0x100000, "--symfs", os.path.join(at, "other"))
        recording(data, own)
        for path, move in ((kallsyms, 0), (elsewhere, 0x40000)):
            with open(path, "w") as f:
                f.write(f"{KERNEL:x} T _text\n{KERNEL + 0xfff000:x} T _etext\n{START + move:x} t first\t[last]\n"
                        f"{START + move + 0x2f000:x} t end\t[last]\n{START + move + 0x800000:x} d data\t[last]\n")
        check("its symbols tell", 0x31000, "--kallsyms", kallsyms, "--symfs", at)
        check("those of another boot do not", 0x100000, "--kallsyms", elsewhere, "--symfs", at)
        check("nor are they asked when its file tells", 0xa000, "--kallsyms", elsewhere, "--symfs", os.path.join(at, "own"))
        recording(data, own, [section(START, 0x8000, ".text", own), section(START + 0x8000, 0x1ff8, ".text.unlikely", own)])
        check("section maps tell", 0x9ff8, "--symfs", at)
        recording(data, own, [(KSYMBOL, struct.pack("<QIHH", START + 0x30000, 64, 1, 0) + pd.text("bpf_prog_x"))])
        check("what lies above it tells", 0x30000, "--symfs", at)
        for path in (kallsyms, elsewhere):
            r = support.run([SONDE, "script", "-f", "-i", data, "-F", "ip,sym", "-G", "--kallsyms", path, "--symfs", at])
            names = [line.split()[1] for line in r.out.decode().splitlines()]
            own_names = [n for n in names if n in ("first", "end")]
            t.check(f"names by {os.path.basename(path)}", own_names == (["first"] * 4 + ["end"] if path == kallsyms else []), names)
        check_without_map(t, at)
    finally:
        shutil.rmtree(at)
    t.finish()


if __name__ == "__main__":
    main()
