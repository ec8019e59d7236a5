#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`record --filter` of samples: all that is recorded matches, and without a filter there is what does not: filter_test.py SONDE

SKIPs where nothing can be recorded, or BPF programs cannot be loaded.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
# Two children that compute until each has used 0.3 s of CPU time: samples are taken by it.
CHILD = "import time\nwhile time.process_time() < 0.3: sum(range(1000))"
PROGRAM = f"""import subprocess, sys
for p in [subprocess.Popen([sys.executable, "-S", "-c", {CHILD!r}]) for _ in range(2)]:
    p.wait()
"""
Sample = collections.namedtuple("Sample", "pid cpu time ip")


def matches_none(_):
    return False


def matches_all(_):
    return True


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, env=support.ENV, timeout=300)


def record(*options, event="cpu-clock"):
    """(its status, what it said, samples)"""
    r = run(SONDE, "record", "-o", "f.data", "-F", "499", "--sample-cpu", "-e", event, *options, "--", sys.executable, "-S", "-c", PROGRAM)
    if r.returncode:
        return r.returncode, r.stderr, []
    text = run(SONDE, "script", "-i", "f.data", "-F", "pid,cpu,time,ip").stdout
    found = re.findall(r"^\s*(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d+):\s+([0-9a-f]+)", text, re.M)
    return 0, r.stderr, [Sample(int(p), int(c), int(s) * 10**9 + int(n.ljust(9, "0")), int(ip, 16)) for p, c, s, n, ip in found]


def left_out(said):
    m = re.search(r"(\d+) samples did not match the filter", said)
    return int(m.group(1)) if m else 0


def matching(everything):
    """A filter, and whether a sample matches it. Which CPUs a program runs on, and how much in the kernel, differs from run to
    run: what must be recorded is known only where no sample matches, or all do."""
    user = 1 << 63
    yield f"ip < {user}", lambda x: x.ip < user
    yield f"ip >= {user:#x}", lambda x: x.ip >= user
    cpu = everything[0].cpu
    yield f"cpu != {cpu}", lambda x: x.cpu != cpu
    yield f"cpu == {cpu} || cpu == {cpu + 1}, ip < {user}", lambda x: x.cpu in (cpu, cpu + 1) and x.ip < user
    yield "uid == 4294967294 || pid == 1", matches_none
    yield "period > 0, tid > 1, gid >= 0, time > 0, cpu < 100000", matches_all


def main():
    status, said, everything = record()
    if status or not everything:
        print(f"SKIP: nothing can be recorded: {said.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(left_out(said) == 0, "without a filter nothing is left out")
    check(any(x.ip < 1 << 63 for x in everything), "samples of programs")
    status, said, samples = record("--filter", "pid > 0")
    if status:
        print(f"SKIP: BPF programs cannot be loaded: {said.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(len(samples) > 0 and left_out(said) == 0, f"all match: {said}")
    check(len({x.pid for x in samples}) > 1, "children, too")
    for text, fits in matching(everything):
        status, said, samples = record("--filter", text)
        check(status == 0, f"{text}: {said}")
        check(all(fits(x) for x in samples), f"{text}: {[x for x in samples if not fits(x)][:3]}")
        check(samples or left_out(said), f"{text}: neither recorded nor left out: {said}")
        if fits is matches_none:
            check(not samples and left_out(said), f"{text}: {said}")
        if fits is matches_all:
            check(samples and left_out(said) == 0, f"{text}: {said}")
    status, said, samples = record("-d", "--filter", "mem_op == na, addr == 0", "--filter", "mem_op != load || mem_op == store")
    check(samples and left_out(said) == 0, f"the data source of a clock: {said}")
    status, said, samples = record("-d", "--filter", "mem_op == load || mem_lvl == l2")
    check(status == 0 and not samples and left_out(said), f"which is no load: {said}")
    for text, word in (("pid = 1", "operator"), ("mem_op == load", "-d"), ("prev_pid == 0", "no term")):
        status, said, samples = record("--filter", text)
        check(status != 0 and word in said, f"{text}: {said}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
