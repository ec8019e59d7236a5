/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_test.h"

#include "format/perfdata/events/attr.h"

/* The file offset and width of every field, from the declaration in perf_event.h. */
static const struct {
    size_t offset, width;
} LAYOUT[] = {
    {0, 4},   {4, 4},   {8, 8},   {16, 8},  {24, 8},  {32, 8},  {40, 8},  {48, 4},
    {52, 4},  {56, 8},  {64, 8},  {72, 8},  {80, 8},  {88, 4},  {92, 4},  {96, 8},
    {104, 4}, {108, 2}, {110, 2}, {112, 4}, {116, 4}, {120, 8}, {128, 8}, {136, 8},
};

static size_t covered(size_t limit) {
    size_t n = 0;
    for (size_t i = 0; i < sizeof LAYOUT / sizeof *LAYOUT && LAYOUT[i].offset + LAYOUT[i].width <= limit; i++)
        n = LAYOUT[i].offset + LAYOUT[i].width;
    return n;
}

static void round_trip(uint64_t *seed, uint32_t claimed, size_t given, bool swap) {
    uint8_t data[256];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)test_random(seed);
    uint32_t size = swap ? __builtin_bswap32(claimed) : claimed;
    memcpy(data + 4, &size, 4);
    uint8_t *copy = test_copy(data, given);

    struct perfdata_attr attr;
    assert_true(perfdata_attr_decode((struct bytes){copy, given}, swap, &attr));
    assert_int_equal(attr.size, claimed);
    size_t limit = claimed < 64 ? 64 : claimed;
    assert_int_equal(attr.known_size, covered(limit < given ? limit : given));
    assert_int_equal(attr.known_size + attr.tail.size, given);
    assert_int_equal(attr.config, bytes_load64(data + 8, swap));
    assert_int_equal(attr.config1, bytes_load64(data + 56, swap));
    assert_int_equal(attr.config2, attr.known_size >= 72 ? bytes_load64(data + 64, swap) : 0);
    assert_int_equal(attr.clockid, attr.known_size >= 96 ? (int32_t)bytes_load32(data + 92, swap) : 0);
    assert_int_equal(attr.sample_max_stack, attr.known_size >= 110 ? bytes_load16(data + 108, swap) : 0);
    assert_int_equal(attr.config4, attr.known_size >= 144 ? bytes_load64(data + 136, swap) : 0);

    struct writer w = writer_make(swap);
    perfdata_attr_encode(&attr, &w);
    assert_true(writer_ok(&w));
    assert_bytes(writer_bytes(&w), data, given);
    writer_fini(&w);
    free(copy);
}

static void every_size_round_trips(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int swap = 0; swap < 2; swap++)
        for (size_t given = 64; given <= 200; given++) {
            round_trip(&seed, (uint32_t)given, given, swap);
            round_trip(&seed, 0, given, swap);
            round_trip(&seed, 63, given, swap);
            round_trip(&seed, (uint32_t)given + 8, given, swap);
            round_trip(&seed, 0xffffffff, given, swap);
            round_trip(&seed, (uint32_t)test_below(&seed, given), given, swap);
        }
}

static void short_attrs_are_refused(void **state) {
    (void)state;
    uint8_t data[64] = {0};
    for (size_t n = 0; n < 64; n++) {
        uint8_t *copy = test_copy(data, n);
        struct perfdata_attr attr;
        assert_false(perfdata_attr_decode((struct bytes){copy, n}, false, &attr));
        free(copy);
    }
    struct perfdata_attr attr;
    assert_true(perfdata_attr_decode((struct bytes){data, 64}, false, &attr));
    assert_int_equal(attr.known_size, 64);
}

/* What a big-endian compiler makes of the bitfields: the first one is the most significant bit. */
static void big_endian_flags_are_mirrored(void **state) {
    (void)state;
    uint8_t data[144] = {0};
    bool swap = !BYTES_HOST_BIG;
    data[7] = 144;
    data[40] = 0x80 | 0x02; /* disabled, exclude_hv */
    data[41] = 0x20;        /* freq */
    data[42] = 0x80 | 0x20; /* precise_ip = 0b10 spans bytes 41 and 42: its low bit 0; sample_id_all */
    data[41] |= 0x00;
    data[116] = 0x60; /* aux_pause, aux_resume */
    struct perfdata_attr attr;
    assert_true(perfdata_attr_decode((struct bytes){data, sizeof data}, swap, &attr));
    assert_int_equal(attr.flags & PERFDATA_ATTR_DISABLED, PERFDATA_ATTR_DISABLED);
    assert_int_equal(perfdata_attr_precise_ip(&attr), 1);
    assert_int_equal(attr.flags, PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_EXCLUDE_HV | PERFDATA_ATTR_FREQ |
                                     PERFDATA_ATTR_SAMPLE_ID_ALL | 1ull << PERFDATA_ATTR_PRECISE_IP_SHIFT);
    assert_int_equal(attr.aux_action, 6);

    data[41] |= 0x01; /* the high bit of precise_ip */
    data[42] = 0;
    assert_true(perfdata_attr_decode((struct bytes){data, sizeof data}, swap, &attr));
    assert_int_equal(perfdata_attr_precise_ip(&attr), 2);
}

static void little_endian_flags_are_plain(void **state) {
    (void)state;
    uint8_t data[120] = {0};
    bool swap = BYTES_HOST_BIG;
    data[4] = 120;
    data[40] = 0x01;        /* disabled */
    data[41] = 0x04 | 0x80; /* freq, low bit of precise_ip */
    data[42] = 0x04;        /* sample_id_all */
    data[116] = 0x02;
    struct perfdata_attr attr;
    assert_true(perfdata_attr_decode((struct bytes){data, sizeof data}, swap, &attr));
    assert_int_equal(attr.flags, PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_FREQ | PERFDATA_ATTR_SAMPLE_ID_ALL |
                                     1ull << PERFDATA_ATTR_PRECISE_IP_SHIFT);
    assert_int_equal(perfdata_attr_precise_ip(&attr), 1);
    assert_int_equal(attr.aux_action, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_round_trips),
        cmocka_unit_test(short_attrs_are_refused),
        cmocka_unit_test(big_endian_flags_are_mirrored),
        cmocka_unit_test(little_endian_flags_are_plain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
