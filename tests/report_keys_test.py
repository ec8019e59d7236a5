#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The keys and modes of `report` that need more than a place and a callchain: report_keys_test.py SONDE OBJECT

Memory accesses, call stacks from branch records, functions looked for in callchains, graphs by address, counters per
thread, how many threads ran, sizes, and ^C. OBJECT is any shared object with the functions filter_event, start and
stop.
"""
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import support

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
FUNCTIONS, (CODE_AT, CODE_BYTES) = pd.functions(OBJECT)
BASE, PAGE = 0x7f0000000000, 4096
LEAF, MIDDLE, ROOT = (BASE + FUNCTIONS[f][0] for f in ("filter_event", "start", "stop"))
MEM_TYPE = pd.IP | pd.TID | pd.TIME | pd.ADDR | pd.PERIOD | pd.WEIGHT_STRUCT | pd.DATA_SRC
REPORT = support.Report("keys of report")
FOLDER = tempfile.mkdtemp(prefix="sonde-keys-")


def report(recording, *options):
    path = os.path.join(FOLDER, "x.data")
    recording.write(path)
    return support.run([SONDE, "report", "-f", "-i", path, *options])


def rows(text):
    """The cells of the lines that are no titles; cells stand two blanks apart at least."""
    return [re.split(r"  +", line.strip()) for line in text.decode().splitlines() if line.strip() and line[0] != "#"]


def check(what, got, want):
    REPORT.check(what, got == want, lambda: f"{got}, wanted {want}")


def program(sample_type, **more):
    r = pd.Recording(sample_type, **more)
    r.comm(7, "prog")
    start = CODE_AT // PAGE * PAGE
    r.map(7, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, OBJECT)
    return r


# ---- memory ----

def source(op=2, lvl=1, snoop=1, lock=1, tlb=1, number=0):
    """perf_event.h, union perf_mem_data_src."""
    return op | lvl << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33


def memory():
    r = pd.Recording(MEM_TYPE)
    r.comm(7, "prog")
    r.map(7, 0x400000, 0x10000, 0, "/nonexistent/app")

    def access(ip, addr, weight, src):
        r.sample(7, ip, addr=addr, more=struct.pack("<IHHQ", weight, 0, 0, src))
    access(0x401000, 0x405004, 60, source(lvl=2 | 8, snoop=2, lock=2, tlb=2 | 8))
    access(0x401010, 0x405030, 20, source(lvl=2 | 8, snoop=2, lock=2, tlb=2 | 8, number=13))
    access(0x401020, 0x405040, 20, source(lvl=4 | 64, snoop=16, tlb=4 | 16))
    access(0x401030, 0x900000, 0, 0)
    out = report(r, "--mem-mode", "-s", "mem,snoop,locked,tlb").out
    check("title of --mem-mode", [line for line in out.decode().splitlines() if line.startswith(("# Total w", "# Sort"))],
          ["# Total weight : 101", "# Sort order   : mem,snoop,locked,tlb"])
    # Grouped by one field of the source; the words are those of the first sample.
    check("sources", rows(out), [["79.21%", "L1 hit", "None", "Yes", "L1 hit"], ["19.80%", "L3 miss", "HitM", "N/A", "L2 miss"],
                                 ["0.99%", "N/A", "N/A", "No", "N/A"]])
    check("cache lines", rows(report(r, "--mem-mode", "-s", "dcacheline,dso_daddr").out),
          [["79.21%", "[.] 0x0000000000005000", "app"], ["19.80%", "[.] 0x0000000000005040", "app"],
           ["0.99%", "[X] 0x0000000000900000", "[unknown]"]])
    check("the column of objects has room for an address", report(r, "--mem-mode", "-s", "dso_daddr").out.decode().splitlines()[9],
          "# Overhead  Data Object     ")
    check("data addresses", rows(report(r, "--mem-mode", "-F", "sample,symbol_daddr", "-s", "symbol_daddr").out)[0][:2],
          ["1", "[.] 0x0000000000405004"])
    check("weights sort from the largest", [x[1] for x in rows(report(r, "-s", "local_weight").out)], ["20", "60", "0"])
    even = pd.Recording(MEM_TYPE)
    for at, name in (0x400000, "app"), (0x900000, "zoo"):
        even.map(7, at, 0x10000, 0, "/nonexistent/" + name)
    for addr in 0x405000, 0x905000, 0xa05000:
        even.sample(7, 0x401000, addr=addr, more=struct.pack("<IHHQ", 4, 0, 0, source()))
    check("objects in no mapping, then from the last name up", [x[1] for x in rows(report(even, "--mem-mode", "-s", "dso_daddr").out)],
          ["[unknown]", "zoo", "app"])
    check("mem without --mem-mode", report(r, "-s", "mem").status, 129)


# ---- callchains ----

def chains():
    r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
    for count, chain in ((3, (LEAF + 4, MIDDLE + 4, ROOT + 4)), (2, (LEAF + 4, ROOT + 4)),
                         (1, (LEAF + 4, MIDDLE + 4, MIDDLE + 9, ROOT + 4))):
        for _ in range(count):
            r.sample(7, chain[0], (pd.CONTEXT_USER,) + chain)
    return r


def searches():
    r = chains()
    flat = ["--no-children", "-g", "none"]
    check("-p", rows(report(r, "-p", "^start$", "-s", "sym", *flat).out),
          [["66.67%", "[.] filter_event", "start"], ["33.33%", "[.] filter_event", "[other]"]])
    check("-x", rows(report(r, "-p", "^start$", "-x", "-s", "sym", *flat).out), [["66.67%", "[.] filter_event", "start"]])
    check("-x without a parent", rows(report(r, "-x", "-s", "sym", *flat).out), [])
    folded = ["-s", "sym", "--no-children", "-g", "folded"]
    check("--ignore-callees", rows(report(r, "--ignore-callees", "^start$", *folded).out),
          [["66.67%", "[.] start"], ["66.67% start;stop"], ["33.33%", "[.] filter_event"], ["33.33% filter_event;stop"]])
    check("--ignore-callees, callers first", rows(report(r, "--ignore-callees", "^start$", *folded[:-1], "folded,caller").out),
          [["66.67%", "[.] start"], ["66.67% stop;start"], ["33.33%", "[.] filter_event"], ["33.33% stop;filter_event"]])
    check("a bad expression", report(r, "-p", "(").status, 129)
    check("-p without callchains", report(program(pd.IP | pd.TID | pd.TIME), "-p", "x").status, 1)
    check("-g address", rows(report(r, *folded[:-1], "folded,address").out)[1:],
          [["50.00% filter_event +4;start +4;stop +4"], ["33.33% filter_event +4;stop +4"],
           ["16.67% filter_event +4;start +4;start +9;stop +4"]])


def empty_chains():
    """Where all callchains are empty there are no parts of them; and a pipe does not say how much is to come."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
    for i in range(50):
        r.sample(7, 0x1000 * (i + 1))
    for order in "callee", "caller":
        out = support.run([SONDE, "report", "-i", "-", "-s", "sym", "-g", order, "--no-children"], stdin=r.data())
        check(f"empty callchains, {order}s first", rows(out.out),
              [["2.00%", f"[.] {0x1000 * (i + 1):#018x}"] for i in range(50)])


