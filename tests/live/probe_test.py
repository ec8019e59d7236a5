#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sets probes, records them, and compares what they recorded with what the programs say of themselves.

probe_test.py SONDE [FUNCTIONS [SEED]]

Programs are made up: functions of parameters of all types, whose callers print what they pass, and which print their own
variables at a line. Each recorded value must be the printed one; a variable may be refused, never wrong. SKIPs where
probes cannot be set. Probes are in a group of this process's own, and removed whatever happens.
"""
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402
from probes import equal  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
FUNCTIONS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
GROUP = f"sonde_test_{os.getpid()}"
CALLS = 3
check = support.check

HEAD = r"""
#include <stdio.h>
#include <stdbool.h>
enum colour { RED = 1, GREEN = 70000, BLUE = 3 };
typedef unsigned short word;
typedef word word2;
struct pair { int a, b; };
struct mid { long l; int i; short s; };
struct big { long l[3]; unsigned f1:3, f2:9; int f3:7; unsigned char f4:8; char name[12]; struct pair in; union { int u1; unsigned u2; }; };
struct node { struct node *next; struct big b; const char *text; double d; };
volatile long sink;
#define KEEP(x) __asm__ volatile("" : : "r"(&(x)) : "memory")
"""

SCALARS = {  # name -> (C, bits, signed, values)
    "char": ("signed char", 8, True), "uchar": ("unsigned char", 8, False), "short": ("short", 16, True),
    "word2": ("word2", 16, False), "int": ("int", 32, True), "uint": ("unsigned", 32, False),
    "long": ("long", 64, True), "ulong": ("unsigned long", 64, False), "bool": ("bool", 1, False),
    "colour": ("enum colour", 2, False), "cint": ("const int", 32, True), "vlong": ("volatile long", 64, True),
}


class Writer:
    """Writes a function, its calls, and the arguments of its probes."""

    def __init__(self, rng, number, cxx):
        self.rng, self.number, self.cxx = rng, number, cxx
        self.name = f"f{number}"
        self.parameters = [(f"p{i}", rng.choice(list(SCALARS) + ["float", "double", "node", "pair", "mid", "big", "text"] +
                                                (["ref"] if cxx else []))) for i in range(rng.randint(1, 9))]

    def c_type(self, kind):
        return {"float": "float", "double": "double", "node": "struct node *", "pair": "struct pair", "mid": "struct mid",
                "big": "struct big", "text": "const char *", "ref": "int &"}.get(kind) or SCALARS[kind][0]

    def declaration(self):
        return ", ".join(f"{self.c_type(k)} {n}" for n, k in self.parameters)

    def use(self, name, kind):
        if kind == "node":
            return f"sink += {name}->b.in.a;"
        if kind in ("pair", "mid", "big"):
            return f"sink += {name}.{ {'pair': 'b', 'mid': 'i', 'big': 'l[1]'}[kind]};"
        if kind == "text":
            return f"sink += {name}[0];"
        return f"sink += (long){name};"

    def change(self, name, kind):
        if kind in ("cint", "node", "text", "pair", "mid", "big", "colour", "bool"):
            return ""
        return f"{name} += 3;"

    def body(self):
        """The function's lines; the last but one prints."""
        lines = []
        for name, kind in self.parameters:
            if self.rng.random() < 0.4:
                lines.append(self.change(name, kind))
        for name, kind in self.rng.sample(self.parameters, len(self.parameters)):
            if self.rng.random() < 0.8:
                lines.append(self.use(name, kind))
            if self.rng.random() < 0.1 and kind != "ref":
                lines.append(f"KEEP({name});")
        lines.append("int l1 = (int)sink * 5 + 2; unsigned char l2 = (unsigned char)(l1 >> 3); long l3 = l1 - 7L;")
        if self.rng.random() < 0.5:
            lines.append("for (int k = 0; k < (l1 & 3) + 1; k++) { l3 += k; sink += l3; }")
        lines.append(f'printf("L {self.name} l1=%d l2=%d l3=%ld\\n", l1, l2, l3);')
        lines.append("sink += l1 + l2 + l3; return l1 ^ (int)sink;")
        return [x for x in lines if x]

    def function(self):
        return f"__attribute__((noinline)) int {self.name}({self.declaration()})\n{{\n" + "\n".join(self.body()) + "\n}\n"

    def line_of_print(self):
        return None

    def value(self, kind):
        rng = self.rng
        if kind in SCALARS:
            _, bits, signed = SCALARS[kind]
            if kind == "colour":
                return rng.choice(["RED", "GREEN", "BLUE"])
            n = rng.getrandbits(bits)
            n = n - (1 << bits) if signed and n >> (bits - 1) else n
            return f"({n}L)" if bits == 64 and n != -(1 << 63) and not kind == "ulong" else f"{n}UL" if kind == "ulong" else f"({n})" if n != -(1 << 63) else "0L"
        return None

    def printing(self, name, kind):
        """(format, arguments) of what a caller says."""
        if kind in ("float", "double"):
            return f" {name}=%a", f"(double){name}"
        if kind in SCALARS or kind == "ref":
            return f" {name}=%lld", f"(long long){name}"
        if kind == "text":
            return f" {name}=%s", name
        if kind == "pair":
            return f" {name}.a=%d {name}.b=%d", f"{name}.a, {name}.b"
        if kind == "mid":
            return f" {name}.l=%ld {name}.i=%d {name}.s=%d", f"{name}.l, {name}.i, {name}.s"
        dot = "->b." if kind == "node" else "."
        members = [f"{name}{dot}{m}" for m in ("l[2]", "f1", "f2", "f4", "name", "in.b", "u1")]
        text = "".join(f" {m}={'%ld' if '[' in m else '%s' if m.endswith('name') else '%d'}" for m in members)
        if kind == "node":
            members += [f"{name}->text", f"{name}->next->b.in.a", f"{name}->d"]
            text += f" {name}->text=%s {name}->next->b.in.a=%d {name}->d=%a"
        return text, ", ".join(members)

    def asked(self):
        """The arguments of a probe."""
        out = []
        for name, kind in self.parameters:
            if kind in SCALARS or kind in ("ref", "float", "double"):
                out.append(name)
            elif kind == "text":
                out.append(f"{name}:string")
            elif kind == "pair":
                out += [f"{name}.a", f"{name}.b"]
            elif kind == "mid":
                out += [f"{name}.l", f"{name}.i", f"{name}.s"]
            else:
                dot = "->b." if kind == "node" else "."
                out += [f"{name}{dot}{m}" for m in ("l[2]", "f1", "f2", "f4", "name:string", "in.b", "u1")]
                if kind == "node":
                    out += [f"{name}->text:string", f"{name}->next->b.in.a", f"{name}->d"]
        return out

    def call(self):
        lines = []
        for name, kind in self.parameters:
            t = self.c_type(kind)
            if kind in SCALARS:
                lines.append(f"{t.replace('const ', '').replace('volatile ', '')} {name} = ({t}){self.value(kind)};")
            elif kind == "ref":
                lines.append(f"int {name}_ = {self.rng.randint(-1000, 1000)}; int &{name} = {name}_;")
            elif kind in ("float", "double"):
                lines.append(f"{t} {name} = {self.rng.randint(-9999, 9999)} / 8.0;")
            elif kind == "text":
                lines.append(f'const char *{name} = "text{self.rng.randint(0, 999)}";')
            elif kind == "pair":
                lines.append(f"struct pair {name} = {{{self.rng.randint(-99, 99)}, {self.rng.randint(-99, 99)}}};")
            elif kind == "mid":
                lines.append(f"struct mid {name} = {{{self.rng.randint(-2**40, 2**40)}L, {self.rng.randint(-99, 99)}, {self.rng.randint(-99, 99)}}};")
            else:
                big = (f"{{{{1, 2, {self.rng.randint(-2**40, 2**40)}L}}, {self.rng.randint(0, 7)}, {self.rng.randint(0, 511)}, -3, "
                       f"{self.rng.randint(0, 255)}, \"n{self.rng.randint(0, 999)}\", {{5, {self.rng.randint(-99, 99)}}}, {{{self.rng.randint(-99, 99)}}}}}")
                if kind == "big":
                    lines.append(f"struct big {name} = {big};")
                else:
                    lines.append(f"struct node {name}_2 = {{0, {big}, \"x\", 1.0}}; {name}_2.b.in.a = {self.rng.randint(-99, 99)};")
                    lines.append(f"struct node {name}_1 = {{&{name}_2, {big}, \"t{self.rng.randint(0, 99)}\", {self.rng.randint(-99, 99)} / 4.0}}; "
                                 f"struct node *{name} = &{name}_1;")
            lines.append(f"KEEP({name});")
        parts = [self.printing(n, k) for n, k in self.parameters]
        lines.append(f'printf("C {self.name}{"".join(p[0] for p in parts)}\\n", {", ".join(p[1] for p in parts)});')
        lines.append(f"{self.name}({', '.join(n for n, _ in self.parameters)});")
        return "{ " + "\n".join(lines) + " }\n"


