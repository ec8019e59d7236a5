#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records programs that make code at run time, and checks every sample in it: named, rightly, and once.

jit_test.py SONDE EXAMPLE_JIT EXAMPLE_FRAMES [JVMTI_AGENT]

SKIPs where the kernel lets us record nothing; each runtime that is not installed is skipped aloud.
"""
import bisect
import collections
import glob
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

PERF = shutil.which("perf")
SONDE, EXAMPLE, FRAMES = (os.path.abspath(p) for p in sys.argv[1:4])
AGENT = os.path.abspath(sys.argv[4]) if len(sys.argv) > 4 else None
ONLY = os.environ.get("SONDE_JIT_TESTS", "").split()  # by name; empty: all
LOAD, MOVE, CLOSE = 0, 1, 3
NAMED_PERCENT = 99.5
check = support.check

Sample = collections.namedtuple("Sample", "tid ns ip symbol dso")


def record(data, *command, clock="mono"):
    options = ["-k", clock] if clock else []
    with support.recording():
        r = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2500", *options, "-o", data, "--", *command],
                           capture_output=True, env=dict(support.ENV, HOME=os.getcwd()), timeout=300)
    check(r.returncode == 0, f"{command[0]} is recorded: {r.stderr.decode()[-500:]}")


LINE = re.compile(r"^\s*(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+) (.*) \(([^()]*(?: \(deleted\))?)\)$")


def samples(data, program=SONDE):
    r = subprocess.run([program, "script", "-f", "--ns", "-i", data, "-F", "tid,time,ip,sym,dso"], capture_output=True,
                       env=support.ENV, timeout=600)
    return parse_samples(r, f"{program} script {data}")


def parse_samples(r, what):
    check(r.returncode == 0, f"{what}: {r.stderr.decode()[-500:]}")
    found = [LINE.match(line) for line in r.stdout.decode("utf-8", "replace").splitlines() if line.strip()]
    check(all(found), f"{what}: lines are as expected")
    return [Sample(int(m[1]), int(m[2]) * 10**9 + int(m[3]), int(m[4], 16), m[5].strip(), m[6]) for m in found if m]


# ---- the example, which tells the truth ----

def truth_of(path):
    """[(from, to, tid, address, size, name)]"""
    with open(path) as f:
        return [(int(a), int(b), int(t), int(x, 16), int(n, 16), name)
                for a, b, t, x, n, name in (line.split() for line in f)]


def count_truth(found, truth, dso):
    """Of the samples in code while it ran: how many have its name, and which do not."""
    by_tid = collections.defaultdict(list)
    for row in sorted(truth):
        by_tid[row[2]].append(row)
    wrong, right = [], 0
    for s in found:
        rows = by_tid.get(s.tid, [])
        i = bisect.bisect(rows, (s.ns,)) - 1
        if i < 0 or s.ns > rows[i][1] or not rows[i][3] <= s.ip < rows[i][3] + rows[i][4]:
            continue
        good = s.symbol == rows[i][5] and re.search(dso, s.dso)
        right += bool(good)
        if not good:
            wrong.append(f"{s.ip:x} is {rows[i][5]}, not {s.symbol} ({s.dso})")
    return right, wrong


def check_truth(found, truth, what, dso):
    """Every sample in code while it ran has its name and no other; returns how many there were."""
    right, wrong = count_truth(found, truth, dso)
    check(right > 100, f"{what}: there are samples in generated code: {right}")
    print(f"{what}: {right} of {right + len(wrong)} samples in code that was made are named rightly", flush=True)
    check(not wrong, f"{what}: {len(wrong)} of {len(wrong) + right} are wrong: {wrong[:5]}")
    return right


def example():
    """Merged map events, moved and reused code, memory mapped twice, two threads."""
    record("example.data", EXAMPLE, "--dump", ".", "--truth", "example.truth")
    found = samples("example.data")
    check_truth(found, truth_of("example.truth"), "example", r"/jitted-\d+\.so$")
    listed = support.run([FRAMES, "example.data"]).out.decode().splitlines()
    got, want = sum("grow_0+" in line for line in listed), sum(s.symbol == "grow_0" for s in found)
    check(got == want > 0, f"example: libsonde names as many: {got} of {want}")
    merged = support.run([SONDE, "script", "--show-mmap-events", "-i", "example.data"]).out.decode()
    sizes = [int(m, 16) for m in re.findall(r"\[0x[0-9a-f]+\((0x[0-9a-f]+)\).*r?-?x.? //anon", merged)]
    check(any(n > 4096 for n in sizes), f"example: the kernel merged its maps: {sizes}")


def inject(data, out, *options):
    r = support.run([SONDE, "inject", "-f", "--jit", *options, "-i", data, "-o", out])
    check(r.status == 0, f"inject {options} {data}: {r.err[-500:]}")


def show(data, program=SONDE):
    """A report's rows."""
    r = subprocess.run([program, "report", "-f", "-i", data, "--stdio", "--sort", "dso,sym"], capture_output=True,
                       env=support.ENV, timeout=600)
    return [line for line in r.stdout.decode().splitlines() if line and not line.startswith("#")]


