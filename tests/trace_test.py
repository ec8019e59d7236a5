#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trace` over made recordings, of which all calls are known: trace_test.py SONDE"""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd  # noqa: E402
import support  # noqa: E402

SONDE = os.path.realpath(sys.argv[1])
check = support.check
ENTER = "name: sys_enter\nID: 11\nformat:\n" + pd.COMMON_FIELDS + """\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;
\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;

print fmt: "NR %ld", REC->id
"""
EXIT = "name: sys_exit\nID: 12\nformat:\n" + pd.COMMON_FIELDS + """\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;
\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;

print fmt: "NR %ld = %ld", REC->id, REC->ret
"""
OTHER = "name: other\nID: 13\nformat:\n" + pd.COMMON_FIELDS + """\tfield:int value;\toffset:8;\tsize:4;\tsigned:1;
\tfield:char word[8];\toffset:12;\tsize:8;\tsigned:0;

print fmt: "value=%d word=%s", REC->value, REC->word
"""
TYPE = pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.RAW
ARCH, US, LOST = 6, 1000, 2
READ, WRITE, CLOSE, MMAP, POLL, FUTEX, OPENAT, EXIT_GROUP = 0, 1, 3, 9, 7, 202, 257, 231


class Trace(pd.Recording):
    """Times are microseconds after 10 s."""

    def __init__(self, machine="x86_64"):
        super().__init__(TYPE, counters=[(pd.TRACEPOINT, 11), (pd.TRACEPOINT, 12), (pd.TRACEPOINT, 13)], period=1)
        self.features[pd.TRACING_DATA] = pd.tracing_data("raw_syscalls", ENTER, EXIT, OTHER)
        if machine:
            self.features[ARCH] = struct.pack("<I", 64) + machine.encode().ljust(64, b"\0")

    def put(self, event, us, tid, data):
        self.time = 10_000_000_000 + round(us * US) - 1000  # sample() adds that
        data = struct.pack("<HBBi", 10 + event, 0, 0, tid) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(100, 0, (), event=event, tid=tid, more=struct.pack("<I", len(data)) + data)

    def enter(self, us, tid, number, *args):
        self.put(1, us, tid, struct.pack("<q6Q", number, *(a % (1 << 64) for a in args), *[0] * (6 - len(args))))

    def leave(self, us, tid, number, result):
        self.put(2, us, tid, struct.pack("<qq", number, result))

    def other(self, us, tid, value, word):
        self.put(3, us, tid, struct.pack("<i8s", value, word))

    def call(self, us, until, tid, number, result, *args):
        self.enter(us, tid, number, *args)
        self.leave(until, tid, number, result)


