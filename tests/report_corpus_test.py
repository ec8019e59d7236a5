#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The profiles of real recordings: report_corpus_test.py SONDE

Whatever a recording holds, report answers; what it counts adds up (every sample read is shown, filtered or dropped; the
rows' sums are the table's); call graphs change no row; filters only take away. Where the corpus has texts of the newest
perf for report (golden/ID.report.txt.xz, made with --no-children -g none and no symbols) they must be equal.
"""
import atexit
import json
import lzma
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE = sys.argv[1]
CORPUS = support.need_corpus()
EMPTY = tempfile.mkdtemp(prefix="sonde-report-")
atexit.register(shutil.rmtree, EMPTY, ignore_errors=True)
NO_NAMES = ["--symfs", EMPTY, "--kallsyms", "/dev/null"]
LIMIT_BYTES = 8 << 20  # larger recordings take more time than they tell


def sonde(name, *args):
    return support.run([SONDE, "report", "-f", *NO_NAMES, *args, "-i", os.path.join(CORPUS, name)])


def sums(entries, what):
    return [sum(e[what][m]["period"] for e in entries) for m in range(len(entries[0][what]))] if entries else []


def check_table(table):
    total = table["totals"]
    samples = sum(t["samples"] for t in total)
    if table["read"] < samples:
        return f"{samples} samples shown of {table['read']} read"
    shown = sums(table["entries"], "self")
    if table["entries"] and shown != [t["period"] for t in total]:
        return f"the rows' periods are {shown}, the table's {[t['period'] for t in total]}"
    return None


def check(name):
    r = sonde(name, "--json", "--no-children", "-g", "none")
    if not r.out:
        return None if r.status == 1 and r.err else f"status {r.status} and no word"
    data = json.loads(r.out)
    for table in data["tables"]:
        wrong = check_table(table)
        if wrong:
            return f"{table['events']}: {wrong}"
    rows = [[e["keys"] for e in t["entries"]] for t in data["tables"]]
    graphs = json.loads(sonde(name, "--json", "--no-children").out)
    if [[e["keys"] for e in t["entries"]] for t in graphs["tables"]] != rows:
        return "with call graphs there are other rows"
    few = json.loads(sonde(name, "--json", "--no-children", "-g", "none", "-c", "perf").out)
    if any(t["read"] != u["read"] or len(t["entries"]) > len(u["entries"])
           for t, u in zip(few["tables"], data["tables"])):
        return "-c reads or shows more"
    return None


def check_golden(report, name):
    path = os.path.join(CORPUS, "golden", name.split(".")[0] + ".report.txt.xz")
    if not os.path.exists(path):
        return False
    with lzma.open(path) as f:
        want = [line for line in f.read().split(b"\n") if not line.startswith(b"# (Tip: ")]
    got = [line for line in sonde(name, "--no-children", "-g", "none").out.split(b"\n") if not line.startswith(b"# (Tip: ")]
    at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b), min(len(want), len(got)))
    report.check(f"text of {name}", want == got, f"line {at + 1}: {got[at:at + 1]}, perf {want[at:at + 1]}")
    return True


def main():
    report = support.Report("report of real recordings")
    names = [n for n in sorted(os.listdir(CORPUS)) if n.endswith(".data") and
             os.path.getsize(os.path.join(CORPUS, n)) <= LIMIT_BYTES]
    for name, wrong in support.parallel(check, names):
        report.check(f"profile of {name}", wrong is None, str(wrong))
    if not sum(check_golden(report, name) for name in names):
        print("SKIP texts of report: the corpus has none (golden/*.report.txt.xz)")
    report.finish()


main()
