#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often `stat --vs` is wrong: of the same program twice (A/A), quiet and under a load that comes and goes, and of one that is 2 %
slower. Other load on the machine is part of what is measured, and shown.

verdict.py BUILD [--tries 200] [--for 2s] [--power 10] [--power-for 60s] [--simulate 1000]

BUILD/sonde is measured; BUILD/verdict (ninja units) has the simulated machines.
"""
import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PRIMARY = ("cpu time", "elapsed time")
BURST = "import sys,time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass\n"


class Bursts:
    """Something that wants a CPU for up to half a second, and then not for up to a second."""

    def __enter__(self):
        script = ("import random, subprocess, sys, time\n"
                  "while True:\n"
                  "    subprocess.run([sys.executable, '-S', '-c', sys.argv[1], str(random.uniform(0.02, 0.5))])\n"
                  "    time.sleep(random.uniform(0.02, 1))\n")
        self.run = subprocess.Popen([sys.executable, "-S", "-c", script, BURST], start_new_session=True)
        return self

    def __exit__(self, *_):
        os.killpg(self.run.pid, 15)
        self.run.wait()


def calibrate(program, seconds):
    """Thousands of steps that take so long."""
    best = min(timed(program, 20000) for _ in range(7))
    return max(1, int(20000 * seconds / best))


def timed(program, steps):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([program, str(steps)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return max(1e-4, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def compare(sonde, program, a, b, budget):
    r = subprocess.run([sonde, "stat", "-j", "--for", budget, "--vs", f"{program} {b}", "--", program, str(a)],
                       capture_output=True, text=True, check=True)
    return json.loads(r.stdout)


def called(result, verdicts):
    """Which primary measures one of the verdicts was given for."""
    said = {m["name"]: m["verdict"] for m in result["comparisons"][0]["measures"] if m["primary"]}
    return [said[name] in verdicts for name in PRIMARY]


def row(name, results, start, verdicts=("less", "more")):
    n = len(results)
    cpu, wall = (sum(called(r, verdicts)[i] for r in results) for i in range(2))
    either = sum(any(called(r, verdicts)) for r in results)
    pairs = sum(r["pairs"] for r in results) / n
    load = os.getloadavg()[0]
    print(f"{name:<28} {n:>5} {cpu:>4} ({100 * cpu / n:4.1f} %) {wall:>4} ({100 * wall / n:4.1f} %) {either:>4} "
          f"({100 * either / n:4.1f} %) {pairs:>7.1f} {time.monotonic() - start:>6.0f} s {load:>6.1f}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("--tries", type=int, default=200, help="A/A comparisons, half of them under bursts")
    p.add_argument("--for", dest="budget", default="2s")
    p.add_argument("--power", type=int, default=10, help="comparisons with a program that is 2 %% slower")
    p.add_argument("--power-for", default="60s")
    p.add_argument("--simulate", type=int, default=1000)
    args = p.parse_args()
    sonde = os.path.join(args.build, "sonde")
    with tempfile.TemporaryDirectory() as folder:
        work = os.path.join(folder, "work")
        subprocess.run(["cc", "-O2", "-o", work, os.path.join(HERE, "verdict_work.c")], check=True)
        print(f"{'':<28} {'tries':>5} {'cpu differs':>13} {'wall differs':>13} {'either':>13} {'pairs':>7} {'took':>8} {'load':>6}")
        short = calibrate(work, 0.005)
        for name, loaded in (("A/A, 5 ms", False), ("A/A, 5 ms, bursty load", True)):
            n, start = args.tries // 2, time.monotonic()
            if not n:
                continue
            with Bursts() if loaded else contextlib.nullcontext():
                results = [compare(sonde, work, short, short, args.budget) for _ in range(n)]
            row(name, results, start)
        if args.power:
            start, steps = time.monotonic(), calibrate(work, 0.1)
            results = [compare(sonde, work, steps, steps * 102 // 100, args.power_for) for _ in range(args.power)]
            row("2 % slower, 0.1 s: found", results, start, ("more",))
    if args.simulate:
        print(f"\nsimulated machines, {args.simulate} comparisons each:")
        r = subprocess.run([os.path.join(args.build, "verdict")], env=dict(os.environ, SONDE_VERDICT_TRIES=str(args.simulate)),
                           capture_output=True, text=True)
        print("".join(line for line in r.stdout.splitlines(True) if line[0] in "A2"), end="")
        return r.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
