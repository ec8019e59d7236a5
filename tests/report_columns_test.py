#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stands in `report`'s columns, and how wide they are: report_columns_test.py SONDE OBJECT

Names of tasks, titles by processor, widths, filters and weights of branches, places beside offsets, and recordings of which
nothing is left. What is wanted is what perf 7.2 prints for the same recordings. OBJECT is any shared object with the
functions filter_event, start and stop.
"""
import json
import os
import shutil
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import support

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
FUNCTIONS, (CODE_AT, CODE_BYTES) = pd.functions(OBJECT)
BASE, PAGE = 0x7f0000000000, 4096
LEAF, MIDDLE, ROOT = (BASE + FUNCTIONS[f][0] for f in ("filter_event", "start", "stop"))
PLAIN = pd.IP | pd.TID | pd.TIME | pd.PERIOD
REPORT = support.Report("columns of report")
FOLDER = tempfile.mkdtemp(prefix="sonde-columns-")


def report(data, *options):
    path = os.path.join(FOLDER, "x.data")
    with open(path, "wb") as f:
        f.write(data)
    return support.run([SONDE, "report", "-f", "-i", path, *options])


def lines(recording, *options):
    """The titles and the rows of the first table, as they are."""
    out = report(recording.data(), *options).out.decode().splitlines()
    titles = [i for i, line in enumerate(out) if line.startswith("# ...")]
    if not titles:
        return []
    rows = out[titles[0] + 2:]
    return [out[titles[0] - 1]] + rows[:rows.index("")]


def rows(recording, *options):
    return [line.split() for line in lines(recording, *options)[1:]]


def check(what, got, want):
    REPORT.check(what, got == want, lambda: f"{got}, wanted {want}")


def map_object(r, pid):
    start = CODE_AT // PAGE * PAGE
    r.map(pid, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, OBJECT)


def tasks():
    """A process is called as its first thread; what ends twice keeps its name; a made-up name counts for the width."""
    r = pd.Recording(PLAIN)
    r.comm(7, "leader")
    r.add(pd.COMM, 0, struct.pack("<II", 7, 8) + pd.text("worker") + r.tail(7, 8))
    r.sample(7, 0x1000, tid=8)
    check("-s tgid of a thread", rows(r, "-s", "tgid"), [["100.00%", "7:leader"]])
    check("-s pid of a thread", rows(r, "-s", "pid"), [["100.00%", "8:worker"]])
    r = pd.Recording(PLAIN)
    r.comm(7, "prog")
    for _ in range(2):
        r.add(pd.EXIT, 0, struct.pack("<IIIIQ", 7, 7, 7, 7, r.time) + r.tail(7, 7))
    r.sample(7, 0x1000)
    check("-s pid behind two ends", rows(r, "-s", "pid"), [["100.00%", "7:prog"]])
    r = pd.Recording(PLAIN)
    r.sample(0, 0x1000)
    r.sample(1234567, 0x1000)
    check("-s pid of what no record names", lines(r, "-s", "pid"),
          ["# Overhead      Pid:Command ", "    50.00%        0:swapper ", "    50.00%  1234567::1234567"])
    late = pd.Recording(PLAIN)
    late.sample(9, 0x1000)
    late.comm(9, "late")
    check("-s pid of what is named later", rows(late, "-s", "pid"), [["100.00%", "9:late"]])


def processors():
    weights = pd.Recording(PLAIN | pd.WEIGHT_STRUCT)
    weights.sample(7, 0x1000, more=struct.pack("<IHH", 5, 6, 7))

    def titles(arch, keys):
        text = arch.encode() + b"\0"
        weights.features[6] = struct.pack("<I", 64) + text.ljust(64, b"\0")  # HEADER_ARCH
        return lines(weights, "-s", keys)[0].split("  ")[1:]
    for arch, stage, latency in (("x86_64", ["Retire Latency"], "INSTR Latency"), ("i686", ["Retire Latency"], "INSTR Latency"),
                                 ("ppc64le", ["Global Dispatch_cyc"], "Global Finish_cyc"), ("aarch64", [], "INSTR Latency")):
        check(f"p_stage_cyc and ins_lat of {arch}", titles(arch, "p_stage_cyc,ins_lat"), [*stage, latency])
    check("local_ins_lat of aarch64", lines(weights, "-s", "local_ins_lat")[0], "# Overhead  Local INSTR Latency")
    check("two keys of one value", titles("x86_64", "p_stage_cyc,retire_lat"), ["Retire Latency"])
    check("-F has one title", lines(weights, "-F", "overhead,local_p_stage_cyc")[0], "# Overhead  Local Pipeline Stage Cycle")
    weights.sample(7, 0x2000, more=struct.pack("<IHH", 3, 0, 0))
    weights.sample(7, 0x2000, more=struct.pack("<IHH", 3, 0, 0))
    check("means are sorted by sums", [x[0] for x in rows(weights, "-F", "weight1,sym")], ["3.0", "5.0"])


def widths():
    r = pd.Recording(PLAIN)
    r.comm(7, "prog")
    r.sample(7, 0x1000)
    flat = "--no-children", "-g", "none"
    check("-w of a first number", lines(r, "-F", "sample,comm", "-w", "9")[1], "          1     prog   ")
    check("-w narrower than the title", lines(r, "-F", "overhead_sys,overhead,comm", "-w", "0,3")[1],
          "     0.00%   100.00%  prog   ")
    check("-w of N/A", lines(r, "-F", "overhead_children,comm", "--no-children", "-w", "3")[1], "   N/A      prog   ")
    check("-w of a last number", lines(r, "-F", "overhead,period", "-w", "0,8", *flat)[1], "   100.00%      1000")
    check("-w counts a column that a filter tells", lines(r, "-s", "comm,dso,pid", "-c", "prog", "-w", "0,30,5")[1],
          "   100.00%  [unkn        7:prog   ")
    check("-w that leaves no room for a task's name", lines(r, "-F", "pid,comm", "-w", "5")[1], "        7:prog  prog   ")
    check("-w that leaves no room for a function", lines(r, "-F", "sym,comm", "-w", "3")[1], "  [.] 0x0000000000001000  prog   ")
    check("a filter tells of two keys", lines(r, "-s", "comm_nodigit,comm,pid", "-c", "prog")[0], "# Overhead      Pid:Command")
    check("keys that are wide without rows", lines(r, "-s", "transaction,simd,time", "--pid", "1")[0],
          "# Overhead  Transaction                  Simd     Time")
    check("no header with -q", report(r.data(), "--header", "-q").out.count(b"#"), 0)
    check("--group-sort-idx of one event", report(r.data(), "--group", "--group-sort-idx", "1").status, 129)
    check("Children of -s stays with -F", lines(r, "-s", "overhead_children,comm", "-F", "sample")[0],
          "#      Samples  Children  Command")


def long_names():
    """However long a name is, it is whole; its title is followed by 1,023 columns at most."""
    name = "long-" * 240
    r = pd.Recording(PLAIN)
    r.map(7, 0x400000, 0x1000, 0, "/opt/" + name)
    r.sample(7, 0x400100)
    title, row = lines(r, "-s", "dso,pid")
    check("a long name's title", (title.index("Pid:") - title.index("Shared Object"), name in row), (1023 + 2 + 4, True))


def branches():
    """-c and the like ask for the sample, wherever its branches led; a branch's weight are the newest one's cycles."""
    r = pd.Recording(PLAIN | pd.BRANCH_STACK)
    r.features[pd.HEADER_BRANCH_STACK] = b""
    for pid, name in (7, "prog"), (8, "other"):
        r.comm(pid, name)
        map_object(r, pid)
    r.sample(7, LEAF, branches=[(LEAF + 16, MIDDLE, 2 | 9 << 4), (MIDDLE + 12, ROOT, 2 | 30 << 4)])
    r.sample(8, ROOT, branches=[(LEAF + 8, MIDDLE, 2)])
    r.sample(8, 0x1000, branches=[(LEAF + 8, MIDDLE, 2)])

    def to(*options):
        return [(x[0], x[2]) for x in rows(r, "-s", "symbol_to", *options)]
    check("-b", to(), [("75.00%", "start"), ("25.00%", "stop")])
    check("-b -c", to("-c", "prog"), [("25.00%", "start"), ("25.00%", "stop")])
    check("-b -c --percentage relative", to("-c", "other", "--percentage", "relative"), [("100.00%", "start")])
    check("-b -d", to("-d", os.path.basename(OBJECT)), [("50.00%", "start"), ("25.00%", "stop")])
    check("-b -S", to("-S", "stop"), [("25.00%", "start")])
    check("-b -U", to("-U"), [("66.67%", "start"), ("33.33%", "stop")])
    check("-b --symbol-filter is about targets", to("--symbol-filter", "sto"), [("25.00%", "stop")])
    check("-b -x", to("-x"), [])
    check("-b --pid", to("--pid", "8"), [("50.00%", "start")])
    check("the events of --pid are branches", b"# Event count (approx.): 4\n" in report(r.data(), "--pid", "8").out, True)
    check("-b weights", [x[-2:] for x in rows(r, "-s", "weight1,local_weight")], [["9.0", "9"], ["1.0", "1"]])
    check("Children of -b", lines(r, "-s", "overhead_children,comm")[0], "# Children  Command")
    r.map(7, 0x10000, 0x1000, 0, "/nonexistent/app")
    r.map(8, 0x20000, 0x1000, 0, "/nonexistent/app")
    for pid, at in (7, 0x10010), (8, 0x20010), (8, 0x123400000000):
        r.sample(pid, at, branches=[(at, at, 0)])
    check("-s symoff: places without a name are told apart by address, from high ones down",
          [x[-1] for x in rows(r, "-s", "symoff") if "+" not in x[-1]], ["0x123400000000", "0x000020010", "0x000010010"])


def first_key():
    """The text of -s decides whether the first frame of a graph is the row's own."""
    r = pd.Recording(PLAIN | pd.CALLCHAIN)
    map_object(r, 7)
    r.sample(7, LEAF, (pd.CONTEXT_USER, LEAF, ROOT + 4))
    for keys, want in ("symoff", ["---stop"]), ("overhead,sym", ["---filter_event", "stop"]), ("sym", ["---stop"]):
        got = [x[-1] for x in rows(r, "-s", keys, "--no-children", "-g", "callee")][1:]
        check(f"-s {keys}", [x for x in got if x != "|"], want)


