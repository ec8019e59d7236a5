/* SPDX-License-Identifier: Apache-2.0 */
/* Matched streams as text, in the layout of perf diff --stream: two columns. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/diff/diff_view.h"

enum { WIDTH = 35, TEXT = 96 };
static const char *const rules[2] = {"        ---------------------------",
                                     "         --------------------------"};

static void put_title(const struct profile_stream_sums *side, const struct profile_stream_sum *s,
                      struct out *o) {
    char text[TEXT];
    double share = side->period ? 100.0 * (double)s->period / (double)side->period : 0;
    int len = snprintf(text, sizeof text, "cycles: %" PRIu64 ", hits: %.2f%%",
                       s->samples ? s->cycles / s->samples : 0, share);
    out_right(o, text, (size_t)len, WIDTH);
}

/* Prints the next line of *text, and moves there. */
static void put_line(const char **text, struct out *o) {
    size_t len = strcspn(*text, "\n");
    out_right(o, *text, len, WIDTH);
    *text += len + ((*text)[len] == '\n');
}

static void print_pair(const struct compare_streams *s, uint32_t base, uint32_t now, uint32_t number,
                       struct out *o) {
    const struct profile_stream_sum *a = &s->sides[0].list.items[base], *b = &s->sides[1].list.items[now];
    const char *left = a->lines, *right = b->lines;
    out_printf(o, "\nhot chain pair %" PRIu32 ":\n", number);
    put_title(&s->sides[0], a, o);
    out_char(o, '\t');
    put_title(&s->sides[1], b, o);
    out_printf(o, "\n%s\t%s\n", rules[0], rules[1]);
    while (*left || *right) {
        put_line(&left, o);
        out_char(o, '\t');
        put_line(&right, o);
        out_char(o, '\n');
    }
}

static void print_alone(const struct compare_streams *s, int side, uint32_t which, uint32_t number,
                        struct out *o) {
    const struct profile_stream_sum *x = &s->sides[side].list.items[which];
    const char *text = x->lines;
    out_printf(o, "\nhot chain %" PRIu32 ":\n", number);
    for (int row = 0; row < 2 || *text; row++) {
        if (side) {
            out_fill(o, ' ', WIDTH);
            out_char(o, '\t');
        }
        if (row == 0)
            put_title(&s->sides[side], x, o);
        else if (row == 1)
            out_str(o, rules[1]);
        else
            put_line(&text, o);
        out_char(o, '\n');
    }
}

void streams_text_print(const struct compare_streams *s, struct out *o) {
    uint32_t number = 0;
    out_str(o, "[ Matched hot streams ]\n");
    for (uint32_t i = 0; i < s->counts[0]; i++)
        if (s->partners[i] != COMPARE_STREAM_NONE)
            print_pair(s, i, s->partners[i], ++number, o);
    number = 0;
    out_str(o, "\n[ Hot streams in old perf data only ]\n");
    for (uint32_t i = 0; i < s->counts[0]; i++)
        if (s->partners[i] == COMPARE_STREAM_NONE)
            print_alone(s, 0, i, ++number, o);
    number = 0;
    out_str(o, "\n[ Hot streams in new perf data only ]\n");
    for (uint32_t i = 0; i < s->counts[1]; i++)
        if (!compare_streams_taken(s, i))
            print_alone(s, 1, i, ++number, o);
}
