#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`diff` of made recordings: diff_test.py SONDE OBJECT REBUILT

The text is perf's (golden_diff.txt, made by scripts/golden_diff.py); functions are found again in another build; what cannot be
compared is said in a line. OBJECT and REBUILT are two versions of a library (compared/functions.c).
"""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import compared
import perfdata as pd
import support

SONDE, OBJECT, REBUILT = map(os.path.abspath, sys.argv[1:4])
USAGE_EXIT = 129
REPORT = support.Report("diff")
FOLDER = tempfile.TemporaryDirectory(prefix="sonde-diff-")


def diff(*options, **more):
    return support.run([SONDE, "diff", "-f", *options], cwd=FOLDER.name, **more)


def texts():
    """{options: perf's text}"""
    with open(os.path.join(HERE, "golden_diff.txt"), encoding="utf-8") as f:
        parts = re.split(r"(?m)^>>> (.*)\n", f.read())
    return dict(zip(parts[1::2], parts[2::2]))


def check_golden():
    want = texts()
    REPORT.check("all texts are there", sorted(want) == sorted(" ".join(x) for x in compared.INVOCATIONS), sorted(want))
    for options in compared.INVOCATIONS:
        r = diff(*options)
        name = " ".join(options)
        REPORT.check(f"perf's text: {name}", r.status == 0 and r.out.decode() == want.get(name),
                     lambda: f"{r.status} {r.err}\n{r.out.decode()}\nwanted\n{want.get(name)}")


def rows(text):
    return [re.split(r"  +", line.strip()) for line in text.decode().splitlines() if line.strip() and line[0] != "#"]


def check_rebuilt():
    """Other versions of the library; clones; parts that were split off."""
    def make(name, obj, counts, **more):
        compared.recording(os.path.join(FOLDER.name, name), obj, counts, **more)
    make("old.data", OBJECT, [("alpha", 40), ("eta", 20), ("theta", 40)])
    make("new.data", REBUILT, [("alpha", 40), ("eta.constprop.0", 30), ("theta", 10), ("theta.part.0", 20)])
    r = diff("-s", "sym", "old.data", "new.data")
    REPORT.check("functions of a rebuild", rows(r.out) == [["40.00%", "-10.00%", "[.] theta"], ["20.00%", "+10.00%", "[.] eta"],
                                                           ["40.00%", "+0.00%", "[.] alpha"]], lambda: r.out.decode())
    notes = [line for line in r.out.decode().splitlines() if line.startswith("#   ")]
    REPORT.check("what was added up is said", notes == ["#   theta (base, new), theta.part.0 (new)", "#   eta (base), eta.constprop.0 (new)"],
                 notes)
    r = diff("old.data", "new.data")
    REPORT.check("versions of a library", [x[2] for x in rows(r.out)] == ["compared-1.0.so"] * 3, lambda: r.out.decode())
    r = diff("--exact", "-s", "sym", "old.data", "new.data")
    REPORT.check("--exact", len(rows(r.out)) == 5 and b"Added up" not in r.out, lambda: r.out.decode())
    # In one build a function and its clone are two functions, sampled or not.
    same = pd.build_id(REBUILT)
    make("one.data", REBUILT, [("theta", 40), ("alpha", 60)], build_id=same)
    make("two.data", REBUILT, [("theta.part.0", 40), ("alpha", 60)], build_id=same)
    r = diff("-s", "sym", "one.data", "two.data")
    names = sorted(x[-1] for x in rows(r.out))
    REPORT.check("one build", not same or names == ["[.] alpha", "[.] theta", "[.] theta.part.0"], names)
    # Without a name there is one row for each object: addresses are those of one build.
    make("bare.data", OBJECT, [("alpha", 50), (0x10, 30), (0x20, 20)])
    r = diff("-s", "sym", "bare.data", "bare.data")
    REPORT.check("unnamed code", ["50.00%", "+0.00%", "[.] [unnamed]"] in rows(r.out), lambda: r.out.decode())


def check_errors():
    r = diff("a.data", "nowhere.data")
    REPORT.check("a file that is missing", r.status == 1 and "nowhere.data" in r.err and r.err.count("\n") == 1, r)
    with open(os.path.join(FOLDER.name, "junk.data"), "wb") as f:
        f.write(b"no recording" * 100)
    r = diff("a.data", "junk.data")
    REPORT.check("a file that is no recording", r.status == 1 and "junk.data" in r.err and r.err.count("\n") == 1, r)
    r = diff("a.data", "f.data")
    REPORT.check("no common event", r.status == 0 and "no other recording has the event" in r.err, r)
    for options in ("-o 2", "-o -1", "-c wdiff", "-c wdiff:1", "-c wdiff:1,x", "-c nothing", "-s nothing"):
        r = diff(*options.split(), "a.data", "b.data")
        REPORT.check(f"refused: {options}", r.status == USAGE_EXIT and not r.out, r)
    # One file is compared with perf.data.old, none is perf.data with that.
    for name, source in (("perf.data.old", "a.data"), ("perf.data", "b.data")):
        os.link(os.path.join(FOLDER.name, source), os.path.join(FOLDER.name, name))
    REPORT.check("no file", diff().out == diff("a.data", "b.data").out, diff())
    REPORT.check("one file", diff("c.data").out == diff("a.data", "c.data").out, diff("c.data"))
    r = diff("-D", "a.data", "b.data")
    REPORT.check("-D", r.out.count(b"PERF_RECORD_SAMPLE") == 10 and r.out.endswith(diff("a.data", "b.data").out), r)
    r = diff("--time", "0%-50%:10%/2", "a.data", "b.data")
    REPORT.check("--time of each file", r.status == 0 and r.out != diff("--time", "0%-50%", "a.data", "b.data").out, r)


compared.make(FOLDER.name, OBJECT)
check_golden()
check_rebuilt()
check_errors()
REPORT.finish()
