/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A builder: samples -> distinct (group key, own frame, callchain), with their sums. What its files share.
 *
 * A *group key* is all that a sample's row depends on besides where it lies: its event, comm, cpu and so on,
 * as far as the columns ask. A *stack sample* is (group key, frame of the sample, its callchain as two
 * segments: see segments.h). While samples come in there are stack samples only, and no tree.
 */
#ifndef SONDE_PROFILE_COLLECT_BUILDER_H
#define SONDE_PROFILE_COLLECT_BUILDER_H

#include "base/hash.h"
#include "base/idtable.h"
#include "base/prefetch.h"
#include "base/strpool.h"
#include "format/perfdata/readings.h"
#include "profile/collect/segments.h"
#include "profile/profile.h"
#include "resolve/chain.h"
#include "resolve/frames.h"
#include "resolve/resolve_grade.h"

enum { PROFILE_NONE = UINT32_MAX };

/* What stands for no parent (-p). */
#define PROFILE_OTHER "[other]"

/* ---- what to take from a sample ---- */

/* The values of a group key: [0] is the event, then one per key column that is no place. */
enum { PROFILE_GROUP_KEY_MAX = 64 };

struct profile_plan {
    const struct profile_input *in;
    const struct profile_options *o;
    uint64_t want;                          /* PERFDATA_SAMPLE_* to decode */
    profile_add_fn *adds[PROFILE_OWN_SUMS]; /* of measures; NULL after the last */
    uint32_t finds;                         /* PROFILE_FINDS_* of all columns */
    uint32_t group_key_count;               /* values of a group key */
    uint8_t slot_of[PROFILE_COLUMNS_MAX];   /* by a column's number: its index in the group key; 0: none */
    uint8_t comm_slot;                      /* of the key comm; 0: none */
    const struct profile_column *slots[PROFILE_GROUP_KEY_MAX]; /* whose values they are, but for the first */
    uint32_t level_at; /* -b: index in the group key of the samples' cpumode, which is shown; else 0 */
    bool selects;      /* profile_select is to be asked */
    bool selects_rows; /* --symbol-filter is for rows, each by its own name, not for samples */
    bool by_thread;    /* a group key depends on event and thread alone */
    bool waits; /* nobody asks for a sample's frames before they are counted: they may be asked for many
                   samples at a time */
    bool chains, extras /* struct profile_weights */;
    bool unwinds;           /* callchains are shown, and some events have stack dumps */
    bool in_order;          /* what a sample means depends on those before it, or is asked of one thread */
    bool calls;             /* some events' branch stacks are call stacks */
    bool history;           /* the branches of other events stand in callchains */
    bool searches, parents; /* something, -p's functions are looked for in callchains */
    bool addressed;         /* frames of one recorded address are samples' own places */
    uint8_t place_kind, frame_kind; /* enum resolve_frame_kind of samples' places and of callchains */
};

/* A callchain, outermost frame first. */
struct profile_chain {
    uint32_t outer, inner; /* segments (segments.h) */
};

/* What makes stack samples differ. */
struct profile_stack_key {
    uint32_t group_key, frame; /* the sample's own place */
    struct profile_chain chain;
};

struct profile_stack {
    struct profile_stack_key key;
    uint64_t period;
    uint64_t first_ns; /* time of the earliest sample; equal times: the first in the file */
    uint32_t samples;
    uint32_t thread; /* of that sample; see model_thread_at */
};

struct profile_weights {
    uint64_t w[3];
    uint64_t own[PROFILE_OWN_SUMS]; /* of columns */
    uint64_t latency;               /* period by how many threads ran */
    uint64_t cut;                   /* samples whose stack goes on after its dump */
};

/* A part of a chain as recorded, which waits with its sample. */
struct profile_later_segment {
    uint64_t key;
    const uint8_t *at; /* in the record, which stays */
    uint32_t count;    /* words; 0: none */
    uint8_t cpumode;
    bool swap;
    bool cut; /* the word inside of it stands before it */
    bool own; /* the sample itself lies at its first address */
};

/* A sample on its way to its stack sample: it waits until what it will touch is in the cache; see batch.c.
 */
