/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of profile/ share.
 *
 *   builder   samples -> distinct (class, place, callchain), with their sums
 *             read.c, build.c, column_*.c, chain.c, pending.c, parts.c, merge.c
 *   freeze    those -> entries: names, key values, merged, sorted
 *             freeze.c, place.c, walk.c, group.c, sort.c, hierarchy.c
 *   graph     the callchains of one entry -> tree
 *             forest.c, graph.c
 *
 * A *class* is all that a sample's entry depends on besides where it lies: its event, comm, cpu and so on, as
 * far as the columns ask. A *leaf* is (class, place of the sample, its callchain as two parts: see parts.h).
 * While samples come in there are leaves only; the tree that the callchains make is found at the end, by one
 * walk along the leaves in the order of their chains. Classes whose keys are equal are one *kind*, and what
 * keys tell of frames is a *spot*: an entry (row) is (kind, spot).
 *
 *          kind "sh"                  kind "cc1"
 *             |                           |
 *            main                        main            node: total of all samples that pass
 *           /    \                        |
 *      do_fork   read                  cpp_lex           leaf: a sample's own place, where its chain ends
 */
#ifndef SONDE_PROFILE_INTERNAL_H
#define SONDE_PROFILE_INTERNAL_H

#include "base/hash.h"
#include "base/idtable.h"
#include "base/prefetch.h"
#include "base/strpool.h"
#include "format/perfdata/readings.h"
#include "profile/parts.h"
#include "profile/profile.h"
#include "resolve/chain.h"
#include "resolve/frames.h"
#include "resolve/grade.h"

enum { PROFILE_NONE = UINT32_MAX };

/* What stands for no parent (-p). */
#define PROFILE_OTHER "[other]"

/* ---- what to take from a sample ---- */

/* The values of a class: [0] is the event, then one per key column that is no place. */
enum { PROFILE_CLASS_MAX = 64 };

struct profile_plan {
    const struct profile_input *in;
    const struct profile_options *o;
    uint64_t want;                          /* PERFDATA_SAMPLE_* to decode */
    profile_add_fn *adds[PROFILE_OWN_SUMS]; /* of measures; NULL behind the last */
    uint32_t finds;                         /* PROFILE_FINDS_* of all columns */
    uint32_t class_count;                   /* values of a class */
    uint8_t slot_of[PROFILE_COLUMNS_MAX];   /* by a column's number: its index in the class; 0: none */
    uint8_t comm_slot;                      /* of the key comm; 0: none */
    const struct profile_column *slots[PROFILE_CLASS_MAX]; /* whose values they are, but for the first */
    uint32_t level_at; /* -b: index in the class of the samples' cpumode, which is shown; else 0 */
    bool selects;      /* profile_select is to be asked */
    bool selects_rows; /* --symbol-filter is for rows, each by its own name, not for samples */
    bool by_thread;    /* a class depends on event and thread alone */
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
    uint32_t outer, inner; /* parts (parts.h) */
};

/* What makes leaves differ. */
struct profile_leaf_key {
    uint32_t klass, frame; /* the sample's own place */
    struct profile_chain chain;
};

struct profile_leaf {
    struct profile_leaf_key key;
    uint64_t period;
    uint64_t first_ns; /* time of the earliest sample; equal times: the first in the file */
    uint32_t samples;
    uint32_t thread; /* of that sample; see model_thread_at */
};

struct profile_weights {
    uint64_t w[3];
    uint64_t own[PROFILE_OWN_SUMS]; /* of columns */
    uint64_t latency;               /* period by how many threads ran */
    uint64_t cut;                   /* samples whose stack goes on behind its dump */
};

/* A part of a chain as recorded, which waits with its sample. */
struct profile_later_part {
    uint64_t key;
    const uint8_t *at; /* in the record, which stays */
    uint32_t count;    /* words; 0: none */
    uint8_t cpumode;
    bool swap;
    bool cut; /* the word inside of it stands before it */
    bool own; /* the sample itself lies at its first address */
};

