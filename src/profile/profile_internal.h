/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of profile/ share.
 *
 *   builder  samples -> distinct (class, place) and (class, callchain), with their sums     build.c, chain.c
 *   freeze   those -> entries: key values, merged, sorted                                   freeze.c, keys.c
 *   graph    the callchains of one entry -> tree                                            graph.c
 *
 * A *class* is all that a sample's entry depends on besides where it lies: its event, comm, cpu and so on, as
 * far as the columns ask. A *base* is (class, place of the sample); without callchains it is all there is.
 * Callchains are paths in one tree per class, outermost frame first; a *leaf* is (base, node where the
 * sample's chain ends).
 *
 *          class "sh"                 class "cc1"
 *             |                           |
 *            main                        main            node: total of all samples that pass
 *           /    \                        |
 *      do_fork   read                  cpp_lex           leaf: (base of the sample's own place, node)
 */
#ifndef SONDE_PROFILE_INTERNAL_H
#define SONDE_PROFILE_INTERNAL_H

#include "base/hash.h"
#include "base/idtable.h"
#include "base/strpool.h"
#include "format/perfdata/readings.h"
#include "profile/profile.h"
#include "resolve/frames.h"
#include "resolve/grade.h"

enum { PROFILE_NONE = UINT32_MAX };

/* What stands for no parent (-p). */
#define PROFILE_OTHER "[other]"

/* ---- what to take from a sample ---- */

/* The values of a class: [0] is the event, then one per key column that is no place. */
enum { PROFILE_CLASS_MAX = 24 };

struct profile_plan {
    const struct profile_input *in;
    const struct profile_options *o;
    uint64_t want;                         /* PERFDATA_SAMPLE_* to decode */
    uint32_t class_count;                  /* values of a class */
    uint8_t slot_of[PROFILE_COLUMN_COUNT]; /* a key's index in the class; 0: none */
    uint8_t slots[PROFILE_CLASS_MAX];      /* enum profile_column_id of each value but the first */
    bool selects;                          /* profile_select is to be asked */
    bool by_thread;                        /* a class depends on event and thread alone */
    bool chains, extras /* cpumode sums and weights */;
    bool calls;                     /* some events' branch stacks are call stacks */
    bool searches, parents;         /* something, -p's functions are looked for in callchains */
    uint8_t place_kind, frame_kind; /* enum resolve_frame_kind of samples' places and of callchains */
};

struct profile_base {
    uint32_t klass, frame;
    uint64_t period, samples;
    uint64_t first_ns; /* time of the earliest sample; equal times: the first in the file */
    uint32_t thread;   /* of that sample; see model_thread_at */
};

struct profile_weights {
    uint64_t w[3];
};

/*
 * A process's chains come close to each other in time, and so its nodes do in the array: a node's first few
 * children are a list there, whose next element is likely in the cache, which a slot of a hash table of all
 * nodes would not be. Only what does not fit (the children of a class's root, mostly) is in such a table.
 */
struct profile_chain_node {
    uint32_t parent; /* PROFILE_NONE: of a class's root, whose frame is the class */
    uint32_t frame;
    uint32_t child, next; /* first of the listed children; next listed child of the same parent */
    uint32_t leaf;        /* first of those that end here, or PROFILE_NONE */
};

struct profile_leaf {
    uint32_t base, node;
    uint32_t next; /* of the same node */
    uint64_t period;
    uint64_t first_ns;
    uint32_t samples;
    uint32_t thread; /* of the earliest sample; see model_thread_at */
};

struct profile_part {
    uint32_t first, count; /* in part_frames, outermost first */
};

struct profile_tally {
    uint64_t read, filtered, dropped, period, samples, lost;
};

struct profile_thread_slot;
struct profile_chain_slot;

/* What select.c found out, by id. */
struct profile_verdicts {
    VEC(uint8_t) list;
};

struct profile_builder {
    const struct profile_plan *plan;
    struct resolve_places places;
    struct resolve_frames frames;
    struct strpool texts;

    VEC(uint64_t) class_values; /* plan->class_count each */
    uint32_t class_total;
    struct hash_map class_by_hash; /* of the values; equal hashes go on to hash + 1 */
    struct profile_thread_slot *threads;

    VEC(struct profile_base) bases;
    VEC(struct profile_weights) weights; /* by base, with plan->extras */
    struct idtable base_index;

    VEC(struct profile_chain_node) nodes;
    VEC(uint32_t) class_roots; /* by class: its root node */
    struct idtable node_index;
    VEC(struct profile_leaf) leaves;
    VEC(struct profile_part) parts;
    VEC(uint32_t) part_frames;
    VEC(uint32_t) run_frames; /* of the part at hand */
    struct hash_map part_by_hash, user_by_hash; /* see chain.c */
    VEC(uint32_t) path;                         /* scratch */

    struct profile_search *search; /* NULL: nothing is looked for in callchains */
    struct profile_verdicts place_verdicts, comm_verdicts;

    struct readings readings;
    VEC(struct profile_tally) tally; /* by event */
    bool failed;                     /* memory ran out */
};

/* ---- build.c ---- */

bool profile_plan_make(struct profile_plan *plan, const struct profile_input *in,
                       const struct profile_options *o, struct err *err);
bool profile_builder_init(struct profile_builder *b, const struct profile_plan *plan, struct err *err);
void profile_builder_fini(struct profile_builder *b);
/* The class of those values, plan->class_count of them. PROFILE_NONE: memory. */
uint32_t profile_class_add(struct profile_builder *b, const uint64_t *values);
/* One record of the stream. */
void profile_builder_add(struct profile_builder *b, const struct stream_record *r);
/* After the last record: gives back what only adding needs. */
void profile_builder_trim(struct profile_builder *b);

/* ---- keys.c: values of keys that do not follow from where the sample lies ---- */

/* A sample, or one branch of it. */
struct profile_taken {
    const struct perfdata_sample *s;
    uint32_t event, comm; /* comm: a text id */
    struct model_when when;
    unsigned cpumode;
    const struct perfdata_branch *branch; /* NULL: none */
    uint32_t from, to;                    /* frames, with a branch */
    uint32_t parent, path;                /* as search.c found; PROFILE_NONE: nothing, not searched */
};

/* Fills in a class's values. */
void profile_keys_take(struct profile_builder *b, const struct profile_taken *x, uint64_t *values);
/* A key's values are ids in builder.texts; are frames; follow from the sample's own place. */
bool profile_key_is_text(enum profile_column_id id);
bool profile_key_is_frame(enum profile_column_id id);
bool profile_key_is_place(enum profile_column_id id);
/* mem.c knows it. */
bool profile_key_is_mem(enum profile_column_id id);
/* The sample bits (PERFDATA_SAMPLE_*) that a key needs. */
uint64_t profile_key_wants(enum profile_column_id id);
/* The column under whose name a key's values are kept: several keys may be about one place. */
enum profile_column_id profile_key_slot(enum profile_column_id id);

/* ---- lbr.c ---- */

/* Of a sample whose branch stack is a call stack: the node of its user part, under `root` (PROFILE_NONE:
 * memory), and what is left of its callchain. False: it has no user part. */
bool profile_lbr_chain(struct profile_builder *b, uint32_t root, const struct perfdata_sample *s,
                       unsigned cpumode, struct model_when when, struct perfdata_u64s *kernel,
                       uint32_t *user);

/* ---- search.c ---- */

struct profile_search;

/* `parents`: look for -p's functions. NULL with *err: memory, a bad regular expression. */
struct profile_search *profile_search_new(const struct profile_options *o, bool parents, struct err *err);
void profile_search_free(struct profile_search *s); /* NULL is allowed */
/* Fills in x->parent and x->path; *frame, the place of the sample, becomes that of a function whose callees
 * are ignored. False: memory. */
bool profile_search_chain(struct profile_builder *b, struct profile_taken *x, uint32_t *frame);
/* The node of a found path in the tree of a class. PROFILE_NONE: memory. */
uint32_t profile_search_node(struct profile_builder *b, uint32_t klass, uint32_t path);

/* ---- select.c ---- */

/* Whether a sample of that comm (a text) that lies there counts. */
enum profile_verdict profile_select(struct profile_builder *b, uint32_t comm, uint32_t frame);

/* ---- chain.c ---- */

/* The sample's callchain as a node under the class's root: the root itself when there is none. PROFILE_NONE:
 * memory. */
uint32_t profile_chain_node(struct profile_builder *b, uint32_t klass, const struct perfdata_sample *s,
                            unsigned cpumode, struct model_when when);
/* Goes on from `node`, which stands for what called the outermost of `chain`. PROFILE_NONE: memory. */
uint32_t profile_chain_extend(struct profile_builder *b, uint32_t node, const struct perfdata_sample *s,
                              const struct perfdata_u64s *chain, unsigned cpumode, struct model_when when);
/* The root of a class's chains. PROFILE_NONE: memory. */
uint32_t profile_chain_root(struct profile_builder *b, uint32_t klass);
/* The node under `parent` for a frame, made if need be. PROFILE_NONE: memory. */
uint32_t profile_chain_step(struct profile_builder *b, uint32_t parent, uint32_t frame);

/* ---- freeze.c: from bases and nodes to entries ---- */

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
    uint32_t name; /* index of a profile_name; PROFILE_NONE: told apart by profile_shown_address */
    uint32_t source_line, source_file; /* text ids, where a column wants them */
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
    uint32_t klass, frame; /* of any of its samples: all have the same keys */
    uint32_t self;         /* in profile_table.self */
    uint32_t thread;       /* of the first sample; see model_thread_at */
    uint16_t depth;        /* of the longest callchain that it has */
    uint16_t turn;         /* of what the first sample made: 0 its own entry, then its callers' in order */
    uint8_t cpumode;       /* shown as the level: [k] */
};

/* The nodes of callchains, with what freezing found out about them. */
struct profile_node_sums {
    uint64_t period, samples; /* of the leaves at and below the node */
    uint32_t table;
    uint32_t entry;          /* in its event's table */
    uint32_t first_leaf;     /* the earliest */
    uint16_t depth, deepest; /* of the node: how many frames; the most of leaves at and below it */
    bool outermost;          /* no node above has the same entry */
};

/* Most frames belong to one class: its row then. */
struct profile_row_memo {
    uint32_t klass, row;
};

struct profile_table {
    struct profile_event event;
    VEC(struct profile_entry) entries;
    VEC(struct profile_row) rows;      /* profile_entry.key is an index here */
    VEC(struct profile_sums) self;     /* [0]: of those that have no samples of their own */
    VEC(struct profile_sums) children; /* by row */
    struct idtable by_key;
    bool member;                     /* of a group, and in its leader's table */
    uint32_t members;                /* 1, or of a leader with --group: how many */
    VEC(struct profile_sums) totals; /* [members] */
    /* Of a group: members by row. */
    VEC(struct profile_sums) joined_self, joined_children;
    VEC(struct profile_entry) levels;    /* --hierarchy: what stands in event.entries */
    VEC(struct profile_sums) level_sums; /* members by level */
    uint32_t root_count;
    /* With graphs: the nodes and the leaves of row i are node_list[node_at[i] .. node_at[i + 1]), and so on;
     * only of rows with a graph. */
    VEC(uint32_t) node_at, node_list, leaf_at, leaf_list;
};

struct profile {
    struct profile_plan plan;
    struct profile_builder b;
    VEC(struct profile_place) places;     /* by frame */
    VEC(uint8_t) grades;                  /* enum grade, by frame */
    VEC(struct profile_basis) bases_of;   /* by frame, where a column wants them */
    VEC(uint32_t) frame_lines;            /* by frame: text ids of source lines; see frame_line.c */
    VEC(uint32_t) frame_groups;           /* by frame: the first one that is the same in graphs; or empty */
    VEC(uint64_t) mapping_sizes;          /* by frame; see size.c */
    VEC(struct profile_name) list;        /* of names */
    VEC(uint32_t) name_ranks, text_ranks; /* in order of texts; equal ones have equal ranks */
    VEC(uint32_t) name_places;            /* order of names by address */
    VEC(struct profile_row_memo) memo;    /* by frame; only while freezing */
    VEC(struct profile_node_sums) node_sums;
    VEC(uint32_t) child_at, child_list; /* nodes below node i: child_list[child_at[i] .. child_at[i + 1]) */
    VEC(struct profile_table) tables;   /* by event */
    VEC(uint32_t) shown;                /* of tables */
    uint8_t keys[PROFILE_COLUMN_COUNT];
    uint32_t key_count;
    uint32_t no_dso; /* text id of "[unknown]", which comes last; PROFILE_NONE: not there */
};

/* The value of a key that does not follow from the sample's own place. */
uint64_t profile_class_value(const struct profile *p, uint32_t klass, enum profile_column_id id);

/* The words of a key: two for symbols, one for others. */
enum { PROFILE_KEY_WORDS = 2 };
unsigned profile_key_words(const struct profile *p, enum profile_column_id id, const struct profile_row *row,
                           uint64_t *words);
/* The frame that a key is about. */
uint32_t profile_key_frame(const struct profile *p, enum profile_column_id id, const struct profile_row *row);
/* By what a place without a name is told apart. */
static inline uint64_t profile_own_address(const struct resolve_frame *f) {
    bool place = f->kind == RESOLVE_PLACE || f->kind == RESOLVE_OFFSET;
    return place ? f->offset : f->address;
}
static inline const struct profile_name *profile_name_of(const struct profile *p, uint32_t frame) {
    uint32_t name = p->places.items[frame].name;
    return name == PROFILE_NONE ? NULL : &p->list.items[name];
}

/* Everything behind the second pass. False: memory. */
bool profile_freeze(struct profile *p, struct err *err);

/* The row of (class, frame) in a table, made if need be. PROFILE_NONE: memory. */
uint32_t profile_row_of(struct profile *p, struct profile_table *t, uint32_t klass, uint32_t frame);

/* ---- group.c ---- */

/* Brings what groups stand side by side into their leaders' tables; settles members and totals of all tables.
 * False: memory. */
bool profile_group(struct profile *p);

/* ---- hierarchy.c ---- */

/* Makes t->levels of t->entries. False: memory. */
bool profile_hierarchy(struct profile *p, struct profile_table *t);

/* ---- source.c ---- */

/* Whether a column asks for source lines. */
bool profile_wants_source(const struct profile_options *o);
/* The text id of a key whose text follows from the place of a frame; PROFILE_NONE: it is no such key. */
uint32_t profile_source_text(const struct profile_place *place, enum profile_column_id id);
/* Fills in the source line and file of frame `f`, whose name is known. False: memory. */
bool profile_find_source(struct profile *p, const struct resolve_frame *f, struct profile_place *place);

/* ---- grade.c ---- */

/* Fills in p->grades and, for columns that show them, p->bases_of. False: memory. */
bool profile_grade_frames(struct profile *p);
enum grade profile_grade_of(const struct profile *p, uint32_t frame);
/* Fills in the events' grades; p->node_sums are known. False: memory. */
bool profile_count_grades(struct profile *p);
/* That every sample read is in the profile or was left out, and every one in it is at the end of one
 * callchain. */
bool profile_conserves(const struct profile *p, struct err *err);

/* ---- sort.c ---- */

/* By which member of a group's table is sorted first (--group-sort-idx). */
uint32_t profile_sorting_member(const struct profile *p, const struct profile_table *t);

/* The order of two rows by one key. */
int profile_key_compare(const struct profile *p, enum profile_column_id id, const struct profile_row *x,
                        const struct profile_row *y);

/* Makes t->entries: all rows, in the order of printing. False: memory. */
bool profile_sort(struct profile *p, struct profile_table *t);

/* ---- key_text.c ---- */

/* The comm that the thread of a row had last, as perf knows it at the end; NULL when none is known. */
const char *profile_last_comm(const struct profile *p, const struct profile_row *row);
/* Appends the text of a key whose value is no text and no place. */
void profile_key_text(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                      uint64_t value, struct out *o);
/* Columns that are this wide at least, whatever is in them; 0: as wide as the title. */
uint32_t profile_key_width(enum profile_column_id id);

/* ---- mem.c ---- */

/* The words of a key of --mem-mode about the place `frame`, or whose value is `value`; 0: it is no such key.
 */
unsigned profile_mem_words(const struct profile *p, enum profile_column_id id, uint32_t frame, uint64_t value,
                           uint64_t *words);
/* Appends the text of such a key. False: it is no such key, or its text is like others'. */
bool profile_mem_text(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                      uint64_t value, struct out *o);
/* What perf takes for the width of PROFILE_SYMBOL_DADDR and the other keys with a frame. */
uint32_t profile_mem_width(const struct profile *p, const struct profile_row *row, enum profile_column_id id);

/* ---- frame_line.c ---- */

/* Fills in p->frame_lines and p->frame_groups if graphs ask for them. False: memory. */
bool profile_frame_lines(struct profile *p);
/* Appends what stands behind a frame's name. */
void profile_put_frame_line(const struct profile *p, uint32_t frame, struct out *o);

/* ---- size.c ---- */

/* Fills in p->mapping_sizes if a column asks for them. False: memory. */
bool profile_find_sizes(struct profile *p);
/* PROFILE_DSO_SIZE or PROFILE_SYMBOL_SIZE of a place, in bytes; 0: not known. */
uint64_t profile_size_of(const struct profile *p, enum profile_column_id id, uint32_t frame);

/* ---- text.c ---- */

/* "%#.*llx": what perf shows where there is no name. Zero has no 0x. */
void profile_put_address(struct out *o, uint64_t address, unsigned digits);
/* "[k] " */
void profile_put_level(struct out *o, unsigned cpumode);

/* ---- graph.c ---- */

/* Lists what graphs are made of, for the entries with has_graph. base_rows: the row of each base. False:
 * memory. */
bool profile_graph_prepare(struct profile *p, const uint32_t *base_rows);

/* ---- order.c ---- */

/* Numbers 0 ... n-1 in order of texts: ranks[i] of texts[i], NULLs last in order of `numbers`. False: memory.
 */
bool profile_rank_texts(const char *const *texts, uint32_t n, uint32_t *ranks);

#endif
