/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes as the kernel takes them, one line each (Documentation/trace/uprobetracer.rst, kprobetrace.rst):
 *
 *   p:GROUP/EVENT /path/of/file:0xOFFSET[(0xSEMAPHORE)] name=%di:s32 name=+8(%sp):x64
 *   p:GROUP/EVENT [MODULE:]symbol+OFFSET ...     r: the same at the function's return
 */
#ifndef SONDE_PROBE_EVENT_H
#define SONDE_PROBE_EVENT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/text/out.h"
#include "base/vec.h"

enum { PROBE_NAME_MAX = 64 /* MAX_EVENT_NAME_LEN of the kernel, with its NUL */ };

struct probe_fetch {
    const char *name;  /* NULL: the kernel calls it argN */
    const char *fetch; /* %di, +8(%sp), ... */
    const char *type;  /* NULL: the kernel's default, x64 */
};

/* Texts live as long as the arena of whoever made it. */
struct probe_event {
    const char *group, *event;
    bool returns;
    const char *path;   /* of a file; NULL: of the kernel */
    uint64_t offset;    /* in the file; from the symbol */
    uint64_t semaphore; /* offset in the file of a counter, raised while the probe is enabled; 0: none */
    const char *symbol; /* of the kernel; NULL: `path` has it */
    const char *module; /* NULL: the kernel itself */
    VEC(struct probe_fetch) args;
    /* For display; not in the definition. */
    uint64_t addr;
    const char *given, *given_args; /* the probe as the user wrote it, and its arguments */
};
typedef VEC(struct probe_event) probe_events;

void probe_events_fini(probe_events *e);

/* The definition, without newline. */
void probe_event_print(struct out *o, const struct probe_event *e);

/* Probes of the kernel as its boot configuration takes them (Documentation/trace/boottime-trace.rst), a line
 * for each event with all its places. Groups are not told: the kernel puts them into "kprobes". */
void probe_events_print_boot(struct out *o, const probe_events *e);

/* Reads a definition as the kernel lists it; texts are in the arena. False: it is no such definition
 * (ERR_ABSENT: an empty line), or out of memory. */
bool probe_event_parse(const char *line, struct arena *a, struct probe_event *out, struct err *err);

/* Whether the kernel accepts it. False and *err: a name is too long, or the kernel would read it as something
 * else. */
bool probe_event_check(const struct probe_event *e, struct err *err);

/* A name of letters, digits and underscores made of any text. NULL: out of memory. */
const char *probe_event_name(struct arena *a, const char *text);

/* The group for a file's probes: probe_libc for libc.so.6. NULL: out of memory. */
const char *probe_event_group(struct arena *a, const char *path);

/* Makes the names of events unique. Definitions that differ only in their places keep one name, as the kernel
 * allows. `there`: the events that exist. False and *err: a name exists already and, without `force`, gets no
 * number; or out of memory. */
bool probe_events_distinguish(probe_events *e, const probe_events *there, bool force, struct arena *a,
                              struct err *err);

#endif
