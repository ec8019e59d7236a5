# SPDX-License-Identifier: Apache-2.0
# description: callchains as folded stacks, for flame graphs
# args: [comm]
"""One line for each distinct stack, outermost function first: program;main;work 42"""
import collections
import sys

wanted = sys.argv[1] if len(sys.argv) > 1 else None
stacks = collections.Counter()


def add(comm, chain, leaf):
    if wanted in (None, comm):
        names = [frame["sym"]["name"] if "sym" in frame else "[unknown]" for frame in reversed(chain)]
        stacks[";".join([comm] + (names or [leaf]))] += 1


def process_event(event):
    add(event["comm"], event["callchain"], event.get("symbol", "[unknown]"))


def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    add(event_fields_dict["common_comm"], event_fields_dict["common_callchain"], event_name)


def trace_end():
    for stack, count in sorted(stacks.items()):
        print(stack, count)
