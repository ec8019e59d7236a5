#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same periods everywhere: of each event the total, the functions with most in themselves and those with most in
all are equal in report's text and JSON and in the exports, as their tools read them.

export_equal_test.py SONDE
"""
import collections
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import export_formats as formats
import made
import support

SONDE = os.path.realpath(sys.argv[1])
RECORDINGS = os.path.join(HERE, "recordings")
WEB = os.path.join(HERE, "..", "web")
TOP = 50
report = support.Report("export_equal")

# total: of all samples; own, all: by function, where a sample counts once however often a function is in its stack.
Sums = collections.namedtuple("Sums", "total own all")


def sonde(*args):
    r = support.run([SONDE, *args])
    report.check(" ".join(args), r.status == 0, r.err)
    return r.out


def tidy(name):
    """A name as folded stacks have it."""
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name, flags=re.S)
    return name.replace(";", ":").replace('"', "").replace("'", "")


def sum_up(stacks):
    """Of {(comm, outermost, ..., innermost): weight}."""
    own, everything = collections.Counter(), collections.Counter()
    for (_, *frames), weight in stacks.items():
        names = [tidy(name) for name in frames]
        own[names[-1]] += weight
        for name in set(names):
            everything[name] += weight
    return Sums(sum(stacks.values()), own, everything)


def top(counts):
    """The first ones that have anything; equal ones by name."""
    return sorted(((n, name) for name, n in counts.items() if n), key=lambda x: (-x[0], x[1]))[:TOP]


def named(counts):
    """Without what has no name: there report counts each address by itself."""
    return {name: n for name, n in counts.items() if not name.startswith("[")}


def check(what, have, want, by_name=False):
    keep = named if by_name else dict
    report.check(f"{what}: total", have.total == want.total, f"{have.total} {want.total}")
    report.check(f"{what}: in themselves", top(keep(have.own)) == top(keep(want.own)),
                 lambda: f"{top(keep(have.own))} {top(keep(want.own))}")
    report.check(f"{what}: in all", top(keep(have.all)) == top(keep(want.all)),
                 lambda: f"{top(keep(have.all))} {top(keep(want.all))}")


# --- the readers: {event: Sums} ---

def of_folded(path):
    result = {}
    listed = sonde("evlist", "-i", path).decode().splitlines()
    for event in [line.strip() for line in listed if line and not line.startswith("#")]:
        r = support.run([SONDE, "export", "folded", "-e", event, path])
        if r.status == 0:
            lines = [line.rsplit(" ", 1) for line in r.out.decode().splitlines()]
            result[event] = sum_up({tuple(stack.split(";")): int(weight) for stack, weight in lines})
    return result


def of_json_report(path):
    result = {}
    tables = json.loads(sonde("report", "--json", "--children", "-g", "none", "-s", "dso,sym", "--no-inline", "-i", path))
    for table in tables["tables"]:
        for i, event in enumerate(table["events"]):
            own, everything = collections.Counter(), collections.Counter()
            for row in table["entries"]:
                name = tidy(row["keys"]["symbol"][4:])
                name = "[unnamed]" if name.startswith("0x") or "[stale" in name else name
                own[name] += row["self"][i]["period"]
                everything[name] += row.get("children", row["self"])[i]["period"]
            result[event] = Sums(table["totals"][i]["period"], own, everything)
    return {event: s for event, s in result.items() if s.total}


def of_text_report(path):
    """{event: (total, {function: period of its own}, {function: percent of all})}"""
    result, event = {}, None
    text = sonde("report", "--stdio", "--children", "-g", "none", "-s", "sym", "-F", "overhead_children,period,sym",
                 "--no-inline", "--no-group", "-i", path).decode()
    for line in text.splitlines():
        if m := re.match(r"# Samples: \S+\s+of events? '(.*)'", line):
            event = m[1]
        elif m := re.match(r"# Event count \(approx\.\): (\d+)", line):
            result[event] = (int(m[1]), collections.Counter(), {})
        elif m := re.match(r"\s+(?:([\d.]+)%|N/A)\s+(\d+)\s+\[.\] (.*?)\s*$", line):
            name = tidy(m[3])
            result[event][1]["[unnamed]" if name.startswith("0x") or "[stale" in name else name] += int(m[2])
            if m[1]:
                result[event][2][name] = float(m[1])
    return {event: s for event, s in result.items() if s[0]}


def of_callgrind(path, scratch, comms):
    file = os.path.join(scratch, "callgrind.out")
    sonde("export", "callgrind", "-o", file, path)
    with open(file, encoding="utf-8") as f:
        events = re.search(r"^events: (.*)$", f.read(), re.M)[1].split()
    parts = {}
    for kind in ("no", "yes"):
        r = subprocess.run(["callgrind_annotate", "--threshold=100", f"--inclusive={kind}", "--auto=no", file],
                           capture_output=True, text=True, check=False)
        report.check("callgrind_annotate: status", r.returncode == 0, r.stderr)
        totals, functions = None, [collections.Counter() for _ in events]
        for line in r.stdout.splitlines():
            cell = r"\s*(?:([\d,]+) \([\s\d.]+%\)|(\.)|(0))"
            m = re.match(cell * len(events) + r"\s+(\S.*)$", line)
            if not m:
                continue
            values = [int((m[1 + 3 * i] or "0").replace(",", "")) for i in range(len(events))]
            name = m[1 + 3 * len(events)]
            if name == "PROGRAM TOTALS":
                totals = values
            elif (function := re.match(r"[^:]*:(.*?)(?: \[.*\])?$", name)) and function[1] not in comms:
                for i, value in enumerate(values):
                    functions[i][tidy(function[1])] += value
        parts[kind] = totals, functions
    return {event: Sums(parts["no"][0][i], parts["no"][1][i], parts["yes"][1][i]) for i, event in enumerate(events)}


def of_go_pprof(path, event, unit, scratch):
    file = os.path.join(scratch, "pprof.pb.gz")
    sonde("export", "pprof", "-e", event, "-o", file, path)
    r = subprocess.run(["go", "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=1000000", f"-unit={unit}", file],
                       capture_output=True, text=True, check=False)
    own, everything = collections.Counter(), collections.Counter()
    for flat, cum, name in re.findall(r"^\s*(\d+)\S*\s+[\d.]+%\s+[\d.]+%\s+(\d+)\S*\s+[\d.]+%\s+(.+)$", r.stdout, re.M):
        own[tidy(name)] += int(flat)
        everything[tidy(name)] += int(cum)
    total = re.search(r"of (\d+)\S* total", r.stdout)
    return Sums(int(total[1]) if total else None, own, everything)


def of_sqlite(path, scratch):
    file = os.path.join(scratch, "stacks.db")
    sonde("export", "sqlite", "-o", file, path)
    db, result = sqlite3.connect(file), {}
    for event, total in db.execute("SELECT text, period FROM events JOIN strings ON strings.id = events.name"):
        own, everything = collections.Counter(), collections.Counter()
        for name, self_period, total_period in db.execute(
                "SELECT function, self_period, total_period FROM flat WHERE event = ?", (event,)):
            own[tidy(name)] += self_period
            everything[tidy(name)] += total_period
        result[event] = Sums(total, own, everything)
        rows = db.execute("SELECT sum(rows.period), sum(rows.samples) FROM rows JOIN events ON events.id = rows.event"
                          " JOIN strings ON strings.id = events.name WHERE text = ?", (event,)).fetchone()
        single = db.execute("SELECT sum(samples.period), count(*) FROM samples JOIN rows ON rows.id = samples.row"
                            " JOIN events ON events.id = rows.event JOIN strings ON strings.id = events.name"
                            " WHERE text = ?", (event,)).fetchone()
        report.check(f"sqlite of {path}, {event}: the rows' and the single samples' sums", rows == single and
                     rows[0] == total, f"{rows} {single} {total}")
    report.check("sqlite: the database is sound", db.execute("PRAGMA integrity_check").fetchone() == ("ok",) and
                 not db.execute("PRAGMA foreign_key_check").fetchall(), path)
    db.close()
    return result


# --- all of them ---

def compare(path, scratch, tools):
    name = os.path.basename(path)
    want = of_folded(path)
    comms = {stack.split(";")[0] for stack in sonde("export", "folded", path).decode().splitlines()}
    report.check(f"{name}: has samples", want, "none")
    for event, sums in of_json_report(path).items():
        check(f"{name}, {event}: report --json", sums, want[event], by_name=True)
    for event, (total, own, percents) in of_text_report(path).items():
        report.check(f"{name}, {event}: report --stdio, total", total == want[event].total, f"{total}")
        report.check(f"{name}, {event}: report --stdio, in themselves",
                     top(named(own)) == top(named(want[event].own)), f"{own} {want[event].own}")
        for n, function in top(named(want[event].all) if percents else {}):
            report.check(f"{name}, {event}: report --stdio, all of {function}",
                         percents.get(function) == float(f"{100 * n / total:.2f}"), f"{percents} {n}")
    profile = formats.Pprof(sonde("export", "pprof", path))
    for kind, sums in (("pprof", profile.stacks()), ("speedscope", formats.speedscope(sonde("export", "speedscope", path)))):
        report.check(f"{name}: {kind}: events", sums.keys() == want.keys(), f"{list(sums)} {list(want)}")
        for event in want:
            check(f"{name}, {event}: {kind}", sum_up(sums[event]), want[event])
    if "sqlite" in tools:
        for event, sums in of_sqlite(path, scratch).items():
            check(f"{name}, {event}: sqlite", sums, want[event])
    if "go" in tools:
        for event, unit in profile.types[1::2]:
            if event in want:
                check(f"{name}, {event}: go tool pprof", of_go_pprof(path, event, unit, scratch), want[event])
    if "callgrind_annotate" in tools:
        for event, sums in of_callgrind(path, scratch, comms).items():
            check(f"{name}, {event}: callgrind_annotate", sums, want[event])


# --- what is seen in a browser: sonde's own page, and speedscope's ---

def browse(script, files):
    """What a script of web/test tells of each file."""
    r = subprocess.run(["node", f"test/{script}", *files], cwd=WEB, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1800,
                       check=False)
    report.check(script, r.returncode == 0, r.stderr[-1000:])
    return [json.loads(line) for line in r.stdout.splitlines()]


def worded(text):
    """(value, how far it may be off) of a figure as speedscope words it: "129.00ms (11%)"."""
    m = re.match(r"([\d.,]+)(ns|[µμ]s|ms|s|)(?: |$)", text)
    assert m, text
    number = m[1].replace(",", "")
    scale = {"": 1, "ns": 1, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}[m[2]]
    return float(number) * scale, 0.51 * scale * 10.0 ** -len(number.partition(".")[2])


def in_browser(paths, scratch):
    def exported(path, command, suffix):
        file = os.path.join(scratch, os.path.basename(path) + suffix)
        sonde(*command, "-o", file, path)
        return file

    for path, shown in zip(paths, browse("figures.mjs", [exported(p, ["view", "-q"], ".html") for p in paths])):
        for event, want in of_folded(path).items():
            own, everything, objects = collections.Counter(), {}, collections.Counter()
            for name, _, self_period, total_period in shown.get(event, []):
                own[tidy(name)] += self_period
                everything[tidy(name)] = total_period
                objects[tidy(name)] += 1
            what = f"{os.path.basename(path)}, {event}: the page"
            report.check(f"{what}: total", sum(own.values()) == want.total, f"{sum(own.values())} {want.total}")
            report.check(f"{what}: in themselves", top(own) == top(want.own), f"{top(own)} {top(want.own)}")
            for n, name in top(want.all):  # one name in two objects is two functions there
                report.check(f"{what}: all of {name}", objects[name] > 1 or everything.get(name) == n, f"{everything.get(name)} {n}")
    for path, shown in zip(paths, browse("speedscope.mjs", [exported(p, ["export", "speedscope", "-q"], ".speedscope.json") for p in paths])):
        want = next(iter(of_folded(path).values()))  # it shows the first event
        seen = {tidy(name): (worded(own), worded(everything)) for name, own, everything in shown}
        for part, counts in enumerate((want.own, want.all)):
            for n, name in top(counts)[:len(shown) - 1]:
                value, off = seen.get(name, ((0, 0), (0, 0)))[part]
                report.check(f"{os.path.basename(path)}: speedscope's page, {('own', 'all')[part]} of {name}", abs(value - n) <= off,
                             f"{value} {n}")


def made_recordings(scratch):
    """Deep recursion, of one function and of two in turn; and frames in a file that is not the one that ran."""
    if support.run(["sh", "-c", "command -v nm && command -v readelf"]).status:
        print("SKIP deep recursion and stale frames: nm or readelf is absent")
        return []
    functions = made.functions(SONDE)
    names = [n for n in ("noploop", "leafloop", "sqrtloop", "leaf") if n in functions]
    if len(names) < 3:
        print("SKIP deep recursion and stale frames: sonde has no symbols")
        return []
    a, b, c = (functions[n] + 4 for n in names[:3])  # as return addresses: after a call
    stacks = [[a] * 300 + [c], [a, b] * 200 + [c], [b] + [a] * 5 + [b, c], [c], [c, a, c], [c, a, b, a], [a]]
    files = []
    for name, build_id in (("recursion", b""), ("stale", bytes(range(20)))):
        files.append(os.path.join(scratch, name + ".data"))
        with open(files[-1], "wb") as f:
            f.write(made.recording(SONDE, stacks, build_id))
    said = support.run([SONDE, "export", "folded", files[1]])
    report.check("stale frames", b"[stale " in said.out, said)
    return files


def main():
    tools = [t for t in ("go", "callgrind_annotate") if not formats.need(t)]
    if "libsqlite3: [ on" in " ".join(support.run([SONDE, "version", "--build-options"]).out.decode().split()):
        tools.append("sqlite")
    else:
        print("SKIP sqlite: sonde was built without it")
    for absent in {"go", "callgrind_annotate"} - set(tools):
        print(f"SKIP what {absent} reads: it is absent")
    with tempfile.TemporaryDirectory() as scratch:
        paths = [os.path.join(RECORDINGS, f) for f in sorted(os.listdir(RECORDINGS)) if f.endswith(".data")]
        paths = [p for p in paths + made_recordings(scratch) if os.path.basename(p) != "faults.data"]  # which has no samples
        for path in paths:
            compare(path, scratch, tools)
        packages = subprocess.run([sys.executable, os.path.join(HERE, "web", "page_test.py"), WEB, "--packages"], capture_output=True,
                                  text=True, check=False)
        if packages.returncode == 0:
            in_browser(paths, scratch)
        else:
            print(packages.stdout.strip())
            report.check("packages of the page's tests", os.environ.get("CI") != "true", packages.stdout)
    report.finish()


main()
