# SPDX-License-Identifier: Apache-2.0
# description: how long threads were off the CPU, by program and state
# args: [comm]
"""Needs sched:sched_switch of all CPUs: sonde record -e sched:sched_switch -a sleep 1"""
import sys

from Core import *
from Util import *

wanted = sys.argv[1] if len(sys.argv) > 1 else None
left = {}   # tid -> (time, program, state)
waits = {}  # (program, state) -> (least, most, mean, count)


def sched__sched_switch(event_name, context, common_cpu, common_secs, common_nsecs, common_pid, common_comm,
                        common_callchain, prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid, next_prio,
                        perf_sample_dict):
    now = nsecs(common_secs, common_nsecs)
    state = flag_str(event_name, "prev_state", prev_state) or "R"
    left[prev_pid] = (now, prev_comm, state)
    if next_pid in left and next_pid != 0:
        since, comm, why = left.pop(next_pid)
        if wanted in (None, comm):
            add_stats(waits, (comm, why), now - since)


def trace_end():
    print(f"{'program':16} {'state':8} {'times':>8} {'mean ms':>12} {'longest ms':>12}")
    for (comm, state), (_, most, mean, count) in sorted(waits.items(), key=lambda item: -item[1][2] * item[1][3]):
        print(f"{comm:16} {state:8} {count:8} {mean / 1e6:12.3f} {most / 1e6:12.3f}")
