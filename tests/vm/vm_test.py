#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records with sonde on another kernel, under QEMU, and reads it back here.

vm_test.py GUEST SONDE

SKIPs where QEMU or the guest is not there (tests/vm/guests.py setup). Every guest is booted three times: without
relocation for its addresses, and twice at random places. What the guest's kernel said of itself is the truth.
"""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "truth"))
import evidence  # noqa: E402
import guests  # noqa: E402
import score  # noqa: E402
import support  # noqa: E402

GUEST, SONDE = guests.GUESTS[sys.argv[1]], os.path.abspath(sys.argv[2])
PERF = shutil.which("perf")
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = guests.folder(GUEST, "root")
FILES = (".ko", ".ko.xz", ".ko.gz", ".ko.zst")
report = support.Report(f"vm {GUEST.name}")


def check(ok, what, why=""):
    return report.check(what, ok, why or "it does not hold")


def skip(why):
    print(f"SKIP: {GUEST.name}: {why}")
    sys.exit(support.SKIP)


def sonde_for_guest(build):
    if guests.native(GUEST):
        return SONDE
    try:
        return guests.cross_build(GUEST, os.path.join(build, "vm", GUEST.machine))
    except guests.Absent as e:
        skip(str(e))


def script(path, *args):
    """(samples, stderr) of `sonde script --json`."""
    r = support.run([SONDE, "script", "--json", "-i", path, *args])
    check(r.status == 0, f"script {' '.join(args)}", r.err[-300:])
    found = [json.loads(line) for line in r.out.splitlines()]
    return [s for s in found if s["type"] == "sample"], r.err


def frames(sample):
    """[(address, name, dso, is a caller)] of a sample's kernel part."""
    if sample.get("mode") != "kernel":
        return []
    chain = sample.get("callchain") or [sample]
    if GUEST.machine == "s390x":  # its kernel's addresses may be a program's too
        chain = [f for i, f in enumerate(chain) if i == 0 or f.get("dso", "").endswith((".kallsyms]", ".ko"))]
    else:
        chain = [f for f in chain if int(f["ip"], 16) >> 48 == 0xffff]
    return [(int(f["ip"], 16), f.get("sym"), f.get("dso", ""), i > 0) for i, f in enumerate(chain)]


class Boot:
    """One run of the guest and what is known of it."""

    def __init__(self, out, program, append="", more=None):
        self.out = out
        script_text = evidence.text(HERE, "guest.sh")
        seconds = guests.boot(GUEST, out, script_text, {"sonde": program, **(more or {})}, append)
        log = evidence.text(out, "log")
        print(f"{GUEST.name} {append or 'relocated'}: {seconds:.0f} s")
        check(evidence.text(out, "status").strip() == "0", f"the guest's script {append}", log[-1500:])
        self.before = evidence.Kallsyms(os.path.join(out, "before/kallsyms"))

    def path(self, *names):
        return os.path.join(self.out, *names)

    def has(self, name):
        return os.path.exists(self.path(name))

    def work(self):
        self.after = evidence.Kallsyms(self.path("after/kallsyms"))
        self.loaded = evidence.Kallsyms(self.path("loaded.kallsyms")) if self.has("loaded.kallsyms") else self.after
        self.recording = evidence.Recording(self.path("work.data"))
        self.maps = self.recording.kernel_maps()
        self.marks = self.recording.commands()
        self.places = {guests.module_name(m.name): m for m in self.maps}
        self.came = evidence.modules(self.path("loaded.modules")) if self.has("loaded.modules") else {}

        # What only ran while it was loaded is in no list afterwards; its module's file tells.
        self.init = []
        for name, where, first, last in (("raid6_pq", "loaded.sections", "mark-load", "mark-loaded"),
                                         ("xor", "after/sections", "mark-unload", "mark-end")):
            if self.came:
                start = evidence.sections(self.path(where))[name, ".init.text"]
                file = os.path.join(ROOT, self.places[name].name.lstrip("/"))
                self.init += [(function, start + at, start + at + size, self.marks[first], self.marks[last])
                              for function, (at, size) in
                              evidence.code_of_section(guests.plain(file), ".init.text").items()]

    def init_names(self, address, time):
        """Functions that were there for as long as their module was loaded."""
        return {(name, "") for name, start, end, first, last in self.init
                if start <= address <= end and first < time < last}

    def place(self, address):
        """The module that came while recording and had its code there; None: none."""
        start, size = self.came["raid6_pq"]
        text = evidence.sections(self.path("loaded.sections"))
        ends = [a for (_m, s), a in text.items() if a > text["raid6_pq", ".text"] and start <= a < start + size]
        return "raid6_pq" if text["raid6_pq", ".text"] <= address < min(ends) else None


