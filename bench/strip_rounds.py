#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies a recording in file format without its FINISHED_ROUND records, for readers to sort in one go:
strip_rounds.py IN OUT"""
import struct
import sys

FINISHED_ROUND, AUXTRACE, HEADER = 68, 71, struct.Struct("<IHH")

with open(sys.argv[1], "rb") as f:
    data = f.read()
if data[:8] != b"PERFILE2" or data[8] == 16:
    sys.exit("not a little-endian recording in file format")
start, size = struct.unpack_from("<QQ", data, 40)
at, kept_from, parts, dropped = start, start, [], 0
while at < start + size:
    kind, _, length = HEADER.unpack_from(data, at)
    if kind == FINISHED_ROUND:
        parts.append(data[kept_from:at])
        kept_from = at + length
        dropped += length
    if kind == AUXTRACE:
        length += struct.unpack_from("<Q", data, at + 8)[0]
    at += length
parts.append(data[kept_from:at])
head, tail = bytearray(data[:start]), bytearray(data[start + size:])
struct.pack_into("<Q", head, 48, size - dropped)
features = sum(bin(word).count("1") for word in struct.unpack_from("<4Q", head, 72))
for i in range(features):  # the sections behind the data move
    struct.pack_into("<Q", tail, 16 * i, struct.unpack_from("<Q", tail, 16 * i)[0] - dropped)
with open(sys.argv[2], "wb") as f:
    f.writelines([head] + parts + [tail])