def sonde(*words, cwd=None):
    return support.run([SONDE, *words], cwd=cwd)


def probe(cwd, *words):
    return sonde("probe", *words, cwd=cwd)


def can_probe(folder):
    r = probe(folder, "-x", "/proc/self/exe", f"{GROUP}:try=0x0")
    if r.status and re.search("is not there|is closed|built without", r.err):
        print(f"SKIP: no probes can be set here: {r.err}")
        return False
    return True


def define(folder, program, event, place, asked):
    """Sets a probe with those arguments that can be fetched; returns them. Others are refused in one line."""
    had, refused = [], 0
    for a in asked:
        r = probe(folder, "-x", program, "-D", f"{place} {a}")
        check(r.status == 0 or len([x for x in r.err.splitlines() if "left out" not in x and "without optim" not in x]) == 1,
              f"{program} {place} {a}: {r}")
        # No place may be left out, so that every event has the same arguments.
        if r.status == 0 and "left out" not in r.err:
            had.append(a)
        refused += r.status != 0
    named = [f"a{i}={a}" for i, a in enumerate(had)]
    r = probe(folder, "-q", "-x", program, "-a", f"{GROUP}:{event}={place} {' '.join(named)}")
    check(r.status == 0, f"{program} {place} {named}: {r}")
    return had, refused


