/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/build_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "resolve/sample.h"

/* --- DSOs with hits --- */

struct hits {
    struct recording *recording;
    struct model *model;
    uint8_t *hit; /* by image id */
    struct resolve_locator locator;
    struct resolve_samples samples;
};

/* Where the sample was taken, and its callchain. False: memory. */
static bool hit_sample(struct hits *h, const struct stream_record *r, const struct perfdata_sample *s) {
    const struct resolve_sample_at at = {s, &h->recording->events->list.items[r->event].attr,
                                         r->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                         recording_when(h->recording, r)};
    struct model_hit found;
    if (s->have & PERFDATA_SAMPLE_IP && model_find(h->model, at.cpumode, s->pid, at.when, s->ip, &found))
        h->hit[found.image] = 1;
    if (!resolve_sample_read(&h->samples, &at))
        return false;
    for (size_t i = 0; i < h->samples.frames.count; i++) {
        uint32_t image = h->samples.frames.items[i].hit.image;
        if (image != MODEL_NONE)
            h->hit[image] = 1;
    }
    return true;
}

static bool find_hits(struct hits *h, struct err *err) {
    const uint64_t want =
        PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_BRANCH_STACK;
    struct stream *s = h->recording->stream;
    struct stream_record r;
    enum stream_status status;
    while ((status = stream_next(s, &r, err)) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE || r.legacy || r.event == PERFDATA_NO_EVENT)
            continue;
        struct perfdata_sample sample;
        const struct perfdata_plan *plan = &h->recording->events->list.items[r.event].plan;
        if (!perfdata_sample_decode(plan, r.raw.body, want, &sample))
            stream_bad_record(s, &r, "the sample is shorter than its event's fields");
        else if (!hit_sample(h, &r, &sample))
            return err_memory(err, "callchains");
    }
    return status == STREAM_END;
}

/* What perf has no DSO for. */
static bool is_no_dso(const struct model_image *image) {
    return image->kind == MODEL_IMAGE_HEAP || image->kind == MODEL_IMAGE_STACK ||
           image->kind == MODEL_IMAGE_SYSV;
}

static bool list_hits(const struct hits *h, struct buildid_list *list) {
    struct hash_map anonymous = {0}; /* by pid: all memory without a file of a process is one DSO to perf */
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_image_count(h->model); i++) {
        const struct model_image *image = model_image(h->model, i);
        bool guest = image->space == MODEL_SPACE_GUEST_USER || image->space == MODEL_SPACE_GUEST_KERNEL;
        struct bytes name = {(const uint8_t *)image->name, strlen(image->name)};
        if (!h->hit[i] || is_no_dso(image))
            continue;
        if (image->kind == MODEL_IMAGE_ANON) {
            if (hash_map_get(&anonymous, image->pid) != HASH_ABSENT)
                continue;
            ok = hash_map_set(&anonymous, image->pid, 0);
        }
        ok = ok && buildid_list_push(list, model_image_build_id(h->model, image, NULL), name, guest ? 0 : -1);
    }
    hash_map_fini(&anonymous);
    buildid_list_sort(list, false);
    return ok;
}

static bool collect_hits(struct recording *r, struct hits *h, struct buildid_list *list, struct err *err) {
    *h = (struct hits){.recording = r};
    h->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!h->model || !recording_first_pass(r, h->model, NULL, NULL, NULL, err))
        return false;
    h->hit = calloc(model_image_count(h->model) + 1, 1);
    if (!h->hit)
        return err_memory(err, "images");
    h->locator.model = h->model;
    h->samples.locator = &h->locator;
    h->samples.chain.o = recording_chains(r, NULL, UINT64_MAX);
    bool ok = find_hits(h, err);
    resolve_samples_fini(&h->samples);
    resolve_locator_fini(&h->locator);
    return ok && (list_hits(h, list) || err_memory(err, "images"));
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
               err_memory(err, "build-ids"); /* else it lies outside the file, which was said */
    if (v.cut)
        log_line(LOG_WARN, "%s: the list of build-ids is damaged: %u of them could be read",
                 stream_path(r->stream), v.build_ids.count);
    log_entries(&v.build_ids);
    if (!buildid_list_add(list, &v.build_ids))
        return err_memory(err, "build-ids");
    buildid_list_sort(list, true);
    return true;
}

bool build_ids_collect_hits(struct build_ids *b, struct recording *r, struct err *err) {
    struct hits h = {0};
    bool ok = collect_hits(r, &h, &b->list, err);
    b->model = h.model;
    b->hit = h.hit;
    return ok;
}

bool build_ids_collect(struct build_ids *b, struct recording *r, bool hits, struct err *err) {
    const struct perfdata_header *header = stream_header(r->stream);
    if (!hits && header->container != PERFDATA_CONTAINER_PIPE &&
        perfdata_header_feature(header, PERFDATA_FEATURE_BUILD_ID))
        return list_feature(r, &b->arena, &b->list, err);
    return build_ids_collect_hits(b, r, err);
}

void build_ids_fini(struct build_ids *b) {
    buildid_list_fini(&b->list);
    arena_fini(&b->arena);
    model_free(b->model);
    free(b->hit);
}
