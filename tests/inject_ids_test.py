#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inject --build-ids, -B: inject_ids_test.py SONDE OBJECT

OBJECT is a shared object with a build-id and functions called start and stop.
"""
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import perfdata as pd
import support

SONDE, OBJECT = map(os.path.abspath, sys.argv[1:3])
BASE, FAR, PAGE = 0x7f0000000000, 0x7e0000000000, 4096
BUILD_ID = 67


def record(path, build_id=None):
    """OBJECT at two places: as itself, with samples, and under a name that leads nowhere, without."""
    functions, (at, size) = pd.functions(OBJECT)
    r = pd.Recording()
    length, begin = (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE
    r.map(7, FAR + begin, length, begin, OBJECT + ".other")
    r.map(7, BASE + begin, length, begin, OBJECT, build_id)
    r.sample(7, PAGE, [pd.CONTEXT_USER, PAGE])
    for _ in range(2):
        r.sample(7, PAGE, [pd.CONTEXT_USER, PAGE, BASE + functions["stop"][0] + 1])
    r.write(path)


def types(data):
    """(type, body) of the records of a file."""
    at, size = struct.unpack_from("<QQ", data, 40)
    end, found = at + size, []
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        found.append((kind, data[at + 8:at + length]))
        at += length
    return found


def check_inject(t, folder, own):
    path, out = os.path.join(folder, "a.data"), os.path.join(folder, "b.data")
    record(path)

    def inject(*options):
        r = support.run([SONDE, "inject", "-f", "-v", "-i", path, "-o", out, *options])
        with open(out, "rb") as f:
            return r, types(f.read())

    with open(path, "rb") as f:
        before = types(f.read())
    r, after = inject("-b")
    kinds = [k for k, _ in after]
    t.check("-b: one record, before the first sample that it hit", r.status == 0 and "1 build-ids put in, 0 not" in r.err and
            kinds == [pd.MMAP2, pd.MMAP2, pd.SAMPLE, BUILD_ID, pd.SAMPLE, pd.SAMPLE], (kinds, r))
    t.check("-b: everything else is as it was", [x for x in after if x[0] != BUILD_ID] == before, after)
    body = dict(after)[BUILD_ID]
    t.check("-b: what it says", body[4:24] == own.ljust(20, b"\0") and body[24] == len(own) and len(body) % 8 == 0 and
            body[28:].split(b"\0")[0] == OBJECT.encode() and body.endswith(b"\0"), body)
    t.check("-b: that it came later", body[28:].find(struct.pack("<IHHII", 0x45646e53, 1, 16, 5, 0)) % 8 == 0, body)
    r = support.run([SONDE, "buildid-list", "-f", "-i", out])
    t.check("buildid-list sees it", f"{own.hex()} {OBJECT}\n" in r.out.decode(), r)
    r = support.run([SONDE, "script", "-f", "-i", out, "--grades"])
    t.check("it is no proof", f"stop+0x1 ({OBJECT}) {{inferred}}" in r.out.decode(), r)
    r, after = inject("--buildid-all")
    kinds = [k for k, _ in after]
    t.check("--buildid-all: before the map", "1 build-ids put in, 1 not found" in r.err and
            kinds[:3] == [pd.MMAP2, BUILD_ID, pd.MMAP2], (kinds, r))
    fake = "ab" * 20
    r, after = inject("-b", "--known-build-ids", f"{fake} {OBJECT},{'cd' * 20} /else")
    t.check("--known-build-ids", dict(after)[BUILD_ID][4:24] == bytes.fromhex(fake), after)
    names = os.path.join(folder, "names")
    with open(names, "w") as f:
        f.write(f"{fake}  {OBJECT}\n\n")
    r, after = inject("--known-build-ids", "file://" + names)
    t.check("--known-build-ids, a file", dict(after)[BUILD_ID][4:24] == bytes.fromhex(fake), after)
    for text in ("xyz /a", "ab", fake + "ab /a", "file:///none"):
        r = support.run([SONDE, "inject", "-f", "-i", path, "-o", out, "--known-build-ids", text])
        t.check(f"--known-build-ids {text}", r.status in (1, 129) and r.err, r)
    r = support.run([SONDE, "inject", "-b", "-j", "-i", path, "-o", out])
    t.check("-b -j", r.status == 129, r)
    record(path, own)
    r, after = inject("-b")
    t.check("-b: what is known already", BUILD_ID not in dict(after), after)
    with open(path, "rb") as f:
        r = support.run([SONDE, "inject", "--buildid-all", "-o", "-"], stdin=f.read())
    t.check("through a pipe", r.status == 0, r.err)


def mmap(r, start, length, pgoff, path):
    """As perfs before 3.16 wrote it."""
    r.add(pd.MMAP, pd.USER, struct.pack("<IIQQQ", 7, 7, start, length, pgoff) + pd.text(path) + r.tail(7, 7))


def check_maps(t, folder, own):
    path, out = os.path.join(folder, "m.data"), os.path.join(folder, "n.data")
    functions, (at, size) = pd.functions(OBJECT)
    length, begin, stop = (size + 2 * PAGE) // PAGE * PAGE, at // PAGE * PAGE, functions["stop"][0]
    r = pd.Recording(sample_type=pd.IP | pd.TID | pd.TIME | pd.ADDR | pd.CALLCHAIN | pd.PERIOD)
    r.kernel(0xffffffff81000000, 0x1000000)
    for i, name in enumerate(("nobody", "accessed", "jit-7.dump")):
        r.map(7, FAR + i * PAGE, PAGE, 0, f"/nowhere/{name}")
    mmap(r, BASE + begin, length, begin, OBJECT)
    r.sample(7, BASE + stop, [pd.CONTEXT_USER, BASE + stop], addr=FAR + PAGE + 8)
    r.map(7, BASE + begin, length, begin, OBJECT)  # over the one before: nothing lies there any more
    r.write(path)
    names = {"kernel": "[kernel.kallsyms]_text", "n": "/nowhere/nobody", "a": "/nowhere/accessed",
             "j": "/nowhere/jit-7.dump", "o": OBJECT}
    short = {name: key for key, name in names.items()}

    def maps(data):
        """(type, misc, build-id, name) of the map records."""
        begin, end = struct.unpack_from("<QQ", data, 40)
        end, found = begin + end, []
        while begin < end:
            kind, misc, length = struct.unpack_from("<IHH", data, begin)
            body = data[begin + 8:begin + length]
            if kind in (pd.MMAP, pd.MMAP2):
                name = body[32 if kind == pd.MMAP else 64:].split(b"\0")[0].decode()
                has = kind == pd.MMAP2 and misc & pd.MMAP_BUILD_ID
                found.append((kind, body[36:36 + body[32]] if has else None, short[name]))
            begin += length
        return found

    def inject(*options):
        r = support.run([SONDE, "inject", "-f", "-v", "-i", path, "-o", out, *options])
        with open(out, "rb") as f:
            return r, maps(f.read())

    r, found = inject("-B")
    t.check("-B: what is used has a build-id, what is not is gone", r.status == 0 and
            found == [(pd.MMAP, None, "kernel"), (pd.MMAP2, None, "a"), (pd.MMAP2, None, "j"), (pd.MMAP2, own, "o")] and
            "1 build-ids put in" in r.err and "2 maps that no sample needs left out" in r.err, (found, r))
    for options in ([], ["-F", "ip,sym,addr,dso"]):
        a, b = (support.run([SONDE, "script", "-f", "-i", x, *options]) for x in (path, out))
        t.check(f"-B: the same text {options}", a.out == b.out and b"stop" in b.out, (a, b))
    r = support.run([SONDE, "script", "-f", "-i", out, "--grades"])
    t.check("-B: it is no proof", "{inferred}" in r.out.decode() and "{exact}" not in r.out.decode(), r)
    r = support.run([SONDE, "buildid-list", "-f", "-i", out])
    t.check("-B: buildid-list sees it", f"{own.hex()} {OBJECT}\n" in r.out.decode(), r)
    r, found = inject("--mmap2-buildid-all")
    t.check("--mmap2-buildid-all", [x[2] for x in found] == ["kernel", "n", "a", "j", "o", "o"] and
            [x[1] for x in found[-2:]] == [own, own] and found[-2][0] == pd.MMAP2, found)
    fake = bytes(20 * [0xab])
    r, found = inject("-B", "--known-build-ids", f"{fake.hex()} {OBJECT},{fake.hex()} {names['a']}")
    t.check("-B --known-build-ids", [x[1:] for x in found[1:]] == [(fake, "a"), (None, "j"), (fake, "o")], found)
    r = support.run([SONDE, "inject", "-b", "-B", "-i", path, "-o", out])
    t.check("-b -B", r.status == 129, r)


def main():
    t = support.Report("inject --build-ids")
    own = pd.build_id(OBJECT)
    if not own or len(own) > 20:
        print("SKIP: the compiler leaves no build-ids")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory() as folder:
        check_inject(t, folder, own)
        check_maps(t, folder, own)
    t.finish()


main()
