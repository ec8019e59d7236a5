/* SPDX-License-Identifier: Apache-2.0 */
/* Which of some names a mistyped word most likely meant. */
#ifndef SONDE_BASE_NEAREST_H
#define SONDE_BASE_NEAREST_H

#include <stddef.h>

struct nearest {
    const char *word;
    const char *best; /* the nearest name so far, borrowed; NULL: none is near enough to suggest */
    size_t distance;
};

/* Start with the word, try every name, read `best`. Of equally near names the first tried wins. */
struct nearest nearest_start(const char *word);
void nearest_try(struct nearest *n, const char *name);

/* Insertions, deletions, replacements and swaps of neighbours that lead from a to b (the "optimal string
 * alignment" distance); names longer than 63 bytes count as far away. */
size_t nearest_distance(const char *a, const char *b);

#endif
