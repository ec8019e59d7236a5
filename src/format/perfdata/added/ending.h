/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PERFDATA_PART_ENDING (docs/FORMAT.md): how a recording ended. It lies in the preamble, where it is written
 * over when the end is known: a recorder that is killed leaves OPEN after.
 */
#ifndef SONDE_FORMAT_PERFDATA_ADDED_ENDING_H
#define SONDE_FORMAT_PERFDATA_ADDED_ENDING_H

#include "base/bytes.h"
#include "base/writer.h"

enum perfdata_ending_how {
    PERFDATA_ENDING_UNKNOWN,  /* the file has no mark: it is perf's, an older sonde's, or a pipe */
    PERFDATA_ENDING_OPEN,     /* being written still, or the recorder was killed */
    PERFDATA_ENDING_WHOLE,    /* ended as it should: the command ended, ^C, ... */
    PERFDATA_ENDING_FULL,     /* the disk was full (ENOSPC) */
    PERFDATA_ENDING_QUOTA,    /* the user's quota was used up (EDQUOT) */
    PERFDATA_ENDING_LIMIT,    /* the file reached the largest size that is allowed (ulimit -f: EFBIG) */
    PERFDATA_ENDING_ERROR,    /* another error of writing */
    PERFDATA_ENDING_MAX_SIZE, /* --max-size was reached: as asked, but earlier than the command */
};

struct perfdata_ending {
    uint32_t how; /* enum perfdata_ending_how; larger ones are of a newer sonde */
    /*
     * OPEN: at most so much is missing from the end, in bytes of records (what rings and buffers hold), and
     * in time: they are written at least so often; 0 where there is no such limit. FULL to ERROR: so many
     * bytes of records were not written (0: nothing but what is told at the end, such as files that were
     * kept); missing_ns is 0.
     */
    uint64_t missing_bytes, missing_ns;
};

/* Appends one. */
void perfdata_ending_encode(const struct perfdata_ending *e, struct writer *w);

/* Reads the part's content; UNKNOWN, and false, when there is none (`part` is empty) or it is too short. */
bool perfdata_ending_decode(struct bytes part, bool swap, struct perfdata_ending *out);

/* Puts another one into a whole preamble; returns what perfdata_box_replace does. */
size_t perfdata_ending_replace(const struct perfdata_ending *e, uint8_t *box, size_t size);

/* For errno of a failed write: FULL, QUOTA, LIMIT or ERROR. */
enum perfdata_ending_how perfdata_ending_of_errno(int error);

enum { PERFDATA_ENDING_TEXT = 256 };
/* What is to be said of a recording that is not whole: "was not finished (...)", "stopped early, because
 * ...". NULL: nothing. Returns `room`, or NULL. */
const char *perfdata_ending_text(const struct perfdata_ending *e, char room[PERFDATA_ENDING_TEXT]);

/* Whether the recorder was stopped by something that nobody asked for: FULL to ERROR. */
static inline bool perfdata_ending_failed(uint32_t how) {
    return how >= PERFDATA_ENDING_FULL && how <= PERFDATA_ENDING_ERROR;
}

#endif
