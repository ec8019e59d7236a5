#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --off-cpu` records of programs that wait: off_cpu_test.py SONDE

SKIPs where the kernel does not let us load BPF programs.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
SLEEP_S = 0.3
TRIES = 20  # of what the kernel does not show every time
# Of a sleep, what must be seen: a timer runs from before its thread leaves the CPU, which on a busy machine comes later.
MOST_NS = SLEEP_S * 0.9e9
# A thread holds a lock for so long from when another is about to wait for it, which says how long that took.
LOCKS = f"""
import os, threading, time
lock, ready, near = threading.Lock(), threading.Event(), threading.Event()
def hold():
    with lock:
        ready.set()
        near.wait()
        time.sleep({SLEEP_S})
t = threading.Thread(target=hold)
t.start()
ready.wait()
near.set()
since = time.monotonic_ns()
with lock:
    print(os.getpid(), time.monotonic_ns() - since)
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
    check(slept >= MOST_NS, f"it slept {SLEEP_S} s, and {slept} ns were seen: {found}")
    check(every <= window, f"a single thread did not wait for {every} ns in {window}")
    check(all(frames for *_, frames in found), "each wait has a frame that says what it is")
    listed = sonde("evlist", "-i", "sleep.data").stdout.split()
    check("offcpu-time" in listed and "cpu-clock" in listed, f"events: {listed}")
    both = sonde("export", "-i", "sleep.data", "-e", "wall-clock", "folded").stdout.splitlines()
    check(sum(int(line.split()[-1]) for line in both if "sleeps in" in line) >= MOST_NS, f"wall-clock: {both}")
    shown = sonde("report", "-i", "sleep.data", "--stdio", "-g", "none", "--no-children").stdout
    check("of event 'offcpu-time'" in shown and "sleeps in" in shown, f"report: {shown[-600:]}")


def a_lock():
    while True:
        pid, waited = map(int, record("lock.data", sys.executable, "-c", LOCKS)[0].split())
        if waited >= SLEEP_S * 1e9 / 2:
            break  # on a busy machine it may come to the lock when that is free again
    found = [w for w in waits("lock.data") if w[0] == pid]
    long = {tid: sum(p for _, t, p, f in found if t == tid and f[0].startswith("sleeps in ")) for _, tid, _, _ in found}
    # It may come late to the lock: then it waits for less than the whole sleep.
    least = min(waited, SLEEP_S * 1e9) * 0.9
    check(len([ns for ns in long.values() if ns >= least]) == 2, f"one held it and one waited {waited} ns for it: {long}")
    stacks = [" ".join(frames) for _, _, period, frames in found if period >= least]
    check(any("futex" in s for s in stacks), f"it waited for a futex: {stacks}")


def one_that_never_wakes():
    """It sleeps before the recording and after it: what lies between counts."""
    with subprocess.Popen(["sleep", "1000"]) as p:
        try:
            while open(f"/proc/{p.pid}/stat", encoding="ascii").read().split()[2] != "S" or \
                    open(f"/proc/{p.pid}/comm", encoding="ascii").read() != "sleep\n":
                time.sleep(0.01)
            record("copied.data", "--call-graph", "dwarf", "-p", str(p.pid), "--", "sleep", str(SLEEP_S))
            _, window = record("never.data", "-p", str(p.pid), "--", "sleep", str(SLEEP_S))
        finally:
            p.kill()
    check(any("__libc_start" in f for *_, frames in waits("copied.data") for f in frames),
          f"whole, by its tables: {waits('copied.data')}")
    found = waits("never.data")
    check({pid for pid, *_ in found} == {p.pid}, f"only the process that was named: {found}")
    text = sonde("script", "-i", "never.data", "-F", "event,ip").stdout
    check(any(int(line, 16) < 1 << 63 for line in text.split("\n") if re.match(r"\s+[0-9a-f]+$", line)),
          f"its user stack, too: {text}")
    ns = sum(period for _, _, period, _ in found)
    check(SLEEP_S * 1e9 <= ns <= window, f"{ns} ns of a window of {SLEEP_S} s to {window} ns")


DEEP = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2], what;
static volatile int sink;
static long long waited;
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}
__attribute__((noinline)) static void five(int n) {
    char c;
    long long since = now();
    if (what == 0)
        usleep(PAUSE_US);
    else if (what == 1 && !pthread_mutex_lock(&lock))
        pthread_mutex_unlock(&lock);
    else if (what == 2 && read(ends[0], &c, 1) != 1)
        sink++;
    waited += now() - since;
    sink += n;
}
__attribute__((noinline)) static void four(int n) { volatile char room[1500]; room[n] = 1; five(n); sink += room[n]; }
__attribute__((noinline)) static void three(int n) { four(n); sink++; }
__attribute__((noinline)) static void two(int n) { three(n); sink++; }
__attribute__((noinline)) static void one(int n) { two(n); sink++; }
/* Lets the other thread go on once it sleeps. */
static void *other(void *path) {
    char state = 0;
    while (state != 'S') {
        FILE *f = fopen(path, "r");
        if (!f || fscanf(f, "%*d %*s %c", &state) != 1)
            exit(2);
        fclose(f);
        usleep(1000);
    }
    usleep(PAUSE_US);
    if (what == 1)
        pthread_mutex_unlock(&lock);
    else if (write(ends[1], "x", 1) != 1)
        exit(2);
    return NULL;
}
int main(int argc, char **argv) {
    pthread_t t;
    char path[64];
    what = atoi(argv[1]);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    if (pipe(ends) || (what == 1 && pthread_mutex_lock(&lock)) || (what && pthread_create(&t, NULL, other, path)))
        return 1;
    one(argc);
    if (what)
        pthread_join(t, NULL);
    printf("%d %lld\n", getpid(), waited);
    return 0;
}
"""


