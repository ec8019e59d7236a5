/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what a tracepoint recorded, by the print format that the recording carries, through libtraceevent
 * (libtraceevent(3)): the text that perf script shows for it.
 *
 * Nothing of the library is touched before the first event is printed, and a
 * format is parsed when its first event is. The library trusts formats and data;
 * both come from a file here. So it is given formats that print_check.h
 * vouches for, and records in room that it cannot leave; other formats are
 * printed field by field, as the library itself does with those that it cannot
 * parse.
 *
 * One thread at a time.
 */
#ifndef SONDE_FORMAT_TRACEFS_TRACEFS_FORMATS_H
#define SONDE_FORMAT_TRACEFS_TRACEFS_FORMATS_H

#include "base/err.h"
#include "base/text/out.h"
#include "format/tracefs/tracing_data.h"

struct tracefs_formats;

/* The kernel function at `address`: its name (kept as long as the formats), and its start in *start; NULL
 * when unknown. For %ps, %pS and the like. */
typedef const char *tracefs_symbol_fn(void *ctx, uint64_t address, uint64_t *start);

/*
 * `td` and the bytes it borrows must outlive the formats. `symbol` may be NULL: addresses stay numbers. NULL
 * when memory ran out, or (ERR_UNSUPPORTED) when sonde was built without libtraceevent; the message names the
 * package.
 */
struct tracefs_formats *tracefs_formats_new(const struct tracing_data *td, tracefs_symbol_fn *symbol,
                                            void *ctx, struct err *err);
void tracefs_formats_free(struct tracefs_formats *f); /* NULL is allowed */

/*
 * Appends the text of the event `id` (attr.config) with the sample's raw data, recorded on `cpu` (-1: not
 * recorded). False, and nothing appended, when the recording does not describe the event, or the data are
 * another event's or too short for its fields.
 */
bool tracefs_formats_print(struct tracefs_formats *f, uint64_t id, int cpu, struct bytes raw, struct out *o);

/* One field of a record: its name and its value as the library writes it. Both die with the next call. */
typedef void tracefs_field_fn(void *ctx, const char *name, const char *value, size_t len);

/* Gives the event's own fields, in the format's order, without its print format's opinion of them. False, and
 * nothing given, as tracefs_formats_print. */
bool tracefs_formats_fields(struct tracefs_formats *f, uint64_t id, struct bytes raw, tracefs_field_fn *fn,
                            void *ctx);

#endif
