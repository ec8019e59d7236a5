/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From samples to a frozen profile: one sorted table of rows per event, with the call graph of each row on
 * demand. A frozen profile is immutable: any number of threads may read it.
 *
 *   reading_first_pass -> model, deferred chains
 *   profile_collect(input, options) -> struct profile      the second pass over the recording
 *   for each event, entry: profile_text, profile_graph_build -> view
 */
#ifndef SONDE_PROFILE_PROFILE_H
#define SONDE_PROFILE_PROFILE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strpool.h"
#include "base/text/out.h"
#include "base/threads/pool.h"
#include "base/vec.h"
#include "model/model.h"
#include "profile/columns/column.h"
#include "recording/parallelism.h"
#include "resolve/deferred.h"
#include "resolve/lines/resolve_lines.h"
#include "resolve/names.h"
#include "resolve/resolve_grade.h"
#include "resolve/unwind.h"
#include "stream/stream.h"

/* ---- what is wanted ---- */

enum profile_chain_mode {
    PROFILE_CHAIN_NONE,
    PROFILE_CHAIN_GRAPH,
    PROFILE_CHAIN_FRACTAL,
    PROFILE_CHAIN_FLAT,
    PROFILE_CHAIN_FOLDED
};
enum profile_chain_order { PROFILE_CALLEE, PROFILE_CALLER };
enum profile_chain_key { PROFILE_BY_FUNCTION, PROFILE_BY_ADDRESS, PROFILE_BY_SRCLINE };

struct profile_options {
    const struct profile_columns *columns;
    bool children; /* accumulate callchains into every caller's row */
    enum profile_chain_mode chain_mode;
    enum profile_chain_order chain_order;
    enum profile_chain_key chain_key;
    double chain_min_percent; /* branches of a graph with less are left out; 0.5 by default */
    unsigned max_stack;       /* 127 by default */
    double percent_limit;     /* applied by view; graphs and names are only promised above it */
    bool branch;              /* count each branch of the branch stack (-b) */
    bool history;      /* without `branch`: show branches in callchains, too (-g branch, --branch-history) */
    bool blocks;       /* profile_blocks_find will be called, */
    bool block_values; /* and shall tell single measurements, too */
    bool streams;      /* profile_streams_find will be called */
    bool mem;          /* --mem-mode */
    bool group;        /* show events of a group side by side */
    int group_sort_index; /* the member of a group that decides the order; else the leader does */
    bool hierarchy;       /* one level per key */
    bool hide_unresolved; /* -U */
    bool exclude_other;   /* -x */
    bool tight;           /* -t or -w: profile_width is that of the texts alone */
    bool relative;        /* --percentage relative: percentages of what filters left */
    const char *parent;   /* -p: regex; NULL: perf's default */
    const char *ignore_callees;
    const char *const *comms, *const *dsos; /* NULL: all; else NULL-terminated */
    const char *const *symbols;             /* likewise; compared by symbol_name_matches */
    const uint64_t *addresses; /* with symbols: addresses of samples or functions that count, too */
    size_t address_count;
    const char *symbol_filter; /* --symbol-filter: a part of the name */
    int socket;                /* -1: all */
    bool verbose;              /* -v: paths of objects, addresses of symbols */
    bool full_source_path;     /* files of source lines with their folders */
    uint64_t time_quantum_ns;  /* 100 ms by default */
    bool nanoseconds;          /* times with all digits, not microseconds */
    bool stacks;               /* profile_stacks will be called, */
    bool moments;              /* and shall have the single samples, too */
    bool own_inlines;          /* compare_inlined will be called */
    bool slices;               /* compare_judge will be called */
    bool inlines;              /* callchains have frames of inlined functions */
};

/* Decides on a sample before anything else is looked at. FILTERED ones count in the event's samples and
 * period only (and in `filtered`). Called from several threads; the sample has the fixed fields (`have` says
 * which). */
enum profile_verdict { PROFILE_KEEP, PROFILE_DROP, PROFILE_FILTERED };
typedef enum profile_verdict profile_keep_fn(void *ctx, const struct perfdata_sample *s, uint32_t event,
                                             struct model_when when);

/* Prints the fields of a tracepoint's raw data (the key trace); the owner (cmd/) knows the formats. Called
 * from one thread. */
