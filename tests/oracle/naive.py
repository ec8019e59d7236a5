# SPDX-License-Identifier: Apache-2.0
"""A profiler that is too simple to be wrong: it makes of a recording what `sonde report --json` is to say of it.

Every sample gives entries, entries with equal keys are one, and their sums are added. No table is clever, nothing is kept.
"""
import math
import re
from types import SimpleNamespace

import frames
import reader
from keys import KEYS, function_of

LATENCY_UNIT = 4096  # parts of a period that a running thread stands for
SAMPLE_FIELDS = dict(sort=["comm", "dso", "symbol"], children=False, graph=None, order="callee", least=0.5, by_address=False,
                     max_stack=127, branch=False, mem=False, group=False, hierarchy=False, latency=False, relative=False,
                     cpus=None, pids=None, tids=None, times=None, comms=None, dsos=None, symbols=None, symbol_filter=None,
                     socket=None, levels=None, parent=None, exclude_other=False, hide_unresolved=False, quantum=100_000_000)
USUAL_PARENT = "^sys_|^do_page_fault"


def options(**more):
    """What report is asked for; the names above say all that there is."""
    unknown = set(more) - set(SAMPLE_FIELDS)
    assert not unknown, unknown
    return SimpleNamespace(**{**SAMPLE_FIELDS, **more})


# ---- samples ----

def prepare(samples, features, o):
    """Fills in what keys ask for."""
    sockets = reader.read_sockets(features)
    for s in samples:
        s.weight, s.branch = s.weights[0], None
        s.socket = sockets[s.cpu] if 0 <= s.cpu < len(sockets) else -1
        s.quantum = s.time // o.quantum * o.quantum
        # Callers first, nothing of the user part is shown without a recorded call.
        without_calls = s.calls and s.kernel_frames is not None and not s.branches and o.order == "caller"
        s.shown = shown_frames(s.kernel_frames if without_calls else s.frames, o)
        s.parent = parent_of(s.shown, o)
        if o.children and "addr" in o.sort:  # entries are addresses then: one has one entry
            s.place.own = s.place.address
        s.count = max(s.weight, 1) if o.mem else s.period
        s.latency = s.count * LATENCY_UNIT % WORD // s.running


def shown_frames(chain, o):
    """At most so many: callers first, those that are nearest to the outermost one."""
    if o.hide_unresolved:
        chain = [place for place in chain if place.function]
    return chain[max(len(chain) - o.max_stack, 0):] if o.order == "caller" else chain[:o.max_stack]


def parent_of(chain, o):
    """The first function that matches, in the order of printing."""
    for place in reversed(chain) if o.order == "caller" else chain:
        if place.function and re.search(o.parent or USUAL_PARENT, place.function[2]):
            return place.function[2]
    return "[other]"


# ---- filters ----

def is_dropped(s, o):
    """As if it had not been recorded."""
    return (o.cpus is not None and s.cpu not in o.cpus) or \
        (o.times is not None and not any(first <= s.time <= last for first, last in o.times)) or \
        (o.branch and not s.branches)


def is_hidden(s, o):
    return o.hide_unresolved and not s.place.function


def is_filtered(s, o):
    """It counts in totals, but has no entry."""
    name = s.place.function[2] if s.place.function else None
    return (o.pids is not None and s.pid not in o.pids) or (o.tids is not None and s.tid not in o.tids) or \
        (o.socket is not None and s.socket != o.socket) or (o.levels is not None and s.running not in o.levels) or \
        (o.comms is not None and s.comm.name not in o.comms) or (o.dsos is not None and s.place.dso not in o.dsos) or \
        (o.symbols is not None and name not in o.symbols) or (o.exclude_other and s.parent == "[other]") or \
        (o.symbol_filter is not None and not o.branch and not selects_entries(o) and o.symbol_filter not in (name or ""))


def selects_entries(o):
    """Where callers have entries of their own, a filter by name is for these."""
    return o.symbol_filter is not None and o.children and not o.branch and not o.hierarchy and "symbol" in o.sort


# ---- sums ----

WORD = 1 << 64  # sums are words


def no_sums():
    return SimpleNamespace(period=0, samples=0, latency=0, weights=[0, 0, 0])


def add(sums, period, latency, weights=(0, 0, 0)):
    sums.period = (sums.period + period) % WORD
    sums.samples += 1
    sums.latency = (sums.latency + latency) % WORD
    sums.weights = [a + b for a, b in zip(sums.weights, weights)]


def join(sums, more):
    sums.period = (sums.period + more.period) % WORD
    sums.samples += more.samples
    sums.latency = (sums.latency + more.latency) % WORD


class Entry:
    def __init__(self, place, sample, keys):
        self.place, self.sample, self.keys = place, sample, keys
        self.self, self.children, self.chains = {}, {}, []

    def texts(self, keys):
        return tuple(KEYS[key][1](self.place, self.sample) for key in keys)


