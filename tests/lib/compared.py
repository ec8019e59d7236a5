# SPDX-License-Identifier: Apache-2.0
"""Recordings made to be compared, and what perf diff is asked about them."""
import os
import random
import struct

import perfdata as pd

BASE, PAGE = 0x7f0000000000, 4096
SAMPLE_TIME = 21  # feature


def map_object(r, pid, obj, shown=None, build_id=None):
    """Maps the code of `obj` at BASE and its offset, under another path if one is given."""
    _, (code_at, code_bytes) = pd.functions(obj)
    start = code_at // PAGE * PAGE
    r.map(pid, BASE + start, (code_bytes + 2 * PAGE) // PAGE * PAGE, start, shown or obj, build_id)


def recording(path, obj, counts, comm="prog", pid=7, event=(1, 0), cpus=(0,), build_id=None, features=(), shown=None, others=()):
    """counts: (function, or offset in the object; period) of each sample; event: type and config; others: images that are mapped, too, each with a sample."""
    functions, _ = pd.functions(obj)
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CPU | pd.PERIOD, kind=event[0], config=event[1])
    r.comm(pid, comm)
    map_object(r, pid, obj, shown, build_id)
    for i, other in enumerate(others, 1):
        r.map(pid, BASE + (i << 32), PAGE, 0, other)
    first = r.time + 1000
    for i, (function, period) in enumerate(counts):
        at = functions[function][0] if isinstance(function, str) else function
        r.sample(pid, BASE + at, period=period, cpu=cpus[i % len(cpus)])
    for i in range(1, len(others) + 1):
        r.sample(pid, BASE + (i << 32), period=1)
    r.features[SAMPLE_TIME] = struct.pack("<QQ", first, r.time)
    r.features.update(features)
    r.write(path)


def cycles(n):
    return 2 | n << 4  # perf_event.h, struct perf_branch_entry: predicted, cycles


def branches(path, obj, samples, **more):
    """samples: (where, [((function, offset) from, to, cycles)] newest first, how often, period) each; offsets below 13 are in all functions."""
    functions, _ = pd.functions(obj)

    def at(place):
        return BASE + functions[place[0]][0] + place[1]
    r = pd.Recording(pd.IP | pd.TID | pd.TIME | pd.CPU | pd.PERIOD | pd.BRANCH_STACK, **more)
    r.features[pd.HEADER_BRANCH_STACK] = b""
    r.comm(7, "prog")
    map_object(r, 7, obj)
    for function, stack, times, period in samples:
        for _ in range(times):
            r.sample(7, at((function, 0)), branches=[(at(x), at(y), cycles(n)) for x, y, n in stack], period=period)
    r.write(path)


def ran(function, start, spent, times, period=1000, caller="beta"):
    """Samples in a function that ran from `start` to 12, called from another one."""
    return function, [((function, 12), (caller, 0), spent), ((caller, 12), (function, start), 30)], times, period


def make_branches(folder, obj):
    """Recordings of branches, for -c cycles and --stream."""
    def one(name, *samples):
        branches(os.path.join(folder, name), obj, samples)
    loop = [(("gamma", 10), ("gamma", 2), n) for n in (5, 9, 100)]
    twice = [(("gamma", 10), ("gamma", 2), n) for n in (50, 60, 1)]
    one("g.data", ran("alpha", 4, 10, 5), ran("alpha", 4, 20, 3),
        ("beta", [(("alpha", 12), ("beta", 0), 2), (("beta", 12), ("alpha", 8), 0), (("gamma", 2), ("beta", 0), 7)], 2, 1000), ("gamma", loop, 4, 1000))
    one("h.data", ran("alpha", 4, 15, 4), ran("alpha", 4, 20, 3),
        ("delta", [(("delta", 12), ("beta", 0), 2), (("beta", 12), ("delta", 8), 4), (("gamma", 2), ("beta", 0), 7)], 2, 1000), ("gamma", twice, 4, 1000))
    # Orders, signs, many digits; a function without blocks; starts behind the end.
    wide = [(("gamma", 3), ("gamma", 2), 50), (("gamma", 6), ("gamma", 1), 60), (("gamma", 9), ("gamma", 8), 10), (("gamma", 12), ("gamma", 7), 10)]
    far = [(x, y, n) for (x, y, _), n in zip(wide, (55000, 4, 310, 10))]
    one("i.data", ran("alpha", 4, 10, 5), ran("delta", 4, 10, 50), ran("epsilon", 4, 10, 20), ("zeta", [], 30, 1000), ("gamma", wide, 40, 1000))
    one("j.data", ran("alpha", 4, 1000, 5), ran("delta", 4, 12, 50), ran("epsilon", 4, 5, 20), ran("theta", 4, 5, 60), ("gamma", far, 41, 1000))
    # Blocks on one side alone; how single measurements differ.
    one("k.data", *(ran("alpha", 4, n, 1) for n in (10, 20, 30)), ran("epsilon", 4, 5, 1), ("zeta", [], 3, 1000), ("theta", [], 5, 1000),
        *(ran("delta", 4, n, 1) for n in (10, 20, 30, 30)))
    one("l.data", *(ran("alpha", 4, n, 1) for n in (30, 20, 10, 40, 50)), ("epsilon", [], 3, 1000), ("theta", [], 2, 1000),
        *(ran("zeta", 4, n, 1) for n in (5, 6)), ran("delta", 4, 15, 1))
    lots = random.Random(3)
    one("m.data", *(ran("alpha", lots.choice((2, 4, 8)), lots.randrange(1, 900), 1) for _ in range(40)), *(ran("beta", 1, lots.randrange(1, 90), 1, 900) for _ in range(30)))
    one("n.data", *(ran("alpha", lots.choice((2, 4, 8)), lots.randrange(1, 900), 1) for _ in range(40)), *(ran("beta", 1, lots.randrange(1, 90), 1, 900) for _ in range(30)))
    one("o.data", ran("alpha", 4, 10, 1), ("alpha", [], 7, 1000), ("delta", [(("delta", 10), ("delta", 2), 5), (("epsilon", 10), ("delta", 2), 9),
                                                                             (("zeta", 1), ("zeta", 2), 9)], 1, 9000))
    one("p.data", ran("alpha", 4, 20, 3), ("theta", [(("theta", 10), ("theta", 2), 3)], 2, 2000))


