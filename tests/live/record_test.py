#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records on this machine and reads it back, with sonde and, where it is installed, with perf.

record_test.py SONDE

SKIPs where the kernel lets us record nothing. Nothing is measured; where moments are random, every one must do.
"""
import ctypes
import os
import random
import re
import resource
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
PROCESSES = int(os.environ.get("SONDE_TEST_PROCESSES", "300"))
ATTACHES = int(os.environ.get("SONDE_TEST_ATTACHES", "10"))
KILLS = int(os.environ.get("SONDE_TEST_KILLS", "20"))
LOOP = [SONDE, "test", "-w", "noploop", "1"]
check = support.check


def record(*args, **more):
    """Into perf.data unless it is said where: standard output is a pipe here, and would be taken for it."""
    if "-o" not in args:
        args = ("-o", "perf.data", *args)
    return support.run([SONDE, "record", *args], **more)


def samples(result):
    """How many the closing line says."""
    m = re.search(r"Captured and wrote .* \((\d+) samples\)", result.err)
    return int(m.group(1)) if m else 0


def script(path, *args):
    return support.run([SONDE, "script", "-f", "-i", path, *args])


def lines(text):
    return len([line for line in text.decode("utf-8", "replace").splitlines() if line.strip()])


def perf_samples(path):
    """What the installed perf counts; None without one."""
    if not PERF:
        return None
    r = subprocess.run([PERF, "script", "-f", "-i", path, "-F", "tid,time"], capture_output=True,
                       env=support.ENV, timeout=120)
    check(r.returncode == 0, f"perf script reads {os.path.basename(path)}: {r.stderr.decode()[-300:]}")
    return lines(r.stdout)


def agree(path, want, what):
    """sonde and perf both find `want` samples (None: as many as each other)."""
    r = script(path, "-F", "tid,time")
    check(r.status == 0, f"{what}: sonde script reads it: {r.err[-300:]}")
    got, theirs = lines(r.out), perf_samples(path)
    want = got if want is None else want
    check(got == want, f"{what}: sonde script shows {got} samples of {want}")
    check(theirs in (None, want), f"{what}: perf script shows {theirs} samples of {want}")


def exit_codes():
    for command, want in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -TERM $$"], 128 + 15), (["true"], 0),
                          (["/no/such/program"], 1)):
        r = record("-o", "codes.data", "--", *command)
        check(r.status == want, f"exit status {want} of {command}, not {r.status}")
    r = record("-o", "/no/such/directory/x", "true")
    check(r.status == 1 and "/no/such/directory/x" in r.err, "output that cannot be created")
    r = record("-e", "no-such-event", "true")
    check(r.status != 0 and "no-such-event" in r.err, "an unknown event")
    r = record("--setup-filter", "pin", "true")
    check(r.status == 1 and "report and script filter" in r.err, "an option that is refused says what to do instead")
    r = record("-C", "100000", "true")
    check(r.status == 1 and "100000" in r.err, "a CPU that is not there")


def a_command():
    r = record("-F", "1000", *LOOP)
    check(r.status == 0 and samples(r) > 0, f"noploop has samples: {r.err}")
    agree("perf.data", samples(r), "noploop")
    text = script("perf.data", "-F", "comm").out.decode()
    loops = text.count("perf-noploop")
    # Before it is in its loop it starts, with a sanitizer for long; and the loop's second is not one of CPU time.
    check(loops * 10 > samples(r), f"many samples are perf-noploop's: {loops} of {samples(r)}")
    first = open("perf.data", "rb").read()
    record("true")
    check(open("perf.data.old", "rb").read() == first, "the recording before is perf.data.old")
    r = record("-q", "true")
    check(r.err == "", f"-q is quiet: {r.err}")


def variants():
    for args in (["-g"], ["-c", "1000000"], ["-z"], ["-e", "cpu-clock,task-clock"], ["--per-thread"], ["-i"],
                 ["-e", "{cpu-clock,page-faults}:S"], ["--call-graph", "dwarf,4096"], ["-d"], ["-B"], ["-m", "4"],
                 ["-e", "cpu-clock:u"], ["-k", "mono"], ["-R"], ["-s"], ["-T", "-P"], ["--switch-events"],
                 ["-D", "20"], ["--overwrite", "-m", "4"], ["--group", "-e", "cpu-clock,page-faults"],
                 ["--mmap-flush", "4K"], ["--aio"], ["--aio=3", "-z"], ["--affinity=node"], ["--affinity=sys"], ["--latency"]):
        r = record("-o", "variant.data", *args, *LOOP)
        check(r.status == 0, f"{args}: {r.err}")
        if r.status == 0:
            # A group's reading is shown as a sample of each of its events.
            agree("variant.data", None if args[-1].endswith(":S") else samples(r), str(args))


def header():
    record("-o", "header.data", "-e", "cpu-clock", "true")
    with open("header.data", "rb") as f:
        data = f.read()
    for text in (os.uname().nodename, os.uname().release, os.uname().machine, "cpu-clock"):
        check(text.encode() in data, f"the header holds {text}")
    if PERF:
        r = subprocess.run([PERF, "report", "-f", "-i", "header.data", "--header-only", "-I"], capture_output=True,
                           text=True, env=support.ENV, timeout=support.HANG_SECONDS)
        for text in ("hostname : " + os.uname().nodename, "nrcpus online", "cpudesc", "total memory", "cmdline",
                     "event : name = cpu-clock", "sibling", "pmu mappings", "time of first sample"):
            check(text in r.stdout, f"perf prints '{text}' of the header")
        r = subprocess.run([PERF, "buildid-list", "-f", "-i", "header.data"], capture_output=True, text=True,
                           env=support.ENV, timeout=support.HANG_SECONDS)
        check("libc" in r.stdout or "true" in r.stdout, f"perf lists build-ids: {r.stdout}{r.stderr}")


def pipes():
    r = record("-o", "-", "-F", "1000", "--", "sh", "-c", f"echo hello; exec {' '.join(LOOP)}")
    check(r.out[:8] == b"PERFILE2" and "hello" in r.err, "a pipe holds the recording, and nothing else")
    got = support.run([SONDE, "script", "-i", "-", "-F", "tid,time"], stdin=r.out)
    check(got.status == 0 and lines(got.out) == samples(r), f"sonde reads the pipe: {got.err}")


def wait_for_data(path, recorder, more_than=0):
    """Until there are finished pieces of more bytes than that: what data.size says, which is returned."""
    size, until = 0, time.monotonic() + support.HANG_SECONDS
    while size <= more_than and recorder.poll() is None and time.monotonic() < until:
        try:
            with open(path, "rb") as f:
                size = int.from_bytes(f.read(56)[48:56], sys.byteorder)
        except OSError:
            pass
        time.sleep(0.005)
    check(size > more_than, f"{path} grows while it is recorded: {size}, {recorder.poll()}")
    return size


def wait_for_map(path, recorder, name):
    """Until a map record of that file has been written: the recorder has looked at it. How much there is by then."""
    size = wait_for_data(path, recorder)
    until = time.monotonic() + support.HANG_SECONDS
    while time.monotonic() < until and recorder.poll() is None:
        with open(path, "rb") as f:
            if name.encode() + b"\0" in f.read():
                return size
        size = wait_for_data(path, recorder, size)
    check(False, f"{path}: {name} is mapped while it is recorded: {recorder.poll()}")
    return size


def signals():
    for sig in (signal.SIGINT, signal.SIGTERM):
        p = subprocess.Popen([SONDE, "record", "-o", "signal.data", "-a"], stderr=subprocess.PIPE, env=support.ENV)
        wait_for_data("signal.data", p)
        p.send_signal(sig)
        err = p.communicate(timeout=support.HANG_SECONDS)[1].decode()
        check(p.returncode == 0 and "Captured" in err, f"{sig.name} ends -a well: {p.returncode} {err}")
        agree("signal.data", samples(support.Result(0, b"", err)), sig.name)
        os.remove("signal.data")
    sleeper = subprocess.Popen(["sleep", "60"])
    p = subprocess.Popen([SONDE, "record", "-o", "pid.data", "-p", str(sleeper.pid)], stderr=subprocess.PIPE,
                         env=support.ENV)
    wait_for_data("pid.data", p)
    sleeper.kill()
    sleeper.wait()
    p.communicate(timeout=support.HANG_SECONDS)
    check(p.returncode == 0, "-p ends with its process")


def controlled():
    """Commands through FIFOs, each acknowledged."""
    os.mkfifo("ctl")
    os.mkfifo("ack")
    ctl, ack = os.open("ctl", os.O_RDWR), os.open("ack", os.O_RDWR)
    p = subprocess.Popen([SONDE, "record", "-o", "control.data", "-a", "-D", "-1", "--control", "fifo:ctl,ack"],
                         stderr=subprocess.PIPE, env=support.ENV)
    for command in ("ping", "enable", "disable", "enable cpu-clock:ppp", "evlist -F", "snapshot", "stop"):
        os.write(ctl, command.encode() + b"\n")
        check(os.read(ack, 4) == b"ack\n", f"{command} is acknowledged")
        if command == "enable":
            support.run(LOOP)
    err = p.communicate(timeout=support.HANG_SECONDS)[1].decode()
    got = samples(support.Result(0, b"", err))
    check(p.returncode == 0 and got > 0, f"stop ends it well: {p.returncode} {err}")
    check("sample_freq=4000" in err and "snapshot is for" in err, f"evlist and snapshot answer: {err}")
    agree("control.data", got, "control")
    os.close(ctl)
    os.close(ack)


def killed():
    """SIGKILL at any moment: what is there opens, everywhere."""
    moments = random.Random(1)
    for i in range(KILLS):
        path = f"killed{i % 4}.data"
        event = ["-e", "sched:sched_switch"] if i % 2 and os.geteuid() == 0 else ["-F", "5000", "-g"]
        if os.path.exists(path):
            os.remove(path)
        p = subprocess.Popen([SONDE, "record", "-o", path, "-a", "-m", "8", *event], stderr=subprocess.DEVNULL,
                             env=support.ENV)
        wait_for_data(path, p)
        time.sleep(moments.random() * 0.2)
        p.kill()
        p.wait()
        r = script(path, "-F", "tid,time")
        check(r.status == 0, f"killed recording {i} ({event}) is read: {r.err[-300:]}")
        theirs = perf_samples(path)
        # A kill between two system calls of an append leaves the file without an end: perf then takes it to
        # end where the file does, as sonde does.
        check(theirs in (None, lines(r.out)), f"killed recording {i}: sonde {lines(r.out)}, perf {theirs} samples")


def full():
    """A limit on the file's size in place of a full disk."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300000, 300000))
    for args in ([], ["-z"], ["--aio"]):
        r = record("-o", "full.data", "-a", "-g", "-F", "20000", "-m", "16", *args, "--", "sleep", "60",
                   preexec_fn=limit)
        check(r.status == 1 and "cannot write" in r.err, f"a full disk is an error: {args} {r.status} {r.err}")
        check(os.path.getsize("full.data") <= 300000, "the limit was kept")
        got = script("full.data", "-F", "tid,time")
        check(got.status == 0 and lines(got.out) > 0, f"what fitted is read: {args} {got.err}")
        theirs = perf_samples("full.data")
        check(theirs in (None, lines(got.out)), f"full disk {args}: sonde {lines(got.out)}, perf {theirs} samples")


