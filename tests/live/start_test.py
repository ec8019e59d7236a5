#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is recorded where an event does not exist, and into a pipe that nobody named.

start_test.py SONDE

SKIPs where the kernel lets us record nothing; what needs a machine without hardware counters says so.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check


def names(path):
    return support.run([SONDE, "evlist", "-i", path]).out.decode().split()


def piped():
    """Standard output is a pipe, and nobody said -o: the recording goes there, the command's output does not."""
    r = support.run([SONDE, "record", "-e", "cpu-clock:u", "sh", "-c", "echo from $((40 + 2))"])
    check(r.out[:8] == b"PERFILE2", f"the recording goes into the pipe: {r.out[:40]}")
    check(b"from 42" not in r.out and "from 42" in r.err, "the command's output goes to standard error")
    check(not os.path.exists("perf.data"), "there is no perf.data then")
    read = support.run([SONDE, "script", "-i", "-", "-F", "comm"], stdin=r.out)
    check(read.status == 0, f"it can be read: {read.err}")
    with open("output", "wb") as out:
        subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "echo", "hello"], stdout=out, env=support.ENV, check=True)
    check(open("output").read() == "hello\n" and os.path.exists("perf.data"), "a file as standard output is the command's")


def without_counters():
    for events, want, notes in (("cycles", ["task-clock"], 1), ("cycles:u", ["task-clock:u"], 1),
                                ("{cycles,instructions}", ["task-clock"], 2), ("cpu-clock,instructions", ["cpu-clock"], 1)):
        r = support.run([SONDE, "record", "-e", events, "-o", "events.data", "true"])
        got = [n.rstrip("u").rstrip(":") if n != w and n == w + ":u" else n for n, w in zip(names("events.data"), want)]
        check(r.status == 0 and got == want, f"{events}: {names('events.data')}, not {want}: {r.err}")
        check(r.err.count("this machine does not have this event") == notes, f"{events}: {notes} notes: {r.err}")
    r = support.run([SONDE, "record", "-e", "cycles", "-o", "none.data", "--", "/no/such/program"])
    check(r.status == 1 and r.err.count("\n") == 1, f"before a command that is not there nothing is said: {r.err}")
    r = support.run([SONDE, "record", "-e", "instructions", "-o", "none.data", "true"])
    check(r.status == 1 and "does not have this event" in r.err, f"nothing is left to record: {r.err}")
    if os.geteuid() == 0:
        r = support.run([SONDE, "record", "-a", "-e", "cycles", "-o", "all.data", "true"])
        check(names("all.data")[0] == "cpu-clock", f"-a: {names('all.data')}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        r = support.run([SONDE, "record", "-e", "cpu-clock:u", "-o", "probe.data", "true"])
        if r.status:
            print(f"SKIP recording: {r.err.strip()}")
            return support.SKIP
        piped()
        if support.run([SONDE, "record", "--dry-run", "-e", "instructions", "true"]).status == 0:
            print("SKIP without counters: this machine has them")
        else:
            without_counters()
        os.chdir("/")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
