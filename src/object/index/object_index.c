/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/object_index.h"

#include <pthread.h>

#include "base/sorted.h"
#include "object/index/dwarf_numbers.h"
#include "object/index/index_file.h"
#include "object/index/index_unit.h"

enum { LOOK_BACK_MAX = 64 }; /* ranges around an address that are tried: real ones do not overlap */

struct unit {
    const struct dinfo_head *head;
    bool made, wanted;
    bool kept;          /* the block is in the file */
    bool passing;       /* made of a .dwo file, which may be gone or another one next time: not to be kept */
    struct bytes block; /* owned, unless it is kept */
    struct index_unit view;
};

struct object_index {
    struct bytes image, alt_image;
    enum { NOT_OPENED, OPENED, FAILED } dwarf; /* the three below */
    struct dinfo_file main, alt, dwp;
    struct object_index_split split;
    struct index_file file; /* what was kept; no units: none */
    VEC(struct unit) units;
    VEC(struct index_range) ranges; /* sorted by start */
    VEC(uint32_t) rangeless;        /* units that do not say what they cover: their lines do */
    pthread_mutex_t dwo_mutex;      /* for split.dwo */
};

/* --- Which unit an address is in ---------------------------------------------------------------------------
 */

static bool add_unit(struct object_index *x, const struct dinfo_head *h, size_t *left) {
    struct dinfo_unit u;
    struct dinfo_ranges r;
    uint64_t start, end;
    size_t before = x->ranges.count;
    uint32_t id = (uint32_t)x->units.count;
    bool skeleton_or_whole = dinfo_unit_open(&x->main, x->alt.heads.count ? &x->alt : NULL, h, NULL, &u) &&
                             (u.tag == TAG_COMPILE_UNIT || u.tag == TAG_SKELETON_UNIT);
    bool ok = true;
    if (skeleton_or_whole) {
        struct unit *unit = vec_push(&x->units);
        ok = unit;
        if (unit)
            unit->head = h;
        dinfo_ranges_init(&r, &u, &u.extent);
        while (ok && *left && dinfo_ranges_next(&r, &start, &end)) {
            struct index_range *range = vec_push(&x->ranges);
            --*left;
            ok = range;
            if (range)
                *range = (struct index_range){.start = start, .end = end, .unit = id};
        }
        if (ok && x->ranges.count == before && !u.extent.has_low && u.line_at != UINT64_MAX) {
            uint32_t *kept = vec_push(&x->rangeless);
            ok = kept;
            if (kept)
                *kept = id;
        }
    }
    dinfo_unit_fini(&u);
    return ok;
}

static int by_start(const void *a, const void *b) {
    const struct index_range *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end) /* the smaller, which says more, last */
        return x->end > y->end ? -1 : 1;
    return (x->unit > y->unit) - (x->unit < y->unit);
}

static bool list_units(struct object_index *x) {
    const struct bytes *s = x->main.sections;
    size_t left = s[DINFO_INFO].size + s[DINFO_RANGES].size + s[DINFO_RNGLISTS].size;
    for (size_t i = 0; i < x->main.heads.count; i++)
        if (!add_unit(x, &x->main.heads.items[i], &left))
            return false;
    if (x->ranges.count)
        qsort(x->ranges.items, x->ranges.count, sizeof *x->ranges.items, by_start);
    uint64_t reach = 0;
    for (size_t i = 0; i < x->ranges.count; i++) {
        struct index_range *r = &x->ranges.items[i];
        reach = r->end > reach ? r->end : reach;
        r->reach = reach;
    }
    return true;
}

/* The units that may cover an address, one after the other; UINT32_MAX at the end. */
struct unit_walk {
    uint64_t addr;
    size_t at, tries;
};

static struct unit_walk units_of(const struct object_index *x, uint64_t addr) {
    return (struct unit_walk){addr, sorted_up_to(&x->ranges, start, addr), 0};
}

static uint32_t next_unit(const struct object_index *x, struct unit_walk *w) {
    while (w->at && w->tries < LOOK_BACK_MAX && x->ranges.items[w->at - 1].reach > w->addr) {
        const struct index_range *r = &x->ranges.items[--w->at];
        w->tries++;
        if (r->end > w->addr)
            return (uint32_t)r->unit;
    }
    return UINT32_MAX;
}