def mapped(path, pid):
    """(address, length, offset, name) of a process's executable mappings that came with the recording."""
    found = set()
    r = script(path, "--show-mmap-events")
    for m in re.finditer(rf"PERF_RECORD_MMAP2 {pid}/{pid}: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (\w+) [^]]*\]: ..x. (.*)",
                         r.out.decode("utf-8", "replace")):
        found.add((int(m.group(1), 16), int(m.group(2), 16), int(m.group(3), 16), m.group(4)))
    return found


def of_proc(pid):
    found = set()
    for line in open(f"/proc/{pid}/maps"):
        f = line.split(None, 5)
        if f[1][2] == "x":
            start, end = (int(x, 16) for x in f[0].split("-"))
            found.add((start, end - start, int(f[2], 16), f[5].strip() if len(f) > 5 else "//anon"))
    return found


def before():
    """Processes that ran already: every executable mapping, as /proc has it; the kernel as kallsyms has it."""
    p = subprocess.Popen(["sleep", "60"])
    while os.readlink(f"/proc/{p.pid}/exe") == os.readlink("/proc/self/exe") or not mapped_libc(p.pid):
        time.sleep(0.01)
    try:
        for args in (["-p", str(p.pid)], ["-a"] if os.geteuid() == 0 else ["-t", str(p.pid)]):
            r = record("-o", "before.data", *args, "sleep", "0.1")
            check(r.status == 0, f"{args}: {r.err}")
            check(mapped("before.data", p.pid) == of_proc(p.pid), f"{args}: mappings are those of /proc")
            if PERF:
                samples_seen = perf_samples("before.data")
                check(samples_seen is not None, "perf reads it")
        text = {}
        for line in open("/proc/kallsyms"):
            f = line.split()
            if len(f) == 3 and f[2] in ("_text", "_stext", "_etext"):
                text[f[2]] = int(f[0], 16)
        if text.get("_etext"):
            start = text.get("_text") or text["_stext"]
            m = re.search(r"-1/0: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+)[^]]*\]: .* \[kernel.kallsyms\]_s?text",
                          script("before.data", "--show-mmap-events").out.decode("utf-8", "replace"))
            check(m and int(m.group(1), 16) == start and int(m.group(2), 16) == text["_etext"] - start and
                  int(m.group(3), 16) == start, "the kernel's map is [_text, _etext)")
    finally:
        p.kill()
        p.wait()


