/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows, stacks and threads are shown, in all screens of the browser alike. */
#ifndef SONDE_VIEW_TUI_FILTER_H
#define SONDE_VIEW_TUI_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tui_filter_kind {
    TUI_BY_SYMBOL, /* a part of the name */
    TUI_BY_THREAD, /* the whole text, as of the others */
    TUI_BY_DSO,
    TUI_BY_SOCKET,
    TUI_FILTERS
};

struct tui_filter {
    char *text[TUI_FILTERS];           /* owned; NULL: no such filter */
    bool kernel;                       /* TUI_BY_DSO is the kernel, whatever its name */
    uint8_t order[TUI_FILTERS], count; /* the kinds that are set, the last one last */
    double least_percent;
    bool relative; /* percentages of what is left */
    bool ranged;
    uint64_t from_ns, to_ns;
};

/* Sets a filter, or with NULL takes it away. False: out of memory. */
bool tui_filter_set(struct tui_filter *f, enum tui_filter_kind kind, const char *text, size_t n);
/* Takes the last one away. False: there is none. */
bool tui_filter_pop(struct tui_filter *f);
void tui_filter_fini(struct tui_filter *f);

/* Whether a text passes the filter of that kind. */
bool tui_filter_passes(const struct tui_filter *f, enum tui_filter_kind kind, const char *text, size_t n);
/* Whether an object's name is the kernel's own. */
bool tui_is_kernel(const char *dso, size_t n);

#endif
