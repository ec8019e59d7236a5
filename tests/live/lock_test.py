#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waits for the kernel's locks, recorded and summed in the kernel at the same time: `lock record` of `lock contention -b`
of a program whose threads map memory at once. Both count the same. Then the events of the allocators: lock_test.py SONDE

SKIPs without a compiler, and where the kernel lets us record nothing, or load no BPF programs.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
TRIES = 20
LEAST = 30  # waits: as many only the program's threads have for one another
PROGRAM = r"""
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
static void *map(void *p) {
    for (int i = 0; i < 3000; i++) {
        char *m = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (m == MAP_FAILED)
            continue;
        for (int k = 0; k < 16; k++)
            m[4096 * k] = 1;
        munmap(m, 65536);
    }
    return p;
}
int main(void) {
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, map, NULL))
            return 1;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}
"""


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, env=support.ENV, timeout=300)


def rows(text):
    """{lock: (waits, ns)}"""
    cells = [x.split(", ") for x in text.splitlines() if x and x[0].isdigit()]
    return {x[4]: (int(x[0]), int(x[1])) for x in cells}


def same(differ):
    """False: nobody had to wait for the map; or differ says why it is to be tried again. Both with -a: a recorder's events of a
    thread end before the thread returns its memory, and sonde's own looks at the map count on both sides. The locks of
    others are seen for different times, the recorder's being longer, and the map of another may have lain at the same address."""
    command = ("lock", "contention", "-l", "-Y", "rwsem", "-x", ",")
    r = run(SONDE, "lock", "record", "-a", "-o", "both.data", "--", SONDE, *command, "-a", "-b", "--output", "bpf.txt", "--", "./program")
    if "lost" in r.stderr:
        return False  # what was recorded is not all
    check(r.returncode == 0, f"status {r.returncode}: {r.stderr[-300:]}")
    r = run(SONDE, *command, "-i", "both.data")
    check(r.returncode == 0, f"status {r.returncode}: {r.stderr[-300:]}")
    with open("bpf.txt") as f:
        summed = rows(f.read())
    recorded = rows(r.stdout)
    lock = max(summed, key=lambda x: summed[x][0], default=None)
    if lock is None or summed[lock][0] < LEAST:
        return False
    waits, ns = summed[lock]
    if lock in recorded and recorded[lock][0] > waits:
        differ.append(f"{lock}: {waits} waits summed, recorded: {recorded[lock]}")
        return False
    check(lock in recorded and recorded[lock][0] == waits, f"{lock}: {waits} waits summed, recorded: {recorded.get(lock)}")
    check(lock in recorded and abs(recorded[lock][1] - ns) <= max(waits * 1_000_000, ns // 10), f"{lock}: {ns} ns, {recorded.get(lock)}")
    return True


def of_groups():
    """The program in two control groups: each has its waits, and -G leaves the others out; then one lock of several by -L."""
    r = run("findmnt", "-n", "-t", "cgroup2", "-o", "TARGET") if shutil.which("findmnt") else None
    mount = r.stdout.split("\n")[0] if r else ""
    parent = os.path.join(mount, f"sonde-lock-test-{os.getpid()}")
    paths = [os.path.join(parent, x) for x in ("one", "two")]
    try:
        for path in [parent, *paths] if mount else []:
            os.mkdir(path)
    except OSError:
        mount = ""
    if mount and not run("sh", "-c", f"echo 0 > {paths[0]}/cgroup.procs").returncode:
        script = "".join(f"(echo 0 > {x}/cgroup.procs; exec ./program) & " for x in paths) + "wait"
        names = ["/" + os.path.relpath(x, mount) for x in paths]
        command = (SONDE, "lock", "contention", "-b", "-x", ",")
        rows_of = lambda r: {x.split(", ")[-1]: int(x.split(", ")[0]) for x in r.stdout.splitlines() if x[:1].isdigit()}
        for _ in range(TRIES):
            r = run(*command, "--lock-cgroup", "--", "sh", "-c", script)
            if all(x in rows_of(r) for x in names):
                break
        else:
            print(f"SKIP: nobody waited in one of the control groups: {r.stdout} {r.stderr[-300:]}")
        for _ in range(TRIES):
            r = run(*command, "--lock-cgroup", "-G", names[1], "--", "sh", "-c", script)
            if rows_of(r):
                break
        check(r.returncode == 0 and not set(rows_of(r)) - {names[1]}, f"-G: {r.stdout} {r.stderr[-300:]}")
        r = run(*command, "-G", names[0] + "/none", "--", "true")
        check(r.returncode == 1 and "no such control group" in r.stderr, f"-G: {r.stderr}")
    else:
        print("SKIP: control groups cannot be made")
    for path in [*paths, parent]:
        if os.path.isdir(path):
            os.rmdir(path)


def of_locks():
    r = run(SONDE, "lock", "contention", "-b", "-l", "-a", "-x", ",", "--", "./program")
    locks = list(rows(r.stdout))[:2]
    r = run(SONDE, "lock", "contention", "-b", "-l", "-a", "-x", ",", "-L", ",".join(locks), "--", "./program")
    check(r.returncode == 0 and not set(rows(r.stdout)) - set(locks), f"-L {locks}: {r.stdout} {r.stderr[-300:]}")
    r = run(SONDE, "lock", "contention", "-b", "-L", "no_such_lock", "--", "true")
    check(r.returncode == 1 and "no_such_lock" in r.stderr, f"-L: {r.stderr}")


def main():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        skip("there is no compiler")
    subprocess.run([compiler, "-O1", "-pthread", "-x", "c", "-", "-o", "program"], input=PROGRAM.encode(), check=True)
    r = run(SONDE, "lock", "record", "-o", "one.data", "--", "true")
    if r.returncode:
        skip(f"nothing can be recorded: {r.stderr.strip().splitlines()[-1]}")
    r = run(SONDE, "lock", "contention", "-b", "--", "sh", "-c", "exit 3")
    if r.returncode == 1:
        skip(f"BPF programs cannot be loaded: {r.stderr.strip().splitlines()[-1]}")
    check(r.returncode == 3, f"the command's status is ours: {r.returncode}")
    differ = []
    if not any(same(differ) for _ in range(TRIES)):
        check(not differ, f"as many waits recorded as summed, once in {TRIES} times: {differ}")
        print("SKIP: nobody waited for the memory map of the program")
    r = run(SONDE, "lock", "contention", "-b", "-v", "--", "./program")
    check(r.returncode == 0 and "stacktrace" not in r.stdout and r.stdout.startswith(" contended"), f"-b -v: {r.stdout[:300]}")
    of_groups()
    of_locks()
    r = run(SONDE, "kmem", "record", "-o", "kmem.data", "--", "./program")
    check(r.returncode == 0, f"kmem record: {r.stderr[-300:]}")
    r = run(SONDE, "kmem", "stat", "--caller", "-l", "3", "-i", "kmem.data")
    check("SUMMARY (SLAB allocator)" in r.stdout, f"kmem stat: {r.stderr[-300:]}")
    r = run(SONDE, "timechart", "record", "-o", "chart.data", "--", "./program")
    check(r.returncode == 0, f"timechart record: {r.stderr[-300:]}")
    r = run(SONDE, "timechart", "-i", "chart.data", "-o", "chart.svg", "-p", "program")
    check("Written" in r.stdout and os.path.getsize("chart.svg") > 1000, f"timechart: {r.stdout} {r.stderr[-300:]}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
sys.exit(support.status())
