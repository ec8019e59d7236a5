/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe's arguments without tracefs: from what the kernel would be told to fetch (event.h) to the steps
 * that bpf/probe.bpf.c goes, and the format of the record that comes out, which is the one that tracefs would
 * give.
 */
#ifndef SONDE_PROBE_PROGRAM_H
#define SONDE_PROBE_PROGRAM_H

#include "bpf/probe.h"
#include "probe/event.h"

struct probe_program {
    struct bpf_probe code;
    const char *group;
    uint64_t offset;    /* in the file */
    const char *format; /* tracefs' text, with common_type as its ID */
};

/* Where registers lie in the struct pt_regs of a machine, in words. */
struct probe_registers {
    const char *const *names; /* by word; NULL: it is no register that can be named */
    uint32_t count;
    int result, stack, instruction; /* words */
};
/* Of the machine that we run on; NULL: not known. */
const struct probe_registers *probe_registers_here(void);

/* `id`: the number of the event in the recording. All is in the arena, nothing borrowed.
 * NULL and *err: something cannot be fetched this way (ERR_UNSUPPORTED, ERR_USAGE); out of memory. */
const struct probe_program *probe_program_new(const struct probe_event *e, const struct probe_registers *r,
                                              uint16_t id, struct arena *a, struct err *err);

#endif
