#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""import: stacks written in a format and read back are the same; hostile names and damaged files do no harm.

import_test.py SONDE
"""
import gzip
import json
import os
import random
import re
import sqlite3
import sys
import tempfile
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import export_formats as formats
import support

SONDE = sys.argv[1]
RECORDINGS = os.path.join(HERE, "recordings")
report = support.Report("import")
scratch = tempfile.TemporaryDirectory()


def sonde(*args, **more):
    return support.run([SONDE, *args], **more)


def file_of(name, data):
    path = os.path.join(scratch.name, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def folded(path, event=None):
    return sonde("export", "folded", *(["-e", event] if event else []), path).out


# --- there and back ---

def round_trips(name):
    path = os.path.join(RECORDINGS, name)
    data = {kind: sonde("export", kind, path).out for kind in ("json", "pprof", "folded")}
    data["script"] = sonde("script", "-i", path).out
    listed = [e.strip() for e in sonde("evlist", "-i", path).out.decode().splitlines() if not e.startswith("#")]
    events = [e for e in listed if folded(path, e)]
    for kind, bytes_ in data.items():
        file = file_of(f"{name}.{kind}", bytes_)
        for event in events if kind != "folded" else [None]:
            want, have = folded(path, event), folded(file, event)
            report.check(f"{name}, {event}: by way of {kind}", have == want, f"{have[:300]} {want[:300]}")
    # All that is known, by way of our JSON: the same bytes in each format.
    file = os.path.join(scratch.name, name + ".json")
    for kind in [line.split()[0] for line in sonde("export").out.decode().splitlines()]:
        frames = () if kind == "json" else ("--frames", "address")
        want, have = sonde("export", kind, *frames, path), sonde("export", kind, file)
        report.check(f"{name}: {kind} by way of JSON", have.out == want.out,
                     f"{len(have.out)} {len(want.out)} {have.err}")
    back = sonde("import", file)
    report.check(f"{name}: import of our JSON is that JSON", back.out == data["json"], back.err)
    plain = file_of(f"{name}.pb", gzip.decompress(data["pprof"]))
    report.check(f"{name}: pprof need not be compressed", folded(plain) == folded(path), "")
    piped = sonde("import", "-", stdin=data["script"])
    report.check(f"{name}: script's text from standard input", piped.status == 0 and
                 json.loads(piped.out)["format"] == "sonde stacks", piped.err)


# --- what a format has room for ---

def script_fields():
    text = b"""swapper     0 [002]     1.000000500:          7 cycles:
\tffffffff81000010 idle+0x10 ([kernel.kallsyms])

two words 12/13 [000] 2.5: 3 cycles:u:
\t   7f01 std::vector<int, a (b)>::size() const+0x5 (/usr/lib/lib (x).so)
\t   7f02 outer (inlined)
  file.c:12