struct profile_pending {
    struct profile_stack stack; /* of this sample alone */
    uint64_t hash;
    uint64_t known; /* under which its stack sample is remembered, or will be; PROFILE_NOT_KNOWN: it is not */
    bool duplicate; /* stack_id is that of a sample that waits, of the same stack sample */
    uint32_t stack_id; /* not PROFILE_NONE: the stack sample was remembered, nothing below is asked for */
    struct profile_weights weights;
    uint64_t order;  /* with stack.first_ns: when */
    uint64_t ip;     /* where its place is to be asked for */
    uint64_t offset; /* without callchains: where that lies */
    uint32_t image;  /* likewise; MODEL_NONE: nowhere */
    uint32_t pid;
    uint8_t cpumode; /* of the sample itself */
    /* What was asked for; all else is in the stack sample already. Segments of the chain, and in builder.asks
     * the words of its outer segment, innermost first, in place of it, and the sample's own place. */
    struct profile_later_segment inner, outer;
    uint16_t asks, place_at;
    uint8_t words;
    bool place;
    bool own; /* the place is not asked for: it is that of the first word */
};
enum { PROFILE_PENDING = 64, PROFILE_ASKED_WORDS = 4, PROFILE_NOT_KNOWN = 0 };

struct profile_tally {
    uint64_t read, filtered, dropped, period, samples, latency, lost;
};

/* Code between two branches that follow each other; see blocks.c. */
struct profile_run {
    uint32_t start, end; /* frames; start: RESOLVE_NO_FRAME where no older branch tells */
    uint64_t cycles, count;
};

struct profile_runs {
    VEC(struct profile_run) list; /* distinct ones */
    struct idtable index;
};

struct profile_sample_plan;
struct profile_thread_slot;
struct profile_chain_slot;
struct profile_known;

/* Segments as recorded, by a hash of their bytes and of what they mean, to what became of them; see
 * sample_callchain.c.
 */
struct profile_chain_table {
    struct profile_chain_slot *slots; /* mask + 1 when not NULL */
    size_t mask, count;
};

/* What select.c found out, by id. */
struct profile_verdicts {
    VEC(uint8_t) list;
};

/* A part of a callchain, resolved. */
struct profile_link {
    uint32_t segment;
    unsigned cpumode;
};

struct profile_builder {
    const struct profile_plan *plan;
    const struct stream *stream; /* that gives the records: the input's, or a share of it */
    struct resolve_places places;
    struct resolve_frames frames;
    struct strpool texts;

    VEC(uint64_t) group_key_values; /* plan->group_key_count each */
    uint32_t group_key_total;
    struct hash_map group_key_by_hash;                 /* of the values; equal hashes go on to hash + 1 */
    struct profile_thread_slot *threads, *last_thread; /* last_thread: NULL at first */

    VEC(struct profile_stack) stacks;
    VEC(struct profile_weights) weights; /* by stack sample, with plan->extras */
    struct idtable stack_index;
    struct profile_pending pending[PROFILE_PENDING];
    struct resolve_ask asks[PROFILE_PENDING * (PROFILE_ASKED_WORDS + 1)];
    uint32_t pending_count, ask_count;
    struct profile_known *known; /* with plan->waits */

    struct profile_segments segments; /* of frames */
    struct profile_chain_table known_segments;
    VEC(uint32_t) path;       /* scratch */
    VEC(uint32_t) run_frames; /* of the segment at hand */
    VEC(struct profile_link) links;
    struct resolve_chain chain; /* of the sample at hand */

    uint32_t parallelism;                /* at the sample at hand */
    struct resolve_unwind_tally unwound; /* of the chain's, once it is gone */
    struct profile_search *search;       /* NULL: nothing is looked for in callchains */
    struct profile_verdicts place_verdicts, comm_verdicts;

    struct profile_runs runs; /* with options.blocks */

    struct readings readings;
    VEC(struct profile_tally) tally;              /* by event */
    VEC(struct profile_sample_plan) sample_plans; /* by event */
    VEC(uint64_t) bad;                            /* locs of samples that are shorter than their fields */
    bool failed;                                  /* memory ran out */
};

