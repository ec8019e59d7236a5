/* SPDX-License-Identifier: Apache-2.0 */
/* Whole stacks in the formats of other tools. A format is one file and one row of the table in export.c. */
#ifndef SONDE_VIEW_EXPORT_EXPORT_H
#define SONDE_VIEW_EXPORT_EXPORT_H

#include "base/text/out.h"
#include "stacks/stacks.h"

struct export_options {
    uint32_t event; /* the event, for formats that can hold only one */
    bool compares;  /* with an event of another recording: */
    uint32_t base_event;
    bool only;               /* that one alone also where there is room for more */
    bool samples;            /* weights are numbers of samples, else periods */
    const uint64_t *weights; /* flame trees: those of the rows, of which 0 leaves one out; NULL: their own */
};

/* Writes everything. False with *err: out of memory, or what the format cannot hold. */
typedef bool export_fn(const struct stacks *s, const struct export_options *o, struct out *out,
                       struct err *err);

/* What a frame stands for. */
enum export_frames { EXPORT_FUNCTIONS, EXPORT_LINES, EXPORT_ADDRESSES };

struct export_format {
    const char *name;
    const char *help;          /* one phrase */
    enum export_frames frames; /* what it wants */
    bool moments;              /* it wants the time axis */
    bool one_event;            /* it has room for one event only */
    bool binary;               /* not for terminals */
    bool compares;             /* it can show two recordings */
    export_fn *write;
};

/* All formats, by name; ends with a NULL name. */
extern const struct export_format export_formats[];
/* Returns the format of that name, or NULL. */
const struct export_format *export_format_find(const char *name);

export_fn export_callgrind, export_firefox, export_flamegraph, export_folded, export_json, export_perfetto,
    export_pprof, export_speedscope, export_sqlite;

static inline uint64_t export_weight(const struct export_options *o, uint64_t samples, uint64_t period) {
    return o->samples ? samples : period;
}

/* Whether an event is wanted by a format that has room for several. */
static inline bool export_wants(const struct export_options *o, uint32_t event) {
    return !o->only || o->event == event;
}

/* Prints how certain the names are of what ran, by weight: "80 % of samples have an inferred name, ...".
 * False: all are exact. */
bool export_grades_text(const struct stacks *s, const struct export_options *o, char *line, size_t size);

/* Appends a frame's name as stackcollapse-perf.pl writes it: without arguments and quotes, and with ':' for
 * the ';' that separates frames. */
void export_put_folded_name(const char *name, struct out *out);

#endif
