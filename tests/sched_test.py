#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sched` over made recordings, of which all that happened is known: sched_test.py SONDE"""
import json
import os
import pty
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
# As Linux 6.18 has them; in what it prints only the letters are read.
SWITCH = "name: sched_switch\nID: 11\nformat:\n" + pd.COMMON_FIELDS + """\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;

print fmt: "prev_state=%s%s", (REC->prev_state & 0xff) ? __print_flags(REC->prev_state & 0xff, "|", { 0x00000001, "S" }, """ \
    """{ 0x00000002, "D" }, { 0x00000004, "T" }, { 0x00000010, "X" }, { 0x00000020, "Z" }) : "R", REC->prev_state & 0x100 ? "+" : ""
"""
WAKING = "name: sched_waking\nID: 12\nformat:\n" + pd.COMMON_FIELDS + """\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;

print fmt: "comm=%s", REC->comm
"""
FORK = "name: sched_process_fork\nID: 13\nformat:\n" + pd.COMMON_FIELDS + """\tfield:__data_loc char[] parent_comm;\toffset:8;\tsize:4;\tsigned:0;
\tfield:pid_t parent_pid;\toffset:12;\tsize:4;\tsigned:1;
\tfield:__data_loc char[] child_comm;\toffset:16;\tsize:4;\tsigned:0;
\tfield:pid_t child_pid;\toffset:20;\tsize:4;\tsigned:1;

print fmt: "child_pid=%d", REC->child_pid
"""
MIGRATE = "name: sched_migrate_task\nID: 14\nformat:\n" + pd.COMMON_FIELDS + """\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:int orig_cpu;\toffset:32;\tsize:4;\tsigned:1;
\tfield:int dest_cpu;\toffset:36;\tsize:4;\tsigned:1;

print fmt: "comm=%s", REC->comm
"""
TYPE = pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.RAW
MS = 1_000_000
NRCPUS = 7  # a header feature
IDLE, RUNNABLE, SLEEP, DISK, DEAD = 0, 0, 1, 2, 0x10


class Trace(pd.Recording):
    """Times are milliseconds after 10 s."""

    def __init__(self, more=0):
        super().__init__(TYPE | more, counters=[(pd.TRACEPOINT, 10 + i) for i in range(1, 5)], period=1)
        self.features[pd.TRACING_DATA] = pd.tracing_data("sched", SWITCH, WAKING, FORK, MIGRATE)
        self.chain = ()

    def put(self, event, ms, cpu, tid, data):
        self.time = 10_000 * MS + round(ms * MS) - 1000  # sample() adds that
        data = struct.pack("<HBBi", 10 + event, 0, 0, tid) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(tid, 0, self.chain, event=event, cpu=cpu, more=struct.pack("<I", len(data)) + data)

    def switch(self, ms, cpu, prev, state, following):
        """Threads are (name, tid)."""
        self.put(1, ms, cpu, prev[1], struct.pack("<16siiq16sii", prev[0].encode(), prev[1], 120, state, following[0].encode(),
                                                   following[1], 120))

    def waking(self, ms, cpu, waker, woken, target):
        self.put(2, ms, cpu, waker[1], struct.pack("<16siii", woken[0].encode(), woken[1], 120, target))

    def migrate(self, ms, cpu, moved, source, target):
        self.put(4, ms, cpu, 0, struct.pack("<16siiii", moved[0].encode(), moved[1], 120, source, target))

    def fork(self, ms, cpu, parent, child):  # not that of pd
        names = parent[0].encode() + b"\0", child[0].encode() + b"\0"
        at = 24, 24 + len(names[0])
        self.put(3, ms, cpu, parent[1], struct.pack("<IiIi", at[0] | len(names[0]) << 16, parent[1], at[1] | len(names[1]) << 16,
                                                    child[1]) + names[0] + names[1])


def sonde(*options, status=0):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def latency(trace, *options):
    trace.write("perf.data")
    return sonde("sched", "-f", "latency", "-i", "perf.data", *options).stdout


def rows(text):
    """[[task, runtime, count, average, longest, its start, its end]]"""
    found = []
    for line in text.splitlines():
        cells = [x.strip() for x in line.split("|")]
        if len(cells) == 7 and "ms" in cells[1] and cells[0] != "Task":
            found.append([x.split(":")[-1].split()[0] if i else x for i, x in enumerate(cells[:6])] + [cells[6].split()[-2]]
                         if cells[6] else cells)
    return found