def later_chains():
    """No chain waits for many others: where one says so it is none, as looking for them would take for ever."""
    for count, want in (16, [["100.00%", "[.] filter_event"], ["100.00% filter_event;stop"]]), (17, [["100.00%", "[.] filter_event"]]):
        r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
        r.sample(7, LEAF + 4, (pd.CONTEXT_USER_DEFERRED, 1) * count + (pd.CONTEXT_USER, LEAF + 4, ROOT + 4))
        check(f"{count} deferred chains", rows(report(r, "-s", "sym", "--no-children", "-g", "folded").out), want)


def call_stacks():
    """The branches are calls: from where, to what; innermost first. The callchain's user part does not count."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD | pd.BRANCH_STACK, branches=pd.BRANCH_CALL_STACK)
    r.kernel(0xffffffff81000000, 0x1000000)
    calls = [(MIDDLE + 4, LEAF, 0), (ROOT + 4, MIDDLE, 0)]
    r.sample(7, LEAF + 4, (pd.CONTEXT_USER, LEAF + 4, 0x1234), branches=calls)
    kernel = (pd.CONTEXT_KERNEL, 0xffffffff81000100)
    r.sample(7, kernel[1], kernel + (pd.CONTEXT_USER, LEAF + 8, 0x1234), misc=pd.KERNEL, branches=calls)
    options = ["--no-children", "-g", "folded", "--kallsyms", "/dev/null"]
    check("LBR call stacks", sorted(x for x in rows(report(r, *options).out) if ";" in x[0]),
          [["50.00% 0xffffffff81000100;filter_event;start;stop"], ["50.00% filter_event;start;stop"]])


# ---- basic blocks ----

def cycles(n):
    return 2 | n << 4  # perf_event.h, struct perf_branch_entry: predicted, cycles


def blocks():
    """The newest branch comes first; what ran before it began where the one after it went."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.BRANCH_STACK)
    r.features[pd.HEADER_BRANCH_STACK] = b""
    for spent in 10, 21:
        r.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, cycles(spent)), (MIDDLE + 12, LEAF + 4, cycles(30))])
    r.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, cycles(2)), (MIDDLE + 12, LEAF + 8, cycles(0)), (ROOT + 2, MIDDLE, cycles(7))])
    r.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, cycles(0)), (MIDDLE + 12, LEAF + 4, cycles(99))])  # does not count
    got = rows(report(r, "--total-cycles").out)
    # 100 cycles in all: what ends in stop counts, but it is no branch's target. The mean of a block counts for each row
    # with its function for a target: start is that of branches with 10, 21, 2 and 7 cycles, filter_event of 30 and 0.
    whole = 5 * 30 + 3 * 11
    check("--total-cycles", got, [
        ["60.00%", "60", f"{3000 / whole:.2f}%", "30", "[start+0 -> start+12]", "callers.so"],
        ["33.00%", "33", f"{1100 / whole:.2f}%", "11", "[filter_event+4 -> filter_event+16]", "callers.so"]])
    check("--total-cycles --percent-limit", len(rows(report(r, "--total-cycles", "--percent-limit", "40").out)), 1)
    check("--total-cycles -t", rows(report(r, "--total-cycles", "-t", ";").out)[0][0].split(";")[1], "60")
    table = json.loads(report(r, "--total-cycles", "--json").out)["tables"][0]
    check("--total-cycles --json", (table["cycles"], table["blocks"][1]),
          (100, {"function": "filter_event", "object": "callers.so", "start": 4, "end": 16, "cycles": 33, "count": 3}))
    even = program(pd.IP | pd.TID | pd.TIME | pd.BRANCH_STACK)
    even.features[pd.HEADER_BRANCH_STACK] = b""
    for more in 0, 1, 0:
        even.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, cycles(60000 + more)), (MIDDLE + 12, LEAF + 4, cycles(60000)),
                                       (ROOT + 2, MIDDLE, cycles(1000))])
    check("--total-cycles: less than a hundred thousandth does not sort",
          [x[4].split("+")[0] for x in rows(report(even, "--total-cycles").out)], ["[start", "[filter_event"])
    check("--total-cycles of what has none", rows(report(chains(), "--total-cycles", "-g", "none", "--no-children").out)[0][-1],
          "[.] filter_event")


