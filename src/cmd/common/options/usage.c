/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/usage.h"

#include <ctype.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/options/words.h"

enum { HELP_COLUMN = 26, HELP_END = 79, ROWS_MAX = 256 };

void usage_lines(struct out *o, const char *program, const char *const *usage) {
    for (size_t i = 0; usage[i]; i++)
        out_printf(o, "%s%s %s\n", i ? "    or: " : " Usage: ", program, usage[i]);
}

void usage_value(struct out *o, const struct option *row) {
    if (!option_takes_value(row))
        return;
    bool optional = row->flags & (OPTION_VALUE_OPTIONAL | OPTION_VALUE_ADOPT);
    const char *name = row->arg ? row->arg : "value";
    if (!optional)
        out_printf(o, " <%s>", name);
    else if (row->name)
        out_printf(o, "[=<%s>]", name);
    else
        out_printf(o, "[<%s>]", name);
}

/* Prints the words, as many on each line as fit. */
static void usage_words(struct out *o, enum option_words kind) {
    const char *word = words_at(kind, 0);
    size_t column = HELP_END;
    for (size_t i = 1; word; i++) {
        const char *next = words_at(kind, i);
        size_t n = strlen(word) + (next != NULL);
        if (column + 1 + n > HELP_END) {
            if (i > 1)
                out_char(o, '\n');
            out_fill(o, ' ', HELP_COLUMN - 1);
            column = HELP_COLUMN - 1;
        }
        out_printf(o, " %s%s", word, next ? "," : "");
        column += 1 + n;
        word = next;
    }
    out_char(o, '\n');
}

void usage_option(struct out *o, const struct option *row) {
    uint64_t before = o->total + o->len;
    out_str(o, "    ");
    if (row->letter)
        out_printf(o, "-%c", row->letter);
    if (row->name)
        out_printf(o, "%s--%s", row->letter ? ", " : "    ", row->name);
    usage_value(o, row);
    size_t used = (size_t)(o->total + o->len - before);
    if (used > HELP_COLUMN - 2) {
        out_char(o, '\n');
        used = 0;
    }
    char room[COMMAND_WORDS_ROOM];
    const char *help = command_words(row->help ? row->help : "", room, sizeof room);
    for (;;) {
        size_t n = strcspn(help, "\n");
        out_fill(o, ' ', n ? HELP_COLUMN - used : 0);
        out_mem(o, help, n);
        out_char(o, '\n');
        if (!help[n])
            break;
        help += n + 1;
        used = 0;
    }
    if (words_shown(row))
        usage_words(o, row->words);
}

static int compare(const struct option *a, const struct option *b) {
    if (!a->letter != !b->letter)
        return a->letter ? -1 : 1;
    if (a->letter)
        return tolower((unsigned char)a->letter) - tolower((unsigned char)b->letter);
    return strcmp(a->name, b->name);
}

static bool wanted(const struct option *row, int count, char *const *words) {
    if (row->flags & OPTION_HIDDEN)
        return false;
    for (int i = 0; i < count; i++) {
        const char *w = words[i];
        while (*w == '-')
            w++;
        if (strlen(w) <= 1 ? row->letter && *w == row->letter
                           : (row->name && strstr(row->name, w)) || (row->help && strcasestr(row->help, w)))
            return true;
    }
    return count == 0;
}

void usage_options(struct out *o, const struct option *rows, int count, char *const *words) {
    const struct option *sorted[ROWS_MAX];
    size_t n = 0;
    for (const struct option *row = rows; row && row->kind && n < ROWS_MAX; row++) {
        if (!wanted(row, count, words))
            continue;
        size_t at = n++;
        for (; at > 0 && compare(sorted[at - 1], row) > 0; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = row;
    }
    for (size_t i = 0; i < n; i++)
        usage_option(o, sorted[i]);
}
