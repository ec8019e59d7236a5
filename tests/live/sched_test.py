#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `sched record` records of a program that sleeps, and what `sched` reports about it: sched_test.py SONDE

SKIPs where the kernel does not let us record tracepoints of all CPUs.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
SLEEP_MS = 100


def sonde(*options):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def main():
    with support.busy():
        r = subprocess.run([SONDE, "sched", "record", "-o", "s.data", "sh", "-c", f"echo $$ > tid; exec sleep {SLEEP_MS / 1000}"],
                           capture_output=True, text=True, env=support.ENV, timeout=300)
    if r.returncode and not os.path.exists("tid"):
        print(f"SKIP: this machine does not record the scheduler: {r.stderr.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(r.returncode == 0, f"sched record: {r.stderr[-300:]}")
    events = sonde("evlist", "-i", "s.data").stdout.split()
    check("sched:sched_switch" in events and "sched:sched_waking" in events, f"events: {events}")
    tid = open("tid").read().strip()
    check(f"prev_pid={tid} " in sonde("sched", "-i", "s.data", "script").stdout, "sched script")
    shown = sonde("sched", "timehist", "-i", "s.data", "-t", tid)
    waits = [float(x.split()[-3]) for x in shown.stdout.splitlines()[3:] if f"[{tid}" in x]
    if "lost" in shown.stderr.lower():
        print("SKIP what it did: events were lost")
        return
    latency = sonde("sched", "latency", "-p", "-i", "s.data").stdout
    in_map = sonde("sched", "map", "-i", "s.data").stdout
    if "do not fit" in shown.stdout + shown.stderr:
        print("SKIP what it did: this kernel leaves out switches from the idle task, so none of its switches may be known")
        return
    # The timer runs from before the thread leaves its CPU, which on a busy machine comes later.
    check(waits and max(waits) >= SLEEP_MS / 2, f"nothing waited {SLEEP_MS} ms:\n{shown.stdout}")
    check(f":{tid} " in latency, "latency has the thread")
    check(f":{tid}\n" in in_map, f"map has the thread:\n{shown.stdout}{shown.stderr}{in_map}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
