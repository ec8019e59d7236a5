/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any recording (file, pipe, directory, compressed, memory) as one sequence
 * of raw records in file order, with every loss accounted for.
 *
 * All record bytes lie in one logical address space, the *arena* of the
 * stream: a record's `loc` is its offset there, ascending in file order, and
 * stream_record_at() gives the record back. For an uncompressed file loc is
 * the file offset; pipes and compressed recordings are spooled into an
 * unlinked file, decompressed once; the files of a directory follow one
 * another. Nothing is copied into anonymous memory.
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
#include "os/files/map.h"

struct stream;

struct stream_options {
    /* The first pass also returns COMPRESSED records, before their content (loc: not for stream_record_at).
     */
    bool give_compressed;
    /* COMPRESSED records are returned as they are, instead of their content (inject). Not with a directory of
     * several files, each of which has its own frames. */
    bool keep_compressed;
};

/* A record of the sequence. Valid until the stream is closed (in a pipe: see stream_release). */
struct stream_record {
    struct perfdata_raw raw;
    uint64_t loc;         /* logical offset of the record's header: identity and file order */
    uint64_t file_offset; /* for messages: where the bytes come from in file number `file` */
    uint32_t file;        /* index of the file within a directory recording; 0 otherwise */
    uint32_t event;       /* index into stream_events(), or PERFDATA_NO_EVENT */
    bool has_time;
    bool legacy;      /* of the old ChromeOS pipe header: its type number means something else */
    uint64_t time_ns; /* with has_time; see stream_when for records without */
};

enum stream_status {
    STREAM_RECORD, /* *out is filled */
    STREAM_END,    /* nothing more */
    STREAM_FAILED, /* reading failed (I/O, memory): *err says why; earlier records are good */
};

/* Why bytes or records are missing. Each is counted once. */
struct stream_losses {
    uint64_t lost_events;   /* sum of LOST */
    uint64_t lost_records;  /* number of LOST records */
    uint64_t lost_samples;  /* sum of LOST_SAMPLES */
    uint64_t unknown_ids;   /* samples whose id belongs to no event */
    uint64_t unknown_types; /* well-formed records of an unknown type */
    uint64_t bad_records;   /* records that could not be read; reported through log_line */
    uint64_t skipped_bytes; /* bytes skipped to find the next good record */
    uint64_t problems;      /* damage outside the records: header, feature table, sections */
    bool cut; /* the recording ends in the middle of a record, or its data section is longer than the file */
    bool unfinished; /* data.size was never written (see stream_ending, too) */
    bool unread;     /* a part could not be read: readers exit with 1 */
};

/*
 * Opens a recording. `path` may be a file, a directory, "-" (standard input) or a FIFO. A regular file is
 * mapped; anything else is spooled to an unlinked file in $TMPDIR or /tmp as it is read. NULL and *err on
 * failure.
 */
struct stream *stream_open(const char *path, const struct stream_options *opts, struct err *err);

/* The same over bytes in memory, which must outlive the stream (tests, fuzzing, libsonde). */
struct stream *stream_open_memory(struct bytes file, const struct stream_options *opts, struct err *err);

/* The same over what a feed (stream_feed.h) has and will have: STREAM_END means that there is nothing more
 * yet, and stream_next goes on once there is. The feed must have the head by now, and outlive the stream. */
struct stream_feed;
struct stream *stream_open_feed(struct stream_feed *feed, const struct stream_options *opts, struct err *err);

void stream_close(struct stream *s); /* NULL is allowed */

/* Has `fn` called about once in each megabyte that is read, in any pass, with how many bytes of the file come
 * before, on the thread that reads. Not for the shares of stream/pieces.h. */
typedef void stream_watch_fn(void *ctx, uint64_t done, uint64_t total);
void stream_watch(struct stream *s, stream_watch_fn *fn, void *ctx);
/* Tells whoever watches that reading came to the record at `loc`: for those who read records one by one. */
void stream_tell(struct stream *s, uint64_t loc);

/* Borrowed; valid while the stream is open. In a pipe header and events grow while reading. */
const struct perfdata_header *stream_header(const struct stream *s);
struct perfdata_events *stream_events(struct stream *s);
const struct stream_losses *stream_losses(const struct stream *s);
enum { STREAM_LOST_ROOM = 80 };
/* What is lost by LOST records, in words: "94 events and 1 sample". Written to `room`, which is returned. */
const char *stream_lost_text(const struct stream_losses *l, char room[STREAM_LOST_ROOM]);
/* Whether records arrive from a pipe: one pass only, unless everything is spooled first (stream_read_all).
 */
