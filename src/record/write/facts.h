/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the machine and the recording, as contents of header features (perf.data-file-format.txt). Most
 * are known at the start and go in front of the data; what takes many files to read, or is known only at the
 * end, follows it.
 */
#ifndef SONDE_RECORD_WRITE_FACTS_H
#define SONDE_RECORD_WRITE_FACTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "format/perfdata/header/feature.h"
#include "os/proc/host.h"
#include "os/sysfs.h"
#include "record/options.h"
#include "record/plan/plan.h"

struct record_facts {
    struct arena arena; /* owns the contents */
    VEC(struct perfdata_feature) list;
    const struct sysfs *sys;
    bool failed; /* memory ran out: sticky */
};

struct record_facts_input {
    const struct sysfs *sys;
    const struct os_host *host;
    const struct record_options *options;
    const struct perfdata_events *events;
    char *const *argv; /* the command line, ended by NULL; argv[0] is replaced by our path */
    uint64_t ring_bytes;
    const struct record_plan *plan; /* of the events, for those whose formats are ours; or NULL */
    bool tracepoints;
};

/* Starts a list; false when memory ran out. What cannot be read is left out. */
bool record_facts_early(struct record_facts *f, const struct record_facts_input *in);
/* Adds the topology of CPUs, caches and memory, which takes many files to read. `f` is a list of the above,
 * or a new one with nothing but `sys`. */
bool record_facts_topology(struct record_facts *f);
void record_facts_fini(struct record_facts *f);

/* One more feature with a value; its content is copied. */
void record_facts_add(struct record_facts *f, const struct perfdata_feature_value *v);
/* A text in the room that perf gives it: NUL-terminated, padded to 64 bytes. */
struct bytes record_facts_text(struct record_facts *f, const char *text);

/* The formats of the tracepoints among the events (TRACING_DATA); nothing when tracefs cannot be read, unless
 * `plan` (or NULL) has formats of its own. */
void record_facts_tracing(struct record_facts *f, const struct perfdata_events *events,
                          const struct record_plan *plan);

#endif
