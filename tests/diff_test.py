#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`diff` of made recordings: diff_test.py SONDE OBJECT REBUILT APART INLINED

The text is perf's (golden_diff.txt, made by scripts/golden_diff.py); functions are found again in another build; what cannot be compared
is reported in one line. OBJECT and REBUILT are two versions of a library (compared/functions.c), APART and INLINED two builds that inline otherwise.
"""
import json
import os
import random
import re
import shutil
import struct
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import compared
import pagedata
import perfdata as pd
import support

SONDE, OBJECT, REBUILT, APART, INLINED = map(os.path.abspath, sys.argv[1:6])
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


def command_line(*words):
    """The feature CMDLINE."""
    return {11: struct.pack("<I", len(words)) + b"".join(compared.header_text(w) for w in words)}


def check_program():
    """Two builds of a program under two names, recognised by the recorded commands."""
    def make(name, obj, shown, words, counts=(("alpha", 60), ("beta", 40)), others=()):
        path = os.path.join(FOLDER.name, shown)
        if not os.path.exists(path):
            shutil.copy(obj, path)
        compared.recording(os.path.join(FOLDER.name, name), obj, counts, shown=path, others=others,
                           features=command_line("/usr/bin/sonde", "record", *words))
    said = "wa and wb are taken to be the same program: --exact compares by name"
    make("wa.data", OBJECT, "wa", ["-o", "wa.data", "./wa", "10"])
    make("wb.data", REBUILT, "wb", ["-o", "wb.data", "--", "../b/wb", "10"], [("alpha", 30), ("beta", 70)])
    r = diff("wa.data", "wb.data")
    REPORT.check("a program under two names", rows(r.out) == [["60.00%", "-30.00%", "wa", "[.] alpha"], ["40.00%", "+30.00%", "wa", "[.] beta"]]
                 and b"#   " not in r.out and r.err.count("\n") == 1 and said in r.err, (r, r.out.decode()))
    line = "\n# Programs: wa and wb are taken to be the same program\n"
    REPORT.check("the text says so, too", line in r.out.decode() and line in diff("--verdict", "wa.data", "wb.data").out.decode(), r.out.decode())
    REPORT.check("-q: no titles", b"# Programs" not in diff("-q", "wa.data", "wb.data").out, r)
    r = diff("--json", "wa.data", "wb.data")
    got = {x["keys"]["symbol"]: (x["base"], x["new"]) for x in json.loads(r.out)["events"][0]["rows"]}
    REPORT.check("its verdict", got == {"[.] alpha": (0.6, 0.3), "[.] beta": (0.4, 0.7)} and said in r.err, (got, r.err))
    r = diff("-s", "dso", "wa.data", "wb.data")
    REPORT.check("its object", rows(r.out) == [["100.00%", "+0.00%", "wa"]] and "#   wa (base), wb (new)" in r.out.decode(), r.out.decode())
    r = diff("--exact", "wa.data", "wb.data")
    REPORT.check("--exact: by name", len(rows(r.out)) == 4 and not r.err and b"# Programs" not in r.out, r)
    r = diff("wa.data", "wb.data", "wb.data")
    REPORT.check("three sides", len(rows(r.out)) == 2 and r.err.count("\n") == 1 and said in r.err, r)

    def is_apart(what, base, new):
        r = diff(base, new)
        REPORT.check(f"not taken for one program: {what}", r.status == 0 and "same program" not in r.err and
                     [x[-1] for x in rows(r.out)].count("[.] alpha") == 2, r)
    make("told.data", REBUILT, "wb", ["-a", "sleep", "1"])
    is_apart("the command names none", "wa.data", "told.data")
    make("bare.data", REBUILT, "wb", [])
    is_apart("no command", "bare.data", "wa.data")
    make("both.data", REBUILT, "wb", ["./wb"], others=[os.path.join(FOLDER.name, "wa")])
    is_apart("the other side has both", "wa.data", "both.data")
    make("several.data", REBUILT, "wb", ["./wb", "./wc"])
    make("three.data", REBUILT, "wb", ["./wd", "./wb"], others=[os.path.join(FOLDER.name, "wd")])
    REPORT.check("a word that is no image", said in diff("wa.data", "several.data").err, diff("wa.data", "several.data"))
    is_apart("the command names two", "three.data", "wa.data")
    # Without a command that names one: names that differ in what tells builds apart.
    make("first.data", OBJECT, "tool.old", ["-a"])
    make("second.data", REBUILT, "tool-2.1", ["-p", "7"], [("alpha", 30), ("beta", 70)])
    r = diff("first.data", "second.data")
    REPORT.check("a program that was renamed", rows(r.out) == [["60.00%", "-30.00%", "tool.old", "[.] alpha"], ["40.00%", "+30.00%", "tool.old", "[.] beta"]]
                 and r.err.count("\n") == 1 and "tool.old and tool-2.1 are taken to be the same program" in r.err, (r, r.out.decode()))
    make("beside.data", REBUILT, "tool-2.1", ["-a"], others=[os.path.join(FOLDER.name, "tool.old")])
    is_apart("a side has both", "first.data", "beside.data")
    make("server.data", REBUILT, "tool-server", ["-a"])
    is_apart("another name", "first.data", "server.data")
    make("lib.data", REBUILT, "wb.so", ["./wb.so"])
    is_apart("a library", "wa.data", "lib.data")
    same = pd.build_id(OBJECT)
    make("copy.data", OBJECT, "wc", ["./wc"])
    if same:
        for name, shown in (("one.data", "wa"), ("copy.data", "wc")):
            compared.recording(os.path.join(FOLDER.name, name), OBJECT, [("alpha", 1)], build_id=same, shown=os.path.join(FOLDER.name, shown),
                               features=command_line("sonde", "record", shown))
        r = diff("one.data", "copy.data")
        REPORT.check("one build needs no guess", len(rows(r.out)) == 1 and not r.err, r)
    # What a header claims need not be true.
    with open(os.path.join(FOLDER.name, "wa.data"), "rb") as f:
        whole = f.read()
    at = whole.rindex(compared.header_text("./wa"))
    for what, raw in (("a word that is too long", struct.pack("<I", 1 << 31)), ("no end", b"\xff" * 4)):
        with open(os.path.join(FOLDER.name, "hostile.data"), "wb") as f:
            f.write(whole[:at] + raw + whole[at + 4:])
        r = diff("hostile.data", "wb.data")
        REPORT.check(f"hostile command: {what}", r.status in (0, 1) and "same program" not in r.err, r)


def check_page():
    """The page of two recordings has what --verdict says."""
    def page(*options):
        r = support.run([SONDE, "view", "-f", "-o", "-", *options], cwd=FOLDER.name)
        return pagedata.block(r.out.decode("utf-8", "replace"), "sonde-tree")[0], r
    for base, new in (("same0.data", "slow0.data"), ("wa.data", "wb.data"), ("old.data", "new.data")):
        tree, r = page(base, new)
        judged = json.loads(diff("--json", base, new).out)["events"][0]
        verdict = tree["verdicts"][0] if tree and tree["verdicts"] else {}
        code = ["too few samples", "not proved", "less", "more"]
        want = [[x["base"], x["new"], x["low"], x["high"], code.index(x["verdict"])] for x in judged["rows"]]
        REPORT.check(f"page: the rows of --json, {base}", r.status == 0 and verdict.get("rows") == want and
                     (verdict["base"], verdict["new"], verdict["level"]) == (0, 1, judged["level"]), (verdict, want))
        f = verdict.get("functions", [])
        names = {(tree["strings"][f[i]], tree["strings"][f[i + 1]]): f[i + 2] for i in range(0, len(f), 3)}
        REPORT.check(f"page: their functions, {base}", len(names) * 3 == len(f) and all(
            (x["keys"]["symbol"].split()[1], x["keys"]["dso"]) in names and
            names[x["keys"]["symbol"].split()[1], x["keys"]["dso"]] == i for i, x in enumerate(judged["rows"])), (names, judged["rows"]))
        if base == "wa.data":
            REPORT.check("page: both names of a program are one row", names["alpha", "wa"] == names["alpha", "wb"] and
                         "wa and wb are taken to be the same program" in tree["notes"], (names, tree["notes"]))
        if base == "old.data":
            REPORT.check("page: a function and its part are one row", names["theta", "compared-1.0.so"] == names["theta.part.0", "compared-1.1.so"], names)
    tree, r = page("same0.data")
    REPORT.check("page of one recording: no verdict", r.status == 0 and tree["verdicts"] == [] and not tree["notes"], r.status)
    tree, r = page("a.data", "f.data")
    REPORT.check("page without a common event", r.status == 0 and tree["verdicts"] == [] and
                 any(n.startswith("no change is judged: ") for n in tree["notes"]), (r.status, r.err, tree and tree["notes"]))
    with open(os.path.join(FOLDER.name, "other.folded"), "w", encoding="utf-8") as f:
        f.write("main;alpha 3\n")
    tree, r = page("a.data", "other.folded")
    REPORT.check("page with stacks of another tool", r.status == 0 and tree["verdicts"] == [], (r.status, r.err))
    tree, r = page("--time", "0%-50%", "same0.data", "slow0.data")
    judged = json.loads(diff("--json", "--time", "0%-50%", "same0.data", "slow0.data").out)["events"][0]["rows"]
    REPORT.check("page: only the samples that it shows", len(judged) and [x[0] for x in tree["verdicts"][0]["rows"]] == [x["base"] for x in judged], r.err)


def check_errors():
    r = diff("a.data", "nowhere.data")
    REPORT.check("a file that is missing", r.status == 1 and "nowhere.data" in r.err and r.err.count("\n") == 1, r)
    with open(os.path.join(FOLDER.name, "junk.data"), "wb") as f:
        f.write(b"no recording" * 100)
    r = diff("a.data", "junk.data")
    REPORT.check("a file that is no recording", r.status == 1 and "junk.data" in r.err and r.err.count("\n") == 1, r)
    functions, _ = pd.functions(OBJECT)
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.PERIOD, flags=1 << 5)  # exclude_kernel: cpu-clock:u
    r.comm(7, "prog")
    compared.map_object(r, 7, OBJECT)
    r.sample(7, compared.BASE + functions["alpha"][0], period=9)
    r.write(os.path.join(FOLDER.name, "user.data"))
    r = diff("-s", "sym", "a.data", "user.data")
    REPORT.check("an event that counts the same", ["20.00%", "+80.00%", "[.] alpha"] in rows(r.out) and "compared with cpu-clock:u" in r.err, r)
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


def verdicts(text):
    return [(r["keys"]["symbol"].split()[1], r["verdict"]) for r in json.loads(text)["events"][0]["rows"]]


def check_verdict():
    def make(name, samples, obj=OBJECT, **more):
        compared.recording(os.path.join(FOLDER.name, name), obj, samples, **more)
    usual = {"alpha": 30, "beta": 30, "gamma": 30, "delta": 9.9, "zeta": 0.03}
    for i in range(4):
        make(f"same{i}.data", compared.shares(6000, i, **usual))
        make(f"slow{i}.data", compared.shares(6000, 10 + i, **dict(usual, alpha=40)))
    r = diff("--json", "same0.data", "slow0.data")
    got = verdicts(r.out)
    REPORT.check("the slower function is first", r.status == 0 and got[0] == ("alpha", "more"), got)
    REPORT.check("rows with few samples are marked", ("zeta", "too few samples") in got, got)
    row = json.loads(r.out)["events"][0]["rows"][0]
    REPORT.check("the interval is about the change", row["low"] < row["change"] < row["high"] and
                 abs(row["change"] - (row["new"] - row["base"])) < 1e-12, row)
    REPORT.check("the true change is in it", row["low"] < 40 / 110 - 30 / 100 < row["high"], row)
    figures = {x["name"]: x for x in json.loads(r.out)["events"][0]["figures"]}
    REPORT.check("figures of the recordings", figures["cpu-clock"]["base"] == figures["cpu-clock"]["new"] == 6000 * 1000 and
                 figures["duration"]["base"] == 5999 * 1000, figures)
    REPORT.check("always the same", diff("--json", "same0.data", "slow0.data").out == r.out, r)
    r = diff("--json", "same0.data", "same1.data")
    REPORT.check("nothing is proved of the same", all(v in ("not proved", "too few samples") for _, v in verdicts(r.out)), r)
    REPORT.check("a change that is not proved has no bounds beyond zero",
                 all(x["low"] <= 0 <= x["high"] for x in json.loads(r.out)["events"][0]["rows"] if x["verdict"] == "not proved"), r)
    text = diff("--verdict", "same0.data", "slow0.data").out.decode()
    first = next(line for line in text.splitlines() if line and line[0] != "#")
    REPORT.check("as text", re.search(r"\+\d+\.\d\d to \+\d+\.\d\d +\+\d+\.\d% +more +\S+ +\[\.\] alpha$", first), text)
    make("longer.data", compared.shares(9000, 20, **usual))
    r = diff("--verdict", "same0.data", "longer.data")
    REPORT.check("that everything costs more is told", b"the whole changed by +50.0 %: --per 1" in r.out, r)
    REPORT.check("only of shares", all(b"the whole" not in diff(*options, "same0.data", "longer.data").out
                                       for options in (("--verdict", "--per", "1"), ("--verdict", "--by-time"))), "it is told")
    REPORT.check("only where it is so", "the whole" not in text, text)
    one = json.loads(diff("--json", "same0.data", "slow0.data").out)["events"][0]["rows"][0]
    r = diff("--json", "--base", "same0.data,same1.data,same2.data", "--new", "slow0.data,slow1.data")
    more = json.loads(r.out)["events"][0]
    REPORT.check("several recordings tell more", more["rows"][0]["keys"]["symbol"] == "[.] alpha" and len(more["recordings"]) == 5 and
                 more["rows"][0]["high"] - more["rows"][0]["low"] < one["high"] - one["low"], more)


def check_gate():
    for options, status, said in (("--gate 5 same0.data slow0.data", 1, "alpha costs +"), ("--gate 5 same0.data same1.data", 0, "nothing is proved"),
                                  ("--gate 5,alpha same0.data slow0.data", 1, "alpha costs +"), ("--gate 5,beta same0.data slow0.data", 0, "in beta"),
                                  ("--gate 60 same0.data slow0.data", 0, "nothing is proved"), ("--gate 5% slow0.data same0.data", 0, "")):
        r = diff(*options.split())
        REPORT.check(options, r.status == status and said in r.out.decode(), r)
    # A failure is no regression.
    for options in ("--gate 5 same0.data nowhere.data", "--gate 5,nothing same0.data same1.data", "--gate 5 a.data f.data",
                    "--gate 5 a.data none.data", "--gate 5 --by nothing same0.data same1.data"):
        r = diff(*options.split())
        REPORT.check(f"not judged: {options}", r.status == 2 and r.err.strip(), r)
    for options in ("--gate five", "--gate", "--gate 5 a.data b.data c.data", "--level 100", "--base a.data", "--base a.data --new b.data c.data",
                    "--per 0 a.data b.data", "--per 1,2,3 a.data b.data", "--per 1, a.data b.data", "--per 2 --by-time a.data b.data", "--verdict -t , a.data b.data", "--gate 5 -p a.data b.data"):
        r = diff(*options.split())
        REPORT.check(f"refused: {options}", r.status == USAGE_EXIT and not r.out, r)


def check_against():
    def rows_of(*options):
        r = diff("--json", *options)
        return {x["keys"]["symbol"].split()[1]: x for x in json.loads(r.out)["events"][0]["rows"]}
    plain = rows_of("--per", "100", "same0.data", "same1.data")["alpha"]
    REPORT.check("--per N", abs(plain["base"] - 6000 * 1000 * 0.3 / 100) < 3000, plain)
    twice = rows_of("--per", "100,200", "same0.data", "same1.data")["alpha"]
    REPORT.check("--per N,N", twice["verdict"] == "less" and abs(twice["new"] - plain["new"] / 2) < 1e-6, twice)
    timed = rows_of("--by-time", "same0.data", "same1.data")["alpha"]
    REPORT.check("--by-time", 0.25 < timed["base"] < 0.35, timed)  # 1000 counted in each microsecond
    r = diff("--verdict", "--by", "nothing", "same0.data", "same1.data")
    REPORT.check("--by an event that is not there", r.status == 1 and "nothing" in r.err, r)
    texts = {6: "x86_64", 4: "6.1", 3: "one"}, {6: "aarch64", 4: "6.18", 3: "one"}  # ARCH, OSRELEASE, HOSTNAME
    for i, features in enumerate(texts):
        compared.recording(os.path.join(FOLDER.name, f"host{i}.data"), OBJECT, compared.shares(500, i, alpha=1, beta=1),
                           features={bit: compared.header_text(text) for bit, text in features.items()})
    r = diff("--verdict", "host0.data", "host1.data")
    REPORT.check("machines that differ", b"# Machines differ: architectures x86_64 and aarch64; kernels 6.1 and 6.18\n" in r.out, r.out)
    # Without symbols on one side objects can still be compared.
    bare = os.path.join(FOLDER.name, "compared-1.0.so")
    compared.recording(os.path.join(FOLDER.name, "bare.data"), OBJECT, compared.shares(500, 1, alpha=1, beta=1), shown=bare)
    r = diff("--verdict", "-s", "dso", "same0.data", "bare.data")
    REPORT.check("stripped on one side", r.status == 0 and b"100.00%     100.00%" in r.out, r)


def check_callers():
    functions, _ = pd.functions(OBJECT)
    def make(name, samples):
        r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD)
        r.comm(7, "prog")
        compared.map_object(r, 7, OBJECT)
        for *chain, period in samples:
            ips = [compared.BASE + functions[f][0] + (4 if i else 0) for i, f in enumerate(chain)]
            r.sample(7, ips[0], chain=[pd.CONTEXT_USER, *ips], period=period)
        r.write(os.path.join(FOLDER.name, name))
    make("calls0.data", [("alpha", "beta", "delta", 40), ("alpha", "gamma", "delta", 40), ("zeta", "delta", 20)])
    make("calls1.data", [("alpha", "beta", "delta", 40), ("alpha", "gamma", "delta", 140), ("zeta", "delta", 20)])
    r = diff("-g", "-s", "sym", "calls0.data", "calls1.data")
    got = [line for line in r.out.decode().splitlines() if line and line[0] != "#"]
    REPORT.check("-g: what brought it comes first", got == [
        "    80.00%    +10.00%  [.] alpha",
        "    40.00%    +30.00%    <- gamma",
        "    40.00%    +30.00%      <- delta",
        "    40.00%    -20.00%    <- beta",
        "    40.00%    -20.00%      <- delta",
        "    20.00%    -10.00%  [.] zeta",
        "    20.00%    -10.00%    <- delta"], r.out.decode() + r.err)
    r = diff("-g", "--verdict", "-s", "sym", "calls0.data", "calls1.data")
    REPORT.check("-g --verdict", re.search(r"40.00%  +70.00%  +\+30.00  +<- gamma", r.out.decode()), r)
    r = diff("-g", "a.data", "b.data")
    REPORT.check("-g without callchains", r.status == 1 and not r.out, r)


def check_export():
    def export(*options):
        return support.run([SONDE, "export", "-f", *options], cwd=FOLDER.name)
    r = export("folded", "a.data", "b.data")
    REPORT.check("export folded of two", r.out.decode().splitlines() == [
        "prog;alpha 20 22", "prog;beta 20 5", "prog;delta 20 30", "prog;epsilon 20 0", "prog;gamma 20 18", "prog;zeta 0 25"], r)
    r = export("flamegraph", "a.data", "b.data")
    boxes = dict(re.findall(r'data-n="(\w+)">[^~]*?fill="hsl\((\d+)', r.out.decode()))
    REPORT.check("export flamegraph of two", boxes.get("delta") == "5" and boxes.get("beta") == "220" and "epsilon" not in boxes and
                 "before: 20.00% (+10.00)" in r.out.decode(), boxes)
    r = export("pprof", "a.data", "b.data")
    REPORT.check("export of two in a format for one", r.status == USAGE_EXIT, r)
    r = export("folded", "f.data", "a.data")
    REPORT.check("export without a common event", r.status == 1 and not r.out and "to compare with" in r.err, r)


def check_inlined():
    """Samples at all places of two functions, one of which has the other's code inlined in one build."""
    def make(name, obj, names):
        functions, _ = pd.functions(obj)
        places = [at for f in names for at in range(functions[f][0], functions[f][0] + functions[f][1])]
        compared.recording(os.path.join(FOLDER.name, name), obj, [(at, 10) for at in places])
    make("apart.data", APART, ["tiny", "huge"])
    make("inlined.data", INLINED, ["huge"])

    def shares(*options):
        r = diff("--json", "-s", "sym", *options)
        return {x["keys"]["symbol"].split()[1]: x for x in json.loads(r.out)["events"][0]["rows"]}, r
    plain, _ = shares("apart.data", "inlined.data")
    REPORT.check("inlined code counts for its caller", plain["tiny"]["new"] == 0 and abs(plain["huge"]["new"] - 1) < 1e-9, plain)
    for base, new, where in (("apart.data", "inlined.data", "new"), ("inlined.data", "apart.data", "base")):
        summed, r = shares("--inline", base, new)
        REPORT.check(f"--inline: it counts for its function, {where}",
                     0.2 < summed["tiny"][where] < 1 and abs(summed["tiny"][where] + summed["huge"][where] - 1) < 1e-9 and
                     f"tiny, inlined in huge ({where})" in summed["tiny"]["note"], (summed, r.err))
    r = diff("--inline", "-s", "sym", "apart.data", "inlined.data")
    REPORT.check("--inline says so", b"#   tiny, inlined in huge (new)\n" in r.out, r)


