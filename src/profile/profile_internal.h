/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of profile/ share.
 *
 *   collect/   samples -> distinct (group key, frame, callchain), with their sums (builder.h)
 *   table/     those -> rows: names, key values, merged, sorted
 *   graph/     the callchains of one row -> tree
 *   columns/   what each key and measure shows of a row (column.h)
 *
 * The tree that the callchains make is found at the end, by one walk along the stack samples in the order of
 * their chains. Group keys that all columns show alike are one *kind*, frames that all columns show alike
 * have one *frame key*: a row is (kind, frame key).
 *
 *          kind "sh"                  kind "cc1"
 *             |                           |
 *            main                        main            node: total of all samples that pass
 *           /    \                        |
 *      do_fork   read                  cpp_lex           leaf: a sample's own frame, where its chain ends
 */
#ifndef SONDE_PROFILE_INTERNAL_H
#define SONDE_PROFILE_INTERNAL_H

#include "base/threads/prefetch.h"
#include "profile/collect/builder.h"

static inline int profile_by_number(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}
/* Returns how many bits hold the numbers up to `most`. */
static inline unsigned profile_bits_of(uint64_t most) {
    return 64 - (unsigned)__builtin_clzll(most | 1);
}

/* ---- frame_keys.c: what rows need to know of frames ---- */

/* A distinct symbol, as rows tell them apart. */
struct profile_name {
    uint32_t dso;        /* text id */
    uint64_t start, end; /* in the image */
    struct resolve_symbol symbol;
    const char *text; /* as shown */
    uint32_t text_len;
    bool inlined; /* the text ends in PROFILE_INLINED_SUFFIX */
};
#define PROFILE_INLINED_SUFFIX " (inlined)"

/* What rows need to know of a frame. */
struct profile_place {
    uint32_t dso;  /* text id */
    uint32_t name; /* index of a profile_name; PROFILE_NONE: told apart by profile_own_address */
};

/* A frame's source line, where a column shows it. */
struct profile_source {
    uint32_t line, file; /* text ids */
};

/* The data that a frame's instruction accesses, where a column shows it. */
struct profile_type {
    uint32_t name, field; /* text ids; field: only if `known` */
    uint64_t offset;
    bool known;
};

/* Where a frame's name is from, where a column shows it. */
struct profile_basis {
    uint32_t text;    /* text id: which list of which file */
    uint8_t identity; /* enum symbol_identity */
};

/* A row of a table. Its earliest sample decides what is shown where equal keys look different. */
struct profile_row {
    uint64_t first_ns;
    uint32_t first_stack;
    uint32_t group_key, frame; /* of its first sample: all have the same keys */
    uint32_t self;             /* in profile_table.self */
    uint16_t depth;            /* frames of its longest callchain */
    uint8_t cpumode;           /* shown as the level: [k] */
    bool own;                  /* the row is the first sample's own, else that only passes through */
};

/* A node of a tree of callchains, for graphs (forest.c). Nodes are in pre-order: those below a node follow
 * it, up to `end`. */
struct profile_chain_node {
    uint32_t parent; /* PROFILE_NONE: a root, whose `frame` is the kind */
    uint32_t frame;
    uint32_t end;
    uint32_t row : 31; /* index in graph_rows of its event's table; PROFILE_NO_ROW: its row has no graph */
    uint32_t outermost : 1; /* no node above has the same row */
    uint32_t samples;       /* of the stack samples at and below the node */
    uint32_t next;          /* the next node of its row; PROFILE_NONE: none */
    uint64_t period;
};
enum { PROFILE_NO_ROW = INT32_MAX };

/* The last kind with a row at a frame key, and the row. */
struct profile_frame_key {
    uint32_t kind;
    uint32_t row : 31;
    uint32_t open : 1; /* while walking: a node of the row is on the path */
};

/* A stack sample whose own row has a graph. */
struct profile_tree_leaf {
    uint32_t stack, next; /* next: the row's next one in tree_leaves; PROFILE_NONE: none */
};

