/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/filter.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct tui_filter *f, enum tui_filter_kind kind) {
    unsigned n = 0;
    for (unsigned i = 0; i < f->count; i++)
        if (f->order[i] != kind)
            f->order[n++] = f->order[i];
    f->count = (uint8_t)n;
    free(f->text[kind]);
    f->text[kind] = NULL;
    if (kind == TUI_BY_DSO)
        f->kernel = false;
}

bool tui_filter_set(struct tui_filter *f, enum tui_filter_kind kind, const char *text, size_t n) {
    char *copy = text ? malloc(n + 1) : NULL;
    if (text && !copy)
        return false;
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = '\0';
    }
    forget(f, kind);
    f->text[kind] = copy;
    if (copy)
        f->order[f->count++] = (uint8_t)kind;
    return true;
}

bool tui_filter_pop(struct tui_filter *f) {
    if (!f->count)
        return false;
    forget(f, (enum tui_filter_kind)f->order[f->count - 1]);
    return true;
}

void tui_filter_fini(struct tui_filter *f) {
    for (unsigned i = 0; i < TUI_FILTERS; i++)
        free(f->text[i]);
    *f = (struct tui_filter){0};
}

bool tui_is_kernel(const char *dso, size_t n) {
    static const char *const names[] = {"[kernel", "[guest.kernel"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (n >= strlen(names[i]) && !memcmp(dso, names[i], strlen(names[i])))
            return true;
    return false;
}

bool tui_filter_passes(const struct tui_filter *f, enum tui_filter_kind kind, const char *text, size_t n) {
    const char *wanted = f->text[kind];
    if (!wanted)
        return true;
    if (kind == TUI_BY_DSO && f->kernel)
        return tui_is_kernel(text, n);
    if (kind == TUI_BY_SYMBOL)
        return memmem(text, n, wanted, strlen(wanted));
    return n == strlen(wanted) && !memcmp(text, wanted, n);
}