def history():
    """Of each branch the target stands first, as perf has it, whichever branch comes first."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD | pd.BRANCH_STACK)
    r.features[pd.HEADER_BRANCH_STACK] = b""
    branches = [(LEAF + 16, MIDDLE, 0), (MIDDLE + 12, LEAF + 4, 0)]
    r.sample(7, LEAF + 8, (pd.CONTEXT_USER, LEAF + 8, ROOT + 4), branches=branches)
    r.sample(7, LEAF + 8, (pd.CONTEXT_USER, LEAF + 8, ROOT + 4))
    graph = ["--no-branch-stack", "--no-children", "-s", "sym", "-g"]

    def graphs(order):
        return sorted(x[0] for x in rows(report(r, *graph, "folded,branch,address," + order).out) if ";" in x[0])
    check("-g branch", graphs("callee"),
          ["50.00% filter_event +8;stop +4", "50.00% start +0;filter_event +16;filter_event +4;start +12;stop +4"])
    check("-g branch, callers first", graphs("caller"),
          ["50.00% stop +4;filter_event +4;start +12;start +0;filter_event +16", "50.00% stop +4;filter_event +8"])
    got = rows(report(r, "--branch-history", "-g", "none", "--no-children").out)
    check("--branch-history", got, [["100.00%", "filter_event+8", "[.] filter_event", "callers.so"]])
    alone = program(pd.IP | pd.TID | pd.TIME | pd.PERIOD | pd.BRANCH_STACK)
    alone.sample(7, LEAF + 8, branches=branches)
    check("--branch-history without callchains", [x[0] for x in rows(report(alone, "--branch-history", "-g", "folded").out)],
          ["100.00%", "100.00% filter_event +4;start +12;start +0;filter_event +16"])
    check("--branch-history without branches", report(program(pd.IP | pd.TID | pd.TIME), "--branch-history").status, 1)
    check("how branches went is not summed up", report(r, "--branch-history", "-s", "callchain_branch_cycles").status, 1)


# ---- threads ----

def predicted():
    """Of all branches of a row's samples; rows without any have no share."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD | pd.BRANCH_STACK)
    r.features[pd.HEADER_BRANCH_STACK] = b""
    r.comm(8, "none")
    hit, miss = 2, 1  # perf_event.h, struct perf_branch_entry
    for flags in (hit, hit, hit), (hit, miss, miss), (miss, hit):
        r.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, f) for f in flags])
    r.sample(8, LEAF)
    options = ["--branch-history", "-g", "none", "--no-children", "-s", "comm,callchain_branch_predicted"]
    want = [["75.00%", "prog", "62.5%"], ["25.00%", "none", "-"]]
    check("callchain_branch_predicted", rows(report(r, *options).out), want)
    check("callchain_branch_predicted -t", "".join(rows(report(r, *options, "-t", ";").out)[0]).replace(" ", ""), "75.00%;prog;62.5%")
    entries = json.loads(report(r, *options, "--json").out)["tables"][0]["entries"]
    check("callchain_branch_predicted --json", [e["measures"] for e in entries],
          [{"callchain_branch_predicted": [{"sum": n, "of": of}]} for n, of in ((5, 8), (0, 0))])
    tree = rows(report(r, *options[:-1], "comm,sym,callchain_branch_predicted", "-H").out)
    check("callchain_branch_predicted -H", [x[:2] for x in tree][:2], [["75.00%", "62.5%"]] * 2)
    failed = report(r, "-s", "callchain_branch_predicted")
    check("without --branch-history", (failed.status, "Invalid --sort key" in failed.err), (129, True))


