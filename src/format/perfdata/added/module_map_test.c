/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/module_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void test_modules(void **state) {
    (void)state;
    static const char LINES[] = "section\t1\tstray\n"
                                "module\t1000\t5000\t-\text4\t/lib/modules/1/ext4.ko\n"
                                "section\t2000\t.exit.text\nsection\t1000\t.text\n"
                                "section\t9000\t.symtab\nsection\t8000\t.init.text\n"
                                "loaded\t77\nmodule\t6000\t7000\tab\tlate\t[late]\nsection\t6000\t.text\n"
                                "unloaded\t99\t6000\t7000\tlate\n";
    struct bytes rest = text(LINES);
    struct perfdata_module_map m;
    uint64_t start, end, at;
    assert_true(perfdata_module_map_next(&rest, &m));
    assert_true(m.count == 4 && !m.loaded && m.module.start == 0x1000);
    assert_true(perfdata_module_map_section(&m, text(".exit.text"), &at) && at == 0x2000);
    assert_false(perfdata_module_map_section(&m, text(".exit"), &at));
    assert_true(perfdata_module_map_init(&m, &start, &end) && start == 0x8000 && end == 0x9000);
    assert_true(perfdata_module_map_next(&rest, &m));
    assert_true(m.count == 1 && m.loaded && m.time_ns == 77 && m.module.build_id_bytes == 1);
    assert_false(perfdata_module_map_init(&m, &start, &end));
    assert_false(perfdata_module_map_next(&rest, &m));
}

/* Init code with nothing known after it, and within the module itself (none of it is freed apart). */
static void test_init(void **state) {
    (void)state;
    struct bytes rest = text("module\t1000\t5000\t-\ta\t[a]\nsection\t8000\t.init.text\n"
                             "module\t1000\t5000\t-\tb\t[b]\nsection\t3000\t.init.text\n");
    struct perfdata_module_map m;
    uint64_t start, end;
    assert_true(perfdata_module_map_next(&rest, &m));
    assert_true(perfdata_module_map_init(&m, &start, &end) && start == 0x8000 && end > 0x8000);
    assert_true(perfdata_module_map_next(&rest, &m));
    assert_false(perfdata_module_map_init(&m, &start, &end));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_init)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
