/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/lists/attr_text.h"

static void assert_text(const struct perfdata_attr *attr, const char *want) {
    static const struct attr_text_style STYLE = {", ", ": "};
    struct perfdata_namer names = {0};
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    attr_text_write(&names, attr, &STYLE, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
}

static void test_zero_fields_are_left_out(void **state) {
    (void)state;
    assert_text(&(struct perfdata_attr){0},
                "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0 (PERF_COUNT_HW_CPU_CYCLES)");
}

static void test_every_field(void **state) {
    (void)state;
    struct perfdata_attr a = {
        .type = 4,
        .size = 144,
        .config = 0xc4,
        .sample_period = 4000,
        .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TRANSACTION | PERFDATA_SAMPLE_STREAM_ID |
                       PERFDATA_SAMPLE_PERIOD | 1ull << 40,
        .read_format = 31,
        .flags = PERFDATA_ATTR_DISABLED | 3ull << PERFDATA_ATTR_PRECISE_IP_SHIFT | PERFDATA_ATTR_MMAP_DATA |
                 PERFDATA_ATTR_DEFER_OUTPUT,
        .wakeup = 7,
        .bp_type = 3,
        .config1 = 0x1234,
        .config2 = 0x4321,
        .branch_sample_type = 1 | PERFDATA_BRANCH_COUNTERS,
        .sample_regs_user = 0xabc,
        .sample_stack_user = 8192,
        .clockid = -5,
        .sample_regs_intr = 0xdef,
        .aux_watermark = 77,
        .sample_max_stack = 127,
        .aux_sample_size = 4096,
        .aux_action = 5,
        .sig_data = 0x99,
        .config3 = 1,
        .config4 = 1,
    };
    assert_text(&a, "type: 4 (cpu), size: 144, config: 0xc4, { sample_period, sample_freq }: 4000, "
                    "sample_type: IP|PERIOD|STREAM_ID|TRANSACTION|0x10000000000, "
                    "read_format: TOTAL_TIME_ENABLED|TOTAL_TIME_RUNNING|ID|GROUP|LOST, "
                    "disabled: 1, precise_ip: 3, mmap_data: 1, defer_output: 1, "
                    "{ wakeup_events, wakeup_watermark }: 7, bp_type: 3, { bp_addr, config1 }: 0x1234, "
                    "{ bp_len, config2 }: 0x4321, branch_sample_type: USER|COUNTERS, "
                    "sample_regs_user: 0xabc, sample_stack_user: 8192, clockid: -5, "
                    "sample_regs_intr: 0xdef, aux_watermark: 77, sample_max_stack: 127, "
                    "aux_sample_size: 4096, sig_data: 153, aux_start_paused: 1, aux_resume: 1");
}

static void test_config_names(void **state) {
    (void)state;
    static const struct {
        uint32_t type;
        uint64_t config;
        const char *text;
    } rows[] = {
        {0, 9, "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0x9 (PERF_COUNT_HW_REF_CPU_CYCLES)"},
        {0, 10, "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0xa"},
        {0, 0x400000001,
         "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0x400000001 "
         "(cpu/PERF_COUNT_HW_INSTRUCTIONS/)"},
        {0, 0x4000000ff,
         "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0x4000000ff "
         "(cpu/config=0x4000000ff/)"},
        {0, 0x4d00000001,
         "type: 0 (PERF_TYPE_HARDWARE), size: 0, config: 0x4d00000001 "
         "(PERF_COUNT_HW_INSTRUCTIONS)"},
        {1, 10, "type: 1 (PERF_TYPE_SOFTWARE), size: 0, config: 0xa (PERF_COUNT_SW_BPF_OUTPUT)"},
        {1, 12, "type: 1 (PERF_TYPE_SOFTWARE), size: 0, config: 0xc"},
        {2, 391, "type: 2 (PERF_TYPE_TRACEPOINT), size: 0, config: 0x187"},
        {3, 0x10002,
         "type: 3 (PERF_TYPE_HW_CACHE), size: 0, config: 0x10002 "
         "(PERF_COUNT_HW_CACHE_RESULT_MISS | PERF_COUNT_HW_CACHE_OP_READ | "
         "PERF_COUNT_HW_CACHE_LL)"},
        {3, 0x20000, "type: 3 (PERF_TYPE_HW_CACHE), size: 0, config: 0x20000"},
        {5, 0, "type: 5 (PERF_TYPE_BREAKPOINT), size: 0, config: 0"},
        {77, 5, "type: 77, size: 0, config: 0x5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_text(&(struct perfdata_attr){.type = rows[i].type, .config = rows[i].config}, rows[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_fields_are_left_out),
        cmocka_unit_test(test_every_field),
        cmocka_unit_test(test_config_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
