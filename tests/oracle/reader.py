# SPDX-License-Identifier: Apache-2.0
"""Reads a perf.data file into plain lists: events and records, by the layout that perf_event.h and docs/FORMAT.md state."""
import struct
from types import SimpleNamespace

MMAP, LOST, COMM, EXIT, FORK, SAMPLE, MMAP2 = 1, 2, 3, 4, 7, 9, 10
SWITCH, CALLCHAIN_DEFERRED = 14, 22
COMM_EXEC = SWITCH_OUT = 1 << 13
CALL_STACK = 1 << 11  # PERF_SAMPLE_BRANCH_CALL_STACK
CPU_COUNT, CPU_TOPOLOGY = 7, 13  # header features


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def text(self):
        end = self.data.index(b"\0", self.at)
        value, self.at = self.data[self.at:end].decode(), end + 1
        return value


def has(event, bit):
    return event.sample_type >> bit & 1


def read_events(data):
    attrs_at, attrs_size = struct.unpack_from("<QQ", data, 24)
    entry, = struct.unpack_from("<Q", data, 16)
    events = []
    for at in range(attrs_at, attrs_at + attrs_size, entry):
        kind, _, config, period, sample_type, read_format, flags = struct.unpack_from("<IIQQQQQ", data, at)
        branches, = struct.unpack_from("<Q", data, at + 72)
        ids_at, ids_size = struct.unpack_from("<QQ", data, at + entry - 16)
        ids = struct.unpack_from(f"<{ids_size // 8}Q", data, ids_at)
        events.append(SimpleNamespace(kind=kind, config=config, period=period, sample_type=sample_type, read_format=read_format,
                                      flags=flags, branches=branches, ids=ids))
    return events


def event_of(events, identifier):
    for event in events:
        if identifier in event.ids:
            return event
    return events[0]


def read_sample(events, record, c):
    """The fields in the order in which PERF_RECORD_SAMPLE has them."""
    kind = events[0]
    record.identifier = c.take("Q") if has(kind, 16) else 0
    record.ip = c.take("Q") if has(kind, 0) else 0
    record.pid, record.tid = c.take("II") if has(kind, 1) else (-1, -1)
    record.time = c.take("Q") if has(kind, 2) else 0
    record.addr = c.take("Q") if has(kind, 3) else 0
    record.identifier = c.take("Q") if has(kind, 6) else record.identifier
    record.stream = c.take("Q") if has(kind, 9) else 0
    record.cpu = c.take("II")[0] if has(kind, 7) else -1
    record.event = event = event_of(events, record.identifier)
    record.period = c.take("Q") if has(kind, 8) else event.period
    record.readings = [c.take("QQ") for _ in range(c.take("Q"))] if has(kind, 4) else []
    record.chain = [c.take("Q") for _ in range(c.take("Q"))] if has(kind, 5) else []
    record.raw = c.take(f"{c.take('I')}s") if has(kind, 10) else b""
    record.branches = [c.take("QQQ") for _ in range(c.take("Q"))] if has(kind, 11) else []
    record.weights = c.take("IHH") if has(kind, 24) else (c.take("Q"), 0, 0) if has(kind, 14) else (0, 0, 0)
    record.source = c.take("Q") if has(kind, 15) else 0
    record.transaction = c.take("Q") if has(kind, 17) else 0
    record.physical = c.take("Q") if has(kind, 19) else 0
    record.cgroup = c.take("Q") if has(kind, 21) else 0
    record.data_page = c.take("Q") if has(kind, 22) else 0
    record.code_page = c.take("Q") if has(kind, 23) else 0


def read_tail(events, record, data):
    """sample_id, at the end of all other records: of it, the time, and whose record it is."""
    kind = events[0]
    c = Cursor(data, len(data) - 8 * sum(has(kind, bit) for bit in (1, 2, 6, 7, 9, 16)))
    record.tail_pid, record.tail_tid = c.take("II") if has(kind, 1) else (-1, -1)
    record.time = c.take("Q") if has(kind, 2) else 0


def read_body(events, record, c):
    if record.type == SAMPLE:
        read_sample(events, record, c)
        return
    read_tail(events, record, c.data)
    if record.type == COMM:
        record.pid, record.tid = c.take("II")
        record.name = c.text()
    elif record.type in (FORK, EXIT):
        record.pid, record.parent_pid, record.tid, record.parent_tid = c.take("IIII")
    elif record.type in (MMAP, MMAP2):
        record.pid, record.tid, record.start, record.size, record.offset = c.take("IIQQQ")
        if record.type == MMAP2:
            c.at += 32  # device and inode, or the build-id; protection and flags
        record.name = c.text()
    elif record.type == CALLCHAIN_DEFERRED:
        record.cookie, count = c.take("QQ")
        record.chain = [c.take("Q") for _ in range(count)]


def read_features(data):
    """{number: bytes} of the header's features; their table lies after the records."""
    at, size = struct.unpack_from("<QQ", data, 40)
    bits, at, found = int.from_bytes(data[72:104], "little"), at + size, {}
    for number in range(256):
        if bits >> number & 1:
            where, length = struct.unpack_from("<QQ", data, at)
            found[number] = data[where:where + length]
            at += 16
    return found


def read_sockets(features):
    """[socket of each CPU] of CPU_TOPOLOGY: two lists of texts, then core and socket of each CPU."""
    if CPU_TOPOLOGY not in features:
        return []
    c = Cursor(features[CPU_TOPOLOGY])
    for _ in range(2):
        for _ in range(c.take("I")):
            length = c.take("I")
            c.at += length
    return [c.take("II")[1] for _ in range(Cursor(features[CPU_COUNT]).take("I"))]


def read(path):
    """(events, records in the order of time, features). Records of one time stand in the order of the file."""
    with open(path, "rb") as f:
        data = f.read()
    events = read_events(data)
    at, size = struct.unpack_from("<QQ", data, 40)
    end, records = at + size, []
    while at < end:
        kind, misc, size = struct.unpack_from("<IHH", data, at)
        record = SimpleNamespace(type=kind, misc=misc, at=at)
        read_body(events, record, Cursor(data[at + 8:at + size]))
        records.append(record)
        at += size
    records.sort(key=lambda r: r.time)
    return events, records, read_features(data)
