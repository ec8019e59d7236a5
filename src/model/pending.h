/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events that a batch has not played yet: millions, in file order, which is nearly time order. They lie
 * in blocks, so that they are not copied as their number grows, and are freed while the rest is still played.
 */
#ifndef SONDE_MODEL_PENDING_H
#define SONDE_MODEL_PENDING_H

#include "model/model.h"

enum model_event_kind {
    EVENT_COMM,       /* arg: text id */
    EVENT_COMM_EXEC,  /* arg: text id */
    EVENT_COMM_WEAK,  /* arg: text id; ignored if the thread has a comm */
    EVENT_FORK,       /* arg: parent's task */
    EVENT_FORK_EMPTY, /* the same, but the child does not inherit the address space */
    EVENT_EXIT,       /* arg: parent's task, or MODEL_NONE */
    EVENT_SEEN,       /* a record shows that the thread exists */
    EVENT_MAP,        /* arg: mapping */
    EVENT_MAP_SPACE,  /* arg: mapping; task: a space that belongs to no process (kernels, guests) */
    EVENT_CODE,       /* arg: mapping; task: the space of announced code */
    EVENT_NAMESPACES, /* arg: index */
    EVENT_CGROUP,     /* task: text id of the path; arg: index into cgroup_ids */
};

enum { EVENT_KINDS = EVENT_CGROUP + 1, EVENT_TASK_BITS = 28 };
#define EVENT_TASK_MAX ((1u << EVENT_TASK_BITS) - 1)

/* 24 bytes: a batch holds one for each record until it freezes. */
struct model_event {
    struct model_when when;
    uint32_t task : EVENT_TASK_BITS; /* at most EVENT_TASK_MAX */
    uint32_t kind : 4;               /* enum model_event_kind */
    uint32_t arg;
};

enum { PENDING_BLOCK_BITS = 13, PENDING_BLOCK = 1 << PENDING_BLOCK_BITS };

struct pending {
    VEC(struct model_event *) blocks; /* PENDING_BLOCK events each; NULL: all of them were played */
    size_t count;
    size_t kinds[EVENT_KINDS]; /* how many events of each kind there are */
};

void pending_fini(struct pending *p);

/* False: out of memory. */
bool pending_push(struct pending *p, const struct model_event *e);

/* The i-th event in file order. Not to be called while events are played. */
static inline const struct model_event *pending_at(const struct pending *p, size_t i) {
    return &p->blocks.items[i >> PENDING_BLOCK_BITS][i & (PENDING_BLOCK - 1)];
}

/* Plays all events, by time and then by order, and frees them. False: out of memory, or `play` failed. */
bool pending_play(struct pending *p, bool (*play)(void *ctx, const struct model_event *e), void *ctx);

size_t pending_memory_bytes(const struct pending *p);

#endif