def shares(count, seed, **parts):
    """Samples whose functions are drawn with these weights, always the same ones."""
    names, weights = list(parts), list(parts.values())
    lots = random.Random(seed)
    return [(lots.choices(names, weights)[0], 1000) for _ in range(count)]


def header_text(text):
    """A feature's text (perf.data-file-format.txt: perf_header_string)."""
    raw = text.encode().ljust(64, b"\0")
    return struct.pack("<I", len(raw)) + raw


def make(folder, obj):
    """Writes the recordings that INVOCATIONS name."""
    def one(name, counts, **more):
        recording(os.path.join(folder, name), obj, counts, **more)
    one("a.data", [("alpha", 20), ("beta", 20), ("gamma", 20), ("delta", 20), ("epsilon", 20)])
    one("b.data", [("alpha", 22), ("beta", 5), ("gamma", 18), ("delta", 30), ("zeta", 25)])
    one("c.data", [("alpha", 22), ("beta", 22), ("gamma", 18), ("delta", 18), ("zeta", 20)])
    one("d.data", [("alpha", 700), ("beta", 150), ("alpha", 149), ("gamma", 1)], comm="other", pid=8, cpus=(0, 1))
    one("e.data", [("alpha", 12345678901), ("beta", 99999999), ("delta", 3)], cpus=(1, 2))
    one("f.data", [("alpha", 10), ("beta", 90)], event=(1, 5))  # another event
    one("none.data", [])
    make_branches(folder, obj)


INVOCATIONS = [x.split() for x in """
a.data b.data
-c delta a.data b.data
-c delta-abs a.data b.data
-c ratio a.data b.data
-c wdiff:1,2 a.data b.data
-c wdiff:-3,2 a.data b.data
-p a.data b.data
-F a.data b.data
-p -F a.data e.data
-F -c ratio a.data e.data
-F -p -c wdiff:7,5 a.data e.data
-o 0 a.data b.data
-o 0 -c delta a.data b.data
-o 0 -c ratio a.data b.data
-c delta b.data a.data
a.data b.data c.data
-o 0 a.data b.data c.data
-o 2 a.data b.data c.data
-o 2 -c ratio a.data b.data c.data
-o 2 -c wdiff:1,1 a.data b.data c.data
-p -F -c delta a.data b.data c.data d.data
-o 3 -c ratio -p a.data b.data c.data e.data
-s dso a.data b.data
-s comm,dso,symbol a.data d.data
-s sym a.data d.data
-s pid a.data d.data
-s cpu d.data e.data
-s comm a.data d.data
-s sym,cpu -p d.data e.data
-t , a.data b.data
-t ; -p -F a.data b.data c.data
-t : -c ratio a.data b.data c.data
-S alpha,beta a.data b.data
-S alpha a.data b.data
-C prog a.data b.data
-C other a.data d.data
--percentage relative -S alpha,delta a.data b.data
--percentage absolute -S alpha,delta a.data b.data
-q a.data b.data
-q -c ratio a.data b.data c.data
--pid 7 a.data d.data
--tid 8 a.data d.data
--cpu 0 d.data e.data
--time 0%-50% a.data b.data
--time 10%/2 a.data b.data
-S nosuch a.data b.data
a.data f.data
a.data none.data
-c cycles g.data h.data
-c cycles h.data g.data
-c cycles --cycles-hist g.data h.data
-c cycles g.data h.data g.data
-c cycles -F -p g.data h.data
-c cycles -s sym g.data h.data
-c cycles -S alpha g.data h.data
-c cycles -q i.data j.data
-c cycles --cycles-hist j.data i.data
-c cycles -s pid,sym i.data j.data
-c cycles --cycles-hist k.data l.data
-c cycles --cycles-hist l.data k.data
-c cycles --cycles-hist m.data n.data
-c cycles --cycles-hist n.data m.data
--stream o.data o.data
--stream o.data p.data
""".strip().splitlines()]