def example_injected():
    """What others make of our files is what we show without them."""
    inject("example.data", "injected.data")
    want = show("example.data")
    check(len(want) > 20 and show("injected.data") == want, "the report of the injected file is the same")
    check_truth(samples("injected.data"), truth_of("example.truth"), "injected", r"/jitted-\d+\.so$")
    if not PERF:
        print("SKIP perf is not installed")
        return
    for options in ([], ["--jit=files"], ["--jit=drop-anon"]):
        inject("example.data", "theirs.data", *options)
        check_truth(samples("theirs.data", PERF), truth_of("example.truth"), f"perf, {options}", r"/jitted-[-\d]+\.so$")


def example_by_perf():
    """What stock perf's own inject makes of the same recording: shown, not judged."""
    if not PERF:
        return
    subprocess.run([PERF, "inject", "--jit", "-f", "-i", "example.data", "-o", "perfs.data"], capture_output=True, env=support.ENV)
    if os.path.exists("perfs.data"):
        right, wrong = count_truth(samples("perfs.data", PERF), truth_of("example.truth"), r"/jitted-[-\d]+\.so$")
        print(f"perf's own inject: {right} of {right + len(wrong)} samples in code that was made are named rightly; such as {wrong[:1]}")


def example_unmapped():
    """The injected file has no map without a file over code; a process without a dump keeps all of its own."""
    events = support.run([SONDE, "script", "--show-mmap-events", "-i", "injected.data"]).out.decode()
    maps = [(int(a, 16), int(n, 16), name) for a, n, name in
            re.findall(r"PERF_RECORD_MMAP2.*: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\).*\]: \S+ (\S+)", events)]
    code = [(a, a + n) for a, n, name in maps if "/jitted-" in name]
    anon = [(a, a + n) for a, n, name in maps if name == "//anon"]
    over = [(hex(a), hex(b)) for a, b in anon for c, d in code if a < d and c < b]
    check(code and anon and not over, f"{len(code)} maps of code, {len(anon)} others, of which over code: {over[:3]}")


def what_stayed(truth):
    """A map knows no time: only what nothing else came in the place of has its name for sure."""
    names = collections.defaultdict(set)
    for row in truth:
        names[row[3]].add(row[5])
    return [row for row in truth if len(names[row[3]]) == 1]


def check_no_lies(found, truth, what):
    """Where a map has two names nothing is named wrongly."""
    stayed = {row[3] for row in what_stayed(truth)}
    reused = [row for row in truth if row[3] not in stayed]
    seen = [(s, row[5]) for s in found for row in reused
            if s.tid == row[2] and row[0] <= s.ns <= row[1] and row[3] <= s.ip < row[3] + row[4]]
    wrong = [x for x in seen if x[0].symbol not in ("[unknown]", x[1])]
    check(len(seen) > 10 and not wrong, f"{what}: {len(wrong)} of {len(seen)} in memory that was used again are wrong: {wrong[:3]}")


def streamed():
    """A pipe's dumps and maps are read as they grow; what is read from it later is the same."""
    for option, dso, choose in (("--dump .", r"/jitted-\d+\.so$", lambda t: t),
                                ("--map", r"/perf-\d+\.map$|^/memfd:jit", what_stayed)):
        command = f'"$0" record -q -e cpu-clock:u -F 2500 -k mono -o - -- "$1" {option} --truth s.truth --milliseconds 100 | ' \
                  'tee s.data | "$0" script -i - --ns -F tid,time,ip,sym,dso'
        with support.recording():
            r = subprocess.run(["sh", "-c", command, SONDE, EXAMPLE], capture_output=True, env=support.ENV, timeout=300)
        found = parse_samples(r, f"streamed {option}")
        check_truth(found, choose(truth_of("s.truth")), f"streamed {option}", dso)
        if choose is what_stayed:
            check_no_lies(found, truth_of("s.truth"), f"streamed {option}")
        with open("s.data", "rb") as f:
            r = subprocess.run([SONDE, "inject", "--jit", "-i", "-", "-o", "-"], stdin=f, capture_output=True, env=support.ENV)
        with open("s2.data", "wb") as f:
            f.write(r.stdout)
        check(r.returncode == 0 and samples("s2.data") == samples("s.data"), f"streamed {option}: injected from pipe to pipe: {r.stderr}")
        with open("s.data", "rb") as f:
            r = subprocess.run([SONDE, "report", "-i", "-", "--stdio", "--sort", "sym"], stdin=f, capture_output=True,
                               env=support.ENV, timeout=300)
        rows = r.stdout.decode()
        names = ("twice", "thread") if choose is what_stayed else ("again", "twice", "thread")
        check(all(f"{name}_1" in rows for name in names), f"streamed {option}: report names all")


