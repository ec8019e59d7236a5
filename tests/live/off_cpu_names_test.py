#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --off-cpu`, and `waits` of a command, call the waits of programs that know what they wait for:
off_cpu_names_test.py SONDE CASES

SKIPs where the kernel does not let us load BPF programs.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE, CASES = (os.path.abspath(p) for p in sys.argv[1:3])
PROGRAM = os.path.basename(CASES)
check = support.check
GUARD_SECONDS = 120  # to be waited for: nothing is measured

# By case of waits_cases.c, in which a thread waits all the time.
NAMES = {
    "mutex": f"sleeps in futex: mutex first ({PROGRAM})",
    "rw_writers": f"sleeps in futex: rwlock rwlock ({PROGRAM})",
    "semaphore": f"sleeps in futex: a futex sem ({PROGRAM})",
    "join": "sleeps in futex: the end of thread owner",
    "pipe": "sleeps in read: a pipe, written by far_end",
    "pair": "sleeps in read: unix socket to far_end",
    "unix": "sleeps in read: unix socket to far_end",
    "tcp": "sleeps in read: TCP socket to far_end",
    "accept": "sleeps in accept: TCP socket, connections to port {port}",
    "flock": "sleeps in flock: {path}",
    "sleep": "sleeps in clock_nanosleep",
    "epoll": "sleeps in epoll_wait|sleeps in epoll_pwait",
}

# A descriptor gets another file while a thread reads from it; a child ends while it is waited for. Several times, as
# kernels leave out some switches from the idle task.
CHANGES = """
import os, threading, time
with open("/proc/self/comm", "w") as f:
    f.write("the_writer")
def until(path, holds):
    while True:
        with open(path) as f:
            if holds(f.read()):
                return
        time.sleep(0.001)
def state(text):
    return text.rpartition(")")[2].split()[0]
other = os.open("other", os.O_RDWR | os.O_CREAT)
for _ in range(TIMES):
    r, w = os.pipe()
    started = []
    def read():
        started.append(threading.get_native_id())
        os.read(r, 1)
    t = threading.Thread(target=read)
    t.start()
    while not started:
        time.sleep(0.001)
    until(f"/proc/self/task/{started[0]}/syscall", lambda s: s.split()[1:2] == [hex(r)])
    until(f"/proc/self/task/{started[0]}/stat", lambda s: state(s) == "S")
    os.dup2(other, r)
    os.write(w, b"x")
    t.join()
for _ in range(TIMES):
    us = os.getpid()
    child = os.fork()
    if not child:
        with open("/proc/self/comm", "w") as f:
            f.write("the_child")
        until(f"/proc/{us}/stat", lambda s: state(s) == "S")
        os._exit(0)
    os.waitpid(child, 0)
"""
TIMES = 8


def record(output, *options):
    r = subprocess.run([SONDE, "record", "--off-cpu", "-e", "dummy", "-o", output, *options], capture_output=True, text=True,
                       env=support.ENV, timeout=300)
    if r.returncode and "BPF" in r.stderr:
        print(f"SKIP: {r.stderr.strip()[-300:]}")
        sys.exit(support.SKIP)
    check(r.returncode == 0, f"record {options}: status {r.returncode}, {r.stderr[-300:]}")


def waits(path):
    """[(tid, frames)] of the event's samples"""
    found, frames = [], None
    r = subprocess.run([SONDE, "script", "-i", path, "-F", "pid,tid,event,period,ip,sym"], capture_output=True, text=True,
                       env=support.ENV, timeout=300)
    check(r.returncode == 0, f"script {path}: status {r.returncode}, {r.stderr[-300:]}")
    for line in r.stdout.split("\n"):
        head = re.match(r" *\d+/(\d+) +\d+ +(\S+):", line)
        if head:
            frames = []
            if head.group(2) == "offcpu-time":
                found.append((int(head.group(1)), frames))
        elif frames is not None and line.strip():
            frames.append(line.split(None, 1)[1])
    return found


def said_by(process, key):
    """What a case says of itself, up to that."""
    said = {}
    while key not in said or "ready" not in said:
        line = process.stdout.readline().strip()
        if not line:
            raise RuntimeError("the case ended early")
        name, _, value = line.partition("=")
        said[name] = value
    return said


