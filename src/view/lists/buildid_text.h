/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of build-ids, as perf buildid-list writes them. */
#ifndef SONDE_VIEW_LISTS_BUILDID_TEXT_H
#define SONDE_VIEW_LISTS_BUILDID_TEXT_H

#include "base/text/out.h"
#include "base/vec.h"
#include "format/perfdata/header/feature.h"

struct buildid_row {
    struct bytes id;   /* empty: not known */
    struct bytes name; /* without its NUL */
    int32_t machine;   /* -1: the host; else the guest's pid */
    uint32_t order;    /* among rows of the same machine and name: the last one counts, or all do */
};

struct buildid_list {
    VEC(struct buildid_row) rows;
};

/* Adds the entries of the feature BUILD_ID. Borrows from it. False: out of memory. */
bool buildid_list_add(struct buildid_list *list, const struct perfdata_feature_build_ids *ids);
bool buildid_list_push(struct buildid_list *list, struct bytes id, struct bytes name, int32_t machine);
void buildid_list_fini(struct buildid_list *list);

/* Sorts by machine (the host first) and name. With `unique`, of several rows of one machine and name the last
 * one added stays. */
void buildid_list_sort(struct buildid_list *list, bool unique);

/* Writes the id's digits, padded to `width` columns. */
void buildid_text_id(struct bytes id, size_t width, struct out *o);

/* Writes a line for each row: the id in 40 columns, the name. */
void buildid_text_write(const struct buildid_list *list, struct out *o);

#endif
