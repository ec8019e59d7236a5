/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <string.h>

enum { LONGEST = 63, FAR = 1000 };

static size_t min2(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b) {
    size_t la = strlen(a), lb = strlen(b);
    if (la > LONGEST || lb > LONGEST)
        return FAR;
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= la; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= lb; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        for (size_t j = 1; j <= lb; j++) {
            size_t replaced = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = min2(replaced, min2(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[la][lb];
}

struct nearest nearest_start(const char *word) {
    /* One slip in three letters is a slip; more is another word. */
    return (struct nearest){word, NULL, (strlen(word) + 2) / 3};
}

void nearest_try(struct nearest *n, const char *name) {
    size_t d = nearest_distance(n->word, name);
    /* A name that shares nothing but its length is no suggestion. */
    if (d >= strlen(n->word) || d >= strlen(name))
        return;
    if (d < n->distance || (d == n->distance && !n->best)) {
        n->best = name;
        n->distance = d;
    }
}
