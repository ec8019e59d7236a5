/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/kernel_list.h"

#include "format/kallsyms/kallsyms.h"

/* Consecutive entries of one module. */
struct run {
    struct bytes module; /* empty: the kernel's own */
    uint32_t first, count;
};

struct kernel_list {
    char *owned;                          /* `text`; NULL: it is borrowed */
    const char *text;                     /* names end in NUL */
    const struct kernel_list_entry *list; /* `entries`, or borrowed */
    VEC(struct kernel_list_entry) entries;
    VEC(struct run) runs;
    bool hidden;
};

void kernel_list_free(struct kernel_list *l) {
    if (!l)
        return;
    free(l->owned);
    vec_fini(&l->entries);
    vec_fini(&l->runs);
    free(l);
}

/* The types of nm(1) that are kept: text, data and bss, global or local, and weak ones. Read-only data ("r")
 * and absolute numbers ("a": offsets in per-CPU memory) are not code; perf 7.2 leaves the same ones out. */
enum { WANTED = 1, CODE = 2, WEAK = 4 };
static const uint8_t KINDS[] = {
    ['T'] = WANTED | CODE,
    ['t'] = WANTED | CODE,
    ['W'] = WANTED | CODE | WEAK,
    ['w'] = WANTED | CODE | WEAK,
    ['V'] = WANTED | WEAK,
    ['v'] = WANTED | WEAK,
    ['D'] = WANTED,
    ['d'] = WANTED,
    ['B'] = WANTED,
    ['b'] = WANTED,
};

static unsigned kind_of(uint32_t type) {
    return type < sizeof KINDS ? KINDS[type] : 0;
}

static bool is_wanted(char type) {
    return kind_of((unsigned char)type) & WANTED;
}

static bool add(struct kernel_list *l, const struct kallsyms_symbol *s) {
    struct run *run = l->runs.count ? &l->runs.items[l->runs.count - 1] : NULL;
    if (!run || !bytes_equal(run->module, s->module)) {
        run = vec_push(&l->runs);
        if (!run)
            return false;
        *run = (struct run){s->module, (uint32_t)l->entries.count, 0};
    }
    struct kernel_list_entry *e = vec_push(&l->entries);
    if (!e)
        return false;
    char *name = (char *)(uintptr_t)s->name.data;
    *e = (struct kernel_list_entry){s->address, (uint32_t)(name - l->text), (unsigned char)s->type};
    name[s->name.size] = 0; /* where the line or the name ended: a newline, a tab or the NUL at the end */
    run->count++;
    return true;
}

struct kernel_list *kernel_list_new(struct writer *text, struct err *err) {
    struct kernel_list *l = calloc(1, sizeof *l);
    size_t size = text->size;
    writer_u8(text, 0);
    bool ok = l && writer_ok(text) && size < UINT32_MAX;
    if (ok) {
        l->text = l->owned = (char *)text->data;
        l->hidden = true;
        *text = (struct writer){0};
        struct bytes rest = {(const uint8_t *)l->text, size};
        for (struct kallsyms_symbol s; ok && kallsyms_next(&rest, &s);)
            if (is_wanted(s.type)) {
                l->hidden = l->hidden && s.address == 0;
                ok = add(l, &s);
            }
        l->list = l->entries.items;
    }
    writer_fini(text);
    if (!ok)
        err_memory(err, "kallsyms");
    else if (!l->entries.count)
        ok = err_set(err, ERR_BROKEN, "", "no list of kernel symbols");
    if (!ok) {
        kernel_list_free(l);
        return NULL;
    }
    return l;
}

struct kernel_list *kernel_list_borrow(struct bytes texts, const struct kernel_list_entry *list,
                                       uint32_t count) {
    bool fits = true;
    for (uint32_t i = 0; i < count; i++)
        fits &= list[i].name < texts.size && list[i].type < sizeof KINDS && KINDS[list[i].type] & WANTED;
    struct kernel_list *l = fits ? calloc(1, sizeof *l) : NULL;
    struct run *run = l ? vec_push(&l->runs) : NULL;
    if (!run) {
        kernel_list_free(l);
        return NULL;
    }
    run->count = count;
    l->text = (const char *)texts.data;
    l->list = list;
    return l;
}

