/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/edit_build_ids.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "object/build_id.h"
#include "os/files/files.h"
#include "recording/kernel/kernel_maps.h"

enum { ID_MAX = 20, NAME_AT = 36, ALIGN = 8 }; /* of the name in its record; of records */

struct known {
    uint8_t size, id[ID_MAX];
    struct bytes path;
};

/* An image's build-id, once it was looked up. */
struct found {
    bool asked;
    uint8_t size; /* 0: none */
    bool later;   /* the recording does not prove it */
    uint8_t id[ID_MAX];
};

struct edit_build_ids {
    struct edit_build_ids_options options;
    const struct stream *in;
    const struct perfdata_events *events;
    struct resolve_names *names;
    const struct model *model;
    VEC(struct known) known;
    uint8_t *asked;          /* looked up; by image */
    VEC(struct found) found; /* maps: by image */
    uint8_t *used;           /* maps: by mapping; NULL: none is dropped */
    struct resolve_locator locator;
    struct resolve_samples samples; /* without names, as only images are needed */
    struct copy_editor editor;
    struct edit_build_ids_counts counts;
};

/* ---- build-ids that the user knows ---- */

static int digit(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses "ID PATH", with any number of spaces between. */
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

/* Finds the build-id of the file that the store takes for the image, which the recording does not contradict.
 * *later: it does not prove it either. */
static bool found_id(struct edit_build_ids *b, uint32_t image, struct object_build_id *id, bool *later) {
    resolve_names_demand(b->names, image);
    uint32_t store_id = resolve_names_store_id(b->names, image);
    const struct symbol_store *store = resolve_names_store(b->names);
    if (store_id == UINT32_MAX)
        return false;
    struct symbol_source source = symbol_store_source(store, store_id);
    if (source.status != SYMBOL_FOUND)
        return false;
    *later = !source.proved;
    if (source.origin == SYMBOL_FROM_LIVE_KALLSYMS)
        return model_image(b->model, image)->kind == MODEL_IMAGE_KERNEL &&
               kernel_maps_kernel_id(&os_files_real, id, NULL);
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

/* Writes a name with its NUL and padding, then the evidence, if any. `at` is the offset of the name. */
static void put_name(struct writer *w, struct bytes name, size_t at, const struct perfdata_evidence *e) {
    static const uint8_t zeros[ALIGN];
    writer_put(w, name.data, name.size);
    writer_put(w, zeros,
               ALIGN - name.size % ALIGN); /* readers look for the evidence at multiples of 8 from the name */
    if (e)
        perfdata_evidence_encode(e, w);
    writer_put(w, zeros, (ALIGN - (at + w->size) % ALIGN) % ALIGN);
}

static void put_record(struct edit_build_ids *b, const struct model_image *image,
                       const struct object_build_id *id, bool later, struct writer *out) {
    struct writer name = writer_make(b->events->swap);
    struct perfdata_evidence e = {.id_later = true};
    put_name(&name, (struct bytes){(const uint8_t *)image->name, strlen(image->name)}, NAME_AT,
             later ? &e : NULL);
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

/* Looks up an image's build-id; call it once for each. *later: the recording does not prove it. Size 0: there
 * is none to add. */
static struct object_build_id ask(struct edit_build_ids *b, uint32_t number, bool *later) {
    const struct model_image *image = model_image(b->model, number);
    struct object_build_id id = {0};
    bool file = image->kind == MODEL_IMAGE_FILE || image->kind == MODEL_IMAGE_KERNEL ||
                image->kind == MODEL_IMAGE_MODULE || image->kind == MODEL_IMAGE_VDSO;
    *later = true;
    if (known_id(b, image, &id))
        return id;
    if (!file || model_image_build_id(b->model, image, NULL).size)
        return id;
    if (!found_id(b, number, &id, later) || id.size > ID_MAX)
        id.size = 0;
    b->counts.unknown += !id.size;
    return id;
}

/* Puts records with images' build-ids in front of the record that needs them. */
struct announcing {
    struct edit_build_ids *b;
    struct writer *out;
};

static void announce(void *ctx, uint32_t number) {
    const struct announcing *x = ctx;
    if (number == MODEL_NONE || x->b->asked[number])
        return;
    x->b->asked[number] = 1;
    bool later;
    struct object_build_id id = ask(x->b, number, &later);
    if (id.size)
        put_record(x->b, model_image(x->b->model, number), &id, later, x->out);
}

/* ---- samples ---- */

/* Decodes a sample and its place. False: it is damaged, and is copied as it is. */
static bool read_sample(const struct edit_build_ids *b, const struct stream_record *r, uint64_t want,
                        struct perfdata_sample *s, struct resolve_sample_at *at) {
    *s = (struct perfdata_sample){.pid = UINT32_MAX};
    if (r->event >= b->events->list.count ||
        !perfdata_sample_decode(&b->events->list.items[r->event].plan, r->raw.body, want, s))
        return false;
    *at = (struct resolve_sample_at){.s = s,
                                     .attr = &b->events->list.items[r->event].attr,
                                     .cpumode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                     .when = {r->has_time ? r->time_ns : stream_when_ns(b->in, r), r->loc}};
    return true;
}

/* Announces the images of a sample and of its callers. False: out of memory. */
static bool ask_sample(struct edit_build_ids *b, const struct stream_record *r, struct writer *out) {
    struct perfdata_sample s;
    struct resolve_sample_at at;
    if (!read_sample(b, r, PERFDATA_SAMPLE_TID | RESOLVE_CHAIN_FIELDS, &s, &at))
        return true;
    return resolve_sample_images(&b->samples, &at, announce, &(struct announcing){b, out});
}

/* Returns the first mapping that the record at `loc` made, or a later one. Ids are in the order of the
 * records. */
static uint32_t first_mapping(const struct edit_build_ids *b, uint64_t loc) {
    uint32_t low = 0, high = model_mapping_count(b->model);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model_mapping(b->model, middle).order < loc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_made_by(const struct edit_build_ids *b, uint32_t mapping, uint64_t loc) {
    return mapping < model_mapping_count(b->model) && model_mapping(b->model, mapping).order == loc;
}

static void ask_mapping(struct edit_build_ids *b, const struct stream_record *r, struct writer *out) {
    for (uint32_t i = first_mapping(b, r->loc); is_made_by(b, i, r->loc); i++)
        announce(&(struct announcing){b, out}, model_mapping(b->model, i).image);
}

/* ---- map records ---- */

static const struct found *find_of(struct edit_build_ids *b, uint32_t image) {
    struct found *f = &b->found.items[image];
    const struct model_image *im = model_image(b->model, image);
    if (f->asked)
        return f;
    struct object_build_id id = ask(b, image, &f->later);
    struct bytes listed = model_image_build_id(b->model, im, NULL);
    if (!id.size && listed.size && listed.size <= ID_MAX && !im->build_id_size) {
        /* A build-id that is recorded by name moves into the map record. */
        bool by_name;
        model_image_build_id(b->model, im, &by_name);
        memcpy(id.bytes, listed.data, listed.size);
        id.size = (uint8_t)listed.size;
        f->later = (by_name && im->kind == MODEL_IMAGE_FILE) || model_image_id_later(b->model, im);
    }
    f->asked = true;
    f->size = id.size;
    memcpy(f->id, id.bytes, id.size);
    return f;
}

/* True of the kernel's maps, which say where it and its modules were, and of a jitdump's, which says where
 * code is. */
static bool is_needed(const struct edit_build_ids *b, uint32_t mapping) {
    const struct model_mapping map = model_mapping(b->model, mapping);
    for (uint32_t i = mapping; b->used && is_made_by(b, i, map.order); i++)
        if (b->used[i])
            return true;
    if (!b->used || map.image == MODEL_NONE)
        return true;
    const struct model_image *image = model_image(b->model, map.image);
    size_t len = strlen(image->short_name);
    return image->space != MODEL_SPACE_USER || (strncmp(image->short_name, "jit-", 4) == 0 && len > 9 &&
                                                strcmp(image->short_name + len - 5, ".dump") == 0);
}

/* Writes the record again, with the build-id. False: it stays as it is. */
static bool put_map(struct edit_build_ids *b, const struct stream_record *r, const struct found *f,
                    struct writer *out) {
    enum { MAP_NAME_AT = 72, GROWN_MOST = 256 };
    const struct perfdata_plan *plan =
        r->event < b->events->list.count ? &b->events->list.items[r->event].plan : NULL;
    struct perfdata_record rec;
    const char *reason;
    if (!f->size || r->raw.body.size > UINT16_MAX - GROWN_MOST ||
        !perfdata_record_decode(&r->raw, plan, b->events->swap, &rec, &reason))
        return false;
    struct perfdata_mmap2 m = rec.mmap2;
    if (rec.type == PERFDATA_RECORD_MMAP) { /* which does not record the protection */
        const struct perfdata_mmap *old = &rec.mmap;
        m = (struct perfdata_mmap2){
            .pid = old->pid, .tid = old->tid, .addr = old->addr, .len = old->len, .pgoff = old->pgoff};
        m.prot = PROT_READ | (rec.misc & PERFDATA_MISC_MMAP_DATA ? 0 : PROT_EXEC);
        m.flags = MAP_PRIVATE;
        m.filename = old->filename;
    }
    struct perfdata_evidence e;
    bool tail =
        rec.type == PERFDATA_RECORD_MMAP2 && perfdata_evidence_decode(m.filename, b->events->swap, &e);
    if (!tail)
        e = (struct perfdata_evidence){0};
    e.id_later = f->later;
    struct writer name = writer_make(b->events->swap);
    put_name(&name, (struct bytes){m.filename.data, bytes_text_len(m.filename)}, MAP_NAME_AT,
             tail || f->later ? &e : NULL);
    m.filename = writer_bytes(&name);
    m.has_build_id = true;
    m.build_id_size = f->size;
    m.reserved_1 = 0;
    m.reserved_2 = 0;
    memset(m.build_id, 0, sizeof m.build_id);
    memcpy(m.build_id, f->id, f->size);
    rec.type = PERFDATA_RECORD_MMAP2;
    rec.misc |= PERFDATA_MISC_MMAP_BUILD_ID;
    rec.mmap2 = m;
    if (writer_ok(&name))
        perfdata_record_encode(&rec, plan, out);
    else
        out->failed = true;
    writer_fini(&name);
    b->counts.injected++;
    return true;
}

static void edit_map(struct edit_build_ids *b, const struct stream_record *r, struct writer *before,
                     bool *keep) {
    uint32_t mapping = first_mapping(b, r->loc);
    if (!is_made_by(b, mapping, r->loc))
        return;
    uint32_t image = model_mapping(b->model, mapping).image;
    if (!is_needed(b, mapping)) {
        b->counts.dropped++;
        *keep = false;
    } else if (image != MODEL_NONE) {
        *keep = !put_map(b, r, find_of(b, image), before);
    }
}

/* ---- what samples need ---- */

static void use(struct edit_build_ids *b, unsigned cpumode, const struct resolve_sample_at *at,
                uint64_t address) {
    struct model_state state;
    struct model_hit hit;
    model_state_at(b->model, model_space_of(cpumode), at->s->pid, at->when, &state);
    if (model_state_find(b->model, &state, address, &hit) ||
        model_state_find_before_exec(b->model, &state, address, &hit))
        b->used[hit.mapping] = 1;
}

/* Marks the mapping before a return address, too: a call may be the last instruction of a mapping. */
static void use_segment(struct edit_build_ids *b, const struct resolve_sample_at *at,
                        const struct resolve_segment *s) {
    for (uint64_t i = 0; s->kind != RESOLVE_SEGMENT_COOKIE && i < s->count; i++) {
        uint64_t address = resolve_segment_at(s, i);
        use(b, s->cpumode, at, address);
        use(b, s->cpumode, at, address - 1);
    }
}

/* Marks an address in both spaces: a branch or memory access may lead from the kernel to a process. */
static void use_anywhere(struct edit_build_ids *b, const struct resolve_sample_at *at, uint64_t address) {
    use(b, at->cpumode, at, address);
    if (at->cpumode != PERFDATA_MISC_USER)
        use(b, PERFDATA_MISC_USER, at, address);
}

/* Marks the mappings that a sample needs. False: out of memory. */
static bool use_sample(struct edit_build_ids *b, const struct stream_record *r) {
    struct perfdata_sample s;
    struct resolve_sample_at at;
    struct resolve_chain *chain = &b->samples.chain;
    if (!read_sample(b, r, ~0ull, &s, &at))
        return true;
    use(b, at.cpumode, &at, s.ip);
    if (!resolve_chain_read(chain, &s, at.attr, at.cpumode, at.when))
        return false;
    for (size_t i = 0; i < chain->segments.count; i++)
        use_segment(b, &at, &chain->segments.items[i]);
    if (s.have & PERFDATA_SAMPLE_ADDR)
        use_anywhere(b, &at, s.addr);
    for (uint64_t i = 0; s.have & PERFDATA_SAMPLE_BRANCH_STACK && i < s.branch_count; i++) {
        struct perfdata_branch branch = perfdata_branch_at(&s, i);
        use_anywhere(b, &at, branch.from);
        use_anywhere(b, &at, branch.to);
    }
    return true;
}

/* Finds the mappings that samples need. If a stack has to be unwound later, or a trace of instructions
 * decoded, any may be needed, and all count. */
static bool find_used(struct edit_build_ids *b, struct stream *in, struct err *err) {
    struct stream_record r;
    enum stream_status status;
    bool all = false;
    for (size_t i = 0; i < b->events->list.count; i++)
        all = all || b->events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_STACK_USER;
    b->used = calloc(model_mapping_count(b->model) + 1u, 1);
    if (!b->used)
        return err_memory(err, "build-ids");
    while (!all && (status = stream_next(in, &r, err)) == STREAM_RECORD) {
        all = r.raw.type == PERFDATA_RECORD_AUXTRACE;
        if (!r.legacy && r.raw.type == PERFDATA_RECORD_SAMPLE && !use_sample(b, &r))
            return err_memory(err, "build-ids");
    }
    if (!all && status == STREAM_FAILED)
        return false;
    if (all) {
        free(b->used);
        b->used = NULL;
    }
    stream_rewind(in);
    return true;
}

/* ---- the editor ---- */

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_build_ids *b = ctx;
    if (!r || r->legacy)
        return true;
    bool map = r->raw.type == PERFDATA_RECORD_MMAP || r->raw.type == PERFDATA_RECORD_MMAP2;
    if (b->options.maps) {
        if (map)
            edit_map(b, r, before, keep);
        return true;
    }
    if (map && b->options.all)
        ask_mapping(b, r, before);
    else if (r->raw.type == PERFDATA_RECORD_SAMPLE && !b->options.all)
        return ask_sample(b, r, before) || err_memory(err, "build-ids");
    return true;
}

/* ---- making ---- */

static bool make_found(struct edit_build_ids *b) {
    size_t count = model_image_count(b->model);
    if (!vec_reserve(&b->found, count + 1))
        return false;
    memset(b->found.items, 0, count * sizeof *b->found.items);
    b->found.count = count;
    return true;
}

struct edit_build_ids *edit_build_ids_new(const struct edit_build_ids_options *options, struct stream *in,
                                          const struct perfdata_events *events, struct resolve_names *names,
                                          struct err *err) {
    struct edit_build_ids *b = calloc(1, sizeof *b);
    if (b) {
        b->options = *options;
        b->in = in;
        b->events = events;
        b->names = names;
        b->model = resolve_names_model(names);
        b->locator.model = b->model;
        b->samples = (struct resolve_samples){.locator = &b->locator, .chain.o = options->chains};
        b->editor = (struct copy_editor){edit, b};
        b->asked = calloc(model_image_count(b->model) + 1u, 1);
    }
    bool ok = b && b->asked && make_found(b) ? parse_known(b, err) : err_memory(err, "build-ids");
    if (ok && resolve_names_prepare(names, err) && (!options->maps || options->all || find_used(b, in, err)))
        return b;
    edit_build_ids_free(b);
    return NULL;
}

void edit_build_ids_free(struct edit_build_ids *b) {
    if (!b)
        return;
    resolve_samples_fini(&b->samples);
    resolve_locator_fini(&b->locator);
    vec_fini(&b->known);
    vec_fini(&b->found);
    free(b->used);
    free(b->asked);
    free(b);
}

const struct copy_editor *edit_build_ids_editor(struct edit_build_ids *b) {
    return &b->editor;
}

struct edit_build_ids_counts edit_build_ids_counts(const struct edit_build_ids *b) {
    return b->counts;
}
