# SPDX-License-Identifier: Apache-2.0
"""Runs a script: sonde_script.py FD SCRIPT [arguments]

Reads the lines of `sonde script --json` (with what scripts get beyond that) from descriptor FD and calls the
script's handlers as perf-script-python(1) describes: trace_begin, one per tracepoint or trace_unhandled,
process_event, context_switch, trace_end.
"""
import inspect
import json
import os
import re
import struct
import sys
import types

import Core
import perf_trace_context

CPUMODES = {"kernel": 1, "user": 2, "hypervisor": 3, "guest_kernel": 4, "guest_user": 5}
BINDINGS = {"local": 0, "global": 1, "weak": 2, "unique": 10}  # STB_* of elf.h
FIELD = re.compile(r"\s*field:\s*(.*?)\s*;\s*offset:\s*(\d+)\s*;\s*size:\s*(\d+)\s*;(?:\s*signed:\s*(\d+)\s*;)?")
COMMON = ["event_name", "context", "common_cpu", "common_secs", "common_nsecs", "common_pid", "common_comm",
          "common_callchain"]


# ---- tracepoints ----

class Field:
    """How to read one field of a tracepoint's raw data."""

    def __init__(self, match, order):
        declaration, self.offset, self.size = match[1], int(match[2]), int(match[3])
        self.order = order
        self.name = re.sub(r"\[[^\]]*\]\s*$", "", declaration).split()[-1].lstrip("*")
        self.dynamic = "__data_loc" in declaration or "__rel_loc" in declaration
        self.relative = "__rel_loc" in declaration
        array = "[" in declaration
        self.is_text = array and re.search(r"\bchar\b", declaration) is not None
        item = {1: "b", 2: "h", 4: "i", 8: "q"}
        signed = match[4] == "1" if match[4] is not None else "unsigned" not in declaration
        self.is_array = array and not self.is_text
        code = item.get(self.size, "b")
        self.item = struct.Struct(order + (code if signed else code.upper()))

    def read(self, raw):
        at, size = self.offset, self.size
        if self.dynamic:
            if at + 4 > len(raw):
                return ""
            place, = struct.unpack_from(self.order + "I", raw, at)
            size, at = place >> 16, (place & 0xffff) + (at + 4 if self.relative else 0)
        data = raw[at:at + size]
        if self.is_text:
            return data.split(b"\0", 1)[0].decode("utf-8", "replace")
        if self.is_array or self.dynamic:
            return bytearray(data)
        return self.item.unpack_from(data)[0] if len(data) >= self.item.size else 0


def split_arguments(text):
    """The arguments of a call whose opening parenthesis lies before the text."""
    depth, quoted, start, parts = 0, False, 0, []
    for i, c in enumerate(text):
        if c == '"' and text[i - 1:i] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif c in "({[":
            depth += 1
        elif c in ")}]":
            if depth == 0:
                return parts + [text[start:i].strip()]
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts


def number(text):
    """The value of a constant as print formats write them, or None."""
    text = re.sub(r"(?<=[0-9a-fA-F])[uUlL]+\b", "", text.strip())
    match = re.fullmatch(r"\(*\s*(0[xX][0-9a-fA-F]+|\d+)\s*(?:<<\s*(\d+)\s*)?\)*", text)
    if not match:
        return None
    value = int(match[1], 0) if match[1].lower().startswith("0x") or match[1] == "0" else int(match[1])
    return value << min(int(match[2] or 0), 63)


def learn_names(event, print_format):
    """Tells Core the names in __print_flags and __print_symbolic."""
    for call in re.finditer(r"__print_(flags|symbolic)(?:_u64)?\(", print_format):
        flags = call[1] == "flags"
        arguments = split_arguments(print_format[call.end():])
        field = re.search(r"REC->(\w+)", arguments[0]) if arguments else None
        if not field or len(arguments) < 2:
            continue
        if flags:
            Core.define_flag_field(event, field[1], arguments[1].strip('"'))
        else:
            Core.define_symbolic_field(event, field[1])
        for entry in arguments[2 if flags else 1:]:
            pair = re.fullmatch(r'\{\s*(.*?)\s*,\s*"(.*)"\s*\}', entry, re.S)
            value = number(pair[1]) if pair else None
            if value is not None:
                (Core.define_flag_value if flags else Core.define_symbolic_value)(event, field[1], value, pair[2])


