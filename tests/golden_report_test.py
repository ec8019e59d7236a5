#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report` of real recordings against the newest perf's text: golden_report_test.py SONDE

golden_report.sums has a sum of perf's text for each recording and set of options (lib/golden.py; scripts/golden_report.py makes
it). Differences that docs/differences.md gives a rule for stand in golden_report.known, one a line: recording, options,
rule. A text that is listed there and equal fails too, so that the list stays true. At the end stands how many recordings
differ by which rule.
"""
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import golden
import support

SONDE = sys.argv[1]
CORPUS = support.need_corpus()
FOLDER = tempfile.TemporaryDirectory()


def lines_of(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return [line.split() for line in f if line.strip() and not line.startswith("#")]


def explained():
    path = os.path.join(HERE, "..", "docs", "differences.md")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as f:
        return set(re.findall(r"`([a-z0-9-]+)`", f.read()))


def check(item):
    name, options, _ = item
    path = os.path.join(CORPUS, name + ".data")
    got = support.run([SONDE, *golden.arguments(FOLDER.name, golden.REPORTS[options]), "-i", path])
    return golden.digest(options, got.out)


def main():
    report = support.Report("golden texts of report")
    known = {(name, options): rule for name, options, rule in lines_of("golden_report.known")}
    rules, differing = explained(), {}
    items = [x for x in lines_of("golden_report.sums") if os.path.exists(os.path.join(CORPUS, x[0] + ".data"))]
    for (name, options, want), got in support.parallel(check, items):
        rule, what = known.pop((name, options), None), f"{options} of {name}"
        if rule and got == want:
            report.bad(what, "is equal now: take it out of golden_report.known")
        elif rule and rule not in rules:
            report.bad(what, f"docs/differences.md has no rule `{rule}`")
        elif rule:
            report.good(f"different by rule {rule}")
            differing.setdefault(rule, set()).add(name)
        elif got == want:
            report.good(f"{options} equal")
        else:
            report.bad(what, "differs; scripts/compare.py shows where")
    for name, options in known:
        report.bad(f"{options} of {name}", "is in golden_report.known, but there is no such text")
    recordings = {name for name, _, _ in items}
    for rule, names in sorted(differing.items()):
        print(f"{rule}: {len(names)}")
    print(f"{len(set().union(*differing.values()))} of {len(recordings)} recordings differ by a rule")
    report.finish(shown=200)


main()
