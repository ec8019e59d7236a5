/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of keys and frames, as perf report prints them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/prefetch.h"
#include "profile/profile_internal.h"

void profile_put_address(struct out *o, uint64_t address, unsigned digits) {
    if (address)
        out_mem(o, "0x", 2);
    out_hex0(o, address, digits);
}

/* "[stale] libc.so.6+0x1234": there is a file, but not the one that ran. */
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

/* Before a symbol, with -v. */
enum { ADDRESS_WIDTH = 18, ORIGIN_WIDTH = ADDRESS_WIDTH + 3 };

/* The letters as far as perf shows them; others have none of perf's. */
static char origin_letter(enum symbol_origin origin, enum symbol_list list) {
    static const char letters[SYMBOL_ORIGIN_COUNT] = {
        [SYMBOL_FROM_NOTHING] = '!',  [SYMBOL_FROM_FILE] = 'd',          [SYMBOL_FROM_CACHE] = 'B',
        [SYMBOL_FROM_KALLSYMS] = 'k', [SYMBOL_FROM_LIVE_KALLSYMS] = 'k', [SYMBOL_FROM_DEBUG_FILE] = 'D'};
    if (list == SYMBOL_IN_KALLSYMS) /* of the cache, too */
        return 'k';
    return letters[origin] ? letters[origin] : '?';
}

/* "0x1735c            d ": where it lies, and where its name is from. */
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

static void put_symbol(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                       struct out *o) {
    uint32_t frame = profile_key_frame(p, id, row);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    const struct profile_name *name = profile_name_of(p, frame);
    bool own = !profile_key_is_frame(id);
    if (p->plan.o->verbose && id == PROFILE_SYMBOL)
        put_origin(p, frame, o);
    profile_put_level(o, own ? row->cpumode : f->cpumode);
    if (name)
        out_mem(o, name->text, name->text_len);
    else if (!put_stale(p, frame, o))
        profile_put_address(o, own ? profile_own_address(p, f) : f->offset,
                            id == PROFILE_SYMBOL_OFFSET ? 9 : 16);
    if (id == PROFILE_SYMBOL_OFFSET && name) {
        out_str(o, "+0x");
        out_hex(o, f->offset - name->start, 0);
    }
}

/* Where in a function, or at which address. */
static void put_branch_end(const struct profile *p, const struct profile_row *row, enum profile_column_id id,
                           struct out *o) {
    uint32_t frame = profile_key_frame(p, id, row);
    const struct resolve_frame *f = &p->b.frames.list.items[frame];
    const struct profile_name *name = profile_name_of(p, frame);
    profile_put_level(o, row->cpumode);
    if (!name) {
        profile_put_address(o, f->offset, 16);
        return;
    }
    out_str(o, name->text);
    if (f->offset != name->start) {
        out_str(o, "+0x");
        out_hex(o, f->offset - name->start, 0);
    }
}

static void put_text_id(const struct profile *p, uint64_t id, struct out *o) {
    out_mem(o, strpool_text(&p->b.texts, (uint32_t)id), strpool_len(&p->b.texts, (uint32_t)id));
}

