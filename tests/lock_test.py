#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`lock` over made recordings, of which all waits are known: lock_test.py SONDE"""
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
# As Linux 6.18 has them, but for what it prints.
BEGIN = "name: contention_begin\nID: 21\nformat:\n" + pd.COMMON_FIELDS + """\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;

print fmt: "%p", REC->lock_addr
"""
END = "name: contention_end\nID: 22\nformat:\n" + pd.COMMON_FIELDS + """\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;
\tfield:int ret;\toffset:16;\tsize:4;\tsigned:1;

print fmt: "%p", REC->lock_addr
"""
# As kernels with lockdep have them.
DEP = """\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;
\tfield:void * lockdep_addr;\toffset:16;\tsize:8;\tsigned:0;

print fmt: "%p", REC->lockdep_addr
"""
ACQUIRE = "name: lock_acquire\nID: 31\nformat:\n" + pd.COMMON_FIELDS + "\tfield:unsigned int flags;\toffset:8;\tsize:4;\tsigned:0;\n" + DEP
ACQUIRED = "name: lock_acquired\nID: 32\nformat:\n" + pd.COMMON_FIELDS + DEP
CONTENDED = "name: lock_contended\nID: 33\nformat:\n" + pd.COMMON_FIELDS + DEP
TYPE = pd.IP | pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.CALLCHAIN | pd.RAW
US, MS, S = 1_000, 1_000_000, 1_000_000_000
SPIN, READ, WRITE, MUTEX = 1, 2, 4, 32
TEXT = 0xffffffff81000000  # of no kernel that is known: callers are addresses
LOCK, OTHER = 0xffff888000001000, 0xffff888000002000


class Trace(pd.Recording):
    """Times are nanoseconds after 10 s."""

    def __init__(self, lockdep=False, groups=False):
        self.groups = groups
        self.group = 0  # of the next events
        super().__init__(TYPE | (pd.CGROUP if groups else 0), counters=[(pd.TRACEPOINT, x) for x in ((21, 22, 31, 32, 33) if lockdep else (21, 22))], period=1)
        self.features[pd.TRACING_DATA] = pd.tracing_data("lock", BEGIN, END, ACQUIRE, ACQUIRED, CONTENDED)
        self.comm(101, "worker")
        self.fork(101, 101, 102, 101)

    def name_group(self, number, path):
        self.add(19, 0, struct.pack("<Q", number) + pd.text(path) + self.tail(0, 0))  # PERF_RECORD_CGROUP

    def put(self, event, ns, tid, data, chain=(), cpu=0):
        self.time = 10 * S + ns - 1000  # sample() adds that
        data = struct.pack("<HBBi", 0, 0, 0, tid) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(101, 0, tid=tid, event=event, cpu=cpu, misc=pd.KERNEL, chain=chain, 
                    more=struct.pack("<I", len(data)) + data + (struct.pack("<Q", self.group) if self.groups else b""))

    def begin(self, ns, tid, lock, flags, *chain, cpu=0):
        frames = [pd.CONTEXT_KERNEL, *[TEXT + x for x in chain]] if chain else []
        self.put(1, ns, tid, struct.pack("<QI", lock, flags), frames, cpu)

    def end(self, ns, tid, lock, cpu=0):
        self.put(2, ns, tid, struct.pack("<Qi", lock, 0), (), cpu)

    def lockdep(self, event, ns, tid, lock, name, flags=0):
        text = name.encode() + b"\0"
        self.put(event, ns, tid, struct.pack("<IIQ", flags, 24 | len(text) << 16, lock) + text)


def sonde(*options, status=0):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def contention(*options):
    return sonde("lock", "contention", "-f", "-i", "perf.data", *options).stdout


def scene():
    t = Trace()
    t.begin(0, 101, LOCK, WRITE, 0x10, 0x20)
    t.begin(1 * US, 102, LOCK, READ, 0x10, 0x30)
    t.end(3_295, 101, LOCK)
    t.end(2 * MS, 102, LOCK)
    t.begin(3 * MS, 101, OTHER, MUTEX | SPIN, 0x40)
    t.begin(4 * MS, 101, OTHER, MUTEX, 0x40)
    t.end(5 * MS, 101, OTHER)
    t.begin(6 * MS, 102, LOCK, WRITE, 0x10, 0x20)
    t.end(6 * MS + 500, 102, LOCK)
    return t


BY_SITE = """ contended   total wait     max wait     avg wait         type   caller

         1      2.00 ms      2.00 ms      2.00 ms        mutex   0xffffffff81000040
         1      2.00 ms      2.00 ms      2.00 ms      rwsem:R   0xffffffff81000010
         2      3.80 us      3.30 us      1.90 us      rwsem:W   0xffffffff81000010
"""
BY_LOCK = """ contended   total wait     max wait     avg wait            address   symbol

         3      2.00 ms      2.00 ms    667.60 us   ffff888000001000    (rwsem)
         1      2.00 ms      2.00 ms      2.00 ms   ffff888000002000    (mutex)
"""
BY_THREAD = """ contended   total wait     max wait     avg wait          pid   comm

         2      2.00 ms      2.00 ms      1.00 ms          101   worker
         2      2.00 ms      2.00 ms    999.75 us          102   worker
"""
CSV = """# output: contended, total wait, max wait, avg wait, type, caller
1, 2000000, 2000000, 2000000, mutex, 0xffffffff81000040
1, 1999000, 1999000, 1999000, rwsem:R, 0xffffffff81000010
2, 3795, 3295, 1897, rwsem:W, 0xffffffff81000010
"""
STACK = """\t\t\t0xffffffff81000010  0xffffffff81000010
\t\t\t0xffffffff81000020  0xffffffff81000020
"""


