#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inlined functions as frames of report and script, and what is kept of them between runs: inlined_frames_test.py SONDE [EXAMPLE]

What report, script and exports show of a program's whole code is the same; with perf 7 in the PATH, what it shows.
"""
import collections
import json
import os
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
EXAMPLE = os.path.realpath(sys.argv[2]) if len(sys.argv) > 2 else None  # examples/frames, by libsonde
check = support.check
SOURCE = """
volatile unsigned long sink;
#define IN static inline __attribute__((always_inline)) unsigned long
#define OUT __attribute__((noinline)) unsigned long
IN mix(unsigned long x) { x ^= x << 13; x ^= x >> 7; return x ^ x << 17; }
IN step(unsigned long n) { unsigned long s = n | 1; for (unsigned long i = 0; i < n; i++) s = mix(s); return s; }
OUT leaf(unsigned long n) { unsigned long r = step(n); sink += r; return r; }
IN middle(unsigned long n) { return leaf(n) * 3 + 1; }
OUT outer(unsigned long n) { unsigned long r = middle(n); sink += r; return r; }
OUT other(unsigned long n) { unsigned long r = middle(n) ^ 5; sink += r; return r; }
int main(void) { return outer(7) == other(8); }
"""
NAMES = ("mix", "step", "leaf", "middle", "outer", "other", "main")


def sonde(*options, cache=None):
    env = dict(support.ENV, **({"XDG_CACHE_HOME": cache} if cache else {}))
    return subprocess.run([SONDE, *options], capture_output=True, env=env, timeout=120)


def text(*options, cache=None):
    r = sonde(*options, "-f", "-i", "perf.data", cache=cache)
    check(r.returncode == 0, f"{options}: status {r.returncode}, {r.stderr.decode()[-300:]}")
    return r.stdout.decode()


def build():
    with open("program.c", "w") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-O2", "-g", "-fno-ipa-cp", "-fno-optimize-sibling-calls", "program.c", "-o", "program", "-Wl,--build-id"],
                   check=True)
    symbols = subprocess.run(["nm", "-S", "program"], capture_output=True, text=True, check=True).stdout
    sizes = {row[3]: int(row[1], 16) for row in map(str.split, symbols.splitlines()) if len(row) == 4}
    starts = made.functions("program")
    call = {}
    for caller in ("outer", "other"):  # the return address of its call of leaf
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={caller}", "program"], capture_output=True,
                              text=True, check=True).stdout
        lines = [line for line in code.splitlines() if re.match(r" +[0-9a-f]+:", line)]
        at = next(i for i, line in enumerate(lines) if re.search(r"call.*<leaf>", line))
        first, after = (int(lines[i].split(":")[0], 16) for i in (0, at + 1))
        call[caller] = starts[caller] + after - first
    stacks = [[starts["leaf"] + at, call["outer" if at % 3 else "other"], starts["main"] + 8] for at in range(sizes["leaf"])]
    with open("perf.data", "wb") as f:
        f.write(made.recording(os.path.abspath("program"), stacks))
    return stacks


def script_stacks(*options):
    """{stack, outermost first: weight}, as script shows them."""
    found = collections.Counter()
    for block in text("script", "-F", "period,ip,sym", *options).strip("\n").split("\n\n"):
        lines = block.splitlines()
        names = [line.split(None, 1)[1] for line in lines[1:]]
        found[tuple(reversed(names))] += int(lines[0])
    return found


def folded():
    out = subprocess.run([SONDE, "export", "folded", "-f", "perf.data"], capture_output=True, env=support.ENV).stdout.decode()
    return collections.Counter({tuple(line.rsplit(" ", 1)[0].split(";")[1:]): int(line.rsplit(" ", 1)[1]) for line in out.splitlines()})


def bare(stack):
    return tuple(name.replace(" (inlined)", "").replace("_[i]", "") for name in stack)


def same_everywhere(stacks):
    chains, plain = script_stacks(), script_stacks("--no-inline")
    whole = ("main", "outer", "middle (inlined)", "leaf", "step (inlined)", "mix (inlined)")
    check(whole in chains, f"script: {sorted(chains)[:3]}")
    check(set(plain) == {("main", "outer", "leaf"), ("main", "other", "leaf")}, f"--no-inline: {plain}")
    check(sum(chains.values()) == sum(plain.values()) == sum(range(1, len(stacks) + 1)), "script: all samples")
    kept = collections.Counter()
    for stack, n in chains.items():
        kept[tuple(name for name in stack if not name.endswith("(inlined)"))] += n
    check(kept == plain, "script: only inlined functions are added")
    rows = collections.Counter()
    for stack, n in chains.items():
        rows[bare(stack)] += n
    out = collections.Counter()
    for stack, n in folded().items():
        out[bare(stack)] += n
    check(out == rows, f"export: {out} instead of {rows}")
    table = json.loads(text("report", "--json", "--children", "-g", "caller,0", "-s", "sym"))["tables"][0]
    for e in table["entries"]:
        name = e["keys"]["symbol"][4:]
        inside = [n for stack, n in chains.items() if name in stack]
        own = e["self"][0]["period"]
        check(own == sum(n for stack, n in plain.items() if stack[-1] == name), f"report: {name} itself has {own}")
        if name != "middle (inlined)":  # one row in each function whose code it is
            check(e["children"][0]["period"] == sum(inside), f"report: {name} has {e['children'][0]['period']}, not {sum(inside)}")
    names = [e["keys"]["symbol"][4:] for e in table["entries"]]
    check(names.count("middle (inlined)") == 2 and names.count("step (inlined)") == 1, f"report: rows {names}")
    frames = [json.loads(line) for line in text("script", "--json").splitlines() if '"callchain"' in line]
    told = {tuple((f["sym"], f.get("inlined", False)) for f in reversed(x["callchain"])) for x in frames}
    by_library(chains)
    check(told == {tuple((n.replace(" (inlined)", ""), n.endswith("(inlined)")) for n in stack) for stack in chains}, "script --json")


def evidence():
    """What `why` says of a place with inlined functions, and of a function that is inlined everywhere."""
    for asked, possible in (("leaf", ["mix step leaf", "step leaf", "leaf"]), ("mix", ["mix step leaf"]), ("middle", ["middle outer", "middle other"])):
        told = json.loads(text("why", "--symbol", asked, "--json"))
        functions = told.get("functions", [])
        names = " ".join(f["sym"] for f in functions)
        check(names in possible and told["sym"] == functions[-1]["sym"], f"why {asked}: {functions}")
        check([f.get("inlined", False) for f in functions] == [True] * (len(functions) - 1) + [False], f"why {asked}: {functions}")
        lines = SOURCE.splitlines()
        check(all(f"{f['sym']}(" in lines[f["line"] - 1] for f in functions), f"why {asked}, lines: {functions}")
    check(" inlined into\n" in text("why", "--symbol", "middle"), "why, as text")


def by_library(chains):
    if not EXAMPLE:
        return
    out = subprocess.run([EXAMPLE, "perf.data"], capture_output=True, env=support.ENV)
    found = {tuple(reversed([re.sub(r"\+0x[0-9a-f]+( \(/.*\))?", "", line.split(None, 1)[1]) for line in block.splitlines()
                             if line.startswith("\t")])) for block in out.stdout.decode().strip("\n").split("\n\n")}
    check(found == set(chains), f"libsonde: {found} instead of {set(chains)}")


def shapes():
    """Text of single options."""
    flat = text("report", "--stdio", "--no-children", "-g", "none")
    check("(inlined)" not in flat and "leaf" in flat, "a flat report has rows of functions only")
    check("(inlined)" not in text("report", "--stdio", "--no-inline"), "report --no-inline")
    callers = text("report", "--stdio", "--no-children", "-g", "caller,0")
    order = re.findall(r"(?:-|\s)(mix|step|leaf|middle|outer|other|main)\b", callers.split("leaf", 1)[1])
    check(order[:4] in (["main", "outer", "middle", "leaf"], ["main", "other", "middle", "leaf"]), f"callers first: {order[:8]}")
    lines = text("report", "--stdio", "--no-children", "-g", "caller,0,srcline")
    check(re.search(r"middle program\.c:8 \(inlined\)", lines) and re.search(r"outer program\.c:9\b", lines), "lines of the calls")
    found = text("report", "--stdio", "--children", "-g", "none", "--symbol-filter", "middle")
    rows = [line for line in found.splitlines() if line and not line.startswith("#")]
    check(len(rows) == 2 and all("middle (inlined)" in row for row in rows), f"--symbol-filter: {rows}")
    parents = text("report", "--stdio", "--no-children", "-g", "none", "-p", "middle", "-s", "parent,sym")
    check("[other]" in parents, "-p looks at functions that were not inlined")
    columns = text("report", "--stdio", "--children", "-g", "none", "-s", "sym,srcline")
    check(re.search(r"step \(inlined\)\s+program\.c:6", columns), "-s srcline: the inlined function's own line")


def like_perf(stacks):
    """Of calls in `outer` only: perf 7.2 misses what is inlined in `other`."""
    perf = os.environ.get("SONDE_PERF_7") or shutil.which("perf")
    version = subprocess.run([perf, "--version"], capture_output=True, text=True).stdout if perf else ""
    number = re.search(r"version (\d+)\.", version)
    if not number or int(number[1]) < 7:
        print(f"SKIP comparing with perf: it is no perf 7 ({version.strip() or 'absent'})")
        return
    for options in (["--children", "-g", "none"], ["--no-children", "-g", "caller,0"], ["--no-children", "-g", "callee,0"],
                    ["--no-children", "-g", "folded,0"]):
        with open("outer.data", "wb") as f:
            f.write(made.recording(os.path.abspath("program"), [stack for i, stack in enumerate(stacks) if i % 3]))
        lines = []
        for program in (perf, SONDE):
            out = subprocess.run([program, "report", "--stdio", "-f", "-i", "outer.data", *options], capture_output=True, env=support.ENV)
            lines.append(sorted(line.rstrip() for line in out.stdout.decode().splitlines() if line.strip() and not line.startswith("#")))
        check(lines[0] == lines[1], f"{options}: {lines[1]} instead of {lines[0]}")


def kept_between_runs():
    cache = os.path.abspath("cache")
    folder = os.path.join(cache, "sonde")
    commands = [["report", "--stdio", "-g", "caller,0,srcline"], ["script", "-F", "ip,sym,srcline"]]
    want = [text(*c, cache="/proc/none") for c in commands]

    def again(what):
        check([text(*c, cache=cache) for c in commands] == want, what)

    again("first run")
    names = [n for n in os.listdir(folder) if n.startswith("lines-")]
    check(len(names) == 1, f"kept: {names}")
    path = os.path.join(folder, names[0])
    check(os.stat(folder).st_mode & 0o777 == 0o700 and os.stat(path).st_mode & 0o777 == 0o600, "kept for the user alone")
    with open(path, "rb") as f:
        whole = f.read()
    again("second run")
    with open(path, "rb") as f:
        check(f.read() == whole, "nothing new is kept")
    for what, bytes_ in (("cut", whole[:len(whole) // 2]), ("another version", whole.replace(b"sondeln1", b"sondeln9", 1)),
                         ("changed", bytes(b ^ (i % 97 == 50) for i, b in enumerate(whole))), ("no such file", b"nothing"),
                         ("a changed block", whole[:-20] + bytes(20))):
        with open(path, "wb") as f:
            f.write(bytes_)
        again(f"{what}: as if nothing were kept")
        with open(path, "rb") as f:
            check(f.read() == whole, f"{what}: made anew")
    os.remove(path)
    runs = [subprocess.Popen([SONDE, *commands[i % 2], "-f", "-i", "perf.data"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                             env=dict(support.ENV, XDG_CACHE_HOME=cache)) for i in range(6)]
    check([r.communicate()[0].decode() for r in runs] == [want[i % 2] for i in range(6)], "several writers at once")
    again("after them")
    check(sorted(os.listdir(folder)) == names, f"nothing else is left: {os.listdir(folder)}")
    shutil.rmtree(folder)
    with open(folder, "w"):
        pass
    again("no folder can be made")
    subprocess.run(["objcopy", "--remove-section", ".note.gnu.build-id", "program"], check=True)
    os.remove(folder)
    again("without a build-id")


def main():
    for tool in ("gcc", "nm", "objdump", "readelf", "objcopy"):
        if not shutil.which(tool):
            print(f"SKIP: there is no {tool}")
            sys.exit(support.SKIP)
    if subprocess.run(["uname", "-m"], capture_output=True, text=True).stdout.strip() != "x86_64":
        print("SKIP: the calls are found in x86-64 code")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        stacks = build()
        same_everywhere(stacks)
        shapes()
        evidence()
        like_perf(stacks)
        kept_between_runs()
        os.chdir("/")
    sys.exit(support.status())


main()
