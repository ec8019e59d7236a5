/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads/prefetch.h"
#include "symbol/build.h"

#include "symbol/demangle/demangle.h"

enum { BIND_MASK = 3, FLAG_SHIFT = 2 };

/* How many symbols or pieces there are in a bucket, on average. */
enum { PER_BUCKET = 4 };

/* Names for display, made when they are needed first. */
struct memo {
    const char **texts; /* by symbol; NULL: not made yet. Allocated with the first one */
    struct arena arena;
};

struct span {
    uint64_t start, end; /* exclusive */
};

struct symbol_table {
    uint32_t count;
    struct span *spans; /* by ascending start; one allocation, with the next two */
    const char **names;
    uint16_t *info;          /* bind | flags << FLAG_SHIFT */
    struct memo *memo;       /* a pointer, so that functions with a const table can fill it */
    bool nested;             /* symbols overlap: then look a place up in pieces */
    struct span *pieces;     /* by ascending start; each has the end of its symbol */
    uint32_t *piece_symbols; /* the symbol of each piece */
    uint32_t piece_count;
    uint32_t *buckets;  /* by equal parts of the places' range: how many places start before the bucket */
    unsigned shift;     /* the bucket is the distance to the first place >> shift */
    struct arena texts; /* as symbol_drafts.texts and .text */
    char *text;
    struct symbol_rules rules;
};

void symbol_drafts_fini(struct symbol_drafts *d) {
    vec_fini(&d->list);
    arena_fini(&d->texts);
    free(d->text);
    *d = (struct symbol_drafts){0};
}

void symbol_table_free(struct symbol_table *t) {
    if (!t)
        return;
    free(t->spans);
    free(t->pieces);
    free(t->piece_symbols);
    free(t->buckets);
    if (t->memo) {
        free(t->memo->texts);
        arena_fini(&t->memo->arena);
        free(t->memo);
    }
    arena_fini(&t->texts);
    free(t->text);
    free(t);
}

/* ---- sorting ---- */

struct place {
    uint64_t start;
    uint32_t draft;
};

/* Sorts by start, keeping the order of drafts with the same: a radix sort from the lowest byte, whose passes
 * are stable. Bytes in which all starts agree need no pass. False: out of memory. */
static bool sort_places(struct place *list, size_t n) {
    uint64_t differ = 0;
    bool sorted = true;
    for (size_t i = 1; i < n; i++) {
        differ |= list[i].start ^ list[0].start;
        sorted = sorted && list[i - 1].start <= list[i].start;
    }
    if (sorted)
        return true;
    struct place *other = malloc(n * sizeof *other), *from = list, *to = other;
    if (!other)
        return false;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t at[256] = {0}, sum = 0;
        if (!(differ >> shift & 0xff))
            continue;
        for (size_t i = 0; i < n; i++)
            at[from[i].start >> shift & 0xff]++;
        for (size_t b = 0; b < 256; b++) {
            size_t here = at[b];
            at[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < n; i++)
            to[at[from[i].start >> shift & 0xff]++] = from[i];
        struct place *swap = from;
        from = to;
        to = swap;
    }
    if (from != list)
        memcpy(list, from, n * sizeof *list);
    free(other);
    return true;
}

/* ---- choosing ---- */

static size_t underscores(const char *name) {
    return strspn(name, "_");
}

/* Whether it is an old kernel's wrapper of a system call, which has the same place as sys_NAME. */
static bool is_wrapper(const char *name) {
    return strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0;
}

/* Whether names differ only in the digit of a C++ constructor or destructor (C1, C2; Itanium C++
 * ABI 5.1.4.3): these look the same demangled. */
static bool are_twins(const char *a, const char *b) {
    size_t same = 0;
    while (a[same] && a[same] == b[same])
        same++;
    return same && strchr("CD", a[same - 1]) && a[same] >= '0' && a[same] <= '5' && b[same] >= '0' &&
           b[same] <= '5' && strcmp(a + same + 1, b + same + 1) == 0;
}

/* Whether `b` is the better name. perf compares demangled names. */
static bool is_better_name(const char *a, const char *b, bool raw) {
    struct arena scratch = ARENA_INIT;
    bool mangled = !raw && !are_twins(a, b);
    const char *text_a = mangled ? symbol_demangle(a, &scratch) : NULL,
               *text_b = mangled ? symbol_demangle(b, &scratch) : NULL;
    a = text_a ? text_a : a;
    b = text_b ? text_b : b;
    size_t lead_a = underscores(a), lead_b = underscores(b), len_a = strlen(a), len_b = strlen(b);
    bool better = lead_a != lead_b ? lead_b < lead_a
                  : len_a != len_b ? len_b > len_a
                                   : is_wrapper(a) && !is_wrapper(b);
    arena_fini(&scratch);
    return better;
}

