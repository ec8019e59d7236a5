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
""".strip().splitlines()]
