#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""export: every format holds the stacks and weights of `folded`, and is read by the tools it is for.

export_formats_test.py SONDE
"""
import gzip
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import export_formats as formats
import support

SONDE = sys.argv[1]
RECORDINGS = os.path.join(HERE, "recordings")
# Call stacks; two events; two events in a group; the kernel; files that were replaced; several threads.
SOME = ["frame-pointers", "counts", "group", "kernel", "replaced", "threads", "dwarf", "tracepoint"]
report = support.Report("export_formats")


def recording(name):
    return os.path.join(RECORDINGS, name + ".data")


def export(kind, path, *more):
    r = support.run([SONDE, "export", kind, *more, path])
    report.check(f"{kind} of {os.path.basename(path)}: status", r.status == 0, r.err)
    return r


def events_of(path):
    r = support.run([SONDE, "evlist", "-i", path])
    return [line.strip() for line in r.out.decode().splitlines() if line and not line.startswith("#")]


def folded(path, *more):
    """{event: {stack: weight}} of the events that have samples; spaces in comms are gone."""
    result = {}
    for event in events_of(path):
        r = support.run([SONDE, "export", "folded", "-e", event, *more, path])
        lines = [line.rsplit(" ", 1) for line in r.out.decode().splitlines()]
        if r.status == 0:
            result[event] = {tuple(stack.split(";")): int(weight) for stack, weight in lines}
    return result


def tool(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=support.HANG_SECONDS, check=False, **more)


def differences(have, want):
    plain = {event: dict(stacks) for event, stacks in have.items()}
    return str({e: sorted(set(plain.get(e, {}).items()) ^ set(want.get(e, {}).items()))[:4]
                for e in plain.keys() | want.keys()})


def same(what, have, want):
    report.check(what, {e: dict(s) for e, s in have.items()} == want, lambda: differences(have, want))


# --- pprof ---

def pprof():
    for name in SOME:
        path = recording(name)
        profile = formats.Pprof(export("pprof", path).out)
        same(f"pprof of {name}: stacks", profile.stacks(), folded(path))
        same(f"pprof of {name}: numbers of samples", profile.stacks(samples=True), folded(path, "-n"))
        one = list(folded(path))[-1]
        only = formats.Pprof(export("pprof", path, "-e", one).out)
        report.check(f"pprof of {name}: -e", [t[0] for t in only.types] == ["samples", one], str(only.types))
        for id_, location in profile.locations.items():
            address, mapping = formats.first(location, 3), formats.first(location, 2)
            if mapping:
                report.check(f"pprof of {name}: place {id_} lies in its mapping",
                             address < profile.mappings[mapping][3][0], str(location))
    profile = formats.Pprof(export("pprof", recording("kernel")).out)
    ids = {profile.text(m, 5): profile.text(m, 6) for m in profile.mappings.values()}
    listed = dict(reversed(line.split(" ", 1)) for line in
                  support.run([SONDE, "buildid-list", "-i", recording("kernel")]).out.decode().splitlines())
    report.check("pprof: build-ids", ids and all(ids[path] == listed[path] for path in ids), f"{ids} {listed}")
    report.check("pprof: -n is the default type then", formats.Pprof(export("pprof", recording("kernel"), "-n").out)
                 .strings[profile.top[14][0]] == "cpu-clock", "")
    unnamed = formats.Pprof(export("pprof", recording("pipe")).out)
    own = [(unnamed.frames(formats.packed(x, 1)[0])[0], unnamed.labels(x).get("grade")) for x in unnamed.samples]
    report.check("pprof: the grades of what ran", own and all(
        grade == ("unknown" if name.startswith("[") else None) for name, grade in own), str(own))


def pprof_tools(scratch):
    schema = formats.reference("pprof", "profile.proto")
    absent = formats.need("protoc", schema)
    if absent:
        print(f"SKIP pprof's schema: {absent} is absent")
    go_absent = formats.need("go")
    if go_absent:
        print(f"SKIP go tool pprof: {go_absent} is absent")
    for name in SOME:
        file = os.path.join(scratch, name + ".pb.gz")
        export("pprof", recording(name), "-o", file)
        if not absent:
            with gzip.open(file) as f:
                r = subprocess.run(["protoc", "--decode", "perftools.profiles.Profile", "-I", os.path.dirname(schema),
                                    schema], input=f.read(), capture_output=True, check=False)
            unknown = re.findall(r"^\s*\d+[:{ ].*", r.stdout.decode(), re.M)
            report.check(f"pprof of {name}: the schema", r.returncode == 0 and r.stdout and not unknown,
                         str(r.stderr) + str(unknown[:3]))
        if not go_absent:
            want = {}
            for stack, weight in list(folded(recording(name)).values())[0].items():
                want[stack[-1]] = want.get(stack[-1], 0) + weight
            unit = formats.Pprof(open(file, "rb").read()).types[1][1]
            r = tool("go", "tool", "pprof", "-top", "-nodefraction=0", "-nodecount=100000", f"-unit={unit}",
                     "-sample_index=1", file)
            rows = re.findall(r"^\s*(\d+)\D*\s+[\d.]+%\s+[\d.]+%\s+\d+\D*\s+[\d.]+%\s+(.+)$", r.stdout, re.M)
            have = {name: int(flat) for flat, name in rows if int(flat)}
            report.check(f"go tool pprof of {name}: self", have == want, f"{have} {want} {r.stdout}{r.stderr}")


# --- speedscope ---

def speedscope():
    for name in SOME:
        path = recording(name)
        same(f"speedscope of {name}: stacks", formats.speedscope(export("speedscope", path).out), folded(path))
        same(f"speedscope of {name}: numbers of samples", formats.speedscope(export("speedscope", path, "-n").out),
             folded(path, "-n"))


# --- with a time axis ---

def times_of(path, event):
    """[(tid, ns)] of an event's samples, as script has them."""
    r = support.run([SONDE, "script", "-i", path, "--ns", "-F", "tid,time,event"])
    rows = re.findall(r"^\s*(\d+)\s+(\d+)\.(\d{9}):\s+(\S+?):\s*$", r.out.decode(), re.M)
    return sorted((int(tid), int(s + ns)) for tid, s, ns, name in rows if name == event)


