#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `kwork record` records while a file is written, and whether the views of it agree: kwork_test.py SONDE

SKIPs where the kernel does not let us record tracepoints of all CPUs. How much work there is, is the kernel's affair.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check


def sonde(*options):
    r = subprocess.run([SONDE, "kwork", *options], capture_output=True, text=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r.stdout


def main():
    r = subprocess.run([SONDE, "kwork", "record", "-o", "k.data", "dd", "if=/dev/zero", "of=written", "bs=64K", "count=64", "conv=fsync"],
                       capture_output=True, text=True, env=support.ENV, timeout=300)
    if r.returncode and not os.path.exists("written"):
        print(f"SKIP: this machine does not record the kernel's work: {r.stderr.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(r.returncode == 0, f"kwork record: {r.stderr[-300:]}")
    events = subprocess.run([SONDE, "evlist", "-i", "k.data"], capture_output=True, text=True, env=support.ENV, timeout=300).stdout.split()
    check({"irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit", "sched:sched_switch"} <= set(events), f"events: {events}")
    rows = json.loads(sonde("report", "-i", "k.data", "--json"))["rows"]
    runs = json.loads(sonde("timehist", "-i", "k.data", "--json"))["runs"]
    check(sum(x["runs"]["count"] for x in rows) == len(runs), "as many runs in sums as one by one")
    check(sum(x["runs"]["total_ns"] for x in rows) == sum(x["until_ns"] - x["since_ns"] for x in runs), "and as long")
    check(sum(x["delays"]["count"] for x in rows) == sum("raise_ns" in x for x in runs), "and as many delays")
    check(all(x["inner_ns"] <= x["until_ns"] - x["since_ns"] and x.get("raise_ns", 0) <= x["since_ns"] for x in runs), "times in order")
    top = json.loads(sonde("top", "-i", "k.data", "--json"))
    check(all(x["busy_ns"] + x["idle_ns"] <= top["window_ns"] for x in top["cpus"]), f"CPUs: {top['cpus']}")
    check(sum(x["run_ns"] for x in top["threads"]) <= sum(x["busy_ns"] for x in top["cpus"]), "threads within what was busy")


def by_work(report):
    """{work on a CPU: (runs, ns, delays, the longest run)}"""
    return {(x["class"], x.get("number", x.get("work")), x["cpu"]): (x["runs"]["count"], x["runs"]["total_ns"], x["delays"]["count"], x["runs"].get("max_ns", 0))
            for x in report["rows"]}


def summed_in_the_kernel():
    """The same time, recorded and summed by BPF: a work on a CPU may be running, or raised, when one of them begins or ends. Times are
    taken at the same events, but not at the same instant of them: where a hypervisor or a slow machine stops in between, longer runs differ."""
    dd = ("dd", "if=/dev/zero", "of=written", "bs=64K", "count=64", "conv=fsync")
    with support.busy():
        r = subprocess.run([SONDE, "kwork", "record", "-k", "CLOCK_MONOTONIC", "-o", "both.data", "--", SONDE, "kwork", "report", "-b", "--json", *dd],
                           capture_output=True, text=True, env=support.ENV, timeout=300)
    if "BPF" in r.stderr or "lost" in r.stderr:
        print(f"SKIP: {r.stderr.strip()[-300:]}")
        return
    check(r.returncode == 0, f"report -b: status {r.returncode}, {r.stderr[-300:]}")
    live = json.loads(r.stdout)
    seconds = [f"{x // 10**9}.{x % 10**9:09d}" for x in (live["begin_ns"], live["begin_ns"] + live["window_ns"])]
    file = by_work(json.loads(sonde("report", "-i", "both.data", "--json", "--time", ",".join(seconds))))
    live = by_work(live)
    check(live, "nothing was summed")
    for work in live.keys() | file.keys():
        a, b = live.get(work, (0,) * 4), file.get(work, (0,) * 4)
        check(abs(a[0] - b[0]) <= 1 and abs(a[2] - b[2]) <= 1, f"{work}: summed {a}, recorded {b}")
    runs, ns = ([sum(x[i] for x in rows.values()) for rows in (live, file)] for i in (0, 1))
    check(abs(ns[0] - ns[1]) <= max(ns) // 4 + max(x[3] for x in file.values()) + 10_000 * max(runs), f"{runs} runs, {ns} ns")
    r = subprocess.run([SONDE, "kwork", "top", "-b", "--json", "--", "sh", "-c", "exit 3"], capture_output=True, text=True, env=support.ENV, timeout=300)
    check(r.returncode == 3, f"the command's status is ours: {r.returncode}, {r.stderr[-300:]}")
    top = json.loads(r.stdout)
    check(top["threads"], f"top -b: {top}")
    check(all(x["busy_ns"] + x["idle_ns"] <= top["window_ns"] + 1_000_000 for x in top["cpus"]), f"CPUs: {top}")
    r = subprocess.run([SONDE, "kwork", "latency", "-b", "-C", "0", "true"], capture_output=True, text=True, env=support.ENV, timeout=300)
    check(r.returncode == 0 and "Avg delay" in r.stdout and "| 0001 |" not in r.stdout, f"latency -b -C: {r.stdout} {r.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    summed_in_the_kernel()
sys.exit(support.status())