IDLE_0, A, B, C = ("swapper/0", 0), ("worker", 101), ("worker", 102), ("rival", 103)


def scene():
    """A forks B, sleeps, and waits beside C for the CPU; B dies."""
    t = Trace()
    t.switch(0, 0, IDLE_0, RUNNABLE, A)
    t.fork(1, 0, A, B)
    t.waking(2, 0, A, B, 0)
    t.switch(4, 0, A, SLEEP, B)
    t.waking(5, 0, B, C, 0)
    t.switch(10, 0, B, DEAD, C)
    t.waking(12, 0, C, A, 0)
    t.switch(20, 0, C, RUNNABLE, A)
    t.switch(21.5, 0, A, DISK, C)
    t.switch(30, 0, C, SLEEP, IDLE_0)
    return t


WHOLE = """
 -------------------------------------------------------------------------------------------------------------------------------------------
  Task                  |   Runtime ms  |  Count   | Avg delay ms    | Max delay ms    | Max delay start           | Max delay end          |
 -------------------------------------------------------------------------------------------------------------------------------------------
  worker:(2)            |     11.500 ms |        2 | avg:   5.000 ms | max:   8.000 ms | max start:    10.012000 s | max end:    10.020000 s
  rival:103             |     18.500 ms |        2 | avg:   3.250 ms | max:   5.000 ms | max start:    10.005000 s | max end:    10.010000 s
 -----------------------------------------------------------------------------------------------------------------
  TOTAL:                |     30.000 ms |        4 |
 ---------------------------------------------------

"""


def known():
    check(latency(scene()) == WHOLE, "the whole text:\n" + latency(scene()))
    by_thread = latency(scene(), "-p", "-s", "runtime")
    tasks = [x.split("|")[0].strip() for x in by_thread.splitlines() if " avg:" in x]
    check(tasks == ["rival:103", "worker:102", "worker:101"], f"by thread: {tasks}")
    check("|      5.500 ms |        1 | avg:   8.000" in by_thread, f"A alone:\n{by_thread}")
    check("|      6.000 ms |        1 | avg:   2.000" in by_thread, f"B alone:\n{by_thread}")
    for key, first in ("switch", "rival"), ("max", "worker"), ("runtime,max", "rival"):
        text = latency(scene(), "--sort", key).splitlines()
        check(text[4].split(":")[0].strip() == first, f"-s {key}: {text[4]}")
    check("TOTAL:                |      0.000 ms |        0 |" in latency(scene(), "-C", "3"), "-C of another CPU")
    check(latency(scene(), "-C", "0,2-4") == WHOLE, "-C of this CPU")


LINES = """           time    cpu  task name                       wait time  sch delay   run time
                        [tid/pid]                          (msec)     (msec)     (msec)
--------------- ------  ------------------------------  ---------  ---------  ---------
      10.000000 [0000]  <idle>                              0.000      0.000      0.000 
      10.004000 [0000]  worker[101]                         0.000      0.000      4.000 
      10.010000 [0000]  worker[102]                         0.000      2.000      6.000 
      10.020000 [0000]  rival[103]                          0.000      5.000     10.000 
      10.021500 [0000]  worker[101]                        16.000      8.000      1.500 
      10.030000 [0000]  rival[103]                          1.500      1.500      8.500 
"""
SUMS = """
Runtime summary
                          comm  parent   sched-in     run-time    min-run     avg-run     max-run  stddev  migrations
                                          (count)       (msec)     (msec)      (msec)      (msec)       %
---------------------------------------------------------------------------------------------------------------------
                   worker[101]      -1          2        5.500      1.500       2.750       4.000   45.45       0
                   worker[102]     101          1        6.000      6.000       6.000       6.000    0.00       0
                    rival[103]      -1          2       18.500      8.500       9.250      10.000    8.11       0

Idle stats:
    CPU  0 idle for      0.000  msec  (  0.00%)

    Total number of unique tasks: 3
Total number of context switches: 6
           Total run time (msec): 30.000 
    Total scheduling time (msec): 30.000  (x 1)
"""