def by_comm(stacks):
    """A thread has one name, that of its last sample: what it was called before does not count."""
    result = {}
    for (_, *frames), weight in stacks.items():
        result[tuple(frames)] = result.get(tuple(frames), 0) + weight
    return result


def timed():
    for name in SOME:
        path = recording(name)
        want = folded(path)
        trace = formats.Perfetto(export("perfetto", path).out)
        for event in want:
            stacks, times = formats.firefox(export("firefox", path, "-e", event).out, event)
            said = times_of(path, event)
            first = min(ns for _, ns in said)
            report.check(f"firefox of {name}, {event}: stacks", by_comm(stacks[event]) == by_comm(want[event]),
                         str(stacks))
            report.check(f"firefox of {name}, {event}: times", sorted(times) == [(t, (ns - first) / 1e6) for t, ns in said],
                         f"{times} {said}")
            numbers, _ = formats.firefox(export("firefox", path, "-n", "-e", event).out, event)
            report.check(f"firefox of {name}, {event}: numbers of samples",
                         by_comm(numbers[event]) == by_comm(folded(path, "-n")[event]), str(numbers))
            report.check(f"perfetto of {name}, {event}: stacks", by_comm(trace.stacks[event]) == by_comm(want[event]),
                         str(trace.stacks))
        report.check(f"perfetto of {name}: times", sorted(trace.times) == sorted(sum((times_of(path, e) for e in want), [])),
                     str(trace.times))


def perfetto_schema():
    """The parts of the schema that are there: the messages of stack samples and what they refer to."""
    sample = formats.reference("perfetto", "profiling", "stack_sample.proto")
    common = formats.reference("perfetto", "profiling", "profile_common.proto")
    absent = formats.need("protoc", sample, common)
    if absent:
        print(f"SKIP perfetto's schema: {absent} is absent")
        return

    def decode(file, kind, data, scratch):
        r = subprocess.run(["protoc", "--decode", "perfetto.protos." + kind, "-I", scratch, file], input=data,
                           capture_output=True, check=False)
        unknown = re.findall(r"^\s*\d+[:{ ].*", r.stdout.decode(), re.M)
        report.check(f"perfetto: {kind}", r.returncode == 0 and not unknown, str(r.stderr) + str(unknown[:3]))

    with tempfile.TemporaryDirectory() as scratch:
        # What it imports and does not come with: an empty message.
        below = os.path.join(scratch, "protos", "perfetto", "trace", "profiling")
        os.makedirs(below)
        with open(os.path.join(below, "inline_callstack.proto"), "w", encoding="utf-8") as f:
            f.write('syntax = "proto2"; package perfetto.protos; message InlineCallstack {}')
        for path in (sample, common):
            with open(path, encoding="utf-8") as f, open(os.path.join(below, os.path.basename(path)), "w",
                                                         encoding="utf-8") as to:
                to.write(f.read())
        stack_sample, profile_common = (f"protos/perfetto/trace/profiling/{f}.proto" for f in ("stack_sample", "profile_common"))
        for packet in formats.Perfetto(export("perfetto", recording("kernel")).out).packets:
            for data in packet[135]:
                decode(stack_sample, "StackSample", data, scratch)
            for defaults in map(formats.message, packet[59]):
                decode(stack_sample, "StackSampleDefaults", defaults[100][0], scratch)
            for interned in map(formats.message, packet[12]):
                for field, kind in ((5, "InternedString"), (6, "Frame"), (7, "Callstack"), (16, "InternedString"),
                                    (17, "InternedString"), (18, "InternedString"), (19, "Mapping")):
                    for data in interned[field]:
                        decode(profile_common, kind, data, scratch)
                for data in interned[50]:
                    decode(stack_sample, "StackSample.CounterDescriptor", data, scratch)


def main():
    pprof()
    speedscope()
    timed()
    perfetto_schema()
    with tempfile.TemporaryDirectory() as scratch:
        pprof_tools(scratch)
    report.finish()


main()
