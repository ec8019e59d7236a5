#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""script with functions named: script_names_test.py SONDE FILTER ASKS

Recordings are made here, of the code in FILTER: a shared object that is also the filter for --dlfilter. ASKS
is another one, with lines.
"""
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, FILTER, ASKS = map(os.path.abspath, sys.argv[1:4])
FUNCTIONS, (CODE_AT, CODE_BYTES) = pd.functions(FILTER)
BASE, OTHER = 0x7f0000000000, 0x7e0000000000  # where FILTER is mapped, and where nothing is
PAGE = 4096
NAME = os.path.basename(FILTER)


def address(function, offset=0):
    return BASE + FUNCTIONS[function][0] + offset


def map_filter(r, pid, build_id=None):
    start = CODE_AT // PAGE * PAGE
    r.map(pid, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, FILTER, build_id)


def demo(build_id=None):
    r = pd.Recording()
    r.comm(7, "prog")
    map_filter(r, 7, build_id)
    chain = [pd.CONTEXT_USER, address("filter_event", 5), address("start", 2), address("stop", 1), OTHER]
    r.sample(7, chain[1], chain)
    r.sample(7, address("stop", 1), [pd.CONTEXT_USER, address("stop", 1)])
    r.sample(7, OTHER, [pd.CONTEXT_USER, OTHER])
    return r


def script(path, *options, **more):
    return support.run([SONDE, "script", "-f", "-i", path, *options], **more)


def frames(text):
    """[[frame lines of a sample]]"""
    blocks = [b.splitlines()[1:] for b in text.decode().strip("\n").split("\n\n")]
    return [[line.strip() for line in b] for b in blocks]


def place(ip, name, dso=None):
    return f"{ip:x} {name} ({dso or FILTER})"


UNKNOWN = place(OTHER, "[unknown]", "[unknown]")
FIRST = [place(address("filter_event", 5), "filter_event+0x5"), place(address("start", 2), "start+0x2"),
         place(address("stop", 1), "stop+0x1"), UNKNOWN]
SECOND = [place(address("stop", 1), "stop+0x1")]


def check_names(report, folder):
    path = os.path.join(folder, "demo.data")
    demo().write(path)
    cases = [
        ([], [FIRST, SECOND, [UNKNOWN]]),
        (["-S", "stop"], [SECOND]),
        (["-S", "nothing,filter_event"], [FIRST]),
        (["-S", f"{address('filter_event'):x}"], [FIRST]),  # where the function starts
        (["-S", f"0x{address('stop', 1):x}"], [SECOND]),
        (["-S", f"0x{address('stop', 1) - 3:x}", "--addr-range", "4"], [SECOND]),
        (["-S", f"0x{address('stop', 1) - 4:x}", "--addr-range", "4"], []),
        (["--dsos", NAME], [FIRST, SECOND]),
        (["--dsos", FILTER], [FIRST, SECOND]),
        (["--dsos", "libc.so.6"], []),
        (["--stop-bt", "start"], [FIRST[:2], SECOND, [UNKNOWN]]),
        (["--max-stack", "1"], [FIRST[:1], SECOND, [UNKNOWN]]),
        (["--symfs", folder], [[f.replace(f.split()[1], "[unknown]") for f in s] for s in (FIRST, SECOND, [UNKNOWN])]),
    ]
    for options, want in cases:
        r = script(path, *options)
        got = frames(r.out) if r.out else []
        report.check(f"script {' '.join(options)}", r.status == 0 and got == want, (r.status, got, r.err[:200]))
    r = script(path, "-G", "-F", "ip,sym")
    report.check("-G -F ip,sym", r.out.decode().split("\n")[1].split() == [f"{address('stop', 1):x}", "stop"], r.out)
    r = script(path, "-G", "-F", "ip,sym,symoff,dsoff")
    report.check("dsoff", f"stop+0x1 ({FILTER}+0x{FUNCTIONS['stop'][0] + 1:x})" in r.out.decode(), r.out)
    with open(path, "rb") as f:
        data = f.read()
    report.check("a second run is the same", script(path).out == script(path).out, "it differs")
    report.check("the recording is left alone", data == open(path, "rb").read(), "it changed")


def check_callers(report, folder):
    """Return addresses belong to what lies before them; the first address of each context is exact."""
    start, size = FUNCTIONS["start"]
    r = pd.Recording()
    r.comm(7, "prog")
    map_filter(r, 7)
    for chain in ([address("start"), BASE + start + size, address("start")],
                  [BASE + start + size, address("stop", 1)], [address("start"), OTHER]):
        r.sample(7, chain[0], [pd.CONTEXT_USER] + chain)
    path = os.path.join(folder, "callers.data")
    r.write(path)
    before = script(path, "-G", "-F", "ip,sym,symoff").out.decode().splitlines()
    behind = before[1].split()[1]  # usually a gap between functions
    report.check("callers: no function reaches behind its end", not behind.startswith("start+"), before)
    got = [[line.split()[1] for line in b.splitlines()[1:]]
           for b in script(path, "-F", "comm,ip,sym,symoff").out.decode().strip("\n").split("\n\n")]
    exact = "start+0x0"
    report.check("callers: script", [g[:2] for g in got] == [[exact, f"start+0x{size:x}"], [behind, "stop+0x1"],
                                                             [exact, "[unknown]"]], got)
    report.check("callers: none returns to a function's first instruction", got[0][2] != exact, got)
    lines = [json.loads(line) for line in script(path, "--json").out.splitlines()]
    chain = [line["callchain"] for line in lines if line["type"] == "sample"]
    report.check("callers: JSON", [(f["ip"], f.get("sym"), f.get("symoff")) for f in chain[0][:2]] == [
        (f"0x{address('start'):x}", "start", 0), (f"0x{BASE + start + size:x}", "start", size)]
                 and chain[0][2].get("sym") != "start" and chain[1][0].get("sym") != "start", chain)
    r = script(path, "--stop-bt", "start")
    report.check("callers: --stop-bt", [len(f) for f in frames(r.out)] == [1, 2, 1], r.out)
    r = support.run([SONDE, "report", "-f", "-i", path, "--stdio", "--no-children", "-g", "folded,callee", "-s", "comm"])
    stacks = [line.split(" ", 1)[1].split(";") for line in r.out.decode().splitlines() if ";" in line and line[0] != "#"]
    report.check("callers: report", ["start", "start"] in [s[:2] for s in stacks]
                 and [behind.split("+")[0].replace("[unknown]", f"0x{BASE + start + size:x}"), "stop"] in [s[:2] for s in stacks], r.out)


def check_proof(report, folder):
    """Names of a file that is not what was recorded are not used, and that is said."""
    path = os.path.join(folder, "other.data")
    demo(build_id=bytes(range(20))).write(path)
    r = script(path)
    report.check("another build-id: no names", frames(r.out)[1] == [place(address("stop", 1), f"[stale] {NAME}+0x{FUNCTIONS['stop'][0] + 1:x}")], r.out)
    report.check("another build-id: it is said", "000102030405" in r.err and NAME in r.err, r.err)


def check_exec(report, folder):
    """Samples taken in the kernel while an exec goes on still have callers in the program that it replaces."""
    r = pd.Recording()
    r.comm(7, "old")
    map_filter(r, 7)
    r.comm(7, "new", exec_=True)
    chain = [pd.CONTEXT_USER, address("stop", 1)]
    r.sample(7, chain[1], chain, misc=pd.KERNEL)
    r.sample(7, chain[1], chain, misc=pd.USER)
    for i in range(5):
        r.map(7, OTHER + i * PAGE, PAGE, 0, "/nonexistent")
    r.sample(7, chain[1], chain, misc=pd.KERNEL)
    path = os.path.join(folder, "exec.data")
    r.write(path)
    unknown = [place(address("stop", 1), "[unknown]", "[unknown]")]
    report.check("an exec going on", frames(script(path).out) == [SECOND, unknown, unknown], script(path).out)


def check_branches(report, folder):
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.PERIOD | pd.BRANCH_STACK, pd.HARDWARE)
    r.comm(7, "prog")
    map_filter(r, 7)
    r.sample(7, address("stop"), branches=[(address("start", 3), address("stop"), 2 | 9 << 4), (OTHER, address("start"), 1)])
    path = os.path.join(folder, "branches.data")
    r.write(path)
    got = script(path, "-F", "ip,brstacksym").out.decode()
    want = f" {address('stop'):16x}start+0x3/stop+0x0/P/-/-/9//- [unknown]/start+0x0/M/-/-/0//- \n"
    report.check("brstacksym", got == want, got)
    branches = [json.loads(line) for line in script(path, "--json").out.splitlines()][-1]["branches"]
    report.check("branches in JSON", [b.get("from_sym") for b in branches] == ["start", None]
                 and branches[0]["predicted"] and branches[1]["mispredicted"] and branches[0]["cycles"] == 9, branches)


def check_code(report, folder):
    """Instructions are those of the proved file; their lengths need a disassembler."""
    if "libcapstone: [ on" not in " ".join(support.run([SONDE, "version", "--build-options"]).out.decode().split()):
        print("SKIP: instructions: built without capstone")
        return
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.PERIOD | pd.BRANCH_STACK, pd.HARDWARE)
    r.comm(7, "prog")
    map_filter(r, 7)
    r.sample(7, address("stop"), branches=[(address("start"), address("stop"), 1 | 4 << 4)])
    r.sample(7, OTHER, branches=[(address("start"), OTHER, 2)])
    path = os.path.join(folder, "code.data")
    r.write(path)
    with open(FILTER, "rb") as f:
        data = f.read()

    def matches(line, function):
        """The bytes in a line are the file's."""
        shown = bytes(int(b, 16) for b in line.split("insn:")[1].split("#")[0].split())
        at = FUNCTIONS[function][0]
        return 0 < len(shown) <= 15 and data[at:at + len(shown)] == shown
    lines = script(path, "-F", "ip,brstackinsn").out.decode().splitlines()
    report.check("brstackinsn: labels", lines[1] == "\tstart:" and lines[3] == "\tstop:", lines)
    report.check("brstackinsn: the branch", lines[2].startswith(f"\t{address('start'):016x}\tinsn: ")
                 and lines[2].endswith("\t# MISPRED 4 cycles [4]") and matches(lines[2], "start"), lines[2])
    report.check("brstackinsn: the sample", lines[4].startswith(f"\t{address('stop'):016x}\tinsn: ")
                 and matches(lines[4], "stop"), lines[4])
    report.check("brstackinsn: nothing is known of code that is not mapped", lines[6:] == [
        f" {OTHER:16x}", "\tstart:", lines[2].split("#")[0] + "# PRED", ""], lines[6:])
    lines = script(path, "-F", "ip,insn,insnlen").out.decode().splitlines()
    report.check("insn", matches(lines[0], "stop") and lines[1] == f" {OTHER:16x} ilen: 0", lines)


