#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `stat` prints with two releases of perf, by shape: numbers are masked, widths are not.

stat_equal.py SONDE PERF7 [PERF6] [-v]

PERF7 and PERF6 are the programs to compare with (perf 7.x and 6.x). Where perf 7 does not print something that 6 does,
or prints nonsense, docs/differences.md says what stat prints; those rules are applied to perf's output here, each by its
name, and counted. Prints a table: how many invocations are equal, equal but for rules, different.
"""
import collections
import json
import os
import re
import subprocess
import sys

SLEEP = ["sleep", "0.02"]
EVENTS = "task-clock,cs,page-faults"
# Options of stat, and the command behind.
CASES = [
    ([], ["true"]), (["-x,"], ["true"]), (["-j"], ["true"]), (["-r", "2"], ["true"]), (["-r", "3", "--table"], ["true"]),
    (["-r", "2", "-x,"], ["true"]), (["-r", "2", "-j"], ["true"]), (["-d"], ["true"]), (["-ddd"], ["true"]),
    (["-e", EVENTS], ["true"]), (["-e", EVENTS, "-x,"], ["true"]), (["-e", EVENTS, "-j"], ["true"]),
    (["-e", EVENTS, "-x", ";"], ["true"]), (["-e", EVENTS, "-x", "\\t"], ["true"]),
    (["-e", "cycles,instructions,cs"], ["true"]), (["-e", "cs"], ["true"]), (["-e", "r1a8,cs"], ["true"]),
    (["-e", "task-clock:u,page-faults:k"], ["true"]), (["-e", "{cs,page-faults}"], ["true"]),
    (["-e", "{cs,page-faults}:W"], ["true"]), (["-e", "sched:sched_switch"], ["true"]),
    (["-e", "duration_time"], ["true"]), (["-e", "duration_time,user_time,system_time"], ["true"]),
    (["-e", "duration_time,cs", "-x,"], ["true"]), (["-e", "cpu-clock,dummy,minor-faults,major-faults"], ["true"]),
    (["-e", "L1-dcache-loads,cs"], ["true"]), (["-e", "cs", "-e", "faults"], ["true"]),
    (["--null"], ["true"]), (["--null", "-r", "3"], ["true"]), (["-i", "-e", EVENTS], ["true"]),
    (["--no-big-num", "-e", EVENTS], ["true"]), (["-B", "-e", EVENTS], ["true"]), (["--no-scale", "-e", EVENTS], ["true"]),
    (["-D", "5", "-e", EVENTS], SLEEP), (["--timeout", "100", "-e", EVENTS], ["sleep", "5"]),
    (["-S", "-e", "cs"], ["true"]), (["--all-user", "-e", "page-faults"], ["true"]),
    (["-a"], SLEEP), (["-a", "-x,"], SLEEP), (["-a", "-j"], SLEEP), (["-a", "-A"], SLEEP), (["-a", "-e", EVENTS], SLEEP),
    (["-a", "-A", "-e", EVENTS], SLEEP), (["-a", "-A", "-e", EVENTS, "-x,"], SLEEP),
    (["-a", "-A", "-e", EVENTS, "-j"], SLEEP), (["-C", "0", "-e", EVENTS], SLEEP), (["-C", "0-1", "-A", "-e", "cs"], SLEEP),
    *[(["-a", "--per-" + level, "-e", EVENTS, *form], SLEEP) for level in ("core", "socket", "die", "node")
      for form in ([], ["-x,"], ["-j"])],
    (["-a", "--per-cluster", "-e", EVENTS], SLEEP), (["-a", "--per-cache", "-e", EVENTS], SLEEP),
    (["-a", "--per-core"], SLEEP), (["-a", "--per-socket"], SLEEP),
    (["-I", "100", "-e", EVENTS], ["sleep", "0.25"]), (["-I", "100", "-e", EVENTS, "-x,"], ["sleep", "0.25"]),
    (["-I", "100", "-e", EVENTS, "-j"], ["sleep", "0.25"]), (["-I", "100"], ["sleep", "0.25"]),
    (["-a", "-I", "100", "--interval-count", "2", "-e", EVENTS], ["sleep", "5"]),
    (["-a", "-A", "-I", "100", "--interval-count", "1", "-e", EVENTS], ["sleep", "5"]),
    (["-a", "--per-core", "-I", "100", "--interval-count", "1", "-e", EVENTS], ["sleep", "5"]),
    (["-a", "--per-node", "-I", "100", "--interval-count", "1", "-e", EVENTS], ["sleep", "5"]),
    (["-I", "100", "--summary", "-e", EVENTS], ["sleep", "0.15"]),
    (["-I", "100", "--summary", "-x,", "-e", EVENTS], ["sleep", "0.15"]),
    (["-I", "100", "--summary", "-j", "-e", EVENTS], ["sleep", "0.15"]),
    (["-I", "100", "--summary", "-x,", "--no-csv-summary", "-e", EVENTS], ["sleep", "0.15"]),
    (["-p", "PID", "--timeout", "100", "-e", EVENTS], []), (["-t", "PID", "--timeout", "100", "-e", EVENTS], []),
    (["-p", "PID", "--per-thread", "--timeout", "100", "-e", EVENTS], []),
    (["-p", "PID", "--per-thread", "--timeout", "100", "-e", EVENTS, "-x,"], []),
    (["-p", "PID", "--per-thread", "--timeout", "100", "-e", EVENTS, "-j"], []),
    (["-p", "PID", "-I", "100", "--interval-count", "1", "-e", EVENTS], []),
    (["-a", "-e", "cs", "-G", "/"], SLEEP), (["-a", "--for-each-cgroup", "/", "-e", "cs,task-clock"], SLEEP),
    (["-o", "OUT", "-e", EVENTS], ["true"]), (["-o", "OUT", "-x,", "-e", EVENTS], ["true"]),
    (["-M", "cs_per_second"], ["true"]), (["-M", "cs_per_second", "-x,"], ["true"]), (["-M", "cs_per_second", "-j"], ["true"]),
    (["-M", "page_faults_per_second", "--metric-only"], ["true"]),
    (["--quiet", "-e", EVENTS], ["true"]), (["-e", EVENTS], ["sh", "-c", "exit 3"]),
]
NUMBER = re.compile(r"(?<![\w-])[+-]?\d[\d,]*(?:\.\d+)?")


def run(program, options, command, pid):
    """What it prints, and its status."""
    out = "/tmp/stat_equal.out"
    if os.path.exists(out):
        os.unlink(out)
    args = [a.replace("PID", str(pid)).replace("OUT", out) for a in options]
    env = {k: v for k, v in os.environ.items() if not k.startswith("LC_") and k != "LANG"}
    r = subprocess.run([program, "stat", *args, *(["--"] + command if command else [])], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=60)
    text = r.stderr.decode()
    if os.path.exists(out):
        with open(out, encoding="utf-8") as f:
            text += f.read()
    return text, r.returncode


def masked(text):
    """Numbers become 9, right-aligned where they were, so that what is compared is columns."""
    text = re.sub(r"^# started on .*", "# started on", text)
    text = re.sub(r"<not counted>", lambda m: "9".rjust(len(m.group())), text)
    text = re.sub(r" +" + NUMBER.pattern, lambda m: "9".rjust(len(m.group())), text)
    return NUMBER.sub("9", text)


class Row:
    """A line, taken apart: what stands before the metric, the metric, how much runs differ."""

    def __init__(self, line, form):
        self.metric, self.noise, self.head = "", False, line.rstrip()
        if form == "json" and line.startswith("{"):
            members = json.loads(line)
            self.metric = str(members.pop("metric-value", "")) + " " + str(members.pop("metric-unit", ""))
            self.head = "{" + ", ".join(members) + "}"
        elif form == "csv" and line.count(SEPARATORS) > 4:
            fields = line.rstrip("\n").split(SEPARATORS)
            self.metric = " ".join(fields[-2:])
            self.head = ",".join(masked(f.replace("<not counted>", "9")) for f in fields[:-2])
        else:
            self.noise = bool(re.search(r"\( \+-.*?%", line)) and "elapsed" not in line
            head, mark, metric = re.sub(r"\s*\( \+-.*?\)$" if self.noise else "$^", "", line).partition("#")
            is_metric = mark and head.strip() and re.match(r" +([\d.,]+|nan)", metric)
            self.metric = metric if is_metric else ""
            self.head = masked((head if is_metric else head + mark + metric).rstrip())
        self.metric = re.sub(r"\b([KMG])/sec", "/sec", re.sub(r"\s+", " ", NUMBER.sub("9", self.metric))).strip()


SEPARATORS = ","


def drop(lines, pattern):
    return [x for x in lines if not re.search(pattern, x)]


def settle_lines(ours, theirs, options, used):
    """Rules about whole lines."""
    if any("_time" in o for o in options):
        if [x for x in theirs if re.search(r"\b0 .*_time|,0,+(user|system)_time", x)] or "duration_time" in options:
            used.add("tool events have values")
        for lines in (ours, theirs):
            lines[:] = [re.sub(r"ns(   |,)(?=.*_time)", lambda m: ("  " if m.group(1) != "," else "") + m.group(1), x) for x in lines]
        if any("system wide" in x for x in theirs) and "-a" not in options:
            used.add("a command is no system wide")
            ours[:] = drop(ours, r" seconds (user|sys)$|Performance counter stats")
            theirs[:] = drop(theirs, "Performance counter stats")
    if "--summary" in options and any("Performance" in x for x in ours) and not any("Performance" in x for x in theirs):
        used.add("--summary has a heading")
        ours[:] = drop(ours, "Performance counter stats")
    if {"--summary", "-e"} <= set(options) or "a command is no system wide" in used:
        ours[:], theirs[:] = [x for x in ours if x.strip()], [x for x in theirs if x.strip()]
    if any(re.search(r"<not counted>.*/", x) for x in theirs) and not any("<not counted>" in x for x in ours):
        used.add("control groups are counted whole")
    if any(re.search(r"/ .*\(\d+\.\d+%\)$", x) for x in theirs):
        used.add("software events are never extrapolated")
        theirs[:] = [re.sub(r" *\(\d+\.\d+%\)$", "", x) for x in theirs]
    if "-r" in options and "--table" in options:
        ours[:], theirs[:] = [re.sub("#{2,}$", "#", x) for x in ours], [re.sub("#{2,}$", "#", x) for x in theirs]


def compare_rows(a, b, old, options, used):
    """Whether two rows are equal, but for rules about metrics."""
    if "--per-thread" in options:
        a.head, b.head = re.sub(r"-9\s+", "-9 ", a.head), re.sub(r"-9\s+", "-9 ", b.head)
    if "--metric-only" in options:
        if a.head != b.head:
            used.add("columns of --metric-only line up")
        a.head, b.head = re.sub(r"\s+", " ", a.head).strip(), re.sub(r"\s+", " ", b.head).strip()
    if a.head != b.head:
        return False
    if a.metric == b.metric:
        return True
    if "nan" in b.metric or re.search("GHz|CPUs_util", b.metric) or ("9" not in b.metric and "  " in b.metric):
        used.add("no metric that is not a number")
        return True
    if not b.metric or b.metric in ("9", "0", " "):
        used.add("rates with -e as in 6.x")
        return not old or not a.metric or any(m.split() == a.metric.split() for m in old)
    # A counter that did not run in one of two runs has no metric.
    return not a.metric


def compare(sonde, seven, six, options):
    """(verdict, rules used)"""
    global SEPARATORS
    form = "json" if "-j" in options else "csv" if any(o.startswith("-x") for o in options) else "text"
    SEPARATORS = {"-x": options[options.index("-x") + 1].replace("\\t", "\t")}.get("-x") if "-x" in options else ","
    used = set()
    ours, theirs = sonde[0].splitlines(), seven[0].splitlines()
    settle_lines(ours, theirs, options, used)
    old = [Row(x, form).metric for x in six[0].splitlines()] if six and six[1] == 0 else None
    same = sonde[1] == seven[1] and len(ours) == len(theirs)
    same = same and all([compare_rows(Row(x, form), Row(y, form), old, options, used) for x, y in zip(ours, theirs)])
    return ("different" if not same else "rules" if used else "equal"), used


def main():
    args = [a for a in sys.argv[1:] if a != "-v"]
    sonde, seven, six = args[0], args[1], args[2] if len(args) > 2 else None
    count, rules = collections.Counter(), collections.Counter()
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        for options, command in CASES:
            got = [run(p, options, command, sleeper.pid) if p else None for p in (sonde, seven, six)]
            verdict, used = compare(*got, options)
            count[verdict] += 1
            rules.update(used)
            if verdict == "different":
                print(f"different: stat {' '.join(options)} -- {' '.join(command)}   status {got[0][1]} {got[1][1]}")
                if "-v" in sys.argv:
                    for name, g in zip(("ours", "perf 7", "perf 6"), got):
                        print(f"--- {name}\n{g[0] if g else ''}")
    finally:
        sleeper.kill()
    print(f"{len(CASES)} invocations: {count['equal']} equal, {count['rules']} equal but for rules, "
          f"{count['different']} different")
    for name, n in rules.most_common():
        print(f"  {n:3} {name}")
    return 1 if count["different"] else 0


sys.exit(main())
