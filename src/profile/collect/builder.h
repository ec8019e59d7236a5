/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A builder: samples -> distinct (group key, own frame, callchain), with their sums. What its files share.
 *
 * A *group key* is all that decides a sample's row besides its place: its event, comm, CPU and so on, as far
 * as columns show them. A *stack sample* is (group key, frame of the sample, its callchain as two segments:
 * see segments.h). While samples are read there are only stack samples, no tree.
 */
#ifndef SONDE_PROFILE_COLLECT_BUILDER_H
#define SONDE_PROFILE_COLLECT_BUILDER_H

#include "base/hash.h"
#include "base/idtable.h"
#include "base/strpool.h"
#include "base/threads/prefetch.h"
#include "format/perfdata/readings.h"
#include "profile/collect/segments.h"
#include "profile/profile.h"
#include "resolve/chain.h"
#include "resolve/frames.h"
#include "resolve/resolve_grade.h"

enum { PROFILE_NONE = UINT32_MAX };

/* Shown where -p finds no parent. */
#define PROFILE_OTHER "[other]"

/* ---- what to take from a sample ---- */

/* At most so many values in a group key: [0] is the event, the others are of key columns that do not show a
 * place. */
enum { PROFILE_GROUP_KEY_MAX = 64 };

struct profile_plan {
    const struct profile_input *in;
    const struct profile_options *o;
    uint64_t want;                          /* PERFDATA_SAMPLE_* to decode */
    profile_add_fn *adds[PROFILE_OWN_SUMS]; /* the measures'; NULL after the last */
    uint32_t finds;                         /* PROFILE_FINDS_* of all columns */
    uint32_t group_key_count;               /* number of values in a group key */
    uint8_t slot_of[PROFILE_COLUMNS_MAX];   /* by column number: where its value is in a group key; 0: none */
    uint8_t comm_slot;                      /* where the comm is in a group key; 0: none */
    const struct profile_column *slots[PROFILE_GROUP_KEY_MAX]; /* by index, from 1: whose value it is */
    uint32_t level_at; /* -b: index in a group key of the sample's cpumode, shown as the level; else 0 */
    bool selects;      /* profile_select decides which samples count */
    bool selects_rows; /* --symbol-filter keeps or drops rows by their names, not samples */
    bool by_thread;    /* a group key depends on event and thread alone */
    bool waits;        /* no sample's frames are needed before it is counted, so many samples can be resolved
                          together */
    bool flat;         /* samples need nothing but their fixed fields, and all count: see add_flat */
    bool chains, extras /* extras: profile_weights are kept */;
    bool unwinds;  /* callchains are shown, and some events have stack dumps */
    bool in_order; /* one thread adds all samples in order: they depend on earlier ones, or a key needs it */
    bool calls;    /* some events' branch stacks are call stacks */
    bool history;  /* branches are shown in callchains (options.history) */
    bool inlines;  /* callchains have frames of inlined functions: profile_inlines_expand */
    bool searches, parents;         /* callchains are searched: for anything; for -p's functions */
    bool addressed;                 /* RESOLVE_ADDRESS frames are samples' own places, not callers */
    uint8_t place_kind, frame_kind; /* enum resolve_frame_kind: for samples' own places; for callchains */
};

/* A callchain, outermost frame first. */
struct profile_chain {
    uint32_t outer, inner; /* segments (segments.h) */
};

/* What tells stack samples apart. */
struct profile_stack_key {
    uint32_t group_key, frame; /* the sample's own place */
    struct profile_chain chain;
};

struct profile_stack {
    struct profile_stack_key key;
    uint64_t period;
    uint64_t first_ns; /* time of the earliest sample; of equal times the first in the file */
    uint32_t samples;
    uint32_t thread; /* the earliest sample's; see model_thread_at */
};

