#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The counts of real recordings against what an independent analyser found in them: corpus_test.py SONDE

The folder is not part of the project: $SONDE_CORPUS, or ../shared/corpus beside the checkout; without it: SKIP.
Prints a table of the files that differ, and one line of counts.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE = sys.argv[1]
CORPUS = support.need_corpus()

NUMBERS = ["samples", "period_sum", "callchain_entries", "branch_entries", "user_stack_samples", "raw_samples", "lost",
           "lost_samples", "guest_samples", "first_time_ns", "last_time_ns"]

# The analyser numbers simpleperf's types from 32769 on as if they began at 32768: its names are one off.
SIMPLEPERF = {
    "SP_DSO": "SP_KERNEL_SYMBOL", "SP_SYMBOL": "SP_DSO", "SP_SPLIT": "SP_SYMBOL", "SP_SPLIT_END": "SP_SPLIT",
    "SP_EVENT_ID": "SP_SPLIT_END", "SP_UNWINDING_RESULT": "SP_CALLCHAIN", "SP_TRACING_DATA": "SP_UNWINDING_RESULT",
    "SP_DEBUG_UNWIND": "SP_TRACING_DATA",
}
# The old ChromeOS pipes' own records, GLEGACY_HOSTNAME there, are LEGACY_HOSTNAME here.


def stats(path):
    r = support.run([SONDE, "report", "-f", "--stats", "--json", "-i", path])
    found = json.loads(r.out) if r.out.strip() else None
    return r, found


def differences(row, found):
    """What is not equal, as text."""
    want_types = {SIMPLEPERF.get(k, k).replace("GLEGACY_", "LEGACY_"): v for k, v in support.counts_by_type(row["records"]).items()}
    wrong = []
    for key in NUMBERS:
        want = None if row[key] == "-" else int(row[key])
        if found.get(key) != want:
            wrong.append(f"{key} {found.get(key)}, not {want}")
    types = found["records"]
    for name in sorted(set(types) | set(want_types)):
        if types.get(name, 0) != want_types.get(name, 0):
            wrong.append(f"{name} {types.get(name, 0)}, not {want_types.get(name, 0)}")
    return "; ".join(wrong)


def check_damaged(row, r, found):
    """A damaged file or a fuzzer's: it says so, and what the analyser read is there at least."""
    if r.status != 1 and "trailing" not in row["analyser_errors"]:
        return f"status {r.status}, of a damaged file"
    if not r.err.strip():
        return "no message"
    if row["samples"] != "0" and not found:
        return "nothing is shown"
    if found and found["samples"] < int(row["samples"]):
        return f"{found['samples']} samples, not {row['samples']} at least"
    return None


def check(row):
    r, found = stats(os.path.join(CORPUS, row["file"]))
    if row["analyser_errors"] != "-":
        return check_damaged(row, r, found)
    if r.status != 0:
        return f"status {r.status}: {r.err[:200]}"
    if not found:
        return "no output"
    return differences(row, found) or None


def main():
    report = support.Report("real recordings")
    for row, wrong in support.parallel(check, support.read_table(os.path.join(CORPUS, "expected.tsv"))):
        damaged = row["analyser_errors"] != "-"
        if wrong is None:
            report.good("damaged ones handled" if damaged else "equal")
        else:
            report.bad(f"{row['file']} ({row['format']}, {row['endian']}, {row['producer']})", wrong)
    report.finish(shown=200)


main()
