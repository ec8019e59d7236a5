#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kwork` over made recordings, of which all that happened is known: kwork_test.py SONDE"""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE = os.path.realpath(sys.argv[1])
check = support.check
MS = 1_000_000
TEXT = 0xffffffff81000000


def event(number, name, fields, text='"x"'):
    """A format as the kernel has it: fields are (declaration, offset, size)."""
    lines = "".join(f"\tfield:{d};\toffset:{o};\tsize:{n};\tsigned:0;\n" for d, o, n in fields)
    return f"name: {name}\nID: {number}\nformat:\n{pd.COMMON_FIELDS}{lines}\nprint fmt: {text}\n"


VEC = [("unsigned int vec", 8, 4)]
WORK, FUNCTION = ("void * work", 8, 8), ("void * function", 16, 8)
NAMES = '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 1, "TIMER" }, { 3, "NET_RX" })'
SYSTEMS = {
    "irq": [event(11, "irq_handler_entry", [("int irq", 8, 4), ("__data_loc char[] name", 12, 4)]),
            event(12, "irq_handler_exit", [("int irq", 8, 4), ("int ret", 12, 4)]),
            event(13, "softirq_raise", VEC, NAMES), event(14, "softirq_entry", VEC, NAMES), event(15, "softirq_exit", VEC, NAMES)],
    "workqueue": [event(16, "workqueue_activate_work", [WORK, FUNCTION]), event(17, "workqueue_execute_start", [WORK, FUNCTION]),
                  event(18, "workqueue_execute_end", [WORK, FUNCTION])],
    "sched": [event(19, "sched_switch", [("char prev_comm[16]", 8, 16), ("pid_t prev_pid", 24, 4), ("int prev_prio", 28, 4),
                                         ("long prev_state", 32, 8), ("char next_comm[16]", 40, 16), ("pid_t next_pid", 56, 4),
                                         ("int next_prio", 60, 4)])],
}


class Trace(pd.Recording):
    """Times are milliseconds after 10 s."""

    def __init__(self, more=0):
        super().__init__(pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.RAW | more,
                         counters=[(pd.TRACEPOINT, 10 + i) for i in range(1, 10)], period=1)
        self.features[pd.TRACING_DATA] = pd.tracing_systems(SYSTEMS)
        self.chain = ()
        self.kernel(TEXT, 0x1000)

    def put(self, number, ms, cpu, data):
        self.time = 10_000 * MS + round(ms * MS) - 1000  # sample() adds that
        data = struct.pack("<HBBi", 10 + number, 0, 0, 7) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(7, 0, self.chain, misc=pd.KERNEL, event=number, cpu=cpu, more=struct.pack("<I", len(data)) + data)

    def irq(self, ms, until, cpu, number, name):
        self.put(1, ms, cpu, struct.pack("<iI", number, 16 | (len(name) + 1) << 16) + name.encode() + b"\0")
        self.put(2, until, cpu, struct.pack("<ii", number, 1))

    def soft(self, kind, ms, cpu, vec):
        self.put({"raise": 3, "entry": 4, "exit": 5}[kind], ms, cpu, struct.pack("<I", vec))

    def work(self, kind, ms, cpu, work, function):
        self.put({"activate": 6, "start": 7, "end": 8}[kind], ms, cpu, struct.pack("<QQ", work, function))

    def switch(self, ms, cpu, prev, following):
        self.put(9, ms, cpu, struct.pack("<16siiq16sii", prev[0].encode(), prev[1], 120, 0, following[0].encode(), following[1], 120))


