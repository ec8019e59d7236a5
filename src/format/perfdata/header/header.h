/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed header of a perf.data file or pipe, its tables, and where the
 * features' contents are (perf.data-file-format.txt). Contents: see feature.h.
 */
#ifndef SONDE_FORMAT_PERFDATA_HEADER_HEADER_H
#define SONDE_FORMAT_PERFDATA_HEADER_HEADER_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"

enum perfdata_container {
    PERFDATA_CONTAINER_FILE,
    PERFDATA_CONTAINER_PIPE,
};

struct perfdata_section {
    uint64_t offset, size;
};

/* A header feature: from the file's table, or from a HEADER_FEATURE (or like) record of a pipe. */
struct perfdata_feature {
    uint32_t id;                     /* enum perfdata_feature_id, or any other bit */
    struct perfdata_section section; /* where in the file; offset 0 for a pipe's */
    struct bytes content;            /* borrowed from the input; empty with `broken` */
    bool broken;                     /* the section lies (partly) outside the file */
};

/* sonde's own trailer, or anything else after the last section the header knows of: kept verbatim when
 * copying. */
struct perfdata_header {
    enum perfdata_container container;
    unsigned version;    /* 1: PERFFILE, 2: PERFILE2 */
    bool swap;           /* written in the other byte order */
    bool data_size_zero; /* a file whose recording was never finished: the data runs to the end of the file */
    bool data_cut;       /* the data section claims more than the file holds */
    uint64_t size;       /* the header's own size field */
    uint64_t attr_size;  /* one attrs entry: attr and ids section; 0 in a pipe */
    struct perfdata_section attrs, data, event_types; /* as in the file (data.size as claimed) */
    uint64_t
        events_end; /* where the last of the attrs and of their ids ends: in sound files before the data */
    uint64_t feature_bits[4];
    VEC(struct perfdata_feature) features; /* by ascending bit; in a pipe by arrival */
    uint64_t end; /* first byte after everything the header knows of; what follows is a trailer */
};

void perfdata_header_fini(struct perfdata_header *h);

/* Whether an input with these first 16 bytes is a recording, of a pipe too. */
bool perfdata_header_begins(struct bytes head);

/* Whether an input whose first 16 bytes (or fewer) these are is a file, not a pipe: its tables lie after its
 * records, so that all of it is needed. */
bool perfdata_header_is_file(struct bytes head);

/*
 * Reads the header, the attrs (into `events`, which it initialises) and the feature table from the whole
 * file's bytes (of a pipe: from at least its first 16). Problems that leave something to read (a feature
 * outside the file...) are reported through log_line and counted in *problems, but for missing data, which is
 * the reader's to say (data_cut); false (ERR_BROKEN) only when this is no perf.data at all.
 */
bool perfdata_header_parse(struct bytes file, struct perfdata_header *h, struct perfdata_events *events,
                           uint32_t *problems, struct err *err);

/* The feature `id`, or NULL. */
const struct perfdata_feature *perfdata_header_feature(const struct perfdata_header *h, uint32_t id);

#endif
