# SPDX-License-Identifier: Apache-2.0
"""Names for the numbers in tracepoints, and dictionaries that grow: perf-script-python(1), "Core.py"."""
import collections

# By event ("sched__sched_switch") and field: the delimiter, and names by value. sonde_script fills them from
# the print formats in the recording.
flag_fields = {}
symbolic_fields = {}

# enum trace_flag_type of the kernel's trace_events.h.
trace_flags = {0x00: "NONE", 0x01: "IRQS_OFF", 0x02: "IRQS_NOSUPPORT", 0x04: "NEED_RESCHED", 0x08: "HARDIRQ",
               0x10: "SOFTIRQ"}


def autodict():
    """A dictionary whose missing members are such dictionaries."""
    return collections.defaultdict(autodict)


def define_flag_field(event_name, field_name, delim):
    flag_fields.setdefault(event_name, {})[field_name] = {"delim": delim, "values": {}}


def define_flag_value(event_name, field_name, value, field_str):
    flag_fields[event_name][field_name]["values"][value] = field_str


def define_symbolic_field(event_name, field_name):
    symbolic_fields.setdefault(event_name, {})[field_name] = {"values": {}}


def define_symbolic_value(event_name, field_name, value, field_str):
    symbolic_fields[event_name][field_name]["values"][value] = field_str


def _names_of_bits(value, names, delim):
    if not value:
        return names.get(0, "")
    return delim.join(names[bit] for bit in sorted(names) if bit and value & bit == bit)


def flag_str(event_name, field_name, value):
    """The names of the bits that are set."""
    field = flag_fields.get(event_name, {}).get(field_name)
    if not field:
        return ""
    return _names_of_bits(value, field["values"], f" {field['delim']} " if field["delim"] else " ")


def symbol_str(event_name, field_name, value):
    """The name of the value."""
    field = symbolic_fields.get(event_name, {}).get(field_name)
    return field["values"].get(value, "") if field else ""


def trace_flag_str(value):
    """What common_flags says."""
    return _names_of_bits(value, trace_flags, " | ")


def taskState(state):
    return {0: "R", 1: "S", 2: "D", 64: "DEAD"}.get(state, "Unknown")


class EventHeaders:
    """What every tracepoint has, kept together."""

    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain):
        self.cpu = common_cpu
        self.secs = common_secs
        self.nsecs = common_nsecs
        self.pid = common_pid
        self.comm = common_comm
        self.callchain = common_callchain

    def ts(self):
        return self.secs * 1000000000 + self.nsecs

    def ts_format(self):
        return f"{self.secs}.{self.nsecs // 1000}"
