/* SPDX-License-Identifier: Apache-2.0 */
#include "view/tui/table_internal.h"

#include <stdlib.h>

#include "view/report/report_parts.h"

const char *const tui_symbol_keys[] = {"symbol", "sym", NULL},
                  *const tui_thread_keys[] = {"comm", "pid", "tid", NULL},
                  *const tui_dso_keys[] = {"dso", NULL}, *const tui_socket_keys[] = {"socket", NULL};

/* ---- texts ---- */

static const struct tui_column *column_of(const struct tui_table *t, const char *const *names) {
    for (; *names; names++)
        for (size_t i = 0; i < t->columns.count; i++) {
            const struct tui_column *c = &t->columns.items[i];
            if (c->is && !strcmp(c->is->key->name, *names))
                return c;
        }
    return NULL;
}

static void make_text(struct tui_table *t, uint32_t entry, const struct tui_column *c) {
    t->text.len = 0;
    if (t->own) {
        t->own->cell(t->own->ctx, entry, (size_t)(c->own - t->own->columns), &t->text);
    } else {
        struct profile_entry x = profile_entry_at(t->d.profile, t->e, entry);
        profile_text(t->d.profile, t->e, &x, c->is, &t->text);
    }
    while (t->text.len && t->text.buf[t->text.len - 1] == ' ')
        t->text.len--;
}

uint32_t tui_table_entry(const struct tui_table *t) {
    return t->at.row < t->shown.count ? t->shown.items[t->at.row] : UINT32_MAX;
}

const char *tui_table_key_text(struct tui_table *t, const char *const *names, size_t *len) {
    const struct tui_column *c = column_of(t, names);
    if (!c || tui_table_entry(t) == UINT32_MAX)
        return NULL;
    make_text(t, tui_table_entry(t), c);
    const char *text = out_text(&t->text);
    *len = t->text.len;
    while (*len && *text == ' ')
        text++, --*len;
    return text;
}

/* Skips what a symbol's text has before the name: its level, and with -v address and origin. */
static const char *name_in(const char *text, size_t *len) {
    for (size_t i = 0; i + 4 <= *len; i++)
        if (text[i] == '[' && text[i + 2] == ']' && text[i + 3] == ' ') {
            *len -= i + 4;
            return text + i + 4;
        }
    return text;
}

const char *tui_table_function(struct tui_table *t, size_t *len) {
    struct tui_row *row = t->at.line ? tui_table_row(t, t->at.row) : NULL;
    if (row && t->at.line <= row->tree.lines.count) {
        struct tui_line line = row->tree.lines.items[t->at.line - 1];
        if (line.frame == TUI_CHAIN)
            return NULL;
        t->text.len = 0;
        line.numbered = false;
        tui_tree_text(&row->tree, &t->d, &line, &t->text);
        *len = t->text.len;
        return out_text(&t->text);
    }
    const char *text = tui_table_key_text(t, tui_symbol_keys, len);
    return text ? name_in(text, len) : NULL;
}

bool tui_table_find(struct tui_table *t, const char *name, size_t n) {
    const struct tui_column *c = column_of(t, tui_symbol_keys);
    for (uint32_t i = 0; c && i < t->shown.count; i++) {
        make_text(t, t->shown.items[i], c);
        size_t len = t->text.len;
        const char *text = name_in(t->text.buf, &len);
        if (len == n && !memcmp(text, name, n)) {
            t->at = (struct tui_place){i, 0};
            t->top = (struct tui_place){0, 0};
            tui_table_follow(t);
            return true;
        }
    }
    return false;
}

/* ---- which rows ---- */

static bool passes(struct tui_table *t, uint32_t entry, const struct tui_column *const *keys) {
    for (unsigned k = 0; k < TUI_FILTERS; k++) {
        if (!t->filter->text[k] || !keys[k])
            continue;
        make_text(t, entry, keys[k]);
        const char *text = t->text.buf;
        size_t len = t->text.len;
        while (len && *text == ' ')
            text++, len--;
        if (k == TUI_BY_SYMBOL)
            text = name_in(text, &len);
        if (!tui_filter_passes(t->filter, (enum tui_filter_kind)k, text, len))
            return false;
    }
    return true;
}

static bool show(struct tui_table *t, uint32_t entry) {
    uint32_t *slot = vec_push(&t->shown);
    if (slot)
        *slot = entry;
    return slot;
}

