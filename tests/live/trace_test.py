#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trace` of a program whose system calls are known: trace_test.py SONDE

SKIPs where the kernel does not let us record tracepoints. Nothing is measured but counts.
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
READS = 37
PROGRAM = f"""
import os
fd = os.open("/dev/zero", os.O_RDONLY)
for i in range({READS}):
    os.read(fd, 4711)
try:
    os.rmdir("/nonexistent-folder")
except OSError:
    pass
os._exit(3)
"""


def trace(*options, status=3):
    r = subprocess.run([SONDE, "trace", *options, sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                       env=support.ENV, timeout=600)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r.stderr


def main():
    r = subprocess.run([SONDE, "trace", "-e", "exit_group", "true"], capture_output=True, text=True, env=support.ENV, timeout=300)
    if r.returncode:
        print(f"SKIP: this machine does not record system calls: {r.stderr.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(re.search(r"true/\d+ exit_group\(\) += \?", r.stderr), f"exit_group of true: {r.stderr}")
    text = trace("-e", "read,rmdir")
    if "were lost" in text:
        print("SKIP counts: events were lost")
        return
    check(len(re.findall(r"read\(fd: \d+[^)]*count: 4711\) += 4711", text)) == READS, f"reads: {text[-600:]}")
    check(re.search(r"rmdir\(.*= -1 ENOENT", text), f"rmdir: {text[-300:]}")
    sums = trace("-s")
    check(re.search(r"^   rmdir +1 +1 ", sums, re.M), f"-s: {sums[-900:]}")
    subprocess.run([SONDE, "trace", "record", "-o", "t.data", sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                   env=support.ENV, timeout=300)
    again = subprocess.run([SONDE, "trace", "-i", "t.data", "-e", "read"], capture_output=True, text=True, env=support.ENV, timeout=300)
    if "lost" not in again.stderr:
        check(len(re.findall(r"count: 4711\) += 4711", again.stderr)) == READS, f"trace record: {again.stderr[-300:]}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
