/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/embed.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "format/perfdata/added/evidence.h"
#include "object/build_id.h"
#include "os/files/files.h"
#include "os/files/output.h"
#include "os/files/place.h"
#include "recording/hits.h"
#include "recording/naming.h"
#include "symbol/symbol_kept.h"

static const uint64_t IMAGE_MAX = (uint64_t)1 << 30, ALIGN = 8;

struct embedding {
    struct recording *recording;
    struct model *model;
    uint8_t *hit; /* by image */
    struct recording_names names;
    struct writer entries;
    struct edit_embed_counts *counts;
    bool lines;
};

/* ---- what goes in ---- */

/* Finds evidence by which a reader will recognise the file. False: there is none. */
static bool evidence_of(const struct embedding *x, const struct model_image *image,
                        struct perfdata_evidence *e) {
    struct bytes id = model_image_build_id(x->model, image, NULL);
    *e = (struct perfdata_evidence){0};
    if (id.size && id.size <= sizeof e->build_id) {
        e->build_id_size = (uint8_t)id.size;
        memcpy(e->build_id, id.data, id.size);
        return true;
    }
    return model_image_evidence(x->model, image, e) && (e->build_id_size || e->has_state);
}

static bool same_evidence(const struct perfdata_evidence *a, const struct perfdata_evidence *b) {
    if (a->build_id_size)
        return a->build_id_size == b->build_id_size && !memcmp(a->build_id, b->build_id, a->build_id_size);
    return a->has_state && b->has_state && !memcmp(&a->state, &b->state, sizeof a->state);
}

/* True if the recording has the file already. */
static bool is_kept(const struct embedding *x, const struct perfdata_kept *k) {
    struct bytes rest = resolve_recorded_kept(&x->recording->recorded);
    for (struct perfdata_kept have; perfdata_kept_next(&rest, false, &have);)
        if (k->kind == PERFDATA_KEPT_MAP
                ? have.kind == k->kind && have.pid == k->pid
                : (have.kind == PERFDATA_KEPT_DEBUG) == (k->kind == PERFDATA_KEPT_DEBUG) &&
                      same_evidence(&have.evidence, &k->evidence))
            return true;
    return false;
}

static bool keep_text(struct embedding *x, struct perfdata_kept *k, const char *path) {
    struct writer text = writer_make(false);
    bool ok = is_kept(x, k) ||
              (path && os_files_real.read(os_files_real.ctx, path, &text, NULL) && writer_ok(&text) &&
               symbol_kept_encode(k, writer_bytes(&text), false, IMAGE_MAX, &x->entries));
    writer_fini(&text);
    return ok;
}

/* Keeps the DWARF that dwz(1) shares between several files, once. */
static void keep_dwz(struct embedding *x, const struct perfdata_kept *of, uint32_t store_id,
                     struct bytes dwarf) {
    struct bytes dwz = symbol_store_dwz(x->names.store, store_id, dwarf), rest = writer_bytes(&x->entries);
    struct object_build_id id;
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_DEBUG, .pid = of->pid, .name = of->name}, have;
    if (!dwz.size || !object_build_id_read(dwz, &id) || id.size > sizeof k.evidence.build_id)
        return;
    k.evidence.build_id_size = id.size;
    memcpy(k.evidence.build_id, id.bytes, id.size);
    while (perfdata_kept_next(&rest, false, &have))
        if (have.kind == k.kind && same_evidence(&have.evidence, &k.evidence))
            return;
    if (!is_kept(x, &k))
        symbol_kept_encode(&k, dwz, true, IMAGE_MAX, &x->entries);
}

/* Keeps the file and its separate file of symbols. */
static bool keep_files(struct embedding *x, struct perfdata_kept *k, uint32_t store_id) {
    struct symbol_bytes bytes = symbol_store_bytes(x->names.store, store_id);
    bool kept = is_kept(x, k) || symbol_kept_encode(k, bytes.code, x->lines, IMAGE_MAX, &x->entries);
    k->kind = PERFDATA_KEPT_DEBUG;
    if (kept && bytes.debug.size && k->evidence.build_id_size && !is_kept(x, k))
        symbol_kept_encode(k, bytes.debug, x->lines, IMAGE_MAX, &x->entries);
    if (kept && x->lines)
        keep_dwz(x, k, store_id, bytes.debug.size ? bytes.debug : bytes.code);
    return kept;
}

/* Keeps what the store used for an image, if it can be part of a recording. */
static bool keep_image(struct embedding *x, const struct model_image *image,
                       const struct symbol_source *source, uint32_t store_id) {
    struct perfdata_kept k = {.pid = image->pid, .name = {(const uint8_t *)image->name, strlen(image->name)}};
    if (image->kind == MODEL_IMAGE_KERNEL) { /* from a list: a vmlinux would have a slide */
        k.kind = PERFDATA_KEPT_KALLSYMS;
        return !source->has_slide && evidence_of(x, image, &k.evidence) && keep_text(x, &k, source->path);
    }
    switch (source->origin) {
    case SYMBOL_FROM_MAP:
        k.kind = PERFDATA_KEPT_MAP;
        return keep_text(x, &k, source->path);
    case SYMBOL_FROM_FILE:
    case SYMBOL_FROM_CACHE:
    case SYMBOL_FROM_ROOT:
    case SYMBOL_FROM_DEBUGINFOD:
    case SYMBOL_FROM_DEBUG_FILE:
    case SYMBOL_FROM_SELF:
        k.kind = PERFDATA_KEPT_TABLES;
        k.pid = image->mapper;
        return evidence_of(x, image, &k.evidence) && keep_files(x, &k, store_id);
    default:
        return false;
    }
}

