# SPDX-License-Identifier: Apache-2.0
"""What tests/vm knows without sonde: a kernel's own lists, the records and parts of a recording, a vmlinux made of them."""
import bisect
import collections
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import support  # noqa: E402

MMAP, COMM, SAMPLE, MMAP2 = 1, 3, 9, 10
TID, TIME, IDENTIFIER = 1 << 1, 1 << 2, 1 << 16
MISC_BUILD_ID = 1 << 14
BOX = 0x7365786f42646e53  # docs/FORMAT.md
PART_IMAGES, PART_SECTIONS, PART_MODULES = 1, 2, 3

Map = collections.namedtuple("Map", "time start end name build_id")


def text(*path):
    with open(os.path.join(*path), encoding="utf-8", errors="replace") as f:
        return f.read()


class Kallsyms:
    """A copy of /proc/kallsyms; `names` answers with every name that an address may have."""

    def __init__(self, path):
        self.lines = [line.split() for line in text(path).splitlines()]
        self.by_address = collections.defaultdict(set)
        self.symbols = {}  # the kernel's own
        for line in self.lines:
            address = int(line[0], 16)
            self.by_address[address].add((line[2], line[3].strip("[]") if len(line) > 3 else ""))
            if len(line) == 3:
                self.symbols.setdefault(line[2], address)
        self.addresses = sorted(self.by_address)

    def names(self, address):
        """{(name, module)} of the nearest symbols that begin at or before the address."""
        i = bisect.bisect_right(self.addresses, address)
        return self.by_address[self.addresses[i - 1]] if i else set()

    def crosses(self, address, borders):
        """Whether one of the sorted `borders` lies between the nearest symbol and the address: code of a section without
        symbols (a module's .plt), which is not the symbol's."""
        i, j = bisect.bisect_right(self.addresses, address), bisect.bisect_right(borders, address)
        return i > 0 and j > 0 and borders[j - 1] > self.addresses[i - 1]

    @property
    def start(self):
        return self.symbols.get("_text") or self.symbols["_stext"]


def modules(path):
    """{name: (address, size)} of a copy of /proc/modules."""
    fields = [line.split() for line in text(path).splitlines()]
    return {f[0]: (int(f[5], 16), int(f[1])) for f in fields}


def code_of_section(image, section):
    """{name: (offset, bytes)} of the functions in one section of a relocatable ELF file (elf(5))."""
    order = ">" if image[5] == 2 else "<"
    at, = struct.unpack_from(order + "Q", image, 40)
    size, count, names = struct.unpack_from(order + "HHH", image, 58)
    heads = [struct.unpack_from(order + "IIQQQQIIQQ", image, at + i * size) for i in range(count)]

    def name(table, offset):
        start = heads[table][4] + offset
        return image[start:image.index(b"\0", start)].decode()

    wanted = {i for i, h in enumerate(heads) if name(names, h[0]) == section}
    found = {}
    for _name, kind, _flags, _address, offset, length, link, *_rest in heads:
        for where in range(offset, offset + length if kind == 2 else offset, 24):
            text_at, info, _other, index, value, extent = struct.unpack_from(order + "IBBHQQ", image, where)
            if index in wanted and info & 15 == 2:
                found[name(link, text_at)] = (value, extent)
    return found


def sections(path):
    """{(module, section): address} of lines "MODULE SECTION ADDRESS"."""
    return {(m, s): int(a, 16) for m, s, a in (line.split() for line in text(path).splitlines())}


