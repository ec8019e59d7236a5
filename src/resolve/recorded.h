/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording says outside of its records: build-ids in its header, what sonde's own recordings have in
 * their boxes (docs/FORMAT.md), which host and kernel it was. It goes into the model and into the options of
 * the symbol store.
 *
 *   first pass: resolve_recorded_see per record, resolve_returns_note per sample
 *   at its end: resolve_recorded_apply -> model_freeze; resolve_recorded_options -> symbol_store_new
 */
#ifndef SONDE_RESOLVE_RECORDED_H
#define SONDE_RESOLVE_RECORDED_H

#include "base/err.h"
#include "format/perfdata/added/kernel_facts.h"
#include "format/perfdata/record.h"
#include "model/model.h"
#include "resolve/returns.h"
#include "stream/stream.h"
#include "symbol/store/store.h"

struct resolve_recorded {
    struct stream *stream;          /* borrowed; set by the owner, who zeroes all else */
    struct resolve_returns returns; /* of the first pass */
    struct symbol_span span;        /* of the samples that were seen; set by the owner */
    /* Where kernel modules' sections lay (module_lines.h): of modules loaded before the recording, and since.
     */
    struct bytes module_lines[2];
    struct perfdata_kernel_facts kernel; /* resolve_recorded_kernel */
    char *release, *host, *arch;         /* OSRELEASE, HOSTNAME, ARCH; NULL: not known */
    /* Paths of the lists of kernel symbols and modules in the folder of a recording with a kernel copy; NULL:
     * none. */
    char *kcore, *kcore_modules;
};

void resolve_recorded_fini(struct resolve_recorded *r);

/* Looks at a record that is no sample: the kernel's own map record may say which boot it was. */
void resolve_recorded_see(struct resolve_recorded *r, const struct perfdata_record *rec);

/* Gives the model the header's build-ids, which files may have only there, and what the trailer says of
 * mapped files and modules. False: out of memory. */
bool resolve_recorded_apply(struct resolve_recorded *r, struct model *m, struct err *err);

/* Which boot of which kernel was recorded; all zero if that is not recorded, or (in a pipe) was not read yet.
 */
const struct perfdata_kernel_facts *resolve_recorded_kernel(struct resolve_recorded *r);

/* Files that the recording keeps (format/perfdata/added/kept.h), in its byte order; empty when there are
 * none. Lives as long as the stream. */
struct bytes resolve_recorded_kept(const struct resolve_recorded *r);

/* Adds to a store's options what the recording says, and its own symbol lists where `o` names none; `r` must
 * outlive the store. */
void resolve_recorded_options(struct resolve_recorded *r, struct symbol_options *o);

#endif