/* A row with a graph: its nodes, if chains make rows, and its own stack samples, in tree_leaves. Both are
 * linked in their order; PROFILE_NONE: none. */
struct profile_graph_row {
    uint32_t row;
    uint32_t first_node, last_node;
    uint32_t first_leaf, last_leaf;
};

/* Group keys of one event that all columns show alike. */
struct profile_kind {
    uint32_t table, group_key;
    uint32_t first_row, row_count; /* in that table */
    uint32_t first_stack, stack_count;
};

struct profile_table {
    struct profile_event event;
    VEC(uint32_t) order;                 /* the rows in the order of printing */
    double graph_limit;                  /* rows with a smaller period have no graph; INFINITY: none has */
    VEC(struct profile_row) rows;        /* profile_entry.key is an index here */
    VEC(struct profile_through) through; /* by row, with children */
    VEC(uint64_t) latency;               /* likewise, if it is needed */
    VEC(struct profile_sums) self;       /* [0]: of rows without samples of their own */
    bool member;                         /* it is in the table of its group's leader */
    uint32_t members;                    /* 1, or with --group the number in a leader's group */
    VEC(struct profile_sums) totals;     /* [members] */
    /* Of a group: its members' sums, by row. */
    VEC(struct profile_sums) joined_self;
    VEC(struct profile_through) joined_children;
    VEC(uint64_t) joined_latency;        /* if it is needed */
    VEC(struct profile_entry) levels;    /* --hierarchy: the entries */
    VEC(struct profile_sums) level_sums; /* members by level */
    uint32_t root_count;
    VEC(struct profile_graph_row) graph_rows;
};

struct profile {
    struct profile_plan plan;
    struct profile_builder b;
    VEC(struct profile_place) places;   /* by frame */
    VEC(struct profile_source) sources; /* by frame, where a column shows them */
    VEC(struct profile_type) types;     /* likewise */
    VEC(uint8_t) grades;                /* enum grade, by frame */
    VEC(struct profile_basis) bases_of; /* by frame, where a column shows them */
    VEC(uint32_t) frame_lines;          /* by frame: text ids of source lines; see frame_line.c */
    VEC(uint32_t) frame_groups;         /* by frame: the first frame that graphs show as the same; or empty */
    VEC(uint64_t) mapping_sizes;        /* by frame; see mapping_size.c */
    VEC(struct profile_name) list;      /* the names */
    VEC(uint32_t) name_ranks, text_ranks; /* in order of texts; equal ones have equal ranks */
    VEC(uint32_t) name_places;            /* by name: the rank by address; all are different */
    VEC(uint32_t) frame_keys;             /* by frame; see profile_frame_key_in */
    uint32_t frame_key_count;
    VEC(uint32_t) kinds; /* by group key */
    VEC(struct profile_kind) kind_list;
    /* With graphs: */
    VEC(uint32_t) stack_rows;    /* with options.slices, by stack sample: its own row in its event's table */
    VEC(uint32_t) stack_was;     /* until rows are made: stack samples' numbers before they were sorted */
    VEC(uint32_t) segment_ranks; /* of profile_segments_rank; as long, or until trees are made */
    VEC(struct profile_chain_node) nodes;
    VEC(uint32_t) leaf_nodes; /* by stack sample: the node where its chain ends; PROFILE_NONE: in no tree */
    VEC(struct profile_tree_leaf) tree_leaves;
    VEC(struct profile_table) tables;                       /* by event */
    VEC(uint32_t) shown;                                    /* indices of the tables shown */
    const struct profile_column *keys[PROFILE_COLUMNS_MAX]; /* the columns that are keys */
    uint32_t key_count;
    uint32_t no_dso; /* text id of "[unknown]", which comes last; PROFILE_NONE: not there */
};

/* Returns the thread of a row's first sample; see model_thread_at. */
static inline uint32_t profile_row_thread(const struct profile *p, const struct profile_row *row) {
    return p->b.stacks.items[row->first_stack].thread;
}