def check_unwound(script, truth, what):
    """That every stack of the example's --unwind leads to who called."""
    moved = {row[3] for i, row in enumerate(truth_of(truth)) if i % 2}  # where an outer_I lies the second time
    seen, wrong, later = 0, [], 0
    for chain in script.decode().split("\n\n"):
        frames = re.findall(r"^\s*([0-9a-f]+) (\S+)$", chain, re.M)
        if not frames or not frames[0][1].startswith(("inner_", "outer_")):
            continue
        names = [name for _, name in frames]
        i = names[0].rpartition("_")[2]
        outer = names.index(f"outer_{i}") if f"outer_{i}" in names else 0
        seen += 1
        later += any(0 <= int(frames[outer][0], 16) - at < 64 for at in moved)
        good = names[0] == f"outer_{i}" if not outer else names[:2] == [f"inner_{i}", f"outer_{i}"]
        if not good or names[outer + 1:outer + 3] not in (["run", "unwind"], ["run", "main"]):  # unwind may be part of main
            wrong.append(names[:5])
    check(seen > 50 and 10 < later < seen, f"{what}: stacks of code that was made, and was moved: {seen}, {later}")
    check(not wrong, f"{what}: {len(wrong)} of {seen} stacks are wrong: {wrong[:3]}")


def unwound():
    """Code without frame pointers says how to unwind it, where it was made and where it was moved to."""
    command = [EXAMPLE, "--unwind", "--dump", ".", "--truth", "unwound.truth"]
    if subprocess.run([EXAMPLE, "--unwind", "--milliseconds", "1"], capture_output=True).returncode == 2:
        print("SKIP the example's code that tells how to unwind it is x86-64's")
        return
    with support.recording():
        r = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "997", "-k", "mono", "--call-graph", "dwarf,4096",
                            "-o", "unwound.data", "--", *command], capture_output=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"unwound: {r.stderr.decode()[-500:]}")
    check_unwound(support.run([SONDE, "script", "-i", "unwound.data", "-F", "ip,sym"]).out, "unwound.truth", "unwound")
    # As it comes: the dump's tables come with its code, part by part.
    streaming = '"$0" record -q -e cpu-clock:u -F 997 -k mono --call-graph dwarf,4096 -o - -- "$1" --unwind --dump . --truth stream.truth ' \
                '--milliseconds 60 | "$0" script -i - -F ip,sym'
    with support.recording():
        r = subprocess.run(["sh", "-c", streaming, SONDE, EXAMPLE], capture_output=True, env=support.ENV, timeout=300)
    check_unwound(r.stdout, "stream.truth", "unwound from a pipe")
    r = support.run([SONDE, "report", "-i", "unwound.data", "--stdio", "--no-children", "--sort", "sym", "-g", "folded,0,callee"])
    chains = [line.split(" ", 1)[1].split(";") for line in re.findall(r"^[0-9.]+% .*$", r.out.decode(), re.M)]
    chains = [c for c in chains if c[0].startswith(("inner_", "outer_"))]
    wrong = [c for c in chains if not re.match(r"(inner_(\d+);outer_\2|outer_\d+);run;(unwind|main)(;|$)", ";".join(c))]
    check(len(chains) > 7 and not wrong, f"unwound: report has the same stacks: {len(chains)}, {wrong[:3]}")
    listed = re.split(r"^\S.*\n", support.run([FRAMES, "unwound.data"]).out.decode(), flags=re.M)
    chains = [c for c in (re.findall(r"^\s*[0-9a-f]+ (\S+)\+0x", text, re.M) for text in listed) if c and c[0].startswith("inner_")]
    wrong = [c for c in chains if not re.match(r"inner_(\d+);outer_\1;run;(unwind|main)(;|$)", ";".join(c))]
    check(len(chains) > 50 and not wrong, f"unwound: libsonde has the same stacks: {len(chains)}, {wrong[:3]}")


