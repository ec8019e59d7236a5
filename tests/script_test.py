#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""script and data convert: script_test.py SONDE FIXTURES [corpus]

Every fixture is printed wholly, the same from a file and from a pipe, and as JSON that a parser takes; options
and exit statuses are as promised. With `corpus`: `script` of the real recordings equals, to the byte, the texts in
golden/ where there is one, except for the files in golden_script.known, each of which must differ by its rule.
"""
import collections
import json
import lzma
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
SHOW = [f"--show-{x}-events" for x in "task mmap switch namespace cgroup bpf lost text-poke".split()]


def script(path, *options, stdin=None):
    return support.run([SONDE, "script", "-f", "-i", path, *options], stdin=stdin)


def fixture(name):
    return os.path.join(FIXTURES, name)


def read(path):
    with open(path, "rb") as f:
        return f.read()


# --- fixtures ---

def once(pairs):
    """A JSON object whose names are all different."""
    names = [k for k, _ in pairs]
    if len(set(names)) != len(names):
        raise ValueError(f"a name is there twice: {names}")
    return dict(pairs)


def check_json(path, samples, status):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        r = support.run([SONDE, "data", "convert", "--to-json", out, "-f", "-i", path])
        if r.status != status:
            return f"data convert: status {r.status}, not {status}: {r.err[:300]}"
        try:
            got = json.loads(read(out).decode("utf-8"), object_pairs_hook=once)["samples"]
        except (ValueError, KeyError) as e:
            return f"data convert: no good JSON: {e}"
        if len(got) != samples:
            return f"data convert: {len(got)} samples, not {samples}"
    return None


def check_fixture(row):
    path, want, status = fixture(row["file"]), int(row["samples"]), int(row["exit"])
    verdict = row["verdict"].split(",")
    if "unreadable" in verdict:
        r = script(path)
        return None if r.status == 1 and r.err.strip() and not r.out else f"status {r.status}, {r.err[:200]!r}"
    r = script(path, "-F", "misc")
    lines = r.out.count(b"\n") - r.out.count(b" error type ")  # AUXTRACE_ERROR has a line too
    if r.status != status and "cut" not in verdict and "at-least" not in verdict:
        return f"status {r.status}, not {status}: {r.err[:300]}"
    if r.status and not r.err.strip():
        return "failed without a message"
    # A sample with a group reading is one line for each event of the group that moved.
    grouped = "READ" in row["file"] or "read" in row["file"]
    if lines < want or (lines > want and "at-least" not in verdict and not grouped):
        return f"{lines} samples shown, not {want}"
    if "at-least" in verdict or row["container"] == "dir":
        return None
    if not grouped and status == 0 and "cut" not in verdict:
        wrong = check_json(path, want, status)
        if wrong:
            return wrong
    if status == 0 and "cut" not in verdict:
        data = read(path)
        a, b = script(path, *SHOW), script("-", *SHOW, stdin=data)
        if a.status or b.status or a.out != b.out:
            return f"a pipe gives another text than the file (status {a.status}, {b.status}): {b.err[:200]}"
    return None


# --- options, on a fixture with callchains from two CPUs ---

DEMO = "demo.data"


def lines_of(*options, name=DEMO):
    r = script(fixture(name), *options)
    if r.status:
        raise AssertionError(f"{options}: status {r.status}: {r.err}")
    return r.out.decode("utf-8", "replace").splitlines()


def fields_of(field, *options):
    return [line.split()[0] if line.split() else "" for line in lines_of("-G", "-F", field, *options)]


def check_options(report):
    every = lines_of("-G", "-F", "comm,tid,cpu,time")
    report.check("demo has samples", len(every) > 10, len(every))
    tids, cpus = collections.Counter(fields_of("tid")), collections.Counter(fields_of("cpu"))
    for tid, count in list(tids.items())[:3]:
        report.check(f"--tid {tid}", fields_of("tid", "--tid", tid) == [tid] * count, "other threads, or too few")
    for cpu, count in cpus.items():
        number = str(int(cpu.strip("[]")))
        report.check(f"--cpu {number}", fields_of("cpu", "--cpu", number) == [cpu] * count, "other CPUs, or too few")
    report.check("--cpu of none", fields_of("cpu", "-C", "4000") == [], "something is shown")
    halves = [lines_of("-G", "-F", "comm,tid,cpu,time", "--time", t) for t in ("0%-50%", "50%-100%")]
    report.check("--time halves", halves[0] + halves[1] == every and all(halves), [len(h) for h in halves])
    times = [float(t.rstrip(":")) for t in fields_of("time", "--ns")]
    report.check("time order", times == sorted(times), "not in order")
    report.check("--unwind-style", lines_of("--unwind-style", "libdw,libunwind") == lines_of(), "other lines")
    report.check("--reltime", fields_of("time", "--reltime")[0] == "0.000000:", fields_of("time", "--reltime")[0])
    deltas = [float(t.rstrip(":")) for t in fields_of("time", "--ns", "--deltatime")]
    report.check("--deltatime", abs(sum(deltas) - (times[-1] - times[0])) < 1e-6, sum(deltas))
    whole, cut = lines_of("-F", "ip"), lines_of("-F", "ip", "--max-stack", "1")
    report.check("--max-stack", len(cut) < len(whole), f"{len(cut)} of {len(whole)}")
    plain, dump, unsorted = lines_of(*SHOW), lines_of("-D", *SHOW), lines_of("--dump-unsorted-raw-trace", *SHOW)
    rest = iter(dump)
    report.check("-D holds what is shown without it", all(line in rest for line in plain), "lines are missing")
    report.check("-D sorted and unsorted hold the same", collections.Counter(dump) == collections.Counter(unsorted),
                 (len(dump), len(unsorted)))
    report.check("-D dumps every record", sum("... raw event: size" in line for line in dump)
                 == len(support.walk(read(fixture(DEMO)))), "records are missing")
    header = lines_of("--header-only")
    report.check("--header-only", header[0] == "# ========" and all(l.startswith("#") for l in header), header[:3])
    report.check("--header", lines_of("--header", "-G")[:len(header)] == header, "another header")


# Arguments after `script -i FILE`, the exit status, and what the message must hold.
STATUSES = [
    (["-F", "bogus"], 129, "Invalid field"),
    (["-F", "comm,+tid"], 129, "Cannot mix"),
    (["-F", "sw:trace"], 129, "not valid for software"),
    (["-F", "brcntr"], 1, "not there yet"),
    (["-F", "+brstackinsn"], 1, "record with -b"),
    (["--time", "110%/1"], 129, "Invalid time string"),
    (["--cpu", "x"], 129, "Invalid list"),
    (["--pid", "1-"], 129, "Invalid list"),
    (["--comms", "file:///nonexistent"], 1, "/nonexistent"),
    (["--reltime", "--deltatime"], 129, "either"),
    (["--max-stack", "x"], 129, "numerical"),
    (["--switch-on", "nonexistent"], 1, "not found"),
    (["--bogus"], 129, "bogus"),
    (["-S", "main"], 0, ""),
    (["--json", "--per-event-dump"], 129, "use only one"),
    (["--stop-bt", "file:///nonexistent"], 1, "/nonexistent"),
    (["--dlfilter", "/nonexistent.so"], 1, "cannot load"),
    (["-g", "perl"], 1, "python"),
    (["-s", "perl:x.pl"], 1, "Python"),
    (["--itrace"], 1, "not there yet"),
    (["--insn-trace"], 1, "not decoded"),
    (["--graph-function", "x"], 1, "not decoded"),
    (["--guestmount", "/"], 1, "--guestkallsyms"),
    (["-F", "+metric"], 0, ""),
    (["-F", "+srccode"], 1, "srcline"),
    (["-F", "comm,srcline"], 1, "sample IP is not selected"),
    (["-d"], 0, "Misordered timestamps: 0"),
    (["some-script"], 1, "some-script: no such recording or script"),
    (["record"], 1, "not there yet"),
    (["--no-inline", "--symfs", "/"], 0, ""),
]


def check_statuses(report):
    with tempfile.TemporaryDirectory() as empty:  # with no perf.data there
        r = support.run([os.path.abspath(SONDE), "script", "typo.data"], cwd=empty)
    report.check("script TYPO", r.status == 1 and r.err == "typo.data: no such recording or script; script -l lists the scripts\n", r)
    for options, status, message in STATUSES:
        r = script(fixture(DEMO), *options)
        report.check(f"script {' '.join(options)}", r.status == status and message in r.err and (r.err or not status),
                     f"status {r.status}, {r.err[:200]!r}")
    r = script(fixture("types/MMAP.le.v2.data"), "-F", "tod")
    report.check("tod without a clock", r.status == 1 and "clock" in r.err, (r.status, r.err))
    r = support.run([SONDE, "script", "-i", "/nonexistent"])
    report.check("no such file", r.status == 1 and "/nonexistent" in r.err, (r.status, r.err))
    with open("/dev/full", "wb") as full:
        r = subprocess.run([SONDE, "script", "-f", "-i", fixture(DEMO)], stdout=full, stderr=subprocess.PIPE, check=False)
    report.check("a full disk", r.returncode == 1 and b"No space" in r.stderr, (r.returncode, r.stderr))
    reader, writer = os.pipe()
    os.close(reader)
    r = subprocess.run([SONDE, "script", "-f", "-i", fixture(DEMO)], stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    report.check("a reader that went away", not r.stderr, r.stderr)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "x.json")
        convert = [SONDE, "data", "convert", "--to-json", out, "-i", fixture(DEMO)]
        first, again, forced = support.run(convert), support.run(convert), support.run(convert + ["-f"])
        report.check("data convert spares a file", (first.status, again.status, forced.status) == (0, 129, 0)
                     and "exists" in again.err, (first, again, forced))


def fixtures_main():
    report = support.Report("script, fixtures")
    for row, wrong in support.parallel(check_fixture, support.share(support.read_table(fixture("manifest.tsv")))):
        report.check(row["file"], wrong is None, str(wrong))
    check_options(report)
    check_statuses(report)
    report.finish()


# --- golden texts ---

def known_differences():
    """{id: rule} of golden_script.known."""
    known = {}
    with open(os.path.join(HERE, "golden_script.known"), encoding="utf-8") as f:
        for line in f:
            words = line.split("#")[0].split()
            if words:
                known[words[0]] = words[1]
    return known


def compare(name):
    """(lines of the golden text, number of them that differ, first difference) of one recording."""
    corpus = support.corpus_dir()
    want = lzma.decompress(read(os.path.join(corpus, "golden", name + ".script.txt.xz")))
    with tempfile.TemporaryDirectory() as empty:
        got = script(os.path.join(corpus, name + ".data"), "--symfs", empty).out
    if got == want:
        return want.count(b"\n"), 0, None
    a, b = want.split(b"\n"), got.split(b"\n")
    differing = [i for i, (x, y) in enumerate(zip(a, b)) if x != y] + list(range(min(len(a), len(b)), max(len(a), len(b))))
    i = differing[0]
    return want.count(b"\n"), len(differing), f"line {i + 1}: {a[i:i + 1]} is shown as {b[i:i + 1]}"[:400]


def golden_main():
    names = sorted(n[:-len(".script.txt.xz")] for n in os.listdir(os.path.join(support.need_corpus(), "golden"))
                   if n.endswith(".script.txt.xz"))
    known, report = known_differences(), support.Report("script, golden texts")
    for name, result in support.parallel(compare, names):
        if isinstance(result, Exception):
            report.bad(name, str(result))
            continue
        lines, differing, first = result
        rule = known.get(name)
        if differing:
            print(f"{name}  {differing} of {lines} lines differ  {rule or 'NO RULE'}")
        if not differing and rule:
            report.bad(name, f"is equal now: take it out of golden_script.known ({rule})")
        elif differing and not rule:
            report.bad(name, first)
        else:
            report.good(f"by rule {rule}" if rule else "equal")
    for name in set(known) - set(names):
        report.bad(name, "is in golden_script.known, but there is no such text")
    excused = sum(1 for n in names if n in known)
    print(f"equal {report.counts['equal']} of {len(names)}, excused by rules {excused}")
    # Of the corpus, which has recordings without a text, too: perf has none to give of those.
    with open(os.path.join(support.corpus_dir(), "expected.tsv"), encoding="utf-8") as f:
        recordings = sum(1 for _ in f) - 1
    report.check("rules excuse at most 5 % of the recordings", excused * 20 <= recordings, excused)
    report.finish()


golden_main() if "corpus" in sys.argv[3:] else fixtures_main()
