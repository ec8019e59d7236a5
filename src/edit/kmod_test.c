/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/kmod.h"

#include <stdlib.h>

#include "format/perfdata/record.h"
#include "tests/support/edit_recording.h"

static const char LINES[] = "module\tffffffffc0a00000\tffffffffc0a10000\t-\text4\t/lib/modules/1/ext4.ko\n"
                            "section\tffffffffc0a00000\t.text\nsection\tffffffffc0a04000\t.exit.text\n"
                            "section\tffffffffc0a05000\t.data\nsection\tffffffffc0900000\t.init.text\n"
                            "section\tffffffffc0900200\t.init.data\n";

/* A recording of one record, written in this or the other byte order. */
static void make(struct writer *file, bool swap) {
    struct perfdata_events events;
    perfdata_events_init(&events, swap);
    edit_recording_event(&events, 0, 0);
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    struct writer data = writer_make(swap);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_COMM,
                                  .comm = {7, 7, {(const uint8_t *)"comm\0\0\0", 8}},
                                  .id = {.have = plan->sample_type, .time = 5, .identifier = 1}};
    perfdata_record_encode(&rec, plan, &data);
    static const char path[24] = "/lib/modules/1/ext4.ko", other[24] = "/lib/modules/1/ext3.ko";
    struct perfdata_record map = {
        .type = PERFDATA_RECORD_MMAP,
        .misc = PERFDATA_MISC_KERNEL,
        .mmap = {~0u, 0, 0xffffffffc0a00000, 0x10000, 0, {(const uint8_t *)other, sizeof other}},
        .id = {.have = plan->sample_type, .time = 6, .identifier = 1}};
    perfdata_record_encode(&map, plan, &data);
    map.mmap.filename.data = (const uint8_t *)path;
    map.id.time = 7;
    perfdata_record_encode(&map, plan, &data);
    *file = edit_recording_file(&events, &data, NULL, 0);
}

static void inject(bool rfc, bool swap, struct writer *out) {
    struct writer file;
    make(&file, swap);
    struct stream *in = stream_open_memory(writer_bytes(&file), &(struct stream_options){0}, NULL);
    assert_non_null(in);
    struct edit_kmod *k =
        edit_kmod_new((struct bytes){(const uint8_t *)LINES, sizeof LINES - 1}, rfc, in, NULL);
    struct copy_sink sink = edit_recording_sink(out, false);
    struct copy_result result;
    assert_true(copy_recording(in, &sink, edit_kmod_editor(k), &result, NULL));
    assert_int_equal(edit_kmod_count(k), 2);
    edit_kmod_free(k);
    stream_close(in);
    writer_fini(&file);
}

static bool next(struct stream *s, struct perfdata_record *rec) {
    struct stream_record r;
    const char *why = NULL;
    if (stream_next(s, &r, NULL) != STREAM_RECORD)
        return false;
    const struct perfdata_events *events = stream_events(s);
    const struct perfdata_plan *plan =
        r.event < events->list.count ? &events->list.items[r.event].plan : NULL;
    assert_true(perfdata_record_decode(&r.raw, plan, events->swap, rec, &why));
    return true;
}

/* What stays: the code that ran at loading is gone. */
static void test_maps(void **state) {
    (void)state;
    struct writer out = writer_make(false);
    struct perfdata_record rec;
    inject(false, false, &out);
    struct stream *s = stream_open_memory(writer_bytes(&out), &(struct stream_options){0}, NULL);
    assert_true(next(s, &rec) && rec.type == PERFDATA_RECORD_COMM);
    assert_true(next(s, &rec) && rec.id.time == 6); /* another module, which was there before */
    for (uint64_t off = 0; off <= 0x4000; off += 0x4000) {
        assert_true(next(s, &rec) && rec.type == PERFDATA_RECORD_MMAP);
        assert_int_equal(rec.mmap.addr, 0xffffffffc0a00000 + off);
        assert_int_equal(rec.mmap.len, off ? 0x1000 : 0x4000);
        assert_int_equal(rec.mmap.pgoff, off);
        assert_int_equal(rec.id.time, 7);
        assert_string_equal((const char *)rec.mmap.filename.data, "/lib/modules/1/ext4.ko");
    }
    assert_true(next(s, &rec) && rec.type == PERFDATA_RECORD_MMAP && rec.mmap.len == 0x10000);
    assert_false(next(s, &rec));
    stream_close(s);
    writer_fini(&out);
}

static void test_rfc(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct writer out = writer_make(swap);
        struct perfdata_record rec;
        inject(true, swap, &out);
        struct stream *s = stream_open_memory(writer_bytes(&out), &(struct stream_options){0}, NULL);
        static const struct {
            uint64_t start, len;
            const char *name;
        } want[] = {{0xffffffffc0a00000, 0x4000, ".text"}, {0xffffffffc0a04000, 0x1000, ".exit.text"}};
        assert_true(next(s, &rec) && next(s, &rec)); /* COMM, the other module's map */
        for (size_t i = 0; i < 2; i++) {
            struct bytes section, file;
            assert_true(next(s, &rec));
            assert_int_equal(rec.type, PERFDATA_RECORD_KMOD_SEC_MAP);
            assert_int_equal(rec.kmod_sec_map.start, want[i].start);
            assert_int_equal(rec.kmod_sec_map.len, want[i].len);
            assert_true(perfdata_kmod_names(&rec.kmod_sec_map, &section, &file));
            assert_string_equal((const char *)section.data, want[i].name);
            assert_string_equal((const char *)file.data, "/lib/modules/1/ext4.ko");
        }
        assert_true(next(s, &rec) && rec.type == PERFDATA_RECORD_MMAP);
        stream_close(s);
        writer_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_maps), cmocka_unit_test(test_rfc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
