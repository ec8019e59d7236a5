#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that sonde and another perf differ in callchains by one rule only: callers-before-return (docs/differences.md).

    return_addresses.py --perf "perf" --sonde build/sonde FILE OUT

Both print the callchains of FILE with `script`. Where their lines differ, the address must be a return address (not the
first of its context) at which perf names the function that begins there, or nothing; other named rules (stubs in PLTs,
stale files, what an exec ended) are left out. OUT becomes a copy of FILE in which those return addresses are one byte less,
inside of the call, and what perf prints of OUT must be what sonde prints of FILE, the offsets one less. Of OUT, reports
are equal, too: give it to compare.py.

FILE is a plain perf.data file of this machine's byte order whose events record the same fields.
"""
import argparse
import itertools
import re
import shlex
import shutil
import struct
import subprocess
import sys

# Of enum perf_event_sample_format, perf_event_read_format and perf_callchain_context (perf_event.h).
IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, IDENTIFIER = (1 << b for b in (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16))
RECORD_SAMPLE, CONTEXT_MAX = 9, (1 << 64) - 4095


def lines_of(command, path):
    """script's lines, and where they are the first of a sample."""
    p = subprocess.Popen(command + ["script", "-f", "--no-inline", "-F", "ip,sym,symoff,dso", "-i", path],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in p.stdout:
        yield line.strip().decode("utf-8", "replace")
    if p.wait() != 0:
        sys.exit(f"{shlex.join(command)}: status {p.returncode}")


def is_other_rule(x, y):
    """Differences with rules of their own."""
    return " offset_0x" in x and "@plt" in y or " [stale] " in y or y.endswith(" [unknown] ([unknown])")


def inside(line):
    """The line of the byte before."""
    m = re.fullmatch(r"([0-9a-f]+) (.*?)(?:\+0x([0-9a-f]+))? (\(.*\))", line)
    offset = "" if m[3] is None else f"+0x{int(m[3], 16) - 1:x}"
    return f"{int(m[1], 16) - 1:x} {m[2]}{offset} {m[4]}"


def compare(perf, sonde, is_rule):
    """(lines, those that is_rule explains, the addresses in them, other differences) of two texts."""
    total, excused, moved, others = 0, 0, set(), []
    user, inner = False, ""  # whether an address of user space came before; the line before of the same context
    for x, y in itertools.zip_longest(perf, sonde, fillvalue=""):
        total += 1
        if not x or not y:
            user, inner = False, ""
            if x != y:
                others.append((x, y))
            continue
        ip = int(y.split(" ", 1)[0], 16)
        if ip >> 63 == 0 and not user:  # what follows may be garbage, but is user space's
            user, inner = True, ""
        if x != y and not is_other_rule(x, y):
            if inner and is_rule(x, y, inner):
                moved.add(ip)
                excused += 1
            else:
                others.append((x, y))
        inner = y
    return total, excused, moved, others


def is_behind_call(x, y, _):
    """perf names what begins at the return address, or nothing."""
    (ip, name), ours = x.split(" ", 1), y.split(" ", 1)[0]
    return ip == ours and ("+0x0 (" in name or name.startswith("[unknown] "))


EXACT = re.compile(r" (asm_\w+|__restore_rt|__kernel_rt_sigreturn|runtime\.(asyncPreempt|sigpanic)\S*)\+")


def is_call(x, y, inner):
    """perf names the byte before; where an exception came between, the address is exact, and was moved as others' is."""
    return x == inside(y) or "+0x0 (" in y and EXACT.search(inner)


def chain_offset(sample_type):
    """Where callchains begin in a sample, after its header."""
    if sample_type & READ:
        sys.exit("samples with READ are not read here")
    return sum(8 for bit in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD) if sample_type & bit)


def move(path, moved):
    """One less from the given return addresses of a recording, in place. How many there were."""
    with open(path, "r+b") as f:
        data = bytearray(f.read())
    magic, _, attr_size, attrs_at, attrs_size, at, size = struct.unpack_from("<8s6Q", data)
    if magic != b"PERFILE2":
        sys.exit(f"{path}: no perf.data file of this byte order")
    types = {struct.unpack_from("<Q", data, a + 24)[0] for a in range(attrs_at, attrs_at + attrs_size, attr_size)}
    if len(types) != 1:
        sys.exit("the events record different fields")
    sample_type = types.pop()
    offset, count, end = chain_offset(sample_type), 0, at + size
    while sample_type & CALLCHAIN and at + 8 <= end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == RECORD_SAMPLE:
            first = at + 8 + offset
            n = struct.unpack_from("<Q", data, first)[0]
            inner = False
            for i, ip in enumerate(struct.unpack_from(f"<{n}Q", data, first + 8)):
                if ip >= CONTEXT_MAX:
                    inner = False
                    continue
                if inner and ip in moved:
                    struct.pack_into("<Q", data, first + 8 + 8 * i, ip - 1)
                    count += 1
                inner = True
        at += length or end
    with open(path, "wb") as f:
        f.write(data)
    return count


def show(what, others):
    print(f"{what}: {len(others)} lines differ otherwise")
    for x, y in others[:5]:
        print(f"    perf  |{x}|\n    sonde |{y}|")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file")
    p.add_argument("out")
    p.add_argument("--perf", type=shlex.split, default=["perf"])
    p.add_argument("--sonde", type=shlex.split, default=["build/sonde"])
    o = p.parse_args()
    total, excused, moved, others = compare(lines_of(o.perf, o.file), lines_of(o.sonde, o.file), is_behind_call)
    print(f"{o.file}: {total} lines, {excused} of them ({len(moved)} addresses) differ by the rule")
    show(o.file, others)
    shutil.copyfile(o.file, o.out)
    print(f"{o.out}: {move(o.out, moved)} return addresses moved into their calls")
    _, excused, _, after = compare(lines_of(o.perf, o.out), lines_of(o.sonde, o.file), is_call)
    print(f"{o.out}: {excused} lines are the other's of {o.file}, one byte before")
    show(o.out, after)
    sys.exit(bool(others or after))


main()