def timehist():
    def show(*options):
        return sonde("sched", "timehist", "-f", "-i", "perf.data", *options).stdout

    scene().write("perf.data")
    check(show() == LINES, f"every switch:\n{show()}")
    check(show("-s") == SUMS, f"sums:\n{show('-s')}")
    check(show("-S") == LINES + SUMS, f"both:\n{show('-S')}")
    head, body = LINES.splitlines()[:3], LINES.splitlines()[3:]
    check(show("-t", "101").splitlines() == head + [body[1], body[4]], f"-t:\n{show('-t', '101')}")
    check(show("-p", "102,103").splitlines() == head + [body[2], body[3], body[5]], f"-p:\n{show('-p', '102,103')}")
    check(show("-C", "1").splitlines() == head, f"-C:\n{show('-C', '1')}")
    check(show("--time", "10.004,10.010").splitlines() == head + body[1:3], f"--time:\n{show('--time', '10.004,10.010')}")
    more = show("-n", "--state").splitlines()
    check(more[0].endswith("run time  state") and [x[90:].split() for x in more[3:]] ==
          [["R", "next:", "worker[101]"], ["S", "next:", "worker[102]"], ["X", "next:", "rival[103]"],
           ["R", "next:", "worker[101]"], ["D", "next:", "rival[103]"], ["S", "next:", "<idle>"]], f"-n --state: {more}")
    woken = [x.split() for x in show("-w").splitlines() if "awakened" in x]
    check([(x[0], x[2], x[4]) for x in woken] == [("10.002000", "worker[101]", "worker[102]"), ("10.005000", "worker[102]", "rival[103]"),
                                                 ("10.012000", "rival[103]", "worker[101]")], f"-w: {woken}")
    check("use -S" in sonde("sched", "timehist", "-s", "-w", status=129).stderr, "-s -w")
    check("seconds" in sonde("sched", "timehist", "--time", "10%", "-i", "perf.data", status=129).stderr, "--time in percent")
    check("how many CPUs" in sonde("sched", "timehist", "-f", "-V", status=1).stderr, "-V, of how many CPUs?")


# As perf 7.2 shows the same file, but for its picture of one CPU more, threads that it does not name, and the count of switches.
IDLE_LINES = """           time    cpu  01  task name                       prio      wait time  sch delay   run time  pre-mig time
                            [tid/pid]                                    (msec)     (msec)     (msec)     (msec)
--------------- ------  --  ------------------------------  --------  ---------  ---------  ---------  ---------
      10.008000 [0001]   i  <idle>                          120           4.500      4.500      3.000      0.000 
      10.009500 [0000]  i   <idle>                          120           6.000      6.000      3.500      0.000 
      10.017000 [0001]   i  <idle>                          120           7.000      7.000      2.000      0.000 

Idle-time summary
                          comm  parent  sched-out    idle-time   min-idle    avg-idle    max-idle  stddev  migrations
                                          (count)       (msec)     (msec)      (msec)      (msec)       %
---------------------------------------------------------------------------------------------------------------------
                   worker[101]      -1          1        2.000      2.000       2.000       2.000    0.00       0
                    rival[103]      -1          1        3.000      3.000       3.000       3.000    0.00       0
                   worker[102]     101          1        3.500      3.500       3.500       3.500    0.00       0

Idle stats:
    CPU  0 idle for      3.500  msec  ( 19.44%)
    CPU  1 idle for      5.000  msec  ( 27.78%)

    Total number of unique tasks: 3
Total number of context switches: 3
           Total run time (msec):  8.500 
    Total scheduling time (msec): 18.000  (x 2)
"""


def two_cpus(more=0, chain=()):
    """Two CPUs that are idle now and then."""
    t = Trace(more)
    if chain:
        t.kernel(0xffffffff81000000, 0x1000)
        t.chain = chain
    t.features[NRCPUS] = struct.pack("<II", 2, 2)
    idle_1 = "swapper/1", 0
    for args in ((0, 0, IDLE_0, RUNNABLE, A), (0.5, 1, idle_1, RUNNABLE, C), A, (4, 0, A, SLEEP, B), (5, 1, C, SLEEP, idle_1),
                 (6, 0, B, DISK, IDLE_0), (8, 1, idle_1, RUNNABLE, A), (9.5, 0, IDLE_0, RUNNABLE, B), (12, 1, A, RUNNABLE, C),
                 (13, 0, B, SLEEP, IDLE_0), (14, 1, C, SLEEP, A), (15, 1, A, DEAD, idle_1), (17, 1, idle_1, RUNNABLE, C),
                 (18, 1, C, SLEEP, idle_1)):
        if args == A:
            t.fork(1, 0, A, B)
        else:
            t.switch(*args)
    return t


