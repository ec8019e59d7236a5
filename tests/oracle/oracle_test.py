#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report` says what a naive profiler says: oracle_test.py SONDE [--seeds FIRST-LAST] [--wishes N] [--keep FOLDER]

Recordings are made from seeds (generate.py), each is given to `report --json` with options that follow from the seed, too, and
to naive.py: entries, their sums, what passes through them, call graphs, levels of hierarchies and totals must be the same.
Entries must stand in the order of their shares; those of one share in any order. As a test it takes a fixed set of seeds; more
of them, and more wishes for each, are for a longer look by hand.
"""
import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import generate
import images as im
import naive
import support

KINDS = ["plain", "events", "group", "chains", "branches", "memory", "latency", "calls", "deferred"]
PLAIN_KEYS = ["comm", "comm_nodigit", "pid", "tgid", "cpu", "socket", "time", "dso", "symbol", "symoff", "addr", "dso_size",
              "symbol_size"]
MEMORY_KEYS = ["mem", "snoop", "tlb", "locked", "blocked", "symbol_daddr", "symbol_iaddr", "dso_daddr", "dcacheline", "phys_daddr",
               "data_page_size", "code_page_size", "local_weight", "local_ins_lat"]
BRANCH_KEYS = ["dso_from", "dso_to", "symbol_from", "symbol_to", "addr_from", "addr_to", "in_tx", "abort", "cycles"]


class Wish:
    """Options of report, and the same for the naive profiler."""

    def __init__(self):
        self.words, self.options = [], {}

    def add(self, words, **options):
        self.words += words.split() if isinstance(words, str) else words
        self.options.update(options)


# ---- what is asked for ----

def wish_filters(w, rnd, kind):
    few = lambda values: rnd.sample(values, rnd.randrange(1, 3))
    choice = rnd.randrange(14)
    if choice == 0:
        cpus = few([0, 1, 2, 3])
        w.add(["-C", ",".join(map(str, cpus))], cpus=cpus)
    elif choice == 1:
        pids = few([10, 11, 12, 13])
        w.add(["--pid", ",".join(map(str, pids))], pids=pids)
    elif choice == 2:
        tids = few([10, 11, 111, 211])
        w.add(["--tid", ",".join(map(str, tids))], tids=tids)
    elif choice == 3:
        comms = few(generate.COMMS)
        w.add(["--comms", ",".join(comms)], comms=comms)
    elif choice == 4:
        dsos = few(["app", "lib.so", "[kernel.kallsyms]", "[unknown]", "plain"])
        w.add(["--dsos", ",".join(dsos)], dsos=dsos)
    elif choice == 5:
        symbols = few(["main", "leaf", "sys_read", "lib_map_work"])
        w.add(["-S", ",".join(symbols)], symbols=symbols)
    elif choice == 6:
        w.add("--symbol-filter map", symbol_filter="map")
    elif choice == 7:
        w.add("--socket-filter 1", socket=1)
    elif choice == 8:
        first, last = sorted(rnd.sample(range(1_000_000_000, 1_000_250_000), 2))
        w.add(f"--time {first / 1e9:.9f},{last / 1e9:.9f}", times=[(first, last)])
    elif choice == 9:
        w.add("-U", hide_unresolved=True)
    elif choice == 10 and kind == "latency":
        w.add("--parallelism 1-2", levels=[1, 2])
    elif choice == 11 and kind in ("chains", "latency", "calls", "deferred", "group"):
        w.add("-p leaf -x", parent="leaf", exclude_other=True, sort=w.options["sort"] + ["parent"])
    if rnd.random() < 0.3:
        w.add("--percentage relative", relative=True)


def wish_keys(rnd, kind, branch, hierarchy):
    keys = PLAIN_KEYS + (["parent"] if kind in ("chains", "deferred") else [])
    if branch:
        keys = BRANCH_KEYS + ["comm", "cpu"]
    if kind == "memory" and not hierarchy:  # there the texts of levels tell of any sample below
        keys = keys + MEMORY_KEYS
    if kind == "latency":
        keys = keys + ["parallelism"]
    return rnd.sample(keys, rnd.randrange(1, 4))


def make_wish(rnd, kind):
    w, branch = Wish(), kind == "branches"
    chained = kind in ("chains", "latency", "calls", "deferred", "group")
    hierarchy = rnd.random() < 0.2 and not branch
    keys = wish_keys(rnd, kind, branch, hierarchy)
    w.add(["-s", ",".join(keys)], sort=keys)
    if branch:
        w.add("-b", branch=True)
    if kind == "memory":
        w.add("--mem-mode", mem=True)
    if kind in ("events", "group") and rnd.random() < 0.5:
        w.add("--group", group=True)
    if hierarchy:
        w.add("--hierarchy", hierarchy=True)
    elif chained and rnd.random() < 0.6:
        w.add("--children", children=True)
    if not w.options.get("children"):
        w.add("--no-children")
    if chained:
        order, shape = rnd.choice(["caller", "callee"]), rnd.choice(["graph", "fractal", None])
        least = rnd.choice([0, 0, 0.5, 10])
        if shape:
            w.add(f"-g {shape},{least},{order}", graph=shape, order=order, least=least)
        else:
            w.add(f"-g none,{order}", order=order)
        if rnd.random() < 0.2 and kind != "calls":
            most = rnd.randrange(1, 6)
            w.add(f"--max-stack {most}", max_stack=most)
    if kind == "latency" and rnd.random() < 0.5:
        w.add("--latency", latency=True)
    if "symbol" in ",".join(keys):  # brings a column of itself
        w.add([], sort=keys + ["ipc_null"])
    wish_filters(w, rnd, kind)
    return w


# ---- what both say, in one shape ----

def sums_said(sums, o):
    return tuple((s["period"], s["samples"], s.get("latency", 0) if o.latency else 0) for s in sums)


def numbers(sums, o):
    return sums.period, sums.samples, sums.latency // naive.LATENCY_UNIT if o.latency else 0


def sums_known(by_event, members, o):
    return tuple(numbers(by_event[m], o) if m in by_event else (0, 0, 0) for m in members)


def graph_said(graph):
    return tuple(sorted((-b["period"], b["samples"], tuple(b["frames"]), graph_said(b.get("graph", []))) for b in graph))


def entry_said(entry, o):
    texts = tuple(entry["keys"][key] for key in o.sort if key in entry["keys"])
    return texts, sums_said(entry["self"], o), sums_said(entry.get("children", []), o), graph_said(entry.get("graph", []))


def entry_known(entry, table, o):
    graph = ()
    if o.graph:
        root = naive.chain_tree(entry, table.members[0], o)
        total = table.total[table.members[0]].period if table.members[0] in table.total else 0
        least = math.floor(total * o.least / 100) if o.graph == "graph" else naive.below_limit(root, o)
        graph = naive.branches(root, least, o)
    children = sums_known(entry.children, table.members, o) if o.children else ()
    return entry.texts(o.sort), sums_known(entry.self, table.members, o), children, graph


def share(entry):
    """What orders entries: of the leader, with what was called if that is known."""
    return (entry[2] or entry[1])[0][0]


def unnamed(text):
    """Without what any sample below a level may tell: a task's name, or where digits were."""
    return text.replace("<N>", "") if "<N>" in text else text.split(":")[0] if text[:7].strip().isdigit() else text


