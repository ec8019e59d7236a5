/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof's profile.proto (https://github.com/google/pprof/tree/main/proto). A sample type that counts samples
 * ("samples" or "EVENT:samples") belongs to the type that follows it; all others are events.
 */
#include "base/hash.h"
#include "base/proto.h"
#include "stacks/import/import_internal.h"

struct mapping {
    uint64_t start, offset, file, build_id;
    uint32_t image; /* STACKS_NONE: not made yet */
};

struct function {
    uint64_t name, file;
};

struct location {
    uint64_t mapping, address;
    struct bytes message;  /* its lines are read from there */
    uint32_t first, count; /* its frames, outermost first; 0: not made yet */
};

struct type {
    struct part name, unit;
    uint32_t event; /* STACKS_NONE: it counts the samples of the next type */
    bool counted;   /* the type before counts its samples */
};

struct numbers {
    VEC(uint64_t) list;
};

struct profile {
    struct importing *in;
    VEC(struct bytes) strings;
    VEC(struct mapping) mappings;
    VEC(struct function) functions;
    VEC(struct location) locations;
    VEC(uint32_t) frames; /* of locations */
    size_t nodes_max;
    VEC(struct type) types;
    struct hash_map mapping_ids, function_ids, location_ids; /* number in the list, + 1 */
    struct numbers path, values;                             /* of the sample at hand */
    bool broken;
};

static struct cursor fields_of(struct bytes message) {
    return cursor_make(message, BYTES_HOST_BIG);
}

static struct part string(const struct profile *p, uint64_t id) {
    if (id >= p->strings.count)
        return (struct part){0};
    return (struct part){(const char *)p->strings.items[id].data, p->strings.items[id].size};
}

/* Reads all fields of a message; those that are numbers and below `most` go to values[field]. */
static void read_numbers(struct profile *p, struct bytes message, uint64_t *values, unsigned most) {
    struct cursor c = fields_of(message);
    struct proto_field f;
    while (proto_next(&c, &f))
        if (!f.is_bytes && f.number < most)
            values[f.number] = f.value;
    p->broken |= !cursor_ok(&c);
}

static bool note_id(struct profile *p, struct hash_map *ids, uint64_t id, size_t count) {
    if (!hash_map_set(ids, id, (uint32_t)count))
        p->in->no_memory = true;
    return !p->in->no_memory;
}

/* ---- the tables ---- */

static void read_mapping(struct profile *p, struct bytes message) {
    uint64_t v[7] = {0};
    read_numbers(p, message, v, 7);
    struct mapping *made = vec_push(&p->mappings);
    p->in->no_memory |= !made;
    if (made && note_id(p, &p->mapping_ids, v[1], p->mappings.count))
        *made = (struct mapping){v[2], v[4], v[5], v[6], STACKS_NONE};
}

static void read_function(struct profile *p, struct bytes message) {
    uint64_t v[5] = {0};
    read_numbers(p, message, v, 5);
    struct function *made = vec_push(&p->functions);
    p->in->no_memory |= !made;
    if (made && note_id(p, &p->function_ids, v[1], p->functions.count))
        *made = (struct function){v[2] ? v[2] : v[3], v[4]};
}

static void read_location(struct profile *p, struct bytes message) {
    uint64_t v[4] = {0};
    read_numbers(p, message, v, 4);
    struct location *made = vec_push(&p->locations);
    p->in->no_memory |= !made;
    if (made && note_id(p, &p->location_ids, v[1], p->locations.count))
        *made = (struct location){v[2], v[3], message, 0, 0};
}

static void read_type(struct profile *p, struct bytes message) {
    uint64_t v[3] = {0};
    read_numbers(p, message, v, 3);
    struct type *made = vec_push(&p->types);
    p->in->no_memory |= !made;
    if (made)
        *made = (struct type){.name = string(p, v[1]), .unit = string(p, v[2])};
}

static void read_tables(struct profile *p, struct bytes file) {
    enum { TYPE = 1, MAPPING = 3, LOCATION, FUNCTION, STRING };
    struct proto_field f;
    struct cursor c = fields_of(file);
    while (!p->in->no_memory && proto_next(&c, &f))
        if (f.number == STRING && f.is_bytes) {
            struct bytes *made = vec_push(&p->strings);
            p->in->no_memory |= !made;
            if (made)
                *made = f.bytes;
        }
    p->broken |= !cursor_ok(&c);
    c = fields_of(file);
    while (!p->in->no_memory && proto_next(&c, &f)) {
        if (!f.is_bytes)
            continue;
        if (f.number == TYPE)
            read_type(p, f.bytes);
        else if (f.number == MAPPING)
            read_mapping(p, f.bytes);
        else if (f.number == LOCATION)
            read_location(p, f.bytes);
        else if (f.number == FUNCTION)
            read_function(p, f.bytes);
    }
}