def idle():
    two_cpus().write("perf.data")
    shown = sonde("sched", "timehist", "-f", "-I", "-S", "-V", "-P", "--show-prio").stdout
    check(shown == IDLE_LINES, f"idle times:\n{shown}")
    all_of_them = sonde("sched", "timehist", "-f", "--prio", "100-119,121").stdout.splitlines()
    check(len(all_of_them) == 3, f"--prio of none: {all_of_them}")
    check(len(sonde("sched", "timehist", "-f", "--prio", "120").stdout.splitlines()) == 16, "--prio of all")


def moved():
    """A wait for a CPU, of which 2 ms on one that the thread was moved away from before it ran."""
    t = Trace()
    t.switch(0, 0, IDLE_0, RUNNABLE, A)
    t.switch(0, 1, ("swapper/1", 0), RUNNABLE, B)
    t.switch(1, 1, B, SLEEP, ("swapper/1", 0))
    t.waking(3, 0, A, B, 0)
    t.migrate(5, 0, B, 0, 1)
    t.switch(6, 1, ("swapper/1", 0), RUNNABLE, B)
    t.switch(9, 1, B, SLEEP, ("swapper/1", 0))
    t.write("perf.data")
    shown = sonde("sched", "timehist", "-f", "-P", "-M").stdout.splitlines()
    check(shown[-1].split()[2:] == ["worker[102]", "5.000", "3.000", "3.000", "2.000"], f"-P: {shown}")
    check(any(x.split()[2:] == ["worker[101]", "migrated:", "worker[102]", "cpu", "0", "=>", "1"] for x in shown), f"-M: {shown}")


# As perf 7.2 shows it, but for the names.
IDLE_STACKS = """
Idle stats by callchain:
  CPU  0:     3.500  msec
  Idle time (msec)     Count  Callchains
  ----------------  --------  --------------------------------------------------
             3.500         1  do_nanosleep

  CPU  1:     5.000  msec
  Idle time (msec)     Count  Callchains
  ----------------  --------  --------------------------------------------------
             5.000         2  do_nanosleep


    Total number"""


def stacks():
    """Callchains of switches, without the scheduler's own functions where they have names."""
    t = Trace(pd.CALLCHAIN)
    t.kernel(0xffffffff81000000, 0x1000)
    t.chain = [0xffffffffffffff80, 0xffffffff81000018, 0xffffffff81000028, 0xffffffff81000038]
    t.switch(0, 0, IDLE_0, RUNNABLE, A)
    t.switch(2, 0, A, SLEEP, IDLE_0)
    with open("symbols", "w") as f:
        f.write("".join(f"ffffffff810000{x}0 T {name}\n" for x, name in enumerate(("_text", "__schedule", "schedule", "do_nanosleep", "end"))))

    def chain(*options):
        shown = sonde("sched", "timehist", "-f", "--kallsyms", "symbols", *options).stdout.splitlines()
        return shown[-1].split("2.000 ", 1)[1]

    t.write("perf.data")
    check(chain() == "   do_nanosleep", f"a callchain: {chain()!r}")
    check(chain("--max-stack", "0") == "" and chain("--no-call-graph") == "", "none wanted")
    two_cpus(pd.CALLCHAIN, t.chain).write("perf.data")
    text = sonde("sched", "timehist", "-f", "-I", "-s", "--kallsyms", "symbols").stdout
    check(IDLE_STACKS in text, f"idle times by stack:\n{text}")
    check("callchain" not in sonde("sched", "timehist", "-f", "-I", "-s", "--no-call-graph").stdout, "-I without stacks")
    t.write("perf.data")
    piped = subprocess.run([SONDE, "sched", "timehist", "--kallsyms", "symbols"], stdin=open("perf.data", "rb"), capture_output=True,
                           text=True, env=support.ENV, timeout=120)
    check(piped.stdout.splitlines()[-1].split("2.000 ", 1)[1] == "   do_nanosleep", f"from standard input: {piped.stdout} {piped.stderr}")


MAP = """  *A0      10.000000 secs A0 => worker:101
  *B0      10.004000 secs B0 => worker:102
  *C0      10.010000 secs C0 => rival:103
  *A0      10.020000 secs 
  *C0      10.021500 secs 
  *.       10.030000 secs .  => swapper:0
"""


RIVAL = """   -  *A0      10.000500 secs A0 => rival:103
   -  *.       10.005000 secs 
   -  *A0      10.012000 secs 
   .  *-       10.014000 secs 
   .  *A0      10.017000 secs 
   .  *.       10.018000 secs 
"""