/* A sample on its way to its leaf: it waits until what it will touch is in the cache; see pending.c. */
struct profile_pending {
    struct profile_leaf leaf; /* of this sample alone */
    uint64_t hash;
    uint64_t known;   /* under which its leaf is remembered, or will be; PROFILE_NOT_KNOWN: it is not */
    bool twin;        /* leaf_id is that of a sample that waits, of the same leaf */
    uint32_t leaf_id; /* not PROFILE_NONE: the leaf was remembered, nothing below is asked for */
    struct profile_weights weights;
    uint64_t order;  /* with leaf.first_ns: when */
    uint64_t ip;     /* where its place is to be asked for */
    uint64_t offset; /* without callchains: where that lies */
    uint32_t image;  /* likewise; MODEL_NONE: nowhere */
    uint32_t pid;
    uint8_t cpumode; /* of the sample itself */
    /* What was asked for; all else is in the leaf already. Parts of the chain, and in builder.asks the words
     * of its outer part, innermost first, in place of it, and the sample's own place. */
    struct profile_later_part inner, outer;
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

struct profile_way;
struct profile_thread_slot;
struct profile_chain_slot;
struct profile_known;

/* Parts as recorded, by a hash of their bytes and of what they mean, to what became of them; see chain.c. */
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
    uint32_t part;
    unsigned cpumode;
};

struct profile_builder {
    const struct profile_plan *plan;
    const struct stream *stream; /* that gives the records: the input's, or a share of it */
    struct resolve_places places;
    struct resolve_frames frames;
    struct strpool texts;

    VEC(uint64_t) class_values; /* plan->class_count each */
    uint32_t class_total;
    struct hash_map class_by_hash;                     /* of the values; equal hashes go on to hash + 1 */
    struct profile_thread_slot *threads, *last_thread; /* last_thread: NULL at first */

    VEC(struct profile_leaf) leaves;
    VEC(struct profile_weights) weights; /* by leaf, with plan->extras */
    struct idtable leaf_index;
    struct profile_pending pending[PROFILE_PENDING];
    struct resolve_ask asks[PROFILE_PENDING * (PROFILE_ASKED_WORDS + 1)];
    uint32_t pending_count, ask_count;
    struct profile_known *known; /* with plan->waits */

    struct profile_parts parts; /* of frames */
    struct profile_chain_table known_parts;
    VEC(uint32_t) path;       /* scratch */
    VEC(uint32_t) run_frames; /* of the part at hand */
    VEC(struct profile_link) links;
    struct resolve_chain chain; /* of the sample at hand */

    uint32_t parallelism;                /* at the sample at hand */
    struct resolve_unwind_tally unwound; /* of the chain's, once it is gone */
    struct profile_search *search;       /* NULL: nothing is looked for in callchains */
    struct profile_verdicts place_verdicts, comm_verdicts;

    struct profile_runs runs; /* with options.blocks */

