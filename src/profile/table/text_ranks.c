/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks texts, so that rows are compared by numbers. */
#include <stdlib.h>

#include "profile/profile_internal.h"

struct item {
    uint64_t prefix; /* the first eight bytes, big-endian: decides nearly always */
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

static bool before(const char *const *texts, const struct item *a, const struct item *b) {
    return a->prefix != b->prefix ? a->prefix < b->prefix : strcmp(texts[a->index], texts[b->index]) < 0;
}

/* Stable merge sort, bottom up. */
static struct item *sort(const char *const *texts, struct item *from, struct item *to, size_t n) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t i = 0; i < n; i += 2 * width) {
            size_t a = i, a_end = i + width < n ? i + width : n;
            size_t b = a_end, b_end = i + 2 * width < n ? i + 2 * width : n, at = i;
            while (a < a_end && b < b_end)
                to[at++] = before(texts, &from[b], &from[a]) ? from[b++] : from[a++];
            while (a < a_end)
                to[at++] = from[a++];
            while (b < b_end)
                to[at++] = from[b++];
        }
        struct item *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

bool profile_rank_texts(const char *const *texts, uint32_t n, uint32_t *ranks) {
    struct item *items = malloc((n + 1) * sizeof *items), *other = malloc((n + 1) * sizeof *other);
    bool ok = items && other;
    if (ok) {
        for (uint32_t i = 0; i < n; i++)
            items[i] = (struct item){prefix_of(texts[i]), i};
        const struct item *sorted = sort(texts, items, other, n);
        uint32_t rank = 0;
        for (uint32_t i = 0; i < n; i++) {
            rank += i && before(texts, &sorted[i - 1], &sorted[i]);
            ranks[sorted[i].index] = rank;
        }
    }
    free(items);
    free(other);
    return ok;
}