bool kernel_list_each(const struct kernel_list *l, kernel_list_fn *each, void *ctx) {
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; !run->module.size && i < run->first + run->count; i++) {
            const struct kernel_list_entry *e = &l->list[i];
            if (!each(ctx, e->address, l->text + e->name, (char)e->type))
                return false;
        }
    }
    return true;
}

bool kernel_list_module_fits(const struct kernel_list *l, struct bytes module, uint64_t start, uint64_t end) {
    enum { PAGE = 4096, NEAR_BYTES = 1 << 20 };
    uint64_t size = end > start ? end - start : 0, near = size < NEAR_BYTES ? size : NEAR_BYTES;
    uint64_t first = UINT64_MAX;
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; bytes_equal(run->module, module) && i < run->first + run->count; i++) {
            const struct kernel_list_entry *e = &l->list[i];
            if (!(kind_of(e->type) & CODE))
                continue;
            if (e->address < start && start - e->address <= near)
                return false;
            if (e->address >= start && e->address < end && e->address < first)
                first = e->address;
        }
    }
    return first != UINT64_MAX && first - start < PAGE;
}

bool kernel_list_hidden(const struct kernel_list *l) {
    return l->hidden;
}

/* Faster here than strcmp: most names differ in one of the first characters. */
static inline bool is_same(const char *a, const char *b) {
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

bool kernel_list_address(const struct kernel_list *l, const char *name, uint64_t *address) {
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; !run->module.size && i < run->first + run->count; i++) {
            const char *text = l->text + l->list[i].name;
            if (is_same(text, name)) {
                *address = l->list[i].address;
                return true;
            }
        }
    }
    return false;
}

bool kernel_list_has(const struct kernel_list *l, const char *name, uint64_t address) {
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; !run->module.size && i < run->first + run->count; i++)
            if (l->list[i].address == address && strcmp(l->text + l->list[i].name, name) == 0)
                return true;
    }
    return false;
}

bool kernel_list_module_start(const struct kernel_list *l, struct bytes module, uint64_t *address) {
    bool found = false;
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; bytes_equal(run->module, module) && i < run->first + run->count; i++)
            if (!found || l->list[i].address < *address) {
                *address = l->list[i].address;
                found = true;
            }
    }
    return found;
}

/* Whether it is what /proc/kallsyms has for a module's name with generated code (seen in 6.1 and 6.18). */
static bool is_made(struct bytes module) {
    static const char bpf[] = "bpf", builtin[] = "__builtin__";
    size_t n = sizeof builtin - 1;
    return (module.size == sizeof bpf - 1 && !memcmp(module.data, bpf, module.size)) ||
           (module.size > n && !memcmp(module.data, builtin, n));
}

enum kernel_list_made kernel_list_made(const struct kernel_list *l, const char *name, uint64_t address) {
    enum kernel_list_made made = KERNEL_LIST_UNLISTED;
    for (size_t r = 0; r < l->runs.count; r++) {
        const struct run *run = &l->runs.items[r];
        for (uint32_t i = run->first; is_made(run->module) && i < run->first + run->count; i++) {
            const struct kernel_list_entry *e = &l->list[i];
            if (strcmp(l->text + e->name, name) != 0)
                continue;
            if (e->address == address)
                return KERNEL_LIST_THERE;
            made = KERNEL_LIST_ELSEWHERE; /* programs may be loaded several times */
        }
    }
    return made;
}

bool kernel_list_has_module(const struct kernel_list *l, struct bytes module) {
    for (size_t r = 0; r < l->runs.count; r++)
        if (bytes_equal(l->runs.items[r].module, module))
            return true;
    return false;
}

static enum symbol_bind bind_of(uint32_t type) {
    return kind_of(type) & WEAK ? SYMBOL_WEAK : type >= 'a' ? SYMBOL_LOCAL : SYMBOL_GLOBAL;
}

static unsigned flags_of(uint32_t type) {
    return SYMBOL_LISTED | (kind_of(type) & CODE ? 0 : SYMBOL_OBJECT);
}

