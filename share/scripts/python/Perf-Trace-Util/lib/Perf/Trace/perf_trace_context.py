# SPDX-License-Identifier: Apache-2.0
"""What a script can ask about the event it is given: perf-script-python(1), "perf_trace_context Module"."""


class _Context:
    """The event at hand. sonde_script puts it in before it calls a handler."""
    common = {}
    sample = {}

    def __repr__(self):
        return "<context of an event>"


perf_script_context = _Context()


def common_pc(context):
    return context.common.get("common_preempt_count", 0)


def common_flags(context):
    return context.common.get("common_flags", 0)


def common_lock_depth(context):
    return context.common.get("common_lock_depth", 0)


def perf_sample_insn(context):
    """The bytes of the instruction; None where they are not known."""
    return context.sample.get("insn")


def perf_sample_srcline(context):
    """(file, line); (None, 0) where they are not known."""
    return context.sample.get("srcline", (None, 0))


def perf_sample_srccode(context):
    """(file, line, text of the line), each None where it is not known."""
    name, line = perf_sample_srcline(context)
    text = None
    if name:
        try:
            with open(name, encoding="utf-8", errors="replace") as f:
                for number, text_ in enumerate(f, 1):
                    if number == line:
                        text = text_.rstrip("\n")
                        break
        except OSError:
            pass
    return name, line, text


def perf_set_itrace_options(context, itrace_options):
    """Instruction traces are not decoded: nothing to set. 0 means that it was done before."""
    return 0


def perf_config_get(config_name):
    return None