def check_json(report, folder):
    path = os.path.join(folder, "demo.data")
    lines = [json.loads(line) for line in script(path, "--json", "--show-task-events").out.splitlines()]
    kinds = [line["type"] for line in lines]
    report.check("JSON: kinds", kinds == ["header", "record", "event", "sample", "sample", "sample"], kinds)
    report.check("JSON: header", lines[0]["format"] == "sonde-script" and lines[0]["version"] == 1, lines[0])
    sample = lines[3]
    want = {"type": "sample", "event": lines[2]["name"], "pid": 7, "tid": 7, "comm": "prog", "period": 1000,
            "mode": "user", "ip": f"0x{address('filter_event', 5):x}", "sym": "filter_event", "symoff": 5, "dso": FILTER,
            "dsoff": f"0x{FUNCTIONS['filter_event'][0] + 5:x}"}
    report.check("JSON: a sample", {k: sample[k] for k in want} == want, sample)
    report.check("JSON: its callchain", [f.get("sym") for f in sample["callchain"]] == ["filter_event", "start", "stop", None]
                 and sample["callchain"][3] == {"ip": f"0x{OTHER:x}"}, sample["callchain"])


def check_files(report, folder):
    path = os.path.join(folder, "demo.data")
    whole = script(path).out
    r = script(path, "--per-event-dump")
    name = [n for n in os.listdir(folder) if n.startswith("demo.data.") and n.endswith(".dump")]
    report.check("--per-event-dump", len(name) == 1 and not r.out and "(3 samples)" in r.err
                 and open(os.path.join(folder, name[0]), "rb").read() == whole, (name, r.err))