def mapped_libc(pid):
    with open(f"/proc/{pid}/maps") as f:
        return "libc" in f.read()


def identity():
    """Code without a build-id: its state lies in the map record, a cookie in the trailer."""
    source = "int main(void) { volatile long x = 0; for (long i = 0; i < 100000000; i++) x += i; return x == 1; }"
    cc = shutil.which("cc")
    if not cc or subprocess.run([cc, "-x", "c", "-O1", "-Wl,--build-id=none", "-o", "nobid", "-"],
                                input=source.encode(), check=False).returncode != 0:
        print("SKIP identity: no compiler")
        return
    time.sleep(0.1)  # a file must be older than the recording by a few ticks of its clock to be known by name
    for args in ([], ["-z"], ["-B"], ["-N"]):
        r = record("-o", "identity.data", *args, "./nobid")
        data = open("identity.data", "rb").read()
        check(r.status == 0 and data.endswith(struct.pack("=Q", 0x7365786F42646E53)), f"{args}: there is a trailer")
        if PERF:
            check(perf_samples("identity.data") == samples(r), f"{args}: perf reads it")
    r = record("-o", "identity.data", "--keep=none", "./nobid")
    # And the tail of the kernel's own map, which tells its boot.
    check(open("identity.data", "rb").read().count(struct.pack("=I", 0x45646E53)) == 3, "two tails, one entry")


