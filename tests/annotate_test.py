#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions as annotate shows them: annotate_test.py SONDE

A program is assembled here whose bytes and lines are known, and recordings of it are written: text to the byte, sums,
what is refused, and code out of every other place than a file.
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
import support

SONDE = os.path.realpath(sys.argv[1])
PAGE = 4096
TEXT = 0x401000

# Two functions; `mix` is inlined into `work`, which only its lines tell: there is no entry for it.
SOURCE = """int mix(int x) {
    return x * 3;
}

int work(int n) {
    int s = 1;

    while (n--)
        s += mix(n);
\treturn s;
}
"""
PROGRAM = """
    .file 1 "{source}"
    .text
    .globl work
    .type work, @function
work:
    .loc 1 6
    mov $1, %eax
    .loc 1 8
    jmp 2f
1:  .loc 1 9
    lea (%rdi,%rdi,2), %edx
    add %edx, %eax
2:  .loc 1 8
    dec %edi
    jns 1b
    movabs $0x1122334455667788, %rdx
    .loc 1 10
    ret
    .size work, . - work
    .globl _start
    .type _start, @function
_start:
    .loc 1 11
    call work
    ud2
    .size _start, . - _start
"""
# Offsets in `work`: mov 0, jmp 5, lea 7, add 10, dec 12, jns 14, movabs 16, ret 26.
LEA, ADD, DEC, RET, SIZE = 7, 10, 12, 26, 27
HITS = [(LEA, 100), (ADD, 300), (ADD, 500), (DEC, 100)]

TITLE = " Percent |\tSource code & Disassembly of prog for cpu-clock (4 samples, percent: local period)\n"
HEAD = TITLE + "-" * (len(TITLE) - 1 + 5) + """
         :
         :
         :
         : 3      Disassembly of section .text:
         :
         : 5      0000000000401000 <work>:
"""
WHOLE = HEAD + """         : 1      int mix(int x) {
         : 2      return x * 3;
         : 3      }
         :
         : 5      int work(int n) {
         : 6      int s = 1;
    0.00 :   401000: mov    $0x1,%eax
         :
         : 8      while (n--)
    0.00 :   401005: jmp    40100c <work+0xc>
         : 9      s += mix(n);
   10.00 :   401007: lea    (%rdi,%rdi,2),%edx
   80.00 :   40100a: add    %edx,%eax
         : 8      while (n--)
   10.00 :   40100c: dec    %edi
    0.00 :   40100e: jns    401007 <work+0x7>
    0.00 :   401010: movabs $0x1122334455667788,%rdx
         : 10     return s;
    0.00 :   40101a: ret
"""


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


def annotate(*options, **more):
    return support.run([SONDE, "--buildid-dir", "/nonexistent", "annotate", "-f", *options], **more)