def groups():
    """A group's events without samples have no column, unless --no-skip-empty is given."""
    r = pd.Recording(PLAIN | pd.ID, counters=[(1, 0), (1, 7), (1, 2)])
    r.comm(7, "prog")
    for event in 1, 3, 1:
        r.sample(7, 0x1000, event=event)
    options = "--group", "-s", "comm"
    title = "# Samples: 3  of events 'cpu-clock, %spage-faults'"
    check("events with samples", (title % "") in report(r.data(), *options).out.decode(), True)
    check("their columns", lines(r, *options), ["#         Overhead  Command", "   100.00% 100.00%  prog   "])
    check("all columns", lines(r, *options, "--no-skip-empty"),
          ["#                 Overhead  Command", "   100.00%   0.00% 100.00%  prog   "])
    check("all events", (title % "alignment-faults, ") in report(r.data(), *options, "--no-skip-empty").out.decode(), True)
    check("what was filtered counts", lines(r, *options, "-c", "nosuch"), ["#         Overhead  Command"])
    check("times without samples of one event", lines(r, *options, "--time", "1.000004,2"),
          ["# Overhead  Command", "   100.00%  prog   "])


def searches():
    r = pd.Recording(PLAIN | pd.CALLCHAIN)
    map_object(r, 7)
    r.sample(7, LEAF, (pd.CONTEXT_USER, LEAF, ROOT + 4))
    r.sample(7, 0x1000, (pd.CONTEXT_USER, 0x1000))
    flat = "--no-children", "-g", "none"
    check("what -U drops is not filtered", b"# Samples: 1 " in report(r.data(), "-U", "-x", "-p", "stop", *flat).out, True)
    check("-p comes last", lines(r, "-s", "symbol", "-p", "stop", *flat)[0].split("  ")[-1], "Parent symbol")
    check("-S asks for the sample's own place", rows(r, "-s", "sym", "--ignore-callees", "^stop$", "-S", "filter_event", "--no-children", "-g",
                                                            "folded,callee")[0], ["50.00%", "[.]", "stop"])


