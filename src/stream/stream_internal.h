/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of stream/: stream_input.c (bytes), expand.c (decompression), resync.c (damage),
 * stream.c (the rest). */
#ifndef SONDE_STREAM_INTERNAL_H
#define SONDE_STREAM_INTERNAL_H

#include "base/vec.h"
#include "os/files/map.h"
#include "os/files/spool.h"
#include "stream/stream.h"
#include "stream/stream_feed.h"

/*
 * Locs of decompressed records start here: above every offset of a file or
 * spool, so that loc order is file order (decompressed records never precede
 * records that came from the input directly).
 */
#define STREAM_EXPANDED_LOC (1ull << 46)

/* A run of record bytes in the input: the data section, or one data.N of a directory. */
struct stream_segment {
    uint64_t start, end; /* offsets in the input; end is UINT64_MAX for a pipe */
    uint64_t file_start; /* the offset of `start` in its own file */
    char *name;          /* the file's name for messages; owned */
};

/* The bytes as they are in the file, pipe or directory. */
struct stream_input {
    const uint8_t *base;
    uint64_t size;            /* available now */
    bool growing;             /* more may come from file.fd, or the feed */
    struct stream_feed *feed; /* borrowed; NULL: there is none */
    struct os_file file;
    struct os_map map;
    struct os_multimap multimap;
    uint64_t main_size; /* size of the first file in `multimap` */
    struct os_spool spool;
    bool has_spool;
    VEC(struct stream_segment) segments;
};

/* Where the outer record lies whose content begins at `start` in the expansion. */
struct stream_origin {
    uint64_t start, file_offset;
};

struct stream_expansion {
    bool active; /* `spool` is open */
    struct os_spool spool;
    void *dctx;        /* ZSTD_DCtx; NULL until needed */
    bool broken;       /* the current frame cannot be decoded further */
    bool said_no_zstd; /* the message that this build lacks zstd was given */
    VEC(struct stream_origin) origins;
    uint64_t records[2]; /* how many were expanded so far: COMPRESSED, COMPRESSED2 */
};

/* From a bad place (loc `from`) reading continued at `to`; every later pass does the same. */
struct stream_jump {
    uint64_t from, to;
};

/* Where a piece of the sequence begins: the stream's state before it returned the record at `loc`. */
struct stream_mark {
    uint64_t loc, pass_max_ns;
    uint32_t segment;
};

/* The event that was found for an id when there were `events` events. */
struct stream_memo {
    uint64_t id;
    size_t events; /* 0: none */
    uint32_t event;
};
struct stream_memos {
    struct stream_memo sample, other; /* of the last sample, and of the last other record */
};

struct stream {
    char *path;
    struct stream_options options;
    struct perfdata_header header;
    struct perfdata_events events;
    struct stream_losses losses;
    struct stream_input input;
    struct stream_expansion expansion;
    bool legacy_pipe; /* the ChromeOS headers: types 69 to 80 are features */
    /* The next record to return: at `pos` of the input or, after the first COMPRESSED record, at `xpos` of
     * the expansion. */
    bool in_expansion;
    size_t segment;
    uint64_t pos, xpos;
    /* The next outer record to expand. */
    size_t feed_segment;
    uint64_t feed_pos;
    uint64_t counted_to; /* losses and headers before this loc were counted and applied by an earlier pass */
    stream_watch_fn *watch; /* NULL: nobody watches */
    void *watch_ctx;
    uint64_t told;                     /* bytes of the file, when it was called last */
    uint64_t pass_max_ns;              /* the latest time read in this pass */
    uint64_t max_time_ns, min_time_ns; /* of all times read so far; 0 and UINT64_MAX before the first */
    VEC(struct stream_jump) jumps;     /* by ascending `from` */
    uint64_t bad_end;                  /* loc + 1 of the record reported bad last; 0: none */
    unsigned warnings;
    struct stream_memos memos;
    VEC(struct stream_mark) marks; /* by ascending loc */
    uint64_t next_mark;            /* the first record at this loc or after is marked */
    uint64_t forgotten;            /* stream_forget_behind has forgotten up to here; UINT64_MAX: it is off */
    size_t timed_events;           /* how many events, from the first on, have times in their samples */
    bool is_share;                 /* from stream_pieces_open: all was expanded already */
    struct writer
        split; /* the parts so far of a record of simpleperf's that is larger than a record can be */
};

/* Notes a record's time; 0 and UINT64_MAX are no times. */
static inline void stream_note_time(struct stream *s, uint64_t time_ns) {
    if (time_ns == 0 || time_ns == UINT64_MAX)
        return;
    if (time_ns > s->pass_max_ns)
        s->pass_max_ns = time_ns;
    if (time_ns > s->max_time_ns)
        s->max_time_ns = time_ns;
    if (time_ns < s->min_time_ns)
        s->min_time_ns = time_ns;
}

/* pieces.c */

/* Marks the record at `loc`. Without memory there are no more marks. */
void stream_add_mark(struct stream *s, uint64_t loc, size_t segment);
/* To be called before a record's time is noted. */
static inline void stream_mark(struct stream *s, uint64_t loc, size_t segment) {
    if (__builtin_expect(loc >= s->next_mark, 0))
        stream_add_mark(s, loc, segment);
}

/* stream_input.c */
bool stream_input_open(struct stream *s, struct err *err);
void stream_input_close(struct stream_input *in);
/* Makes bytes up to `upto` available if the input has them: in->size tells. False on a read error. */
bool stream_input_need(struct stream *s, uint64_t upto, struct err *err);
/* After the header is known: where the records are. False when memory ran out. */
bool stream_input_segments(struct stream *s, struct err *err);

/* expand.c */
void stream_expansion_close(struct stream_expansion *x);
/*
 * Appends what an outer record holds: the frame's part of a COMPRESSED one, any other record as it is. A
 * record that cannot be decompressed is counted as bad. False on failure of memory or the spool.
 */
bool stream_expand(struct stream *s, const struct stream_record *outer, struct err *err);
/* Begins a new segment, which has its own frames. */
void stream_expand_reset(struct stream *s);
/* Where in the file an expanded byte came from. */
uint64_t stream_expand_origin(const struct stream *s, uint64_t at);

/* resync.c */

/* Reads the record at p into *raw. Returns NULL if all of it is in the `left` bytes, else why not; *cut: it
 * only ends too early. */
const char *stream_peek(const struct stream *s, const uint8_t *p, uint64_t left, struct perfdata_raw *raw,
                        bool *cut);
/* Where the first trustworthy record at or after `from`, before `end`, is; `end`: there is none. */
uint64_t stream_resync(const struct stream *s, const uint8_t *base, uint64_t from, uint64_t end);

/* Reports a bad place: the first few by a line each, the others by one line for all. */
void stream_warn(struct stream *s, uint64_t file_offset, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
