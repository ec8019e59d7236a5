/* SPDX-License-Identifier: Apache-2.0 */
/* The options of annotate, as they are given and as they are meant. */
#ifndef SONDE_CMD_ANNOTATE_ANNOTATE_OPTIONS_H
#define SONDE_CMD_ANNOTATE_ANNOTATE_OPTIONS_H

#include "cmd/common/command.h"
#include "symbol/store/store.h"
#include "view/annotate/annotate_text.h"

enum annotate_group { ANNOTATE_GROUP_UNSAID, ANNOTATE_GROUP_ALL, ANNOTATE_GROUP_NONE };
enum annotate_colors { ANNOTATE_COLOR_AUTO, ANNOTATE_COLOR_ALWAYS, ANNOTATE_COLOR_NEVER };

struct annotate_command_options {
    const char *input, *cpus, *dsos, *symbol;
    bool force, quiet, show_samples, show_period, line_summary, full_paths, raw, no_source, inlines, jump;
    bool skip_missing, skip_empty, stdio, stdio2, tui, live_modules;
    int verbose, group, color, strip;
    double percent_limit;
    unsigned percent;      /* enum annotate_percent */
    unsigned usual_column; /* enum annotate_column: what is shown if no option says */
    const char *prefix, *style, *objdump, *jitdump_dir, *ignored;
    struct symbol_options symbols;
};

extern const struct option annotate_option_rows[];

/* Sets the defaults, as far as the configuration has some. */
void annotate_options_init(struct annotate_command_options *o, const struct perfconfig *config);

/* Checks what depends on each other. False: *err, ERR_USAGE. */
bool annotate_options_check(const struct annotate_command_options *o, struct err *err);

#endif