def report(path, *args):
    # Not from the build-id cache: other recordings of the same program are there.
    return support.run([SONDE, "--buildid-dir", "none", "report", "-f", "--stdio", "-i", path, "-s", "sym",
                        *args]).out.decode()


def kept():
    """A program that is deleted, or replaced by another one, while it runs: its functions have names."""
    def used_ticks(p):
        """The CPU time that the recorded command has used."""
        pid = open(f"/proc/{p.pid}/task/{p.pid}/children").read().split()[0]
        return sum(int(n) for n in open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])

    def when_running(p, act):
        size = wait_for_map("kept.data", p, os.path.realpath("program"))
        act()
        while used_ticks(p) < 30:  # it is past its start then, and in the loop
            time.sleep(0.02)
        wait_for_data("kept.data", p, size)
        p.send_signal(signal.SIGINT)
        return p.communicate(timeout=support.HANG_SECONDS)[1].decode()

    def replace():
        shutil.copy("/bin/true", "new")
        os.rename("new", "program")

    for keep, act, named in (("unwind", lambda: os.remove("program"), True), ("full", replace, True),
                             ("unwind", replace, True), ("none", replace, False)):
        shutil.copy(SONDE, "program")
        if os.path.exists("kept.data"):
            os.remove("kept.data")
        p = subprocess.Popen([SONDE, "record", "-N", "-o", "kept.data", f"--keep={keep}", "-F", "1000", "--",
                              "./program", "test", "-w", "noploop", "600"], stderr=subprocess.PIPE, env=support.ENV)
        err = when_running(p, act)
        text = report("kept.data")
        check(("noploop" in text) == named, f"--keep={keep}: named {named}: {text[-800:]}{err}")
        if PERF:
            check(perf_samples("kept.data") == samples(support.Result(0, b"", err)), "perf reads what keeps files")
        if os.path.exists("program"):
            os.remove("program")


