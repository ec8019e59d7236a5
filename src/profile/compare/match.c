/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of several tables are the same.
 *
 * First, rows whose texts are equal. Code without a name is one row for each object: its addresses are those
 * of one build. Then, with options.fold, names that mean the same are a *family*: equal after clone suffixes
 * of functions and versions of libraries are taken away (names.h; of images with the same build-id, whose
 * functions have the same names, only the image's name may differ), and after the program of each side has
 * been given one name (program.h). A family becomes one row if its names
 * are not there in the same sides, which is what a rebuild does; else its names are different code that all
 * sides have.
 */
#include "profile/compare/compare.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/strpool.h"
#include "profile/compare/names.h"
#include "profile/compare/program.h"
#include "profile/profile_internal.h"

enum { LEVEL_BYTES = 4 }; /* of "[.] " */
#define BETWEEN "\x1f"    /* the texts of a row */

/* What is known of a row besides its texts, until families are joined. */
struct origin {
    uint32_t symbol;  /* text id of its function's name with its level */
    uint32_t library; /* text id of its image's stem */
    bool named;
};

/* What the images of one stem are. */
struct library {
    uint64_t build; /* hash of their build-id; 0: not known */
    bool differ;    /* there are several, or not all are known */
};

struct matching {
    struct compare *c;
    const struct compare_side *sides;
    VEC(const struct profile_column *) columns; /* [side * keys + key] */
    VEC(struct origin) origins;                 /* by row */
    struct strpool rows, families, texts;       /* rows: the id is the row; families: of what they share */
    VEC(struct library) libraries;              /* by text id of their stem */
    struct hash_map by_build;                   /* hash of a build-id -> text id of the first stem */
    struct out key, text;                       /* scratch */
    bool symbols, objects;                      /* there are such keys */
    bool functions;                             /* compare_options' */
};

/* ---- columns ---- */

static bool is_shown(const struct matching *m, const struct profile_column *c, const struct compare_side *s) {
    bool function = c->key->id == PROFILE_DSO || c->key->id == PROFILE_SYMBOL;
    return c->shown && (function || !m->functions) && profile_column_is_key(c) && c->key->id != PROFILE_IPC &&
           !profile_column_is_elsewhere(c, s->event);
}

/* Returns the n-th key that a side shows; NULL: it has fewer. */
static const struct profile_column *key_of(const struct matching *m, const struct compare_side *s, size_t n) {
    const struct profile_columns *all = profile_columns_of(s->profile);
    for (size_t i = 0; i < all->out.count; i++)
        if (is_shown(m, &all->out.items[i], s) && !n--)
            return &all->out.items[i];
    return NULL;
}

/* Lists the keys of all sides, and how wide they are. False: out of memory. */
static bool take_columns(struct matching *m) {
    struct compare *c = m->c;
    const struct compare_side *first = NULL;
    for (uint32_t s = 0; s < c->sides && !first; s++)
        first = m->sides[s].event ? &m->sides[s] : NULL;
    const struct profile_column *column;
    for (size_t n = 0; first && (column = key_of(m, first, n)); n++) {
        const struct profile_column **key = vec_push(&c->keys);
        uint32_t *width = vec_push(&c->widths);
        if (!key || !width)
            return false;
        *key = column;
        m->symbols |= column->key->id == PROFILE_SYMBOL;
        m->objects |= column->key->id == PROFILE_DSO;
    }
    for (uint32_t s = 0; s < c->sides; s++)
        for (size_t n = 0; n < c->keys.count; n++) {
            const struct profile_column **slot = vec_push(&m->columns);
            if (!slot)
                return false;
            *slot = m->sides[s].event ? key_of(m, &m->sides[s], n) : NULL;
            uint32_t width = *slot ? profile_width(m->sides[s].profile, m->sides[s].event, *slot) : 0;
            c->widths.items[n] = width > c->widths.items[n] ? width : c->widths.items[n];
        }
    return true;
}

/* ---- texts ---- */

static const struct profile_row *row_at(const struct compare_side *s, const struct profile_entry *entry) {
    return &s->profile->tables.items[s->event->event].rows.items[entry->key];
}

/* Appends what tells a function from others: its level and name. */
static void put_function(const struct profile *p, const struct profile_row *row, struct out *o) {
    const struct profile_name *name = profile_name_of(p, row->frame);
    profile_put_level(o, row->cpumode);
    if (name)
        out_mem(o, name->text, name->text_len);
    else
        out_str(o, profile_grade_of(p, row->frame) == GRADE_STALE ? "[stale]" : "[unnamed]");
}

/* Whether rows are told apart by another text than the one shown. */
static bool is_function(const struct profile_column *c) {
    return c->key->id == PROFILE_SYMBOL;
}

static void put_text(const struct compare_side *s, const struct profile_entry *entry,
                     const struct profile_column *c, bool shown, struct out *o) {
    const struct profile_row *row = row_at(s, entry);
    if (!is_function(c) || (shown && profile_name_of(s->profile, row->frame)))
        profile_text(s->profile, s->event, entry, c, o);
    else
        put_function(s->profile, row, o);
}

/* ---- images ---- */

/* Returns the text id of the stem of a row's image, and notes its build-id. STRPOOL_NONE: out of memory. */
static uint32_t library_of(struct matching *m, const struct compare_side *s, const struct profile_row *row) {
    const struct resolve_frame *f = &s->profile->b.frames.list.items[row->frame];
    const struct model *model = s->profile->plan.in->model;
    const struct model_image *image = f->image == MODEL_NONE ? NULL : model_image(model, f->image);
    struct bytes id = image ? model_image_build_id(model, image, NULL) : (struct bytes){0};
    uint64_t build = id.size ? hash_bytes(id.data, id.size) | 1 : 0;
    size_t len;
    const char *stem = compare_object_stem(m->c, image ? image->name : "", &len);
    uint32_t text = build ? hash_map_get(&m->by_build, build) : HASH_ABSENT;
    if (text == HASH_ABSENT) {
        text = strpool_add(&m->texts, stem, len);
        if (text == STRPOOL_NONE || (build && !hash_map_set(&m->by_build, build, text)))
            return STRPOOL_NONE;
    }
    bool fresh = text >= m->libraries.count;
    while (text >= m->libraries.count)
        if (!vec_push(&m->libraries))
            return STRPOOL_NONE;
    struct library *l = &m->libraries.items[text];
    fresh |= !l->build && !l->differ;
    l->differ |= !build || (!fresh && l->build != build);
    l->build = build;
    return text;
}

/* ---- equal texts ---- */

/* Adds a row for the texts of an entry. False: out of memory. */
static bool add_row(struct matching *m, uint32_t side, const struct profile_entry *entry, uint32_t library) {
    struct compare *c = m->c;
    const struct compare_side *s = &m->sides[side];
    const struct profile_row *row = row_at(s, entry);
    const char **texts = arena_alloc(&c->arena, (c->keys.count + 1) * sizeof *texts);
    struct compare_row *made = texts ? vec_push(&c->rows) : NULL;
    struct origin *origin = made ? vec_push(&m->origins) : NULL;
    if (!origin || !vec_reserve(&c->cells, c->cells.count + c->sides))
        return false;
    memset(&c->cells.items[c->cells.count], 0, c->sides * sizeof *c->cells.items);
    c->cells.count += c->sides;
    made->texts = texts;
    for (size_t n = 0; n < c->keys.count; n++) {
        const struct profile_column *column = m->columns.items[side * c->keys.count + n];
        m->text.len = 0;
        if (column)
            put_text(s, entry, column, true, &m->text);
        texts[n] = arena_strndup(&c->arena, out_text(&m->text), m->text.len);
        if (!texts[n])
            return false;
    }
    m->text.len = 0;
    put_function(s->profile, row, &m->text);
    *origin = (struct origin){.symbol = strpool_add(&m->texts, m->text.buf, m->text.len),
                              .library = library,
                              .named = profile_name_of(s->profile, row->frame) != NULL};
    return origin->symbol != STRPOOL_NONE && !m->text.failed;
}

/* Adds an entry's sums to the row with its texts. False: out of memory. */
static bool add_entry(struct matching *m, uint32_t side, uint32_t i) {
    struct compare *c = m->c;
    const struct compare_side *s = &m->sides[side];
    struct profile_entry entry = profile_entry_at(s->profile, s->event, i);
    m->key.len = 0;
    for (size_t n = 0; n < c->keys.count; n++) {
        const struct profile_column *column = m->columns.items[side * c->keys.count + n];
        if (column)
            put_text(s, &entry, column, false, &m->key);
        out_str(&m->key, BETWEEN);
    }
    uint32_t library = library_of(m, s, row_at(s, &entry));
    uint32_t row = strpool_add(&m->rows, m->key.buf, m->key.len);
    if (library == STRPOOL_NONE || row == STRPOOL_NONE || m->key.failed ||
        (row == c->rows.count && !add_row(m, side, &entry, library)))
        return false;
    struct compare_cell *cell = &c->cells.items[(size_t)row * c->sides + side];
    cell->period += entry.self->period;
    cell->samples += entry.self->samples;
    cell->there = true;
    c->row_of[side][i] = row;
    return true;
}

static bool add_side(struct matching *m, uint32_t side) {
    struct compare *c = m->c;
    const struct compare_side *s = &m->sides[side];
    uint32_t n = s->event ? s->event->root_count : 0;
    c->row_of[side] = malloc((n + 1) * sizeof **c->row_of);
    bool ok = c->row_of[side] != NULL;
    c->totals.items[side] = s->event ? s->event->member_totals[0].period : 0;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = add_entry(m, side, i);
    return ok;
}

/* ---- names that one side lacks ---- */

/* Lists the objects in which a side has no names, though others do. False: out of memory. */
static bool find_nameless(struct matching *m) {
    struct compare *c = m->c;
    enum { NAMED = 1, UNNAMED = 2 };
    size_t libraries = m->libraries.count;
    uint8_t *has = calloc(libraries * c->sides + 1, 1); /* [library * sides + side] */
    bool ok = has != NULL;
    for (uint32_t row = 0; ok && row < c->rows.count; row++) {
        const struct origin *o = &m->origins.items[row];
        for (uint32_t s = 0; s < c->sides; s++)
            if (compare_cell_at(c, row, s)->there)
                has[(size_t)o->library * c->sides + s] |= o->named ? NAMED : UNNAMED;
    }
    for (size_t l = 0; ok && l < libraries; l++) {
        const uint8_t *of = has + l * c->sides;
        bool named = false;
        for (uint32_t s = 0; s < c->sides; s++)
            named |= of[s] & NAMED;
        const char *object = strpool_text(&m->texts, (uint32_t)l);
        for (uint32_t s = 0; ok && named && *object && s < c->sides; s++) {
            struct compare_nameless *made = of[s] == UNNAMED ? vec_push(&c->nameless) : NULL;
            ok = of[s] != UNNAMED ||
                 (made && (made->object = arena_strndup(&c->arena, object, strlen(object))));
            if (ok && made)
                made->side = s;
        }
    }
    free(has);
    return ok;
}

/* ---- families ---- */

/* Returns the id of a row's family. STRPOOL_NONE: out of memory. */
static uint32_t family_of(struct matching *m, uint32_t row) {
    const struct origin *o = &m->origins.items[row];
    const struct compare *c = m->c;
    bool rebuilt = m->libraries.items[o->library].differ;
    m->key.len = 0;
    for (size_t n = 0; n < c->keys.count; n++) {
        const char *text = c->rows.items[row].texts[n];
        size_t len = strlen(text);
        if (c->keys.items[n]->key->id == PROFILE_DSO) {
            text = strpool_text(&m->texts, o->library);
            len = strlen(text);
        } else if (is_function(c->keys.items[n])) {
            text = strpool_text(&m->texts, o->symbol);
            len = strlen(text);
            if (rebuilt && o->named)
                len = LEVEL_BYTES + compare_function_stem(text + LEVEL_BYTES, len - LEVEL_BYTES);
        }
        out_mem(&m->key, text, len);
        out_str(&m->key, BETWEEN);
    }
    return m->key.failed ? STRPOOL_NONE : strpool_add(&m->families, m->key.buf, m->key.len);
}

/* The rows of each family, linked. */
struct family {
    uint32_t first, last, count;
    bool joined; /* they become one row */
};

/* Whether two rows are there in the same sides. */
static bool same_sides(const struct compare *c, uint32_t x, uint32_t y) {
    for (uint32_t s = 0; s < c->sides; s++)
        if (compare_cell_at(c, x, s)->there != compare_cell_at(c, y, s)->there)
            return false;
    return true;
}

/* Sets the text of the function to the stem of its names, unless it is shown with more. */
static bool set_stem(struct matching *m, uint32_t row) {
    struct compare *c = m->c;
    const struct compare_row *r = &c->rows.items[row];
    for (size_t n = 0; n < c->keys.count; n++) {
        if (!is_function(c->keys.items[n]))
            continue;
        const char *whole = strpool_text(&m->texts, m->origins.items[row].symbol);
        size_t stem = LEVEL_BYTES + compare_function_stem(whole + LEVEL_BYTES, strlen(whole) - LEVEL_BYTES);
        const char **texts = (const char **)(uintptr_t)r->texts;
        if (strcmp(r->texts[n], whole) == 0 && !(texts[n] = arena_strndup(&c->arena, whole, stem)))
            return false;
    }
    return true;
}

/* Appends what a row of a family was called, and where. */
static void note_name(struct matching *m, uint32_t row, struct out *o) {
    const struct compare *c = m->c;
    out_str(o, o->len ? ", " : "");
    bool any = false;
    for (size_t n = 0; n < c->keys.count; n++) {
        unsigned id = c->keys.items[n]->key->id;
        if (id != PROFILE_SYMBOL && (id != PROFILE_DSO || m->symbols))
            continue;
        out_str(o, any ? " " : "");
        if (id == PROFILE_SYMBOL)
            out_str(o, strpool_text(&m->texts, m->origins.items[row].symbol) + LEVEL_BYTES);
        else
            out_str(o, c->rows.items[row].texts[n]);
        any = true;
    }
    out_str(o, " (");
    any = false;
    for (uint32_t s = 0; s < c->sides; s++) {
        if (!compare_cell_at(c, row, s)->there)
            continue;
        out_str(o, any ? ", " : "");
        if (s)
            out_printf(o, c->sides == 2 ? "new" : "new %u", s);
        else
            out_str(o, "base");
        any = true;
    }
    out_str(o, ")");
}

/* Whether the rows of a family are one function of the program, which needs no note: what the program is
 * called is said once. */
static bool is_program_alone(const struct matching *m, const struct family *f, const uint32_t *next) {
    size_t len;
    const char *stem =
        m->c->programs && m->symbols ? compare_object_stem(m->c, m->c->programs[0], &len) : NULL;
    const struct origin *first = &m->origins.items[f->first];
    bool alone = stem && first->library == strpool_find(&m->texts, stem, len);
    for (uint32_t row = f->first; alone && row != f->last;) {
        row = next[row];
        alone = m->origins.items[row].symbol == first->symbol;
    }
    return alone;
}

/* Joins the rows of a family in its first one. `next`: the links. False: out of memory. */
static bool join(struct matching *m, const struct family *f, const uint32_t *next) {
    struct compare *c = m->c;
    m->text.len = 0;
    for (uint32_t row = f->first;; row = next[row]) {
        note_name(m, row, &m->text);
        if (row == f->last)
            break;
    }
    struct compare_row *first = &c->rows.items[f->first];
    bool told = is_program_alone(m, f, next);
    first->note = told ? NULL : arena_strndup(&c->arena, out_text(&m->text), m->text.len);
    for (uint32_t row = f->first; row != f->last;) {
        row = next[row];
        for (uint32_t s = 0; s < c->sides; s++) {
            struct compare_cell *to = &c->cells.items[(size_t)f->first * c->sides + s];
            const struct compare_cell *from = compare_cell_at(c, row, s);
            to->period += from->period;
            to->samples += from->samples;
            to->there |= from->there;
        }
    }
    return (told || first->note) && !m->text.failed && set_stem(m, f->first);
}

/* Takes the rows that went into others out, and renumbers. */
static void close_gaps(struct matching *m, const struct family *families, const uint32_t *family_ids,
                       uint32_t *now) {
    struct compare *c = m->c;
    uint32_t kept = 0;
    for (uint32_t row = 0; row < c->rows.count; row++) {
        const struct family *f = &families[family_ids[row]];
        if (f->joined && row != f->first) {
            now[row] = now[f->first];
            continue;
        }
        now[row] = kept;
        c->rows.items[kept] = c->rows.items[row];
        memmove(&c->cells.items[(size_t)kept * c->sides], &c->cells.items[(size_t)row * c->sides],
                c->sides * sizeof *c->cells.items);
        kept++;
    }
    c->rows.count = kept;
    c->cells.count = (size_t)kept * c->sides;
    for (uint32_t s = 0; s < c->sides; s++)
        for (uint32_t i = 0; m->sides[s].event && i < m->sides[s].event->root_count; i++)
            c->row_of[s][i] = now[c->row_of[s][i]];
}

static bool join_families(struct matching *m) {
    struct compare *c = m->c;
    size_t n = c->rows.count;
    struct family *families = calloc(n + 1, sizeof *families);
    uint32_t *ids = malloc((n + 1) * sizeof *ids), *next = malloc((n + 1) * sizeof *next);
    bool ok = families && ids && next;
    for (uint32_t row = 0; ok && row < n; row++) {
        ids[row] = family_of(m, row);
        if (!(ok = ids[row] != STRPOOL_NONE))
            break;
        struct family *f = &families[ids[row]];
        if (f->count++) {
            next[f->last] = row;
            f->joined |= !same_sides(c, f->first, row);
        } else
            f->first = row;
        f->last = row;
    }
    for (size_t i = 0; ok && i < m->families.entries.count; i++)
        ok = !families[i].joined || join(m, &families[i], next);
    if (ok)
        close_gaps(m, families, ids, next);
    free(families);
    free(ids);
    free(next);
    return ok;
}

/* ---- programs ---- */

/* False: out of memory. */
static bool find_programs(struct matching *m) {
    struct compare *c = m->c;
    c->programs = calloc(c->sides, sizeof *c->programs);
    if (!c->programs || !compare_programs_find(m->sides, c->sides, c->programs))
        return false;
    if (!c->programs[0]) {
        free(c->programs);
        c->programs = NULL;
    }
    return true;
}

/* ---- all ---- */

bool compare_make(const struct compare_side *sides, uint32_t count, const struct compare_options *o,
                  struct compare *out, struct err *err) {
    struct matching m = {.c = out, .sides = sides, .functions = o->functions};
    out->sides = count;
    out->row_of = calloc(count, sizeof *out->row_of);
    bool ok = out->row_of && out_init(&m.key, NULL, NULL) && out_init(&m.text, NULL, NULL) &&
              vec_reserve(&out->totals, count) && take_columns(&m);
    out->totals.count = ok ? count : 0;
    ok = ok && (!o->fold || find_programs(&m));
    for (uint32_t s = 0; ok && s < count; s++)
        ok = add_side(&m, s);
    ok = ok && (!m.symbols || find_nameless(&m)) &&
         (!o->fold || !(m.symbols || m.objects) || join_families(&m));
    vec_fini(&m.columns);
    vec_fini(&m.origins);
    vec_fini(&m.libraries);
    strpool_fini(&m.rows);
    strpool_fini(&m.families);
    strpool_fini(&m.texts);
    hash_map_fini(&m.by_build);
    out_fini(&m.key);
    out_fini(&m.text);
    return ok || err_memory(err, "comparison");
}

void compare_fini(struct compare *c) {
    for (uint32_t s = 0; c->row_of && s < c->sides; s++)
        free(c->row_of[s]);
    for (uint32_t s = 0; c->row_of_stack && s < c->sides; s++)
        free(c->row_of_stack[s]);
    free(c->programs);
    free(c->row_of);
    free(c->row_of_stack);
    vec_fini(&c->keys);
    vec_fini(&c->widths);
    vec_fini(&c->rows);
    vec_fini(&c->cells);
    vec_fini(&c->totals);
    vec_fini(&c->nameless);
    vec_fini(&c->order);
    arena_fini(&c->arena);
    *c = (struct compare){0};
}
