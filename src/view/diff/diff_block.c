/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/diff_block.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void diff_block_print(const struct compare_block *b, unsigned width, const char *separator, struct out *out) {
    char number[32];
    if (!b) {
        out_fill(out, ' ', width);
        return;
    }
    int digits = snprintf(number, sizeof number, " %4" PRId64, b->difference);
    size_t len = strlen(b->range) + (size_t)digits;
    out_fill(out, ' ', !separator && width > len ? width - len : 0);
    for (const char *at = b->range; *at; at++)
        out_char(out, separator && *separator && *at == *separator ? '.' : *at);
    out_str(out, number);
    out_fill(out, ' ', separator && width > len ? width - len : 0);
}

void diff_block_print_values(const struct compare_block *b, unsigned width, struct out *out) {
    static const char *const heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    enum { HIGHEST = 7, LEAD = 8 }; /* LEAD: "± 12.5% " */
    if (!b || b->variation < 0) {
        out_fill(out, ' ', width);
        return;
    }
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < b->pairs; i++) {
        least = b->differences[i] < least ? b->differences[i] : least;
        most = b->differences[i] > most ? b->differences[i] : most;
    }
    out_printf(out, "±%5.1f%% ", b->variation);
    for (uint32_t i = 0; i < b->pairs; i++)
        out_str(out, heights[most > least ? (b->differences[i] - least) * HIGHEST / (most - least) : 0]);
    out_fill(out, ' ', width > LEAD + b->pairs ? width - LEAD - b->pairs : 0);
}