def both():
    """A process with a dump and a map beside one with a map alone."""
    record("both.data", "sh", "-c", '"$0" --dump . --map --truth a.truth --rounds 4 & '
           '"$0" --map --truth b.truth --rounds 4 --milliseconds 40; wait', EXAMPLE)
    found = samples("both.data")
    check_truth(found, truth_of("a.truth"), "both: dump", r"/jitted-\d+\.so$")
    # Where something is mapped twice the map's names are of the file in memory.
    stayed = what_stayed(truth_of("b.truth"))
    check_truth(found, stayed, "both: map alone", r"/perf-\d+\.map$|^/memfd:jit")
    check_no_lies(found, truth_of("b.truth"), "both: map alone")
    check(any(s.symbol.startswith("twice") and "memfd" in s.dso for s in found), "both: a file in memory is named from the map")
    inject("both.data", "both2.data")
    before, after = ([line for line in support.run([SONDE, "script", "--show-mmap-events", "-i", f]).out.decode().splitlines()
                      if "//anon" in line] for f in ("both.data", "both2.data"))
    pids = collections.Counter(re.search(r"MMAP2 (\d+)/", line)[1] for line in before)
    kept = collections.Counter(re.search(r"MMAP2 (\d+)/", line)[1] for line in after)
    alone = {s.dso for s in found if "/perf-" in s.dso}
    for dso in alone:
        pid = re.search(r"perf-(\d+)", dso)[1]
        check(f"/jitted-{pid}.so" in str(found) or kept[pid] == pids[pid], f"both: {pid} keeps its maps")


def example_without_clock():
    """perf's own clock. sonde's recordings tell how it stands to the dump's, perf's do not: there the marker tells."""
    record("noclock.data", EXAMPLE, "--dump", ".", "--truth", "noclock.truth", clock=None)
    found, truth = samples("noclock.data"), truth_of("noclock.truth")
    # The clocks' distance, to a fraction of a millisecond: none of a function's samples is older than its first run.
    first = {}
    for row in truth:
        first.setdefault(row[5], row[0])
    apart = min(s.ns - first[s.symbol] for s in found if s.symbol.startswith(("twice_", "thread_")))
    margin = 10**6
    moved = [(a + apart + margin, b + apart - margin, *rest) for a, b, *rest in truth]
    check_truth(found, moved, "without a common clock", r"/jitted-\d+\.so$")
    # Nearly all would be inferred if it were not. A sample may stand in a function of libc without a size: its end is a guess.
    grades = support.run([SONDE, "report", "--grades", "-i", "noclock.data"]).err
    share = re.search(r"(<?)([\d.]+) % of frames inferred", grades)
    check("inferred" not in grades or share and (share[1] or float(share[2]) < 2), f"the clocks' distance is known: {grades}")
    if PERF:
        with support.recording(alone=True):
            subprocess.run([PERF, "record", "-q", "-e", "cpu-clock:u", "-F", "2500", "-o", "noclock.data", EXAMPLE,
                            "--dump", ".", "--truth", "noclock.truth"], capture_output=True, env=support.ENV)
        names = {s.symbol for s in samples("noclock.data")}
        missing = [f"{act}_{i}" for act in ("grow", "twice") for i in range(8) if f"{act}_{i}" not in names]
        check(not missing, f"without a common clock functions are named: {missing} are not")


def example_gone():
    """The recording keeps a dump that is gone when it ends."""
    record("gone.data", "sh", "-c", '"$0" --dump . --truth gone.truth; rm jit-*.dump', EXAMPLE)
    check_truth(samples("gone.data"), truth_of("gone.truth"), "gone", r"/jitted-\d+\.so$")
    inject("gone.data", "gone2.data")
    check_truth(samples("gone2.data"), truth_of("gone.truth"), "gone, injected", r"/jitted-\d+\.so$")


def check_later(r, what):
    """That a stream names all rightly, or says what it came too late for; returns whether it did."""
    right, wrong = count_truth(parse_samples(r, what), truth_of("piped.truth"), r"/jitted-\d+\.so$")
    told = re.search(b"is of (a program that the process began later|another time than the process)", r.stderr)
    wrong = [w for w in wrong if not told or "not [unknown]" not in w]
    check(right > 100 and not wrong, f"{what}: {right} are right, not {len(wrong)}: {wrong[:3]} {r.stderr[-300:]}")
    return bool(told)