def running_kernel():
    """The kernel that recorded still runs: its own list is asked, not a copy in the cache, which takes longer to read."""
    r = record("-e", "cpu-clock:k", "-F", "1000", "-o", "kernel.data", "dd", "if=/dev/zero", "of=/dev/null", "bs=4M", "count=2000")
    ids = support.run([SONDE, "buildid-list", "-i", "kernel.data"]).out.decode()
    kernel = re.search(r"^([0-9a-f]{40}) \[kernel.kallsyms\]$", ids, re.M)
    names = re.findall(r"\[k\] ([a-z]\w+)$", report("kernel.data"), re.M)
    if r.status != 0 or not kernel or not names:
        print(f"the kernel cannot be recorded, and its list is not compared: {r.err}")
        return
    folder = f".debug/.build-id/{kernel.group(1)[:2]}/{kernel.group(1)[2:]}"
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/kallsyms", "w") as f:
        for line in open("/proc/kallsyms"):
            f.write(line.replace(f" {names[0]}\n", " copy_of_it\n"))
    r = support.run([SONDE, "report", "-v", "-f", "--stdio", "-i", "kernel.data", "-s", "sym"])
    text = r.out.decode()
    check(f"[k] {names[0]}" in text and "copy_of_it" not in text and "the running kernel's kallsyms" in r.err,
          f"the running kernel's list is asked first: {text[-800:]}{r.err}")
    shutil.rmtree(".debug")


def probes():
    """A function of a library, found by its name."""
    libc = [line.split()[-1] for line in open("/proc/self/maps") if "libc.so" in line]
    if not libc or not os.path.exists("/sys/bus/event_source/devices/uprobe"):
        print("SKIP probes: no libc of its own, or no uprobe PMU")
        return
    r = record("-e", f"{libc[0]}:malloc", "-e", f"{libc[0]}:malloc%return", "-o", "probe.data", "ls", "/")
    check(r.status == 0 and samples(r) > 0, f"malloc is probed: {r.err}")
    text = script("probe.data", "-F", "event,ip,sym").out.decode()
    check("malloc%return:" in text and re.search(r"malloc:\s+[0-9a-f]+ malloc$", text, re.M), f"it has its name: {text[:300]}")
    agree("probe.data", samples(r), "probes")
    r = record("-e", f"{libc[0]}:no_such_function", "true")
    check(r.status == 129 and "no_such_function" in r.err, f"a function that is not there: {r.status} {r.err}")


def short_lived():
    """Many processes that end at once: each has its name, its fork and its end."""
    spawn = f"import os\nfor i in range({PROCESSES}): os.waitpid(os.posix_spawn('/bin/true', ['true'], {{}}), 0)\n"
    for args in ([], ["-a"] if os.geteuid() == 0 else ["-g"]):
        r = record("-o", "short.data", "-F", "1000", *args, "--", sys.executable, "-c", spawn)
        check(r.status == 0, f"short-lived {args}: {r.err[-300:]}")
        agree("short.data", samples(r), f"short-lived {args}")
        text = script("short.data", "--show-task-events").out.decode("utf-8", "replace")
        execs = len(re.findall(r"PERF_RECORD_COMM exec: true:", text))
        lost = "lost" in r.err
        check(execs >= PROCESSES or lost and execs > PROCESSES / 2, f"short-lived {args}: {execs} of {PROCESSES} named")


def attach():
    """Processes that end while we attach to them: recorded, or said to have ended."""
    for i in range(ATTACHES):
        p = subprocess.Popen(["sh", "-c", "while [ $((i = i + 1)) -lt %d ]; do :; done" % (i * 997 % 20000)])
        r = record("-o", "attach.data", "-p", str(p.pid))
        p.wait()
        check(r.status == 0 or r.status == 1 and re.search("ended|no such|there is no", r.err, re.I),
              f"attach {i}: {r.status} {r.err[-300:]}")
        if r.status == 0:
            agree("attach.data", None, f"attach {i}")


