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
