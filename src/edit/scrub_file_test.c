/* SPDX-License-Identifier: Apache-2.0 */
/* What a kept jitdump looks like in a scrubbed copy. More: edit/scrub_test.c, tests/buildid_cache_test.py. */
#include "edit/scrub_file.h"

#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "format/jitdump/jitdump.h"
#include "format/perfdata/added/kept.h"
#include "format/perfdata/perfdata_test.h"
#include "object/compressed.h"
#include "stream/stream.h"
#include "tests/support/edit_recording.h"

static const uint64_t ADDRESS = 0x7f1234567000, TO = 0x7f1234569000;

static void drop_log(void *ctx, enum log_level level, const char *line) {
    (void)level, (void)line;
    ++*(int *)ctx;
}

static struct bytes span(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s)};
}

static void put_load(struct writer *w) {
    struct jitdump_record rec = {.type = JITDUMP_LOAD, .time = 1};
    rec.load = (struct jitdump_load){42, 43, ADDRESS, ADDRESS, 5, span("f"), span("code")};
    jitdump_record_encode(&rec, w);
}

static void put_move(struct writer *w) {
    struct jitdump_record rec = {.type = JITDUMP_MOVE, .time = 2};
    rec.move = (struct jitdump_move){42, 43, TO, ADDRESS, TO, 4, 5};
    jitdump_record_encode(&rec, w);
}

/* Writes a record with an address in it, of another type or for a function that is longer than the record. */
static void put_other(struct writer *w, uint32_t type) {
    writer_u32(w, type);
    writer_u32(w, JITDUMP_RECORD_SIZE + 48);
    writer_u64(w, 1);
    for (int i = 0; i < 6; i++)
        writer_u64(w, ADDRESS);
}

/* Writes a file with a recording that keeps the jitdump. */
static void write_recording(const char *path, const struct writer *dump) {
    struct perfdata_events events;
    perfdata_events_init(&events, false);
    edit_recording_event(&events, 0, 0);
    struct writer data = writer_make(false), entry = writer_make(false);
    test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
    struct writer file = edit_recording_file(&events, &data, NULL, 0);
    struct perfdata_kept k = {.kind = PERFDATA_KEPT_JITDUMP,
                              .pid = 42,
                              .name = span("/home/me/jit-42.dump"),
                              .file_size = dump->size,
                              .kept_size = dump->size,
                              .packed = writer_bytes(dump)};
    perfdata_kept_encode(&k, &(struct perfdata_extent){0, dump->size}, 1, &entry);
    writer_align(&file, 8);
    perfdata_box_encode(&(struct perfdata_part){PERFDATA_PART_KEPT, writer_bytes(&entry)}, 1, &file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(file.data, 1, file.size, f), file.size);
    assert_int_equal(fclose(f), 0);
    writer_fini(&entry);
    writer_fini(&file);
}

/* Returns the first record's address in the copy's jitdump, whose records must be as before otherwise; 0:
 * there is no jitdump. */
static uint64_t read_copy(const char *path) {
    struct err err = ERR_INIT;
    struct stream *s = stream_open(path, NULL, &err);
    assert_non_null(s);
    struct bytes rest = stream_part(s, false, PERFDATA_PART_KEPT);
    struct bytes plain = {0};
    struct arena arena = ARENA_INIT;
    struct perfdata_kept k;
    struct jitdump_reader r;
    struct jitdump_header h;
    struct jitdump_record load, move;
    uint64_t address = 0;
    if (perfdata_kept_next(&rest, false, &k)) {
        assert_true(bytes_equal(k.name, span("/x000/x0/jit-42.dump")));
        assert_true(k.packed.size == k.kept_size ||
                    object_decompress_sized(OBJECT_ZSTD, k.packed, k.kept_size, &arena, &plain, NULL));
        plain = k.packed.size == k.kept_size ? k.packed : plain;
        assert_true(jitdump_open(plain, &r, &h, NULL));
        assert_int_equal(jitdump_next(&r, &load, NULL), JITDUMP_RECORD);
        assert_int_equal(jitdump_next(&r, &move, NULL), JITDUMP_RECORD);
        assert_int_equal(jitdump_next(&r, &(struct jitdump_record){0}, NULL), JITDUMP_END);
        address = load.load.code_addr;
        assert_true(load.load.vma == address && bytes_equal(load.load.name, span("f")) &&
                    bytes_equal(load.load.code, span("code")));
        assert_true(move.move.old_code_addr == address &&
                    move.move.new_code_addr == address + (TO - ADDRESS) &&
                    move.move.vma == move.move.new_code_addr && move.move.code_size == 4);
    }
    arena_fini(&arena);
    stream_close(s);
    return address;
}

/* A jitdump with a record whose contents are not known is left out. */
static void test_jitdump(void **state) {
    (void)state;
    enum { NOTHING, BEFORE, BETWEEN, BEHIND, WHERES };
    char folder[] = "/tmp/scrub_test_XXXXXX", in[64], out[64];
    int lines = 0;
    log_set_sink(drop_log, &lines);
    assert_non_null(mkdtemp(folder));
    snprintf(in, sizeof in, "%s/in", folder);
    snprintf(out, sizeof out, "%s/out", folder);
    const uint32_t types[] = {77, JITDUMP_LOAD};
    for (int i = 0; i < 2 * WHERES; i++) {
        struct writer dump = writer_make(false);
        struct err err = ERR_INIT;
        jitdump_header_encode(&(struct jitdump_header){.version = 1, .machine = 62, .pid = 42}, &dump);
        if (i / 2 == BEFORE)
            put_other(&dump, types[i % 2]);
        put_load(&dump);
        if (i / 2 == BETWEEN)
            put_other(&dump, types[i % 2]);
        put_move(&dump);
        if (i / 2 == BEHIND)
            put_other(&dump, types[i % 2]);
        write_recording(in, &dump);
        lines = 0;
        struct recording r;
        uint64_t left_out;
        assert_true(recording_open(&r, stream_open(in, &(struct stream_options){0}, &err), NULL, &err) &&
                    edit_scrub_file(&r, out, &left_out, &err) && !left_out);
        recording_close(&r);
        uint64_t address = read_copy(out);
        assert_true(i / 2 == NOTHING ? address && address != ADDRESS && address % 4096 == 0 : !address);
        assert_int_equal(lines, i / 2 != NOTHING);
        writer_fini(&dump);
    }
    unlink(in);
    unlink(out);
    rmdir(folder);
    log_set_sink(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_jitdump)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
