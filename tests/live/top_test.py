#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`top` beside programs whose functions are known: as text, its keys, and its filters.

top_test.py SONDE

Waits for what it wants to see, never for a time. SKIPs where the kernel lets us record nothing.
"""
import contextlib
import errno
import fcntl
import itertools
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
PATIENCE = 120  # seconds, a guard against hanging only
NOBODY = 54321
HEAD = re.compile(r"PerfTop: +\d+ irqs/sec  kernel: *[\d.]+%  exact: *[\d.]+% lost: \d+/\d+ drop: \d+/\d+ \[")
check = support.check


@contextlib.contextmanager
def busy(workload, program=SONDE):
    """A program that is in one function most of the time."""
    p = subprocess.Popen([program, "test", "-w", workload, "600"], env=support.ENV, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    try:
        yield p.pid
    finally:
        p.kill()
        p.wait()


class Top:
    """A running `top`, and the screens that it prints: the last one is kept."""

    def __init__(self, *args, terminal=False, user=None):
        command = [SONDE, "top", "--stdio", "-d", "0.3", *args]
        if user:
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
        self.terminal, self.text, self.screen, self.master = terminal, "", "", None
        env = dict(support.ENV, TERM="xterm")
        if terminal:
            self.master, slave = pty.openpty()
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
            self.p = subprocess.Popen(command, env=env, stdin=slave, stdout=slave, stderr=subprocess.PIPE, close_fds=True)
            os.close(slave)
            self.fd = self.master
        else:
            self.p = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
            self.fd = self.p.stdout.fileno()

    def read(self):
        """What was printed meanwhile; False at the end."""
        if not select.select([self.fd], [], [], 1)[0]:
            return True
        try:
            part = os.read(self.fd, 65536)
        except OSError:
            part = b""
        self.text += part.decode("utf-8", "replace").replace("\r\n", "\n")
        mark = "\033[H\033[2J" if self.terminal else "\n   PerfTop:"
        self.text = self.text[max(self.text.rfind(mark, 0, self.text.rfind(mark)), 0):]
        return bool(part)

    def wait(self, what, wanted):
        """Reads until the newest text has it; a failure otherwise."""
        good = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + PATIENCE
        while not good(self.text):
            ended = not self.read()
            if good(self.text):
                return
            if ended or time.monotonic() > end:
                why = f"ended, status {self.p.wait()}: {self.p.stderr.read().decode()}" if ended else f"not in {PATIENCE} s"
                check(False, f"{what}: {why}\nlast screens:\n{self.text}")
                return

    def press(self, keys):
        os.write(self.master, keys.encode())

    def end(self, sig=signal.SIGINT):
        """Its status and what it said on standard error."""
        if self.p.poll() is None and sig:
            self.p.send_signal(sig)
        end = time.monotonic() + PATIENCE
        while self.read() and time.monotonic() < end:
            pass
        try:  # whatever it still prints is read, too: it may wait for that
            err = self.p.communicate(timeout=PATIENCE)[1].decode()
        except subprocess.TimeoutExpired:
            self.p.kill()
            err = self.p.communicate()[1].decode()
        status = self.p.returncode
        self.p.stderr.close()
        if self.p.stdout:
            self.p.stdout.close()
        if self.master is not None:
            os.close(self.master)
        if status < 0 or status == support.SANITIZER_STATUS or "Sanitizer" in err or "runtime error:" in err:
            raise support.Crash(f"status {status}\n{err[-3000:]}")
        return status, err


def rows(text):
    """(percent, object, name) of the rows that a text has."""
    return re.findall(r"^ +([\d.]+)%(?: +[\d.]+%)? +(?:\d+ +)?(\S.*?) +\[[k.]\] (\S+)", text, re.M)


def has_row(name):
    return lambda text: any(row[2] == name for row in rows(text))


def screens():
    with busy("noploop"):
        top = Top("-a")
        top.wait("a known function", has_row("noploop"))
        check(HEAD.search(top.text), f"the line of counts: {top.text[:200]}")
        check(re.search(r"\(all, \d+ CPUs?\), sonde: [\d.]+% of a CPU", top.text), f"our own cost: {top.text[:200]}")
        wait_for_later(top)
        status, err = top.end()
        check(status == 0, f"^C ends it with status {status}: {err}")


def wait_for_later(top):
    """A program that started later is shown. It is started again and again: on an overloaded machine events are lost, and
    without those of its start it has no names."""
    end = time.monotonic() + PATIENCE
    while not has_row("leaf")(top.text) and time.monotonic() < end:
        with busy("leafloop"):
            until = min(end, time.monotonic() + PATIENCE / 12)
            while not has_row("leaf")(top.text) and time.monotonic() < until and top.read():
                pass
    check(has_row("leaf")(top.text), f"a program that started later: {top.text}")


def cut_short():
    """The file of a program that is shown is cut short: what else there is goes on."""
    with tempfile.TemporaryDirectory(prefix="sonde-top-") as folder:
        victim = os.path.join(folder, "victim")
        shutil.copy(SONDE, victim)
        with busy("noploop", victim) as pid:
            top = Top("-a", "-E", "200")
            top.wait("a known function", has_row("noploop"))
        while True:
            try:
                os.truncate(victim, 0)
                break
            except OSError as e:
                if e.errno != errno.ETXTBSY:  # the kernel has not yet forgotten the program that ended
                    raise
                time.sleep(0.05)
        wait_for_later(top)
        status, err = top.end()
        check(status == 0, f"the file of {pid} was cut short: status {status}: {err}")


def whose():
    with busy("noploop") as pid, busy("leafloop"):
        top = Top("-p", str(pid))
        top.wait("-p", lambda text: has_row("noploop")(text) and f"(target_pid: {pid})" in text)
        check(not has_row("leaf")(top.text), f"-p: nothing of others: {top.text}")
        check(top.end()[0] == 0, "-p: status")
        top = Top("-t", str(pid), "-K")
        top.wait("-t", lambda text: has_row("noploop")(text) and f"(target_tid: {pid})" in text)
        check("[k]" not in top.text, f"-K: nothing of the kernel: {top.text}")
        check(top.end()[0] == 0, "-t: status")
        top = Top("-u", str(os.geteuid()), "--comms", "perf-noploop", "-n")
        top.wait("-u", lambda text: "noploop" in text)
        check("leaf" not in top.text, f"--comms: nothing of others: {top.text}")
        check(top.end()[0] == 0, "-u: status")
        # Without callers: an interrupt in a user's function has that function among them, but counts as the kernel's.
        top = Top("-a", "-g", "-U", "--no-children")
        top.wait("-U", lambda text: "PerfTop" in text)
        check(not has_row("leaf")(top.text) and not has_row("noploop")(top.text), f"-U: {top.text}")
        check(top.end()[0] == 0, "-U: status")


def switches():
    """An event that never happens: samples count from it on, or up to it."""
    with busy("noploop") as pid:
        top = Top("-p", str(pid), "-e", "cpu-clock,dummy", "--switch-off", "dummy")
        top.wait("--switch-off", has_row("noploop"))
        check(top.end()[0] == 0, "--switch-off: status")
        top = Top("-p", str(pid), "-e", "cpu-clock,dummy", "--switch-on", "dummy")
        top.wait("--switch-on: a screen", HEAD.search)
        check("noploop" not in top.text, f"--switch-on: nothing before it: {top.text}")
        check(top.end()[0] == 0, "--switch-on: status")
    r = support.run([SONDE, "top", "--stdio", "-p", str(os.getpid()), "-e", "cpu-clock", "--switch-on", "nosuch"])
    check(r.status == 1 and "event 'nosuch' not found" in r.err, r)


def ends_with_its_target():
    p = subprocess.Popen([SONDE, "test", "-w", "noploop", "600"], env=support.ENV)
    top = Top("-p", str(p.pid))
    top.wait("-p of one that will end", has_row("noploop"))
    p.kill()
    p.wait()
    status, err = top.end(sig=None)
    check(status == 0, f"it ends with its target: {status} {err}")


def call_graph():
    with busy("leafloop"):
        top = Top("-a", "-g", "--no-children", "-E", "60")
        top.wait("callers", lambda text: re.search(r"\d+\.\d+%  .*\] leaf\n[^%]*?\bparent\b", text) or
                 re.search(r"leaf\n(.*\n){1,12}?.*parent", text))
        check(top.end()[0] == 0, "-g: status")
        top = Top("-a", "-g")
        top.wait("sums of callers", has_row("parent"))
        check(top.end()[0] == 0, "--children: status")
    with busy("leafloop") as pid:
        top = Top("-p", str(pid), "--call-graph", "dwarf", "--no-children", "-E", "60")
        top.wait("callers from dumped stacks", lambda text: re.search(r"leaf\n(.*\n){1,12}?.*parent", text))
        check(top.end()[0] == 0, "--call-graph dwarf: status")


def annotated():
    with busy("leafloop") as pid:
        top = Top("-p", str(pid), "--sym-annotate", "leaf")
        top.wait("--sym-annotate", lambda text: HEAD.search(text) and re.search(r"[1-9]\d*\.\d\d +: +[0-9a-f]+:", text))
        check("noploop" not in top.text, f"--sym-annotate: one function: {top.text}")
        check(top.end()[0] == 0, "--sym-annotate: status")
        top = Top("-p", str(pid), "--sym-annotate", "nosuch")
        top.wait("--sym-annotate of what is not hit", "nosuch: no sample hit it")
        check(top.end()[0] == 0, "--sym-annotate of what is not hit: status")


def short_processes():
    """Names at once for processes that begin, and end, while it runs."""
    with busy("noploop"):
        top = Top("-a", "-s", "comm,sym", "-E", "200")
        top.wait("a first screen", lambda text: "noploop" in text)
        end, seen = time.monotonic() + PATIENCE, False
        while not seen and time.monotonic() < end:
            for _ in range(20):
                subprocess.run([SONDE, "test", "-w", "sqrtloop", "0.02"], env=support.ENV, stdout=subprocess.DEVNULL, check=True)
            top.read()
            seen = "sqrtloop" in top.text
        check(seen, f"a process that is gone has its name: {top.text[-1500:]}")
        check(top.end()[0] == 0, "short processes: status")


def keys():
    with busy("noploop"):
        top = Top("-a", terminal=True)
        top.wait("a screen on a terminal", has_row("noploop"))
        top.press("h")
        top.wait("the list of keys", "Mapped keys")
        top.press("K")
        top.wait("without the kernel", lambda text: has_row("noploop")(text) and "[k]" not in text)
        top.press("d")
        top.wait("a question", "Enter display delay")
        top.press("0.2\n")
        top.wait("screens go on", lambda text: "Enter display" not in text and has_row("noploop")(text))
        top.press("s")
        top.wait("s asks", "Enter symbol to annotate")
        top.press("noploop\n")
        top.wait("s: instructions", lambda text: re.search(r"[1-9]\d*\.\d\d +: +[0-9a-f]+:", text))
        top.press("S")
        top.wait("S: the profile again", has_row("noploop"))
        top.press("z")
        top.press("p")
        top.wait("frozen: no samples are counted in", lambda text: has_row("noploop")(text))
        top.press("q")
        status, err = top.end(sig=None)
        check(status == 0, f"q ends it with status {status}: {err}")


def browser():
    """In the terminal's browser, in tmux: what lives there, and its keys."""
    options = support.run([SONDE, "version", "--build-options"]).out.decode()
    if not shutil.which("tmux") or not re.search(r"libslang: \[ on", options):
        print("SKIP browser: tmux is not installed, or this build has no terminal browser")
        return
    with tempfile.TemporaryDirectory(prefix="sonde-top-") as folder, busy("leafloop") as pid:
        socket = os.path.join(folder, "tmux")
        # ncurses keeps some memory to its end.
        env = dict(support.ENV, LC_ALL="C.UTF-8", TERM="xterm-256color",
                   ASAN_OPTIONS=support.ENV["ASAN_OPTIONS"].replace("detect_leaks=1", "detect_leaks=0"))

        def tmux(*args):
            return support.run(["tmux", "-S", socket, *args], env=env).out.decode("utf-8", "replace")

        def wait(what, wanted, *how):
            """The screen that has it; None: a failure."""
            end, shown = time.monotonic() + PATIENCE, ""
            while time.monotonic() < end:
                shown = tmux("capture-pane", "-p", *how)
                if wanted(shown):
                    return shown
                time.sleep(0.1)
            check(False, f"browser, {what}: {shown}")
            return None

        tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40",
             f"{SONDE} top -p {pid} -g -d 0.3; echo status $?; cat")
        wait("a known function", lambda s: re.search(r"\[\.\] leaf\b", s) and re.search(r"lost: \d+/\d+", s) and "sonde: " in s)
        tmux("send-keys", "/", "leaf", "Enter")
        wait("only one function", lambda s: "leaf" in s and "parent" not in s)
        # `a` shows samples since the last screen, and only leaf has any: for another row, or too early, it says that none hit it.
        code, hint, shown, end = re.compile(r"\d\.\d\d : +[0-9a-f]+:"), "Press '?'", "", time.monotonic() + PATIENCE
        for row in itertools.cycle(("Home", "Down")):
            if shown is None or code.search(shown) or time.monotonic() > end:
                break
            tmux("send-keys", row)
            wait("nothing said", lambda s: hint in s)
            tmux("send-keys", "a")
            shown = wait("a answers", lambda s: code.search(s) or (s.startswith("Samples:") and hint not in s and "Reading" not in s))
        check(shown and code.search(shown), f"browser, a shows instructions: {shown}")
        tmux("send-keys", "q")
        wait("q closes it", lambda s: s.startswith("Samples:"))
        tmux("send-keys", "/", "Enter")
        tmux("send-keys", "Home")  # where Down moves the cursor, and not the rows
        tmux("send-keys", "f")
        wait("f freezes", lambda s: "FROZEN" in s)
        frozen, again = None, tmux("capture-pane", "-p")
        end = time.monotonic() + PATIENCE
        while frozen != again and time.monotonic() < end:  # the screen that was being drawn when f was pressed is completed
            frozen = again
            time.sleep(1)
            again = tmux("capture-pane", "-p")
        marked = tmux("capture-pane", "-p", "-e").splitlines()[2:38]
        tmux("send-keys", "Down")
        wait("the cursor moves while frozen", lambda s: s.splitlines()[2:38] != marked, "-e")
        moved = tmux("capture-pane", "-p")
        check("FROZEN" in moved, f"frozen: still: {moved}")
        same = [[line.rstrip("◆▒ ") for line in s.splitlines()[2:38]] for s in (frozen, moved)]  # the scroll bar follows the cursor
        check(same[0] == same[1], f"frozen: the rows stay: {frozen}\n{moved}")
        tmux("send-keys", "f")
        wait("f goes on", lambda s: "FROZEN" not in s and "leaf" in s)
        tmux("send-keys", "z")
        wait("z", lambda s: "from zero" in s)
        tmux("send-keys", "D")
        wait("D asks", lambda s: "seconds between" in s)
        tmux("send-keys", "0.2", "Enter")
        wait("D is answered", lambda s: "seconds between" not in s and "leaf" in s)
        tmux("send-keys", "g")
        wait("g is the flame graph", lambda s: s.startswith("Flame graph") and "leaf" in s)
        tmux("send-keys", "q")
        wait("q leaves it", lambda s: s.startswith("Samples:"))
        tmux("send-keys", "E")
        wait("rows open", lambda s: re.search(r"^-", s, re.M))
        tmux("send-keys", "q")
        wait("q ends it", lambda s: "status 0" in s)
        tmux("kill-server")


