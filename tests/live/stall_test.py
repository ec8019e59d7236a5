#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records a program whose file lies on a file system that does not answer any more: record must end all the same.

stall_test.py SONDE

The file system is ours (lib/stall_fs.py), in a process that is stopped once the program runs.
SKIPs where one may not be mounted, or nothing may be recorded.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import stall_fs  # noqa: E402
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
LIMIT_SECONDS = 60  # to end at all: nothing is measured
PROGRAM = "int main(void) { for (volatile unsigned long i = 0;; i++) ; }\n"


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


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
        try:
            server = stall_fs.mount(folder, build(at))
        except stall_fs.Unable as e:
            skip(e)
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
            stall_fs.unmount(folder, server)
    for f in failures:
        print(f"FAIL {f}")
    print(f"stall: {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
