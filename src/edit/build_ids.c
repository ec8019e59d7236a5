/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/build_ids.h"

#include <stdlib.h>

#include "object/build_id.h"
#include "os/files.h"

enum { ID_MAX = 20, NAME_AT = 36, ALIGN = 8 }; /* of the name in its record; of records */

struct known {
    uint8_t size, id[ID_MAX];
    struct bytes path;
};

struct edit_build_ids {
    struct edit_build_ids_options options;
    const struct stream *in;
    const struct perfdata_events *events;
    struct resolve_names *names;
    const struct model *model;
    VEC(struct known) known;
    uint8_t *asked; /* by image */
    struct copy_editor editor;
    struct edit_build_ids_counts counts;
};

/* ---- what the user knows ---- */

static int digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ID PATH", with any number of spaces. */
static bool parse_pair(struct bytes pair, struct known *k) {
    size_t i = 0;
    *k = (struct known){0};
    for (; i + 1 < pair.size && digit(pair.data[i]) >= 0 && digit(pair.data[i + 1]) >= 0; i += 2) {
        if (k->size == ID_MAX)
            return false;
        k->id[k->size++] = (uint8_t)(digit(pair.data[i]) << 4 | digit(pair.data[i + 1]));
    }
    size_t end = i;
    while (i < pair.size && pair.data[i] == ' ')
        i++;
    k->path = (struct bytes){pair.data + i, pair.size - i};
    return k->size && i > end && k->path.size;
}

static bool parse_known(struct edit_build_ids *b, struct err *err) {
    struct bytes rest = b->options.known;
    while (rest.size) {
        size_t len = 0;
        while (len < rest.size && rest.data[len] != ',' && rest.data[len] != '\n')
            len++;
        struct bytes pair = {rest.data, len};
        rest.data += len + (len < rest.size);
        rest.size -= len + (len < rest.size);
        if (!len)
            continue;
        struct known *k = vec_push(&b->known);
        if (!k)
            return err_memory(err, "build-ids");
        if (!parse_pair(pair, k))
            return err_set(err, ERR_USAGE, "--known-build-ids", "\"%.*s\": give a build-id and a path",
                           (int)(pair.size < 200 ? pair.size : 200), (const char *)pair.data);
    }
    return true;
}

/* ---- finding them ---- */

static bool known_id(const struct edit_build_ids *b, const struct model_image *image,
                     struct object_build_id *id) {
    struct bytes name = {(const uint8_t *)image->name, strlen(image->name)};
    for (size_t i = 0; i < b->known.count; i++)
        if (bytes_equal(b->known.items[i].path, name)) {
            id->size = b->known.items[i].size;
            memcpy(id->bytes, b->known.items[i].id, id->size);
            return true;
        }
    return false;
}

/* The running kernel's, whose list of symbols names the recorded one. */
static bool running_id(struct object_build_id *id) {
    struct writer notes = writer_make(false);
    bool found = os_files_real.read(os_files_real.ctx, "/sys/kernel/notes", &notes, NULL) &&
                 object_build_id_in_notes(writer_bytes(&notes), id);
    writer_fini(&notes);
    return found;
}

/* Of the file that the store would take for the image, which is none that the recording contradicts. */
static bool found_id(struct edit_build_ids *b, uint32_t image, struct object_build_id *id) {
    resolve_names_demand(b->names, image);
    uint32_t store_id = resolve_names_store_id(b->names, image);
    const struct symbol_store *store = resolve_names_store(b->names);
    if (store_id == UINT32_MAX)
        return false;
    struct symbol_source source = symbol_store_source(store, store_id);
    if (source.status != SYMBOL_FOUND)
        return false;
    if (source.origin == SYMBOL_FROM_LIVE_KALLSYMS)
        return model_image(b->model, image)->kind == MODEL_IMAGE_KERNEL && running_id(id);
    struct symbol_bytes bytes = symbol_store_bytes(store, store_id);
    return (bytes.code.size && object_build_id_read(bytes.code, id)) ||
           (bytes.debug.size && object_build_id_read(bytes.debug, id));
}

static unsigned cpumode_of(const struct model_image *image) {
    static const uint8_t modes[] = {[MODEL_SPACE_USER] = PERFDATA_MISC_USER,
                                    [MODEL_SPACE_KERNEL] = PERFDATA_MISC_KERNEL,
                                    [MODEL_SPACE_GUEST_USER] = PERFDATA_MISC_GUEST_USER,
                                    [MODEL_SPACE_GUEST_KERNEL] = PERFDATA_MISC_GUEST_KERNEL};
    return image->space < sizeof modes ? modes[image->space] : 0;
}

