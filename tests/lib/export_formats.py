# SPDX-License-Identifier: Apache-2.0
"""Readers of what `sonde export` writes, made from the formats' descriptions, for comparing.

Each returns {event: {(comm or None, outermost frame, ..., innermost frame): weight}}.
"""
import collections
import gzip
import json
import os
import shutil
import sys

import support


def need(*tools):
    """What is missing of the tools that a part of a test wants, as text, or None. In CI nothing may be missing."""
    absent = [t for t in tools if not (os.path.exists(t) if "/" in t else shutil.which(t))]
    if not absent:
        return None
    if os.environ.get("CI") == "true":
        sys.exit(f"FAIL: {' and '.join(absent)} must be there in CI (scripts/deps.sh check)")
    return " and ".join(absent)


def reference(*below):
    """A published definition of a format, which lies outside the project."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.path.join(top, "..", "shared", "reference", "formats", *below)


def adder():
    return collections.defaultdict(lambda: collections.defaultdict(int))


# --- protocol buffers ---

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def message(data):
    """{field: [numbers and bytes]}"""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 == 2, tag
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert at <= len(data)
        fields[tag >> 3].append(value)
    return fields


def packed(fields, number):
    values, data, at = [], b"".join(fields[number]), 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def first(fields, number):
    return fields[number][0] if number in fields else 0


class Pprof:
    """A profile.proto (https://github.com/google/pprof/tree/main/proto)."""

    def __init__(self, data):
        self.top = top = message(gzip.decompress(data))
        self.strings = [s.decode() for s in top[6]]
        self.types = [(self.text(t, 1), self.text(t, 2)) for t in map(message, top[1])]
        self.functions = {f[1][0]: f for f in map(message, top[5])}
        self.mappings = {m[1][0]: m for m in map(message, top[3])}
        self.locations = {x[1][0]: x for x in map(message, top[4])}
        self.samples = [message(s) for s in top[2]]

    def text(self, fields, number):
        return self.strings[first(fields, number)]

    def labels(self, sample):
        return {self.text(x, 1): self.text(x, 2) for x in map(message, sample[3])}

    def frames(self, location):
        """Innermost first."""
        return [self.text(self.functions[message(line)[1][0]], 2) for line in self.locations[location][4]]

    def stacks(self, samples=False):
        result = adder()
        for sample in self.samples:
            frames = [name for x in packed(sample, 1) for name in self.frames(x)]
            stack = (self.labels(sample).get("comm"), *reversed(frames))
            values = packed(sample, 2)
            assert len(values) == len(self.types)
            for i in range(0, len(values), 2):
                if values[i]:
                    result[self.types[i + 1][0]][stack] += values[i if samples else i + 1]
        return result


# --- speedscope ---

SPEEDSCOPE_UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}


def speedscope(data):
    """Checked against https://www.speedscope.app/file-format-schema.json as far as it is used."""
    file = json.loads(data)
    assert file["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = file["shared"]["frames"]
    for frame in frames:
        assert isinstance(frame["name"], str) and frame.keys() <= {"name", "file", "line", "col"}
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 0), int)
    result = adder()
    for profile in file["profiles"]:
        assert profile["type"] == "sampled" and profile["unit"] in SPEEDSCOPE_UNITS
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"]):
            result[profile["name"]][tuple(frames[i]["name"] for i in stack)] += weight
    return result


# --- Firefox Profiler ---

# The columns of tables, as profile.ts has them in version 66.
FIREFOX_TABLES = {
    "stackTable": "frame prefixOffset",
    "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID line column originalLocation",
    "funcTable": "name isJS relevantForJS resource source lineNumber columnNumber originalLocation",
    "resourceTable": "lib name host type",
    "nativeSymbols": "libIndex address name functionSize",
    "sources": "id filename startLine startColumn sourceMapURL content",
    "sourceLocationTable": "source line column",
}


def _table(table, columns):
    assert table.keys() == {"length", *columns.split()}, table.keys()
    assert all(len(table[c]) == table["length"] for c in columns.split())
    return table