typedef void profile_trace_fn(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *s,
                              struct out *out);

/* Appends the value of a field (profile_column.field) of a tracepoint's raw data. Otherwise as
 * profile_trace_fn.
 */
typedef void profile_field_text_fn(void *ctx, const struct perfdata_attr *attr,
                                   const struct perfdata_sample *s, const struct profile_column *column,
                                   struct out *out);

/* Called now and then while the recording is read, with how many of its bytes have been; false ends reading,
 * and the profile is of what was read. Called from one thread. */
typedef bool profile_progress_fn(void *ctx, uint64_t done, uint64_t total);

struct profile;
struct recording_live_sample; /* recording/live.h */

/* An older profile, with the same columns and events, whose samples count on, faded. */
struct profile_before {
    const struct profile *profile; /* NULL: there is none */
    unsigned eighths;              /* how many of eight of its samples count */
    const uint32_t *images;        /* by number in the model it was made with: those of the same images now;
                                      NULL: it was this model */
};

/* All borrowed, and needed as long as the profile lives. */
struct profile_input {
    struct stream *stream; /* read to its end once, and rewound; read again here */
    /* Of a stream that goes on: instead of reading it, take these samples; and what was before, which is not
     * needed any more afterwards. */
    bool live;
    const struct recording_live_sample *listed;
    size_t listed_count;
    uint64_t unwind_most; /* about so many of their stacks are unwound, as resolve/chain.h; 0: all */
    struct profile_before before;
    struct pool *pool; /* the threads to use: nothing in the profile depends on how many. NULL: one */
    const struct perfdata_events *events;
    const struct model *model; /* frozen; or, with `live`, streaming, and nothing is applied meanwhile */
    struct resolve_names *names;
    struct resolve_lines *lines;             /* of `names`; NULL: no source lines are known */
    const struct resolve_deferred *deferred; /* sorted; NULL: none */
    profile_keep_fn *keep;                   /* NULL: every sample */
    void *keep_ctx;
    profile_trace_fn *trace;      /* NULL: no formats */
    profile_field_text_fn *field; /* likewise */
    void *trace_ctx;
    const struct recording_parallelism *parallelism; /* sorted; NULL: one thread at all times */
    profile_progress_fn *progress;                   /* NULL: it is not reported */
    void *progress_ctx;
    const uint64_t *lost;        /* by event: lost samples, from LOST_SAMPLES records; NULL: none */
    const uint32_t *cpu_sockets; /* cpu -> socket (CPU_TOPOLOGY); NULL: not known */
    uint32_t cpu_count;
};

/* ---- what comes out ---- */

/* The sums of a row or an event. */
struct profile_sums {
    uint64_t period, samples;
    uint64_t period_sys, period_us, period_guest_sys, period_guest_us;
    uint64_t weight1, weight2, weight3;
    uint64_t own[PROFILE_OWN_SUMS]; /* the columns' own: profile_column.sum */
    uint64_t latency; /* period divided by the number of threads running, times PROFILE_LATENCY_UNIT */
};
#define PROFILE_LATENCY_UNIT 4096
void profile_sums_add(struct profile_sums *to, const struct profile_sums *more);

/* What passed through a row: the sums of all samples that have it in their callchain, its own included. */
struct profile_through {
    uint64_t period, samples;
};

/* Returns a measure's number: a sum (PROFILE_MEAN: its mean over `samples` is shown). With
 * PROFILE_OF_CHILDREN it is that of `children` and their latency, as in profile_entry, if there are
 * children. */
uint64_t profile_measure(const struct profile_sums *self, const struct profile_through *children,
                         const uint64_t *latency, const struct profile_column *c);

struct profile_entry {
    const struct profile_sums *self;        /* [event.members]: the leader's first */
    const struct profile_through *children; /* [event.members]; NULL without children */
    const uint64_t *latency;                /* of children, [event.members]; NULL: no column needs it */
    uint32_t key;                           /* for profile_text */
    uint32_t depth;                         /* --hierarchy: which level, from 0 */
    uint32_t first, count;                  /* --hierarchy: entries of the next level */
    bool has_graph;                         /* there are callchains to show */
};

