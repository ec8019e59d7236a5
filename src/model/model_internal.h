/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of model/: the tables, and the events that change them. */
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
 * Its changes are a log of map events and, after every SPACE_LOG_MAX of them and where a fork needs it, the
 * root of a maptree that contains everything up to there. A lookup reads the log from its instant back to the
 * last root. Most processes are short-lived and never have a tree.
 *
 *   changes   root 0 | map map map map | root 17 | map map ...
 *             exec                      16 events   ^ a query here: two maps to look at, then tree 17
 */
struct model_space_state {
    uint32_t pid;
    uint32_t leader;     /* the task (pid, pid); MODEL_NONE: the space belongs to no process */
    uint32_t root;       /* the root in the newest root entry */
    uint32_t logged;     /* how many map events there were since */
    uint32_t live;       /* how many known threads of the newest incarnation have not exited */
    uint32_t exec_floor; /* threads with lower ids died in the last exec (except its caller) */
    uint32_t code;       /* the space of the announced code above this one, or MODEL_NONE */
    uint8_t space;       /* enum model_space; SPACE_CODE */
};

enum { SPACE_CODE = 7 }; /* announced code; searched together with the process's space */

enum { SPACE_LOG_MAX = 16 };
#define SPACE_ROOT 0x80000000u /* change: the whole space, its root in the low bits; else a mapping id */
#define SPACE_EXEC 0xfffffffeu /* change: an empty root (SPACE_ROOT is set) that an exec made */

/* The root of a change with SPACE_ROOT set. */
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

/* Where a kernel or module was mapped; see extent.c. */
struct model_kernel_map {
    uint64_t start, time_ns;
    uint32_t space;
};

/* A module without a credible recorded end. `ended`: model_end_module has set it. */
struct model_endless {
    uint32_t mapping, space;
    bool ended;
};

struct model {
    struct model_options options;
    bool frozen;
    uint64_t unordered;
    bool late;              /* streaming: the current record is late */
    struct model_when last; /* streaming: the newest event's instant */
    uint64_t asked_ns;      /* streaming: the latest query (model_asked) */

    struct pending pending; /* batch: the events applied so far */

    struct image_table images;
    struct mapping_table mappings;
    struct maptree tree;

    struct hash_map space_by_key; /* space << 32 | pid */
    struct hash_map task_by_key;  /* pid << 32 | tid */
    uint64_t last_key;            /* the key looked up last while applying records */
    uint32_t last_task;           /* its task; MODEL_NONE: none yet */
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
        uint32_t image, symbol; /* MODEL_NONE: no such map; text id */
        uint64_t address;
    } kernel[2];      /* host, guest: from the last kernel map in the file */
    uint32_t swapper; /* text id */

    uint32_t generation; /* how often the tables were rewritten */
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

/* The space of announced code above a process's, made if need be. MODEL_NONE: out of memory. */
uint32_t model_code_space(struct model *m, uint32_t space);

/* Frees all tables, but not the model itself. */
void model_fini(struct model *m);

/* The SPACE_EXEC entry in `changes` of an exec that may be in progress at that instant, or MODEL_NONE. */
uint32_t model_exec_open(const struct model *m, uint32_t space, struct model_when when);

/* The last address to use for a kernel's or module's new map, whose recorded one may be too high. */
uint64_t model_module_last(struct model *m, uint32_t space, uint32_t mapping, struct model_when when);

/* Sets the ends of modules without one, as far as all records show them. Does nothing in streams, which have
 * used the first guess already, and whose mappings may have other ids by now. */
void model_settle_ends(struct model *m);

/* Applies one event to the tables; events must come in order. False: out of memory. */
bool play_event(struct model *m, const struct model_event *e);

#endif
