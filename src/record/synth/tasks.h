/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that ran before the recording, as the records that the kernel would have written about them. */
#ifndef SONDE_RECORD_SYNTH_TASKS_H
#define SONDE_RECORD_SYNTH_TASKS_H

#include "base/hash.h"
#include "os/proc/proc.h"
#include "record/write/sink.h"

struct record_tasks {
    const struct os_proc *proc;
    const struct record_sink *sink;
    bool forks;      /* FORK records: the task tree, for recordings of everything */
    bool mappings;   /* MMAP2 records */
    bool data;       /* also of mappings without code */
    bool build_ids;  /* in MMAP2 records */
    bool namespaces; /* NAMESPACES records */
    bool vsyscall;   /* 64-bit processes have the page [vsyscall], which single queries do not show */

    /* Found on the way; owned. */
    struct writer out;     /* the records */
    struct hash_map id_of; /* hash of a file's device, inode and name -> index in ids */
    VEC(struct os_build_id) ids;
    struct writer scratch;
    os_numbers tids;
    uint32_t asked;  /* for their mappings */
    bool no_query;   /* this kernel has no PROCMAP_QUERY */
    uint32_t denied; /* processes whose mappings we may not see */
};

/* Sets up what does not change; `proc` and `sink` are borrowed. */
void record_tasks_init(struct record_tasks *t, const struct os_proc *proc, const struct record_sink *sink,
                       const struct record_options *o);
void record_tasks_fini(struct record_tasks *t);

/*
 * Appends a process with all its threads to t->out: FORK, NAMESPACES, COMM of the main thread, MMAP2s, then
 * the other threads'. Nothing when it has ended; what ends on the way is left out. False when memory ran out.
 */
bool record_tasks_process(struct record_tasks *t, int32_t pid);

/* The same for one thread and the mappings of its process. */
bool record_tasks_thread(struct record_tasks *t, int32_t tid);

#endif
