#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts on this machine.

stat_test.py SONDE

SKIPs where the kernel lets us count nothing. Compares shapes and what must hold of any numbers; nothing is measured.
"""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
TRUE = ["sh", "-c", ":"]
CPUS = len(os.sched_getaffinity(0))
ONLINE = os.sysconf("SC_NPROCESSORS_ONLN")
t = support.Report("stat")


def stat(*args, **more):
    return support.run([SONDE, "stat", *args], **more)


def rows(r):
    """Fields of CSV lines."""
    return list(csv.reader(r.err.splitlines()))


def counts(r, column=0):
    return {row[column + 2]: row[column] for row in rows(r)}


def check_texts():
    r = stat("--", *TRUE)
    t.check("default", r.status == 0 and r.out == b"", r)
    t.check("default: rows", [line[24:].split()[0] for line in r.err.splitlines() if "#" in line][:4] ==
            ["context-switches", "cpu-migrations", "page-faults", "task-clock"], r.err)
    t.check("default: times", re.search(r"^ +[\d.]+ seconds time elapsed\n\n +[\d.]+ seconds user\n +[\d.]+ seconds sys\n\n\n\Z",
                                        r.err, re.M), r.err)
    t.check("title", " Performance counter stats for 'sh -c :':\n" in r.err, r.err)
    r = stat("-e", "page-faults:u,cs", "--", *TRUE)
    t.check("-e", re.search(r"^ +\d+      page-faults:u +$", r.err, re.M) and re.search(r"^ +\d+      cs +$", r.err, re.M), r.err)
    r = stat("-r", "3", "--table", "-e", "cs", "--", *TRUE)
    t.check("-r", "(3 runs):" in r.err and len(re.findall(r"^ +[\d.]+ \([+-][\d.]+\) #+$", r.err, re.M)) == 3 and
            re.search(r"\+- [\d.]+ seconds time elapsed  \( \+- *[\d.]+% \)\n\n\Z", r.err), r.err)
    r = stat("-a", "-A", "-x,", "-e", "task-clock/percore/,cs", "--", *TRUE)
    if r.status == 0:
        cores = [row[0] for row in rows(r) if row[3].startswith("task-clock")]
        t.check("percore", all(re.fullmatch(r"S\d+-D\d+-C\d+", c) for c in cores) and
                sum(row[3] == "cs" and row[0].startswith("CPU") for row in rows(r)) == ONLINE, r.err)
        r = stat("-a", "-A", "-x,", "--percore-show-thread", "-e", "task-clock/percore/", "--", *TRUE)
        t.check("--percore-show-thread", len([row for row in rows(r) if row[0].startswith("CPU")]) == ONLINE, r.err)
    r = stat("--cputype", "no-such", "-e", "cs", "--", *TRUE)
    t.check("--cputype", r.status == 129 and "--cputype no-such is not supported!" in r.err, r.err)
    r = stat("--pmu-filter", "no-such", "-e", "cs", "--", *TRUE)
    t.check("--pmu-filter", r.status == 129 and "on a PMU 'no-such'" in r.err, r.err)
    r = stat("--null", "--", *TRUE)
    t.check("--null", re.fullmatch(r"\n Performance counter stats for 'sh -c :':\n\n +[\d.]+ seconds time elapsed\n\n"
                                   r" +[\d.]+ seconds user\n +[\d.]+ seconds sys\n\n\n", r.err), r.err)
    r = stat("-M", "cs_per_second", "--metric-only", "--", *TRUE)
    t.check("--metric-only", re.search(r"^ *cs/sec  cs_per_second *\n +[\d.]+ *$", r.err, re.M), r.err)
    with tempfile.TemporaryDirectory(prefix="sonde-stat-") as folder:
        path = os.path.join(folder, "perfconfig")
        with open(path, "w", encoding="utf-8") as f:
            f.write("[stat]\ncolumns = 6\n")
        r = stat("-j", "-e", "task-clock", "--", *TRUE, env=dict(support.ENV, PERF_CONFIG=path))
        t.check("columns of 6.x", re.search(r'"metric-value" : [\d.]+,', r.err), r.err)


def check_numbers():
    r = stat("-x,", "-e", "task-clock,page-faults,cs,duration_time,user_time,system_time", "--", SONDE, "test", "-w", "sqrtloop", "0.1")
    got = counts(r)
    t.check("a busy command", float(got["task-clock"]) > 1 and int(got["page-faults"]) > 10 and
            int(got["duration_time"]) >= 90_000_000, r.err)
    t.check("times", int(got["user_time"]) + int(got["system_time"]) > 0, r.err)
    # Of the same loop, once by itself and once in a child.
    r = stat("-x,", "-i", "-e", "page-faults", "--", "sh", "-c", "ls / >/dev/null; :")
    alone = int(counts(r)["page-faults"])
    r = stat("-x,", "-e", "page-faults", "--", "sh", "-c", "ls / >/dev/null; :")
    t.check("children are inherited", int(counts(r)["page-faults"]) > alone, (alone, r.err))
    r = stat("-x,", "-e", "{cs,page-faults},dummy", "--", *TRUE)
    t.check("a group", [row[4] for row in rows(r)] == ["100.00"] * 3 and counts(r)["dummy"] == "0", r.err)
    r = stat("-j", "-e", "task-clock,page-faults", "--", *TRUE)
    objects = [json.loads(line) for line in r.err.splitlines()]
    t.check("JSON", [o["event"] for o in objects] == ["task-clock", "page-faults"] and
            list(objects[1]) == ["counter-value", "unit", "event", "event-runtime", "pcnt-running", "metric-value", "metric-unit"] and
            float(objects[1]["counter-value"]) > 0, r.err)


def check_endings():
    t.check("exit status", stat("-e", "cs", "--", "sh", "-c", "exit 3").status == 3, "")
    r = stat("-e", "cs", "--", "sh", "-c", "kill -9 $$")
    t.check("a signal", r.status == 137 and r.err.startswith("sh: Killed\n") and "seconds time elapsed" in r.err, r)
    r = stat("-e", "cs", "--", "/nosuch/command")
    t.check("no such command", r.status == 1 and r.err.count("\n") == 1 and "/nosuch/command" in r.err, r)
    r = stat("-e", "nosuch_event", "--", *TRUE)
    t.check("no such event", r.status == 129 and "event syntax error: 'nosuch_event'" in r.err, r)
    r = stat("-e", "cs", "--timeout", "10", "--", "sleep", "1000")
    t.check("--timeout", r.status == 143 and "cs" in r.err, r)
    for bad in (["--timeout", "5"], ["--interval-count", "3"], ["--table"], ["-r", "x"], ["-D", "-2"], ["-C", "9999"],
                ["-p", "x"], ["-p", "999999999"], ["-M", "nosuch"], ["-j", "-x,"], ["-b", "1"], ["--bpf-attr-map", "x"], ["--per-cache=x"],
                ["--pre", "exit 3"], ["-G", "/"], ["--passes", "-I", "10"], ["--log-fd", "77"], ["-o", "/nosuch/dir/x"]):
        r = stat(*bad, "-e", "cs", "--", *TRUE)
        t.check(f"refused: {bad}", r.status in (1, 129) and r.err.strip() and "Performance" not in r.err, r)
    # CTRL+C ends the measurement, and shows what there is.
    with subprocess.Popen([SONDE, "stat", "-e", "cs", "--", "sh", "-c", "echo there; exec sleep 1000"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=support.ENV) as p:
        p.stdout.readline()
        p.send_signal(signal.SIGINT)
        _, err = p.communicate(timeout=support.HANG_SECONDS)
        t.check("CTRL+C", p.returncode == 130 and b"seconds time elapsed" in err, (p.returncode, err))


def check_intervals():
    r = stat("-x,", "-I", "10", "--interval-count", "3", "-e", "cs", "--", "sleep", "1000")
    times = [float(row[0]) for row in rows(r)]
    t.check("--interval-count", r.status == 0 and len(times) == 3 and times == sorted(times) and times[0] >= 0.01, r.err)
    r = stat("-x,", "-I", "20", "--summary", "-e", "page-faults", "--", "sh", "-c", "ls / >/dev/null; sleep 0.05; ls / >/dev/null")
    *deltas, last = rows(r)
    parts = sum(int(row[1]) for row in deltas if row[1].isdigit())
    t.check("--summary", last[0] == "summary" and int(last[1]) == parts > 0, r.err)
    r = stat("-I", "10", "--interval-count", "1", "-e", "cs", "--", "sleep", "1000")
    t.check("heading", r.err.startswith("#           time             counts unit events\n"), r.err)
    r = stat("-D", "-1", "-x,", "-e", "page-faults", "--", *TRUE)
    t.check("-D -1", r.err.startswith("Events disabled\n<not counted>"), r.err)


def check_control():
    into, from_us = os.pipe()
    acks, answers = os.pipe()
    with subprocess.Popen([SONDE, "stat", "-x,", "-D", "-1", "-e", "page-faults", "--control", f"fd:{into},{answers}", "--", "sh", "-c",
                           "read x; ls / >/dev/null"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          pass_fds=(into, answers), env=support.ENV) as p:
        for command in (b"ping", b"evlist", b"enable"):
            os.write(from_us, command + b"\n")
            t.check(f"--control {command}", os.read(acks, 4) == b"ack\n", "")
        _, err = p.communicate(b"go\n", timeout=support.HANG_SECONDS)
    err = err.decode()
    t.check("--control: counts", "Events enabled\n" in err and re.search(r"^\d+,,page-faults", err, re.M), err)
    for fd in (into, from_us, acks, answers):
        os.close(fd)


def check_cpus():
    r = stat("-a", "-x,", "-e", "task-clock", "--", *TRUE)
    if r.status != 0:
        print("SKIP: whole CPUs may not be counted:", r.err.strip())
        return
    whole = rows(r)[0]
    t.check("-a", whole[2] == "task-clock", r.err)
    r = stat("-a", "-A", "-x,", "-e", "cs,dummy", "--", *TRUE)
    t.check("-A", len(rows(r)) == 2 * ONLINE and all(row[0].startswith("CPU") for row in rows(r)), r.err)
    r = stat("-C", "0", "-A", "-x,", "-e", "cs", "--", *TRUE)
    t.check("-C", [row[0] for row in rows(r)] == ["CPU0"], r.err)
    for level, form in (("core", r"S\d+-D\d+-C\d+"), ("socket", r"S\d+"), ("die", r"S\d+-D\d+"), ("node", r"N\d+"),
                        ("cluster", r"S\d+-D\d+-CLS-?\d+")):
        r = stat("-a", "--per-" + level, "-x,", "-e", "task-clock", "--", *TRUE)
        t.check(f"--per-{level}", all(re.fullmatch(form, row[0]) for row in rows(r)) and
                sum(int(row[1]) for row in rows(r)) == ONLINE, r.err)
    r = stat("-a", "--per-cache", "-x,", "-e", "task-clock", "--", *TRUE)
    t.check("--per-cache", r.status == 1 and "cache" in r.err or sum(int(row[1]) for row in rows(r)) == ONLINE, r.err)
    r = stat("--per-core", "-x,", "-e", "page-faults", "--", *TRUE)
    t.check("a command by core", sum(int(row[2]) for row in rows(r) if row[2].isdigit()) > 0, r.err)
    r = stat("-a", "--per-thread", "-x,", "-e", "task-clock", "--", SONDE, "test", "-w", "sqrtloop", "0.1")
    t.check("-a --per-thread", any(re.fullmatch(r".+-\d+", row[0]) for row in rows(r)), r.err)
    if os.path.isdir("/sys/fs/cgroup"):
        r = stat("-a", "--for-each-cgroup", "/", "-x,", "-e", "cs,task-clock", "--", *TRUE)
        if r.status == 0:
            t.check("--for-each-cgroup", [row[3] for row in rows(r)] == ["/", "/"], r.err)
            r = stat("-a", "--for-each-cgroup", "nosuch_group", "-e", "cs", "--", *TRUE)
            t.check("no such group", r.status == 1 and "nosuch_group" in r.err, r.err)


def cgroup_mount():
    """Where the groups lie that perf events know, or None."""
    found = None
    with open("/proc/self/mounts", encoding="utf-8") as f:
        for _, folder, kind, how, *_ in (line.split() for line in f):
            if kind == "cgroup" and "perf_event" in how.split(","):
                return folder
            if kind == "cgroup2" and not found:
                found = folder
    return found


CALLS = {"a": 3000, "a/in": 2000, "b": 7000}
TRIES = 20
MOVE = """import os
with open("{mount}/{name}/cgroup.procs", "w") as f:
    f.write("0")
