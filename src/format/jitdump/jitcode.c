/* SPDX-License-Identifier: Apache-2.0 */
#include "format/jitdump/jitcode.h"

#include <stdlib.h>

#include "base/hash.h"

/* DEBUG_INFO and UNWINDING_INFO come before the LOAD they belong to; other threads' records may lie between.
 */
struct pending {
    uint64_t address;
    struct bytes lines;
};

struct reading {
    struct jitcode *code;
    VEC(struct pending) lines;
    struct jitdump_unwinding unwinding; /* names no function: the next one's */
    struct hash_map by_address;         /* the function that lies there now */
    struct hash_map by_index;           /* the last one with that index */
    bool shift_known;                   /* some line's address is too low for a shift */
    bool shift_seen;
};

enum {
    /* V8's writer adds the size of an ELF header to the addresses of lines, since the code comes behind one
     * in the files that perf makes of it: seen in its output (Node.js 20), where no line of any function
     * begins before that. */
    LINE_SHIFT = 64,
    PENDING_MAX = 256, /* that no LOAD ever claimed */
};

static void note_damage(struct reading *r, const struct err *err) {
    r->code->refused++;
    if (r->code->damage.code == ERR_NONE)
        r->code->damage = *err;
}

/* The lines kept for an address, taken out. */
static struct bytes claim_lines(struct reading *r, uint64_t address) {
    for (size_t i = r->lines.count; i-- > 0;) {
        if (r->lines.items[i].address != address)
            continue;
        struct bytes lines = r->lines.items[i].lines;
        r->lines.items[i] = r->lines.items[--r->lines.count];
        return lines;
    }
    return (struct bytes){NULL, 0};
}

static bool keep_lines(struct reading *r, const struct jitdump_debug_info *d) {
    if (r->lines.count == PENDING_MAX)
        r->lines.count = 0;
    struct pending *p = vec_push(&r->lines);
    if (!p)
        return false;
    *p = (struct pending){d->code_addr, d->entries};
    struct bytes rest = d->entries;
    for (struct jitdump_line l; !r->shift_known && jitdump_line_next(&rest, r->code->swap, &l);) {
        r->shift_known = l.address - d->code_addr < LINE_SHIFT;
        r->shift_seen = true;
    }
    return true;
}

static bool add_event(struct reading *r, uint64_t time, enum jitcode_event_kind kind, uint64_t address,
                      uint64_t size, uint32_t function) {
    struct jitcode_event *e = vec_push(&r->code->events);
    if (e)
        *e = (struct jitcode_event){time, address, size, function, kind};
    return e;
}

static bool load(struct reading *r, const struct jitdump_record *rec) {
    const struct jitdump_load *l = &rec->load;
    struct jitcode *j = r->code;
    struct bytes lines = claim_lines(r, l->code_addr);
    struct jitdump_unwinding unwinding = r->unwinding;
    r->unwinding = (struct jitdump_unwinding){0};
    if (!l->code.size) /* the format allows functions without code: nothing can ever lie in them */
        return true;
    uint32_t id = (uint32_t)j->functions.count;
    struct jitcode_function *f = id < JITCODE_NONE - 1 ? vec_push(&j->functions) : NULL;
    if (!f)
        return false;
    *f = (struct jitcode_function){.offset = j->end,
                                   .time = rec->time,
                                   .address = l->code_addr,
                                   .index = l->code_index,
                                   .name = l->name,
                                   .code = l->code,
                                   .lines = lines,
                                   .unwinding = unwinding,
                                   .tid = l->tid};
    j->end += (l->code.size + JITCODE_ALIGN - 1) & ~(uint64_t)(JITCODE_ALIGN - 1);
    return hash_map_set(&r->by_address, l->code_addr, id) && hash_map_set(&r->by_index, l->code_index, id) &&
           add_event(r, rec->time, JITCODE_APPEARS, l->code_addr, l->code.size, id);
}

/* What lay at the old address, if its index is right or indices mean nothing there; else what has the index.
 */
static uint32_t moved_function(const struct reading *r, const struct jitdump_move *m) {
    const struct jitcode_function *all = r->code->functions.items;
    uint32_t here = hash_map_get(&r->by_address, m->old_code_addr);
    uint32_t named = hash_map_get(&r->by_index, m->code_index);
    if (here != HASH_ABSENT && (all[here].index == m->code_index || named == HASH_ABSENT))
        return here;
    return named;
}

static bool move(struct reading *r, const struct jitdump_record *rec) {
    const struct jitdump_move *m = &rec->move;
    uint32_t id = moved_function(r, m);
    if (id == HASH_ABSENT) {
        struct err err = ERR_INIT;
        err_set(&err, ERR_BROKEN, "jitdump", "a CODE_MOVE record of code that was never loaded");
        note_damage(r, &err);
        return true;
    }
    /* A function cannot change its size. */
    uint64_t size = r->code->functions.items[id].code.size;
    return add_event(r, rec->time, JITCODE_LEAVES, m->old_code_addr, size, JITCODE_NONE) &&
           add_event(r, rec->time, JITCODE_APPEARS, m->new_code_addr, size, id) &&
           hash_map_set(&r->by_address, m->new_code_addr, id);
}

static bool take_record(struct reading *r, const struct jitdump_record *rec) {
    switch ((enum jitdump_type)rec->type) {
    case JITDUMP_LOAD:
        return load(r, rec);
    case JITDUMP_MOVE:
        return move(r, rec);
    case JITDUMP_DEBUG_INFO:
        return keep_lines(r, &rec->debug_info);
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

bool jitcode_read(struct bytes file, struct jitcode *out, struct err *err) {
    struct jitdump_reader reader;
    struct jitdump_record rec;
    *out = (struct jitcode){.end = JITCODE_FIRST_OFFSET};
    if (!jitdump_open(file, &reader, &out->header, err))
        return false;
    out->swap = reader.swap;
    struct reading r = {.code = out};
    bool ok = true;
    for (enum jitdump_status status = JITDUMP_RECORD; ok && status != JITDUMP_END;) {
        struct err damage = ERR_INIT;
        status = jitdump_next(&reader, &rec, &damage);
        if (status == JITDUMP_RECORD)
            ok = take_record(&r, &rec);
        else if (status != JITDUMP_END)
            note_damage(&r, &damage);
    }
    out->line_shift = r.shift_seen && !r.shift_known ? LINE_SHIFT : 0;
    vec_fini(&r.lines);
    hash_map_fini(&r.by_address);
    hash_map_fini(&r.by_index);
    return ok || err_memory(err, "jitdump");
}

void jitcode_fini(struct jitcode *j) {
    vec_fini(&j->functions);
    vec_fini(&j->events);
}

bool jitcode_line_next(const struct jitcode *j, const struct jitcode_function *f, struct bytes *rest,
                       struct bytes *last, struct jitdump_line *out) {
    if (!jitdump_line_next(rest, j->swap, out))
        return false;
    if (out->file.size == 1 && out->file.data[0] == 0xff)
        out->file = *last;
    *last = out->file;
    out->address -= f->address + j->line_shift;
    return true;
}

const struct jitcode_function *jitcode_find(const struct jitcode *j, uint64_t offset) {
    size_t low = 0, high = j->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->functions.items[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const struct jitcode_function *f = low ? &j->functions.items[low - 1] : NULL;
    return f && offset - f->offset < f->code.size ? f : NULL;
}

bool jitcode_is_marker(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, "jit-", 4) != 0)
        return false;
    size_t digits = strspn(name + 4, "0123456789");
    return digits && strcmp(name + 4 + digits, ".dump") == 0;
}