def execed():
    """A dump of the same name as an earlier one, of the program that the process went on with: each in its time."""
    record("exec.data", "sh", "-c", '"$0" --exec --dump . --truth exec.truth --milliseconds 60 --rounds 4; rm jit-*.dump', EXAMPLE)
    truth = truth_of("exec.truth")
    found = samples("exec.data")
    check_truth(found, truth, "exec", r"/jitted-\d+\.so$")
    inject("exec.data", "exec2.data")
    check_truth(samples("exec2.data"), truth, "exec, injected", r"/jitted-[-\d]+\.so$")
    # As a stream comes: it may come too late for the first, as it does when all is over, but then says so.
    command = '"$0" record -q -e cpu-clock:u -F 2500 -k mono -o - -- "$1" --exec --dump . --truth piped.truth --rounds 4 --milliseconds 100 | ' \
              'tee piped.data | "$0" script -i - --ns -F tid,time,ip,sym,dso'
    with support.recording():
        r = subprocess.run(["sh", "-c", command, SONDE, EXAMPLE], capture_output=True, env=support.ENV, timeout=300)
    check_later(r, "exec, streamed")
    with open("piped.data", "rb") as f:
        r = subprocess.run([SONDE, "script", "-i", "-", "--ns", "-F", "tid,time,ip,sym,dso"], stdin=f, capture_output=True,
                           env=support.ENV, timeout=300)
    check(check_later(r, "exec, streamed later"), f"exec, streamed later: that the first is gone is told: {r.stderr}")
    # What the second one wrote is all that is left: it names nothing of the first.
    with support.recording():
        r = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2500", "-k", "mono", "--keep", "none", "-o", "lost.data", "--",
                            EXAMPLE, "--exec", "--dump", ".", "--truth", "lost.truth", "--milliseconds", "60", "--rounds", "4"],
                           capture_output=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"exec without --keep is recorded: {r.stderr.decode()[-500:]}")
    shown = support.run([SONDE, "script", "--ns", "--show-task-events", "-F", "tid,time", "-i", "lost.data"])
    begun = [int(a) * 10**9 + int(b) for a, b in re.findall(r"(\d+)\.(\d{9}): PERF_RECORD_COMM exec", shown.out.decode())]
    told = support.run([SONDE, "script", "-F", "ip,sym", "-i", "lost.data"]).err
    check(len(begun) >= 2 and "a program that the process began later" in told, f"exec: the loss is told of: {told}")
    found, truth = samples("lost.data"), truth_of("lost.truth")
    check_truth([s for s in found if s.ns >= begun[-1]], truth, "exec, the second", r"/jitted-\d+\.so$")
    names = {row[5] for row in truth}
    wrong = [s for s in found if s.ns < begun[-1] and s.symbol in names]
    check(not wrong, f"exec: the first is named from the second's dump: {wrong[:3]}")


# ---- runtimes ----

def announced_by_dump(path):
    """[(address, end, name)] of all code in a dump, read here anew."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] == b"DTiJ" else ">"
    at, found, by_index = struct.unpack_from(order + "I", data, 8)[0], [], {}
    while at + 16 <= len(data):
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind == LOAD:
            _, _, _, address, length, index = struct.unpack_from(order + "IIQQQQ", data, at + 16)
            name = data[at + 56:data.index(b"\0", at + 56)].decode("utf-8", "replace")
            by_index[index] = name
            found.append((address, address + length, name))
        elif kind == MOVE:
            _, _, _, _, address, length, index = struct.unpack_from(order + "IIQQQQQ", data, at + 16)
            found.append((address, address + length, by_index.get(index)))
        at += max(size, 16)
    return found


def announced_by_map(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        rows = [line.rstrip("\n").split(" ", 2) for line in f]
    return [(int(a, 16), int(a, 16) + int(n, 16), name) for a, n, name in (r for r in rows if len(r) == 3)]


class Cover:
    """Which addresses were announced at any time, and as what."""

    def __init__(self, announced):
        self.bounds = sorted({b for a, e, _ in announced for b in (a, e)})
        self.names = [set() for _ in self.bounds]
        for a, e, name in announced:
            for i in range(bisect.bisect_left(self.bounds, a), bisect.bisect_left(self.bounds, e)):
                self.names[i].add(name)

    def at(self, ip):
        i = bisect.bisect(self.bounds, ip) - 1
        return self.names[i] if i >= 0 else set()


def plain(name):
    """A Java method without its parameters, demangled or not: readers show them in different ways."""
    m = re.match(r"L([^;]+);([^(]+)\(", name)
    dotted = f"{m[1]}.{m[2]}".replace("/", ".").replace(".<init>", "<init>") if m else name
    return dotted.split("(")[0] if "(" in name else name


def check_runtime(found, announced, what, least=200):
    """Of the samples in announced code NAMED_PERCENT are named as it was announced (all but one where they are few), and no
    function in two objects."""
    cover, named, lost, objects = Cover(announced), 0, collections.Counter(), collections.defaultdict(set)
    for s in found:
        names = {plain(name) for name in cover.at(s.ip)}
        if not names:
            continue
        if plain(s.symbol) in names:
            named += 1
            objects[s.symbol].add(s.dso)
        elif s.symbol != "[unknown]" and not re.search(r"/jitted-|/perf-\d+\.map|//anon", s.dso):
            named += 1  # a map lists what lies in files, too, which have symbols of their own for it
        else:
            lost[f"{s.ip:x} {s.symbol} ({s.dso})"] += 1
    total = named + sum(lost.values())
    check(total >= least, f"{what}: there are samples in announced code: {total}")
    percent = 100 * named / total if total else 0
    print(f"{what}: {named} of {total} samples in announced code are named ({percent:.3f} %)", flush=True)
    for text, n in lost.most_common(10):
        print(f"    {n} not: {text}")
    check(percent >= NAMED_PERCENT or sum(lost.values()) <= 1, f"{what}: {percent:.3f} % are named")
    twice = {k: v for k, v in objects.items() if len(v) > 1}
    check(not twice, f"{what}: named twice: {list(twice.items())[:3]}")


def check_everywhere(data, announced, what):
    """Directly, from the injected file, and, where there is a perf, by perf from that."""
    check_runtime(samples(data), announced, what)
    inject(data, "runtime.data")
    check_runtime(samples("runtime.data"), announced, f"{what}, injected")
    if PERF:
        check_runtime(samples("runtime.data", PERF), announced, f"{what}, injected, perf")


NODE = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class P { constructor(x) { this.x = x; } add(o) { return new P(this.x + o.x); } }
function objects(n) { let p = new P(0); for (let i = 0; i < n; i++) p = p.add(new P(i)); return p.x; }
function texts(n) { let s = ''; for (let i = 0; i < n; i++) s += String.fromCharCode(65 + i % 26); return s.replace(/A+/g, 'b'); }
const made = [];
for (let i = 0; i < 200; i++)
    made.push(new Function('n', 'let s = 0; for (let j = 0; j < n; j++) s = (s * ' + (i + 3) + ' + j) % 65521; return s;'));
let r = 0;
while (process.cpuUsage().user < 3e6) { // not by the clock: the machine may be busy
    r += fib(20) + objects(20000) + texts(20000).length;
    for (const f of made) r += f(500);
}
"""


