/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jitdump/jitcode.h"

#include <stdlib.h>

#include "base/sorted.h"

typedef struct jitcode_pending pending;

struct reading {
    struct jitcode *code;
    struct jitcode_history *h; /* its numbers of functions count through; the part's own begin after it */
    VEC(pending) lines;
    uint64_t at;                        /* of the record that is being taken, in the part */
    struct jitdump_unwinding unwinding; /* names no function: the next one's */
    bool growing;                       /* it may not have its end yet */
    bool shift_known;                   /* some line's address is too low for a shift */
    bool shift_seen;
};

enum {
    /* V8's writer adds the size of an ELF header to the addresses of lines, since the code comes after one
     * in the files that perf makes of it: seen in its output (Node.js 20), where no line of any function
     * begins before that. */
    LINE_SHIFT = 64,
    START_SECONDS_MAX = 86400, /* from a header to the first record */
    LINE_FAR_BYTES = 1 << 20,
    PADDING_MAX = 7,   /* after the last line of a record, which some writers make a multiple of 8 bytes */
    PENDING_MAX = 256, /* that no LOAD ever claimed */
    PENDING_BYTES = 16 << 20,
};

static void note_damage(struct reading *r, const struct err *err) {
    r->code->refused++;
    if (r->code->damage.code == ERR_NONE)
        r->code->damage = *err;
}

/* The lines kept for an address, taken out; none: a count of 0. */
static pending claim_lines(struct reading *r, uint64_t address, bool inlines) {
    for (size_t i = r->lines.count; i-- > 0;) {
        if (r->lines.items[i].address != address || r->lines.items[i].inlines != inlines)
            continue;
        pending p = r->lines.items[i];
        r->lines.items[i] = r->lines.items[--r->lines.count];
        return p;
    }
    return (pending){.address = address};
}

static bool keep_lines(struct reading *r, const pending *lines) {
    if (r->lines.count == PENDING_MAX)
        r->lines.count = 0;
    pending *p = vec_push(&r->lines);
    if (p)
        *p = *lines;
    return p;
}

/*
 * "JS:*name /dir/file.js:LINE:COLUMN": the file in a function's name as V8 makes them. Empty: there is none.
 */
static struct bytes file_in_name(struct bytes name) {
    size_t end = name.size, at;
    for (int numbers = 0; numbers < 2; numbers++) {
        size_t digits = end;
        while (digits && name.data[digits - 1] >= '0' && name.data[digits - 1] <= '9')
            digits--;
        if (digits == end || !digits || name.data[digits - 1] != ':')
            return (struct bytes){NULL, 0};
        end = digits - 1;
    }
    const uint8_t *slash = memmem(name.data, end, " /", 2), *space = memrchr(name.data, ' ', end);
    const uint8_t *before = slash ? slash : space;
    at = before ? (size_t)(before - name.data) + 1 : end;
    return (struct bytes){name.data + at, end - at};
}

/* Whether an address can be a line's of the function. `slack`: as far after it. */
static bool is_line_address(const struct jitcode_function *f, uint64_t address, uint64_t slack) {
    return address - f->address <= f->code.size + slack;
}

/* Java's virtual machine tells lines of stubs after the code, too. What is no address at all lies far away.
 */
static bool whole_lines(const struct reading *r, const struct jitcode_function *f, uint64_t count) {
    struct bytes rest = f->lines;
    struct jitdump_line l;
    uint64_t n = 0;
    for (; n < count && jitdump_line_next(&rest, r->code->swap, &l); n++)
        if (!is_line_address(f, l.address, LINE_FAR_BYTES))
            return false;
    return n == count && rest.size <= PADDING_MAX;
}

/* The distance of entries whose names all have one size, whatever is in them; 0 where there is none. */
static uint32_t find_stride(const struct reading *r, const struct jitcode_function *f, uint64_t count) {
    enum { FIXED = 16 }; /* address, line, column */
    for (size_t padding = 0; padding <= PADDING_MAX && padding < f->lines.size; padding++) {
        size_t size = f->lines.size - padding, at = 0;
        uint64_t stride = count ? size / count : 0;
        if (stride <= FIXED || size % count)
            continue;
        while (at < size && is_line_address(f, bytes_load64(f->lines.data + at, r->code->swap), LINE_SHIFT))
            at += (size_t)stride;
        if (at == size)
            return (uint32_t)stride;
    }
    return 0;
}

/*
 * Node.js 20 writes the name of a script from memory that was given back already, NULs included, so that
 * entries cannot be told apart by them. What makes no sense either way is dropped.
 */
