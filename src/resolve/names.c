/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/names.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/added/module_map.h"
#include "resolve/callers.h"
#include "symbol/grade.h"

enum { NOT_ASKED = UINT32_MAX };

struct image_names {
    uint32_t store_id; /* NOT_ASKED: not added yet */
    bool loaded, loading;
    const struct symbol_table *table;
};

/* Where an image was mapped first: for kernels and modules, which lie in one place. */
struct extent {
    uint64_t start, last;
    bool known;
    uint32_t part; /* 1 + index of its newest memory_part; 0: none */
};

/* One of the mappings of a file in memory (a memfd). */
struct memory_part {
    struct symbol_part at;
    uint32_t before; /* the image's next older one, as extent.part */
};

/* Results of earlier lookups: a direct-mapped cache, since frames repeat and a lookup is no more than a
 * binary search. */
struct memo {
    uint64_t offset;
    struct resolve_symbol symbol;
    uint8_t back, settled; /* hit->back before and after the lookup */
};
enum { MEMO_SLOTS = 1 << 14 };

struct resolve_names {
    const struct model *model;
    struct symbol_store *store;
    bool strict;
    const char *release;
    const struct resolve_jit *jit;
    VEC(struct image_names) images;
    VEC(struct extent) extents;
    VEC(struct memory_part) parts;
    uint32_t seen_mappings; /* mappings that learn_extents has seen, by their numbers in this generation: */
    uint32_t generation;
    uint32_t seen_images; /* images that add_kernel_images has seen */
    bool adding;          /* add_kernel_images is running */
    struct memo *memo;    /* allocated at the first resolve_names_find */
    pthread_mutex_t lock; /* guards loaded and loading in resolve_names_demand */
    pthread_cond_t done;
};

struct resolve_names *resolve_names_new(const struct model *m, struct symbol_store *store,
                                        const char *release, struct err *err) {
    struct resolve_names *n = calloc(1, sizeof *n);
    if (!n) {
        err_memory(err, "names");
        return NULL;
    }
    n->model = m;
    n->store = store;
    n->release = release;
    pthread_mutex_init(&n->lock, NULL);
    pthread_cond_init(&n->done, NULL);
    return n;
}

void resolve_names_use_jit(struct resolve_names *n, const struct resolve_jit *jit) {
    n->jit = jit;
}

void resolve_names_free(struct resolve_names *n) {
    if (!n)
        return;
    vec_fini(&n->images);
    vec_fini(&n->extents);
    vec_fini(&n->parts);
    pthread_mutex_destroy(&n->lock);
    pthread_cond_destroy(&n->done);
    free(n->memo);
    free(n);
}

void resolve_names_be_strict(struct resolve_names *n) {
    n->strict = true;
}

bool resolve_names_strict(const struct resolve_names *n) {
    return n->strict;
}

uint32_t resolve_names_admit(const struct resolve_names *n, uint32_t image, uint32_t symbol) {
    if (!n->strict || symbol == SYMBOL_NONE)
        return symbol;
    uint32_t id = n->images.items[image].store_id;
    return symbol_store_grade(n->store, id, symbol) == GRADE_EXACT ? symbol : SYMBOL_NONE;
}

static bool grow(struct resolve_names *n, uint32_t images) {
    while (n->images.count < images) {
        struct image_names *i = vec_push(&n->images);
        if (!i)
            return false;
        i->store_id = NOT_ASKED;
    }
    return true;
}

static bool learn_part(struct resolve_names *n, const struct model_mapping *map) {
    if (model_image(n->model, map->image)->kind != MODEL_IMAGE_MEMFD || !(map->prot & PROT_EXEC))
        return true;
    struct memory_part *p = vec_push(&n->parts);
    struct extent *e = &n->extents.items[map->image];
    if (p) {
        *p = (struct memory_part){{map->start, map->last, map->pgoff}, e->part};
        e->part = (uint32_t)n->parts.count;
    }
    return p;
}

/* Copies the newest PARTS_MAX parts of an image, oldest first. Returns how many. */
enum { PARTS_MAX = 256 };
static size_t take_parts(const struct resolve_names *n, uint32_t image, struct symbol_part parts[PARTS_MAX]) {
    size_t count = 0;
    for (uint32_t i = n->extents.items[image].part; i && count < PARTS_MAX; i = n->parts.items[i - 1].before)
        parts[PARTS_MAX - ++count] = n->parts.items[i - 1].at;
    memmove(parts, parts + PARTS_MAX - count, count * sizeof *parts);
    return count;
}

