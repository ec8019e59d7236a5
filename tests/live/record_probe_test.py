#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --probe: probes that last as long as the recording.

record_probe_test.py SONDE

SKIPs where the kernel has no uprobe PMU, or we may not use it.
"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
DEFINED = "/sys/kernel/tracing/uprobe_events"
# The leak checker cannot look at a process that has a probe, because of a mapping that cannot be read.
ENV = dict(support.ENV, ASAN_OPTIONS=support.ENV["ASAN_OPTIONS"] + ":detect_leaks=0")
t = support.Report("record --probe")


def defined():
    try:
        with open(DEFINED, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return None


def record(path, *args, command=(SONDE, "version")):
    probes = [word for probe in args for word in ("--probe", probe)]
    return support.run([SONDE, "record", "-o", path, *probes, "--", *command], env=ENV)


def events(path):
    """[event] of all samples, in their order."""
    r = support.run([SONDE, "script", "-F", "event", "-i", path])
    return [line.strip().rstrip(":") for line in r.out.decode().splitlines()]


def the_libc():
    """glibc's file, as it is mapped; None: another libc."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        found = re.search(r" (/\S*/libc\.so\.6)$", f.read(), re.M)
    return found and found.group(1)


def main():
    if not os.path.isdir("/sys/bus/event_source/devices/uprobe") or os.geteuid() != 0:
        print("SKIP: there is no uprobe PMU, or it is not for us")
        sys.exit(support.SKIP)
    before = defined()
    name = re.sub(r"\W.*", "", os.path.basename(SONDE))
    with tempfile.TemporaryDirectory(prefix="sonde-probe-") as folder:
        path = os.path.join(folder, "probe.data")
        r = record(path, "main")
        if r.status != 0 and re.search("not allowed|Permission|No such device|not permitted", r.err):
            print("SKIP: probes are not allowed:", r.err)
            sys.exit(support.SKIP)
        t.check("status", r.status == 0, r)
        got = events(path)
        t.check("the command's own file", got == [f"probe_{name}:main"], got)
        libc = the_libc()
        if libc:
            r = record(path, f"{libc} write", f"{libc} write%return", command=("/bin/echo", "x"))
            got = events(path)
            t.check("a library: entry, and return", r.status == 0 and got == ["probe_libc:write", "probe_libc:write__return"], (r, got))
        else:
            print("SKIP: a library: this is not glibc")
        r = record(path, f"{SONDE} main", command=("sh", "-c", f"exec {SONDE} version"))
        t.check("a file that is named", r.status == 0 and events(path) == [f"probe_{name}:main"], (r, events(path)))
        r = support.run([SONDE, "evlist", "-i", path])
        t.check("evlist", f"probe_{name}:main" in r.out.decode().split(), r)
        r = record(path, "main argc")
        t.check("arguments", r.status == 1 and "through tracefs only" in r.err and r.err.count("\n") == 1, r)
        r = record(path, "no_such_function_here")
        t.check("no such function", r.status == 1 and "no_such_function_here" in r.err, r)
        r = support.run([SONDE, "record", "-o", path, "-p", str(os.getpid()), "--probe", "main"])
        t.check("no file", r.status == 129 or (r.status == 1 and "name the program" in r.err), r)
        r = record(path, "/no/such/file main")
        t.check("no such file", r.status == 1 and "/no/such/file" in r.err, r)
    t.check("nothing is defined in tracefs", defined() == before, (before, defined()))
    t.finish()


with support.recording():
    main()
