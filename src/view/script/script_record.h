/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for records that are no samples: perf script's --show-*-events. */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_RECORD_H
#define SONDE_VIEW_SCRIPT_SCRIPT_RECORD_H

#include "view/script/script_print.h"

/* Groups of record types, by option. */
enum script_show {
    SCRIPT_SHOW_TASK = 1 << 0,
    SCRIPT_SHOW_MMAP = 1 << 1,
    SCRIPT_SHOW_SWITCH = 1 << 2,
    SCRIPT_SHOW_NAMESPACES = 1 << 3,
    SCRIPT_SHOW_CGROUP = 1 << 4,
    SCRIPT_SHOW_BPF = 1 << 5,
    SCRIPT_SHOW_LOST = 1 << 6,
    SCRIPT_SHOW_ROUND = 1 << 7,
    SCRIPT_SHOW_TEXT_POKE = 1 << 8,
    SCRIPT_SHOW_DEFERRED = 1 << 9, /* CALLCHAIN_DEFERRED, with --no-merge-callchains */
    SCRIPT_SHOW_ERRORS = 1 << 10,  /* AUXTRACE_ERROR, always shown */
};

/* True if one of the groups in `show` has this type. */
bool script_record_shown(unsigned show, uint32_t type);

/*
 * Prints a record of such a type. `event` is its event (whose plan has the fields before the text; without
 * fields there is no line), `when` its place in time: the thread's name is the one after the record.
 */
void script_record_print(struct script_print *p, uint32_t event, const struct perfdata_record *rec,
                         struct model_when when);

/* Prints only the text, "PERF_RECORD_COMM: ..." and a newline; nothing for a CALLCHAIN_DEFERRED. */
void script_record_text(struct script_print *p, const struct perfdata_record *rec);

#endif
