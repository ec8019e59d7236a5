#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a program whose file lies on a file system that does not answer any more: record must end all the same.

stall_test.py SONDE

The file system is ours, by the kernel's FUSE protocol (linux/fuse.h), in a process that is stopped once the program runs.
SKIPs where one may not be mounted, or nothing be recorded.
"""
import ctypes
import os
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
LIMIT_SECONDS = 60  # to end at all: nothing is measured
libc = ctypes.CDLL(None, use_errno=True)
PROGRAM = "int main(void) { for (volatile unsigned long i = 0;; i++) ; }\n"
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT, OPENDIR, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 14, 15, 17, 18, 25, 26, 27, 36, 42)
ROOT_ID, FILE_ID, ENOENT, ENOSYS = 1, 2, 2, 38


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


def attributes(node, data):
    mode, size = (0o40755, 0) if node == ROOT_ID else (0o100755, len(data))
    return struct.pack("<6Q10I", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body, data):
    """(error, bytes) of a request; None: it wants no answer. Nothing may be cached: attributes are asked for anew."""
    if opcode == INIT:
        return 0, struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 12, 9, 4096, 1, 1, 0, 0, *[0] * 7)
    if opcode in (FORGET, INTERRUPT, BATCH_FORGET):
        return None
    if opcode == LOOKUP:
        if body.rstrip(b"\0") != b"program":
            return -ENOENT, b""
        return 0, struct.pack("<4Q2I", FILE_ID, 0, 0, 0, 0, 0) + attributes(FILE_ID, data)
    if opcode == GETATTR:
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(node, data)
    if opcode in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 0, 0, 0)
    if opcode == READ:
        _fh, offset, size = struct.unpack_from("<QQI", body)
        return 0, data[offset:offset + size]
    if opcode in (RELEASE, FLUSH):
        return 0, b""
    return -ENOSYS, b""


def serve(fd, data):
    while True:
        try:
            request = os.read(fd, 1 << 16)
        except InterruptedError:
            continue
        except OSError:
            os._exit(0)  # unmounted
        _length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
        reply = answer(opcode, node, request[40:], data)
        if reply:
            error, content = reply
            os.write(fd, struct.pack("<IiQ", 16 + len(content), error, unique) + content)


def mount(at, data):
    """The server's pid."""
    try:
        fd = os.open("/dev/fuse", os.O_RDWR)
    except OSError as e:
        skip(f"/dev/fuse: {e.strerror}")
    options = f"fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    if libc.mount(b"stall", at.encode(), b"fuse", 0, options.encode()) != 0:
        skip(f"no file system can be mounted: {os.strerror(ctypes.get_errno())}")
    pid = os.fork()
    if pid == 0:
        serve(fd, data)
    os.close(fd)
    return pid


def build(at):
    """A program without a build-id: its file is all that could tell what it is."""
    path = os.path.join(at, "plain")
    command = [shutil.which("cc") or "cc", "-static", "-O1", "-Wl,--build-id=none", "-x", "c", "-", "-o", path]
    try:
        made = subprocess.run(command, input=PROGRAM.encode(), capture_output=True)
    except OSError:
        made = None
    if not made or made.returncode != 0:
        skip("no compiler makes a static program here")
    with open(path, "rb") as f:
        return f.read()


def forget():
    """What the kernel has in memory of files and nobody runs: of the program's, the part with its build-id's place."""
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as f:
            f.write("1")
    except OSError as e:
        print(f"what is in memory of the file stays there: {e.strerror}")


def record(at, *args):
    """(exit status or None at no end, stderr)."""
    with support.recording():
        child = subprocess.Popen([SONDE, "record", "-o", "stall.data", *args], cwd=at, env=support.ENV,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            _out, err = child.communicate(timeout=LIMIT_SECONDS)
            return child.returncode, err.decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            with open(f"/proc/{child.pid}/stack", encoding="utf-8") as f:
                where = f.read()
            child.kill()
            return None, where


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="sonde-stall-") as at:
        if support.run([SONDE, "record", "-q", "-a", "-o", os.path.join(at, "try.data"), "true"]).status != 0:
            skip("nothing can be recorded here")
        folder = os.path.join(at, "mnt")
        os.mkdir(folder)
        server = mount(folder, build(at))
        program = subprocess.Popen([os.path.join(folder, "program")])
        try:
            while "program" not in open(f"/proc/{program.pid}/maps", encoding="utf-8").read():
                time.sleep(0.01)
            os.kill(server, signal.SIGSTOP)
            forget()
            for args in (["-a", "--", "true"], ["-p", str(program.pid), "--", "sleep", "0.2"],
                         ["-a", "-N", "--", "sleep", "0.2"], ["-a", "-g", "--", SONDE, "test", "-w", "noploop", "1"]):
                status, err = record(at, *args)
                if status != 0:
                    failures.append(f"record {' '.join(args)}: {'no end' if status is None else status}: {err}")
                    break
            os.kill(server, signal.SIGCONT)
            if not failures:
                r = support.run([SONDE, "script", "-i", os.path.join(at, "stall.data"), "--show-mmap-events"])
                if r.status != 0 or f"{folder}/program".encode() not in r.out:
                    failures.append(f"the program's map is recorded: {r.status} {r.err[-300:]}")
        finally:
            os.kill(server, signal.SIGCONT)
            program.kill()
            program.wait()
            libc.umount2(folder.encode(), 2)  # MNT_DETACH
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)
    for f in failures:
        print(f"FAIL {f}")
    print(f"stall: {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
