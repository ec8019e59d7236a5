#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `sonde probe` makes of programs, as text: nothing is set in the kernel.

probe_test.py SONDE

SKIPs without a C compiler for x86-64.
"""
import itertools
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check

PROGRAM = r"""
#include <stdio.h>
#include <string.h>
struct in { int a; short b:5; unsigned c:7; char name[16]; };
struct out { long x; struct in i; struct in *p; double d; int arr[4]; struct { int u; }; };
static int counter = 5;
__attribute__((noinline)) int work(int n, const char *s, struct out *o, double f, unsigned u, struct in v, _Bool _t)
{
	int local = n * 3;
	printf("%d %s %ld %f %u %d %d\n", n, s, o->x, f, u, v.a, _t);
	local += strlen(s);
	counter += local;
	return local + o->i.a;
}
__attribute__((noinline)) int changes(int n)
{
	n += 3;
	return printf("%d\n", n);
}
static inline __attribute__((always_inline)) int copied(int q) { puts("in"); return q * 2 + counter; }
__attribute__((noinline)) int caller(int z) { int r = copied(z); return copied(r) + 1; }
int alias(int n) __attribute__((alias("changes")));
int main(int argc, char **argv)
{
	struct out o = {.x = 9, .i = {1, 2, 3, "abc"}};
	o.p = &o.i;
	return work(argc, argv[0], &o, 2.5, 7, o.i, 1) + caller(argc) + changes(argc) + alias(4);
}
static inline int late(int q);
int early(int z)
{
	return late(z) + 2;
}


