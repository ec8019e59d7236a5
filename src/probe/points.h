/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the places that a written probe means, and makes the events that record there. */
#ifndef SONDE_PROBE_POINTS_H
#define SONDE_PROBE_POINTS_H

#include "probe/arguments.h"

struct probe_options {
    bool no_inlines;
    unsigned max_probes;    /* 0: 128 */
    const char *source_dir; /* where sources are (--source); NULL: where DWARF says */
};

struct probe_point {
    struct object_instance instance; /* if has_instance */
    bool has_instance;
    object_vaddr addr;
    const char *name;    /* the function's, which names the event; NULL: not known */
    uint32_t line;       /* that was asked for: FUNC:LINE; 0: none */
    bool between;        /* other lines' statements begin there, too, after this one's */
    uint64_t semaphore;  /* address of a marker's counter; 0: none */
    struct bytes marker; /* its arguments (object/sdt.h) */
};
typedef VEC(struct probe_point) probe_points;

/* Appends the places of a probe, by address, each once. False and *err: there is none (ERR_ABSENT), there are
 * too many, out of memory. */
bool probe_points_find(struct probe_image *i, const struct probe_spec *spec, const struct probe_options *o,
                       struct arena *a, probe_points *out, struct err *err);

/* Whether a probe at `addr`, of that point, fires before the function's first statement. */
bool probe_point_is_entry(const struct probe_point *p, object_vaddr addr);

/* Appends the events of a probe of a file. Places that cannot be probed are logged and left out. False and
 * *err: none can be probed. */
bool probe_events_make(struct probe_image *i, const struct probe_spec *spec, const struct probe_options *o,
                       struct arena *a, probe_events *out, struct err *err);

/* Where a probe at `addr` lies, for people: "work+4@/src/t.c", "work%return". */
const char *probe_place_text(struct probe_image *i, object_vaddr addr, bool returns, struct arena *a);

/* The lines of a source file, with their newlines cut off. False and *err: it cannot be read. */
typedef VEC(const char *) probe_source;
bool probe_source_read(const char *path, const char *source_dir, struct arena *a, probe_source *out,
                       struct err *err);

#endif
