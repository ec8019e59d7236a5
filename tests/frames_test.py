#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which frames a sample has is the same whoever asks (docs/FRAMES.md): frames_test.py SONDE OBJECT EXAMPLE

Recordings of one sample each, with every kind of callchain, go to all that show frames: script as text and as JSON,
data convert, report, why, libsonde's example; buildid-list and inject take the images that they lie in.
OBJECT is any shared object with the functions filter_event, start and stop.
"""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import perfdata as pd
import support

SONDE, OBJECT, EXAMPLE = map(os.path.abspath, sys.argv[1:4])
FUNCTIONS, (CODE_AT, CODE_BYTES) = pd.functions(OBJECT)
NAMES = "filter_event", "start", "stop"
BASE, PAGE, KERNEL, NOWHERE = 0x7f0000000000, 4096, 0xffffffff81000000, 0x10
LEAF, MIDDLE, ROOT = (BASE + FUNCTIONS[f][0] + 4 for f in NAMES)
UNKNOWN_MARKER = (1 << 64) - 600
REPORT = support.Report("frames")
FOLDER = tempfile.mkdtemp(prefix="sonde-frames-")
TYPE = pd.IP | pd.TID | pd.TIME | pd.CALLCHAIN | pd.PERIOD


def name_of(address):
    for name in NAMES:
        start, size = FUNCTIONS[name]
        if start <= address - BASE < start + size:
            return name
    return None


# ---- the cases: what was recorded, and the addresses that its frames have, innermost first ----

def case(chain, want, ip=LEAF, misc=pd.USER, later=(), calls=None, gone=False):
    r = pd.Recording(TYPE | (0 if calls is None else pd.BRANCH_STACK), branches=pd.BRANCH_CALL_STACK)
    r.kernel(KERNEL, 0x1000000)
    r.comm(7, "prog")
    start = CODE_AT // PAGE * PAGE
    r.map(7, BASE + start, (CODE_BYTES + 2 * PAGE) // PAGE * PAGE, start, OBJECT)
    if gone:
        r.exit(7, 7)
    r.sample(7, ip, chain, misc=misc, branches=calls or ())
    for cookie, words in later:
        r.later_chain(7, 7, cookie, words)
    return r, list(want), ip


U, K, D = pd.CONTEXT_USER, pd.CONTEXT_KERNEL, pd.CONTEXT_USER_DEFERRED
K0, K1 = KERNEL + 0x100, KERNEL + 0x200
CALLS = [(MIDDLE, LEAF, 0), (ROOT, MIDDLE, 0)]
IN_KERNEL = {"ip": K0, "misc": pd.KERNEL}

CASES = {
    "user": case((U, LEAF, MIDDLE, ROOT), (LEAF, MIDDLE, ROOT)),
    "kernel and user": case((K, K0, K1, U, LEAF, ROOT), (K0, K1, LEAF, ROOT), **IN_KERNEL),
    "what stands before the first marker is the user's": case((LEAF, MIDDLE), (LEAF, MIDDLE), **IN_KERNEL),
    "two parts of one space": case((U, LEAF, U, MIDDLE, ROOT), (LEAF, MIDDLE, ROOT)),
    "empty parts": case((K, U, LEAF, K, U, ROOT), (LEAF, ROOT)),
    "more parts than anyone has": case((U, LEAF, K, K0) * 20, (LEAF, K0) * 20),
    "nowhere": case((U, LEAF, NOWHERE, ROOT), (LEAF, NOWHERE, ROOT)),
    "a function's end returned to": case((U, LEAF, BASE + FUNCTIONS["start"][0] + FUNCTIONS["start"][1]),
                                         (LEAF, BASE + FUNCTIONS["start"][0] + FUNCTIONS["start"][1])),
    "an unknown marker": case((U, LEAF, UNKNOWN_MARKER, MIDDLE), ()),
    "an unknown marker at the end": case((U, LEAF, MIDDLE, UNKNOWN_MARKER), ()),
    "an unknown marker beyond the limit": case((U,) + (LEAF,) * 127 + (UNKNOWN_MARKER, ROOT), (LEAF,) * 127),
    "more than the limit": case((U,) + (LEAF,) * 126 + (MIDDLE, ROOT), (LEAF,) * 126 + (MIDDLE,)),
    "empty": case((), ()),
    "came later": case((K, K0, D, 77), (K0, LEAF, ROOT), later=[(77, (U, LEAF, ROOT))], **IN_KERNEL),
    "came later, without a marker": case((K, K0, D, 77), (K0, LEAF, ROOT), later=[(77, (LEAF, ROOT))], **IN_KERNEL),
    "another one came later": case((K, K0, D, 77), (K0,), later=[(78, (U, LEAF, ROOT))], **IN_KERNEL),
    "an unknown marker came later": case((K, K0, D, 77), (), later=[(77, (U, LEAF, UNKNOWN_MARKER))], **IN_KERNEL),
    "what came later does not refer to more": case((K, K0, D, 77), (K0, LEAF, 78), later=[(77, (LEAF, D, 78)), (78, (ROOT,))],
                                                   **IN_KERNEL),
    "too many came later": case((D, 1) * 17 + (U, LEAF, ROOT), ()),
    "a call stack": case((U, LEAF, NOWHERE), (LEAF, MIDDLE, ROOT), calls=CALLS),
    "a call stack below the kernel": case((K, K0, U, LEAF, NOWHERE), (K0, LEAF, MIDDLE, ROOT), calls=CALLS, **IN_KERNEL),
    "a call stack and no address of the user's": case((K, K0, U), (K0, LEAF, MIDDLE, ROOT), calls=CALLS, **IN_KERNEL),
    "a call stack of a sample without a user's part": case((K, K0), (K0,), calls=CALLS, **IN_KERNEL),
    "an empty call stack": case((U, LEAF, MIDDLE), (LEAF,), calls=[]),
    "in the kernel after the process's end": case((K, K0, U, LEAF, ROOT), (K0, LEAF, ROOT), gone=True, **IN_KERNEL),
}


# ---- who shows them: [(address or None where it is not shown, name or None)] ----

def run(*command):
    r = support.run([SONDE, *command])
    if r.status:
        raise RuntimeError(f"status {r.status}: {r.err}")
    return r.out.decode()


def text_lines(text):
    found = []
    for line in text.splitlines():
        m = re.match(r"\s+([0-9a-f]+) (\S+)", line)
        if m and "(cookie)" not in line:
            found.append((int(m[1], 16), None if m[2].startswith("[unknown]") else m[2].split("+0x")[0]))
    return found


def by_script(path):
    return text_lines(run("script", "-f", "-i", path, "-F", "ip,sym", "--kallsyms", "/dev/null"))


def by_pipe(path):
    with open(path, "rb") as f:
        r = support.run([SONDE, "inject", "-i", path, "-o", "-", "-f"])
    out = support.run([SONDE, "script", "-i", "-", "-F", "ip,sym", "--kallsyms", "/dev/null"], stdin=r.out)
    return text_lines(out.out.decode())


def by_json(path):
    lines = [json.loads(x) for x in run("script", "-f", "-i", path, "--json", "--kallsyms", "/dev/null").splitlines()]
    sample, = [x for x in lines if x["type"] == "sample"]
    return [(int(f["ip"], 16), f.get("sym")) for f in sample["callchain"]]


def by_convert(path):
    run("data", "convert", "--force", "-i", path, "--to-json", path + ".json")
    with open(path + ".json", encoding="utf-8") as f:
        sample, = json.load(f)["samples"]
    named = [(int(f["ip"], 16), f.get("symbol")) for f in sample["callchain"]]
    return [(ip, None if ip >= KERNEL else name) for ip, name in named]  # it has no --kallsyms


def by_library(path):
    return text_lines(support.run([EXAMPLE, "--kallsyms", "/dev/null", path]).out.decode())


def by_why(path):
    found = json.loads(run("why", "-f", "-i", path, "--sample", "1", "--json", "--kallsyms", "/dev/null"))
    return [(int(f["ip"], 16), f.get("sym")) for f in found["stack"]]


def by_report(path):
    out = run("report", "-f", "-i", path, "-s", "sym", "--no-children", "-g", "folded,callee,0.1", "--kallsyms", "/dev/null",
              "--stdio")
    lines = [x.strip() for x in out.splitlines() if x.strip() and x[0] != "#"]
    graph = [x for x in lines if ";" in x]
    names = graph[0].split(" ", 1)[1].split(";") if graph else [re.sub(r".*\[.\] ", "", lines[0])]
    return [(None, None if x.startswith("0x") else x) for x in names]


def compare(what, who, got, want):
    if who is by_report:
        want = [(None, name) for _, name in want]
    REPORT.check(f"{what}: {who.__name__}", got == want,
                 lambda: f"{str(got)[:200]}, wanted {str(want)[:200]}")


def check_frames(what, path, addresses, own):
    want = [(a, name_of(a - (i > 0)) if a < KERNEL else None) for i, a in enumerate(addresses)]
    alone = want or [(own, name_of(own) if own < KERNEL else None)]
    for who in by_script, by_pipe, by_json, by_convert, by_library:
        compare(what, who, who(path), want)
    for who in by_why, by_report:  # without frames that can be believed, the sample's own place
        compare(what, who, who(path), alone)


def check_images(what, path, addresses, own):
    """What takes images, not frames, knows of the same addresses: the object was hit or was not."""
    hit = any(a >= BASE and a < KERNEL for a in (*addresses, own))
    listed = OBJECT in run("buildid-list", "-H", "-f", "-i", path)
    run("inject", "-b", "-f", "-i", path, "-o", path + ".injected")
    injected = OBJECT in run("buildid-list", "-f", "-i", path + ".injected")
    REPORT.check(f"{what}: buildid-list", listed == hit, f"{listed}")
    REPORT.check(f"{what}: inject -b", injected == (hit and pd.build_id(OBJECT) is not None), f"{injected}")


for title, (recording, addresses, own) in CASES.items():
    file = os.path.join(FOLDER, "x.data")
    recording.write(file)
    try:
        check_frames(title, file, addresses, own)
        check_images(title, file, addresses, own)
    except Exception as e:  # one case's trouble is no other's
        REPORT.bad(title, f"{type(e).__name__}: {e}")

# Dumped stacks are unwound whatever is printed of their frames.
dwarf, want = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recordings", "dwarf.data"), None
for fields in ("tid,ip", "tid,ip,sym", "tid,ip,sym,dso"):
    r = support.run([SONDE, "script", "-i", dwarf, "--no-inline", "-F", fields])
    ips = [line.split()[0] for line in r.out.decode().splitlines() if line.startswith("\t")]
    want = want or ips
    REPORT.check(f"script -F {fields}: unwound frames", len(ips) > 20 and ips == want, f"{len(ips)} {len(want)} {r.err}")
    REPORT.check(f"script -F {fields}: nothing of names if none was wanted", "sym" in fields or not r.err, r.err)
shutil.rmtree(FOLDER)
sys.exit(REPORT.finish())