def check_branches():
    """Blocks and streams where perf's text is not what it should be, and what has none."""
    r = diff("-c", "cycles", "-t", ",", "g.data", "h.data")
    REPORT.check("-c cycles -t", re.search(r"57.14   ,\[alpha\+4 -> alpha\+12\]    6 *,compared", r.out.decode()), r.out.decode())
    r = diff("-c", "cycles", "--cycles-hist", "-t", ",", "g.data", "h.data")
    REPORT.check("--cycles-hist -t", ",± 30.4% ▄▄▄▄█▁▁  ,compared-1.0.so,[.] alpha" in r.out.decode(), r.out.decode())
    r = diff("-c", "cycles", "k.data", "l.data", "i.data")
    REPORT.check("-c cycles: all blocks of a side that has more", r.out.count(b"[.] gamma") == 4, r.out.decode())
    r = diff("--stream", "g.data", "h.data")
    text = r.out.decode()
    REPORT.check("--stream: a loop once, and only equal ones are pairs", text.count("hot chain pair") == 2 and "cycles: 114, hits: 28.57%\t" in text
                 and text.count("gamma ??:0") == 6 and "hits: 15.38%" in text.split("new perf data only")[1], text)
    # Lines differ between builds: the same functions are a pair nevertheless; what has debug information shows lines.
    for name, obj in (("lines.data", APART), ("other.data", INLINED)):
        compared.branches(os.path.join(FOLDER.name, name), obj, [("alpha", [(("alpha", 8), ("beta", 0), 5)], 2, 1000)])
    r = diff("--stream", "lines.data", "other.data")
    REPORT.check("--stream: lines", re.search(r"hot chain pair 1:\n +cycles: 5, hits: 100.00%\t.*\n.*\n +beta functions.c:\d+\t +beta functions.c:\d+\n", r.out.decode()),
                 r.out.decode())
    r = diff("--stream", "g.data", "lines.data")
    REPORT.check("--stream: the rest", r.out.decode().count("old perf data only ]\n\nhot chain 1") == 1 and "pair 1" not in r.out.decode(), r.out.decode())
    for what, options in (("-c cycles", ("-c", "cycles", "a.data", "g.data")), ("--stream", ("--stream", "a.data", "g.data"))):
        r = diff(*options)
        REPORT.check(f"{what} without branches", r.status == 0 and r.err.count("\n") == 1 and "a.data has no branch records of cpu-clock: record with -b" in r.err, r)
    for options in (("-c", "cycles", "-s", "comm"), ("--cycles-hist",), ("-c", "cycles", "--verdict"), ("--stream", "--gate", "3"), ("-c", "cycles", "-g")):
        r = diff(*options, "g.data", "h.data")
        REPORT.check(f"refused: {' '.join(options)}", r.status == USAGE_EXIT and r.err.count("\n") <= 2 and not rows(r.out), r)
    r = diff("--stream", "g.data", "h.data", "g.data")
    REPORT.check("--stream of three", r.status == USAGE_EXIT and "--stream compares two files" in r.err and not r.out, r)