def node():
    program = shutil.which("node")
    if not program:
        print("SKIP node is not installed")
        return
    with open("app.js", "w") as f:
        f.write(NODE)
    for options in (["--perf-prof"], ["--perf-basic-prof"], ["--perf-prof", "--perf-basic-prof"]):
        record("node.data", "sh", "-c", 'echo $$ > node.pid; exec "$@"', "sh", program, *options, "app.js")
        with open("node.pid") as f:
            pid = f.read().strip()
        announced = []
        if "--perf-prof" in options:
            announced += announced_by_dump(f"jit-{pid}.dump")
        if "--perf-basic-prof" in options:
            announced += announced_by_map(f"/tmp/perf-{pid}.map")
        check_everywhere("node.data", announced, "node " + " ".join(options))
        if "--perf-basic-prof" in options:
            os.remove(f"/tmp/perf-{pid}.map")


JAVA = """
import java.util.*;
public class App {
    interface Shape { double area(); }
    record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
    record Square(double a) implements Shape { public double area() { return a * a; } }
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
    static double areas(int n) {
        double s = 0;
        for (int i = 0; i < n; i++) { Shape x = i % 2 == 0 ? new Circle(i) : new Square(i); s += x.area(); }
        return s;
    }
    static int sorts(int n) {
        Integer[] a = new Integer[n];
        for (int i = 0; i < n; i++) a[i] = (i * 7919) % 10007;
        Arrays.sort(a, Comparator.reverseOrder());
        return a[3];
    }
    static int maps(int n) {
        HashMap<String, Integer> m = new HashMap<>();
        for (int i = 0; i < n; i++) m.merge("k" + i % 100, 1, Integer::sum);
        return m.size();
    }
    public static void main(String[] args) {
        java.lang.management.ThreadMXBean cpu = java.lang.management.ManagementFactory.getThreadMXBean();
        double r = 0;
        while (cpu.getCurrentThreadCpuTime() < 3000000000L) r += fib(24) + areas(50000) + sorts(3000) + maps(20000);
        System.out.println(r);
    }
}
"""


CALLS = """public class Calls {
    static int mix(int s, int i) {
        return s * 31 + i;
    }
    static int first(int n) {
        int s = n;
        for (int i = 0; i < 2000; i++) s = mix(s, i);
        return s;
    }
    static int second(int n) {
        int s = n;
        for (int i = 0; i < 2000; i++) s = s * 33 ^ i;
        return s;
    }
    static int outer(int n) {
        int r = n * 3;
        r += first(r);
        r ^= r >> 3;
        r += second(r);
        return r * 7;
    }
    public static void main(String[] args) {
        java.lang.management.ThreadMXBean cpu = java.lang.management.ManagementFactory.getThreadMXBean();
        int r = 0;
        while (cpu.getCurrentThreadCpuTime() < 3000000000L)
            for (int i = 0; i < 100; i++) r += outer(i);
        System.out.println(r);
    }
}
"""


