/* SPDX-License-Identifier: Apache-2.0 */
/* Formats the values of sort keys, and frames, the way perf report prints them. */
#include <inttypes.h>
#include <stdio.h>

#include "profile/profile_internal.h"

void profile_put_address(struct out *o, uint64_t address, unsigned digits) {
    if (address)
        out_mem(o, "0x", 2);
    out_hex0(o, address, digits);
}

/* Appends "[stale] libc.so.6+0x1234" if there is a file, but not the one that ran; else false. */
static bool put_stale(const struct profile *p, uint32_t frame, struct out *o) {
    if (profile_grade_of(p, frame) != GRADE_STALE)
        return false;
    out_str(o, "[stale] ");
    out_str(o, strpool_text(&p->b.texts, p->places.items[frame].dso));
    out_str(o, "+0x");
    out_hex(o, p->b.frames.list.items[frame].offset, 0);
    return true;
}

static char letter_of(unsigned cpumode) {
    static const char letters[PERFDATA_MISC_CPUMODE_MASK + 1] = {[PERFDATA_MISC_CPUMODE_UNKNOWN] = 'H',
                                                                 [PERFDATA_MISC_KERNEL] = 'k',
                                                                 [PERFDATA_MISC_USER] = '.',
                                                                 [PERFDATA_MISC_HYPERVISOR] = 'H',
                                                                 [PERFDATA_MISC_GUEST_KERNEL] = 'g',
                                                                 [PERFDATA_MISC_GUEST_USER] = 'u'};
    char letter = letters[cpumode & PERFDATA_MISC_CPUMODE_MASK];
    return letter ? letter : 'H';
}

void profile_put_level(struct out *o, unsigned cpumode) {
    const char level[] = {'[', letter_of(cpumode), ']', ' '};
    out_mem(o, level, sizeof level);
}

/* Widths of what comes before a symbol with -v. */
enum { ADDRESS_WIDTH = 18, ORIGIN_WIDTH = ADDRESS_WIDTH + 3 };

/* Returns perf's letter for the origin of a name, where perf has one; else '?'. */
static char origin_letter(enum symbol_origin origin, enum symbol_list list) {
    static const char letters[SYMBOL_ORIGIN_COUNT] = {
        [SYMBOL_FROM_NOTHING] = '!',  [SYMBOL_FROM_FILE] = 'd',          [SYMBOL_FROM_CACHE] = 'B',
        [SYMBOL_FROM_KALLSYMS] = 'k', [SYMBOL_FROM_LIVE_KALLSYMS] = 'k', [SYMBOL_FROM_DEBUG_FILE] = 'D'};
    if (list == SYMBOL_IN_KALLSYMS) /* even of the cache */
        return 'k';
    return letters[origin] ? letters[origin] : '?';
}

/* Appends "0x1735c            d ": the address, and where its name is from. */
static void put_origin(const struct profile *p, uint32_t frame, struct out *o) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    struct resolve_symbol symbol = {f->image, f->symbol};
    struct resolve_provenance from = resolve_provenance_of(p->plan.in->names, MODEL_NONE, symbol);
    char text[ADDRESS_WIDTH + 1];
    int len = snprintf(text, sizeof text, "%#" PRIx64, profile_own_address(p, f));
    out_left(o, text, (size_t)len, ADDRESS_WIDTH);
    out_char(o, ' ');
    out_char(o, origin_letter(from.symbol.origin, from.symbol.list));
    out_char(o, ' ');
}

/* Prints the level, such as "[k] ", and the function of `frame`. `own`: the frame is where the row's samples
 * lie, so the level is the row's. */
static void put_level_and_name(const struct profile *p, const struct profile_row *row, uint32_t frame,
                               bool own, unsigned digits, struct out *o) {
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    const struct profile_name *name = profile_name_of(p, frame);
    profile_put_level(o, own ? row->cpumode : f->cpumode);
    if (name)
        out_mem(o, name->text, name->text_len);
    else if (!put_stale(p, frame, o))
        profile_put_address(o, own ? profile_own_address(p, f) : f->offset, digits);
}

void profile_put_symbol(const struct profile *p, const struct profile_cell *x, struct out *o) {
    if (p->plan.o->verbose && x->c->key->id == PROFILE_SYMBOL)
        put_origin(p, x->frame, o);
    put_level_and_name(p, x->row, x->frame, x->c->key->kind == PROFILE_KEY_PLACE, 16, o);
}

void profile_put_symbol_offset(const struct profile *p, const struct profile_cell *x, struct out *o) {
    const struct profile_name *name = profile_name_of(p, x->frame);
    put_level_and_name(p, x->row, x->frame, true, 9, o);
    if (name) {
        out_str(o, "+0x");
        out_hex(o, p->b.frames.list.items[x->frame].offset - name->start, 0);
    }
}

void profile_put_text_id(const struct profile *p, uint64_t id, struct out *o) {
    out_mem(o, strpool_text(&p->b.texts, (uint32_t)id), strpool_len(&p->b.texts, (uint32_t)id));
}