def sonde(*options, status=0):
    r = subprocess.run([SONDE, "kwork", *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def scene():
    """An interrupt within a soft interrupt while worker runs on CPU 0; a work item that moves to CPU 1."""
    t = Trace()
    t.switch(0, 0, ("swapper/0", 0), ("worker", 101))
    t.soft("raise", 1, 0, 3)
    t.soft("raise", 1.5, 0, 3)
    t.soft("entry", 2, 0, 3)
    t.irq(3, 3.5, 0, 40, "disk")
    t.soft("exit", 6, 0, 3)
    t.work("activate", 7, 0, 0xf00, TEXT + 0x20)
    t.work("start", 8, 1, 0xf00, TEXT + 0x20)
    t.work("end", 8.25, 1, 0xf00, TEXT + 0x20)
    t.soft("raise", 9, 0, 1)
    t.soft("entry", 9.125, 0, 1)
    t.soft("exit", 9.25, 0, 1)
    t.irq(9.5, 9.75, 0, 40, "disk")
    t.switch(10, 0, ("worker", 101), ("swapper/0", 0))
    return t


REPORT = """
  Kwork Name                     | Cpu  | Total Runtime | Count     | Max runtime   | Max runtime start   | Max runtime end     |
 --------------------------------------------------------------------------------------------------------------------------------
  (s)NET_RX:3                    | 0000 |      4.000 ms |         1 |      4.000 ms |         10.002000 s |         10.006000 s |
  disk:40                        | 0000 |      0.750 ms |         2 |      0.500 ms |         10.003000 s |         10.003500 s |
  (w)a_work                      | 0001 |      0.250 ms |         1 |      0.250 ms |         10.008000 s |         10.008250 s |
  (s)TIMER:1                     | 0000 |      0.125 ms |         1 |      0.125 ms |         10.009125 s |         10.009250 s |
 --------------------------------------------------------------------------------------------------------------------------------
  Total count            :         5
  Total runtime   (msec) :     5.125 (58.571% load average)
  Total time span (msec) :     8.750
 --------------------------------------------------------------------------------------------------------------------------------

"""
LATENCY = """
  Kwork Name                     | Cpu  | Avg delay     | Count     | Max delay     | Max delay start     | Max delay end       |
 --------------------------------------------------------------------------------------------------------------------------------
  (s)NET_RX:3                    | 0000 |      1.000 ms |         1 |      1.000 ms |         10.001000 s |         10.002000 s |
  (w)a_work                      | 0001 |      1.000 ms |         1 |      1.000 ms |         10.007000 s |         10.008000 s |
  (s)TIMER:1                     | 0000 |      0.125 ms |         1 |      0.125 ms |         10.009000 s |         10.009125 s |
 --------------------------------------------------------------------------------------------------------------------------------

"""
LINES = """ Runtime start      Runtime end        Cpu     Kwork name                      Runtime     Delaytime 
                                               (TYPE)NAME:NUM                  (msec)      (msec)    
 -----------------  -----------------  ------  ------------------------------  ----------  ----------
         10.003000          10.003500  [0000]  disk:40                              0.500             
         10.002000          10.006000  [0000]  (s)NET_RX:3                          4.000       1.000 
         10.008000          10.008250  [0001]  (w)a_work                            0.250       1.000 
         10.009125          10.009250  [0000]  (s)TIMER:1                           0.125       0.125 
         10.009500          10.009750  [0000]  disk:40                              0.250             
"""
TOP = """
Total  :     10.000 ms, 1 cpus
%Cpu(s):   0.00% id,   7.50% hi,  36.25% si
%Cpu0   [|||||||||||||||||||||||||||||| 100.00%]

      PID    %CPU           RUNTIME  COMMAND         
  ----------------------------------------------------
      101   56.25          5.625 ms  worker          

"""


def symbols():
    with open("symbols", "w") as f:
        for offset, name in ((0, "_text"), (0x10, "handle_softirqs"), (0x20, "a_work"), (0x30, "end")):
            f.write(f"{TEXT + offset:x} T {name}\n")


def known():
    scene().write("perf.data")
    lines = sonde("timehist", "-f", "--kallsyms", "symbols").stdout
    check(lines == LINES, f"timehist:\n{lines}")
    report = sonde("report", "-f", "-S").stdout
    check(nameless(report) == nameless(REPORT), f"report:\n{report}")
    latency = sonde("latency", "-f").stdout
    check(nameless(latency) == nameless(LATENCY), f"latency:\n{latency}")
    top = sonde("top", "-f").stdout
    check(top == TOP, f"top:\n{top}")


def nameless(text):
    """Work items have names only where the kernel's symbols are known, which these commands have no option for."""
    return "".join(f"  (w){' ' * 28}{line[line.index('|') - 1:]}" if line.startswith("  (w)") else line
                   for line in text.splitlines(keepends=True))


def chosen():
    scene().write("perf.data")

    def names(verb, *options):
        lines = sonde(verb, "-f", *options).stdout.splitlines()[3:]
        return [x.split("|")[0].strip() for x in lines if "|" in x]

    check(names("report", "-k", "irq") == ["disk:40"] == names("report", "-n", "disk"), "-k, -n")
    check([x[:3] for x in names("report", "-C", "1")] == ["(w)"], "-C")
    check(names("report", "-k", "softirq", "--time", "10.002,10.003") == ["(s)NET_RX:3"], "--time")
    check(names("report", "-s", "count")[0] == "disk:40", "-s count")
    check(names("latency", "-k", "softirq", "-s", "max") == ["(s)NET_RX:3", "(s)TIMER:1"], "latency -s")
    before = subprocess.run([SONDE, "kwork", "-k", "irq", "-i", "perf.data", "-f", "report"], capture_output=True, text=True,
                            env=support.ENV, timeout=120).stdout
    check("disk:40" in before and "NET_RX" not in before, f"-k before the verb:\n{before}")
    check("worker" not in sonde("top", "-f", "-n", "other").stdout, "top -n")
    half = sonde("top", "-f", "--time", "10.0,10.005").stdout
    check("Total  :      5.000 ms" in half, f"top --time:\n{half}")
    with open("perf.data", "rb") as f:
        piped = subprocess.run([SONDE, "kwork", "timehist", "--kallsyms", "symbols"], stdin=f, capture_output=True, text=True,
                               env=support.ENV, timeout=120)
    check(piped.stdout == LINES, f"from standard input: {piped.stdout}{piped.stderr}")


def as_json():
    def shown(*options):
        return json.loads(sonde(*options, "-f", "--json").stdout)

    scene().write("perf.data")
    got = shown("report")
    soft = got["rows"][0]
    check((soft["class"], soft["name"], soft["number"], soft["cpu"]) == ("softirq", "NET_RX", 3, 0) and
          soft["runs"] == {"count": 1, "total_ns": 4 * MS, "max_ns": 4 * MS, "max_since_ns": 10_002 * MS, "max_until_ns": 10_006 * MS} and
          soft["delays"]["total_ns"] == 1 * MS, f"report: {got}")
    check(got["window_ns"] == 8_750_000 and got["faults"]["events"] == 14, f"report: {got}")
    check(len(shown("latency")["rows"]) == 3, "latency")
    runs = shown("timehist")["runs"]
    check([(x["class"], x["since_ns"], x["until_ns"], x["inner_ns"], x.get("raise_ns")) for x in runs[:2]] == [
        ("irq", 10_003 * MS, 10_003_500_000, 0, None), ("softirq", 10_002 * MS, 10_006 * MS, 500_000, 10_001 * MS)], f"timehist: {runs}")
    check(runs[2]["work"] == "0xf00" and runs[2]["cpu"] == 1, f"a work item: {runs[2]}")
    got = shown("top")
    check(got["threads"] == [{"tid": 101, "comm": "worker", "run_ns": 5_625_000}] and
          got["cpus"] == [{"cpu": 0, "busy_ns": 10 * MS, "idle_ns": 0, "irq_ns": 750_000, "softirq_ns": 3_625_000}], f"top: {got}")


def stacks():
    t = Trace(pd.CALLCHAIN)
    t.chain = [0xffffffffffffff80, TEXT + 0x18, TEXT + 0x28]
    t.soft("entry", 1, 0, 3)
    t.soft("exit", 2, 0, 3)
    t.write("perf.data")
    shown = sonde("timehist", "-f", "-g", "--kallsyms", "symbols").stdout.splitlines()[-1]
    check(shown.endswith("  handle_softirqs <- a_work"), f"-g: {shown}")
    shown = sonde("timehist", "-f", "--kallsyms", "symbols").stdout.splitlines()[-1]
    check("handle" not in shown, f"without -g: {shown}")


def foreign():
    """A recording of a machine with the other byte order shows the same."""
    global struct

    def shown():
        scene().write("perf.data")
        return [sonde(verb[0], "-f", *verb[1:]).stdout for verb in (("report", "-S"), ("latency",), ("timehist",), ("top",))]

    ours, own = shown(), struct
    struct = pd.struct = pd.Foreign()
    theirs = shown()
    struct = pd.struct = own
    check(theirs == ours, f"the other byte order: {theirs}")


def piped():
    scene().write("perf.data")
    for verb in ("top",), ("timehist", "--kallsyms", "symbols"), ("report", "--json"):
        first = subprocess.Popen([SONDE, "inject", "-f", "-i", "perf.data", "-o", "-"], stdout=subprocess.PIPE, env=support.ENV)
        r = subprocess.run([SONDE, "kwork", *verb], stdin=first.stdout, capture_output=True, text=True, env=support.ENV, timeout=120)
        first.stdout.close()
        check(first.wait() == 0 and r.stdout == sonde(verb[0], "-f", *verb[1:]).stdout, f"{verb} through a pipe: {r.stdout}{r.stderr}")


def broken():
    """Halves are counted; what was going on at a loss is nowhere; damage costs its record, and the status."""
    t = scene()
    t.soft("exit", 11, 0, 9)
    t.soft("raise", 11.5, 0, 9)
    t.soft("entry", 12, 0, 1)
    t.time = 10_013 * MS - 1000
    t.add(2, 0, struct.pack("<QQ", 1, 7) + t.tail(0, 0))
    t.soft("exit", 14, 0, 1)
    t.write("perf.data")
    text = sonde("report", "-f").stdout
    check(nameless(text).splitlines()[:7] == nameless(REPORT).splitlines()[:7], f"beside halves:\n{text}")
    check("skipped events (3 including 0 raise, 1 entry, 2 exit)" in text, f"halves:\n{text}")
    check("(4 including 1 raise, 1 entry, 2 exit)" in sonde("latency", "-f").stdout, "a raise that led to nothing")
    t = scene()
    t.put(7, 15, 0, b"")
    t.write("perf.data")
    r = sonde("report", "-f", status=1)
    check("too short" in r.stderr and "NET_RX" in r.stdout, f"damage: {r.stderr}")


def dumped():
    scene().write("perf.data")
    for verb in "report", "latency", "timehist", "top":
        support.check_raw_dump(SONDE, "kwork", verb)
    check("only one of --json and -D" in sonde("report", "--json", "-D", status=129).stderr, "--json -D")


def usage():
    check("Unknown --sort key: `avg'" in sonde("report", "-s", "avg", status=129).stderr, "an unknown key")
    check("Unknown --event key: `none'" in sonde("report", "-k", "none", status=129).stderr, "an unknown work")
    check("Unknown --sort key: `count'" in sonde("top", "-s", "count", status=129).stderr, "an unknown key of top")
    for verb in ("report", "latency", "top"):
        check("with -b only" in sonde(verb, "true", status=129).stderr, f"{verb}: a command without -b")
        check("--time chooses" in sonde(verb, "-b", "--time", "1,2", "true", status=129).stderr, f"{verb} -b --time")
        check("no input" in sonde(verb, "-b", "-i", "x", "true", status=129).stderr, f"{verb} -b -i")
    sonde(status=129)
    sonde("nosuch", status=129)
    pd.Recording().write("perf.data")
    check("nothing about the kernel's work" in sonde("report", "-f", status=1).stderr, "another recording")
    check("No such file" in sonde("top", "-i", "nosuch", status=1).stderr, "no recording")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    symbols()
    known()
    chosen()
    as_json()
    stacks()
    foreign()
    piped()
    broken()
    dumped()
    usage()
sys.exit(support.status())