def levels_said(entries, o, path=()):
    found = []
    for entry in entries:
        here = path + tuple(unnamed(text) for text in entry["keys"].values())
        found.append((here, sums_said(entry["self"], o), graph_said(entry.get("graph", []))))
        found += levels_said(entry.get("entries", []), o, here)
    return found


def levels_known(table, o):
    levels = {}
    for entry in table.entries:
        for depth in range(1, len(o.sort) + 1):
            level = levels.setdefault(entry.keys[:depth], dict(texts=tuple(map(unnamed, entry.texts(o.sort)[:depth])), sums={}, graph=()))
            for m, sums in entry.self.items():
                level["sums"].setdefault(m, naive.no_sums())
                naive.join(level["sums"][m], sums)
        level["graph"] = entry_known(entry, table, o)[3]
    return [(level["texts"], sums_known(level["sums"], table.members, o), level["graph"]) for level in levels.values()]


def first_difference(said, known):
    said, known = sorted(map(repr, said)), sorted(map(repr, known))
    more, less = [x for x in said if x not in known], [x for x in known if x not in said]
    return f"report alone has {len(more)}: {more[:2]}\n   the oracle alone has {len(less)}: {less[:2]}"


def compare(said, known, o):
    """None, or the first thing in which a table of report and one of the oracle differ."""
    for number in ("read", "filtered", "dropped"):
        if said[number] != getattr(known, number):
            return f"{number}: report {said[number]}, oracle {getattr(known, number)}"
    if sums_said(said["totals"], o) != sums_known(known.total, known.members, o):
        return f"totals: report {sums_said(said['totals'], o)}, oracle {sums_known(known.total, known.members, o)}"
    if o.hierarchy:
        rows, wanted = levels_said(said["entries"], o), levels_known(known, o)
    else:
        rows = [entry_said(entry, o) for entry in said["entries"]]
        wanted = [entry_known(entry, known, o) for entry in known.entries]
        shares = [share(row) for row in rows]
        if not o.latency and shares != sorted(shares, reverse=True):
            return f"entries are not in the order of their shares: {shares}"
    if sorted(map(repr, rows)) != sorted(map(repr, wanted)):
        return first_difference(rows, wanted)
    return None