/* True of images that need nothing: modules are in their kernel's list, and others are kept or named by the
 * recording already. */
static bool is_settled(const struct model_image *image, const struct symbol_source *source) {
    return source->origin == SYMBOL_FROM_KEPT || source->origin == SYMBOL_FROM_RECORD ||
           source->origin == SYMBOL_FROM_JITDUMP ||
           (image->kind == MODEL_IMAGE_MODULE && source->origin == SYMBOL_FROM_LIVE_KALLSYMS);
}

static void keep_all(struct embedding *x) {
    for (uint32_t i = 0; i < model_image_count(x->model); i++) {
        if (!x->hit[i])
            continue;
        const struct model_image *image = model_image(x->model, i);
        resolve_names_demand(x->names.names, i);
        uint32_t id = resolve_names_store_id(x->names.names, i);
        struct symbol_source source = symbol_store_source(x->names.store, id);
        if (is_settled(image, &source))
            continue;
        bool kept = source.status == SYMBOL_FOUND && keep_image(x, image, &source, id);
        x->counts->kept += kept;
        x->counts->left_out += !kept;
        if (!kept)
            log_line(LOG_INFO, "%s is not embedded: %s", image->name,
                     source.text ? source.text : "nothing recorded would prove it");
    }
}

/* ---- the copy ---- */

/* Makes the trailer with the files kept before and now; its other parts stay. */
static void make_trailer(const struct embedding *x, struct bytes old, struct writer *box) {
    enum { PARTS_MAX = 64 };
    struct perfdata_part parts[PARTS_MAX + 1], part;
    struct writer kept = writer_make(false);
    size_t count = 0;
    for (uint32_t i = 0; old.size && count < PARTS_MAX && perfdata_box_part(old, false, i, &part); i++)
        if (part.tag == PERFDATA_PART_KEPT)
            writer_bytes_put(&kept, part.content);
        else
            parts[count++] = part;
    writer_bytes_put(&kept, writer_bytes(&x->entries));
    parts[count++] = (struct perfdata_part){PERFDATA_PART_KEPT, writer_bytes(&kept)};
    perfdata_box_encode(parts, count, box);
    if (!writer_ok(&kept))
        box->failed = true;
    writer_fini(&kept);
}

static bool write_copy(const struct embedding *x, const char *output, struct err *err) {
    static const uint8_t zeros[8];
    struct bytes file = stream_input_bytes(x->recording->stream);
    uint64_t old = perfdata_box_size(file, false), at = 0;
    struct bytes body = {file.data, file.size - (size_t)old};
    struct writer box = writer_make(false);
    struct os_output o;
    make_trailer(x, (struct bytes){file.data + body.size, (size_t)old}, &box);
    if (!writer_ok(&box) || !os_output_create(output, &o, err)) {
        bool memory = !writer_ok(&box);
        writer_fini(&box);
        return memory ? err_memory(err, output) : false;
    }
    bool ok = os_output_put(&o, &at, body, output, err) &&
              os_output_put(&o, &at, (struct bytes){zeros, (size_t)(-at % ALIGN)}, output, err) &&
              os_output_put(&o, &at, writer_bytes(&box), output, err);
    int closed = o.close(o.ctx);
    if (ok && closed)
        ok = err_errno(err, -closed, output, "cannot write");
    x->counts->bytes = at > file.size ? at - file.size : 0;
    writer_fini(&box);
    if (!ok)
        os_place_remove(output, NULL);
    return ok;
}

static bool can_embed(const struct embedding *x, struct err *err) {
    const struct stream *s = x->recording->stream;
    const struct os_file *file = stream_file(s);
    if (stream_is_pipe(s) || file->fd < 0 || file->kind == OS_FILE_DIRECTORY || x->recording->events->swap)
        return err_set(err, ERR_UNSUPPORTED, stream_path(s),
                       "only one file in this machine's byte order can be extended: make one with `sonde "
                       "inject -i %s -o FILE` first",
                       stream_path(s));
    return true;
}

static bool find_images(struct embedding *x, const struct symbol_options *symbols, struct err *err) {
    x->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!x->model || !recording_first_pass(x->recording, x->model, NULL, NULL, NULL, err))
        return false;
    x->hit = recording_hits(x->recording, x->model, err);
    return x->hit && recording_names_open(&x->names, x->recording, x->model, symbols, err) &&
           resolve_names_prepare(x->names.names, err);
}

bool edit_embed(struct recording *r, const struct edit_embed_options *o, const char *output,
                struct edit_embed_counts *counts, struct err *err) {
    struct embedding x = {.recording = r, .entries = writer_make(false), .counts = counts, .lines = o->lines};
    *counts = (struct edit_embed_counts){0};
    bool ok = can_embed(&x, err) && find_images(&x, &o->symbols, err);
    if (ok) {
        keep_all(&x);
        ok = writer_ok(&x.entries) ? write_copy(&x, output, err) : err_memory(err, output);
    }
    writer_fini(&x.entries);
    recording_names_close(&x.names);
    model_free(x.model);
    free(x.hit);
    return ok;
}
