#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evlist -v and buildid-list of real recordings against the newest perf's text: golden_text_test.py SONDE

Differences that docs/differences.md gives a rule for stand in golden_text.known, one a line: kind, file, rule.
A file that is listed there and equal fails too, so that the list stays true.
"""
import difflib
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import support

SONDE = sys.argv[1]
CORPUS = support.need_corpus()
_LINK = tempfile.TemporaryDirectory()
PERF = os.path.join(_LINK.name, "perf")  # called so, hints name perf's commands
os.symlink(os.path.abspath(SONDE), PERF)
KINDS = {"evlist": ["evlist", "-v"], "buildids": ["buildid-list"]}


def known_differences():
    known = {}
    with open(os.path.join(HERE, "golden_text.known"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                kind, name, rule = line.split()
                known[kind, name] = rule
    return known


def rules():
    """The rules that docs/differences.md explains: its headings' names in backquotes."""
    path = os.path.join(HERE, "..", "docs", "differences.md")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as f:
        return set(re.findall(r"`([a-z0-9-]+)`", f.read()))


def check(item):
    kind, name = item
    with open(os.path.join(CORPUS, "golden", f"{name}.{kind}.txt"), "rb") as f:
        want = f.read()
    got = support.run([PERF] + KINDS[kind] + ["-f", "-i", os.path.join(CORPUS, name + ".data")])
    if got.out == want:
        return None
    diff = difflib.unified_diff(want.decode("utf-8", "replace").splitlines(), got.out.decode("utf-8", "replace").splitlines(),
                                "perf", "sonde", lineterm="", n=0)
    return "\n".join(line[:400] for line in list(diff)[:8]) or "only line ends differ"


def main():
    report, known, explained = support.Report("golden texts"), known_differences(), rules()
    items = [(m.group(2), m.group(1)) for m in (re.fullmatch(r"([0-9a-f]+)\.(evlist|buildids)\.txt", n)
                                                for n in sorted(os.listdir(os.path.join(CORPUS, "golden")))) if m]
    for (kind, name), wrong in support.parallel(check, items):
        rule = known.pop((kind, name), None)
        if rule and wrong is None:
            report.bad(f"{kind} of {name}", "is equal now: take it out of golden_text.known")
        elif rule and rule not in explained:
            report.bad(f"{kind} of {name}", f"docs/differences.md has no rule `{rule}`")
        elif rule:
            report.good(f"{kind} different by rule {rule}")
        elif wrong is None:
            report.good(f"{kind} equal")
        else:
            report.bad(f"{kind} of {name}", wrong)
    for kind, name in known:
        report.bad(f"{kind} of {name}", "is in golden_text.known, but there is no such text")
    report.finish(shown=200)


main()