\t   7f03 [unknown] (/tmp/perf-12.map)
two words 13 2.6: sched:sched_switch: prev_comm=a
"""
    path = file_of("fields.txt", text)
    have = json.loads(sonde("import", path).out)
    texts = have["texts"]
    frames = [(texts[f[0]], f[1] is not None and texts[have["images"][f[1]][0]], f[6], f[7]) for f in have["frames"]]
    want = [("idle", "[kernel.kallsyms]", 1, 1), ("std::vector<int, a (b)>::size() const", "lib (x).so", 0, 1),
            ("outer", False, 6, 1), ("[perf-12.map]", "perf-12.map", 5, 3), ("[unknown]", False, 0, 3)]
    report.check("script: frames", frames == want, str(frames))
    events = [(texts[e[0]], texts[e[1]]) for e in have["events"]]
    report.check("script: events and units", events == [("cycles", "cycles"), ("cycles:u", "cycles"),
                                                        ("sched:sched_switch", "events")], str(events))
    samples = [(s[0], s[1], tuple(have["threads"][s[3]][:2]), s[4]) for s in have["samples"]]
    report.check("script: times, periods, threads, CPUs", samples == [
        (1000000500, 7, (0, 0), 2), (2500000000, 3, (12, 13), 0), (2600000000, 1, (13, 13), None)], str(samples))
    comms = {texts[t[2]] for t in have["threads"]}
    report.check("script: commands", comms == {"swapper", "two words"}, str(comms))


def without_times():
    path = file_of("a.folded", b"a;b;c_[k] 3\na;b 4\n")
    for kind in ("firefox", "perfetto"):
        r = sonde("export", kind, path)
        report.check(f"{kind} without times", r.status == 1 and "no times" in r.err, r.err)
    flat = sonde("export", "folded", file_of("flat.folded", b"a;b 3\n"))
    report.check("what is lacking is said", flat.err == "there are no callchains: every stack is one frame\n", flat.err)


# --- hostile names ---

HOSTILE = ["</script><script>alert(1)</script>", "\x1b[31mred\x1b[0m", "\u202ereversed", "tab\there", "quote\"'`$(x)",
           "back\\slash", "line\u2028end", "(1) fn=x", "a" * (1 << 20), "\udc80\udcff", "%s%n", "[x]", "_[k]", "&lt;"]


def hostile():
    names = [n.encode("utf-8", "surrogateescape").replace(b";", b":") for n in HOSTILE]
    path = file_of("hostile.folded", b"".join(b"comm" + n[:20].replace(b" ", b"") + b";" + n + b";in" + n + b" 7\n" for n in names))
    total = 7 * len(names)
    for kind in [line.split()[0] for line in sonde("export").out.decode().splitlines()]:
        r = sonde("export", kind, path)
        if kind in ("firefox", "perfetto"):
            continue  # no times; below
        if "built without" in r.err:
            continue
        report.check(f"hostile names: {kind}", r.status == 0, r.err[:300])
        if kind in ("folded", "json", "speedscope", "callgrind", "flamegraph"):
            text = r.out.decode("utf-8")  # valid, or this raises
            bad = re.findall("[\x00-\x08\x0b-\x1f\x7f\u202e\u2028]" if kind != "json" else "[\x00-\x08\x0b-\x1f\x7f]", text)
            report.check(f"hostile names: nothing hidden in {kind}", not bad, str(bad[:5]))
    report.check("hostile names: speedscope", sum(sum(s.values()) for s in formats.speedscope(
        sonde("export", "speedscope", path).out).values()) == total, "")
    stacks = formats.Pprof(sonde("export", "pprof", path).out).stacks()
    report.check("hostile names: pprof", sum(stacks["samples"].values()) == total, "")
    report.check("hostile names: the longest is cut", max(len(n) for s in stacks["samples"] for n in s) < 5000, "")
    picture = xml.fromstring(sonde("export", "flamegraph", path).out)
    report.check("hostile names: flamegraph", picture.tag.endswith("svg"), picture.tag)
    back = file_of("hostile.json", sonde("export", "json", path).out)
    report.check("hostile names: JSON keeps them", sonde("import", back).out == sonde("export", "json", path).out, "")
    database = os.path.join(scratch.name, "hostile.db")
    if sonde("export", "sqlite", "-o", database, path).status == 0:
        db = sqlite3.connect(database)
        report.check("hostile names: sqlite", db.execute("SELECT sum(self_period) FROM flat").fetchone() == (total,), "")
        db.close()
    lines = b"".join(b"p" + n[:9].replace(b" ", b"") + b" 1 [000] %d.5: 7 e:\n\t 10 " % i + n + b" (/lib/" + n[:50] + b")\n\n"
                     for i, n in enumerate(names))
    timed = file_of("hostile.txt", lines)
    have, _ = formats.firefox(sonde("export", "firefox", timed).out, "e")
    report.check("hostile names: firefox", sum(have["e"].values()) >= 7 * (len(names) - 2), str(len(names)))
    trace = formats.Perfetto(sonde("export", "perfetto", timed).out)
    report.check("hostile names: perfetto", sum(trace.stacks["e"].values()) >= 7 * (len(names) - 2), "")


# --- damage ---

def damage():
    random.seed(7)
    source = os.path.join(RECORDINGS, "frame-pointers.data")
    for kind in ("json", "pprof", "folded", "script"):
        data = sonde("script", "-i", source).out if kind == "script" else sonde("export", kind, source).out
        data = gzip.decompress(data) if kind == "pprof" else data
        for i in range(40):
            broken = bytearray(data[:random.randrange(1, len(data))] if i % 2 else data)
            for _ in range(random.randrange(8)):
                broken[random.randrange(len(broken))] = random.randrange(256)
            r = sonde("import", file_of("broken", bytes(broken)))  # raises if it does not end by itself
            report.check(f"damaged {kind}", r.status in (0, 1) and len(r.err.splitlines()) <= 2, r.err)
    deep = sonde("import", file_of("deep", b"c" + b";f" * 20000 + b" 1\nc;f 1\n"))
    report.check("a stack that is too deep is left out", deep.status == 1 and "too many frames" in deep.err, deep.err)
    bomb = gzip.compress(bytes(64 << 20))
    r = sonde("import", file_of("bomb.gz", bomb))
    report.check("much of nothing", r.status == 1 and "pprof" in r.err, r.err)
    bad = sonde("import", file_of("bad.folded", b"a;b 1\nc;d x\ne 5\na;c 2\n"))
    report.check("bad lines are counted and named", bad.status == 1 and "2 lines of folded stacks left out; the first is"
                 " line 2: no weight at its end" in bad.err, bad.err)
    for wrong in (b"hello\n", b"\x7fELF" + bytes(100), b"", b"{}"):
        r = sonde("import", file_of("wrong", wrong))
        report.check("what is none of them", r.status == 1 and "neither a recording nor stacks" in r.err, r.err)
    text = sonde("import", file_of("text", b"root:x:0:0:root:/root:/bin/bash\nbin:x:2:2:bin:/bin:/usr/sbin/nologin\n"))
    report.check("what only looks like one", text.status == 1 and text.err.count("\n") == 1 and "neither a recording nor" in text.err, text.err)
    own = sonde("import", os.path.join(RECORDINGS, "flat.data"))
    report.check("a recording", own.status == 1 and "view and export read it as it is" in own.err, own.err)
    usage = sonde("import")
    report.check("a file is wanted", usage.status == 129, usage.err)
    gone = sonde("import", "/no/such/file")
    report.check("a file that is not there", gone.status == 1 and "/no/such/file" in gone.err, gone.err)


def main():
    for name in ("frame-pointers.data", "group.data", "kernel.data", "threads.data"):
        round_trips(name)
    script_fields()
    without_times()
    hostile()
    damage()
    report.finish()


main()
