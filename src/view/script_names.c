/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_names.h"

#include <string.h>

#include "resolve/callers.h"
#include "view/script_fields.h"

#define UNKNOWN "[unknown]"

/* Beside the fields: a newline at the end; the place of a call that returns there. */
#define NEWLINE (1ull << 63)
#define CALLER  (1ull << 62)

enum { FRAME_BITS = 14, KIND_IN_KERNEL = 1 << 8, KIND_RETURN = 1 << 9 };

bool script_names_init(struct script_names *n, const struct model *model) {
    *n = (struct script_names){.model = model};
    return out_init(&n->scratch, NULL, NULL);
}

void script_names_fini(struct script_names *n) {
    vec_fini(&n->styles);
    free(n->spots);
    arena_fini(&n->arena);
    out_fini(&n->scratch);
    free(n->frames);
    free(n->states);
}

void script_names_forget(struct script_names *n) {
    free(n->spots);
    n->spots = NULL;
    n->spot_count = n->spot_mask = 0;
    arena_fini(&n->arena);
    n->room = NULL;
    n->room_left = 0;
    free(n->frames);
    n->frames = NULL;
}

void script_names_state(struct script_names *n, enum model_space space, uint32_t pid, struct model_when when,
                        struct model_state *out) {
    enum { SLOTS = 256 };
    if (!n->states && model_is_frozen(n->model))
        n->states = calloc(SLOTS, sizeof *n->states);
    struct script_state *slot = n->states ? &n->states[(pid ^ space) % SLOTS] : NULL;
    if (!slot || slot->pid != pid || slot->space != space || space == MODEL_SPACE_NONE ||
        model_when_before(when, slot->state.from) || !model_when_before(when, slot->state.until)) {
        model_state_at(n->model, space, pid, when, out);
        if (slot)
            *slot = (struct script_state){*out, pid, space};
        return;
    }
    *out = slot->state;
}

/* The offset that perf shows for an address in its image: memory without a file and the kernel have none but
 * the address itself. */
static uint64_t shown_offset(const struct script_names *n, const struct model_hit *hit, uint64_t address) {
    switch (model_image(n->model, hit->image)->kind) {
    case MODEL_IMAGE_ANON:
    case MODEL_IMAGE_HEAP:
    case MODEL_IMAGE_STACK:
    case MODEL_IMAGE_KERNEL:
        return address;
    default:
        return hit->offset;
    }
}

/* Beside a missing source line perf shows the address that the image's own file has for the place. */
static uint64_t own_address(struct script_names *n, const struct model_hit *hit, uint64_t address) {
    const struct symbol_table *table = NULL;
    if (n->names && model_image(n->model, hit->image)->kind == MODEL_IMAGE_FILE) {
        resolve_names_find(n->names, hit->image, hit->offset); /* loads it */
        table = resolve_names_table(n->names, hit->image);
    }
    return table ? symbol_table_address(table, hit->offset) : shown_offset(n, hit, address);
}

struct resolve_symbol script_names_symbol_id(struct script_names *n, const struct model_hit *hit) {
    if (!n->names || hit->image == MODEL_NONE)
        return (struct resolve_symbol){hit->image, SYMBOL_NONE};
    return resolve_names_find(n->names, hit->image, hit->offset - hit->back);
}

bool script_names_find(struct script_names *n, const struct model_state *state, enum model_space space,
                       bool in_kernel, uint64_t address, struct model_hit *hit) {
    if (model_state_find(n->model, state, address, hit))
        return true;
    hit->space = space;
    return in_kernel && space == MODEL_SPACE_USER &&
           model_state_find_before_exec(n->model, state, address, hit);
}

/* script_names_find_caller without a look at names: hit->back may become 0 by them. */
static void find_return(struct script_names *n, const struct model_state *state, enum model_space space,
                        bool in_kernel, uint64_t address, struct model_hit *hit) {
    struct model_hit prior;
    script_names_find(n, state, space, in_kernel, address, hit);
    if (resolve_callers_at_edge(n->model, hit, address)) {
        script_names_find(n, state, space, in_kernel, address - 1, &prior);
        resolve_callers_join(n->model, hit, &prior);
    } else {
        hit->back = 1;
    }
}

static void settle(struct script_names *n, struct model_hit *hit) {
    if (n->names && hit->back)
        resolve_names_find_caller(n->names, hit);
}