struct profile_weights {
    uint64_t w[3];
    uint64_t own[PROFILE_OWN_SUMS]; /* the columns' sums */
    uint64_t latency;               /* period divided by the number of threads running */
    uint64_t cut;                   /* samples whose stack is longer than its dump */
};

/* A recorded part of a callchain, looked up together with the batch that its sample is in. */
struct profile_later_segment {
    uint64_t key;
    const uint8_t *at; /* in the record, which stays in memory */
    uint32_t count;    /* words; 0: none */
    uint8_t cpumode;
    bool swap;
    bool cut; /* the word before `at` is an inner address, left out */
    bool own; /* its first address is the sample's own */
};

/* A sample not yet added to its stack sample: it waits while the memory that this needs is prefetched; see
 * batch.c. */
struct profile_pending {
    struct profile_stack stack; /* with this sample's values alone */
    uint64_t hash;
    uint64_t known;    /* key in builder.known; PROFILE_NOT_KNOWN: none */
    bool duplicate;    /* stack_id is the index of a pending sample with the same stack sample */
    uint32_t stack_id; /* set once found; if it was in builder.known, nothing below is looked up */
    struct profile_weights weights;
    uint64_t order;         /* with stack.first_ns: the sample's model_when */
    uint64_t ip;            /* address of its own place, if that is to be looked up */
    uint64_t offset;        /* without callchains: ip's offset in `image` */
    uint32_t image;         /* likewise; MODEL_NONE: ip is in none */
    uint32_t pid, tid, cpu; /* tid, cpu: with options.moments */
    uint8_t cpumode;        /* of the sample itself */
    /* What is to be looked up; all else is in stack.key already. Segments of the chain; or, instead of
     * `outer`, its addresses (`words`, innermost first) in builder.asks from [asks] on; the sample's own
     * place in [place_at]. */
    struct profile_later_segment inner, outer;
    uint16_t asks, place_at;
    uint8_t words;
    bool place;
    bool own; /* the place is not looked up: it follows from the first word */
};
enum { PROFILE_PENDING = 64, PROFILE_ASKED_WORDS = 4, PROFILE_NOT_KNOWN = 0 };

/* A frame of a callchain where something is inlined. */
struct profile_inlined {
    uint32_t
        name; /* text id of the inlined function's name; PROFILE_NONE: the frame is the function itself */
    uint32_t line; /* where in that function, if `placed`; file: NULL: not known */
    const char *file;
    bool placed;
};

struct profile_tally {
    uint64_t read, filtered, dropped, period, samples, latency;
};

/* Code between two consecutive branches; see blocks.c. */
struct profile_run {
    uint32_t start, end; /* frames; start: RESOLVE_NO_FRAME without an older branch */
    uint64_t cycles, count;
};

/* The earliest times that a run was measured. */
enum { PROFILE_RUN_VALUES = 8 };
struct profile_run_values {
    struct model_when at[PROFILE_RUN_VALUES];
    uint16_t cycles[PROFILE_RUN_VALUES];
    uint32_t count;
};

struct profile_runs {
    VEC(struct profile_run) list; /* distinct ones */
    struct idtable index;
    VEC(struct profile_run_values) values; /* by run, with options.block_values */
};

/* A sample's last branches, as frames: target and source of each, the newest first; see streams.c. */
struct profile_stream {
    uint32_t event, count; /* count: frames, in profile_streams.frames from `first` on */
    size_t first;
    uint64_t period, samples, cycles;
};

struct profile_streams {
    VEC(struct profile_stream) list; /* distinct ones */
    VEC(uint32_t) frames;
    struct idtable index;
};

/* A single sample, for the time axis. */
struct profile_moment {
    uint64_t ns, period;
    uint32_t stack, task, cpu; /* task: index of moments.tasks; cpu: PROFILE_NONE if not recorded */
} __attribute__((packed, aligned(4)));

struct profile_task {
    uint32_t pid, tid;
};