bool stream_is_pipe(const struct stream *s);
/* Whether more may come after STREAM_END: from a feed that has not ended. */
bool stream_goes_on(const struct stream *s);
/* The name given to stream_open ("-" for standard input). */
const char *stream_path(const struct stream *s);
/* Size in bytes of the file as it is on disk (a directory: of all its data files); 0 for a pipe. */
uint64_t stream_file_size(const struct stream *s);

/* What was opened (owner, times, kind); fd is -1 for memory and directories. */
const struct os_file *stream_file(const struct stream *s);
/* The bytes of the input: all of a regular file, those of a pipe so far, those of a directory's file `data`.
 */
struct bytes stream_input_bytes(const struct stream *s);

/* sonde's preamble or trailer (a box, docs/FORMAT.md), and the content of its first part with a tag
 * (PERFDATA_PART_*). Empty: there is none, as in every pipe. Borrowed from the input. */
struct bytes stream_box(const struct stream *s, bool preamble);
struct bytes stream_part(const struct stream *s, bool preamble, uint32_t tag);

/* How the recording ended, by its ending mark; without one, OPEN (with nothing known of what is missing) if
 * the file was evidently never closed: data.size is 0, or it ends with an older sonde's last checkpoint. */
struct perfdata_ending stream_ending(const struct stream *s);

/* The times of the first and the last sample, from the header. False: it has none, or they were never filled
 * in.
 */
bool stream_header_times(const struct stream *s, uint64_t *first_ns, uint64_t *last_ns);

enum stream_status stream_next(struct stream *s, struct stream_record *out, struct err *err);

/* The times of samples that were passed over, of those that have one. */
struct stream_passed {
    uint64_t first_ns, last_ns; /* UINT64_MAX and 0 at first */
};

/*
 * Passes over the next samples, up to `max`, that stream_next would have returned as they are. Returns how
 * many; 0: the next record is something else, or this cannot be decided quickly.
 */
uint64_t stream_pass_samples(struct stream *s, uint64_t max, struct stream_passed *passed);

/* A sample that is at least as long as the fixed fields of its event. */
struct stream_sample {
    struct bytes body;
    uint64_t loc, when_ns; /* when_ns: stream_when_ns */
    uint32_t event;
    uint16_t misc;
};

/* Takes the next samples, up to `max`, instead of stream_next; valid as long as what that returns. In passes
 * after the first, records of other kinds between them may be passed over. Returns how many; 0: as in
 * stream_pass_samples. */
size_t stream_take_samples(struct stream *s, struct stream_sample *out, size_t max);

/* How many COMPRESSED or COMPRESSED2 records (`type`) were expanded so far: the sequence has their content
 * instead. 0 for other types. */
uint64_t stream_expanded(const struct stream *s, uint32_t type);

/* Goes back to the first record. Losses are not counted twice. Not after stream_release. */
void stream_rewind(struct stream *s);

/* The record at a loc that stream_next returned. */
struct stream_record stream_record_at(const struct stream *s, uint64_t loc);

/* The same if the record's event is known, and there are still as many events as then; PERFDATA_NO_EVENT: the
 * event is looked up. */
void stream_record_again(const struct stream *s, uint64_t loc, uint32_t event, struct stream_record *out);
/* Prefetches the start of a record that one of the two above will soon read. */
void stream_prefetch(const struct stream *s, uint64_t loc);

/* For a pipe: frees the memory of all records before loc, which the caller needs no more. No-op for files. */
void stream_release(struct stream *s, uint64_t loc);

/* Reports that what lies between two locs will not be read again soon, so its pages need not stay in memory.
 * The records stay valid. Has an effect for plain files only. */
void stream_forget(const struct stream *s, uint64_t from, uint64_t to);

/* Makes stream_forget follow the reader from `loc` on, a window at a time. */
void stream_forget_behind(struct stream *s, uint64_t loc);

/* Reads what lies between two locs into memory ahead of the reader; to be called in another thread than that.
 * False: there is nothing to read ahead, now or later. Has an effect for plain files only. */
bool stream_expect(const struct stream *s, uint64_t from, uint64_t to);

/*
 * A record's time for the model and for ordering: its own, else (no sample_id_all) the latest time read
 * before it in the file. Together with loc this is a total order.
 */
uint64_t stream_when_ns(const struct stream *s, const struct stream_record *r);

/* Counts a record that its reader found to be bad (decoding failed), and reports it through log_line; the
 * same record a second time in a row is ignored. */
void stream_bad_record(struct stream *s, const struct stream_record *r, const char *reason);

/* Whether all was read without failure, so that readers exit with 0 (losses recorded in the file do not
 * matter).
 */
bool stream_all_read(const struct stream *s);

#endif
