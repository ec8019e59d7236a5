#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every fixture against the manifest that its generator wrote: fixtures_test.py SONDE FIXTURES

`report --stats --json` gives the counts and the exit status, `script` a line for each sample, evlist the events.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
NUMBERS = ["samples", "period_sum", "callchain_entries", "branch_entries", "user_stack_samples", "raw_samples", "lost",
           "lost_samples"]
TIMES = ["first_time_ns", "last_time_ns"]


def sonde(path, *command):
    return support.run([SONDE] + list(command) + ["-i", os.path.join(FIXTURES, path)])


def differences(row, found, at_least):
    wrong = []

    def compare(key, got, want):
        if got != want and not (at_least and (got or 0) >= (want or 0)):
            wrong.append(f"{key} {got}, not {want}")

    for key in NUMBERS:
        compare(key, found.get(key), int(row[key]))
    compare("bad_records", found["losses"]["bad_records"], int(row["bad_records"]))
    if not at_least:
        for key in TIMES:
            compare(key, found.get(key), None if row[key] == "-" else int(row[key]))
    want = support.counts_by_type(row["records"])
    for name in sorted(set(found["records"]) | set(want)):
        compare(name, found["records"].get(name, 0), want.get(name, 0))
    return "; ".join(wrong)


def check(row):
    verdict = set(row["verdict"].strip(",").split(",")) - {""}
    r = sonde(row["file"], "report", "--stats", "--json")
    if r.status != int(row["exit"]):
        return f"status {r.status}, not {row['exit']}: {r.err[:300]}"
    lines = r.err.strip().split("\n") if r.err.strip() else []
    if r.status == 1 and not lines:
        return "status 1 without a message"
    if "unreadable" in verdict:
        return None if len(lines) == 1 and not r.out else f"{len(lines)} lines of message, {len(r.out)} bytes of output"
    if "cut" in verdict and not any(w in r.err for w in ("cut", "ends within", "not finished")):
        return f"nobody says that it is cut: {r.err[:300]}"
    lost = int(row["lost"]) or int(row["lost_samples"])  # what the recorder lost is said, and is no error
    if r.status == 0 and "cut" not in verdict and len(lines) > (1 if lost else 0):
        return f"a sound recording, and a message: {r.err[:300]}"
    wrong = differences(row, json.loads(r.out), "at-least" in verdict)
    if wrong:
        return wrong
    if r.status == 0 and not verdict:
        return check_views(row)
    return None


def check_views(row):
    """The other readers agree about a sound recording."""
    if not SCRIPT:
        return None
    r = sonde(row["file"], "script", "-F", "event,ip" if "samples/" not in row["file"] else "event", "-G")
    shown = [line for line in r.out.splitlines() if b"trace error" not in line]  # of AUXTRACE_ERROR records
    if r.status != 0 or len(shown) != int(row["samples"]):
        return f"script: status {r.status}, {len(shown)} lines, not {row['samples']}: {r.err[:300]}"
    if not EVLIST:
        return None
    r = sonde(row["file"], "evlist")
    names = r.out.decode().splitlines()
    if r.status != 0 or "cpu-clock" not in names[0]:
        return f"evlist: status {r.status}, {names}: {r.err[:300]}"
    return None


def available(command):
    r = sonde("demo.data", command)
    return "not there yet" not in r.err and "is not a" not in r.err


SCRIPT, EVLIST = available("script"), available("evlist")


def main():
    report = support.Report("fixtures")
    for row, wrong in support.parallel(check, support.share(support.read_table(os.path.join(FIXTURES, "manifest.tsv")))):
        report.check(row["file"], wrong is None, str(wrong))
    report.finish()


main()