/*
 * What slices of time need to know of all samples, in the order of the file: four bytes of each, or eight if
 * their periods differ. Samples next to each other in the file are so in time, too, but for those of another
 * CPU; those that are less than PROFILE_TICK_NS after the first one are taken to be at its time.
 */
enum { PROFILE_TICK_NS = 1 << 17 };
struct profile_tick_span {
    uint64_t ns;
    size_t first; /* in stacks; to the next span's */
};
struct profile_ticks {
    VEC(uint32_t) stacks;
    VEC(float) periods; /* of each; empty if all are `period` */
    VEC(struct profile_tick_span) spans;
    float period;
    uint64_t first_ns, last_ns;
};

/* With options.moments: all samples that were added, in the order of the file. */
struct profile_moments {
    VEC(struct profile_moment) list;
    VEC(struct profile_task) tasks; /* distinct ones */
    struct idtable index;
    uint32_t last; /* the last sample's task */
};

struct profile_thread_slot;
struct profile_chain_slot;
struct profile_known;

/* Maps recorded segments, by a hash of their bytes and of what decides their meaning, to resolved ones; see
 * sample_callchain.c. */
struct profile_chain_table {
    struct profile_chain_slot *slots; /* [mask + 1], or NULL */
    size_t mask, count;
};

/* What was found out of comms or places, by id. */
typedef VEC(uint8_t) profile_memo;

/* A resolved part of a callchain. */
struct profile_link {
    uint32_t segment;
    unsigned cpumode;
};

struct profile_builder {
    const struct profile_plan *plan;
    const struct stream *stream; /* source of the records: the input's, or a share of it */
    struct resolve_places places;
    struct resolve_frames frames;
    struct strpool texts;
    VEC(struct profile_inlined) inlined; /* by frame; empty: nothing is inlined */

    VEC(uint64_t) group_key_values; /* plan->group_key_count for each */
    uint32_t group_key_total;
    struct hash_map group_key_by_hash;                 /* by hash of the values; a collision tries hash + 1 */
    struct profile_thread_slot *threads, *last_thread; /* last_thread: the last sample's; NULL at first */

    VEC(struct profile_stack) stacks;
    VEC(struct profile_weights) weights; /* by stack sample, with plan->extras */
    struct idtable stack_index;
    struct profile_pending pending[PROFILE_PENDING];
    struct resolve_ask asks[PROFILE_PENDING * (PROFILE_ASKED_WORDS + 1)];
    uint32_t pending_count, ask_count;
    struct profile_known *known; /* with plan->waits */
    unsigned known_shift;        /* from the hash of a stack sample to where it is there */

    struct profile_segments segments; /* of frames */
    struct profile_chain_table known_segments;
    VEC(uint32_t) path;       /* scratch */
    VEC(uint32_t) run_frames; /* of the current segment */
    VEC(struct profile_link) links;
    struct resolve_chain chain; /* the current sample's */

    uint32_t parallelism;                /* threads running at the current sample */
    struct resolve_unwind_tally unwound; /* chain.unwind's, after that is freed */
    struct profile_search *search;       /* NULL: callchains are not searched */
    profile_memo place_verdicts, comm_verdicts;

    struct profile_runs runs;       /* with options.blocks */
    struct profile_streams streams; /* with options.streams */
    struct profile_moments moments;
    struct profile_ticks ticks; /* with options.slices: all samples that were added */

    struct readings readings;
    VEC(struct profile_tally) tally; /* by event */
    VEC(uint64_t) bad;               /* locs of samples too short for their fields */
    bool failed;                     /* memory ran out */
};

/* ---- build.c ---- */

void profile_plan_make(struct profile_plan *plan, const struct profile_input *in,
                       const struct profile_options *o);
