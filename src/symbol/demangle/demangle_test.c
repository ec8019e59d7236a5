/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/demangle/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/writer.h"
#include "config.h"
#include "tests/support/fail_alloc.h"

struct row {
    const char *name, *text; /* NULL: not mangled */
};

/* Each as perf 7.2 prints it. */
static const struct row cxx_rows[] = {
    {"_Z3foov", "foo()"},
    {"_ZN2ns3barEPKcSt6vectorIiSaIiEE", "ns::bar(char const*, std::vector<int, std::allocator<int> >)"},
    {"_ZNSolsEi", "std::ostream::operator<<(int)"},
    {"_ZN3foo3barEv.part.0", "foo::bar() [clone .part.0]"},
    {"_ZN3foo3barEv.isra.0.cold", "foo::bar() [clone .isra.0] [clone .cold]"},
    {"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const"},
    {"_ZTV1A", "vtable for A"},
    {"_ZThn16_N1A1fEv", "non-virtual thunk to A::f()"},
    {"_ZN12_GLOBAL__N_13fooEv", "(anonymous namespace)::foo()"},
    {"_Z1fIiEvT_", "void f<int>(int)"},
    {"_Z1fB5cxx11v", "f[abi:cxx11]()"},
    {"_GLOBAL__I_main", "global constructors keyed to main"},
    {"_ZN1a1hE", "a::h"}, /* not Rust: no hash; perf prints "a" */
    {"_GLOBAL__sub_I_main", NULL},
    {"_ZN3foo3barEv@plt", NULL},
    {"_ZN3foo3barEv$abc", NULL},
    {"_Z", NULL},
    {"_Z3fo", NULL},
    {"__Z3foov", NULL},
};

static const struct row rust_rows[] = {
    {"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE", "core::fmt::Formatter::write_str"},
    {"_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE.llvm.12AF", "core::fmt::Formatter::write_str"},
    {"_ZN3foo3bar17h0000000000000000E", "foo::bar"},
    {"_ZN3foo3bar17h0123456789abcdefE.part.0.cold", "foo::bar.part.0.cold"},
    {"_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h1234567890abcdefE",
     "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop"},
    {"_ZN3a.b9$RF$$BP$x12$u7b$$x$y$C$17h1234567890abcdefE", "a.b::&*x::{$x$y$C$"},
    {"_RNvC6_123foo3bar", "123foo::bar"},
    {"_RNvNtCsbDqzhqX9Lsk_4core3fmt5write", "core::fmt::write"},
    {"_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE", "std::mem::align_of::<std::mem::Discriminant>"},
    {"_RNvC6_123foo3bar.llvm.DEF", "123foo::bar"},
    {"_RNvC6_123foo3bar.llvm.def", "123foo::bar.llvm.def"},
    {"_RNvC6_123foo3bar.cold", "123foo::bar.cold"},
    {"_RNvC6_123foo3bar$x", NULL},
    {"_RNCNvC3foo3bar0", "foo::bar::{closure#0}"},
    {"_RNSNvC3foo3bar0", "foo::bar::{shim#0}"},
    {"_RNzNvC3foo3bar0", "foo::bar"},
    {"_RNKNvC3foo3bars_1x", "foo::bar::{K:x#1}"},
    {"_RIC3fooKRe616263_E", "foo::<\"abc\">"},
    {"_RIC3fooKe616263_E", "foo::<{*\"abc\"}>"},
    {"_RIC3fooKVC3barUE", "foo::<{bar}>"},
    {"_RIC3fooKVC3barTj1_j2_EE", "foo::<{bar(1, 2)}>"},
    {"_RIC3fooKVC3barS1aj1_1bRj2_EE", "foo::<{bar { a: 1, b: &2 }}>"},
    {"_RIC3fooKAj1_j2_EE", "foo::<{[1, 2]}>"},
    {"_RIC3fooKTj1_EE", "foo::<{(1,)}>"},
    {"_RIC3fooKc27_Kc22_Kca_Kc0_Kce9_E", "foo::<'\\'', '\"', '\\n', '\\0', '\\u{e9}'>"},
    {"_RIC3fooKRe22270a_E", "foo::<\"\\\"'\\n\">"},
    {"_RIC3fooKRec3a9_E", "foo::<\"\\u{e9}\">"},
    {"_RIC3fooKlnf_Ko123456789abcdef0123_E", "foo::<-15, 0x123456789abcdef0123>"},
    {"_RIC3fooKb1_Kb0_KpE", "foo::<true, false, _>"},
    {"_RIC3fooKb2_E", NULL},
    {"_RIC3fooFG0_RL1_hRL0_tEuE", "foo::<for<'a, 'b> fn(&'a u8, &'b u16)>"},
    {"_RIC3fooFUKCEuE", "foo::<unsafe extern \"C\" fn()>"},
    {"_RIC3fooFK5c_abihEvE", "foo::<extern \"c-abi\" fn(u8) -> ...>"},
    {"_RIC3fooDG_C3barp4ItemRL0_hEL_E", "foo::<dyn for<'a> bar<Item = &'a u8>>"},
    {"_RIC3fooDIC3barhEp4ItemtEL_E", "foo::<dyn bar<u8, Item = u16>>"},
    {"_RIC3fooTEThEThtEAhj4_ShPhOhE", "foo::<(), (u8,), (u8, u16), [u8; 4], [u8], *const u8, *mut u8>"},
    {"_RIC3fooRL_hE", "foo::<&u8>"},
    {"_RIC3fooL_E", "foo::<'_>"},
    {"_RIC3fooL0_E", NULL}, /* bound nowhere */
    {"_RNvCu8gr_xna5e3bar", "g\xc4\xb1\xc4\x9fr::bar"},
    {"_RNvC3foou9grxa_67c5e", NULL},
    {"_RIC3fooWjRj1_j9_E", "foo::<usize is 1..=9>"}, /* newer than perf 7.2 */
    {"_RNvC3foo3barC3baz", "foo::bar"},              /* instantiated by baz */
    {"_RC3foo", "foo"},
    {"_R0NvC3foo3bar", NULL},
    {"_RIC3fooB_E", NULL}, /* within itself */
    {"_RNvC3foo9bar", NULL},
    {"_R", NULL},
};