/* --- Opening DWARF -----------------------------------------------------------------------------------------
 */

static bool open_file(struct bytes image, bool split, struct dinfo_file *f, struct err *err) {
    struct object_elf e;
    return object_elf_open(image, &e, err) && dinfo_file_open(&e, split, f, err);
}

static bool open_files(struct object_index *x, struct err *err) {
    bool ok = open_file(x->image, false, &x->main, err) &&
              (!x->alt_image.size || open_file(x->alt_image, false, &x->alt, err));
    if (ok && x->split.dwp.size)
        open_file(x->split.dwp, true, &x->dwp, NULL); /* without it there are still lines */
    return ok;
}

/* Finds the heads of units that are known from the file. False: out of memory, or the file is of other DWARF.
 */
static bool find_heads(struct object_index *x) {
    __typeof__(x->units) units = x->units;
    __typeof__(x->ranges) ranges = x->ranges;
    __typeof__(x->rangeless) rangeless = x->rangeless;
    memset(&x->units, 0, sizeof x->units);
    memset(&x->ranges, 0, sizeof x->ranges);
    memset(&x->rangeless, 0, sizeof x->rangeless);
    bool ok = list_units(x) && x->units.count == units.count && x->ranges.count == ranges.count;
    for (size_t i = 0; ok && i < units.count; i++)
        units.items[i].head = x->units.items[i].head;
    vec_fini(&x->units);
    vec_fini(&x->ranges);
    vec_fini(&x->rangeless);
    x->units = units;
    x->ranges = ranges;
    x->rangeless = rangeless;
    return ok;
}

/* Opens DWARF for what is not in the file. False: it cannot be. */
static bool open_later(struct object_index *x) {
    if (x->dwarf == NOT_OPENED)
        x->dwarf = open_files(x, NULL) && find_heads(x) ? OPENED : FAILED;
    return x->dwarf == OPENED;
}

/* Takes over the tables of the file. False: there is none that can be used. */
static bool open_kept(struct object_index *x, const struct object_index_kept *kept) {
    const struct index_file *f = &x->file;
    if (!kept || !kept->file.size || !index_file_open(kept->file, kept->key, &x->file) || !f->unit_count ||
        !vec_reserve(&x->units, f->unit_count) || !vec_reserve(&x->ranges, f->range_count + 1u) ||
        !vec_reserve(&x->rangeless, f->rangeless_count + 1u)) {
        x->file = (struct index_file){0};
        return false;
    }
    while (x->units.count < f->unit_count)
        vec_push(&x->units);
    for (; x->ranges.count < f->range_count; x->ranges.count++)
        x->ranges.items[x->ranges.count] = f->ranges[x->ranges.count];
    for (; x->rangeless.count < f->rangeless_count; x->rangeless.count++)
        x->rangeless.items[x->rangeless.count] = f->rangeless[x->rangeless.count];
    return true;
}

/* --- Making units ------------------------------------------------------------------------------------------
 */

/* The compile unit of a split file that a skeleton means, or NULL. */
static const struct dinfo_head *split_head(const struct dinfo_file *f, const struct dinfo_unit *skeleton) {
    for (size_t i = 0; i < f->heads.count; i++) {
        const struct dinfo_head *h = &f->heads.items[i];
        if (h->type == UT_SPLIT_COMPILE && h->id == skeleton->dwo_id)
            return h;
        if (h->type != UT_COMPILE || h->version >= 5)
            continue;
        struct dinfo_unit u;
        bool same = dinfo_unit_open(f, NULL, h, skeleton, &u) && u.dwo_id == skeleton->dwo_id;
        dinfo_unit_fini(&u);
        if (same)
            return h;
    }
    return NULL;
}

static struct bytes ask_dwo(struct object_index *x, const struct dinfo_unit *u) {
    struct bytes found = {NULL, 0};
    if (!x->split.dwo)
        return found;
    pthread_mutex_lock(&x->dwo_mutex);
    found = x->split.dwo(x->split.ctx, u->folder, u->dwo_name);
    pthread_mutex_unlock(&x->dwo_mutex);
    return found;
}