# ---- running ----

def check(item):
    """One recording with one wish: None or what is wrong."""
    path, kernel, wish, images, threads = item
    words = ["report", "-f", "--stdio", "--json", "--kallsyms", kernel, "--threads", str(threads), "-i", path, *wish.words]
    r = support.run([SONDE, *words])
    o = naive.options(**wish.options)
    if r.status:
        return f"status {r.status}: {r.err}"
    tables = json.loads(r.out)["tables"]
    known = naive.profile(path, images, o)
    if len(tables) != len(known):
        return f"report has {len(tables)} tables, the oracle {len(known)}: {r.err}"
    for said, table in zip(tables, known):
        wrong = compare(said, table, o)
        if wrong:
            return wrong
    return None


def recordings(seeds, folder):
    """Writes what the seeds make; yields (name, path, images)."""
    for image in generate.make_images(folder)[:2]:
        im.write_elf(image, "/")
    im.write_kallsyms(generate.make_images(folder)[2], os.path.join(folder, "kallsyms"))
    for seed in seeds:
        kind = KINDS[seed % len(KINDS)]
        made = generate.Generator(seed, kind, folder)
        path = os.path.join(folder, f"{kind}-{seed}.data")
        made.make().write(path)
        yield seed, kind, path, made.images


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sonde")
    parser.add_argument("--seeds", default="0-35", help="of the recordings to make")
    parser.add_argument("--wishes", type=int, default=6, help="how many for each recording")
    parser.add_argument("--keep", help="a folder for the recordings")
    args = parser.parse_args()
    global SONDE
    SONDE = os.path.abspath(args.sonde)
    first, last = map(int, args.seeds.split("-"))
    folder = args.keep or tempfile.mkdtemp(prefix="sonde-oracle-")
    os.makedirs(folder, exist_ok=True)
    items = []
    for seed, kind, path, images in recordings(range(first, last + 1), os.path.abspath(folder)):
        rnd = random.Random(f"wishes {seed}")
        items += [(path, os.path.join(folder, "kallsyms"), make_wish(rnd, kind), images, 1 + i % 4) for i in range(args.wishes)]
    report = support.Report("report and the oracle")
    for item, wrong in support.parallel(check, items):
        if isinstance(wrong, Exception):
            raise wrong
        report.check(f"{os.path.basename(item[0])}: report {' '.join(item[2].words)}", not wrong, wrong)
    if not args.keep:
        shutil.rmtree(folder)
    report.finish()


if __name__ == "__main__":
    main()
