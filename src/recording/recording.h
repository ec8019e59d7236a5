/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording, opened: its stream with the events named, and the first pass, which takes everything that is
 * no sample into a model, so that any sample can be resolved afterwards.
 *
 *   recording_open -> recording_jitdumps -> recording_first_pass -> recording_names_open (recording/naming.h)
 *   -> stream_next or order_next, recording_chains, resolve_sample_read
 *
 * A pipe that is read once, as it comes, goes without the first pass: recording_apply takes each record in
 * its turn, recording_name_events what it says of events, recording_follow_jitdumps what dumps say up to
 * then.
 *
 * Nothing here prints, or changes the process; what only a program may do to its own process its owner
 * brings.
 */
#ifndef SONDE_RECORDING_RECORDING_H
#define SONDE_RECORDING_RECORDING_H

#include "base/err.h"
#include "base/pool.h"
#include "format/perfdata/events/event_name.h"
#include "format/tracefs/tracefs_formats.h"
#include "model/model.h"
#include "recording/kmod_sections.h"
#include "resolve/chain.h"
#include "resolve/jit.h"
#include "resolve/recorded.h"
#include "stream/stream.h"

/* What the program around a recording brings; any of it may be NULL. */
struct recording_owner {
    /* Told what the recording will lack, though it can be read: texts of tracepoints. */
    void (*warn)(void *ctx, const struct err *err);
    void *ctx;
    /* os_heap_give_back, for a process whose memory is all ours: called where a phase ends that needed much.
     */
    void (*give_back)(void);
};

struct recording {
    struct stream *stream;          /* owned */
    struct perfdata_events *events; /* the stream's */
    struct recording_owner owner;
    struct perfdata_namer namer;
    struct tracefs_formats *formats; /* of the namer's tracing data; NULL: none, or no libtraceevent */
    tracefs_symbol_fn *symbol; /* names kernel functions in tracepoints' texts; NULL: they stay numbers */
    void *symbol_ctx;
    struct resolve_jit *jit; /* NULL: recording_jitdumps was not called */
    struct kmod_sections kmod;
    struct resolve_recorded recorded; /* complete after the first pass */
    struct resolve_deferred deferred; /* callchains that came later than their samples: likewise */
    /* What may tell where modules end: a list of symbols, and where their files are. Set between open and
     * first pass; borrowed; NULL. */
    const char *kallsyms, *symfs;
    struct pool *pool; /* borrowed; NULL: nothing is read ahead in the first pass. Likewise. */
    size_t named_events, named_features; /* how many there were when names were given last */
};

/* Takes `stream` over and names the events so far known. NULL for `stream` fails with *err as it is, so that
 * it can be a call of stream_open; NULL for `owner` is all NULL. False with *err; recording_close is allowed
 * then. */
bool recording_open(struct recording *r, struct stream *stream, const struct recording_owner *owner,
                    struct err *err);
void recording_close(struct recording *r); /* all zero is allowed */

/* Names events that a pipe brought since the last call; cheap when there are none. False: memory. */
bool recording_name_events(struct recording *r, struct err *err);

/* Lets tracepoints' texts name kernel functions from now on (%pS and the like). */
bool recording_name_functions(struct recording *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err);

/* Lets the first pass find and use jitdumps: in `dump_dir` (--jitdump-dir) and below `symfs`, which may be
 * NULL and are borrowed. Why one could not be used resolve_jit_dump(r->jit) says later. False: memory. */
bool recording_jitdumps(struct recording *r, const char *dump_dir, const char *symfs, struct err *err);

/* In a stream, ahead of what is asked at `now_ns`: lets the model know what dumps say up to then. `grown`:
 * they may be longer by now. False: memory. */
bool recording_follow_jitdumps(struct recording *r, struct model *m, uint64_t now_ns, bool grown,
                               struct err *err);

/* The instant of a record: where it stands for the model and for ordering. */
struct model_when recording_when(const struct recording *r, const struct stream_record *rec);

/* Decodes a record that is no sample; *out borrows from its bytes. A bad one is counted and reported by the
 * stream, and false returned. */
bool recording_decode(struct recording *r, const struct stream_record *raw, struct perfdata_record *out);

/* The span of the samples' times, ns of the recording's clock; first_ns > last_ns when there are none. */
struct recording_span {
    uint64_t first_ns, last_ns;
};

/* Called with each record that is no sample. False stops, with *err. */
typedef bool recording_seen_fn(void *ctx, const struct stream_record *r, struct err *err);

/*
 * The first pass over a recording: everything that is no sample into the model, which then is frozen; names
 * for all events; rewinds. `span` and `seen` may be NULL. Not for a pipe that is to be read in one pass.
 * False and *err: memory, or the recording cannot be read on.
 */
bool recording_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                          recording_seen_fn *seen, void *ctx, struct err *err);

/* One record, decoded and so checked, into the model if it wants it. False only when memory ran out. */
bool recording_apply(struct recording *r, struct model *m, const struct stream_record *raw, struct err *err);

/* Fills in *span from the header, if it has the times of the first and the last sample. */
void recording_header_span(const struct recording *r, struct recording_span *span);

/* The same of all samples: reads them once, from the beginning, and rewinds. */
struct recording_span recording_sample_span(struct recording *r);

/* How callchains of up to `most` addresses are read (resolve/chain.h): with those that came later and, unless
 * `names` is NULL, what dumped stacks tell. Borrows from `r`. */
struct resolve_chain_options recording_chains(const struct recording *r, struct resolve_names *names,
                                              uint64_t most);

/* Seconds since 1970 when the recording was made, as far as its file says: the file's own time, or now. */
int64_t recording_captured_s(const struct recording *r);

#endif
