/* SPDX-License-Identifier: Apache-2.0 */
/* Counts from a file of `stat record`: STAT records of each counter, and rounds. */
#ifndef SONDE_COUNT_REPLAY_H
#define SONDE_COUNT_REPLAY_H

#include "count/counts.h"
#include "os/sysfs.h"
#include "stream/stream.h"

struct count_replay_options {
    enum count_level level; /* COUNT_LEVELS: as it was counted */
    unsigned cache_level;
    /* Where CPUs lie; NULL: the file does not say, and counts can be told apart by CPU or thread only. */
    const struct sysfs *sys;
    /* Called for each interval, with what was counted in it, and at the end (`last`) with all. */
    void (*round)(void *ctx, const struct counts *c, bool last);
    void *ctx;
};

/* Reads to the end. ERR_ABSENT: there are no counts in it. Damaged records are the stream's to count. */
bool count_replay(struct stream *s, const struct count_replay_options *o, struct err *err);

#endif