bool script_names_find_caller(struct script_names *n, const struct model_state *state, enum model_space space,
                              bool in_kernel, uint64_t address, struct model_hit *hit) {
    find_return(n, state, space, in_kernel, address, hit);
    settle(n, hit);
    return hit->mapping != MODEL_NONE;
}

bool script_names_is_entry(struct script_names *n, const struct model_hit *hit) {
    struct resolve_symbol s = script_names_symbol_id(n, hit);
    return s.index != SYMBOL_NONE &&
           resolve_callers_is_entry(symbol_table_name(resolve_names_table(n->names, s.image), s.index),
                                    hit->space);
}

const char *script_names_symbol(struct script_names *n, const struct model_hit *hit, uint64_t *offset) {
    struct resolve_symbol s = script_names_symbol_id(n, hit);
    if (s.index == SYMBOL_NONE)
        return NULL;
    const struct symbol_table *table = resolve_names_table(n->names, s.image);
    *offset = hit->offset - symbol_table_start(table, s.index);
    return resolve_names_text(n->names, s);
}

bool script_names_is_late(const struct script_names *n, const struct model_hit *hit) {
    return model_unordered(n->model) && hit->mapping != MODEL_NONE &&
           model_mapping(n->model, hit->mapping)->late;
}

enum grade script_names_grade(struct script_names *n, const struct model_hit *hit) {
    if (!n->names || hit->image == MODEL_NONE)
        return GRADE_UNKNOWN;
    return resolve_grade(n->names, script_names_symbol_id(n, hit));
}

void script_names_put_nameless(struct script_names *n, const struct model_hit *hit, struct out *o) {
    if (script_names_grade(n, hit) != GRADE_STALE) {
        out_str(o, UNKNOWN);
        return;
    }
    out_str(o, "[stale] ");
    out_str(o, model_image(n->model, hit->image)->short_name);
    out_str(o, "+0x");
    out_hex(o, hit->offset, 0);
}

const char *script_names_dso(struct script_names *n, const struct model_hit *hit) {
    if (hit->image == MODEL_NONE)
        return UNKNOWN;
    const struct model_image *image = model_image(n->model, hit->image);
    bool wanted = n->kernel_path && image->kind == MODEL_IMAGE_KERNEL && n->store;
    uint32_t id = wanted ? resolve_names_store_id(n->names, hit->image) : UINT32_MAX;
    const char *path = id == UINT32_MAX ? NULL : symbol_store_source(n->store, id).shown_path;
    return path ? path : model_image_dso(n->model, image);
}

/* ---- texts ---- */

/* perf shows no offset in a kernel whose symbols it has. */
static bool is_named_kernel(struct script_names *n, const struct model_hit *hit) {
    if (!n->names || model_image(n->model, hit->image)->kind != MODEL_IMAGE_KERNEL)
        return false;
    script_names_symbol_id(n, hit); /* loads them */
    return resolve_names_table(n->names, hit->image);
}

/* `known`: the line, if that was found out already. */
static void compose_line(struct script_names *n, const struct model_hit *hit, uint64_t address,
                         const struct object_line *known) {
    struct out *o = &n->scratch;
    struct object_line line = {0};
    if (known)
        line = *known;
    else if (n->lines)
        resolve_lines_find(n->lines, hit->image, hit->offset - hit->back, &line);
    out_str(o, "\n  ");
    if (line.file) {
        out_str(o, resolve_lines_file(&line, n->full_paths));
        out_char(o, ':');
        out_dec(o, line.line, 0);
    } else {
        out_str(o, model_image(n->model, hit->image)->short_name);
        out_char(o, '[');
        out_hex(o, own_address(n, hit, address), 0);
        out_char(o, ']');
    }
}

static void compose_symbol(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                           const char *name, uint64_t offset) {
    struct out *o = &n->scratch;
    if (!(fields & SCRIPT_BIT(SYM)))
        return;
    out_char(o, ' ');
    if (name)
        out_str(o, name);
    else
        script_names_put_nameless(n, hit, o);
    if (name && fields & SCRIPT_BIT(SYMOFF)) {
        out_str(o, "+0x");
        out_hex(o, offset, 0);
    }
}

