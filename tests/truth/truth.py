#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs that know what they did, and scores how readers of the recordings name it.

truth.py SONDE [--record PROGRAM] [--read [NAME=]PROGRAM[::OPTIONS]]... [--honest] [--case TEXT]... [--keep-folder DIR]
               [--list]

PROGRAM is a command with perf's `record` or `script`; both are sonde's unless told otherwise. Every reader has its
column, with the percentages right / wrong / refused; OPTIONS are more of its `script`. The exit status judges the
first one: a wrong name fails anywhere, a missing one where the case needs it (cases.py), unless only honesty is asked
for. A case that cannot run here says SKIP; so does everything when the recorder is not there.

    truth.py build/sonde --record perf --read perf --read newest=newest-perf --read sonde=build/sonde
"""
import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import cases  # noqa: E402
import score  # noqa: E402
import support  # noqa: E402

FREQ_HZ = 2000
RIGHT_PERCENT = 99.0
JUDGED_MIN = 20  # fewer say nothing
HANG_SECONDS = 120


def command(program, *args):
    return shlex.split(program) + list(args)


def environment(folder):
    """Its own build-id cache, and no network. What peers keep in HOME stays where it is."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", "/"), ".cache")
    return dict(support.ENV, HOME=folder, DEBUGINFOD_URLS="", XDG_CACHE_HOME=cache)


def record(options, case, place):
    """(path of the recording, what the program said), or an exception."""
    path = place.path("perf.data")
    env = environment(place.folder)
    argv = case.run(place)
    if place.step:
        env["TRUTH_STEP"] = place.step
    r = subprocess.run(command(options.record, "record", "-o", path, "-k", "CLOCK_MONOTONIC", "-e", "cpu-clock:u",
                               "-F", str(FREQ_HZ), *(["-g"] if case.graph else []), "--", *argv),
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env, timeout=HANG_SECONDS)
    if r.returncode < 0 and options.record != options.sonde:
        raise cases.Skip(f"the recorder died of signal {-r.returncode}")  # some perfs do, at times
    if r.returncode or "truth " not in r.stdout:
        raise RuntimeError(f"recording failed with status {r.returncode}: {(r.stderr + r.stdout)[-600:]}")
    if place.after:
        place.after()
    return path, r.stdout.splitlines()


def read(program, case, place, path, log):
    program, _, more = program.partition("::")
    r = subprocess.run(command(program, "script", "-f", "-i", path, "-F", "comm,tid,time,ip,sym,dso", "--ns",
                               *shlex.split(more)),
                       stdin=subprocess.DEVNULL, capture_output=True, env=environment(place.folder),
                       timeout=HANG_SECONDS)
    if r.returncode:
        raise RuntimeError(f"{program} script failed: {r.stderr.decode('utf-8', 'replace')[-600:]}")
    text = r.stdout.decode("utf-8", "replace").splitlines()
    return score.score(log, text, 10**9 // FREQ_HZ, case.what)


def run(options, case, folder, built):
    """Scores by reader, in their order."""
    place = cases.Place(folder, built)
    os.makedirs(folder)
    try:
        path, log = record(options, case, place)
        return [read(program, case, place, path, log) for _, program in options.readers]
    finally:
        for c in place.clean:
            subprocess.run(c, capture_output=True)


def verdict(case, s, honest):
    """Why a score is not good enough, or None."""
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
    r = subprocess.run(command(options.record, "record", "-o", os.path.join(folder, "try.data"), "-k",
                               "CLOCK_MONOTONIC", "-e", "cpu-clock:u", "--", "true"), stdin=subprocess.DEVNULL,
                       capture_output=True, text=True, env=environment(folder))
    return None if r.returncode == 0 else (r.stderr.strip().splitlines() or ["no reason given"])[-1]


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
    o.cases = [c for c in cases.CASES if not o.case or any(text in c.name for text in o.case)]
    return o


def main():
    o = parse()
    if o.list:
        for c in o.cases:
            print(f"{c.need:8}{c.what:8}{c.name}")
        return 0
    top = o.keep_folder or tempfile.mkdtemp(prefix="sonde-truth-")
    os.makedirs(os.path.join(top, "built"), exist_ok=True)
    failed = skipped = passed = 0
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
                scores = run(o, case, os.path.join(top, str(i)), built)
            except cases.Skip as e:
                skipped += 1
                print(f"{case.name:64}SKIP: {e}", flush=True)
                continue
            except (RuntimeError, subprocess.SubprocessError, OSError) as e:
                failed += 1
                print(f"{case.name:64}FAIL: {e}", flush=True)
                continue
            why = verdict(case, scores[0], o.honest)
            failed, passed = failed + bool(why), passed + (not why)
            columns = "".join("{:>20}".format("/".join(f"{s.percent(n):.0f}" if n in (0, s.judged) else
                                                        f"{s.percent(n):.1f}" for n in
                                                        (s.right, sum(s.wrong.values()), s.refused))
                                               if s.judged else "-") for s in scores)
            print(f"{case.name:64}{columns}" + (f"  FAIL: {why}" if why else ""), flush=True)
    finally:
        if not o.keep_folder:
            shutil.rmtree(top, ignore_errors=True)
    print(f"truth: {passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0 if passed else support.SKIP


if __name__ == "__main__":
    sys.exit(main())
