#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs that know what they did, and scores how readers of the recordings name it.

truth.py SONDE [--record PROGRAM] [--read [NAME=]PROGRAM[::OPTIONS]]... [--honest] [--case TEXT]... [--keep-folder DIR]
               [--list]

PROGRAM is a command with perf's `record` or `script`; both are sonde's unless told otherwise. Every reader has its
column, with the percentages right / wrong / refused; OPTIONS are more of its `script`. The exit status judges the
first one: a wrong name fails anywhere, a missing one where the case needs it (cases.py), unless only honesty is asked
for. What the others got wrong is counted and listed at the end. A case that cannot run here says SKIP; so does
everything when the recorder is not there. One whose recorder dies is recorded again, and that is said.

    truth.py build/sonde --record perf --read perf --read newest=newest-perf --read sonde=build/sonde
"""
import argparse
import collections
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cases  # noqa: E402
import score  # noqa: E402
import support  # noqa: E402

FREQ_HZ = 2000
RIGHT_PERCENT = 99.0
JUDGED_MIN = 20  # fewer say nothing
HANG_SECONDS = 300  # guards against endless loops only: the machine may be busy
LOOK_SECONDS = 120
# Files are that old when a recording begins: time stamps come from a clock that ticks, and what is as new as the
# recording may have been written after it was mapped.
AGE_SECONDS = 0.1
TRIES = 12  # of a recorder that dies of a signal (support.recording tells why one does)


class Died(Exception):
    """The recorder died, through no fault of the case."""


def command(program, *args):
    return shlex.split(program) + list(args)


def environment(folder):
    """Its own build-id cache, and no network. What peers keep in HOME stays where it is."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/"), ".cache")
    return dict(support.ENV, HOME=folder, DEBUGINFOD_URLS="", XDG_CACHE_HOME=cache)


class Maps:
    """The map records that have reached a file while it is recorded: the recorder has looked at what they tell of."""

    MMAP2, NAME_AT, DATA_AT, MISC_BUILD_ID = 10, 72, 40, 1 << 14

    def __init__(self, path):
        self.path, self.at, self.found, self.settled = path, 0, [], collections.Counter()

    def read(self):
        try:
            with open(self.path, "rb") as f:
                if not self.at:
                    head = f.read(56)
                    self.at = struct.unpack_from("=Q", head, self.DATA_AT)[0] if len(head) == 56 else 0
                    if not self.at:
                        return
                f.seek(self.at)
                data = f.read()
        except FileNotFoundError:
            return
        at = 0
        while at + 8 <= len(data):
            kind, _, size = struct.unpack_from("=IHH", data, at)
            if size < 8 or at + size > len(data):
                break
            if kind == self.MMAP2 and size > self.NAME_AT:
                name = data[at + self.NAME_AT:at + size].split(b"\0")[0].decode("utf-8", "replace")
                self.found.append((struct.unpack_from("=I", data, at + 8)[0], name.removesuffix(" (deleted)")))
            at += size
        self.at += at

    def wait(self, pid, names, until):
        """Until the process's records of these files are there, newer ones than when it waited last."""
        missing = {n.removesuffix(" (deleted)") for n in names}
        while missing:
            self.read()
            missing -= {name for p, name in self.found[self.settled[pid]:] if p == pid}
            if missing and time.monotonic() > until:
                raise RuntimeError(f"the recorder has written no map record of {sorted(missing)} for {LOOK_SECONDS} s")
            if missing:
                time.sleep(0.01)
        self.settled[pid] = len(self.found)


def go_on_after_child(p):
    """Once the process that a stopped one has started has ended."""
    try:
        while True:
            with open(f"/proc/{p.pid}/task/{p.pid}/children", encoding="ascii") as f:
                states = []
                for child in f.read().split():
                    with open(f"/proc/{child}/stat", encoding="utf-8", errors="replace") as stat:
                        states.append(stat.read().rpartition(")")[2].split()[0])
            if all(state == "Z" for state in states):
                break
            time.sleep(0.01)
    except OSError:
        pass
    p.send_signal(signal.SIGCONT)


def converse(p, maps, late):
    """Answers what the programs ask (burner.c); the lines that they print."""
    lines, names = [], collections.defaultdict(set)
    for line in p.stdout:
        lines.append(line.rstrip("\n"))
        head, *mapped = lines[-1].split("\t")
        what, _, pid = head.partition(" ")
        if what not in ("step", "end", "unseen"):
            continue
        names[pid].update(mapped)
        if what == "unseen":
            p.send_signal(signal.SIGSTOP)
            if late == cases.AFTER_IT:
                threading.Thread(target=go_on_after_child, args=[p], daemon=True).start()
        elif late == cases.AT_ITS_END and what == "end":
            p.send_signal(signal.SIGCONT)
        if what == "end" and late != cases.AFTER_IT or what == "step" and not late:
            maps.wait(int(pid), names.pop(pid), time.monotonic() + LOOK_SECONDS)
        p.stdin.write("\n")
        p.stdin.flush()
    return lines


