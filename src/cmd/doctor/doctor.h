/* SPDX-License-Identifier: Apache-2.0 */
/* What `doctor` finds, of a recording or of this machine, and what could be done about it. */
#ifndef SONDE_CMD_DOCTOR_DOCTOR_H
#define SONDE_CMD_DOCTOR_DOCTOR_H

#include "base/arena.h"
#include "base/vec.h"
#include "cmd/report/report_profile.h"
#include "os/files/files.h"
#include "os/perf/perf_event.h"
#include "os/proc/proc.h"
#include "os/sysfs.h"

enum doctor_severity {
    DOCTOR_OK,
    DOCTOR_NOTE,    /* as it is; worth knowing */
    DOCTOR_WARNING, /* the profile is poorer for it */
    DOCTOR_PROBLEM, /* a limit is exceeded, or nothing can be done here: the exit status says so */
};

const char *doctor_severity_name(enum doctor_severity s);

struct doctor_finding {
    enum doctor_severity severity;
    const char *id;     /* one word, for programs; stays what it is */
    const char *text;   /* one line */
    const char *advice; /* one line: a package, a command; NULL: none */
};

/* Zeroed at first; freed with doctor_fini. */
struct doctor {
    VEC(struct doctor_finding) list;
    struct arena texts;
    bool failed; /* memory ran out */
};

void doctor_fini(struct doctor *d);

/* Adds a finding. `advice` is copied; NULL: none. */
void doctor_say(struct doctor *d, enum doctor_severity severity, const char *id, const char *advice,
                const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* A text in d->texts; "" when memory ran out. */
const char *doctor_text(struct doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "12.3 %", "<0.1 %". In d->texts. */
const char *doctor_percent(struct doctor *d, double percent);

/* How many percent may be so before it is a problem. */
struct doctor_limits {
    double stale, inferred, unknown, lost;
};

/* The findings about a recording; `q` is its profile's. */
void doctor_recording(struct doctor *d, const struct recording *r, const struct report_session_parts *parts,
                      const struct profile_quality *q, const struct doctor_limits *limits);

/* The findings about this machine: `system` and `proc` are where its settings are read, `perf` is where it
 * tries what may be recorded. */
void doctor_machine(struct doctor *d, const struct sysfs *system, const struct os_perf *perf,
                    const struct os_proc *proc);

/*
 * How to get debugging information for the file at `path` on this machine, by os-release(5), the lists of
 * dpkg and apt's sources: a server, and a package with the repository that it is in. In d->texts.
 */
const char *doctor_debug_advice(struct doctor *d, const struct sysfs *system, const char *path);

#endif
