#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""As a user without rights: what sonde says is true, and its advice, once followed, helps.

rights_test.py SONDE

For every kernel.perf_event_paranoid of 2, 3, 4 and kernel.kptr_restrict of 0, 1, 2, with tracefs closed, and without it.
What is allowed is tried here by system calls, not deduced from the settings. Changes the settings for seconds and
puts them back; SKIPs where it is not root.
"""
import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

USER = 54321  # nobody's: the kernel asks for no entry in /etc/passwd
LEVELS = {"paranoid": "/proc/sys/kernel/perf_event_paranoid", "kptr": "/proc/sys/kernel/kptr_restrict"}
TRACEFS = "/sys/kernel/tracing"
SYSCALL = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
EXCLUDE_KERNEL = 3 << 5  # and the hypervisor


def may_open(kind, config, flags, pid, cpu):
    """Whether perf_event_open(2) allows it."""
    attr = bytearray(128)
    struct.pack_into("<IIQQQQQ", attr, 0, kind, 128, config, 1000000000, 1, 0, 1 | flags)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(SYSCALL, (ctypes.c_char * 128).from_buffer(attr), pid, cpu, -1, 8)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def probe():
    """What this process may do, as JSON: run by the user."""
    with open("/proc/kallsyms", encoding="ascii") as f:
        shown = int(f.readline().split()[0], 16) != 0
    print(json.dumps({"user": may_open(1, 0, EXCLUDE_KERNEL, 0, -1), "kernel": may_open(1, 0, 0, 0, -1),
                      "cpus": may_open(1, 0, 0, -1, 0), "addresses": shown,
                      "tracefs": os.access(TRACEFS + "/events", os.R_OK)}))


if sys.argv[1:] == ["--probe"]:
    probe()
    sys.exit(0)

import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
TRUE = shutil.which("true")
t = support.Report("rights")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(support.SKIP)


class User:
    """Runs commands without rights, in a folder of its own."""

    def __init__(self, folder):
        self.home = os.path.join(folder, "home")
        os.mkdir(self.home)
        os.chown(self.home, USER, USER)
        os.chmod(folder, 0o755)
        self.probe_file = os.path.join(folder, "probe.py")
        shutil.copy(os.path.abspath(__file__), self.probe_file)
        self.env = dict(support.ENV, HOME=self.home, BUILDID_DIR=os.path.join(self.home, ".debug"))

    def command(self, *words):
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--bounding-set=-all", *words]

    def run(self, *words):
        r = subprocess.run(self.command(*words), capture_output=True, env=self.env, cwd=self.home, timeout=120,
                           stdin=subprocess.DEVNULL)
        return support.Result(r.returncode, r.stdout.decode("utf-8", "replace"), r.stderr.decode("utf-8", "replace"))

    def sonde(self, *words):
        return self.run(SONDE, *words)

    def forget(self):
        """What sonde keeps of a kernel once it could see it."""
        for name in (".debug", ".cache"):
            shutil.rmtree(os.path.join(self.home, name), ignore_errors=True)

    def facts(self):
        return json.loads(self.run(sys.executable, self.probe_file, "--probe").out)

    def findings(self):
        r = self.sonde("doctor", "--json")
        return {f["id"]: f for f in json.loads(r.out)["findings"]}


def write(values):
    for name, value in values.items():
        with open(LEVELS[name], "w", encoding="ascii") as f:
            f.write(str(value))


def read():
    values = {}
    for name, path in LEVELS.items():
        with open(path, encoding="ascii") as f:
            values[name] = f.read().strip()
    return values


class Settings:
    """Of the machine; as they were, afterwards, whatever happens."""

    def __init__(self, **values):
        self.values = values

    def __enter__(self):
        self.before = read()
        write(self.values)

    def __exit__(self, *_):
        write(self.before)


def follow(text):
    """Does what a text advises by "sudo sysctl NAME=VALUE ..."; how many settings that were."""
    advised = re.search(r"sudo sysctl((?: kernel\.\w+=-?\d+)+)", text)
    for name, value in re.findall(r"kernel\.(\w+)=(-?\d+)", advised.group(1)) if advised else []:
        with open(f"/proc/sys/kernel/{name}", "w", encoding="ascii") as f:
            f.write(value)
    return bool(advised)


def check_doctor(user, facts, where):
    found = user.findings()
    severity = ("ok" if facts["cpus"] else "note" if facts["kernel"] else "warning" if facts["user"] else "problem")
    t.check(f"{where}: doctor: events", found["paranoid"]["severity"] == severity, lambda: (facts, found["paranoid"]))
    t.check(f"{where}: doctor: addresses", found["kptr_restrict"]["severity"] == ("ok" if facts["addresses"] else "warning"),
            lambda: (facts, found["kptr_restrict"]))
    closed = "closed to this user" in found["tracefs"]["text"]
    t.check(f"{where}: doctor: tracefs", closed == (os.path.isdir(TRACEFS + "/events") and not facts["tracefs"]),
            lambda: found["tracefs"])


def check_advice(user, facts, where, settings):
    """Each refusal, and then the same with its advice followed."""
    for what, command, allowed in (
            ("whole CPUs", ["record", "-a", "-o", "a.data", "--", TRUE], facts["cpus"]),
            ("kernel", ["record", "-e", "cpu-clock:k", "-o", "k.data", "--", TRUE], facts["kernel"]),
            ("names", ["kallsyms", "vfs_read"], facts["addresses"]),
            ("the recorded kernel's names", ["report", "-i", "../root.data", "--stdio", "-s", "sym"], facts["addresses"])):
        user.forget()
        r = user.sonde(*command)
        t.check(f"{where}: {what}", (r.status == 0 and "hidden" not in r.err) == allowed, lambda r=r: (facts, r))
        for step in range(2):  # the kernel may be recorded, and then have no names
            if r.status == 0 and "hidden" not in r.err:
                break
            line = next((s for s in r.err.splitlines() if "sudo sysctl" in s), "")
            t.check(f"{where}: {what}: not as root where root may not either",
                    settings["kptr"] != 2 or "hidden" not in line or "as root" not in line, line)
            t.check(f"{where}: {what}: advice {step}", follow(line), lambda r=r: r)
            r = user.sonde(*command)
        t.check(f"{where}: {what}: the advice helps", r.status == 0 and "hidden" not in r.err, lambda r=r: r)
        write(settings)


def check_record(user, facts, where, readers):
    r = user.sonde("record", "-o", "u.data", "--", TRUE)
    t.check(f"{where}: record", (r.status == 0) == facts["user"], lambda: r)
    t.check(f"{where}: only user space", ("only user space" in r.err) == (facts["user"] and not facts["kernel"]), lambda: r)
    r = user.sonde("stat", "-r", "2", "-e", "page-faults", "--", TRUE)
    t.check(f"{where}: only user space: said once", r.err.count("only user space") <= 1, lambda: r)
    r = user.sonde("record", "-e", "cpu-clock:u", "-o", "p.data", "-p", str(os.getpid()), "--", TRUE)
    t.check(f"{where}: another's process", r.status == 1 and "as its owner" in r.err, lambda: r)
    for command in () if not readers else ("report -i u.data", "script -i u.data", "doctor u.data", "archive u.data", "inject -b -i u.data -o i.data",
                    "why -i u.data --sample 1", "buildid-cache --add " + TRUE, "data convert --to-json o.json --force -i u.data"):
        r = user.sonde(*command.split())
        t.check(f"{where}: {command}", r.status == 0 and not re.search("ermi|hidden", r.err) or not facts["user"], lambda r=r: r)


def check_levels(user):
    for paranoid in (2, 3, 4):
        for kptr in (0, 1, 2):
            where = f"paranoid {paranoid}, kptr {kptr}"
            with Settings(paranoid=paranoid, kptr=kptr):
                facts = user.facts()
                check_doctor(user, facts, where)
                check_record(user, facts, where, kptr == 1)
                check_advice(user, facts, where, {"paranoid": paranoid, "kptr": kptr})


def check_closed_tracefs(user):
    """The files' group decides, not the mode of the mount alone."""
    if not os.path.isdir(TRACEFS + "/events/sched"):
        print("SKIP: tracefs is not mounted")
        return
    command = ["record", "-e", "sched:sched_process_exec", "-o", "t.data", "--", TRUE]
    before = os.stat(TRACEFS)
    r, listed = user.sonde(*command), user.sonde("list", "sched:")
    t.check("closed tracefs", r.status == 129 and "mounted but closed" in r.err, r)
    t.check("closed tracefs: list", "without tracepoints: tracefs is mounted but closed" in listed.err, listed)
    advised = re.search(r"sudo mount -o remount,(mode=\d+,gid=)\$\(id -g\) " + TRACEFS, r.err)
    if not t.check("closed tracefs: an advice", advised, r):
        return
    with Settings(paranoid=-1):
        try:
            subprocess.run(["mount", "-o", f"remount,{advised.group(1)}{USER}", TRACEFS], check=True)
            r = user.sonde(*command)
            found = user.findings()["tracefs"]
        finally:
            mode = before.st_mode & 0o7777
            subprocess.run(["mount", "-o", f"remount,mode={mode:o},gid={before.st_gid}", TRACEFS], check=True)
    t.check("closed tracefs: the advice helps", r.status == 0 and found["severity"] == "ok", lambda: (r, found))


