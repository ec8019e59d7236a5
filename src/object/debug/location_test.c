/* SPDX-License-Identifier: Apache-2.0 */
#include "object/debug/location.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/out.h"
#include "object/debug/dwarf_ops.h"

enum { REG5 = DW_OP_reg0 + 5, BREG7 = DW_OP_breg0 + 7, MOST = 6 };

static void put_chain(struct out *o, const struct object_chain *c) {
    if (c->linked)
        out_str(o, "image");
    else if (c->base == OBJECT_NO_REGISTER)
        out_str(o, "0");
    else
        out_printf(o, "r%d", c->base);
    for (unsigned i = 0; i < c->count; i++)
        out_printf(o, "%s%+lld", i ? "*" : "", (long long)c->add[i]);
}

static void put(struct out *o, const struct object_location *l) {
    for (unsigned i = 0; i < l->count; i++) {
        const struct object_piece *p = &l->pieces[i];
        static const char *const KINDS[] = {"nowhere ", "in ", "at ", "is "};
        out_printf(o, "%s%s", i ? ", " : "", KINDS[p->place.kind]);
        if (p->place.kind != OBJECT_PLACE_NOWHERE)
            put_chain(o, &p->place.chain);
        out_str(o, p->place.own_frame ? " own" : "");
        if (p->size)
            out_printf(o, " size %llu", (unsigned long long)p->size);
    }
}

static const struct {
    struct object_op ops[MOST];
    const char *expected; /* NULL: refused */
} CASES[] = {
    {{{REG5, 0, 0}}, "in r5+0"},
    {{{DW_OP_reg0, 0, 0}}, "in r0+0"},
    {{{DW_OP_reg31, 0, 0}}, "in r31+0"},
    {{{DW_OP_breg0, 4, 0}}, "at r0+4"},
    {{{DW_OP_breg31, 4, 0}}, "at r31+4"},
    {{{DW_OP_lit0, 0, 0}, {DW_OP_stack_value, 0, 0}}, "is 0+0"},
    {{{DW_OP_lit31, 0, 0}, {DW_OP_stack_value, 0, 0}}, "is 0+31"},
    {{{BREG7, 1, 0}, {BREG7, 2, 0}, {BREG7, 3, 0}, {DW_OP_pick, 2, 0}}, "at r7+1"},
    {{{BREG7, 1, 0}, {DW_OP_pick, 1, 0}}, NULL},
    {{{BREG7, 1, 0}, {DW_OP_nop, 0, 0}}, "at r7+1"},
    {{{DW_OP_regx, 17, 0}}, "in r17+0"},
    {{{BREG7, 8, 0}}, "at r7+8"},
    {{{DW_OP_bregx, 3, (uint64_t)-4}}, "at r3-4"},
    {{{DW_OP_fbreg, (uint64_t)-20, 0}}, "at r7-12 own"},
    {{{DW_OP_fbreg, 16, 0}}, "at r7+24"},
    {{{DW_OP_call_frame_cfa, 0, 0}, {DW_OP_plus_uconst, 8, 0}}, "at r7+16"},
    {{{DW_OP_addr, 0x4010, 0}}, "at image+16400"},
    {{{BREG7, 8, 0}, {DW_OP_deref, 0, 0}, {DW_OP_plus_uconst, 4, 0}}, "at r7+8*+4"},
    {{{BREG7, 8, 0}, {DW_OP_deref_size, 8, 0}}, "at r7+8*+0"},
    {{{BREG7, 8, 0}, {DW_OP_deref_size, 4, 0}}, NULL},
    {{{BREG7, 0, 0},
      {DW_OP_convert, 8, 0},
      {DW_OP_convert, 4, 0},
      {DW_OP_stack_value, 0, 0},
      {DW_OP_piece, 4, 0}},
     "is r7+0 size 4"},
    {{{BREG7, 0, 0}, {DW_OP_convert, 2, 0}, {DW_OP_stack_value, 0, 0}, {DW_OP_piece, 4, 0}},
     "nowhere  size 4"},
    {{{BREG7, 0, 0}, {DW_OP_convert, 4, 0}, {DW_OP_plus_uconst, 1, 0}}, NULL},
    {{{BREG7, 0, 0}, {DW_OP_convert, OBJECT_OP_NONE, 0}}, NULL},
    {{{BREG7, 0, 0}, {0x1a /* and */, 0, 0}, {DW_OP_piece, 4, 0}, {REG5, 0, 0}, {DW_OP_piece, 4, 0}},
     "nowhere  size 4, in r5+0 size 4"},
    {{{BREG7, 0, 0}, {DW_OP_stack_value, 0, 0}}, "is r7+0"},
    {{{DW_OP_lit0 + 5, 0, 0}, {DW_OP_stack_value, 0, 0}}, "is 0+5"},
    {{{DW_OP_const1u, 200, 0}, {DW_OP_stack_value, 0, 0}}, "is 0+200"},
    {{{DW_OP_implicit_value, 4, 77}}, "is 0+77"},
    {{{DW_OP_implicit_value, OBJECT_OP_NONE, 0}}, NULL},
    {{{BREG7, 1, 0}, {DW_OP_lit0 + 3, 0, 0}, {DW_OP_plus, 0, 0}}, "at r7+4"},
    {{{DW_OP_lit0 + 3, 0, 0}, {BREG7, 1, 0}, {DW_OP_plus, 0, 0}}, "at r7+4"},
    {{{BREG7, 1, 0}, {DW_OP_lit0 + 3, 0, 0}, {DW_OP_minus, 0, 0}}, "at r7-2"},
    {{{DW_OP_lit0 + 3, 0, 0}, {BREG7, 1, 0}, {DW_OP_minus, 0, 0}}, NULL},
    {{{BREG7, 1, 0}, {BREG7, 1, 0}, {DW_OP_plus, 0, 0}}, NULL},
    {{{BREG7, 1, 0}, {DW_OP_dup, 0, 0}, {DW_OP_drop, 0, 0}}, "at r7+1"},
    {{{BREG7, 1, 0}, {BREG7, 2, 0}, {DW_OP_swap, 0, 0}}, "at r7+1"},
    {{{BREG7, 1, 0}, {BREG7, 2, 0}, {DW_OP_over, 0, 0}}, "at r7+1"},
    {{{DW_OP_drop, 0, 0}}, NULL},
    {{{DW_OP_plus, 0, 0}}, NULL},
    {{{DW_OP_stack_value, 0, 0}}, NULL},
    {{{DW_OP_entry_value, 5, 0}, {DW_OP_stack_value, 0, 0}}, "is r5+0"},
    {{{DW_OP_entry_value, OBJECT_OP_NONE, 0}, {DW_OP_stack_value, 0, 0}}, NULL},
    {{{DW_OP_GNU_push_tls_address, 0, 0}}, NULL},
    {{{DW_OP_implicit_pointer, 0, 0}}, NULL},
    {{{0x1a /* and */, 0, 0}}, NULL},
    {{{REG5, 0, 0}, {DW_OP_piece, 8, 0}, {DW_OP_piece, 4, 0}, {BREG7, 8, 0}, {DW_OP_piece, 4, 0}},
     "in r5+0 size 8, nowhere  size 4, at r7+8 size 4"},
    {{{REG5, 0, 0}, {DW_OP_piece, 8, 0}, {BREG7, 8, 0}}, NULL},
    {{{BREG7, 1, 0}, {DW_OP_stack_value, 0, 0}, {DW_OP_plus_uconst, 1, 0}}, NULL},
    {{{BREG7, INT64_MAX, 0}, {DW_OP_plus_uconst, 1, 0}}, NULL},
};