def the_map():
    def show(*options):
        return sonde("sched", "map", "-f", "-i", "perf.data", *options).stdout

    scene().write("perf.data")
    check(show() == MAP, f"map:\n{show()}")
    check(show("--cpus", "1") == "", "map of another CPU")
    t = Trace()
    t.switch(0, 3, IDLE_0, RUNNABLE, A)
    t.switch(1, 1, IDLE_0, RUNNABLE, C)
    t.switch(2, 1, ("renamed", 103), SLEEP, IDLE_0)
    t.switch(3, 1, IDLE_0, RUNNABLE, ("renamed", 103))
    t.switch(4, 5000, IDLE_0, RUNNABLE, B)
    t.write("perf.data")
    r = sonde("sched", "map", "-f", "-i", "perf.data")
    check(r.stdout.splitlines() == ["              *A0      10.000000 secs A0 => worker:101", "      *B0      A0      10.001000 secs B0 => rival:103",
                                    "      *.       A0      10.002000 secs .  => swapper:0",
                                    "      *B0      A0      10.003000 secs B0 => renamed:103"], f"two of four CPUs:\n{r.stdout}")
    check("1 switches on CPUs from 4096 on" in r.stderr, f"a large CPU: {r.stderr}")
    compact = show("--compact").splitlines()
    check(compact[0].endswith("*A0      10.000000 secs A0 => worker:101 (CPU 3)") and
          compact[1].startswith("   A0 *B0 ") and compact[1].endswith(" (CPU 1)"), f"--compact: {compact}")
    check(len(show("--cpus", "3").splitlines()) == 1, "--cpus")
    two_cpus().write("perf.data")
    check(show("--task-name", "rival") == RIVAL, f"--task-name:\n{show('--task-name', 'rival')}")
    check(show("--task-name", "iva", "--fuzzy-name") == RIVAL and show("--task-name", "iva") == "", "--fuzzy-name")
    check("\033" not in show("--color-cpus", "1", "--color-pids", "103"), "colours are for terminals")
    coloured = in_terminal("sched", "map", "-f", "--color-cpus", "1", "--color-pids", "103")
    check("   A0 \033[41m*\033[m\033[34mB0 \033[m     10.000500 secs \033[34mB0 => rival:103\033[m\n" in coloured, f"colours: {coloured!r}")


def in_terminal(*options):
    """What it shows in a terminal, without a pager."""
    leader, follower = pty.openpty()
    p = subprocess.Popen([SONDE, "--no-pager", *options], stdin=subprocess.DEVNULL, stdout=follower, stderr=subprocess.DEVNULL,
                         env={**support.ENV, "TERM": "xterm"})
    os.close(follower)
    shown = b""
    try:
        while part := os.read(leader, 65536):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(leader)
    check(p.wait(timeout=120) == 0, f"{options} in a terminal")
    return shown.decode().replace("\r\n", "\n")


def ties():
    """At one time the lower CPU comes first, wherever the recorder wrote it."""
    def made(cpus):
        t = Trace()
        t.switch(0, 1, IDLE_0, RUNNABLE, A)
        for cpu in cpus:  # A wakes C on CPU 1, which begins on CPU 0 at that instant: after 0, by the CPU
            if cpu:
                t.waking(1, 1, A, C, 0)
            else:
                t.switch(1, 0, IDLE_0, RUNNABLE, B)
        t.switch(2, 0, B, SLEEP, C)
        t.switch(3, 0, C, SLEEP, IDLE_0)
        t.write("perf.data")
        return sonde("sched", "timehist", "-w", "-f", "-i", "perf.data").stdout
    first, second = made((0, 1)), made((1, 0))
    check(first == second, f"ties:\n{first}{second}")
    lines = [x.split()[1] for x in first.splitlines()[3:] if x.split()[0] == "10.001000"]
    check(lines == ["[0000]", "[0001]"], f"ties, in the order of CPUs:\n{first}")


