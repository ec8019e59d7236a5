/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of keys and frames, as perf report prints them. */
#include <inttypes.h>

#include "profile/profile_internal.h"

/* "%#.16llx": what perf shows where there is no name. Zero has no 0x. */
static void put_address(struct out *o, uint64_t address) {
    if (address)
        out_str(o, "0x");
    out_hex0(o, address, 16);
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

static void put_symbol(const struct profile *p, const struct profile_row *row, bool offset, struct out *o) {
    const struct resolve_frame *f = &p->b.frames.list.items[row->frame];
    const struct profile_name *name = profile_name_of(p, row->frame);
    char level[] = {'[', letter_of(row->cpumode), ']', ' '};
    out_mem(o, level, sizeof level);
    if (name)
        out_str(o, name->text);
    else
        put_address(o, profile_shown_address(f));
    if (offset && name) {
        out_str(o, "+0x");
        out_hex(o, f->offset - name->start, 0);
    }
}

static void put_text_id(const struct profile *p, uint64_t id, struct out *o) {
    out_mem(o, strpool_text(&p->b.texts, (uint32_t)id), strpool_len(&p->b.texts, (uint32_t)id));
}

static void put_key(const struct profile *p, const struct profile_table *t, uint32_t row,
                    enum profile_column_id id, struct out *o) {
    const struct profile_row *r = &t->rows.items[row];
    uint64_t words[PROFILE_KEY_WORDS], v;
    profile_key_words(p, id, r, words);
    v = words[0];
    switch (id) {
    case PROFILE_COMM:
    case PROFILE_COMM_NODIGIT:
    case PROFILE_CGROUP:
    case PROFILE_PARENT:
    case PROFILE_TRACE:
    case PROFILE_DSO:
        put_text_id(p, v, o);
        break;
    case PROFILE_SYMBOL:
        put_symbol(p, r, false, o);
        break;
    case PROFILE_SYMBOL_OFFSET:
        put_symbol(p, r, true, o);
        break;
    case PROFILE_SYMBOL_SIZE:
        out_dec(o, v, 0);
        break;
    case PROFILE_ADDR:
        out_str(o, "0x");
        out_hex(o, v, 0);
        break;
    case PROFILE_IPC:
        out_str(o, "-      -            ");
        break;
    default:
        profile_key_text(p, r, id, v, o);
        break;
    }
}

static const struct profile_table *table_at(const struct profile *p, const struct profile_event *e) {
    return &p->tables.items[e->event];
}

void profile_text(const struct profile *p, const struct profile_event *e, const struct profile_entry *entry,
                  const struct profile_column *column, struct out *out) {
    put_key(p, table_at(p, e), entry->key, column->id, out);
}

/* ---- widths ---- */

/* "%7d:", before a comm. */
enum { TASK_WIDTH = 8 };

static uint32_t text_width(const struct profile *p, const struct profile_table *t, uint32_t row,
                           enum profile_column_id id) {
    uint64_t words[PROFILE_KEY_WORDS];
    profile_key_words(p, id, &t->rows.items[row], words);
    if (id == PROFILE_COMM || id == PROFILE_PID) { /* Tgid:Command is as wide as its title, always */
        /* perf measures what the thread is called at the end, whatever is printed. */
        const char *comm = profile_last_comm(p, &t->rows.items[row]);
        uint32_t width = comm ? (uint32_t)strlen(comm) : 0;
        if (!comm && id == PROFILE_COMM)
            width = strpool_len(&p->b.texts, (uint32_t)words[0]);
        return id == PROFILE_COMM ? width : TASK_WIDTH + width;
    }
    if (id == PROFILE_DSO || id == PROFILE_COMM_NODIGIT || id == PROFILE_CGROUP || id == PROFILE_TRACE)
        return strpool_len(&p->b.texts, (uint32_t)words[0]);
    if (id == PROFILE_SYMBOL) {
        const struct profile_name *name = profile_name_of(p, t->rows.items[row].frame);
        return name ? (uint32_t)strlen(name->text) + 4 : 22;
    }
    return 0;
}

uint32_t profile_width(const struct profile *p, const struct profile_event *e,
                       const struct profile_column *column) {
    const struct profile_table *t = table_at(p, e);
    uint32_t widest = (uint32_t)strlen(column->title), least = profile_key_width(column->id);
    widest = widest < least ? least : widest;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        uint32_t w = text_width(p, t, i, column->id);
        widest = w > widest ? w : widest;
    }
    return widest;
}

/* ---- frames ---- */

void profile_frame_text(const struct profile *p, const struct profile_frame *frame, struct out *out) {
    const struct profile_name *name = profile_name_of(p, frame->location);
    if (name) {
        out_str(out, name->text);
        return;
    }
    uint64_t address = p->b.frames.list.items[frame->location].address;
    if (address) /* as "%#llx" */
        out_str(out, "0x");
    out_hex(out, address, 0);
}

const char *profile_frame_dso(const struct profile *p, const struct profile_frame *frame) {
    return strpool_text(&p->b.texts, p->places.items[frame->location].dso);
}
