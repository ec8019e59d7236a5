#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`report --threads N` says the same for any N: report_threads_test.py SONDE

Standard output, standard error and status with 2 and 7 threads are compared with those of one: of recordings made here
(many processes that come and go, comms and maps that change, times that go back, addresses in nothing) and, where there is
a corpus, of its recordings; each also damaged, cut, and as a pipe.
"""
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata
import support

SONDE = sys.argv[1]
FOLDER = tempfile.TemporaryDirectory()
THREADS = [2, 7]
SMALLEST = 64 << 10  # what is smaller is one piece
OPTIONS = [
    "",
    "--json",
    "--no-children -g caller",
    "--no-children -g none -s comm,dso,sym,tgid",
    "-g callee,address --percent-limit 1",
    "-G --max-stack 3 -s sym,srcline",
    "--hierarchy -s comm,pid,dso",
    "--group -s sym,cpu,time --time-quantum 1us",
    "-s comm_nodigit,parent -p read",
    "-c sh,perf -s pid,comm,cgroup,cgroup_id",
    "-U --percentage relative -s sym,dso,addr -g fractal,0",
    "-b -s symbol_from,symbol_to,dso_from,cycles,mispredict",
    "--no-children -s weight,local_weight,sym,socket -n",
    "--strict --grades -g folded --no-children",
    "-C 0,1 --tid 108,109,100 -F overhead,sample,period,sym",
    "--time 10%-60% -S f,main",
]


def make_recording(seed):
    """Deterministic noise: what matters is that some of it comes again in another share; of every third seed, nearly all
    of it (what readers have in common is joined at once then)."""
    rnd = random.Random(seed)
    places, deepest = (2, 3) if seed % 3 == 0 else (2000, 9)
    kind = perfdata.IP | perfdata.TID | perfdata.TIME | perfdata.CPU | perfdata.PERIOD | perfdata.CALLCHAIN
    rec = perfdata.Recording(kind | (perfdata.BRANCH_STACK if seed % 2 else 0))
    rec.kernel(0xffffffff81000000, 0x1000000)
    pids = list(range(100, 140))
    for i in range(6000):
        pid = rnd.choice(pids)
        if i % 40 == 0:
            rec.fork(pid, rnd.choice(pids))
            rec.comm(pid, rnd.choice(["sh", "cc1", "worker/1", "worker/22"]), exec_=True)
            rec.map(pid, 0x400000 + 0x1000 * rnd.randrange(3), 0x20000, 0, rnd.choice(["/bin/a", "/bin/b"]))
            rec.map(pid, 0x7f0000000000, 0x40000, 0x1000, "/lib/libc.so")
        user = [rnd.choice([0x400000, 0x7f0000000000, 0x123456789000]) + 8 * rnd.randrange(places)
                for _ in range(rnd.randrange(1, deepest))]
        kernel = [0xffffffff81000000 + 64 * rnd.randrange(min(300, places)) for _ in range(rnd.randrange(1, 7))]
        in_kernel = rnd.random() < 0.3
        chain = [perfdata.CONTEXT_KERNEL, *kernel] if in_kernel else []
        chain += [perfdata.CONTEXT_USER, *user]
        if rnd.random() < 0.05:
            rec.time -= 20000
        rec.sample(pid, kernel[0] if in_kernel else user[0], chain, misc=perfdata.KERNEL if in_kernel else perfdata.USER,
                   period=rnd.randrange(1, 5000),
                   branches=[(user[0], user[-1], rnd.randrange(1 << 20))] * rnd.randrange(3) if seed % 2 else ())
    return rec


def damaged(data, rnd):
    data = bytearray(data)
    for _ in range(12):
        at = rnd.randrange(4096, len(data) - 64)
        data[at:at + 24] = rnd.choice([bytes(24), b"\xff" * 24, struct.pack("<QQQ", at, 9, at)])
    return bytes(data)


def variants(name, data):
    """Files: as they are, damaged, cut."""
    rnd = random.Random(name)
    for kind, content in (("whole", data), ("damaged", damaged(data, rnd)), ("cut", data[:len(data) * 2 // 3 + 3])):
        path = os.path.join(FOLDER.name, f"{name}.{kind}")
        with open(path, "wb") as f:
            f.write(content)
        yield path


def answer(path, options, threads):
    r = support.run([SONDE, "report", "-f", "--stdio", "--no-inline", *options.split(), "--threads", str(threads), "-i", path])
    return r.status, r.out, r.err


def answer_pipe(path, options, threads):
    with open(path, "rb") as f:
        r = support.run([SONDE, "report", "--stdio", *options.split(), "--threads", str(threads), "-i", "-"], stdin=f.read())
    return r.status, r.out, r.err


def difference(a, b):
    if isinstance(a, int):
        return f"{a}, {b}"
    lines = list(zip(a.splitlines() + [None], b.splitlines() + [None]))
    at = next((i for i, (x, y) in enumerate(lines) if x != y), 0)
    return f"line {at + 1}: {str(lines[at][0])[:200]} / {str(lines[at][1])[:200]}"


def check(item):
    path, options, ask = item
    one = ask(path, options, 1)
    if one[0] == 129:
        return f"report {options}: {one[2]}"
    for n in THREADS:
        other = ask(path, options, n)
        if other != one:
            part, a, b = next((w, x, y) for w, x, y in zip(("status", "output", "messages"), one, other) if x != y)
            return f"{os.path.basename(path)}: report {options} --threads {n}: {part} differs: {difference(a, b)}"
    return None


def work():
    items = []
    for seed in range(3):
        for path in variants(f"made{seed}", make_recording(seed).data()):
            items += [(path, o, answer) for o in OPTIONS]
            items += [(path, o, answer_pipe) for o in OPTIONS[:2]]
    corpus = support.corpus_dir()
    names = sorted(n for n in os.listdir(corpus) if n.endswith(".data")) if corpus else []
    for i, name in enumerate(names):
        path = os.path.join(corpus, name)
        if not SMALLEST <= os.path.getsize(path) <= 4 << 20:
            continue
        items += [(path, OPTIONS[(i + k) % len(OPTIONS)], answer) for k in (0, 5, 10)]
        if i % 4 == 0 and open(path, "rb").read(8) == b"PERFILE2":
            for other in list(variants(name, open(path, "rb").read()))[1:]:
                items += [(other, OPTIONS[(i + k) % len(OPTIONS)], answer) for k in (1, 7)]
    return support.share(items)


items = work()
wrong = [f"{r}" for _, r in support.parallel(check, items) if r]
print("\n".join(wrong))
print(f"{len(items)} recordings and options, {len(wrong)} differ")
for bad in ("0", "x", "65", "-1"):
    r = support.run([SONDE, "report", f"--threads={bad}", "-i", "/dev/null"])
    if "--threads" not in r.err:
        wrong.append(bad)
        print(f"--threads={bad} is taken: {r}")
sys.exit(1 if wrong else 0)
