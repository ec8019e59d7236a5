/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_names.h"

#include <string.h>

#include "view/script/script_fields.h"

#define UNKNOWN "[unknown]"

/* Extra bit of a field mask: the place is that of a call, found from its return address. */
#define CALLER (1ull << 62)

bool script_names_init(struct script_names *n, const struct model *model) {
    *n = (struct script_names){.model = model, .locator = {.model = model}};
    return out_init(&n->scratch, NULL, NULL);
}

void script_names_fini(struct script_names *n) {
    vec_fini(&n->styles);
    script_texts_fini(&n->texts);
    out_fini(&n->scratch);
    resolve_locator_fini(&n->locator);
}

void script_names_forget(struct script_names *n) {
    script_texts_fini(&n->texts);
}

/* Returns the offset that perf shows for an address in its image; for the kernel and memory without a file it
 * is the address itself. */
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

/* Returns the address in the image's own file, which perf shows next to a missing source line. */
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
    struct model_hit settled = *hit;
    return resolve_names_find_caller(n->names, &settled);
}

static void settle(struct script_names *n, struct model_hit *hit) {
    if (n->names && hit->back)
        resolve_names_find_caller(n->names, hit);
}

/* Whether this frame's caller has an exact address. */
static bool is_entry(struct script_names *n, const struct model_hit *hit) {
    return resolve_names_is_entry(n->names, script_names_symbol_id(n, hit), hit->space);
}

/* Whether the symbol is needed; only then the kind of the enclosing frame matters. */
static bool wants_symbol(const struct script_names *n, uint64_t fields) {
    return fields & (SCRIPT_BIT(SYM) | SCRIPT_BIT(SRCLINE) | SCRIPT_EVIDENCE) || n->inlines;
}

bool script_names_settled_entry(struct script_names *n, uint64_t fields, struct model_hit hit) {
    if (!wants_symbol(n, fields))
        return false;
    settle(n, &hit);
    return is_entry(n, &hit);
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

/* True of a kernel whose symbols are known: perf shows no offset in it. */
static bool is_named_kernel(struct script_names *n, const struct model_hit *hit) {
    if (!n->names || model_image(n->model, hit->image)->kind != MODEL_IMAGE_KERNEL)
        return false;
    script_names_symbol_id(n, hit); /* loads its symbols */
    return resolve_names_table(n->names, hit->image);
}

/* `known`: the line, if it is known already. */
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

/* Writes " {exact, build-id, symtab of /bin/x}". */
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
            out_str(o, model_image(n->model, hit->image)->name); /* modules with their path, as in perf */
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
    if (fields & SCRIPT_NEWLINE)
        out_char(o, '\n');
}

enum { INLINES_MAX = 64 };