def known():
    scene().write("perf.data")
    check(contention() == BY_SITE, f"by caller:\n{contention()}")
    check(contention("-l") == BY_LOCK, f"by lock:\n{contention('-l')}")
    check(contention("-t") == BY_THREAD, f"by thread:\n{contention('-t')}")
    check(contention("-x", ",") == CSV, f"CSV:\n{contention('-x', ',')}")
    check(contention("-q") == "".join(BY_SITE.splitlines(True)[2:]), "-q")
    check(contention("-E", "1") == "".join(BY_SITE.splitlines(True)[:3]), "-E")
    check(contention("-v").endswith(BY_SITE.splitlines(True)[4] + STACK), f"stacks:\n{contention('-v')}")
    check("caller, stacktrace\n" in contention("-v", "-x", ",") and
          ", 0xffffffff81000010  0xffffffff81000010:0xffffffff81000020  0xffffffff81000020\n" in contention("-v", "-x", ","), "stacks in CSV")
    check("0xffffffff81000020" in contention("--stack-skip", "1") and "Unknown" in contention("--stack-skip", "1"), "--stack-skip")
    one = contention("-k", "contended").splitlines()
    check(one[2].split()[0] == "2", f"-k: {one}")
    check(contention("-F", "wait_min", "-k", "avg_wait").splitlines()[0].split() == ["min", "wait", "avg", "wait", "type", "caller"], "-F")


def chosen():
    scene().write("perf.data")
    check(contention("-Y", "rwsem", "-l") == "".join(BY_LOCK.splitlines(True)[:3]), "-Y rwsem")
    check(contention("-Y", "rwsem:R,mutex") == "".join(BY_SITE.splitlines(True)[:4]), "-Y of two")
    check(sonde("lock", "contention", "-f", "-i", "perf.data", "-Y", "mutex").stderr == "", "what is left out is no fault")
    check(contention("-L", hex(OTHER), "-l") == "".join(BY_LOCK.splitlines(True)[:2] + BY_LOCK.splitlines(True)[3:]), "-L")
    check(contention("-L", "mmap_lock").count("\n") == 2, "-L of a name that nothing has")
    check(contention("-t", "--tid", "101") == "".join(BY_THREAD.splitlines(True)[:3]), "--tid")
    check(contention("-S", "munmap").count("\n") == 2, "-S")
    sonde("lock", "contention", "-i", "perf.data", "--output", "out.txt")
    with open("out.txt") as f:
        check(f.read() == BY_SITE, "--output")
    for options, word in ((("-Y", "foo"), "foo"), (("-k", "foo"), "foo"), (("-F", "acquired"), "acquired"), (("-l", "-t"), "together"),
                          (("-o",), "-b"), (("-J", "1ms@x"), "slow"), (("-E", "-1"), "negative"), (("x",), "with -b only")):
        check(word in sonde("lock", "contention", "-i", "perf.data", *options, status=129).stderr, f"{options}")


BY_GROUP = """ contended   total wait     max wait     avg wait   cgroup

         1      2.00 ms      2.00 ms      2.00 ms   /shop/worker
         1      1.00 ms      1.00 ms      1.00 ms   cgroup 99
         1      1.00 us      1.00 us      1.00 us   /shopping
         1        10 ns        10 ns        10 ns   /
"""


def groups():
    t = Trace(groups=True)
    for number, path in ((1, "/"), (5, "/shop/worker"), (6, "/shopping")):
        t.name_group(number, path)
    for i, (t.group, ns) in enumerate(((5, 2 * MS), (6, US), (1, 10), (99, MS))):
        t.begin(10 * i * MS, 101, LOCK + i, SPIN, 0x10)
        t.end(10 * i * MS + ns, 101, LOCK + i)
    t.write("perf.data")
    check(contention("--lock-cgroup") == BY_GROUP, f"by group:\n{contention('--lock-cgroup')}")
    csv = contention("--lock-cgroup", "-x", ";", "-E", "1")
    check(csv == "# output: contended; total wait; max wait; avg wait; cgroup\n1; 2000000; 2000000; 2000000; /shop/worker\n", f"CSV: {csv}")
    lines = BY_GROUP.splitlines(True)
    check(contention("--lock-cgroup", "-G", "shop") == "".join(lines[:3]), "-G: with the groups below")
    check(contention("--lock-cgroup", "-G", "/shopping,/shop/worker") == "".join(lines[:3] + lines[4:5]), "-G of two")
    check([x.split()[-2] for x in contention("-l", "-q", "-G", "shop").splitlines()] == [f"{LOCK:x}"], "-G -l")
    check(contention("-q", "-G", "worker") == "", "-G of no group")
    check("does not go" in sonde("lock", "contention", "--lock-cgroup", "-t", status=129).stderr, "-t")
    scene().write("perf.data")
    for options in (("--lock-cgroup",), ("-G", "shop")):
        check("--all-cgroups" in sonde("lock", "contention", "-f", "-i", "perf.data", *options, status=1).stderr, f"{options}: not recorded")


