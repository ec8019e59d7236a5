#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report`, as far as it is there: report_test.py SONDE FIXTURES

The dump shows every record of every sound fixture once, with all its bytes; tasks and maps are there; every option of
perf's is taken, or says that it is not there yet.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
USAGE_EXIT = 129
# What perf report takes.
PERFS_OPTIONS = ["--stdio", "-g", "-gcaller", "-g none", "--no-children", "-s comm,dso", "--sort=sym", "-F overhead", "-n",
                 "--percent-limit 1", "-c a", "-d b", "-S c", "-C 0", "--pid 1", "--tid 2", "-t,", "-w 3", "-q -f", "-v",
                 "--symfs /nowhere", "-k /nowhere", "--kallsyms /nowhere", "--itrace", "--itrace=i", "-G", "-T", "-U",
                 "--max-stack 3", "--group", "--inline", "--no-inline", "--header", "--tui", "--hierarchy", "a_symbol"]


def path_of(name):
    return os.path.join(FIXTURES, name)


def sonde(*args, **more):
    return support.run([SONDE, "report"] + list(args), **more)


def blocks(text):
    """The bytes of the records in a dump, in its order."""
    found, now = [], None
    for line in text.splitlines():
        if re.match(rb"0x[0-9a-f]+@|0@", line):
            now = bytearray()
            found.append(now)
        elif re.match(rb"\.  [0-9a-f]{4,8}:  ", line):
            now += bytes.fromhex(line.split(b":", 1)[1][:50].decode())
    return [bytes(b) for b in found]


def check_dump(row):
    """The same records as in the file; the texts stand between."""
    with open(path_of(row["file"]), "rb") as f:
        data = f.read()
    r = sonde("-D", "--disable-order", "-i", path_of(row["file"]))
    if r.status != 0:
        return f"status {r.status}: {r.err[:300]}"
    got, want = blocks(r.out), support.walk(data)
    # What follows an AUXTRACE or HEADER_TRACING_DATA record is no part of it.
    if len(got) != len(want) or any(not w.startswith(g) or len(w) > len(g) and kind not in (66, 71)
                                    for g, (kind, w) in zip(got, want)):
        return f"{len(got)} records, of {len(want)}, or their bytes differ"
    named = re.findall(rb"(?m)^.*\[0x[0-9a-f]+\]: PERF_RECORD_", r.out)
    if len(named) != len(want):
        return f"{len(named)} decoded records, of {len(want)}"
    ordered = sonde("-D", "-i", path_of(row["file"]))
    if sorted(blocks(ordered.out)) != sorted(got):
        return "in time order there are other records"
    return None


def sound(row):
    return row["exit"] == "0" and not row["verdict"] and row["container"] in ("v1", "v2", "pipe", "trailing")


def check_views(report):
    demo = path_of("demo.data")
    r = sonde("--tasks", "-i", demo)
    lines = r.out.decode().splitlines()
    report.check("--tasks", r.status == 0 and lines[:2] == ["#      pid      tid     ppid  comm",
                                                            "         0        0       -1 |swapper"], str(lines[:3]))
    r = sonde("--mmaps", "-i", demo)
    tasks = [line for line in r.out.decode().splitlines() if "|" in line or line.startswith("#")]
    maps = re.findall(r"(?m)^ {33,}[0-9a-f]+-[0-9a-f]+ [r-][w-][x-][sp] [0-9a-f]{8,} ", r.out.decode())
    report.check("--mmaps", r.status == 0 and set(lines) <= set(tasks) and maps, f"{len(tasks)} tasks, {len(maps)} maps")
    head, stats = sonde("--header-only", "-i", demo), sonde("--stats", "-i", demo)
    both = sonde("--stats", "--header", "-i", demo)
    report.check("--header --stats", both.out == head.out + stats.out, "is not one behind the other")
    dump = sonde("-D", "-i", demo)
    report.check("the dump ends in the counts", dump.out.endswith(stats.out), dump.out[-300:])
    report.check("-I shows more", len(sonde("--header-only", "-I", "-i", demo).out) > len(head.out), "no more bytes")


def check_usage(report):
    for args in PERFS_OPTIONS:
        r = sonde(*args.split(), "-i", path_of("demo.data"))
        report.check(f"report {args}", r.status == 0 and r.out or r.status == 1 and not r.out and
                     "not there yet" in r.err, f"status {r.status}: {r.err[:300]}")
    for args in (["--stats", "--tasks"], ["--mmaps", "--stats"], ["--stats", "a", "b"], ["--no-such"]):
        r = sonde(*args, "-i", path_of("demo.data"))
        report.check(f"report {' '.join(args)}", r.status == USAGE_EXIT and not r.out, f"status {r.status}")


def main():
    report = support.Report("report")
    rows = support.share([r for r in support.read_table(path_of("manifest.tsv")) if sound(r)])
    for row, wrong in support.parallel(check_dump, rows):
        report.check(f"-D of {row['file']}", wrong is None, str(wrong))
    check_views(report)
    check_usage(report)
    report.finish()


main()