/* Returns the value of a key that does not follow from the sample's own place. */
static inline uint64_t profile_group_key_value(const struct profile *p, uint32_t group_key,
                                               const struct profile_column *c) {
    return p->b.group_key_values
        .items[(size_t)group_key * p->plan.group_key_count + p->plan.slot_of[c->number]];
}
static inline uint32_t profile_group_key_event(const struct profile *p, uint32_t group_key) {
    return (uint32_t)p->b.group_key_values.items[(size_t)group_key * p->plan.group_key_count];
}

/* Whether the columns have that key. */
bool profile_has_key(const struct profile *p, enum profile_column_id id);

/* What a row has in a column: what the functions of a key get (struct profile_key). */
struct profile_cell {
    const struct profile_row *row;
    const struct profile_column *c;
    const struct profile_sums *self; /* of the row; only for `put` */
    uint64_t value;                  /* 0 with PROFILE_KEY_PLACE */
    uint32_t frame;                  /* the place that the key is about */
};
static inline struct profile_cell profile_cell_of(const struct profile *p, const struct profile_column *c,
                                                  const struct profile_row *row) {
    unsigned kind = c->key->kind;
    uint64_t value = kind == PROFILE_KEY_PLACE ? 0 : profile_group_key_value(p, row->group_key, c);
    return (struct profile_cell){.row = row,
                                 .c = c,
                                 .value = value,
                                 .frame = kind == PROFILE_KEY_ADDRESS ? (uint32_t)value : row->frame};
}
/* Fills in the words by which a key tells rows apart; returns how many. */
enum { PROFILE_KEY_WORDS = 2 };
static inline unsigned profile_cell_words(const struct profile *p, const struct profile_cell *x,
                                          uint64_t *words) {
    const struct profile_key *key = x->c->key;
    if (key->words)
        return key->words(p, x, words);
    words[0] = key->kind == PROFILE_KEY_TEXTS ? x->value >> 32 : x->value;
    return 1;
}
/* Returns the first of these words. */
static inline uint64_t profile_cell_word(const struct profile *p, const struct profile_cell *x) {
    uint64_t words[PROFILE_KEY_WORDS];
    profile_cell_words(p, x, words);
    return words[0];
}
static inline unsigned profile_key_words(const struct profile *p, const struct profile_column *c,
                                         const struct profile_row *row, uint64_t *words) {
    struct profile_cell x = profile_cell_of(p, c, row);
    return profile_cell_words(p, &x, words);
}

/* Define value_NAME and words_NAME of a key (struct profile_key), with one word. */
#define PROFILE_VALUE(name, expression)                                                      \
    static uint64_t value_##name(struct profile_builder *b, const struct profile_taken *x) { \
        (void)b, (void)x;                                                                    \
        return expression;                                                                   \
    }
#define PROFILE_WORD(name, expression)                                                                     \
    static unsigned words_##name(const struct profile *p, const struct profile_cell *x, uint64_t *words) { \
        (void)p, (void)x;                                                                                  \
        words[0] = expression;                                                                             \
        return 1;                                                                                          \
    }

/* Returns what tells a place without a name apart: the address or, of samples' own places, the offset in the
 * image. */
static inline uint64_t profile_own_address(const struct profile *p, const struct resolve_frame *f) {
    bool place = f->kind == RESOLVE_PLACE || f->kind == RESOLVE_OFFSET ||
                 (f->kind == RESOLVE_ADDRESS && p->plan.addressed);
    return place ? f->offset : f->address;
}
/* Prefetches a frame that is soon needed: it may lie in two cache lines. */
static inline void profile_frame_prefetch(const struct profile *p, uint32_t frame) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    prefetch(f);
    prefetch(&f->kind);
}
static inline const struct profile_name *profile_name_of(const struct profile *p, uint32_t frame) {
    uint32_t name = p->places.items[frame].name;
    return name == PROFILE_NONE ? NULL : &p->list.items[name];
}

