#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --off-cpu` records of programs that wait: off_cpu_test.py SONDE

SKIPs where the kernel does not let us load BPF programs.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
SLEEP_S = 0.3
# A thread holds a lock for so long while another waits for it, and both say who they are.
LOCKS = f"""
import os, threading, time
lock, ready = threading.Lock(), threading.Event()
def hold():
    with lock:
        ready.set()
        time.sleep({SLEEP_S})
t = threading.Thread(target=hold)
t.start()
ready.wait()
with lock:
    print(os.getpid())
t.join()
"""


def sonde(*options):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def record(output, *options):
    """(standard output, how long it took in ns)"""
    started = time.monotonic_ns()
    r = subprocess.run([SONDE, "record", "--off-cpu", "-e", "cpu-clock", "-o", output, *options], capture_output=True,
                       text=True, env=support.ENV, timeout=300)
    if r.returncode and "BPF" in r.stderr:
        print(f"SKIP: {r.stderr.strip()[-300:]}")
        sys.exit(support.SKIP)
    check(r.returncode == 0, f"record {options}: status {r.returncode}, {r.stderr[-300:]}")
    return r.stdout, time.monotonic_ns() - started


def waits(path):
    """[(pid, tid, period, frames)] of the event's samples"""
    found, frames = [], None
    for line in sonde("script", "-i", path, "-F", "pid,tid,event,period,ip,sym").stdout.split("\n"):
        head = re.match(r" *(\d+)/(\d+) +(\d+) +(\S+):", line)
        if head and head.group(4) == "offcpu-time":
            frames = []
            found.append((*map(int, head.groups()[:3]), frames))
        elif head:
            frames = None
        elif frames is not None and line.strip():
            frames.append(line.split(None, 1)[1])
    return found


def a_sleeper():
    _, window = record("sleep.data", "sleep", str(SLEEP_S))
    found = waits("sleep.data")
    slept = sum(period for _, _, period, frames in found if frames and frames[0].startswith("sleeps in "))
    every = sum(period for _, _, period, _ in found)
    check(slept >= SLEEP_S * 1e9, f"it slept {SLEEP_S} s, and {slept} ns were seen: {found}")
    check(every <= window, f"a single thread did not wait for {every} ns in {window}")
    check(all(frames for *_, frames in found), "each wait has a frame that says what it is")
    listed = sonde("evlist", "-i", "sleep.data").stdout.split()
    check("offcpu-time" in listed and "cpu-clock" in listed, f"events: {listed}")
    both = sonde("export", "-i", "sleep.data", "-e", "wall-clock", "folded").stdout.splitlines()
    check(sum(int(line.split()[-1]) for line in both if "sleeps in" in line) >= SLEEP_S * 1e9, f"wall-clock: {both}")
    shown = sonde("report", "-i", "sleep.data", "--stdio", "-g", "none", "--no-children").stdout
    check("of event 'offcpu-time'" in shown and "sleeps in" in shown, f"report: {shown[-600:]}")


def a_lock():
    pid = int(record("lock.data", sys.executable, "-c", LOCKS)[0])
    found = [w for w in waits("lock.data") if w[0] == pid]
    long = {tid: sum(p for _, t, p, f in found if t == tid and f[0].startswith("sleeps in ")) for _, tid, _, _ in found}
    check(len([ns for ns in long.values() if ns >= SLEEP_S * 0.9e9]) == 2, f"one held it and one waited for it: {long}")
    stacks = [" ".join(frames) for _, _, period, frames in found if period >= SLEEP_S * 0.9e9]
    check(any("futex" in s for s in stacks), f"it waited for a futex: {stacks}")


def one_that_never_wakes():
    """It sleeps before the recording and after it: what lies between counts."""
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            while open(f"/proc/{p.pid}/stat", encoding="ascii").read().split()[2] != "S" or \
                    open(f"/proc/{p.pid}/comm", encoding="ascii").read() != "sleep\n":
                time.sleep(0.01)
            _, window = record("never.data", "-p", str(p.pid), "--", "sleep", str(SLEEP_S))
        finally:
            p.kill()
    found = waits("never.data")
    check({pid for pid, *_ in found} == {p.pid}, f"only the process that was named: {found}")
    text = sonde("script", "-i", "never.data", "-F", "event,ip").stdout
    check(any(int(line, 16) < 1 << 63 for line in text.split("\n") if re.match(r"\s+[0-9a-f]+$", line)),
          f"its user stack, too: {text}")
    ns = sum(period for _, _, period, _ in found)
    check(SLEEP_S * 1e9 <= ns <= window, f"{ns} ns of a window of {SLEEP_S} s to {window} ns")


def children():
    for options, seen in (([], True), (["--no-inherit"], False)):
        record("child.data", *options, "sh", "-c", f"sleep {SLEEP_S}; true")
        slept = {}
        for pid, _, period, frames in waits("child.data"):
            if any("nanosleep" in f for f in frames):
                slept[pid] = slept.get(pid, 0) + period
        check(any(ns >= SLEEP_S * 0.95e9 for ns in slept.values()) == seen, f"{options}: a child's sleep: {slept}")


def no_stacks():
    """With a least wait that no wait has, times remain."""
    record("short.data", "--off-cpu-min", "100000000", "sleep", str(SLEEP_S))
    found = waits("short.data")
    check(all(len(frames) == 1 and frames[0].startswith("short ") for *_, frames in found), f"no stacks: {found}")
    check(sum(period for _, _, period, _ in found) >= SLEEP_S * 1e9, f"but times: {found}")


def evidence(known):
    """Says of the recordings that this test made all that tells why their frames have the names that they have."""
    def read(path):
        try:
            with open(path, "rb") as f:
                return f.read()
        except OSError as e:
            return str(e).encode()

    print(f"kernel {os.uname().release}, notes {read('/sys/kernel/notes').hex()}, kptr_restrict "
          f"{read('/proc/sys/kernel/kptr_restrict').decode().strip()}, bpf_jit_kallsyms "
          f"{read('/proc/sys/net/core/bpf_jit_kallsyms').decode().strip()}")
    for path in sorted(name for name in os.listdir() if name.endswith(".data") and name not in known):
        for command in (["doctor", "-v", path], ["buildid-list", "-i", path, "--with-hits"],
                        ["script", "-i", path, "-F", "comm,pid,tid,time,event,period,ip,sym,symoff,dso", "--show-task-events",
                         "--show-mmap-events", "--show-bpf-events", "--show-lost-events"]):
            r = subprocess.run([SONDE, *command], capture_output=True, text=True, env=support.ENV, timeout=300)
            print(f"--- {' '.join(command)}: status {r.returncode}\n{r.stdout}{r.stderr}", flush=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (a_sleeper, a_lock, one_that_never_wakes, children, no_stacks):
        before, known = len(support.failures), os.listdir()
        with support.recording():
            test()
        if len(support.failures) > before:
            evidence(known)
sys.exit(support.status())
