/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of samples (record --filter for what is neither a tracepoint nor takes addresses): a BPF program
 * for each such event, attached to it on all CPUs and inherited with it, keeps what does not match out of the
 * rings. Before the events are enabled.
 */
#ifndef SONDE_RECORD_FILTER_H
#define SONDE_RECORD_FILTER_H

#include "os/bpf/bpf.h"
#include "record/rings/open.h"

struct record_filters;

/* Whether the plan has such events. */
bool record_filters_wanted(const struct record_plan *plan);

/* Both are borrowed: `bpf` for as long as the filters last, the others for the call. NULL: *err says what is
 * missing, or wrong with a filter. */
struct record_filters *record_filters_start(const struct os_bpf *bpf, const struct record_plan *plan,
                                            const struct record_opened *opened, bool verbose,
                                            struct err *err);

/* How many samples were left out; logs what else is to be said of them. */
uint64_t record_filters_tell(const struct record_filters *x);

/* Takes the filters away; NULL is allowed. */
void record_filters_free(struct record_filters *x);

#endif
