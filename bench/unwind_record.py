#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `record --call-graph dwarf --unwind=record` costs and saves, beside perf and beside dumps, all at once over the whole machine.

unwind_record.py SONDE PERF [-F HZ] [-m PAGES] [-s SECONDS] [-z]

Every recorder records all CPUs at the same time with the same options, so each sees the same work (start some; the recorders are
part of it). Prints for each: samples, lost events, bytes for each sample, the file's size, and the CPU time it took in the first
five seconds and after them, in percent of one core. Needs the right to record everything.
"""
import argparse
import os
import re
import signal
import subprocess
import tempfile
import time

COLD_SECONDS = 5


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def samples_of(sonde, data):
    text = subprocess.run([sonde, "report", "-i", data, "--stats"], capture_output=True, text=True).stdout
    found = re.search(r"SAMPLE events:\s+(\d+)", text)
    return int(found.group(1)) if found else 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("sonde")
    p.add_argument("perf", nargs="?")
    p.add_argument("-F", dest="frequency", type=int, default=4000)
    p.add_argument("-m", dest="pages", type=int, default=1024)
    p.add_argument("-s", dest="seconds", type=float, default=20)
    p.add_argument("-z", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="unwind-record-") as d:
        dwarf = ["--call-graph", "dwarf"]
        runs = [("sonde --unwind=record", [o.sonde], ["--unwind=record"]), ("sonde", [o.sonde], [])]
        if o.perf:
            runs.append(("perf", [o.perf], []))
        started = []
        for i, (name, command, more) in enumerate(runs):
            data = os.path.join(d, f"{i}.data")
            full = [*command, "record", "-a", "-F", str(o.frequency), "-m", str(o.pages), *dwarf, *more, *(["-z"] if o.z else []),
                    "-o", data]
            started.append((name, data, subprocess.Popen(full, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)))
        time.sleep(COLD_SECONDS)
        cold = [cpu_seconds(x.pid) for _, _, x in started]
        time.sleep(o.seconds - COLD_SECONDS)
        warm = [cpu_seconds(x.pid) for _, _, x in started]
        for _, _, x in started:
            x.send_signal(signal.SIGINT)
        print(f"{'':24} {'samples':>9} {'lost':>8} {'bytes':>13} {'a sample':>9} {'first 5 s':>9} {'after':>7} {'at the end':>10}")
        for (name, data, x), a, b in zip(started, cold, warm):
            message = x.stderr.read().decode("utf-8", "replace")
            _, _, usage = os.wait4(x.pid, 0)
            samples = samples_of(o.sonde, data)
            lost = re.search(r"lost (\d+) event", message)
            size = os.path.getsize(data)
            end = usage.ru_utime + usage.ru_stime - b
            print(f"{name:24} {samples:9} {lost.group(1) if lost else 0:>8} {size:13} {size / max(samples, 1):9.1f} {100 * a / COLD_SECONDS:8.1f}% "
                  f"{100 * (b - a) / (o.seconds - COLD_SECONDS):6.1f}% {end:8.2f} s")


if __name__ == "__main__":
    main()