static void check_lines(struct reading *r, struct jitcode_function *f, uint64_t count) {
    if (f->lines.size && !whole_lines(r, f, count)) {
        f->line_file = file_in_name(f->name);
        f->line_stride = f->line_file.size ? find_stride(r, f, count) : 0;
        f->lines.size = f->line_stride ? f->line_stride * (size_t)count : 0;
    }
    struct bytes rest = f->lines, last = {NULL, 0};
    for (struct jitdump_line l; !r->shift_known && jitcode_line_next(r->code, f, &rest, &last, &l);) {
        r->shift_known = l.address < LINE_SHIFT;
        r->shift_seen = true;
    }
}

static bool add_event(struct reading *r, uint64_t time, enum jitcode_event_kind kind, uint64_t address,
                      uint64_t size, uint32_t function) {
    struct jitcode_event *e = vec_push(&r->code->events);
    if (e)
        *e = (struct jitcode_event){time, time, address, size, function, kind};
    return e;
}

static struct jitcode_function *new_function(struct reading *r) {
    bool room = r->h->functions.count + r->code->functions.count < JITCODE_NONE - 1;
    return room ? vec_push(&r->code->functions) : NULL;
}

/* Where the function's place in the image ends: the next one's. */
static uint64_t end_of(const struct jitcode_function *f) {
    return f->offset + ((f->code.size + JITCODE_ALIGN - 1) & ~(uint64_t)(JITCODE_ALIGN - 1));
}

static bool load(struct reading *r, const struct jitdump_record *rec) {
    const struct jitdump_load *l = &rec->load;
    struct jitcode *j = r->code;
    pending lines = claim_lines(r, l->code_addr, false), inlines = claim_lines(r, l->code_addr, true);
    struct jitdump_unwinding unwinding = r->unwinding;
    r->unwinding = (struct jitdump_unwinding){0};
    if (!l->code.size) /* the format allows functions without code: nothing can ever lie in them */
        return true;
    uint32_t id = (uint32_t)j->functions.count;
    struct jitcode_function *f = new_function(r);
    if (!f)
        return false;
    *f = (struct jitcode_function){.offset = j->end,
                                   .time = rec->time,
                                   .address = l->code_addr,
                                   .index = l->code_index,
                                   .name = l->name,
                                   .code = l->code,
                                   .lines = lines.lines,
                                   .inlines = inlines.lines,
                                   .unwinding = unwinding,
                                   .tid = l->tid};
    check_lines(r, f, lines.count);
    j->end = end_of(f);
    uint32_t number = (uint32_t)r->h->functions.count + id;
    return hash_map_set(&r->h->by_address, l->code_addr, number) &&
           hash_map_set(&r->h->by_index, l->code_index, number) &&
           add_event(r, rec->time, JITCODE_APPEARS, l->code_addr, l->code.size, id);
}

static const struct jitcode_function *function_of(const struct reading *r, uint32_t number) {
    size_t old = r->h->functions.count;
    return number < old ? &r->h->functions.items[number] : &r->code->functions.items[number - old];
}

/* What lay at the old address, if its index is right or indices mean nothing there; else what has the index.
 */
static uint32_t moved_function(const struct reading *r, const struct jitdump_move *m) {
    uint32_t here = hash_map_get(&r->h->by_address, m->old_code_addr);
    uint32_t named = hash_map_get(&r->h->by_index, m->code_index);
    if (here != HASH_ABSENT && (function_of(r, here)->index == m->code_index || named == HASH_ABSENT))
        return here;
    return named;
}

/* The function's number within this part. A function of an earlier part is copied into this one.
 * JITCODE_NONE: out of memory. */
static uint32_t own_function(struct reading *r, uint32_t number) {
    size_t old = r->h->functions.count;
    if (number >= old)
        return number - (uint32_t)old;
    struct jitcode_function *f = new_function(r);
    if (!f)
        return JITCODE_NONE;
    *f = r->h->functions.items[number];
    f->offset = r->code->end;
    r->code->end = end_of(f);
    uint32_t id = (uint32_t)r->code->functions.count - 1;
    return hash_map_set(&r->h->by_index, f->index, (uint32_t)old + id) ? id : JITCODE_NONE;
}