def threads():
    r = program(pd.IP | pd.TID | pd.TIME, flags=pd.INHERIT_STAT)
    r.sample(7, LEAF)
    for tid, value in (7, 5), (8, 1234567), (7, 6):
        r.read(7, tid, value)
    tail = report(r, "-T").out.decode().splitlines()[-3:]
    check("-T", tail, ["# PID  TID  cpu-clock", "    7    7         11", "    7    8    1234567"])


def gone():
    """A task that has been reaped has no number any more: the kernel says -1, which is less than all others. The first
    such sample may still have its process's number; that of the others is not known all the same."""
    r = program(pd.IP | pd.TID | pd.TIME)
    none = 0xffffffff
    for pid, tid in (7, 7), (8, none), (9, 9), (none, none), (none, none), (9, 9), (7, 7):
        r.sample(pid, LEAF, tid=tid)
    check("-s pid of tasks that are gone", rows(report(r, "-s", "pid").out),
          [["42.86%", "-1::-1"], ["28.57%", "7:prog"], ["28.57%", "9::9"]])
    check("-s tgid of tasks that are gone", rows(report(r, "-s", "tgid").out),
          [["28.57%", "-1::-1"], ["28.57%", "7:prog"], ["28.57%", "9::9"], ["14.29%", "8::8"]])


