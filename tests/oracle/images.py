# SPDX-License-Identifier: Apache-2.0
"""Writes programs and libraries whose functions are known, and lists of kernel symbols: what the oracle's recordings map."""
import os
import struct

PAGE = 0x1000
CODE_AT, CODE_BYTES = PAGE, 4 * PAGE  # where the code lies in each file


class Image:
    """`functions`: (offset in the file, size, name); `path`: what map records say; `slide`: vaddr minus offset."""

    def __init__(self, path, functions, slide=0, build_id=None):
        self.path, self.functions, self.slide, self.build_id = path, functions, slide, build_id
        self.name = path if path.startswith("[") else os.path.basename(path)

    def find(self, offset):
        """The function at an offset of the file (of the kernel: at an address), or None."""
        for start, size, name in self.functions:
            if start <= offset < start + size:
                return start, size, name
        return None


def write_elf(image, folder):
    """A shared object with one executable segment, a table of symbols and a build-id."""
    names, symbols = b"\0", bytes(24)
    for offset, size, name in image.functions:
        symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, offset + image.slide, size)  # global function in .text
        names += name.encode() + b"\0"
    note = struct.pack("<III4s", 4, 20, 3, b"GNU\0") + image.build_id
    parts, at = [], CODE_AT + CODE_BYTES
    for data in (note, symbols, names, b"\0.text\0.note\0.symtab\0.strtab\0"):
        parts.append((at, data))
        at += (len(data) + 15) // 16 * 16
    (note_at, _), (symbols_at, _), (names_at, _), (titles_at, titles) = parts
    loads = [(1, 5, CODE_AT, CODE_AT + image.slide, CODE_BYTES, PAGE), (4, 4, note_at, note_at + image.slide, len(note), 4)]
    sections = [(0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                (1, 1, 6, CODE_AT + image.slide, CODE_AT, CODE_BYTES, 0, 0, 16, 0),
                (7, 7, 2, note_at + image.slide, note_at, len(note), 0, 0, 4, 0),
                (13, 2, 0, 0, symbols_at, len(symbols), 4, 1, 8, 24),
                (21, 3, 0, 0, names_at, len(names), 0, 0, 1, 0),
                (21, 3, 0, 0, titles_at, len(titles), 0, 0, 1, 0)]
    head = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, at, 0, 64, 56, len(loads), 64, len(sections), 5)
    for kind, flags, offset, vaddr, size, align in loads:
        head += struct.pack("<IIQQQQQQ", kind, flags, offset, vaddr, vaddr, size, size, align)
    data = bytearray(at)
    data[:len(head)] = head
    data[CODE_AT:CODE_AT + CODE_BYTES] = b"\x90" * CODE_BYTES
    for offset, part in parts:
        data[offset:offset + len(part)] = part
    data += b"".join(struct.pack("<IIQQQQIIQQ", *s) for s in sections)
    path = os.path.join(folder, image.path.lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    return path


def write_kallsyms(image, path):
    """Functions of the kernel touch, as the list does not say where they end."""
    with open(path, "w", encoding="ascii") as f:
        for start, _, name in image.functions:
            f.write(f"{start:016x} T {name}\n")
        start, size, _ = image.functions[-1]
        f.write(f"{start + size:016x} T _etext\n")
