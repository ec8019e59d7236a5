/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened recording: its stream with the events named, and the first pass, which takes all records but
 * samples into a model, so that any sample can be resolved afterwards.
 *
 *   recording_open -> recording_jitdumps -> recording_first_pass -> recording_names_open (recording/naming.h)
 *   -> stream_next or order_next, recording_chains, resolve_sample_read
 *
 * A pipe that is read once, as it comes, has no first pass: recording_apply takes each record in turn,
 * recording_name_events names new events, recording_follow_jitdumps adds what dumps say up to that time.
 *
 * Nothing here prints or changes the state of the process; where that is needed, the owner provides a
 * function (struct recording_owner).
 */
#ifndef SONDE_RECORDING_RECORDING_H
#define SONDE_RECORDING_RECORDING_H

#include "base/err.h"
#include "base/threads/pool.h"
#include "format/perfdata/events/event_name.h"
#include "format/tracefs/tracefs_formats.h"
#include "model/model.h"
#include "recording/kernel/kmod_sections.h"
#include "resolve/chain.h"
#include "resolve/jit/jit.h"
#include "resolve/recorded.h"
#include "stream/stream.h"

/* What the program that uses a recording provides; any of it may be NULL. */
struct recording_owner {
    /* Reports what the recording will lack, though it can be read: texts of tracepoints. */
    void (*warn)(void *ctx, const struct err *err);
    void *ctx;
    /* os_heap_give_back, if this process is the program's own; called at the end of phases that needed much
     * memory. */
    void (*give_back)(void);
};

struct recording {
    struct stream *stream;          /* owned */
    struct perfdata_events *events; /* belongs to the stream */
    struct recording_owner owner;
    struct perfdata_namer namer;
    struct tracefs_formats *formats; /* of the namer's tracing data; NULL: none, or no libtraceevent */
    tracefs_symbol_fn *symbol; /* names kernel functions in tracepoints' texts; NULL: they stay numbers */
    void *symbol_ctx;
    struct resolve_jit *jit; /* NULL: recording_jitdumps was not called */
    struct kmod_sections kmod;
    struct resolve_recorded recorded; /* complete after the first pass */
    struct resolve_deferred deferred; /* callchains that come after their samples; likewise */
    /* Where module_ends.h may find modules' ends: a list of symbols, and a directory with their files. Set
     * between open and first pass; borrowed; may be NULL. */
    const char *kallsyms, *symfs;
    struct pool *pool; /* borrowed; NULL: the first pass does not read ahead. Set likewise. */
    size_t named_events, named_features; /* how many there were when events were last named */
};

/* Takes over `stream` and names the events known so far. If `stream` is NULL, fails with *err unchanged, so
 * that it can be the result of stream_open; NULL for `owner` means all NULL. False with *err; recording_close
 * is allowed then. */
bool recording_open(struct recording *r, struct stream *stream, const struct recording_owner *owner,
                    struct err *err);
void recording_close(struct recording *r); /* r may be all zero */

/* Resolves the names of events whose attributes arrived through a pipe since the last call; cheap if none
 * did. False: out of memory. */
bool recording_name_events(struct recording *r, struct err *err);

/* Lets tracepoints' texts name kernel functions from now on (%pS and the like). */
bool recording_name_functions(struct recording *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err);

/* Lets the first pass find and use jitdumps: in `dump_dir` (--jitdump-dir) and below `symfs`; both may be
 * NULL and are borrowed. resolve_jit_dump(r->jit) later says why one could not be used. False: out of memory.
 */
bool recording_jitdumps(struct recording *r, const char *dump_dir, const char *symfs, struct err *err);

/* For a stream, before something is looked up at `now_ns`: adds what jitdumps say up to then to the model.
 * `grown`: they may have grown since the last call. False: out of memory. */
bool recording_follow_jitdumps(struct recording *r, struct model *m, uint64_t now_ns, bool grown,
                               struct err *err);

/* Returns a record's place in the model's order. */
struct model_when recording_when(const struct recording *r, const struct stream_record *rec);

/* Decodes a record that is no sample; *out borrows from its bytes. False: it is damaged, which the stream
 * counts and reports. */
bool recording_decode(struct recording *r, const struct stream_record *raw, struct perfdata_record *out);

/* The times of the first and the last sample, ns of the recording's clock; first_ns > last_ns: there are
 * none. */
struct recording_span {
    uint64_t first_ns, last_ns;
};

/* Called with each record that is no sample. False stops, with *err. */
typedef bool recording_seen_fn(void *ctx, const struct stream_record *r, struct err *err);

/*
 * Reads a recording for the first time: takes everything but samples into the model, which then is frozen;
 * names all events; rewinds. `span` and `seen` may be NULL. Not for a pipe that is read only once. False and
 * *err: out of memory, or the recording cannot be read on.
 */
bool recording_first_pass(struct recording *r, struct model *m, struct recording_span *span,
                          recording_seen_fn *seen, void *ctx, struct err *err);

/* Decodes and checks one record, and adds it to the model if that wants it. False: out of memory. */
bool recording_apply(struct recording *r, struct model *m, const struct stream_record *raw, struct err *err);

/* Fills in *span from the header, if it has these times. */
void recording_header_span(const struct recording *r, struct recording_span *span);

/* Returns the span of all samples: reads them once, from the beginning, and rewinds. */
struct recording_span recording_sample_span(struct recording *r);

/* Returns the options (resolve/chain.h) for reading callchains of up to `most` addresses: with those that
 * come after their samples and, unless `names` is NULL, with dumped stacks unwound. Borrows from `r`. */
struct resolve_chain_options recording_chains(const struct recording *r, struct resolve_names *names,
                                              uint64_t most);

/* Returns when the recording was made, seconds since 1970, as far as its file says: the file's own time, or
 * now. */
int64_t recording_captured_s(const struct recording *r);

#endif