def check_no_tracefs(user):
    """In a mount namespace of its own, where it is not mounted."""
    inside = (f"umount -l {TRACEFS} 2>/dev/null; umount -l /sys/kernel/debug/tracing 2>/dev/null; "
              "umount -l /sys/kernel/debug 2>/dev/null; exec \"$@\"")
    prefix = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh"]
    for words, text in ((["record", "-e", "sched:sched_switch", "-o", "t.data", "--", TRUE], "tracefs is not mounted: run as root"),
                        (["list", "sched:"], "without tracepoints: tracefs is not mounted"),
                        (["doctor"], "tracefs is not mounted")):
        r = subprocess.run([*prefix, *user.command(SONDE, *words)], capture_output=True, env=user.env, cwd=user.home,
                           timeout=120, check=False)
        t.check(f"no tracefs: {words[0]}", text in (r.stdout + r.stderr).decode(), r)


def main():
    if os.geteuid() != 0:
        skip("changing the settings takes root")
    if not (shutil.which("setpriv") and shutil.which("unshare") and SYSCALL and os.path.exists(LEVELS["paranoid"])):
        skip("no setpriv, no unshare, or no perf events")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the settings are put back
    with tempfile.TemporaryDirectory(prefix="sonde-rights-") as folder, support.recording(alone=True):
        user = User(folder)
        try:
            with Settings(**read()):
                pass
        except OSError as e:
            skip(f"the settings cannot be changed: {e}")
        if user.run(SONDE, "version").status != 0:
            skip("another user may not run this build")
        root = subprocess.run([SONDE, "record", "-a", "-o", os.path.join(folder, "root.data"), "--", "sh", "-c",
                               "for i in 1 2 3 4 5; do ls / >/dev/null; done"], capture_output=True, env=support.ENV, check=False)
        if root.returncode != 0:
            skip("root may record nothing here: " + root.stderr.decode().strip())
        os.chmod(os.path.join(folder, "root.data"), 0o644)
        check_levels(user)
        check_closed_tracefs(user)
        check_no_tracefs(user)
    t.finish()


main()