/*
 * Whether `b`, listed after `a` at the same start, names the place rather than `a`. As perf 7.2 chooses:
 * found by giving it all pairs of sizes, types, bindings and names in both orders. Only whether there is a
 * size counts.
 */
static bool is_better(const struct symbol_draft *a, bool sized_a, const struct symbol_draft *b, bool sized_b,
                      bool raw) {
    if (sized_a != sized_b)
        return sized_b;
    if (a->untyped != b->untyped)
        return a->untyped;
    bool weak_a = a->bind == SYMBOL_WEAK, weak_b = b->bind == SYMBOL_WEAK;
    if (weak_a != weak_b)
        return weak_a;
    bool global_a = a->bind == SYMBOL_GLOBAL, global_b = b->bind == SYMBOL_GLOBAL;
    if (global_a != global_b)
        return global_b;
    return is_better_name(a->name, b->name, raw);
}

/* The best of `n` places with the same start. The last one listed always counts as sized: in perf it was
 * given an end by then. */
static struct place best(const struct place *list, size_t n, const struct symbol_draft *drafts, bool raw) {
    size_t found = 0;
    bool sized = false;
    for (size_t i = 0; i < n; i++) {
        const struct symbol_draft *d = &drafts[list[i].draft];
        bool sized_now = d->end > d->start || i + 1 == n;
        if (i && !is_better(&drafts[list[found].draft], sized, d, sized_now, raw))
            continue;
        found = i;
        sized = sized_now;
    }
    return list[found];
}

/* Leaves one place per start. Returns how many. */
static size_t choose(struct place *list, size_t n, const struct symbol_draft *drafts,
                     const struct symbol_rules *rules) {
    size_t kept = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && list[next].start == list[i].start;)
            next++;
        bool last = rules->choice != SYMBOL_CHOOSE_BEST || next == i + 1;
        list[kept++] = last ? list[next - 1] : best(list + i, next - i, drafts, rules->raw_names);
    }
    return kept;
}

/* Leaves out local labels inside of functions with a size: they are jump targets, whereas a global label is
 * another entry point. */
static size_t drop_labels(struct place *list, size_t n, const struct symbol_draft *drafts) {
    size_t kept = 0;
    uint64_t inside = 0; /* the furthest end of a function so far */
    for (size_t i = 0; i < n; i++) {
        const struct symbol_draft *d = &drafts[list[i].draft];
        if (d->untyped && d->bind == SYMBOL_LOCAL && d->end <= d->start && d->start < inside)
            continue;
        if (!d->untyped && d->end > inside)
            inside = d->end;
        list[kept++] = list[i];
    }
    return kept;
}

/* Leaves out symbols that overlap one listed later, and those without a size inside of one with a size. */
static size_t drop_replaced(struct place *list, size_t n, const struct symbol_draft *drafts) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool sized = drafts[list[i].draft].end > list[i].start;
        while (sized && kept && drafts[list[kept - 1].draft].end > list[i].start &&
               list[kept - 1].draft < list[i].draft)
            kept--;
        if (!kept || drafts[list[kept - 1].draft].end <= list[i].start)
            list[kept++] = list[i];
    }
    return kept;
}

/* ---- building ---- */

/* The end of a symbol without a size; `next`: where the next one starts, or UINT64_MAX. */
static uint64_t guessed_end(const struct symbol_rules *rules, uint64_t start, uint64_t next) {
    uint64_t end = rules->limit ? rules->limit(rules->ctx, start) : next == UINT64_MAX ? 0 : next;
    end = end < next ? end : next;
    return end > start ? end : start + 1;
}

static bool table_allocate(struct symbol_table *t, size_t n) {
    size_t each = sizeof *t->spans + sizeof *t->names + sizeof *t->info;
    uint8_t *p = n < SYMBOL_NONE && n <= SIZE_MAX / each ? malloc(n * each + 1) : NULL;
    t->spans = (struct span *)p;
    if (!p)
        return false;
    t->names = (const char **)(t->spans + n);
    t->info = (uint16_t *)(t->names + n);
    t->count = (uint32_t)n;
    return true;
}