def sonde(*options, status=0):
    r = subprocess.run([SONDE, "trace", *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    check(r.stdout == "", f"{options}: standard output is the program's: {r.stdout[:200]}")
    return r.stderr


def trace(t, *options, status=0):
    t.write("perf.data")
    return sonde("-i", "perf.data", *options, status=status)


def expect(text, expected, what):
    check(text == expected, f"{what}:\n{text}\n--- expected\n{expected}")


def scene():
    t = Trace()
    t.comm(100, "main")
    t.comm(100, "wor\x1bker", tid=101)
    t.leave(0, 100, READ, 5)
    t.call(10, 12, 100, OPENAT, 3, -100, 0x7f0000001000, 0o2000000)
    t.enter(20, 101, FUTEX, 0x1000, 0x80, 2)
    t.call(30, 32.5, 100, READ, -11, 3, 0x2000, 100)
    t.other(40, 100, -7, b'a"b')
    t.leave(1520, 101, FUTEX, 0)
    t.call(1600, 1601, 100, MMAP, 0x7f0000000000, 0, 4096, 3, 0x22, -1)
    t.call(1610, 1611, 100, POLL, 0, 0x1000, 1, 5)
    t.call(1620, 1621, 100, 5555, -38, 1)
    t.enter(1700, 100, EXIT_GROUP, 3)
    t.exit(100, 100)
    return t


LINES = """\
         ? (         ): main/100  ... [continued]: read())                                             = 5
     0.010 ( 0.002 ms): main/100 openat(dfd: CWD, filename: 0x7f0000001000, flags: RDONLY|CLOEXEC)     = 3
     0.020 (         ): wor?ker/101 futex(uaddr: 0x1000, op: WAIT|PRIVATE_FLAG, val: 2)                ...
     0.030 ( 0.003 ms): main/100 read(fd: 3, buf: 0x2000, count: 100)                                  = -1 EAGAIN (Resource temporarily unavailable)
     0.040 main/100 raw_syscalls:other(value: -7, word: "a\\"b")
     0.020 ( 1.500 ms): wor?ker/101  ... [continued]: futex())                                            = 0
     1.600 ( 0.001 ms): main/100 mmap(len: 4096, prot: READ|WRITE, flags: PRIVATE|ANONYMOUS)           = 0x7f0000000000
     1.610 ( 0.001 ms): main/100 poll(ufds: 0x1000, nfds: 1, timeout_msecs: 5)                         = 0 (Timeout)
     1.620 ( 0.001 ms): main/100 syscall_5555(arg0: 0x1)                                               = -1 ENOSYS (Function not implemented)
     1.700 (         ): main/100 exit_group(error_code: 3)                                             = ?
"""


def test_lines():
    t = scene()
    expect(trace(t), LINES, "lines")
    text = LINES.splitlines(keepends=True)
    expect(trace(t, "-e", "openat,mm*"), text[1] + text[6], "-e picks calls")
    expect(trace(t, "-e", "!futex,read,syscall*,exit*"), text[1] + text[6] + text[7] + text[8], "-e !")
    expect(trace(t, "-e", "raw_syscalls:other"), text[4], "-e picks events")
    expect(trace(t, "-e", "poll,raw_syscalls:o*"), text[4] + text[7], "-e picks both")
    expect(trace(t, "--failure"), text[3] + text[4] + text[8], "--failure")
    # What is still going on may take long, but that is not known yet: its arguments come at the end.
    expect(trace(t, "--duration", "1", "-e", "*"),
           "     0.020 ( 1.500 ms): wor?ker/101 futex(uaddr: 0x1000, op: WAIT|PRIVATE_FLAG, val: 2)                   = 0\n", "--duration")
    expect(trace(t, "--max-events", "2"), "".join(text[:2]), "--max-events")
    expect(trace(t, "-t", "101").replace("     0.000", "     0.020"),
           "     0.020 ( 1.500 ms): wor?ker/101 futex(uaddr: 0x1000, op: WAIT|PRIVATE_FLAG, val: 2)                   = 0\n", "-t")
    expect(trace(t, "--no-syscalls"), text[4], "--no-syscalls")
    expect(trace(t, "--libtraceevent_print", "-e", "raw_syscalls:other").split("other")[1], ":value=-7 word=a\"b\n", "print format")
    check("main/100" not in trace(t, "--no-comm") and "): 100 read" in trace(t, "--no-comm"), "--no-comm")
    check(trace(t, "-T", "-e", "openat").startswith(" 10000.010 ("), "-T")
    check("[000] (" in trace(t, "--show-cpu"), "--show-cpu")
    expect(trace(t, "--switch-on", "raw_syscalls:other", "-e", "mmap,raw_syscalls:other").splitlines()[-1].split("mmap")[1],
           text[6].rstrip("\n").split("mmap")[1], "--switch-on")
    check("other" not in trace(t, "--switch-on", "raw_syscalls:other"), "the event of --switch-on is not shown")
    check("other" in trace(t, "--switch-on", "raw_syscalls:other", "--show-on-off-events"), "--show-on-off-events")
    check("mmap" not in trace(t, "--switch-off", "raw_syscalls:other"), "--switch-off")
    with open("config", "w") as f:
        f.write("[trace]\n\targs_alignment = 40\n\tshow_prefix = yes\n\tshow_timestamp = no\n\tshow_duration = no\n"
                "\tshow_arg_names = no\n")
    r = subprocess.run([SONDE, "trace", "-i", "perf.data", "-e", "mmap,poll"], capture_output=True, text=True,
                       env=dict(support.ENV, PERF_CONFIG="config"), timeout=120)
    expect(r.stderr, "main/100 mmap(0x0, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0x0) = 0x7f0000000000\n"
                     "main/100 poll(0x1000, 1, 5)                      = 0 (Timeout)\n", "configuration")
    trace(t, "-o", "lines")
    expect(open("lines").read(), LINES, "-o")


def test_sums():
    t = scene()
    text = trace(t, "-s", "--errno-summary")
    check(" main (100), 13 events, 86.7%\n" in text and " wor?ker (101), 2 events, 13.3%\n" in text, f"threads: {text}")
    check("   futex                  1      0     1.500     1.500     1.500     1.500      0.00%\n" in text, f"futex: {text}")
    check("   read                   2      1     0.003     0.003     0.003     0.003      0.00%\n\t\t\t\tEAGAIN: 1\n" in text, f"read: {text}")
    check(text.index("wor?ker") < text.index("main"), "threads with few events come first")
    total = trace(t, "-s", "--summary-mode", "total")
    check(" total, 15 events\n" in total and total.count("syscall  ") == 1, f"total: {total}")
    check(trace(t, "-s", "--max-summary", "1", "--summary-mode", "total").count("%\n") == 1, "--max-summary")
    both = trace(t, "-S")
    check(both.startswith(LINES) and "Summary of events" in both, "-S")
    data = json.loads(trace(t, "--json"))
    main = {x["syscall"]: x for x in data["groups"][-1]["syscalls"]}
    check(data["version"] == 1 and data["enter_unseen"] == 1, f"--json: {data}")
    check(main["openat"]["total_ns"] == 2000 and main["read"]["calls"] == 2 and main["read"]["timed"] == 1, f"--json: {main}")
    check(main["read"]["errnos"] == [{"number": 11, "name": "EAGAIN", "count": 1}], f"--json: {main}")


def test_losses():
    t = Trace()
    t.enter(0, 100, READ, 3)
    t.add(LOST, 0, struct.pack("<QQ", 1, 5) + t.tail(100, 100))
    t.leave(20, 100, READ, 7)
    text = trace(t, status=0)
    check("read(fd: 3)" in text and "... [continued]: read())" in text and " ms)" not in text, f"a loss cuts calls: {text}")
    check("lost" in text, f"a loss is said: {text}")


def test_others():
    compat = Trace()
    compat.map(100, 0x8048000, 0x1000, 0, "/bin/old")
    compat.call(1, 2, 100, 5, 3, 0x1000)
    check("open(filename: 0x1000" in trace(compat), "a program of 32 bits")
    arm = Trace("aarch64")
    arm.call(1, 2, 100, 56, 3, -100, 0x1000, 0o40000)
    check("openat(dfd: CWD, filename: 0x1000, flags: RDONLY|DIRECTORY)" in trace(arm), "arm64")
    none = Trace(None)
    none.call(1, 2, 100, 56, 3, -100)
    check("syscall_56(arg0: 0xffffffffffffff9c)" in trace(none), "no machine: numbers")
    damaged = Trace()
    damaged.put(1, 1, 100, struct.pack("<q", 1))
    damaged.call(2, 3, 100, CLOSE, 0, 4)
    text = trace(damaged, status=1)
    check("close(fd: 4)" in text and "too short" in text, f"a damaged record costs itself: {text}")
    empty = pd.Recording()
    empty.sample(1, 0x1000)
    check("no system calls were recorded" in trace(empty, status=1), "nothing recorded")
    check("cannot write" in sonde("-i", "perf.data", "-o", "/nonexistent/x", status=1), "-o")
    for wrong in (("--summary-mode", "cgroup"), ("-s", "--bpf-summary"), ("--summary-mode", "cpu"), ("--duration", "x"), ("-F", "some")):
        sonde(*wrong, "-i", "perf.data", status=129)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_lines()
    test_sums()
    test_losses()
    test_others()
sys.exit(support.status())
