#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every way to give a command its recording, and every way to fail at that: input_test.py SONDE FIXTURES

A pipe, a FIFO, standard input and a directory read like the file. What is no recording costs one clear line, and
status 1.
"""
import fcntl
import os
import re
import struct
import sys
import tempfile
import termios
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
COMMANDS = [
    ["report", "--stats"],
    ["report", "-D"],
    ["report", "--header-only"],
    ["script"],
    ["evlist"],
    ["buildid-list"],
    ["inject", "-o", "-"],
    ["data", "convert", "--force", "--to-json", "/dev/stdout"],
]
# A recording through a pipe has its tables made of other bytes, so a copy of it is not the file.
UNLIKE_THE_FILE = {("inject", "file"), ("report", "file")}
NOBODY = 65534
DATA_AT = 40  # in a file's header: where the data begins


def sonde(command, path, **more):
    return support.run([SONDE] + command + ["-i", path], **more)


def unread(f):
    return struct.unpack("i", fcntl.ioctl(f, termios.FIONREAD, bytes(4)))[0]


def through_fifo(command, data, folder, firsts=()):
    """The first bytes, as many as `firsts` says, come by themselves: what follows waits until they were read."""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    over = threading.Event()

    def feed():
        at = 0
        try:
            with open(fifo, "wb", buffering=0) as f:
                for size in firsts:
                    f.write(data[at:at + size])
                    at += size
                    while unread(f) and not over.is_set():
                        time.sleep(0.001)
                with memoryview(data) as rest:
                    while at < len(data):
                        at += f.write(rest[at:])
        except BrokenPipeError:
            pass
    writer = threading.Thread(target=feed, daemon=True)
    writer.start()
    try:
        return sonde(command, fifo)
    finally:
        over.set()
        os.unlink(fifo)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def undated(text):
    """Without the date of the file, which a pipe does not have."""
    return re.sub(rb'"captured-on": "[^"]*"|# captured on.*', b"", text)


def check_ways(report, command, folder):
    for name in ("demo.data", "demo.pipe.data", "types/SAMPLE.be.v2.data", "types/SAMPLE.be.pipe.data"):
        path = os.path.join(FIXTURES, name)
        data = read(path)
        kind = "pipe" if support.is_pipe(data) else "file"
        what = f"{' '.join(command)} of {name}"
        want = sonde(command, path)
        if not report.check(what, want.status == 0 and want.out, f"status {want.status}: {want.err[:300]}"):
            continue
        for way, got in (("-i -", sonde(command, "-", stdin=data)),
                         ("a FIFO", through_fifo(command, data, folder)),
                         ("a FIFO in pieces", through_fifo(command, data, folder, (7, 9, 60, 100)))):
            same = undated(got.out) == undated(want.out) or (command[0], kind) in UNLIKE_THE_FILE and got.out
            report.check(f"{what} through {way}", got.status == 0 and same,
                         f"status {got.status}, {len(got.out)} bytes of output, of the file {len(want.out)}: {got.err[:300]}")
    directory = os.path.join(FIXTURES, "types/SAMPLE.le.dir.data")
    got = sonde(command, directory)
    report.check(f"{' '.join(command)} of a directory", got.status == 0 and got.out,
                 f"status {got.status}: {got.err[:300]}")


def one_line(report, what, got, words):
    """Status 1, nothing on standard output but what was already known, one line on stderr that says `words`."""
    lines = got.err.strip().split("\n")
    ok = got.status == 1 and len(lines) == 1 and any(w in lines[0] for w in words)
    report.check(what, ok, f"status {got.status}, stderr {got.err[:400]!r}")


def check_failures(report, command, folder):
    def file(name, content):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    name = " ".join(command)
    one_line(report, f"{name}: a missing file", sonde(command, os.path.join(folder, "absent.data")), ["No such file"])
    one_line(report, f"{name}: an empty file", sonde(command, file("empty", b"")), ["empty", "zero-sized", "not a perf.data"])
    one_line(report, f"{name}: nothing on stdin", sonde(command, "-", stdin=b""), ["nothing came through the pipe"])
    one_line(report, f"{name}: a text file", sonde(command, file("text", b"no recording, just words\n" * 20)),
             ["not a perf.data"])
    one_line(report, f"{name}: folded stacks", sonde(command, file("folded", b"main;work 3\n")),
             ["`sonde view` shows them" if command[0] in ("report", "script") else "not a perf.data"])
    one_line(report, f"{name}: text on stdin", sonde(command, "-", stdin=b"no recording, just words\n" * 20),
             ["not a perf.data"])
    one_line(report, f"{name}: a file cut within its magic", sonde(command, file("magic", b"PERFI")),
             ["not a perf.data", "cut"])
    one_line(report, f"{name}: a file cut within its header", sonde(command, file("head", b"PERFILE2h" + bytes(15))),
             ["header"])
    data = bytearray(read(os.path.join(FIXTURES, "demo.data")))
    struct.pack_into("<Q", data, DATA_AT, len(data) + 4096)
    got = sonde(command, file("dataless", data))
    report.check(f"{name}: a file without its data", got.status == 1 and got.err.count("the recording is cut") == 1 and
                 "outside the file" not in got.err, f"status {got.status}, stderr {got.err[:400]!r}")
    os.makedirs(os.path.join(folder, "hollow"), exist_ok=True)
    one_line(report, f"{name}: a directory without data", sonde(command, os.path.join(folder, "hollow")), ["data"])
    if os.getuid() == 0:  # root may read everything: become somebody who may not
        # what is after the path must be reachable for that user
        os.chmod(folder, 0o755)
        secret = file("secret", read(os.path.join(FIXTURES, "demo.data")))
        os.chmod(secret, 0)
        try:
            got = sonde(command, secret, user=NOBODY, group=NOBODY, extra_groups=[])
        except PermissionError:
            print("SKIP a file without permission: sonde itself is out of reach for an unprivileged user")
            return
    else:
        secret = file("secret", b"x")
        os.chmod(secret, 0)
        got = sonde(command, secret)
    one_line(report, f"{name}: a file without permission", got, ["Permission denied"])
    os.unlink(secret)


def check_progress(report, folder):
    """A pipe that takes long is told on a terminal, in a line that goes; not with -q."""
    slow = os.path.join(folder, "slow.py")
    with open(slow, "w", encoding="ascii") as f:  # then FINISHED_ROUND records
        f.write(f"""import shutil, struct, sys, time
