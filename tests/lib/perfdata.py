# SPDX-License-Identifier: Apache-2.0
"""Writes small recordings for tests: a perf.data file with one event, by the layout in docs/FORMAT.md."""
import struct

IP, TID, TIME, ADDR, READ_GROUP, CALLCHAIN, ID, CPU, PERIOD, BRANCH_STACK = (1 << b for b in (0, 1, 2, 3, 4, 5, 6, 7, 8, 11))
RAW, DATA_SRC, PHYS_ADDR, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT = (1 << b for b in (10, 15, 19, 21, 22, 23, 24))
TRACING_DATA, HEADER_BRANCH_STACK = 1, 15  # header features
HARDWARE, SOFTWARE, TRACEPOINT = 0, 1, 2
BRANCH_ANY, BRANCH_CALL_STACK = 1 << 3, 1 << 11  # PERF_SAMPLE_BRANCH_*
INHERIT_STAT, CONTEXT_SWITCH = 1 << 11, 1 << 26  # flags of an attr
MMAP, COMM, EXIT, FORK, READ, SAMPLE, MMAP2, SWITCH, CALLCHAIN_DEFERRED = 1, 3, 4, 7, 8, 9, 10, 14, 22
KERNEL, USER, COMM_EXEC, MMAP_BUILD_ID, SWITCH_OUT = 1, 2, 1 << 13, 1 << 14, 1 << 13
CONTEXT_KERNEL, CONTEXT_USER, CONTEXT_USER_DEFERRED = (1 << 64) - 128, (1 << 64) - 512, (1 << 64) - 640
HEADER_BYTES, ATTR_BYTES = 104, 144
# What the formats of all tracepoints begin with.
COMMON_FIELDS = """\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

"""


class Foreign:
    """Instead of the module struct: the other byte order, in which an attr's flags are the other way round, too."""

    real = struct

    def pack(self, layout, *values):
        if layout == "<IIQQQQQ":  # an attr's beginning
            values = *values[:-1], int(f"{values[-1]:064b}"[::-1], 2)
        if layout == "<BBI" and values[0] == 0:  # of tracing data
            values = 1, *values[1:]
        return self.real.pack(layout.replace("<", ">"), *values)


def text(s, align=8):
    data = s.encode() + b"\0"
    return data + bytes(-len(data) % align)


class Recording:
    """Records are kept in order; times are nanoseconds and count up by themselves. With several `events`, which are all
    alike but for what `counters` says, sample_type has ID: their ids are 1, 2 and so on, and what is no sample is of the
    first. `counters`: (kind, config) of each; with READ_GROUP they are read together, and the first one samples."""

    def __init__(self, sample_type=IP | TID | TIME | CALLCHAIN | PERIOD, kind=SOFTWARE, config=0, period=1000, flags=0,
                 branches=BRANCH_ANY, events=1, counters=None):
        self.events = len(counters) if counters else events
        self.counters = counters or [(kind, config)] * events
        self.sample_type, self.period = sample_type, period
        self.flags, self.branches, self.features = flags, branches, {}
        self.records, self.time = [], 1_000_000_000

    def add(self, kind, misc, body):
        self.records.append(struct.pack("<IHH", kind, misc, 8 + len(body)) + body)

    def tail(self, pid, tid):
        """The sample_id after records that are no samples."""
        self.time += 1000
        data = b""
        if self.sample_type & TID:
            data += struct.pack("<II", pid, tid)
        if self.sample_type & TIME:
            data += struct.pack("<Q", self.time)
        if self.sample_type & ID:
            data += struct.pack("<Q", 1)
        if self.sample_type & CPU:
            data += struct.pack("<II", 0, 0)
        return data

    def comm(self, pid, name, exec_=False, tid=None):
        tid = pid if tid is None else tid
        self.add(COMM, COMM_EXEC if exec_ else 0, struct.pack("<II", pid, tid) + text(name) + self.tail(pid, tid))

    def fork(self, pid, parent, tid=None, parent_tid=None):
        tid, parent_tid = pid if tid is None else tid, parent if parent_tid is None else parent_tid
        self.add(FORK, 0, struct.pack("<IIIIQ", pid, parent, tid, parent_tid, self.time) + self.tail(parent, parent_tid))

    def exit(self, pid, tid):
        self.add(EXIT, 0, struct.pack("<IIIIQ", pid, pid, tid, pid, self.time) + self.tail(pid, tid))

    def later_chain(self, pid, tid, cookie, chain):
        """The user part of the callchains that end with CONTEXT_USER_DEFERRED and this cookie."""
        self.add(CALLCHAIN_DEFERRED, USER, struct.pack(f"<QQ{len(chain)}Q", cookie, len(chain), *chain) + self.tail(pid, tid))

    def map(self, pid, start, length, pgoff, path, build_id=None):
        middle = struct.pack("<IIQQ", 0, 0, 0, 0)
        if build_id is not None:
            middle = struct.pack("<BBH", len(build_id), 0, 0) + build_id.ljust(20, b"\0")
        self.add(MMAP2, USER | (MMAP_BUILD_ID if build_id is not None else 0),
                 struct.pack("<IIQQQ", pid, pid, start, length, pgoff) + middle + struct.pack("<II", 5, 2) + text(path) +
                 self.tail(pid, pid))

    def kernel(self, start, length, name="[kernel.kallsyms]_text"):
        self.add(MMAP, KERNEL, struct.pack("<IIQQQ", 0xffffffff, 0, start, length, start) + text(name) + self.tail(0, 0))

    def switch(self, pid, tid, out):
        self.add(SWITCH, SWITCH_OUT if out else 0, self.tail(pid, tid))

    def read(self, pid, tid, value):
        """A counter's value (-s); there is one event, so that no id says whose it is."""
        self.add(READ, 0, struct.pack("<IIQ", pid, tid, value) + self.tail(pid, tid))

    def sample(self, pid, ip, chain=(), misc=USER, addr=0, branches=(), tid=None, period=None, more=b"",
               event=1, readings=(), cpu=0):
        """`branches`: (from, to, flags); `more`: the fields after them; `event`: its id; `readings`: of all events."""
        self.time += 1000
        t, body = self.sample_type, b""
        if t & IP:
            body += struct.pack("<Q", ip)
        if t & TID:
            body += struct.pack("<II", pid, pid if tid is None else tid)
        if t & TIME:
            body += struct.pack("<Q", self.time)
        if t & ADDR:
            body += struct.pack("<Q", addr)
        if t & ID:
            body += struct.pack("<Q", event)
        if t & CPU:
            body += struct.pack("<II", cpu, 0)
        if t & PERIOD:
            body += struct.pack("<Q", self.period if period is None else period)
        if t & READ_GROUP:
            body += struct.pack("<Q", len(readings)) + b"".join(struct.pack("<QQ", v, i + 1) for i, v in enumerate(readings))
        if t & CALLCHAIN:
            body += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        if t & BRANCH_STACK:
            body += struct.pack("<Q", len(branches)) + b"".join(struct.pack("<QQQ", *b) for b in branches)
        self.add(SAMPLE, misc, body + more)

    def data(self):
        # type, size, config, period, sample_type, read_format, flags (comm, mmap2, sample_id_all and more), rest
        flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24 | self.flags
        group = self.sample_type & READ_GROUP
        attrs, ids = b"", b""
        if self.sample_type & ID:
            ids = struct.pack(f"<{self.events}Q", *range(1, self.events + 1))
        behind = HEADER_BYTES + self.events * ATTR_BYTES
        for i, (kind, config) in enumerate(self.counters):
            period = 0 if group and i else self.period
            # PERF_FORMAT_ID | PERF_FORMAT_GROUP
            attr = struct.pack("<IIQQQQQ", kind, 128, config, period, self.sample_type, 4 | 8 if group else 0, flags)
            attr = attr.ljust(72, b"\0") + struct.pack("<Q", self.branches if self.sample_type & BRANCH_STACK else 0)
            attrs += attr.ljust(128, b"\0") + struct.pack("<QQ", behind + 8 * i if ids else HEADER_BYTES, 8 if ids else 0)
        data = b"".join(self.records)
        at = behind + len(ids)
        bits, table, contents = 0, b"", b""
        behind = at + len(data) + 16 * len(self.features)
        for bit, content in sorted(self.features.items()):
            bits |= 1 << bit
            table += struct.pack("<QQ", behind + len(contents), len(content))
            contents += content
        magic = b"2ELIFREP" if isinstance(struct, Foreign) else b"PERFILE2"
        head = magic + struct.pack("<QQQQQQQQ4Q", HEADER_BYTES, ATTR_BYTES, HEADER_BYTES, len(attrs), at, len(data),
                                         0, 0, bits, 0, 0, 0)
        return head + attrs + ids + data + table + contents

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.data())


