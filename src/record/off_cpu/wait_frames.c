/* SPDX-License-Identifier: Apache-2.0 */
#include "record/off_cpu/wait_frames.h"

#include <stdio.h>
#include <string.h>

#include "calls/table.h"

/* Within a kind: 0 no system call, then system calls by their numbers, then these. */
enum { KIND_NUMBERS = RECORD_WAIT_NUMBERS / BPF_OFF_CPU_KINDS, CALLS_MAX = KIND_NUMBERS - 3, FAULT, SHORT };

_Static_assert(RECORD_WAIT_NUMBERS *RECORD_WAIT_BYTES <= 0xf000, "waits reach into the markers");

uint32_t record_wait_number(const struct bpf_off_cpu_key *key) {
    uint32_t kind = key->kind < BPF_OFF_CPU_KINDS ? key->kind : 0, rest = 0;
    if (key->syscall == BPF_OFF_CPU_SHORT)
        rest = SHORT;
    else if (key->syscall >= 0 && key->syscall < CALLS_MAX)
        rest = (uint32_t)key->syscall + 1;
    else if (key->syscall == BPF_OFF_CPU_NO_CALL && key->user_stack)
        rest = FAULT;
    if (kind == BPF_OFF_CPU_RUNNABLE && rest != SHORT)
        rest = 0; /* why it waited before is not what it waits for */
    return kind * KIND_NUMBERS + rest;
}

size_t record_wait_name(uint32_t number, const char *machine, char name[RECORD_WAIT_NAME]) {
    static const char *const KINDS[BPF_OFF_CPU_KINDS] = {"waits", "sleeps", "blocked", "stopped",
                                                         "waits for a CPU"};
    static const char *const SHORTLY[BPF_OFF_CPU_KINDS] = {"short waits", "short sleeps", "short blocks",
                                                           "short stops", "short waits for a CPU"};
    uint32_t kind = number / KIND_NUMBERS, rest = number % KIND_NUMBERS;
    const char *call =
        rest && rest <= CALLS_MAX ? calls_table_name(calls_table(machine, false), (int64_t)rest - 1) : NULL;
    int n;
    memset(name, 0, RECORD_WAIT_NAME);
    if (rest == SHORT)
        n = snprintf(name, RECORD_WAIT_NAME - 8, "%s", SHORTLY[kind]);
    else if (rest == FAULT)
        n = snprintf(name, RECORD_WAIT_NAME - 8, "%s in a fault", KINDS[kind]);
    else if (call)
        n = snprintf(name, RECORD_WAIT_NAME - 8, "%s in %s", KINDS[kind], call);
    else if (rest)
        n = snprintf(name, RECORD_WAIT_NAME - 8, "%s in system call %u", KINDS[kind], rest - 1);
    else
        n = snprintf(name, RECORD_WAIT_NAME - 8, "%s", KINDS[kind]);
    return (size_t)n;
}