static void test_expressions(void **state) {
    (void)state;
    struct object_chain cfa = {7, false, 1, {8}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct object_location_context c = {&cfa, &cfa, true, true, 8};
        struct object_location l;
        struct out o;
        const char *why;
        size_t n = 0;
        while (n < MOST && CASES[i].ops[n].atom)
            n++;
        assert_true(out_init(&o, NULL, NULL));
        if (object_location_follow(CASES[i].ops, n, &c, &l, &why))
            put(&o, &l);
        else
            assert_non_null(why);
        if (strcmp(out_text(&o), CASES[i].expected ? CASES[i].expected : "") != 0)
            fail_msg("case %zu: %s, not %s", i, out_text(&o),
                     CASES[i].expected ? CASES[i].expected : "refused");
        out_fini(&o);
    }
}

/* What is not known is refused: the frame, and, past a function's entry, the registers' values at its entry.
 */
static void test_context(void **state) {
    (void)state;
    struct object_location_context none = {NULL, NULL, false, false, 8};
    struct object_location l;
    const char *why;
    static const struct object_op OPS[] = {
        {DW_OP_fbreg, 0, 0}, {DW_OP_call_frame_cfa, 0, 0}, {DW_OP_entry_value, 5, 0}};
    for (size_t i = 0; i < 3; i++) {
        assert_false(object_location_follow(&OPS[i], 1, &none, &l, &why));
        assert_non_null(why);
    }
    assert_false(object_location_follow(OPS, 0, &none, &l, &why));
    assert_non_null(why);
}

static void test_bounds(void **state) {
    (void)state;
    struct object_location_context none = {NULL, NULL, false, false, 8};
    struct object_op ops[200];
    struct object_location l;
    const char *why;
    for (size_t i = 0; i < 200; i++)
        ops[i] = (struct object_op){BREG7, 0, 0};
    assert_false(object_location_follow(ops, 200, &none, &l, &why)); /* its stack */
    for (size_t i = 1; i < 200; i++)
        ops[i] = (struct object_op){DW_OP_deref, 0, 0};
    assert_false(object_location_follow(ops, 200, &none, &l, &why)); /* too many pointers */
    for (size_t i = 0; i < 200; i++)
        ops[i] = (struct object_op){DW_OP_piece, 1, 0};
    assert_false(object_location_follow(ops, 200, &none, &l, &why)); /* pieces */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_expressions), cmocka_unit_test(test_context),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