/* ---- build.c ---- */

void profile_plan_make(struct profile_plan *plan, const struct profile_input *in,
                       const struct profile_options *o);
bool profile_builder_init(struct profile_builder *b, const struct profile_plan *plan, struct err *err);
void profile_builder_fini(struct profile_builder *b);
/* Records of the stream: samples that follow each other, or any one. */
void profile_builder_add_samples(struct profile_builder *b, const struct stream_sample *samples, size_t n);
void profile_builder_add(struct profile_builder *b, const struct stream_record *r);
/* After the last record of it: adds what still waits. */
void profile_builder_flush(struct profile_builder *b);
/* After everything: gives back what only adding needs. */
void profile_builder_trim(struct profile_builder *b);
/* The id of a text; STRPOOL_NONE, and the builder has failed: memory. */
uint32_t profile_text_add(struct profile_builder *b, const char *text, size_t len);
/* The id of a group key, new or known. PROFILE_NONE: memory. */
uint32_t profile_group_key_add(struct profile_builder *b, const uint64_t *values);
/* As model_comm_at, but as perf report names threads and tells them apart: by a later comm where there was
 * none yet, and after an exit by the one that they had. */
struct model_comm_span profile_comm_at(const struct model *m, uint32_t pid, uint32_t tid,
                                       struct model_when when);

/* ---- batch.c ---- */

/* The next sample to wait; its fields have garbage in them. It waits once profile_pending_push was called. */
static inline struct profile_pending *profile_pending_next(struct profile_builder *b) {
    return &b->pending[b->pending_count];
}
void profile_pending_push(struct profile_builder *b);
/* NULL: memory. To be freed. */
struct profile_known *profile_known_new(void);
/* The stack sample of the next sample to wait is to be remembered, or is so already: its group key is known,
 * and all else follows from its segments' keys. */
void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]);
/* The same with any one number that stands for all of it. */
void profile_pending_know_key(struct profile_builder *b, uint64_t key);
static inline uint64_t profile_pending_seed(uint64_t key, uint32_t group_key) {
    return key ^ ((uint64_t)group_key + 1) * HASH_ODD;
}
/* Asks for the frame of the sample's own place, p->ip, in that state of its space. */
void profile_pending_ask_place(struct profile_builder *b, struct profile_pending *p,
                               const struct model_state *state);
/* Adds all that wait, in their order; b->failed: memory. */
void profile_pending_flush(struct profile_builder *b);
/* Adds what a stack sample has (weights: with plan->extras) to the one with its key, new or known. False:
 * memory. */
bool profile_stack_add(struct profile_builder *b, const struct profile_stack *stack,
                       const struct profile_weights *weights);
/* ---- merge.c ---- */

/*
 * Adds to `to` what `from` (both flushed) made of the records that follow its own. All ids are those that
 * they would have if `to` had been given these records itself. `from` is used up. False: memory.
 */
bool profile_builder_merge(struct profile_builder *to, struct profile_builder *from);

/* ---- read.c ---- */

/* The second pass: all samples into p->b. */
bool profile_read(struct profile *p, struct err *err);

/* ---- keys ---- */

/* A sample, or one branch of it. */
struct profile_taken {
    const struct perfdata_sample *s;
    uint32_t event, comm; /* comm: a text id */
    struct model_when when;
    unsigned cpumode;
    const struct perfdata_branch *branch; /* NULL: none */
    uint32_t from, to;                    /* frames of the branch's ends; only with a branch */
    uint32_t parent;                      /* text id of the caller that -p found; PROFILE_NONE: none */
    bool has_chain;
    struct profile_chain chain; /* the callchain, if it is known already */
};

/* The weight to count. Each branch of a sample counts the cycles of the newest one, as in perf. */
static inline uint64_t profile_taken_weight(const struct profile_taken *x) {
    uint64_t cycles = x->branch ? perfdata_branch_at(x->s, 0).cycles : 0;
    return !x->branch ? x->s->weight : cycles ? cycles : 1;
}

#define PROFILE_NAMES(of_options, of_column, meaning) \
    .name = (of_options), .title = (of_column), .help = (meaning)