def as_json():
    """The same as in text, exactly."""
    def shown(*options):
        return json.loads(sonde("sched", *options, "-f", "--json").stdout)

    scene().write("perf.data")
    got = shown("latency", "-p")
    check({x["tid"]: (x["comm"], x["threads"], x["run_ns"], x["waits"], x["wait_ns"], x["max_since_ns"]) for x in got["rows"]} == {
        101: ("worker", 1, 5_500_000, 1, 8_000_000, 10_012_000_000), 102: ("worker", 1, 6_000_000, 1, 2_000_000, 10_002_000_000),
        103: ("rival", 1, 18_500_000, 2, 6_500_000, 10_005_000_000)}, f"latency: {got}")
    check(got["faults"] == {"switches": 6, "half_pairs": 0, "told": 0, "unwoken": 0, "backwards": 0, "reused": 0, "losses": 0}, f"faults: {got['faults']}")
    check([(x["threads"], "tid" in x) for x in shown("latency")["rows"]] == [(2, False), (1, True)], "merged rows")
    got = shown("timehist", "-w", "-M")
    check([x["event"] for x in got["events"]] == ["switch", "wake", "switch", "wake", "switch", "wake", "switch", "switch", "switch"],
          f"timehist: {got}")
    check(got["events"][7] == {"event": "switch", "time_ns": 10_021_500_000, "cpu": 0, "thread": {"tid": 101, "pid": 101, "comm": "worker"},
                               "next": {"tid": 103, "pid": 103, "comm": "rival"}, "wait_ns": 16_000_000, "delay_ns": 8_000_000,
                               "run_ns": 1_500_000, "pre_migration_ns": 0, "state": "D", "prio": 120}, f"a switch: {got['events'][7]}")
    check([(x["thread"]["tid"], x["total_ns"], x["count"]) for x in got["threads"]] == [(101, 5_500_000, 2), (102, 6_000_000, 1), (103, 18_500_000, 2)],
          f"sums: {got['threads']}")
    check(got["window_ns"] == 30_000_000 and got["cpus"] == [{"cpu": 0, "idle_ns": 0}], f"the whole: {got}")
    two_cpus().write("perf.data")
    got = shown("timehist", "-s", "-I")
    check(not got["events"] and {x["thread"]["tid"]: x["total_ns"] for x in got["idle_after"]} == {101: 2 * MS, 102: 3.5 * MS, 103: 3 * MS},
          f"idle times: {got}")


def replay():
    """Threads that run, wake and wait as the recorded ones did."""
    scene().write("perf.data")
    text = sonde("sched", "replay", "-f", "-r", "2").stdout.splitlines()
    tasks = [(x.split("(")[1].split(":")[0].strip(), x.split(":")[1].split(")")[0].strip(), int(x.split()[-1])) for x in text if x.startswith("task")]
    check(tasks == [("worker", "101", 5), ("worker", "102", 4), ("rival", "103", 5)], f"replay: {tasks}")
    check([x.split()[-1] for x in text if x.startswith("nr_")] == ["8", "3", "3"], f"replay's steps: {text}")
    rounds = [x.split() for x in text if x.startswith("#")]
    check([x[0] for x in rounds] == ["#1", "#2"] and all(float(x[6]) >= 30 and float(x[2][:-1]) >= 21.5 for x in rounds),
          f"each round uses the CPU as long as they did: {rounds}")
    t = scene()
    t.switch(90_000_000, 0, IDLE_0, RUNNABLE, A)  # 25 hours later
    t.write("perf.data")
    check("25 hours" in sonde("sched", "replay", "-f", status=1).stderr, "a replay of days")
    check("a number" in sonde("sched", "replay", "-r", "-1", status=129).stderr, "replay -r -1")


def schedstat_records(stamp, cpu, cpu_values, domain_values, version=15):
    """What perf 7.2 writes for a line of a CPU and one of its domain."""
    head = struct.pack("<QIHH", stamp, cpu, version, 0)
    a = head + struct.pack("<6I3Q", *cpu_values)
    b = head + struct.pack(f"<{len(domain_values)}I", *domain_values)
    return [(85, a), (86, b.ljust(200, b"\0"))]


