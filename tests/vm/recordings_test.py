#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Old wounds on recordings of other kernels that stock perf made, with what those kernels said of themselves.

recordings_test.py SONDE

SKIPs without the recordings ($SONDE_LAB, or ../shared/lab/recordings): a folder for each architecture with perf.data,
hw.data, kallsyms.xz, modules (/proc/modules), notes/, and vmlinux.symbols.xz for one of them. The files are damaged
here as old perfs did, and looked at with lists of other boots and other kernels.
"""
import json
import lzma
import os
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import evidence  # noqa: E402
import support  # noqa: E402

SONDE = os.path.abspath(sys.argv[1])
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAB = os.environ.get("SONDE_LAB", os.path.join(TOP, "..", "shared", "lab", "recordings"))
MACHINES = {"x86-64": "x86_64", "arm64": "aarch64", "s390x": "s390x", "i386": "i386"}
report = support.Report("recordings of other kernels")


class Case:
    """An architecture's recordings and lists, in a folder of ours."""

    def __init__(self, name, at):
        self.name, self.at, self.folder = name, at, os.path.join(LAB, name)
        self.data, self.lists = os.path.join(self.folder, "perf.data"), os.path.join(at, name + ".kallsyms")
        with lzma.open(os.path.join(self.folder, "kallsyms.xz")) as f, open(self.lists, "wb") as to:
            to.write(f.read())
        self.truth = evidence.Kallsyms(self.lists)
        self.modules = evidence.modules(os.path.join(self.folder, "modules"))
        self.recording = evidence.Recording(self.data)
        self.end = self.truth.symbols["_etext"]

    def check(self, ok, what, why=""):
        return report.check(f"{self.name}: {what}", ok, why or "it does not hold")

    def write(self, name, data):
        path = os.path.join(self.at, f"{self.name}.{name}")
        with open(path, "wb") as f:
            f.write(data)
        return path

    def samples(self, path, *args):
        """Those taken in the kernel, and stderr."""
        r = support.run([SONDE, "script", "--json", "-i", path, *args])
        self.check(r.status == 0, f"script {' '.join(args)}", r.err[-300:])
        found = (json.loads(line) for line in r.out.splitlines())
        return [s for s in found if s["type"] == "sample" and s.get("mode") == "kernel"], r.err

    def frames(self, path, *args):
        """[(address, name, dso, caller, time)] of the kernel's part, and stderr."""
        found = []
        samples, err = self.samples(path, *args)
        for s in samples:
            for i, f in enumerate(s.get("callchain") or [s]):
                address = int(f["ip"], 16)
                if i == 0 or self.in_kernel(address) or f.get("dso", "").endswith((".ko", "]")):
                    found.append((address, f.get("sym"), f.get("dso", ""), i > 0, s["time"]))
        return found, err

    def in_kernel(self, address):
        return self.truth.start <= address < self.end

    def right(self, frames, what):
        wrong = []
        for address, name, dso, caller, _time in frames:
            may = self.truth.names(address) | (self.truth.names(address - 1) if caller else set())
            if name and name not in {n for n, _module in may}:
                wrong.append((hex(address), name, dso, sorted(may)[:3]))
        named = sum(1 for f in frames if f[1])
        self.check(not wrong, f"{what}: no wrong name", lambda: f"{len(wrong)} of {named}: {wrong[:4]}")
        return named

    def none_named(self, frames, what):
        named = [(hex(f[0]), f[1], f[2]) for f in frames if f[1]]
        self.check(not named, f"{what}: nothing is named", lambda: f"{len(named)} of {len(frames)}: {named[:4]}")


def plain(case):
    """Its own list names everything in the kernel's text, rightly; without it nothing is named."""
    for name in ("perf.data", "hw.data"):
        path = os.path.join(case.folder, name)
        frames, err = case.frames(path, "--kallsyms", case.lists)
        case.right(frames, name)
        lacking = [hex(f[0]) for f in frames if not f[1] and case.in_kernel(f[0])]
        case.check(len(frames) > 20 and not lacking, f"{name}: the kernel's text has names",
                   lambda: f"{len(lacking)} of {len(frames)}: {lacking[:5]}; {err[-300:]}")
        case.none_named(case.frames(path)[0], f"{name} without symbols")


def shifted(case, by, kernel, modules):
    """The list of a boot that put the kernel, or its modules, elsewhere."""
    lines = []
    for line in case.truth.lines:
        move = by if (modules if len(line) > 3 else kernel) else 0
        lines.append(f"{int(line[0], 16) + move:016x} {line[1]} {line[2]}" + (f"\t{line[3]}" if len(line) > 3 else ""))
    return case.write("shifted", ("\n".join(lines) + "\n").encode())


def other_boots(case):
    frames, err = case.frames(case.data, "--kallsyms", shifted(case, 0x200000, True, True))
    case.none_named(frames, "list of another boot")
    case.check("shifted" in err, "the refusal is said", err[-300:])
    # The kernel at the same place by chance, or because nothing moves it; its modules never are.
    for by in (0x1000, -0x1000, 0x200000):
        frames, err = case.frames(case.data, "--kallsyms", shifted(case, by, False, True))
        case.none_named([f for f in frames if f[2] != "[kernel.kallsyms]"], f"modules of another boot, {by:#x} off")
        case.right([f for f in frames if case.in_kernel(f[0])], "kernel of another boot")