static bool move(struct reading *r, const struct jitdump_record *rec) {
    const struct jitdump_move *m = &rec->move;
    uint32_t number = moved_function(r, m);
    if (number == HASH_ABSENT) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_BROKEN, "jitdump", "a CODE_MOVE record of code that was never loaded");
        note_damage(r, &err);
        return true;
    }
    uint32_t id = own_function(r, number);
    if (id == JITCODE_NONE)
        return false;
    /* A function cannot change its size. */
    uint64_t size = r->code->functions.items[id].code.size;
    return add_event(r, rec->time, JITCODE_LEAVES, m->old_code_addr, size, JITCODE_NONE) &&
           add_event(r, rec->time, JITCODE_APPEARS, m->new_code_addr, size, id) &&
           hash_map_set(&r->h->by_address, m->new_code_addr, (uint32_t)r->h->functions.count + id);
}

static bool take_record(struct reading *r, const struct jitdump_record *rec) {
    switch ((enum jitdump_type)rec->type) {
    case JITDUMP_LOAD:
        return load(r, rec);
    case JITDUMP_MOVE:
        return move(r, rec);
    case JITDUMP_DEBUG_INFO:
        return keep_lines(r, &(pending){.address = rec->debug_info.code_addr,
                                        .count = rec->debug_info.count,
                                        .at = r->at,
                                        .lines = rec->debug_info.entries});
    case JITDUMP_INLINES:
        return keep_lines(r, &(pending){.address = rec->inlines.code_addr,
                                        .at = r->at,
                                        .lines = rec->inlines.body,
                                        .inlines = true});
    case JITDUMP_UNWINDING_INFO:
        r->unwinding = rec->unwinding;
        return true;
    case JITDUMP_CLOSE:
        return add_event(r, rec->time, JITCODE_CLOSED, 0, 0, JITCODE_NONE);
    case JITDUMP_TYPES:
        break;
    }
    return true;
}

/* ---- the order of events, and what was there before ---- */

/* Stable: of equal times the file's order. Writers' times ascend but for threads that overtake each other. */
static bool sort_events(struct jitcode *j) {
    struct jitcode_event *e = j->events.items, *other = NULL;
    size_t n = j->events.count;
    bool sorted = true;
    for (size_t i = 1; i < n; i++)
        sorted &= e[i - 1].time <= e[i].time;
    if (sorted)
        return true;
    if (!(other = malloc(n * sizeof *other)))
        return false;
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t low = 0; low < n; low += 2 * width) {
            size_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n;
            size_t a = low, b = middle;
            for (size_t to = low; to < high; to++)
                other[to] = a < middle && (b == high || e[a].time <= e[b].time) ? e[a++] : e[b++];
        }
        struct jitcode_event *swap = e;
        e = other;
        other = swap;
    }
    j->events.items = e;
    j->events.cap = n;
    free(other);
    return true;
}

/*
 * When something last happened to which addresses, over the distinct bounds of all ranges: a binary tree in
 * which a node stands for a run of neighbouring bounds.
 *
 *   last[node]     the newest event that touched any part of the run
 *   held[node]     some part of the run is announced code
 *   all[node]      0, or 1 + held of what the whole run was set to, not yet told to its halves
 */
struct coverage {
    uint64_t *bounds, *last;
    uint8_t *held, *all;
    size_t count; /* bounds */
};

