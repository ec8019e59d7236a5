/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/row_order.h"

#include <stdlib.h>

/* Returns each node's number when they are counted depth first. NULL: out of memory. */
static uint32_t *number_nodes(const struct stacks *s) {
    size_t n = s->nodes.count;
    /* By node + 1, so that [0] is the root: how many nodes lie below it, and where the next one goes. */
    uint32_t *below = calloc(n + 1, sizeof *below), *next = calloc(n + 1, sizeof *next);
    uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
    for (size_t i = n; below && i > 0; i--) { /* callers have smaller numbers */
        uint32_t caller = s->nodes.items[i - 1].caller;
        below[caller == STACKS_NONE ? 0 : caller + 1] += below[i] + 1;
    }
    for (size_t i = 1; below && next && numbers && i <= n; i++) {
        uint32_t caller = s->nodes.items[i - 1].caller, *at = &next[caller == STACKS_NONE ? 0 : caller + 1];
        numbers[i - 1] = *at;
        next[i] = *at + 1;
        *at += below[i] + 1;
    }
    bool ok = below && next;
    free(below);
    free(next);
    if (ok)
        return numbers;
    free(numbers);
    return NULL;
}

struct ordering {
    const struct stacks_row *rows;
    const uint32_t *numbers;
};

static int by_place(const void *a, const void *b, void *ctx) {
    const struct ordering *o = ctx;
    const struct stacks_row *x = &o->rows[*(const uint32_t *)a], *y = &o->rows[*(const uint32_t *)b];
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    uint32_t p = o->numbers[x->node], q = o->numbers[y->node];
    return p < q ? -1 : p > q;
}

uint32_t *row_order(const struct stacks *s, uint32_t event, size_t *count) {
    uint32_t *rows = malloc((s->rows.count + 1) * sizeof *rows), *numbers = number_nodes(s);
    *count = 0;
    for (uint32_t i = 0; rows && i < s->rows.count; i++)
        if (s->rows.items[i].event == event)
            rows[(*count)++] = i;
    if (rows && numbers) {
        struct ordering o = {s->rows.items, numbers};
        qsort_r(rows, *count, sizeof *rows, by_place, &o);
    } else {
        free(rows);
        rows = NULL;
    }
    free(numbers);
    return rows;
}
