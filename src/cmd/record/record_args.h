/* SPDX-License-Identifier: Apache-2.0 */
/* Values of record's options that have a small language of their own (perf-record(1)). */
#ifndef SONDE_CMD_RECORD_RECORD_ARGS_H
#define SONDE_CMD_RECORD_RECORD_ARGS_H

#include "base/err.h"
#include "cmd/common/options/option.h"
#include "cmd/common/options/perfconfig.h"
#include "events/event_parse.h"
#include "os/sysfs.h"
#include "record/options.h"

/* "128", "512K", "4M": of pages, or bytes with a unit; rounded up to a power of two of pages. */
bool record_args_pages(const char *text, uint64_t page_bytes, uint64_t *pages, struct err *e);
/* "10M": bytes, with a unit of B, K, M or G. */
bool record_args_bytes(const char *text, uint64_t *bytes, struct err *e);
/* "fp[,MAX][,defer]", "dwarf[,BYTES]", "lbr", "no". */
bool record_args_callgraph(const char *text, struct record_options *o, struct err *e);
/* "any,u,save_type": PERF_SAMPLE_BRANCH_* bits. */
bool record_args_branches(const char *text, uint64_t *bits, struct err *e);
/* "ax,bx,ip": PERF_REG_* bits of this machine; NULL: all. On "?" false, and the names in e->message. */
bool record_args_registers(const char *text, uint64_t *mask, struct err *e);
/* "task,mmap", "cgroup", "all", "no": what --synth leaves out. */
bool record_args_synth(const char *text, struct record_options *o, struct err *e);
/* "none", "unwind", "full". */
bool record_args_keep(const char *text, enum record_keep_what *what, struct err *e);
/* "sys", "node", "cpu". */
bool record_args_affinity(const char *text, enum record_affinity *affinity, struct err *e);
/* "mono", "CLOCK_BOOTTIME", "4". */
bool record_args_clock(const char *text, int32_t *clockid, struct err *e);
/* "200", "-1", "10-20,30-40": delay_ms and ranges. */
bool record_args_delay(const char *text, struct record_options *o, struct err *e);
/* "signal", "10M", "5s": switch_bytes and switch_ms. */
bool record_args_switch(const char *text, struct record_options *o, struct err *e);

/* -F as given (NULL: it was not), against what the kernel allows at most: freq_hz. */
bool record_args_rate(const char *freq, struct record_options *o, const struct sysfs *sys, struct err *err);

/* -g without more, unless another option said how: as call-graph.record-mode and dump-size of the
 * configuration say, else frame pointers. */
bool record_args_plain_callgraph(const struct perfconfig *config, struct record_options *o, struct err *err);
/* --group: all events in one group, whose leader is the first. */
void record_args_join(struct perf_events *events);

/* For rows of options: a number of pages, bits of -b and -j. */
option_fn record_take_pages, record_take_branches;

#endif
