#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the stacks of a program without frame pointers whose callers are known, and checks who is said to have called.

unwind_test.py SONDE EXAMPLE_FRAMES UNWIND_EQUAL

SKIPs without a C compiler, and where the kernel lets us record nothing or gives no user registers.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE, FRAMES, EQUAL = (os.path.abspath(p) for p in sys.argv[1:4])
DEPTH = 20
check = support.check

PROGRAM = r"""
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define APART __attribute__((noinline, noclone, used))
volatile unsigned long sink;
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
/* What is after each call keeps it from being a jump. */
APART static void spin(void) { for (unsigned long i = 0; i < 300000; i++) sink += i; }
APART static void leaf(void) { for (unsigned long i = 0; i < 300000; i++) sink += i; }
APART static void middle(unsigned long n) { /* a frame whose size is not known when it is compiled */
    char *p = alloca(n);
    memset(p, 1, n);
    leaf();
    sink += p[n / 2];
}
APART static void outer(void) { middle(16 + sink % 700); sink++; }
APART static void deep(int n) {
    char room[40];
    memset(room, n, sizeof room);
    if (n) deep(n - 1); else spin();
    sink += room[n];
}
APART static int compare(const void *a, const void *b) {
    for (int i = 0; i < 3000; i++) sink += i;
    return *(const int *)a - *(const int *)b;
}
APART static void sorted(void) {
    int all[40];
    for (int i = 0; i < 40; i++) all[i] = i * 7919 % 101;
    qsort(all, 40, sizeof *all, compare);
    sink += all[3];
}
APART static void in_handler(void) { for (unsigned long i = 0; i < 300000; i++) sink += i; }
APART static void on_signal(int s) { in_handler(); sink += s; }
APART static void interrupted(void) { raise(SIGUSR1); sink++; }
APART static void through_pointer(void (*f)(void)) { f(); sink++; }
int main(void) {
    signal(SIGUSR1, on_signal);
    for (double end = now() + 2; now() < end;) {
        through_pointer(outer);
        deep(DEPTH);
        sorted();
        interrupted();
    }
    return 0;
}
"""

# What a chain, innermost first, must look like from its first function on, by that function.
CALLERS = {
    "leaf": r"leaf;middle;outer;through_pointer;main;",
    "spin": r"spin;(deep;){%d}main;" % (DEPTH + 1),
    "compare": r"compare;(?!.*(outer|deep|interrupted);).*;sorted;main;",
    "in_handler": r"in_handler;on_signal;(?!.*(outer|deep|sorted);).*;interrupted;main;",
}


def check_chains(chains, least, what):
    """Each is [names], innermost first; at least so many of each function's."""
    for function, wanted in CALLERS.items():
        mine = [";".join(c) + ";" for c in chains if c and c[0] == function]
        wrong = [c for c in mine if not re.match(wanted, c)]
        check(len(mine) >= least, f"{what}: stacks of {function}: {len(mine)}")
        check(not wrong, f"{what}: {len(wrong)} of {len(mine)} stacks of {function} are wrong: {wrong[:2]}")


def build(options):
    with open("program.c", "w") as f:
        f.write(PROGRAM)
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if not compiler:
        print("SKIP: there is no C compiler")
        return False
    for more in (["-fno-ipa-icf"], []): # which not every compiler has; equal functions are to stay apart
        r = subprocess.run([compiler, "-O2", "-fomit-frame-pointer", f"-DDEPTH={DEPTH}", *more, *options, "-Wno-attributes",
                            "-o", "program", "program.c"], capture_output=True)
        if r.returncode == 0:
            return True
    check(False, f"{compiler} {options}: {r.stderr.decode()[-300:]}")
    return False


def record(data, *options):
    with support.recording():
        return subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "997", *options, "-o", data, "--", "./program"],
                              capture_output=True, env=support.ENV, timeout=300)


def read(what):
    script = support.run([SONDE, "script", "-i", "unwind.data", "-F", "ip,sym"])
    chains = [re.findall(r"^\s*[0-9a-f]+ (\S+)", text, re.M) for text in script.out.decode("utf-8", "replace").split("\n\n")]
    check_chains(chains, 10, f"{what}: script")
    folded = support.run([SONDE, "report", "-i", "unwind.data", "--stdio", "--no-children", "--sort", "sym", "--percent-limit", "0", "-g",
                          "folded,0,callee"]).out.decode("utf-8", "replace")
    check_chains([line.split(" ", 1)[1].split(";") for line in re.findall(r"^[0-9.]+% .*$", folded, re.M)], 1, f"{what}: report")
    listed = re.split(r"^\S.*\n", support.run([FRAMES, "unwind.data"]).out.decode("utf-8", "replace"), flags=re.M)
    check_chains([re.findall(r"^\s*[0-9a-f]+ (.*?)\+0x[0-9a-f]+ \(", text, re.M) for text in listed], 10, f"{what}: libsonde")


