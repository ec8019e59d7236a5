#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How sure names are, in report and script: grade_test.py SONDE OBJECT EXAMPLE

Recordings are made here, of the code in OBJECT, a shared object with functions called start and stop. EXAMPLE
prints what libsonde says of them.
"""
import json
import os
import shutil
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, OBJECT, EXAMPLE = map(os.path.abspath, sys.argv[1:4])
FUNCTIONS, (CODE_AT, CODE_BYTES) = pd.functions(OBJECT)
BASE, PAGE = 0x7f0000000000, 4096
NAME = os.path.basename(OBJECT)
AT = FUNCTIONS["stop"][0]  # its offset in the file, too


def record(path, build_id=None):
    """Three samples in stop, called by start; one in nothing."""
    r = pd.Recording()
    r.comm(7, "prog")
    start = CODE_AT // PAGE * PAGE
    r.map(7, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, OBJECT, build_id)
    for i in range(3):
        r.sample(7, BASE + AT, [pd.CONTEXT_USER, BASE + AT, BASE + FUNCTIONS["start"][0] + 1])
    r.sample(7, PAGE, [pd.CONTEXT_USER, PAGE])
    r.write(path)


def report(path, *options):
    return support.run([SONDE, "report", "-f", "-i", path, "--no-children", *options])


def rows(r):
    return [line.split() for line in r.out.decode().splitlines() if line.strip() and line[0] != "#"]


def check_case(t, path, name, grade, identity, symbol, options=()):
    r = report(path, "-g", "none", "-s", "sym,grade,identity", *options)
    t.check(f"{name}: the place has its name and grade", rows(r)[0] == ["75.00%", "[.]", *symbol, grade, identity], r.out)
    t.check(f"{name}: what nothing covers", rows(r)[1][2:] == ["0x0000000000001000", "unknown", "none"], r.out)
    return r


def check_servers(t, folder):
    """Servers that cannot be reached are said once, however many files they are asked for."""
    path = os.path.join(folder, "gone.data")
    r = pd.Recording()
    r.comm(7, "prog")
    for i in range(3):
        r.map(7, BASE + i * 0x10000, PAGE, 0, f"/nowhere/lib{i}.so", bytes([i + 1] * 20))
        r.sample(7, BASE + i * 0x10000 + 8, [pd.CONTEXT_USER, BASE + i * 0x10000 + 8])
    r.write(path)
    env = dict(support.ENV, DEBUGINFOD_URLS="http://127.0.0.1:1", DEBUGINFOD_CACHE_PATH=os.path.join(folder, "downloads"))
    for command in ["report", "--no-children"], ["script"]:
        out = support.run([SONDE, *command, "-f", "-i", path], env=env)
        said = [line for line in out.err.splitlines() if "debuginfod" in line]
        t.check(f"{command[0]}: no server", out.status == 0 and len(said) == 1 and "127.0.0.1:1" in said[0], out.err)


def check_grades(t, folder):
    path = os.path.join(folder, "a.data")
    own = pd.build_id(OBJECT)
    stale = ["[stale]", f"{NAME}+0x{AT:x}"]
    record(path)
    r = check_case(t, path, "no identity", "inferred", "none", ["stop"])
    t.check("inferred: the closing line", f"75 % of frames inferred, 25 % without a name: sonde doctor {path}\n" in r.err, r.err)
    check_case(t, path, "strict", "unknown", "none", [f"0x{AT:016x}"], ["--strict"])
    r = report(path, "-s", "provenance", "-g", "none")
    t.check("provenance", [" ".join(x[1:]) for x in rows(r)] == [f"symtab of {OBJECT}", "none"], r.out)
    r = report(path, "--grades", "-g", "none")
    t.check("--grades", rows(r)[0] == ["75.00%", "prog", NAME, "[.]", "stop", "inferred"], r.out)
    if own:
        record(path, own)
        r = check_case(t, path, "build-id", "exact", "build-id", ["stop"], ["--strict"])
        t.check("exact: only the nameless are spoken of", f"25 % of frames without a name: sonde doctor {path}\n" in r.err, r.err)
    else:
        print("SKIP: the compiler leaves no build-ids")
    record(path, bytes(range(20)))
    r = check_case(t, path, "another build-id", "stale", "none", stale)
    t.check("stale: the closing line", "75 % of frames stale, 25 % without a name: sonde doctor" in r.err, r.err)
    r = report(path, "-g", "caller", "-s", "comm")
    t.check("stale: in call graphs", "[stale] " + stale[1] in r.out.decode(), r.out)
    r = report(path, "--json", "-s", "sym")
    table = json.loads(r.out)["tables"][0]
    t.check("stale: in JSON", table["frames"] == {"exact": 0, "inferred": 0, "stale": 6, "unknown": 1}, table)
    t.check("stale: its text in JSON", table["entries"][0]["keys"]["symbol"] == "[.] " + " ".join(stale), table)


def frame(r):
    """The innermost frame of the first sample."""
    return r.out.decode().splitlines()[1].split(None, 1)[1]


def check_script(t, folder):
    path = os.path.join(folder, "b.data")
    script = [SONDE, "script", "-f", "-i", path]
    record(path)
    r = support.run([*script, "--grades"])
    t.check("script: inferred", frame(r) == f"stop+0x0 ({OBJECT}) {{inferred}}", r.out)
    t.check("script: nothing covers it", "1000 [unknown] ([unknown]) {unknown}" in r.out.decode(), r.out)
    t.check("script: the closing line", f"86 % of frames inferred, 14 % without a name: sonde doctor {path}\n" in r.err, r.err)
    r = support.run([*script, "--strict"])
    t.check("script: strict", frame(r) == f"[unknown] ({OBJECT})" and "inferred" not in r.err, r)
    r = support.run([*script, "-F", "ip,sym,identity,provenance"])
    t.check("script: fields", frame(r) == f"stop {{none, symtab of {OBJECT}}}", r.out)
    record(path, bytes(range(20)))
    r = support.run(script)
    t.check("script: stale", frame(r) == f"[stale] {NAME}+0x{AT:x} ({OBJECT})", r.out)
    r = support.run([*script, "--json"])
    chain = [json.loads(line) for line in r.out.decode().splitlines() if '"callchain"' in line][0]["callchain"]
    t.check("script: JSON", chain[0]["grade"] == "stale" and "sym" not in chain[0], chain)


def why(path, *options):
    r = support.run([SONDE, "why", "-f", "-i", path, *options])
    facts = {}
    for line in r.out.decode().splitlines():
        facts.setdefault(line[:12].strip(), line[12:])
    return r, facts


def check_why(t, folder):
    path = os.path.join(folder, "c.data")
    own, other = pd.build_id(OBJECT), bytes(range(20))
    record(path, other)
    place, begin = f"{BASE + AT:x}", CODE_AT // PAGE * PAGE
    for options in ([], ["--sample", "3"], ["--pid", "7", place], ["--pid", "7", "--time", "1.000003", place]):
        r, facts = why(path, *options)
        t.check(f"why {options}: stale", facts.get("name") == f"[stale] {NAME}+0x{AT:x} ({OBJECT})"
                and facts["grade"].startswith(f"stale: {OBJECT}: its build-id is "), r)
        t.check(f"why {options}: the map", f"by the MMAP2 record at 0x" in facts["mapped"] and
                f": 0x{BASE + begin:x}-" in facts["mapped"] and f" shows {OBJECT} from 0x{begin:x}" in facts["mapped"], r)
        t.check(f"why {options}: identities", facts["recorded"] == f"build-id {other.hex()}"
                and (not own or facts["now"].startswith(f"{OBJECT}: ANOTHER FILE, build-id {own.hex()}, ")), r)
        t.check(f"why {options}: tries", f"{OBJECT}: its build-id is" in r.out.decode(), r)
    record(path, own)
    r, facts = why(path, "--symbol", "start")
    t.check("why --symbol", r.status == 0 and facts["name"] == f"start+0x1 ({OBJECT})"
            and f"by the symtab of {OBJECT} (the file itself): start, 0x{FUNCTIONS['start'][0]:x}-" in facts["named"], r)
    if own:
        t.check("why: exact", facts["grade"] == "exact: the file has the recorded build-id"
                and facts["now"].startswith(f"{OBJECT}: the same, "), r)
    r, facts = why(path, "--sample", "4")
    t.check("why: unknown", facts["grade"] == "unknown: nothing was mapped there" and "above" in facts, r)
    r = support.run([SONDE, "why", "-f", "-i", path, "--json", "--frame", "1"])
    facts = json.loads(r.out)
    t.check("why --json", facts["sym"] == "start" and facts["symoff"] == 1 and facts["frame"] == 1 and
            len(facts["stack"]) == 2 and facts["tried"][-1] == {"used": True, "path": OBJECT}, facts)
    for options, status in ((["--sample", "5"], 1), (["--frame", "2"], 1), (["--symbol", "nobody"], 1), (["--pid", "7"], 129),
                            (["xyz"], 129), (["--sample", "1", "--symbol", "x"], 129)):
        r, _ = why(path, *options)
        t.check(f"why {options}", r.status == status and r.err and not r.out, r)


def check_cut(t, folder):
    """The outermost frame of a callchain that is as long as the kernel makes any: what called it is not known."""
    path = os.path.join(folder, "cut.data")
    own = pd.build_id(OBJECT)
    if not own:
        print("SKIP: the compiler leaves no build-ids")
        return
    start = CODE_AT // PAGE * PAGE
    r = pd.Recording()
    r.comm(7, "prog")
    r.map(7, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, OBJECT, own)
    for callers in (125, 126):
        r.sample(7, BASE + AT, [pd.CONTEXT_USER, BASE + AT] + callers * [BASE + FUNCTIONS["start"][0] + 1])
    r.write(path)
    r = support.run([SONDE, "script", "-f", "-i", path, "--grades", "-F", "ip,sym"])
    shown = [line.split(None, 1)[1] for line in r.out.decode().splitlines() if line.startswith("\t")]
    t.check("cut: script", shown == 2 * (["stop {exact}"] + 125 * ["start {exact}"]) + ["start {inferred}"], r.out)
    t.check("cut: no closing line but on a terminal", not r.err, r.err)
    for options in ["script", "-v"], ["report", "--stdio", "-v"]:
        r = support.run([SONDE, *options, "-f", "-i", path])
        t.check(f"cut: the closing line with {options}", "0.4 % of frames inferred: sonde doctor" in r.err, r.err)
    for pager in "", "cat >/dev/null":
        for command in ["script"], ["report", "--stdio"]:
            status, shown = support.on_terminal([SONDE, *command, "-f", "-i", path], PERF_PAGER=pager)
            t.check(f"cut: the closing line on a terminal, {command}, pager '{pager}'", status == 0 and
                    shown.endswith(f"0.4 % of frames inferred: sonde doctor {path}\n"), shown[-300:])
    r = support.run([SONDE, "script", "-f", "-i", path, "--grades", "-F", "ip,sym", "--max-stack", "100"])
    t.check("cut: not by --max-stack", "inferred" not in r.out.decode() + r.err, r)
    r = support.run([SONDE, "script", "-f", "-i", path, "--json"])
    grades = [[f["grade"] for f in json.loads(line)["callchain"]] for line in r.out.decode().splitlines()
              if '"callchain"' in line]
    t.check("cut: JSON", grades == [126 * ["exact"], 126 * ["exact"] + ["inferred"]], r.out)
    for options, inferred in (([], 1), (["--max-stack", "100"], 0), (["-G"], 1)):
        table = json.loads(report(path, "--json", *options).out)["tables"][0]
        t.check(f"cut: report {options}", table["frames"]["inferred"] == inferred, table["frames"])
    for sample, frame, grade in (("1", "125", "exact"), ("2", "125", "exact"), ("2", "126", "inferred")):
        r, facts = why(path, "--sample", sample, "--frame", frame)
        t.check(f"cut: why {sample} {frame}", facts["grade"].startswith(grade + ": ") and
                ("cut here" in facts["grade"]) == (grade == "inferred"), r)


def check_late(t, folder):
    """A stream's map that comes after its round is over: from there on it is there, and no proof."""
    path = os.path.join(folder, "late.data")
    own = pd.build_id(OBJECT)
    if not own:
        return
    start, finished_round = CODE_AT // PAGE * PAGE, 68
    length = (CODE_BYTES + 2 * PAGE) // PAGE * PAGE
    r = pd.Recording()
    r.comm(7, "prog")
    r.map(7, BASE + start, length, start, OBJECT, own)
    early = r.time
    r.time += 1_000_000
    for _ in range(3):  # delivered when the round after the next ends
        r.sample(7, BASE + AT, [pd.CONTEXT_USER, BASE + AT])
        r.add(finished_round, 0, b"")
    now, r.time = r.time, early
    r.map(7, 2 * BASE + start, length, start, OBJECT, own)
    r.time = now
    for base in (1, 2):
        r.sample(7, base * BASE + AT, [pd.CONTEXT_USER, base * BASE + AT])
    r.write(path)
    pipe = support.run([SONDE, "inject", "-i", path, "-o", "-"]).out
    want = {"a pipe": 4 * ["exact"] + ["inferred"], "a file": 5 * ["exact"]}
    for name, options, data in (("a file", ["-i", path], None), ("a pipe", ["-i", "-"], pipe)):
        r = support.run([SONDE, "script", "-f", *options, "--grades", "-F", "ip,sym"], stdin=data)
        shown = [line.split(None, 1)[1] for line in r.out.decode().splitlines() if line.startswith("\t")]
        t.check(f"late: {name}", shown == [f"stop {{{g}}}" for g in want[name]], r)
        r = support.run([SONDE, "script", "-f", *options, "--json"], stdin=data)
        grades = [json.loads(line)["grade"] for line in r.out.decode().splitlines() if '"callchain"' in line]
        t.check(f"late: {name}, JSON", grades == want[name], r)