static bool is(struct part p, const char *text) {
    return p.len == strlen(text) && !memcmp(p.text, text, p.len);
}

static bool counts_samples(const struct type *t) {
    static const char ending[] = ":samples";
    const size_t n = sizeof ending - 1;
    return is(t->unit, "count") && (is(t->name, "samples") ||
                                    (t->name.len > n && !memcmp(t->name.text + t->name.len - n, ending, n)));
}

static void make_events(struct profile *p) {
    for (size_t i = 0; i < p->types.count && !p->in->no_memory; i++) {
        struct type *t = &p->types.items[i];
        if (i + 1 < p->types.count && counts_samples(t) && !counts_samples(t + 1)) {
            t->event = STACKS_NONE;
            t[1].counted = true;
            continue;
        }
        struct part unit = is(t->unit, "nanoseconds") ? (struct part){"ns", 2} : t->unit;
        uint32_t name = import_text(p->in, t->name), unit_id = import_text(p->in, unit);
        t->event = p->in->no_memory ? STACKS_NONE : import_event(p->in, name, unit_id);
    }
}

/* ---- frames ---- */

static const struct mapping *mapping_of(struct profile *p, uint64_t id) {
    uint32_t at = id ? hash_map_get(&p->mapping_ids, id) : 0;
    if (!at || at > p->mappings.count)
        return NULL;
    struct mapping *m = &p->mappings.items[at - 1];
    struct part path = string(p, m->file);
    if (m->image == STACKS_NONE && path.len) {
        uint32_t build_id = import_text(p->in, string(p, m->build_id));
        m->image = import_image(p->in, path, build_id);
    }
    return m;
}

/* Adds a frame of a location: one of its lines. Returns its number. */
static uint32_t add_frame(struct profile *p, const struct location *x, const uint64_t *line, bool inlined) {
    const struct mapping *m = mapping_of(p, x->mapping);
    uint32_t at = line ? hash_map_get(&p->function_ids, line[1]) : 0;
    const struct function *f = at && at <= p->functions.count ? &p->functions.items[at - 1] : NULL;
    struct stacks_frame made = {.address = x->address, .image = m ? m->image : STACKS_NONE};
    struct part name = f ? string(p, f->name) : (struct part){0};
    if (m)
        made.address -= m->start - m->offset;
    if (!name.len)
        name = (struct part){"[unknown]", 9};
    if (!import_name(p->in, name, m ? string(p, m->file) : (struct part){0}, &made))
        return STACKS_NONE;
    if (inlined)
        made.level = STACKS_INLINED;
    made.file = f ? import_text(p->in, string(p, f->file)) : 0;
    made.line = line && line[2] <= UINT32_MAX ? (uint32_t)line[2] : 0;
    uint32_t id = p->in->no_memory ? STACKS_NONE : stacks_frame(p->in->s, &made);
    p->in->no_memory |= id == STACKS_NONE;
    return id;
}

/* Makes the frames of a location from its lines, which are the other way around. */
static void make_frames(struct profile *p, struct location *x) {
    enum { LINE = 4, LINES_MAX = 256 };
    uint64_t lines[LINES_MAX][3];
    unsigned n = 0;
    struct cursor c = fields_of(x->message);
    struct proto_field f;
    while (proto_next(&c, &f))
        if (f.number == LINE && f.is_bytes && n < LINES_MAX) {
            memset(lines[n], 0, sizeof lines[n]);
            read_numbers(p, f.bytes, lines[n++], 3);
        }
    x->first = (uint32_t)p->frames.count;
    x->count = n ? n : 1;
    for (unsigned i = x->count; i-- > 0 && !p->in->no_memory;) {
        uint32_t frame = add_frame(p, x, n ? lines[i] : NULL, i + 1 < n), *made = vec_push(&p->frames);
        p->in->no_memory |= !made;
        if (made)
            *made = frame;
    }
}

/* Appends a location's frames to a stack. False: out of memory, or it is broken. */
static bool add_location(struct profile *p, uint64_t id, uint32_t *node) {
    uint32_t at = hash_map_get(&p->location_ids, id);
    struct stacks *s = p->in->s;
    if (!at || at > p->locations.count)
        return import_bad(p->in, "a location that is not there");
    struct location *x = &p->locations.items[at - 1];
    if (!x->count)
        make_frames(p, x);
    if (s->nodes.count > p->nodes_max)
        return import_bad(p->in, "more frames than a file of this size has");
    for (uint32_t i = 0; i < x->count && !p->in->no_memory; i++) {
        *node = stacks_node(s, *node, p->frames.items[x->first + i]);
        p->in->no_memory |= *node == STACKS_NONE;
    }
    return !p->in->no_memory;
}