# --- scripts ---

HANDLERS = """
import sys
from perf_trace_context import *
from Core import *
from Util import *
seen = []
def trace_begin():
    print("begin", sys.argv[1:])
def process_event(event):
    s = event["sample"]
    seen.append((event["comm"], event.get("symbol"), event.get("symoff"), s["pid"], s["period"], hex(s["ip"])))
    if len(seen) == 1:
        print([f.get("sym", {}).get("name") for f in event["callchain"]], event["dso"], event["ev_name"])
def trace_end():
    print(seen)
    print(nsecs_str(3000000005), nsecs_secs(3000000005), add_stats.__name__, trace_flag_str(3), taskState(1))
"""



def check_scripts(report, folder):
    path, own = os.path.join(folder, "demo.data"), os.path.join(folder, "own.py")
    with open(own, "w", encoding="utf-8") as f:
        f.write(HANDLERS)
    r = script(path, "-s", own, "one", "--two")
    out = r.out.decode().splitlines()
    report.check("script -s", r.status == 0 and len(out) == 4, (r.status, out, r.err))
    if len(out) == 4:
        report.check("script -s: arguments", out[0] == "begin ['one', '--two']", out[0])
        report.check("script -s: callchain", out[1].startswith("['filter_event', 'start', 'stop', None] " + FILTER), out[1])
        report.check("script -s: samples", out[2] == str([
            ("prog", "filter_event", 5, 7, 1000, hex(address("filter_event", 5))),
            ("prog", "stop", 1, 7, 1000, hex(address("stop", 1))), ("prog", None, None, 7, 1000, hex(OTHER))]), out[2])
        report.check("script -s: helpers", out[3] == "    3.000000005 3 add_stats IRQS_OFF | IRQS_NOSUPPORT S", out[3])
    report.check("script -s py:", script(path, "-s", "py:" + own).status == 0, "it failed")
    r = script(path, "event-counts")
    report.check("event-counts", r.status == 0 and r.out.split()[-3:][1:] == [b"prog", b"3"], r)
    r = script(path, "report", "folded-stacks", "prog")
    report.check("folded-stacks", f"prog;[unknown];stop;start;filter_event 1" in r.out.decode().splitlines(), r)
    listed = support.run([SONDE, "script", "-l"]).out.decode()
    report.check("script -l", all(n in listed for n in ("event-counts", "folded-stacks [comm]", "off-cpu")), listed)
    for name, text, status in (("broken", "def trace_begin():\n    raise ValueError('no')\n", 1),
                               ("short", "import sys\ndef trace_begin():\n    sys.exit(0)\n", 0),
                               ("empty", "", 0)):
        file = os.path.join(folder, name + ".py")
        with open(file, "w", encoding="utf-8") as f:
            f.write(text)
        r = script(path, "-s", file)
        report.check(f"a script that is {name}", r.status == status, r)
    r = script(path, "-s", own, env=dict(support.ENV, PATH="/nonexistent"))
    report.check("no python3", r.status == 1 and len(r.err.splitlines()) == 1 and "python3" in r.err, r)


