#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How recordings end: a full disk, --max-size, SIGKILL, ^C; flat and with DWARF stacks (docs/INTERRUPTED.md).

endings_test.py SONDE [--table]

Each case is recorded on a file system of its own with little room, and read back with sonde and, where it is
installed, perf. With --table what was left is printed. SKIPs where nothing may be mounted or recorded.
"""
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
PERF = shutil.which("perf")
OPEN, WHOLE, FULL, MAX_SIZE = 1, 2, 3, 7  # src/format/perfdata/added/ending.h
ROOM = 600 << 10
LIMIT = 100 << 10
KINDS = {"flat": ["-F", "5000"], "DWARF": ["-F", "5000", "--call-graph", "dwarf"]}
check = support.check


def ending(path):
    """(how, missing bytes, missing ns) of the mark in the preamble."""
    b = open(path, "rb").read()
    data, = struct.unpack_from("<Q", b, 40)
    _, count, size, _, magic = struct.unpack_from("<IIQQQ", b, data - 32)
    check(magic == 0x7365786f42646e53, f"{path} has a preamble")
    for i in range(count):
        tag, _, at, length = struct.unpack_from("<IIQQ", b, data - 32 - 24 * count + 24 * i)
        if tag == 7:
            how, _, missing, ns = struct.unpack_from("<IIQQ", b, data - size + at)
            return how, missing, ns
    return 0, 0, 0


def samples(path, *command):
    r = subprocess.run([*command, "script", "-f", "-i", path, "-F", "tid,time"], capture_output=True, env=support.ENV, timeout=120)
    check(r.returncode == 0, f"{command[0]} reads {path}: {r.stderr.decode()[-300:]}")
    return len([line for line in r.stdout.decode().splitlines() if line.strip()])


def start(kind, *more):
    return subprocess.Popen([SONDE, "record", "-e", "cpu-clock", *KINDS[kind], *more, "-o", "end.data", "--",
                             SONDE, "test", "-w", "noploop", "600"], stderr=subprocess.PIPE, env=support.ENV, text=True)


def ended(p, kind):
    """Waits until something was written, then for the end of the recorder."""
    err = p.communicate(timeout=support.HANG_SECONDS)[1]
    size = os.path.getsize("end.data")
    got, theirs = samples("end.data", SONDE), samples("end.data", PERF) if PERF else None
    check(got > 0, f"{kind}: something is left of it: {err}")
    check(theirs in (None, got), f"{kind}: sonde {got}, perf {theirs} samples")
    return err, size, got, ending("end.data")


def wait_for_data(path):
    until = time.monotonic() + support.HANG_SECONDS
    while time.monotonic() < until:
        if os.path.exists(path) and os.path.getsize(path) > 0:
            size, = struct.unpack_from("<Q", open(path, "rb").read(56), 48) if os.path.getsize(path) >= 56 else (0,)
            if size > 30000:
                return
        time.sleep(0.05)


def full(kind):
    p = start(kind)
    err, size, got, (how, missing, _) = ended(p, kind)
    check(p.returncode == 1 and "No space left" in err, f"{kind}: a full disk is an error: {p.returncode} {err}")
    check(how == FULL and missing > 0, f"{kind}: the mark says so: {how} {missing}")
    check(ROOM // 2 < size <= ROOM, f"{kind}: what fits is written: {size} of {ROOM}")
    return size, got, how, missing, 0


def records_end(path):
    """Where the records end. What comes after them, as much as the images need that samples hit, is not limited."""
    with open(path, "rb") as f:
        return sum(struct.unpack_from("<QQ", f.read(56), 40))


def max_size(kind):
    p = start(kind, f"--max-size={LIMIT // 1024}K")
    err, size, got, (how, missing, _) = ended(p, kind)
    check("--max-size" in err, f"{kind}: it is said: {err}")
    check(how == MAX_SIZE and missing == 0, f"{kind}: the mark says so: {how}")
    records = records_end("end.data")
    check(records < 2 * LIMIT, f"{kind}: {records} bytes of records where {LIMIT} were asked for")
    return size, got, how, missing, 0


def killed(kind):
    p = start(kind)
    wait_for_data("end.data")
    child = open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()
    p.kill()
    for pid in child:
        os.kill(int(pid), signal.SIGKILL)
    _, size, got, (how, missing, ns) = ended(p, kind)
    check(how == OPEN and missing > 0 and ns > 0, f"{kind}: the mark says so: {how} {missing} {ns}")
    return size, got, how, missing, ns


def interrupted(kind):
    p = start(kind)
    wait_for_data("end.data")
    p.send_signal(signal.SIGINT)
    _, size, got, (how, missing, _) = ended(p, kind)
    check(how == WHOLE and missing == 0, f"{kind}: the mark says so: {how}")
    return size, got, how, missing, 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        if support.run([SONDE, "record", "-e", "cpu-clock", "-o", os.path.join(folder, "probe.data"), "true"]).status:
            print("SKIP recording is not allowed here")
            return support.SKIP
        for case in (full, max_size, killed, interrupted):
            for kind in KINDS:
                room = ROOM if case is full else 256 << 20
                disk = os.path.join(folder, "disk")
                os.makedirs(disk, exist_ok=True)
                if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={room}", "none", disk], stderr=subprocess.PIPE).returncode:
                    print("SKIP no file system may be mounted here")
                    return support.SKIP
                try:
                    os.chdir(disk)
                    with support.recording():
                        size, got, how, missing, ns = case(kind)
                    if "--table" in sys.argv:
                        print(f"| {case.__name__} | {kind} | {size} | {got} | {how} | {missing} | {ns} |")
                finally:
                    os.chdir("/")
                    subprocess.run(["umount", disk], check=True)
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