def java():
    """From the source: so the compiler, too, is code that is made at run time."""
    programs = [p for p in {shutil.which("java"), *glob.glob("/usr/lib/jvm/*/bin/java")} if p]
    programs = sorted({os.path.realpath(p) for p in programs})
    if not programs or not AGENT:
        print("SKIP java is not installed" if AGENT else "SKIP the agent for Java was not built")
        return
    with open("App.java", "w") as f:
        f.write(JAVA)
    for program in programs:
        record("java.data", "sh", "-c", 'echo $$ > java.pid; exec "$@"', "sh", program, f"-agentpath:{AGENT}=dir=.", "App.java")
        with open("java.pid") as f:
            pid = f.read().strip()
        check_everywhere("java.data", announced_by_dump(f"jit-{pid}.dump"), program)
        lines = support.run([SONDE, "script", "-i", "java.data", "-F", "ip,srcline"]).out.decode()
        check(lines.count("App.java:") > 20, f"{program}: lines of the program are known")
    with open("Calls.java", "w") as f:
        f.write(CALLS)
    for program in programs:
        check_calls(program)


def check_calls(program):
    """Callers have the line of their call, and what is inlined is said."""
    apart = [f"-XX:CompileCommand=dontinline,Calls::{name}" for name in ("first", "second")]
    with support.recording():
        subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2500", "-g", "-k", "mono", "-o", "java.data", "--", program,
                        "-XX:+PreserveFramePointer", "-XX:CompileCommand=quiet", *apart, f"-agentpath:{AGENT}=dir=.", "Calls.java"],
                       capture_output=True, env=support.ENV, timeout=300)
    shown = support.run([SONDE, "script", "-i", "java.data", "-F", "ip,sym,srcline"]).out.decode("utf-8", "replace")
    calls = re.findall(r"^\t\s*[0-9a-f]+ Calls\.(first|second)\(int\)\n.*\n\t\s*[0-9a-f]+ Calls\.outer\(int\)\n  (.*?)(?: \(inlined\))?\n",
                       shown, re.M)  # "outer" may be inlined itself
    lines = {name: f"Calls.java:{i}" for i, line in enumerate(CALLS.splitlines(), 1) for name in ("first", "second") if f" {name}(r)" in line}
    wrong = collections.Counter((name, line) for name, line in calls if line != lines[name])
    print(f"{program}: {len(calls) - sum(wrong.values())} of {len(calls)} calls have their line", flush=True)
    check(len(calls) > 20 and not wrong, f"{program}: lines of calls: {len(calls)}, wrong are {wrong}")
    count = len(re.findall(r"\.java:\d+ \(inlined\)$", shown, re.M))
    check(count > 50, f"{program}: inlined calls are known: {count}")


PYTHON = """
import time
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
def words(n):
    return sorted(str(i * 7919 % 10007) for i in range(n))
class P:
    def __init__(self, x):
        self.x = x
    def add(self, other):
        return P(self.x + other.x)
def objects(n):
    p = P(0)
    for i in range(n):
        p = p.add(P(i))
    return p.x
while time.process_time() < 3:
    fib(15), words(2000), objects(2000)
"""


def pythons():
    """Programs that are new enough, each with the options that make it announce its code."""
    found = {shutil.which(f"python3.{n}") for n in (12, 13, 14)}
    found |= set(glob.glob(os.path.expanduser("~root/.pyenv/versions/3.1[2-9]*/bin/python3")))
    for program in sorted(p for p in found if p):
        for option in ("perf", "perf_jit"):
            r = subprocess.run([program, "-X", option, "-c", "import sys; sys.exit(not sys.is_stack_trampoline_active())"],
                               capture_output=True)
            if r.returncode == 0:
                yield program, option


