/* SPDX-License-Identifier: Apache-2.0 */
/* The other direction of header.h: what stands before and after the records of a file, and at the head of a
 * pipe. */
#ifndef SONDE_FORMAT_PERFDATA_HEADER_HEADER_ENCODE_H
#define SONDE_FORMAT_PERFDATA_HEADER_HEADER_ENCODE_H

#include "base/writer.h"
#include "format/perfdata/header/header.h"

/*
 * A version 2 file's head: header, ids, attrs; padded to 8 bytes, data.offset being w->size afterwards (w
 * must be empty before). data.size is 0 and no feature bit is set: an unfinished recording, until
 * perfdata_file_head_finish says otherwise. Byte order: w->swap.
 */
void perfdata_file_head_encode(const struct perfdata_events *events, struct writer *w);

/*
 * The feature table and the contents, for a file whose data ends at `data_end`. Broken features and ids from
 * 256 on are left out; *bits gets the bitmap of those written.
 */
void perfdata_file_tail_encode(const struct perfdata_feature *features, size_t count, uint64_t data_end,
                               struct writer *w, uint64_t bits[4]);

/* Sets the data size and the feature bitmap in a head that perfdata_file_head_encode wrote. */
void perfdata_file_head_finish(struct writer *head, uint64_t data_size, const uint64_t bits[4]);

/*
 * A pipe's head: the 16-byte header, a HEADER_ATTR and (its name) an EVENT_UPDATE for each event,
 * TRACING_DATA with its payload, HEADER_BUILD_ID records, HEADER_FEATURE records. A feature that perf 6.1
 * does not know or that does not fit into a record (64 KiB) is left out and counted in *left_out.
 */
void perfdata_pipe_head_encode(const struct perfdata_header *h, const struct perfdata_events *events,
                               struct writer *w, uint32_t *left_out);

#endif
