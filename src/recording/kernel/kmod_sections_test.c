/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/kernel/kmod_sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A record's body as the RFC describes it; `gap`: with the layout of the RFC's comment, one more byte between
 * the texts. */
static struct bytes body(struct writer *w, uint64_t start, uint64_t len, const char *section,
                         const char *file, bool gap) {
    writer_clear(w);
    writer_u32(w, UINT32_MAX);
    writer_u32(w, 0);
    writer_u64(w, start);
    writer_u64(w, len);
    writer_u64(w, 0x40);
    writer_u16(w, (uint16_t)(strlen(section) + 1));
    writer_u16(w, (uint16_t)(strlen(file) + 1));
    writer_put(w, section, strlen(section) + 1);
    if (gap)
        writer_u8(w, 0);
    writer_put(w, file, strlen(file) + 1);
    writer_align(w, 8);
    return writer_bytes(w);
}

static void test_structure(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++)
        for (int gap = 0; gap < 2; gap++) {
            struct writer w = writer_make(swap), out = writer_make(swap);
            struct bytes b = body(&w, 0xffffffffc0a00000, 0x1000, ".noinstr.text", "/lib/a.ko", gap);
            assert_true(perfdata_is_kmod_sec_map(b, swap));
            assert_false(perfdata_is_kmod_sec_map((struct bytes){b.data, 40}, swap));
            struct perfdata_raw raw = {
                .type = PERFDATA_RECORD_KMOD_SEC_MAP, .size = (uint32_t)b.size + 8, .body = b};
            struct perfdata_record rec;
            struct bytes section, file;
            const char *why = NULL;
            assert_true(perfdata_record_decode(&raw, NULL, swap, &rec, &why));
            assert_true(perfdata_kmod_names(&rec.kmod_sec_map, &section, &file));
            assert_true(section.size == 13 && memcmp(section.data, ".noinstr.text", 13) == 0);
            assert_true(file.size == 9 && memcmp(file.data, "/lib/a.ko", 9) == 0);
            perfdata_record_encode(&rec, NULL, &out);
            assert_int_equal(out.size, b.size + 8);
            assert_memory_equal(out.data + 8, b.data, b.size);
            assert_int_equal(bytes_load32(out.data, swap), 83);
            writer_fini(&w);
            writer_fini(&out);
        }
    /* COMPRESSED2: the frame's size, then the frame. */
    struct writer z = writer_make(false);
    writer_u64(&z, 60);
    writer_u32(&z, 0xfd2fb528);
    writer_zero(&z, 60);
    assert_false(perfdata_is_kmod_sec_map(writer_bytes(&z), false));
    writer_fini(&z);
}

static void see(struct kmod_sections *k, uint64_t start, uint64_t len, const char *section,
                const char *file) {
    struct writer w = writer_make(false);
    struct perfdata_raw raw = {.type = PERFDATA_RECORD_KMOD_SEC_MAP,
                               .body = body(&w, start, len, section, file, false)};
    struct perfdata_record rec;
    const char *why = NULL;
    raw.size = (uint32_t)raw.body.size + 8;
    assert_true(perfdata_record_decode(&raw, NULL, false, &rec, &why));
    assert_true(kmod_sections_see(k, &rec));
    writer_fini(&w);
}

static const char *at(const struct model *m, uint64_t address, uint64_t *offset) {
    struct model_hit hit;
    bool found = model_find(m, PERFDATA_MISC_KERNEL, 0, (struct model_when){9, 9}, address, &hit);
    *offset = hit.offset;
    return found ? model_image(m, hit.image)->name : "-";
}

/* One module has a map of its own, the other only its sections. */
static void test_model(void **state) {
    (void)state;
    struct kmod_sections k = {0};
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    static const char A[] = "/lib/a-b.ko", B[] = "[b]";
    struct perfdata_record map = {
        .type = PERFDATA_RECORD_MMAP,
        .misc = PERFDATA_MISC_KERNEL,
        .mmap = {UINT32_MAX, 0, 0x10000, 0x4000, 0, {(const uint8_t *)A, sizeof A}}};
    assert_true(model_apply(m, &map, (struct model_when){0, 1}, NULL));
    assert_true(kmod_sections_see(&k, &map));
    see(&k, 0x90000, 0x100, ".init.text", A);
    see(&k, 0x10400, 0x100, ".text", A);
    see(&k, 0x30000, 0x100, ".text", B);
    see(&k, 0x38000, 0x100, ".exit.text", B);
    assert_true(kmod_sections_finish(&k, m, NULL));
    assert_true(model_freeze(m, NULL));
    uint64_t offset;
    assert_string_equal(at(m, 0x10410, &offset), A);
    assert_int_equal(offset, 0x410);
    assert_string_equal(at(m, 0x90010, &offset), "-"); /* .init: gone after loading */
    assert_string_equal(at(m, 0x38010, &offset), B);
    assert_int_equal(offset, 0x8010);
    assert_string_equal(at(m, 0x30200, &offset), "-");
    writer_u8(&k.lines, 0);
    assert_string_equal((const char *)k.lines.data,
                        "module\t10000\t14000\t-\ta_b\t/lib/a-b.ko\nsection\t10400\t.text\n"
                        "section\t90000\t.init.text\nmodule\t30000\t38100\t-\tb\t[b]\n"
                        "section\t30000\t.text\nsection\t38000\t.exit.text\n");
    model_free(m);
    kmod_sections_fini(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_structure), cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
