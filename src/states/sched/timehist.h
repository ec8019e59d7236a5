/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every context switch with the times before it (wait, delay, run), one by one, and their sums by thread.
 *
 *         out        wake     in            out = the line's time
 *          |-------- wait ----|              |
 *                     |-delay-|---- run -----|
 */
#ifndef SONDE_STATES_SCHED_TIMEHIST_H
#define SONDE_STATES_SCHED_TIMEHIST_H

#include "select/filter.h"
#include "select/time_range.h"
#include "states/states.h"

enum timehist_kind { TIMEHIST_SWITCH, TIMEHIST_WAKE, TIMEHIST_MIGRATE };

struct timehist_line {
    enum timehist_kind kind;
    uint64_t time_ns;
    uint32_t cpu;
    uint32_t thread; /* SWITCH: the thread that left. Else the one that ran there; STATES_NONE: not known */
    uint32_t other;  /* SWITCH: the thread that came, or STATES_NONE. Else the one that was woken or moved */
    uint64_t wait_ns, delay_ns, run_ns; /* 0 also where it is not known */
    enum states_state state;            /* SWITCH: what it left for */
    char letter;                        /* of `state`, as the kernel prints it; 0: not known */
    uint32_t from_cpu, to_cpu;          /* MIGRATE; from: STATES_NONE: not known */
    uint64_t pre_ns;                    /* SWITCH: the part of the delay before its last migration */
    int32_t prio;                       /* SWITCH: of the thread that left; STATES_NO_PRIO: not known */
    uint64_t loc;                       /* the record of the event */
    uint64_t left_loc; /* choice.idle: the record of the switch that left the CPU idle; UINT64_MAX: none */
};

/* What is known of a thread. */
struct timehist_thread {
    bool has_out, continues, ready, seen;
    uint64_t out_ns, wait_ns, delay_ns, pre_ns, run_ns; /* for the thread's next line */
    int32_t prio;                                       /* the last known one; 0: none yet */
    uint64_t before_loc;
    uint32_t before; /* of an idle thread: the thread that left the CPU idle, plus 1; 0: not known */
    uint64_t total_ns, count, min_ns,
        max_ns;              /* count: runs of which begin and end were seen; min, max: of these */
    double mean_ns, squares; /* of these: the sum of squared distances from the mean */
    uint64_t migrations;
};

/* Takes a line. False: out of memory. */
typedef bool timehist_line_fn(void *ctx, const struct states *s, const struct timehist_line *line);

/* What to show; empty lists are everything. All borrowed. */
struct timehist_choice {
    const struct filter_ranges *cpus, *pids, *tids;
    const struct time_ranges *times; /* of a line's own time */
    const struct filter_ranges *prios;
    bool idle; /* only times of idle CPUs, added up by the thread that left the CPU idle */
};

struct timehist {
    struct timehist_choice choice;
    timehist_line_fn *line; /* NULL: sums only */
    void *ctx;
    VEC(struct timehist_thread) threads; /* by index in states; may be shorter */
    VEC(struct timehist_thread) idle;    /* likewise: times that began when the thread left its CPU */
    struct timehist_line pending;        /* its `other` is not known yet */
    bool has_pending;
    uint64_t left_loc;
    uint32_t left, left_cpu; /* the thread of the event before, plus 1, if that was an OUT; else 0 */
    uint64_t switches;       /* that were chosen */
};

/* The sink and the tap of states; ctx is the struct timehist, of which choice, line and ctx are set. */
bool timehist_interval(void *ctx, const struct states_interval *i);
bool timehist_event(void *ctx, const struct states *s, const struct states_event *e);
/* After states_finish. False: out of memory. */
bool timehist_finish(struct timehist *t, const struct states *s);
void timehist_fini(struct timehist *t);

/* The standard error of the mean run, in percent of the mean; 0 for fewer than two runs. */
double timehist_deviation(const struct timehist_thread *t);

#endif