# --- what was recorded ---


def kernel_map(boot):
    """The kernel's map ends at its real end, and its reference symbol is where it was."""
    kernel = [m for m in boot.maps if m.name.startswith("[kernel.kallsyms]")]
    if not check(len(kernel) == 1, "one kernel map", f"{kernel}"):
        return
    m, symbols = kernel[0], boot.before.symbols
    reference = m.name.removeprefix("[kernel.kallsyms]")
    check(reference in ("_text", "_stext") and m.start == symbols[reference], "kernel's reference", f"{m}")
    check(m.end == symbols["_etext"], "kernel's end", f"{m.end:x}, _etext is {symbols['_etext']:x}")
    check(m.build_id and bytes.fromhex(m.build_id) in open(boot.path("before/notes"), "rb").read(),
          "kernel's build-id", m.build_id)


def first_maps(boot):
    """Every module that was there has its map, from where /proc/modules says to where it says."""
    listed = evidence.modules(boot.path("before/modules"))
    saved = evidence.sections(boot.path("before/sections"))
    found = {guests.module_name(m.name): m for m in boot.maps if m.name.endswith(FILES)}
    starts = sorted(start for start, _size in listed.values())
    for name, (start, size) in listed.items():
        m = found.get(name)
        if not check(m, f"map of {name}"):
            continue
        # s390x: tables stand in front of .text, from where readers count.
        begin = saved.get((name, ".text"), start) if GUEST.machine == "s390x" else start
        following = min([s for s in starts if s > start], default=start + size)
        check(m.start == begin, f"start of {name}", f"{m.start:x}, not {begin:x}")
        check(m.end == min(start + size, max(following, start + 1)), f"end of {name}",
              f"{m.end:x}, not {start + size:x} (the next begins at {following:x})")
        check(m.name.startswith("/lib/modules/"), f"path of {name}", m.name)
        check(m.build_id, f"build-id of {name}")
    last = max(listed, key=lambda n: listed[n][0])
    check(found.get(last) and found[last].end == sum(listed[last]), f"the last module, {last}")
    check(all(m.end < 1 << 64 and m.end - m.start < 1 << 30 for m in boot.maps), "no map ends at ~0")


def saved_sections(boot):
    """The sections in the recording are those of /sys/module."""
    wanted, got, module = evidence.sections(boot.path("before/sections")), {}, None
    for line in evidence.part_lines(boot.recording.parts().get(evidence.PART_SECTIONS, b"")):
        if line[0] == "module":
            module = line[4]
        else:
            got[module, line[2]] = int(line[1], 16)
    check(got and got == wanted, "saved sections",
          lambda: f"{len(got)} of {len(wanted)}; missing {sorted(set(wanted) - set(got))[:5]}, "
                  f"more {sorted(set(got) - set(wanted))[:5]}")


def came_and_went(boot):
    """A module's map has the time of its loading and its true length; the log says when it went, and its sections."""
    loaded = evidence.modules(boot.path("loaded.modules"))
    sizes = dict(loaded, xor=evidence.modules(boot.path("after/modules"))["xor"])
    mark, went = boot.marks, {}
    for name, after, before in (("raid6_pq", "mark-load", "mark-loaded"), ("xor", "mark-unload", "mark-end")):
        maps = [m for m in boot.maps if guests.module_name(m.name) == name]
        if check(len(maps) == 1, f"one map of {name}", f"{maps}"):
            m = maps[0]
            check(mark[after] <= m.time <= mark[before], f"{name}'s map is of its loading",
                  f"{mark[after]} {m.time} {mark[before]}")
            check(m.end == sum(sizes[name]), f"{name}'s end while it was loading", f"{m.end:x}, not {sum(sizes[name]):x}")
            check(m.build_id, f"{name}'s build-id")
    module, got, began = None, {}, {}
    for line in evidence.part_lines(boot.recording.parts().get(evidence.PART_MODULES, b"")):
        if line[0] == "unloaded":
            went[line[4]] = int(line[1])
        elif line[0] == "loaded":
            began["next"] = int(line[1])
        elif line[0] == "module":
            module = line[4]
            began[module] = began["next"]
        elif line[0] == "section":
            got[module, line[2]] = int(line[1], 16)
    check(mark["mark-unload"] <= went.get("raid6_pq", 0) <= mark["mark-unloaded"], "when raid6_pq went", f"{went}")
    check(mark["mark-load"] <= began.get("raid6_pq", 0) <= mark["mark-loaded"], "when raid6_pq came", f"{began}")
    wanted = {k: v for k, v in evidence.sections(boot.path("loaded.sections")).items() if ".init" not in k[1]}
    mine = {k: v for k, v in got.items() if k[0] == "raid6_pq"}
    check(wanted.items() <= mine.items() and ("raid6_pq", ".init.text") in mine, "sections of what was loaded",
          lambda: f"missing {sorted(set(wanted.items()) - set(mine.items()))[:5]}")


