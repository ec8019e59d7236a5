/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any recording (file, pipe, directory, compressed, memory) as one sequence
 * of raw records in file order, with every loss accounted for.
 *
 * All record bytes lie in one logical address space, the *arena* of the
 * stream: a record's `loc` is its offset there, ascending in file order, and
 * stream_record_at() gives the record back. For an uncompressed file loc is
 * the file offset; pipes and compressed recordings are spooled into an
 * unlinked file, decompressed once; the files of a directory lie one after the
 * other. Nothing is copied into anonymous memory.
 *
 *   stream_open* -> stream_next ... STREAM_END        file order
 *   stream_open* -> order_open -> order_next ...      time order (stream_order.h)
 */
#ifndef SONDE_STREAM_STREAM_H
#define SONDE_STREAM_STREAM_H

#include "base/bytes.h"
#include "base/err.h"
#include "format/perfdata/added/ending.h"
#include "format/perfdata/events/events.h"
#include "format/perfdata/header/header.h"
#include "format/perfdata/record.h"
#include "os/map.h"

struct stream;

struct stream_options {
    /* COMPRESSED records are given too, ahead of what they hold, in the first pass (loc: not for
     * stream_record_at). */
    bool give_compressed;
    /* COMPRESSED records are given as they are, not what they hold (inject). Not of a directory of several
     * files: each file has frames of its own. */
    bool keep_compressed;
};

/* One record of the sequence. Valid until the stream is closed (a piped stream: see stream_release). */
struct stream_record {
    struct perfdata_raw raw;
    uint64_t loc;         /* logical offset of the record's header: identity and file order */
    uint64_t file_offset; /* where the bytes came from in the file named by `file`: for messages */
    uint32_t file;        /* index of the file within a directory recording; 0 otherwise */
    uint32_t event;       /* index into stream_events(), or PERFDATA_NO_EVENT */
    bool has_time;
    bool legacy;      /* a record of the old ChromeOS pipe header: its type number means something else */
    uint64_t time_ns; /* with has_time; see stream_when for records without */
};

enum stream_status {
    STREAM_RECORD, /* *out is filled */
    STREAM_END,    /* nothing more */
    STREAM_FAILED, /* reading failed (I/O, memory): *err says why; what came before is good */
};

/* Why bytes or records are missing; each is counted once, here. */
struct stream_losses {
    uint64_t lost_events;   /* sum of LOST */
    uint64_t lost_records;  /* number of LOST records */
    uint64_t lost_samples;  /* sum of LOST_SAMPLES */
    uint64_t unknown_ids;   /* samples whose id belongs to no event */
    uint64_t unknown_types; /* well-formed records of a type that nobody knows */
    uint64_t bad_records;   /* records that could not be read; each was reported through log_line */
    uint64_t skipped_bytes; /* bytes jumped over to find the next good record */
    uint64_t problems;      /* damage outside the records: header, feature table, sections */
    bool cut; /* the recording ends in the middle of a record, or its data section is longer than the file */
    bool unfinished; /* data.size was never written (see stream_ending, too) */
    bool unread;     /* some part could not be read: readers exit with 1 */
};

/*
 * Opens a recording. `path` may be a file, a directory, "-" (standard input) or a FIFO. A regular file is
 * mapped; anything else is spooled to an unlinked file in $TMPDIR or /tmp as it is read. NULL and *err on
 * failure.
 */
struct stream *stream_open(const char *path, const struct stream_options *opts, struct err *err);

/* The same over bytes in memory, which must outlive the stream (tests, fuzzing, libsonde). */
struct stream *stream_open_memory(struct bytes file, const struct stream_options *opts, struct err *err);

void stream_close(struct stream *s); /* NULL is allowed */

/* Borrowed, valid while the stream is open. In a pipe both grow while reading. */
const struct perfdata_header *stream_header(const struct stream *s);
struct perfdata_events *stream_events(struct stream *s);
const struct stream_losses *stream_losses(const struct stream *s);
enum { STREAM_LOST_ROOM = 80 };
/* What LOST records count, in words: "94 events and 1 sample". Written into `room`, which is returned. */
const char *stream_lost_text(const struct stream_losses *l, char room[STREAM_LOST_ROOM]);
/* True when records arrive from a pipe: one pass only, unless everything is spooled first (stream_read_all).
 */
bool stream_is_pipe(const struct stream *s);
/* The name given to stream_open ("-" for standard input). */
const char *stream_path(const struct stream *s);
/* Size in bytes of the file as it is on disk (a directory: of all its data files); 0 for a pipe. */
uint64_t stream_file_size(const struct stream *s);

