/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks texts, so that rows are compared by numbers. */
#include <stdlib.h>

#include "profile/profile_internal.h"

struct item {
    uint64_t prefix; /* the first eight bytes, big-endian: decides nearly always */
    const char *text;
    uint32_t index;
};

static uint64_t prefix_of(const char *text) {
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        v = v << 8 | (uint8_t)*text;
        text += *text != '\0';
    }
    return v;
}

static int by_text(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return x->prefix != y->prefix ? profile_by_number(x->prefix, y->prefix) : strcmp(x->text, y->text);
}

bool profile_rank_texts(const char *const *texts, uint32_t n, uint32_t *ranks) {
    struct item *items = malloc((n + 1) * sizeof *items);
    if (!items)
        return false;
    for (uint32_t i = 0; i < n; i++)
        items[i] = (struct item){prefix_of(texts[i]), texts[i], i};
    qsort(items, n, sizeof *items, by_text);
    for (uint32_t i = 0, rank = 0; i < n; i++) {
        rank += i && by_text(&items[i - 1], &items[i]);
        ranks[items[i].index] = rank;
    }
    free(items);
    return true;
}
