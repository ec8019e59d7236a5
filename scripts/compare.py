#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sonde report` and `sonde script` beside another perf's, byte by byte, over any recordings.

    compare.py --perf "perf" --sonde build/sonde [--sets basic,graph] [--options "-s comm -g none"] FILE...

For each recording and each set of options both are run, and the first line that differs is shown. The line with
the tip is left out: perf picks it at random. A perf that is killed by a signal, takes longer than --timeout or
refuses the file gives nothing to compare with; that is counted apart. With --cache DIR perf's texts are kept
there: they depend on the recording and the options, and on the symbols of this machine. In options {comm},
{dso} and {sym} stand for what perf finds most often in the recording. --options that begin with the word
`script` are that command's.
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
              "--no-children -g count -s dso", "--no-children -g period,2 -s comm", "-G", "--no-children -G",
              "--no-children -g graph,0.5,3,caller", "--children -g caller --percentage relative -S {sym}",
              "--children --max-stack 3", "--no-children --max-stack 4 -g caller", "--children -s dso -g count",
              "--no-children -g folded,count,0.1", "--no-children -g flat,2,caller", "--ignore-callees {sym}",
              "--ignore-callees ^main$ -g caller --no-children", "--children -p ^main$ -s parent,sym",
              "--children --percent-limit 3", "--children -g fractal,callee", "--children -t: -g folded"],
    "layout": ["--hierarchy --no-children -g none", "--hierarchy --no-children -g none -s comm,sym -n",
               "--hierarchy --no-children -g caller", "--hierarchy -t, --no-children -g none",
               "--hierarchy --no-children -g none --percent-limit 4 -s dso,comm,sym",
               "--group --no-children -g none", "--no-group --no-children -g none", "--group --children -g caller",
               "--group --group-sort-idx 1 --no-children -g none", "--no-children -g none -w 10,12,14",
               "--no-children -g none -q", "--no-children -g none -s cpu,tgid", "--no-children -g none -F sample,dso",
               "--no-children -g none -F overhead,period,sym", "--no-children -g none -F +period -s dso",
               "--no-children -g none -F comm,overhead_us,overhead_sys", "--no-children -g none -F sym",
               "--no-children -g none --show-cpu-utilization", "--no-children -g none -n --show-total-period -w 0,5",
               "--no-children -g none --stdio-color always", "--children --stdio-color always", "-v --no-children -g none",
               "--no-children -g none -t \\t -s comm,dso,sym", "--children -g none -F overhead_children,sym",
               "--no-children -g none --no-demangle", "--no-children -g none --full-source-path -s srcfile",
               "--samples 5 --no-children -g none"],
    "filters": ["--no-children -g none " + x for x in
                ["-S {sym}", "-d {dso}", "-c {comm}", "-c nobody", "-d {dso} --percentage relative",
                 "-c {comm} --percentage absolute -n", "--symbol-filter ma", "-U", "-C 0", "-C 0-1 -s cpu,sym",
                 "--time 10%-40%", "--time 1%/2", "--time 0%-10%,60%-70%", "--time 10%/2,10%/4 -s comm",
                 "--socket-filter 0 -s socket", "--time-quantum 10ms -s time,comm", "--skip-empty",
                 "--show-ref-call-graph", "--raw-trace -s comm", "--switch-on cpu-clock", "--pretty raw -s dso"]],
    "keys": ["--no-children -g none -s " + key for key in
             """symbol symoff,dso symbol_size dso_size comm_nodigit srcfile srcline time addr weight ins_lat,p_stage_cyc
             pid tgid comm dso sym,symbol parent cpu socket local_weight transaction trace code_page_size
             cgroup cgroup_id retire_lat,local_retire_lat local_ins_lat local_p_stage_cyc simd type typeoff typecln
             parallelism overhead sample,period overhead_sys,overhead_us period,sym latency""".split()] +
            ["--mem-mode", "-s symbol_from,symbol_to,mispredict", "-s addr_from,addr_to", "-s trace_fields", "--latency",
             "-s parallelism --no-children", "-p ^do_ --no-children -g none", "-x -p main", "-T", "-T --pretty raw",
             "--no-children -g callee,address", "--no-children -g caller,srcline", "--children -s srcline -g none"],
    "branch": ["-b", "-b -s dso_from,dso_to", "-b -s symbol", "-b -s symbol_from,symbol_to,mispredict,in_tx,abort,cycles",
               "-b -s addr_from,addr_to -n", "-b -s srcline_from,srcline_to", "-b -t, -w 3", "-b -F overhead,period,sym_from",
               "--total-cycles", "--total-cycles -n", "--branch-history", "--branch-history --no-children",
               "--branch-history -g caller --no-children", "-g branch", "-g caller,branch --no-children", "--stitch-lbr",
               "--no-branch-stack", "--no-branch-stack -s callchain_branch_predicted,callchain_branch_abort,sym"],
    "mem": ["--mem-mode", "--mem-mode -s mem,sym,dso", "--mem-mode -s symbol_daddr,dso_daddr,tlb,locked,snoop",
            "--mem-mode -s dcacheline", "--mem-mode -s phys_daddr,data_page_size", "--mem-mode -s symbol_iaddr,blocked",
            "--mem-mode -F overhead,sample,sym -s mem", "-F overhead,op,cache,mem,snoop,dtlb -s sym", "-F +memory"],
    "header": ["--header-only", "--header --no-children -g none -s comm", "--header-only -I", "--stats", "--tasks", "--mmaps"],
    "script": ["script"] + ["script -F " + x for x in
               ["comm,tid,time,ip,sym", "comm,pid,tid,cpu,time,event,period", "ip,sym,symoff,dso", "+dso,+symoff",
                "-comm", "ip,sym,dso,dsoff", "ip,sym,srcline", "+srcline", "trace,event", "+addr,+phys_addr,+data_src",
                "+weight,+data_page_size,+code_page_size", "+brstack", "+brstacksym", "+brstackoff", "+iregs,+uregs",
                "+misc", "+flags", "+insn,+insnlen", "+retire_lat,+ins_lat,+cgroup", "sw:comm,ip,sym", "hw:+period,+dso",
                "trace:comm,trace", "+bpf-output", "comm,time -G", "ip,sym -x,", "+metric", "+machine_pid,+vcpu",
                "+callindent", "+tod", "comm,tid,brstack"]] +
              ["script " + x for x in
               ["-G", "--stop-bt {sym}", "-S {sym}", "--dsos {dso}", "-c {comm}", "--max-stack 2", "--show-task-events",
                "--show-mmap-events", "--show-switch-events", "--show-lost-events", "--show-namespace-events",
                "--show-cgroup-events", "--show-bpf-events", "--show-text-poke-events", "--show-round-events",
                "--show-mmap-events --show-task-events -F comm,time", "--time 10%-30%", "--time 10%/2", "--ns",
                "--deltatime", "--reltime", "--ns --reltime", "--show-kernel-path -F ip,sym,dso", "-C 0", "--header",
                "--header-only", "-v -F comm,ip,sym", "--full-source-path -F ip,srcline", "-f -F +comm", "--no-demangle",
                "--fields comm,ip,sym --max-stack 0", "-D", "--hide-call-graph", "--show-info --header", "--addr-range 0x1",
                "--show-all-events"]],
}


def command_of(args):
    """The command and its arguments of a set of options."""
    return args if args[:1] == ["script"] else ["report"] + args


def text_of(command, args, path, timeout):
    """(status, stdout) or None when nothing came of it."""
    try:
        verb, *rest = command_of(args)
        r = subprocess.run(command + [verb, "--no-inline", "-f"] + rest + ["-i", path], stdin=subprocess.DEVNULL,
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


def frequent(o, path):
    """What stands in most samples: for {comm} and the others in options."""
    words = {}
    for name in "comm", "dso", "sym":
        got = cached(o.cache, o.perf, shlex.split(f"--no-children -g none -q -t | -s {name}"), path, o.timeout)
        rows = [x.split("|", 1)[1].strip() for x in (lines_of(got[1]) if got else []) if "|" in x]
        names = [x.split("] ", 1)[-1] if name == "sym" else x for x in rows if "0x" not in x and "unknown" not in x]
        words[name] = names[0] if names else "none"
    return words


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
    jobs = []
    for path in map(os.path.abspath, o.files):
        words = frequent(o, path)
        jobs += [(o, path, [w.format(**words) if w[:1] == "{" else w for w in shlex.split(x + bare)]) for x in options]
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