static inline __attribute__((always_inline)) int late(int q)
{
	puts("late");
	return q * 2 + counter;
}
int held(register int r) { return r + counter; }
"""


def probe(*words, cwd):
    return support.run([SONDE, "probe", *words], cwd=cwd)


class Made:
    def __init__(self, folder, name, *options):
        self.folder, self.name = folder, name
        subprocess.run(["cc", "-g", *options, "-o", name, "p.c"], cwd=folder, check=True)
        nm = subprocess.run(["nm", name], cwd=folder, check=True, capture_output=True, text=True).stdout
        self.symbols = {m[2]: int(m[1], 16) for m in re.finditer(r"^([0-9a-f]+) . (\S+)$", nm, re.M)}

    def define(self, text, *options):
        return probe("-x", self.name, *options, "-D", text, cwd=self.folder)

    def lines(self, text, *options):
        """[(event, place, arguments)] of a definition."""
        r = self.define(text, *options)
        check(r.status == 0, f"{text} is defined: {r}")
        found = [re.match(r"[pr]:probe_\w+/(\S+) \S+:0x([0-9a-f]+)(?: (.*))?$", x) for x in r.out.decode().splitlines()]
        check(found and all(found), f"{text}: lines are definitions: {r.out}")
        return [(m[1], int(m[2], 16), m[3] or "") for m in found], r.err

    def is_at(self, text, function, arguments, event=None):
        made, err = self.lines(text)
        want = (event or function, self.symbols[function], arguments)
        check(made == [want], f"{text}: {made} is {want}")
        return err

    def refuses(self, text, *words):
        r = self.define(text)
        err = r.err
        check(r.status in (1, 129) and not r.out and len(err.splitlines()) == 1 and all(w in err for w in words),
              f"{text} is refused with {words}: {r}")


def optimised(p):
    """Addresses and arguments, by the calling convention of x86-64."""
    p.is_at("work", "work", "")
    p.is_at("work n s u _t", "work", "n=%di:s32 s=%si:x64 u=%cx:x32 _t=%r8:x8")
    p.is_at("work s:string o->x o->i.name:string", "work", "s_string=+0(%si):string x=+0(%dx):s64 name=+14(%dx):string")
    p.is_at("work o->p->a o->arr[2] a=o->u", "work", "a=+0(+32(%dx)):s32 arr=+56(%dx):s32 a_1=+64(%dx):s32")
    p.is_at("work v v.a n:x8 n", "work", "v=+8(%sp):x8[24] a=+8(%sp):s32 n_x8=%di:x8 n=%di:s32")
    p.is_at("work o->i.c o->i.b:u o->arr", "work", "c=+12(%dx):b7@5/32 b=+12(%dx):b5@0/16 arr=+48(%dx):s32[4]")
    p.is_at("work %ax $stack2 $comm x=+8(%sp):u64", "work", "%ax $stack2 $comm x=+8(%sp):u64")
    p.is_at("work counter", "work", f"counter=@+{hex(p.symbols['counter'])}:s32")
    p.is_at("work @counter", "work", f"counter=@+{hex(p.symbols['counter'])}:x32")
    p.is_at("changes n", "changes", "n=%di:s32")  # as it is passed, although the first statement adds to it
    p.is_at("alias n", "changes", "n=%di:s32", event="alias")
    p.is_at("e=work n", "work", "n=%di:s32", event="e")
    p.is_at("work@p.c", "work", "")
    p.is_at("wor?", "work", "")
    err = p.is_at("work $params", "work", "n=%di:s32 s=%si:x64 o=%dx:x64 u=%cx:x32 v=+8(%sp):x8[24] _t=%r8:x8")
    check("f is left out" in err and len(err.splitlines()) == 1, f"what cannot be had is named: {err}")
    err = p.is_at("work o->d", "work", "d=+40(%dx):x64")
    check("bits" in err, f"a floating point number's bits are said to be that: {err}")
    made, _ = p.lines("work%return $retval")
    check(made == [("work__return", p.symbols["work"], "$retval")], f"the return: {made}")
    made, _ = p.lines("copied q")
    check(len(made) == 2 and all(p.symbols["caller"] < at < p.symbols["caller"] + 200 for _, at, _ in made),
          f"inlined copies: {made}")
    made, _ = p.lines("work;local+=*")
    check(len(made) == 1 and made[0][0] == "work", f"a pattern of text: {made}")
    made, _ = p.lines("p.c:11 s")
    check(made and made[0][0] == "work", f"a line of a file: {made}")
    check(p.lines("work:4 s")[0][0][1] == made[0][1] and p.lines("work:4")[0][0][0] == "work_L4", "a line of a function")


def refusals(p):
    p.refuses("work f", "f:", "floating point")
    p.refuses("work o->i.b", "o->i.b", "sign")
    p.refuses("work nothing", "nothing", "--vars")
    p.refuses("work o.x", "pointer", "->x")
    p.refuses("work n->x", "no structure")
    p.refuses("work o->nothing", "no member")
    p.refuses("work o->arr[4]", "only 4 elements")
    p.refuses("work n:string", "no text")
    p.refuses("work n:x64", "beside")
    p.refuses("work%return n", "$retval")
    p.refuses("nothing", "not found")
    p.refuses("work+100000", "bigger than the size")
    p.refuses("work:999", "not found")
    p.refuses("copied%return", "not found")
    p.refuses("0x1", "no address")
    p.refuses("work%x", "%return")
    if b"libcapstone: [ on" in support.run([SONDE, "version", "--build-options"]).out:
        inside = [n for n in range(1, 24) if "within an instruction" in p.define(f"work+{n}").err]
        check(0 < len(inside) < 23, f"places within instructions: {inside}")
    p.refuses("main o.x", "not put it yet")
    check(p.define("*", "--max-probes", "2").status == 129, "too many places")
    check(p.define("copied q", "--no-inlines").status == 1, "no inlined copies")


def plain(p):
    """Code that was not optimised: arguments are there after the prologue."""
    made, err = p.lines("work n o->x")
    check(made[0][1] > p.symbols["work"] and "without optimization" in err and "%bp" in made[0][2], f"-O0: {made} {err}")
    made, err = p.lines("work")
    check(made[0][1] == p.symbols["work"] and not err, f"-O0 without arguments: {made} {err}")
    made, _ = p.lines("held r")
    check(made[0][1] > p.symbols["held"], f"-O0: a register that it is moved to: {made}")
    r = p.define(f"{hex(p.symbols['work'])} n")
    check(r.status == 1 and "not put it yet" in r.err, f"-O0 at the entry itself: {r}")


def shows(p):
    r = probe("-x", p.name, "-F", cwd=p.folder)
    check(r.status == 0 and {"work", "main", "caller"} <= set(r.out.decode().split()) and b"counter" not in r.out, f"-F: {r}")
    r = probe("-x", p.name, "-F", "w*", cwd=p.folder)
    check(r.out == b"work\n", f"-F w*: {r}")
    r = probe("-x", p.name, "-V", "work", cwd=p.folder)
    names = [line.split("\t")[-1] for line in r.out.decode().splitlines()[2:]]
    check(r.status == 0 and r.out.startswith(b"Available variables at work\n\t@<work+0>\n") and
          {"n", "s", "o", "f", "u", "v", "_t"} <= set(names), f"-V: {r}")
    r = probe("-x", p.name, "-V", "work", "--externs", "--range", cwd=p.folder)
    check(b"[EXT]\tint\tcounter\n" in r.out and re.search(rb"\[VAL\]\tint\tn\t@<work\+\[0-\d+", r.out), f"-V --range: {r}")
    r = probe("-x", p.name, "-L", "work", cwd=p.folder)
    lines = r.out.decode().splitlines()
    check(r.status == 0 and lines[0] == f"<work@{os.path.realpath(p.folder)}/p.c:0>" and lines[1].startswith("      0  "), f"-L: {r}")
    check("      4  \tlocal += strlen(s);" in lines and "         }" in lines + [x[:10] for x in lines], f"-L: {r}")
    r = probe("-x", p.name, "-L", "early", cwd=p.folder)
    check(r.status == 0 and b"      0  int early" in r.out and b"      8  " not in r.out,
          f"-L: not the lines of what was inlined: {r}")
    r = probe("-x", p.name, "-L", "p.c:11-12", cwd=p.folder)
    check(len(r.out.splitlines()) == 3, f"-L of lines: {r}")
    for words in (["-L", "nothing"], ["-V", "nothing"], ["-V", "work n"], ["-L", "work:5-3"], ["-F", "(x"]):
        r = probe("-x", p.name, *words, cwd=p.folder)
        check(r.status in (1, 129) and len(r.err.splitlines()) == 1, f"{words}: one line: {r}")


def without_debug(folder):
    shutil.copy(os.path.join(folder, "o2"), os.path.join(folder, "bare"))
    subprocess.run(["strip", "-g", "bare"], cwd=folder, check=True)
    r = probe("-x", "bare", "-D", "work %di", cwd=folder)
    check(r.status == 0 and r.out.startswith(b"p:probe_bare/work "), f"symbols alone: {r}")
    r = probe("-x", "bare", "-D", "work n", cwd=folder)
    check(r.status == 1 and "%di" in r.err and len(r.err.splitlines()) == 1, f"no DWARF: {r}")
    # A debug file of another build describes other code: it is not used.
    subprocess.run(["objcopy", "--only-keep-debug", "o0", "other.debug"], cwd=folder, check=True)
    subprocess.run(["objcopy", "-S", "--add-gnu-debuglink=other.debug", "bare", "linked"], cwd=folder, check=True)
    r = probe("-x", "linked", "-D", "work n", cwd=folder)
    check(r.status == 1 and not r.out, f"another build's debug file: {r}")
    subprocess.run(["objcopy", "--only-keep-debug", "o2", "right.debug"], cwd=folder, check=True)
    subprocess.run(["objcopy", "-S", "--add-gnu-debuglink=right.debug", "bare", "linked"], cwd=folder, check=True)
    r = probe("-x", "linked", "-D", "work n", cwd=folder)
    check(r.status == 0 and b"n=%di:s32" in r.out, f"its own debug file: {r}")


def damaged(folder):
    """Cut off and overwritten files: one line, or what is still right."""
    whole = open(os.path.join(folder, "o2"), "rb").read()
    for n in range(24):
        cut = len(whole) * n // 24
        for name, content in (("cut", whole[:cut]), ("holes", whole[:cut] + bytes(64) + whole[cut + 64:])):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
            for words in (["-D", "work $vars"], ["-V", "caller"], ["-F"]):
                r = probe("-x", name, *words, cwd=folder)
                check(r.status in (0, 1, 129), f"{name} at {cut}: {r}")
    for path in ("nothing", ".", "p.c"):
        r = probe("-x", path, "-D", "work", cwd=folder)
        check(r.status == 1 and len(r.err.splitlines()) == 1, f"{path}: {r}")
    os.symlink(os.path.join(folder, "o2"), os.path.join(folder, "a b"))
    shutil.copy(os.path.join(folder, "o2"), os.path.join(folder, "c d"))
    check("symbolic link" in probe("-x", "c d", "-D", "work", cwd=folder).err, "a name that the kernel cannot take")
    check(probe("-x", "a b", "-D", "work", cwd=folder).status == 0, "a link leads elsewhere")


VARIANTS = ["-gdwarf-2", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -gsplit-dwarf", "-gdwarf-5 -gsplit-dwarf", "-gz",
            "-gdwarf-4 -fdebug-types-section", "-gdwarf-5 -fdebug-types-section"]


def variants(folder):
    """The same of all forms that DWARF comes in."""
    for cc, option in itertools.product([x for x in ("cc", "clang") if shutil.which(x)], VARIANTS):
        r = subprocess.run([cc, "-g", "-O2", *option.split(), "-o", "form", "p.c"], cwd=folder, capture_output=True)
        if r.returncode:
            print(f"SKIP {option}: the compiler does not make that")
            continue
        option = f"{cc} {option}"
        r = probe("-x", "form", "-D", "work@p.c n s:string o->x o->i.name:string o->p->a o->i.c" + " v" * (cc == "cc"), cwd=folder)
        # clang describes `v` from the stack pointer after the prologue on.
        check(r.status == 0 and r.out.endswith(b" n=%di:s32 s_string=+0(%si):string x=+0(%dx):s64 name=+14(%dx):string a=+0(+32(%dx)):s32 "
                                               b"c=+12(%dx):b7@5/32" + b" v=+8(%sp):x8[24]" * (cc == "cc") + b"\n"), f"{option}: {r}")
        r = probe("-x", "form", "-D", "copied q", cwd=folder)
        check(r.status == 0 and len(r.out.splitlines()) >= 2, f"{option}: inlined copies: {r}")
        r = probe("-x", "form", "-V", "work", cwd=folder)
        check(r.status == 0 and b"\t\tint\tn\n" in r.out, f"{option}: variables: {r}")
        r = probe("-x", "form", "-L", "work", cwd=folder)
        check(r.status == 0 and b"local += strlen(s);" in r.out, f"{option}: lines: {r}")


MARKED = r"""
__attribute__((section(".probes"))) unsigned short seen;
__attribute__((noinline)) int marked(int n, long *p)
{
	__asm__ volatile("990: nop\n.pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n.4byte 992f-991f,994f-993f,3\n"
		"991: .asciz \"stapsdt\"\n992: .balign 4\n993: .8byte 990b\n.8byte 0\n.8byte seen\n"
		".asciz \"shop\"\n.asciz \"sold\"\n.asciz \"-4@%%edi 8@(%%rsi) 8@sold(%%rip)\"\n994: .balign 4\n.popsection"
		: : "D"(n), "S"(p));
	return n + (int)*p + seen;
}
int main(int argc, char **argv) { long l = argc; (void)argv; return marked(argc, &l); }
"""


def markers(folder):
    with open(os.path.join(folder, "m.c"), "w", encoding="utf-8") as f:
        f.write(MARKED)
    subprocess.run(["cc", "-g", "-O2", "-no-pie", "-o", "m", "m.c"], cwd=folder, check=True)
    for text in ("%sdt_shop:sold", "sdt_shop:sold", "%sold"):
        r = probe("-x", "m", "-D", text, cwd=folder)
        check(r.status == 0 and "arg3 is left out" in r.err and
              re.fullmatch(rb"p:sdt_shop/sold \S+:0x[0-9a-f]+\(0x[0-9a-f]+\) arg1=%di:s32 arg2=\+0\(%si\):u64\n", r.out), f"{text}: {r}")
    r = probe("-x", "m", "-D", "%sdt_shop:bought", cwd=folder)
    check(r.status == 1 and not r.out, f"no such marker: {r}")
    r = probe("-x", "o2", "-D", "%sdt_shop:sold", cwd=folder)
    check(r.status == 1 and "no markers" in r.err, f"none at all: {r}")


def split(folder):
    """-gsplit-dwarf without the files that have the rest: which file is missing, and the package that is not read."""
    folder = os.path.join(folder, "split.d")
    os.mkdir(folder)
    subprocess.run(["cc", "-g", "-O2", "-gsplit-dwarf", "-o", "split", "../p.c"], cwd=folder, check=True)
    parts = [n for n in os.listdir(folder) if n.endswith(".dwo")]
    if len(parts) != 1:
        print("SKIP split: this compiler makes no .dwo")
        return
    r = probe("-x", "split", "-D", "work n", cwd=folder)
    check(r.status == 0 and r.out, f"with its .dwo: {r}")
    os.remove(os.path.join(folder, parts[0]))
    for package in (False, True):
        if package:
            with open(os.path.join(folder, "split.dwp"), "wb"):
                pass
        for words in (["-D", "work n"], ["-D", "work:2"], ["-V", "work"], ["-L", "work"]):
            r = probe("-x", "split", *words, cwd=folder)
            check(r.status == 1 and not r.out and len(r.err.splitlines()) == 1 and parts[0] in r.err and
                  "-gsplit-dwarf" in r.err and ("split.dwp cannot be read" in r.err) == package, f"split, {words}: {r}")
    r = probe("-x", "split", "-D", "work", cwd=folder)
    check(r.status == 0 and not r.err, f"a symbol needs no .dwo: {r}")


def cached(folder):
    """--cache: what is kept, in perf's form, and what is found there again."""
    home = os.path.join(folder, "home")
    env = dict(support.ENV, HOME=home)

    def run(*words):
        return support.run([SONDE, "probe", *words], cwd=folder, env=env)

    def keep(*words):
        r = run("-n", "--cache", "-x", "kept", *words)
        check(r.status == 0 and not r.err, f"{words} is kept: {r}")

    for name, source in (("kept", "p.c"), ("marked", "m.c")):
        subprocess.run(["cc", "-g", "-O2", "-Wl,--build-id", "-o", name, source], cwd=folder, check=True)
    keep("work n o->i.a:x")
    keep("ev=work n")
    keep("g:line=p.c:12")
    keep("changes%return $retval")
    found = [os.path.join(at, n) for at, _, names in os.walk(home) for n in names if n == "probes"]
    path = os.path.realpath(os.path.join(folder, "kept"))
    check(len(found) == 1 and re.fullmatch(re.escape(home) + "/.debug" + re.escape(path) + "/[0-9a-f]{40}/probes", found[0]),
          f"one file, where perf has it: {found}")
    build_id = os.path.basename(os.path.dirname(found[0]))
    with open(found[0], encoding="utf-8") as f:
        text = f.read()
    want = [r"#work n a=o->i\.a:x", r"p:probe_kept/work PATH:0x[0-9a-f]+ n=%di:s32 a=\+8\(%dx\):x32",
            r"#probe_kept:ev=work n", r"p:probe_kept/ev PATH:0x[0-9a-f]+ n=%di:s32",
            r"#g:line=@p\.c:12", r"(p:g/line PATH:0x[0-9a-f]+\n)*p:g/line PATH:0x[0-9a-f]+",
            r"#changes%return \$retval", r"r:probe_kept/changes__return PATH:0x[0-9a-f]+ \$retval"]
    check(re.fullmatch("\n".join(want).replace("PATH", re.escape(path)) + "\n", text), f"the file: {text}")
    headings = ["work n a=o->i.a:x", "probe_kept:ev=work n", "g:line=@p.c:12", "changes%return $retval"]
    r = run("--list", "--cache")
    check(r.status == 0 and r.out.decode().splitlines() == [f"{path} ({build_id}):", *headings], f"the list: {r}")
    r = run("--list=g:*", "--cache")
    check(r.out.decode().splitlines()[1:] == ["g:line=@p.c:12"], f"a part of the list: {r}")
    subprocess.run(["strip", "kept"], cwd=folder, check=True)
    cached_again(run)
    cached_damage(run, found[0])
    r = run("-n", "--cache", "-x", "marked", "marked", "%di")
    r = run("--list", "--cache")
    check(b"\nsdt_shop:sold=sold\n" in r.out and not r.err, f"markers are kept with a program's first probe: {r}")
    subprocess.run(["cc", "-g", "-O2", "-Wl,--build-id=none", "-o", "nameless", "p.c"], cwd=folder, check=True)
    r = run("-n", "--cache", "-x", "nameless", "work")
    check(r.status == 1 and "no build-id" in r.err and len(r.err.splitlines()) == 1, f"no build-id: {r}")