bool profile_builder_init(struct profile_builder *b, const struct profile_plan *plan, struct err *err);
void profile_builder_fini(struct profile_builder *b);
/* Add records of the stream: consecutive samples, or any single record. */
void profile_builder_add_samples(struct profile_builder *b, const struct stream_sample *samples, size_t n);
void profile_builder_add(struct profile_builder *b, const struct stream_record *r);
/* When nothing is left to add: frees what only adding needs. */
void profile_builder_trim(struct profile_builder *b);
/* Returns the id of a text. STRPOOL_NONE, and b->failed is set: out of memory. */
uint32_t profile_text_add(struct profile_builder *b, const char *text, size_t len);
/* Returns the id of a group key, new or known. PROFILE_NONE: out of memory. */
uint32_t profile_group_key_add(struct profile_builder *b, const uint64_t *values);

/* ---- batch.c ---- */

/* Returns the next sample to wait, with garbage in its fields; profile_pending_push adds it to those that
 * wait. */
static inline struct profile_pending *profile_pending_next(struct profile_builder *b) {
    return &b->pending[b->pending_count];
}
void profile_pending_push(struct profile_builder *b);
/* Makes b->known, for about so many samples. False: out of memory. */
bool profile_known_make(struct profile_builder *b, uint64_t samples);
/* Sets the key in b->known of the next sample to wait: made of its group key, which must be set, and of
 * numbers from which all else follows: its segments' keys, or what its place is. */
void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]);
/* Starts looking up the frame of the sample's own place, p->ip, in that state of its address space. */
void profile_pending_ask_place(struct profile_builder *b, struct profile_pending *p,
                               const struct model_state *state);
/* Adds all samples that wait, in order, as after the last record; b->failed: out of memory. */
void profile_pending_flush(struct profile_builder *b);
/* Adds the sums of a stack sample (weights: with plan->extras) to the one with the same key, new or known;
 * returns its number. PROFILE_NONE: out of memory. */
uint32_t profile_stack_add(struct profile_builder *b, const struct profile_stack *stack,
                           const struct profile_weights *weights);
/* ---- merge.c ---- */

/*
 * Merges `from` into `to` (both flushed); the records of `from` follow those of `to`. All ids become what
 * they would be if `to` had read these records itself. `from` is used up. False: out of memory.
 */
bool profile_builder_merge(struct profile_builder *to, struct profile_builder *from);

/* ---- carry.c ---- */

/* Adds the faded samples of an older profile. False: out of memory. */
bool profile_carry(struct profile_builder *to, const struct profile_before *before, struct err *err);
/* The second pass over listed samples (profile_input.live). */
bool profile_read_listed(struct profile *p, struct err *err);

/* ---- read.c ---- */

/* The second pass: reads all samples into p->b. */
bool profile_read(struct profile *p, struct err *err);

/* ---- inlines.c ---- */

/* With plan->inlines, when all samples were read: puts the frames of inlined functions into callchains. */
bool profile_inlines_expand(struct profile_builder *b, struct err *err);
/* What is known of a frame where something is inlined; NULL: nothing. */
static inline const struct profile_inlined *profile_inlined_at(const struct profile_builder *b,
                                                               uint32_t frame) {
    return b->inlined.count ? &b->inlined.items[frame] : NULL;
}
/* Whether a frame is that of an inlined function. */
static inline bool profile_is_inlined(const struct profile_builder *b, uint32_t frame) {
    return b->inlined.count && b->inlined.items[frame].name != PROFILE_NONE;
}

/* ---- keys ---- */

/* A sample, or one branch of it. */
struct profile_taken {
    const struct perfdata_sample *s;
    const struct profile_column *column; /* whose value is wanted */
    uint32_t event, comm;                /* comm: a text id */
    struct model_when when;
    unsigned cpumode;
    const struct perfdata_branch *branch; /* NULL: none */
    uint32_t from, to;                    /* frames of the branch's ends; only with a branch */
    uint32_t parent;                      /* text id of the caller that -p found; PROFILE_NONE: none */
    bool has_chain;
    struct profile_chain chain; /* the callchain, if it is known already */
};