static void put_record(struct edit_build_ids *b, const struct model_image *image,
                       const struct object_build_id *id, struct writer *out) {
    static const uint8_t zeros[ALIGN];
    struct writer name = writer_make(false);
    size_t len = strlen(image->name);
    writer_put(&name, image->name, len);
    writer_put(&name, zeros, ALIGN - (NAME_AT + len) % ALIGN); /* at least the NUL */
    struct perfdata_record rec = {.type = PERFDATA_RECORD_HEADER_BUILD_ID,
                                  .misc = (uint16_t)(cpumode_of(image) | PERFDATA_MISC_BUILD_ID_SIZE)};
    rec.build_id.pid = -1;
    memcpy(rec.build_id.build_id, id->bytes, id->size);
    rec.build_id.build_id[ID_MAX] = id->size;
    rec.build_id.filename = writer_bytes(&name);
    if (writer_ok(&name))
        perfdata_record_encode(&rec, NULL, out);
    else
        out->failed = true;
    writer_fini(&name);
    b->counts.injected++;
}

/* Once for each image. */
static void ask(struct edit_build_ids *b, uint32_t number, struct writer *out) {
    if (number == MODEL_NONE || b->asked[number])
        return;
    b->asked[number] = 1;
    const struct model_image *image = model_image(b->model, number);
    struct object_build_id id = {0};
    bool file = image->kind == MODEL_IMAGE_FILE || image->kind == MODEL_IMAGE_KERNEL ||
                image->kind == MODEL_IMAGE_MODULE || image->kind == MODEL_IMAGE_VDSO;
    bool known = known_id(b, image, &id);
    if (!known && (!file || model_image_build_id(b->model, image, NULL).size))
        return;
    if ((known || found_id(b, number, &id)) && id.size && id.size <= ID_MAX)
        put_record(b, image, &id, out);
    else
        b->counts.unknown++;
}

/* ---- on the way ---- */

static void ask_at(struct edit_build_ids *b, unsigned cpumode, uint32_t pid, struct model_when when,
                   uint64_t address, struct writer *out) {
    struct model_hit hit;
    if (model_find(b->model, cpumode, pid, when, address, &hit))
        ask(b, hit.image, out);
}

/* The images of a sample: where it lies, and its callers. */
static void ask_sample(struct edit_build_ids *b, const struct stream_record *r, struct writer *out) {
    const uint64_t want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_CALLCHAIN;
    struct perfdata_sample s = {.pid = UINT32_MAX};
    if (r->event >= b->events->list.count ||
        !perfdata_sample_decode(&b->events->list.items[r->event].plan, r->raw.body, want, &s))
        return; /* a bad one is copied as it is */
    struct model_when when = {r->has_time ? r->time_ns : stream_when_ns(b->in, r), r->loc};
    unsigned cpumode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    if (s.have & PERFDATA_SAMPLE_IP)
        ask_at(b, cpumode, s.pid, when, s.ip, out);
    for (uint64_t i = 0; s.have & PERFDATA_SAMPLE_CALLCHAIN && i < s.callchain.count; i++) {
        uint64_t address = perfdata_u64_at(&s.callchain, i);
        if (address >= PERFDATA_CONTEXT_MAX)
            cpumode = perfdata_context_cpumode(address);
        else
            ask_at(b, cpumode, s.pid, when, address, out);
    }
}

/* The images whose mappings a record made: ids ascend with their places in the file. */
static void ask_mapping(struct edit_build_ids *b, const struct stream_record *r, struct writer *out) {
    uint32_t low = 0, high = model_mapping_count(b->model);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model_mapping(b->model, middle)->order < r->loc)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < model_mapping_count(b->model) && model_mapping(b->model, low)->order == r->loc; low++)
        ask(b, model_mapping(b->model, low)->image, out);
}

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_build_ids *b = ctx;
    (void)keep, (void)err;
    if (!r || r->legacy)
        return true;
    bool map = r->raw.type == PERFDATA_RECORD_MMAP || r->raw.type == PERFDATA_RECORD_MMAP2;
    if (map && b->options.all)
        ask_mapping(b, r, before);
    else if (r->raw.type == PERFDATA_RECORD_SAMPLE && !b->options.all)
        ask_sample(b, r, before);
    return true;
}

/* ---- making ---- */

struct edit_build_ids *edit_build_ids_new(const struct edit_build_ids_options *options,
                                          const struct stream *in, const struct perfdata_events *events,
                                          struct resolve_names *names, struct err *err) {
    struct edit_build_ids *b = calloc(1, sizeof *b);
    if (b) {
        b->options = *options;
        b->in = in;
        b->events = events;
        b->names = names;
        b->model = resolve_names_model(names);
        b->editor = (struct copy_editor){edit, b};
        b->asked = calloc(model_image_count(b->model) + 1u, 1);
    }
    bool ok = b && b->asked ? parse_known(b, err) : err_memory(err, "build-ids");
    if (ok && resolve_names_prepare(names, err))
        return b;
    edit_build_ids_free(b);
    return NULL;
}

void edit_build_ids_free(struct edit_build_ids *b) {
    if (!b)
        return;
    vec_fini(&b->known);
    free(b->asked);
    free(b);
}

const struct copy_editor *edit_build_ids_editor(struct edit_build_ids *b) {
    return &b->editor;
}

struct edit_build_ids_counts edit_build_ids_counts(const struct edit_build_ids *b) {
    return b->counts;
}
