/* SPDX-License-Identifier: Apache-2.0 */
/* Where in a program's or library's file a probe of user space goes. */
#ifndef SONDE_EVENTS_UPROBE_H
#define SONDE_EVENTS_UPROBE_H

#include "events/event_internal.h"

/*
 * The offset in the file at `path` of `place`: the name of a function as its symbol tables have it (mangled),
 * or name+OFFSET. False and *err when there is no such file (err->where is empty then) or function.
 */
bool uprobe_find(struct event_span path, struct event_span place, uint64_t *offset, struct err *err);

/* The same in an ELF image in memory. */
bool uprobe_find_in(struct bytes file, struct event_span place, uint64_t *offset, struct err *err);

#endif