def stats():
    """The scheduler's counters between two snapshots."""
    def make(path, factor, version=15):
        t = pd.Recording()
        fields = 36 if version < 17 else 45
        for stamp, n in ((100, 1), (100 + 50 * factor, 1 + factor)):
            for cpu in (0, 1):
                for kind, body in schedstat_records(stamp, cpu, [0, 0, 40 * n, 10 * n, 20 * n, 5 * n + cpu * n, 4000 * n, 1000 * n, 7 * n],
                                                    [(i + 1) * n for i in range(fields)], version):
                    t.add(kind, 0, body)
        t.write(path)

    def line(text, name):
        return next(x for x in text.splitlines() if x.startswith(name + " ")).split(":", 1)[1].split()

    make("perf.data", 1)
    text = sonde("sched", "stats", "report", "-f").stdout
    check(line(text, "Time elapsed (in jiffies)") == ["50"], f"stats: {text[:900]}")
    check(line(text, "sched_goidle") == ["10", "(", "25.00%", ")"] and line(text, "run_delay") == ["1000", "(", "25.00%", ")"] and
          line(text, "ttwu_local") == ["5", "(", "25.00%", ")"], f"averages of CPUs:\n{text[:2000]}")
    check(line(text, "idle_lb_count") == ["1", "$", "50.00", "$"] and line(text, "busy_lb_nobusyg") == ["16", "$", "3.12", "$"] and
          line(text, "ttwu_move_balance") == ["36"] and line(text, "*idle_lb_avg_pulled") == ["0.00"], f"of domains:\n{text[:5000]}")
    check([x for x in text.splitlines() if x.startswith("CPU: ")] == [
        "CPU: <ALL CPUS SUMMARY>", "CPU: <ALL CPUS SUMMARY> | DOMAIN: 0", "CPU: 0", "CPU: 0 | DOMAIN: 0", "CPU: 1", "CPU: 1 | DOMAIN: 0"],
          "the parts")
    check(line(text[text.index("CPU: 1\n"):], "ttwu_local") == ["6", "(", "30.00%", ")"], "CPU 1")
    only = sonde("sched", "stats", "report", "-f", "-C", "1").stdout
    check("CPU: 0" not in only and line(only, "ttwu_local")[0] == "6", "-C")
    check("schedule() left the processor idle" in sonde("sched", "stats", "report", "-f", "-v").stdout, "-v")
    make("perf.data.old", 2)
    text = sonde("sched", "stats", "diff", "-f").stdout
    check(line(text, "sched_count") == ["80,", "40", "|", "-50.00%", "|"] and "CPU: 0" not in text, f"diff:\n{text[:2000]}")
    check(line(text, "run_delay") == ["2000,", "1000", "|", "-50.00%", "|", "(", "25.00%,", "25.00%", ")"], "diff of shares")
    make("new.data", 1, 17)
    text = sonde("sched", "stats", "report", "-f", "-i", "new.data").stdout
    check(line(text, "busy_lb_imbalance_misfit") == ["7"] and text.index("<Category busy>") < text.index("<Category idle>"), "version 17")
    check("different versions" in sonde("sched", "stats", "diff", "-f", "perf.data", "new.data", status=1).stderr, "two versions")
    scene().write("perf.data")
    check("were not recorded" in sonde("sched", "stats", "report", "-f", status=1).stderr, "another recording")
    if not os.path.exists("/proc/schedstat"):
        check("CONFIG_SCHEDSTATS" in sonde("sched", "stats", "record", "true", status=1).stderr, "a kernel without")
    sonde("sched", "stats", "diff", "one", status=129)


def foreign():
    """A recording of a machine with the other byte order shows the same."""
    global struct

    def shown():
        two_cpus().write("perf.data")
        return [sonde("sched", verb[0], "-f", *verb[1:]).stdout for verb in (("timehist", "-w", "-S"), ("latency", "-p"), ("map",))]

    ours, own = shown(), struct
    struct = pd.struct = pd.Foreign()
    theirs = shown()
    struct = pd.struct = own
    check(theirs == ours, f"the other byte order: {theirs}")


def piped():
    """A recording in a pipe's format is read once, as it comes: the same."""
    two_cpus().write("perf.data")
    for verb in ("timehist", "-w", "-S"), ("latency", "-p"), ("map",), ("timehist", "--json"):
        first = subprocess.Popen([SONDE, "inject", "-f", "-i", "perf.data", "-o", "-"], stdout=subprocess.PIPE, env=support.ENV)
        r = subprocess.run([SONDE, "sched", *verb], stdin=first.stdout, capture_output=True, text=True, env=support.ENV, timeout=120)
        first.stdout.close()
        check(first.wait() == 0 and r.returncode == 0 and r.stdout == sonde("sched", verb[0], "-f", *verb[1:]).stdout,
              f"{verb} through a pipe: {r.stdout}{r.stderr}")


def simpleperf():
    """A file whose formats are a record among the others: the same."""
    t = two_cpus()
    t.write("perf.data")
    verbs = ("timehist", "-s"), ("latency", "-p"), ("map",)
    usual = [sonde("sched", verb[0], "-f", *verb[1:]).stdout for verb in verbs]
    formats = t.features.pop(pd.TRACING_DATA)
    t.add(32777, 0, struct.pack("<I", len(formats)) + formats + bytes(-(len(formats) + 4) % 8))
    t.write("perf.data")
    shown = [sonde("sched", verb[0], "-f", *verb[1:]).stdout for verb in verbs]
    check(shown == usual, f"formats as a record: {shown}")


