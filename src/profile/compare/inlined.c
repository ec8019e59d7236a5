/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One build has a function, another one has put its code into the callers:
 *
 *   base             new                    compared
 *   parse    60      parse      100         parse     60   58
 *   digit    40        digit     42         digit     40   42    inlined in parse (new)
 *
 * Inlined code of a function that some side lacks counts for that function, on all sides. Where such
 * functions are nested, it counts for the innermost one.
 */
#include <stdlib.h>

#include "base/strpool.h"
#include "profile/compare/compare.h"
#include "profile/compare/names.h"
#include "profile/compare/program.h"
#include "profile/profile_internal.h"

enum { NOT_MOVED = UINT32_MAX, NOT_ASKED = UINT32_MAX - 1, INLINES_MAX = 64 };

struct moving {
    struct compare *c;
    const struct compare_side *s;
    uint32_t side;
    int function, object;  /* which keys they are; -1: none */
    struct strpool wanted; /* functions that some side lacks, with their libraries */
    VEC(uint32_t) rows;    /* by id in `wanted` */
    struct out text;       /* scratch */
    uint32_t *target;      /* by frame of the side: the row that it counts for */
    bool *noted;           /* by row, for the side */
};

static void put_key(struct moving *m, const char *name, size_t len, const char *object) {
    size_t stem = 0;
    const char *from = object ? compare_object_stem(m->c, object, &stem) : NULL;
    m->text.len = 0;
    out_mem(&m->text, name, compare_function_stem(name, len));
    out_char(&m->text, '\x1f');
    if (object)
        out_mem(&m->text, from, stem);
}

/* Finds the keys; false if there are others than functions and objects, to whose rows nothing can be moved.
 */
static bool find_keys(struct moving *m) {
    m->function = m->object = -1;
    for (size_t i = 0; i < m->c->keys.count; i++) {
        unsigned id = m->c->keys.items[i]->key->id;
        if (id == PROFILE_SYMBOL)
            m->function = (int)i;
        else if (id == PROFILE_DSO)
            m->object = (int)i;
        else
            return false;
    }
    return m->function >= 0;
}

static const char *function_of(const struct moving *m, uint32_t row) {
    const char *text = m->c->rows.items[row].texts[m->function], *level = strstr(text, "] ");
    return level ? level + 2 : text;
}

/* Lists the functions that some side lacks. False: out of memory. */
static bool find_wanted(struct moving *m) {
    const struct compare *c = m->c;
    for (uint32_t row = 0; row < c->rows.count; row++) {
        bool lacks = false;
        for (uint32_t s = 0; s < c->sides; s++)
            lacks |= !compare_cell_at(c, row, s)->there;
        const char *name = function_of(m, row);
        if (!lacks || *name == '[')
            continue;
        put_key(m, name, strlen(name), m->object < 0 ? NULL : c->rows.items[row].texts[m->object]);
        uint32_t id = m->text.failed ? STRPOOL_NONE : strpool_add(&m->wanted, m->text.buf, m->text.len);
        if (id == STRPOOL_NONE || (id == m->rows.count && !vec_push(&m->rows)))
            return false;
        if (id + 1u == m->rows.count)
            m->rows.items[id] = row;
    }
    return true;
}

/* Returns the row that a sample's own frame counts for; NOT_MOVED: its own. */
static uint32_t target_of(struct moving *m, uint32_t frame) {
    const struct profile *p = m->s->profile;
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    struct object_inline inlined[INLINES_MAX];
    if (f->image == MODEL_NONE || f->symbol == SYMBOL_NONE || !p->plan.in->lines ||
        !resolve_names_has_lines(p->plan.in->names, f->image))
        return NOT_MOVED;
    size_t n = resolve_lines_inlined(p->plan.in->lines, f->image, f->offset - f->back, inlined, INLINES_MAX);
    const char *object = m->object < 0 ? NULL : strpool_text(&p->b.texts, p->places.items[frame].dso);
    for (size_t i = 0; i + 1 < n; i++) { /* the last one is the function itself */
        put_key(m, inlined[i].name, strlen(inlined[i].name), object);
        uint32_t id = strpool_find(&m->wanted, m->text.buf, m->text.len);
        if (id != STRPOOL_NONE)
            return m->rows.items[id];
    }
    return NOT_MOVED;
}

