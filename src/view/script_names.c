/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_names.h"

#include <string.h>

#include "resolve/callers.h"
#include "view/script_fields.h"

#define UNKNOWN "[unknown]"

/* Beside the fields: a newline at the end; the place of a call that returns there. */
#define NEWLINE (1ull << 63)
#define CALLER  (1ull << 62)

enum { FRAME_BITS = 15, KIND_IN_KERNEL = 1 << 8, KIND_RETURN = 1 << 9 };

bool script_names_init(struct script_names *n, const struct model *model) {
    *n = (struct script_names){.model = model};
    return out_init(&n->scratch, NULL, NULL);
}

void script_names_fini(struct script_names *n) {
    for (size_t i = 0; i < n->places.count; i++)
        hash_map_fini(&n->places.items[i]);
    vec_fini(&n->styles);
    vec_fini(&n->places);
    vec_fini(&n->texts);
    arena_fini(&n->arena);
    out_fini(&n->scratch);
    free(n->frames);
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

/* The map of an image's places in a style, or NULL: memory. */
static struct hash_map *places_of(struct script_names *n, uint32_t image, uint32_t style) {
    /* The first ones are of what lies in no image. */
    size_t at = ((size_t)image + 1) % ((size_t)MODEL_NONE + 1) * SCRIPT_STYLES_MAX + style;
    while (n->places.count <= at)
        if (!vec_push(&n->places))
            return NULL;
    return &n->places.items[at];
}

/* Keeps a text that was composed, in which the grade and so on are filled in. Its index in texts, or
 * HASH_ABSENT: memory. */
static uint32_t keep(struct script_names *n, const struct script_text *text) {
    size_t size = text->len < SCRIPT_TEXT_SLACK ? SCRIPT_TEXT_SLACK : text->len;
    char *copy = arena_alloc(&n->arena, size);
    struct script_text *kept = copy ? vec_push(&n->texts) : NULL;
    if (!kept)
        return HASH_ABSENT;
    memcpy(copy, text->text, text->len);
    *kept = *text;
    kept->text = copy;
    return (uint32_t)(n->texts.count - 1);
}

struct script_text script_names_text(struct script_names *n, uint64_t fields, const struct model_hit *place,
                                     uint64_t address) {
    struct model_hit hit = *place;
    fields = (fields & (SCRIPT_PLACE_FIELDS | NEWLINE)) | (hit.back ? CALLER : 0);
    uint32_t style = style_of(n, fields);
    struct hash_map *places = style == SCRIPT_STYLES_MAX ? NULL : places_of(n, hit.image, style);
    uint64_t offset = hit.image == MODEL_NONE ? 0 : hit.offset;
    /* Where the text shows a number, that is what tells places apart. */
    if (hit.image != MODEL_NONE && fields & (SCRIPT_BIT(DSOFF) | SCRIPT_BIT(SRCLINE)))
        offset = shown_offset(n, &hit, address);
    uint32_t index = places ? hash_map_get(places, offset) : HASH_ABSENT;
    if (index != HASH_ABSENT)
        return n->texts.items[index];
    n->scratch.len = 0;
    struct script_text text = {.grade = GRADE_UNKNOWN};
    if (fields & (SCRIPT_BIT(SYM) | SCRIPT_BIT(SRCLINE) | SCRIPT_EVIDENCE) || n->inlines) {
        settle(n, &hit);
        text.entry = script_names_is_entry(n, &hit);
    }
    if (fields & (SCRIPT_BIT(SYM) | SCRIPT_EVIDENCE))
        text.grade = (uint8_t)script_names_grade(n, &hit);
    bool inlined = fields & NEWLINE && compose_inlined(n, fields, &hit, address);
    if (!inlined)
        compose(n, fields, &hit, address, NULL);
    text.text = n->scratch.buf;
    text.len = (uint32_t)n->scratch.len;
    /* With something inlined it has the address in it, and holds for no other. */
    if (inlined || !places || (index = keep(n, &text)) == HASH_ABSENT)
        return text;
    hash_map_set(places, offset, index);
    return n->texts.items[index];
}

/* ---- frames ---- */

void script_names_begin(struct script_names *n, struct script_frames *f) {
    f->fields = (f->fields & SCRIPT_PLACE_FIELDS) | NEWLINE;
    f->kind = (uint16_t)(style_of(n, f->fields) | (f->in_kernel ? KIND_IN_KERNEL : 0));
    f->hash_key = f->state.id * 0x9e3779b97f4a7c15u;
    uint32_t generation = model_generation(n->model);
    if (n->frames && n->frames_generation != generation)
        memset(n->frames, 0, sizeof *n->frames << FRAME_BITS);
    n->frames_generation = generation;
    if (!n->frames)
        n->frames = calloc((size_t)1 << FRAME_BITS, sizeof *n->frames);
}

static struct script_text frame_text(struct script_names *n, const struct script_frames *f, uint64_t ip) {
    struct model_hit hit = MODEL_NOTHING;
    if (f->fields & SCRIPT_PLACE_FIELDS) {
        if (f->exact)
            script_names_find(n, &f->state, f->space, f->in_kernel, ip, &hit);
        else
            find_return(n, &f->state, f->space, f->in_kernel, ip, &hit);
    }
    return script_names_text(n, f->fields, &hit, ip);
}

static struct script_frame *slot_of(const struct script_names *n, const struct script_frames *f,
                                    uint64_t ip) {
    return &n->frames[(ip ^ f->hash_key) * 0xbf58476d1ce4e5b9u >> (64 - FRAME_BITS)];
}

unsigned script_names_frames(struct script_names *n, struct script_frames *f,
                             const struct perfdata_u64s *chain, uint64_t from, uint64_t end,
                             struct script_text texts[SCRIPT_FRAMES_MAX]) {
    unsigned count = end - from < SCRIPT_FRAMES_MAX ? (unsigned)(end - from) : SCRIPT_FRAMES_MAX;
    /* The table and the texts are larger than the nearest caches: fetch a whole chain's at once. */
    for (unsigned i = 0; n->frames && i < count; i++)
        __builtin_prefetch(slot_of(n, f, perfdata_u64_at(chain, from + i)));
    for (unsigned i = 0; i < count; i++) {
        uint64_t ip = perfdata_u64_at(chain, from + i);
        struct script_frame *slot = n->frames ? slot_of(n, f, ip) : NULL;
        uint16_t kind = f->kind | (f->exact ? 0 : KIND_RETURN);
        if (slot &&
            __builtin_expect(slot->ip == ip && slot->state == f->state.id && slot->kind == kind && slot->text,
                             1)) {
            texts[i] = (struct script_text){slot->text, slot->len, slot->grade, slot->entry};
            __builtin_prefetch(slot->text);
        } else {
            texts[i] = frame_text(n, f, ip);
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