def columns():
    """Which columns there are, in which order, and what stands around their cells."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    for _ in range(3):
        r.sample(7, LEAF)
    r.sample(7, MIDDLE)

    def lines(*options):
        out = report(r, *options).out.decode().splitlines()
        return [line for line in out if line and (line[0] != "#" or line.startswith(("# Over", "# Samp")))][1:]
    flat = "--no-children", "-g", "none"
    check("-t puts nothing behind the last number", lines("-F", "comm,sample", "-t", ","), ["prog   , 4"])
    check("overhead comes first", lines("-s", "sample,overhead", *flat), ["# Overhead       Samples", "   100.00%             4"])
    check("Children of -s without callchains", lines("-s", "overhead_children,comm"), ["  prog   "])
    check("Children of -s with --no-children", lines("-s", "overhead_children,comm", "--no-children"), ["       N/A  prog   "])
    check("Children of -F without callchains, -t", lines("-F", "overhead_children,comm", "-t", ","), ["     N/A,prog   "])
    check("a key that a filter tells is no column with -F", lines("-F", "overhead,dso,sym", "-S", "filter_event"),
          ["# Overhead  Shared Object", "    75.00%  " + os.path.basename(OBJECT).ljust(13)])
    check("it counts as one for blanks", {len(line) for line in lines("-s", "sym,dso", "-d", os.path.basename(OBJECT))}, {28})
    check("the address beside a place without a name is no place",
          [x[1:] for x in rows(report(nameless(), "-s", "sym,addr").out)], [["[.] 0x0000000000001234", "0x401234"]])
    for option in "--group", "--no-group":
        check(f"{option} of one event", "# Samples: 4  of event 'cpu-clock'" in report(r, option).out.decode(), True)
        both = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.ID, counters=[(1, 0), (1, 9)])
        both.sample(7, LEAF)
        check(f"{option} of one event and a dummy", "# Samples: 1  of events 'cpu-clock'" in report(both, option).out.decode(), True)
    check("titles of a table without rows", report(r, "-s", "time,addr", "--tid", "1").out.decode().splitlines()[8],
          "# Overhead  Time  Address")


def nameless():
    r = pd.Recording(pd.IP | pd.TID | pd.TIME)
    r.map(7, 0x400000, 0x10000, 0, "/nonexistent/app")
    r.sample(7, 0x401234)
    return r


def cpus():
    r = program(pd.IP | pd.TID | pd.TIME | pd.CPU)
    r.sample(7, LEAF, cpu=12)
    for width, want in (0, "012"), (2, "12"), (6, "000012"):
        check(f"-w {width} of a CPU", rows(report(r, "-s", "cpu", "-w", f"0,{width}").out), [["100.00%", want]])


def parallelism():
    """One runs at first; thread 8 comes, both run; 9 comes and goes, which says nothing that is not counted."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.PERIOD, flags=pd.CONTEXT_SWITCH)
    r.sample(7, LEAF)
    r.switch(7, 8, False)
    r.sample(7, MIDDLE)
    r.sample(7, MIDDLE, tid=8)
    r.switch(7, 9, False)
    r.sample(7, ROOT)
    r.switch(7, 9, True)
    r.switch(7, 8, True)
    r.switch(7, 8, True)
    r.switch(7, 8, False)
    r.sample(7, LEAF)
    # latency: 2 + 2/2 + 1/3 = 3.33 of 5 samples
    check("parallelism", rows(report(r, "-s", "parallelism,sym").out),
          [["40.00%", "60.00%", "1", "[.] filter_event"], ["40.00%", "30.00%", "2", "[.] start"],
           ["20.00%", "10.00%", "3", "[.] stop"]])
    check("--latency", rows(report(r, "--latency", "-s", "sym").out)[0], ["60.00%", "40.00%", "[.] filter_event"])
    check("--parallelism", rows(report(r, "--parallelism", "2-3", "-s", "sym").out),
          [["40.00%", "30.00%", "[.] start"], ["20.00%", "10.00%", "[.] stop"]])
    without = program(pd.IP | pd.TID | pd.TIME)
    without.sample(7, LEAF)
    wrong = report(r, "--parallelism", "x")
    check("a wrong list is said of its own option", (wrong.status, "--parallelism: " in wrong.err, "--cpu" in wrong.err),
          (129, True, False))
    check("no context switches", [report(without, *o).status for o in (["--latency"], ["-s", "parallelism"], ["--parallelism", "1"])],
          [1, 1, 1])
    alone = program(pd.IP | pd.TID | pd.TIME, flags=pd.CONTEXT_SWITCH)
    alone.sample(7, LEAF)
    check("a latency that says nothing is not shown", rows(report(alone, "-s", "sym").out), [["100.00%", "[.] filter_event"]])