def other_kernels(case):
    """Another architecture's list, or an image of another kernel."""
    other = next(n for n in MACHINES if n != case.name)
    with lzma.open(os.path.join(LAB, other, "kallsyms.xz")) as f:
        path = case.write("other", f.read())
    case.none_named(case.frames(case.data, "--kallsyms", path)[0], "another kernel's list")


def first_perfs_spelling(case):
    """The first perfs wrote [kernel.kallsyms._text]; it is as long as today's with the 0 after it."""
    data, new = case.recording.data, b"[kernel.kallsyms]_"
    at = data.index(new)
    end = data.index(b"\0", at)
    old = data[at:end].replace(b"]_", b"._") + b"]"
    case.check(not any(data[end:end + 2]), "room for the first perfs' spelling")
    path = case.write("spelling", data[:at] + old + data[at + len(old):])
    for args in (["--kallsyms", case.lists], []):
        a, b = (case.frames(p, *args)[0] for p in (case.data, path))
        case.check(a == b, f"{old.decode()} {args[:1]}", lambda x=a, y=b: f"{[p for p in zip(x, y) if p[0] != p[1]][:3]}")


def images(case):
    packed = os.path.join(case.folder, "vmlinux.symbols.xz")
    if not os.path.exists(packed):
        return
    with lzma.open(packed) as f:
        image = case.write("vmlinux", f.read())
    frames, err = case.frames(case.data, "-k", image)
    kernel = [f for f in frames if case.in_kernel(f[0])]
    case.check(case.right(kernel, "image") == len(kernel) > 1000, "image: the kernel's text has names", err[-300:])
    r = support.run([SONDE, "report", "-v", "--stdio", "-i", case.data, "-k", image])
    case.check("moved by 0x" in r.err, "the slide is told", r.err[-300:])
    # The same symbols with another build-id, and none of it: its text may be as long by chance.
    with open(os.path.join(case.folder, "notes", "kernel"), "rb") as f:
        notes = f.read()
    at = notes.rindex(b"GNU\0") + 4
    foreign = case.write("foreign", b"")
    evidence.make_vmlinux(foreign, MACHINES[case.name], case.truth, notes[:at] + bytes(20) + notes[at + 20:])
    frames, err = case.frames(case.data, "-k", foreign)
    case.none_named([f for f in frames if case.in_kernel(f[0])], "image with another build-id")
    case.check("foreign" in err, "the image's refusal is said", err[-300:])


def last_module(case):
    """The last module's map runs to the end of all, as old perfs wrote it: what lies after the module is not its."""
    order, data = case.recording.order, bytearray(case.recording.data)
    last = max((m for m in case.recording.kernel_maps() if m.name.endswith(".ko")), key=lambda m: m.start)
    name = os.path.basename(last.name).split(".")[0].replace("-", "_")
    true_end = sum(case.modules[name])
    record = next(r for kind, r in case.recording.records
                  if kind == evidence.MMAP and struct.unpack_from(order + "Q", r, 16)[0] == last.start)
    top = 0xffffffff if case.name == "i386" else (1 << 64) - 1
    struct.pack_into(order + "Q", data, case.recording.data.index(record) + 24, top - last.start)
    path = case.write("badlast", bytes(data))
    frames, _err = case.frames(path, "--kallsyms", case.lists)
    case.right(frames, "endless last module")
    own = {last.name, f"[{name}]"}  # its name where a build-id is listed for it, and where none is
    beyond = [(hex(f[0]), f[1]) for f in frames if f[1] and f[2] in own and f[0] >= true_end]
    case.check(not beyond, "no name of the last module's behind its end", f"{beyond[:5]}")
    kernel = [f for f in frames if case.in_kernel(f[0])]
    case.check(all(f[2] == "[kernel.kallsyms]" for f in kernel), "the kernel's own code stays its own")
    # A sample moved into it, and after it: as far as a list of its symbols allows, or a guess.
    inside, bad = last.start + 64, evidence.Recording(path)
    for how, args, slack in (("", ["--kallsyms", case.lists], 2 * 4096), (" without a list", [], 2 << 20)):
        for address in (inside, max(true_end, last.end) + slack):
            moved = case.write("moved", bad.moved(address, (0, 1 << 64)))
            found = [s.get("dso") for s in case.samples(moved, *args)[0] if int(s["ip"], 16) == address]
            case.check(len(found) == 1 and (found[0] in own) == (address == inside),
                       f"an address {'in' if address == inside else 'behind'} the last module{how}", f"{found}")


def main():
    if not os.path.isdir(LAB):
        print("SKIP: the folder of other kernels' recordings is absent ($SONDE_LAB, or ../shared/lab/recordings)")
        sys.exit(support.SKIP)
    with tempfile.TemporaryDirectory(prefix="sonde-lab-") as at:
        for name in MACHINES:
            case = Case(name, at)
            for look in (plain, other_boots, other_kernels, first_perfs_spelling, images, last_module):
                look(case)
    report.finish()


if __name__ == "__main__":
    main()