static void fill(struct symbol_table *t, const struct place *places, const struct symbol_draft *drafts) {
    for (uint32_t i = 0; i < t->count; i++) {
        const struct symbol_draft *d = &drafts[places[i].draft];
        bool last = i + 1 == t->count;
        uint64_t next = last ? UINT64_MAX : places[i + 1].start;
        unsigned flags = d->flags;
        t->spans[i].start = d->start;
        t->spans[i].end = d->end;
        if (d->end <= d->start) {
            t->spans[i].end = guessed_end(&t->rules, d->start, next);
            flags |= last || !t->rules.complete ? SYMBOL_SIZE_GUESSED : 0;
        }
        t->nested = t->nested || t->spans[i].end > next;
        t->names[i] = d->name;
        t->info[i] = (uint16_t)(d->bind | flags << FLAG_SHIFT);
    }
}

/*
 * Makes the pieces. Where symbols overlap, the one that starts last names the place; those around it continue
 * after its end:
 *
 *   symbols   A [0, 64)  B [16, 32)
 *   pieces    [0, 16) A  [16, 32) B  [32, 64) A
 *
 * At most two pieces per symbol. A piece reaches to the next one's start or its symbol's end.
 */
static bool cut_pieces(struct symbol_table *t) {
    uint32_t *open = malloc((t->count + (size_t)1) * sizeof *open), depth = 0;
    t->pieces = malloc(2 * (size_t)t->count * sizeof *t->pieces);
    t->piece_symbols = malloc(2 * (size_t)t->count * sizeof *t->piece_symbols);
    bool ok = open && t->pieces && t->piece_symbols;
    for (uint32_t i = 0; ok && i <= t->count; i++) {
        uint64_t start = i < t->count ? t->spans[i].start : UINT64_MAX;
        while (depth && t->spans[open[depth - 1]].end <= start) {
            uint64_t end = t->spans[open[--depth]].end;
            while (depth && t->spans[open[depth - 1]].end <= end)
                depth--;
            if (depth && end < start) {
                t->pieces[t->piece_count] = (struct span){end, t->spans[open[depth - 1]].end};
                t->piece_symbols[t->piece_count++] = open[depth - 1];
            }
        }
        if (i < t->count) {
            t->pieces[t->piece_count] = (struct span){start, t->spans[i].end};
            t->piece_symbols[t->piece_count++] = open[depth++] = i;
        }
    }
    free(open);
    return ok;
}

/* How many of the n > 0 ascending spans start at or before `x`; without branches that depend on the data. */
static size_t count_upto(const struct span *list, size_t n, uint64_t x) {
    const struct span *base = list;
    while (n > 1) {
        size_t half = n / 2;
        base += base[half - 1].start <= x ? half : 0;
        n -= half;
    }
    return (size_t)(base - list) + (base->start <= x);
}

/* The places to search: the pieces or, if every symbol is one piece, the symbols. */
static const struct span *places_of(const struct symbol_table *t, uint32_t *count) {
    *count = t->nested ? t->piece_count : t->count;
    return t->nested ? t->pieces : t->spans;
}

/*
 *   places    ^  ^ ^         ^   ^^
 *   buckets   |---------|---------|---------|     buckets: 0, 3, 5, 6
 */
static bool make_buckets(struct symbol_table *t) {
    uint32_t count;
    const struct span *places = places_of(t, &count);
    uint64_t span = count ? places[count - 1].start - places[0].start : 0;
    while (t->shift < 63 && span >> t->shift > count / PER_BUCKET) /* a shift by 64 is undefined in C */
        t->shift++;
    size_t n = (size_t)(span >> t->shift) + 1;
    t->buckets = malloc((n + 1) * sizeof *t->buckets);
    size_t bucket = 0;
    for (uint32_t i = 0; t->buckets && i < count; i++)
        while (bucket <= (places[i].start - places[0].start) >> t->shift)
            t->buckets[bucket++] = i;
    while (t->buckets && bucket <= n)
        t->buckets[bucket++] = count;
    return t->buckets;
}