def check_generated(report, folder):
    path, made = os.path.join(folder, "demo.data"), os.path.join(folder, "made.py")
    r = script(path, "-g", made)
    report.check("script -g", r.status == 0 and "made.py" in r.out.decode(), r)
    r = script(path, "-s", made)
    report.check("what script -g wrote", r.status == 0 and r.out.count(b" prog ") == 3 and b"filter_event" in r.out, r)


# --- filters ---

def check_filters(report, folder):
    path = os.path.join(folder, "demo.data")
    r = script(path, "--dlfilter", FILTER, "--dlarg", "stop", "--dlarg", "main")
    report.check("--dlfilter", r.status == 0 and frames(r.out) == [SECOND] and "kept 1, dropped 2" in r.err, r)
    r = script(path, "--dlfilter", FILTER, "--dlarg", "stop", "-S", "filter_event")
    report.check("--dlfilter is asked behind -S", not r.out and "kept 0, dropped 1" in r.err, r)
    r = script(path, "--dlfilter", FILTER)
    report.check("a filter that gives up", r.status == 1 and "gave up" in r.err and not r.out, r)
    r = support.run([SONDE, "script", "--list-dlfilters", "-v"], cwd=os.path.dirname(FILTER))
    report.check("--list-dlfilters", NAME in r.out.decode() and "Keep samples" in r.out.decode()
                 and "--dlarg" in r.out.decode(), r)


