/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions of metrics, as Intel's and Arm's published metric files and perf-list(1) have them:
 *
 *     100 * cpu@EVENT\,cmask\=1@ / cycles if #SMT_on else max(instructions, 1)
 *
 * Numbers; names of events, where @ stands for / and a backslash takes the meaning off the character after
 * it; names that begin with # (facts of the machine); + - * / % < > & | ^, parentheses, `A if C else B`, and
 * the functions min, max, d_ratio (0 where it would divide by 0), abs, source_count and has_event (of a
 * name).
 */
#ifndef SONDE_COUNT_METRIC_EXPR_H
#define SONDE_COUNT_METRIC_EXPR_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

struct metric_node;

struct metric_expr {
    const struct metric_node *root;
    VEC(const char *)
    names; /* that it needs, each once, in the order in which they appear; not those with # */
    struct arena arena;
};

enum { METRIC_EXPR_MAX = 1 << 14 /* bytes */, METRIC_DEPTH_MAX = 200 };

/* False and *err (ERR_USAGE, with the place) when it cannot be understood; there is nothing to free then. */
bool metric_expr_parse(struct metric_expr *e, const char *text, struct err *err);
void metric_expr_fini(struct metric_expr *e);

enum metric_ask {
    METRIC_VALUE,  /* of a name, or of a fact ("#num_cpus") */
    METRIC_THERE,  /* has_event: 1 or 0 */
    METRIC_SOURCES /* source_count: how many counters there are */
};
/* False: it is not known, nor is then what depends on it. */
typedef bool metric_lookup_fn(void *ctx, const char *name, enum metric_ask ask, double *value);

/* The value; NaN when something it needs is not known, or it divides by 0. */
double metric_expr_value(const struct metric_expr *e, metric_lookup_fn *fn, void *ctx);

/* Whether the value of `name` is ever asked for: not where a condition made of facts alone (#smt_on) chooses
 * something else. */
bool metric_expr_needs(const struct metric_expr *e, const char *name, metric_lookup_fn *facts, void *ctx);

#endif
