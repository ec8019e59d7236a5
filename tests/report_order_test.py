#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows and branches of equal periods stand in an order that follows from what they are: report_order_test.py SONDE

The same processes, maps and samples in other orders make the same text, on one thread and on several, whatever is asked for;
and the order is that of rule `order-of-equals` of docs/differences.md: callers before callees, then the keys' texts, then image
and offset.
"""
import json
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata
import support

SONDE = sys.argv[1]
FOLDER = tempfile.TemporaryDirectory()
KERNEL = 0xffffffff81000000
SYMBOLS = ["_text", "entry", "do_read", "copy", "copy", "lock"]  # of 4 KiB each; two functions of one name
PROGRAMS = [("cc1", "/bin/cc1"), ("ld", "/bin/ld"), ("awk", "/bin/awk"), ("make", "/bin/make")]
LIBRARIES = [("/lib/libz.so", 0x7f0000000000), ("/lib/libc.so", 0x7e0000000000)]
OPTIONS = [
    "--no-children -g none",
    "--children",
    "--children -g callee",
    "--no-children -g caller",
    "--no-children -g callee,0",
    "--no-children -g caller,address,0",
    "--no-children -g folded,0",
    "--no-children -g flat,0",
    "--hierarchy --no-children -g none",
    "--hierarchy -s sym,dso,comm --no-children",
    "-s sym --no-children -g none",
    "-s sym -g caller,0",
    "-s dso --no-children",
    "-s symoff,cpu",
    "-s addr",
    "-F sym,overhead --no-children -g none",
]


def make_recording(seed):
    """The same whatever the seed, but for when it was."""
    rnd = random.Random(seed)
    rec = perfdata.Recording(perfdata.IP | perfdata.TID | perfdata.TIME | perfdata.CPU | perfdata.PERIOD | perfdata.CALLCHAIN)
    rec.kernel(KERNEL, 0x100000)
    pids = list(enumerate(PROGRAMS, 100))
    rnd.shuffle(pids)
    for pid, (comm, path) in pids:
        rec.comm(pid, comm)
        maps = [*LIBRARIES, (path, 0x400000)]
        rnd.shuffle(maps)
        for name, start in maps:
            rec.map(pid, start, 0x10000, 0, name)
    samples = []
    for pid, _ in pids:
        for depth in range(3):
            outer = [0x400100 + 8 * i for i in range(depth)][::-1]
            for leaf in [0x400800, 0x7f0000000010, 0x7e0000000010, 0x7e0000000020, 0x600000000000]:
                samples.append((pid, leaf, [perfdata.CONTEXT_USER, leaf, *outer, 0x400100], perfdata.USER))
            for leaf in [KERNEL + 0x3010, KERNEL + 0x4010, KERNEL + 0x5010, KERNEL + 0xf010]:
                chain = [perfdata.CONTEXT_KERNEL, leaf, KERNEL + 0x1008, perfdata.CONTEXT_USER, *outer, 0x400100]
                samples.append((pid, leaf, chain, perfdata.KERNEL))
    rnd.shuffle(samples)
    for pid, ip, chain, misc in samples:
        rec.sample(pid, ip, chain, misc=misc)
    return rec


def answer(path, options, threads=1):
    r = support.run([SONDE, "report", "-f", "--stdio", "--kallsyms", os.path.join(FOLDER.name, "kallsyms"), *options.split(),
                     "--threads", str(threads), "-i", path])
    return r.status, r.out.decode()


def key_of(entry):
    """As the rule has it, for the keys comm, dso and symbol: names of functions first, then addresses."""
    keys = entry["keys"]
    symbol = keys["symbol"].split(" ", 1)[1]
    address = re.fullmatch(r"0x[0-9a-f]+", symbol)
    return keys["comm"], (keys["dso"] == "[unknown]", keys["dso"]), address is not None, int(symbol, 16) if address else symbol


def check_rows(report, path):
    entries = json.loads(answer(path, "--no-children -g none --json")[1])["tables"][0]["entries"]
    wanted = sorted(entries, key=lambda e: (-e["self"][0]["period"], *key_of(e)))
    report.check("rows by period, then by their texts", entries == wanted, f"{[key_of(e) for e in entries]}")
    equals = sum(a["self"] == b["self"] for a, b in zip(entries, entries[1:]))
    report.check("there are equals", equals > 10, f"{equals}")


def branches(graph):
    """Lists of branches beside each other."""
    yield graph
    for branch in graph:
        yield from branches(branch.get("graph", []))


def check_graphs(report, path):
    entries = json.loads(answer(path, "--children -g caller,0 --json")[1])["tables"][0]["entries"]
    lists = [x for e in entries for x in branches(e.get("graph", []))]
    by_text = lambda frame: (frame.startswith("0x"), int(frame, 16) if frame.startswith("0x") else frame)
    wrong = [x for x in lists if x != sorted(x, key=lambda b: (-b["period"], *by_text(b["frames"][0])))]
    report.check("branches by period, then by their texts", not wrong, f"{wrong[:1]}")
    equals = sum(a["period"] == b["period"] for x in lists for a, b in zip(x, x[1:]))
    report.check("there are equal branches", equals > 10, f"{equals}")


def check_order(item):
    options, paths = item
    first = answer(paths[0], options)
    for path in paths:
        for threads in (1, 3):
            other = answer(path, options, threads)
            if other != first:
                lines = list(zip(first[1].splitlines(), other[1].splitlines()))
                return f"{os.path.basename(path)} on {threads}: {next((x for x in lines if x[0] != x[1]), other[0])}"
    return None if first[0] == 0 else f"status {first[0]}"


def main():
    with open(os.path.join(FOLDER.name, "kallsyms"), "w", encoding="ascii") as f:
        f.writelines(f"{KERNEL + i * 0x1000:x} T {name}\n" for i, name in enumerate(SYMBOLS))
    paths = [os.path.join(FOLDER.name, f"{seed}.data") for seed in range(4)]
    for seed, path in enumerate(paths):
        make_recording(seed).write(path)
    report = support.Report("order of equals")
    check_rows(report, paths[0])
    check_graphs(report, paths[0])
    for (options, _), wrong in support.parallel(check_order, [(o, paths) for o in OPTIONS]):
        report.check(f"report {options}: the same in any order", wrong is None, str(wrong))
    report.finish()


main()