struct profile_event {
    uint32_t event;   /* index into the recording's events */
    uint32_t members; /* with group: how many events stand side by side; else 1 */
    const char
        *name; /* "cycles:u", or the group's own text: "anon group { cycles, instructions }" is view's */
    struct profile_sums total;                /* of the samples that count, all members together */
    const struct profile_sums *member_totals; /* [members] */
    uint64_t read, filtered, dropped;         /* samples: read == total.samples + filtered + dropped */
    uint64_t lost;                            /* LOST_SAMPLES records of this event */
    uint64_t grades[GRADE_COUNT]; /* frames of the samples in rows, by grade: with callchains all frames, else
                                     the samples' own */
    uint32_t entry_count;         /* of profile_entry_at; all levels */
    uint32_t root_count;          /* how many come first: all rows, or the first level of a hierarchy */
};

/* Whether a column is a tracepoint field of another event, so that this event's table has none. */
static inline bool profile_column_is_elsewhere(const struct profile_column *c,
                                               const struct profile_event *e) {
    return c->field && (c->event < e->event || c->event >= e->event + e->members);
}

/* Runs the second pass and everything up to the sorted tables. NULL with *err: reading failed, memory, a bad
 * regex. */
struct profile *profile_collect(const struct profile_input *in, const struct profile_options *o,
                                struct err *err);
void profile_free(struct profile *p); /* NULL is allowed */
/* With `live`, before model_retire, if the profile is still shown afterwards: it does not go by the model's
 * numbers of threads any more, so a thread has the name that it had when it was sampled. */
void profile_outlive(struct profile *p);

/* Returns the options' columns. */
const struct profile_columns *profile_columns_of(const struct profile *p);
uint32_t profile_event_count(const struct profile *p);
const struct profile_event *profile_event(const struct profile *p, uint32_t i);
/* Whether some samples of an event (an index into the recording's) count or were filtered. */
bool profile_has_samples(const struct profile *p, uint32_t event);

/* Returns the i-th of an event's entries, in the order of printing. What it points to lives as long as the
 * profile. */
struct profile_entry profile_entry_at(const struct profile *p, const struct profile_event *e, uint32_t i);

/* Returns how unwinding the dumped user stacks went; `stacks` is 0 when there were none to unwind. */
const struct resolve_unwind_tally *profile_unwound(const struct profile *p);

/* Appends the text of a key column in an entry's row, unpadded: "[k] do_syscall_64". Measures have none:
 * their numbers are in the entry. */
void profile_text(const struct profile *p, const struct profile_event *e, const struct profile_entry *entry,
                  const struct profile_column *column, struct out *out);
/* Returns the width to which perf pads a key column: that of its longest text in this event, or of the
 * title. */
uint32_t profile_width(const struct profile *p, const struct profile_event *e,
                       const struct profile_column *column);

/* ---- whole stacks ---- */

/* Adds all stack samples of the events, with options.stacks, to `out` (stacks_init was called), which may
 * have others already. The time axis is in the order of the file: stacks_finish sorts it. `recording`: the
 * events'. False: out of memory. */
struct stacks;
bool profile_stacks(const struct profile *p, uint32_t recording, struct stacks *out, struct err *err);

/* ---- basic blocks ---- */

/* A part of a function, from one offset to another, with the sums of the branch records that ended it. */
struct profile_block {
    uint64_t cycles, count; /* count: how often that was measured */
    uint64_t start, end;    /* in the function, in bytes */
    uint32_t share;         /* of all cycles, in hundred thousandths, rounded down: what sorts them */
    uint32_t image, name;   /* private */
    bool known;             /* the start is known; else it is as if the function had run from its beginning */
    uint32_t values;        /* in profile_blocks.values; only with options.block_values */
};

/* The first cycles that were measured of a block, of those that began where the block does. */
enum { PROFILE_BLOCK_VALUES = 8 };
struct profile_block_values {
    uint16_t cycles[PROFILE_BLOCK_VALUES];
    uint32_t count;
};

/* As in perf's --total-cycles: all the recording's blocks in functions that the event has rows of (with
 * options.branch: that branches go to), largest share first; equal ones by name, from the last in the
 * alphabet on, then by place. */
