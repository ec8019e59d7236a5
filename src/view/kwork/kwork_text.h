/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own work as text: `kwork report`, `latency`, `timehist`, `top`. */
#ifndef SONDE_VIEW_KWORK_KWORK_TEXT_H
#define SONDE_VIEW_KWORK_KWORK_TEXT_H

#include "base/text/out.h"
#include "states/kwork/kwork_top.h"
#include "view/sched/stack_text.h"

struct kwork_text {
    struct out *out;
    /* Names a kernel function; NULL: it is not known. */
    const char *(*function)(void *ctx, uint64_t address);
    void *ctx;
    const char *only; /* only work (top: threads) of this name; NULL: all */
    const struct kwork_choice *choice;
    struct stack_text *stacks; /* for timehist; NULL: no stacks are shown */
    bool headed;
};

/* A work's name; of a work item the name of its function. "" if it is not known. */
const char *kwork_text_name(const struct kwork_text *t, const struct kwork *k, const struct kwork_work *w);

/* The tables; `summary` adds the sums of all. */
void kwork_text_report(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s,
                       bool summary);
void kwork_text_latency(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s);

/* Writes timehist's heading, once. */
void kwork_text_head(struct kwork_text *t);
/* The sink of kwork that writes a line; ctx is a struct kwork_text. */
bool kwork_text_run(void *ctx, const struct kwork *k, const struct kwork_run *run);

void kwork_text_top(const struct kwork_text *t, const struct kwork_top *top);

/* Prints what was wrong with the events; nothing if nothing was. `raises`: raises without an entry count,
 * too. */
void kwork_text_faults(const struct kwork *k, bool raises, struct out *o);

#endif
