#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What watching costs: `sonde top` beside `perf top`, each in a terminal, while all CPUs are busy.

bench/top.py [BUILD]

  PERF          the perf to compare with (default: the one in the PATH); none: sonde alone
  TOP_SECONDS   how long each is watched, after its start (default 10)
  TOP_SIZE      columns x rows of the terminal (default 200x60)
  TOP_MODES     which of them (default "stdio tui tui-g processes")

For each: CPU time of all its threads in percent of one CPU, from SETTLE seconds after its start on; the most memory that it
had (VmHWM); when the first screen was complete. Taken in turn, in one run; plain figures, nothing is asserted.
"processes" starts as many short processes as it can meanwhile, and says how many a minute.
"""
import fcntl
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

SETTLE = 2.5
TICK = os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0


class Watch:
    def __init__(self, command, size):
        self.start = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", PERF_CONFIG="/dev/null")
            os.execvp(command[0], command)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.first, self.text = None, b""

    def read_for(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self.fd], [], [], left)[0]:
                return
            try:
                part = os.read(self.fd, 1 << 16)
            except OSError:
                return
            if self.first is None:
                self.text += part
                if b"%" in self.text:  # a row is there
                    self.first = time.monotonic() - self.start

    def end(self):
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(self.pid, sig)
            except ProcessLookupError:
                break
            self.read_for(0.7)
            if os.waitpid(self.pid, os.WNOHANG)[0]:
                break
        os.close(self.fd)


def watch(command, size, seconds, spawn=False):
    w = Watch(command, size)
    started = 0
    w.read_for(SETTLE)
    before, at = cpu_s(w.pid), time.monotonic()
    if spawn:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for _ in range(20):
                os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
            started += 20
            w.read_for(0.001)
    else:
        w.read_for(seconds)
    took = time.monotonic() - at
    alive = os.path.exists(f"/proc/{w.pid}/stat")
    result = ((cpu_s(w.pid) - before) / took * 100, memory_mb(w.pid), w.first or float("nan"), started / took * 60)
    w.end()
    return result if alive else None


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build")
    perf = os.environ.get("PERF", shutil.which("perf") or "")
    if os.geteuid() != 0:
        print("SKIP: watching the whole system needs root")
        return
    seconds = float(os.environ.get("TOP_SECONDS", "10"))
    size = tuple(int(n) for n in os.environ.get("TOP_SIZE", "200x60").split("x"))
    sonde = os.path.join(build, "sonde")
    busy = [subprocess.Popen([sonde, "test", "-w", "thloop", "100000"], stdout=subprocess.DEVNULL)]
    modes = {"stdio": ["--stdio"], "tui": ["--tui"], "tui-g": ["--tui", "-g"], "processes": ["--stdio"]}
    try:
        print(f"| what, {os.cpu_count()} CPUs, {size[0]}x{size[1]} | % of a CPU | peak memory MB | first row s | processes/min |")
        print("|---|---|---|---|---|")
        for mode in os.environ.get("TOP_MODES", "stdio tui tui-g processes").split():
            for name in ("sonde", "perf"):
                program = [sonde] if name == "sonde" else perf.split()
                if not program:
                    continue
                r = watch([*program, "top", "-F", "4000", *modes[mode]], size, seconds, mode == "processes")
                figures = "ended early | | |" if not r else f"{r[0]:.1f} | {r[1]:.0f} | {r[2]:.2f} | {r[3]:.0f}" if r[3] else \
                    f"{r[0]:.1f} | {r[1]:.0f} | {r[2]:.2f} |"
                print(f"| {name} top {' '.join(modes[mode])}{', short processes' if mode == 'processes' else ''} | {figures} |",
                      flush=True)
    finally:
        for p in busy:
            p.kill()
            p.wait()


if __name__ == "__main__":
    main()
