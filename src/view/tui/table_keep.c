/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of a table while a live source has new data: rows are found again by the texts of their keys.
 */
#include "base/vec.h"
#include "view/tui/table_internal.h"

/* What stands before a row's text in `rows`. */
enum { OPEN = 'o', WHOLE = 'w', CLOSED = 'c' };

/* Appends the texts of an entry's keys. */
static void put_keys(const struct tui_table *t, uint32_t entry, struct out *o) {
    struct profile_entry x = profile_entry_at(t->d.profile, t->e, entry);
    for (size_t i = 0; i < t->columns.count; i++) {
        if (!profile_column_is_key(t->columns.items[i].is))
            continue;
        profile_text(t->d.profile, t->e, &x, t->columns.items[i].is, o);
        while (o->len && o->buf[o->len - 1] == ' ') /* columns are as wide as their longest text */
            o->len--;
        out_char(o, '\t');
    }
}

bool tui_table_keep(const struct tui_table *t, struct tui_kept *k) {
    k->rows.len = k->at.len = 0;
    k->all_open = t->all_open;
    k->left_out = t->left_out;
    k->line = t->at.line;
    k->above = t->at.row - t->top.row;
    k->first = !t->at.row && !t->at.line;
    if (t->levels_open) /* a hierarchy's entries have keys of one level only */
        return true;
    uint32_t entry = tui_table_entry(t);
    if (entry != UINT32_MAX)
        put_keys(t, entry, &k->at);
    for (size_t i = 0; i < t->rows.count; i++) {
        const struct tui_row *row = t->rows.items[i];
        if (!row->touched)
            continue;
        out_char(&k->rows, row->closed ? CLOSED : row->whole ? WHOLE : OPEN);
        put_keys(t, row->entry, &k->rows);
        out_char(&k->rows, '\n');
    }
    return !k->rows.failed && !k->at.failed;
}

/* The line of k->rows with the text of an entry, or NULL. */
static const char *kept_row(const struct tui_kept *k, const struct out *text) {
    const char *at = k->rows.buf, *end = at + k->rows.len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = stop ? (size_t)(stop - at) : 0;
        if (n == text->len + 1 && !memcmp(at + 1, text->buf, text->len))
            return at;
        if (!stop)
            break;
        at = stop + 1;
    }
    return NULL;
}

void tui_table_restore(struct tui_table *t, const struct tui_kept *k) {
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return;
    t->left_out = k->left_out;
    t->all_open = k->all_open && !t->levels_open;
    bool found = k->first || !k->at.len;
    for (uint32_t i = 0; (k->rows.len || !found) && i < t->shown.count; i++) {
        text.len = 0;
        put_keys(t, t->shown.items[i], &text);
        const char *kept = k->rows.len ? kept_row(k, &text) : NULL;
        if (kept)
            tui_table_reopen(t, t->shown.items[i], *kept == WHOLE, *kept == CLOSED);
        if (found || text.len != k->at.len || memcmp(text.buf, k->at.buf, text.len) != 0)
            continue;
        uint32_t lines = tui_table_lines(t, i);
        t->at = (struct tui_place){i, k->line < lines ? k->line : lines};
        t->top = (struct tui_place){i > k->above ? i - k->above : 0, 0};
        found = true;
    }
    tui_table_follow(t);
    out_fini(&text);
}

bool tui_kept_init(struct tui_kept *k) {
    return out_init(&k->rows, NULL, NULL) && out_init(&k->at, NULL, NULL);
}

void tui_kept_fini(struct tui_kept *k) {
    out_fini(&k->rows);
    out_fini(&k->at);
}