/* Learns from new mappings where each image was mapped first. False: out of memory. */
static bool learn_extents(struct resolve_names *n) {
    uint32_t count = model_mapping_count(n->model);
    if (n->generation != model_generation(n->model)) { /* those that are left have other numbers */
        n->generation = model_generation(n->model);
        n->seen_mappings = 0;
        vec_clear(&n->parts);
        for (size_t i = 0; i < n->extents.count; i++)
            n->extents.items[i].part = 0;
    }
    while (n->extents.count < model_image_count(n->model))
        if (!vec_push(&n->extents))
            return false;
    for (; n->seen_mappings < count; n->seen_mappings++) {
        const struct model_mapping map = model_mapping(n->model, n->seen_mappings);
        if (map.image == MODEL_NONE)
            continue;
        struct extent *e = &n->extents.items[map.image];
        bool apart = model_image(n->model, map.image)->kind == MODEL_IMAGE_MODULE &&
                     map.pgoff >= PERFDATA_MODULE_INIT; /* initialisation code lies anywhere */
        if (!e->known && !apart)
            *e = (struct extent){map.start, map.last, true, 0};
        if (!learn_part(n, &map))
            return false;
    }
    return true;
}

static enum symbol_space space_of(const struct model_image *image) {
    switch (image->space) {
    case MODEL_SPACE_KERNEL:
        return SYMBOL_KERNEL;
    case MODEL_SPACE_GUEST_KERNEL:
        return SYMBOL_GUEST_KERNEL;
    case MODEL_SPACE_GUEST_USER:
        return SYMBOL_GUEST_USER;
    default:
        return SYMBOL_USER;
    }
}

static enum symbol_kind kind_of(const struct model_image *image) {
    static const uint8_t kinds[] = {
        [MODEL_IMAGE_FILE] = SYMBOL_IMAGE_FILE,     [MODEL_IMAGE_KERNEL] = SYMBOL_IMAGE_KERNEL,
        [MODEL_IMAGE_MODULE] = SYMBOL_IMAGE_MODULE, [MODEL_IMAGE_BPF] = SYMBOL_IMAGE_NAMED,
        [MODEL_IMAGE_KSYMBOL] = SYMBOL_IMAGE_NAMED, [MODEL_IMAGE_VDSO] = SYMBOL_IMAGE_VDSO,
        [MODEL_IMAGE_VSYSCALL] = SYMBOL_IMAGE_NONE, [MODEL_IMAGE_ANON] = SYMBOL_IMAGE_JIT,
        [MODEL_IMAGE_HEAP] = SYMBOL_IMAGE_JIT,      [MODEL_IMAGE_STACK] = SYMBOL_IMAGE_JIT,
        [MODEL_IMAGE_MEMFD] = SYMBOL_IMAGE_JIT,     [MODEL_IMAGE_SYSV] = SYMBOL_IMAGE_NONE,
        [MODEL_IMAGE_OTHER] = SYMBOL_IMAGE_NONE,    [MODEL_IMAGE_CODE] = SYMBOL_IMAGE_CODE,
    };
    return image->kind < sizeof kinds ? (enum symbol_kind)kinds[image->kind] : SYMBOL_IMAGE_NONE;
}

/* Whether the image's process, or the program that it runs, began during the recording. */
static bool is_young(const struct model *m, uint32_t pid, const struct model_image *image) {
    struct model_when when = {image->first_ns, UINT64_MAX};
    uint32_t process = model_process_at(m, pid, when);
    bool at_exec = false;
    return process != MODEL_NONE && image->first_ns &&
           (model_process(m, process)->forked || (model_comm(m, pid, pid, when, &at_exec) && at_exec));
}

static bool add_image(struct resolve_names *n, uint32_t id);

/* Adds the kernel that a module, a vdso or the pid of a JIT's memory is proved by to the store. */
static bool add_kernel_of(struct resolve_names *n, const struct model_image *image) {

    bool guest = image->space == MODEL_SPACE_GUEST_KERNEL || image->space == MODEL_SPACE_GUEST_USER;
    struct model_kernel_reference ref;
    bool needed =
        image->kind == MODEL_IMAGE_MODULE || image->kind == MODEL_IMAGE_VDSO || image->pid != MODEL_NONE;
    return !needed ||
           !model_kernel_reference(n->model, guest ? MODEL_SPACE_GUEST_KERNEL : MODEL_SPACE_KERNEL, &ref) ||
           (grow(n, ref.image + 1) && add_image(n, ref.image));
}

static bool is_kernel(unsigned space) {
    return space == MODEL_SPACE_KERNEL || space == MODEL_SPACE_GUEST_KERNEL;
}

/* Adds all images of kernels to the store, before symbols of the first one are wanted: the addresses of
 * modules and of generated code show whether a list of symbols is of the recorded kernel. */
static bool add_kernel_images(struct resolve_names *n, unsigned space) {
    bool ok = true;
    if (!is_kernel(space) || n->adding)
        return true;
    n->adding = true;
    for (; ok && n->seen_images < model_image_count(n->model); n->seen_images++)
        if (is_kernel(model_image(n->model, n->seen_images)->space))
            ok = grow(n, n->seen_images + 1) && add_image(n, n->seen_images);
    n->adding = false;
    return ok;
}

