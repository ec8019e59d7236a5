/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each thread of a command counts (--per-thread COMMAND, --per-comm). Its counters are inherited, so
 * what can be read is the sum; but a thread that ends says what it counted in a READ record (inherit_stat of
 * perf_event_open(2)), and COMM and FORK records tell its name. The one that has the counters that were
 * opened at first does not tell; the rest of the sum is its. That need not be the command's first thread:
 * tasks that follow each other on a CPU may exchange their counters.
 *
 * The kernel exchanges them in the order in which it lists them, which has to be the same in both. It is if
 * all events of a CPU are one group, and CPUs are opened one after the other. So what does not fit beside
 * each other is not counted at all.
 */
#ifndef SONDE_COUNT_OPEN_TASKS_H
#define SONDE_COUNT_OPEN_TASKS_H

#include "base/hash.h"
#include "count/open/counters.h"

struct count_task {
    int32_t tid;
    char comm[16];
    bool told;                  /* it has said what it counted */
    struct count_reading *sums; /* of each event, in the arena */
};

/* What a record said, kept until nothing older can come from another CPU's ring. */
struct count_task_note {
    uint64_t time_ns; /* of CLOCK_MONOTONIC */
    uint32_t type, event;
    int32_t tid, parent;
    struct count_reading read;
    char comm[16];
};

struct count_task_ring {
    struct os_ring map;
    int fd;
};

struct count_tasks {
    const struct os_perf *perf;
    VEC(struct count_task_ring) rings; /* one for each CPU */
    VEC(struct count_task) tasks;      /* in the order they began; the first is the command's */
    struct hash_map by_tid, by_id;     /* -> index in tasks (the newest of that number); -> event */
    VEC(struct count_task_note) notes;
    size_t events;
    uint64_t lost; /* records, and with them what they told of */
    bool exited;   /* a thread but the first has ended */
    bool no_memory;
    struct arena arena;
};

/* Opens the counters of a target that is one command, and a ring for each CPU that they write to. False and
 * *err on failure; both are to be freed in any case. */
bool count_tasks_open(struct count_tasks *t, struct count_counters *c, const struct os_perf *perf,
                      struct count_plan *p, const struct perf_target *target, struct err *err);

/* Turns all events on or off. */
void count_tasks_enable(struct count_tasks *t, bool on);

/* Takes what has come. What is younger than `until_ns` waits, as older ones may be on the way. */
void count_tasks_take(struct count_tasks *t, uint64_t until_ns);

/* Whether threads ended and none told what it counted: some kernels (Linux 6.1 is one) never do. */
bool count_tasks_silent(const struct count_tasks *t);

/* The counts by thread, or by name, once all has been taken. False when memory ran out. */
bool count_tasks_sum(struct count_tasks *t, const struct count_counters *c, const struct count_plan *p,
                     enum count_level level, struct counts *out);

void count_tasks_fini(struct count_tasks *t);

/* Notes one record, header included; for tests. What is no record of interest is ignored. */
void count_tasks_record(struct count_tasks *t, struct bytes record);

#endif
