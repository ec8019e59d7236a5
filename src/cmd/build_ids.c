/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/build_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "recording/hits.h"

/* --- DSOs with hits --- */

/* True of images for which perf has no DSO. */
static bool is_no_dso(const struct model_image *image) {
    return image->kind == MODEL_IMAGE_HEAP || image->kind == MODEL_IMAGE_STACK ||
           image->kind == MODEL_IMAGE_SYSV;
}

static bool list_hits(struct build_ids *b) {
    struct hash_map anonymous = {0}; /* by pid: to perf, all memory of a process without a file is one DSO */
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_image_count(b->model); i++) {
        const struct model_image *image = model_image(b->model, i);
        bool guest = image->space == MODEL_SPACE_GUEST_USER || image->space == MODEL_SPACE_GUEST_KERNEL;
        struct bytes name = {(const uint8_t *)image->name, strlen(image->name)};
        if (!b->hit[i] || is_no_dso(image))
            continue;
        if (image->kind == MODEL_IMAGE_ANON) {
            if (hash_map_get(&anonymous, image->pid) != HASH_ABSENT)
                continue;
            ok = hash_map_set(&anonymous, image->pid, 0);
        }
        ok = ok &&
             buildid_list_push(&b->list, model_image_build_id(b->model, image, NULL), name, guest ? 0 : -1);
    }
    hash_map_fini(&anonymous);
    buildid_list_sort(&b->list, false);
    return ok;
}

/* --- what the header lists --- */

static void log_entries(const struct perfdata_feature_build_ids *ids) {
    for (uint32_t i = 0; i < ids->count; i++) {
        const struct perfdata_feature_build_id *e = &ids->items[i];
        char digits[2 * sizeof e->id + 1] = "";
        for (uint8_t k = 0; k < e->id_size; k++)
            snprintf(digits + 2 * k, 3, "%02x", e->id[k]);
        log_line(LOG_INFO, "build id event received for %.*s: %s [%u]", (int)bytes_text_len(e->name),
                 (const char *)e->name.data, digits, e->id_size);
    }
}

static bool list_feature(struct recording *r, struct arena *arena, struct buildid_list *list,
                         struct err *err) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_BUILD_ID, arena, &v))
        return !v.no_memory ||
               err_memory(err, "build-ids"); /* otherwise it is beyond the file's end, which was reported */
    if (v.cut)
        log_line(LOG_WARN, "%s: the list of build-ids is damaged: %u of them could be read",
                 stream_path(r->stream), v.build_ids.count);
    log_entries(&v.build_ids);
    if (!buildid_list_add(list, &v.build_ids))
        return err_memory(err, "build-ids");
    buildid_list_sort(list, true);
    return true;
}

static bool collect_hits(struct build_ids *b, struct recording *r, struct err *err) {
    b->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!b->model || !recording_first_pass(r, b->model, NULL, NULL, NULL, err))
        return false;
    b->hit = recording_hits(r, b->model, err);
    return b->hit && (list_hits(b) || err_memory(err, "images"));
}

bool build_ids_collect(struct build_ids *b, struct recording *r, bool hits, struct err *err) {
    const struct perfdata_header *header = stream_header(r->stream);
    if (!hits && header->container != PERFDATA_CONTAINER_PIPE &&
        perfdata_header_feature(header, PERFDATA_FEATURE_BUILD_ID))
        return list_feature(r, &b->arena, &b->list, err);
    return collect_hits(b, r, err);
}

void build_ids_fini(struct build_ids *b) {
    buildid_list_fini(&b->list);
    arena_fini(&b->arena);
    model_free(b->model);
    free(b->hit);
}