def addresses():
    """-S takes addresses of samples, and of functions wherever they are mapped."""
    r = pd.Recording(PLAIN)
    map_object(r, 7)
    for at in LEAF + 4, MIDDLE, ROOT, 0x1000:
        r.sample(7, at)

    def names(text):
        return sorted(x[-1] for x in rows(r, "-s", "sym", "-S", text))
    check("-S of a sample's address", names(hex(LEAF + 4)), ["filter_event"])
    check("-S of a place without a name", names("0x1000"), ["0x0000000000001000"])
    check("-S of a function's address", names(hex(LEAF)), ["filter_event"])
    check("-S of an address beside a name", names(f"start,{ROOT:#x}"), ["start", "stop"])
    check("-S of nothing", names("0x10"), [])
    check("an address is no title", b"# symbol:" in report(r.data(), "-S", "0x10").out, False)
    check("a name beside it is one", b"# symbol: start\n" in report(r.data(), "-S", "start,0x10").out, True)
    check("what begins like an address is a name", b"# symbol: 0xzz\n" in report(r.data(), "-S", "0xzz").out, True)


def task_names():
    """A name that a fork gave belongs to another thread than the one before; an exec among others goes on with the thread."""
    r = pd.Recording(PLAIN)
    r.comm(7, "parent")
    r.sample(8, 0x1000)
    r.fork(8, 7)
    r.sample(8, 0x1000)
    check("before a fork nothing has a name", sorted(x[1] for x in rows(r, "-s", "comm")), [":8", "parent"])
    r = pd.Recording(PLAIN)
    r.comm(7, "before")
    r.fork(8, 7)
    r.fork(8, 9)
    r.sample(8, 0x1000)
    r.comm(8, "named")
    check("the first name counts for what was before", rows(r, "-s", "comm"), [["100.00%", "named"]])
    r = pd.Recording(PLAIN)
    r.comm(7, "first", exec_=True)
    r.comm(7, "other", tid=8)
    r.sample(7, 0x1000)
    r.comm(7, "second", exec_=True)
    check("-s pid of an exec among other threads", rows(r, "-s", "pid"), [["100.00%", "7:second"]])


