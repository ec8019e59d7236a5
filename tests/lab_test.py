#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other machines' kernels: what stock perf recorded of them, opened here, compared with what those kernels said of
themselves at that moment (kallsyms, /proc/modules).

lab_test.py SONDE

The recordings are in $SONDE_LAB, or ../shared/lab/recordings beside the project; SKIPs without. A folder for each
architecture: perf.data, hw.data, kallsyms.xz, modules; vmlinux.symbols.xz is the kernel before it was relocated.
"""
import bisect
import collections
import lzma
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib"))
import support  # noqa: E402

FRAME = re.compile(rb"^\s+([0-9a-f]+) (.*?) \((.*)\)\s*$")
FUNCTION_TYPES = "tTwW"
RIGHT_PERCENT = 96.0  # the rest: modules that came while recording, of which stock perf tells nothing
# Below these lie no kernels; None: user and kernel addresses are not apart.
KERNEL_FROM = {"x86-64": 0xffff000000000000, "arm64": 0xffff000000000000, "i386": 0xc0000000, "s390x": None}
OTHER_BOOT = 0x400000

Truth = collections.namedtuple("Truth", "addresses symbols extents")


def read_truth(folder):
    """Names by address, and where modules lie."""
    with open(os.path.join(folder, "modules"), encoding="ascii") as f:
        extents = {w[0]: (int(w[5], 16), int(w[5], 16) + int(w[1])) for w in (line.split() for line in f)}
    with lzma.open(os.path.join(folder, "kallsyms.xz"), "rt") as f:
        text = f.read()
    symbols = sorted((int(w[0], 16), w[2], w[3][1:-1] if len(w) > 3 else "")
                     for w in (line.split() for line in text.splitlines()))
    return Truth([s[0] for s in symbols], symbols, extents), text


def names_at(truth, address):
    """All names that the place may have."""
    last = bisect.bisect_right(truth.addresses, address) - 1
    found = set()
    for i in range(last, -1, -1):
        start, name, module = truth.symbols[i]
        if start != truth.addresses[last]:
            break
        low, high = truth.extents.get(module, (0, 1 << 64))
        if low <= address < high:
            found.add(name)
    return found


def judge(out, truth, kernel_from):
    """Counter of right, wrong, refused, beyond (a module's address that is not its own); examples of wrong ones."""
    n, wrong, innermost = collections.Counter(), collections.Counter(), True
    for line in out.splitlines():
        m = FRAME.match(line)
        if not m:
            innermost = True
            continue
        ip, name, dso = int(m[1], 16), m[2].decode().split("+0x")[0], m[3].decode()
        kernel = dso.startswith(("[kernel", "/lib/modules")) or dso[1:-1] in truth.extents
        if kernel or (dso == "[unknown]" and kernel_from and ip >= kernel_from):
            want = names_at(truth, ip) | (set() if innermost else names_at(truth, ip - 1))
            kind = "refused" if name.startswith("[") else "right" if name in want else "wrong"
            n[kind] += 1
            if kind == "wrong":
                wrong[f"{ip:x} {name} for {'|'.join(sorted(want))}"] += 1
            low, high = truth.extents.get(dso[1:-1], (0, 1 << 64))
            n["beyond"] += not low <= ip - (not innermost) < high
        innermost = False
    return n, wrong


def bad_ends(data):
    """The last module reaches to the end of all addresses, as perfs before 4.13 wrote it."""
    data = bytearray(data)
    order = "<" if data[:8] == b"PERFILE2" else ">"
    at, size = struct.unpack_from(order + "QQ", data, 40)
    end, last = at + size, None
    while at < end:
        kind, _, size = struct.unpack_from(order + "IHH", data, at)
        if kind == 1 and struct.unpack_from(order + "i", data, at + 8)[0] == -1:
            start = struct.unpack_from(order + "Q", data, at + 16)[0]
            if b".ko" in data[at + 40:at + size] and (last is None or start > last[1]):
                last = (at, start)
        at += size
    struct.pack_into(order + "Q", data, last[0] + 24, (1 << 64) - 1 - last[1])
    return bytes(data)


class Lab:
    def __init__(self, sonde, report):
        self.sonde, self.report = sonde, report

    def script(self, path, *args):
        r = support.run([self.sonde, "script", "-f", "-i", path, "-F", "ip,sym,dso", *args])
        return r.out, r.err

    def named(self, what, path, truth, kernel_from, *args):
        """With the right symbols: nothing wrong, and nearly all there."""
        out, _ = self.script(path, *args)
        n, wrong = judge(out, truth, kernel_from)
        total = n["right"] + n["wrong"] + n["refused"]
        self.report.check(what, not n["wrong"] and n["right"] * 100 >= RIGHT_PERCENT * total > 0,
                          lambda: f"{dict(n)} {wrong.most_common(3)}")
        return n

    def refused(self, what, path, truth, kernel_from, *args):
        """Without them: not one name, and a line that says why."""
        out, err = self.script(path, *args)
        n, wrong = judge(out, truth, kernel_from)
        self.report.check(what, not n["wrong"] and not n["right"] and n["refused"],
                          lambda: f"{dict(n)} {wrong.most_common(3)}")
        self.report.check(what + ": said", "has no names" in err or "have no names" in err, err)

    def architecture(self, name, folder, scratch):
        truth, text = read_truth(folder)
        kernel_from = KERNEL_FROM[name]
        lists = os.path.join(scratch, "kallsyms"), os.path.join(scratch, "other"), os.path.join(scratch, "bad.data")
        with open(lists[0], "w", encoding="ascii") as f:
            f.write(text)
        with open(lists[1], "w", encoding="ascii") as f:
            for line in text.splitlines():
                address, rest = line.split(" ", 1)
                f.write(f"{int(address, 16) + OTHER_BOOT & (1 << 64) - 1:0{len(address)}x} {rest}\n")
        for data in ("perf.data", "hw.data"):
            path = os.path.join(folder, data)
            self.named(f"{name} {data}", path, truth, kernel_from, "--kallsyms", lists[0])
            self.refused(f"{name} {data}, no symbols", path, truth, kernel_from)
            self.refused(f"{name} {data}, another boot's list", path, truth, kernel_from, "--kallsyms", lists[1])
        with open(os.path.join(folder, "perf.data"), "rb") as f, open(lists[2], "wb") as to:
            to.write(bad_ends(f.read()))
        path = os.path.join(folder, "perf.data")
        good = self.named(f"{name}, good ends", path, truth, kernel_from, "--kallsyms", lists[0])
        self.report.check(f"{name}: modules keep to themselves", not good["beyond"], dict(good))
        bad = self.named(f"{name}, a module without an end", lists[2], truth, kernel_from, "--kallsyms", lists[0])
        self.report.check(f"{name}, a module without an end: it ends with its symbols", bad == good, dict(bad))
        out, _ = self.script(path, "--grades", "--kallsyms", lists[0])
        late = [line for line in out.decode().splitlines() if line.endswith("([raid6_pq]) {inferred}")]
        self.report.check(f"{name}: a module that came while recording", sum("raid6_" in line for line in late) > 50, late[:3])
        image = os.path.join(folder, "vmlinux.symbols.xz")
        if os.path.exists(image):
            vmlinux = os.path.join(scratch, "vmlinux")
            with lzma.open(image) as f, open(vmlinux, "wb") as to:
                to.write(f.read())
            path = os.path.join(folder, "hw.data")
            self.named(f"{name}, relocated", path, truth, kernel_from, "-k", vmlinux)
            for command in (["doctor", "-f", "-k", vmlinux, path], ["report", "-f", "-v", "-k", vmlinux, "-i", path, "--stdio"]):
                r = support.run([self.sonde, *command])
                self.report.check(f"{name}: {command[0]} tells the slide", "0x1a600000" in r.out.decode() + r.err, r.err)


def main():
    lab = support.lab_dir()
    if not lab:
        print("SKIP: recordings of other kernels are absent ($SONDE_LAB, or ../shared/lab/recordings)")
        sys.exit(support.SKIP)
    report = support.Report("lab")
    for name in sorted(KERNEL_FROM):
        if os.path.isdir(os.path.join(lab, name)):
            with tempfile.TemporaryDirectory() as scratch:
                Lab(os.path.abspath(sys.argv[1]), report).architecture(name, os.path.join(lab, name), scratch)
    report.finish()


if __name__ == "__main__":
    main()