def end_all(p):
    """Of its session: what it records, too."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_recorder(argv, path, env, said, late):
    """(exit status, the lines that the programs print); `late`: when the recorder is allowed to look."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, errors="replace",
                          env=dict(env, TRUTH_ASKS="1"), start_new_session=True) as p:
        late_end = threading.Timer(HANG_SECONDS, end_all, [p])
        late_end.start()
        try:
            lines = converse(p, Maps(path), late)
            return p.wait(), lines
        except BaseException:
            end_all(p)
            raise
        finally:
            late_end.cancel()


def record(recorder, case, place, alone):
    """(path of the recording, what the program said), or an exception."""
    path = place.path("perf.data")
    env = environment(place.folder)
    argv = case.run(place)
    if place.step:
        env["TRUTH_STEP"] = place.step
    argv = command(recorder, "record", "-o", path, "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "-F", str(FREQ_HZ),
                   *(["-g"] if case.graph else []), "--", "/usr/bin/env",
                   "PATH=" + os.environ["PATH"], *argv)  # some perfs search their own folder first
    with support.recording(alone), open(place.path("said"), "w+", encoding="utf-8", errors="replace") as said:
        if alone:  # another recorder than ours: when it looks is its own affair
            r = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True,
                               errors="replace", env=env, timeout=HANG_SECONDS)
            status, lines = r.returncode, r.stdout.splitlines()
        else:
            time.sleep(AGE_SECONDS)
            status, lines = run_recorder(argv, path, env, said, case.late)
        said.seek(0)
        why = said.read()
    died = -status if status < 0 else status - 128  # a shell around it says so
    if 0 < died < 32:
        raise Died(f"the recorder died of signal {died}" + f" (ours, after {HANG_SECONDS} s?)" * (died == 9))
    if status or not any(line.startswith("truth ") for line in lines):
        raise RuntimeError(f"recording failed with status {status}: " + (why + "\n".join(lines))[-600:])
    if place.after:
        place.after()
    return path, lines