def entry_at(entries, place, sample, o):
    """The entry of a place, found by looking at what its keys tell apart."""
    keys = tuple(KEYS[key][0](place, sample) for key in o.sort)
    if keys not in entries:
        entries[keys] = Entry(place, sample, keys)
    return entries[keys]


def parts(chain, i, order):
    """What is after the i-th frame (from the innermost), in the order of printing."""
    return chain[i::-1] if order == "caller" else chain[i:]


def add_sample(entries, s, o):
    """Its own entry and, with children, those that it passed through: each once."""
    member = s.event.index
    own = entry_at(entries, s.place, s, o)
    add(own.self.setdefault(member, no_sums()), s.count, s.latency, s.weights)
    whole = parts(s.shown, len(s.shown) - 1, "caller") if o.order == "caller" else list(s.shown)
    seen = [own]
    own.chains.append((whole, s))
    add(own.children.setdefault(member, no_sums()), s.count, s.latency)
    numbers = range(len(s.shown))
    for i in reversed(numbers) if o.order == "caller" else numbers:
        entry = entry_at(entries, s.shown[i], s, o) if o.children else own
        if entry not in seen:
            seen.append(entry)
            entry.chains.append((parts(s.shown, i, o.order), s))
            add(entry.children.setdefault(member, no_sums()), s.count, s.latency)


def add_branches(entries, s, o):
    """Each branch is one event, at its target."""
    for branch in s.ends:
        if o.symbol_filter is None or (branch[1].function and o.symbol_filter in branch[1].function[2]):
            one = SimpleNamespace(**{**vars(s), "branch": branch})
            place = SimpleNamespace(**{**vars(branch[1]), "level": s.misc & 7, "own": branch[1].address})
            entry = entry_at(entries, place, one, o)
            add(entry.self.setdefault(s.event.index, no_sums()), 1, s.latency, s.weights)


# ---- call graphs ----

def frame_key(place, o):
    if o.by_address or not place.function:
        return place.dso, place.address, place.function and place.function[0]
    return function_of(place)


def frame_text(place):
    return place.function[2] if place.function else f"0x{place.address:x}" if place.address else "0"


class Node:
    def __init__(self, place):
        self.place, self.period, self.samples, self.ends, self.next = place, 0, 0, 0, {}


def chain_tree(entry, event, o):
    """The callchains of one event's samples (of a group, the leader's) from their first frames on."""
    root = Node(None)
    for chain, s in [(chain, s) for chain, s in entry.chains if s.event.index == event]:
        node = root
        for place in chain:
            node = node.next.setdefault(frame_key(place, o), Node(place))
            node.period = (node.period + s.count) % WORD
            node.samples += 1
        node.ends += 1
    return root


def branches(node, least, o):
    """The branches below a node, those of less than `least` left out. Frames that always follow each other are one branch."""
    found = []
    for below in node.next.values():
        if below.period < least:
            continue
        texts = [frame_text(below.place)]
        while not below.ends and len(below.next) == 1:
            below = list(below.next.values())[0]
            texts.append(frame_text(below.place))
        limit = below_limit(below, o) if o.graph == "fractal" else least
        found.append((-below.period, below.samples, tuple(texts), branches(below, limit, o)))
    return tuple(sorted(found))


def below_limit(node, o):
    return math.ceil(sum(n.period for n in node.next.values()) % WORD * o.least / 100)


# ---- tables ----

def table_of(members, samples, o):
    """The entries of an event, or of the events of a group."""
    total, entries, numbers = {}, {}, dict(read=0, filtered=0, dropped=0)
    for s in samples:
        if s.event.index not in members:
            continue
        numbers["read"] += 1
        if is_dropped(s, o) or is_hidden(s, o):
            numbers["dropped"] += 1
            continue
        filtered = is_filtered(s, o)
        numbers["filtered"] += filtered
        if not filtered or not o.relative:
            sums = total.setdefault(s.event.index, no_sums())
            add(sums, len(s.branches) if o.branch else s.count, s.latency)
        if not filtered:
            (add_branches if o.branch else add_sample)(entries, s, o)
    shown = list(entries.values())
    if selects_entries(o):
        shown = [e for e in shown if e.place.function and o.symbol_filter in e.place.function[2]]
        for entry in (e for e in entries.values() if e not in shown):
            for member, sums in entry.self.items():
                numbers["filtered"] += sums.samples
                if o.relative:
                    total[member].period = (total[member].period - sums.period) % WORD
                    total[member].samples -= sums.samples
                    total[member].latency = (total[member].latency - sums.latency) % WORD
    return SimpleNamespace(members=members, total=total, entries=shown, **numbers)


def profile(path, images, o):
    """The tables of a recording's events."""
    events, records, features = reader.read(path)
    for i, event in enumerate(events):
        event.index = i
    samples = frames.replay(records, images, o.max_stack if o.order == "callee" else len(records))
    prepare(samples, features, o)
    groups = [list(range(len(events)))] if o.group else [[i] for i in range(len(events))]
    return [table_of(members, samples, o) for members in groups]