def assemble(folder, name="prog", text=TEXT, program=None):
    source, path = os.path.join(folder, "prog.c"), os.path.join(folder, name)
    with open(source, "w", encoding="ascii") as f:
        f.write(SOURCE)
    with open(path + ".s", "w", encoding="ascii") as f:
        f.write((program or PROGRAM).format(source=source))
    subprocess.run(["cc", "-g", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id", f"-Wl,-Ttext={text:#x}", "-o", path, path + ".s"],
                   check=True, capture_output=True)
    return path


def recording(path, program, hits=HITS, build_id=None, sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD, **more):
    r = pd.Recording(sample_type=sample_type, **more)
    (at, _), = [v for k, v in pd.functions(program)[0].items() if k == "work"]
    r.comm(7, "prog")
    r.map(7, TEXT, PAGE, at, program, build_id)
    for hit in hits:
        offset, period, event = (*hit, 1)[:3]
        r.sample(7, TEXT + offset, period=period, event=event)
    r.write(path)
    return path


def check_text(t, folder, program):
    path = recording(os.path.join(folder, "a.data"), program, build_id=pd.build_id(program))

    def same(what, want, *options):
        r = annotate("-i", path, *options)
        t.check(f"text: {what}", r.status == 0 and r.out.decode() == want and not r.err, r)

    def lines(what, want, *options):
        r = annotate("-i", path, *options)
        shown = [x for x in r.out.decode().splitlines() if re.search(r" :   [0-9a-f]+:", x)]
        t.check(f"text: {what}", r.status == 0 and [x for x in shown if x in want] == want, r)

    same("all functions", WHOLE)
    same("by name", WHOLE, "work", "--stdio")
    same("-s", WHOLE, "-s", "work", "-d", "prog")
    plain = [x for x in WHOLE[len(HEAD):].splitlines() if ":   40" in x]
    same("without source", HEAD + "".join(x + "\n" for x in plain), "--no-source")
    lines("-n", ["       1 :   401007: lea    (%rdi,%rdi,2),%edx", "       2 :   40100a: add    %edx,%eax"], "-n")
    lines("--show-total-period", ["         100 :   401007: lea    (%rdi,%rdi,2),%edx", "         800 :   40100a: add    %edx,%eax"],
          "--show-total-period")
    lines("hits", ["   25.00 :   401007: lea    (%rdi,%rdi,2),%edx", "   50.00 :   40100a: add    %edx,%eax"],
          "--percent-type", "local-hits")
    lines("bytes", ["   80.00 :   40100a: 01 d0                   add    %edx,%eax",
                    "    0.00 :   401010: 48 ba 88 77 66 55 44    movabs $0x1122334455667788,%rdx", "    0.00 :   401017: 33 22 11"],
          "--asm-raw")
    lines("intel", ["   10.00 :   401007: lea    edx,[rdi+rdi*2]", "    0.00 :   401010: movabs rdx,0x1122334455667788"], "-M", "intel")
    r = annotate("-i", path, "-l")
    t.check("text: -l", r.out.decode().startswith(f"\nSorted summary for file {program}\n{'-' * 46}\n\n"
                                                  "   90.00 prog.c:9\n   10.00 prog.c:8\n" + TITLE), r)
    r = annotate("-i", path, "--jump")
    t.check("text: --jump", r.out.decode().splitlines()[2:] == [
        "   90.00 : prog.c:9  s += mix(n);", "   10.00 :   401007: lea    (%rdi,%rdi,2),%edx",
        "   80.00 :   40100a: add    %edx,%eax", "   10.00 : prog.c:8  while (n--)", "   10.00 :   40100c: dec    %edi"], r)
    r = annotate("-i", path, "-v")
    t.check("text: -v", f"{program}: code from {program}\n" in r.err, r)
    r = annotate("-i", path, "-P")
    t.check("text: -P", f" of {program} for " in r.out.decode().splitlines()[0], r)
    r = annotate("-i", path, "--stdio-color", "always")
    t.check("text: colours", "\033[31m   80.00\033[m : \033[35m  40100a:\033[m\033[34m add    %edx,%eax\033[m\n" in r.out.decode(), r)


def check_config(t, folder):
    path, config = os.path.join(folder, "a.data"), os.path.join(folder, "perfconfig")
    for name, value, options, want in (
            ("show_nr_samples", "true", [], "       2 :   40100a: add    %edx,%eax\n"),
            ("show_total_period", "true", [], "         800 :   40100a: add    %edx,%eax\n"),
            ("show_total_period", "true", ["-n"], "       2 :   40100a: add    %edx,%eax\n"),
            ("disassembler_style", "intel", [], "   80.00 :   40100a: add    eax,edx\n")):
        with open(config, "w", encoding="ascii") as f:
            f.write(f"[annotate]\n\t{name} = {value}\n")
        r = annotate("-i", path, *options, env=dict(support.ENV, PERF_CONFIG=config))
        t.check(f"configuration: {name}", want in r.out.decode(), r)


def check_source(t, folder, program):
    """Source files elsewhere, and nowhere."""
    path, source = os.path.join(folder, "a.data"), os.path.join(folder, "prog.c")
    other = os.path.join(folder, "other")
    os.makedirs(other + folder)
    os.rename(source, os.path.join(other + folder, "prog.c"))
    r = annotate("-i", path)
    t.check("source: absent is said once", r.status == 0 and "int work" not in r.out.decode() and
            r.err.count(source) == 1 and r.err.count("\n") == 1, r)
    r = annotate("-i", path, "-l")
    t.check("source: absent, -l", "         : 9      prog.c:9\n" in r.out.decode(), r)
    t.check("source: --prefix", annotate("-i", path, "--prefix", other).out.decode() == WHOLE, annotate("-i", path, "--prefix", other))
    os.rename(os.path.join(other + folder, "prog.c"), os.path.join(other, "prog.c"))
    strip = str(folder.count("/"))
    r = annotate("-i", path, "--prefix", other, "--prefix-strip", strip)
    t.check("source: --prefix-strip", r.out.decode() == WHOLE, r)
    r = annotate("-i", path, "--prefix-strip", "1")
    t.check("source: --prefix-strip alone", r.status == 129 and "--prefix-strip requires --prefix" in r.err, r)
    os.rename(os.path.join(other, "prog.c"), source)


def check_sums(t, folder, program):
    """What instructions, lines and report say of a function is the same number, whatever the periods are."""
    path = os.path.join(folder, "s.data")
    big = [(o % SIZE, (1 << 61) // (o + 3) + o * 7919) for o in range(0, 200, 3)]
    recording(path, program, big)
    want = sum(p for _, p in big)
    r = annotate("-i", path, "--show-total-period", "-s", "work")
    rows = [int(x.split(" :")[0]) for x in r.out.decode().splitlines() if re.search(r"\d :   [0-9a-f]+:", x)]
    t.check("sums: periods of instructions", sum(rows) == want, (sum(rows), want))
    r = annotate("-i", path, "-n", "-s", "work")
    rows = [int(x.split(" :")[0]) for x in r.out.decode().splitlines() if re.search(r"\d :   [0-9a-f]+:", x)]
    t.check("sums: samples", sum(rows) == len(big) and f"({len(big)} samples" in r.out.decode(), r)
    r = annotate("-i", path, "--jump", "--show-total-period")
    lines = [int(x.split(" :")[0]) for x in r.out.decode().splitlines() if re.search(r"\d : prog\.c:\d", x)]
    t.check("sums: lines", sum(lines) == want, (sum(lines), want))
    r = support.run([SONDE, "report", "-f", "--stdio", "-i", path, "-s", "sym", "--show-total-period", "-t", ","])
    t.check("sums: report", f",{want}," in r.out.decode().replace(" ", ""), r)


def check_events(t, folder, program):
    path = os.path.join(folder, "e.data")
    kind = pd.IP | pd.TID | pd.TIME | pd.PERIOD | pd.ID
    recording(path, program, [(LEA, 10, 1), (ADD, 30, 1), (ADD, 7, 2)], sample_type=kind, counters=[(1, 0), (1, 1)])
    r = annotate("-i", path, "--no-source")
    titles = re.findall(r"prog for (.*) \((\d+) samples", r.out.decode())
    t.check("events: one after the other", titles == [("cpu-clock", "2"), ("task-clock", "1")], r)
    r = annotate("-i", path, "--group", "--no-source")
    text = r.out.decode()
    t.check("events: side by side", "for cpu-clock, task-clock (2 samples" in text and
            "   25.00    0.00 :   401007: lea" in text and "   75.00  100.00 :   40100a: add" in text, r)
    r = annotate("-i", path, "--no-source", "--percent-type", "global-hits", "--percent-limit", "60", "-C", "0")
    t.check("events: -C needs CPUs", r.status == 1 and "Remove -C option" in r.err, r)


def check_refused(t, folder, program):
    """Other code than what ran is never shown; what is not there is said in one line."""
    path = os.path.join(folder, "r.data")
    recording(path, program, build_id=bytes(range(20)))
    for options in ([], ["work"]):
        r = annotate("-i", path, *options)
        t.check(f"refused: another build-id {options}", r.status == 1 and not r.out and "its build-id is" in r.err, r)
    path = os.path.join(folder, "a.data")
    for options, text in ((["nobody"], "no sample hit a function called nobody"),
                          (["work", "-d", "libc.so.6"], "no sample hit a function called work in libc.so.6"),
                          (["--percent-limit", "101"], "no sample hit a function that the options want")):
        r = annotate("-i", path, *options)
        t.check(f"refused: {options}", r.status == 1 and not r.out and r.err.count("\n") == 1 and text in r.err, r)
    for options, text in ((["-n", "--show-total-period"], "cannot be used with show-nr-samples"), (["-M", "vax"], "use att or intel"),
                          (["--data-type"], "data types are shown by `report -s type`"), (["a", "b"], "")):
        r = annotate("-i", path, *options)
        t.check(f"refused: {options}", r.status != 0 and not r.out and text in r.err, r)
    r = annotate("-i", os.path.join(folder, "none.data"))
    t.check("refused: no recording", r.status == 1 and "failed to open" in r.err, r)


def check_map(t, folder):
    """A perf map has names only."""
    path, pid = os.path.join(folder, "m.data"), 4100000
    listed = f"/tmp/perf-{pid}.map"
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.comm(pid, "jit")
    r.map(pid, 0x10000, PAGE, 0, "//anon")
    r.sample(pid, 0x10010)
    r.write(path)
    with open(listed, "w", encoding="ascii") as f:
        f.write("10000 40 jitted\n")
    try:
        r = annotate("-i", path)
    finally:
        os.remove(listed)
    t.check("a perf map", r.status == 1 and not r.out and "cannot annotate jitted:" in r.err and "jitdump" in r.err, r)


CODE = bytes.fromhex("b801000000 01d0 ffcf 79fa c3".replace(" ", ""))


def check_jit(t, folder):
    """Code out of a jitdump, at the address where it ran."""
    path, dump = os.path.join(folder, "j.data"), os.path.join(folder, "jit-7.dump")
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.comm(7, "jit")
    r.map(7, 0x20000, PAGE, 0, dump)
    name = b"spin\0"
    load = struct.pack("<IIQQQQ", 7, 7, 0x30000, 0x30000, len(CODE), 1) + name + CODE
    with open(dump, "wb") as f:
        f.write(struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, 7, r.time, 0))
        f.write(struct.pack("<IIQ", 0, 16 + len(load), r.time) + load)
    for _ in range(3):
        r.sample(7, 0x30007)
    r.sample(7, 0x30009)
    r.write(path)
    r = annotate("-i", path)
    shown = [x for x in r.out.decode().splitlines() if ":   3000" in x]
    t.check("a jitdump", r.status == 0 and "<spin>:" in r.out.decode() and shown == [
        "    0.00 :   30000:  mov    $0x1,%eax", "    0.00 :   30005:  add    %edx,%eax", "   75.00 :   30007:  dec    %edi",
        "   25.00 :   30009:  jns    30005 <spin+0x5>", "    0.00 :   3000b:  ret"], r)


def check_bpf(t, folder):
    """Code out of the recording's header."""
    path, address, tag = os.path.join(folder, "b.data"), 0xffffffffc0100000, bytes(range(8))
    name = f"bpf_prog_{tag.hex()}_probe"
    info = struct.pack("<II8sIIQQ", 5, 1, tag, len(CODE), 0, 16, 0).ljust(64, b"\0") + b"probe".ljust(16, b"\0")
    info = info.ljust(104, b"\0") + struct.pack("<IIQQ", 1, 1, 0, 8)
    info = info.ljust(192, b"\0")
    data = struct.pack("<QII", address, len(CODE), 0) + CODE
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.features[25] = struct.pack("<III", 1, len(info), len(data)) + struct.pack("<Q", 0) + info + data
    r.features[6] = struct.pack("<I", 8) + b"x86_64\0\0"
    r.add(17, pd.KERNEL, struct.pack("<QIHH", address, len(CODE), 1, 0) + pd.text(name) + r.tail(0, 0))
    r.sample(7, address + 5, misc=pd.KERNEL)
    r.write(path)
    r = annotate("-i", path)
    t.check("a BPF program", r.status == 0 and f"<{name}>:" in r.out.decode() and f"  100.00 :   {address + 5:x}:       add    %edx,%eax\n" in
            r.out.decode() and f"jns    {address + 5:x} <{name}+0x5>\n" in r.out.decode(), r)


def check_kernel(t, folder, program):
    """A copy of the kernel's memory beside the recording; and a kernel image that was moved when it ran."""
    base, whole = 0xffffffff9b600000, os.path.join(folder, "kcore")
    code = CODE.ljust(PAGE, b"\xcc")
    os.makedirs(whole + "/kcore_dir")
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.kernel(base, PAGE)
    r.sample(7, base + 7, misc=pd.KERNEL)
    r.write(whole + "/data")
    with open(whole + "/kcore_dir/kallsyms", "w", encoding="ascii") as f:
        f.write(f"{base:x} T _text\n{base:x} T spin\n{base + len(CODE):x} T after\n{base + PAGE:x} T _etext\n")
    with open(whole + "/kcore_dir/kcore", "wb") as f:
        f.write(b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
        f.write(struct.pack("<IIQQQQQQ", 1, 7, PAGE, base, 0, PAGE, PAGE, PAGE))
        f.write(code.rjust(2 * PAGE - 120, b"\0"))
    r = annotate("-i", whole)
    t.check("a kernel's memory", r.status == 0 and f"  100.00 :   {base + 7:x}:       dec    %edi\n" in r.out.decode(), r)
    image = assemble(folder, "vmlinux", 0xffffffff81000000, PROGRAM.replace("_start", "_etext").replace("    .text\n",
                     "    .text\n    .globl _text\n_text:\n"))
    path = os.path.join(folder, "k.data")
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.kernel(base, SIZE)
    r.sample(7, base + ADD, misc=pd.KERNEL)
    r.write(path)
    r = annotate("-i", path, "-k", image)
    text = r.out.decode()
    t.check("a kernel image", r.status == 0 and "Disassembly of vmlinux for" in text and
            "  100.00 :   ffffffff8100000a:       add    %edx,%eax\n" in text and "s += mix(n);" in text, r)
    r = annotate("-i", path, "-k", program)
    t.check("another kernel image", r.status == 1 and not r.out and r.err, r)


def check_module(t, folder):
    """A module's file, whose sections are placed as the kernel's loader does."""
    source, made, path, start = os.path.join(folder, "prog.c"), os.path.join(folder, "mod.ko"), os.path.join(folder, "o.data"), 0xffffffffc0400000
    with open(made + ".s", "w", encoding="ascii") as f:
        f.write(PROGRAM.format(source=source))
    subprocess.run(["cc", "-g", "-r", "-nostdlib", "-Wl,--build-id", "-o", made, made + ".s"], check=True, capture_output=True)
    with open(made, "rb") as f:
        data = f.read()
    at = data.index(b"GNU\0", data.index(struct.pack("<III", 4, 20, 3)))
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.add(pd.MMAP2, pd.KERNEL | pd.MMAP_BUILD_ID,
          struct.pack("<IIQQQBBH20sII", 0xffffffff, 0, start, PAGE, 0, 20, 0, 0, data[at + 4:at + 24], 5, 2) +
          pd.text(made) + r.tail(0, 0))
    r.sample(7, start + ADD, misc=pd.KERNEL)
    r.write(path)
    r = annotate("-i", path)
    t.check("a module", r.status == 0 and "  100.00 :   a:      add    %edx,%eax\n" in r.out.decode() and
            "0000000000000000 <work>:" in r.out.decode() and "jmp    c <work+0xc>" in r.out.decode(), r)


INLINED = """
static inline __attribute__((always_inline)) unsigned stir(unsigned x) { return (x ^ x >> 7) * 2654435761u; }
static inline __attribute__((always_inline)) unsigned twice(unsigned x) {
    return stir(stir(x) + 1);
}
unsigned work(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += twice(i);
    return sum;
}
void _start(void) { work(3); }
"""


def check_inlines(t, folder):
    """One sample at each byte of a function: the shares of what is inlined nest, and everything adds up."""
    source, program, path = (os.path.join(folder, n) for n in ("inlined.c", "inlined", "i.data"))
    with open(source, "w", encoding="ascii") as f:
        f.write(INLINED)
    subprocess.run(["cc", "-g", "-O1", "-fno-unroll-loops", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id",
                    f"-Wl,-Ttext={TEXT:#x}", "-o", program, source], check=True, capture_output=True)
    (at, size), = [v for k, v in pd.functions(program)[0].items() if k == "work"]
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.comm(7, "prog")
    r.map(7, TEXT, PAGE, at // PAGE * PAGE, program)
    for i in range(size):
        r.sample(7, TEXT + at % PAGE + i, period=1)
    r.write(path)
    text = annotate("-i", path, "--inlines", "-n").out.decode()
    shares = {(m[1], m[2]): float(m[0]) for m in re.findall(r"^ *([\d.]+) (\w+) \(inlined at (.*)\)$", text, re.M)}
    rows = [int(x.split(" :")[0]) for x in text.splitlines() if re.search(r"\d :   [0-9a-f]+:", x)]
    t.check("inlines: rows", sum(rows) == size and f"({size} samples" in text, text)
    outer, inner = shares.get(("twice", "inlined.c:9")), sum(v for k, v in shares.items() if k[0] == "stir")
    t.check("inlines: shares", outer and inner and 0 < inner <= outer + 0.02 < 100, text)
    t.check("inlines: where they begin and end", re.search(r"^ +: +twice \(inlined at inlined\.c:9\):$", text, re.M) and
            re.search(r"^ +: +stir \(inlined at inlined\.c:4\):$", text, re.M) and re.search(r"^ +: work:$", text, re.M), text)


def main():
    t = support.Report("annotate")
    if os.uname().machine != "x86_64" or not shutil.which("cc") or not shutil.which("as"):
        skip("the program is for x86-64, and there is no assembler")
    for library, feature in (("libdw", "dwarf"), ("capstone", "libcapstone")):
        if support.run([SONDE, "check", "-q", "feature", feature]).status != 0:
            skip(f"built without {library}")
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        program = assemble(folder)
        check_text(t, folder, program)
        check_config(t, folder)
        check_source(t, folder, program)
        check_sums(t, folder, program)
        check_events(t, folder, program)
        check_refused(t, folder, program)
        check_inlines(t, folder)
        check_map(t, folder)
        check_jit(t, folder)
        check_bpf(t, folder)
        check_module(t, folder)
        check_kernel(t, folder, program)
    t.finish()


main()