def cached_again(run):
    """What is found of a program whose debugging information is gone."""
    for text, event in (("work n o->i.a:x", "probe_kept/work"), ("%ev", "probe_kept/ev"), ("%probe_kept:ev", "probe_kept/ev"),
                        ("%g:l*", "g/line"), ("g:line=p.c:12", "g/line"), ("new=%ev", "probe_kept/new")):
        r = run("-x", "kept", "-D", text)
        check(r.status == 0 and r.out.startswith(f"p:{event} ".encode()) and not r.err, f"{text} is found in the cache: {r}")
    for text in ("work n", "%nothing", "%no:thing", "%ev n"):
        r = run("-x", "kept", "-D", text)
        check(r.status in (1, 129) and not r.out and len(r.err.splitlines()) == 1, f"{text} is refused in one line: {r}")


def cached_damage(run, path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write("junk\n" + text + "#far\np:probe_kept/far /x:0x7fffffffffff\n#empty\n")
    r = run("--list", "--cache")
    check(r.status == 1 and "2 lines of the cached probes could not be read" in r.err and len(r.err.splitlines()) == 1 and
          b"\nfar\n" in r.out, f"a damaged file: {r}")
    r = run("-x", "kept", "-D", "%far")
    check(r.status == 1 and not r.out and "is not in the code" in r.err, f"a place outside of the file: {r}")
    for pattern, status in (("ev", 0), ("ev", 1), ("g:*", 0), ("*", 0)):
        r = run("-x", "kept", "--cache", "--del", pattern)
        check(r.status == status and (b"Removed cached event: " in r.out) == (not status), f"{pattern} is removed: {r}")
    check(not os.path.exists(path), "nothing is left")
    with open(path, "wb") as f:
        f.truncate(1 << 30)
    r = run("--list", "--cache")
    check(r.status == 1 and "too large" in r.err, f"a huge file: {r}")
    os.remove(path)


def kernel(folder):
    """By names alone: nothing is set, so that any kernel will do."""
    r = probe("-m", "/lib/modules/a-b.ko.xz", "-D", "some_function%return $retval", cwd=folder)
    if not os.path.exists("/proc/kallsyms"):
        print("SKIP kernel: no /proc/kallsyms")
        return
    check(r.status == 0 and r.out == b"r:probe/some_function__return a_b:some_function+0 $retval\n", f"a module's file: {r}")
    for words in (["-D", "no_such_function_at_all"], ["-D", "vfs_read:3"], ["-D", "vfs_read file"], ["-V", "vfs_read"],
                  ["-k", "o2", "-D", "main"], ["-m", "no_such_module", "-D", "vfs_read"],
                  ["-m", "/no/such.ko", "-D", "f:3"]):
        r = probe(*words, cwd=folder)
        check(r.status in (1, 129) and not r.out and len(r.err.splitlines()) == 1 and "cache" not in r.err, f"{words}: one line: {r}")
    # What a vmlinux is: symbols that count from _text.
    with open(os.path.join(folder, "k.c"), "w", encoding="utf-8") as f:
        f.write('__asm__(".text\\n.globl _text\\n_text:\\n");\n'
                "struct file { int flags; const char *name; } ; int counter = 3;\n"
                "__attribute__((noinline)) int do_open(struct file *f, int how) { return f->flags + how + counter; }\n"
                "__attribute__((noinline)) int do_close(int how) { return how + counter; }\n"
                "int main(int c, char **v) { struct file f = {c, v[0]}; return do_open(&f, c) + do_close(c); }\n")
    subprocess.run(["cc", "-g", "-O2", "-no-pie", "-fno-toplevel-reorder", "-o", "vmlinux", "k.c"], cwd=folder,
                   check=True)
    r = probe("-k", "vmlinux", "-D", "do_open f->flags f->name:string how counter", cwd=folder)
    check(r.status == 0 and re.fullmatch(rb"p:probe/do_open _text\+\d+ flags=\+0\(%di\):s32 name=\+0\(\+8\(%di\)\):string "
                                         rb"how=%si:s32 counter=@_text\+\d+:s32\n", r.out), f"a vmlinux: {r}")
    r = probe("-k", "vmlinux", "-D", "do_open f->name:ustring@user", cwd=folder)
    check(r.out.endswith(b" name=+u0(+u8(%di)):ustring\n"), f"of the process's memory: {r}")
    r = probe("-k", "vmlinux", "do_open", cwd=folder)
    check(r.status == 129 and "build-id" in r.err, f"not the running kernel's: {r}")


MODULE = r"""
struct item { int size; unsigned kind:5; char name[12]; struct item *next; };
int seen = 3;
static long hidden[4];
static int helper(int a) { for (int i = 0; i < a; i++) hidden[i & 3] += seen; return a * 3; }
__attribute__((noinline)) int handle_it(struct item *at, int how) {
	seen += how;
	int local = helper(at->size);
	hidden[1] += local;
	return local + at->kind;
}
__attribute__((section(".init.text"))) int init_module(void) { static struct item i = {3, 4, "x", 0}; return handle_it(&i, 1); }
"""
HANDLE_IT = "handle_it at->size at->name:string at->next->kind how seen hidden[1]"
WANTED = (b"p:probe/handle_it my_mod:handle_it+0 size=+0(%di):s32 name=+5(%di):string kind=+4(+24(%di)):b5@0/32 how=%si:s32 "
          b"seen=@seen+0:s32 hidden=@hidden+8:s64\n")


def modules(folder):
    """Files that are relocatable: nothing in them has an address yet."""
    def make(*options, cc="cc"):
        return subprocess.run([cc, "-g", "-O2", *options, "-c", "-o", "my-mod.ko", "mod.c"], cwd=folder, check=False,
                              capture_output=True).returncode == 0
    with open(os.path.join(folder, "mod.c"), "w", encoding="utf-8") as f:
        f.write(MODULE)
    for cc, *options in (["cc"], ["cc", "-gdwarf-4"], ["cc", "-gz"], ["clang"], ["clang", "-gdwarf-4"]):
        if not shutil.which(cc) or not make(*options, cc=cc):
            print(f"SKIP a module by {cc} {options}")
            continue
        r = probe("-m", "./my-mod.ko", "-D", HANDLE_IT, cwd=folder)
        check(r.status == 0 and r.out == WANTED, f"a module by {cc} {options}: {r}")
    make()
    r = probe("-m", "./my-mod.ko", "-D", "helper a", cwd=folder)
    check(r.status == 0 and re.fullmatch(rb"p:probe/helper my_mod:handle_it\+\d+ a=\S+:s32\n", r.out), f"an inlined copy: {r}")
    r = probe("-m", "./my-mod.ko", "-D", "init_module%return $retval", cwd=folder)
    check(r.out == b"r:probe/init_module__return my_mod:init_module+0 $retval\n", f"init code: {r}")
    r = probe("-m", "./my-mod.ko", "-L", "handle_it", cwd=folder)
    check(r.status == 0 and b"      4  \treturn local + at->kind;\n" in r.out, f"lines: {r}")
    r = probe("-m", "./my-mod.ko", "-V", "handle_it:4", cwd=folder)
    check(r.status == 0 and b"\t\tint\tlocal\n" in r.out, f"variables: {r}")
    r = probe("-m", "./my-mod.ko", "-F", cwd=folder)
    check(r.out == b"handle_it\ninit_module\n", f"functions: {r}")
    whole = open(os.path.join(folder, "my-mod.ko"), "rb").read()
    for n in range(32):
        cut = len(whole) * n // 32
        for name, content in (("cut.ko", whole[:cut]), ("holes.ko", whole[:cut] + bytes(64) + whole[cut + 64:])):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
            r = probe("-m", "./" + name, "-D", HANDLE_IT, cwd=folder)
            check(r.status in (0, 1, 129) and (r.status == 0 or r.err), f"{name} at {cut}: {r}")
    for command in (["ld", "-r", "--build-id", "-o", "id.ko", "my-mod.ko"], ["mv", "id.ko", "my-mod.ko"],
                    ["objcopy", "--only-keep-debug", "my-mod.ko", "my-mod.debug"], ["strip", "-g", "my-mod.ko"],
                    ["objcopy", "--add-gnu-debuglink=my-mod.debug", "my-mod.ko"]):
        subprocess.run(command, cwd=folder, check=True)
    r = probe("-m", "./my-mod.ko", "-D", HANDLE_IT, cwd=folder)
    check(r.status == 0 and r.out == WANTED, f"a separate debug file: {r}")
    os.remove(os.path.join(folder, "my-mod.debug"))
    r = probe("-m", "./my-mod.ko", "-D", "handle_it", cwd=folder)
    check(r.status == 0 and r.out == b"p:probe/handle_it my_mod:handle_it+0\n", f"names alone: {r}")
    r = probe("-m", "./my-mod.ko", "-D", "handle_it how", cwd=folder)
    check(r.status == 1 and len(r.err.splitlines()) == 1, f"a variable without debugging information: {r}")


def boot(folder):
    """What the kernel's boot configuration takes: of the vmlinux that kernel() made, for its names need not run."""
    r = probe("-k", "vmlinux", "--bootconfig", "-D", "do_open f->flags how", "-D", "do_open%return $retval", cwd=folder)
    check(r.status == 0 and re.fullmatch(rb"ftrace\.event\.kprobes\.do_open\.probes = '_text\+\d+ flags=\+0\(%di\):s32 how=%si:s32'\n"
                                         rb"ftrace\.event\.kprobes\.do_open__return\.probes = '_text\+\d+%return \$retval'\n", r.out),
          f"boot configuration: {r}")
    r = probe("-k", "vmlinux", "--bootconfig", "-D", "x=do_*", cwd=folder)
    check(r.status == 0 and re.fullmatch(rb"ftrace\.event\.kprobes\.x\.probes = '_text\+\d+', '_text\+\d+'\n", r.out), f"two places: {r}")
    r = probe("-k", "vmlinux", "-D", "main", cwd=folder)
    check(r.status == 129 and len(r.err.splitlines()) == 1, f"what is not between _text and the end: {r}")
    for words in (["-x", "o2", "-D", "work"], ["-k", "vmlinux", "do_open"], ["-l"]):
        check(probe("--bootconfig", *words, cwd=folder).status == 129, f"--bootconfig {words} is usage")


def usage(folder):
    for words in ([], ["-l", "-x", "o2"], ["-x", "o2", "-F", "-L", "work"], ["-q", "-v", "-x", "o2", "work"]):
        check(probe(*words, cwd=folder).status == 129, f"{words} is usage")
    r = probe("-n", "-x", "o2", "work", "n", cwd=folder)
    check(r.status == 0 and b"probe_o2:work" in r.out and b"with n)" in r.out, f"a dry run: {r}")


def main():
    if platform.machine() != "x86_64" or not all(shutil.which(t) for t in ("cc", "nm", "strip", "objcopy")):
        print("SKIP: no C compiler for x86-64")
        return support.SKIP
    with tempfile.TemporaryDirectory(prefix="sonde-probe-") as folder:
        with open(os.path.join(folder, "p.c"), "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        o2, o0 = Made(folder, "o2", "-O2"), Made(folder, "o0", "-O0")
        r = probe("-x", "o2", "-D", "work n", cwd=folder)
        if "built without libdw" in r.err:
            print("SKIP: built without libdw")
            return support.SKIP
        optimised(o2)
        refusals(o2)
        plain(o0)
        shows(o2)
        without_debug(folder)
        damaged(folder)
        kernel(folder)
        boot(folder)
        modules(folder)
        variants(folder)
        markers(folder)
        split(folder)
        cached(folder)
        usage(folder)
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