/* Returns the weight to count: of each branch of a sample the cycles of the newest one, as in perf. */
static inline uint64_t profile_taken_weight(const struct profile_taken *x) {
    uint64_t cycles = x->branch ? perfdata_branch_at(x->s, 0).cycles : 0;
    return !x->branch ? x->s->weight : cycles ? cycles : 1;
}

#define PROFILE_NAMES(of_options, of_column, meaning) \
    .name = (of_options), .title = (of_column), .help = (meaning)

/* One table of keys; column.c lists the tables in order. */
struct profile_key_list {
    const struct profile_key *keys;
    size_t count;
};
extern const struct profile_key_list profile_measures, profile_sample_keys, profile_branch_keys,
    profile_memory_keys, profile_evidence_keys;
extern const struct profile_key profile_field_key; /* of every tracepoint field */

/* ---- blocks.c ---- */

/* Adds a run, unless it has no cycles. at: when, if its values are wanted; else NULL. False: out of memory.
 */
bool profile_runs_add(struct profile_runs *r, uint32_t start, uint32_t end, uint64_t cycles,
                      const struct model_when *at);
/* Adds another builder's runs; frames[i] is the id here of its frame i. False: out of memory. */
bool profile_runs_merge(struct profile_runs *to, const struct profile_runs *from, const uint32_t *frames);
void profile_runs_fini(struct profile_runs *r);
/* Adds the values of `from` to `to`. */
void profile_run_values_merge(struct profile_run_values *to, const struct profile_run_values *from);

/* ---- streams.c ---- */

/* Adds a sample whose frames were pushed to s->frames from `first` on; where these are known, takes them off
 * again. False: out of memory. */
bool profile_streams_add(struct profile_streams *s, const struct profile_stream *one);
/* As profile_runs_merge. */
bool profile_streams_merge(struct profile_streams *to, const struct profile_streams *from,
                           const uint32_t *frames);
void profile_streams_fini(struct profile_streams *s);

/* ---- branches.c ---- */

/* Adds what a sample's branches say of code between them: runs and streams, as the options want. False: out
 * of memory. */
bool profile_branches_add(struct profile_builder *b, const struct profile_taken *x);

/* Whether -U leaves the frame out of callchains. */
static inline bool profile_is_hidden(const struct profile_builder *b, uint32_t frame) {
    return b->plan->o->hide_unresolved && b->frames.list.items[frame].symbol == SYMBOL_NONE;
}

/* Returns the name of a frame's function; NULL: none. */
static inline const char *profile_frame_name(const struct profile_builder *b, const struct resolve_frame *f) {
    return f->image != MODEL_NONE && f->symbol != SYMBOL_NONE
               ? resolve_names_text(b->plan->in->names, (struct resolve_symbol){f->image, f->symbol})
               : NULL;
}

/* Returns where a memo has what is known of an id, 0 at first; NULL, and b->failed is set: out of memory. */
static inline uint8_t *profile_memo_at(struct profile_builder *b, profile_memo *memo, uint32_t id) {
    while (memo->count <= id && !b->failed)
        b->failed |= !vec_push(memo);
    return b->failed ? NULL : &memo->items[id];
}

/* Appends a segment's frames to b->path. False: out of memory. */
static inline bool profile_path_add(struct profile_builder *b, uint32_t segment) {
    uint32_t n;
    const uint32_t *ids = profile_segments_ids(&b->segments, segment, &n);
    if (!vec_reserve(&b->path, b->path.count + n + 1))
        return false;
    for (uint32_t i = 0; i < n; i++)
        b->path.items[b->path.count++] = ids[i];
    return true;
}

/* ---- moments.c ---- */

/* Adds a sample that went to a stack sample. False: out of memory. */
bool profile_moments_add(struct profile_moments *m, const struct profile_pending *p, uint32_t stack);
/* Adds another builder's, which come later; stacks[i] is the number here of its stack sample i. */
bool profile_moments_merge(struct profile_moments *to, const struct profile_moments *from,
                           const uint32_t *stacks);
