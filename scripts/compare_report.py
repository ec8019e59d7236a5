#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sonde report` beside another perf's, byte by byte, over any recordings.

    compare_report.py --perf "perf" --sonde build/sonde [--sets basic,graph] [--options "-s comm -g none"] FILE...

For each recording and each set of options both are run, and the first line that differs is shown. The line with
the tip is left out: perf picks it at random. A perf that is killed by a signal, takes longer than --timeout or
refuses the file gives nothing to compare with; that is counted apart. With --cache DIR perf's texts are kept
there: they depend on the recording and the options, and on the symbols of this machine.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import os
import shlex
import subprocess
import sys

SETS = {
    "basic": ["--no-children -g none", "--children -g none", "--no-children -g none -s sym -n",
              "--no-children -g none -s dso,sym", "--no-children -g none -s pid --show-total-period",
              "--no-children -g none -t, -s comm,dso", "--no-children -g none -s comm --percent-limit 5"],
    "graph": ["--children", "--no-children -g caller", "--no-children -g callee", "--no-children -g fractal",
              "--no-children -g flat", "--no-children -g folded", "--no-children -g caller -s sym",
              "--no-children -g count -s dso", "--no-children -g period,2 -s comm"],
    "layout": ["--hierarchy --no-children -g none", "--hierarchy --no-children -g none -s comm,sym -n",
               "--group --no-children -g none", "--no-children -g none -w 10,12,14",
               "--no-children -g none -q", "--no-children -g none -s cpu,tgid", "--no-children -g none -F sample,dso",
               "--no-children -g none --stdio-color always"],
    "keys": ["--no-children -g none -s " + key for key in
             "symbol symoff,dso symbol_size dso_size comm_nodigit srcfile time addr weight ins_lat,p_stage_cyc".split()] +
            ["--mem-mode", "-s symbol_from,symbol_to,mispredict", "-s addr_from,addr_to", "-s trace_fields", "--latency",
             "-s parallelism --no-children", "-p ^do_ --no-children -g none", "-x -p main", "-T",
             "--no-children -g callee,address", "--no-children -g caller,srcline"],
}


def text_of(command, args, path, timeout):
    """(status, stdout) or None when nothing came of it."""
    try:
        r = subprocess.run(command + ["report", "--no-inline", "-f"] + args + ["-i", path], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    return r.returncode, r.stdout


def cached(cache, command, args, path, timeout):
    if not cache:
        return text_of(command, args, path, timeout)
    with open(path, "rb") as f:
        key = hashlib.sha256(b"\0".join([shlex.join(args).encode(), f.read()])).hexdigest()[:32]
    name = os.path.join(cache, key)
    if os.path.exists(name):
        with open(name, "rb") as f:
            status, _, out = f.read().partition(b"\n")
        return None if status == b"none" else (int(status), out)
    got = text_of(command, args, path, timeout)
    with open(name + ".new", "wb") as f:
        f.write(b"none\n" if got is None else b"%d\n" % got[0] + got[1])
    os.rename(name + ".new", name)
    return got


def lines_of(text):
    return [line for line in text.decode("utf-8", "replace").split("\n") if not line.startswith("# (Tip: ")]


def compare(job):
    o, path, args = job
    want = cached(o.cache, o.perf, args, path, o.timeout)
    if want is None or want[0] != 0 or not any(line and line[0] != "#" for line in lines_of(want[1])):
        return "perf failed", None
    if o.fill:
        return "cached", None
    got = text_of(o.sonde, args, path, o.timeout)
    if got is None or got[0] < 0:
        return "sonde failed", "too slow" if got is None else f"signal {-got[0]}"
    a, b = lines_of(want[1]), lines_of(got[1])
    if a == b:
        return "equal", None
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    show = [f"      line {at + 1} of {len(a)} and {len(b)}, status {got[0]}"]
    for who, text in (("perf ", a), ("sonde", b)):
        show += [f"      {who} |{line[:200]}|" for line in text[at:at + o.context]] or [f"      {who} ends"]
    return "different", "\n".join(show)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+")
    p.add_argument("--perf", type=shlex.split, default=["perf"])
    p.add_argument("--sonde", type=shlex.split, default=["build/sonde"])
    p.add_argument("--sets", default=",".join(SETS), help="of " + ", ".join(SETS))
    p.add_argument("--options", action="append", help="these instead of the sets; may be repeated")
    p.add_argument("--no-symbols", metavar="DIR",
                   help="an empty folder (made if need be): neither side finds names for anything")
    p.add_argument("--cache")
    p.add_argument("--fill", action="store_true", help="only fill the cache")
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("--context", type=int, default=1, help="how many lines to show")
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    if o.cache:
        os.makedirs(o.cache, exist_ok=True)
    bare = ""
    if o.no_symbols:
        bare = f" --symfs {o.no_symbols} --kallsyms {o.no_symbols}.none"
        os.makedirs(o.no_symbols, exist_ok=True)
        with open(o.no_symbols + ".none", "wb"):
            pass
    options = o.options or [x for name in o.sets.split(",") for x in SETS[name]]
    jobs = [(o, os.path.abspath(f), shlex.split(x + bare)) for f in o.files for x in options]
    sums, by_file = collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for (_, path, args), (verdict, why) in zip(jobs, pool.map(compare, jobs)):
            sums[verdict] += 1
            if why:
                by_file[os.path.basename(path)] += 1
                print(f"{os.path.basename(path)} {shlex.join(args)}: {verdict}\n{why}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in sorted(sums.items())), f"of {len(jobs)} pairs;",
          f"{len(by_file)} of {len(o.files)} files differ somewhere")
    sys.exit(bool(by_file))


main()
