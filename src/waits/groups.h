/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for the same: of programs of one name, in one state, for one `what` (and, with stacks, at
 * one place). */
#ifndef SONDE_WAITS_GROUPS_H
#define SONDE_WAITS_GROUPS_H

#include "waits/waits.h"

struct waits_group {
    uint32_t first, count; /* of struct waits_groups.order */
    int64_t longest_ns;    /* of the known times; -1: none is known */
    bool same_which;       /* all have the same `which`, or none has */
};

/*
 * The order is total: kinds as in enum waits_kind, then most threads, then the longest wait, then the text,
 * process and state, then the lowest thread id. Within a group: longest first, then by thread id.
 */
struct waits_groups {
    VEC(uint32_t) order; /* indices of threads */
    VEC(struct waits_group) list;
};

/* Which threads are shown; all NULL or 0: all. */
struct waits_choice {
    const int32_t *pids, *tids; /* any of these */
    size_t pid_count, tid_count;
    const char *comm; /* of the thread or its process; NULL: any */
    bool by_user;
    uint32_t uid;
    int32_t leave_out; /* a process that is never shown: our own; 0: none */
};
bool waits_chosen(const struct waits_choice *c, const struct waits_thread *t);

/* With `stacks`, threads are grouped by their stacks, too. False: out of memory. */
bool waits_groups_find(struct waits_groups *g, const struct waits *w, const struct waits_choice *choice,
                       bool stacks);
void waits_groups_fini(struct waits_groups *g);

#endif