def callers():
    """Each caller's own offset counts; -U leaves what has no name out of callchains; a call lies in a mapping, whatever is
    after it."""
    r = pd.Recording(PLAIN | pd.CALLCHAIN)
    for at in 0x100000, 0x200000:
        r.map(7, at, 0x1000, 0, "/nonexistent/lib.so")
    map_object(r, 7)
    for at, caller in (0x100010, ROOT + 4), (0x200010, ROOT + 8):
        r.sample(7, LEAF, (pd.CONTEXT_USER, LEAF, at, caller))

    check("-s symoff of callers", sorted(x[-1] for x in rows(r, "-s", "symoff", "--children", "-g", "none") if "stop" in x[-1]),
          ["stop+0x4", "stop+0x8"])
    check("-U", rows(r, "-U", "--no-children", "-s", "comm", "-g", "folded,callee")[1:], [["100.00%", "filter_event;stop"]])
    r = pd.Recording(PLAIN | pd.CALLCHAIN)
    r.map(7, 0x100000, 0x1000, 0, "/nonexistent/lib.so")
    r.sample(7, 0x100010, (pd.CONTEXT_USER, 0x100010, 0x101000))
    check("the size of what a call lies in", rows(r, "-s", "dso_size,addr", "--children", "-g", "none"),
          [["100.00%", "100.00%", "4096", "0x100010"], ["100.00%", "0.00%", "4096", "0x101000"]])


def sockets():
    r = pd.Recording(PLAIN | pd.CPU)
    r.features.update({7: struct.pack("<II", 2, 2), 13: struct.pack("<IIIIII", 0, 0, 0, 0, 1, 1)})
    for cpu in 0, 1, 1:
        r.sample(7, 0x1000, cpu=cpu)
    check("--socket-filter", rows(r, "-s", "socket", "--socket-filter", "1"), [["66.67%", "001"]])
    got = json.loads(report(r.data(), "--json", "-s", "symbol").out)["tables"][0]["entries"][0]["keys"]
    check("--json names all keys", sorted(got), ["ipc_null", "symbol"])