/* Names stubs that jump to what an IFUNC's resolver chose after that resolver, as perf does. */
static bool name_stubs(struct symbol_table *t, const struct place *places,
                       const struct symbol_draft *drafts) {
    for (uint32_t i = 0; i < t->count; i++) {
        const struct symbol_draft *d = &drafts[places[i].draft];
        if (!(d->flags & SYMBOL_PLT) || *d->name)
            continue;
        uint32_t target = symbol_table_find(t, d->target);
        const char *of = target == SYMBOL_NONE || t->spans[target].start != d->target ? "" : t->names[target];
        size_t len = strlen(of);
        char *name = arena_alloc(&t->texts, len + sizeof "@plt");
        if (!name)
            return false;
        memcpy(name, of, len);
        memcpy(name + len, "@plt", sizeof "@plt");
        t->names[i] = name;
    }
    return true;
}

struct symbol_table *symbol_table_build(struct symbol_drafts *d, const struct symbol_rules *rules,
                                        struct err *err) {
    size_t n = d->list.count;
    struct symbol_table *t = calloc(1, sizeof *t);
    struct place *places = n < SYMBOL_NONE ? malloc((n + 1) * sizeof *places) : NULL;
    bool ok = t && places && (t->memo = calloc(1, sizeof *t->memo));
    if (ok) {
        t->rules = *rules;
        size_t all = n;
        n = 0;
        for (size_t i = 0; i < all; i++) /* not at the last byte of all: its end exceeds 64 bits */
            if (d->list.items[i].start != UINT64_MAX)
                places[n++] = (struct place){d->list.items[i].start, (uint32_t)i};
        ok = sort_places(places, n);
    }
    if (ok) {
        n = choose(places, n, d->list.items, rules);
        n = rules->choice == SYMBOL_CHOOSE_NEWEST ? drop_replaced(places, n, d->list.items)
                                                  : drop_labels(places, n, d->list.items);
        ok = table_allocate(t, n);
    }
    if (ok) {
        fill(t, places, d->list.items);
        ok = (!t->nested || cut_pieces(t)) && make_buckets(t);
    }
    if (ok) {
        t->texts = d->texts;
        t->text = d->text;
        d->texts = ARENA_INIT;
        d->text = NULL;
        ok = name_stubs(t, places, d->list.items);
    }
    if (!ok) {
        err_memory(err, "symbols");
        symbol_table_free(t);
        t = NULL;
    }
    free(places);
    symbol_drafts_fini(d);
    return t;
}

struct symbol_table *symbol_table_open(size_t most, const struct symbol_rules *rules) {
    struct symbol_table *t = calloc(1, sizeof *t);
    if (!t || !(t->memo = calloc(1, sizeof *t->memo)) || !table_allocate(t, most)) {
        symbol_table_free(t);
        return NULL;
    }
    t->rules = *rules;
    t->count = 0;
    return t;
}

bool symbol_table_append(struct symbol_table *t, uint64_t start, const char *name, enum symbol_bind bind,
                         unsigned flags) {
    if (t->count && start <= t->spans[t->count - 1].start) {
        if (start < t->spans[t->count - 1].start)
            return false;
        t->count--; /* of those at one place the last one counts */
    }
    t->spans[t->count].start = start;
    t->names[t->count] = name;
    t->info[t->count++] = (uint16_t)(bind | flags << FLAG_SHIFT);
    return true;
}

bool symbol_table_finish(struct symbol_table *t) {
    for (uint32_t i = 0; i < t->count; i++) {
        bool last = i + 1 == t->count;
        uint64_t next = last ? UINT64_MAX : t->spans[i + 1].start;
        t->spans[i].end = guessed_end(&t->rules, t->spans[i].start, next);
        if (last || !t->rules.complete)
            t->info[i] |= SYMBOL_SIZE_GUESSED << FLAG_SHIFT;
    }
    return make_buckets(t);
}

/* ---- asking ---- */

uint32_t symbol_table_count(const struct symbol_table *t) {
    return t->count;
}

/* The symbol of the last of `upto` places, if it reaches that far. */
static uint32_t covering(const struct symbol_table *t, const struct span *places, size_t upto,
                         uint64_t offset) {
    if (!upto || offset >= places[upto - 1].end)
        return SYMBOL_NONE;
    return t->nested ? t->piece_symbols[upto - 1] : (uint32_t)(upto - 1);
}

/* The bucket of an offset after the first place; false: it is after the last place. */
static inline bool bucket_of(const struct symbol_table *t, const struct span *places, uint32_t count,
                             uint64_t offset, uint64_t *bucket) {
    *bucket = (offset - places[0].start) >> t->shift;
    return *bucket <= (places[count - 1].start - places[0].start) >> t->shift;
}