def _inside(values, count, missing=()):
    assert all(v in missing or (isinstance(v, int) and 0 <= v < count) for v in values)


def firefox(data, event):
    """The stacks of the one event that there is, and [(thread, time in ms)] of all samples."""
    file = json.loads(data)
    meta, shared = file["meta"], file["shared"]
    assert {"interval", "startTime", "processType", "product", "stackwalk", "version", "preprocessedProfileVersion",
            "markerSchema"} <= meta.keys() and meta["preprocessedProfileVersion"] == 66
    assert meta["categories"][0]["color"] == "grey" and all(c["subcategories"] for c in meta["categories"])
    tables = {name: _table(shared[name], columns) for name, columns in FIREFOX_TABLES.items()}
    assert shared.keys() == {"stringArray", *FIREFOX_TABLES}
    strings, stacks, frames, functions = (shared["stringArray"], *list(tables.values())[:3])
    assert all(isinstance(text, str) for text in strings)
    _inside(stacks["frame"], frames["length"])
    assert all(0 <= offset <= i for i, offset in enumerate(stacks["prefixOffset"]))
    _inside(frames["func"], functions["length"])
    _inside(frames["category"], len(meta["categories"]), (None,))
    _inside(frames["subcategory"], min(len(c["subcategories"]) for c in meta["categories"]))
    _inside(functions["name"], len(strings))
    _inside(functions["resource"], tables["resourceTable"]["length"], (-1,))
    _inside(functions["source"], tables["sources"]["length"], (None,))
    _inside(tables["resourceTable"]["lib"], len(file["libs"]), (None,))
    _inside(tables["resourceTable"]["name"] + tables["sources"]["filename"], len(strings))
    for lib in file["libs"]:
        assert lib.keys() == {"arch", "name", "path", "debugName", "debugPath", "breakpadId", "codeId"}
    result, times = adder(), []
    for thread in file["threads"]:
        assert isinstance(thread["pid"], str) and thread["markers"]["length"] == 0
        samples = thread["samples"]
        assert samples["weightType"] in ("samples", "tracing-ms")
        _inside(samples["stack"], stacks["length"])
        assert samples["time"] == sorted(samples["time"])
        weights = samples["weight"] or [1] * samples["length"]
        assert samples["length"] == len(samples["stack"]) == len(samples["time"]) == len(weights)
        for stack, time, weight in zip(samples["stack"], samples["time"], weights):
            names = []
            at = stack
            while True:
                names.append(strings[functions["name"][frames["func"][stacks["frame"][at]]]])
                if not stacks["prefixOffset"][at]:
                    break
                at -= stacks["prefixOffset"][at]
            weight = round(weight * 1e6) if samples["weightType"] == "tracing-ms" else weight
            result[event][(thread["name"], *reversed(names))] += weight
            times.append((thread["tid"], time))
    return result, times


# --- Perfetto ---

class Perfetto:
    """A trace of StackSample packets."""

    def __init__(self, data):
        self.packets = [message(p) for p in message(data)[1]]
        self.stacks = adder()
        self.times = []
        names, frames, stacks, counters, threads = {}, {}, {}, {}, {}
        for packet in self.packets:
            for interned in map(message, packet[12]):
                names.update({m[1][0]: m[2][0].decode() for m in map(message, interned[5])})
                frames.update({m[1][0]: names[m[2][0]] for m in map(message, interned[6])})
                stacks.update({m[1][0]: tuple(frames[i] for i in m[2]) for m in map(message, interned[7])})
                counters.update({m[1][0]: m[2][0].decode() for m in map(message, interned[50])})
            for tree in map(message, packet[2]):
                threads.update({m[1][0]: m[3][0].decode() for m in map(message, tree[1])})
                threads.update({m[1][0]: m[2][0].decode() for m in map(message, tree[2])})
            for sample in map(message, packet[135]):
                tid = message(sample[1][0])[3][0]
                self.stacks[counters[sample[10][0]]][(threads[tid], *stacks[sample[6][0]])] += sample[11][0]
                self.times.append((tid, packet[8][0]))