def without_rights():
    if os.geteuid() != 0:
        print("SKIP without rights: only root can give them up")
        return
    top = Top("-a", user=NOBODY)
    end = time.monotonic() + PATIENCE
    while "PerfTop" not in top.text and time.monotonic() < end and top.read():
        pass
    allowed = "PerfTop" in top.text
    status, err = top.end()
    check(allowed or (status == 1 and err.count("\n") == 1 and ("sysctl" in err or "CAP_" in err)),
            f"without rights: {status} {err}")


def wrong():
    for args, want in ((["-d", "x"], "use a number of seconds"), (["--call-graph", "sideways"], "use fp, dwarf"),
                       (["-D"], "not there yet: `nm"), (["operand"], "Usage")):
        r = support.run([SONDE, "top", *args])
        check(r.status in (1, 129) and want.lower() in r.err.lower(), f"{args}: {r.status} {r.err}")


def wrong_columns():
    r = support.run([SONDE, "top", "--stdio", "-s", "nosuch"])
    check(r.status in (1, 129) and "nosuch" in r.err, f"an unknown column: {r.status} {r.err}")


def main():
    wrong()
    r = support.run([SONDE, "record", "-a", "-e", "cpu-clock", "--dry-run"])
    if r.status:
        print(f"SKIP recording: {r.err.strip()}")
        return support.SKIP
    for part in (wrong_columns, screens, cut_short, whose, switches, ends_with_its_target, call_graph, annotated, short_processes, keys, browser, without_rights):
        with support.recording():
            part()
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