def threads():
    """Several readers, into a directory."""
    for args in ([], ["-z"], ["-g"], ["--mmap-flush", "4K"]):
        shutil.rmtree("dir.data", ignore_errors=True)
        r = record("-o", "dir.data", "--threads", *args, *LOOP)
        check(r.status == 0 and os.path.exists("dir.data/data.0"), f"--threads {args}: {r.status} {r.err}")
        agree("dir.data", samples(r), f"--threads {args}")
        check("noploop" in report("dir.data"), f"--threads {args}: its functions have names")
    cpu = sorted(os.sched_getaffinity(0))[0]
    r = record("-o", "dir.data", "-C", str(cpu), f"--threads={cpu}/{cpu}", *LOOP)
    check(r.status == 0 and not os.path.exists("dir.data/data.1"), f"one thread: {r.err}")
    agree("dir.data", samples(r), "--threads with masks")
    for args in (["--threads=no"], ["--threads", "-o", "-"], ["--threads", "--overwrite"], ["--threads", "--per-thread"]):
        r = record(*args, "true")
        check(r.status == 129, f"{args}: {r.status} {r.err}")
    shutil.rmtree("dir.data", ignore_errors=True)
    sleeper = subprocess.Popen(["sleep", "600"])
    p = subprocess.Popen([SONDE, "record", "-o", "dir.data", "--threads", "-p", str(sleeper.pid)], stderr=subprocess.PIPE,
                         env=support.ENV)
    wait_for_data("dir.data/data", p)
    sleeper.kill()
    sleeper.wait()
    err = p.communicate(timeout=support.HANG_SECONDS)[1].decode()
    check(p.returncode == 0, f"it ends with its process: {err}")
    shutil.rmtree("dir.data", ignore_errors=True)
    p = subprocess.Popen([SONDE, "record", "-o", "dir.data", "--threads", "-F", "5000", "--", "sleep", "60"],
                         stderr=subprocess.DEVNULL, env=support.ENV)
    wait_for_data("dir.data/data", p)
    p.kill()
    p.wait()
    r = script("dir.data", "-F", "tid,time")
    check(r.status == 0 and perf_samples("dir.data") in (None, lines(r.out)), f"killed with --threads: {r.err}")


def load_program(name):
    """Loads a BPF program of two instructions (r0 = 0; exit); its descriptor, or None where that is not allowed.
    The call's number and the layout: bpf(2), <linux/bpf.h>."""
    number = {"x86_64": 321, "aarch64": 280}.get(os.uname().machine)
    code = struct.pack("=BBhiBBhi", 0xb7, 0, 0, 0, 0x95, 0, 0, 0)
    code, license = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"Apache-2.0")
    attr = struct.pack("=IIQQIIQII16s", 1, 2, ctypes.addressof(code), ctypes.addressof(license), 0, 0, 0, 0, 0, name)
    fd = ctypes.CDLL(None).syscall(number, 5, attr, len(attr)) if number else -1
    return fd if fd >= 0 else None


def programs():
    """A BPF program that comes and goes while recording is in the header, as those that were there before."""
    fd = load_program(b"sonde_probe")
    if fd is None or open("/proc/sys/net/core/bpf_jit_enable").read().strip() == "0":
        print("SKIP programs: none can be loaded and compiled here")
        return
    os.close(fd)
    os.mkfifo("ask")
    os.mkfifo("answer")
    ctl, ack = os.open("ask", os.O_RDWR), os.open("answer", os.O_RDWR)

    def tell(command):
        os.write(ctl, command.encode() + b"\n")
        check(os.read(ack, 4) == b"ack\n", f"{command} is acknowledged")

    for threads in [], ["--threads"]:
        path = "bpf" + "".join(threads) + ".data"
        p = subprocess.Popen([SONDE, "record", "-a", "-F", "99", *threads, "-o", path, "--control", "fifo:ask,answer"],
                             stderr=subprocess.DEVNULL, env=support.ENV)
        tell("ping")  # it records
        fd = load_program(b"sonde_probe")
        tell("ping")
        tell("ping")  # what was there at the last one has been looked at
        if not threads:
            os.close(fd)
        tell("stop")
        p.wait()
        if threads:
            os.close(fd)  # threads look when they are woken, at the latest now
        for tool in [SONDE, PERF] if PERF else [SONDE]:
            r = support.run([tool, "report", "--header-only", "-I", "-i", path])
            check(b"bpf_prog_info" in r.out and b"_sonde_probe " in r.out,
                  f"{tool} shows a BPF program loaded while recording {threads}: {r.err[-300:]}")
    os.close(ctl)
    os.close(ack)