uint32_t symbol_table_find(const struct symbol_table *t, uint64_t offset) {
    uint32_t count;
    uint64_t bucket;
    const struct span *places = places_of(t, &count);
    if (!count || offset < places[0].start)
        return SYMBOL_NONE;
    if (!bucket_of(t, places, count, offset, &bucket))
        return covering(t, places, count, offset);
    uint32_t from = t->buckets[bucket], n = t->buckets[bucket + 1] - from;
    return covering(t, places, from + (n ? count_upto(places + from, n, offset) : 0), offset);
}

void symbol_table_expect(const struct symbol_table *t, uint64_t offset, unsigned step) {
    uint32_t count;
    uint64_t bucket;
    const struct span *places = places_of(t, &count);
    if (!count || offset < places[0].start || !bucket_of(t, places, count, offset, &bucket))
        return;
    if (!step) {
        prefetch(&t->buckets[bucket]);
        return;
    }
    /* The last place before the bucket may be the one, too; a search begins in the middle. */
    uint32_t from = t->buckets[bucket], n = t->buckets[bucket + 1] - from;
    if (from)
        prefetch(&places[from - 1]);
    if (n > 1)
        prefetch(&places[from + n / 2 - 1]);
}

void symbol_table_find_sorted(const struct symbol_table *t, const uint64_t *offsets, size_t n,
                              uint32_t *out) {
    uint32_t count;
    const struct span *places = places_of(t, &count);
    size_t upto = 0; /* places[0 .. upto) are at most the last offset */
    for (size_t i = 0; i < n; i++) {
        /* Steps that double, then a search in the last step: near ones cost little, far ones a logarithm. */
        size_t step = 1, left = count - upto;
        while (step < left && places[upto + step - 1].start <= offsets[i])
            step *= 2;
        size_t span = step < left ? step : left;
        if (span)
            upto += count_upto(places + upto, span, offsets[i]);
        out[i] = covering(t, places, upto, offsets[i]);
    }
}

uint64_t symbol_table_start(const struct symbol_table *t, uint32_t i) {
    return t->spans[i].start;
}

uint64_t symbol_table_end(const struct symbol_table *t, uint32_t i) {
    return t->spans[i].end;
}

const char *symbol_table_name(const struct symbol_table *t, uint32_t i) {
    return t->names[i];
}

enum symbol_bind symbol_table_bind(const struct symbol_table *t, uint32_t i) {
    return t->info[i] & BIND_MASK;
}

unsigned symbol_table_flags(const struct symbol_table *t, uint32_t i) {
    return t->info[i] >> FLAG_SHIFT;
}

uint64_t symbol_table_address(const struct symbol_table *t, uint64_t offset) {
    uint64_t address;
    if (t->rules.layout)
        return object_layout_addr(t->rules.layout, offset, &address) ? address : offset;
    return offset - t->rules.slide;
}

/* ---- names for people ---- */

/* The part before @plt is what is mangled. */
static const char *readable(const struct symbol_table *t, uint32_t i) {
    const char *name = t->names[i], *text;
    struct arena *a = &t->memo->arena;
    size_t len = strlen(name), suffix = sizeof "@plt" - 1;
    if (!(symbol_table_flags(t, i) & SYMBOL_PLT) || len < suffix) {
        text = symbol_demangle(name, a);
        return text ? text : name;
    }
    const char *alone = arena_strndup(a, name, len - suffix);
    text = alone ? symbol_demangle(alone, a) : NULL;
    size_t n = text ? strlen(text) : 0;
    char *whole = text ? arena_alloc(a, n + suffix + 1) : NULL;
    if (!whole)
        return name;
    memcpy(whole, text, n);
    memcpy(whole + n, name + len - suffix, suffix + 1);
    return whole;
}

const char *symbol_table_shown(const struct symbol_table *t, uint32_t i) {
    struct memo *m = t->memo;
    if (t->rules.raw_names)
        return t->names[i];
    if (!m->texts)
        m->texts = calloc(t->count, sizeof *m->texts);
    if (!m->texts)
        return t->names[i];
    if (!m->texts[i])
        m->texts[i] = readable(t, i);
    return m->texts[i];
}

bool symbol_table_show(const struct symbol_table *t, const uint32_t *symbols, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (symbols[i] != SYMBOL_NONE)
            symbol_table_shown(t, symbols[i]);
    return t->rules.raw_names || !n || t->memo->texts;
}
