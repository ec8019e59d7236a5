/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/cache/cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct bytes text_of(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

/* As perf 6.1 and 7.2 write it. */
static const char FILE_TEXT[] = "%sdt_prov:hit=hit\n"
                                "p:sdt_prov/hit /tmp/t:0x113f(0x4020) arg1=%si:s32 arg2=%bx:s32\n"
                                "#work n name=s->name:string\n"
                                "p:probe_t/work /tmp/t:0x1139 n=%si:s32 name=+0(+8(%di)):string\n"
                                "#probe_t:w3=work n\n"
                                "p:probe_t/w3 /tmp/t:0x1139 n=%si:s32\n"
                                "#grp:w5=@t.c:5\n"
                                "p:grp/w5 /tmp/t:0x1139\n"
                                "p:grp/w5 /tmp/t:0x113a\n"
                                "#work%return $retval\n"
                                "r:probe_t/work__return /tmp/t:0x1139 $retval\n";

static void check_print(const struct probe_cache *c, const char *want) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    probe_cache_print(c, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
}

static void test_reads(void **state) {
    (void)state;
    struct probe_cache c = {.bad_lines = 0};
    assert_true(probe_cache_read(&c, text_of(FILE_TEXT), NULL));
    assert_int_equal(c.bad_lines, 0);
    assert_int_equal(c.list.count, 5);
    assert_true(c.list.items[0].marker);
    assert_string_equal(c.list.items[0].group, "sdt_prov");
    assert_int_equal(c.list.items[0].events.items[0].semaphore, 0x4020);
    assert_null(c.list.items[1].event);
    assert_string_equal(c.list.items[2].place, "work n");
    assert_int_equal(c.list.items[3].events.count, 2);
    check_print(&c, FILE_TEXT);
    assert_true(probe_cached_matches(&c.list.items[1], "probe_t:wor*"));
    assert_true(probe_cached_matches(&c.list.items[2], "w3"));
    assert_false(probe_cached_matches(&c.list.items[2], "work"));
    probe_cache_fini(&c);
}

static void test_damage(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t entries, bad;
    } CASES[] = {
        {"", 0, 0},
        {"\n\n", 0, 2},
        {"p:a/b /t:0x1\n", 0, 1},
        {"#\np:a/b /t:0x1\n", 0, 2},
        {"%no name\np:a/b /t:0x1\n", 0, 2},
        {"#work\n", 0, 1},
        {"#work\n#other\np:a/b /t:0x1", 1, 1},
        {"#work\np:a/b /t:0x1\np:a/b\nq:x/y /t:1\np:1/b /t:0x1\np:a/b;c /t:0x1\n", 1, 4},
        {"#work\np:a/b /t:0x1 x=\x01\n", 0, 2},
        {"=\n", 0, 1},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct probe_cache c = {.bad_lines = 0};
        assert_true(probe_cache_read(&c, text_of(CASES[i].text), NULL));
        if (c.list.count != CASES[i].entries || c.bad_lines != CASES[i].bad)
            fail_msg("%zu: %zu entries, %zu bad lines", i, c.list.count, c.bad_lines);
        probe_cache_fini(&c);
    }
}

/* The events that a kernel's cache keeps for a probe. -1: refused. */
static int taken(const struct probe_cache *c, const char *text, const char **event) {
    static struct arena a;
    struct probe_spec spec;
    probe_events found = {0};
    arena_fini(&a);
    a = (struct arena)ARENA_INIT;
    assert_true(probe_spec_parse(text, &a, &spec, NULL));
    bool ok = probe_cache_take(c, NULL, &spec, &a, &found, NULL);
    int n = ok ? (int)found.count : -1;
    *event = ok ? found.items[0].event : NULL;
    probe_events_fini(&found);
    probe_spec_fini(&spec);
    return n;
}

static void test_takes(void **state) {
    (void)state;
    static const char TEXT[] =
        "#vfs_read count name=file->f_path.name:string\np:probe/vfs_read vfs_read+0 c=%dx\n"
        "#g:w=@fs/x.c:5\np:g/w vfs_read+4\np:g/w vfs_read+8\n"
        "#probe:own=vfs_write\np:probe/own vfs_write+0\n"
        "#elsewhere\np:probe_t/elsewhere /tmp/t:0x10\n";
    static const struct {
        const char *text;
        int count;
        const char *event;
    } CASES[] = {
        {"vfs_read count file->f_path.name:string", 1, "vfs_read"},
        {"vfs_read  count   file->f_path.name:string", 1, "vfs_read"},
        {"vfs_read count", -1, NULL},
        {"new=vfs_read count file->f_path.name:string", -1, NULL},
        {"%w", 2, "w"},
        {"%g:w", 2, "w"},
        {"%h:w", -1, NULL},
        {"%w x=%di", -1, NULL}, /* it has its arguments */
        {"mine=%w", 2, "mine"},
        {"%g:*", 2, "w"},
        {"g:w=fs/x.c:5", 2, "w"},
        {"own=vfs_write", 1, "own"},
        {"vfs_write", -1, NULL},
        {"elsewhere", -1, NULL}, /* of a file */
    };
    struct probe_cache c = {.bad_lines = 0};
    assert_true(probe_cache_read(&c, text_of(TEXT), NULL));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *event;
        int n = taken(&c, CASES[i].text, &event);
        if (n != CASES[i].count || (n > 0 && strcmp(event, CASES[i].event) != 0))
            fail_msg("%s: %d", CASES[i].text, n);
    }
    probe_cache_fini(&c);
}

static void put(struct probe_cache *c, const char *text, const char *definition) {
    struct arena a = ARENA_INIT;
    struct probe_spec spec;
    probe_events events = {0};
    struct probe_event *e = vec_push(&events);
    assert_non_null(e);
    assert_true(probe_spec_parse(text, &a, &spec, NULL));
    assert_true(probe_event_parse(definition, &a, e, NULL));
    assert_true(probe_cache_put(c, &spec, &events, 0, 1, NULL));
    probe_events_fini(&events);
    probe_spec_fini(&spec);
    arena_fini(&a);
}

static void test_puts(void **state) {
    (void)state;
    struct probe_cache c = {.bad_lines = 0};
    put(&c, "work s->name:string v[1] x=n", "p:p/work /t:0x1");
    put(&c, "ev=work n", "p:p/ev /t:0x1");
    put(&c, "work:2 n", "p:p/work_L2 /t:0x2");
    put(&c, "g:l=t.c:5", "p:g/l /t:0x3");
    put(&c, "%sdt_a:b", "p:sdt_a/b /t:0x4");
    check_print(&c, "#work name=s->name:string v=v[1] x=n\np:p/work /t:0x1\n"
                    "#p:ev=work n\np:p/ev /t:0x1\n"
                    "#p:work_L2=work:2 n\np:p/work_L2 /t:0x2\n"
                    "#g:l=@t.c:5\np:g/l /t:0x3\n"
                    "%sdt_a:b=b\np:sdt_a/b /t:0x4\n");
    put(&c, "ev=other", "p:p/ev /t:0x9"); /* instead of the one of that name */
    put(&c, "%sdt_a:b", "p:sdt_a/b /t:0x8");
    probe_cache_remove(&c, 0);
    probe_cache_remove(&c, 0);
    check_print(&c, "#g:l=@t.c:5\np:g/l /t:0x3\n#p:ev=other\np:p/ev /t:0x9\n%sdt_a:b=b\np:sdt_a/b /t:0x8\n");
    probe_cache_fini(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_takes),
        cmocka_unit_test(test_puts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