def faults():
    t = Trace()
    t.end(0, 101, LOCK)
    t.begin(10, 101, LOCK, SPIN)
    t.begin(20, 101, LOCK, WRITE)  # another kind of lock there
    t.begin(30, 102, OTHER, SPIN)
    t.write("perf.data")
    r = sonde("lock", "contention", "-f", "-i", "perf.data")
    check(r.stdout.count("\n") == 2, f"nothing is known of: {r.stdout}")
    for text in ("2 of the waits had not ended", "1 of the waits began before", "1 of the events about locks contradict"):
        check(text in r.stderr, f"{text}: {r.stderr}")
    pd.Recording().write("perf.data")
    check("sonde lock record" in sonde("lock", "contention", "-f", "-i", "perf.data", status=1).stderr, "no such events")
    check("unknown command" in sonde("lock", "foo", status=129).stderr, "no such verb")


REPORT = """                Name   acquired  contended     avg wait   total wait     max wait     min wait \n
          &mm->alpha          3          1      2.00 us      2.00 us      2.00 us      2.00 us \n\
           &rq->beta          1          0         0 ns         0 ns         0 ns         0 ns \n\
"""


def lockdep():
    t = Trace(lockdep=True)
    for i, lock in enumerate((LOCK, LOCK + 64)):
        t.lockdep(3, 100 * i, 101, lock, "&mm->alpha")
        t.lockdep(4, 100 * i + 1, 101, lock, "&mm->alpha")
    t.lockdep(3, 1000, 102, LOCK, "&mm->alpha")
    t.lockdep(5, 1001, 102, LOCK, "&mm->alpha")
    t.lockdep(4, 3001, 102, LOCK, "&mm->alpha")
    t.lockdep(3, 5000, 102, OTHER, "&rq->beta", 1)
    t.begin(6000, 101, LOCK, SPIN)
    t.end(6001, 101, LOCK)
    t.write("perf.data")
    text = sonde("lock", "report", "-c", "-f", "-i", "perf.data").stdout
    check(text == REPORT, f"report by class:\n{text}")
    rows = [x.split() for x in sonde("lock", "report", "-q", "-F", "acquired", "-i", "perf.data").stdout.splitlines()]
    check(rows == [["&mm->alpha", "2"], ["&mm->alpha", "1"], ["&rq->beta", "1"]], f"by lock: {rows}")
    rows = [x.split()[:3] for x in sonde("lock", "report", "-q", "-t", "-i", "perf.data").stdout.splitlines()]
    check(rows == [["worker", "2", "1"], ["worker", "2", "0"]], f"by thread: {rows}")
    text = sonde("lock", "info", "-i", "perf.data").stdout
    check(text == f" Thread ID: comm\n       101: worker\n       102: worker\n\nAddress of instance: name of class\n {LOCK:#x}: &mm->alpha\n"
          f" {LOCK + 64:#x}: &mm->alpha\n {OTHER:#x}: &rq->beta\n", f"info:\n{text}")
    with open("perf.data", "rb") as f:  # what comes through a pipe can be read once
        piped = subprocess.run(["sh", "-c", f"cat | {SONDE} lock info -i -"], stdin=f, capture_output=True, text=True, env=support.ENV, timeout=support.HANG_SECONDS)
    check(piped.returncode == 0 and piped.stdout == text, f"info of a pipe: {piped}")
    sonde("lock", "info", "-i", "perf.data", "--output", "info.txt")
    with open("info.txt", encoding="utf-8") as f:
        check(f.read() == text, "info --output")
    check(contention("-l").splitlines()[2].split()[:2] == ["1", "1"], "contention has its own events")


def report_of_contention():
    scene().write("perf.data")
    rows = [x.split()[:3] for x in sonde("lock", "report", "-q", "-f", "-i", "perf.data").stdout.splitlines()]
    check(rows == [[hex(LOCK), "3", "3"], [hex(OTHER), "1", "1"]], f"report: {rows}")
    rows = sonde("lock", "info", "-m", "-f", "-i", "perf.data").stdout
    check(rows == f"Address of instance: name of class\n {LOCK:#x}: \n {OTHER:#x}: \n", f"info -m: {rows}")


def dumped():
    for verb in "contention", "report", "info":
        support.check_raw_dump(SONDE, "lock", verb)
    check("-b has none" in sonde("lock", "contention", "-b", "-D", "true", status=129).stderr, "-b -D")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    known()
    chosen()
    groups()
    faults()
    lockdep()
    report_of_contention()
    dumped()
sys.exit(support.status())
