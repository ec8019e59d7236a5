/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/syntax.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/out.h"
#include "probe/filter.h"
#include "probe/lazy.h"

/* A spec as one line, so that a table can say what is expected. */
static void put(struct out *o, const struct probe_spec *s) {
    if (s->event)
        out_printf(o, "%s%s%s=", s->group ? s->group : "", s->group ? ":" : "", s->event);
    if (s->sdt_name)
        out_printf(o, "sdt %s/%s", s->sdt_provider ? s->sdt_provider : "*", s->sdt_name);
    if (s->has_address)
        out_printf(o, "at %llx", (unsigned long long)s->address);
    out_printf(o, "%s%s%s", s->function ? s->function : "", s->glob ? "(glob)" : "", s->file ? "@" : "");
    out_printf(o, "%s", s->file ? s->file : "");
    if (s->offset)
        out_printf(o, "+%llu", (unsigned long long)s->offset);
    if (s->has_line)
        out_printf(o, ":%u", s->line);
    out_printf(o, "%s%s%s", s->returns ? "%return" : "", s->pattern ? ";" : "", s->pattern ? s->pattern : "");
    for (size_t i = 0; i < s->args.count; i++) {
        const struct probe_arg *a = &s->args.items[i];
        out_printf(o, " %d:%s%s%s", a->kind, a->name ? a->name : "", a->name ? "=" : "", a->text);
        if (a->number)
            out_printf(o, "%+lld", (long long)a->number);
        for (size_t k = 0; k < a->steps.count; k++) {
            const struct object_debug_step *step = &a->steps.items[k];
            if (step->name)
                out_printf(o, "%s%s", step->arrow ? "->" : ".", step->name);
            else
                out_printf(o, "[%lld]", (long long)step->index);
        }
        out_printf(o, "%s%s%s", a->type ? ":" : "", a->type ? a->type : "", a->user ? "@user" : "");
    }
}

static void test_specs(void **state) {
    (void)state;
    static const char *const SPECS[][2] = {
        {"main", "main"},
        {" main  argc\targv[0]:string ", "main 0:argc 0:argv[0]:string"},
        {"ev=main", "ev=main"},
        {"grp:ev=main+16 %ax", "grp:ev=main+16 1:%ax"},
        {"main%return $retval", "main%return 1:$retval"},
        {"main:3 a->b.c[2]:x32", "main:3 0:a->b.c[2]:x32"},
        {"main@src/a.c:3", "main@src/a.c:3"},
        {"a.c:120 x=y", "@a.c:120 0:x=y"},
        {"src/a.c;x=*", "@src/a.c;x=*"},
        {"f;if\\ (a", "f;if (a"},
        {"ns::Class::m k", "ns::Class::m 0:k"},
        {"ns::f:3", "ns::f:3"},
        {"json_*", "json_*(glob)"},
        {"0x1180 +8(%sp):u64", "at 1180 1:+8(%sp):u64"},
        {"%sdt_libc:setjmp", "sdt libc/setjmp"},
        {"sdt_libc:setjmp", "sdt libc/setjmp"},
        {"%setjmp", "sdt */setjmp"},
        {"e=%sdt_a:b", "e=sdt a/b"},
        {"malloc\\@GLIBC_2.2.5", "malloc@GLIBC_2.2.5"},
        {"f @counter @counter+8:u32 @0x10", "f 2:counter 2:counter+8:u32 1:@0x10"},
        {"f $params $vars $stack2 $comm", "f 3:$params 4:$vars 1:$stack2 1:$comm"},
        {"f n:b3@2/32 s:ustring p->q:string@user", "f 0:n:b3@2/32 0:s:ustring 0:p->q:string@user"},
        {"f a:x8[4]", "f 0:a:x8[4]"},
    };
    for (size_t i = 0; i < sizeof SPECS / sizeof *SPECS; i++) {
        struct arena a = ARENA_INIT;
        struct probe_spec s;
        struct err err = ERR_INIT;
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        if (!probe_spec_parse(SPECS[i][0], &a, &s, &err))
            fail_msg("%s: %s %s", SPECS[i][0], err.where, err.message);
        put(&o, &s);
        assert_string_equal(out_text(&o), SPECS[i][1]);
        out_fini(&o);
        probe_spec_fini(&s);
        arena_fini(&a);
    }
}

