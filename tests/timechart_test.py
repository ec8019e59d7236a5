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
SWITCH = "name: sched_switch\nID: 11\nformat:\n" + pd.COMMON_FIELDS + """\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
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
IDLE_EVENT = "name: cpu_idle\nID: 51\nformat:\n" + pd.COMMON_FIELDS + POWER
SPEED_EVENT = "name: cpu_frequency\nID: 52\nformat:\n" + pd.COMMON_FIELDS + POWER
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


ENTER = """\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;
\tfield:unsigned long fd;\toffset:16;\tsize:8;\tsigned:0;

print fmt: "%d", REC->fd
"""
EXIT = """\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;
\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;

print fmt: "%d", REC->ret
"""
RAW_ENTER = """\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;
\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;

print fmt: "%d", REC->id
"""
RAW_EXIT = """\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;
\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;

print fmt: "%d", REC->id
"""
NUMBERS = {"read": 0, "write": 1, "poll": 7, "sendto": 44, "recvfrom": 45, "fsync": 74}  # x86-64


class Calls(pd.Recording):
    """Input and output; times are milliseconds after 10 s. raw: the events of all system calls."""

    def __init__(self, raw=False):
        self.raw, self.ids = raw, {}
        if raw:
            formats = [("sys_enter", RAW_ENTER), ("sys_exit", RAW_EXIT)]
        else:
            formats = [(f"sys_{side}_{name}", ENTER if side == "enter" else EXIT) for name in NUMBERS for side in ("enter", "exit")]
        texts = []
        for i, (name, fields) in enumerate(formats):
            self.ids[name] = i + 1
            texts.append(f"name: {name}\nID: {60 + i}\nformat:\n" + pd.COMMON_FIELDS + fields)
        super().__init__(TYPE, counters=[(pd.TRACEPOINT, 60 + i) for i in range(len(formats))], period=1)
        self.features[pd.TRACING_DATA] = tracing(("raw_syscalls" if raw else "syscalls", *texts))
        if raw:
            self.features[6] = struct.pack("<I", 8) + b"x86_64\0\0"  # the architecture

    def put(self, event, ms, tid, data):
        self.time = 10_000 * MS + round(ms * MS) - 1000  # sample() adds that
        data = struct.pack("<HBBi", 0, 0, 0, tid) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(100, 0, tid=tid, event=self.ids[event], cpu=0, more=struct.pack("<I", len(data)) + data)

    def enter(self, ms, tid, name):
        if self.raw:
            self.put("sys_enter", ms, tid, struct.pack("<q6Q", NUMBERS[name], *range(6)))
        else:
            self.put(f"sys_enter_{name}", ms, tid, struct.pack("<i4xQ", NUMBERS[name], 3))

    def exit(self, ms, tid, name, result):
        self.put("sys_exit" if self.raw else f"sys_exit_{name}", ms, tid,
                 struct.pack("<qq", NUMBERS[name], result) if self.raw else struct.pack("<i4xq", NUMBERS[name], result))


def io_scene(raw=False):
    """100 ms, of which 101 reads 25, writes 25, and polls; 102 sends, and is told to try again."""
    t = Calls(raw)
    t.comm(100, "worker", tid=101)
    t.comm(100, "<b>&", tid=102)
    t.enter(0, 101, "read")
    t.exit(25, 101, "read", 4096)
    t.enter(25, 101, "write")
    t.enter(30, 102, "sendto")
    t.exit(40, 102, "sendto", 10)
    t.exit(50, 101, "write", 100)
    t.enter(50, 101, "poll")
    t.enter(50, 102, "recvfrom")
    t.exit(55, 102, "recvfrom", -11)
    t.exit(75, 101, "poll", 1)
    t.enter(75, 101, "fsync")
    t.exit(100, 101, "fsync", 0)
    return t


def io_row(trace, at, *options):
    """What is drawn in a row of the only section, by class; its title."""
    _, sections = chart(trace, "-w", "400", *options)
    check(len(sections) == 1 and "worker [100], 2 threads" in sections[0][0], f"one section: {[x[0] for x in sections]}")
    body = next(e for e in sections[0][2] if e.get("class") == "body")
    y, found = 14 * at, {}
    for e in body.iter(SVG + "path"):
        parts = [re.match(r"M(\d+) (\d+)h(\d+)v(\d+)", x) for x in e.get("d").split("z")[:-1]]
        for x, top, width, height in [tuple(map(int, m.groups())) for m in parts]:
            if y <= top < y + 14 and e.get("class") != "bg":
                found.setdefault(e.get("class"), []).append((x, top - y, width, height))
    return found, [x.find(SVG + "title").text for x in body.findall(SVG + "text")][at]


def io_chart():
    for raw in False, True:
        drawn, title = io_row(io_scene(raw), 0)
        check(drawn == {"r4": [(0, 1, 200, 5), (200, 6, 200, 5)], "q4": [(400, 1, 200, 12)], "y4": [(600, 6, 200, 5)]}, f"the first thread: {drawn}")
        check("worker:101 read or received 4096 bytes, wrote or sent 100, in 0.075000 s; waited in polls 0.025000 s; 4 calls, 0 failed" == title, title)
        drawn, title = io_row(io_scene(raw), 1)
        check(drawn == {"n4": [(400, 1, 40, 5), (240, 6, 80, 5)], "b": [(439, 11, 1, 2)]}, f"the second: {drawn}")
        check("<b>&:102" in title and "2 calls, 1 failed" in title, title)
    drawn, title = io_row(io_scene(), 1, "--io-skip-eagain")
    check(drawn == {"n4": [(240, 6, 80, 5)]} and "1 calls, 0 failed" in title, f"--io-skip-eagain: {drawn}")
    drawn, _ = io_row(io_scene(), 1, "--io-min-time", "20ms")
    check(drawn["n4"] == [(400, 1, 160, 5), (240, 6, 160, 5)], f"--io-min-time: {drawn}")
    t = io_scene()
    t.enter(80, 102, "sendto")
    t.exit(90, 102, "sendto", 10)
    t.records.sort(key=lambda r: struct.unpack_from("<Q", r, 16)[0])
    drawn, _ = io_row(t, 1, "--io-merge-dist", "41000us")
    check(drawn["n4"] == [(400, 1, 40, 5), (240, 6, 480, 5)], f"--io-merge-dist: {drawn}")
    drawn, _ = io_row(io_scene(), 1, "--highlight", "<b>&")
    check(drawn["o1"] == [(0, 0, 800, 14)], f"--highlight: {drawn}")


def io_words():
    scene().write("perf.data")
    check("timechart record -I" in sonde("timechart", "-I", "-f", "-i", "perf.data", "-o", "o.svg", status=1).stderr, "-I without such events")
    io_scene().write("perf.data")
    check("about scheduling" in sonde("timechart", "-T", "-f", "-i", "perf.data", "-o", "o.svg", status=1).stderr, "-T of input and output")
    for options in ("-I", "-P"), ("record", "-I", "-T", "true"):
        check("-I does not go" in sonde("timechart", *options, status=129).stderr, f"{options}")
    own = sonde("timechart", "record", "-h", status=129).stderr
    check("--io-only" in own and "--all-cpus" not in own, f"record -h: {own[:300]}")
    for options in ("-I", "--output=x.data", "-P"), ("--io-only", "-ox.data", "--tasks-only"), ("--output", "x.data", "-I", "-T", "-a"):
        check("-I does not go" in sonde("timechart", "record", *options, "true", status=129).stderr, f"record {options}")
    for value in "", "1h", "-1", "99999999999999999999", "1000001s":
        check("--io-min-time: a time" in sonde("timechart", "--io-min-time", value, status=129).stderr, f"--io-min-time {value}")
    with open("perf.data", "rb") as f:
        data = bytearray(f.read())
    for n in range(0, len(data), 97):  # whatever is broken, it ends
        support.run([SONDE, "timechart", "-f", "-i", "-", "-o", "o.svg"], stdin=bytes(data[:n]))
        data[n] ^= 0x5a
        with open("broken.data", "wb") as f:
            f.write(data)
        support.run([SONDE, "timechart", "-f", "-I", "-i", "broken.data", "-o", "o.svg"])
        data[n] ^= 0x5a


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    known()
    hostile()
    choices()
    power()
    processes()
    io_chart()
    io_words()
sys.exit(support.status())
