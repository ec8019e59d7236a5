/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples are wanted, by CPU, process, thread and comm; and the parsing of lists of numbers and names.
 *
 * `option` is the option that has the list ("--cpu"); errors have it as their `where`.
 */
#ifndef SONDE_SELECT_FILTER_H
#define SONDE_SELECT_FILTER_H

#include "base/err.h"
#include "base/vec.h"
#include "format/perfdata/events/events.h"
#include "format/perfdata/perfdata_sample.h"
#include "model/model.h"

/* Both ends included. */
struct filter_range {
    uint64_t first, last;
};

struct filter_ranges {
    VEC(struct filter_range) list; /* in the order given */
};

struct filter_names {
    VEC(char *) list; /* owned */
};

/* Reads "0,2-4" into `ranges`, which is zeroed. False: ERR_USAGE or memory; filter_ranges_fini in any case.
 */
bool filter_ranges_parse(const char *option, const char *text, struct filter_ranges *ranges, struct err *err);
void filter_ranges_fini(struct filter_ranges *ranges);
/* Whether a range contains the number; true of all numbers if there are no ranges. */
bool filter_ranges_have(const struct filter_ranges *ranges, uint64_t number);

/* Adds names that are separated by commas or, for file://NAME, are the lines of a file. `names` is zeroed at
 * first. False: out of memory, or the file could not be read; filter_names_fini in any case. */
bool filter_names_parse(const char *option, const char *text, struct filter_names *names, struct err *err);
void filter_names_fini(struct filter_names *names);
/* True when the list holds the name, which may be NULL. */
bool filter_names_has(const struct filter_names *names, const char *name);

/* For functions: commas within brackets do not separate, and names match as symbol_name_matches says. */
bool filter_symbols_parse(const char *option, const char *text, struct filter_names *names, struct err *err);
bool filter_symbols_has(const struct filter_names *names, const char *name);

/* What samples must match; an empty list matches all. */
struct filter {
    struct filter_ranges cpus, pids, tids;
    struct filter_names comms;
};

/* The lists as texts; each may be NULL. */
struct filter_options {
    const char *cpus, *pids, *tids, *comms;
};

/* `f` is zeroed. Errors name --cpu, --pid, --tid, --comms. False as above; filter_fini in any case. */
bool filter_parse(const struct filter_options *o, struct filter *f, struct err *err);
void filter_fini(struct filter *f);

/* `cpu` is UINT32_MAX when it is not known: then only an empty list lets it through. */
bool filter_cpu(const struct filter *f, uint32_t cpu);

/* True if the sample (TID and CPU as decoded) is wanted; its comm is looked up in `m`. */
bool filter_sample(const struct filter *f, const struct model *m, const struct perfdata_sample *s,
                   struct model_when when);

/* Whether all events were recorded with the CPU, so that samples can be filtered by it. */
bool filter_knows_cpus(const struct perfdata_events *events);

#endif
