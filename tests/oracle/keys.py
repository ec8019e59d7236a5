# SPDX-License-Identifier: Apache-2.0
"""The sort keys, one line each: what tells two entries apart, and what is shown. Both of a place and of the sample there."""
import re

from frames import GUEST_USER, HYPERVISOR, KERNEL, LEVEL_LETTERS, NO_IMAGE, USER

CACHE_LINE = 64
TRANSACTION = ["EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAPACITY-WRITE ", "CAPACITY-READ "]
LEVELS = [None, None, None, "L1", "LFB/MAB", "L2", "L3", "Local RAM", "Remote RAM (1 hop)", "Remote RAM (2 hops)",
          "Remote Cache (1 hop)", "Remote Cache (2 hops)", "I/O", "Uncached"]
SNOOPS = ["N/A", "None", "Hit", "Miss", "HitM"]
TLBS = ["N/A", None, None, "L1", "L2", "Walker", "Fault"]


def hexadecimal(number, digits):
    return f"0x{number:0{digits}x}" if number else "0" * digits


def bracket(level):
    return f"[{LEVEL_LETTERS.get(level, 'H')}] "


# ---- functions and places ----

def function_of(place):
    if place.function:
        start, size, _ = place.function
        return place.dso, start, start + size
    return None, place.own, 0


def symbol(place, level):
    return bracket(level) + (place.function[2] if place.function else hexadecimal(place.own, 16))


def offset_of(place):
    return *function_of(place), place.offset if place.function else place.own


def symbol_offset(place):
    if not place.function:
        return bracket(place.level) + hexadecimal(place.own, 9)
    return f"{bracket(place.level)}{place.function[2]}+0x{place.offset - place.function[0]:x}"


def end_offset(place, level):
    if not place.function:
        return bracket(level) + hexadecimal(place.offset, 16)
    inside = place.offset - place.function[0]
    return bracket(level) + place.function[2] + (f"+0x{inside:x}" if inside else "")


def end_symbol(place):
    return bracket(place.level) + (place.function[2] if place.function else hexadecimal(place.offset, 16))


def end_function(place):
    return function_of(place) if place.function else (None, place.address, 0)


def size_of_image(place):
    inside = place.mapping and place.address - place.called - place.mapping.start < place.mapping.size
    return place.mapping.size if inside else 0


def size_of_function(place):
    return place.function[1] if place.function else 0


def size(number):
    return str(number) if number else "unknown"


def page_size(number):
    unit = 0
    while number >= 1024:
        number, unit = number // 1024, unit + 1
    return f"{number}{'BKMGTPE'[unit]}" if number else "N/A"


# ---- tasks ----

def task(number, name):
    return f"{number:7d}:{name}"


def signed_task(number):
    return number - (1 << 32) if number >> 31 else number


# ---- memory ----

def words(bits, names):
    return " or ".join(name for i, name in enumerate(names) if bits >> i & 1 and name)


def memory_level(source):
    bits = source >> 5 & 0x3fff
    name = words(bits, LEVELS)
    return name + (" hit" if bits & 2 else " miss" if bits & 4 else " ") if name else "N/A"


def snoop(source):
    return words(source >> 19 & 31, SNOOPS) or "N/A"


def tlb(source):
    bits = source >> 26 & 127
    return (words(bits, TLBS) or "N/A") + (" hit" if bits & 2 else "") + (" miss" if bits & 4 else "")


def locked(source):
    bits = source >> 24 & 3
    return "N/A" if bits & 1 else "Yes" if bits else "No"


def blocked(source):
    bits = source >> 40 & 7
    return " N/A" if not bits or bits & 1 else (" Data" if bits & 2 else "") + (" Addr" if bits & 4 else "")


def cache_line(data):
    return data.offset // CACHE_LINE * CACHE_LINE


def line_text(data, level):
    letter = bracket(level) if data.mapping else "[X] "
    return letter + (data.function[2] if data.function else hexadecimal(cache_line(data), 16))


def data_text(data, level):
    return bracket(level) + (data.function[2] if data.function else hexadecimal(data.address, 16))


# ---- the table: {name: (what tells apart, text)}, each of (place, sample) ----

def transaction(flags):
    text = "".join(word for i, word in enumerate(TRANSACTION) if flags >> i & 1)
    return text + (f":{flags >> 32:x}" if flags >> 32 else "")