def check_library(t, folder):
    """libsonde, by its example: grades, and why."""
    path, own, other = os.path.join(folder, "l.data"), pd.build_id(OBJECT), bytes(range(20))
    cases = [(None, "stop is inferred (none, symtab of", "nothing that was recorded can confirm the file"),
             (other, f"a place is stale (none, none of {OBJECT})", f"its build-id is")]
    for build_id, what, reason in cases + [(own, None, None)] * bool(own):
        record(path, build_id)
        r = support.run([EXAMPLE, path])
        lines = r.out.decode().splitlines()
        counts = {name: int(n) for n, name in (x.split() for x in lines[-4:])}
        doctor = json.loads(support.run([SONDE, "doctor", "-f", "--json", path]).out)["frames"]
        t.check(f"libsonde: as doctor counts, {what}", r.status == 0 and counts == doctor, (r, doctor))
        told = [x for x in lines if x.startswith(OBJECT + ": ")]
        t.check(f"libsonde: {what}", told == [] if not what else
                len(told) == 1 and what in told[0] and reason in told[0], r)
        t.check("libsonde: what nothing covers", "nothing: a place is unknown (none, none): nothing was mapped there" in lines, r)
    path = os.path.join(folder, "k.data")  # of check_kernel: the recording brings what proves its list
    r = support.run([EXAMPLE, os.path.join(folder, "kcore-0")])
    if os.path.exists(path):
        t.check("libsonde: the kernel's list in the recording's folder", r.out.decode().splitlines()[-4] == "1 exact", r)


