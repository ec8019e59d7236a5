/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that were set once, kept for the next time beside the copy of their program in the build-id cache: a
 * file `probes` in perf's form. A heading for each, and below it what the kernel takes, a line for each
 * place:
 *
 *   #PLACE ARG ...                  as people wrote it; a line of a file is @FILE:LINE, an argument
 * NAME=VALUE #GROUP:EVENT=PLACE ARG ...      likewise, with the name that they gave it
 *   %sdt_PROVIDER:NAME=NAME         a marker of <sys/sdt.h>
 *   p:GROUP/EVENT PATH:0xOFFSET NAME=FETCH:TYPE ...
 */
#ifndef SONDE_PROBE_CACHE_H
#define SONDE_PROBE_CACHE_H

#include "base/bytes.h"
#include "probe/event.h"
#include "probe/image.h"
#include "probe/syntax.h"

struct probe_cached {
    bool marker;
    const char *heading;       /* without its first character */
    const char *group, *event; /* that it names; NULL: none */
    const char *place;         /* what follows the names: PLACE ARG ... */
    probe_events events;       /* at least one */
};

/* Zeroed at first; freed with probe_cache_fini. */
struct probe_cache {
    struct arena texts;
    VEC(struct probe_cached) list;
    size_t bad_lines; /* that were left out, with what stood below a bad heading */
};
void probe_cache_fini(struct probe_cache *c);

/* Appends what a file holds. False: out of memory. */
bool probe_cache_read(struct probe_cache *c, struct bytes file, struct err *err);
void probe_cache_print(const struct probe_cache *c, struct out *o);

/* Keeps a copy of the events [from, to), which `spec` was made into, instead of what had its heading or name.
 * False and *err: out of memory. */
bool probe_cache_put(struct probe_cache *c, const struct probe_spec *spec, const probe_events *events,
                     size_t from, size_t to, struct err *err);
/* Keeps all markers of an image; those that cannot be set are left out. False and *err: out of memory. */
bool probe_cache_put_markers(struct probe_cache *c, struct probe_image *i, struct err *err);

/* Whether a pattern of fnmatch(3) is EVENT, or GROUP:EVENT, of the heading or of what is below it. */
bool probe_cached_matches(const struct probe_cached *p, const char *pattern);
/* Removes the entry at `index`. */
void probe_cache_remove(struct probe_cache *c, size_t index);

/* Appends the events that are kept for `spec`: %NAME, %GROUP:NAME (patterns), or the same text. `i`: the
 * image that they go into, whose code their places have to be in; NULL: the kernel. False and *err
 * (ERR_ABSENT: none is kept). Texts are in `a`. */
bool probe_cache_take(const struct probe_cache *c, const struct probe_image *i, const struct probe_spec *spec,
                      struct arena *a, probe_events *out, struct err *err);

#endif
