/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/config/config_keys.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"
#include "cmd/common/command.h"
#include "cmd/common/options/perfconfig.h"

#define TRUTH "true|false"

static const struct config_key keys[] = {
    {"annotate.disassembler_style", "att|intel", "att", "the syntax of assembly that `annotate` shows"},
    {"annotate.objdump", NULL, "none", "the program that disassembles for `annotate` (sonde does so itself)"},
    {"annotate.show_nr_samples", TRUTH, "false", "`annotate` shows numbers of samples, not percentages"},
    {"annotate.show_total_period", TRUTH, "false", "`annotate` shows sums of periods, not percentages"},
    {"buildid.dir", NULL, "~/.debug", "the build-id cache, where kept files and symbols are"},
    {"call-graph.dump-size", "N", "8192",
     "bytes of stack that `record --call-graph dwarf` keeps with a sample"},
    {"call-graph.order", "caller|callee", "caller, without children callee",
     "which end of call chains is on top"},
    {"call-graph.print-limit", "N", "0", "call chains shown below an entry; 0: all"},
    {"call-graph.print-type", "graph|fractal|flat|folded|none", "graph", "how `report` draws call chains"},
    {"call-graph.record-mode", NULL, "fp", "how `record -g` finds callers: fp, dwarf, lbr"},
    {"call-graph.sort-key", "function|address", "function", "what makes call chains one"},
    {"call-graph.threshold", "N", "0.5", "smallest share of a branch that is drawn, in percent"},
    {"color.ui", "auto|always|never|true|false", "auto", "colours in what `report` prints"},
    {"diff.compute", NULL, "delta-abs", "what `diff` computes of two rows: what its -c takes"},
    {"diff.order", "N", "1", "the file by whose differences `diff` sorts; 0: the baseline"},
    {"hist.percentage", "relative|absolute", "absolute", "what filters leave counts as 100 %, or not"},
    {"pager.CMD", NULL, "true", "whether output of the command goes through the pager, or the pager's name"},
    {"record.build-id", "cache|no-cache|skip|mmap", "cache",
     "whether `record` fills the build-id cache; skip: no build-ids"},
    {"report.children", TRUTH, "true", "`report` sums up what was called, too, where there are call chains"},
    {"report.group", TRUTH, "true", "events of a group are shown side by side"},
    {"report.percent-limit", "N", "0", "smallest share of an entry that is shown, in percent"},
    {"report.skip-empty", TRUTH, "true", "`report --stat` leaves out what is zero"},
    {"report.sort_order", NULL, "comm,dso,symbol", "sort keys of `report`"},
    {"stat.big-num", TRUTH, "true", "`stat` puts separators between groups of three digits"},
    {"stat.columns", "6|7", "7", "whose columns `stat` prints: those of perf 6 or 7"},
    {"stat.no-csv-summary", TRUTH, "false", "sums after intervals do not begin with `summary` in CSV"},
    {"top.call-graph", NULL, "fp", "how `top -g` finds callers: fp, dwarf, lbr"},
    {"top.children", TRUTH, "true", "`top -g` sums up what was called, too"},
    {"trace.args_alignment", "N", "70",
     "where results begin in lines of `trace`; 0: right after the arguments"},
    {"trace.no_inherit", TRUTH, "false", "`trace` leaves children out"},
    {"trace.show_arg_names", TRUTH, "true", "`trace` shows names of arguments; without them zeros, too"},
    {"trace.show_duration", TRUTH, "true", "`trace` shows how long a call took"},
    {"trace.show_prefix", TRUTH, "false", "`trace` shows MAP_SHARED, not SHARED"},
    {"trace.show_timestamp", TRUTH, "true", "`trace` shows when a call began"},
    {"trace.show_zeros", TRUTH, "false", "`trace` shows arguments that are 0 and say nothing"},
    {"trace.tracepoint_beautifiers", "libbeauty|libtraceevent", "libbeauty",
     "libtraceevent: as `trace --libtraceevent_print`"},
    {"tui.report", TRUTH, "true", "`report` opens the browser in a terminal"},
    {"tui.top", TRUTH, "true", "`top` opens the browser in a terminal"},
    {"ui.show-headers", TRUTH, "true", "the browser has column headings"},
};

const struct config_key *config_key_at(size_t i) {
    return i < sizeof keys / sizeof *keys ? &keys[i] : NULL;
}

const struct config_key *config_key_find(const char *name) {
    static const char any[] = "CMD";
    const struct config_key *k;
    for (size_t i = 0; (k = config_key_at(i)); i++) {
        size_t fixed = strlen(k->name) - (sizeof any - 1);
        bool pattern = strcmp(k->name + fixed, any) == 0;
        if (strcasecmp(k->name, name) == 0)
            return k;
        if (pattern && strncasecmp(k->name, name, fixed) == 0 &&
            (command_find(name + fixed) || command_find_absent(name + fixed)))
            return k;
    }
    return NULL;
}

const char *config_key_nearest(const char *name) {
    struct nearest near = nearest_start(name);
    const struct config_key *k;
    for (size_t i = 0; (k = config_key_at(i)); i++)
        nearest_try(&near, k->name);
    return near.best;
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return end != text && *end == 0;
}

static bool one_of(const char *words, const char *value) {
    for (size_t n; *words; words += n + (words[n] == '|')) {
        n = strcspn(words, "|");
        if (strncasecmp(words, value, n) == 0 && value[n] == 0)
            return true;
    }
    return false;
}

bool config_key_takes(const struct config_key *key, const char *value, struct err *err) {
    if (!key->values)
        return true;
    if (strcmp(key->values, "N") == 0)
        return is_number(value) || err_set(err, ERR_USAGE, "", "%s is a number, not '%s'", key->name, value);
    if (strcmp(key->values, TRUTH) == 0)
        return perfconfig_truth(value) >= 0 ||
               err_set(err, ERR_USAGE, "", "%s is true or false, not '%s'", key->name, value);
    return one_of(key->values, value) ||
           err_set(err, ERR_USAGE, "", "%s is one of %s, not '%s'", key->name, key->values, value);
}
