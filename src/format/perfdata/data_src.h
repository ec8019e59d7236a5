/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a memory access was served from (perf_event.h, union perf_mem_data_src), in perf's words. Each
 * appends one field's; "N/A" where the field says nothing.
 */
#ifndef SONDE_FORMAT_PERFDATA_DATA_SRC_H
#define SONDE_FORMAT_PERFDATA_DATA_SRC_H

#include "base/text/out.h"

/* What is not recorded: every field says that it is not available. */
enum { PERFDATA_SRC_NONE = 1 | 1 << 5 | 1 << 19 | 1 << 24 | 1 << 26 };

void perfdata_src_operation(struct out *o, uint64_t v); /* "LOAD" */
void perfdata_src_level(struct out *o, uint64_t v);     /* "L1 or L2 hit", "Remote core, same node L3 " */
void perfdata_src_snoop(struct out *o, uint64_t v);     /* "Hit or Fwd" */
void perfdata_src_tlb(struct out *o, uint64_t v);       /* "L1 or L2 hit" */
void perfdata_src_locked(struct out *o, uint64_t v);    /* "Yes" */
void perfdata_src_blocked(struct out *o, uint64_t v);   /* " Data Addr" */

/* The bits of a word that a field has: what report groups by. mem_op and so on, as named in perf_event.h. */
enum perfdata_src_field {
    PERFDATA_SRC_LVL,
    PERFDATA_SRC_SNOOP,
    PERFDATA_SRC_LOCK,
    PERFDATA_SRC_TLB,
    PERFDATA_SRC_BLK
};
uint64_t perfdata_src_bits(uint64_t v, enum perfdata_src_field field);

#endif