def typos():
    r = program(pd.IP | pd.TID | pd.TIME)
    r.sample(7, LEAF)
    check("a key that is nearly one", "did you mean `comm'?" in str(report(r, "-s", "cmm").err), True)
    check("a key that is like none", "did you mean" in str(report(r, "-s", "xyzzyx").err), False)


def verbose():
    r = program(pd.IP | pd.TID | pd.TIME)
    r.sample(7, LEAF + 4)
    r.sample(7, 0x1234)
    got = rows(report(r, "-v", "-s", "dso,sym").out)
    check("-v", got, [["50.00%", OBJECT, hex(FUNCTIONS["filter_event"][0] + 4), "d [.] filter_event"],
                      ["50.00%", "[unknown]", "0x1234", "! [.] 0x0000000000001234"]])
    check("--no-group", "# Samples: 2  of event 'cpu-clock'" in report(r, "--no-group").out.decode(), True)


TYPES = """
struct inner { char pad[3]; short low; };
struct node { struct node *next; long key; union { struct inner in; int all; } u; };
typedef struct node named;
extern struct node table[4];
struct node table[4];
__attribute__((noinline)) long get_key(struct node *p) { return p->key; }
__attribute__((noinline)) short get_low(const named *p) { return p->u.in.low; }
__attribute__((noinline)) int get_number(int *p) { return *p; }
__attribute__((noinline)) long get_global(void) { return table[2].key; }
__attribute__((noinline)) int no_access(int x) { return x + 1; }
"""


