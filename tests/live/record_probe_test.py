#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --probe: probes that last as long as the recording.

record_probe_test.py SONDE

SKIPs where the kernel has no uprobe PMU, or we may not use it.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
DEFINED = "/sys/kernel/tracing/uprobe_events"
# The leak checker cannot look at a process that has a probe, because of a mapping that cannot be read.
ENV = dict(support.ENV, ASAN_OPTIONS=support.ENV["ASAN_OPTIONS"] + ":detect_leaks=0")
t = support.Report("record --probe")


def defined():
    """What is defined under names as record --probe makes them."""
    try:
        with open(DEFINED, encoding="utf-8") as f:
            return [line for line in f if ":probe_" in line]
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


SERVER = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
struct item { short size; unsigned kind:5, more:9; const char *name; int list[3]; struct item *next; };
static struct item second = {-3, 9, 300, "second", {4, 5, 6}, 0}, first = {12, 3, 511, "first", {1, -2, 3}, &second};
int calls;
__attribute__((noinline)) long serve(struct item *at, const char *why, int n) {
    __asm__ volatile("" ::: "memory");
    calls++;
    return at->size * 10L + n;
}
int main(int argc, char **argv) {
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += serve(i & 1 ? &second : &first, i ? "because" : NULL, -i);
    pid_t child = fork();
    if (child == 0) {
        serve(&second, "child", 7);
        _exit(0);
    }
    if (child < 0)
        return 9;
    wait(0);
    if (argc > 1)
        for (;;) { serve(&first, "again", 0); usleep(1000); }
    return sum == 12345;
}
"""
ARGS = ("serve at->size at->kind at->more name=at->name:string at->list next=at->next->size why:string n calls "
        "task=$comm raw=%dx:x8")
WANTED = [f'size={a} kind={b} more={c} name="{d}" list={{{e}}} next={f} why_string="{g}" n={h} calls={i} task="server" raw='
          for a, b, c, d, e, f, g, h, i in (
              (12, 3, 511, "first", "1,-2,3", -3, "", 0, 0), (-3, 9, 300, "second", "4,5,6", 0, "because", -1, 1),
              (12, 3, 511, "first", "1,-2,3", -3, "because", -2, 2), (-3, 9, 300, "second", "4,5,6", 0, "child", 7, 3))]


def texts(path):
    """[what is printed of a sample, without the address]"""
    r = support.run([SONDE, "script", "-F", "trace", "-i", path])
    return [line.split(") ", 1)[1] for line in r.out.decode().splitlines() if ") " in line]


def check_arguments(folder, path):
    """Values of a program's own variables, as a probe in tracefs records them."""
    source, program = os.path.join(folder, "server.c"), os.path.join(folder, "server")
    with open(source, "w", encoding="utf-8") as f:
        f.write(SERVER)
    if support.run(["cc", "-O1", "-g", "-w", "-o", program, source]).status != 0 or os.uname().machine != "x86_64":
        print("SKIP: arguments: no compiler, or another machine")
        return
    r = record(path, ARGS, command=(program,))
    if r.status != 0 and re.search("BPF|older|lockdown|lacks|Linux", r.err):
        print("SKIP: arguments:", r.err)
        return
    got = texts(path)
    t.check("arguments", r.status == 0 and len(got) == len(WANTED) and
            all(line.startswith(wanted) for line, wanted in zip(got, WANTED)), (r, got))
    other = os.path.join(folder, "tracefs.data")
    if support.run([SONDE, "probe", "-q", "-x", program, "--add", "probe_live_args:x=" + ARGS]).status == 0:
        r = support.run([SONDE, "record", "-o", other, "-e", "probe_live_args:x", "--", program], env=ENV)
        support.run([SONDE, "probe", "-q", "-d", "probe_live_args:x"])
        t.check("as through tracefs", texts(other) == got, (texts(other), got))
    r = record(path, "serve%return value=$retval:s64", command=(program,))
    t.check("$retval", [x.split("value=")[1] for x in texts(path)] == ["120", "-31", "118", "-23"], (r, texts(path)))
    r = support.run([SONDE, "record", "-q", "-a", "-o", path, "--probe", f"{program} serve n", "--", program], env=ENV)
    t.check("of all processes", texts(path) == ["n=0", "n=-1", "n=-2", "n=7"], (r, texts(path)))
    r = record(path, "serve n", "serve%return", "serve why:string", command=(program,))
    names = [e.split(":")[1] for e in events(path)]
    t.check("several", sorted(names) == sorted(["serve", "serve__return", "serve_1"] * 4), (r, names))
    r = record(path, "serve", command=(program,))
    t.check("a place alone", r.status == 0 and len(events(path)) == 4, (r, events(path)))
    place = support.run(["nm", program]).out.decode().split(" T serve")[0].split()[-1]
    r = support.run([SONDE, "record", "-q", "-o", path, "-e", f"{program}:0x{place}", "--", program], env=ENV)
    t.check("by -e, and the program can still fork", r.status == 0 and len(events(path)) == 3, (r, events(path)))
    r = record(path, "serve n=%nosuch", command=(program,))
    t.check("no such register", r.status == 1 and "no such register" in r.err and r.err.count("\n") == 1, r)
    check_kept(folder, program, path)
    check_killed(folder, program)
    check_process(folder, program)


