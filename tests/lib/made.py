# SPDX-License-Identifier: Apache-2.0
"""Recordings written here, whose samples lie in a program's functions."""
import os
import re
import struct
import subprocess

BASE = 0x7f0000000000
IP_TID_TIME, CALLCHAIN, PERIOD = 7, 32, 256
MMAP_SAMPLE_ID_ALL_MMAP2 = 1 << 8 | 1 << 18 | 1 << 23
USER, HAS_BUILD_ID = 2, 1 << 14
CONTEXT_USER = (1 << 64) - 512


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def recording(path, stacks, build_id=b""):
    """A perf.data in which `path` is mapped whole, with a sample of each stack: its file offsets, innermost first.

    Samples count 1, 2, 3... `build_id`: what the mapping says, 20 bytes.
    """
    chains = any(len(stack) > 1 for stack in stacks)
    kind = IP_TID_TIME | (CALLCHAIN | PERIOD if chains else 0)
    attr = struct.pack("<IIQQQQQ", 0, 64, 0, 1, kind, 0, MMAP_SAMPLE_ID_ALL_MMAP2).ljust(64, b"\0")
    name = path.encode() + b"\0"
    name += bytes(-len(name) % 8)
    size = (os.path.getsize(path) + 4095) & ~4095
    tail = struct.pack("<IIQ", 7, 7, 1)
    inode = struct.pack("<B3x20s", len(build_id), build_id) if build_id else struct.pack("<IIQQ", 0, 0, 0, 0)
    data = record(10, USER | (HAS_BUILD_ID if build_id else 0),
                  struct.pack("<IIQQQ", 7, 7, BASE, size, 0) + inode + struct.pack("<II", 5, 2) + name + tail)
    for i, stack in enumerate(stacks):
        body = struct.pack("<QIIQ", BASE + stack[0], 7, 7, 2 + i)
        if chains:
            body += struct.pack("<QQQ", i + 1, len(stack) + 1, CONTEXT_USER)
            body += b"".join(struct.pack("<Q", BASE + offset) for offset in stack)
        data += record(9, USER, body)
    at = 104
    entry = attr + struct.pack("<QQ", 0, 0)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", at, len(entry), at, len(entry), at + len(entry), len(data), 0, 0)
    return header + bytes(at - len(header)) + entry + data


def functions(program):
    """{name: file offset} of a binary's functions; nothing when its code is not at its addresses less a constant."""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    text = re.search(r"\]\s+\.text\s+PROGBITS\s+([0-9a-f]+)\s+([0-9a-f]+)", sections)
    shift = int(text[1], 16) - int(text[2], 16)
    symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in symbols.splitlines() if re.search(r" [tT] ", line)]
    return {name: int(address, 16) - shift for address, _, name in rows}