class Recording:
    """A perf.data file, walked here."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.order = {b"PERFILE2": "<", b"2ELIFREP": ">"}[self.data[:8]]
        self.records = support.walk(self.data)
        (attr_bytes, attrs) = struct.unpack_from(self.order + "QQ", self.data, 16)
        (self.sample_type,) = struct.unpack_from(self.order + "Q", self.data, attrs + 24)
        self.attr_types = [struct.unpack_from(self.order + "I", self.data, at)[0] for at in
                           range(attrs, attrs + struct.unpack_from(self.order + "Q", self.data, 32)[0], attr_bytes)]

    def time(self, record):
        """Of a record that is no sample: TIME stands after TID in the sample_id at the end."""
        fields = [bit for bit in (TID, TIME, 1 << 6, 1 << 9, 1 << 7, IDENTIFIER) if self.sample_type & bit]
        back = 8 * (len(fields) - fields.index(TIME))
        return struct.unpack_from(self.order + "Q", record, len(record) - back)[0]

    def moved(self, address, *spans):
        """The file with the first kernel sample in each of the spans of time at another address."""
        data = bytearray(self.data)
        fields = [bit for bit in (IDENTIFIER, 1, TID, TIME) if self.sample_type & bit]
        ip, time = (8 + 8 * fields.index(bit) for bit in (1, TIME))
        for first, last in spans:
            for kind, record in self.records:
                misc, = struct.unpack_from(self.order + "H", record, 4)
                if kind == SAMPLE and misc & 7 == 1 and first < struct.unpack_from(self.order + "Q", record, time)[0] < last:
                    struct.pack_into(self.order + "Q", data, self.data.index(record) + ip, address)
                    break
        return bytes(data)

    def kernel_maps(self):
        """The maps of the kernel and its modules, in the order of the file."""
        maps = []
        for kind, record in self.records:
            if kind not in (MMAP, MMAP2):
                continue
            misc, = struct.unpack_from(self.order + "H", record, 4)
            pid, _tid, start, size, _pgoff = struct.unpack_from(self.order + "IIQQQ", record, 8)
            if pid != 0xffffffff:
                continue
            name = record[40 if kind == MMAP else 72:].split(b"\0")[0].decode()
            build_id = record[44:44 + record[40]].hex() if kind == MMAP2 and misc & MISC_BUILD_ID else ""
            maps.append(Map(self.time(record), start, start + size, name, build_id))
        return maps

    def commands(self):
        """{comm: the time when it was begun first}."""
        found = {}
        for kind, record in self.records:
            if kind == COMM:
                found.setdefault(record[16:].split(b"\0")[0].decode(), self.time(record))
        return found

    def parts(self):
        """{tag: bytes} of the boxes before the data and at the end of the file."""
        found = {}
        for end in (struct.unpack_from(self.order + "Q", self.data, 40)[0], len(self.data)):
            version, count, size, _hash, magic = struct.unpack_from(self.order + "IIQQQ", self.data, end - 32)
            if magic != BOX or version != 1:
                continue
            for i in range(count):
                tag, _flags, at, length = struct.unpack_from(self.order + "IIQQ", self.data, end - 32 - 24 * (count - i))
                found[tag] = self.data[end - size + at:end - size + at + length]
        return found


def part_lines(part):
    return [line.split("\t") for line in part.decode().splitlines()]


# --- a vmlinux ---

MACHINES = {"x86_64": 62, "aarch64": 183, "s390x": 22}  # elf(5): e_machine


def make_vmlinux(path, machine, kallsyms, notes):
    """An unrelocated kernel's symbols and build-id as a distribution's debug package has them, without code: from the
    kallsyms of a boot without relocation and /sys/kernel/notes."""
    order = ">" if machine == "s390x" else "<"
    start, end = kallsyms.start, kallsyms.symbols["_etext"]
    strings, local, others = b"\0", bytes(24), b""
    for line in kallsyms.lines:
        if len(line) == 3 and (line[1] in "tTwW" or line[2] == "_etext"):
            seen = line[1].isupper()
            entry = struct.pack(order + "IBBHQQ", len(strings), seen << 4 | 2, 0, 2, int(line[0], 16), 0)
            local, others = (local, others + entry) if seen else (local + entry, others)
            strings += line[2].encode() + b"\0"
    table = local + others
    names = b"\0.notes\0.text\0.symtab\0.strtab\0.shstrtab\0"
    contents, at, heads = [notes, b"", table, strings, names], 64, [bytes(64)]
    kinds = ((7, 2, 0, len(notes), 0, 0, 4, 0), (8, 6, start, end - start, 0, 0, 8, 0),
             (2, 0, 0, len(table), 4, len(local) // 24, 8, 24), (3, 0, 0, len(strings), 0, 0, 1, 0),
             (3, 0, 0, len(names), 0, 0, 1, 0))  # type, flags, address, size, link, info, alignment, size of an entry
    for name, data, (kind, flags, address, size, *rest) in zip((1, 8, 14, 22, 30), contents, kinds):
        heads.append(struct.pack(order + "IIQQQQIIQQ", name, kind, flags, address, at, size, *rest))
        at += len(data) + -len(data) % 8
    header = b"\x7fELF" + bytes([2, 2 if order == ">" else 1, 1]) + bytes(9) + struct.pack(
        order + "HHIQQQIHHHHHH", 2, MACHINES[machine], 1, start, 0, at, 0, 64, 56, 0, 64, len(heads), 5)
    with open(path, "wb") as f:
        f.write(header + b"".join(c + bytes(-len(c) % 8) for c in contents) + b"".join(heads))