def sleeps(tid):
    end = time.monotonic() + GUARD_SECONDS
    while time.monotonic() < end:
        with open(f"/proc/{tid}/stat", encoding="ascii") as f:
            state = f.read().rpartition(")")[2].split()[0]
        with open(f"/proc/{tid}/syscall", encoding="ascii") as f:
            call = f.read().split()
        if state == "S" and call[0] != "running":
            return
        time.sleep(0.01)


def one_case(case, name):
    with subprocess.Popen([CASES, case], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        said = said_by(p, "waiter")
        tid = int(said["waiter"])
        sleeps(tid)
        record("case.data", "-t", str(tid), "--", "true")
        p.stdin.close()
        p.stdout.close()
    found = [frames for t, frames in waits("case.data") if t == tid]
    wanted = name.format(**said).split("|")
    check(found and all(frames[0] in wanted for frames in found), f"{case}: {wanted}: {found}")


def cases():
    for case, name in NAMES.items():
        one_case(case, name)


def what_changes():
    record("changes.data", "--off-cpu-wakers", sys.executable, "-c", CHANGES.replace("TIMES", str(TIMES)))
    found = waits("changes.data")
    every = [f for _, frames in found for f in frames]
    check(not any("other" in f for f in every), f"the descriptor's next file: {found}")
    pipes = [frames for _, frames in found if any(f.startswith("sleeps in read: a pipe") for f in frames)]
    check(any("woken by the_writer in write" in frames for frames in pipes), f"a pipe, and who wrote: {found}")
    children = [frames for _, frames in found if "sleeps in wait4: the end of child the_child" in frames]
    check(any("woken by the_child in exit_group" in frames for frames in children), f"a child: {found}")
    for frames in pipes + children:
        at = next(i for i, f in enumerate(frames) if f.startswith("sleeps in "))
        check(at <= 5 and all(f.startswith("woken by ") for f in frames[:at]), f"wakers come first, five at most: {frames}")


# It computes, and sleeps several times, as kernels leave out some switches from the idle task.
BUSY = """
import time
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
for _ in range(10):
    time.sleep(0.05)
raise SystemExit(3)
"""


def waits_of(*options, command=(sys.executable, "-c", BUSY), status=3):
    r = subprocess.run([SONDE, "waits", *options, "--", *command], capture_output=True, text=True, env=support.ENV,
                       timeout=300)
    check(r.returncode == status, f"waits {options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def below(nodes, *path):
    """The node that the names lead to, each of them the beginning of one."""
    for name in path:
        found = [n for n in nodes if n["name"].startswith(name)]
        if not found:
            return None
        nodes = found[0]["below"]
    return found[0]


def both_times():
    """On a CPU and off it in one tree, without a file."""
    files = os.listdir()
    tree = json.loads(waits_of("--json").stdout)
    program = os.path.basename(sys.executable)[:15]
    runs = below(tree["tree"], program, "on a CPU")
    slept = sum(n["time"] for n in below(tree["tree"], program)["below"] if n["name"].startswith("sleeps"))
    check(runs and runs["time"] > 0, f"it ran: {tree}")
    check(slept >= 0.45e9, f"it slept for half a second: {tree}")
    check(sum(n["time"] for n in tree["tree"]) == tree["time"], f"programs add up to the whole: {tree}")
    text = waits_of("--wakers").stdout
    check("on a CPU" in text and "woken by an interrupt" in text, f"as text: {text}")
    stacks = waits_of("-g").stdout
    check("do_syscall_64" in stacks or "el0_svc" in stacks, f"with stacks: {stacks[-600:]}")
    check(os.listdir() == files, f"nothing is left behind: {os.listdir()}")
    for name, begins in (("o.html", "<!doctype html"), ("o.svg", "<?xml"), ("o.folded", program)):
        waits_of("-o", name)
        with open(name, encoding="utf-8") as f:
            check(f.read().lower().startswith(begins.lower()), f"{name} does not begin with {begins}")
    for options in (["-o", "o.unknown"], ["-d", "1"], ["--threads"], ["--no-bpf"]):
        waits_of(*options, status=129)
    waits_of(command=("/nonexistent",), status=1)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in (cases, what_changes, both_times):
        with support.recording():
            test()
sys.exit(support.status())