void profile_put_text(const struct profile *p, const struct profile_cell *x, struct out *o) {
    profile_put_text_id(p, profile_cell_word(p, x), o);
}

static void put_key(const struct profile *p, const struct profile_table *t, uint32_t row,
                    const struct profile_column *c, struct out *o) {
    struct profile_cell x = profile_cell_of(p, c, &t->rows.items[row]);
    x.self = &t->self.items[x.row->self];
    if (c->key->put)
        c->key->put(p, &x, o);
    else if (c->key->kind == PROFILE_KEY_TEXT || c->key->kind == PROFILE_KEY_TEXTS)
        profile_put_text_id(p, x.value, o); /* of two, the shown one */
    else
        out_dec(o, profile_cell_word(p, &x), 0);
}

static const struct profile_table *table_at(const struct profile *p, const struct profile_event *e) {
    return &p->tables.items[e->event];
}

void profile_text(const struct profile *p, const struct profile_event *e, const struct profile_entry *entry,
                  const struct profile_column *column, struct out *out) {
    put_key(p, table_at(p, e), entry->key, column, out);
}

/* ---- widths ---- */

/* Returns how many rows are measured: those that are shown. */
static size_t measured_count(const struct profile *p, const struct profile_table *t) {
    return p->plan.selects_rows ? t->order.count : t->rows.count;
}

static uint32_t measured_row(const struct profile *p, const struct profile_table *t, size_t i) {
    return p->plan.selects_rows ? t->order.items[i] : (uint32_t)i;
}

/* Returns the widest text of a key whose texts are equally wide in all rows of a thread with a name. */
static uint32_t widest_task(const struct profile *p, const struct profile_table *t,
                            const struct profile_column *c) {
    VEC(uint8_t) seen = {0}; /* by thread */
    uint32_t widest = 0;
    for (size_t k = 0; k < measured_count(p, t); k++) {
        uint32_t i = measured_row(p, t, k);
        const struct profile_row *row = &t->rows.items[i];
        uint32_t thread = profile_row_thread(p, row);
        if (thread < seen.count && seen.items[thread])
            continue;
        struct profile_cell x = profile_cell_of(p, c, row);
        uint32_t w = c->key->room(p, &x);
        widest = w > widest ? w : widest;
        if (thread == MODEL_NONE || !profile_last_comm(p, row))
            continue;
        while (seen.count <= thread && vec_push(&seen))
            ;
        if (thread < seen.count)
            seen.items[thread] = 1;
    }
    vec_fini(&seen);
    return widest;
}

/* Returns the widest text of the rows. */
static uint32_t widest_text(const struct profile *p, const struct profile_table *t,
                            const struct profile_column *c) {
    struct out o;
    uint32_t widest = 0;
    if (!out_init(&o, NULL, NULL))
        return 0;
    for (size_t k = 0; k < measured_count(p, t); k++) {
        uint32_t i = measured_row(p, t, k);
        struct profile_cell x = profile_cell_of(p, c, &t->rows.items[i]);
        uint32_t w = c->key->room ? c->key->room(p, &x) : 0;
        if (!w) {
            o.len = 0;
            put_key(p, t, i, c, &o);
            w = (uint32_t)o.len + (c->field != NULL); /* perf counts a field's end, too */
        }
        widest = w > widest ? w : widest;
    }
    out_fini(&o);
    return widest;
}

static uint32_t width_of(const struct profile *p, const struct profile_table *t,
                         const struct profile_column *c) {
    const struct profile_key *key = c->key;
    uint32_t widest = (uint32_t)strlen(c->title),
             least = key->width_ns && p->plan.o->nanoseconds ? key->width_ns : key->width;
    if (measured_count(p, t) || key->layout & PROFILE_WIDE_EMPTY) /* else nothing needs it */
        widest = widest > least ? widest : least;
    if (c->field) {
        widest = widest > c->width ? widest : c->width;
        if (!c->dynamic)
            return widest;
    }
    if (key->layout & PROFILE_TITLE_WIDE)
        return widest;
    uint32_t w = key->of_thread && key->room ? widest_task(p, t, c) : widest_text(p, t, c);
    return w > widest ? w : widest;
}

uint32_t profile_width(const struct profile *p, const struct profile_event *e,
                       const struct profile_column *column) {
    return width_of(p, table_at(p, e), column);
}

/* ---- frames ---- */

void profile_frame_text(const struct profile *p, const struct profile_frame *frame, struct out *out) {
    const struct profile_name *name = profile_name_of(p, frame->location);
    if (name) {
        profile_put_frame_line(p, frame->location, out);
        return;
    }
    if (put_stale(p, frame->location, out))
        return;
    uint64_t address = p->b.frames.list.items[frame->location].address;
    if (address) /* as "%#llx" */
        out_str(out, "0x");
    out_hex(out, address, 0);
}