/* Writes a frame and the functions inlined there, each with the frame's address. False: none were. */
static bool compose_inlined(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                            uint64_t address) {
    struct object_inline inlined[INLINES_MAX];
    struct out *o = &n->scratch;
    size_t count =
        n->inlines && n->lines && script_names_symbol_id(n, hit).index != SYMBOL_NONE
            ? resolve_lines_inlined(n->lines, hit->image, hit->offset - hit->back, inlined, INLINES_MAX)
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

enum { NAMELESS = SCRIPT_STYLES_MAX /* also in script_names_address_key */ };
_Static_assert(2 * SCRIPT_STYLES_MAX == 1 << SCRIPT_STYLE_BITS, "styles in keys, with a bit beside them");

/* Returns the number of a set of fields, or SCRIPT_STYLES_MAX. */
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

/* The fields that make texts differ. */
#define TELLING (SCRIPT_PLACE_FIELDS | SCRIPT_NEWLINE | SCRIPT_DOUBT)

bool script_names_key(struct script_names *n, uint64_t fields, const struct model_hit *hit, uint64_t address,
                      struct script_text_key *key) {
    uint32_t style = style_of(n, (fields & TELLING) | (hit->back ? CALLER : 0));
    uint64_t offset = 0;
    if (hit->image != MODEL_NONE) /* texts that show a number differ by that number */
        offset = fields & SCRIPT_NUMBERED ? shown_offset(n, hit, address) : hit->offset;
    *key = script_names_key_of(style, hit->image, offset);
    return style != SCRIPT_STYLES_MAX && script_names_has_room(hit->image);
}

bool script_names_styles(struct script_names *n, uint64_t fields, struct script_styles *out) {
    if (n->styled != fields) {
        n->last_styles.exact = style_of(n, fields & TELLING);
        n->last_styles.caller = style_of(n, (fields & TELLING) | CALLER);
        n->styled = fields;
    }
    *out = n->last_styles;
    return out->exact != SCRIPT_STYLES_MAX && out->caller != SCRIPT_STYLES_MAX;
}

/* Whether the text is the same wherever in an image nothing has a name, as it shows no number; *key is then
 * that of all those places. */
static bool is_shared(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                      struct script_text_key *key) {
    if (hit->image == MODEL_NONE || !(fields & SCRIPT_BIT(SYM)) ||
        fields & (SCRIPT_NUMBERED | SCRIPT_EVIDENCE | SCRIPT_DOUBT) ||
        script_names_symbol_id(n, hit).index != SYMBOL_NONE || script_names_grade(n, hit) == GRADE_STALE)
        return false;
    *key = script_text_key_of(0, key->place | NAMELESS);
    return true;
}

static struct script_text made_text(struct script_names *n, uint64_t fields, const struct model_hit *hit,
                                    uint64_t address, bool *inlined) {
    struct script_text made = {.grade = GRADE_UNKNOWN};
    n->scratch.len = 0;
    if (wants_symbol(n, fields))
        made.entry = is_entry(n, hit);
    if (fields & (SCRIPT_BIT(SYM) | SCRIPT_EVIDENCE))
        made.grade = (uint8_t)script_names_grade(n, hit);
    if (fields & SCRIPT_DOUBT)
        made.grade = (uint8_t)resolve_grade_doubted((enum grade)made.grade);
    *inlined = fields & SCRIPT_NEWLINE && compose_inlined(n, fields, hit, address);
    if (!*inlined)
        compose(n, fields, hit, address, NULL);
    made.text = n->scratch.buf;
    made.len = (uint32_t)n->scratch.len;
    return made;
}

/* Keeps a text by its key, one with inlined functions by its address. 0: it cannot be kept. */
static script_text_ref keep(struct script_names *n, struct script_text_key key, const struct script_text *t,
                            bool inlined, uint64_t address) {
    if (inlined && !script_texts_find(&n->texts, key) &&
        !script_texts_share(&n->texts, key, SCRIPT_TEXT_BY_ADDRESS))
        return 0;
    if (inlined)
        key = script_names_address_key(key, address);
    return script_texts_add(&n->texts, key, t->text, t->len, t->grade, t->entry);
}

struct script_text script_names_text(struct script_names *n, uint64_t fields, const struct model_hit *place,
                                     uint64_t address) {
    struct model_hit hit = *place;
    struct script_text_key key, shared;
    if (__builtin_expect(resolve_locator_is_late(&n->locator, &hit), 0))
        fields |= SCRIPT_DOUBT;
    bool keeps = script_names_key(n, fields, &hit, address, &key), inlined, shares;
    script_text_ref ref = keeps ? script_names_find(n, key, address) : 0;
    if (!ref) {
        if (wants_symbol(n, fields))
            settle(n, &hit);
        shared = key;
        shares = keeps && is_shared(n, fields, &hit, &shared);
        ref = shares ? script_texts_find(&n->texts, shared) : 0;
        if (!ref) {
            struct script_text made = made_text(n, fields, &hit, address, &inlined);
            ref = keeps ? keep(n, shared, &made, inlined, address) : 0;
            if (!ref)
                return made;
        }
        if (shares) /* may fail: then it is found the long way again */
            (void)script_texts_share(&n->texts, key, ref);
    }
    const struct script_kept *kept = script_texts_at(&n->texts, ref);
    return (struct script_text){kept->text, kept->len, kept->grade, kept->entry};
}
