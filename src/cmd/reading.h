/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What script, data and their like do with a recording before they print: open it, name its events, feed what
 * is no sample to the model, and say at the end what was missing.
 */
#ifndef SONDE_CMD_READING_H
#define SONDE_CMD_READING_H

#include "base/err.h"
#include "base/pool.h"
#include "cmd/kmod_sections.h"
#include "format/perfdata/event_name.h"
#include "format/tracefs/tracefs_formats.h"
#include "model/model.h"
#include "resolve/chain.h"
#include "resolve/jit.h"
#include "resolve/recorded.h"
#include "stream/stream.h"
#include "view/header_text.h"

struct reading {
    struct stream *stream;
    struct perfdata_events *events; /* the stream's */
    struct perfdata_namer namer;
    struct tracefs_formats *formats; /* of the namer's tracing data; NULL: none, or no libtraceevent */
    tracefs_symbol_fn *symbol; /* names kernel functions in tracepoints' texts; NULL: they stay numbers */
    void *symbol_ctx;
    struct resolve_jit *jit; /* NULL: reading_jitdumps was not called */
    struct kmod_sections kmod;
    struct resolve_recorded recorded; /* complete after the first pass */
    struct resolve_deferred deferred; /* callchains that came later than their samples: likewise */
    /* What may tell where modules end: a list of symbols, and where their files are. Set between open and
     * first pass; NULL. */
    const char *kallsyms, *symfs;
    struct pool *pool; /* borrowed; NULL: nothing is read ahead in the first pass. Likewise. */
    size_t named_events, named_features; /* how many there were when names were given last */
};

/* Opens `path` ("-" is standard input) after perf's checks of its owner, and names the events so far known.
 * False with *err; reading_close is allowed then. */
bool reading_open(struct reading *r, const char *path, bool force, struct err *err);
void reading_close(struct reading *r);

/* Names events that a pipe brought since the last call; cheap when there are none. False: memory. */
bool reading_names(struct reading *r, struct err *err);

/* Lets tracepoints' texts name kernel functions from now on (%pS and the like). */
bool reading_symbols(struct reading *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err);

/* Lets the first pass find and use jitdumps: in `dump_dir` (--jitdump-dir) and below `symfs`, which may be
 * NULL and are borrowed. False: memory. */
bool reading_jitdumps(struct reading *r, const char *dump_dir, const char *symfs, struct err *err);

/* In a stream, ahead of what is asked at `now_ns`: lets the model know what dumps say up to then. `grown`:
 * they may be longer by now. False: memory. */
bool reading_follow_jitdumps(struct reading *r, struct model *m, uint64_t now_ns, bool grown,
                             struct err *err);
/* Warns of dumps that could not be used. */
void reading_warn_jitdumps(const struct reading *r);

/* The instant of a record: where it stands for the model and for ordering. */
struct model_when reading_when(const struct reading *r, const struct stream_record *rec);

/* Decodes a record that is no sample. A bad one is counted and reported by the stream, and false returned. */
bool reading_decode(struct reading *r, const struct stream_record *raw, struct perfdata_record *out);

/* The span of the samples' times; first_ns > last_ns when there are none. */
struct reading_span {
    uint64_t first_ns, last_ns;
};

/* Called with each record that is no sample. False stops, with *err. */
typedef bool reading_seen_fn(void *ctx, const struct stream_record *r, struct err *err);

/*
 * The first pass over a recording: everything that is no sample into the model, which then is frozen; names
 * for all events; rewinds. `span` and `seen` may be NULL. Not for a pipe that is to be read in one pass.
 */
bool reading_first_pass(struct reading *r, struct model *m, struct reading_span *span, reading_seen_fn *seen,
                        void *ctx, struct err *err);

/* Fills in *span from the header, if it has the times of the first and the last sample. */
void reading_header_span(const struct reading *r, struct reading_span *span);

/* What the header's text wants to know of a recording. Of one that was not finished it reads the samples'
 * times, once and from the beginning, and rewinds. */
struct header_text_options reading_header_options(struct reading *r, bool full);

/* How callchains of up to `most` addresses are read (resolve/chain.h): with those that came later and, unless
 * `names` is NULL, what dumped stacks tell. Borrows from `r`. */
struct resolve_chain_options reading_chains(const struct reading *r, struct resolve_names *names,
                                            uint64_t most);

/* Seconds since 1970 when the recording was made, as the header's text tells it: the file's own time, or now.
 */
int64_t reading_captured_s(const struct reading *r);

/* One record, decoded and so checked, into the model if it wants it. False only when memory ran out. */
bool reading_apply(struct reading *r, struct model *m, const struct stream_record *raw, struct err *err);

/* Says on stderr what the recorder lost, and returns the exit status for what could be read. */
int reading_status(const struct reading *r);

#endif
