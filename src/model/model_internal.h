/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of model/ share: the tables, and the events that change them. */
#ifndef SONDE_MODEL_MODEL_INTERNAL_H
#define SONDE_MODEL_MODEL_INTERNAL_H

#include "base/hash.h"
#include "model/image.h"
#include "model/maptree.h"
#include "model/model.h"
#include "model/pending.h"
#include "model/timeline.h"

/*
 * An address space, past and present: all incarnations of one pid, or a kernel.
 *
 * Its changes are a log of map events, and now and then (every SPACE_LOG_MAX of them, and where a fork needs
 * it) the root of a maptree that holds everything up to there. A lookup reads back from its instant to the
 * last root. Most processes are short: they never grow a tree.
 *
 *   changes   root 0 | map map map map | root 17 | map map ...
 *             exec                      16 events   ^ a query here: two maps to look at, then tree 17
 */
struct model_space_state {
    uint32_t pid;
    uint32_t leader;     /* the task (pid, pid); MODEL_NONE in spaces that belong to no process */
    uint32_t root;       /* of the newest root entry */
    uint32_t logged;     /* map events since */
    uint32_t live;       /* threads of the newest incarnation that are known and have not exited */
    uint32_t exec_floor; /* threads with ids below died in the last exec (its caller excepted) */
    uint32_t code;       /* the space that holds the announced code above this one, or MODEL_NONE */
    uint8_t space;       /* enum model_space; SPACE_CODE */
};

enum { SPACE_CODE = 7 }; /* no address has this space: it is looked into together with its process's */

enum { SPACE_LOG_MAX = 16 };
#define SPACE_ROOT 0x80000000u /* change: the root in the low bits holds all; otherwise a mapping id */
#define SPACE_EXEC 0xfffffffeu /* change: an empty root (it has SPACE_ROOT's bit) that an exec made */

/* What a change with SPACE_ROOT's bit holds. */
static inline uint32_t space_root_of(uint32_t change) {
    return change == SPACE_EXEC ? 0 : change & ~SPACE_ROOT;
}

/* All incarnations of one (pid, tid). */
struct model_task_state {
    uint32_t tid;
    uint32_t space;
};

#define TASK_COMM_EXEC 0x80000000u
#define TASK_COMM_NONE 0x7fffffffu

/* Where a kernel or module was mapped: see extent.c. */
struct model_kernel_map {
    uint64_t start, time_ns;
    uint32_t space;
};

/* A module whose recorded end was none. `ended`: somebody knew better. */
struct model_endless {
    uint32_t mapping, space;
    bool ended;
};

struct model {
    struct model_options options;
    bool frozen;
    uint64_t unordered;
    bool late;              /* streaming: the record at hand is one of those */
    struct model_when last; /* streaming: of the newest event */
    uint64_t asked_ns;      /* streaming: model_asked */

    struct pending pending; /* batch: what was applied */

    struct image_table images;
    struct mapping_table mappings;
    struct maptree tree;

    struct hash_map space_by_key; /* space << 32 | pid */
    struct hash_map task_by_key;  /* pid << 32 | tid */
    uint64_t last_key;            /* the last one that was asked for while records came */
    uint32_t last_task;           /* its task; MODEL_NONE: none */
    VEC(struct model_space_state) spaces;
    VEC(struct model_task_state) tasks;
    VEC(struct model_process) processes;
    VEC(struct model_thread) threads;
    struct timeline changes;         /* of spaces: mapping ids, SPACE_ROOT */
    struct timeline space_processes; /* process ids */
    struct timeline task_threads;    /* thread ids */
    struct timeline task_comms;      /* text ids, TASK_COMM_EXEC; TASK_COMM_NONE */
    struct timeline task_namespaces; /* indices into namespaces */

    struct arena arena; /* bytes of text pokes and namespaces */
    VEC(struct model_namespaces) namespaces;
    VEC(struct model_text_poke) pokes;
    VEC(struct model_bpf_program) programs;
    VEC(struct model_kernel_map) kernel_maps;
    VEC(struct model_endless) endless;
    VEC(uint64_t) cgroup_ids;
    struct hash_map cgroup_paths; /* id -> text id */
    struct {
        uint32_t image, symbol; /* MODEL_NONE without; text id */
        uint64_t address;
    } kernel[2];      /* host, guest: of the kernel map that comes last in the file */
    uint32_t swapper; /* text id */

    uint32_t generation; /* how often tables were written anew */
    size_t kept;         /* how much was left after the last model_retire */
};

static inline bool model_needs(const struct model *m, enum model_need need) {
    return (m->options.need & need) != 0;
}

static inline bool model_when_is_end(struct model_when w) {
    return w.time_ns == UINT64_MAX && w.order == UINT64_MAX;
}

static inline uint64_t model_space_key(enum model_space space, uint32_t pid) {
    return (uint64_t)space << 32 | pid;
}

static inline uint64_t model_task_key(uint32_t pid, uint32_t tid) {
    return (uint64_t)pid << 32 | tid;
}

enum {
    MODEL_DEFAULT_OWNER = 0
}; /* the pid in the space key of the host's kernel and of the default guest's */

/* The space of announced code above a process's, made now if it is new. MODEL_NONE: memory. */
uint32_t model_code_space(struct model *m, uint32_t space);

/* Frees all tables, but not the model itself. */
void model_fini(struct model *m);

/* The SPACE_EXEC entry in `changes` of an exec that may still be going on at that instant, else MODEL_NONE.
 */
uint32_t model_exec_open(const struct model *m, uint32_t space, struct model_when when);

/* The last address of a kernel's or module's new map, which may claim more than it has. */
uint64_t model_module_last(struct model *m, uint32_t space, uint32_t mapping, struct model_when when);

/* The ends of modules that had none, as far as the records before the freeze tell. Streams have used what was
 * guessed at first, and their mappings may have other ids by now: nothing changes there. */
void model_settle_ends(struct model *m);

/* Applies one event to the tables; events must come in order. False: memory. */
bool play_event(struct model *m, const struct model_event *e);

#endif
