#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kmem` over made recordings, of which all that was allocated is known: kmem_test.py SONDE"""
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE = os.path.realpath(sys.argv[1])
check = support.check
# As Linux 6.18 has them, with fewer flags.
KMALLOC = "name: kmalloc\nID: 41\nformat:\n" + pd.COMMON_FIELDS + """\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;
\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;
\tfield:size_t bytes_req;\toffset:24;\tsize:8;\tsigned:0;
\tfield:size_t bytes_alloc;\toffset:32;\tsize:8;\tsigned:0;
\tfield:unsigned long gfp_flags;\toffset:40;\tsize:8;\tsigned:0;
\tfield:int node;\toffset:48;\tsize:4;\tsigned:1;

print fmt: "ptr=%p", REC->ptr
"""
KFREE = "name: kfree\nID: 42\nformat:\n" + pd.COMMON_FIELDS + """\tfield:unsigned long call_site;\toffset:8;\tsize:8;\tsigned:0;
\tfield:const void * ptr;\toffset:16;\tsize:8;\tsigned:0;

print fmt: "ptr=%p", REC->ptr
"""
ALLOC = "name: mm_page_alloc\nID: 43\nformat:\n" + pd.COMMON_FIELDS + """\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;
\tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;
\tfield:int migratetype;\toffset:32;\tsize:4;\tsigned:1;

print fmt: "pfn=0x%lx order=%d migratetype=%d gfp_flags=%s", REC->pfn, REC->order, REC->migratetype, (REC->gfp_flags) ? """ \
    """__print_flags(REC->gfp_flags, "|", { 0xcc0, "GFP_KERNEL" }, { 0x100, "__GFP_ZERO" }, { 0x8000000, "__GFP_NEWER" }) : "none"
"""
FREE = "name: mm_page_free\nID: 44\nformat:\n" + pd.COMMON_FIELDS + """\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;

print fmt: "pfn=0x%lx", REC->pfn
"""
TYPE = pd.IP | pd.TID | pd.TIME | pd.ID | pd.CPU | pd.PERIOD | pd.CALLCHAIN | pd.RAW
S, SITE = 1_000_000_000, 0xffffffff81000000  # of no kernel that is known: sites are addresses


class Trace(pd.Recording):
    def __init__(self, slab=True, page=False):
        ids = ([41, 42] if slab else []) + ([43, 44] if page else [])
        super().__init__(TYPE, counters=[(pd.TRACEPOINT, x) for x in ids], period=1)
        self.number = {x: i + 1 for i, x in enumerate(ids)}
        self.features[pd.TRACING_DATA] = pd.tracing_data("kmem", KMALLOC, KFREE, ALLOC, FREE)
        self.time = 10 * S

    def put(self, event, data, cpu=0, chain=()):
        self.time += S - 1000
        data = struct.pack("<HBBi", event, 0, 0, 101) + data
        data += bytes(-(len(data) + 4) % 8)
        self.sample(101, 0, event=self.number[event], cpu=cpu, misc=pd.KERNEL, chain=chain, more=struct.pack("<I", len(data)) + data)

    def kmalloc(self, site, ptr, requested, allocated, cpu=0, node=-1):
        self.put(41, struct.pack("<QQQQQi", SITE + site, ptr, requested, allocated, 0xcc0, node), cpu)

    def kfree(self, ptr, cpu=0):
        self.put(42, struct.pack("<QQ", SITE, ptr), cpu)

    def alloc(self, pfn, order, gfp, kind, site):
        self.put(43, struct.pack("<QI4xQi", pfn, order, gfp, kind), 0, [pd.CONTEXT_KERNEL, SITE + site])

    def free(self, pfn, order):
        self.put(44, struct.pack("<QI", pfn, order))


def sonde(*options, status=0):
    r = subprocess.run([SONDE, *options], capture_output=True, text=True, env=support.ENV, timeout=120)
    check(r.returncode == status, f"{options}: status {r.returncode}, {r.stderr[-300:]}")
    return r


def slab_scene():
    t = Trace()
    t.kfree(0x9000)                    # 11 s: allocated before
    t.kmalloc(0x10, 0x1000, 11, 16)    # 12 s
    t.kmalloc(0x10, 0x2000, 12, 16)    # 13 s
    t.kmalloc(0x20, 0x3000, 4096, 4096)
    t.kfree(0x1000, cpu=1)             # 15 s
    t.kfree(0x3000)
    t.kmalloc(0x30, 0x1000, 8, 8)
    t.kmalloc(0x30, 0x1000, 8, 8)      # its free was not seen
    return t


RULE = "-" * 105 + "\n"
CALLERS = RULE + """ Callsite                           | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag
""" + RULE + """ 0xffffffff81000010                 |        32/16    |        23/11    |        2 |         1 | 28.125%
 0xffffffff81000030                 |        16/8     |        16/8     |        2 |         0 |  0.000%
 0xffffffff81000020                 |      4096/4096  |      4096/4096  |        1 |         0 |  0.000%
""" + RULE
BY_BYTES = RULE + """ Alloc Ptr                          | Total_alloc/Per | Total_req/Per   | Hit      | Ping-pong | Frag
""" + RULE + """ 0x3000                             |      4096/4096  |      4096/4096  |        1 |         0 |  0.000%
 0x1000                             |        32/10    |        27/9     |        3 |         1 | 15.625%
 ...                                | ...             | ...             | ...      | ...       | ...   \n""" + RULE
