/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/header/bpf_info.h"

#include "format/perfdata/perfdata_test.h"

enum { INFO_SIZE = 232, BTF_ID = 3 };

/* A program of two functions, as struct bpf_prog_info of Linux 6.x and its arrays. */
static void make_program(struct writer *info, struct writer *data, uint32_t functions) {
    writer_zero(info, INFO_SIZE);
    writer_patch32(info, 4, 97);
    memcpy(info->data + 8, "\x01\x02\x03\x04\x05\x06\x07\x08", 8);
    memcpy(info->data + 64, "main_name", 9);
    writer_patch32(info, 104, functions);
    writer_patch32(info, 108, functions);
    writer_patch64(info, 112, data->size);
    for (uint32_t i = 0; i < functions; i++)
        writer_u64(data, 0xffffffffc0000000 + i);
    writer_patch64(info, 120, data->size);
    for (uint32_t i = 0; i < functions; i++)
        writer_u32(data, 20 + i);
    writer_patch32(info, 128, BTF_ID);
    writer_patch32(info, 132, 8);
    writer_patch64(info, 136, data->size);
    writer_patch32(info, 144, functions);
    for (uint32_t i = 0; i < functions; i++) {
        writer_u32(data, i * 8);
        writer_u32(data, i == 0 ? 3 : 9); /* types: 3 is "first_func", 9 is not there */
    }
    writer_patch32(info, 180, functions);
    writer_patch64(info, 184, data->size);
    for (uint32_t i = 0; i < functions; i++)
        writer_u64(data, 0);
}

/* INT "int", FUNC_PROTO with one argument, FUNC "first_func". */
static void make_btf(struct writer *w) {
    static const char STRINGS[] = "\0int\0first_func";
    const uint32_t types[] = {1, 1u << 24, 4, 32, 0, 13u << 24 | 1, 0, 1, 1, 5, 12u << 24, 2};
    writer_u16(w, 0xeb9f);
    writer_u16(w, 1);
    writer_u32(w, 24);
    writer_u32(w, 0);
    writer_u32(w, sizeof types);
    writer_u32(w, sizeof types);
    writer_u32(w, sizeof STRINGS);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        writer_u32(w, types[i]);
    writer_put(w, STRINGS, sizeof STRINGS);
}

static struct perfdata_bpf_prog program(const struct writer *info, const struct writer *data) {
    return (struct perfdata_bpf_prog){.info_len = (uint32_t)info->size,
                                      .data_len = (uint32_t)data->size,
                                      .info = writer_bytes(info),
                                      .data = writer_bytes(data)};
}

static void test_functions(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer info = writer_make(swap), data = writer_make(swap), btf = writer_make(swap);
        writer_zero(&data, 16);
        make_program(&info, &data, 2);
        make_btf(&btf);
        struct perfdata_btf item = {BTF_ID, writer_bytes(&btf)};
        struct perfdata_btfs btfs = {&item, 1};
        struct perfdata_btf_names names;
        assert_true(perfdata_btf_names_init(&names, &btfs, swap));
        struct perfdata_bpf_prog prog = program(&info, &data);
        struct perfdata_bpf_info out;
        assert_true(perfdata_bpf_info_decode(&prog, swap, &out));
        assert_int_equal(out.id, 97);
        assert_int_equal(out.function_count, 2);
        struct perfdata_bpf_function f = perfdata_bpf_info_function(&out, &names, 0);
        assert_string_equal(f.name, "bpf_prog_0000000000000000_first_func");
        assert_int_equal(f.size, 20);
        f = perfdata_bpf_info_function(&out, &names, 1);
        assert_string_equal(f.name, "bpf_prog_0000000000000000_F");
        assert_true(f.address == 0xffffffffc0000001);
        perfdata_btf_names_fini(&names);
        writer_fini(&info);
        writer_fini(&data);
        writer_fini(&btf);
    }
}

static void test_single_without_btf(void **state) {
    (void)state;
    struct writer info = writer_make(false), data = writer_make(false);
    make_program(&info, &data, 1);
    info.size = 128; /* an old producer: no BTF, no tags */
    struct perfdata_btfs none = {NULL, 0};
    struct perfdata_btf_names names;
    assert_true(perfdata_btf_names_init(&names, &none, false));
    struct perfdata_bpf_prog prog = program(&info, &data);
    struct perfdata_bpf_info out;
    assert_true(perfdata_bpf_info_decode(&prog, false, &out));
    struct perfdata_bpf_function f = perfdata_bpf_info_function(&out, &names, 0);
    assert_string_equal(f.name, "bpf_prog_0102030405060708_main_name");
    perfdata_btf_names_fini(&names);
    writer_fini(&info);
    writer_fini(&data);
}

/* Any byte may be wrong: nothing outside is touched. */
static void test_hostile(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        struct writer info = writer_make(false), data = writer_make(false), btf = writer_make(false);
        make_program(&info, &data, 2);
        make_btf(&btf);
        struct writer *victims[] = {&info, &data, &btf};
        for (int k = 0; k < 3; k++) {
            struct writer *w = victims[test_below(&seed, 3)];
            w->data[test_below(&seed, w->size)] = (uint8_t)test_random(&seed);
        }
        size_t size = test_below(&seed, info.size + 1);
        uint8_t *copy = test_copy(info.data, size);
        struct perfdata_btf item = {BTF_ID, writer_bytes(&btf)};
        struct perfdata_btfs btfs = {&item, 1};
        struct perfdata_btf_names names;
        assert_true(perfdata_btf_names_init(&names, &btfs, false));
        struct perfdata_bpf_prog prog = program(&info, &data);
        prog.info = (struct bytes){copy, size};
        struct perfdata_bpf_info out;
        if (perfdata_bpf_info_decode(&prog, false, &out))
            for (uint32_t k = 0; k < out.function_count; k++)
                perfdata_bpf_info_function(&out, &names, k);
        perfdata_btf_names_fini(&names);
        free(copy);
        writer_fini(&info);
        writer_fini(&data);
        writer_fini(&btf);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_single_without_btf),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
