/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of the kernel's trace ring, as per_cpu/cpuN/trace_pipe_raw gives it. Its layout is what
 * events/header_page and events/header_event in tracefs say:
 *
 *   timestamp:u64  commit:long  data[]
 *   record of data := type_len:5 time_delta:27, then by type_len
 *     1..28  that many words of 4 bytes
 *     0      array[0]:u32, how many bytes it and the data after it take
 *     29     nothing: as array[0] says, or with no time_delta the rest of the page
 *     30     array[0]:u32, the upper bits of a time_delta
 *     31     array[0]:u32, the upper bits of a time: what follows counts from it
 *
 * The lower 20 bits of commit are how many bytes of data are used; bit 31 says that records before them were
 * lost, bit 30 that their number follows the data. All in the byte order of the machine that wrote it.
 */
#ifndef SONDE_FORMAT_TRACEFS_RING_PAGE_H
#define SONDE_FORMAT_TRACEFS_RING_PAGE_H

#include "base/bytes.h"

struct ring_page_layout {
    uint32_t commit_offset, commit_size, data_offset; /* bytes */
    bool big_endian;                                  /* of the machine that wrote it */
};

/* From the text of events/header_page. False: it does not describe the three fields. */
bool ring_page_layout_parse(struct bytes header_page, bool big_endian, struct ring_page_layout *out);

struct ring_page {
    struct bytes data; /* what is used of it; borrowed */
    size_t at;
    uint64_t time;   /* of the last record, in units of the trace clock */
    uint64_t missed; /* records that were lost before the first one; UINT64_MAX: some, not known how many */
    bool swap, big_endian;
    bool broken; /* the data contradict themselves: what came after is left out */
};

struct ring_page_record {
    uint64_t time;
    struct bytes data; /* borrowed from the page: an event's fields, from common_type on */
};

/* False: it is no page of that layout. */
bool ring_page_open(struct ring_page *p, const struct ring_page_layout *layout, struct bytes page);
/* False at the end, or when `broken` has been set. */
bool ring_page_next(struct ring_page *p, struct ring_page_record *out);

#endif