def callers_rows():
    """With children --symbol-filter takes rows by their own names, callers too, and leaves their numbers as they are; rows of
    the kernel's functions say so whoever is sampled."""
    kernel = 0xffffffff81000000
    listed = os.path.join(FOLDER, "kallsyms")
    with open(listed, "w", encoding="ascii") as f:
        f.write(f"{kernel:x} T _text\n{kernel + 0x100:x} T do_startup\n{kernel + 0x200:x} T inner\n{kernel + 0x1000:x} T _etext\n")
    r = pd.Recording(PLAIN | pd.CALLCHAIN)
    r.kernel(kernel, 0x1000)
    r.comm(7, "a-long-name")
    r.comm(8, "prog")
    for pid in 7, 8:
        map_object(r, pid)
    r.sample(7, LEAF, (pd.CONTEXT_USER, LEAF))
    for _ in range(2):
        r.sample(8, kernel + 0x210, (pd.CONTEXT_KERNEL, kernel + 0x210, kernel + 0x110, pd.CONTEXT_USER, MIDDLE + 1, ROOT + 1),
                 misc=pd.KERNEL)
    r.sample(8, MIDDLE, (pd.CONTEXT_USER, MIDDLE, ROOT + 1))
    options = "--kallsyms", listed, "-s", "comm,sym", "-g", "none"
    every = [["75.00%", "0.00%", "prog", "[.]", "stop"], ["75.00%", "25.00%", "prog", "[.]", "start"],
             ["50.00%", "0.00%", "prog", "[k]", "do_startup"], ["50.00%", "50.00%", "prog", "[k]", "inner"],
             ["25.00%", "25.00%", "a-long-name", "[.]", "filter_event"]]
    check("children: levels", sorted(rows(r, *options)), sorted(every))
    want = sorted(x for x in every if "start" in x[-1])
    for asked in ["--symbol-filter", "start"], ["start"]:
        check(f"children: {asked}", sorted(rows(r, *options, *asked)), want)
    check("children: columns are as wide as what is left", lines(r, *options, "--symbol-filter", "start")[0],
          "# Children      Self  Command  Symbol        ")
    check("children: as much as filters left", [x[:2] for x in rows(r, *options, "--symbol-filter", "start", "--percentage", "relative")],
          [["300.00%", "100.00%"], ["200.00%", "0.00%"]])
    check("children: nothing has the name", rows(r, *options, "--symbol-filter", "nosuch"), [])
    check("without the key it asks for samples", rows(r, "-s", "comm", "-g", "none", "--symbol-filter", "filter"),
          [["25.00%", "25.00%", "a-long-name"]])


def nothing():
    r = pd.Recording(PLAIN)
    r.sample(7, 0x1000)
    for options in ["-U"], ["--time", "5,6"]:
        got = report(r.data(), *options)
        check(f"{options}: nothing is left", (got.status, got.out.count(b"\n"), "none of its 1 samples" in got.err), (0, 2, True))
    check("a filter leaves a table", b"# Overhead" in report(r.data(), "-c", "nosuch").out, True)
    # A pipe's file header alone: no event, so no table.
    got = report(b"PERFILE2" + struct.pack("<Q", 16))
    check("no event", (got.out.count(b"\n"), "has no samples" in got.err, "memory" in got.err), (2, True, False))


def memory():
    """What is not recorded of an access says so."""
    r = pd.Recording(PLAIN | pd.DATA_SRC, counters=[(1, 0)])
    r.sample(7, 0x1000, more=struct.pack("<Q", 0))
    check("no source", rows(r, "--mem-mode", "-s", "locked")[0][1], "No")
    check("-F alone has no sort order", b"Sort order" in report(r.data(), "--mem-mode", "-F", "sym").out, False)
    r = pd.Recording(PLAIN | pd.ADDR | pd.DATA_SRC)
    r.map(7, 0x7ffe00000000, 0x10000, 0x7ffffffd0000, "[stack]")
    r.map(7, 0x400000, 0x10000, 0, "/nonexistent/app")
    for addr in 0x123, 0x401234, 0x7ffe00001234:
        r.sample(7, 0x1000, addr=addr, more=struct.pack("<Q", 0))
    check("lines of a stack are addresses, and what lies nowhere comes last",
          [x[1:3] for x in rows(r, "--mem-mode", "-s", "dcacheline")],
          [["[.]", "0x0000000000001200"], ["[.]", "0x00007ffe00001200"], ["[X]", "0x0000000000000100"]])
    plain = pd.Recording(PLAIN)
    plain.sample(7, 0x1000)
    # Only of a pipe nobody can know beforehand what is in it.
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, PLAIN, 0, 1 << 18).ljust(128, b"\0") + struct.pack("<Q", 1)
    pipe = b"PERFILE2" + struct.pack("<Q", 16) + struct.pack("<IHH", 64, 0, 8 + len(attr)) + attr + plain.records[-1]
    got = support.run([SONDE, "report", "-i", "-", "--mem-mode", "-s", "locked"], stdin=pipe)
    check("--mem-mode without sources", [x.split() for x in got.out.decode().splitlines() if "%" in x], [["100.00%", "N/A"]])


def main():
    for test in (tasks, processors, widths, long_names, branches, first_key, groups, searches, addresses, task_names, callers,
                 callers_rows, sockets, nothing, memory):
        test()
    shutil.rmtree(FOLDER)
    REPORT.finish()


main()