void profile_moments_fini(struct profile_moments *m);

/* The same for ticks. */
bool profile_ticks_add(struct profile_ticks *t, const struct profile_stack *sample, uint32_t stack);
bool profile_ticks_merge(struct profile_ticks *to, const struct profile_ticks *from, const uint32_t *stacks);
void profile_ticks_fini(struct profile_ticks *t);
/* Stack sample i is number now[i] from now on, in moments and ticks. */
void profile_moments_renumber(struct profile_builder *b, const uint32_t *now);

/* ---- lbr.c ---- */

/* Appends the ends of a sample's last branches to b->path. False: out of memory. */
bool profile_history_add(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when);
/* Returns the frame of a branch's end. RESOLVE_NO_FRAME: out of memory. */
uint32_t profile_branch_end(struct profile_builder *b, uint32_t pid, struct model_when when, uint64_t address,
                            enum resolve_frame_kind kind);

/* ---- search.c ---- */

struct profile_search;

/* Makes a search; `parents`: for -p's functions, too. NULL with *err: out of memory, a bad regular
 * expression. */
struct profile_search *profile_search_new(const struct profile_options *o, bool parents, struct err *err);
void profile_search_free(struct profile_search *s); /* NULL is allowed */
/* Fills in x->parent and x->chain; *frame, the sample's own place, becomes the frame of the function whose
 * callees are ignored, if any. False: out of memory. */
bool profile_search_chain(struct profile_builder *b, struct profile_taken *x, uint32_t *frame);

/* ---- select.c ---- */

/* Returns whether a sample of that comm (a text id) at that frame counts. */
enum profile_verdict profile_select(struct profile_builder *b, const struct profile_taken *x, uint32_t comm,
                                    uint32_t frame);
/* Whether a branch to that frame is shown. */
bool profile_select_end(const struct profile_builder *b, uint32_t frame);
struct profile_table;
/* With plan->selects_rows: removes the rows that --symbol-filter does not match from a sorted table. */
void profile_select_rows(struct profile *p, struct profile_table *t);

/* ---- sample_callchain.c ---- */

/* Resolves the sample's callchain; without frames it becomes two empty segments. `place`: NULL, or becomes
 * the frame of the sample's own place if the chain, as mostly, begins with it; else RESOLVE_NO_FRAME. False:
 * memory. */
bool profile_chain_take(struct profile_builder *b, const struct profile_taken *x, struct profile_chain *out,
                        uint32_t *place);
/* The same for a sample that waits: notes in p->inner and p->outer what to look up later. PROFILE_NOT_ASKED:
 * nothing is noted, profile_chain_take has to do it. */
enum profile_asked { PROFILE_ASKED, PROFILE_NOT_ASKED, PROFILE_ASK_FAILED /* memory */ };
enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                     uint32_t event, unsigned cpumode, struct model_when when,
                                     struct profile_pending *p);
/* Starts looking up the frames of p->outer if it is a short user segment; for other segments prefetches their
 * slots. */
void profile_chain_ask_frames(struct profile_builder *b, struct profile_pending *p);
/* Completes the look-up: puts p->inner and p->outer, resolved, into p->stack.key. False: out of memory. */
bool profile_chain_answer(struct profile_builder *b, struct profile_pending *p);
void profile_chain_table_fini(struct profile_chain_table *t);

/* Returns how many addresses a callchain has: frames of inlined functions are not counted. */
static inline uint32_t profile_chain_length(const struct profile_builder *b, struct profile_chain chain) {
    const uint32_t segments[2] = {chain.outer, chain.inner};
    uint32_t length = 0, n;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t *ids = profile_segments_ids(&b->segments, segments[i], &n);
        length += n;
        for (uint32_t k = 0; b->inlined.count && k < n; k++)
            length -= profile_is_inlined(b, ids[k]);
    }
    return length;
}

#endif
