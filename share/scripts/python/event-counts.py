# SPDX-License-Identifier: Apache-2.0
# description: samples by event and program
"""How often each event was seen in each program. Takes any recording."""
import collections

counts = collections.Counter()


def process_event(event):
    counts[event["ev_name"], event["comm"]] += 1


def trace_unhandled(event_name, context, event_fields_dict, perf_sample_dict):
    counts[event_name.replace("__", ":", 1), event_fields_dict["common_comm"]] += 1


def trace_end():
    print(f"{'event':32} {'program':16} {'samples':>10}")
    for (event, comm), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        print(f"{event:32} {comm:16} {count:10}")