def check_search(t, folder):
    """The first frame of a name, where the same addresses held other things before, and in other processes."""
    path = os.path.join(folder, "e.data")
    start = CODE_AT // PAGE * PAGE
    size = (CODE_BYTES + 2 * PAGE) // PAGE * PAGE
    stop, begin, end = FUNCTIONS["stop"][0], FUNCTIONS["start"][0], sum(FUNCTIONS["stop"])
    r = pd.Recording()
    for pid in (7, 8):
        r.comm(pid, "prog")
    r.map(8, BASE + start, size, 0, "/nobody/is/here")
    for pid in (7, 8, 8, 7):
        r.sample(pid, BASE + stop, [pd.CONTEXT_USER, BASE + stop, BASE + begin])
    r.map(7, BASE + start, size, start, OBJECT)
    r.sample(8, BASE + stop)
    r.sample(7, PAGE, [pd.CONTEXT_USER, PAGE, BASE + begin + 1])
    r.sample(7, BASE + begin, [pd.CONTEXT_USER, BASE + begin, BASE + end])
    r.write(path)
    for name, number, frame, text in (("start", 6, 1, "start+0x1"), ("stop", 7, 1, f"stop+0x{end - stop:x}")):
        r = support.run([SONDE, "why", "-f", "-i", path, "--json", "--symbol", name])
        facts = json.loads(r.out or b"{}")
        t.check("why: a file that is not here", why(path, "--sample", "2")[1].get("grade") ==
                "unknown: no file that has names for it is here", why(path, "--sample", "2"))
        t.check(f"why --symbol {name}: the first one", (facts.get("sample"), facts.get("frame")) == (number, frame) and
                f"{facts['sym']}+0x{facts['symoff']:x}" == text, r)