def types():
    r = program(pd.IP | pd.TID | pd.TIME)
    r.sample(7, LEAF)
    r.sample(7, 0x1234)
    check("-s type of what is in no file", rows(report(r, "-s", "type,typeoff,typecln,sym", "-S", "nosuch").out), [])
    source, path = os.path.join(FOLDER, "types.c"), os.path.join(FOLDER, "types.so")
    with open(source, "w") as f:
        f.write(TYPES)
    compiler = shutil.which("gcc")
    if os.uname().machine != "x86_64" or not compiler or subprocess.run(
            [compiler, "-g", "-O1", "-fcf-protection=none", "-fomit-frame-pointer", "-fvisibility=hidden", "-shared", "-fPIC", "-o", path,
             source], stderr=subprocess.DEVNULL).returncode:
        print("SKIP types of data: needs gcc on x86-64")
        return
    data = open(path, "rb").read()
    out = subprocess.run(["nm", path], stdout=subprocess.PIPE, text=True).stdout
    at = {line.split()[2]: int(line.split()[0], 16) for line in out.splitlines() if len(line.split()) == 3}
    r = pd.Recording(pd.IP | pd.TID | pd.TIME)
    r.comm(7, "prog")
    r.map(7, BASE, (len(data) + PAGE) // PAGE * PAGE, 0, path)
    for count, name in enumerate(("get_key", "get_low", "get_number", "get_global", "no_access"), 1):
        for _ in range(count):
            r.sample(7, BASE + at[name])
    r.sample(7, BASE + at["no_access"] + 3)  # ret
    got = rows(report(r, "-s", "typeoff,sym", "-F", "sample,typeoff,sym").out)
    if got and all(row[1] in ("(unknown)", "(stack operation)") for row in got):
        print("SKIP types of data: built without libdw or capstone")
        return
    check("-s typeoff", sorted(got), [["1", "(stack operation)", "[.] no_access"], ["1", "struct node +0x8 (key)", "[.] get_key"],
                                      ["2", "named +0x14 (u.in.low)", "[.] get_low"], ["3", "int +0 (no field)", "[.] get_number"],
                                      ["4", "struct node +0x8 (key)", "[.] get_global"], ["5", "(unknown)", "[.] no_access"]])
    check("-s type", rows(report(r, "-s", "type", "-F", "sample,type").out),
          [["5", "struct node"], ["2", "named"], ["3", "int"], ["5", "(unknown)"], ["1", "(stack operation)"]])  # from the last name up
    check("-s typecln", rows(report(r, "-s", "typecln", "-F", "sample,typecln").out)[0], ["5", "struct node: cache-line 0"])


def stitching():
    r = program(pd.IP | pd.TID | pd.TIME)
    r.sample(7, LEAF)
    check("--inline", str(report(r, "--inline").err).count("inline"), 0)
    check("--no-inline", str(report(r, "--no-inline").err).count("inline"), 0)
    check("--stitch-lbr", "no LBR call stacks" in str(report(r, "--stitch-lbr").err), True)


def sizes():
    r = program(pd.IP | pd.TID | pd.TIME)
    r.sample(7, LEAF)
    r.sample(7, 0x1000)
    mapped = (CODE_BYTES + 2 * PAGE) // PAGE * PAGE
    check("sizes", sorted(rows(report(r, "-F", "dso_size,symbol_size", "-s", "sym").out))[:2],
          sorted([[str(mapped), str(FUNCTIONS["filter_event"][1]), "[.] filter_event"],
                  ["unknown", "unknown", "[.] 0x0000000000001000"]]))


# ---- fields of tracepoints ----

FORMAT = """name: hop
ID: 77
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:char who[8];\toffset:8;\tsize:8;\tsigned:0;
\tfield:int far;\toffset:16;\tsize:4;\tsigned:1;
\tfield:int how;\toffset:20;\tsize:4;\tsigned:1;

print fmt: "who=%s far=%d how=%s", REC->who, REC->far, __print_symbolic(REC->how, { 1, "up" }, { 2, "down" })
"""


def fields():
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.RAW, kind=pd.TRACEPOINT, config=77)
    r.features[pd.TRACING_DATA] = pd.tracing_data("frog", FORMAT)
    r.comm(7, "prog")
    for who, far, how in ("a", 258, 1), ("b", 258, 2), ("a", 5, 1), ("a", 3, 2), ("b", 258, 1):
        data = struct.pack("<HBBi8sii", 77, 0, 0, 7, who.encode(), far, how)
        r.sample(7, 0x1000, more=struct.pack("<I", len(data)) + data)
    probe = report(r, "-s", "who")
    if "libtraceevent" in str(probe.err):
        print("SKIP fields of tracepoints: built without libtraceevent")
        return
    # Among equals the one comes first whose lowest byte is the larger.
    check("a field", rows(report(r, "-s", "far").out), [["60.00%", "258"], ["20.00%", "5"], ["20.00%", "3"]])
    check("a field's words", rows(report(r, "-s", "frog.how").out), [["60.00%", "up"], ["40.00%", "down"]])
    check("a field's number", rows(report(r, "-s", "how/raw").out), [["60.00%", "1"], ["40.00%", "2"]])
    check("two fields", rows(report(r, "-s", "who,how").out), [["40.00%", "a", "up"], ["20.00%", "b", "down"],
                                                               ["20.00%", "b", "up"], ["20.00%", "a", "down"]])
    check("a field is as wide without rows", report(r, "-s", "far", "--tid", "1").out.decode().splitlines()[8], "# Overhead         far")
    check("all fields", rows(report(r, "-s", "trace_fields").out)[-1], ["20.00%", "a", "258", "up"])
    tree = ("--hierarchy", "--no-children", "-s", "comm,trace_fields")
    got = report(r, *tree).out.decode().splitlines()
    check("all fields are one level", [x.rstrip() for x in got[8:14]],
          ["#    Overhead  Command / who+far+how", "# ...........  " + "." * 33, "#", "   100.00%     prog",
           "       20.00%     b  258  down", "       20.00%     b  258  up"])
    check("a level's fields with a separator", "b,258,up" in report(r, *tree, "-t,").out.decode(), True)
    check("fields that are named are levels", "Command / who / how" in report(r, *tree[:3], "comm,who,how").out.decode(), True)
    check("--raw-trace", sorted(x[1] for x in rows(report(r, "-s", "trace", "--raw-trace").out)),
          [f"who={who} far={far} how={how}" for who, far, how in
           (("a", 258, 1), ("a", 3, 2), ("a", 5, 1), ("b", 258, 1), ("b", 258, 2))])
    check("threads keep fields apart", report(r, "-s", "who,how", "--threads", "2").out, report(r, "-s", "who,how").out)
    check("titles are as wide as the fields", report(r, "-s", "who,far").out.decode().splitlines()[8:10],
          ["# Overhead       who         far", "# ........  ........  .........."])
    quantum = ("-s", "time", "--time-quantum", "1ns")
    check("times", rows(report(r, *quantum).out)[0][1], "1.000002")
    check("times with --ns", (rows(report(r, *quantum, "--ns").out)[0][1], report(r, *quantum, "--ns").out.decode().splitlines()[9]),
          ("1.000002000", "# ........  ................"))
    check("no such field", report(r, "-s", "where").status, 129)
    # Types of data have no callers; a field may be named much alike.
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.RAW, kind=pd.TRACEPOINT, config=77)
    r.features[pd.TRACING_DATA] = pd.tracing_data("frog", FORMAT.replace("far", "far_type"))
    r.sample(7, 0x1000, chain=(pd.CONTEXT_USER, 0x1000, 0x2000), more=struct.pack("<IHBBi8siixxxx", 28, 77, 0, 0, 7, b"a", 5, 1))
    for key, callers in ("far_type", True), ("typeoff", False), ("sym,type", False), ("sym", True):
        check(f"callers with -s {key}", "Children" in report(r, "-s", key).out.decode(), callers)