SUMMARY = """
SUMMARY (SLAB allocator)
========================
Total bytes requested: 4135
Total bytes allocated: 4144
Total bytes freed:     4112
Net total bytes allocated: 32
Total bytes wasted on internal fragmentation: 9
Internal fragmentation: 0.217181%
Cross CPU allocations: 0/5
"""


def slab():
    slab_scene().write("perf.data")
    r = sonde("kmem", "-f", "-i", "perf.data", "stat")
    check(r.stdout == SUMMARY, f"summary:\n{r.stdout}")
    check("1 of the slab's frees are of what was allocated before" in r.stderr and "1 allocations are of what was not seen" in r.stderr, r.stderr)
    text = sonde("kmem", "stat", "--caller", "-f", "-i", "perf.data").stdout
    check(text == CALLERS + SUMMARY, f"--caller:\n{text}")
    text = sonde("kmem", "--caller", "--alloc", "-s", "bytes", "-l", "2", "stat", "-i", "perf.data").stdout
    check(text == CALLERS + BY_BYTES + SUMMARY, f"--caller --alloc:\n{text}")
    text = sonde("kmem", "stat", "--time", "13.5,15.5", "-i", "perf.data").stdout
    check("requested: 4096\n" in text and "freed:     0\n" in text, f"--time:\n{text}")
    check("'foo'" in sonde("kmem", "-s", "foo", "stat", status=129).stderr, "an unknown key")
    check("--page" in sonde("kmem", "stat", "--live", status=129).stderr, "--live of slabs")
    check("unknown command" in sonde("kmem", "foo", status=129).stderr, "no such verb")
    check("page allocator" in sonde("kmem", "stat", "--page", "-i", "perf.data", status=1).stderr, "no such events")


GFP = """#
# GFP flags
# ---------
# 00000cc0:             K: GFP_KERNEL
# 00000dc0:           K|Z: GFP_KERNEL|__GFP_ZERO
# 08000cc0: K|__GFP_NEWER: GFP_KERNEL|__GFP_NEWER
"""
PAGES = "\n" + RULE + """ Total alloc (KB) | Hits      | Order | Mig.type | GFP flags     | Callsite
""" + RULE + """               32 |         2 |     2 |  MOVABLE | K             | 0xffffffff81000010
                8 |         1 |     1 |  RECLAIM | K|__GFP_NEWER | 0xffffffff81000010
                4 |         1 |     0 | UNMOVABL | K|Z           | 0xffffffff81000020
""" + RULE
LIVE = "\n" + RULE + """ PFN              |  Live alloc (KB) | Hits      | Order | Mig.type | GFP flags     | Callsite
""" + RULE + """              200 |               16 |         1 |     2 |  MOVABLE | K             | 0xffffffff81000010
              300 |                4 |         1 |     0 | UNMOVABL | K|Z           | 0xffffffff81000020
""" + RULE
COUNTS = """
SUMMARY (page allocator)
========================
Total allocation requests     :                5   [               52 KB ]
Total free requests           :                3   [               40 KB ]

Total alloc+freed requests    :                2   [               24 KB ]
Total alloc-only requests     :                3   [               28 KB ]
Total free-only requests      :                1   [               16 KB ]

Total allocation failures     :                1   [                8 KB ]
"""


def page():
    t = Trace(slab=False, page=True)
    t.free(50, 2)
    t.alloc(100, 2, 0xcc0, 1, 0x10)
    t.alloc(200, 2, 0xcc0, 1, 0x10)
    t.alloc(300, 0, 0xdc0, 0, 0x20)
    t.free(100, 2)
    t.alloc(400, 1, 0x8000cc0, 2, 0x10)
    t.free(400, 1)
    t.alloc((1 << 64) - 1, 1, 0xcc0, 0, 0x10)  # there was none
    t.write("perf.data")
    text = sonde("kmem", "--page", "-f", "-i", "perf.data", "stat").stdout
    check(text.startswith(COUNTS), f"counts:\n{text}")
    check("    2             .             .             2             .             .\n" in text, f"orders:\n{text}")
    if "libtraceevent: [ on" not in sonde("version", "--build-options").stdout:
        print("SKIP names of flags: built without libtraceevent")
        return
    text = sonde("kmem", "--page", "--caller", "-i", "perf.data", "stat").stdout
    check(text.startswith(GFP + PAGES + COUNTS), f"--caller:\n{text}")
    text = sonde("kmem", "--page", "--live", "--alloc", "-i", "perf.data", "stat").stdout
    check(text.startswith(GFP + LIVE + COUNTS), f"--live:\n{text}")
    check("    2             .             .             1             .             .\n" in text, f"what is live:\n{text}")
    rows = [x for x in sonde("kmem", "--page", "--caller", "-s", "order", "-i", "perf.data", "stat").stdout.splitlines() if "0xff" in x]
    check([x.split("|")[2].strip() for x in rows] == ["2", "1", "0"], f"-s order: {rows}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    slab()
    page()
sys.exit(support.status())
