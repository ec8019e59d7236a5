/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data source of the terminal browser. When its data change (new samples of a live source, another range
 * of time), so does its generation number, and pointers obtained from it before become invalid.
 */
#ifndef SONDE_VIEW_TUI_SOURCE_H
#define SONDE_VIEW_TUI_SOURCE_H

#include "stacks/stacks.h"
#include "view/report/report_text.h"
#include "view/tui/rows.h"

/* One generation; borrowed from the source until it changes. */
struct tui_data {
    const struct profile *profile;
    const struct report_text_options *text; /* how it would be printed */
    const char *note; /* for the title line: what a live source says of itself; NULL: nothing */
    /* Shown in place of the profile's events, if there are any. */
    const struct tui_rows *const *tables;
    uint32_t table_count;
};

/* What a live source can be asked for. */
enum tui_live_wish {
    TUI_LIVE_FREEZE, /* what is shown stays, or goes on */
    TUI_LIVE_ZERO,   /* each generation begins from nothing, or no longer */
    TUI_LIVE_DELAY   /* between generations: a text in seconds */
};

/* What else the browser asks of the samples. */
struct tui_wish {
    bool ranged; /* only those of this range: */
    uint64_t from_ns, to_ns;
    bool verbose;
    int group_index; /* the member of groups that sorts; -1: the leader */
};

struct tui_source {
    void *ctx;
    uint64_t (*generation)(void *ctx);
    struct tui_data (*data)(void *ctx);
    /* The rest may be NULL: the browser says that it is not to be had. */

    /* Makes a new generation. False: *err says why; there is no data any more. */
    bool (*change)(void *ctx, const struct tui_wish *w, struct err *err);
    /* Returns the whole stacks, with moments, of all samples whatever their time; they live as long as the
     * source. NULL: *err says why. */
    const struct stacks *(*stacks)(void *ctx, struct err *err);
    /* Appends the evidence for a function's name, as `sonde why` words it. `dso`: its object; NULL: any. */
    bool (*why)(void *ctx, const char *function, const char *dso, struct out *out, struct err *err);
    /* Appends a function with its instructions and what an event (of the recording) hit of them; *line
     * becomes the number of the line, from 0, with the one that was hit most. `dso` as above. */
    bool (*annotate)(void *ctx, const char *function, const char *dso, uint32_t event, struct out *out,
                     uint64_t *line, struct err *err);
    /* Appends the recording's header. */
    bool (*header)(void *ctx, struct out *out, struct err *err);
    /* Writes a text to a new file; its name goes to `name`, which has room for `size` bytes. */
    bool (*save)(void *ctx, const char *text, size_t n, char *name, size_t size, struct err *err);
    /* A source that has new data by itself, and may have none yet, does what is wished, and puts what it says
     * of that into `said`. */
    void (*live)(void *ctx, enum tui_live_wish wish, const char *text, char *said, size_t size);
};

#endif