static void put_other(const struct profile *p, const struct profile_table *t, const struct profile_row *r,
                      enum profile_column_id id, struct out *o) {
    uint64_t words[PROFILE_KEY_WORDS], v;
    profile_key_words(p, id, r, words);
    v = words[0];
    switch (id) {
    case PROFILE_DSO_FROM:
    case PROFILE_DSO_TO:
    case PROFILE_DSO_DADDR:
    case PROFILE_SRCLINE:
    case PROFILE_SRCLINE_FROM:
    case PROFILE_SRCLINE_TO:
    case PROFILE_SRCFILE:
    case PROFILE_PROVENANCE:
        put_text_id(p, v, o);
        break;
    case PROFILE_GRADE:
        out_str(o, grade_name((enum grade)v));
        break;
    case PROFILE_IDENTITY:
        out_str(o, symbol_identity_text((enum symbol_identity)v));
        break;
    case PROFILE_SYMBOL_FROM:
    case PROFILE_SYMBOL_TO:
    case PROFILE_SYMBOL_OFFSET:
        put_symbol(p, r, id, o);
        break;
    case PROFILE_PHYS_DADDR:
        profile_put_level(o, r->cpumode);
        profile_put_address(o, v, 16);
        break;
    case PROFILE_ADDR: /* "%#llx" */
        out_str(o, v ? "0x" : "");
        out_hex(o, v, 0);
        break;
    case PROFILE_ADDR_FROM:
    case PROFILE_ADDR_TO:
        put_branch_end(p, r, id, o);
        break;
    case PROFILE_IPC:
        out_str(o, p->plan.o->branch ? "-" : "-      -            ");
        break;
    case PROFILE_DSO_SIZE:
    case PROFILE_SYMBOL_SIZE:
        if (v)
            out_dec(o, v, 0);
        else
            out_str(o, "unknown");
        break;
    case PROFILE_TYPE:
    case PROFILE_TYPEOFF:
    case PROFILE_TYPECLN:
        profile_put_type(p, &p->types.items[r->frame], id, o);
        break;
    case PROFILE_SIMD: /* nothing records it but instruction traces, which are not decoded */
        break;
    case PROFILE_MISPREDICT:
        out_char(o, v >> 1 ? 'Y' : 'N');
        break;
    case PROFILE_IN_TX:
        out_char(o, v ? 'T' : '.');
        break;
    case PROFILE_ABORT:
        out_char(o, v ? 'A' : '.');
        break;
    case PROFILE_CYCLES:
        if (v)
            out_dec(o, v, 0);
        else
            out_char(o, '-');
        break;
    case PROFILE_WEIGHT: /* of all samples of the entry together */
    case PROFILE_INS_LAT:
    case PROFILE_P_STAGE_CYC:
    case PROFILE_RETIRE_LAT:
        out_dec(o, v * t->self.items[r->self].samples, 0);
        break;
    default:
        if (id == PROFILE_COMM_NODIGIT)
            put_text_id(p, (uint32_t)profile_class_value(p, r->klass, id), o);
        else if (profile_key_is_text(id))
            put_text_id(p, v, o);
        else if (!profile_mem_text(p, r, id, profile_class_value(p, r->klass, id), o))
            profile_key_text(p, r, id, v, o);
        break;
    }
}

static void put_key(const struct profile *p, const struct profile_table *t, uint32_t row,
                    enum profile_column_id id, struct out *o) {
    const struct profile_row *r = &t->rows.items[row];
    if (id == PROFILE_DSO) /* the usual ones, without words */
        put_text_id(p, p->places.items[r->frame].dso, o);
    else if (id == PROFILE_COMM)
        put_text_id(p, profile_class_value(p, r->klass, id), o);
    else if (id == PROFILE_SYMBOL)
        put_symbol(p, r, id, o);
    else
        put_other(p, t, r, id, o);
}

static const struct profile_table *table_at(const struct profile *p, const struct profile_event *e) {
    return &p->tables.items[e->event];
}

void profile_text(const struct profile *p, const struct profile_event *e, const struct profile_entry *entry,
                  const struct profile_column *column, struct out *out) {
    put_key(p, table_at(p, e), entry->key, column->id, out);
}

void profile_glance(const struct profile *p, const struct profile_event *e, uint32_t i,
                    struct profile_glance *out) {
    const struct profile_table *t = table_at(p, e);
    uint32_t key = t->order.items[i];
    const struct profile_row *row = &t->rows.items[key];
    const struct profile_sums *self = &t->self.items[row->self];
    const struct profile_place *place = &p->places.items[row->frame];
    out->period = self->period;
    out->samples = self->samples;
    out->through = p->plan.o->children ? t->through.items[key].period : 0;
    out->comm = (uint32_t)profile_class_value(p, row->klass, PROFILE_COMM);
    out->dso = place->dso;
    out->has_graph = profile_has_graph(p, t, key);
    out->level = letter_of(row->cpumode);
    out->usual = !p->plan.o->verbose;
    out->name = NULL;
    if (place->name != PROFILE_NONE) {
        out->name = p->list.items[place->name].text;
        out->name_len = p->list.items[place->name].text_len;
        return;
    }
    out->address = profile_own_address(p, &p->b.frames.list.items[row->frame]);
    out->usual &= out->address && profile_grade_of(p, row->frame) != GRADE_STALE;
}