struct profile_blocks {
    VEC(struct profile_block) list;
    VEC(struct profile_block_values) values;
    uint64_t cycles;   /* of all branches, those between functions too */
    uint64_t averages; /* sum of the blocks' mean cycles, each times the rows with its function as target */
};

/* Finds the blocks, with options.blocks. Freed with profile_blocks_fini, after an error too. False:
 * memory. */
bool profile_blocks_find(const struct profile *p, const struct profile_event *e, struct profile_blocks *out,
                         struct err *err);
void profile_blocks_fini(struct profile_blocks *b);
/* Texts live as long as the profile. */
const char *profile_block_object(const struct profile *p, const struct profile_block *b);
const char *profile_block_function(const struct profile *p, const struct profile_block *b);
/* Appends "[file.c:3 -> file.c:7]", without lines "[work+4 -> work+20]". One thread at a time. */
void profile_block_range(const struct profile *p, const struct profile_block *b, struct out *out);

/* ---- streams: samples by all their last branches ---- */

/* Samples whose branches went the same way. */
struct profile_stream_sum {
    const char *lines;     /* "beta code.c:12" of each end of each branch, newest first, ended by newlines */
    const char *functions; /* the same without source lines */
    uint64_t period, samples, cycles; /* cycles: of all branches of all samples */
};

struct profile_stream_sums {
    VEC(struct profile_stream_sum) list; /* largest period first; equal ones by text */
    uint64_t period;                     /* of all of them */
    struct strpool texts;
};

/* Finds the streams of an event, with options.streams. Freed with profile_stream_sums_fini, after an error
 * too. False: out of memory. */
bool profile_streams_find(const struct profile *p, const struct profile_event *e,
                          struct profile_stream_sums *out, struct err *err);
void profile_stream_sums_fini(struct profile_stream_sums *s);

/* ---- how good it is ---- */

struct profile_image_grades {
    uint32_t image; /* of the model; MODEL_NONE: nothing covers these */
    uint64_t frames[GRADE_COUNT];
};

struct profile_quality {
    VEC(struct profile_image_grades) images; /* those that have frames, most frames first */
    uint64_t samples;                        /* in rows */
    uint64_t chains;                         /* of `samples`: those with a callchain */
    uint64_t truncated;                      /* of `chains`: as long as the kernel records any */
    uint64_t lost_callers;                   /* of `chains`: nothing covers the outermost frame */
};

/* Judges all events together, into `out` (zeroed; freed with profile_quality_fini). False: out of memory. */
bool profile_quality_find(const struct profile *p, struct profile_quality *out, struct err *err);
void profile_quality_fini(struct profile_quality *q);

/* ---- call graphs ---- */

/*
 * A node stands for one or more frames that always follow each other. Node 0 is the root; it has no frames.
 * Children are sorted as perf prints them and those below the limit are left out.
 */
struct profile_node {
    uint32_t parent;                      /* UINT32_MAX: the root */
    uint32_t first, count;                /* its children in graph->order */
    uint32_t frame, frame_count;          /* in graph->frames */
    uint64_t period, samples;             /* of the samples whose chain ends here */
    uint64_t below_period, below_samples; /* of those that go on, limits ignored */
};

/* One line of a call graph. */
struct profile_frame {
    uint32_t location; /* for profile_frame_text */
};

struct profile_graph_scratch;

/* Scratch of one thread: zeroed at first, filled by profile_graph_build as often as wanted. */
struct profile_graph {
    VEC(struct profile_node) nodes;
    VEC(uint32_t) order;
    VEC(struct profile_frame) frames;
    VEC(uint32_t) flat; /* flat and folded modes: the nodes that end chains, sorted as perf prints them */
    struct profile_graph_scratch *scratch; /* private */
};

/* Builds the graph of an entry with has_graph. Any number of threads, each with its own graph. False:
 * memory. */
bool profile_graph_build(const struct profile *p, const struct profile_event *e,
                         const struct profile_entry *entry, struct profile_graph *g, struct err *err);
void profile_graph_fini(struct profile_graph *g);

/* Appends the text of a frame: a name, or 0xaddress. Any number of threads: each name is demangled once. */
void profile_frame_text(const struct profile *p, const struct profile_frame *frame, struct out *out);

#endif