    struct readings readings;
    VEC(struct profile_tally) tally; /* by event */
    VEC(struct profile_way) ways;    /* by event */
    VEC(uint64_t) bad;               /* locs of samples that are shorter than their fields */
    bool failed;                     /* memory ran out */
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
/* The id of a class, new or known. PROFILE_NONE: memory. */
uint32_t profile_class_add(struct profile_builder *b, const uint64_t *values);
/* As model_comm_at, but as perf report names threads and tells them apart: by a later comm where there was
 * none yet, and behind an exit by the one that they had. */
struct model_comm_span profile_comm_at(const struct model *m, uint32_t pid, uint32_t tid,
                                       struct model_when when);

/* ---- pending.c ---- */

/* The next sample to wait; its fields have garbage in them. It waits once profile_pending_push was called. */
static inline struct profile_pending *profile_pending_next(struct profile_builder *b) {
    return &b->pending[b->pending_count];
}
void profile_pending_push(struct profile_builder *b);
/* NULL: memory. To be freed. */
struct profile_known *profile_known_new(void);
/* The leaf of the next sample to wait is to be remembered, or is so already: its class is known, and all else
 * follows from its parts' keys. */
void profile_pending_know(struct profile_builder *b, const uint64_t keys[2]);
/* The same with any one number that stands for all of it. */
void profile_pending_know_key(struct profile_builder *b, uint64_t key);
static inline uint64_t profile_pending_seed(uint64_t key, uint32_t klass) {
    return key ^ ((uint64_t)klass + 1) * HASH_ODD;
}
/* Asks for the frame of the sample's own place, p->ip, in that state of its space. */
void profile_pending_ask_place(struct profile_builder *b, struct profile_pending *p,
                               const struct model_state *state);
/* Adds all that wait, in their order; b->failed: memory. */
void profile_pending_flush(struct profile_builder *b);
/* Adds what a leaf has (weights: with plan->extras) to the one with its key, new or known. False: memory. */
bool profile_leaf_add(struct profile_builder *b, const struct profile_leaf *leaf,
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
    uint32_t from, to;                    /* frames, with a branch */
    uint32_t parent;                      /* as search.c found, a text id; PROFILE_NONE: none */
    bool has_chain;
    struct profile_chain chain; /* what of the callchain counts, where it is known already */
};

/* That of each of a sample's branches is the cycles of the newest, as perf has it. */
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

/* ---- chain.c ---- */

/* The sample's callchain; one without frames is two empty parts. `place`: NULL, or becomes the frame of the
 * sample's own place if the chain, which mostly begins there, tells; else RESOLVE_NO_FRAME. False: memory. */
bool profile_chain_take(struct profile_builder *b, const struct profile_taken *x, struct profile_chain *out,
                        uint32_t *place);
/* The same for a sample that waits: all of the chain goes into p->leaf.key or is asked for. Not asked, and *p
 * as it was but for garbage: it is one for profile_chain_take. */
enum profile_asked { PROFILE_ASKED, PROFILE_NOT_ASKED, PROFILE_ASK_FAILED /* memory */ };
enum profile_asked profile_chain_ask(struct profile_builder *b, const struct perfdata_sample *s,
                                     uint32_t event, unsigned cpumode, struct model_when when,
                                     struct profile_pending *p);
/* Asks for the frames of a short user part, p->outer; for others at least where they would be known. */
void profile_chain_ask_frames(struct profile_builder *b, struct profile_pending *p);
/* Its turn has come: p->inner and p->outer become parts of p->leaf.key. False: memory. */
bool profile_chain_answer(struct profile_builder *b, struct profile_pending *p);
void profile_chain_table_fini(struct profile_chain_table *t);

static inline uint32_t profile_chain_length(const struct profile_parts *p, struct profile_chain chain) {
    uint32_t outer, inner;
    profile_parts_ids(p, chain.outer, &outer);
    profile_parts_ids(p, chain.inner, &inner);
    return outer + inner;
}

/* ---- place.c: what entries need to know of frames ---- */

/* A distinct symbol, as entries tell them apart. */
struct profile_name {
    uint32_t dso;        /* text id */
    uint64_t start, end; /* in the image */
    struct resolve_symbol symbol;
    const char *text; /* as shown */
    uint32_t text_len;
};

/* What entries need to know of a frame. */
struct profile_place {
    uint32_t dso;  /* text id */
    uint32_t name; /* index of a profile_name; PROFILE_NONE: told apart by profile_own_address */
};

/* The same where a column wants it. */
struct profile_source {
    uint32_t line, file; /* text ids */
};

/* What the instruction of a frame accesses, where a column wants it. */
struct profile_type {
    uint32_t name, field; /* text ids; the field's only of a `known` one */
    uint64_t offset;
    bool known;
};

/* What a name rests on, where a column shows it. */
struct profile_basis {
    uint32_t text;    /* text id: which list of which file */
    uint8_t identity; /* enum symbol_identity */
};

/* What stands behind an entry: the sample that was the first to make it decides where equal keys have
 * different looks. */
struct profile_row {
    uint64_t first_ns;
    uint32_t first_leaf;
    uint32_t klass, frame; /* of any of its samples: all have the same keys */
    uint32_t self;         /* in profile_table.self */
    uint16_t depth;        /* of the longest callchain that it has */
    uint8_t cpumode;       /* shown as the level: [k] */
    bool own;              /* the first sample lies there, else it passes */
};

/* A node of a tree of callchains, for graphs (forest.c). Nodes come as one walks the tree: behind a node
 * those below it, up to `end`. */
struct profile_chain_node {
    uint32_t parent; /* PROFILE_NONE: of a root, whose frame is the kind */
    uint32_t frame;
    uint32_t end;
    uint32_t row : 31;      /* in graph_rows of its event's table; PROFILE_NO_ROW: it has no graph */
    uint32_t outermost : 1; /* no node above has the same row */
    uint32_t samples;       /* of the leaves at and below the node */
    uint64_t period;
};
enum { PROFILE_NO_ROW = INT32_MAX };

/* The last kind that had a row at a spot. */
struct profile_spot {
    uint32_t kind;
    uint32_t row : 31;
    uint32_t open : 1; /* while walking: a node of the row is on the path */
};

/* A leaf whose own row has a graph. */
struct profile_tree_leaf {
    uint32_t leaf, row; /* row: in graph_rows of its event's table */
};

/* Classes with equal keys. */
struct profile_kind {
    uint32_t table, klass;
    uint32_t first_row, row_count; /* in that table */
    uint32_t first_leaf, leaf_count;
};

struct profile_table {
    struct profile_event event;
    VEC(uint32_t) order;                 /* of the rows, as they are printed */
    double graph_limit;                  /* rows with less have no graph; INFINITY: none has */
    VEC(struct profile_row) rows;        /* profile_entry.key is an index here */
    VEC(struct profile_through) through; /* by row, with children */
    VEC(uint64_t) latency;               /* likewise, if it is asked for */
    VEC(struct profile_sums) self;       /* [0]: of those that have no samples of their own */
    bool member;                         /* of a group, and in its leader's table */
    uint32_t members;                    /* 1, or of a leader with --group: how many */
    VEC(struct profile_sums) totals;     /* [members] */
    /* Of a group: members by row. */
    VEC(struct profile_sums) joined_self;
    VEC(struct profile_through) joined_children;
    VEC(uint64_t) joined_latency;        /* if it is asked for */
    VEC(struct profile_entry) levels;    /* --hierarchy: the entries */
    VEC(struct profile_sums) level_sums; /* members by level */
    uint32_t root_count;
    /* The rows with graphs. The nodes and the leaves of the i-th are node_list[node_at[i] .. node_at[i + 1]),
     * and so on. */
    VEC(uint32_t) graph_rows, node_at, node_list, leaf_at, leaf_list;
};

struct profile {
    struct profile_plan plan;
    struct profile_builder b;
    VEC(struct profile_place) places;     /* by frame */
    VEC(struct profile_source) sources;   /* by frame, where a column wants them */
    VEC(struct profile_type) types;       /* likewise */
    VEC(uint8_t) grades;                  /* enum grade, by frame */
    VEC(struct profile_basis) bases_of;   /* by frame, where a column wants them */
    VEC(uint32_t) frame_lines;            /* by frame: text ids of source lines; see frame_line.c */
    VEC(uint32_t) frame_groups;           /* by frame: the first one that is the same in graphs; or empty */
    VEC(uint64_t) mapping_sizes;          /* by frame; see size.c */
    VEC(struct profile_name) list;        /* of names */
    VEC(uint32_t) name_ranks, text_ranks; /* in order of texts; equal ones have equal ranks */
    VEC(uint32_t) name_places;            /* order of names by address: all are different */
    VEC(uint32_t) spots;                  /* by frame; see profile_spot_in */
    uint32_t spot_count;
    VEC(uint32_t) kinds; /* by class */
    VEC(struct profile_kind) kind_list;
    /* With graphs: */
    VEC(uint32_t) leaf_was;   /* until rows are made: leaves by kind, then by chain */
    VEC(uint32_t) part_ranks; /* of profile_parts_rank; until then, too */
    VEC(struct profile_chain_node) nodes;
    VEC(uint32_t) leaf_nodes; /* where leaves' chains end in the trees; PROFILE_NONE: in none */
    VEC(struct profile_tree_leaf) tree_leaves;              /* until they are listed */
    VEC(struct profile_table) tables;                       /* by event */
    VEC(uint32_t) shown;                                    /* of tables */
    const struct profile_column *keys[PROFILE_COLUMNS_MAX]; /* those of the columns that are keys */
    uint32_t key_count;
    uint32_t no_dso; /* text id of "[unknown]", which comes last; PROFILE_NONE: not there */
};

/* Of the sample that made a row; see model_thread_at. */
static inline uint32_t profile_row_thread(const struct profile *p, const struct profile_row *row) {
    return p->b.leaves.items[row->first_leaf].thread;
}

/* The value of a key that does not follow from the sample's own place. */
static inline uint64_t profile_class_value(const struct profile *p, uint32_t klass,
                                           const struct profile_column *c) {
    return p->b.class_values.items[(size_t)klass * p->plan.class_count + p->plan.slot_of[c->number]];
}
static inline uint32_t profile_class_event(const struct profile *p, uint32_t klass) {
    return (uint32_t)p->b.class_values.items[(size_t)klass * p->plan.class_count];
}

/* Whether a column is asked for that is a key. */
bool profile_has_key(const struct profile *p, enum profile_column_id id);

/* The frame that a key is about. */
static inline uint32_t profile_key_frame(const struct profile *p, const struct profile_column *c,
                                         const struct profile_row *row) {
    return c->key->kind == PROFILE_KEY_ADDRESS ? (uint32_t)profile_class_value(p, row->klass, c) : row->frame;
}
/* By what a key tells rows apart; returns how many words. */
enum { PROFILE_KEY_WORDS = 2 };
static inline unsigned profile_key_words(const struct profile *p, const struct profile_column *c,
                                         const struct profile_row *row, uint64_t *words) {
    const struct profile_key *key = c->key;
    uint64_t value = key->kind == PROFILE_KEY_PLACE ? 0 : profile_class_value(p, row->klass, c);
    if (key->words)
        return key->words(p, row, key->kind == PROFILE_KEY_ADDRESS ? (uint32_t)value : row->frame, value,
                          words);
    words[0] = key->kind == PROFILE_KEY_TEXTS ? value >> 32 : value;
    return 1;
}
/* The first of them. */
static inline uint64_t profile_key_word(const struct profile *p, const struct profile_column *c,
                                        const struct profile_row *row) {
    uint64_t words[PROFILE_KEY_WORDS];
    profile_key_words(p, c, row, words);
    return words[0];
}
/* By what a place without a name is told apart: samples' own places by where in their image they are. */
static inline uint64_t profile_own_address(const struct profile *p, const struct resolve_frame *f) {
    bool place = f->kind == RESOLVE_PLACE || f->kind == RESOLVE_OFFSET ||
                 (f->kind == RESOLVE_ADDRESS && p->plan.addressed);
    return place ? f->offset : f->address;
}
/* Has a frame brought into the cache, for a question soon to come: it may lie in two lines of it. */
static inline void profile_frame_prefetch(const struct profile *p, uint32_t frame) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    prefetch(f);
    prefetch(&f->kind);
}
static inline const struct profile_name *profile_name_of(const struct profile *p, uint32_t frame) {
    uint32_t name = p->places.items[frame].name;
    return name == PROFILE_NONE ? NULL : &p->list.items[name];
}

