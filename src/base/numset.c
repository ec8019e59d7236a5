/* SPDX-License-Identifier: Apache-2.0 */
#include "base/numset.h"

#include <stdlib.h>

bool numset_init(struct numset *s, uint32_t n) {
    *s = (struct numset){.count = 0};
    uint64_t words = n;
    do {
        words = words / 64 + 1;
        s->levels[s->count] = calloc(words, sizeof(uint64_t));
        if (!s->levels[s->count++]) {
            numset_fini(s);
            return false;
        }
    } while (words > 1);
    return true;
}

void numset_fini(struct numset *s) {
    for (unsigned l = 0; l < s->count; l++)
        free(s->levels[l]);
    *s = (struct numset){.count = 0};
}
