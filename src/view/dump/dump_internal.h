/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the dump share: dump.c (block, prefix), dump_sample.c, dump_kernel.c (types below 64),
 * dump_user.c (the others), dump_auxtrace.c. */
#ifndef SONDE_VIEW_DUMP_DUMP_INTERNAL_H
#define SONDE_VIEW_DUMP_DUMP_INTERNAL_H

#include "view/dump/dump.h"
#include "view/dump/record_text.h"

/* One record being printed. */
struct dump_line {
    struct dump *dump;
    const struct stream_record *raw;
    const struct perfdata_event *event; /* NULL for user records, and when there are no events */
    const struct perfdata_record *rec;  /* NULL for samples */
    struct out *out;
};

/* What stands after the name of a record of one type, up to the end of its last line. */
typedef void dump_fields_fn(const struct dump_line *l);

/* The row of a type; NULL: ": unhandled!" is all that is to be said. */
dump_fields_fn *dump_kernel_fields(uint32_t type);
dump_fields_fn *dump_user_fields(uint32_t type);

/* A record of the old ChromeOS pipe header: a feature under a type number of its own. */
void dump_legacy(const struct dump_line *l);

void dump_auxtrace_info(const struct dump_line *l);

/* Prints a sample after its prefix; l->event is not NULL. */
void dump_sample(const struct dump_line *l, const struct perfdata_sample *s);

/* The name of the line's event; never NULL. */
const char *dump_event_name(const struct dump_line *l);
/* ": unhandled!\n" */
void dump_unhandled(const struct dump_line *l);

#endif