static bool note(struct moving *m, uint32_t row, uint32_t from) {
    struct compare_row *r = &m->c->rows.items[row];
    if (m->noted[row])
        return true;
    m->noted[row] = true;
    const char *side = m->side ? "new" : "base";
    r->note = r->note
                  ? arena_printf(&m->c->arena, "%s; inlined in %s (%s)", r->note, function_of(m, from), side)
                  : arena_printf(&m->c->arena, "%s, inlined in %s (%s)", function_of(m, row),
                                 function_of(m, from), side);
    return r->note != NULL;
}

static bool move(struct moving *m, const struct profile_stack *stack, uint32_t from, uint32_t to) {
    struct compare_cell *take = &m->c->cells.items[(size_t)from * m->c->sides + m->side],
                        *give = &m->c->cells.items[(size_t)to * m->c->sides + m->side];
    take->period -= stack->period;
    take->samples -= stack->samples;
    take->there = take->samples > 0;
    give->period += stack->period;
    give->samples += stack->samples;
    give->there = true;
    return note(m, to, from);
}

static bool move_side(struct moving *m) {
    const struct profile *p = m->s->profile;
    size_t frames = p->b.frames.list.count, stacks = p->b.stacks.count;
    size_t rows = p->tables.items[m->s->event->event].rows.count;
    uint32_t *row_of = malloc((rows + 1) * sizeof *row_of),
             *by_stack = malloc((stacks + 1) * sizeof *by_stack);
    m->target = malloc((frames + 1) * sizeof *m->target);
    m->noted = calloc(m->c->rows.count + 1, sizeof *m->noted);
    bool ok = row_of && by_stack && m->target && m->noted;
    for (size_t i = 0; ok && i < rows; i++)
        row_of[i] = COMPARE_NO_ROW;
    for (uint32_t i = 0; ok && i < m->s->event->root_count; i++)
        row_of[profile_entry_at(p, m->s->event, i).key] = m->c->row_of[m->side][i];
    for (size_t i = 0; ok && i < frames; i++)
        m->target[i] = NOT_ASKED;
    for (size_t i = 0; ok && i < stacks; i++) {
        const struct profile_stack *stack = &p->b.stacks.items[i];
        by_stack[i] = COMPARE_NO_ROW;
        if (profile_group_key_event(p, stack->key.group_key) != m->s->event->event)
            continue;
        uint32_t from = row_of[p->stack_rows.items[i]], *to = &m->target[stack->key.frame];
        by_stack[i] = from;
        if (*to == NOT_ASKED)
            *to = target_of(m, stack->key.frame);
        if (*to == NOT_MOVED || from == COMPARE_NO_ROW || *to == from)
            continue;
        by_stack[i] = *to;
        ok = move(m, stack, from, *to);
    }
    free(row_of);
    free(m->target);
    free(m->noted);
    m->c->row_of_stack[m->side] = by_stack;
    return ok;
}

bool compare_inlined(struct compare *c, const struct compare_side *sides, struct err *err) {
    struct moving m = {.c = c};
    bool ok = out_init(&m.text, NULL, NULL);
    if (ok && find_keys(&m)) {
        c->row_of_stack = calloc(c->sides, sizeof *c->row_of_stack);
        ok = c->row_of_stack && find_wanted(&m);
        for (m.side = 0; ok && m.rows.count && m.side < c->sides; m.side++) {
            m.s = &sides[m.side];
            ok = !m.s->event || move_side(&m);
        }
    }
    strpool_fini(&m.wanted);
    vec_fini(&m.rows);
    out_fini(&m.text);
    return ok || err_memory(err, "inlined functions");
}
