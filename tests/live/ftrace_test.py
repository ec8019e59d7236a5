#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel's tracers on this machine.

ftrace_test.py SONDE

SKIPs where tracefs is not there, or not ours to change. Whatever ends it, tracefs is as it was.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
TRACEFS = "/sys/kernel/tracing"
FILES = ("current_tracer", "tracing_on", "buffer_size_kb", "trace_clock", "tracing_cpumask", "set_ftrace_filter", "set_ftrace_notrace",
         "set_graph_function", "set_graph_notrace", "set_ftrace_pid", "set_event_pid", "max_graph_depth", "tracing_thresh", "set_event")
FIRST, SECOND = "sched:sched_waking", "sched:sched_switch"
t = support.Report("ftrace")


def ftrace(*args, **more):
    return support.run([SONDE, "ftrace", *args], **more)


def read(name):
    try:
        with open(os.path.join(TRACEFS, name), encoding="utf-8") as f:
            return f.read()
    except OSError as e:
        return str(e.errno)


def state():
    return {name: read(name) for name in FILES}


def ours():
    """Instances that sonde made, and that nobody uses any longer."""
    names = [name for name in os.listdir(os.path.join(TRACEFS, "instances")) if re.fullmatch(r"sonde-\d+", name)]
    return [name for name in names if not os.path.exists(f"/proc/{name[6:]}")]


def skip(why):
    print("SKIP:", why)
    sys.exit(support.SKIP)


def wait_for(condition):
    """Waits until the condition holds. The limit is only there so that a test that fails ends."""
    for _ in range(3000):
        if condition():
            return True
        time.sleep(0.02)
    return False


def traces(pid):
    return lambda: read(f"instances/sonde-{pid}/tracing_on") == "1\n"


def check_events():
    sleeps = ["sh", "-c", "for i in 1 2 3 4 5; do sleep 0.01; done; exit 3"]
    r = ftrace("latency", "-a", "-e", f"{FIRST},{SECOND}", "--", *sleeps)
    t.check("the command's status", r.status == 3, r)
    text = r.out.decode()
    rows = [int(n) for n in re.findall(r"^ +\d+ - (?:\d+|\.\.\.) +[num]?s \| +(\d+) \| #* *\|$", text, re.M)]
    stats = {k: int(v) for k, v in re.findall(r"^ *(total time|avg time|max time|min time|count): +(\d+)$", text, re.M)}
    t.check("buckets", len(rows) == 22 and sum(rows) == stats.get("count"), text)
    t.check("some were seen", stats.get("count", 0) > 0 and stats["min time"] <= stats["avg time"] <= stats["max time"], text)
    r = ftrace("latency", "-n", "--hide-empty", "--bucket-range", "1000", "--max-latency", "5000", "-a", "-e", f"{FIRST},{SECOND}", "--",
               *sleeps)
    rows = re.findall(r"^ +(\d+) - (\d+|\.\.\.) +ns \| +(\d+) \|", r.out.decode(), re.M)
    t.check("ranges", r.status == 3 and rows and all(b == "..." or int(b) - int(a) == 1000 for a, b, _ in rows) and
            all(int(n) > 0 for _, _, n in rows), r)
    # From an event to the next of its kind: a shell that forks and waits is not woken by others.
    r = ftrace("latency", "--inherit", "-e", "sched:sched_process_fork,sched:sched_process_exit", "--", "sh", "-c", ": & wait")
    t.check("of the command", r.status == 0, r)


def check_bpf():
    calls = "import os\nfor i in range(2000): os.getppid()"
    words = ("--", sys.executable, "-c", calls)
    r = ftrace("latency", "-b", "-e", "raw_syscalls:sys_enter,raw_syscalls:sys_exit", *words)
    if r.status != 0 and re.search("BPF|not permitted|not allowed", r.err):
        t.check("-b: one line says why not", r.err.count("\n") == 1, r)
        print("SKIP -b:", r.err.strip())
        return
    text = r.out.decode()
    rows = [int(n) for n in re.findall(r"^ +\d+ - (?:\d+|\.\.\.) +[num]?s \| +(\d+) \| #* *\|$", text, re.M)]
    stats = {k: int(v) for k, v in re.findall(r"^ *(total time|avg time|max time|min time|count): +(\d+)$", text, re.M)}
    t.check("-b: every call", r.status == 0 and len(rows) == 22 and sum(rows) == stats.get("count", 0) >= 2000, r)
    t.check("-b: statistics", stats.get("min time", 1) <= stats.get("avg time", 0) <= stats.get("max time", 0), r)
    r = ftrace("latency", "-b", "-e", "syscalls:sys_enter_read,syscalls:sys_exit_read", "--", "true")
    t.check("-b: no such event", r.status == 1 and r.err.startswith("syscalls:sys_") and r.err.count("\n") == 1, r)


