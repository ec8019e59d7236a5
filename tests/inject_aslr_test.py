#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inject --aslr: inject_aslr_test.py SONDE OBJECT

OBJECT is a shared object with a build-id and functions called start and stop.
"""
import os
import re
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
PAGE, HIGH = 4096, 0xffffffff
BASE, FAR, AGAIN, KERNEL, MODULE, BPF = (0x7f31f5678000, 0x7e12d3456000, 0x7f31f9abc000, 0xffffffff9c200000,
                                         0xffffffffc0a17000, 0xffffffffc0b54ac4)
HEAP, STRAY = 0x55d1c0dea0f0, 0x7fca11edbeef
KSYMBOL, TEXT_POKE, DEFERRED = 17, 20, 22
REGS_USER, STACK_USER, PHYS_ADDR = 1 << 12, 1 << 13, 1 << 19


def ksymbol(r, start, length, name, gone=False):
    r.add(KSYMBOL, 0, struct.pack("<QIHH", start, length, 1, gone) + pd.text(name) + r.tail(0, 0))


def record(path):
    """Two programs after each other in one process, a child, the kernel with a module and a BPF program."""
    functions, (at, size) = pd.functions(OBJECT)
    length, begin = (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.ADDR | pd.CALLCHAIN | pd.PERIOD | pd.BRANCH_STACK)
    stop = BASE + functions["stop"][0]

    def sample(pid, place, far, last=STRAY):
        r.sample(pid, KERNEL + 0x1234, [pd.CONTEXT_KERNEL, KERNEL + 0x1234, MODULE + 0x42, BPF + 4, pd.CONTEXT_USER, place + 1,
                                        place + 3, far + PAGE, last], misc=pd.KERNEL, addr=HEAP,
                 branches=[(place + 2, KERNEL + 0x80, 0), (far + 8, place, 0)])
        r.sample(pid, place + 2, [pd.CONTEXT_USER, place + 2, far + 0x10], addr=far + 0x20, branches=[(place, place + 1, 0)])

    r.kernel(KERNEL, 0x1000000)
    r.kernel(MODULE, 0x3000, "[nosuchmodule]")
    ksymbol(r, BPF, 0x100, "bpf_prog_0123456789abcdef_first")
    r.comm(7, "first", exec_=True)
    r.map(7, BASE + begin, length, begin, OBJECT, pd.build_id(OBJECT))
    r.map(7, FAR, PAGE, 0x7000, "/nowhere/far")
    sample(7, stop, FAR)
    r.fork(8, 7)
    r.comm(8, "child")
    r.map(8, FAR - PAGE, PAGE, 0x9000, "/nowhere/near")
    sample(8, stop, FAR)
    sample(8, stop, FAR - PAGE)
    r.map(7, FAR + 0x10000, 2 * PAGE, FAR + 0x10000, "//anon")
    sample(7, stop, FAR + 0x10000, last=0x2d2d2d2d2d2d2d2d)
    r.comm(7, "second", exec_=True)
    r.map(7, AGAIN + begin, length, begin, OBJECT, pd.build_id(OBJECT))
    ksymbol(r, BPF, 0x100, "bpf_prog_0123456789abcdef_first", gone=True)
    r.add(TEXT_POKE, 0, struct.pack("<QHH", KERNEL + 0x40, 1, 1) + b"\x90\xcc".ljust(8, b"\0") + r.tail(0, 0))
    sample(7, AGAIN + functions["stop"][0], stop)
    r.sample(7, 0, [pd.CONTEXT_USER, 0xdead, 0])
    r.write(path)
    return [BASE, FAR, AGAIN, KERNEL, MODULE, BPF, HEAP, STRAY, 0x2d2d2d2d2d2d2d2d]


def inject(path, out, *options, **more):
    return support.run([SONDE, "inject", "-f", "--aslr", *options, *([] if path is None else ["-i", path]), "-o", out], **more)


def text(path, *options):
    """What is shown, without addresses."""
    r = support.run([SONDE, *options, "-f", "-i", path])
    lines = [line for line in r.out.decode().splitlines() if not line.startswith("#")]
    return [re.sub(r"\s*\b(0x)?[0-9a-f]{6,16}\b", " ADDRESS", line) for line in lines]


def leaks(data, secrets):
    """The words of a copy that tell of a place: any upper part of one will do."""
    words = [word for shift in range(8) for word, in struct.iter_unpack("<Q", data[shift:len(data) - (len(data) - shift) % 8])]
    return [hex(word) for word in words for secret in secrets if word >> 16 == secret >> 16]


VIEWS = [("report", "--stdio", "--no-children", "-g", "caller", "-s", "comm,dso,sym"),
         ("report", "--stdio", "--children", "-g", "caller,0", "-s", "comm,dso,sym"),
         ("script", "-F", "comm,tid,time,event,ip,sym,symoff,dso,addr"),
         ("script", "-F", "comm,brstacksym"), ("script", "--grades")]


def check_moved(t, folder):
    path, out, again = (os.path.join(folder, name) for name in ("a.data", "b.data", "c.data"))
    secrets = record(path)
    with open(path, "rb") as f:
        original = f.read()
    t.check("the test finds what it looks for", len(leaks(original, secrets)) > 40, leaks(original, secrets))
    r = inject(path, out, "-v")
    with open(out, "rb") as f:
        copy = f.read()
    t.check("--aslr", r.status == 0 and "1 other record left out: they hold addresses" in r.err, r)
    t.check("no address is left", not leaks(copy, secrets), leaks(copy, secrets))
    t.check("but for that the copy is as long", len(support.walk(copy)) == len(support.walk(original)) - 1, r)
    for view in VIEWS:
        a, b = text(path, *view), text(out, *view)
        t.check(f"the same text: {' '.join(view)}", a == b and any("stop" in line or "bpf_prog" in line for line in a),
                [(x, y) for x, y in zip(a, b) if x != y] or (a, b))
    inject(path, again)
    with open(again, "rb") as f:
        t.check("twice the same", f.read() == copy, "it differs")
    inject(out, again)
    with open(again, "rb") as f:
        t.check("a copy of a copy is the same", f.read() == copy, "it differs")
    maps = support.run([SONDE, "script", "-f", "-i", out, "--show-mmap-events"]).out.decode()
    t.check("places as perf has them", "[0xffff800010000000(0x1000000) @ 0xffff800010000000]" in maps and
            "[0x200000(" in maps, maps)
    piped = support.run([SONDE, "inject", "--aslr", "-o", "-"], stdin=original)
    t.check("file into a pipe", piped.status == 0 and not leaks(piped.out, secrets), piped.err)
    t.check("its text", text(out, *VIEWS[0]) == of_pipe(piped.out, *VIEWS[0]), of_pipe(piped.out, *VIEWS[0]))
    plain = support.run([SONDE, "inject", "-o", "-"], stdin=original).out
    t.check("pipe into pipe", support.run([SONDE, "inject", "--aslr", "-o", "-"], stdin=plain).out == piped.out, "it differs")
    r = inject(None, again, stdin=plain)
    with open(again, "rb") as f:
        back = f.read()
    t.check("pipe into a file", r.status == 0 and not leaks(back, secrets) and text(again, *VIEWS[0]) == text(out, *VIEWS[0]), r)
    for options in (["--jit"], ["-B"], ["--kmod-sections"]):
        r = inject(path, again, *options)
        t.check(f"--aslr {options}", r.status == 129 and "run inject once for each" in r.err, r)


def of_pipe(data, *options):
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        return text(f.name, *options)


def check_build_ids(t, folder):
    """-b finds files by what the original says."""
    path, out = os.path.join(folder, "i.data"), os.path.join(folder, "j.data")
    functions, (at, size) = pd.functions(OBJECT)
    r = pd.Recording()
    r.map(7, BASE + at // PAGE * PAGE, (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, OBJECT)
    r.sample(7, BASE + functions["stop"][0], [pd.CONTEXT_USER, BASE + functions["stop"][0]])
    r.write(path)
    r = inject(path, out, "-b", "-v")
    with open(out, "rb") as f:
        copy = f.read()
    t.check("-b", r.status == 0 and "1 build-ids put in, 0 not found" in r.err and not leaks(copy, [BASE]) and
            [kind for kind, _ in support.walk(copy)] == [pd.MMAP2, 67, pd.SAMPLE], r)
    t.check("-b: buildid-list", f"{pd.build_id(OBJECT).hex()} {OBJECT}" in
            support.run([SONDE, "buildid-list", "-f", "-i", out]).out.decode(), r)


def check_left_out(t, folder):
    """What is full of addresses goes, and is counted; registers become 0."""
    path, out = os.path.join(folder, "l.data"), os.path.join(folder, "m.data")
    base = pd.IP | pd.TID | pd.TIME
    stack = struct.pack("<Q", 16) + struct.pack("<QQ", STRAY, BASE) + struct.pack("<Q", 16)
    for name, fields, more, none, says in (
            ("stacks", STACK_USER, stack, struct.pack("<Q", 0), "2 samples left out: copies of stacks"),
            ("physical", PHYS_ADDR, struct.pack("<Q", 0x1f5678000), struct.pack("<Q", 0), "2 samples left out: physical addresses"),
            ("raw", pd.RAW, struct.pack("<I", 12) + bytes(12), struct.pack("<IQI", 0, 0, 0)[:4] + bytes(4), "2 samples left out: raw data")):
        r = pd.Recording(sample_type=base | fields)
        r.map(7, BASE, 4 * PAGE, 0, "/nowhere/a")
        for part in (more, none, more):
            r.sample(7, BASE + 8, more=part)
        r.write(path)
        r = inject(path, out)
        with open(out, "rb") as f:
            copy = f.read()
        t.check(name, r.status == 0 and says in r.err and not leaks(copy, [BASE, STRAY, 0x1f5678000]), r)
        t.check(f"{name}: those without stay", len([k for k, _ in support.walk(copy) if k == pd.SAMPLE]) == 1, r)


def check_live(t, folder):
    """The running kernel is recognised where it never lay."""
    path, out = os.path.join(folder, "live.data"), os.path.join(folder, "moved.data")
    r = support.run([SONDE, "record", "-q", "-g", "-e", "cpu-clock", "-F", "2000", "-o", path, "--", "ls", "-R", "/usr/share"])
    if r.status != 0:
        print(f"not on the running kernel: {r.err.strip()[-200:]}")
        return
    inject(path, out)
    view = ("report", "--stdio", "--no-children", "-g", "none", "-s", "comm,dso,sym", "--grades")
    a, b = sorted(text(path, *view)), sorted(text(out, *view))
    t.check("a recording of the running kernel", a == b, [line for line in a if line not in b][:5])


def main():
    t = support.Report("inject --aslr")
    if not pd.build_id(OBJECT):
        print("SKIP: the compiler leaves no build-ids")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        check_moved(t, folder)
        check_build_ids(t, folder)
        check_left_out(t, folder)
        check_live(t, folder)
    t.finish()


main()