for _ in range({n}):
    os.getppid()
"""


def check_bpf_counters():
    """Two groups, one with another in it, and programs that make calls in them."""
    r = stat("-a", "--bpf-counters", "-x,", "-e", "cs", "--", *TRUE)
    t.check("--bpf-counters without groups", r.status == 0 and "counting as without it" in r.err and ",cs," in r.err, r)
    mount, own = cgroup_mount(), f"sonde_test_{os.getpid()}_"
    folders = [os.path.join(mount, own + name) for name in CALLS] if mount else []
    made = []
    try:
        for folder in folders:
            os.mkdir(folder)
            made.append(folder)
        if made:
            with tempfile.TemporaryDirectory(prefix="sonde-stat-") as folder:
                count_in_groups(mount, own, os.path.join(folder, "ordinary.csv"))
        else:
            print("SKIP --bpf-counters: no hierarchy of control groups is mounted")
    except OSError as e:
        print(f"SKIP --bpf-counters: control groups cannot be made: {e}")
    finally:
        for folder in reversed(made):
            os.rmdir(folder)


def count_in_groups(mount, own, ordinary_csv):
    programs = [[sys.executable, "-c", MOVE.format(mount=mount, name=own + name, n=n)] for name, n in CALLS.items()]
    run_all = [sys.executable, "-c", f"import subprocess, sys\n"
               f"sys.exit(sum(p.wait() for p in [subprocess.Popen(c) for c in {programs!r}]))"]
    event = "syscalls:sys_enter_getppid"
    groups = ["--for-each-cgroup", ",".join(own + name for name in CALLS)]
    ordinary = [SONDE, "stat", "-a", "-x,", "-o", ordinary_csv, "-e", event, *groups, "--"]
    truth = {"a": CALLS["a"] + CALLS["a/in"], "a/in": CALLS["a/in"], "b": CALLS["b"]}
    # The kernel may leave out switches to and from its idle task; what ran before one is then not counted for the group. That
    # does not happen every time, so there are several tries. No try may count calls that were not made.
    for _ in range(TRIES):
        r = support.run([*ordinary, SONDE, "stat", "-a", "-x,", "--bpf-counters", "-e", f"{event},task-clock", *groups, "--",
                         *run_all])
        if r.status != 0 and ("BPF" in r.err or "event syntax error" in r.err or "tracepoint" in r.err.lower()):
            print(f"SKIP --bpf-counters: {r.err.strip().splitlines()[-1]}")
            return
        t.check("--bpf-counters", r.status == 0 and len(rows(r)) == 2 * len(CALLS), r)
        by_bpf = {row[3].removeprefix(own): row[0] for row in rows(r) if row[2] == event}
        with open(ordinary_csv, encoding="utf-8") as f:
            known = {row[3].removeprefix(own): row[0] for row in csv.reader(f) if len(row) > 3}
        clocks = [float(row[0]) for row in rows(r) if row[2] == "task-clock" and row[0][0].isdigit()]
        counts = {name: int(by_bpf.get(name, "").replace("<not counted>", "0") or -1) for name in truth}
        t.check("--bpf-counters: no call too many", counts["a"] + counts["b"] <= truth["a"] + truth["b"] and
                0 <= counts["a/in"] <= counts["a"], (by_bpf, known))
        right = all(by_bpf.get(name) == str(truth[name]) for name in truth)
        if right and len(clocks) == 3 and clocks[0] > clocks[1] > 0:
            break
    t.check("--bpf-counters: calls", right, (by_bpf, known))
    t.check("the ordinary way", all(known.get(name) in (str(truth[name]), "<not counted>") for name in truth), known)
    t.check("--bpf-counters: times", len(clocks) == 3 and clocks[0] > clocks[1] > 0, r.err)


def evidence(r, event, command):
    """The output of a count by command, and of other ways to count the same events of the same program, run again."""
    said = [f"status {r.status}\nstdout: {r.out}\nstderr: {r.err}"]
    for options in (["--per-comm", "-v"], ["--per-thread", "-v"], [], ["--per-comm", "-v"]):
        again = stat(*options, "-x,", "-e", event, "--", *command)
        said.append(f"again, {' '.join(options) or 'in sum'}: status {again.status}\n{again.err}")
    with open("/proc/loadavg", encoding="ascii") as f:
        said.append(f"load: {f.read()}")
    return "\n".join(said)


def check_tasks():
    with subprocess.Popen(["sleep", "1000"]) as p:
        r = stat("-p", str(p.pid), "--per-thread", "-x,", "-e", "cs", "--timeout", "10")
        t.check("-p --per-thread", rows(r)[0][0] == f"sleep-{p.pid}", r.err)
        r = stat("-t", str(p.pid), "-e", "cs", "--timeout", "10")
        t.check("-t", f"for thread id '{p.pid}':" in r.err, r.err)
        p.kill()
    # It ends with what it watches.
    with subprocess.Popen(["sh", "-c", "read x"], stdin=subprocess.PIPE) as p:
        with subprocess.Popen([SONDE, "stat", "-p", str(p.pid), "-I", "10", "-x,", "-e", "cs"], stderr=subprocess.PIPE,
                              env=support.ENV) as watch:
            watch.stderr.readline()
            p.stdin.close()
            p.wait()
            watch.communicate(timeout=support.HANG_SECONDS)
            t.check("-p ends", watch.returncode == 0, watch.returncode)
    command = ["sh", "-c", "ls / >/dev/null; cat /dev/null; :"]
    r = stat("--per-comm", "-x,", "-e", "page-faults", "--", *command)
    if r.status == 0:
        got = {row[0]: int(row[1]) for row in rows(r)}
        # Kernels lose what a thread told now and then, when it ends on one CPU and another one writes.
        good = {"ls", "cat"} & set(got) and set(got) <= {"sh", "ls", "cat"} and sum(got.values()) > 0
        t.check("--per-comm", good, lambda: evidence(r, "page-faults", command))
        r = stat("--per-thread", "-x,", "-e", "page-faults", "--", *command)
        t.check("--per-thread of a command", {re.sub(r"-\d+$", "", row[0]) for row in rows(r)} <= {"cat", "ls", "sh"}, r.err)
    else:
        print("SKIP: threads of a command:", r.err.strip())
    r = stat("--passes", "-x,", "-e", "cs,cycles,instructions,branches,branch-misses,cache-misses,cache-references", "--", *TRUE)
    t.check("--passes", r.status == 0 and all(row[-3] == "100.00" for row in rows(r)), r.err)


def check_outputs():
    with tempfile.TemporaryDirectory(prefix="sonde-stat-") as folder:
        path = os.path.join(folder, "out")
        for more in ([], ["--append"]):
            r = stat("-o", path, *more, "-x,", "-e", "cs", "--", *TRUE)
            t.check("-o", r.status == 0 and r.err == "", r)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        t.check("--append", len(re.findall(r"^# started on .*\n\n\d+,,cs,", text, re.M)) == 2, text)
        with open(path, "w", encoding="utf-8") as f:
            r = stat("--log-fd", str(f.fileno()), "-x,", "-e", "cs", "--", *TRUE, pass_fds=(f.fileno(),))
        with open(path, encoding="utf-8") as f:
            t.check("--log-fd", re.match(r"\d+,,cs,", f.read()), r)
        trace = os.path.join(folder, "hooks")
        r = stat("-r", "2", "--pre", f"echo pre >>{trace}", "--post", f"echo post >>{trace}", "--null", "--", *TRUE)
        with open(trace, encoding="utf-8") as f:
            t.check("hooks", f.read() == "pre\npost\n" * 2, r)
    if os.path.exists("/dev/full"):
        r = stat("-o", "/dev/full", "-e", "cs", "--", *TRUE)
        t.check("a full disk", r.status == 1 and "/dev/full" in r.err, r)
    t.check("--quiet", stat("--quiet", "-e", "cs", "--", *TRUE).err == "", "")


def check_files():
    perf = shutil.which("perf")
    version = subprocess.run([perf, "version"], capture_output=True, check=False).stdout if perf else b""
    perf = perf if version.startswith(b"perf version 6.") else None  # what a distribution has in its place may be a message
    with tempfile.TemporaryDirectory(prefix="sonde-stat-") as folder:
        path = os.path.join(folder, "counts.data")
        r = stat("-x,", "-e", "page-faults,task-clock,cs", "record", "-o", path, "--", "sh", "-c", "ls / >/dev/null; :")
        shown = [row[:3] for row in rows(r)]
        r = stat("report", "-x,", "-i", path)
        t.check("stat report", r.status == 0 and [row[:3] for row in rows(r)] == shown, (shown, r))
        r = stat("report", "-i", path)
        t.check("stat report: title", re.search(r"for '\S+ stat -x, -e .* record -o .*':", r.err) and "elapsed" in r.err, r.err)
        if perf:
            theirs = subprocess.run([perf, "stat", "-x,", "report", "-i", path], capture_output=True, env=support.ENV, check=False)
            got = [row[:3] for row in csv.reader(theirs.stderr.decode().splitlines()) if len(row) > 3]
            t.check("perf reads it", got == shown, (got, shown))
            made = os.path.join(folder, "perf.data")
            if subprocess.run([perf, "stat", "-e", "page-faults,cs", "record", "-o", made, "--", *TRUE], capture_output=True,
                              env=support.ENV, check=False).returncode == 0:
                want = subprocess.run([perf, "stat", "-x,", "report", "-i", made], capture_output=True, env=support.ENV, check=False)
                r = stat("report", "-x,", "-i", made)
                t.check("perf's files", r.status == 0 and [row[:3] for row in rows(r)] ==
                        [row[:3] for row in csv.reader(want.stderr.decode().splitlines()) if len(row) > 3], (r, want))
        r = stat("-I", "10", "-e", "page-faults", "record", "-o", path, "--", "sh", "-c", "ls / >/dev/null; sleep 0.03")
        r = stat("report", "-x,", "-i", path)
        t.check("intervals", len(rows(r)) > 1 and all(re.fullmatch(r"\d+\.\d{9}", row[0]) for row in rows(r)), r.err)
        if stat("-a", "-e", "cs", "record", "-o", path, "--", *TRUE).status == 0:
            r = stat("report", "-A", "-x,", "-i", path)
            t.check("report -A", len(rows(r)) == ONLINE, r.err)
            r = stat("report", "--per-socket", "-x,", "-i", path)
            t.check("report --per-socket", sum(int(row[1]) for row in rows(r)) == ONLINE, r.err)
            live, r = stat("-a", "--per-cache", "-x,", "-e", "cs", "--", *TRUE), stat("report", "--per-cache", "-x,", "-i", path)
            t.check("report --per-cache", live.status != 0 or [row[:2] for row in rows(r)] == [row[:2] for row in rows(live)], (live, r))
            r = stat("report", "--per-cluster", "-i", path)
            t.check("report --per-cluster", r.status == 1 and r.err.startswith("--per-cluster: recordings do not tell"), r.err)
        with open(path, "r+b") as f:
            f.truncate(os.path.getsize(path) // 2)
        r = stat("report", "-i", path)
        t.check("half a file", r.status in (0, 1) and r.err, r)
        r = stat("report", "-i", os.path.join(folder, "absent"))
        t.check("no file", r.status == 1 and "absent" in r.err, r)
        metrics = os.path.join(folder, "m.json")
        with open(metrics, "w", encoding="utf-8") as f:
            json.dump([{"MetricName": "faults_each", "MetricExpr": r"page\-faults / 1", "ScaleUnit": "1x"}], f)
        r = stat("--metric-folder", folder, "-M", "faults_each", "-x,", "--", *TRUE)
        t.check("--metric-folder", rows(r)[0][-1] == "x  faults_each", r.err)
    r = stat("-r", "2", "record", "--", *TRUE)
    t.check("record -r", r.status == 129, r)


def main():
    r = stat("-e", "task-clock", "--", *TRUE)
    if r.status != 0 or "task-clock:u" in r.err:
        print("SKIP: the kernel may not be counted here:", r.err.strip().split("\n")[0])
        sys.exit(support.SKIP)
    for check in (check_texts, check_numbers, check_endings, check_intervals, check_control, check_cpus, check_bpf_counters,
                  check_tasks, check_outputs, check_files):
        print(check.__name__.removeprefix("check_"), flush=True)
        check()
    t.finish()


main()