def check_ends():
    r = ftrace("latency", "-a", "-e", "sched:no_such,sched:sched_switch", "--", "true")
    t.check("no such event", r.status == 1 and "there is no such tracepoint" in r.err and r.err.count("\n") == 1, r)
    r = ftrace("latency", "-a", "-e", "sched:sched_switch", "--", "true")
    t.check("one event", r.status == 129 and "two events" in r.err, r)
    r = ftrace("latency", "-a", "-e", f"{FIRST},{SECOND}", "--", "/no/such/command")
    t.check("no such command", r.status == 1 and "/no/such/command" in r.err, r)
    r = ftrace("latency", "-p", "0", "-e", f"{FIRST},{SECOND}")
    t.check("a bad process", r.status in (1, 129) and "-p" in r.err, r)
    r = ftrace("trace", "-m", "5", "--", "true")
    t.check("a bad size", r.status == 129 and "bad size '5'" in r.err, r)
    r = ftrace("trace", "--graph-opts", "depth=x", "--", "true")
    t.check("a bad option", r.status == 129 and "unknown option 'depth=x'" in r.err, r)
    r = ftrace("profile", "-s", "size", "--", "true")
    t.check("a bad key", r.status in (1, 129) and "unknown sort key 'size'" in r.err, r)
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        p = subprocess.Popen([SONDE, "ftrace", "latency", "-a", "-e", f"{FIRST},{SECOND}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        t.check(f"{sig.name}: it traces", wait_for(traces(p.pid)), p.pid)
        p.send_signal(sig)
        out, err = p.communicate()
        t.check(f"{sig.name}: it shows what it saw", p.returncode == 0 and (b"statistics" in out or b"No data" in out), (p.returncode, err))
        t.check(f"{sig.name}: nothing is left", not ours(), ours())


def check_kill():
    p = subprocess.Popen([SONDE, "ftrace", "latency", "-a", "-e", f"{FIRST},{SECOND}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    t.check("SIGKILL: it traces", wait_for(traces(p.pid)), p.pid)
    p.kill()
    p.wait()
    left = ours()
    t.check("SIGKILL: its mark is left", left == [f"sonde-{p.pid}"], left)
    r = ftrace("latency", "-a", "-e", f"{FIRST},{SECOND}", "--", "true")
    t.check("SIGKILL: the next one cleans up, and says so", r.status == 0 and f"(process {p.pid}) was killed" in r.err and not ours(), r)


def check_functions():
    r = ftrace("profile", "-T", "vfs_open", "--", "cat", "/dev/null")
    if r.status != 0:
        lines = r.err.splitlines()
        t.check("functions: one line says why not", r.status == 1 and len(lines) == 1 and
                ("locked down" in lines[0] or "built without" in lines[0]), r)
        print("SKIP functions: not traced here:", lines[-1] if lines else r)
        return
    rows = re.findall(r"^ *([\d.]+) +([\d.]+) +([\d.]+) +(\d+)   (\S+)$", r.out.decode(), re.M)
    t.check("profile", [row[4] for row in rows] == ["vfs_open"] and int(rows[0][3]) >= 1, r)
    r = ftrace("trace", "-T", "vfs_open", "--", "cat", "/dev/null")
    t.check("trace", b"# tracer: function\n" in r.out and b"vfs_open <-" in r.out, r)
    with tempfile.TemporaryFile() as out:
        subprocess.run([SONDE, "ftrace", "-F", "vfs_ope*"], stdout=out, check=False)
        out.seek(0)
        t.check("-F", b"vfs_open\n" in out.read(), "vfs_open is not listed")


def main():
    if os.geteuid() != 0 or not os.access(f"{TRACEFS}/instances", os.W_OK) or not read("events/sched/sched_switch/id").strip().isdigit():
        skip("tracefs is not there, or not ours to change")
    try:
        os.mkdir(f"{TRACEFS}/instances/sonde-test-probe")
        os.rmdir(f"{TRACEFS}/instances/sonde-test-probe")
    except OSError as e:
        skip(f"tracefs has no instances for us: {e}")
    before = state()
    for check in (check_events, check_bpf, check_ends, check_kill, check_functions):
        check()
        after = state()
        changed = {k: (before[k], after[k]) for k in before if before[k] != after[k]}
        t.check(f"{check.__name__}: tracefs is as it was", not changed and not ours(), (changed, ours()))
    t.finish()


with support.recording(alone=True):
    main()