/* Makes a block of the split part, or if that is not to be had, of what the skeleton has: lines. */
static bool make_split(struct object_index *x, struct dinfo_unit *skeleton, struct unit *unit) {
    struct bytes *out = &unit->block;
    struct dinfo_file own = {.arena = ARENA_INIT};
    struct object_elf e;
    const struct dinfo_file *f = &x->dwp;
    const struct dinfo_head *h = split_head(f, skeleton);
    if (!h) {
        struct bytes b = ask_dwo(x, skeleton);
        if (b.size && object_elf_open(b, &e, NULL) && dinfo_file_open(&e, true, &own, NULL))
            h = split_head(&own, skeleton);
        f = &own;
    }
    bool ok;
    struct dinfo_unit u = {0};
    if (h && dinfo_unit_open(f, NULL, h, skeleton, &u))
        ok = index_unit_make(&u, skeleton, out);
    else
        ok = index_unit_make(skeleton, skeleton, out);
    unit->passing = f != &x->dwp;
    dinfo_unit_fini(&u);
    dinfo_file_fini(&own);
    return ok;
}

/* Takes a unit from the file. False: it is not there. */
static bool take_kept(struct object_index *x, uint32_t id) {
    struct unit *unit = &x->units.items[id];
    if (unit->made || !x->file.unit_count)
        return unit->made;
    unit->block = index_file_block(&x->file, id);
    unit->kept = unit->made = unit->block.size && index_unit_open(unit->block, &unit->view);
    if (!unit->kept)
        unit->block = (struct bytes){NULL, 0};
    return unit->made;
}

static bool make_unit(struct object_index *x, struct unit *unit) {
    struct dinfo_unit u;
    bool ok = dinfo_unit_open(&x->main, x->alt.heads.count ? &x->alt : NULL, unit->head, NULL, &u);
    if (ok)
        ok = u.dwo_name ? make_split(x, &u, unit) : index_unit_make(&u, &u, &unit->block);
    ok = ok && index_unit_open(unit->block, &unit->view);
    dinfo_unit_fini(&u);
    unit->made = true;
    return ok;
}

struct making {
    struct object_index *x;
    VEC(uint32_t) units;
};

static bool make_job(void *ctx, size_t job, unsigned thread, struct err *err) {
    struct making *m = ctx;
    (void)thread;
    return make_unit(m->x, &m->x->units.items[m->units.items[job]]) ||
           err_memory(err, "index of source lines");
}

static bool want(struct making *m, uint32_t unit) {
    struct unit *u = &m->x->units.items[unit];
    if (u->wanted || take_kept(m->x, unit))
        return true;
    uint32_t *kept = vec_push(&m->units);
    if (kept)
        *kept = unit;
    u->wanted = kept;
    return kept;
}

bool object_index_prepare(struct object_index *x, const object_vaddr *addrs, size_t count, struct pool *pool,
                          struct err *err) {
    struct making m = {.x = x};
    bool ok = true, outside = false;
    for (size_t i = 0; ok && i < count; i++) {
        struct unit_walk w = units_of(x, addrs[i]);
        uint32_t unit = next_unit(x, &w);
        outside = outside || unit == UINT32_MAX;
        for (; ok && unit != UINT32_MAX; unit = next_unit(x, &w))
            ok = want(&m, unit);
    }
    for (size_t i = 0; ok && outside && i < x->rangeless.count; i++)
        ok = want(&m, x->rangeless.items[i]);
    if (!ok)
        err_memory(err, "index of source lines");
    if (ok && m.units.count && open_later(x)) /* else they have no lines */
        ok = pool_run(pool, m.units.count, make_job, &m, err);
    vec_fini(&m.units);
    return ok;
}

/* --- Questions ---------------------------------------------------------------------------------------------
 */

static const struct index_unit *view_of(struct object_index *x, uint32_t unit) {
    struct unit *u = &x->units.items[unit];
    if (!take_kept(x, unit) && open_later(x))
        make_unit(x, u);
    return &u->view;
}

bool object_index_find(struct object_index *x, object_vaddr addr, struct object_line *out) {
    struct unit_walk w = units_of(x, addr);
    uint32_t unit;
    *out = (struct object_line){0};
    while ((unit = next_unit(x, &w)) != UINT32_MAX)
        if (index_unit_line(view_of(x, unit), addr, out))
            return true;
    for (size_t i = 0; i < x->rangeless.count; i++)
        if (index_unit_line(view_of(x, x->rangeless.items[i]), addr, out))
            return true;
    return false;
}

