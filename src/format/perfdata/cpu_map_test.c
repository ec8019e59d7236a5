/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_test.h"

#include <stdio.h>

#include "format/perfdata/cpu_map.h"

/* The CPUs as "0 3 5", or "bad". */
static void assert_cpus(const struct writer *w, const char *want) {
    char got[200] = "";
    uint8_t *copy = test_copy(w->data, w->size);
    struct perfdata_cpu_map map;
    struct perfdata_cpu_iter it;
    uint32_t cpu;
    if (!perfdata_cpu_map_decode((struct bytes){copy, w->size}, w->swap, &map) ||
        !perfdata_cpu_iter_init(&it, &map, w->swap)) {
        assert_string_equal("bad", want);
        free(copy);
        return;
    }
    while (perfdata_cpu_iter_next(&it, &cpu))
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%u", *got ? " " : "", cpu);
    assert_string_equal(got, want);
    free(copy);
}

static void list(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        writer_u16(&w, PERFDATA_CPU_MAP_LIST);
        assert_cpus(&w, "bad");
        writer_u16(&w, 3);
        writer_u16(&w, 7);
        writer_u16(&w, 2);
        assert_cpus(&w, "bad");
        writer_u16(&w, 0xffff);
        assert_cpus(&w, "7 2 65535");
        writer_fini(&w);
    }
}

static void mask(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        writer_u16(&w, PERFDATA_CPU_MAP_MASK);
        writer_u16(&w, 2);
        writer_u16(&w, 8);
        writer_zero(&w, 4);
        writer_u64(&w, 1ull << 63 | 5);
        assert_cpus(&w, "bad");
        writer_u64(&w, 2);
        assert_cpus(&w, "0 2 63 65");
        writer_clear(&w);
        writer_u16(&w, PERFDATA_CPU_MAP_MASK);
        writer_u16(&w, 2);
        writer_u16(&w, 4);
        writer_u32(&w, 1u << 31);
        writer_u32(&w, 1);
        assert_cpus(&w, "31 32");
        writer_patch16(&w, 4, 3);
        assert_cpus(&w, "bad");
        writer_fini(&w);
    }
}

static void range(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer w = writer_make(swap);
        writer_u16(&w, PERFDATA_CPU_MAP_RANGE);
        writer_u8(&w, 1);
        writer_u8(&w, 0);
        writer_u16(&w, 4);
        assert_cpus(&w, "bad");
        writer_u16(&w, 6);
        assert_cpus(&w, "65535 4 5 6");
        writer_patch16(&w, 6, 3);
        assert_cpus(&w, "65535");
        writer_patch16(&w, 0, 3);
        assert_cpus(&w, "bad");
        writer_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(list), cmocka_unit_test(mask),
                                       cmocka_unit_test(range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
