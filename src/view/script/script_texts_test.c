/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/script/script_texts.h"

static struct script_text_key key(uint32_t i) {
    return script_text_key_of((uint64_t)i * 0x1001, i % 7);
}

/* Texts of many lengths, so that chunks end in the middle of one. */
static uint32_t text_of(uint32_t i, char text[256]) {
    uint32_t len = (uint32_t)sprintf(text, "text %u ", i);
    memset(text + len, 'a' + (int)(i % 26), i % 200);
    return len + i % 200;
}

static void assert_text(const struct script_texts *t, uint32_t i) {
    char text[256];
    uint32_t len = text_of(i, text);
    script_text_ref ref = script_texts_find(t, key(i));
    assert_true(ref);
    const struct script_kept *kept = script_texts_at(t, ref);
    assert_int_equal(kept->len, len);
    assert_memory_equal(kept->text, text, len);
    assert_int_equal(kept->grade, i % 3);
    assert_int_equal(kept->entry, i % 5 == 0);
    assert_int_equal((ref & SCRIPT_TEXT_ENTRY) != 0, i % 5 == 0);
}

static void keeps_many(void **state) {
    enum { COUNT = 20000 };
    (void)state;
    struct script_texts t = {0};
    char text[256];
    assert_int_equal(script_texts_find(&t, key(1)), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(script_texts_find(&t, key(i)), 0);
        uint32_t len = text_of(i, text);
        assert_true(script_texts_add(&t, key(i), text, len, (uint8_t)(i % 3), i % 5 == 0));
    }
    assert_true(t.chunks.count > 2);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_text(&t, i);
    script_texts_fini(&t);
    assert_int_equal(script_texts_find(&t, key(1)), 0);
}

static void shares_texts(void **state) {
    (void)state;
    struct script_texts t = {0};
    script_text_ref ref = script_texts_add(&t, key(3), "one", 3, 1, true);
    uint32_t used = t.used;
    assert_true(ref & SCRIPT_TEXT_ENTRY);
    assert_true(script_texts_share(&t, key(4), ref));
    assert_int_equal(script_texts_find(&t, key(4)), ref);
    assert_int_equal(t.used, used);
    script_text_ref other = script_texts_add(&t, key(5), "two", 3, 1, false);
    assert_true(other && !(other & SCRIPT_TEXT_ENTRY));
    assert_memory_equal(script_texts_at(&t, script_texts_find(&t, key(4)))->text, "one", 3);
    assert_memory_equal(script_texts_at(&t, other)->text, "two", 3);
    script_texts_fini(&t);
}

static void refuses_what_fits_no_chunk(void **state) {
    (void)state;
    struct script_texts t = {0};
    size_t size = (size_t)SCRIPT_TEXT_CHUNK * SCRIPT_TEXT_UNIT;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    uint32_t most = (uint32_t)(size - offsetof(struct script_kept, text));
    assert_int_equal(script_texts_add(&t, key(1), text, most + 1, 0, false), 0);
    assert_int_equal(script_texts_find(&t, key(1)), 0);
    script_text_ref ref = script_texts_add(&t, key(1), text, most, 0, false);
    assert_true(ref);
    assert_memory_equal(script_texts_at(&t, ref)->text, text, most);
    free(text);
    script_texts_fini(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_many),
        cmocka_unit_test(shares_texts),
        cmocka_unit_test(refuses_what_fits_no_chunk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