class Event:
    """An event of the recording."""

    def __init__(self, line, order):
        self.name = line["name"]
        self.attr = bytes.fromhex(line.get("attr", ""))
        self.common, self.fields, self.handler_name = [], [], None
        text = line.get("tracepoint_format")
        if text is None:
            return
        self.handler_name = re.sub(r"\W", "_", line["system"]) + "__" + re.sub(r"\W", "_", line["tracepoint"])
        for row in text.splitlines():
            match = FIELD.match(row)
            if match:
                field = Field(match, order)
                (self.common if field.name.startswith("common_") else self.fields).append(field)
        _, _, print_format = text.partition("print fmt:")
        learn_names(self.handler_name, print_format)


# ---- what handlers get ----

def symbol_of(place, prefix=""):
    return {"start": place.get(prefix + "start", 0), "end": place.get(prefix + "end", 0),
            "binding": BINDINGS.get(place.get(prefix + "bind"), 0), "name": place[prefix + "sym"]}


def frame_of(place):
    frame = {"ip": int(place["ip"], 16)}
    if "sym" in place:
        frame["sym"] = symbol_of(place)
        frame["sym_off"] = place["symoff"]
    if "dso" in place:
        frame["dso"] = place["dso"]
    return frame


def branch_of(b):
    return {"from": int(b["from"], 16), "to": int(b["to"], 16), "from_dsoname": b.get("from_dso", ""),
            "to_dsoname": b.get("to_dso", ""), "mispred": b.get("mispredicted", False),
            "predicted": b.get("predicted", False), "in_tx": b.get("in_tx", False), "abort": b.get("abort", False),
            "cycles": b["cycles"]}


def branch_symbols_of(b):
    def end(side):
        if side + "_sym" in b:
            return f"{b[side + '_sym']}+0x{b[side + '_symoff']:x}"
        return b[side]
    pred = "M" if b.get("mispredicted") else "P" if b.get("predicted") else "-"
    return {"from": end("from"), "to": end("to"), "pred": pred, "in_tx": "X" if b.get("in_tx") else "-",
            "abort": "A" if b.get("abort") else "-"}


def registers_of(registers):
    return "".join(f" {name}:{value}" for name, value in registers.items())


def values_of(line):
    values = [(v["id"], v["value"]) for v in line.get("read", [])]
    return values or [(0, 0, 0)]


def word(line, name):
    return int(line.get(name, "0"), 16)


def sample_of(line):
    """The "sample" member of what process_event gets."""
    sample = {"id": line.get("identifier", line.get("id", 0)), "stream_id": line.get("stream_id", (1 << 64) - 1),
              "pid": line.get("pid", -1), "tid": line.get("tid", -1), "cpu": line.get("cpu", 0xffffffff),
              "ip": word(line, "ip"), "time": line.get("time", 0), "period": line["period"],
              "phys_addr": word(line, "phys_addr"), "addr": word(line, "addr"), "values": values_of(line),
              "weight": line.get("weight", 0), "ins_lat": line.get("ins_lat", 0),
              "transaction": word(line, "transaction"), "datasrc": word(line, "data_src"),
              "datasrc_decode": line.get("data_src_text", ""), "cpumode": CPUMODES.get(line.get("mode"), 0)}
    for name in ("time_enabled", "time_running"):
        if name in line:
            sample[name] = line[name]
    if "addr_dso" in line:
        sample.update(addr_correlates_sym=True, addr_dso=line["addr_dso"], addr_dso_bid=line.get("addr_buildid", ""),
                      addr_dso_map_start=line.get("addr_map_start", 0), addr_dso_map_end=line.get("addr_map_end", 0))
        if "addr_sym" in line:
            sample.update(addr_symbol=line["addr_sym"], addr_symoff=line["addr_symoff"])
    return sample


def dictionary_of(line, event, chain):
    """What process_event gets, and tracepoint handlers as their last argument."""
    d = {"ev_name": event.name, "attr": event.attr, "sample": sample_of(line),
         "raw_buf": bytes.fromhex(line.get("raw", "")), "comm": comm_of(line)}
    if "dso" in line:
        d.update(dso=line["dso"], dso_bid=line.get("buildid", ""), dso_map_start=line.get("map_start", 0),
                 dso_map_end=line.get("map_end", 0), map_pgoff=line.get("map_pgoff", 0))
    if "sym" in line:
        d.update(symbol=line["sym"], symoff=line["symoff"])
    d["callchain"] = chain
    branches = line.get("branches", [])
    d["brstack"] = [branch_of(b) for b in branches]
    d["brstacksym"] = [branch_symbols_of(b) for b in branches]
    d["iregs"], d["uregs"] = registers_of(line.get("iregs", {})), registers_of(line.get("uregs", {}))
    return d


