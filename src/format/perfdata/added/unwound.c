/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/unwound.h"

#include <stdio.h>

static const char STACKS[] = "stacks\t", CUT[] = "cut\t";

static void put(struct writer *w, const char *text) {
    writer_put(w, text, strlen(text));
}

static void put_number(struct writer *w, uint64_t v, const char *end) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    put(w, text);
    put(w, end);
}

void perfdata_unwound_encode(const struct perfdata_unwound *u, struct writer *w) {
    put(w, STACKS);
    put_number(w, u->stacks, "\t");
    put_number(w, u->whole, "\t");
    put_number(w, u->cut, "\t");
    put_number(w, u->kept, "\t");
    put_number(w, u->lagging, "\n");
}

void perfdata_unwound_encode_cut(uint64_t stacks, const char *image, struct writer *w) {
    put(w, CUT);
    put_number(w, stacks, "\t");
    put(w, image);
    put(w, "\n");
}

/* Takes the next line off the text; false at the end. */
static bool take_line(struct bytes *text, struct bytes *line) {
    if (!text->size)
        return false;
    const uint8_t *nl = memchr(text->data, '\n', text->size);
    size_t n = nl ? (size_t)(nl - text->data) : text->size, step = n + (nl != NULL);
    *line = (struct bytes){text->data, n};
    *text = (struct bytes){text->data + step, text->size - step};
    return true;
}

static bool take_word(struct bytes *line, const char *word) {
    size_t n = strlen(word);
    if (line->size < n || memcmp(line->data, word, n) != 0)
        return false;
    *line = (struct bytes){line->data + n, line->size - n};
    return true;
}

/* A number, and the tab after it unless the line ends there. */
static bool take_number(struct bytes *line, uint64_t *out) {
    size_t n = 0;
    for (*out = 0; n < line->size && line->data[n] >= '0' && line->data[n] <= '9'; n++)
        if (__builtin_mul_overflow(*out, 10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(line->data[n] - '0'), out))
            return false;
    if (!n || (n < line->size && line->data[n] != '\t'))
        return false;
    n += n < line->size;
    *line = (struct bytes){line->data + n, line->size - n};
    return true;
}

bool perfdata_unwound_decode(struct bytes text, struct perfdata_unwound *out) {
    for (struct bytes line; take_line(&text, &line);)
        if (take_word(&line, STACKS) && take_number(&line, &out->stacks) && take_number(&line, &out->whole) &&
            take_number(&line, &out->cut) && take_number(&line, &out->kept) &&
            take_number(&line, &out->lagging))
            return true;
    *out = (struct perfdata_unwound){.stacks = 0};
    return false;
}

bool perfdata_unwound_next_cut(struct bytes *rest, uint64_t *stacks, struct bytes *image) {
    while (take_line(rest, image))
        if (take_word(image, CUT) && take_number(image, stacks))
            return true;
    return false;
}
