/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject --build-ids: adds build-ids to a recording, as HEADER_BUILD_ID records, each in front of the first
 * record that needs it (the first sample in the image or, for all images, its first map record), or in the
 * map records themselves.
 *
 * They are those of the files that are found now, by name, not of what was mapped then: readers do not take
 * them for proof (perfdata_evidence.id_later), unless the recording itself proves the file. An image whose
 * file is provably another one by now gets none.
 */
#ifndef SONDE_EDIT_EDIT_BUILD_IDS_H
#define SONDE_EDIT_EDIT_BUILD_IDS_H

#include "edit/copy.h"
#include "resolve/sample.h"

struct edit_build_ids_options {
    struct resolve_chain_options chains; /* how the callchains of samples are read */
    bool all;                            /* images without samples, too */
    /* Puts them into map records, all of which become MMAP2; unless `all`, drops those of processes that no
     * sample needs. */
    bool maps;
    struct bytes
        known; /* lines or pairs with commas between: "ID PATH"; they overrule everything; empty: none */
};

struct edit_build_ids;

/* Makes the editor. All arguments are borrowed and must outlive it; the model is frozen, `in` is rewound
 * before and after. NULL and ERR_USAGE: `known` is malformed. */
struct edit_build_ids *edit_build_ids_new(const struct edit_build_ids_options *options, struct stream *in,
                                          const struct perfdata_events *events, struct resolve_names *names,
                                          struct err *err);
void edit_build_ids_free(struct edit_build_ids *b); /* NULL is allowed */

/* Returns the editor, which is borrowed. The stream must unpack compressed records. */
const struct copy_editor *edit_build_ids_editor(struct edit_build_ids *b);

struct edit_build_ids_counts {
    uint64_t injected;
    uint64_t dropped; /* map records */
    uint64_t unknown; /* images that needed a build-id and got none: no file, no build-id, another file */
};
struct edit_build_ids_counts edit_build_ids_counts(const struct edit_build_ids *b);

#endif