/* Adds the image to the store. False: out of memory. */
static bool add_image(struct resolve_names *n, uint32_t id) {
    if (n->images.items[id].store_id != NOT_ASKED)
        return true;
    if (!learn_extents(n))
        return false;
    const struct model_image *image = model_image(n->model, id);
    if (!add_kernel_of(n, image) || !add_kernel_images(n, image->space))
        return false;
    if (n->images.items[id].store_id != NOT_ASKED)
        return true;
    bool by_name;
    struct symbol_image s = {.kind = kind_of(image),
                             .space = space_of(image),
                             .name = image->name,
                             .deleted = image->deleted,
                             .build_id = model_image_build_id(n->model, image, &by_name),
                             .replaced = model_image_replaced(n->model, image),
                             .dev = makedev(image->maj, image->min),
                             .ino = image->ino,
                             .mapped_ns = image->first_ns,
                             .pid = image->kind == MODEL_IMAGE_FILE || image->kind == MODEL_IMAGE_MEMFD
                                        ? image->mapper
                                        : image->pid,
                             .release = n->release};
    s.young = s.kind == SYMBOL_IMAGE_JIT && is_young(n->model, s.pid, image);
    s.id_by_name = (by_name && image->kind == MODEL_IMAGE_FILE) || model_image_id_later(n->model, image);
    struct perfdata_evidence evidence;
    if (model_image_evidence(n->model, image, &evidence))
        s.evidence = &evidence;
    const struct extent *e = &n->extents.items[id];
    if (e->known) {
        s.start = e->start;
        s.end = e->last == UINT64_MAX ? UINT64_MAX : e->last + 1;
    }
    struct model_kernel_reference ref;
    if (image->kind == MODEL_IMAGE_KERNEL &&
        model_kernel_reference(n->model, (enum model_space)image->space, &ref) && ref.image == id) {
        s.reference = ref.symbol;
        s.reference_address = ref.address;
    }
    if (image->kind == MODEL_IMAGE_CODE && n->jit)
        resolve_jit_code(n->jit, id, &s.code);
    struct symbol_part parts[PARTS_MAX];
    s.parts = parts;
    s.part_count = take_parts(n, id, parts);
    n->images.items[id].store_id = symbol_store_add(n->store, &s);
    return n->images.items[id].store_id != NOT_ASKED;
}

static const struct symbol_table *load(struct resolve_names *n, uint32_t id) {
    struct image_names *i = &n->images.items[id];
    if (!i->loaded && i->store_id != NOT_ASKED)
        i->table = symbol_store_table(n->store, i->store_id);
    i->loaded = true;
    return i->table;
}

/* The memo's slot for a place, which may hold another one; NULL: out of memory. */
static struct memo *memo_of(struct resolve_names *n, uint32_t image, uint64_t offset, unsigned back) {
    if (!n->memo) {
        n->memo = malloc(MEMO_SLOTS * sizeof *n->memo);
        for (size_t i = 0; n->memo && i < MEMO_SLOTS; i++)
            n->memo[i].symbol.image = MODEL_NONE;
    }
    uint64_t which = offset ^ (uint64_t)image << 48 ^ (uint64_t)back << 47;
    return n->memo ? &n->memo[hash_u64(which) & (MEMO_SLOTS - 1)] : NULL;
}

struct resolve_symbol resolve_names_find_caller(struct resolve_names *n, struct model_hit *hit) {
    struct resolve_symbol s = {hit->image, SYMBOL_NONE};
    if (hit->image == MODEL_NONE)
        return s;
    struct memo *m = memo_of(n, hit->image, hit->offset, hit->back);
    if (!m)
        return s;
    if (m->symbol.image != hit->image || m->offset != hit->offset || m->back != hit->back) {
        if (!grow(n, hit->image + 1) || !add_image(n, hit->image))
            return s;
        const struct symbol_table *table = load(n, hit->image);
        *m = (struct memo){hit->offset, s, hit->back, hit->back};
        if (table)
            m->symbol.index = resolve_names_admit(n, hit->image,
                                                  hit->back ? resolve_callers_symbol(table, hit)
                                                            : symbol_table_find(table, hit->offset));
        m->settled = hit->back;
    }
    hit->back = m->settled;
    return m->symbol;
}

struct resolve_symbol resolve_names_find(struct resolve_names *n, uint32_t image, uint64_t offset) {
    struct model_hit hit = MODEL_NOTHING;
    hit.image = image;
    hit.offset = offset;
    return resolve_names_find_caller(n, &hit);
}

