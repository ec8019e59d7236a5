/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples count, by CPU, process, thread and comm: the -C, --pid, --tid and -c options of readers. */
#ifndef SONDE_SELECT_FILTER_H
#define SONDE_SELECT_FILTER_H

#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events.h"
#include "format/perfdata/sample.h"
#include "model/model.h"

struct filter_range {
    uint64_t first, last;
};

struct filter_names {
    VEC(char *) list; /* owned */
};

struct filter {
    VEC(struct filter_range) cpus, pids, tids; /* empty: all */
    struct filter_names comms;                 /* empty: all */
};

/* What the user gave; each may be NULL. */
struct filter_options {
    const char *cpus, *pids, *tids, *comms;
};

/* Reads "0,2-4" lists, and comms separated by commas or, as file://NAME, one a line in a file. `f` is zeroed.
 * False: ERR_USAGE, or why the file could not be read; filter_fini in any case. */
bool filter_parse(const struct filter_options *o, struct filter *f, struct err *err);
void filter_fini(struct filter *f);
/* Whether CPUs are recorded if they are asked for. False: ERR_ABSENT. */
bool filter_check_cpus(const struct filter_options *o, const struct perfdata_events *events, struct err *err);

/* Adds names separated by commas or, as file://NAME, one a line in a file. `names` is zeroed at first. False
 * as filter_parse; filter_names_fini in any case. */
bool filter_names_parse(const char *option, const char *text, struct filter_names *names, struct err *err);
void filter_names_fini(struct filter_names *names);
/* True when the list holds the name, which may be NULL. */
bool filter_names_has(const struct filter_names *names, const char *name);

/* Of functions: commas within brackets part nothing, and names are meant as symbol_name_matches says. */
bool filter_symbols_parse(const char *option, const char *text, struct filter_names *names, struct err *err);
bool filter_symbols_has(const struct filter_names *names, const char *name);

/* `cpu` is UINT32_MAX when it is not known: then only an empty list lets it through. */
bool filter_cpu(const struct filter *f, uint32_t cpu);

/* True when the sample (TID and CPU as decoded) is to be shown. `m` answers for the comm. */
bool filter_sample(const struct filter *f, const struct model *m, const struct perfdata_sample *s,
                   struct model_when when);

#endif