def check_kernel(t, folder):
    """What tells a kernel's boot may stand in its own map: pipes have no other place for it."""
    path, listed = os.path.join(folder, "k.data"), os.path.join(folder, "kallsyms")
    text, names = 0xffffffff9b600000, [f"f{i}" for i in range(10)]
    lines = "".join(f"symbol\t{text + 0x100 * i:x}\t{name}\n" for i, name in enumerate(names)).encode()
    item = struct.pack("<II", 4, len(lines)) + lines + bytes(-len(lines) % 8)
    tail = struct.pack("<IHH", 0x45646e53, 1, 8 + len(item)) + item
    r = pd.Recording()
    r.add(pd.MMAP2, pd.KERNEL | pd.MMAP_BUILD_ID,
          struct.pack("<IIQQQBBH20sII", 0xffffffff, 0, text, 0x1000, text, 20, 0, 0, bytes(range(20)), 5, 2) +
          pd.text("[kernel.kallsyms]_text") + tail + r.tail(0, 0))
    r.sample(7, text + 0x210, [pd.CONTEXT_KERNEL, text + 0x210], misc=pd.KERNEL)
    r.write(path)
    for moved, want in ((0, ["f2", "exact", "kernel"]), (0x10, ["[stale]", f"[kernel.kallsyms]+0x{text + 0x210:x}", "stale", "none"])):
        with open(listed, "w", encoding="ascii") as f:
            f.write(f"{text:x} T _text\n" + "".join(f"{text + 0x100 * i + (moved if i == 9 else 0):x} t {name}\n"
                                                    for i, name in enumerate(names)) + f"{text + 0x1000:x} T _etext\n")
        r = report(path, "-g", "none", "-s", "sym,grade,identity", "--kallsyms", listed)
        t.check(f"the kernel's boot, symbols {moved:x} off", rows(r)[0][2:] == want, r)
        # perf record --kcore makes a folder, with the list beside a copy of the kernel.
        whole = os.path.join(folder, f"kcore-{moved}")
        os.makedirs(os.path.join(whole, "kcore_dir"))
        shutil.copy(path, os.path.join(whole, "data"))
        shutil.copy(listed, os.path.join(whole, "kcore_dir", "kallsyms"))
        r = support.run([SONDE, "doctor", "-f", "--json", "--kallsyms", listed, path])
        said = {f["id"]: f["text"] for f in json.loads(r.out)["findings"]}
        t.check(f"doctor: the kernel, symbols {moved:x} off", ("which is proved" in said.get("kernel", "")) == (moved == 0) and
                ("where the recorded kernel had it" in said.get("stale_kernel", "")) == (moved != 0), said)
        r = report(whole, "-g", "none", "-s", "sym,grade,identity")
        t.check(f"a folder with its kernel's list, symbols {moved:x} off", rows(r)[0][2:] == want, r)


