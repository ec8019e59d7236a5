/* SPDX-License-Identifier: Apache-2.0 */
#include "object/index/object_index.h"

#include <pthread.h>

#include "base/sorted.h"
#include "object/index/dwarf_numbers.h"
#include "object/index/index_unit.h"

enum { LOOK_BACK_MAX = 64 }; /* ranges around an address that are tried: real ones do not overlap */

struct unit {
    const struct dinfo_head *head;
    bool made, wanted;
    struct bytes block; /* owned */
    struct index_unit view;
};

/* Code of a unit. Ranges may overlap or nest in odd images; the one that begins last is asked first. */
struct range {
    uint64_t start, end; /* end: exclusive */
    uint64_t reach;      /* the furthest end of this and all before: where to stop looking back */
    uint32_t unit;
};

struct object_index {
    struct dinfo_file main, alt, dwp;
    struct object_index_split split;
    VEC(struct unit) units;
    VEC(struct range) ranges;  /* sorted by start */
    VEC(uint32_t) rangeless;   /* units that do not say what they cover: their lines do */
    pthread_mutex_t dwo_mutex; /* for split.dwo */
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
            struct range *range = vec_push(&x->ranges);
            --*left;
            ok = range;
            if (range)
                *range = (struct range){.start = start, .end = end, .unit = id};
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
    const struct range *x = a, *y = b;
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
        struct range *r = &x->ranges.items[i];
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
        const struct range *r = &x->ranges.items[--w->at];
        w->tries++;
        if (r->end > w->addr)
            return r->unit;
    }
    return UINT32_MAX;
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
static bool make_split(struct object_index *x, struct dinfo_unit *skeleton, struct bytes *out) {
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
    dinfo_unit_fini(&u);
    dinfo_file_fini(&own);
    return ok;
}

static bool make_unit(struct object_index *x, struct unit *unit) {
    struct dinfo_unit u;
    bool ok = dinfo_unit_open(&x->main, x->alt.heads.count ? &x->alt : NULL, unit->head, NULL, &u);
    if (ok)
        ok = u.dwo_name ? make_split(x, &u, &unit->block) : index_unit_make(&u, &u, &unit->block);
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
    if (u->made || u->wanted)
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
    ok = ok ? pool_run(pool, m.units.count, make_job, &m, err) : err_memory(err, "index of source lines");
    vec_fini(&m.units);
    return ok;
}

/* --- Questions ---------------------------------------------------------------------------------------------
 */

static const struct index_unit *view_of(struct object_index *x, uint32_t unit) {
    struct unit *u = &x->units.items[unit];
    if (!u->made)
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

/* --- Life --------------------------------------------------------------------------------------------------
 */

static bool open_file(struct bytes image, bool split, struct dinfo_file *f, struct err *err) {
    struct object_elf e;
    return object_elf_open(image, &e, err) && dinfo_file_open(&e, split, f, err);
}

struct object_index *object_index_new(struct bytes image, struct bytes alt,
                                      const struct object_index_split *split, struct err *err) {
    struct object_index *x = calloc(1, sizeof *x);
    if (!x) {
        err_memory(err, "index of source lines");
        return NULL;
    }
    pthread_mutex_init(&x->dwo_mutex, NULL);
    x->split = split ? *split : (struct object_index_split){0};
    bool ok = open_file(image, false, &x->main, err) && (!alt.size || open_file(alt, false, &x->alt, err));
    if (ok && x->split.dwp.size)
        open_file(x->split.dwp, true, &x->dwp, NULL); /* without it there are still lines */
    if (ok && !list_units(x))
        ok = err_memory(err, "index of source lines");
    if (ok)
        return x;
    object_index_free(x);
    return NULL;
}

void object_index_free(struct object_index *x) {
    if (!x)
        return;
    for (size_t i = 0; i < x->units.count; i++)
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
