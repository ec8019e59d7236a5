/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of system calls: how often and how long, by call and thread (or control group, or over all threads).
 * Fed call by call, or with sums that BPF programs made.
 */
#ifndef SONDE_CALLS_SUMMARY_H
#define SONDE_CALLS_SUMMARY_H

#include "calls/calls.h"

struct calls_stat {
    int64_t number;
    bool compat;
    uint64_t count, errors; /* calls that ended, and of these with an error */
    uint64_t timed;         /* calls whose beginning and end are known; all figures below are of these */
    uint64_t total_ns, min_ns, max_ns;
    unsigned __int128 squares; /* the sum of squared ns */
    VEC(struct calls_errno {
        uint32_t number;
        uint64_t count;
    })
    errnos; /* in the order of their first one */
};

struct calls_group {
    uint64_t key;    /* a tid, a control group's id, or 0 */
    uint32_t name;   /* in `names`; STRPOOL_NONE: none */
    uint64_t events; /* enters, exits and whatever else its threads did */
    VEC(struct calls_stat) stats;
};

struct calls_summary {
    VEC(struct calls_group) groups;
    struct hash_map by_key, by_stat; /* by_stat: hash of (group, number): the first of its stats to look at */
    struct strpool names;
    uint64_t events;
};

void calls_summary_fini(struct calls_summary *s);

/* The group of a key, made if it is not there; NULL: out of memory. Valid until the next new group. */
struct calls_group *calls_summary_group(struct calls_summary *s, uint64_t key);
/* Gives a group a name; the last one counts. False: out of memory. */
bool calls_summary_name(struct calls_summary *s, uint64_t key, const char *name);

/* A group's sums of one call, made if they are not there; NULL: out of memory. Valid until the group's next
 * new one. */
struct calls_stat *calls_summary_stat(struct calls_summary *s, struct calls_group *g, int64_t number,
                                      bool compat);

/* Counts a call that ended. False: out of memory. */
bool calls_summary_add(struct calls_summary *s, uint64_t key, const struct calls_call *call,
                       enum calls_end end);
bool calls_stat_errno(struct calls_stat *t, uint32_t number, uint64_t count);

/* In the order of printing: groups by events, then key; calls by total time, then count, then number. After
 * that no group or call can be added. */
void calls_summary_sort(struct calls_summary *s);

/* The standard error of the mean duration, in percent of the mean; 0 for fewer than two. */
double calls_stat_deviation(const struct calls_stat *t);

#endif
