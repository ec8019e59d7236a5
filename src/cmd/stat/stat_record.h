/* SPDX-License-Identifier: Apache-2.0 */
/* `stat record`: counts written into a file that report and perf read. */
#ifndef SONDE_CMD_STAT_STAT_RECORD_H
#define SONDE_CMD_STAT_STAT_RECORD_H

#include "count/session.h"
#include "format/perfdata/events/events.h"
#include "record/write/file.h"

struct stat_recorder {
    const char *path;
    char *const *argv; /* the command line, for the header */
    const struct count_options *options;
    struct record_file file;
    bool open;
    struct perfdata_events events;
    VEC(uint64_t) ids; /* beside the counters */
    struct writer records;
};

/* For count_job.opened and .read; the ctx is a struct stat_recorder. */
bool stat_recorder_opened(struct stat_recorder *r, const struct count_opened *o, struct err *err);
bool stat_recorder_read(struct stat_recorder *r, const struct count_opened *o, uint64_t time_ns, bool last,
                        struct err *err);
/* Closes the file, if there is one. False and *err when it could not be written. */
bool stat_recorder_finish(struct stat_recorder *r, struct err *err);

#endif