/* What is known of a frame: its spot and its level (cpumode). */
enum { PROFILE_SPOT_SHIFT = 3, PROFILE_SPOTS_MAX = 1 << (32 - PROFILE_SPOT_SHIFT) };
static inline uint32_t profile_spot_word(uint32_t spot, const struct resolve_frame *f) {
    return spot << PROFILE_SPOT_SHIFT | (f->cpumode & PERFDATA_MISC_CPUMODE_MASK);
}
static inline uint32_t profile_spot_in(uint32_t word) {
    return word >> PROFILE_SPOT_SHIFT;
}
static inline unsigned profile_mode_in(uint32_t word) {
    return word & PERFDATA_MISC_CPUMODE_MASK;
}
static inline uint32_t profile_spot_of(const struct profile *p, uint32_t frame) {
    return profile_spot_in(p->spots.items[frame]);
}

/* Fills in p->places, p->grades and the ranks of texts and names. False: memory. */
bool profile_make_places(struct profile *p);
/* Fills in p->kinds. False: memory. */
bool profile_make_kinds(struct profile *p);
/* Fills in p->spots. False: memory. */
bool profile_make_spots(struct profile *p);

/* ---- walk.c ---- */

/* Fills in p->part_ranks. False: memory. */
bool profile_rank_parts(struct profile *p);
/* Then, with p->kinds: puts leaves into the order of their kinds and chains, and notes what they were in
 * p->leaf_was. False: memory. */