def nothing_remains(boot, samples):
    """No name of a module at a time when it was not there, or not yet."""
    mark = boot.marks
    wrong = [(s["time"], name) for s in samples for _a, name, dso, _c in frames(s)
             if guests.module_name(dso) == "raid6_pq" and not mark["mark-load"] < s["time"] < mark["mark-unloaded"] or
             guests.module_name(dso) == "xor" and s["time"] < mark["mark-unload"]]
    check(not wrong, "no module outlives its code", f"{wrong[:4]}")
    # Nothing runs where the module was; so samples are moved there, one of its time and one of a later time.
    start, end = boot.places["raid6_pq"].start, boot.places["raid6_pq"].end
    later = [m for m in boot.maps if m.time > boot.places["raid6_pq"].time]
    free = [a for a in range(start + 16, end, 512) if not any(m.start <= a < m.end for m in later)]
    if not free:
        return
    address = free[-1]
    path = boot.path("moved.data.tmp")
    with open(path, "wb") as f:
        f.write(boot.recording.moved(address, (mark["mark-loaded"], mark["mark-unload"]), (mark["mark-end"], 1 << 64)))
    found = {s["time"] < mark["mark-unload"]: s.get("dso", "") for s in script(path)[0] if int(s["ip"], 16) == address}
    check(guests.module_name(found.get(True, "")) == "raid6_pq" and found.get(False) == "",
          "a module's map ends when it goes", f"{found}")


# --- what is read ---


def names_right(boot, samples, what):
    """Every name is one that the kernel itself has for the address, and no kernel frame lacks one."""
    wrong, unnamed, late, named = [], [], [], 0
    # Of modules that came while recording as well.
    lists = ("before/sections", "loaded.sections", "after/sections") if boot.came else ("before/sections",)
    borders = sorted({start for path in lists for start in evidence.sections(boot.path(path)).values()})
    end, unload = boot.before.symbols["_etext"], boot.marks["mark-unload"]
    for s in samples:
        truth = boot.loaded if s["time"] < unload else boot.after
        for address, name, dso, caller in frames(s):
            in_kernel = boot.before.start <= address < end
            may = truth.names(address) | (truth.names(address - 1) if caller else set())
            init = boot.init_names(address, s["time"])
            may |= init
            if name:
                named += 1
                if name not in {n for n, _module in may}:
                    wrong.append((hex(address), name, sorted(may)[:3], s["time"]))
            # Interrupted at a function's first instruction: what lies before it may be nobody's.
            elif (in_kernel or dso) and not init and not truth.crosses(address, borders) and \
                    not (caller and address in truth.by_address):
                unnamed.append((hex(address), dso, sorted(may)[:3]))
            # A list that was made later does not know init code any more, and it is asked first.
            there = s["time"] < unload and boot.place(address)
            where = there or (".init.text" if what == "vmlinux" and init else None)
            if where and not name and s["time"] > boot.marks["mark-load"]:
                late.append((hex(address), where, s["time"]))
    check(not late, f"{what}: modules that were just loaded", lambda: f"{len(late)}: {late[:4]}")
    check(not wrong, f"{what}: no wrong name", lambda: f"{len(wrong)}, such as {wrong[:4]}")
    check(named > 100, f"{what}: names", f"{named}")
    check(not unnamed, f"{what}: every frame has a name", lambda: f"{len(unnamed)} of {named} lack one: {unnamed[:4]}")
    return named


