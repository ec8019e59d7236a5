/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CPUs and threads did over time, in columns: each interval adds its parts to the columns that it
 * overlaps, so that memory and output grow with rows and columns, never with events.
 *
 *   |...col 0...|...col 1...|          since 0.5, until 1.2: half of column 0 and a fifth of column 1
 *
 * Two passes: the first finds the span and how long each thread ran (timechart_totals), the second fills the
 * columns of the rows that were chosen.
 */
#ifndef SONDE_STATES_TIMECHART_TIMECHART_H
#define SONDE_STATES_TIMECHART_TIMECHART_H

#include "states/states.h"

/* ---- first pass ---- */

struct timechart_total {
    uint64_t run_ns, wait_ns, block_ns; /* wait: for a CPU; block: uninterruptible */
    uint64_t longest_ns;                /* the longest time it ran at once */
};

struct timechart_totals {
    VEC(struct timechart_total) threads; /* by their index in states */
};

/* A sink of states; ctx is the struct timechart_totals. */
bool timechart_totals_add(void *ctx, const struct states_interval *i);
void timechart_totals_fini(struct timechart_totals *t);

/* ---- second pass ---- */

enum { TIMECHART_IDLE_STATES = 4 /* how deep: C1, C2, C3, deeper */ };

/* ns of a column; `speed` in kHz x ns, and the ns for which it is known. */
struct timechart_cell {
    uint64_t run_ns, wait_ns, block_ns;
};
struct timechart_power {
    uint64_t idle_ns[TIMECHART_IDLE_STATES], known_ns;
    double speed;
};

struct timechart_row {
    uint32_t what; /* a thread's index, or a CPU's number */
    struct timechart_cell *cells;
};

struct timechart_cpu {
    struct timechart_row row;
    struct timechart_power *power; /* NULL: nothing is known of it */
    uint64_t idle_since_ns, speed_since_ns;
    uint32_t idle, khz; /* idle: the state, TIMECHART_AWAKE, or UINT32_MAX: not known; khz 0: not known */
};
enum { TIMECHART_AWAKE = UINT32_MAX - 1 };

struct timechart {
    uint64_t begin_ns, end_ns;
    uint32_t columns;
    VEC(struct timechart_row) threads; /* those that were chosen */
    VEC(struct timechart_cpu) cpus;    /* in the order of their first event; sorted by timechart_finish */
    struct hash_map by_thread, by_cpu; /* to their indexes */
    uint32_t max_khz;
    bool has_power, cut; /* cut: there were more than TIMECHART_CPUS_MAX CPUs */
};

enum { TIMECHART_CPUS_MAX = 8192, TIMECHART_COLUMNS_MAX = 16384 };

/* `columns` at most TIMECHART_COLUMNS_MAX; end after begin, else there is one column. */
void timechart_init(struct timechart *t, uint64_t begin_ns, uint64_t end_ns, uint32_t columns);
void timechart_fini(struct timechart *t);
/* Chooses a thread, which gets the next row. False: out of memory. */
bool timechart_choose(struct timechart *t, uint32_t thread);
/* A sink of states, for the rows of threads; ctx is the struct timechart. */
bool timechart_add(void *ctx, const struct states_interval *i);
/* Adds an interval in which a thread other than the idle one ran on the CPU. False: out of memory. */
bool timechart_busy(struct timechart *t, uint64_t since_ns, uint64_t until_ns, uint32_t cpu);
/* Notes that a CPU enters an idle state (or TIMECHART_AWAKE), or runs at this speed. False: out of memory. */
bool timechart_idle(struct timechart *t, uint64_t time_ns, uint32_t cpu, uint32_t state);
bool timechart_speed(struct timechart *t, uint64_t time_ns, uint32_t cpu, uint32_t khz);
/* Ends open states, and sorts CPUs by number. */
void timechart_finish(struct timechart *t);

/* The bounds of a column. */
uint64_t timechart_column_ns(const struct timechart *t, uint32_t column);

/* Takes a column's part of an interval. */
typedef void timechart_column_fn(void *to, uint32_t column, uint64_t ns);
/* Hands the parts of [since, until) that lie within the span to `add`. */
void timechart_spread(const struct timechart *t, uint64_t since, uint64_t until, timechart_column_fn *add,
                      void *to);

#endif
