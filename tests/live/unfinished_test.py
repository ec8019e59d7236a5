#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose recorder was killed: each command says so, and what is there is shown, with its times.

unfinished_test.py SONDE

SKIPs where the kernel lets us record nothing.
"""
import json
import os
import re
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
SIZE_AT, BITS_AT = 48, 72  # data.size and the features' bits in the file's head
t = support.Report("unfinished")


def head(path):
    """(data.size, any feature bit)."""
    try:
        with open(path, "rb") as f:
            data = f.read(BITS_AT + 32)
    except FileNotFoundError:
        return 0, False
    return (struct.unpack_from("<Q", data, SIZE_AT)[0], any(data[BITS_AT:])) if len(data) == BITS_AT + 32 else (0, False)


def kill_recorder(recorder, path, *options, until=lambda path: head(path)[0] > 20000):
    """Records a program that never ends, and kills the recorder once the file has something."""
    p = subprocess.Popen([*recorder, "record", "-e", "cpu-clock", *options, "-o", path, "--", SONDE, "test", "-w",
                          "noploop", "1000"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=support.ENV,
                         start_new_session=True)
    limit = time.monotonic() + support.HANG_SECONDS
    while p.poll() is None and not until(path) and time.monotonic() < limit:
        time.sleep(0.05)
    ended = p.poll() is not None
    p.kill()
    os.killpg(p.pid, signal.SIGKILL)  # the program, too: the session has no others
    err = p.communicate()[1].decode("utf-8", "replace")
    if ended:
        print("SKIP: nothing may be recorded here: " + err.strip())
        sys.exit(support.SKIP)


def check(path, what, missing):
    words = f"the recording was not finished .*{missing}"
    for command in (["report", "--stdio", "-i", path], ["script", "-i", path], ["report", "--header-only", "-i", path]):
        r = support.run([SONDE, *command])
        t.check(f"{what}: {command[0]}", r.status == 0 and len(re.findall(words, r.err)) == 1, lambda r=r: r)
    r = support.run([SONDE, "doctor", "--json", path])
    found = {f["id"]: f for f in json.loads(r.out)["findings"]}
    t.check(f"{what}: doctor", re.match(words, found.get("unfinished", {"text": ""})["text"]) and
            found["unfinished"]["severity"] == "warning" and found["unfinished"]["advice"], lambda: found)


def duration_ms(path):
    r = support.run([SONDE, "report", "--header-only", "-i", path])
    m = re.search(rb"^# sample duration : +([\d.]+) ms", r.out, re.M)
    return float(m.group(1)) if m else None, r.out.decode()


def times(path, *options):
    r = support.run([SONDE, "script", "-F", "time", *options, "-i", path])
    return [float(x) for x in re.findall(rb"[\d.]+(?=:)", r.out)]


def killed_sonde(folder):
    path = os.path.join(folder, "sonde.data")
    kill_recorder([SONDE], path)
    check(path, "killed sonde record", r"at most [\d.]+ \w+ of records, of the last [\d.]+ s, are missing")
    all_times = times(path)
    found, text = duration_ms(path)
    t.check("killed sonde record: duration", abs(found - 1000 * (max(all_times) - min(all_times))) < 0.01 and found > 0,
            lambda: (found, all_times[0], all_times[-1]))
    t.check("killed sonde record: header", re.search("^# recording was not finished .* are missing$", text, re.M), text)
    half = times(path, "--time", "0%-50%")
    t.check("killed sonde record: half of its time", 0 < len(half) < len(all_times), (len(half), len(all_times)))


def killed_without_mark(folder):
    """As perf leaves it: neither size nor tables. Its file, or where there is no perf, ours cut down to that."""
    path = os.path.join(folder, "perf.data")
    if PERF:
        kill_recorder([PERF], path, until=lambda path: os.path.exists(path) and os.path.getsize(path) > 20000)
    else:
        r = support.run([SONDE, "record", "-e", "cpu-clock", "-o", path, "--", SONDE, "test", "-w", "noploop", "1"])
        t.check("record", r.status == 0, r)
        with open(path, "r+b") as f:
            data = bytearray(f.read())
            offset, size = struct.unpack_from("<QQ", data, SIZE_AT - 8)
            struct.pack_into("<Q", data, SIZE_AT, 0)
            data[BITS_AT:BITS_AT + 32] = bytes(32)
            data[offset - 8:offset] = bytes(8)  # the preamble's end: there is none now
            f.seek(0)
            f.write(data)
            f.truncate(offset + size)
    check(path, "killed perf record", "what came last is missing")
    t.check("killed perf record: its samples", len(times(path)) > 10, lambda: len(times(path)))


def whole(folder):
    path = os.path.join(folder, "whole.data")
    r = support.run([SONDE, "record", "-e", "cpu-clock", "-o", path, "--", SONDE, "test", "-w", "noploop", "1"])
    t.check("whole: record", r.status == 0, r)
    r = support.run([SONDE, "report", "--header", "--stdio", "-i", path])
    t.check("whole: nothing is said", "not finished" not in r.err + r.out.decode(), r)


with tempfile.TemporaryDirectory(prefix="sonde-unfinished-") as top, support.recording():
    killed_sonde(top)
    killed_without_mark(top)
    whole(top)
t.finish()
