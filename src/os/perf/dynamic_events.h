/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracefs' lists of probes, uprobe_events and kprobe_events (Documentation/trace/uprobetracer.rst): a line
 * that is appended defines one, "-:GROUP/EVENT" removes it. Behind a struct of functions, so that tests need
 * no kernel, and leave nothing in it.
 */
#ifndef SONDE_OS_DYNAMIC_EVENTS_H
#define SONDE_OS_DYNAMIC_EVENTS_H

#include "base/arena.h"
#include "base/err.h"

enum os_dynamic_kind { OS_DYNAMIC_UPROBES, OS_DYNAMIC_KPROBES };

struct os_dynamic_events {
    void *ctx;
    /* The list's text in `a`. NULL and *err: ERR_ABSENT: the kernel has no such list, or tracefs is not
     * there; ERR_PERMISSION. */
    const char *(*read)(const struct os_dynamic_events *e, enum os_dynamic_kind kind, struct arena *a,
                        struct err *err);
    /* Appends one line (without its newline). False and *err: the kernel refused, with its reason;
     * ERR_ABSENT, ERR_PERMISSION. */
    bool (*write)(const struct os_dynamic_events *e, enum os_dynamic_kind kind, const char *line,
                  struct err *err);
};

/* The running kernel's; tracefs is mounted where it is not. */
extern const struct os_dynamic_events os_dynamic_events_system;

/* For tests: lists in memory, as the kernel keeps them. */
struct os_dynamic_fake {
    char text[2][8192];
    bool refuses; /* every line */
};
struct os_dynamic_events os_dynamic_events_fake(struct os_dynamic_fake *fake);

#endif
