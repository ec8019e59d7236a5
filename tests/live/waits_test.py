#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `sonde waits` says of programs that know what they wait for: waits_test.py SONDE CASES

Each case says who waits for what. Until it waits, and ever after, each answer must be right or "unknown". SKIPs where /proc
does not show system calls.
"""
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import stall_fs  # noqa: E402
import support  # noqa: E402

SONDE, CASES = (os.path.abspath(p) for p in sys.argv[1:3])
check = support.check
GUARD_SECONDS = 120  # to be waited for: nothing is measured
UNKNOWN = "a futex, owner unknown"
WAY = []  # by BPF where the kernel lets us, or by /proc


class Case:
    def __init__(self, name):
        self.name, self.said = name, {}

    def __enter__(self):
        self.process = subprocess.Popen([CASES, self.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.read_until("ready")
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def read_until(self, end):
        while (line := self.process.stdout.readline().strip()) != end:
            if not line:
                raise RuntimeError(f"{self.name} ended early")
            name, _, value = line.partition("=")
            self.said[name] = value if name == "path" else int(value)

    def name_of(self, key):
        """Threads that say who they are only when they run."""
        while key not in self.said:
            line = self.process.stdout.readline().strip()
            if not line:
                raise RuntimeError(f"{self.name} ended early")
            name, _, value = line.partition("=")
            self.said[name] = int(value)
        return self.said[key]


def look(*options):
    r = support.run([SONDE, "waits", "--json", *WAY, *options])
    if r.status != 0 or not r.out:
        raise RuntimeError(f"waits {WAY} {options}: status {r.status}: {r.err[-600:]}")
    return json.loads(r.out)


def threads(found):
    return {t["tid"]: t for g in found["groups"] for t in g["threads"]}


def until(case, tid, wanted, wrong=lambda t: False):
    """The thread as it is when `wanted` holds; `wrong` must never hold."""
    end = time.monotonic() + GUARD_SECONDS
    while True:
        found = look("-t", str(tid))
        t = threads(found)[tid]
        if wrong(t):
            check(False, f"{case and case.name}: wrong: {t}")
            return t, found
        if wanted(t):
            return t, found
        if time.monotonic() > end:
            check(False, f"{case and case.name}: {t}")
            return t, found
        time.sleep(0.05)


def owned(name, kind="lock", owner="owner", lock="lock"):
    with Case(name) as c:
        waiter, holder = c.name_of("waiter"), c.name_of(owner)
        t, _ = until(c, waiter, lambda t: t["kind"] == kind, lambda t: t.get("on", holder) != holder)
        check(t.get("on") == holder, f"{name}: {t}")
        check(lock not in c.said or int(t["lock"], 16) == c.said[lock], f"{name}: {t} {c.said}")


def not_owned(name):
    with Case(name) as c:
        waiter = c.name_of("waiter")
        t, _ = until(c, waiter, lambda t: t.get("call") == "futex" and t["state"] == "S", lambda t: "on" in t)
        check(t["what"] == UNKNOWN, f"{name}: {t}")


def locks():
    for name in ("mutex", "timedlock", "recursive", "pi", "shared"):
        owned(name)
    owned("rw_reader")
    owned("rw_writers")
    owned("join", "thread")
    for name in ("condition", "semaphore", "rw_held_by_reader", "freed", "reused", "number"):
        not_owned(name)


def stacks():
    """By unwinding, so in programs without frame pointers, too; /proc shows less of the registers."""
    if platform.machine() not in ("x86_64", "aarch64"):
        print(f"SKIP stacks: they are not unwound on {platform.machine()}")
        return
    with Case("mutex") as c:
        waiter = c.name_of("waiter")
        until(c, waiter, lambda t: t["kind"] == "lock")
        stack = [f["sym"] for f in threads(look("-g", "-t", str(waiter)))[waiter]["stack"] if not f["kernel"]]
        check("want" in stack and "pthread_mutex_lock" in " ".join(stack), f"stack: {stack}")


def deadlocks():
    with Case("deadlock") as c:
        one, two = c.name_of("one"), c.name_of("two")
        until(c, one, lambda t: t.get("on") == two)
        _, found = until(c, two, lambda t: t.get("on") == one)
        rings = [r for r in found["rings"] if sorted(r["threads"]) == sorted((one, two))]
        check(len(rings) == 1 and rings[0]["deadlock"], f"deadlock: {found['rings']}")
        text = support.run([SONDE, "waits", "-p", str(c.process.pid)]).out.decode()
        check(text.startswith("deadlock: "), f"what comes first: {text}")
    with Case("self") as c:
        waiter = c.name_of("waiter")
        _, found = until(c, waiter, lambda t: t.get("on") == waiter)
        check(any(r["threads"] == [waiter] and r["deadlock"] for r in found["rings"]), f"self: {found['rings']}")


def peers():
    for name, what in (("pipe", "pipe"), ("pair", "socket"), ("unix", "socket"), ("tcp", "socket"), ("poll_one", "pipe"),
                       ("select", "pipe")):
        with Case(name) as c:
            waiter, peer = c.name_of("waiter"), c.name_of("peer")
            t, _ = until(c, waiter, lambda t: t["kind"] == what, lambda t: t.get("peer", peer) != peer)
            check(t.get("peer") == peer and "far_end" in t["what"], f"{name}: {t}")
            check(name != "tcp" or t.get("address") == f"127.0.0.1:{c.said['port']}", f"{name}: {t}")
    with Case("accept") as c:
        t, _ = until(c, c.name_of("waiter"), lambda t: t["kind"] == "socket")
        check(t["what"] == f"connections to TCP socket 127.0.0.1:{c.said['port']}", f"accept: {t}")


def others():
    with Case("poll_two") as c:
        t, _ = until(c, c.name_of("waiter"), lambda t: t["kind"] == "poll", lambda t: "on" in t)
        check(t["which"].startswith("2 of them: ") and f"far_end/{c.name_of('peer')}" in t["which"], f"poll_two: {t}")
    with Case("epoll") as c:
        t, _ = until(c, c.name_of("waiter"), lambda t: t["kind"] == "poll")
        check(t["which"].startswith("2 of them: ") and t["call"] in ("epoll_wait", "epoll_pwait"), f"epoll: {t}")
    with Case("sleep") as c:
        t, _ = until(c, c.name_of("waiter"), lambda t: t["kind"] == "sleep")
        check(t["limit"] == 1000250000000, f"sleep: {t}")
    with Case("child") as c:
        waiter, peer = c.name_of("waiter"), c.name_of("peer")
        t, _ = until(c, waiter, lambda t: t["kind"] == "child" and "the_child" in t["what"])
        check(t.get("on") == peer, f"child: {t}")
    with Case("flock") as c:
        waiter, owner = c.name_of("waiter"), c.name_of("owner")
        t, _ = until(c, waiter, lambda t: t["kind"] == "file lock", lambda t: t.get("peer", owner) != owner)
        check(t["object"] == c.said["path"], f"flock: {t}")


def disk():
    """A file whose file system never answers."""
    with tempfile.TemporaryDirectory(prefix="sonde-waits-") as at:
        try:
            server = stall_fs.mount(at, bytes(1 << 20), (stall_fs.READ,))
        except stall_fs.Unable as e:
            print(f"SKIP files that do not answer: {e}")
            return
        path = os.path.join(at, "program")
        reader = None
        try:
            with open(path, "rb", buffering=0) as f:
                reader = subprocess.Popen([CASES, "input"], stdin=f, stdout=subprocess.DEVNULL)
            t, _ = until(None, reader.pid, lambda t: t.get("object") == path)
            check(t["kind"] in ("disk", "file") and t["call"] == "read" and t["fd"] == 0, f"disk: {t}")
            check(t["kind"] != "disk" or ("function" in t and t["what"].endswith(f", in {t['function']}")), f"disk: {t}")
        finally:
            stall_fs.unmount(at, server)  # what waits for it fails
            if reader:
                reader.kill()
                reader.wait()


def chains():
    with Case("chain") as c:
        middle, peer = c.name_of("middle"), c.name_of("peer")
        waiter = c.name_of("waiter")
        until(c, middle, lambda t: t.get("on") == peer)
        _, found = until(c, waiter, lambda t: t.get("on") == middle)
        roots = [r for r in found["waited_for"] if r["tid"] == peer]
        check(len(roots) == 1 and roots[0]["depth"] >= 2 and roots[0]["behind"] >= 2, f"chain: {found['waited_for']}")


def options():
    with Case("sleep") as c:
        pid = str(c.process.pid)
        waiter = c.name_of("waiter")
        until(c, waiter, lambda t: t["kind"] == "sleep")
        text = support.run([SONDE, "waits", "-p", pid, "--threads"]).out.decode()
        check(str(waiter) in text and "WAITS FOR" in text, f"--threads: {text}")
        text = support.run([SONDE, "waits", "-p", pid]).out.decode()
        check("THREADS" in text, f"groups: {text}")
        check(set(threads(look("--comm", "waiter", "-p", pid))) == {waiter}, "--comm")
        tree = look("-d", "0.3", "-p", pid)
        below = {n["name"]: n for p in tree["tree"] for n in p["below"]}
        check([p["name"] for p in tree["tree"]] == ["waits_cases"] and "the end of its sleep" in below, f"-d: {tree}")
        check(sum(p["time"] for p in tree["tree"]) == tree["time"] and tree["snapshots"] > 0, f"-d adds up: {tree}")
        text = support.run([SONDE, "waits", "-d", "0.1", "-p", pid]).out.decode()
        check("waits_cases" in text, f"-d: {text}")
    for wrong in ("x", "0", "-1", "1e99", "nan"):
        check(support.run([SONDE, "waits", "-d", wrong]).status == 129, f"-d {wrong}")
    r = support.run([SONDE, "waits", "-p", "4194304"])
    check(r.status == 1 and "no process" in r.err, f"no such process: {r}")
    r = support.run([SONDE, "waits", "-t", "x"])
    check(r.status == 129, f"no list of numbers: {r}")


def main():
    try:
        with open(f"/proc/{os.getpid()}/syscall", encoding="ascii") as f:
            f.read()
    except OSError as e:
        print(f"SKIP: this kernel does not show system calls: {e}")
        sys.exit(support.SKIP)
    for way in ([], ["--no-bpf"]):
        WAY[:] = way
        for part in (locks, stacks, deadlocks, peers, others, disk, chains, options):
            part()


main()
sys.exit(support.status())
