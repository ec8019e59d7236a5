/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole call stacks with their weights: what pages, terminals and exports draw, whatever they came from (a
 * profile, an imported file).
 *
 *   rows         (event, comm, node)  samples, period         node: the sample's own frame
 *   nodes        main <- work <- inner                        each has a frame and a caller
 *   frames       a function, or an address or a line of one
 *   moments      the single samples: when, row, thread, CPU   optional: the time axis
 *
 * Nodes are shared by all events and comms. Everything is interned: equal content has one number, in the
 * order of first appearance, and text 0 is empty.
 */
#ifndef SONDE_STACKS_STACKS_H
#define SONDE_STACKS_STACKS_H

#include "base/err.h"
#include "base/idtable.h"
#include "base/strpool.h"
#include "base/vec.h"

enum { STACKS_NONE = UINT32_MAX };

/* What their JSON says of itself (docs/STACKS_JSON.md). */
#define STACKS_JSON_FORMAT "sonde stacks"
enum { STACKS_JSON_VERSION = 1 };

enum stacks_level {
    STACKS_USER,
    STACKS_KERNEL,
    STACKS_GUEST_USER,
    STACKS_GUEST_KERNEL,
    STACKS_HYPERVISOR,
    STACKS_JIT,     /* code that the process itself made */
    STACKS_INLINED, /* a function whose code is part of its caller's */
};

/* How certain a frame's name is: the numbers of symbol/grade.h. */
enum stacks_grade { STACKS_EXACT, STACKS_INFERRED, STACKS_STALE, STACKS_UNKNOWN };

/* All but numbers are text ids. */
struct stacks_image {
    uint32_t name, path, build_id; /* name: as reports show it; build_id: in hex, or 0 */
};

struct stacks_frame {
    uint64_t address; /* in the image (without one: as recorded); 0 in a frame that stands for a function */
    uint32_t name;    /* without one: "[image]", "[stale image]" or "[unknown]" */
    uint32_t image;   /* STACKS_NONE: none */
    uint32_t file, line; /* of the source; 0: not known */
    uint32_t why;        /* a line of evidence for the name, or 0 */
    uint8_t level, grade;
};

struct stacks_node {
    uint32_t caller; /* a node with a smaller number; STACKS_NONE: the stack begins here */
    uint32_t frame;
};

struct stacks_row {
    uint32_t event, comm, node;
    uint64_t samples, period;
};

struct stacks_thread {
    uint32_t pid, tid, comm; /* comm: of its last sample */
};

/* A sample, on the time axis. */
struct stacks_moment {
    uint64_t time_ns, period;
    uint32_t row, thread;
    uint32_t cpu; /* STACKS_NONE: not recorded */
};

struct stacks_event {
    uint32_t name, unit; /* unit: what a period counts: "cycles", "ns", "events" */
    uint32_t recording;
    uint64_t samples, period; /* of all rows */
    uint64_t lost;
};

struct stacks_recording {
    uint32_t path, host, os, arch, cpu, cmdline;
    uint64_t start_ns, duration_ns; /* start_ns: since 1970; 0: not known */
};

/* Zeroed at first; stacks_init before anything is added. */
struct stacks {
    struct strpool texts;
    VEC(struct stacks_recording) recordings;
    VEC(struct stacks_event) events;
    VEC(struct stacks_image) images;
    VEC(struct stacks_frame) frames;
    VEC(struct stacks_node) nodes;
    VEC(struct stacks_row) rows;
    VEC(struct stacks_thread) threads;
    VEC(struct stacks_moment) moments; /* in order of (event, time) once stacks_finish was called */
    VEC(uint32_t) notes;               /* texts: what whoever looks at this should know */
    uint32_t title;
    struct idtable image_index, frame_index, node_index, row_index, thread_index;
};

/* False: out of memory. */
bool stacks_init(struct stacks *s, struct err *err);
void stacks_fini(struct stacks *s);

/* Return the number of an equal one, added if need be. STACKS_NONE: out of memory. */
uint32_t stacks_text(struct stacks *s, const char *text, size_t len);
uint32_t stacks_image(struct stacks *s, const struct stacks_image *image);
uint32_t stacks_frame(struct stacks *s, const struct stacks_frame *frame);
/* `caller`: STACKS_NONE, or a node that exists. */
uint32_t stacks_node(struct stacks *s, uint32_t caller, uint32_t frame);
uint32_t stacks_thread(struct stacks *s, uint32_t pid, uint32_t tid);
/* The row's sums are zero if it is new. */
uint32_t stacks_row(struct stacks *s, uint32_t event, uint32_t comm, uint32_t node);

/* Rows have been given other events: to be called before stacks_row is. False: out of memory. */
bool stacks_rows_renumbered(struct stacks *s);

/* Adds to a row and its event. */
void stacks_add(struct stacks *s, uint32_t row, uint64_t samples, uint64_t period);

/* Puts moments in the order of event, then time. False: out of memory. */
bool stacks_finish(struct stacks *s, struct err *err);

static inline const char *stacks_str(const struct stacks *s, uint32_t text) {
    return strpool_text(&s->texts, text);
}
static inline const char *stacks_frame_name(const struct stacks *s, const struct stacks_frame *f) {
    return stacks_str(s, f->name);
}
/* Returns the short name of its image, or "". */
const char *stacks_frame_dso(const struct stacks *s, const struct stacks_frame *f);

/* How many frames a node's stack has. */
uint32_t stacks_depth(const struct stacks *s, uint32_t node);

/* Finds the function in which most of an event's period was spent (its frames' name, a text id) and how much
 * that was. STACKS_NONE: there are no rows, or memory ran out. */
uint32_t stacks_hottest(const struct stacks *s, uint32_t event, uint64_t *period);

/* Sums of each node's samples and period, those of the nodes below included, of one event.
 * [nodes.count]; freed by the caller. NULL: out of memory. */
struct stacks_sum {
    uint64_t samples, period;
};
struct stacks_sum *stacks_totals(const struct stacks *s, uint32_t event);

#endif