static int compare_u64(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t last_of(const struct jitcode_event *e) {
    uint64_t last = e->address + (e->size - 1);
    return last >= e->address ? last : UINT64_MAX;
}

static size_t bound_index(const struct coverage *c, uint64_t bound) {
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->bounds[middle] < bound)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Bounds are where ranges begin, and where they have ended. */
static bool coverage_init(struct coverage *c, const struct jitcode *j) {
    size_t n = 0, events = j->events.count;
    *c = (struct coverage){.bounds = malloc((2 * events + 1) * sizeof *c->bounds)};
    if (!c->bounds)
        return false;
    for (size_t i = 0; i < events; i++) {
        if (!j->events.items[i].size)
            continue;
        c->bounds[n++] = j->events.items[i].address;
        if (last_of(&j->events.items[i]) != UINT64_MAX)
            c->bounds[n++] = last_of(&j->events.items[i]) + 1;
    }
    qsort(c->bounds, n, sizeof *c->bounds, compare_u64);
    for (size_t i = 0; i < n; i++)
        if (!i || c->bounds[i] != c->bounds[i - 1])
            c->bounds[c->count++] = c->bounds[i];
    c->last = calloc(4 * c->count + 4, sizeof *c->last);
    c->held = calloc(4 * c->count + 4, 1);
    c->all = calloc(4 * c->count + 4, 1);
    return c->last && c->held && c->all;
}

static void coverage_fini(struct coverage *c) {
    free(c->bounds);
    free(c->last);
    free(c->held);
    free(c->all);
}

/* Of bounds from `first` to `last`: what they held (*held) and when that began (*since), then made new. As
 * deep as the tree is high. */
struct touch {
    size_t first, last;
    uint64_t time, since;
    bool hold, held;
};

static void touch(struct coverage *c, size_t node, size_t low, size_t high, struct touch *t) {
    if (t->last < low || t->first > high)
        return;
    if (t->first <= low && high <= t->last) {
        t->held |= c->held[node];
        t->since = c->last[node] > t->since ? c->last[node] : t->since;
        c->last[node] = t->time;
        c->held[node] = t->hold;
        c->all[node] = (uint8_t)(1 + t->hold);
        return;
    }
    if (c->all[node]) {
        for (size_t child = 2 * node; child <= 2 * node + 1; child++) {
            c->last[child] = c->last[node];
            c->held[child] = c->held[node];
            c->all[child] = c->all[node];
        }
        c->all[node] = 0;
    }
    size_t middle = low + (high - low) / 2;
    touch(c, 2 * node, low, middle, t);
    touch(c, 2 * node + 1, middle + 1, high, t);
    c->held[node] = c->held[2 * node] | c->held[2 * node + 1];
    c->last[node] = c->last[2 * node] > c->last[2 * node + 1] ? c->last[2 * node] : c->last[2 * node + 1];
}

/* How long before its announcement nothing else was announced where code appears. */
static bool find_early(struct jitcode *j) {
    struct coverage c;
    bool ok = coverage_init(&c, j);
    for (size_t i = 0; ok && i < j->events.count; i++) {
        struct jitcode_event *e = &j->events.items[i];
        struct touch t = {.last = c.count - 1, .time = e->time, .hold = e->kind == JITCODE_APPEARS};
        if (!c.count || (!e->size && e->kind != JITCODE_CLOSED))
            continue;
        if (e->kind != JITCODE_CLOSED) {
            t.first = bound_index(&c, e->address);
            t.last = last_of(e) == UINT64_MAX ? c.count - 1 : bound_index(&c, last_of(e) + 1) - 1;
        }
        touch(&c, 1, 0, c.count - 1, &t);
        if (e->kind != JITCODE_APPEARS || t.held)
            continue;
        uint64_t early = e->time > JITCODE_EARLY_NS ? e->time - JITCODE_EARLY_NS : 0;
        e->early = early > t.since ? early : t.since;
    }
    coverage_fini(&c);
    return ok;
}

/* Reads the part's records. False: out of memory. */
static bool read_records(struct reading *r, struct jitdump_reader *reader) {
    struct jitcode *out = r->code;
    struct jitdump_record rec = {.type = JITDUMP_TYPES};
    bool ok = true;
    out->whole = reader->at;
    for (enum jitdump_status status = JITDUMP_RECORD; ok && status != JITDUMP_END;) {
        struct err damage = ERR_INIT;
        uint64_t at = reader->at;
        status = jitdump_next(reader, &rec, &damage);
        bool small = rec.size < JITDUMP_RECORD_SIZE;
        r->h->ended = status == JITDUMP_BROKEN && (!r->growing || (small && rec.size));
        r->at = at;
        if (status == JITDUMP_RECORD)
            ok = take_record(r, &rec);
        else if (status == JITDUMP_REFUSED || r->h->ended)
            note_damage(r, &damage);
        if (status == JITDUMP_BROKEN) {
            out->wanted = at + (small ? JITDUMP_RECORD_SIZE : rec.size);
            return ok;
        }
        /* What tells of a function that is yet to come is looked at again then. */
        bool waits = status == JITDUMP_END || rec.type == JITDUMP_DEBUG_INFO ||
                     rec.type == JITDUMP_UNWINDING_INFO || rec.type == JITDUMP_INLINES;
        if (!waits || reader->at - out->whole > PENDING_BYTES)
            out->whole = reader->at;
    }
    out->wanted = reader->at + JITDUMP_RECORD_SIZE;
    return ok;
}

static void set_start(struct jitcode *out, struct jitcode_history *h) {
    if (!h->begun) {
        uint64_t first = out->events.count ? out->events.items[0].time : out->header.time;
        h->header_timed = first - out->header.time <= START_SECONDS_MAX * (uint64_t)1000000000;
        h->start = h->header_timed ? out->header.time : first;
        h->begun = out->events.count;
    }
    out->header_timed = h->header_timed;
    out->start = h->start;
}

/* Lines from before whose LOAD did not come in this part either may find it in the next one. */
static bool begin_lines(struct reading *r) {
    for (size_t i = 0; i < r->h->lines.count; i++) {
        pending *p = vec_push(&r->lines);
        if (!p)
            return false;
        *p = r->h->lines.items[i];
    }
    vec_clear(&r->h->lines);
    return true;
}

/* What is looked at again needs not be kept. */
static bool keep_rest(struct reading *r) {
    for (size_t i = 0; i < r->lines.count; i++) {
        pending old = r->lines.items[i];
        if (!old.lines.size || (!old.kept && old.at >= r->code->whole))
            continue;
        if (!old.kept)
            old.lines = arena_copy(&r->h->kept, old.lines);
        pending *p = old.lines.data ? vec_push(&r->h->lines) : NULL;
        if (!p)
            return false;
        *p = old;
        p->kept = true;
    }
    return true;
}

static bool read_part(struct bytes part, bool growing, struct jitcode_history *h, struct jitcode *out,
                      struct err *err) {
    struct jitdump_reader reader = {part, 0, h->swap};
    *out = (struct jitcode){.end = JITCODE_FIRST_OFFSET};
    struct jitdump_header header = h->header;
    if (!header.size && !jitdump_open(part, &reader, &header, err))
        return false;
    h->header = out->header = header;
    h->swap = out->swap = reader.swap;
    struct reading r = {
        .code = out, .h = h, .growing = growing, .shift_known = h->shift_known, .shift_seen = h->shift_seen};
    bool ok = begin_lines(&r) && read_records(&r, &reader) && (!growing || keep_rest(&r)) &&
              sort_events(out) && find_early(out);
    set_start(out, h);
    h->shift_known = r.shift_known;
    h->shift_seen = r.shift_seen;
    out->line_shift = r.shift_seen && !r.shift_known ? LINE_SHIFT : 0;
    vec_fini(&r.lines);
    return ok || err_memory(err, "jitdump");
}

bool jitcode_read(struct bytes file, struct jitcode *out, struct err *err) {
    struct jitcode_history h = {0};
    bool ok = read_part(file, false, &h, out, err);
    jitcode_history_fini(&h);
    return ok;
}

bool jitcode_read_part(struct bytes part, struct jitcode_history *h, struct jitcode *out, struct err *err) {
    if (!read_part(part, true, h, out, err))
        return false;
    if (!vec_reserve(&h->functions, h->functions.count + out->functions.count))
        return err_memory(err, "jitdump");
    for (size_t i = 0; i < out->functions.count; i++)
        *vec_push(&h->functions) = out->functions.items[i];
    return true;
}

void jitcode_history_fini(struct jitcode_history *h) {
    vec_fini(&h->functions);
    vec_fini(&h->lines);
    arena_fini(&h->kept);
    hash_map_fini(&h->by_address);
    hash_map_fini(&h->by_index);
}

void jitcode_fini(struct jitcode *j) {
    vec_fini(&j->functions);
    vec_fini(&j->events);
}

bool jitcode_line_next(const struct jitcode *j, const struct jitcode_function *f, struct bytes *rest,
                       struct bytes *last, struct jitdump_line *out) {
    if (f->line_stride) {
        if (rest->size < f->line_stride)
            return false;
        *out = (struct jitdump_line){bytes_load64(rest->data, j->swap), bytes_load32(rest->data + 8, j->swap),
                                     bytes_load32(rest->data + 12, j->swap), f->line_file};
        *rest = (struct bytes){rest->data + f->line_stride, rest->size - f->line_stride};
    } else if (!jitdump_line_next(rest, j->swap, out)) {
        return false;
    }
    if (out->file.size == 1 && out->file.data[0] == 0xff)
        out->file = *last;
    *last = out->file;
    out->address -= f->address + j->line_shift;
    return true;
}

const struct jitcode_function *jitcode_find(const struct jitcode *j, uint64_t offset) {
    size_t n = sorted_up_to(&j->functions, offset, offset);
    const struct jitcode_function *f = n ? &j->functions.items[n - 1] : NULL;
    return f && offset - f->offset < f->code.size ? f : NULL;
}

bool jitcode_is_marker(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, "jit-", 4) != 0)
        return false;
    size_t digits = strspn(name + 4, "0123456789");
    return digits && strcmp(name + 4 + digits, ".dump") == 0;
}
