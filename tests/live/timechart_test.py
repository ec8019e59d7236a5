#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `timechart record -I` records of a program whose input and output are known: timechart_test.py SONDE

SKIPs where the kernel does not let us record system calls of all CPUs, or loses some of them.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
COUNT, SIZE = 100, 1000
# It has a name of its own, writes what it then reads, is told to try again, and waits in a poll that times out.
PROGRAM = f"""
import os, select
open("/proc/self/comm", "w").write("io_actor")
ends = os.pipe()
os.set_blocking(ends[0], False)
for i in range({COUNT}):
    os.write(ends[1], bytes({SIZE}))
    os.read(ends[0], {SIZE})
try:
    os.read(ends[0], 1)
except BlockingIOError:
    pass
poll = select.poll()
poll.register(ends[0], select.POLLIN)
poll.poll(50)
"""


def sonde(*options):
    return subprocess.run([SONDE, "timechart", *options], capture_output=True, text=True, env=support.ENV, timeout=600)


def title(*options):
    """What the chart says of the program: bytes in and out, seconds in polls, calls, failures."""
    r = sonde("-i", "io.data", "-o", "io.svg", "-p", "io_actor", *options)
    check(r.returncode == 0, f"timechart: {r.stderr[-300:]}")
    with open("io.svg", encoding="utf-8") as f:
        m = re.search(r"<title>io_actor:\d+ read or received (\d+) bytes, wrote or sent (\d+), in [\d.]+ s; "
                      r"waited in polls ([\d.]+) s; (\d+) calls, (\d+) failed", f.read())
    check(m, "the program is in the chart")
    return [float(x) for x in m.groups()] if m else [0] * 5


def main():
    with support.recording():
        r = sonde("record", "-I", "-o", "io.data", sys.executable, "-c", PROGRAM)
    if not os.path.exists("io.data"):
        print(f"SKIP: this machine does not record system calls: {r.stderr.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(r.returncode == 0, f"timechart record: {r.stderr[-300:]}")
    if "lost" in r.stderr.lower():
        print("SKIP what it did: events were lost")
        return
    read, wrote, polled, calls, failed = title()
    check(read >= COUNT * SIZE and wrote >= COUNT * SIZE, f"bytes: {read}, {wrote}")
    check(wrote == COUNT * SIZE + len("io_actor"), f"it wrote that, and its name: {wrote}")
    check(polled >= 0.045, f"it waited 50 ms in a poll: {polled}")
    check(failed >= 1, f"it was told to try again: {failed}")
    less = title("--io-skip-eagain")
    check(less[3] == calls - 1 and less[4] == failed - 1, f"--io-skip-eagain: {less} of {calls} calls, {failed} failed")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
