/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lock/lock_text.h"

#include <inttypes.h>
#include <stdio.h>

enum { NAME_WIDTH = 20, NAME_CUT = 16, COUNT_WIDTH = 10, TIME_WIDTH = 12 };

static const struct field_row {
    const char *word, *title;
} FIELDS[LOCK_FIELDS] = {
    [LOCK_ACQUIRED] = {"acquired", "acquired"}, [LOCK_CONTENDED] = {"contended", "contended"},
    [LOCK_AVG] = {"avg_wait", "avg wait"},      [LOCK_TOTAL] = {"wait_total", "total wait"},
    [LOCK_MAX] = {"wait_max", "max wait"},      [LOCK_MIN] = {"wait_min", "min wait"},
};
enum lock_field lock_field_named(const char *name, size_t len) {
    enum lock_field f = 0;
    while (f < LOCK_FIELDS && (strlen(FIELDS[f].word) != len || memcmp(FIELDS[f].word, name, len) != 0))
        f++;
    return f;
}

/* ---- figures and names ---- */

static bool is_time(enum lock_field f) {
    return f != LOCK_ACQUIRED && f != LOCK_CONTENDED;
}

/* Twelve characters: "   571.18 ms". */
static void put_time(struct out *o, uint64_t ns) {
    static const struct {
        uint64_t from;
        const char *name;
    } UNITS[] = {{UINT64_C(3600000000000), "h "},
                 {UINT64_C(60000000000), "m "},
                 {UINT64_C(1000000000), "s "},
                 {UINT64_C(1000000), "ms"},
                 {UINT64_C(1000), "us"}};
    /* In single precision as perf does: that decides how 3,295 ns are rounded. */
    float time = (float)ns;
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (time >= (float)UNITS[i].from) {
            out_printf(o, "%9.2f %s", (double)(time / (float)UNITS[i].from), UNITS[i].name);
            return;
        }
    out_dec(o, ns, 9);
    out_str(o, " ns");
}

static void put_value(struct out *o, const struct lock_row *r, enum lock_field f) {
    if (is_time(f))
        put_time(o, lock_row_value(r, f));
    else
        out_dec(o, lock_row_value(r, f), COUNT_WIDTH);
}

static void put_name(struct out *o, const char *name) {
    out_plain(o, name, strlen(name));
}

static size_t shown(const struct lock_table *t, const struct lock_columns *c) {
    return c->most && c->most < t->rows.count ? c->most : t->rows.count;
}

/* ---- contention ---- */

static void contention_head(const struct lock_table *t, const struct lock_columns *c, struct out *o) {
    for (size_t i = 0; i < c->count; i++) {
        const char *title = FIELDS[c->fields[i]].title;
        out_str(o, i ? " " : "");
        out_right(o, title, strlen(title), is_time(c->fields[i]) ? TIME_WIDTH : COUNT_WIDTH);
    }
    out_str(o, c->owners                  ? "          pid   owner\n\n"
               : t->by == LOCK_BY_THREAD  ? "          pid   comm\n\n"
               : t->by == LOCK_BY_ADDRESS ? "            address   symbol\n\n"
               : t->by == LOCK_BY_GROUP   ? "   cgroup\n\n"
                                          : "         type   caller\n\n");
}

static void put_stack(struct out *o, const char *stack, const char *before, const char *between) {
    for (const char *end; (end = strchr(stack, '\n')); stack = end + 1) {
        out_str(o, before);
        out_plain(o, stack, (size_t)(end - stack));
        out_str(o, end[1] ? between : "");
    }
}

static void contention_row(const struct lock_table *t, const struct lock_row *r, const struct lock_columns *c,
                           const struct lock_names *n, struct out *o) {
    for (size_t i = 0; i < c->count; i++) {
        out_str(o, i ? " " : "");
        put_value(o, r, c->fields[i]);
    }
    if (t->by == LOCK_BY_THREAD) {
        out_printf(o, " %12" PRId64 "   ", c->owners && !r->tid ? -1 : (int64_t)r->tid);
        put_name(o, n->thread(n->ctx, r));
    } else if (t->by == LOCK_BY_ADDRESS) {
        out_printf(o, "   %16" PRIx64 "   ", r->address);
        put_name(o, n->lock(n->ctx, r));
        out_printf(o, " (%s)", lock_type_name(r->type, true));
    } else if (t->by == LOCK_BY_GROUP) {
        out_str(o, "   ");
        put_name(o, n->group(n->ctx, r));
    } else {
        out_printf(o, " %12s   ", lock_type_name(r->type, false));
        put_name(o, n->site(n->ctx, r));
    }
    out_char(o, '\n');
    if (c->verbose && t->by == LOCK_BY_SITE) {
        const char *stack = n->stack(n->ctx, r);
        put_stack(o, stack, "\t\t\t", "\n");
        out_str(o, *stack ? "\n" : "");
    }
}

/* ---- CSV ---- */