def tracing_data(system, *formats):
    """The content of TRACING_DATA (trace-cmd.dat(5)): the events of one system."""
    return tracing_systems({system: formats})


def tracing_systems(systems):
    """The same for several systems: {name: formats}."""
    empty = struct.pack("<Q", 0)
    data = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    data += b"header_page\0" + empty + b"header_event\0" + empty + struct.pack("<II", 0, len(systems))
    for system, formats in systems.items():
        data += system.encode() + b"\0" + struct.pack("<I", len(formats))
        for text in formats:
            data += struct.pack("<Q", len(text)) + text.encode()
    return data + struct.pack("<IIQ", 0, 0, 0)


def functions(path):
    """{name: (offset in the file, size)} of a 64-bit ELF file's functions, and where its code is mapped:
    (offset, size) of the executable segment."""
    with open(path, "rb") as f:
        data = f.read()
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", data, 54)
    loads = [struct.unpack_from("<IIQQQQ", data, phoff + i * phsize) for i in range(phnum)]
    loads = [(flags, offset, vaddr, size) for kind, flags, offset, vaddr, _, size in loads if kind == 1]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + i * shsize) for i in range(shnum)]
    found = {}
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind not in (2, 11):
            continue
        names = sections[link][4]
        for at in range(offset, offset + size, entry):
            name, info, _, _, value, length = struct.unpack_from("<IBBHQQ", data, at)
            if info & 15 != 2 or not value:
                continue
            end = data.index(b"\0", names + name)
            for _, file_at, vaddr, span in loads:
                if vaddr <= value < vaddr + span:
                    found[data[names + name:end].decode()] = (value - vaddr + file_at, length)
    code = next((offset, size) for flags, offset, _, size in loads if flags & 1)
    return found, code


def build_id(path):
    """The GNU build-id of a 64-bit ELF file, or None."""
    with open(path, "rb") as f:
        data = f.read()
    phoff, = struct.unpack_from("<Q", data, 32)
    phsize, phnum = struct.unpack_from("<HH", data, 54)
    for i in range(phnum):
        kind, _, at, _, _, size = struct.unpack_from("<IIQQQQ", data, phoff + i * phsize)
        end = at + size
        while kind == 4 and at + 16 <= end:
            name, length, note = struct.unpack_from("<III", data, at)
            body = at + 12 + (name + 3) // 4 * 4
            if note == 3 and data[at + 12:at + 16] == b"GNU\0":
                return data[body:body + length]
            at = body + (length + 3) // 4 * 4
    return None
