/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own code and that of its modules, as the running kernel describes itself. */
#ifndef SONDE_RECORD_SYNTH_KERNEL_H
#define SONDE_RECORD_SYNTH_KERNEL_H

#include "format/perfdata/added/kernel_facts.h"
#include "os/proc/proc.h"
#include "record/synth/loaded_modules.h"
#include "record/write/sink.h"

struct record_kernel {
    uint64_t start, end;   /* both 0: not known */
    const char *reference; /* the symbol at `start`: "_text", or "_stext" where there is no other; static */
    bool hidden;           /* addresses are withheld from us (os/rights.h says what would show them) */
};

/* From /proc/kallsyms, [_text or _stext, _etext). */
void record_kernel_find(const struct os_proc *proc, struct record_kernel *out);

/* A build-id from a file of bare notes (/sys/kernel/notes); size 0 when there is none. */
void record_kernel_notes(const struct os_proc *proc, const char *path, struct os_build_id *out);

/* What tells this boot of this kernel from others. Only what may be seen. *found: what record_kernel_find
 * says, from the same reading, which takes tens of milliseconds. */
void record_kernel_facts(const struct os_proc *proc, struct perfdata_kernel_facts *out,
                         struct record_kernel *found);

/*
 * The kernel's map, named after its reference symbol as perf does it, so that whoever has its vmlinux can
 * compute where it was relocated to; and one map per module. Their build-ids go into the maps (`ids`) and to
 * the sink. `modules`: those to tell of; NULL: those that are loaded now. Says in one line when addresses are
 * hidden and `wanted`. What it finds out on the way goes to sink->kernel_facts. False when memory ran out.
 */
bool record_kernel_encode(const struct os_proc *proc, const struct record_sink *sink,
                          const struct record_modules *modules, bool ids, bool wanted, struct writer *w);

/* The map of one module; its build-id goes into it (`ids`) and to the sink. */
void record_kernel_put_module(const struct record_sink *sink, const struct record_module *m, bool ids,
                              struct writer *w);

#endif
