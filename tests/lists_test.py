#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""evlist and buildid-list, option by option: lists_test.py SONDE FIXTURES"""
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support

SONDE, FIXTURES = sys.argv[1:3]
DEMO = os.path.join(FIXTURES, "demo.data")
PIPE = os.path.join(FIXTURES, "demo.pipe.data")
report = support.Report("lists")


def sonde(*args, stdin=None):
    return support.run([SONDE, *args], stdin=stdin)


def check(what, good, said=""):
    report.check(what, good, str(said)[:600])


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def recording(records, build_ids=None):
    """A file of one event (IP, TID, TIME, CALLCHAIN) with these records; build_ids is the feature's content."""
    attr = struct.pack("<IIQQQQQ", 1, 64, 0, 1, 1 | 2 | 4 | 32, 0, 0).ljust(64, b"\0")
    data_at = 104 + len(attr) + 16
    head = b"PERFILE2" + struct.pack("<8Q", 104, 80, 104, 80, data_at, len(records), 0, 0)
    feature = build_ids is not None
    head += struct.pack("<4Q", 4 if feature else 0, 0, 0, 0)
    table_at = data_at + len(records)
    tail = struct.pack("<QQ", table_at + 16, len(build_ids)) + build_ids if feature else b""
    return head + attr + struct.pack("<QQ", 0, 0) + records + tail


def mmap(start, name, pid=10):
    body = struct.pack("<IIQQQ", pid, pid, start, 0x1000, 0) + name.encode() + b"\0"
    return record(1, body + b"\0" * (-len(body) % 8), 2)


def sample(ip, chain, pid=10):
    return record(9, struct.pack("<QIIQQ", ip, pid, pid, 1000, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain), 2)


def build_id(name, digit, size=20, pid=-1):
    body = struct.pack("<i", pid) + bytes([digit] * size).ljust(20, b"\0") + bytes([size, 0, 0, 0]) + name.encode() + b"\0"
    return record(67, body + b"\0" * (-len(body) % 8), 0x8002)


def evlist():
    names = sonde("evlist", "-i", DEMO)
    check("evlist of the demo", names.status == 0 and len(names.out.splitlines()) >= 1, names)
    for option in ("-v", "-F", "--trace-fields"):
        r = sonde("evlist", option, "-i", DEMO)
        lines = [line for line in r.out.splitlines() if not line.startswith(b"#")]
        plain = [line for line in names.out.splitlines() if not line.startswith(b"#")]
        check(f"evlist {option} has a line for each event",
              [line.split(b": ")[0] for line in lines] == plain, r)
    r = sonde("evlist", "-v", "-i", DEMO)
    check("evlist -v shows the attr", re.search(rb": type: \d+ .*, size: \d+, config: ", r.out), r)
    with open(PIPE, "rb") as f:
        pipe = f.read()
    check("evlist of standard input", sonde("evlist", stdin=pipe).out == sonde("evlist", "-i", PIPE).out != b"")
    for bad in (["-g", "-v"], ["-g", "-F"], ["operand"], ["--no-such"]):
        r = sonde("evlist", *bad, "-i", DEMO)
        check(f"evlist {bad} is a mistake of usage", r.status == 129 and b"Usage" in r.err.encode() and not r.out, r)


def buildids(folder):
    path = os.path.join(folder, "x.data")

    def listed(content, *options):
        with open(path, "wb") as f:
            f.write(content)
        r = sonde("buildid-list", *options, "-i", path)
        check(f"buildid-list {options} succeeds", r.status == 0, r)
        return r.out.decode().splitlines()

    maps = mmap(0x1000, "/a") + mmap(0x5000, "/b") + mmap(0x9000, "/c") + mmap(0xd000, "[stack]")
    hit = maps + sample(0x1500, [2**64 - 512, 0x1500, 0x5500]) + sample(0xd100, [])
    blank = " " * 40
    check("hits are the sample's and its callchain's", listed(recording(hit)) == [f"{blank} /a", f"{blank} /b"])
    ids = build_id("/b", 0x22) + build_id("/a", 0x11, 8) + build_id("/guest", 0x33, 20, 5) + build_id("/b", 0x44)
    check("a recording's own list, by machine and name, the last of a name",
          listed(recording(hit, ids)) == ["11" * 8 + " " * 24 + " /a", "44" * 20 + " /b", "33" * 20 + " /guest"])
    check("-H: only what was hit", listed(recording(hit, ids), "-H") == ["11" * 8 + " " * 24 + " /a", "44" * 20 + " /b"])
    check("an empty list is a list", listed(recording(hit, b"")) == [])
    with open(path, "wb") as f:
        f.write(recording(hit, ids + build_id("/cut", 0x55)[:-8]))
    r = sonde("buildid-list", "-v", "-i", path)
    check("a damaged list gives its whole entries, and says so",
          len(r.out.splitlines()) == 3 and "damaged" in r.err and "build id event received for /b: " + "22" * 20 in r.err, r)
    r = sonde("buildid-list", "-i", SONDE)
    check("an ELF file's build-id", r.status == 1 and "no build-id" in r.err or re.fullmatch(rb"[0-9a-f]{16,128}\n", r.out), r)
    with open(SONDE, "rb") as f:
        cut = f.read(100)
    with open(path, "wb") as f:
        f.write(cut)
    r = sonde("buildid-list", "-i", path)
    check("a cut ELF file costs one line", r.status == 1 and len(r.err.splitlines()) == 1 and not r.out, r)


def kernel():
    if not os.access("/sys/kernel/notes", os.R_OK):
        print("SKIP: /sys/kernel/notes cannot be read")
        return
    with open("/sys/kernel/notes", "rb") as f:
        notes = f.read()
    r = sonde("buildid-list", "-k")
    check("-k is the id in the kernel's notes", r.status == 0 and bytes.fromhex(r.out.decode().strip()) in notes, r)
    if os.access("/proc/kallsyms", os.R_OK):
        maps = sonde("buildid-list", "-m")
        want = r.out.strip() + rb" +[0-9a-f]+ +[0-9a-f]+ \[kernel\.kallsyms\]"
        check("-m has the kernel", any(re.fullmatch(want, line) for line in maps.out.splitlines()), maps)


evlist()
with tempfile.TemporaryDirectory() as where:
    buildids(where)
kernel()
report.finish()