bool resolve_names_is_entry(const struct resolve_names *n, struct resolve_symbol s, enum model_space space) {
    return s.index != SYMBOL_NONE &&
           resolve_callers_is_entry(symbol_table_name(resolve_names_table(n, s.image), s.index), space);
}

bool resolve_names_refresh(struct resolve_names *n) {
    if (!symbol_store_refresh(n->store))
        return false;
    for (size_t i = 0; i < n->images.count; i++)
        if (kind_of(model_image(n->model, (uint32_t)i)) == SYMBOL_IMAGE_JIT) {
            n->images.items[i].loaded = false;
            n->images.items[i].table = NULL;
            if (model_image(n->model, (uint32_t)i)->kind == MODEL_IMAGE_MEMFD)
                n->images.items[i].store_id = NOT_ASKED; /* it may have been mapped again since */
        }
    for (size_t i = 0; n->memo && i < MEMO_SLOTS; i++)
        n->memo[i].symbol.image = MODEL_NONE;
    return true;
}

/* ---- many images on threads ---- */

bool resolve_names_prepare(struct resolve_names *n, struct err *err) {
    uint32_t count = model_image_count(n->model);
    bool ok = grow(n, count);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = add_image(n, i);
    return ok || err_memory(err, "names");
}

const struct symbol_table *resolve_names_demand(struct resolve_names *n, uint32_t image) {
    struct image_names *i = &n->images.items[image];
    pthread_mutex_lock(&n->lock);
    while (i->loading)
        pthread_cond_wait(&n->done, &n->lock);
    if (!i->loaded) {
        i->loading = true;
        pthread_mutex_unlock(&n->lock);
        const struct symbol_table *table = symbol_store_table(n->store, i->store_id);
        pthread_mutex_lock(&n->lock);
        i->table = table;
        i->loaded = true;
        i->loading = false;
        pthread_cond_broadcast(&n->done);
    }
    pthread_mutex_unlock(&n->lock);
    return i->table;
}

bool resolve_names_frames(struct resolve_names *n, uint32_t image, struct symbol_frames *out) {
    *out = (struct symbol_frames){NULL, NULL};
    if (image >= n->images.count && !grow(n, image + 1))
        return false;
    if (n->images.items[image].store_id == NOT_ASKED && !add_image(n, image))
        return false;
    resolve_names_demand(n, image);
    return symbol_store_frames(n->store, n->images.items[image].store_id, out);
}

struct loading {
    struct resolve_names *names;
    const uint32_t *images;
    size_t count;
    atomic_size_t next;
};

static void *load_some(void *ctx) {
    struct loading *l = ctx;
    for (size_t i; (i = atomic_fetch_add(&l->next, 1)) < l->count;)
        load(l->names, l->images[i]);
    return NULL;
}

bool resolve_names_load(struct resolve_names *n, const bool *wanted, uint32_t count, unsigned threads,
                        struct err *err) {
    VEC(uint32_t) images = {0};
    bool ok = grow(n, count);
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t *id = wanted[i] && !n->images.items[i].loaded ? vec_push(&images) : NULL;
        if (id)
            *id = i;
        ok = !wanted[i] || n->images.items[i].loaded || (id && add_image(n, i));
    }
    if (ok) {
        struct loading l = {.names = n, .images = images.items, .count = images.count};
        pthread_t helpers[64];
        unsigned started = 0;
        for (; started + 1 < threads && started < 64 && started + 1 < images.count; started++)
            if (pthread_create(&helpers[started], NULL, load_some, &l))
                break;
        load_some(&l);
        for (unsigned i = 0; i < started; i++)
            pthread_join(helpers[i], NULL);
    }
    vec_fini(&images);
    return ok || err_memory(err, "names");
}

const struct symbol_table *resolve_names_table(const struct resolve_names *n, uint32_t image) {
    return image < n->images.count ? n->images.items[image].table : NULL;
}

const struct model *resolve_names_model(const struct resolve_names *n) {
    return n->model;
}

const struct symbol_store *resolve_names_store(const struct resolve_names *n) {
    return n->store;
}

uint32_t resolve_names_store_id(const struct resolve_names *n, uint32_t image) {
    return image < n->images.count ? n->images.items[image].store_id : NOT_ASKED;
}

bool resolve_names_has_lines(const struct resolve_names *n, uint32_t image) {
    uint32_t id = resolve_names_table(n, image) ? resolve_names_store_id(n, image) : NOT_ASKED;
    return id != NOT_ASKED && symbol_store_has_lines(n->store, id) &&
           (!resolve_names_strict(n) || symbol_store_source(n->store, id).proved);
}

const char *resolve_names_text(const struct resolve_names *n, struct resolve_symbol s) {
    const struct symbol_table *t = s.index == SYMBOL_NONE ? NULL : resolve_names_table(n, s.image);
    return t ? symbol_table_shown(t, s.index) : NULL;
}
