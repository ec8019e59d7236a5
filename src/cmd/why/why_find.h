/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the frame to explain in a recording that was read, and what identifies its file then and now. */
#ifndef SONDE_CMD_WHY_WHY_FIND_H
#define SONDE_CMD_WHY_WHY_FIND_H

#include "cmd/why/why_search.h"
#include "recording/naming.h"
#include "recording/recording.h"
#include "view/lists/why.h"

struct why_finder {
    struct recording *recording; /* borrowed, as the next two */
    const struct model *model;   /* frozen */
    const struct recording_names *naming;
    bool by_place; /* `place` is looked for, as `symbol` is one */
    uint64_t place;
    const char *symbol, *dso; /* what is looked for; dso NULL: in any object */
    bool inlined;             /* `symbol` is looked for among inlined functions, too */
    struct resolve_locator locator;
    struct resolve_samples samples;
    struct why_search search;
    struct why why; /* what was found */
};

void why_finder_init(struct why_finder *f, struct recording *r, const struct model *m,
                     const struct recording_names *naming);
void why_finder_fini(struct why_finder *f);

/* Finds the n-th frame from the innermost, 0, of the n-th sample, from 1. False: *err; ERR_ABSENT: there is
 * no such. */
bool why_finder_sample(struct why_finder *f, uint64_t sample, uint64_t frame, struct err *err);
/* Finds the first frame with a function of that name, inlined ones only where no other has it; of "0x..." the
 * first one without a name at that address, as recorded or in its object. */
bool why_finder_symbol(struct why_finder *f, const char *name, const char *dso, struct err *err);
/* Takes an address: in f->why.pid's space, or the kernel's, at f->why.when. */
bool why_finder_address(struct why_finder *f, bool kernel, uint64_t address, struct err *err);

/* Finds the functions and source lines at the chosen frame's address. */
void why_finder_source(struct why_finder *f);

/* Finds what the image's path leads to now; into `absent` why there is nothing. `path` is room for one, and
 * both must live as long as f->why is used. `symfs` may be NULL. */
enum { WHY_PATH_ROOM = 4608 };
void why_finder_identities(struct why_finder *f, const char *symfs, char *path, size_t size,
                           struct err *absent);

#endif