void profile_ahead(const struct profile *p, const struct profile_event *e, uint32_t i) {
    enum { FAR = 16, NEAR = 8 };
    const struct profile_table *t = table_at(p, e);
    if (t->levels.count)
        return;
    if (i + FAR < e->entry_count) {
        prefetch(&t->rows.items[t->order.items[i + FAR]]);
        if (t->through.count)
            prefetch(&t->through.items[t->order.items[i + FAR]]);
    }
    if (i + NEAR >= e->entry_count)
        return;
    const struct profile_row *row = &t->rows.items[t->order.items[i + NEAR]];
    uint32_t frame = row->frame;
    if (row->self)
        prefetch(&t->self.items[row->self]);
    prefetch(&p->places.items[frame]);
    profile_frame_prefetch(p, frame);
    prefetch(&p->grades.items[frame]);
}

/* ---- widths ---- */

/* "%7d:", before a comm. */
enum { TASK_WIDTH = 8 };
/* The room for an address, which perf gives the object's column as well where something has no name. */
enum { NAMELESS_WIDTH = 16 };
/* What perf gives times with all digits; less is in profile_key_width. */
enum { NANOSECONDS_WIDTH = 16 };

/* perf measures what the thread is called at the end, whatever is printed. */
static uint32_t task_width(const struct profile *p, const struct profile_row *row,
                           enum profile_column_id id) {
    const char *comm = profile_last_comm(p, row);
    uint64_t words[PROFILE_KEY_WORDS];
    char room[PROFILE_TASK_NAME];
    profile_key_words(p, id, row, words);
    if (id == PROFILE_PID)
        return TASK_WIDTH + (uint32_t)strlen(profile_task_name(p, row, id, (uint32_t)words[0], room));
    return comm ? (uint32_t)strlen(comm) : strpool_len(&p->b.texts, (uint32_t)words[0]);
}

/* Texts may be longer then, and stand out (branches' objects are cut). */
static bool is_as_wide_as_title(enum profile_column_id id) {
    return id == PROFILE_TGID || id == PROFILE_CPU || id == PROFILE_TIME || id == PROFILE_SOCKET ||
           id == PROFILE_SYMBOL_OFFSET || id == PROFILE_DSO_FROM || id == PROFILE_DSO_TO ||
           id == PROFILE_MEM || id == PROFILE_TLB || id == PROFILE_SNOOP || id == PROFILE_LOCKED ||
           id == PROFILE_BLOCKED || id == PROFILE_PHYS_DADDR || id == PROFILE_DATA_PAGE_SIZE ||
           id == PROFILE_DSO_SIZE || id == PROFILE_TYPE || id == PROFILE_TYPEOFF || id == PROFILE_TYPECLN;
}

/* The rows that are measured: those that are shown. */
static size_t measured_count(const struct profile *p, const struct profile_table *t) {
    return p->plan.selects_rows ? t->order.count : t->rows.count;
}

static uint32_t measured_row(const struct profile *p, const struct profile_table *t, size_t i) {
    return p->plan.selects_rows ? t->order.items[i] : (uint32_t)i;
}

