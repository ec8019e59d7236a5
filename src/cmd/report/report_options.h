/* SPDX-License-Identifier: Apache-2.0 */
/* What the user requested of `report`, on the command line and in the configuration. */
#ifndef SONDE_CMD_REPORT_REPORT_OPTIONS_H
#define SONDE_CMD_REPORT_REPORT_OPTIONS_H

#include "base/vec.h"
#include "cmd/common/options/option.h"
#include "cmd/common/options/perfconfig.h"
#include "profile/profile.h"
#include "symbol/store/store.h"
#include "view/report/report_graph.h"

enum report_color { REPORT_COLOR_AUTO, REPORT_COLOR_ALWAYS, REPORT_COLOR_NEVER };

/* A flag with a default that depends on the recording. */
enum report_choice { REPORT_UNSAID, REPORT_YES, REPORT_NO };

struct report_chain_options {
    bool asked, order_said;
    enum profile_chain_mode mode;
    enum profile_chain_order order;
    enum profile_chain_key key;
    enum report_graph_value value;
    bool branches; /* add branch stacks to callchains */
    double min_percent;
    unsigned limit; /* 0: none */
};

struct report_options {
    /* Views of the file's contents. */
    bool force, quiet, dump, disable_order, stats, tasks, mmaps, header, header_only, show_info;
    bool json;
    int verbose;
    const char *input;

    /* Grouping. */
    const char *sort, *fields;
    enum report_choice children, branch_stack, group;
    const char *pretty;
    bool branch_history, hierarchy, latency, mem_mode, total_cycles, threads;
    bool show_samples, show_total_period, show_cpu_utilization, show_reference;
    struct report_chain_options chain;
    int max_stack;
    const char *parent, *ignore_callees;
    bool exclude_other, stitch_lbr, raw_trace, nanoseconds;
    uint64_t time_quantum_ns;
    int group_sort_index; /* -1: the leader */

    /* Filters. */
    const char *comms, *dsos, *symbols, *symbol_filter, *cpus, *pids, *tids, *time, *parallelism;
    const char *switch_on, *switch_off;
    bool hide_unresolved, relative;
    int socket; /* -1: all */
    double percent_limit;

    /* Appearance. */
    const char *separator;
    VEC(unsigned) widths;
    enum report_color color;
    enum report_choice tui; /* UNSAID: on a terminal */
    bool keep_empty;

    unsigned thread_count; /* 0: one per CPU, or a single one for small recordings */

    const char *jitdump_dir;
    struct symbol_options symbol;
    bool live_modules, inlines, full_source_path;
    bool grades, strict;

    bool stacks, moments, slices, own_inlines, blocks, block_values, streams; /* profile_options' */

    /* Accepted for compatibility. */
    bool flag_ignored;
    const char *text_ignored;
    const char *absent; /* an option that sonde does not have yet was used */
};

/* Sets the defaults, and what the configuration has (perf-config(1): report.*, call-graph.*, hist.*,
 * color.ui). */
void report_options_init(struct report_options *o, const struct perfconfig *config);
void report_options_fini(struct report_options *o);

extern const struct option report_option_rows[];

/* For rows of other commands with the same options; the field is one of a struct report_options: a
 * report_choice, that of `tui`, an inverted flag, `relative`, `percent_limit`, `widths`, `separator`. */
option_fn report_take_choice, report_take_stdio, report_take_not, report_take_relative, report_take_percent,
    report_take_widths, report_take_separator;
/* Takes what -g says of call graphs: words in any order, separated by commas. False: there is another word.
 */
bool report_chain_text(struct report_chain_options *c, const char *text);

/* Checks what single options could not, if a profile is to be shown. False: ERR_USAGE or ERR_UNSUPPORTED. */
bool report_options_settle(struct report_options *o, struct err *err);

#endif