/* What p->frame_keys has of a frame: its frame key and its level (cpumode). */
enum { PROFILE_FRAME_KEY_SHIFT = 3, PROFILE_FRAME_KEYS_MAX = 1 << (32 - PROFILE_FRAME_KEY_SHIFT) };
static inline uint32_t profile_frame_key_word(uint32_t frame_key, const struct resolve_frame *f) {
    return frame_key << PROFILE_FRAME_KEY_SHIFT | (f->cpumode & PERFDATA_MISC_CPUMODE_MASK);
}
static inline uint32_t profile_frame_key_in(uint32_t word) {
    return word >> PROFILE_FRAME_KEY_SHIFT;
}
static inline unsigned profile_mode_in(uint32_t word) {
    return word & PERFDATA_MISC_CPUMODE_MASK;
}
static inline uint32_t profile_frame_key_of(const struct profile *p, uint32_t frame) {
    return profile_frame_key_in(p->frame_keys.items[frame]);
}

/* Fills in p->places, p->grades and the ranks of texts and names. False: out of memory. */
bool profile_make_places(struct profile *p);
/* Fills in p->kinds. False: out of memory. */
bool profile_make_kinds(struct profile *p);
/* Fills in p->frame_keys. False: out of memory. */
bool profile_make_frame_keys(struct profile *p);

/* ---- walk.c ---- */

/* With p->kinds: fills in p->segment_ranks, sorts stack samples by kind and chain, and notes their old
 * numbers in p->stack_was. False: out of memory. */
bool profile_order_stacks(struct profile *p);
/* Then: makes the rows with their sums, and the events' grades, from stack samples. Frees p->stack_was and,
 * without graphs, p->segment_ranks. False: out of memory. */
bool profile_walk(struct profile *p);

/* ---- forest.c ---- */

/* Makes the trees for the rows with graphs. False: out of memory. */
bool profile_forest(struct profile *p);
/* Returns the index in graph_rows of the first row that is `row` or after it. */
uint32_t profile_graph_row(const struct profile_table *t, uint32_t row);

/* ---- freeze_tables.c ---- */

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

/* Does everything after the second pass. False: out of memory. */
bool profile_freeze(struct profile *p, struct err *err);

/* ---- group.c ---- */

/* Moves the rows of group members into their leaders' tables, side by side; sets members and totals of all
 * tables. False: out of memory. */
bool profile_group(struct profile *p);

/* ---- hierarchy.c ---- */

/* Makes t->levels from t->order. False: out of memory. */
bool profile_hierarchy(struct profile *p, struct profile_table *t);

/* perf uses the size of the machine that it runs on. */
enum { PROFILE_CACHELINE_BYTES = 64 };

/* ---- source.c ---- */

/* Finds the source line of a frame: of a caller the call's. False: none is known. */
bool profile_frame_source(const struct profile *p, uint32_t frame, struct object_line *out);

/* Appends the source line at an offset of an image or, if unknown, the function and the offset in it. */
void profile_put_source(const struct profile *p, uint32_t image, uint64_t offset, uint32_t name,
                        struct out *o);

/* Appends the type of what the instruction at frame `f` accesses to p->types. False: out of memory. */
bool profile_find_type(struct profile *p, const struct resolve_frame *f);
/* Appends the source line and file of a frame, whose name is known, to p->sources. False: out of memory. */
bool profile_find_source(struct profile *p, uint32_t frame, const struct profile_place *place);

/* ---- frame_grades.c ---- */

/* Fills in p->grades and, for columns that show them, p->bases_of. False: out of memory. */
bool profile_grade_frames(struct profile *p);
static inline enum grade profile_grade_of(const struct profile *p, uint32_t frame) {
    return (enum grade)p->grades.items[frame];
}
/* Returns from how many frames on a callchain of an event was cut. */
uint32_t profile_longest_chain(const struct profile *p, uint32_t event);
/* Counts a frame as inferred, no longer as exact, in these samples. */
static inline void profile_lower_grade(uint64_t *grades, uint64_t samples) {
    grades[GRADE_EXACT] -= samples;
    grades[GRADE_INFERRED] += samples;
}
/* Checks that every sample read is either in one stack sample or counted as left out. */
bool profile_conserves(const struct profile *p, struct err *err);