/* " {exact, build-id, symtab of /bin/x}". */
static void compose_evidence(struct script_names *n, uint64_t fields, const struct model_hit *hit) {
    struct symbol_provenance from =
        resolve_provenance_of(n->names, MODEL_NONE, script_names_symbol_id(n, hit)).symbol;
    if (fields & SCRIPT_DOUBT)
        resolve_provenance_cut(&from);
    const struct {
        bool wanted;
        const char *text;
    } parts[] = {
        {fields & SCRIPT_BIT(GRADE), grade_name(from.grade)},
        {fields & SCRIPT_BIT(IDENTITY), symbol_identity_text(from.identity)},
        {fields & SCRIPT_BIT(PROVENANCE), symbol_list_text(from.list)},
    };
    struct out *o = &n->scratch;
    const char *before = " {";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!parts[i].wanted)
            continue;
        out_str(o, before);
        out_str(o, parts[i].text);
        before = ", ";
    }
    if (fields & SCRIPT_BIT(PROVENANCE) && from.list != SYMBOL_IN_NONE && from.path) {
        out_str(o, " of ");
        out_str(o, from.path);
    }
    out_char(o, '}');
}

static void compose(struct script_names *n, uint64_t fields, const struct model_hit *hit, uint64_t address,
                    const struct object_line *line) {
    struct out *o = &n->scratch;
    uint64_t offset = 0;
    const char *name = fields & SCRIPT_BIT(SYM) ? script_names_symbol(n, hit, &offset) : NULL;
    compose_symbol(n, fields, hit, name, offset);
    if (fields & (SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF))) {
        out_str(o, " (");
        if (hit->image != MODEL_NONE && fields & SCRIPT_BIT(DSOFF) && !is_named_kernel(n, hit)) {
            out_str(o, model_image(n->model, hit->image)->name); /* a module with its path, as in perf */
            out_str(o, "+0x");
            out_hex(o, shown_offset(n, hit, address), 0);
        } else {
            out_str(o, script_names_dso(n, hit));
        }
        out_char(o, ')');
    }
    if (fields & SCRIPT_EVIDENCE && n->names)
        compose_evidence(n, fields, hit);
    if (fields & SCRIPT_BIT(SRCLINE) && hit->image != MODEL_NONE)
        compose_line(n, hit, address, line);
    if (fields & NEWLINE)
        out_char(o, '\n');
}

enum { INLINES_MAX = 64 };

/* A frame with what was inlined there, each with the frame's address. False: nothing was. */
static bool compose_inlined(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                            uint64_t address) {
    struct object_inline inlined[INLINES_MAX];
    struct out *o = &n->scratch;
    size_t count = n->inlines && n->lines && hit->image != MODEL_NONE
                       ? resolve_lines_inlined(n->lines, hit->image, hit->offset - hit->back, n->raw_names,
                                               inlined, INLINES_MAX)
                       : 0;
    if (count < 2)
        return false;
    uint64_t offset = 0;
    script_names_symbol(n, hit, &offset);
    for (size_t i = 0; i + 1 < count; i++) {
        compose_symbol(n, fields, hit, inlined[i].name, offset);
        if (fields & SCRIPT_BIT(SRCLINE))
            compose_line(n, hit, address, &inlined[i].line);
        out_str(o, " (inlined)\n\t");
        out_hex(o, address, 16);
    }
    compose(n, fields, hit, address, &inlined[count - 1].line);
    return true;
}

/* The number of a set of fields, or SCRIPT_STYLES_MAX. */
static uint32_t style_of(struct script_names *n, uint64_t fields) {
    for (uint32_t i = 0; i < n->styles.count; i++)
        if (n->styles.items[i] == fields)
            return i;
    uint64_t *style = n->styles.count < SCRIPT_STYLES_MAX ? vec_push(&n->styles) : NULL;
    if (!style)
        return SCRIPT_STYLES_MAX;
    *style = fields;
    return (uint32_t)(n->styles.count - 1);
}

static struct script_text text_of(const struct script_spot *spot) {
    return (struct script_text){spot->text, spot->len, spot->grade, spot->entry};
}

static size_t first_spot(const struct script_names *n, const struct script_spot *key) {
    return hash_u64(key->offset ^ (uint64_t)key->image << 36 ^ (uint64_t)key->style << 32) & n->spot_mask;
}

/* The slot that has the key's place, or the free one where it belongs. */
static struct script_spot *spot_of(const struct script_names *n, const struct script_spot *key) {
    for (size_t i = first_spot(n, key);; i = (i + 1) & n->spot_mask) {
        struct script_spot *spot = &n->spots[i];
        if (!spot->text ||
            (spot->offset == key->offset && spot->image == key->image && spot->style == key->style))
            return spot;
    }
}

