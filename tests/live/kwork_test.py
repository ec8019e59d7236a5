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


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