bool profile_order_leaves(struct profile *p);
/* Then: from leaves to rows with their sums, and the events' grades. p->leaf_was is given back, and without
 * graphs p->part_ranks. False: memory. */
bool profile_walk(struct profile *p);

/* ---- forest.c ---- */

/* Makes the trees for the entries with has_graph. False: memory. */
bool profile_forest(struct profile *p);

/* ---- freeze.c ---- */

/* Whether a row, which has no levels below, has a call graph. */
static inline bool profile_has_graph(const struct profile *p, const struct profile_table *t, uint32_t row) {
    const struct profile_row *r = &t->rows.items[row];
    uint64_t period = t->members > 1        ? t->joined_self.items[(size_t)row * t->members].period
                      : p->plan.o->children ? t->through.items[row].period
                                            : t->self.items[r->self].period;
    if (t->members > 1 && p->plan.o->children)
        period = t->joined_children.items[(size_t)row * t->members].period;
    return (double)period >= t->graph_limit;
}

/* Everything behind the second pass. False: memory. */
bool profile_freeze(struct profile *p, struct err *err);

/* ---- group.c ---- */

/* Brings what groups stand side by side into their leaders' tables; settles members and totals of all tables.
 * False: memory. */
bool profile_group(struct profile *p);

/* ---- hierarchy.c ---- */

