# SPDX-License-Identifier: Apache-2.0
"""The terminal browser in tmux, as a person would use it."""
import os
import re
import shlex
import shutil
import sys
import time

import support

PATIENCE = 120  # seconds, a guard against hanging only
HINT = "Press '?' for help"


class Screen:
    """A terminal with a shell in it that runs sonde; one at a time."""
    last, made = None, 0
    sonde = report = folder = None

    @classmethod
    def setup(cls, sonde, report, folder):
        """The program; where results go (support.Report); a folder for its files."""
        cls.sonde, cls.report, cls.folder = sonde, report, folder

    def __init__(self, *args, size=(80, 24), locale="C.UTF-8", shell=False, **env):
        if Screen.last:
            Screen.last.close()
        Screen.last, Screen.made = self, Screen.made + 1
        self.socket = os.path.join(Screen.folder, f"tmux{Screen.made}")  # a server that ends may still be there
        self.files = {name: os.path.join(Screen.folder, name) for name in ("before", "after", "pid")}
        for path in self.files.values():
            if os.path.exists(path):
                os.remove(path)
        run = " ".join(shlex.quote(a) for a in (Screen.sonde, *args))
        sets = " ".join(f"{k}={shlex.quote(v)}" for k, v in dict(env, LC_ALL=locale, PAGER="cat").items())
        inner = f"echo $$ >{self.files['pid']}; exec env {sets} {run}"
        line = (f"stty -a >{self.files['before']}; bash -c {shlex.quote(inner)}; echo status $?; "
                f"stty -a >{self.files['after']}; echo all done; cat")
        if shell:
            line = "PS1='$ ' exec bash --norc --noprofile -i"
        environment = dict(support.ENV, LC_ALL="C.UTF-8", TERM="xterm-256color")
        support.run(["tmux", "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y",
                     str(size[1]), line], env=environment)

    def close(self):
        self.tmux("kill-server")
        Screen.last = None

    def tmux(self, *args):
        env = dict(support.ENV, LC_ALL="C.UTF-8")
        return support.run(["tmux", "-S", self.socket, *args], env=env).out.decode("utf-8", "replace")

    def capture(self, *options):
        return self.tmux("capture-pane", "-p", *options).rstrip("\n")

    def wait(self, what, wanted):
        """What is shown once it has the wanted text (or the function of it is true); else a failure."""
        good = wanted if callable(wanted) else lambda shown: wanted in shown
        end = time.monotonic() + PATIENCE
        while True:
            shown = self.capture()
            if good(shown):
                Screen.report.good()
                return shown
            if time.monotonic() > end:
                Screen.report.bad(what, f"waited in vain:\n{shown}")
                return shown
            time.sleep(0.03)

    def cursor(self):
        """The selected line: the one with a yellow background."""
        return "".join(line for line in self.capture("-e").splitlines() if re.search(r"\x1b\[(43|103)m", line))

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def pid(self):
        with open(self.files["pid"], encoding="utf-8") as f:
            return int(f.read())

    def ended(self, what, status, gone="Samples:"):
        shown = self.wait(what + ": it ends", "all done")
        Screen.report.check(what + ": status", f"status {status}\n" in shown, shown)
        Screen.report.check(what + ": the screen is left", gone not in shown and HINT not in shown, shown)
        with open(self.files["before"], encoding="utf-8") as a, open(self.files["after"], encoding="utf-8") as b:
            before, after = a.read(), b.read()
        Screen.report.check(what + ": the terminal is as it was", before == after and before, f"{before}\n{after}")


def needed():
    lacks = None if shutil.which("tmux") else "tmux is not installed (scripts/deps.sh check)"
    options = support.run([Screen.sonde, "version", "--build-options"]).out.decode()
    if not re.search(r"libslang: \[ on", options):
        lacks = "this build has no terminal browser (libncurses-dev)"
    if lacks:
        print(("FAIL: " if os.environ.get("CI") == "true" else "SKIP: ") + lacks)
        sys.exit(1 if os.environ.get("CI") == "true" else support.SKIP)