static bool draft(const struct kernel_list *l, const struct run *run, const struct kernel_bounds *bounds,
                  uint64_t base, struct symbol_drafts *d) {
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        const struct kernel_list_entry *e = &l->list[i];
        if (!kernel_bounds_have(bounds, e->address + bounds->slide))
            continue;
        struct symbol_draft *to = vec_push(&d->list);
        if (!to)
            return false;
        uint64_t start = e->address + bounds->slide - base;
        *to = (struct symbol_draft){.start = start,
                                    .end = start,
                                    .name = l->text + e->name,
                                    .bind = (uint8_t)bind_of(e->type),
                                    .flags = (uint8_t)flags_of(e->type)};
    }
    return true;
}

uint64_t kernel_bounds_end(const void *ctx, uint64_t address) {
    const struct kernel_bounds *b = ctx;
    uint64_t end = address >= b->from && address < b->end ? b->end : b->init_end;
    size_t low = 0, high = b->cut_count;
    while (low < high) { /* the first one after the address */
        size_t middle = low + (high - low) / 2;
        if (b->cuts[middle] > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < b->cut_count && b->cuts[low] < end ? b->cuts[low] : end;
}

/* The context of end_of: the bounds, and where the last symbol starts. */
struct ends {
    uint64_t base, last;
    const struct kernel_bounds *bounds;
};

/* The latest end of a symbol. The last one of all, which nothing follows in the list, ends at the latest with
 * the page after its own, as with perf 7.2. */
static uint64_t end_of(const void *ctx, uint64_t start) {
    const struct ends *e = ctx;
    uint64_t end = kernel_bounds_end(e->bounds, start + e->base) - e->base;
    uint64_t page = (start + 2 * 4096 - 1) & ~(uint64_t)4095;
    return start == e->last && page > start && page < end ? page : end;
}

/* Makes the table without drafts, if the list is in order, as most are. NULL: it is not, or memory. */
static struct symbol_table *ordered_table(const struct kernel_list *l, const struct run *run,
                                          const struct kernel_bounds *bounds,
                                          const struct symbol_rules *rules, struct ends *ends) {
    const struct kernel_list_entry *list = l->list + run->first;
    size_t most = 0;
    for (uint32_t i = 0; i < run->count; i++)
        most += kernel_bounds_have(bounds, list[i].address + bounds->slide);
    struct symbol_table *t = symbol_table_open(most, rules);
    bool ok = t;
    for (uint32_t i = 0; ok && i < run->count; i++) {
        const uint64_t address = list[i].address + bounds->slide;
        if (!kernel_bounds_have(bounds, address))
            continue;
        ends->last = address - ends->base;
        ok = symbol_table_append(t, ends->last, l->text + list[i].name, bind_of(list[i].type),
                                 flags_of(list[i].type));
    }
    if (ok && symbol_table_finish(t))
        return t;
    symbol_table_free(t);
    return NULL;
}

struct symbol_table *kernel_list_table(const struct kernel_list *l, struct bytes module,
                                       const struct kernel_bounds *bounds, bool raw_names, struct err *err) {
    struct symbol_drafts d = {0};
    struct ends ends = {.base = module.size ? bounds->from : 0, .bounds = bounds};
    /* Of several symbols at one place perf 7.2 takes the last (tried with all symbols of a 6.18 kernel). A
     * list is complete: a symbol does end where the next one begins. */
    struct symbol_rules rules = {.choice = SYMBOL_CHOOSE_LAST,
                                 .complete = true,
                                 .limit = end_of,
                                 .ctx = &ends,
                                 .raw_names = raw_names};
    if (!module.size && l->runs.count == 1 && !l->runs.items[0].module.size) {
        struct symbol_table *t = ordered_table(l, &l->runs.items[0], bounds, &rules, &ends);
        if (t)
            return t;
    }
    ends.last = 0;
    bool ok = vec_reserve(&d.list, 1);
    for (size_t r = 0; ok && r < l->runs.count; r++)
        if (bytes_equal(l->runs.items[r].module, module))
            ok = draft(l, &l->runs.items[r], bounds, ends.base, &d);
    if (!ok) {
        symbol_drafts_fini(&d);
        err_memory(err, "kallsyms");
        return NULL;
    }
    for (size_t i = 0; i < d.list.count; i++)
        ends.last = d.list.items[i].start > ends.last ? d.list.items[i].start : ends.last;
    return symbol_table_build(&d, &rules, err);
}