def check_equal(what):
    """Each stack of unwind.data, unwound as if while recording, is what it is when it is read."""
    r = support.run([EQUAL, "unwind.data", "2"])
    found = re.search(r"^stacks (\d+) equal (\d+) kept (\d+) differ (\d+) bytes (\d+) -> (\d+)$", r.out.decode(), re.M)
    check(r.status == 0 and found, f"{what}: unwound as if while recording: {r.out[-500:]} {r.err[-300:]}")
    if not found:
        return
    stacks, equal, kept, differ, before, after = map(int, found.groups())
    check(stacks and not differ, f"{what}: {differ} of {stacks} stacks are others: {r.out[:900]}")
    check(kept * 100 <= stacks, f"{what}: {kept} of {stacks} stacks were left as they were")
    check(after * 20 <= before, f"{what}: samples of {before} bytes became {after}")


def addresses(command):
    """Of each callchain, in order."""
    text = support.run([*command, "script", "-i", "unwind.data", "--no-inline", "-F", "ip"]).out.decode("utf-8", "replace")
    return [re.findall(r"^\s*([0-9a-f]+)\s*$", one, re.M) for one in text.split("\n\n")]


def read_recorded(what):
    """What --unwind=record wrote: callchains and no dumps, and perf reads as many frames."""
    report = json.loads(support.run([SONDE, "doctor", "--json", "unwind.data"]).out)
    ids = [f["id"] for f in report["findings"]]
    check("unwound_while_recording" in ids, f"{what}: doctor tells of stacks that were unwound while recording: {ids}")
    dumps = support.run([SONDE, "script", "-i", "unwind.data", "-D"]).out
    dumps = len(re.findall(rb"ustack: size [1-9]", dumps))
    check(dumps == 0, f"{what}: {dumps} stacks are still dumped")
    perf = shutil.which("perf")
    if not perf:
        print("SKIP there is no perf to read it as well")
        return
    ours, theirs = addresses([SONDE]), addresses([perf])
    check(len(ours) > 10 and [len(c) for c in ours] == [len(c) for c in theirs], f"{what}: perf reads as many frames in each stack")


def read_cut():
    """Stacks that go on after their dumps: report and libsonde count as many frames as script shows that are not proved."""
    counts = {}
    for line in support.run([SONDE, "script", "-i", "cut.data", "--no-inline", "--json"]).out.decode("utf-8", "replace").splitlines():
        sample = json.loads(line)
        for frame in sample.get("callchain", []):
            grade = frame.get("grade", "unknown")
            if not frame.get("inlined"):
                counts[grade] = counts.get(grade, 0) + 1
    tables = json.loads(support.run([SONDE, "report", "-i", "cut.data", "--json"]).out)["tables"]
    check(len(tables) == 1 and {k: v for k, v in tables[0]["frames"].items() if v} == counts,
          f"short dumps: report's grades are script's: {tables[0]['frames']}, {counts}")
    objects = json.loads(support.run([SONDE, "doctor", "--json", "cut.data"]).out)
    check({k: v for k, v in objects["frames"].items() if v} == counts and
          sum(o["frames"]["inferred"] for o in objects["objects"]) == counts.get("inferred", 0),
          f"short dumps: doctor's are, too: {objects['frames']}")
    stacks = [line.rsplit(" ", 1) for line in
              support.run([SONDE, "export", "folded", "cut.data"]).out.decode("utf-8", "replace").splitlines()]
    check(sum(int(n) for _, n in stacks) == tables[0]["totals"][0]["period"], "short dumps: whole stacks have the whole period")
    cut = [stack.split(";") for stack, _ in stacks if "[truncated]" in stack]
    check(cut and all(stack[1] == "[truncated]" and "_start" not in stack for stack in cut), f"short dumps: truncated: {cut[:3]}")
    check(counts.get("inferred", 0) > 10, f"short dumps: their outermost frames are not proved: {counts}")


def main():
    with tempfile.TemporaryDirectory(prefix="sonde-unwind-") as d:
        os.chdir(d)
        for options in ([], ["-static"], ["-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g"]):
            if not build(options):
                if options == ["-static"] and support.failures:
                    support.failures.pop()
                    print("SKIP static programs cannot be made here")
                    continue
                os.chdir("/")
                return 1 if support.failures else support.SKIP
            r = record("unwind.data", "--call-graph", "dwarf,16384")
            if r.returncode and record("flat.data").returncode:
                print(f"SKIP: the kernel lets us record nothing: {r.stderr.decode()[-200:]}")
                os.chdir("/")
                return support.SKIP
            check(r.returncode == 0, f"stacks are recorded: {r.stderr.decode()[-300:]}")
            what = " ".join(options) or "as usual"
            read(what)
            check_equal(what)
            r = record("unwind.data", "--call-graph", "dwarf,16384", "--unwind=record")
            check(r.returncode == 0, f"stacks are unwound while recording: {r.stderr.decode()[-300:]}")
            read(f"{what}, --unwind=record")
            read_recorded(what)
            for more in ([], ["--unwind=record"]) if not options else []:
                if record("cut.data", "--call-graph", "dwarf,128", *more).returncode == 0:
                    read_cut()
        os.chdir("/")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
