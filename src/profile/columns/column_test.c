/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of measures and keys, and what -s and -F make of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "profile/columns/column.h"

static struct profile_columns made;

/* Makes the columns of -s and -F with everything recorded. */
static const struct profile_columns *make(const char *sort, const char *fields, struct err *err) {
    static const struct perfdata_events none;
    const struct profile_column_options o = {
        .sort = sort, .fields = fields, .branch = true, .history = true, .mem = true, .latent = true};
    profile_columns_fini(&made);
    made = (struct profile_columns){0};
    return profile_columns_make(&o, &none, &made, err) ? &made : NULL;
}

static const char *first_name(const char *sort, const char *fields) {
    struct err err = ERR_INIT;
    const struct profile_columns *c = make(sort, fields, &err);
    assert_non_null(c);
    for (size_t i = 0; i < c->order.count; i++)
        if (!sort || profile_column_is_key(&c->order.items[i]))
            return c->order.items[i].key->name;
    return "";
}

/* A row has what all rows need. */
static void test_rows(void **state) {
    const struct profile_key *key;
    size_t i;
    (void)state;
    for (i = 0; (key = profile_key_at(i)); i++) {
        bool of_sample = key->kind == PROFILE_KEY_NUMBER || key->kind == PROFILE_KEY_TEXT ||
                         key->kind == PROFILE_KEY_TEXTS || key->kind == PROFILE_KEY_ADDRESS;
        if (!key->name || !key->title)
            fail_msg("row %zu has no name or no title", i);
        if (key->later)
            continue;
        if (!key->help || !*key->help)
            fail_msg("%s has no help", key->name);
        if (of_sample != (key->value != NULL))
            fail_msg("%s: its kind says whether it has a value", key->name);
        if ((key->kind == PROFILE_KEY_PLACE || key->kind == PROFILE_KEY_ADDRESS) &&
            (!key->words || !key->put))
            fail_msg("%s: a key about a place has words and put", key->name);
        if (key->kind == PROFILE_MEASURE && !key->width)
            fail_msg("%s: a measure has a width", key->name);
    }
    assert_true(i > 60);
}

/* Every name that is listed names its own row, once, and there is a column for it. */
static void test_names(void **state) {
    struct profile_key_entry entry, other;
    struct err err = ERR_INIT;
    (void)state;
    for (size_t i = 0; profile_key_listed(i, &entry); i++) {
        for (size_t k = 0; k < i && profile_key_listed(k, &other); k++)
            assert_string_not_equal(entry.name, other.name);
        const struct profile_columns *c = make(entry.name, NULL, &err);
        assert_non_null(c);
        bool found = false;
        for (size_t k = 0; k < c->order.count; k++)
            found |= c->order.items[k].key == entry.key;
        if (!found)
            fail_msg("-s %s makes no such column", entry.name);
    }
}

/* The beginning of a name means the first one in perf's order. */
static void test_beginnings(void **state) {
    static const struct {
        const char *word, *key;
    } rows[] = {{"a", "addr"},
                {"c", "comm"},
                {"d", "dso"},
                {"i", "ipc_null"},
                {"l", "local_weight"},
                {"p", "pid"},
                {"pa", "parent"},
                {"r", "retire_lat"},
                {"s", "symbol"},
                {"so", "socket"},
                {"src", "srcline"},
                {"t", "transaction"},
                {"ty", "type"},
                {"tg", "tgid"},
                {"w", "weight"},
                {"g", "grade"},
                {"symbol_", "symbol_size"},
                {"ab", "abort"},
                {"da", "data_page_size"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(first_name(rows[i].word, NULL), rows[i].key);
    assert_string_equal(first_name(NULL, "p"), "period"); /* measures first for -F */
    assert_string_equal(first_name(NULL, "ins"), "weight2");
}

static void test_columns(void **state) {
    struct err err = ERR_INIT;
    (void)state;
    const struct profile_columns *c = make("retire_lat,p_stage_cyc,comm,comm", NULL, &err);
    assert_non_null(c);
    size_t keys = 0;
    for (size_t i = 0; i < c->order.count; i++) {
        keys += profile_column_is_key(&c->order.items[i]);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(c->order.items[i].number, c->order.items[k].number);
    }
    assert_int_equal(keys, 2); /* the first two have the same values */
    assert_non_null(profile_columns_find(c, PROFILE_COMM));
    assert_null(profile_columns_find(c, PROFILE_DSO));
    assert_null(make("comm,nothing", NULL, &err));
    assert_string_equal(err.message, "Unknown --sort key: `nothing'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_beginnings),
        cmocka_unit_test(test_columns),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    profile_columns_fini(&made);
    return failed;
}