def lost():
    """What follows a loss is not known until a thread is seen again."""
    t = Trace()
    t.switch(0, 0, IDLE_0, RUNNABLE, A)
    t.waking(4, 0, A, C, 0)
    t.time = 10_010 * MS - 1000
    t.add(2, 0, struct.pack("<QQ", 1, 7) + t.tail(0, 0))
    t.switch(20, 0, C, SLEEP, A)
    t.switch(21, 0, A, SLEEP, IDLE_0)
    text = latency(t, "-p")
    check("  worker:101            |      5.000 ms |        0 |" in text, f"A around a loss:\n{text}")
    check("  rival:103             |     10.000 ms |        0 |" in text, f"C around a loss:\n{text}")
    check("the end of 1 wait is not known" in text, f"a wait that was lost:\n{text}")
    lines = [x.split()[2:] for x in sonde("sched", "timehist", "-f", "-i", "perf.data").stdout.splitlines()[3:]]
    check(lines == [["<idle>", "0.000", "0.000", "0.000"], ["rival[103]", "0.000", "0.000", "10.000"],
                    ["worker[101]", "0.000", "0.000", "1.000"]], f"switches around a loss: {lines}")


def half():
    """A switch is missing: nothing is made up for it."""
    t = Trace()
    t.switch(0, 0, IDLE_0, RUNNABLE, A)
    t.switch(10, 0, B, SLEEP, C)
    t.switch(12, 0, C, SLEEP, IDLE_0)
    text = latency(t, "-p")
    check("worker" not in text and "  rival:103             |      2.000 ms |        0 |" in text, f"a half pair:\n{text}")
    check("Of 3 context switches 1 do" in sonde("sched", "timehist", "-f", "-i", "perf.data").stdout, "timehist of a half pair")
    check("INFO: 33.333% context switch bugs (1 out of 3)" in text, f"a half pair is counted:\n{text}")


def damaged():
    """A sample that is too short costs that sample, and the status."""
    t = scene()
    t.put(1, 31, 0, 0, b"")
    t.write("perf.data")
    r = sonde("sched", "latency", "-f", "-i", "perf.data", status=1)
    check("worker:(2)            |     11.500 ms" in r.stdout, f"beside damage:\n{r.stdout}")
    check("too short" in r.stderr, f"damage is told: {r.stderr}")


def switch_records():
    """Without tracepoints: what left a CPU and was not preempted slept, nobody knows until when."""
    t = pd.Recording(pd.TID | pd.TIME | pd.CPU, flags=pd.CONTEXT_SWITCH)
    t.comm(7, "prog")
    for out in (False, True, False, True):
        t.time += 2 * MS
        t.switch(7, 7, out)
    t.write("perf.data")
    text = sonde("sched", "latency", "-f", "-i", "perf.data").stdout
    check("|      4.002 ms |        0 |" in text, f"SWITCH records:\n{text}")


def dumped():
    scene().write("perf.data")
    for verb in "latency", "map", "timehist":
        support.check_raw_dump(SONDE, "sched", verb)
    script = subprocess.run([SONDE, "script", "-f", "-D", "-i", "perf.data"], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(sonde("sched", "-D", "-f", "script").stdout == script.stdout, "sched -D script")
    pipe = subprocess.run([SONDE, "inject", "-f", "-i", "perf.data", "-o", "-"], capture_output=True, env=support.ENV, timeout=120)
    support.check_raw_dump(SONDE, "sched", "latency", stdin=pipe.stdout)
    for verb in "latency", "timehist":
        check("only one of --json and -D" in sonde("sched", verb, "--json", "-D", status=129).stderr, f"{verb} --json -D")


def usage():
    check("Unknown --sort key: `none'" in sonde("sched", "latency", "-s", "none", status=129).stderr, "an unknown key")
    sonde("sched", status=129)
    sonde("sched", "nosuch", status=129)
    pd.Recording().write("perf.data")
    check("nothing about scheduling" in sonde("sched", "latency", "-f", "-i", "perf.data", status=1).stderr, "another recording")
    check("No such file" in sonde("sched", "latency", "-i", "nosuch", status=1).stderr, "no recording")


if len(sys.argv) > 2:  # a recording for tests/corpus
    scene().write(sys.argv[2])
    sys.exit(0)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    known()
    timehist()
    the_map()
    idle()
    moved()
    stacks()
    ties()
    as_json()
    replay()
    stats()
    foreign()
    piped()
    simpleperf()
    lost()
    half()
    damaged()
    switch_records()
    dumped()
    usage()
sys.exit(support.status())