/* ---- samples ---- */

static void take_number(struct profile *p, uint64_t v, struct numbers *to) {
    uint64_t *made = vec_push(&to->list);
    p->in->no_memory |= !made;
    if (made)
        *made = v;
}

/* Appends the numbers of a field: one, or a packed list. */
static void take_numbers(struct profile *p, const struct proto_field *f, struct numbers *to) {
    struct cursor c = fields_of(f->bytes);
    if (!f->is_bytes)
        take_number(p, f->value, to);
    while (f->is_bytes && cursor_left(&c) && !p->in->no_memory)
        take_number(p, cursor_uleb(&c), to);
}

static void take_label(struct profile *p, struct bytes message, struct part *comm) {
    uint64_t v[3] = {0};
    read_numbers(p, message, v, 3);
    struct part key = string(p, v[1]), value = string(p, v[2]);
    if (value.len && (is(key, "comm") || (!comm->len && (is(key, "thread") || is(key, "process")))))
        *comm = value;
}

static void add_values(struct profile *p, uint32_t comm, uint32_t node) {
    for (size_t i = 0; i < p->types.count && !p->in->no_memory; i++) {
        const struct type *t = &p->types.items[i];
        uint64_t value = p->values.list.items[i], samples = t->counted ? p->values.list.items[i - 1] : 1;
        uint32_t row;
        if (t->event == STACKS_NONE || (!value && !(t->counted && samples)))
            continue;
        if (counts_samples(t))
            samples = value;
        if (value > INT64_MAX || samples > INT64_MAX)
            import_bad(p->in, "a negative value");
        else
            import_add(p->in, t->event, comm, node, samples, value, &row);
    }
}

static void read_sample(struct profile *p, struct bytes message) {
    enum { LOCATION = 1, VALUE, LABEL };
    struct cursor c = fields_of(message);
    struct proto_field f;
    struct part comm = {0};
    uint32_t node = STACKS_NONE;
    vec_clear(&p->path.list);
    vec_clear(&p->values.list);
    while (proto_next(&c, &f)) {
        if (f.number == LOCATION)
            take_numbers(p, &f, &p->path);
        else if (f.number == VALUE)
            take_numbers(p, &f, &p->values);
        else if (f.number == LABEL && f.is_bytes)
            take_label(p, f.bytes, &comm);
    }
    p->in->at++;
    if (!cursor_ok(&c) || p->values.list.count != p->types.count) {
        import_bad(p->in, "not a value for each type");
    } else if (!p->path.list.count || p->path.list.count > STACKS_IMPORT_DEEPEST) {
        import_bad(p->in, p->path.list.count ? "too many frames" : "no frames");
    } else {
        for (size_t i = p->path.list.count; i-- > 0;)
            if (!add_location(p, p->path.list.items[i], &node))
                return;
        uint32_t who = import_text(p->in, comm);
        if (!p->in->no_memory)
            add_values(p, who, node);
    }
}

static void describe(struct profile *p, struct bytes file) {
    enum { TIME = 9, DURATION = 10 };
    struct stacks_recording *r = &p->in->s->recordings.items[p->in->recording];
    struct cursor c = fields_of(file);
    struct proto_field f;
    while (proto_next(&c, &f)) {
        if (f.number == TIME && f.value <= INT64_MAX)
            r->start_ns = f.value;
        if (f.number == DURATION && f.value <= INT64_MAX)
            r->duration_ns = f.value;
    }
}

bool import_pprof(struct importing *in, struct bytes file, struct err *err) {
    enum { SAMPLE = 2 };
    enum { NODES_PER_BYTE = 16, NODES_LEAST = 4096 };
    struct profile p = {.in = in, .nodes_max = in->s->nodes.count + NODES_LEAST + file.size * NODES_PER_BYTE};
    read_tables(&p, file);
    bool ok = !p.broken && p.types.count;
    if (ok) {
        describe(&p, file);
        make_events(&p);
    }
    struct cursor c = fields_of(file);
    struct proto_field f;
    while (ok && !in->no_memory && proto_next(&c, &f))
        if (f.number == SAMPLE && f.is_bytes)
            read_sample(&p, f.bytes);
    vec_fini(&p.strings);
    vec_fini(&p.mappings);
    vec_fini(&p.functions);
    vec_fini(&p.locations);
    vec_fini(&p.frames);
    vec_fini(&p.types);
    vec_fini(&p.path.list);
    vec_fini(&p.values.list);
    hash_map_fini(&p.mapping_ids);
    hash_map_fini(&p.function_ids);
    hash_map_fini(&p.location_ids);
    return ok || err_set(err, ERR_BROKEN, "pprof", "the profile is damaged, or has no sample types");
}