/* As the line may be in another unit than the function, it is looked for anew. */
static size_t chain_of(struct object_index *x, uint32_t unit, object_vaddr addr, struct object_inline *out,
                       size_t max) {
    size_t n = index_unit_chain(view_of(x, unit), addr, out, max);
    if (n)
        object_index_find(x, addr, &out[0].line);
    return n;
}

size_t object_index_inlined(struct object_index *x, object_vaddr addr, struct object_inline *out,
                            size_t max) {
    struct unit_walk w = units_of(x, addr);
    uint32_t unit;
    size_t n = 0;
    while (!n && (unit = next_unit(x, &w)) != UINT32_MAX)
        n = chain_of(x, unit, addr, out, max);
    for (size_t i = 0; !n && i < x->rangeless.count; i++)
        n = chain_of(x, x->rangeless.items[i], addr, out, max);
    return n;
}

/* --- What is kept ------------------------------------------------------------------------------------------
 */

static bool is_new(const struct unit *u) {
    return u->made && !u->kept && !u->passing && u->block.size;
}

/* The blocks that a file gets, with what fills them up to a multiple of 8. NULL: out of memory, or nothing is
 * new.
 */
static struct bytes *blocks_to_keep(struct object_index *x) {
    struct bytes *blocks = malloc((x->units.count + 1) * sizeof *blocks);
    bool any = false;
    for (uint32_t i = 0; blocks && i < x->units.count; i++) {
        const struct unit *u = &x->units.items[i];
        any = any || is_new(u);
        take_kept(x, i);
        blocks[i] = u->kept || is_new(u) ? u->block : (struct bytes){NULL, 0};
    }
    if (any)
        return blocks;
    free(blocks);
    return NULL;
}

size_t object_index_encode(struct object_index *x, struct bytes key, struct writer *head,
                           struct bytes **parts) {
    static const uint8_t zeros[8];
    struct bytes *blocks = key.size ? blocks_to_keep(x) : NULL;
    if (!blocks)
        return 0;
    const struct index_file_content c = {.ranges = x->ranges.items,
                                         .rangeless = x->rangeless.items,
                                         .blocks = blocks,
                                         .unit_count = (uint32_t)x->units.count,
                                         .range_count = (uint32_t)x->ranges.count,
                                         .rangeless_count = (uint32_t)x->rangeless.count};
    index_file_encode(&c, key, head);
    struct bytes *list = writer_ok(head) ? malloc((2 * x->units.count + 1) * sizeof *list) : NULL;
    size_t n = 0;
    if (list)
        list[n++] = writer_bytes(head);
    for (size_t i = 0; list && i < x->units.count; i++) {
        if (!blocks[i].size)
            continue;
        list[n++] = blocks[i];
        list[n++] = (struct bytes){zeros, -blocks[i].size & 7};
    }
    free(blocks);
    *parts = list;
    return n;
}

/* --- Life --------------------------------------------------------------------------------------------------
 */

struct object_index *object_index_new(struct bytes image, struct bytes alt,
                                      const struct object_index_split *split,
                                      const struct object_index_kept *kept, struct err *err) {
    struct object_index *x = calloc(1, sizeof *x);
    if (!x) {
        err_memory(err, "index of source lines");
        return NULL;
    }
    pthread_mutex_init(&x->dwo_mutex, NULL);
    x->image = image;
    x->alt_image = alt;
    x->split = split ? *split : (struct object_index_split){0};
    if (open_kept(x, kept))
        return x;
    bool ok = open_files(x, err);
    if (ok && !list_units(x))
        ok = err_memory(err, "index of source lines");
    x->dwarf = OPENED;
    if (ok)
        return x;
    object_index_free(x);
    return NULL;
}

void object_index_free(struct object_index *x) {
    if (!x)
        return;
    for (size_t i = 0; i < x->units.count; i++)
        if (!x->units.items[i].kept)
            free((void *)x->units.items[i].block.data);
    vec_fini(&x->units);
    vec_fini(&x->ranges);
    vec_fini(&x->rangeless);
    dinfo_file_fini(&x->main);
    dinfo_file_fini(&x->alt);
    dinfo_file_fini(&x->dwp);
    pthread_mutex_destroy(&x->dwo_mutex);
    free(x);
}