def eventually(condition):
    """Whether the condition holds at last."""
    until = time.monotonic() + 120
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def check_killed(folder, program):
    """SIGKILL: no program and no probe stays."""
    path = os.path.join(folder, "killed.data")
    p = subprocess.Popen([SONDE, "record", "-o", path, "--probe", "serve n", "--", program, "on"], env=ENV,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    mine = f"/proc/{p.pid}/fd"

    def attached():
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            return [x for x in os.listdir(mine) if "bpf" in os.readlink(os.path.join(mine, x))]
        return []
    try:
        t.check("it records", eventually(attached), mine)
        ids = programs()
        p.kill()
        p.wait()
        t.check("nothing stays", eventually(lambda: not (programs() & ids)), (ids, programs()))
    finally:
        with contextlib.suppress(ProcessLookupError):  # a program that had not begun ends with its recorder
            os.killpg(p.pid, signal.SIGKILL)


def check_kept(folder, program, path):
    """A probe of the build-id cache, in a program without debugging information."""
    bare = os.path.join(folder, "bare")
    if support.run(["cc", "-O1", "-g", "-w", "-Wl,--build-id", "-o", bare, program + ".c"]).status != 0:
        print("SKIP: kept probes: no build-ids")
        return
    r = support.run([SONDE, "probe", "-q", "-n", "--cache", "-x", bare, "kept=serve n"])
    t.check("a probe is kept", r.status == 0, r)
    if support.run(["strip", bare]).status != 0:
        print("SKIP: kept probes: no strip")
        return
    r = record(path, "%kept", command=(bare,))
    t.check("a kept probe", r.status == 0 and texts(path) == ["n=0", "n=-1", "n=-2", "n=7"], (r, texts(path)))
    r = record(path, "%probe_bare:none", command=(bare,))
    t.check("none is kept", r.status == 1 and "not in the cache" in r.err and r.err.count("\n") == 1, r)


def check_process(folder, program):
    """-p: the place is in the program of the process, whatever command says how long."""
    path = os.path.join(folder, "process.data")
    with subprocess.Popen([program, "on"]) as server:
        who = ["-p", str(server.pid)]
        p = subprocess.Popen([SONDE, "record", "-q", "-o", path, "--probe", "serve n", *who, "--", "sleep", "600"], env=ENV,
                             start_new_session=True)
        try:
            t.check("-p and a command", eventually(lambda: os.path.exists(path) and events(path)), path)
            p.send_signal(signal.SIGINT)
            p.wait()
            t.check("-p: the process's own program", set(events(path)) == {"probe_server:serve"}, set(events(path)))
            r = support.run([SONDE, "record", "-o", path, "--probe", "no_such_place", *who, "--", "true"], env=ENV)
            t.check("-p: no such place", r.status == 1 and os.path.realpath(program) in r.err and r.err.count("\n") == 1, r)
            r = support.run([SONDE, "record", "-o", path, "--probe", "serve", "-p", f"{server.pid},{os.getpid()}", "--", "true"], env=ENV)
            t.check("-p: several programs", r.status != 0 and "several programs" in r.err and r.err.count("\n") == 1, r)
            os.rename(program, program + ".old")
            shutil.copy(program + ".old", program)
            os.remove(program + ".old")
            r = support.run([SONDE, "record", "-o", path, "--probe", "serve", *who, "--", "true"], env=ENV)
            t.check("-p: another file has its path", r.status == 1 and "no longer" in r.err and r.err.count("\n") == 1, r)
        finally:
            for one in (p, server):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.pid, signal.SIGKILL)
            p.wait()


def programs():
    """The numbers of the programs that are loaded for probes, by bpftool where it is."""
    if not shutil.which("bpftool"):
        return set()
    r = support.run(["bpftool", "-j", "prog", "list"])
    try:
        return {x["id"] for x in json.loads(r.out) if x.get("name") in ("gather", "tell")}
    except ValueError:
        return set()


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
        check_arguments(folder, path)
        r = record(path, "no_such_function_here")
        t.check("no such function", r.status == 1 and "no_such_function_here" in r.err, r)
        r = support.run([SONDE, "record", "-o", path, "-a", "--probe", "main"])
        t.check("no file", r.status == 129 or (r.status == 1 and "name the program" in r.err), r)
        r = record(path, "/no/such/file main")
        t.check("no such file", r.status == 1 and "/no/such/file" in r.err, r)
    t.check("nothing is defined in tracefs", defined() == before, (before, defined()))
    t.finish()


with support.recording():
    main()
