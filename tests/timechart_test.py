#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`timechart` over made recordings: what is drawn where, how much at most, and that names are only ever text:
timechart_test.py SONDE"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE = os.path.realpath(sys.argv[1])
check = support.check
SVG = "{http://www.w3.org/2000/svg}"
COMMON = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""
SWITCH = "name: sched_switch\nID: 11\nformat:\n" + COMMON + """\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_state=%s", __print_flags(REC->prev_state & 0xff, "|", { 0x00000001, "S" }, { 0x00000002, "D" })
"""
POWER = """\tfield:u32 state;\toffset:8;\tsize:4;\tsigned:0;
\tfield:u32 cpu_id;\toffset:12;\tsize:4;\tsigned:0;

print fmt: "state=%lu cpu_id=%lu", REC->state, REC->cpu_id
"""
IDLE_EVENT = "name: cpu_idle\nID: 51\nformat:\n" + COMMON + POWER
SPEED_EVENT = "name: cpu_frequency\nID: 52\nformat:\n" + COMMON + POWER
TYPE = pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.RAW
MS = 1_000_000
IDLE, RUNNABLE, SLEEP, DISK = ("swapper", 0), 0, 1, 2


def tracing(*systems):
    """TRACING_DATA of several systems: their formats."""
    one = pd.tracing_data(*systems[0])
    head, rest = one[:one.index(systems[0][0].encode() + b"\0") - 4], b""
    for system, *formats in systems:
        rest += system.encode() + b"\0" + struct.pack("<I", len(formats))
        for text in formats:
            rest += struct.pack("<Q", len(text)) + text.encode()
    return head + struct.pack("<I", len(systems)) + rest + struct.pack("<IIQ", 0, 0, 0)


class Trace(pd.Recording):
    """Times are milliseconds after 10 s."""

    def __init__(self):
        super().__init__(TYPE, counters=[(pd.TRACEPOINT, 11), (pd.TRACEPOINT, 51), (pd.TRACEPOINT, 52)], period=1)
        self.features[pd.TRACING_DATA] = tracing(("sched", SWITCH), ("power", IDLE_EVENT, SPEED_EVENT))

    def put(self, event, ms, cpu, tid, data, pid=None):
        self.time = 10_000 * MS + round(ms * MS) - 1000  # sample() adds that
        data = struct.pack("<HBBi", 0, 0, 0, tid) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(tid if pid is None else pid, 0, tid=tid, event=event, cpu=cpu, more=struct.pack("<I", len(data)) + data)

    def switch(self, ms, cpu, prev, state, following, pid=None):
        self.put(1, ms, cpu, prev[1], struct.pack("<16siiq16sii", prev[0].encode(), prev[1], 120, state, following[0].encode(),
                                                   following[1], 120), pid)

    def idle(self, ms, cpu, state):
        self.put(2, ms, cpu, 0, struct.pack("<II", state & 0xffffffff, cpu))

    def speed(self, ms, cpu, khz):
        self.put(3, ms, cpu, 0, struct.pack("<II", khz, cpu))


def sonde(*options, status=0):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def chart(trace, *options):
    """The sections of the chart: [(title, {class: what is drawn by the title}, {class: what in the rows})]."""
    trace.write("perf.data")
    r = sonde("timechart", "-f", "-i", "perf.data", "-o", "out.svg", *options)
    check(re.fullmatch(r"Written \d+\.\d seconds of trace to out.svg.\n", r.stdout), f"what it says: {r.stdout}")
    root = tree.parse("out.svg").getroot()
    found = []
    for g in root.findall(SVG + "g"):
        plot = {}
        for e in g.iter(SVG + "path"):
            plot.setdefault(e.get("class"), []).append(e.get("d"))
        text = g.find(SVG + "text")
        found.append(("".join(text.itertext()), plot, g))
    return root, found


A, B, C = ("one", 101), ("two", 102), ("<b>&\"'\x1b", 103)


def scene():
    t = Trace()
    t.switch(0, 0, IDLE, 0, A)
    t.switch(25, 0, A, DISK, B)     # A blocked
    t.switch(50, 0, B, RUNNABLE, C)
    t.switch(75, 0, C, SLEEP, A)
    t.switch(100, 0, A, SLEEP, IDLE)
    return t


