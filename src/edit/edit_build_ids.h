/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject --build-ids: puts build-ids into a recording, as HEADER_BUILD_ID records, each in front of the first
 * record that makes use of it (the first sample in the image or, for all images, its first map record), or
 * into the map records themselves.
 *
 * What they say was found now, by name, and not when the image was mapped: readers take it for no proof
 * (perfdata_evidence.id_later), unless the recording itself proves the file. An image that is provably
 * another file by now gets none.
 */
#ifndef SONDE_EDIT_EDIT_BUILD_IDS_H
#define SONDE_EDIT_EDIT_BUILD_IDS_H

#include "edit/copy.h"
#include "resolve/sample.h"

struct edit_build_ids_options {
    struct resolve_chain_options chains; /* how the callchains of samples are read */
    bool all;                            /* images that no sample hits, too */
    /* Into map records, all of which become MMAP2; unless `all`, those of processes that no sample needs go.
     */
    bool maps;
    struct bytes
        known; /* lines or pairs with commas between: "ID PATH"; they overrule everything; empty: none */
};

struct edit_build_ids;

/* All are borrowed and must live as long; the model is frozen, `in` rewound, before and afterwards. False
 * texts in `known`: NULL and ERR_USAGE. */
struct edit_build_ids *edit_build_ids_new(const struct edit_build_ids_options *options, struct stream *in,
                                          const struct perfdata_events *events, struct resolve_names *names,
                                          struct err *err);
void edit_build_ids_free(struct edit_build_ids *b); /* NULL is allowed */

/* Borrowed. The stream must give what is in compressed records. */
const struct copy_editor *edit_build_ids_editor(struct edit_build_ids *b);

struct edit_build_ids_counts {
    uint64_t injected;
    uint64_t dropped; /* map records */
    uint64_t unknown; /* images that were asked for and got none: no file, no build-id, another file */
};
struct edit_build_ids_counts edit_build_ids_counts(const struct edit_build_ids *b);

#endif