# ---- call graphs ----

def limits():
    """A fractal graph says what its print limit leaves out."""
    r = pd.Recording()
    r.comm(7, "prog")
    for caller in 0x2000, 0x3000, 0x3000, 0x4000:
        r.sample(7, 0x1000, [pd.CONTEXT_USER, 0x1000, caller])
    for limit, rest in ("1", "50.00%"), ("2", "25.00%"), ("3", None):
        out = report(r, "--no-children", "-g", f"fractal,0,{limit},callee").out.decode()
        check(f"print limit {limit}", f" --{rest}--[...]" in out if rest else "[...]" not in out, True)
    r = pd.Recording()
    for caller, period in (0x2000, 68), (0x3000, 1):
        r.sample(7, 0x1000, [pd.CONTEXT_USER, 0x1000, caller], period=period)
    for mode, shown in ("graph", True), ("fractal", False):
        out = report(r, "--no-children", "-g", f"{mode},1.5,callee").out.decode()
        check(f"-g {mode}: 1 of 69 is less than 1.5 %", "0x3000" in out, shown)


# ---- groups ----

def groups():
    """A group's sums are rows by members: what would be gigabytes of them, from a small file, is shown one by one."""
    for events, apart in (3, False), (4200, True):
        r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.ID | pd.PERIOD, events=events)
        r.comm(7, "prog")
        for i in range(events):
            r.sample(7, LEAF, tid=100 + i, event=1 + i)
        got = report(r, "--group", "-s", "pid", "--json")
        tables = json.loads(got.out)["tables"]
        check(f"tables of {events} events", len(tables), events if apart else 1)
        check(f"their rows, {events}", {len(t["entries"]) for t in tables}, {1 if apart else events})
        check(f"{events}: said", "shown one by one" in str(got.err), apart)


# ---- ^C ----

def interrupt():
    """The signal is sent as soon as it is caught, which is when samples begin to be read."""
    r = program(pd.IP | pd.TID | pd.TIME | pd.PERIOD)
    r.sample(7, LEAF)
    one = r.records[-1]
    r.records.extend([one] * 1_500_000)
    path = os.path.join(FOLDER, "long.data")
    r.write(path)
    whole = 1_500_001
    for attempt in range(20):
        p = subprocess.Popen([SONDE, "report", "-i", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while p.poll() is None:  # the handler stands as soon as SIGINT is caught
            with open(f"/proc/{p.pid}/status") as f:
                caught = next((int(line.split()[1], 16) for line in f if line.startswith("SigCgt")), 0)
            if caught >> (signal.SIGINT - 1) & 1:
                p.send_signal(signal.SIGINT)
                break
        out, err = p.communicate()
        if p.returncode == 130:
            read = int(re.search(rb'"read":(\d+)', out).group(1))
            REPORT.check("^C keeps what was read", 0 < read < whole and b"interrupted" in err, f"{read} of {whole}: {err}")
            return
        REPORT.check("^C or all of it", p.returncode in (0, -signal.SIGINT), f"status {p.returncode}")
    print("SKIP ^C: it never came while the recording was read")


def main():
    for test in (memory, searches, empty_chains, later_chains, call_stacks, blocks, history, predicted, threads, gone, columns, cpus,
                 parallelism, typos, verbose, types, stitching, sizes, fields, limits, groups, interrupt):
        test()
    shutil.rmtree(FOLDER)
    REPORT.finish()


main()