/* The widest of the task_widths, which are the same for all rows of a thread that had a name. */
static uint32_t widest_task(const struct profile *p, const struct profile_table *t,
                            enum profile_column_id id) {
    enum { AHEAD = 16 };
    VEC(uint8_t) seen = {0}; /* by thread */
    uint32_t widest = 0;
    for (size_t k = 0; k < measured_count(p, t); k++) {
        uint32_t i = measured_row(p, t, k);
        const struct profile_row *row = &t->rows.items[i];
        uint32_t thread = profile_row_thread(p, row);
        if (i + AHEAD < t->rows.count)
            prefetch(&p->b.leaves.items[row[AHEAD].first_leaf]);
        if (thread < seen.count && seen.items[thread])
            continue;
        uint32_t w = task_width(p, row, id);
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

static uint32_t width_of(const struct profile *p, const struct profile_table *t,
                         const struct profile_column *column) {
    uint32_t widest = (uint32_t)strlen(column->title), least = profile_key_width(column->id);
    enum profile_column_id id = column->id;
    bool roomy = !p->plan.o->tight && !p->plan.o->dsos;
    struct out o;
    if (id == PROFILE_TIME && p->plan.o->nanoseconds)
        least = NANOSECONDS_WIDTH;
    if (measured_count(p, t) || id == PROFILE_TRANSACTION ||
        id == PROFILE_SIMD) /* else nothing asks for it */
        widest = widest > least ? widest : least;
    if (column->field) {
        widest = widest > column->width ? widest : column->width;
        if (!column->dynamic)
            return widest;
    }
    if (is_as_wide_as_title(id) || !out_init(&o, NULL, NULL))
        return widest;
    bool task = id == PROFILE_COMM || id == PROFILE_PID;
    if (task) {
        uint32_t w = widest_task(p, t, id);
        widest = w > widest ? w : widest;
    }
    for (size_t k = 0; !task && k < measured_count(p, t); k++) {
        uint32_t i = measured_row(p, t, k), w;
        if (id == PROFILE_DSO) { /* the usual ones, without writing them */
            w = strpool_len(&p->b.texts, p->places.items[t->rows.items[i].frame].dso);
            if (w < NAMELESS_WIDTH && roomy && !profile_name_of(p, t->rows.items[i].frame))
                w = NAMELESS_WIDTH;
        } else if (id == PROFILE_DSO_DADDR && roomy &&
                   p->b.frames.list.items[profile_key_frame(p, id, &t->rows.items[i])].image == MODEL_NONE) {
            w = NAMELESS_WIDTH;
        } else if (id == PROFILE_SYMBOL) {
            const struct profile_name *name = profile_name_of(p, t->rows.items[i].frame);
            w = name ? name->text_len + 4 + (p->plan.o->verbose ? ORIGIN_WIDTH : 0) : 22;
            if (profile_grade_of(p, t->rows.items[i].frame) == GRADE_STALE) {
                o.len = 0;
                put_key(p, t, i, id, &o);
                w = (uint32_t)o.len;
            }
        } else if (id == PROFILE_ADDR_FROM || id == PROFILE_ADDR_TO) { /* the offset stands out */
            const struct profile_name *name = profile_name_of(p, profile_key_frame(p, id, &t->rows.items[i]));
            w = name ? name->text_len + 4 : 22;
        } else if (id == PROFILE_SYMBOL_DADDR || id == PROFILE_SYMBOL_IADDR || id == PROFILE_DCACHELINE) {
            w = profile_mem_width(p, &t->rows.items[i], id);
        } else {
            o.len = 0;
            put_key(p, t, i, id, &o);
            w = (uint32_t)o.len + (column->field != NULL); /* of a field that is a string with its end */
        }
        widest = w > widest ? w : widest;
    }
    out_fini(&o);
    return widest;
}

/* What is measured ahead: the usual keys of many rows. */
static bool takes_long(enum profile_column_id id) {
    return id == PROFILE_COMM || id == PROFILE_PID || id == PROFILE_DSO || id == PROFILE_SYMBOL;
}

bool profile_measure_columns(struct profile *p) {
    const struct profile_columns *c = p->plan.o->columns;
    for (size_t i = 0; i < p->shown.count; i++) {
        struct profile_table *t = &p->tables.items[p->shown.items[i]];
        for (size_t k = 0; k < c->out.count; k++) {
            uint32_t *width = vec_push(&t->widths);
            if (!width)
                return false;
            *width = takes_long(c->out.items[k].id) ? width_of(p, t, &c->out.items[k]) : 0;
        }
    }
    return true;
}

uint32_t profile_width(const struct profile *p, const struct profile_event *e,
                       const struct profile_column *column) {
    const struct profile_table *t = table_at(p, e);
    size_t i = (size_t)(column - p->plan.o->columns->out.items);
    return i < t->widths.count && t->widths.items[i] ? t->widths.items[i] : width_of(p, t, column);
}

/* ---- frames ---- */

void profile_frame_text(const struct profile *p, const struct profile_frame *frame, struct out *out) {
    const struct profile_name *name = profile_name_of(p, frame->location);
    if (name) {
        out_mem(out, name->text, name->text_len);
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
