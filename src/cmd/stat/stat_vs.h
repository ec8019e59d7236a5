/* SPDX-License-Identifier: Apache-2.0 */
/* `stat --vs`: commands run by turns, and which of them is faster (count/verdict/versus.h). */
#ifndef SONDE_CMD_STAT_STAT_VS_H
#define SONDE_CMD_STAT_STAT_VS_H

#include "cmd/common/options/option.h"

/* What the options say of it. */
struct stat_vs_options {
    struct option_list others; /* what the command is compared with; none: no comparison */
    double until;              /* the precision to stop at, 0.01: 1 %; 0: the default */
    uint64_t budget_ns;        /* 0: the default */
    bool gate;
    double gate_share; /* a proved regression is one of more than this */
    bool ignore_status;
};

/* Parse one option each. Their field in the option table is the whole struct stat_vs_options. */
option_fn stat_vs_set_until, stat_vs_set_budget, stat_vs_set_gate;

/* Rows for a table of options; `field` of `type` is a struct stat_vs_options. */
#define STAT_VS_OPTIONS(type, field)                                                                        \
    OPTION_LIST(                                                                                            \
        0, "vs", type, field.others, "command",                                                             \
        "run this command and the given one by turns, and tell whether it is faster; several times: "       \
        "each against the given one"),                                                                      \
        OPTION_CALL(0, "until", type, field, "percent",                                                     \
                    "with --vs: go on until the intervals reach so far to either side (1%)",                \
                    stat_vs_set_until),                                                                     \
        OPTION_CALL(0, "for", type, field, "time",                                                          \
                    "with --vs: go on for so long at most: 30s, 5m, 1h (60s, and ten pairs at least)",      \
                    stat_vs_set_budget),                                                                    \
        OPTION_CALL(0, "gate", type, field, "percent",                                                      \
                    "with --vs: status 1 if a command is proved to be slower (by more than that), 2 if it " \
                    "cannot be judged",                                                                     \
                    stat_vs_set_gate, .flags = OPTION_VALUE_OPTIONAL),                                      \
        OPTION_BOOL(0, "ignore-status", type, field.ignore_status, "with --vs: count runs that fail, too")

/* What is counted of every run, beside times and what -e names. */
#define STAT_VS_EVENTS "task-clock,page-faults,context-switches"

enum { STAT_VS_REGRESSION = 1, STAT_VS_NOT_JUDGED = 2 }; /* status with --gate */

#endif