/* Rows of one table of keys; column.c has them in order. */
struct profile_key_list {
    const struct profile_key *keys;
    size_t count;
};
extern const struct profile_key_list profile_measures, profile_sample_keys, profile_branch_keys,
    profile_memory_keys, profile_evidence_keys;
extern const struct profile_key profile_field_key; /* of all fields of tracepoints */

/* ---- blocks.c ---- */

/* One more run. Without cycles it is none. False: memory. */
bool profile_runs_add(struct profile_runs *r, uint32_t start, uint32_t end, uint64_t cycles);
/* Adds those of another builder, whose frames have the numbers `frames` here. False: memory. */
bool profile_runs_merge(struct profile_runs *to, const struct profile_runs *from, const uint32_t *frames);
void profile_runs_fini(struct profile_runs *r);

/* Whether -U leaves the frame out of callchains. */
static inline bool profile_is_hidden(const struct profile_builder *b, uint32_t frame) {
    return b->plan->o->hide_unresolved && b->frames.list.items[frame].symbol == SYMBOL_NONE;
}

/* ---- lbr.c ---- */

/* Adds the places between which a sample's last branches went to b->path. False: memory. */
bool profile_history_add(struct profile_builder *b, const struct perfdata_sample *s, struct model_when when);
/* The frame of an end of a branch. RESOLVE_NO_FRAME: memory. */
uint32_t profile_branch_end(struct profile_builder *b, uint32_t pid, struct model_when when, uint64_t address,
                            enum resolve_frame_kind kind);

/* ---- search.c ---- */

struct profile_search;

/* `parents`: look for -p's functions. NULL with *err: memory, a bad regular expression. */
struct profile_search *profile_search_new(const struct profile_options *o, bool parents, struct err *err);
void profile_search_free(struct profile_search *s); /* NULL is allowed */
/* Fills in x->parent and x->chain; *frame, the place of the sample, becomes that of a function whose callees
 * are ignored. False: memory. */
bool profile_search_chain(struct profile_builder *b, struct profile_taken *x, uint32_t *frame);

/* ---- select.c ---- */

/* Whether a sample of that comm (a text) that lies there counts. */
enum profile_verdict profile_select(struct profile_builder *b, const struct profile_taken *x, uint32_t comm,
                                    uint32_t frame);
/* Whether a branch that leads there is shown. */
bool profile_select_end(const struct profile_builder *b, uint32_t frame);
struct profile_table;
/* With plan->selects_rows: takes those rows out of a sorted table that --symbol-filter does not ask for. */
void profile_select_rows(struct profile *p, struct profile_table *t);

/* ---- sample_callchain.c ---- */

/* The sample's callchain; one without frames is two empty segments. `place`: NULL, or becomes the frame of
 * the sample's own place if the chain, which mostly begins there, tells; else RESOLVE_NO_FRAME. False:
 * memory. */
bool profile_chain_take(struct profile_builder *b, const struct profile_taken *x, struct profile_chain *out,
                        uint32_t *place);
/* The same for a sample that waits: all of the chain goes into p->stack.key or is asked for. Not asked, and
 * *p as it was but for garbage: it is one for profile_chain_take. */
enum profile_asked { PROFILE_ASKED, PROFILE_NOT_ASKED, PROFILE_ASK_FAILED /* memory */ };
enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                     uint32_t event, unsigned cpumode, struct model_when when,
                                     struct profile_pending *p);
/* Asks for the frames of a short user segment, p->outer; for others at least where they would be known. */
void profile_chain_ask_frames(struct profile_builder *b, struct profile_pending *p);
/* Its turn has come: p->inner and p->outer become parts of p->stack.key. False: memory. */
bool profile_chain_answer(struct profile_builder *b, struct profile_pending *p);
void profile_chain_table_fini(struct profile_chain_table *t);

static inline uint32_t profile_chain_length(const struct profile_segments *p, struct profile_chain chain) {
    uint32_t outer, inner;
    profile_segments_ids(p, chain.outer, &outer);
    profile_segments_ids(p, chain.inner, &inner);
    return outer + inner;
}

#endif
