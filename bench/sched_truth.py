#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what programs measure of themselves with what `sched` reports about them: sched_truth.py SONDE [SECONDS]

One program sleeps, two burn one CPU together, one writes to a pipe and waits for the answer. Each measures its own
time: how long it was off its CPU, how long it ran (CLOCK_THREAD_CPUTIME_ID, which is sum_exec_runtime) and, of the two that
never sleep, how long it waited for the CPU. The table has the differences in percent; `timehist` knows
of switches, of which those times count that lie within the measured one; `latency` has what the scheduler accounted.

SONDE_TRUTH_DROP=1: switches to the sleeper are not recorded, so that when it began is known from the scheduler's account alone.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

WALL, CPU = time.CLOCK_MONOTONIC, time.CLOCK_THREAD_CPUTIME_ID


def now(clock):
    return time.clock_gettime_ns(clock)


def sleeper(seconds):
    """Sleeps of 1 to 20 ms, each until it runs again."""
    slept, end, i = 0, now(WALL) + seconds * 10**9, 0
    while now(WALL) < end:
        before = now(WALL)
        time.sleep((1, 5, 20)[i % 3] / 1000)
        slept += now(WALL) - before
        i += 1
    return {"off": slept}


def rival(seconds):
    end, n = now(WALL) + seconds * 10**9, 0
    while now(WALL) < end:
        n += sum(range(200))
    return {}


def pinger(seconds):
    """Waits 3 ms for each answer, which a child gives."""
    ask, answer = os.pipe(), os.pipe()
    if not os.fork():
        while os.read(ask[0], 1) == b"x":
            time.sleep(0.003)
            os.write(answer[1], b"y")
        os._exit(0)
    waited, end = 0, now(WALL) + seconds * 10**9
    while now(WALL) < end:
        before = now(WALL)
        os.write(ask[1], b"x")
        os.read(answer[0], 1)
        waited += now(WALL) - before
    os.write(ask[1], b"z")
    return {"off": waited}


ACTORS = {"sleeper": sleeper, "rival": rival, "rival2": rival, "pinger": pinger}


def act(name, seconds):
    """Forks an actor that writes what it knows."""
    pid = os.fork()
    if pid:
        return pid
    if name.startswith("rival"):
        os.sched_setaffinity(0, {0})
    else:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with open("/proc/self/comm", "w") as f:
        f.write(name)
    wall, cpu = now(WALL), now(CPU)
    known = ACTORS[name](seconds)
    known["wall"], known["run"] = now(WALL) - wall, now(CPU) - cpu
    if name.startswith("rival"):
        known["delay"] = known["wall"] - known["run"]
    with open(f"{name}.truth", "w") as f:
        json.dump({"tid": os.getpid(), "since": wall, "until": wall + known["wall"], **known}, f)
    os._exit(0)


def all_of_them(seconds):
    for pid in [act(name, seconds) for name in ACTORS]:
        os.waitpid(pid, 0)


def overlap(truth, since, until):
    """ms of a time (in s) that lie within the time in which the program measured itself."""
    return 1000 * max(0, min(until, truth["until"] / 1e9) - max(since, truth["since"] / 1e9))


def timehist(sonde, truth):
    """Sums in ms of what a thread did while it measured itself: each line of timehist is a time off the CPU, of which the
    last part is a wait for one, and the time on it that the switch ended."""
    text = subprocess.run([sonde, "sched", "timehist", "-i", "s.data", "--no-call-graph", "-t", str(truth["tid"])],
                          capture_output=True, text=True).stdout
    told = {"off": 0, "delay": 0, "run": 0}
    for line in text.splitlines():
        m = re.match(r" *(\d+\.\d+) .*\] +(\d+\.\d+) +(\d+\.\d+) +(\d+\.\d+) *$", line)
        if not m:
            continue
        left, off, delay, run = float(m[1]), *(float(x) / 1000 for x in m.groups()[1:])
        told["off"] += overlap(truth, left - run - off, left - run)
        told["delay"] += overlap(truth, left - run - delay, left - run)
        told["run"] += overlap(truth, left - run, left)
    return told


def main():
    sonde, seconds = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        record = [sonde, "sched", "record"]
        if os.environ.get("SONDE_TRUTH_DROP"):
            events = ["sched:sched_switch", "--filter", 'next_comm != "sleeper"']
            for name in "stat_runtime", "waking", "wakeup_new", "process_fork", "process_exec", "process_exit", "migrate_task":
                events += ["-e", "sched:sched_" + name]
            record = [sonde, "record", "-a", "-R", "-m", "1024", "-c", "1", "-e", *events]
        subprocess.run([*record, "-k", "CLOCK_MONOTONIC", "-o", "s.data", sys.executable, ME, "--act", str(seconds)],
                       check=True, capture_output=True)
        table = subprocess.run([sonde, "sched", "latency", "-p", "-i", "s.data"], capture_output=True, text=True).stdout
        accounted = {int(m[1]): float(m[2]) for m in re.finditer(r":(\d+) +\| +(\d+\.\d+) ms", table)}
        print(f"{'program':9} {'what':6} {'itself ms':>11} {'sonde ms':>11} {'difference':>10}")
        for name in ACTORS:
            with open(f"{name}.truth") as f:
                truth = json.load(f)
            told = timehist(sonde, truth)
            for what in ("off", "delay", "run"):
                if what in truth:
                    show(name, what, truth[what] / 1e6, told[what])
            show(name, "run *", truth["run"] / 1e6, accounted.get(truth["tid"], 0))
        print("* as the scheduler accounted it, from the program's first moment on")
        for line in table.splitlines():
            if "bugs" in line or "not recorded" in line:
                print(line)
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs")


def show(name, what, itself, told):
    print(f"{name:9} {what:6} {itself:11.3f} {told:11.3f} {100 * (told - itself) / itself if itself else 0:9.2f}%")


ME = os.path.abspath(__file__)
if sys.argv[1] == "--act":
    all_of_them(int(sys.argv[2]))
else:
    main()