KEYS = {
    "comm": (lambda p, s: s.comm.name, lambda p, s: s.comm.name),
    "comm_nodigit": (lambda p, s: re.sub("[0-9]+", "", s.comm.name), lambda p, s: re.sub("[0-9]+", "<N>", s.comm.name)),
    "pid": (lambda p, s: s.tid, lambda p, s: task(signed_task(s.tid), s.thread.comm.name if s.tid else "swapper")),
    "tgid": (lambda p, s: s.pid, lambda p, s: task(signed_task(s.pid), s.leader.comm.name)),
    "cpu": (lambda p, s: s.cpu, lambda p, s: f"{s.cpu:03d}"),
    "socket": (lambda p, s: s.socket, lambda p, s: f"{s.socket:03d}"),
    "time": (lambda p, s: s.quantum, lambda p, s: f"{s.quantum // 10**9}.{s.quantum % 10**9 // 1000:06d}"),
    "parallelism": (lambda p, s: s.running, lambda p, s: str(s.running)),
    "parent": (lambda p, s: s.parent, lambda p, s: s.parent),
    "dso": (lambda p, s: p.dso, lambda p, s: p.dso),
    "symbol": (lambda p, s: function_of(p), lambda p, s: symbol(p, p.level)),
    "symoff": (lambda p, s: offset_of(p), lambda p, s: symbol_offset(p)),
    "ipc_null": (lambda p, s: function_of(p), lambda p, s: "-" if s.branch else "-      -            "),
    "addr": (lambda p, s: p.address, lambda p, s: f"0x{p.address:x}" if p.address else "0"),
    "dso_size": (lambda p, s: size_of_image(p), lambda p, s: size(size_of_image(p))),
    "symbol_size": (lambda p, s: size_of_function(p), lambda p, s: size(size_of_function(p))),
    "weight": (lambda p, s: s.weight, lambda p, s: str(s.weight)),
    "local_weight": (lambda p, s: s.weight, lambda p, s: str(s.weight)),
    "ins_lat": (lambda p, s: s.weights[1], lambda p, s: str(s.weights[1])),
    "local_ins_lat": (lambda p, s: s.weights[1], lambda p, s: str(s.weights[1])),
    "p_stage_cyc": (lambda p, s: s.weights[2], lambda p, s: str(s.weights[2])),
    "local_p_stage_cyc": (lambda p, s: s.weights[2], lambda p, s: str(s.weights[2])),
    "transaction": (lambda p, s: s.transaction, lambda p, s: transaction(s.transaction)),
    "code_page_size": (lambda p, s: s.code_page, lambda p, s: page_size(s.code_page)),
    # of memory accesses
    "mem": (lambda p, s: s.source >> 5 & 0x3fff, lambda p, s: memory_level(s.source)),
    "snoop": (lambda p, s: s.source >> 19 & 31, lambda p, s: snoop(s.source)),
    "tlb": (lambda p, s: s.source >> 26 & 127, lambda p, s: tlb(s.source)),
    "locked": (lambda p, s: s.source >> 24 & 3, lambda p, s: locked(s.source)),
    "blocked": (lambda p, s: s.source >> 40 & 7, lambda p, s: blocked(s.source)),
    "symbol_daddr": (lambda p, s: s.data.address, lambda p, s: data_text(s.data, p.level)),
    "symbol_iaddr": (lambda p, s: s.ip, lambda p, s: data_text(s.place, p.level)),
    "dso_daddr": (lambda p, s: s.data.dso, lambda p, s: s.data.dso),
    "dcacheline": (lambda p, s: (cache_line(s.data), s.data.level, s.data.dso), lambda p, s: line_text(s.data, p.level)),
    "phys_daddr": (lambda p, s: s.physical, lambda p, s: bracket(p.level) + hexadecimal(s.physical, 16)),
    "data_page_size": (lambda p, s: s.data_page, lambda p, s: page_size(s.data_page)),
    # of branches: from, to, flags (mispredicted, predicted, in_tx, abort, cycles)
    "dso_from": (lambda p, s: s.branch[0].dso, lambda p, s: s.branch[0].dso),
    "dso_to": (lambda p, s: s.branch[1].dso, lambda p, s: s.branch[1].dso),
    "symbol_from": (lambda p, s: end_function(s.branch[0]), lambda p, s: end_symbol(s.branch[0])),
    "symbol_to": (lambda p, s: end_function(s.branch[1]), lambda p, s: end_symbol(s.branch[1])),
    "addr_from": (lambda p, s: (s.branch[0].dso, s.branch[0].offset), lambda p, s: end_offset(s.branch[0], s.misc & 7)),
    "addr_to": (lambda p, s: (s.branch[1].dso, s.branch[1].offset), lambda p, s: end_offset(s.branch[1], s.misc & 7)),
    "mispredict": (lambda p, s: s.branch[2] & 3, lambda p, s: "Y" if s.branch[2] & 1 else "N"),
    "in_tx": (lambda p, s: s.branch[2] >> 2 & 1, lambda p, s: "T" if s.branch[2] >> 2 & 1 else "."),
    "abort": (lambda p, s: s.branch[2] >> 3 & 1, lambda p, s: "A" if s.branch[2] >> 3 & 1 else "."),
    "cycles": (lambda p, s: s.branch[2] >> 4 & 0xffff, lambda p, s: str(s.branch[2] >> 4 & 0xffff or "-")),
}