/* Makes t->levels of t->order. False: memory. */
bool profile_hierarchy(struct profile *p, struct profile_table *t);

/* perf takes that of the machine that it runs on. */
enum { PROFILE_CACHELINE_BYTES = 64 };

/* ---- source.c ---- */

/* Appends the source line at an offset of an image, or how far into which function it is. */
void profile_put_source(const struct profile *p, uint32_t image, uint64_t offset, uint32_t name,
                        struct out *o);

/* Appends the type of what the instruction at frame `f` accesses to p->types. False: memory. */
bool profile_find_type(struct profile *p, const struct resolve_frame *f);
/* Appends the source line and file of frame `f`, whose name is known, to p->sources. False: memory. */
bool profile_find_source(struct profile *p, const struct resolve_frame *f, const struct profile_place *place);

/* ---- grade.c ---- */

/* Fills in p->grades and, for columns that show them, p->bases_of. False: memory. */
bool profile_grade_frames(struct profile *p);
enum grade profile_grade_of(const struct profile *p, uint32_t frame);
/* Callchains of an event that have so many frames are cut. */
uint32_t profile_longest_chain(const struct profile *p, uint32_t event);
/* An exact frame is no more than inferred in these samples, whatever it is elsewhere. */
static inline void profile_lower_grade(uint64_t *grades, uint64_t samples) {
    grades[GRADE_EXACT] -= samples;
    grades[GRADE_INFERRED] += samples;
}
/* That every sample read is in the profile or was left out, and every one in it is at the end of one
 * callchain. */