static void test_bad_specs(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "",         " ",          "=main",      "1x=main",      "main:",       "main:x",     "main+",
        "main+x",   "main%ret",   "main;",      "a.c:1%return", "a.c:1+3",     "main:1+3",   "0xzz",
        "%",        "%x:",        "%sdt_:y",    "f a-b",        "f a[",        "f a[x]",     "f a[-1]",
        "f a->",    "f a.",       "f *a",       "f a:int",      "f a:u7",      "f a:x8[0]",  "f a:x8[65]",
        "f a:b1@2", "f a:b9@0/8", "f a:b3@1/7", "f 1=a",        "f x=$params", "f $vars:u8", "f @",
        "f @a+",    "f =a",       "f a="};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct arena a = ARENA_INIT;
        struct probe_spec s;
        struct err err = ERR_INIT;
        if (probe_spec_parse(BAD[i], &a, &s, &err))
            fail_msg("'%s' is accepted", BAD[i]);
        assert_int_equal(err.code, ERR_USAGE);
        assert_true(*err.message);
        probe_spec_fini(&s);
        arena_fini(&a);
    }
}

static void test_lines(void **state) {
    (void)state;
    static const struct {
        const char *text, *function, *file;
        uint32_t first, last;
    } GOOD[] = {
        {"main", "main", NULL, 0, UINT32_MAX},      {"main:10+20", "main", NULL, 10, 29},
        {"main:3-5", "main", NULL, 3, 5},           {"main@a.c:3", "main", "a.c", 3, UINT32_MAX},
        {"a.c", NULL, "a.c", 0, UINT32_MAX},        {"/src/a.c:7-9", NULL, "/src/a.c", 7, 9},
        {"main@a.c", "main", "a.c", 0, UINT32_MAX},
    };
    static const char *const BAD[] = {"", "main:", "main:x", "main:5-3", "main:1+x", "@a.c", "main@"};
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        struct arena a = ARENA_INIT;
        struct probe_lines l;
        assert_true(probe_lines_parse(GOOD[i].text, &a, &l, NULL));
        assert_string_equal(l.function ? l.function : "-", GOOD[i].function ? GOOD[i].function : "-");
        assert_string_equal(l.file ? l.file : "-", GOOD[i].file ? GOOD[i].file : "-");
        assert_int_equal(l.first, GOOD[i].first);
        assert_int_equal(l.last, GOOD[i].last);
        arena_fini(&a);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct arena a = ARENA_INIT;
        struct probe_lines l;
        assert_false(probe_lines_parse(BAD[i], &a, &l, NULL));
        arena_fini(&a);
    }
}

static void test_filters(void **state) {
    (void)state;
    static const struct {
        const char *filter, *name;
        bool passes;
    } CASES[] = {
        {"foo*", "foobar", true},
        {"!foo*", "foobar", false},
        {"!foo* & *bar", "fizzbar", true},
        {"!foo* & *bar", "foobar", false},
        {"a*|b*", "bc", true},
        {"!(a* | b*)", "bc", false},
        {"!(a* | b*)", "cc", true},
        {"!_* & !*@plt", "x@plt", false},
        {"a & b | c", "c", true},
        {"!!a", "a", true},
        {"[!a-c]x", "dx", true},
        {"[!a-c]x", "ax", false},
    };
    static const char *const BAD[] = {"", "(", "a &", "a b", "(a", "a)", "!", "|a"};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        assert_true(probe_filter_check(CASES[i].filter, NULL));
        if (probe_filter_passes(CASES[i].filter, CASES[i].name) != CASES[i].passes)
            fail_msg("%s %s", CASES[i].filter, CASES[i].name);
    }
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct err err = ERR_INIT;
        if (probe_filter_check(BAD[i], &err))
            fail_msg("'%s' is accepted", BAD[i]);
        assert_int_equal(err.code, ERR_USAGE);
    }
    assert_true(probe_filter_passes(NULL, "anything"));
    char deep[1000];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_false(probe_filter_check(deep, NULL));
}

static void test_lazy(void **state) {
    (void)state;
    assert_true(lazy_matches("\ta = b;", "a=*"));
    assert_true(lazy_matches("a == b", " a = * "));
    assert_false(lazy_matches("x = a;", "a=*"));
    assert_true(lazy_matches("  rq = cpu_rq(cpu);", "rq=cpu_rq*"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_specs), cmocka_unit_test(test_bad_specs),
                                       cmocka_unit_test(test_lines), cmocka_unit_test(test_filters),
                                       cmocka_unit_test(test_lazy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