/* ---- sort.c ---- */

/* Returns the member of a group by which its table is sorted first (--group-sort-idx). */
uint32_t profile_sorting_member(const struct profile *p, const struct profile_table *t);

/* Compares two rows by one key. */
int profile_key_compare(const struct profile *p, const struct profile_column *c, const struct profile_row *x,
                        const struct profile_row *y);

/* Makes t->order: all rows, in the order of printing. False: out of memory. */
bool profile_sort(const struct profile *p, struct profile_table *t);
/* Compares two images: by path, then by what tells files of one path apart; MODEL_NONE comes last. */
int profile_image_compare(const struct profile *p, uint32_t x, uint32_t y);

/* ---- column_keys.c: functions that several keys share; see struct profile_key ---- */

unsigned profile_words_dso(const struct profile *p, const struct profile_cell *x, uint64_t *words);
unsigned profile_words_symbol(const struct profile *p, const struct profile_cell *x, uint64_t *words);
unsigned profile_words_line(const struct profile *p, const struct profile_cell *x, uint64_t *words);
uint64_t profile_rank_dso_backwards(const struct profile *p, const uint64_t *words);
/* Returns the rank of a text, the first word. */
uint64_t profile_rank_text(const struct profile *p, const uint64_t *words);
/* Ranks as signed numbers: the kernel's addresses come first. */
uint64_t profile_rank_signed(const struct profile *p, const uint64_t *words);
/* Appends a text, the first word. */
void profile_put_text(const struct profile *p, const struct profile_cell *x, struct out *o);
/* Appends "[k] main"; with PROFILE_KEY_ADDRESS of the value's place. */
void profile_put_symbol(const struct profile *p, const struct profile_cell *x, struct out *o);
/* The same with the offset in the function. */
void profile_put_symbol_offset(const struct profile *p, const struct profile_cell *x, struct out *o);
void profile_put_page_size(const struct profile *p, const struct profile_cell *x, struct out *o);

static inline uint64_t profile_dso_rank(const struct profile *p, uint32_t dso) {
    return dso == p->no_dso ? p->b.texts.entries.count : p->text_ranks.items[dso];
}
/* Returns the last comm of a row's thread, as perf knows it at the end; NULL: none is known. */
const char *profile_last_comm(const struct profile *p, const struct profile_row *row);

/* ---- frame_line.c ---- */

/* Fills in p->frame_lines and p->frame_groups if graphs need them. False: out of memory. */
bool profile_frame_lines(struct profile *p);
/* Appends what graphs show of a frame that has a name: that, and its line or address. */
void profile_put_frame_line(const struct profile *p, uint32_t frame, struct out *o);

/* ---- mapping_size.c ---- */

/* Appends the size of the mapping of frame `f` to p->mapping_sizes. False: out of memory. */
bool profile_find_size(struct profile *p, const struct resolve_frame *f);

/* ---- text.c ---- */

/* Appends "%#.*llx", which perf shows where there is no name. Zero has no 0x. */
void profile_put_address(struct out *o, uint64_t address, unsigned digits);
void profile_put_text_id(const struct profile *p, uint64_t id, struct out *o);
/* The width of an address: perf makes the object's column as wide, too, if something has no name. */
enum { PROFILE_NAMELESS_WIDTH = 16 };
/* Appends "[k] ". */
void profile_put_level(struct out *o, unsigned cpumode);
/* Appends the name that stacks give a frame; without one it is that of its image `dso`, in brackets. */
void profile_put_stack_name(const struct profile *p, uint32_t id, const char *dso, struct out *o);
/* ---- text_ranks.c ---- */

/* Numbers texts in their order, from 0: ranks[i] of texts[i]; equal ones have equal ranks. False: out of
 * memory. */
bool profile_rank_texts(const char *const *texts, uint32_t n, uint32_t *ranks);

#endif
