#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trace` of a program whose system calls are known: trace_test.py SONDE

SKIPs where the kernel does not let us record tracepoints. Nothing is measured but counts.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
check = support.check
READS, IDS = 37, 41
NEVER = "sched:sched_kthread_stop"
PROGRAM = f"""
import os
fd = os.open("/dev/zero", os.O_RDONLY)
for i in range({READS}):
    os.read(fd, 4711)
for i in range({IDS}):
    os.getpgid(0)
try:
    os.rmdir("/nonexistent-folder")
except OSError:
    pass
os._exit(3)
"""


PROGRAM_IDS = f"[os.getpgid(0) for i in range({IDS})]"


def trace(*options, status=3, program=PROGRAM):
    r = subprocess.run([SONDE, "trace", *options, sys.executable, "-c", program], capture_output=True, text=True,
                       env=support.ENV, timeout=600)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r.stderr


def main():
    r = subprocess.run([SONDE, "trace", "-e", "exit_group", "true"], capture_output=True, text=True, env=support.ENV, timeout=300)
    if r.returncode:
        print(f"SKIP: this machine does not record system calls: {r.stderr.strip()[-200:]}")
        sys.exit(support.SKIP)
    check(re.search(r"true/\d+ exit_group\(\) += \?", r.stderr), f"exit_group of true: {r.stderr}")
    text = trace("-e", "read,rmdir")
    if "were lost" in text:
        print("SKIP counts: events were lost")
        return
    check(len(re.findall(r"read\(fd: \d+[^)]*count: 4711\) += 4711", text)) == READS, f"reads: {text[-600:]}")
    check(re.search(r"rmdir\(.*= -1 ENOENT", text), f"rmdir: {text[-300:]}")
    sums = trace("-S", "-e", "rmdir,getpgid")
    check(re.search(r"^   rmdir +1 +1 ", sums, re.M), f"-S: {sums[-900:]}")
    check(re.search(rf"^   getpgid +{IDS} +0 ", sums, re.M), f"-S: {sums[-900:]}")
    r = subprocess.run([SONDE, "trace", "record", "-o", "t.data", sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                       env=support.ENV, timeout=300)
    if not os.path.exists("t.data"):
        print(f"SKIP trace record: tracepoints are not recorded here: {r.stderr.strip()[-200:]}")
        return
    again = subprocess.run([SONDE, "trace", "-i", "t.data", "-e", "read"], capture_output=True, text=True, env=support.ENV, timeout=300)
    if "lost" in again.stderr:
        print("SKIP trace record: events were lost")
    else:
        check(len(re.findall(r"count: 4711\) += 4711", again.stderr)) == READS, f"trace record: {again.stderr[-300:]}")


STRUCTS = """
import ctypes, os, select, socket, struct, subprocess, time
libc = ctypes.CDLL(None)
r, w = os.pipe()
p = select.poll()
p.register(r, select.POLLIN)
p.register(w, select.POLLOUT)
p.poll(0)
os.writev(w, [b"first", b"second"])
os.readv(r, [bytearray(4), bytearray(99)])
a, b = socket.socketpair()
a.sendmsg([b"abc", b"de"])
b.recvmsg(100)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("127.0.0.1", 0))
u.getsockname()
u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
time.sleep(0.000123)
ts = struct.pack("qq", 0, 4567)
libc.nanosleep(ts, None)
os.lstat("/dev/null")
subprocess.run(["/bin/sh", "-c", "exit 9"])
os.utime("file", ns=(1000000002, 3000000004))
"""


def structs():
    """What arguments point to, before the call and after it."""
    open("file", "wb").close()
    calls = "*poll,readv,writev,sendmsg,recvmsg,bind,getsockname,setsockopt,pipe2,clock_nanosleep,*stat*,execve,wait4,utimensat"
    text = trace("-e", calls, status=0, program=STRUCTS)
    if "were lost" in text:
        print("SKIP structs: events were lost")
        return
    for what in (r"pipe2\(fildes: \[\d+, \d+\]", r"poll\(ufds: \[\{ \.fd: \d+(?:<.*?>)?, \.events: IN \}, \{ \.fd: \d+(?:<.*?>)?, \.events: OUT, \.revents: OUT \}\]",
                 r'writev\(.*vec: \[\{ \.iov_base: "first", \.iov_len: 5 \}, \{ \.iov_base: "second", \.iov_len: 6 \}\]',
                 r'readv\(.*vec: \[\{ \.iov_base: "firs", \.iov_len: 4 \}, \{ \.iov_base: "tsecond", \.iov_len: 99 \}\]',
                 r'sendmsg\(.*\.msg_iov: \[\{ \.iov_base: "abc", \.iov_len: 3 \}, \{ \.iov_base: "de", \.iov_len: 2 \}\]',
                 r'recvmsg\(.*\.msg_iov: \[\{ \.iov_base: "abcde", \.iov_len: 100 \}\]',
                 r"getsockname\(.*usockaddr: \{ \.family: INET, port: [1-9]\d*, addr: 127\.0\.0\.1 \}, usockaddr_len: \[16\]",
                 r"setsockopt\(.*optname: BROADCAST, optval: \[1\]", r"\.tv_sec: 0, \.tv_nsec: 4567 \}",
                 r'"/dev/null", statbuf: \{ \.st_mode: IFCHR\|0666, \.st_size: 0, \.\.\. \}',
                 r'execve\(filename: "/bin/sh", argv: \["/bin/sh", "-c", "exit 9"\]', r"stat_addr: \{ \.exited: 9 \}",
                 r"utimes: \[\{ \.tv_sec: 1, \.tv_nsec: 2 \}, \{ \.tv_sec: 3, \.tv_nsec: 4 \}\]"):
        check(re.search(what, text), f"{what} in: {text[-5000:]}")
    verbose = trace("-v", "-e", "*stat*", status=0, program="import os\nos.lstat('/dev/null')")
    check(re.search(r'"/dev/null", statbuf: .*\.st_rdev: 1:3,.*\.st_mtime: ', verbose), f"-v: {verbose[-3000:]}")


def texts_of_tracepoints():
    """The same texts when calls come as tracepoints, beside page faults, other events and callchains; and up to an event that
    no program has (any page fault may be a major one)."""
    for options in (["-F", "all"], ["-e", "sched:sched_process_exec"], ["--call-graph", "fp"], ["-e", NEVER, "--switch-off", NEVER]):
        calls = "openat,rmdir,read" if options[0] != "-F" else "openat,rmdir,read,close"
        text = trace("-e", calls, *options)
        if "lost" in text:
            print(f"SKIP {options}: events were lost")
            continue
        check("addresses" not in text, f"{options}: {text.splitlines()[0]}")
        check(re.search(r'openat\(dfd: CWD, filename: "/dev/zero", flags: RDONLY\|CLOEXEC\) += \d+', text), f"{options}: {text[-1500:]}")
        check(re.search(r'rmdir\(pathname: "/nonexistent-folder"\) += -1 ENOENT', text), f"{options}: {text[-1500:]}")
        zeros = r'read\(fd: \d+</dev/zero>, buf: "(?:\\000){64}"\.\.\., count: 4711\) += 4711'
        check(len(re.findall(zeros, text)) == READS, f"{options}: {text[-1500:]}")


def texts_of_recordings():
    """What `trace record` copied is shown by `trace -i`, and is not in anyone's way."""
    r = subprocess.run([SONDE, "trace", "record", "-o", "m.data", sys.executable, "-c", PROGRAM], capture_output=True, text=True,
                       env=support.ENV, timeout=300)
    if "is not recorded" in r.stderr or not os.path.exists("m.data"):
        print(f"SKIP trace record: {r.stderr.strip()[-200:]}")
        return
    again = subprocess.run([SONDE, "trace", "-i", "m.data"], capture_output=True, text=True, env=support.ENV, timeout=300)
    if "lost" in r.stderr + again.stderr:
        print("SKIP trace record: events were lost")
        return
    text = again.stderr
    check(re.search(r'openat\(dfd: CWD, filename: "/dev/zero", flags: RDONLY\|CLOEXEC\) += \d+', text), f"-i: {text[-1500:]}")
    check(re.search(r'rmdir\(pathname: "/nonexistent-folder"\) += -1 ENOENT', text), f"-i: {text[-1500:]}")
    zeros = r'read\(fd: \d+, buf: "(?:\\000){64}"\.\.\., count: 4711\) += 4711'
    check(len(re.findall(zeros, text)) == READS, f"-i: {text[-1500:]}")
    check("syscall-memory" not in text, "the copies are no events to show")
    ids = subprocess.run([SONDE, "evlist", "-i", "m.data"], capture_output=True, text=True, env=support.ENV, timeout=300)
    check("syscall-memory" in ids.stdout, ids.stdout)


def with_bpf():
    """Texts, and sums that the kernel made."""
    text = trace("-e", "rmdir,openat")
    if "BPF is not to be had" in text:
        print(f"SKIP BPF: {text.splitlines()[0]}")
        return
    check('filename: "/dev/zero", flags: RDONLY|CLOEXEC)' in text, f"a path: {text[-600:]}")
    structs()
    texts_of_tracepoints()
    texts_of_recordings()
    files = trace("-e", "openat,read,close")
    check(len(re.findall(r"read\(fd: \d+</dev/zero>, .*count: 4711\)", files)) == READS, f"what was opened: {files[-600:]}")
    check(re.search(r'rmdir\(pathname: "/nonexistent-folder"\) += -1 ENOENT', text), f"a path: {text[-600:]}")
    sums = trace("-s", "--bpf-summary", "--errno-summary")
    check(re.search(rf"^   getpgid +{IDS} +0 ", sums, re.M), f"every call counts: {sums[-2000:]}")
    check(re.search(r"^   rmdir +1 +1 .*\n\t+ENOENT: 1$", sums, re.M), f"errors: {sums[-2000:]}")
    check(re.search(r"^   exit_group +1 +0 +-", sums, re.M), f"a call that does not return: {sums[-2000:]}")
    total = trace("-s", "--summary-mode", "total", "-e", "getpgid")
    check(re.search(rf"^ total, {2 * IDS} events$", total, re.M), f"total: {total}")
    check(re.search(rf"^   getpgid +{IDS} ", trace("-s", "--summary-mode", "cgroup"), re.M), "cgroup")
    check("single calls are asked for" in trace("--bpf-summary", "-S", status=129), "--bpf-summary with lines")
    child = trace("-s", "-e", "getpgid", status=0, program=f"import os\nif os.fork() == 0:\n    {PROGRAM_IDS}\nelse:\n    os.wait()")
    check(re.search(rf"^   getpgid +{IDS} ", child, re.M), f"children are traced: {child}")
    alone = trace("-s", "--no-inherit", "-e", "getpgid", status=0,
                  program=f"import os\nif os.fork() == 0:\n    {PROGRAM_IDS}\nelse:\n    os.wait()")
    check("getpgid" not in alone, f"--no-inherit: {alone}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    with_bpf()
sys.exit(support.status())
