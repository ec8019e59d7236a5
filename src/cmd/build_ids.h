/* SPDX-License-Identifier: Apache-2.0 */
/* The build-ids of a recording, as buildid-list shows them. */
#ifndef SONDE_CMD_BUILD_IDS_H
#define SONDE_CMD_BUILD_IDS_H

#include "recording/recording.h"
#include "view/lists/buildid_text.h"

/* Zeroed at first; freed with build_ids_fini. */
struct build_ids {
    struct buildid_list list; /* borrows from the members below */
    struct model *model;      /* with hits: frozen */
    uint8_t *hit;             /* with hits: by image; 1: hit by samples or their callchains */
    struct arena arena;
};

/* Collects the build-ids that the recording lists or, with `hits` if it lists none, those of the images that
 * samples hit, some of which may have none. May read the recording to its end. False: *err says why. */
bool build_ids_collect(struct build_ids *b, struct recording *r, bool hits, struct err *err);
void build_ids_fini(struct build_ids *b);

#endif