def read(program, case, place, path, log):
    program, _, more = program.partition("::")
    r = subprocess.run(command(program, "script", "-f", "-i", path, "-F", "comm,tid,time,ip,sym,dso", "--ns",
                               *shlex.split(more)),
                       stdin=subprocess.DEVNULL, capture_output=True, env=environment(place.folder),
                       timeout=HANG_SECONDS)
    if r.returncode:
        raise RuntimeError(f"{program} script failed with status {r.returncode}: "
                           f"{r.stderr.decode('utf-8', 'replace')[-600:]}")
    text = r.stdout.decode("utf-8", "replace").splitlines()
    return score.score(log, text, 10**9 // FREQ_HZ, case.what)


def run(recorder, readers, case, folder, built, alone):
    """(scores by reader in their order, an exception for one that failed; how often the recorder died; whether the
    program changed files)."""
    for died in range(TRIES):
        shutil.rmtree(folder, ignore_errors=True)
        place = cases.Place(folder, built)
        os.makedirs(folder)
        try:
            path, log = record(recorder, case, place, alone)
            scores = []
            for program in readers:
                try:
                    scores.append(read(program, case, place, path, log))
                except (RuntimeError, subprocess.SubprocessError) as e:
                    scores.append(e)
            return scores, died, bool(place.step)
        except Died as e:
            if died + 1 == TRIES or not alone:
                raise RuntimeError(f"lost: {e}, {died + 1} times") from None
        finally:
            for c in place.clean:
                subprocess.run(c, capture_output=True)


def verdict(case, s, honest):
    """Why a score is not good enough, or None."""
    if isinstance(s, Exception):
        return str(s)
    wrong = sum(s.wrong.values())
    if s.judged < JUDGED_MIN:
        return f"only {s.judged} samples can be judged"
    if wrong:
        return f"{wrong} of {s.judged} wrong: " + ", ".join(f"{n} {w}" for w, n in s.wrong.most_common(3))
    if not honest and case.need == "right" and s.percent(s.right) < RIGHT_PERCENT:
        return f"only {s.percent(s.right):.1f} % right, though the evidence was there"
    return None


def can_record(options, folder):
    """Why not, or None."""
    if not shutil.which(command(options.record)[0]):
        return f"there is no {options.record}"
    with support.recording(options.record != options.sonde):
        r = subprocess.run(command(options.record, "record", "-B", "-N", "-o", os.path.join(folder, "try.data"), "-k",
                                   "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "--", "true"), stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, env=environment(folder))
    return None if r.returncode == 0 else (r.stderr.strip().splitlines() or ["no reason given"])[-1]


def folder_to_work_in():
    """(a new folder, whether it lies where the recorder holds files that are deleted while they run).

    It does so on the root file system and in memory. Files on other mounts of ours would keep those busy."""
    mounts = {}
    with open("/proc/self/mounts", encoding="utf-8", errors="replace") as f:
        for line in f:
            _, at, kind = line.split()[:3]
            mounts[at] = kind
    found = []
    for place in (tempfile.gettempdir(), "/var/tmp", os.getcwd(), "/root", "/"):
        at = os.path.realpath(place)
        while at != "/" and at not in mounts:
            at = os.path.dirname(at)
        if os.access(place, os.W_OK):
            found.append((at == "/" or mounts[at] == "tmpfs", place))
    good, place = max(found, key=lambda f: f[0])  # the first of equals
    return tempfile.mkdtemp(prefix="sonde-truth-", dir=place), good


def parse():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("sonde")
    p.add_argument("--record")
    p.add_argument("--read", action="append", default=[])
    p.add_argument("--honest", action="store_true")
    p.add_argument("--case", action="append", default=[])
    p.add_argument("--keep-folder")
    p.add_argument("--list", action="store_true")
    o = p.parse_args()
    o.sonde = os.path.abspath(o.sonde)
    o.record = o.record or o.sonde
    o.readers = []
    for r in o.read or ["sonde=" + o.sonde]:
        name, equals, program = r.partition("=")
        o.readers.append((name, program) if equals else (os.path.basename(name), name))
    o.cases = [c for c in cases.CASES if (not o.case or any(text in c.name for text in o.case)) and
               (o.record == o.sonde or not c.late)]
    return o


def percentages(s):
    if isinstance(s, Exception):
        return "failed"
    if not s.judged:
        return "-"
    return "/".join(f"{s.percent(n):.0f}" if n in (0, s.judged) else f"{s.percent(n):.1f}"
                    for n in (s.right, sum(s.wrong.values()), s.refused))


class Tally:
    """What became of all cases."""

    def __init__(self, readers):
        self.readers, self.failed, self.skipped, self.passed = readers, 0, 0, 0
        self.retried = []  # (case, how often)
        self.told = []  # the lines of what failed
        self.totals = [collections.Counter() for _ in readers]
        self.wrong = [[] for _ in readers]  # (case, score)

    def skip(self, case, why):
        self.skipped += 1
        print(f"{case.name:64}SKIP: {why}", flush=True)

    def fail(self, case, why):
        self.failed += 1
        self.tell(case, why)

    def tell(self, case, line, score_=None):
        self.told += [f"FAIL {case.name}: {line}", *("  " + d for d in (score_.details if score_ else ()))]
        print("\n".join(self.told[-1 - (len(score_.details) if score_ else 0):]), flush=True)

    def scored(self, case, scores, died, why):
        self.failed, self.passed = self.failed + bool(why), self.passed + (not why)
        if died:
            self.retried.append((case.name, died))
        for i, s in enumerate(scores):
            if isinstance(s, Exception):
                self.totals[i]["recordings not read"] += 1
                continue
            wrong = sum(s.wrong.values())
            self.totals[i].update(right=s.right, wrong=wrong, refused=s.refused)
            if wrong:
                self.wrong[i].append((case.name, s))
        print(f"{case.name:64}" + "".join(f"{percentages(s):>20}" for s in scores) +
              (f"  recorded {died + 1} times" if died else ""), flush=True)
        if why:
            self.tell(case, why, None if isinstance(scores[0], Exception) else scores[0])

    def finish(self):
        for (name, _), total, wrong in zip(self.readers, self.totals, self.wrong):
            print(f"{name}: " + ", ".join(f"{total[k]} {k}" for k in ("right", "wrong", "refused", *sorted(
                set(total) - {"right", "wrong", "refused"}))))
            for case, s in wrong:
                print(f"  {case}: {sum(s.wrong.values())} of {s.judged}: " +
                      ", ".join(f"{n} {w}" for w, n in s.wrong.most_common(3)))
        for case, died in self.retried:
            print(f"recorded again, as the recorder died ({died} times): {case}")
        for line in self.told:  # once more: often only the end is kept
            print(line)
        print(f"truth: {self.passed} passed, {self.failed} failed, {self.skipped} skipped")


def main():
    o = parse()
    if o.list:
        for c in o.cases:
            print(f"{c.need:8}{c.what:8}{c.name}")
        return 0
    top, held = (o.keep_folder, True) if o.keep_folder else folder_to_work_in()
    top = os.path.realpath(top)
    if not held:
        print(f"{top} is on a mount of its own: what is deleted there while it runs need have no names")
    os.makedirs(os.path.join(top, "built"), exist_ok=True)
    tally = Tally(o.readers)
    try:
        refused = can_record(o, top)
        if refused:
            print(f"SKIP: nothing can be recorded here: {refused}")
            return support.SKIP
        print("right / wrong / refused in percent of the samples judged".ljust(64) +
              "".join(f"{name:>20}" for name, _ in o.readers), flush=True)
        built = {"": os.path.join(top, "built")}
        for i, case in enumerate(o.cases):
            try:
                scores, died, changes = run(o.record, [p for _, p in o.readers], case, os.path.join(top, str(i)), built,
                                   o.record != o.sonde)
                tally.scored(case, scores, died, verdict(case, scores[0], o.honest or (changes and not held)))
            except cases.Skip as e:
                tally.skip(case, e)
            except (RuntimeError, subprocess.SubprocessError, OSError) as e:
                tally.fail(case, e)
    finally:
        if not o.keep_folder:
            shutil.rmtree(top, ignore_errors=True)
    tally.finish()
    return 1 if tally.failed else 0 if tally.passed else support.SKIP


if __name__ == "__main__":
    sys.exit(main())
