#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damage at random: robust_test.py SONDE FIXTURES

Fixtures and, where there are any, real recordings, cut at places and with bits flipped that a fixed seed chooses, go
through the commands in turn. None may crash, hang or make a sanitizer speak; status 0 or 1, and 1 with a message.
Each input is small (its head is taken of larger ones): reaching everything is the fuzzers' task, this is the net.
"""
import itertools
import os
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
COMMANDS = [
    ["report", "--stats"],
    ["report", "-D"],
    ["report", "--tasks"],
    ["report", "--mmaps"],
    ["report", "--header-only", "-I"],
    ["report", "--stats", "--json"],
    ["report", "--stdio"],
    ["report", "--no-children", "-g", "caller", "-s", "pid,comm,dso,sym,cpu,time", "--json"],
    ["evlist", "-v"],
    ["evlist", "-F", "--trace-fields"],
    ["buildid-list"],
    ["buildid-list", "-H"],
    ["script"],
    ["script", "--show-task-events", "--show-mmap-events", "--show-switch-events", "--show-namespace-events",
     "--show-cgroup-events", "--show-bpf-events", "--show-lost-events", "--show-round-events",
     "--show-text-poke-events", "--header"],
    ["script", "-F", "+brstack,+brstackoff,+iregs,+uregs,+data_src,+weight,+phys_addr,+bpf-output"],
    ["script", "-D"],
    ["data", "convert", "--force", "--to-json", "/dev/stdout"],
    ["inject", "-o", "-"],
]
SEED = 20240229
CUTS = FLIPS = 2
LARGEST = 96 * 1024  # bytes of an input
FIXTURE_STEP = 37  # every so many fixtures, in the manifest's order; coprime to the number of containers


def inputs():
    """Paths of what is to be damaged."""
    rows = [r for r in support.read_table(os.path.join(FIXTURES, "manifest.tsv")) if r["container"] != "dir"]
    paths = [os.path.join(FIXTURES, r["file"]) for r in rows[::FIXTURE_STEP]]
    corpus = support.corpus_dir()
    if corpus:
        paths += [os.path.join(corpus, r["file"]) for r in support.read_table(os.path.join(corpus, "expected.tsv"))]
    return [p for p in paths if os.path.getsize(p)]


def mutant(path, number):
    """The number-th damaged copy: the first CUTS are cut, the others have bits flipped. The same in every run."""
    with open(path, "rb") as f:
        data = f.read(LARGEST)
    chance = random.Random(f"{SEED} {os.path.basename(path)} {number}")
    if number < CUTS:
        return data[:chance.randrange(len(data))]
    damaged = bytearray(data)
    for _ in range(20):
        # Half of the damage where it costs most: header, attrs, first records.
        at = chance.randrange(min(len(data), 1024) if chance.random() < 0.5 else len(data))
        damaged[at] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def check(job):
    path, number, command = job
    with tempfile.NamedTemporaryFile(suffix=".data") as f:
        f.write(mutant(path, number))
        f.flush()
        r = support.run([SONDE] + command + ["-f", "-i", f.name])
    if r.status not in (0, 1) or (r.status == 1 and not r.err.strip()):
        return f"status {r.status}, message {r.err[:200]!r}"
    return None


def keep(job):
    """Stores the input of a failure, and says where."""
    path, number, _ = job
    kept = os.path.join(tempfile.gettempdir(), f"sonde-robust-{os.path.basename(path)}-{number}")
    with open(kept, "wb") as f:
        f.write(mutant(path, number))
    return kept


def main():
    report = support.Report("damage at random")
    turns = itertools.cycle(COMMANDS)
    jobs = [(path, number, next(turns)) for path in inputs() for number in range(CUTS + FLIPS)]
    for job, wrong in support.parallel(check, jobs):
        if wrong is None:
            report.good()
        else:
            report.bad(f"{' '.join(job[2])} -f -i {keep(job)}", str(wrong))
    report.finish()


main()