def has_all(frames):
    """Whether all functions of DEEP are there, and what called them. Copies of them are named five.constprop.0 and so on."""
    whole = ["five", "four", "three", "two", "one", "main"]
    names = [f.split()[0].split(".")[0] for f in frames]
    return [n for n in names if n in whole] == whole and "_start" in names


def stacks_without_frame_pointers():
    """Five functions deep: the whole stack of a sleep, of a wait for a lock (which its holder gives back) and of a pipe."""
    compiler = shutil.which("cc")
    if not compiler:
        print("SKIP: no C compiler for a program without frame pointers")
        return
    with open("deep.c", "w", encoding="ascii") as f:
        f.write(DEEP)
    subprocess.run([compiler, "-O2", "-g", "-fomit-frame-pointer", "-fno-optimize-sibling-calls", "-pthread",
                    f"-DPAUSE_US={int(SLEEP_S * 1e6)}", "-o", "deep", "deep.c"], check=True)
    for options in (["--unwind=record"], []):
        for what in ("0", "1", "2"):
            # Kernels leave out some switches from the idle task: then a wait has no user frames. That it has too much is
            # never excused.
            for _ in range(TRIES):
                pid, waited = map(int, record("deep.data", "--call-graph", "dwarf", *options, "./deep", what)[0].split())
                found = [w for w in waits("deep.data") if w[0] == w[1] == pid]
                deep = sum(period for _, _, period, frames in found if has_all(frames))
                check(deep <= waited, f"{options} {what}: {deep} of {waited} ns: {found}")
                if deep >= MOST_NS:
                    break
            check(deep >= MOST_NS, f"{options} {what}: {deep} of {waited} ns have all callers: {found}")


def children():
    for options, seen in (([], True), (["--no-inherit"], False)):
        record("child.data", *options, "sh", "-c", f"sleep {SLEEP_S}; true")
        slept = {}
        for pid, _, period, frames in waits("child.data"):
            if any("nanosleep" in f for f in frames):
                slept[pid] = slept.get(pid, 0) + period
        check(any(ns >= MOST_NS for ns in slept.values()) == seen, f"{options}: a child's sleep: {slept}")


def no_stacks():
    """With a minimum that no wait reaches, there are times but no stacks."""
    record("short.data", "--off-cpu-min", "100000000", "sleep", str(SLEEP_S))
    found = waits("short.data")
    check(all(len(frames) == 1 and frames[0].startswith("short ") for *_, frames in found), f"no stacks: {found}")
    check(sum(period for _, _, period, _ in found) >= MOST_NS, f"but times: {found}")


def evidence(known):
    """Prints everything that may explain the names of frames in the recordings that this test made."""
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
    for test in (a_sleeper, a_lock, one_that_never_wakes, stacks_without_frame_pointers, children, no_stacks):
        before, known = len(support.failures), os.listdir()
        with support.recording():
            test()
        if len(support.failures) > before:
            evidence(known)
sys.exit(support.status())