bool profile_conserves(const struct profile *p, struct err *err);

/* ---- sort.c ---- */

/* By which member of a group's table is sorted first (--group-sort-idx). */
uint32_t profile_sorting_member(const struct profile *p, const struct profile_table *t);

/* The order of two rows by one key. */
int profile_key_compare(const struct profile *p, const struct profile_column *c, const struct profile_row *x,
                        const struct profile_row *y);

/* Makes t->order: all rows, in the order of printing. False: memory. */
bool profile_sort(const struct profile *p, struct profile_table *t);
/* The order of two images: by path, then by what tells files of one path apart; MODEL_NONE comes last. */
int profile_image_compare(const struct profile *p, uint32_t x, uint32_t y);

/* ---- column_keys.c: functions that several rows of the tables share; as struct profile_key says ---- */

unsigned profile_words_dso(const struct profile *p, const struct profile_row *row, uint32_t frame,
                           uint64_t value, uint64_t *words);
unsigned profile_words_symbol(const struct profile *p, const struct profile_row *row, uint32_t frame,
                              uint64_t value, uint64_t *words);
unsigned profile_words_line(const struct profile *p, const struct profile_row *row, uint32_t frame,
                            uint64_t value, uint64_t *words);
uint64_t profile_rank_dso_backwards(const struct profile *p, const struct profile_row *row,
                                    const uint64_t *words);
/* The first word is a text. */
uint64_t profile_rank_text(const struct profile *p, const struct profile_row *row, const uint64_t *words);
/* As signed numbers: the kernel's addresses come first. */
uint64_t profile_rank_signed(const struct profile *p, const struct profile_row *row, const uint64_t *words);
/* The first word is a text. */
void profile_put_text(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                      const struct profile_column *c, struct out *o);
/* "[k] main", with PROFILE_KEY_ADDRESS of that place. */
void profile_put_symbol(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                        const struct profile_column *c, struct out *o);
/* With the offset in the function. */
void profile_put_symbol_offset(const struct profile *p, const struct profile_table *t,
                               const struct profile_row *row, const struct profile_column *c, struct out *o);
void profile_put_page_size(const struct profile *p, const struct profile_table *t,
                           const struct profile_row *row, const struct profile_column *c, struct out *o);

static inline uint64_t profile_dso_rank(const struct profile *p, uint32_t dso) {
    return dso == p->no_dso ? p->b.texts.entries.count : p->text_ranks.items[dso];
}
/* The comm that the thread of a row had last, as perf knows it at the end; NULL when none is known. */
const char *profile_last_comm(const struct profile *p, const struct profile_row *row);

/* ---- frame_line.c ---- */

/* Fills in p->frame_lines and p->frame_groups if graphs ask for them. False: memory. */
bool profile_frame_lines(struct profile *p);
/* Appends what stands behind a frame's name. */
void profile_put_frame_line(const struct profile *p, uint32_t frame, struct out *o);

/* ---- size.c ---- */

/* Fills in p->mapping_sizes if a column asks for them. False: memory. */
bool profile_find_sizes(struct profile *p);
/* ---- text.c ---- */

/* "%#.*llx": what perf shows where there is no name. Zero has no 0x. */
void profile_put_address(struct out *o, uint64_t address, unsigned digits);
void profile_put_text_id(const struct profile *p, uint64_t id, struct out *o);
/* The room for an address, which perf gives the object's column as well where something has no name. */
enum { PROFILE_NAMELESS_WIDTH = 16 };
/* "[k] " */
void profile_put_level(struct out *o, unsigned cpumode);
/* ---- graph.c ---- */

/* Lists what graphs are made of, for the entries with has_graph. False: memory. */
bool profile_graph_prepare(struct profile *p);

/* ---- order.c ---- */

/* Numbers 0 ... n-1 in order of texts: ranks[i] of texts[i], NULLs last in order of `numbers`. False: memory.
 */
bool profile_rank_texts(const char *const *texts, uint32_t n, uint32_t *ranks);

#endif