def run_program(folder, program, writers, source):
    lines = source.splitlines()
    wanted, refused = {}, 0
    for w in writers:
        wanted[w.name], n = define(folder, program, w.name, w.name, w.asked())
        refused += n
        first = next(i for i, x in enumerate(lines) if x.startswith(f"__attribute__((noinline)) int {w.name}("))
        at = next(i for i, x in enumerate(lines) if x.startswith(f'printf("L {w.name} '))
        r = probe(folder, "-x", program, "-D", f"{w.name}:{at - first}")
        if r.status == 0:
            wanted[f"{w.name}_line"], n = define(folder, program, f"{w.name}_line", f"{w.name}:{at - first}", ["l1", "l2", "l3"])
            refused += n
    with support.recording():
        r = sonde("record", "-q", "-e", f"{GROUP}:*", "-o", program + ".data", "--", "./" + program, cwd=folder)
    check(r.status == 0, f"{program} is recorded: {r}")
    said = {}
    for line in r.out.decode().splitlines():
        what, name, *rest = line.split(" ")
        values = dict(x.split("=", 1) for x in rest)
        said.setdefault(name if what == "C" else name + "_line", []).append(values)
    script = sonde("script", "-i", program + ".data", "-F", "event,trace", cwd=folder)
    seen, compared = {}, 0
    for line in script.out.decode().splitlines():
        m = re.match(rf"\s*{GROUP}:(\w+):\s+\([0-9a-f]+\)(.*)$", line)
        if check(m, f"{program}: a line of script: {line}") is False or not m:
            continue
        seen.setdefault(m[1], []).append(dict(re.findall(r"(a\d+)=(\"[^\"]*\"|\S+)", m[2])))
    for event, names in wanted.items():
        printed, recorded = said.get(event, []), seen.get(event, [])
        if event.endswith("_line"):  # a line may begin several times
            for values in recorded:
                hits = [p for p in printed if all(equal(p[n], values[f"a{i}"]) for i, n in enumerate(names))]
                check(hits or not names, f"{program} {event}: {values} of {names} in {printed}")
                compared += len(names)
            continue
        check(len(printed) == len(recorded), f"{program} {event}: {len(recorded)} events of {len(printed)} calls")
        for p, values in zip(printed, recorded):
            for i, n in enumerate(names):
                ok = equal(p[n.split(":")[0]], values.get(f"a{i}", "0"))
                check(ok, f"{program} {event} {n}: {values.get(f'a{i}')} was {p[n.split(':')[0]]}")
                compared += 1
    r = probe(folder, "-q", "-d", f"{GROUP}:*")
    check(r.status == 0, f"probes are removed: {r}")
    print(f"{program}: {compared} values compared, {refused} refused", flush=True)
    return compared