def known():
    root, sections = chart(scene(), "-w", "400")
    check(root.get("data-n") == "800" and root.get("data-span") == "0.100000000" and root.get("data-from") == "10.000000000", "the scale")
    titles = [x[0] for x in sections]
    check(titles[0] == "CPUs (1)CPUs (1)", f"CPUs come first: {titles}")
    check(len(titles) == 4 and "one [101]" in titles[1] and "ran 0.050000 s" in titles[1] and "blocked 0.050000 s" in titles[1], f"{titles}")
    plot = sections[1][1]
    check(plot["r4"] == ["M0 1h200v8h-200zM600 1h200v8h-200z"], f"A runs twice: {plot}")
    check(plot["b"] == ["M200 9h400v4h-400z"], f"A is blocked: {plot}")
    two = next(x for x in sections if "two" in x[0])[1]
    check(two["r4"] == ["M200 1h200v8h-200z"] and two["w"] == ["M400 9h400v4h-400z"], f"B waits for the CPU: {two}")
    check("100.0 % busy" in "".join(sections[0][2].itertext()), "the CPU")


def hostile():
    chart(scene())
    with open("out.svg", encoding="utf-8") as f:
        text = f.read()
    check("<b>" not in text and "\x1b" not in text and "&lt;b&gt;&amp;" in text, "names are escaped")
    check(text.count("<script") == 1 and "onload" not in text and "href" not in text, "one script, which is ours")


def choices():
    _, sections = chart(scene(), "-p", "two", "-p", "103")
    check(len(sections) == 3 and "one" not in "".join(x[0] for x in sections), "-p")
    _, sections = chart(scene(), "--highlight", "two")
    drawn = {x[0][:3]: x[1] for x in sections}
    check("o4" in drawn["two"] and "o4" not in drawn["one"], "--highlight NAME")
    _, sections = chart(scene(), "--highlight", "25000001")
    check(not any("o4" in x[1] for x in sections), "--highlight longer than any")
    _, sections = chart(scene(), "--highlight", "25000000")
    check(sum("o4" in x[1] for x in sections) == 3, "--highlight as long as all")
    _, sections = chart(scene(), "-P")
    check(len(sections) == 1, "-P")
    for options, word in ((("-w", "3"), "width"), (("-P", "-T"), "nothing"), (("x",), "unexpected")):
        check(word in sonde("timechart", *options, status=129).stderr, f"{options}")
    scene().write("perf.data")
    check("neighbours" in sonde("timechart", "-f", "-i", "perf.data", "-o", "o.svg", "-t", status=1).stderr, "-t without a topology")
    sonde("timechart", "-f", "-i", "perf.data", "-o", "perf.data", status=129)
    check(os.path.getsize("perf.data") > 0, "the input is not overwritten")
    pd.Recording().write("perf.data")
    check("timechart record" in sonde("timechart", "-f", "-i", "perf.data", "-o", "o.svg", status=1).stderr, "no such events")


def power():
    t = scene()
    t.idle(10, 3, 2)
    t.idle(60, 3, -1)
    t.speed(0, 3, 1_000_000)
    t.speed(50, 3, 2_000_000)
    t.records.sort(key=lambda r: struct.unpack_from("<Q", r, 16)[0])
    _, sections = chart(t, "-w", "400")
    plot = sections[0][1]
    check(plot["i3"] == ["M80 23h400v4h-400z"], f"the idle state of CPU 3: {plot.get('i3')}")
    check(len(plot["f"]) == 1 and plot["f"][0].startswith("M0 19.0h1"), f"its speed: {plot['f'][0][:60]}")
    _, sections = chart(t, "-T")
    check("i3" not in sections[0][1] and "f" not in sections[0][1], "-T")


def processes():
    """Threads of a process are a section; of many threads those that ran longest; many CPUs are folded."""
    t = Trace()
    running = {}
    for i in range(900):
        cpu = i % 40
        name = (f"w{i}", 1000 + i)
        t.switch(i, cpu, running.get(cpu, IDLE), SLEEP, name, 77 if cpu < 2 else None)
        running[cpu] = name
    for cpu, name in running.items():
        t.switch(1000, cpu, name, SLEEP, IDLE, 77 if cpu < 2 else None)
    root, sections = chart(t)
    rows = len(root.findall(f".//{SVG}text"))
    check(sections[0][2].get("class") == "s c", "40 CPUs are folded")
    check(any("threads" in x[0] and "[77]" in x[0] for x in sections), "threads of a process")
    check(200 <= rows < 300, f"as many rows as can be read: {rows}")
    check("200 of " in "".join(root.itertext()), "it says how many are drawn")
    _, more = chart(t, "-n", "1000")
    check(len(more) > len(sections), "-n")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    known()
    hostile()
    choices()
    power()
    processes()
sys.exit(support.status())