def python():
    """Its code is a trampoline for each function: the samples in it are few, callers are what it is for."""
    with open("app.py", "w") as f:
        f.write(PYTHON)
    ran = False
    for program, option in pythons():
        ran = True
        with support.recording():
            r = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-F", "2500", "-g", "-k", "mono", "-o", "python.data",
                                "--", "sh", "-c", 'echo $$ > python.pid; exec "$@"', "sh", program, "-X", option, "app.py"],
                               capture_output=True, env=dict(support.ENV, HOME=os.getcwd()), timeout=300)
        check(r.returncode == 0, f"{program} is recorded: {r.stderr.decode()[-500:]}")
        with open("python.pid") as f:
            pid = f.read().strip()
        path = f"/tmp/jit-{pid}.dump" if os.path.exists(f"/tmp/jit-{pid}.dump") else f"/tmp/perf-{pid}.map"
        announced = announced_by_dump(path) if path.endswith(".dump") else announced_by_map(path)
        chains = support.run([SONDE, "script", "-i", "python.data", "-F", "ip,sym,dso"]).out.decode("utf-8", "replace")
        frames = [Sample(0, 0, int(m[1], 16), m[2], m[3]) for m in re.finditer(r"^\s*([0-9a-f]+) (.*) \((.*)\)$", chains, re.M)]
        check_runtime(frames, announced, f"{program} -X {option}, {os.path.basename(path)}", least=1)
        for file in glob.glob(f"/tmp/*-{pid}.dump") + glob.glob(f"/tmp/perf-{pid}.map"):
            os.remove(file)
    if not ran:
        print("SKIP no python from 3.12 on is installed")


PHP_CODE = """<?php
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
function sums($n) { $s = 0; for ($i = 0; $i < $n; $i++) $s = ($s * 31 + $i) % 65521; return $s; }
class P { public $x; function __construct($x) { $this->x = $x; } function add($o) { return new P($this->x + $o->x); } }
function objects($n) { $p = new P(0); for ($i = 0; $i < $n; $i++) $p = $p->add(new P($i)); return $p->x; }
$r = 0;
while (getrusage()['ru_utime.tv_sec'] < 3) $r += fib(18) + sums(20000) + objects(5000);
"""


def php():
    """SONDE_PHP: the program with options that it needs, such as the place of opcache.so."""
    program = [*shlex.split(os.environ.get("SONDE_PHP", "php")), "-d", "opcache.enable_cli=1", "-d", "opcache.jit=tracing",
               "-d", "opcache.jit_buffer_size=64M", "-d", "opcache.file_update_protection=0"]
    ask = "echo function_exists('opcache_get_status') && opcache_get_status()['jit']['enabled'] ? 'jit' : '';"
    if not shutil.which(program[0]) or subprocess.run([*program, "-r", ask], capture_output=True).stdout != b"jit":
        print("SKIP php with a JIT (opcache) is not installed")
        return
    with open("app.php", "w") as f:
        f.write(PHP_CODE)
    for flags, dumps, maps in (("0x10", False, True), ("0x20", True, False), ("0x30", True, True)):
        record("php.data", "sh", "-c", 'echo $$ > php.pid; exec "$@"', "sh", *program, "-d", f"opcache.jit_debug={flags}", "app.php")
        with open("php.pid") as f:
            pid = f.read().strip()
        dump, listed, announced = f"/tmp/jit-{pid}.dump", f"/tmp/perf-{pid}.map", []
        if dumps:
            announced += announced_by_dump(dump)
        if maps:
            announced += announced_by_map(listed)
        check_everywhere("php.data", announced, f"php, jit_debug={flags}")
        for file in (dump, listed, f"/tmp/jitted-{pid}.so"):
            if os.path.exists(file):
                os.remove(file)


def luajit():
    program = shutil.which("luajit")
    if not program:
        print("SKIP luajit is not installed")
        return
    with open("app.lua", "w") as f:
        f.write("local function sums(n) local s = 0 for i = 1, n do s = (s * 31 + i) % 65521 end return s end\n"
                "local stop, r = os.clock() + 2, 0 while os.clock() < stop do r = r + sums(100000) end\n")
    record("lua.data", "sh", "-c", 'echo $$ > lua.pid; exec "$@"', "sh", program, "app.lua")
    with open("lua.pid") as f:
        listed = f"/tmp/perf-{f.read().strip()}.map"
    if not os.path.exists(listed):
        print("SKIP luajit was built without LUAJIT_USE_PERFTOOLS: it announces nothing")
        return
    check_everywhere("lua.data", announced_by_map(listed), "luajit")
    os.remove(listed)


def main():
    r = subprocess.run([SONDE, "record", "-q", "-e", "cpu-clock:u", "-o", os.devnull, "true"], capture_output=True)
    if r.returncode:
        print(f"SKIP: the kernel lets us record nothing: {r.stderr.decode()[-200:]}")
        return support.SKIP
    with tempfile.TemporaryDirectory(prefix="sonde-jit-") as d:
        os.chdir(d)
        tests = (example, example_injected, example_by_perf, example_unmapped, both, streamed, execed, unwound, example_without_clock, example_gone, node, java, python,
                 php, luajit)
        for test in (t for t in tests if not ONLY or t.__name__ in ONLY):
            test()
            print(f"{test.__name__} done", flush=True)
        os.chdir("/")
    return support.status()


if __name__ == "__main__":
    sys.exit(main())