def comm_of(line):
    return line.get("comm") or f":{line.get('tid', -1)}"


# ---- the script ----

def positional(function):
    """How many positional arguments it takes; None: any number."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def fit(arguments, function):
    """Older scripts take neither the callchain nor the dictionary at the end."""
    count = positional(function)
    if count is None or count >= len(arguments):
        return arguments
    arguments = arguments[:-1]
    if count < len(arguments):
        del arguments[COMMON.index("common_callchain")]
    return arguments


class Runner:
    def __init__(self, names):
        self.names = names
        self.order = "<"
        self.events = {}
        self.context = perf_trace_context.perf_script_context

    def call(self, name, *arguments):
        function = self.names.get(name)
        if callable(function):
            function(*arguments)

    def tracepoint(self, event, line, chain):
        raw = bytes.fromhex(line.get("raw", ""))
        common = {f.name: f.read(raw) for f in event.common}
        self.context.common = common
        handler = self.names.get(event.handler_name)
        fields = {f.name: f.read(raw) for f in event.fields}
        if not callable(handler) and not callable(self.names.get("trace_unhandled")):
            return
        time, d = line.get("time", 0), dictionary_of(line, event, chain)
        pid = common.get("common_pid", line.get("pid", -1))
        if callable(handler):
            arguments = [event.handler_name, self.context, line.get("cpu", -1), time // 1000000000, time % 1000000000,
                         pid, comm_of(line), chain, *fields.values(), d]
            handler(*fit(arguments, handler))
            return
        fields = {"common_cpu": line.get("cpu", -1), "common_s": time // 1000000000, "common_ns": time % 1000000000,
                  "common_pid": pid, "common_comm": comm_of(line), "common_callchain": chain, **fields}
        unhandled = self.names["trace_unhandled"]
        arguments = [event.handler_name, self.context, fields, d]
        count = positional(unhandled)
        unhandled(*(arguments if count is None else arguments[:count]))

    def sample(self, line):
        event = self.events[line["event_number"]]
        self.context.sample, self.context.common = line, {}
        if event.handler_name is None and not callable(self.names.get("process_event")):
            return
        chain = [frame_of(f) for f in line.get("callchain", [])]
        if event.handler_name is not None:
            self.tracepoint(event, line, chain)
        else:
            self.names["process_event"](dictionary_of(line, event, chain))

    def record(self, line):
        switch = line.get("switch")
        if switch and callable(self.names.get("context_switch")):
            self.names["context_switch"](line.get("time", 0), line.get("cpu", -1), line.get("pid", -1),
                                         line.get("tid", -1), switch.get("other_pid", -1), switch.get("other_tid", -1),
                                         0, switch["out"], switch["preempted"])

    def run(self, lines):
        started = False
        for text in lines:
            line = json.loads(text)
            kind = line["type"]
            if kind == "header":
                self.order = ">" if line.get("big_endian") else "<"
                continue
            if kind == "event":
                self.events[line["event"]] = Event(line, self.order)
                continue
            if not started:
                started = True
                self.call("trace_begin")
            if kind == "sample":
                self.sample(line)
            elif kind == "record":
                self.record(line)
        if not started:
            self.call("trace_begin")
        self.call("trace_end")


def main():
    fd, path = int(sys.argv[1]), sys.argv[2]
    lines = os.fdopen(fd, "r", buffering=1 << 20, encoding="utf-8", errors="replace")
    sys.argv = sys.argv[2:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    module = types.ModuleType("__main__")
    module.__file__ = path
    sys.modules["__main__"] = module
    with open(path, "rb") as f:
        code = compile(f.read(), path, "exec")
    exec(code, module.__dict__)
    Runner(module.__dict__).run(lines)


try:
    main()
    sys.stdout.flush()
except BrokenPipeError:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read our output has gone
except KeyboardInterrupt:
    sys.exit(130)