def offline(boot, vmlinux):
    """Here, with the guest's own lists and files only."""
    path = boot.path("work.data")
    by_list, err = script(path, "--kallsyms", boot.path("after/kallsyms"), "--symfs", ROOT)
    names_right(boot, by_list, "kallsyms")
    nothing_remains(boot, by_list)
    modules = {dso for s in by_list for _a, name, dso, _c in frames(s) if name and dso.endswith(FILES)}
    check({"zram", "raid6_pq"} <= {guests.module_name(m) for m in modules}, "frames of modules have names", f"{modules}")
    by_image, err = script(path, "-k", vmlinux, "--symfs", ROOT)
    names_right(boot, by_image, "vmlinux")
    kernel = sum(dso == "[kernel.kallsyms]" for s in by_image for _a, name, dso, _c in frames(s) if name)
    check(kernel > 100, "vmlinux: kernel frames", f"{kernel}; {err}")


def without_symbols(boot):
    samples, _err = script(boot.path("work.data"))
    named = [(hex(a), n) for s in samples for a, n, _d, _c in frames(s) if n]
    check(sum(len(frames(s)) for s in samples) > 100, "kernel frames")
    check(not named, "without symbols no kernel frame is named", f"{len(named)}: {named[:5]}")


def slide(boot, plain, vmlinux):
    """-v tells how far the kernel was moved."""
    wanted = boot.before.start - plain.before.start
    r = support.run([SONDE, "report", "-v", "--stdio", "-i", boot.path("work.data"), "-k", vmlinux])
    told = re.search(re.escape(vmlinux) + r".*\bmoved by (-?0x[0-9a-f]+)", r.err)
    check((int(told.group(1), 0) if told else 0) == wanted and vmlinux in r.err, "the slide is told",
          f"{told and told.group(0)}, wanted {wanted:#x}; {r.err[-500:]}")
    return wanted


def same_image(boot, vmlinux):
    """The one image serves every boot, each at its own place."""
    samples, err = script(boot.path("work.data"), "-k", vmlinux)
    inside = [f for s in samples for f in frames(s) if boot.before.start <= f[0] < boot.before.symbols["_etext"]]
    wrong = [(hex(a), n) for a, n, _d, caller in inside
             if n not in {t for t, _m in boot.before.names(a) | (boot.before.names(a - 1) if caller else set())}]
    check(len(inside) > 20 and not wrong, "the image names another boot's frames",
          f"{len(wrong)} of {len(inside)}: {wrong[:4]}; {err[-200:]}")


def other_boot(boot, other):
    """The kallsyms of another boot names nothing, and that is said."""
    samples, err = script(boot.path("work.data"), "--kallsyms", other.path("after/kallsyms"))
    named = [(hex(a), n) for s in samples for a, n, _d, _c in frames(s) if n]
    check(not named, "kallsyms of the other boot", f"it named {len(named)}: {named[:5]}")
    check("kallsyms" in err, "the refusal is said", err[-300:])


def count(path, perf=False):
    command = [PERF if perf else SONDE, "script", "-i", "-" if path.endswith("pipe.data") else path, "-F", "tid,time"]
    with open(path, "rb") as f:
        r = subprocess.run(command, stdin=f, capture_output=True, env=support.ENV, timeout=120)
    check(r.returncode == 0, f"{os.path.basename(command[0])} script {os.path.basename(path)}", r.stderr.decode()[-300:])
    return len([line for line in r.stdout.decode("utf-8", "replace").splitlines() if re.match(r"\s*-?\d+\s+\d+\.\d+:", line)])


def counts(boot):
    """As many samples as record said, here and in the installed perf."""
    for name in sorted(os.listdir(boot.out)):
        if not name.endswith(".data"):
            continue
        here = count(boot.path(name))
        check(here > 0, f"samples of {name}")
        if PERF:
            theirs = count(boot.path(name), True)
            check(theirs == here, f"perf's samples of {name}", f"{theirs}, sonde has {here}")
    said = re.findall(r"(\w+)\.data.*\((\d+) samples\)", evidence.text(boot.out, "log"))
    check(len(said) >= 5, "closing lines", f"{said}")
    for name, n in said:
        if boot.has(name + ".data") and name != "group":  # a group's reading is shown as a sample of each of its events
            check(count(boot.path(name + ".data")) == int(n), f"samples of {name}.data", n)