def check_doctor(t, folder):
    path = os.path.join(folder, "d.data")

    def doctor(*options):
        r = support.run([SONDE, "doctor", "-f", *options, path])
        return r, r.out.decode()

    def findings(*options):
        r = doctor("--json", *options)[0]
        facts = json.loads(r.out)
        return r.status, {f["id"]: f["severity"] for f in facts["findings"]}, facts

    record(path)
    status, found, facts = findings()
    t.check("doctor: inferred", status == 0 and found["unproved"] == "note" and "stale" not in found, facts)
    t.check("doctor: frames", facts["frames"] == {"exact": 0, "inferred": 6, "stale": 0, "unknown": 1}, facts)
    t.check("doctor: objects", [(o["name"], o["frames"]["inferred"]) for o in facts["objects"]] ==
            [(OBJECT, 6), ("[unknown]", 0)], facts)
    t.check("doctor: callers", facts["lost_callers"] == 1 and facts["callchains"] == 4 and found["unmapped"] == "warning", facts)
    status, found, facts = findings("--max-inferred", "80")
    t.check("doctor --max-inferred", status == 2 and found["unproved"] == "problem", facts)
    status, found, facts = findings("--max-unknown", "10")
    t.check("doctor --max-unknown", status == 2 and found["unknown"] == "problem", facts)
    r, text = doctor()
    t.check("doctor: the table", f"   85.71 %    0.00 %  100.00 %    0.00 %    0.00 %  {NAME}\n" in text, text)
    record(path, bytes(range(20)))
    status, found, facts = findings()
    t.check("doctor: stale", status == 2 and found["stale"] == "problem", facts)
    t.check("doctor --max-stale", findings("--max-stale", "90%")[0] == 0, facts)
    r, text = doctor()
    t.check("doctor: what to do", f"problem  85.7 % of frames lie in files that are not those that ran: {NAME}\n" in text
            and "--symfs" in text, text)
    for options, want in ((["--max-stale", "x"], 129), (["--max-lost", "101"], 129), (["-i", path], 129)):
        t.check(f"doctor {options}", doctor(*options)[0].status == want, options)
    r = support.run([SONDE, "doctor", os.path.join(folder, "none.data")])
    t.check("doctor: no file", r.status == 1 and not r.out, r)
    r = support.run([SONDE, "doctor", "--json"])
    t.check("doctor: this machine", r.status in (0, 2) and json.loads(r.out)["findings"][0]["id"] == "versions", r)


def main():
    t = support.Report("grades")
    with tempfile.TemporaryDirectory() as folder:
        check_grades(t, folder)
        check_servers(t, folder)
        check_script(t, folder)
        check_why(t, folder)
        check_cut(t, folder)
        check_late(t, folder)
        check_search(t, folder)
        check_kernel(t, folder)
        check_doctor(t, folder)
        check_library(t, folder)
    t.finish()


main()