static const struct row other_rows[] = {
    {"camlStdlib__List__map_123", "Stdlib.List.map_123"},
    {"camlFoo__bar$20baz_45", "Foo.bar baz_45"},
    {"camlFoo__$2b$2B_12", "Foo.++_12"},
    {"camlFoo___bar", "Foo._bar"},
    {"camlFoo__a$2", "Foo.a$2"},
    {"camlFoo__a$zz", "Foo.a$zz"},
    {"caml_alloc", NULL},
    {"caml", NULL},
    {"calloc", NULL},
    {"Lfoo/bar;method(I)V", "foo.bar.method(int)"},
    {"Ljava/lang/String;<init>()V", "java.lang.String<init>()"},
    {"Lfoo/bar$baz;m_x(BCDFIJSZ)[I", "foo.bar$baz.m_x(byte, char, double, float, int, long, short, boolean)"},
    {"Lfoo/bar;method([I[[Lx/y;J)Lz;", "foo.bar.method(int[], x.y[][], long)"}, /* perf: x.y, long[][] */
    {"Lfoo;m(Ljava/lang/String)V", NULL},
    {"Lfoo;m(I", NULL},
    {"Lfoo;", NULL},
    {"Llocal", NULL},
    {"L", NULL},
    {"main", NULL},
    {"", NULL},
    {"_", NULL},
    {"runtime.mallocgc", NULL},
    {"_Dmain", NULL},
};

static void check(const struct row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct arena arena = ARENA_INIT;
        const char *text = symbol_demangle(rows[i].name, &arena);
        if (rows[i].text) {
            assert_non_null(text);
            assert_string_equal(text, rows[i].text);
        } else if (text) {
            fail_msg("%s became %s", rows[i].name, text);
        }
        arena_fini(&arena);
    }
}
#define CHECK(rows) check(rows, sizeof rows / sizeof *rows)

static void test_rust(void **state) {
    (void)state;
    CHECK(rust_rows);
}

static void test_other(void **state) {
    (void)state;
    CHECK(other_rows);
}

static void test_cxx(void **state) {
    (void)state;
    if (!symbol_demangle_knows_cxx()) {
        print_message("SKIP: built without libiberty\n");
        skip();
    }
    CHECK(cxx_rows);
    const struct row d[] = {{"_D3foo3barFiZv", "foo.bar(int)"},
                            {"_D3std5stdio7writelnFZv", "std.stdio.writeln()"}};
    CHECK(d);
}