static void csv_head(const struct lock_table *t, const struct lock_columns *c, struct out *o) {
    out_str(o, "# output: ");
    for (size_t i = 0; i < c->count; i++)
        out_printf(o, "%s%s ", FIELDS[c->fields[i]].title, c->separator);
    const char *s = c->separator;
    if (t->by == LOCK_BY_THREAD)
        out_printf(o, "pid%s %s\n", s, c->owners ? "owner" : "comm");
    else if (t->by == LOCK_BY_ADDRESS)
        out_printf(o, "address%s symbol%s type\n", s, s);
    else if (t->by == LOCK_BY_GROUP)
        out_str(o, "cgroup\n");
    else if (c->verbose)
        out_printf(o, "type%s caller%s stacktrace\n", s, s);
    else
        out_printf(o, "type%s caller\n", s);
}

static void csv_row(const struct lock_table *t, const struct lock_row *r, const struct lock_columns *c,
                    const struct lock_names *n, struct out *o) {
    const char *s = c->separator;
    for (size_t i = 0; i < c->count; i++)
        out_printf(o, "%" PRIu64 "%s ", lock_row_value(r, c->fields[i]), s);
    if (t->by == LOCK_BY_THREAD) {
        out_printf(o, "%" PRId64 "%s ", c->owners && !r->tid ? -1 : (int64_t)r->tid, s);
        put_name(o, n->thread(n->ctx, r));
    } else if (t->by == LOCK_BY_ADDRESS) {
        out_printf(o, "%" PRIx64 "%s ", r->address, s);
        put_name(o, n->lock(n->ctx, r));
        out_printf(o, "%s %s", s, lock_type_name(r->type, true));
    } else if (t->by == LOCK_BY_GROUP) {
        put_name(o, n->group(n->ctx, r));
    } else {
        out_printf(o, "%s%s ", lock_type_name(r->type, false), s);
        put_name(o, n->site(n->ctx, r));
        if (c->verbose) {
            out_printf(o, "%s ", s);
            put_stack(o, n->stack(n->ctx, r), "", ":");
        }
    }
    out_char(o, '\n');
}

void lock_text_contention(const struct lock_table *t, const struct lock_columns *c,
                          const struct lock_names *names, struct out *o) {
    if (!c->quiet)
        (c->separator ? csv_head : contention_head)(t, c, o);
    for (size_t i = 0; i < shown(t, c) && !o->failed; i++)
        (c->separator ? csv_row : contention_row)(t, &t->rows.items[i], c, names, o);
}

/* ---- report, info ---- */

static void put_cut(struct out *o, const char *name) {
    char text[NAME_WIDTH + 1];
    size_t n = strlen(name);
    if (n >= NAME_WIDTH)
        snprintf(text, sizeof text, "%.*s...", NAME_CUT, name);
    else
        memcpy(text, name, n + 1);
    n = strlen(text);
    out_fill(o, ' ', NAME_WIDTH - n);
    put_name(o, text);
    out_char(o, ' ');
}

/* A lock without a name is shown by its address. */
static const char *label(const struct lock_table *t, const struct lock_row *r, const struct lock_names *n,
                         char *room, size_t size) {
    if (t->by == LOCK_BY_THREAD)
        return n->thread(n->ctx, r);
    const char *name = n->lock(n->ctx, r);
    if (*name || t->by == LOCK_BY_NAME)
        return name;
    snprintf(room, size, "%#" PRIx64, r->address);
    return room;
}

void lock_text_report(const struct lock_table *t, const struct lock_columns *c,
                      const struct lock_names *names, struct out *o) {
    char room[32];
    if (!c->quiet) {
        out_right(o, "Name", 4, NAME_WIDTH);
        out_char(o, ' ');
        for (size_t f = 0; f < c->count; f++) {
            const char *title = FIELDS[c->fields[f]].title;
            out_right(o, title, strlen(title), is_time(c->fields[f]) ? TIME_WIDTH : COUNT_WIDTH);
            out_char(o, ' ');
        }
        out_str(o, "\n\n");
    }
    for (size_t i = 0; i < shown(t, c) && !o->failed; i++) {
        const struct lock_row *r = &t->rows.items[i];
        put_cut(o, label(t, r, names, room, sizeof room));
        for (size_t f = 0; f < c->count; f++) {
            put_value(o, r, c->fields[f]);
            out_char(o, ' ');
        }
        out_char(o, '\n');
    }
}

void lock_text_threads(const struct lock_table *t, const struct lock_names *names, struct out *o) {
    out_str(o, " Thread ID: comm\n");
    for (size_t i = 0; i < t->rows.count && !o->failed; i++) {
        out_printf(o, "%10" PRIu32 ": ", t->rows.items[i].tid);
        put_name(o, names->thread(names->ctx, &t->rows.items[i]));
        out_char(o, '\n');
    }
}

void lock_text_map(const struct lock_table *t, const struct lock_names *names, struct out *o) {
    out_str(o, "Address of instance: name of class\n");
    for (size_t i = 0; i < t->rows.count && !o->failed; i++) {
        out_printf(o, " %#" PRIx64 ": ", t->rows.items[i].address);
        put_name(o, names->lock(names->ctx, &t->rows.items[i]));
        out_char(o, '\n');
    }
}