def events(boot):
    if check(boot.has("kprobe.data"), "a kprobe", evidence.text(boot.out, "log")[-500:]):
        samples, _err = script(boot.path("kprobe.data"))
        check(len(samples) == 20 and {s["event"] for s in samples} == {"vm:unlink"}, "20 hits of a kprobe", f"{len(samples)}")
    samples, _err = script(boot.path("exec.data"))
    check(len(samples) == 4, "4 programs begun", f"{len(samples)}")
    pmus = evidence.text(boot.out, "pmus").split()
    hardware = any(p.startswith(("armv8", "cpu")) for p in pmus)
    check(GUEST.machine != "aarch64" or hardware, "arm64 has a PMU", f"{pmus}")
    if hardware:
        samples, _err = script(boot.path("hw.data"))
        check(0 in evidence.Recording(boot.path("hw.data")).attr_types and len(samples) > 5 and
              all(s["period"] == 1000000 for s in samples), "cycles of the PMU", f"{len(samples)}")
        samples, _err = script(boot.path("group.data"))
        check({s["event"] for s in samples} == {"cycles", "cpu-clock"}, "a group with a clock")


TRUTH = os.path.join(os.path.dirname(HERE), "truth")


# QEMU's s390x stops such programs at legal instructions now and then, or they never end, without sonde as well.
UNSURE = GUEST.machine == "s390x"


# Samples so near to the beginning or end of what a program says it did are not judged: on a busy machine the emulator may
# stop between what it did and what it says.
EDGE_NS = 3000000


def burners(into):
    """{name in the guest: path} of programs that know what they did, in two builds; empty without a compiler."""
    compiler = "cc" if guests.native(GUEST) else GUEST.machine + "-linux-gnu-gcc"
    found = {}
    for kind, build_id in (("id", "sha1"), ("plain", "none")):
        for number, name in enumerate(("one", "two")):
            path = os.path.join(into, f"burner-{kind}-{name}")
            command = [compiler, os.path.join(TRUTH, "burner.c"), "-o", path, "-w", "-O1", "-static", "-no-pie", "-fno-pie",
                       f"-DVARIANT={name}", f"-DSECOND={number}", f"-Wl,--build-id={build_id}", "-ldl", "-lpthread"]
            if not shutil.which(compiler) or subprocess.run(command, capture_output=True).returncode:
                print(f"{GUEST.name}: no compiler makes programs for it: replaced ones are not tried")
                return {}
            found[os.path.basename(path)] = path
    return found


def replaced_programs(boot):
    """What the recording keeps names programs that were replaced: each sample as the program itself says."""
    if UNSURE:
        print("SKIP programs that are replaced: this emulator runs what was in a page before")
        return
    for name in sorted(os.listdir(boot.path("truth"))) if boot.has("truth") else []:
        r = support.run([SONDE, "script", "-f", "-i", boot.path("truth", name, "perf.data"), "-F", "comm,tid,time,ip,sym,dso",
                         "--ns"])
        s = score.score(evidence.text(boot.out, "truth", name, "log").splitlines(), r.out.decode().splitlines(), EDGE_NS)
        wrong = sum(s.wrong.values())
        # What is replaced while it runs may be gone before a slow recorder sees that it was mapped.
        running = name.startswith(("renamed", "recreated"))
        print(f"{name}: {100 * s.right / max(s.judged, 1):.0f} % right of {s.judged}")
        check(s.judged > 20 and not wrong and (running or s.right >= 0.99 * s.judged), f"{name}: named rightly",
              f"{s.judged} judged, {s.right} right, {wrong} wrong: {s.wrong.most_common(3)}; {r.err[-200:]}")


PERF_FRAME = re.compile(r"\s*([0-9a-f]+)\s+(.*?)\s+\((\S+)\)$")


