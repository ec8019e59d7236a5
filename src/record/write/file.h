/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as it is being written: valid after every write, so that whoever reads it after we were killed,
 * or the disk filled up, finds all that was written.
 *
 *     | header | ids | attrs | preamble: contents of features | data ...     | table | late |
 *     0                                                       data.offset    data end
 *
 * The feature table must follow the data (perf.data-file-format.txt), but what its entries point to may lie
 * anywhere, so contents that are known at the start come before the data, and the table never changes. To
 * append, what goes after the old table is written first, with a new table at its end; then the feature bits
 * are cleared, the old table is written over, and one pwrite sets data.size and the bits:
 *
 *     1   data ... | table |      new data, rest     | table |     the old recording is still whole
 *     2   data ... | new data, beginning  | rest     | table |     no features, for two short system calls
 *     3   data ... new data ...                      | table |     the new recording is whole
 *
 * To a pipe the head is written in pipe format, and records follow.
 */
#ifndef SONDE_RECORD_WRITE_FILE_H
#define SONDE_RECORD_WRITE_FILE_H

#include "base/err.h"
#include "base/writer.h"
#include "format/perfdata/added/ending.h"
#include "format/perfdata/header/header_encode.h"
#include "os/files/output.h"

struct record_file {
    struct os_output out;
    const char *name; /* for messages; borrowed */
    uint64_t data_offset, data_end;
    uint64_t reserved;   /* the disk has promised room up to here; 0: it does not promise */
    uint64_t bits[4];    /* features of the table */
    struct writer tail;  /* table and late contents, to lie after data_end */
    uint64_t tail_there; /* bytes of it that do; 0 before the first record: data.size 0 means "to the end" */
    bool plain;          /* no head, no table */
    bool full;           /* a write failed; nothing more is written */
    struct writer preamble; /* with the mark of how the recording ended, which is written over at the end */
    struct perfdata_ending ending;
    VEC(struct perfdata_feature) features; /* the table's; contents of those in the preamble are not kept */
};

/* What is known at the start; all borrowed for the call only. */
struct record_file_head {
    const struct perfdata_events *events; /* with ids and names */
    const struct perfdata_feature *features;
    size_t count;
    struct bytes preamble; /* a box (format/perfdata/added/evidence.h) in front of the data; may be empty; not
                              for pipes. It says how the recording ended when it has a part for that */
};

/*
 * Writes the head. `out` is owned from here on, also after a failure. False and *err when it cannot be
 * written.
 */
bool record_file_start(struct record_file *f, struct os_output out, const char *name,
                       const struct record_file_head *head, struct err *err);

/* The same of a file that is records and nothing else (data.N of a directory). */
void record_file_start_plain(struct record_file *f, struct os_output out, const char *name);

/*
 * Appends whole records; at most OS_OUTPUT_SPANS - 1 spans (their boundaries mean nothing). False and *err
 * when not all of them could be written; the file then ends after the last whole record that could.
 */
bool record_file_append(struct record_file *f, const struct bytes *spans, size_t count, struct err *err);

/* Overwrites the content of a feature that was given at the start, with as many bytes as it had; nothing for
 * a pipe. */
bool record_file_update(struct record_file *f, uint32_t feature, struct bytes content, struct err *err);

/* Why the recording ends, if it is not as it should; for the mark that record_file_finish leaves. The first
 * reason counts; what it says to be missing is added up. */
void record_file_stopped(struct record_file *f, struct perfdata_ending why);

/*
 * Adds features that are known only now, and a trailer after everything (may be empty; a pipe has none), and
 * closes the output, also after a failed append. False and *err
 * when that fails; what was appended stays readable then.
 */
bool record_file_finish(struct record_file *f, const struct perfdata_feature *late, size_t count,
                        struct bytes trailer, struct err *err);

/* Bytes of the file so far; of a pipe, bytes written. */
uint64_t record_file_size(const struct record_file *f);

#endif