/* What was opened (owner, times, kind); fd is -1 for memory and directories. */
const struct os_file *stream_file(const struct stream *s);
/* The bytes of the input as far as they are there: a regular file's all, a pipe's so far, of a directory
 * those of its file `data`. */
struct bytes stream_input_bytes(const struct stream *s);

/* sonde's preamble or trailer (a box, docs/FORMAT.md), and in it the content of the first part with a tag
 * (PERFDATA_PART_*). Empty when there is none, as in every pipe. Borrowed from the input. */
struct bytes stream_box(const struct stream *s, bool preamble);
struct bytes stream_part(const struct stream *s, bool preamble, uint32_t tag);

/* How the recording ended: by its mark; without one, OPEN (with nothing known of what is missing) where the
 * file shows that it was never closed: data.size is 0, or an older sonde's last checkpoint is its end. */
struct perfdata_ending stream_ending(const struct stream *s);

/* The times of the first and the last sample, as the header has them: false where it does not, or where they
 * were never filled in. */
bool stream_header_times(const struct stream *s, uint64_t *first_ns, uint64_t *last_ns);

enum stream_status stream_next(struct stream *s, struct stream_record *out, struct err *err);

/* What was passed over: the times of the samples that have one. */
struct stream_passed {
    uint64_t first_ns, last_ns; /* UINT64_MAX and 0 at first */
};

/*
 * Passes over samples that need no look, up to `max` of them: stream_next would have given them, one after
 * the other. How many; 0 when the next record is another one, or where this cannot be told quickly.
 */
uint64_t stream_pass_samples(struct stream *s, uint64_t max, struct stream_passed *passed);

/* A sample that is at least as long as the fixed fields of its event. */
struct stream_sample {
    struct bytes body;
    uint64_t loc, when_ns; /* when_ns: stream_when_ns */
    uint32_t event;
    uint16_t misc;
};

/* The next samples that need no look, up to `max` of them, which stream_next does not give any more; valid as
 * long as what it gives. In another pass than the first, records of other kinds between them may be passed
 * over. How many; 0 as stream_pass_samples. */
size_t stream_take_samples(struct stream *s, struct stream_sample *out, size_t max);

/* How many COMPRESSED or COMPRESSED2 records (`type`) were expanded so far: the sequence has what they hold
 * in their place. 0 for other types. */
uint64_t stream_expanded(const struct stream *s, uint32_t type);

/* Back to the first record. Losses are not counted twice. Not after stream_release. */
void stream_rewind(struct stream *s);

/* The record at a loc that stream_next gave. */
struct stream_record stream_record_at(const struct stream *s, uint64_t loc);

/* The same for what had that event then, while there are as many events as then; PERFDATA_NO_EVENT: it is
 * looked for. */
void stream_record_again(const struct stream *s, uint64_t loc, uint32_t event, struct stream_record *out);
/* Has the start of the record brought into the cache, for one of the two above to come soon. */
void stream_prefetch(const struct stream *s, uint64_t loc);

/* For a pipe: the caller is done with all records before loc; their room is given back. No-op for files. */
void stream_release(struct stream *s, uint64_t loc);

/* Says that what lies between two locs will not be looked at again soon: its pages need not stay in memory.
 * The records stay valid. Does something for plain files only. */
void stream_forget(const struct stream *s, uint64_t from, uint64_t to);

/* From `loc` on what was read goes out of memory again behind the reader, a window at a time, as by
 * stream_forget. */
void stream_forget_behind(struct stream *s, uint64_t loc);

/* Brings what lies between two locs into memory, ahead of whoever reads it; for another thread than that one.
 * False: there is nothing to bring, now or later. Does something for plain files only. */
bool stream_expect(const struct stream *s, uint64_t from, uint64_t to);

/*
 * The place of a record in time, for the model and for ordering: its own time, else (no sample_id_all) the
 * latest time read before it in the file. Together with loc a total order.
 */
uint64_t stream_when_ns(const struct stream *s, const struct stream_record *r);

/* Counts a record that its reader found bad after all (decode failed), and names it through log_line; the
 * second time in a row that it is found so changes nothing. */
void stream_bad_record(struct stream *s, const struct stream_record *r, const char *reason);

/* All of it was looked at and all could be read: the exit status of readers is 0 (losses recorded in the file
 * do not matter). */
bool stream_all_read(const struct stream *s);

#endif