/* Sees to it that there is room for another one. False: memory. */
static bool make_room(struct script_names *n) {
    enum { FIRST_SLOTS = 1 << 12 };
    size_t slots = n->spots ? n->spot_mask + 1 : 0;
    if (n->spot_count < slots / 2)
        return true;
    struct script_names old = *n;
    n->spot_mask = (slots ? 2 * slots : FIRST_SLOTS) - 1;
    n->spots = calloc(n->spot_mask + 1, sizeof *n->spots);
    if (!n->spots) {
        n->spots = old.spots;
        n->spot_mask = old.spot_mask;
        return false;
    }
    for (size_t i = 0; i < slots; i++)
        if (old.spots[i].text)
            *spot_of(n, &old.spots[i]) = old.spots[i];
    free(old.spots);
    return true;
}

/* Room for a text, at the start of a cache line: most are shorter than one. */
static char *text_room(struct script_names *n, size_t len) {
    enum { SLAB = 64 * 1024 };
    size_t size = (len / SCRIPT_TEXT_SLACK + 1) * SCRIPT_TEXT_SLACK;
    if (n->room_left < size) {
        size_t slab = size > SLAB ? size : SLAB;
        char *p = arena_alloc(&n->arena, slab + SCRIPT_TEXT_SLACK);
        if (!p)
            return NULL;
        n->room = p + (-(uintptr_t)p & (SCRIPT_TEXT_SLACK - 1));
        n->room_left = slab;
    }
    char *text = n->room;
    n->room += size;
    n->room_left -= size;
    return text;
}

/* Keeps a text that was composed, with its place and all else filled in. What is kept, or as it was: memory.
 */
static struct script_text keep(struct script_names *n, struct script_spot *made) {
    char *copy = make_room(n) ? text_room(n, made->len) : NULL;
    if (copy) {
        memcpy(copy, made->text, made->len);
        made->text = copy;
        *spot_of(n, made) = *made;
        n->spot_count++;
    }
    return text_of(made);
}

/* What tells the place apart for a set of fields. False: its text cannot be kept. */
static bool spot_key(struct script_names *n, uint64_t fields, const struct model_hit *hit, uint64_t address,
                     struct script_spot *key) {
    fields = (fields & (SCRIPT_PLACE_FIELDS | NEWLINE | SCRIPT_DOUBT)) | (hit->back ? CALLER : 0);
    uint32_t style = style_of(n, fields);
    *key = (struct script_spot){.image = hit->image, .style = (uint16_t)style};
    if (hit->image != MODEL_NONE) /* where the text shows a number, that is it */
        key->offset =
            fields & (SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE)) ? shown_offset(n, hit, address) : hit->offset;
    return style != SCRIPT_STYLES_MAX;
}

struct script_text script_names_text(struct script_names *n, uint64_t fields, const struct model_hit *place,
                                     uint64_t address) {
    struct model_hit hit = *place;
    struct script_spot made;
    const struct script_spot *known;
    if (__builtin_expect(script_names_is_late(n, &hit), 0))
        fields |= SCRIPT_DOUBT;
    bool keeps = spot_key(n, fields, &hit, address, &made);
    if (keeps && n->spots && (known = spot_of(n, &made))->text)
        return text_of(known);
    n->scratch.len = 0;
    made.grade = GRADE_UNKNOWN;
    if (fields & (SCRIPT_BIT(SYM) | SCRIPT_BIT(SRCLINE) | SCRIPT_EVIDENCE) || n->inlines) {
        settle(n, &hit);
        made.entry = script_names_is_entry(n, &hit);
    }
    if (fields & (SCRIPT_BIT(SYM) | SCRIPT_EVIDENCE))
        made.grade = (uint8_t)script_names_grade(n, &hit);
    if (fields & SCRIPT_DOUBT)
        made.grade = (uint8_t)resolve_grade_doubted((enum grade)made.grade);
    bool inlined = fields & NEWLINE && compose_inlined(n, fields, &hit, address);
    if (!inlined)
        compose(n, fields, &hit, address, NULL);
    made.text = n->scratch.buf;
    made.len = (uint32_t)n->scratch.len;
    /* With something inlined it has the address in it, and holds for no other. */
    return keeps && !inlined ? keep(n, &made) : text_of(&made);
}

/* ---- frames ---- */