def truth(folder):
    compilers = [(cc, cxx) for cc, cxx in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(cc) and shutil.which(cxx)]
    total = 0
    for k, (cc, cxx) in enumerate(compilers):
        for n, (compiler, option) in enumerate([(cc, "-O2"), (cc, "-O0"), (cxx, "-O2"), (cc, "-O1"), (cxx, "-O3")]):
            rng = random.Random(f"{SEED}.{k}.{n}")
            is_cxx = compiler == cxx
            writers = [Writer(rng, i, is_cxx) for i in range(FUNCTIONS)]
            source = HEAD + "".join(w.function() for w in writers) + "int main(void)\n{\n"
            source += "".join(w.call() for w in writers for _ in range(CALLS)) + "return 0;\n}\n"
            name = f"t_{cc}_{n}"
            path = os.path.join(folder, name + (".cc" if is_cxx else ".c"))
            with open(path, "w", encoding="utf-8") as f:
                f.write(source)
            subprocess.run([compiler, "-g", "-w", option, "-o", name, path], cwd=folder, check=True)
            total += run_program(folder, name, writers, source)
    check(not compilers or total > 0, "values were compared")


def stale(folder):
    """A probe whose file has been replaced is reported as such; a probe that exists is not overwritten."""
    with open(os.path.join(folder, "s.c"), "w", encoding="utf-8") as f:
        f.write("int g(int n) { return n + 1; }\nint main(int c, char **v) { (void)v; return g(c); }\n")
    subprocess.run(["cc", "-g", "-O0", "-Wl,--build-id=0x11", "-o", "s", "s.c"], cwd=folder, check=True)
    r = probe(folder, "-x", "s", "-a", f"{GROUP}:g=g n", "-a", f"{GROUP}:g__return=g%return $retval:s32")
    check(r.status == 0 and f"{GROUP}:g " in r.out.decode(), f"two are added: {r}")
    check(probe(folder, "-x", "s", "-a", f"{GROUP}:g=g").status == 129, "the name exists")
    r = probe(folder, "-q", "-f", "-x", "s", "-a", f"{GROUP}:g=g")
    check(r.status == 0, f"another of that name: {r}")
    r = probe(folder, "-l", f"{GROUP}:*")
    check(len(r.out.splitlines()) == 3 and b"(on g%return@" in r.out and "stale" not in r.err, f"three are listed: {r}")
    subprocess.run(["cc", "-g", "-O2", "-Wl,--build-id=0x22", "-o", "s2", "s.c"], cwd=folder, check=True)
    os.replace(os.path.join(folder, "s2"), os.path.join(folder, "s"))
    r = probe(folder, "-l", f"{GROUP}:*")
    check(r.out.count(b"[stale]") == 3 and r.err.count("stale") == 3, f"another file is there: {r}")
    os.remove(os.path.join(folder, "s"))
    r = probe(folder, "-l", f"{GROUP}:g")
    check(b"[stale]" in r.out and "no such file" in r.err, f"the file is gone: {r}")
    r = probe(folder, "-d", f"{GROUP}:*")
    check(r.status == 0 and r.out.count(b"Removed event") == 3, f"all are removed: {r}")
    r = probe(folder, "-d", f"{GROUP}:*")
    check(r.status == 1 and "does not hit" in r.err, f"nothing is left: {r}")


def main():
    if platform.machine() != "x86_64" or not shutil.which("cc"):
        print("SKIP: no C compiler for x86-64")
        return support.SKIP
    with tempfile.TemporaryDirectory(prefix="sonde-probe-") as folder:
        if not can_probe(folder):
            return support.SKIP
        try:
            truth(folder)
            stale(folder)
        finally:
            probe(folder, "-q", "-d", f"{GROUP}:*")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