def check_asking_filter(report, folder):
    """What a filter gets, and that what it prints stands where it was printed."""
    functions, (start, size) = pd.functions(ASKS)
    path, at = os.path.join(folder, "asks.data"), BASE + functions["stop"][0]
    r = pd.Recording()
    r.comm(7, "prog")
    first = start // PAGE * PAGE
    r.map(7, BASE + first, (size + 2 * PAGE) // PAGE * PAGE, first, ASKS)
    for ip in at, OTHER:
        r.sample(7, ip, [pd.CONTEXT_USER, ip])
    r.write(path)
    with open(ASKS, "rb") as f:
        code = f.read()[functions["stop"][0]:][:15]
    r = script(path, "--dlfilter", ASKS, "-F", "ip", "-G")
    out = r.out.decode().splitlines()
    report.check("a filter's lines stand between script's",
                 ["".join(x.split()[:2]) if x.startswith("asks") else x.strip() for x in out if x.strip()] ==
                 ["asks:start", "asks:insn", f"{at:x}", "asks:insn,", f"{OTHER:x}", "asks:stop"], (r.status, r.out, r.err))
    told = [x for x in out if x.startswith("asks: insn")]
    if len(told) != 2:
        report.check("a filter is asked twice", False, out)
        return
    insn, line, *rest = told[0][len("asks: "):].split(", ")
    report.check("a filter gets ids of -1 where there are none", rest == ["id -1", "stream -1", "vcpu -1", "code 4"], told[0])
    if support.run([SONDE, "check", "-q", "feature", "dwarf"]).status == 0:
        report.check("a filter gets the line", "/dlfilter/asks.c:" in line and not line.endswith(":0"), told[0])
    if support.run([SONDE, "script", "-F", "ip,insn", "-G", "-i", path]).out.decode().count("insn:"):
        have = bytes.fromhex(insn[len("insn"):])
        report.check("a filter gets the instruction", have and code.startswith(have), told[0])
    report.check("of code that is not known there is none", told[1].startswith("asks: insn, line -:0,"), told[1])


# --- groups ---

def equal(report, what, got, want):
    report.check(what, got == want, got)


def lines_of(path, *fields):
    return [" ".join(x.split()) for x in script(path, "-F", ",".join(("time", "event", "period") + fields)).out.decode().splitlines()]


def group_of(*counters):
    return pd.Recording(pd.IP | pd.TID | pd.TIME | pd.READ_GROUP | pd.ID, counters=counters)


def check_metrics(report, folder):
    path = os.path.join(folder, "metric.data")
    r = group_of((pd.HARDWARE, 0), (pd.HARDWARE, 5), (pd.HARDWARE, 4), (pd.HARDWARE, 1))
    r.comm(7, "prog")
    r.sample(7, OTHER, readings=[1000, 10, 400, 2500])
    r.sample(7, OTHER, readings=[2000, 10, 600, 2750])  # no branch was mispredicted
    r.write(path)
    plain = ["1.000002: 1000 cycles:", "1.000002: 10 branch-misses:", "1.000002: 400 branches:", "1.000002: 2500 instructions:",
             "1.000003: 1000 cycles:", "1.000003: 200 branches:", "1.000003: 250 instructions:"]
    equal(report, "the period of a counter that was read", lines_of(path), plain)
    periods = [json.loads(x).get("period") for x in script(path, "--json").out.decode().splitlines()]
    equal(report, "its period in JSON", [x for x in periods if x is not None], [1000, 10, 400, 2500, 1000, 200, 250])
    equal(report, "metrics", lines_of(path, "metric"),
                 plain[:4] + ["1.000002: metric: 2.50% of all branches", "1.000002: metric: 2.50 insn per cycle"] + plain[4:] +
                 ["1.000003: metric: 0.25 insn per cycle"])
    r = group_of((pd.SOFTWARE, 1), (pd.SOFTWARE, 2), (pd.HARDWARE, 0), (pd.HARDWARE, 6))
    r.sample(7, OTHER, readings=[1_000_000, 51, 3_000_000, 9])
    r.write(path)
    equal(report, "metrics of time", [x for x in lines_of(path, "metric") if "metric" in x],
                 ["1.000001: metric: 51.000 K/sec", "1.000001: metric: 3.000 GHz"])
    r = script(path, "-F", "time,metric")
    report.check("metrics as text", b"\tmetric:   51.000 K/sec\n" in r.out and not r.err, r)


def check_hidden_readings(report, folder):
    """Counters go on while samples are not shown."""
    path = os.path.join(folder, "hidden.data")
    r = group_of((pd.SOFTWARE, 1), (pd.SOFTWARE, 2))
    for pid, name in (7, "prog"), (8, "other"):
        r.comm(pid, name)
    for i, pid in enumerate((7, 8, 8, 7), 1):
        r.sample(pid, OTHER, readings=[1000 * i, 10 * (i // 3)])
    r.write(path)
    want = ["1.000003: 1000 task-clock:", "1.000006: 1000 task-clock:"]
    for options in (["-c", "prog"], ["--tid", "7"], ["--pid", "7"]):
        got = [" ".join(x.split()) for x in script(path, "-F", "time,event,period", *options).out.decode().splitlines()]
        equal(report, f"readings with {options[0]}", got, want)


def check_no_time(report, folder):
    """What was there before the recording has time 0, from which nothing is counted; and samples need have no CPU."""
    path = os.path.join(folder, "time.data")
    r = pd.Recording(pd.IP | pd.TID | pd.TIME)
    r.comm(7, "prog")
    r.time, start = -1000, r.time  # the next record's is 0
    r.map(7, 0x400000, 0x1000, 0, "/nonexistent/app")
    r.time = start
    for _ in range(2):
        r.sample(7, OTHER)
    r.write(path)
    for option, want in ("--reltime", ["0.000000:", "0.000000:", "0.000001:"]), ("--deltatime", ["0.000000:", "0.000000:", "0.000001:"]):
        got = [x for x in script(path, "-F", "time,event", "--show-mmap-events", option).out.decode().split() if x.startswith("0.")]
        equal(report, f"{option} behind a record without a time", got, want)
    got = script(path, "-F", "sw:cgroup", "--show-mmap-events").out
    equal(report, "records where no field is left", got, b"PERF_RECORD_MMAP2 7/7: [0x400000(0x1000) @ 0 00:00 0 0]: r-xp /nonexistent/app\n")
    r = script(path, "-C", "0")
    report.check("-C where there are no CPUs", r.status == 1 and "CPU events" in r.err, r)
    r = script(path, "-d")
    report.check("-d shows no samples", r.status == 0 and not r.out, r)


def check_same_names(report, folder):
    path = os.path.join(folder, "same.data")
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.ID, events=3)
    for event in 2, 1, 3, 3:
        r.sample(7, OTHER, event=event)
    r.write(path)
    script(path, "--per-event-dump", "-F", "time")
    got = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith("same.data.") and name.endswith(".dump"):
            with open(os.path.join(folder, name)) as f:
                got[name[len("same.data."):-len(".dump")]] = f.read().split()
    equal(report, "--per-event-dump of events of one name", got,
                 {"cpu-clock": ["1.000002:"], "cpu-clock.2": ["1.000001:"], "cpu-clock.3": ["1.000003:", "1.000004:"]})


def main():
    report = support.Report("script with names")
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_names, check_callers, check_proof, check_exec, check_branches, check_code, check_json, check_files, check_scripts,
                      check_generated, check_filters, check_asking_filter, check_metrics, check_hidden_readings,
                      check_no_time, check_same_names):
            check(report, folder)
    report.finish()


main()