void script_names_begin(struct script_names *n, struct script_frames *f) {
    f->fields = (f->fields & (SCRIPT_PLACE_FIELDS | SCRIPT_DOUBT)) | NEWLINE;
    f->kind = (uint16_t)(style_of(n, f->fields) | (f->in_kernel ? KIND_IN_KERNEL : 0));
    f->hash_key = f->state.id * 0x9e3779b97f4a7c15u;
    uint32_t generation = model_generation(n->model);
    if (n->frames && n->frames_generation != generation)
        memset(n->frames, 0, sizeof *n->frames << FRAME_BITS);
    n->frames_generation = generation;
    if (!n->frames)
        n->frames = calloc((size_t)1 << FRAME_BITS, sizeof *n->frames);
}

/* Where a frame lies that is not among those printed before. */
struct frame_place {
    struct model_hit hit;
    bool known, exact;
};

static void find_frame(struct script_names *n, const struct script_frames *f, uint64_t ip, bool exact,
                       struct frame_place *to) {
    to->known = true;
    to->exact = exact;
    to->hit = MODEL_NOTHING;
    if (!(f->fields & SCRIPT_PLACE_FIELDS))
        return;
    if (exact)
        script_names_find(n, &f->state, f->space, f->in_kernel, ip, &to->hit);
    else
        find_return(n, &f->state, f->space, f->in_kernel, ip, &to->hit);
}

static struct script_frame *slot_of(const struct script_names *n, const struct script_frames *f,
                                    uint64_t ip) {
    return &n->frames[(ip ^ f->hash_key) * 0xbf58476d1ce4e5b9u >> (64 - FRAME_BITS)];
}

/* The tables and the texts are larger than the nearest caches: what a chain needs is fetched at once. All but
 * the first are taken for return addresses; one that is not costs a second look. */
static void prepare(struct script_names *n, const struct script_frames *f, const struct perfdata_u64s *chain,
                    uint64_t from, unsigned count, struct frame_place *places) {
    for (unsigned i = 0; n->frames && i < count; i++)
        __builtin_prefetch(slot_of(n, f, perfdata_u64_at(chain, from + i)));
    for (unsigned i = 0; i < count; i++) {
        uint64_t ip = perfdata_u64_at(chain, from + i);
        const struct script_frame *slot = n->frames ? slot_of(n, f, ip) : NULL;
        struct script_spot key;
        places[i].known = false;
        if (slot && slot->ip == ip && slot->state == f->state.id && (slot->kind & ~KIND_RETURN) == f->kind &&
            slot->text) {
            __builtin_prefetch(slot->text);
            continue;
        }
        find_frame(n, f, ip, f->exact && i == 0, &places[i]);
        if (n->spots && spot_key(n, f->fields, &places[i].hit, ip, &key))
            __builtin_prefetch(&n->spots[first_spot(n, &key)]);
    }
}

unsigned script_names_frames(struct script_names *n, struct script_frames *f,
                             const struct perfdata_u64s *chain, uint64_t from, uint64_t end,
                             struct script_text texts[SCRIPT_FRAMES_MAX]) {
    unsigned count = end - from < SCRIPT_FRAMES_MAX ? (unsigned)(end - from) : SCRIPT_FRAMES_MAX;
    struct frame_place places[SCRIPT_FRAMES_MAX];
    if (n->inlines && count) /* most texts do not outlast the next then */
        count = 1;
    prepare(n, f, chain, from, count, places);
    for (unsigned i = 0; i < count; i++) {
        uint64_t ip = perfdata_u64_at(chain, from + i);
        struct script_frame *slot = n->frames ? slot_of(n, f, ip) : NULL;
        uint16_t kind = f->kind | (f->exact ? 0 : KIND_RETURN);
        if (slot &&
            __builtin_expect(slot->ip == ip && slot->state == f->state.id && slot->kind == kind && slot->text,
                             1)) {
            texts[i] = (struct script_text){slot->text, slot->len, slot->grade, slot->entry};
        } else {
            if (!places[i].known || places[i].exact != f->exact)
                find_frame(n, f, ip, f->exact, &places[i]);
            texts[i] = script_names_text(n, f->fields, &places[i].hit, ip);
            if (slot && texts[i].text != n->scratch.buf)
                *slot = (struct script_frame){ip,   texts[i].text,  texts[i].len,  f->state.id,
                                              kind, texts[i].grade, texts[i].entry};
        }
        f->exact = texts[i].entry;
        n->grades[texts[i].grade]++;
        if (texts[i].text == n->scratch.buf)
            return i + 1; /* does not outlast the next one */
    }
    return count;
}
