/* SPDX-License-Identifier: Apache-2.0 */
/* The probes that are defined in the kernel, and what sonde noted of their files when it set them. */
#ifndef SONDE_PROBE_DEFINED_H
#define SONDE_PROBE_DEFINED_H

#include "os/perf/dynamic_events.h"
#include "probe/event.h"

/* Appends the probes of one kind; other lines are skipped. False and *err. */
bool probe_defined_read(const struct os_dynamic_events *sys, enum os_dynamic_kind kind, struct arena *a,
                        probe_events *out, struct err *err);

/* Defines, or removes, one. False and *err. */
bool probe_defined_add(const struct os_dynamic_events *sys, const struct probe_event *e, struct err *err);
bool probe_defined_remove(const struct os_dynamic_events *sys, const struct probe_event *e, struct err *err);

/*
 * Notes are lines of a file in sonde's own cache: GROUP/EVENT, path, offset, and what identified the file.
 * The kernel keeps the file itself: once another file has taken its path, a probe fires only in processes
 * that run the old one. */
/* What identifies the file now: its build-id, else size and time. NULL: it cannot be read. */
const char *probe_note_identity(const char *path, struct arena *a);
/* Replaces the notes of the events in `added` and `removed` (either may be empty). If this fails, stale
 * probes are merely not recognised. */
void probe_notes_update(const char *folder, const probe_events *added, const probe_events *removed);
/* Why a probe's file is no longer the one that it was set in; NULL: as far as known, it is. */
const char *probe_note_stale(const char *folder, const struct probe_event *e, struct arena *a);

#endif