/* Lists a level of a hierarchy and, below each open row, the next one. */
static bool list_levels(struct tui_table *t, double least) {
    struct span {
        uint32_t next, end;
    };
    VEC(struct span) levels = {0};
    struct span *l = vec_push(&levels);
    bool ok = l;
    if (ok)
        *l = (struct span){0, t->e->root_count};
    while (ok && levels.count) {
        l = &levels.items[levels.count - 1];
        if (l->next == l->end) {
            levels.count--;
            continue;
        }
        uint32_t entry = l->next++;
        struct profile_entry x = profile_entry_at(t->d.profile, t->e, entry);
        if (report_entry_percent(t->e, &x, t->d.text->children) < least)
            continue;
        ok = show(t, entry);
        if (ok && x.count && t->levels_open[entry]) {
            l = vec_push(&levels);
            ok = l;
            if (ok)
                *l = (struct span){x.first, x.first + x.count};
        }
    }
    vec_fini(&levels);
    return ok;
}

static bool list_rows(struct tui_table *t, double least) {
    const struct tui_column *keys[TUI_FILTERS] = {[TUI_BY_SYMBOL] = column_of(t, tui_symbol_keys),
                                                  [TUI_BY_THREAD] = column_of(t, tui_thread_keys),
                                                  [TUI_BY_DSO] = column_of(t, tui_dso_keys),
                                                  [TUI_BY_SOCKET] = column_of(t, tui_socket_keys)};
    bool any = t->filter->count;
    t->shown_period = 0;
    for (uint32_t i = 0; t->own && i < t->own->row_count; i++)
        if (!(least > 0 && t->own->share(t->own->ctx, i) < least) && (!any || passes(t, i, keys)) &&
            !show(t, i))
            return false;
    if (t->own)
        return true;
    for (uint32_t i = 0; i < t->e->root_count; i++) {
        struct profile_entry x = profile_entry_at(t->d.profile, t->e, i);
        if ((least > 0 && report_entry_percent(t->e, &x, t->d.text->children) < least) ||
            (any && !passes(t, i, keys)))
            continue;
        if (!show(t, i))
            return false;
        t->shown_period += x.self->period;
    }
    return true;
}

bool tui_table_filter(struct tui_table *t, struct err *err) {
    uint32_t was = tui_table_entry(t);
    double least = t->filter->least_percent;
    vec_clear(&t->shown);
    if (!(t->levels_open ? list_levels(t, least) : list_rows(t, least)))
        return err_memory(err, "table");
    struct tui_place at = {0, 0};
    for (uint32_t i = 0; i < t->shown.count; i++)
        if (t->shown.items[i] == was)
            at = (struct tui_place){i, t->at.line};
    t->at = at;
    if (t->top.row >= t->shown.count || !at.row)
        t->top = (struct tui_place){at.row, 0};
    tui_table_follow(t);
    return true;
}

/* ---- opening ---- */

static bool list_columns(struct tui_table *t) {
    for (size_t i = 0; t->own && i < t->own->column_count; i++) {
        struct tui_column *made = vec_push(&t->columns);
        if (!made)
            return false;
        *made = (struct tui_column){.is = t->own->columns[i].is, .own = &t->own->columns[i]};
    }
    if (t->own)
        return true;
    const struct profile_columns *columns = t->d.text->columns;
    for (size_t i = 0; i < columns->out.count; i++) {
        const struct profile_column *c = &columns->out.items[i];
        if (!c->shown || profile_column_is_elsewhere(c, t->e))
            continue;
        struct tui_column *made = vec_push(&t->columns);
        if (!made)
            return false;
        *made = (struct tui_column){.is = c};
    }
    return true;
}

static bool list_members(struct tui_table *t) {
    for (uint32_t i = 0; t->e && i < t->e->members; i++) {
        if (t->e->members > 1 && !t->d.text->keep_empty &&
            !profile_has_samples(t->d.profile, t->e->event + i))
            continue;
        uint32_t *member = vec_push(&t->members);
        if (!member)
            return false;
        *member = i;
    }
    return true;
}

bool tui_table_open(struct tui_table *t, const struct tui_data *d, uint32_t event,
                    const struct tui_filter *filter, struct err *err) {
    bool headers = t->headers || (!t->e && !t->own);
    int height = t->height;
    tui_table_fini(t);
    t->d = *d;
    t->own = d->table_count ? d->tables[event] : NULL;
    t->e = t->own ? NULL : profile_event(d->profile, event);
    t->filter = filter;
    t->headers = headers;
    t->height = height;
    if (t->e && d->text->hierarchy)
        t->levels_open = calloc(t->e->entry_count + 1, 1);
    if ((t->e && d->text->hierarchy && !t->levels_open) || !out_init(&t->text, NULL, NULL) ||
        !list_columns(t) || !list_members(t))
        return err_memory(err, "table");
    return tui_table_filter(t, err);
}

void tui_table_fini(struct tui_table *t) {
    tui_table_forget(t, true);
    vec_fini(&t->rows);
    vec_fini(&t->columns);
    vec_fini(&t->shown);
    vec_fini(&t->members);
    free(t->levels_open);
    out_fini(&t->text);
    *t = (struct tui_table){0};
}