/* A text made of parts, asked for; whatever comes must be within bounds. */
static void ask(struct writer *w) {
    struct arena arena = ARENA_INIT;
    writer_u8(w, 0);
    assert_true(writer_ok(w));
    const char *text = symbol_demangle((const char *)w->data, &arena);
    if (text)
        assert_true(strlen(text) <= 64 * 1024);
    assert_true(arena.total_bytes < 256 * 1024);
    arena_fini(&arena);
    writer_clear(w);
}

static void puts_to(struct writer *w, const char *s) {
    writer_put(w, s, strlen(s));
}

/* Names whose text doubles with every part, that go very deep, that are very long. */
static void test_hostile(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    char part[32];
    puts_to(&w, "_Z1fSt4pairIiiES_IS0_S0_E");
    for (int i = 1; i < 34; i++) {
        char a = (char)(i < 10 ? '0' + i : 'A' + i - 10);
        writer_put(&w, part, (size_t)snprintf(part, sizeof part, "S_IS%c_S%c_E", a, a));
    }
    ask(&w);
    puts_to(&w, "_RIC3fooThhE"); /* (u8, u8), then pairs of what came before */
    for (int i = 0; i < 40; i++) {
        static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        size_t to = i ? 10 + 8 * ((size_t)i - 1) : 6; /* where the last began: base 62, less one, after _R */
        char ref[4] = {digits[(to - 1) / 62], digits[(to - 1) % 62], '_', 0};
        writer_put(&w, part, (size_t)snprintf(part, sizeof part, "TB%.2sB%.2sE", ref, ref));
    }
    puts_to(&w, "E");
    ask(&w);
    static const struct {
        const char *before, *again, *after;
        int times;
    } deep[] = {
        {"_Z1f", "P", "i", 30000},           {"_Z1f", "P", "i", 100000},
        {"_ZN", "1a", "Ev", 15000},          {"_Z1fIX", "pl", "EEvv", 10000},
        {"_ZN", "1aI", "", 10000},           {"_Z1f", "F", "v", 20000},
        {"_RIC1f", "R", "hE", 30000},        {"_RIC1f", "T", "", 30000},
        {"_R", "NvC1a", "1b", 6000},         {"_R", "I", "C1a", 30000},
        {"_R", "M", "C1a", 30000},           {"_RIC1fK", "R", "j1_E", 30000},
        {"_RIC1fFG", "Z", "_EuE", 12},       {"_D3foo3barF", "P", "iZv", 900},
        {"_D1a", "FQaZv", "", 60},           {"La;b(", "[", "I)V", 30000},
        {"camlA", "__", "", 10000},          {"_ZN", "9999999999", "", 100},
        {"_RC", "9999999999", "", 100},      {"_R", "Y", "", 30000},
        {"_RIC1fD", "C1aC1a", "EL_E", 5000},
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        puts_to(&w, deep[i].before);
        for (int k = 0; k < deep[i].times; k++)
            puts_to(&w, deep[i].again);
        puts_to(&w, deep[i].after);
        ask(&w);
    }
    writer_fini(&w);
}

/* Every beginning of every name, and every name with a byte changed. */
static void test_damaged(void **state) {
    (void)state;
    static const struct {
        const struct row *rows;
        size_t count;
    } tables[] = {{cxx_rows, sizeof cxx_rows / sizeof *cxx_rows},
                  {rust_rows, sizeof rust_rows / sizeof *rust_rows},
                  {other_rows, sizeof other_rows / sizeof *other_rows}};
    struct writer w = writer_make(false);
    for (size_t t = 0; t < 3; t++)
        for (size_t i = 0; i < tables[t].count; i++) {
            const char *name = tables[t].rows[i].name;
            size_t size = strlen(name);
            for (size_t at = 0; at < size; at++) {
                writer_put(&w, name, at);
                ask(&w);
                for (const char *c = "EB_9IZ"; *c; c++) {
                    writer_put(&w, name, at);
                    writer_put(&w, c, 1);
                    puts_to(&w, name + at + 1);
                    ask(&w);
                }
            }
        }
    writer_fini(&w);
}

static void test_no_memory(void **state) {
    (void)state;
    FAIL_EACH_ALLOC({
        struct arena arena = ARENA_INIT;
        const char *text = symbol_demangle("_RNvC6_123foo3bar", &arena);
        if (text)
            assert_string_equal(text, "123foo::bar");
        arena_fini(&arena);
    });
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cxx),     cmocka_unit_test(test_rust),    cmocka_unit_test(test_other),
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_damaged), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