def through_fifo(data, *options):
    """diff a.data FIFO, into which `data` is written."""
    fifo = os.path.join(FOLDER.name, "fifo")
    os.mkfifo(fifo)

    def write():
        try:
            with open(fifo, "wb") as f:
                f.write(data)
        except BrokenPipeError:
            pass
    writer = threading.Thread(target=write)
    writer.start()
    r = diff(*options, "a.data", "fifo")
    writer.join()
    os.remove(fifo)
    return r


def check_hostile():
    """One clear line each, and what can be compared is."""
    def put(name, data):
        with open(os.path.join(FOLDER.name, name), "wb") as f:
            f.write(data)
    with open(os.path.join(FOLDER.name, "b.data"), "rb") as f:
        whole = f.read()
    os.mkdir(os.path.join(FOLDER.name, "folder"))
    put("empty.data", b"")
    put("random.data", bytes(random.Random(1).randrange(256) for _ in range(5000)))
    for name in ("empty.data", "random.data", "folder", "nowhere"):
        for options, status in (((), 1), (("--verdict",), 1), (("--gate", "5"), 2), (("-c", "cycles"), 1), (("--stream",), 1)):
            for files in (("a.data", name), (name, "a.data")):
                r = diff(*options, *files)
                REPORT.check(f"{name}: {' '.join(options)}", r.status == status and not r.out and name in r.err and r.err.count("\n") == 1, r)
    for at in (len(whole) // 3, len(whole) // 2, len(whole) - 60):
        put("cut.data", whole[:at])
        for options in ((), ("--verdict",)):
            r = diff(*options, "a.data", "cut.data")
            REPORT.check(f"cut at {at} {options}", r.status == 1 and 0 < r.err.count("\n") <= 4 and "cut.data" in r.err, r)
    r = through_fifo(whole)
    REPORT.check("a FIFO without a recording for pipes", r.status in (0, 1) and r.err.count("\n") <= 2, r)
    r = through_fifo(b"nonsense" * 4)
    REPORT.check("a FIFO with something else", r.status == 1 and not r.out and r.err.count("\n") == 1 and "fifo" in r.err, r)
    r = diff("a.data", "a.data")
    REPORT.check("a file twice", r.status == 0 and len(rows(r.out)) == 5 and r.err == "a.data is compared with itself\n", r)

    def machine(name, arch, **more):
        compared.recording(os.path.join(FOLDER.name, name), OBJECT, [("alpha", 40), ("beta", 20)], features={6: compared.header_text(arch)}, **more)
    machine("here.data", "x86_64")
    machine("there.data", "riscv64", shown="/nonexistent/other")
    machine("bare.data", "x86_64", shown="/nonexistent/" + os.path.basename(OBJECT))
    r = diff("here.data", "there.data")
    REPORT.check("another architecture", r.status == 0 and "here.data was recorded on x86_64, there.data on riscv64" in r.err and len(rows(r.out)) == 3, r)
    for options in ((), ("--verdict",)):
        r = diff(*options, "here.data", "bare.data")
        REPORT.check(f"names on one side alone {options}", r.status == 0 and r.err.count("in which other recordings have some") == 1
                     and "bare.data: no names in" in r.err and b"[unnamed]" in r.out, r)


def check_counts():
    """Files of stat record: their counts stand above the table, with a verdict where there are runs enough."""
    source = os.path.join(FOLDER.name, "counts.stat")
    made = support.run([SONDE, "stat", "record", "-e", "task-clock,page-faults", "-o", source, "true"])
    if made.status or not os.path.exists(source):
        print("SKIP counts: nothing can be counted here")
        return
    def counts(n):
        return ",".join([source] * n)
    r = diff("--base-stat", counts(1), "--new-stat", counts(1), "a.data", "b.data")
    told = [line for line in r.out.decode().splitlines() if "too few runs to tell" in line]
    REPORT.check("one run of each side", r.status == 0 and told and told[0].startswith("# Counted:  ") and "(+0.0 %)" in told[0], r)
    r = diff("--base-stat", counts(12), "--new-stat", counts(12), "a.data", "b.data")
    REPORT.check("equal runs", "no difference seen" in r.out.decode() and "too few" not in r.out.decode().split("# Costs")[0], r)
    r = diff("--json", "--base-stat", counts(2), "--new-stat", counts(3), "a.data", "b.data")
    figures = [f for f in json.loads(r.out)["events"][0]["figures"] if "verdict" in f]
    REPORT.check("their JSON", figures and all(f["base"] == f["new"] and f["verdict"] == "too few runs" for f in figures), r)
    for what, options, status in (("without the other side", ("--base-stat", source), USAGE_EXIT), ("no counts", ("--base-stat", "a.data", "--new-stat", source), 1),
                                  ("no file", ("--base-stat", "nowhere", "--new-stat", source), 1), ("nothing", ("--base-stat", ",", "--new-stat", source), USAGE_EXIT)):
        r = diff(*options, "a.data", "b.data")
        REPORT.check(f"counts: {what}", r.status == status and not rows(r.out) and r.err.count("\n") == 1, r)


compared.make(FOLDER.name, OBJECT)
check_counts()
check_hostile()
check_branches()
check_inlined()
check_export()
check_callers()
check_golden()
check_verdict()
check_gate()
check_against()
check_rebuilt()
check_program()
check_page()
check_errors()
REPORT.finish()