def perf_names(path, *args):
    """[(address, name, dso)] of the frames that the installed perf takes for modules'."""
    r = subprocess.run([PERF, "script", "-f", "-i", path, "--symfs", ROOT, "-F", "ip,sym,dso", *args],
                       stdin=subprocess.DEVNULL, capture_output=True, env=support.ENV, timeout=300)
    check(r.returncode == 0, f"perf script {os.path.basename(path)}", r.stderr.decode()[-300:])
    found = (PERF_FRAME.match(line) for line in r.stdout.decode("utf-8", "replace").splitlines())
    return [(int(m[1], 16), m[2].split("+0x")[0], m[3]) for m in found if m and m[3].endswith(FILES)]


def sections_put_in(boot):
    """inject --kmod-sections on the boot that was recorded: as many frames have names, and no other ones."""
    files = {guests.module_name(name) for m in boot.maps if (name := m.name).endswith(FILES)}
    texts = {start for (module, section), start in evidence.sections(boot.path("after/sections")).items()
             if module in files and section == ".text"}
    for name in ("sections", "rfc"):
        path = boot.path("injected", name + ".data")
        # Without a name: in what a module's loader writes (.plt), which is in no map of a section.
        before, after = ([f for s in script(p, "--kallsyms", boot.path("after/kallsyms"), "--symfs", ROOT)[0]
                          for f in frames(s) if f[1]] for p in (boot.path("work.data"), path))
        check(before == after, f"{name}: the same names", lambda a=after, b=before: f"{[x for x in zip(b, a) if x[0] != x[1]][:4]}")
    path = boot.path("injected", "sections.data")
    put_in = {m.start for m in evidence.Recording(path).kernel_maps() if m.name.endswith(FILES)}
    check(texts and texts <= put_in, "every .text has a map", f"{[hex(t) for t in texts - put_in][:4]}")
    if PERF:
        for args in ([], ["--kallsyms", boot.path("after/kallsyms")]):
            plain, injected = (set(perf_names(p, *args)) for p in (boot.path("work.data"), path))
            # It may find other ones at borders, and where a module took another's place; none that is not there.
            wrong = [(hex(a), name, dso) for a, name, dso in injected - plain if name != "[unknown]" and name not in
                     {n for t in (boot.loaded, boot.after) for at in (a, a - 1) for n, _module in t.names(at)}]
            check(plain and len(injected) * 10 >= len(plain) * 9 and not wrong, f"perf names modules no worse {args[:1]}",
                  f"{len(plain)} before, {len(injected)} now, wrong {wrong[:6]}")


def sections_refused(boot):
    check("boot" in evidence.text(boot.out, "refused.err"), "sections are not put into another boot's recording",
          evidence.text(boot.out, "refused.err"))


def relocated(out, program, starts, append="", more=None):
    """A boot at another place than those before, where the machine can do that at all: by chance it is the same."""
    for _ in range(3):
        boot = Boot(out, program, append, more)
        if boot.before.start not in starts or GUEST.machine == "s390x":
            break
        print("at the same place by chance: once more")
    boot.work()
    return boot


def main():
    why = guests.lacking(GUEST)
    if why:
        skip(why)
    program = sonde_for_guest(os.path.dirname(SONDE))
    with tempfile.TemporaryDirectory(prefix="sonde-vm-") as at:
        at = os.environ.get("SONDE_VM_KEEP") or at
        plain = Boot(os.path.join(at, "plain"), program, "nokaslr vm=addresses")
        os.makedirs(os.path.join(at, "programs"), exist_ok=True)
        first = relocated(os.path.join(at, "first"), program, {plain.before.start},
                          more=None if UNSURE else burners(os.path.join(at, "programs")))
        second = relocated(os.path.join(at, "second"), program, {plain.before.start, first.before.start}, "vm=short",
                           {"other.data": first.path("work.data")})
        vmlinux = os.path.join(at, "vmlinux")
        evidence.make_vmlinux(vmlinux, GUEST.machine, plain.before, open(plain.path("before/notes"), "rb").read())
        for look in (kernel_map, first_maps, saved_sections, came_and_went, without_symbols, counts, events, sections_put_in, replaced_programs):
            look(first)
        sections_refused(second)
        offline(first, vmlinux)
        slides = [slide(boot, plain, vmlinux) for boot in (first, second)]
        same_image(second, vmlinux)
        print(f"slides: {', '.join(hex(s) for s in slides)}")
        if slides[0] != slides[1]:
            other_boot(first, second)
            other_boot(second, first)
        else:
            check(GUEST.machine == "s390x", "two boots have two slides")
    report.finish()


if __name__ == "__main__":
    main()