shutil.copyfileobj(open({os.path.join(FIXTURES, 'demo.pipe.data')!r}, "rb"), sys.stdout.buffer)
for i in range(4):
    time.sleep(0.4)
    sys.stdout.buffer.write(struct.pack("<IHH", 68, 0, 8) * 200000)
""")
    for quiet, want in ("", True), ("-q", False):
        command = f"{sys.executable} {slow} | {SONDE} report -i - --stdio {quiet} > {folder}/out"
        status, shown = support.on_terminal(["/bin/sh", "-c", command])
        lines = re.findall(r"\rreading -: [\d.]+ MB, \d+ MB/s\x1b\[K", shown)
        report.check(f"progress {quiet}", status == 0 and bool(lines) == want, f"{status} {shown!r}")
        report.check(f"progress {quiet}: it goes", not lines or "\r\x1b[K" in shown[shown.rindex("MB/s"):], repr(shown))


def main():
    report = support.Report("input")
    for command in COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            if "not there yet" in sonde(command, os.path.join(FIXTURES, "demo.data")).err:
                continue
            for part in (check_ways, check_failures):
                try:
                    part(report, command, folder)
                except support.Crash as e:
                    report.bad(" ".join(command), str(e))
    with tempfile.TemporaryDirectory() as folder:
        check_progress(report, folder)
    report.finish()


main()