def files():
    """Several files, each of them whole."""
    began = time.monotonic()
    r = record("-o", "part.data", "--switch-output=1s", "sh", "-c", "sleep 2.5")
    most = time.monotonic() - began + 1  # one a second, and what is left
    parts = sorted(f for f in os.listdir(".") if re.fullmatch(r"part\.data\.\d{16}", f))
    check(r.status == 0 and 2 <= len(parts) <= most and not os.path.exists("part.data"), f"parts: {parts}, at most {most}")
    for part in parts:
        check(script(part).status == 0, f"{part} can be read alone")
    # Each exec of a program begins a new file; the next one waits for it, by what the shell does itself. The last file
    # is what is left. The shell's own exec counts, too, if the recorder is as quick as that.
    if os.geteuid() == 0 and os.path.exists("/sys/kernel/tracing/events/sched/sched_process_exec"):
        r = record("-o", "event.data", "--switch-output-event", "sched:sched_process_exec", "--", "sh", "-c",
                   "for i in 1 2 3; do /bin/true; while set -- event.data.*; ! [ -e $1 ] || [ $# -lt $i ]; do :; done; done")
        parts = [f for f in os.listdir(".") if re.fullmatch(r"event\.data\.\d{16}", f)]
        check(r.status == 0 and 4 <= len(parts) <= 5, f"files by event: {parts} {r.err}")
        for part in parts:
            agree(part, None, "a file that an event ended")
    r = record("-o", "kept.data", "--timestamp-filename", "true")
    check(r.status == 0 and "kept.data.<timestamp>" in r.err, "a name from the time")
    open("old.data", "w").write("an older recording")
    r = record("-o", "old.data", "./no-such-command")
    check(r.status != 0 and open("old.data").read() == "an older recording" and
          not os.path.exists("old.data.old"), "a command that cannot run leaves an older recording alone")
    open("old.data", "w").write("an older recording")
    r = record("--kcore", "-o", "old.data", *LOOP)
    if os.path.exists("/proc/kcore") and os.geteuid() == 0 and r.status == 0:
        check(sorted(os.listdir("old.data")) == ["data", "kcore_dir"] and
              sorted(os.listdir("old.data/kcore_dir")) == ["kallsyms", "kcore", "modules"], "a copy of the kernel")
        agree("old.data", samples(r), "--kcore")
    else:
        check(r.status == 1 and r.err.count("/proc/kcore: ") == 1 and
              open("old.data").read() == "an older recording", f"--kcore without a right to it: {r.err}")
    r = record("--dry-run", "-o", "dry.data", "true")
    check(r.status == 0 and not os.path.exists("dry.data"), "--dry-run records nothing")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["HOME"] = support.ENV["HOME"] = folder  # the build-id cache goes with the rest
        r = record("-e", "cpu-clock:u", "-o", "probe.data", "ls", "/")
        if r.status == 1 and re.search("not allowed|no perf events|Permission|not permitted", r.err):
            print(f"SKIP recording: {r.err.strip()}")
            return support.SKIP
        check(r.status == 0, f"recording works: {r.err}")
        if not PERF:
            print("perf is not installed: its reading is not compared")
        tests = [exit_codes, a_command, variants, header, pipes, full, before, identity, kept, running_kernel, threads, short_lived, attach, files]
        if os.geteuid() == 0:
            tests += [signals, controlled, killed, probes, programs]
        else:
            print("not root: -a is not tried")
        for t in tests:
            print(t.__name__, flush=True)
            with support.recording():
                t()
        os.chdir("/")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
