/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw dump of records, as `report -D` and `script -D` print it: the bytes
 * in hex, then the decoded fields. Text as perf 7.2 prints it, learned from
 * its output; what it leaves out of a record is in the hex block.
 *
 *     0x1c8@perf.data [0x28]: event: 79
 *     .
 *     . ... raw event: size 40 bytes
 *     .  0000:  4f 00 00 00 00 00 28 00 ...
 *
 *     0 0x1c8 [0x28]: PERF_RECORD_TIME_CONV
 *     ... Time Shift      1
 */
#ifndef SONDE_VIEW_DUMP_DUMP_H
#define SONDE_VIEW_DUMP_DUMP_H

#include "base/text/out.h"
#include "format/perfdata/events/event_name.h"
#include "format/perfdata/events/events.h"
#include "format/perfdata/header/header.h"
#include "format/perfdata/readings.h"
#include "model/model.h"
#include "stream/stream.h"

struct dump {
    const struct perfdata_events *events; /* borrowed; may grow between records (pipes) */
    const struct perfdata_header *header; /* borrowed; likewise */
    const struct model *model;            /* borrowed, frozen or streaming; NULL: no thread and dso lines */
    const struct perfdata_namer *namer;   /* borrowed */
    const char *name;                     /* what follows the @: the path, "pipe" for a pipe */
    uint64_t offset_base;                 /* what offsets are counted from */
    bool for_script;   /* script handles other types than report does: those are not called unhandled */
    size_t attrs_seen; /* HEADER_ATTR records printed so far: of a pipe, no more events are known yet */
    /* Derived from events and header; found again when those have grown. */
    size_t known_events, known_features;
    uint64_t any_sample_type; /* what the samples of any event hold */
    bool sample_id_all;       /* of the first event */
    const struct dump_regs *regs;
    unsigned counter_nr, counter_bits; /* branch counters, from the PMU's capabilities; 0 unknown */
    struct readings readings;
};

/* All is borrowed; `model` may be NULL. Nothing is allocated before the first reading of a counter. */
void dump_init(struct dump *d, const struct perfdata_events *events, const struct perfdata_header *header,
               const struct perfdata_namer *namer, const struct model *model, const char *name);
void dump_fini(struct dump *d);

/*
 * Prints one record. NULL, or a static text that says why its body cannot be decoded; the hex block and the
 * record's name are printed all the same.
 */
const char *dump_record(struct dump *d, const struct stream_record *r, struct out *out);

/* A record type's name as perf spells it in its output: ATTR, not HEADER_ATTR. NULL for unknown types. */
const char *dump_type_name(uint32_t type);

/* The feature that a stream_record.legacy record of that type holds: "HOSTNAME". NULL for others. */
const char *dump_legacy_name(uint32_t type);

#endif
