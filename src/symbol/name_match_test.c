/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/name_match.h"

struct row {
    const char *name, *wanted;
    bool same;
};

static const struct row ROWS[] = {
    /* C */
    {"main", "main", true},
    {"main", "mai", false},
    {"domain", "main", false},
    {"f.cold", "f", true},
    {"f.part.0", "f", true},
    {"f.part.0.cold", "f", true},
    {"f.part.0.cold", "f.part.0", false},
    {"f.constprop.12.isra.3", "f", true},
    {"f.llvm.9f3a", "f", true},
    {"f.1", "f", false},
    {"f.warm", "f", false},
    {".cold", "", false},
    {"", "f", false},
    /* C++ */
    {"f(int, char)", "f", true},
    {"f(int, char)", "f(int, char)", true},
    {"f(int, char)", "f(int)", false},
    {"f()", "g", false},
    {"ns::f(int) [clone .part.0]", "ns::f", true},
    {"ns::f(int) [clone .isra.0] [clone .cold]", "ns::f(int)", true},
    {"ns::f(int)", "f", false},
    {"ns::A::get() const", "ns::A::get", true},
    {"ns::A::get() const", "ns::A::get()", true},
    {"ns::A::get() const &", "ns::A::get", true},
    {"ns::A::get() const [clone .cold]", "ns::A::get", true},
    {"(anonymous namespace)::f(int)", "(anonymous namespace)::f", true},
    {"ns::(anonymous namespace)::f(void (*)(int))", "ns::(anonymous namespace)::f", true},
    {"(anonymous namespace)", "", false},
    {"void std::sort<int*, less>(int*, int*, less)", "std::sort", true},
    {"void std::sort<int*, less>(int*, int*, less)", "void std::sort<int*, less>", true},
    {"void std::sort<int*, less>(int*, int*, less)", "std::sort<int*, less>", true},
    {"void std::sort<int*, less>(int*, int*, less)", "sort", false},
    {"void std::sort<int*, less>(int*, int*, less)", "void std::sort", true},
    {"void std::__introsort_loop<int*>(int*)", "std::sort", false},
    {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector::push_back", true},
    {"std::vector<int, std::allocator<int> >::push_back(int&&)",
     "std::vector<int, std::allocator<int> >::push_back", true},
    {"std::enable_if<(1>0), int>::type ns::g<int>(int)", "ns::g", true},
    {"decltype (a()) ns::g<int>(int)", "ns::g", true},
    {"std::vector<int>::vector(int)", "std::vector::vector", true},
    {"std::vector<int>::~vector()", "std::vector::~vector", true},
    {"std::__cxx11::to_string[abi:cxx11](int)", "std::__cxx11::to_string", true},
    {"A::operator()(int) const", "A::operator()", true},
    {"A::operator()", "A::operator()", true},
    {"A::operator()", "A::operator", false},
    {"my_operator()", "my_operator", true},
    {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()", true},
    {"f(int)::{lambda()#1}::operator()() const", "f(int)::{lambda()#1}::operator()", true},
    {"f(int)::{lambda()#1}::operator()() const", "f", false},
    {"bool operator< <int>(A<int> const&, A<int> const&)", "operator<", true},
    {"std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<",
     true},
    {"std::istream& std::operator>><char>(std::istream&)", "std::operator>>", true},
    {"A<int>::operator->() const", "A::operator->", true},
    {"A<int>::operator[](int)", "A::operator[]", true},
    {"A::operator bool() const", "A::operator bool", true},
    {"A::operator unsigned int() const", "A::operator unsigned int", true},
    {"A::operator unsigned int() const", "int", false},
    {"operator new(unsigned long)", "operator new", true},
    {"operator delete[](void*)", "operator delete[]", true},
    /* Rust */
    {"core::fmt::Formatter::write_str", "core::fmt::Formatter::write_str", true},
    {"core::ptr::drop_in_place<alloc::string::String>", "core::ptr::drop_in_place", true},
    {"app::walk::<u8>", "app::walk", true},
    {"app::walk::<u8>::{closure#0}", "app::walk", false},
    {"<app::A as core::fmt::Debug>::fmt", "<app::A as core::fmt::Debug>::fmt", true},
    {"<app::A>::go::<fn(u8) -> u8>", "<app::A>::go", true},
    {"<app::A>::go::<fn(u8) -> u8>", "app::A::go", true},
    {"<app::A<u32>>::total", "app::A::total", true},
    {"<app::A<u32>>::total", "app::A<u32>::total", true},
    {"<app::A<u32>>::total", "total", false},
    {"<app::A as core::fmt::Debug>::fmt", "app::A as core::fmt::Debug::fmt", false},
    {"<app::A>", "app::A", false},
    {"<>::f", "::f", true},
    {"<", "f", false},
    /* Go */
    {"main.(*T).Method", "main.(*T).Method", true},
    {"main.(*T).Method", "main.", false},
    {"main.(*T).Method.func1", "main.(*T).Method", false},
    /* Java */
    {"int x.y.hash(java.lang.String)", "x.y.hash", true},
    /* no end of brackets */
    {"f<<<<", "f", false},
    {"f)", "f", false},
    {"f(((", "f", false},
    {"f>", "f", false},
    {"operator", "operator", true},
};

static void names(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (symbol_name_matches(ROWS[i].name, ROWS[i].wanted) != ROWS[i].same)
            fail_msg("'%s' for '%s'", ROWS[i].name, ROWS[i].wanted);
}

/* Nothing is read beyond the end, however a name is cut. */
static void cut_names(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        for (size_t n = 0; n <= strlen(ROWS[i].name); n++) {
            char *cut = malloc(n + 1);
            memcpy(cut, ROWS[i].name, n);
            cut[n] = 0;
            symbol_name_matches(cut, ROWS[i].wanted);
            assert_true(symbol_name_matches(cut, cut));
            assert_true(symbol_name_in_list(cut) <= n);
            free(cut);
        }
}

static void lists(void **state) {
    static const struct {
        const char *list, *first;
    } rows[] = {{"a,b", "a"},
                {"f(int, char),b", "f(int, char)"},
                {"std::map<int, int>::find,b", "std::map<int, int>::find"},
                {"operator<,b", "operator<"},
                {"operator(),b", "operator()"},
                {"a<b,c", "a<b"},
                {"0x10,b", "0x10"},
                {",b", ""},
                {"", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(symbol_name_in_list(rows[i].list), strlen(rows[i].first));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(cut_names),
        cmocka_unit_test(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
