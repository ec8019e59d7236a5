/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "format/perfdata/added/evidence.h"
#include "stream/stream.h"

enum { RECORDS = 400 };

static void make_events(struct perfdata_events *events) {
    struct perfdata_attr attr = {.size = PERFDATA_ATTR_SIZE_NEWEST,
                                 .known_size = PERFDATA_ATTR_SIZE_NEWEST,
                                 .type = PERFDATA_TYPE_SOFTWARE,
                                 .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    uint64_t id = 77;
    struct perfdata_u64s ids = {(const uint8_t *)&id, 1, false};
    perfdata_events_init(events, false);
    assert_int_equal(perfdata_events_add(events, &attr, &ids), 0);
    assert_true(perfdata_events_name(events, 0, "an-event", 8));
}

/* A record of `i`, of a size that depends on it. */
static void put_record(struct writer *w, uint64_t i) {
    uint64_t words = i % 7;
    writer_u32(w, PERFDATA_RECORD_AUXTRACE_INFO); /* a user record whose body nobody looks at */
    writer_u16(w, 0);
    writer_u16(w, (uint16_t)(16 + 8 * words));
    writer_u64(w, i);
    writer_zero(w, 8 * words);
}

/* Reads a recording back: its records must be the first so many. How many. */
static uint64_t read_back(struct bytes file, bool *finished, uint64_t *features) {
    struct err err = ERR_INIT;
    struct stream_record r;
    uint64_t n = 0;
    struct stream *s = stream_open_memory(file, &(struct stream_options){0}, &err);
    assert_non_null(s);
    while (stream_next(s, &r, &err) == STREAM_RECORD) {
        uint64_t i;
        assert_int_equal(r.raw.type, PERFDATA_RECORD_AUXTRACE_INFO);
        memcpy(&i, r.raw.body.data, sizeof i);
        assert_int_equal(i, n);
        n++;
    }
    const struct stream_losses *l = stream_losses(s);
    assert_int_equal(l->bad_records, 0);
    *finished = !l->cut && !l->unfinished && !l->problems;
    *features = stream_header(s)->features.count;
    stream_close(s);
    return n;
}

static const uint8_t HOST[] = {4, 0, 0, 0, 'h', 'o', 's', 't'};
static const uint8_t BUILD_IDS[104];
static const char PREAMBLE[] = "in front of data", TRAILER[] = "behind everything.......";

/* A preamble: those words and the mark of how the recording ended. */
static void put_preamble(struct writer *w) {
    struct writer open = writer_make(false);
    perfdata_ending_encode(&(struct perfdata_ending){PERFDATA_ENDING_OPEN, 4096, 1}, &open);
    const struct perfdata_part parts[] = {
        {PERFDATA_PART_SECTIONS, {(const uint8_t *)PREAMBLE, sizeof PREAMBLE - 1}},
        {PERFDATA_PART_ENDING, writer_bytes(&open)},
    };
    perfdata_box_encode(parts, 2, w);
    writer_fini(&open);
}

/* What the mark says. */
static uint32_t ending_of(struct bytes file) {
    struct err err = ERR_INIT;
    struct perfdata_ending e;
    struct stream *s = stream_open_memory(file, &(struct stream_options){0}, &err);
    assert_non_null(s);
    struct bytes words = stream_part(s, true, PERFDATA_PART_SECTIONS);
    assert_int_equal(words.size, sizeof PREAMBLE - 1);
    assert_memory_equal(words.data, PREAMBLE, words.size);
    assert_true(perfdata_ending_decode(stream_part(s, true, PERFDATA_PART_ENDING), false, &e));
    assert_int_equal(e.missing_bytes, e.how == PERFDATA_ENDING_OPEN ? 4096 : 0);
    stream_close(s);
    return e.how;
}

/* Writes RECORDS records in pieces of several sizes; how many were taken without an error. */
static uint64_t write_all(struct os_output_fake *disk, bool *finished_well) {
    struct perfdata_events events;
    struct record_file f;
    struct err err = ERR_INIT;
    const struct perfdata_feature early[] = {
        {.id = PERFDATA_FEATURE_OSRELEASE, .content = {HOST, sizeof HOST}},
        {.id = PERFDATA_FEATURE_HOSTNAME, .content = {HOST, sizeof HOST}},
    };
    const struct perfdata_feature late[] = {
        {.id = PERFDATA_FEATURE_BUILD_ID, .content = {BUILD_IDS, sizeof BUILD_IDS}}};
    uint64_t good = 0;
    make_events(&events);
    *finished_well = false;
    struct writer preamble = writer_make(false);
    put_preamble(&preamble);
    if (record_file_start(&f, disk->out, "fake",
                          &(struct record_file_head){&events, early, 2, writer_bytes(&preamble)}, &err)) {
        bool ok = true;
        for (uint64_t i = 0, piece = 1; i < RECORDS && ok; piece = piece * 3 % 50 + 1) {
            struct writer w = writer_make(false);
            uint64_t n = 0;
            for (; n < piece && i < RECORDS; n++)
                put_record(&w, i++);
            /* In three spans that cut through records. */
            size_t a = w.size / 3, b = w.size / 2;
            struct bytes spans[] = {{w.data, a}, {w.data + a, b - a}, {w.data + b, w.size - b}};
            ok = record_file_append(&f, spans, 3, &err);
            good += ok ? n : 0;
            writer_fini(&w);
        }
        uint8_t other[sizeof HOST] = {4, 0, 0, 0, 'p', 'o', 's', 't'};
        record_file_update(&f, PERFDATA_FEATURE_HOSTNAME, (struct bytes){other, sizeof other}, NULL);
    }
    *finished_well =
        record_file_finish(&f, late, 1, (struct bytes){(const uint8_t *)TRAILER, sizeof TRAILER - 1}, &err);
    perfdata_events_fini(&events);
    writer_fini(&preamble);
    return good;
}

static void whole(void **state) {
    (void)state;
    struct os_output_fake disk;
    bool well, finished;
    uint64_t features;
    os_output_fake_init(&disk, true);
    assert_int_equal(write_all(&disk, &well), RECORDS);
    assert_true(well);
    assert_true(disk.closed);
    struct bytes file = {disk.bytes.items, disk.bytes.count};
    assert_int_equal(read_back(file, &finished, &features), RECORDS);
    assert_true(finished);
    assert_int_equal(features, 3);
    assert_memory_equal(file.data + file.size - sizeof TRAILER + 1, TRAILER, sizeof TRAILER - 1);

    struct perfdata_header h;
    struct perfdata_events events;
    struct err err;
    uint32_t problems = 0;
    assert_true(perfdata_header_parse(file, &h, &events, &problems, &err));
    assert_int_equal(ending_of(file), PERFDATA_ENDING_WHOLE);
    assert_int_equal(perfdata_header_feature(&h, PERFDATA_FEATURE_HOSTNAME)->content.data[4], 'p');
    assert_int_equal(perfdata_header_feature(&h, PERFDATA_FEATURE_OSRELEASE)->content.data[4], 'h');
    assert_int_equal(perfdata_header_feature(&h, PERFDATA_FEATURE_BUILD_ID)->content.size, sizeof BUILD_IDS);
    assert_int_equal(events.list.items[0].ids[0], 77);
    assert_int_equal(h.end + sizeof TRAILER - 1, file.size); /* nothing else after it */
    perfdata_events_fini(&events);
    perfdata_header_fini(&h);
    os_output_fake_fini(&disk);
}

/* Killed before any of its writes, the recording has everything up to the piece before, with its features
 * unless it hit one of the two moments without bits. */
static void killed_anywhere(void **state) {
    (void)state;
    struct os_output_fake disk;
    bool well, finished;
    uint64_t features, last = 0, without = 0, kills;
    for (kills = 3;; kills++) {
        os_output_fake_init(&disk, true);
        disk.fail_at = (uint32_t)kills;
        uint64_t good = write_all(&disk, &well);
        uint64_t got = read_back((struct bytes){disk.bytes.items, disk.bytes.count}, &finished, &features);
        assert_true(finished || features == 0); /* before the first piece counts */
        assert_true(got >= good);
        assert_true(got >= last);
        last = got;
        /* The end is marked when all else is written. */
        if (ending_of((struct bytes){disk.bytes.items, disk.bytes.count}) == PERFDATA_ENDING_OPEN)
            assert_false(well);
        else
            assert_int_equal(features, 3);
        without += features < 2;
        os_output_fake_fini(&disk);
        if (well)
            break;
    }
    assert_int_equal(last, RECORDS);
    assert_true(without > 0 && without <= kills * 2 / 3);
}

/* Whatever room the disk has: the file is finished, and holds what fitted. */
static void full_disk(void **state) {
    (void)state;
    struct os_output_fake disk;
    bool well, finished;
    uint64_t features, last = 0;
    for (int promises = 0; promises < 2; promises++)
        for (uint64_t room = 800; room < 90000; room += promises ? 1777 : 97) {
            os_output_fake_init(&disk, true);
            disk.room = room;
            if (!promises)
                disk.out.reserve = os_output_fd(1).reserve; /* as a file system that promises nothing */
            uint64_t good = write_all(&disk, &well);
            uint64_t got =
                read_back((struct bytes){disk.bytes.items, disk.bytes.count}, &finished, &features);
            assert_true(finished || got == 0);
            assert_true(got >= good);
            assert_true(disk.bytes.count <= room);
            if (got)
                assert_int_equal(ending_of((struct bytes){disk.bytes.items, disk.bytes.count}),
                                 well && good == RECORDS ? PERFDATA_ENDING_WHOLE : PERFDATA_ENDING_FULL);
            if (promises && good > 0) /* there was room kept for closing */
                assert_int_equal(features, 3);
            else if (got)
                assert_true(features >= 2);
            if (!promises)
                assert_true(got >= last);
            last = promises ? 0 : got;
            os_output_fake_fini(&disk);
        }
}

/* No room for all that is kept: the build-ids are there all the same. */
static void large_trailer(void **state) {
    (void)state;
    static const uint8_t MUCH[1 << 16];
    struct os_output_fake disk;
    struct perfdata_events events;
    struct record_file f;
    bool finished;
    uint64_t features;
    const struct perfdata_feature early = {.id = PERFDATA_FEATURE_OSRELEASE, .content = {HOST, sizeof HOST}};
    const struct perfdata_feature late = {.id = PERFDATA_FEATURE_BUILD_ID,
                                          .content = {BUILD_IDS, sizeof BUILD_IDS}};
    struct writer w = writer_make(false);
    make_events(&events);
    put_record(&w, 0);
    struct bytes record = writer_bytes(&w);
    for (uint64_t more = 0; more < 2; more++) {
        os_output_fake_init(&disk, true);
        assert_true(
            record_file_start(&f, disk.out, "fake", &(struct record_file_head){&events, &early, 1}, NULL));
        assert_true(record_file_append(&f, &record, 1, NULL));
        disk.reserved = 0;
        disk.room = disk.bytes.count + (more ? 1000 : 8);
        assert_false(record_file_finish(&f, &late, 1, (struct bytes){MUCH, sizeof MUCH}, NULL));
        assert_int_equal(read_back((struct bytes){disk.bytes.items, disk.bytes.count}, &finished, &features),
                         1);
        assert_true(finished);
        assert_int_equal(features, 1 + more);
        os_output_fake_fini(&disk);
    }
    writer_fini(&w);
    perfdata_events_fini(&events);
}

/* Records and nothing else; on a full disk whole ones. */
static void plain(void **state) {
    (void)state;
    struct writer w = writer_make(false);
    for (uint64_t i = 0; i < 3; i++)
        put_record(&w, 7 * i); /* of one size */
    struct bytes records = writer_bytes(&w);
    for (uint64_t room = 0; room <= records.size; room++) {
        struct os_output_fake disk;
        struct record_file f;
        os_output_fake_init(&disk, true);
        disk.room = room;
        disk.out.reserve = os_output_fd(1).reserve;
        record_file_start_plain(&f, disk.out, "fake");
        assert_int_equal(record_file_append(&f, &records, 1, NULL), room == records.size);
        assert_true(record_file_finish(&f, NULL, 0, (struct bytes){0}, NULL));
        assert_int_equal(disk.bytes.count, room / (records.size / 3) * (records.size / 3));
        assert_true(!disk.bytes.count || memcmp(disk.bytes.items, records.data, disk.bytes.count) == 0);
        os_output_fake_fini(&disk);
    }
    writer_fini(&w);
}

static void piped(void **state) {
    (void)state;
    struct os_output_fake disk;
    bool well;
    struct err err;
    os_output_fake_init(&disk, false);
    assert_int_equal(write_all(&disk, &well), RECORDS);
    assert_true(well);
    struct stream *s = stream_open_memory((struct bytes){disk.bytes.items, disk.bytes.count},
                                          &(struct stream_options){0}, &err);
    assert_non_null(s);
    assert_int_equal(stream_header(s)->container, PERFDATA_CONTAINER_PIPE);
    stream_close(s);
    os_output_fake_fini(&disk);
}

/* A recorder that leaves no mark: what is told at the end, times and trailer, is not there. */
static void closed_or_not(void **state) {
    (void)state;
    static const uint8_t times[2][16] = {{0}, {1, 0, 0, 0, 0, 0, 0, 0, 9}};
    const struct perfdata_part part = {PERFDATA_PART_SECTIONS,
                                       {(const uint8_t *)PREAMBLE, sizeof PREAMBLE - 1}};
    struct perfdata_events events;
    struct writer preamble = writer_make(false), record = writer_make(false);
    make_events(&events);
    perfdata_box_encode(&part, 1, &preamble);
    put_record(&record, 0);
    struct bytes one = writer_bytes(&record);
    for (int closed = 0; closed < 2; closed++) {
        const struct perfdata_feature time = {.id = PERFDATA_FEATURE_SAMPLE_TIME,
                                              .content = {times[closed], sizeof *times}};
        struct os_output_fake disk;
        struct record_file f;
        struct err err = ERR_INIT;
        os_output_fake_init(&disk, true);
        assert_true(record_file_start(&f, disk.out, "fake",
                                      &(struct record_file_head){&events, &time, 1, writer_bytes(&preamble)},
                                      &err));
        assert_true(record_file_append(&f, &one, 1, &err));
        record_file_finish(&f, NULL, 0, (struct bytes){0}, &err);
        struct stream *s = stream_open_memory((struct bytes){disk.bytes.items, disk.bytes.count},
                                              &(struct stream_options){0}, &err);
        uint64_t first = 7, last = 7;
        assert_non_null(s);
        assert_int_equal(stream_ending(s).how, closed ? PERFDATA_ENDING_UNKNOWN : PERFDATA_ENDING_OPEN);
        assert_int_equal(stream_ending(s).missing_bytes, 0);
        assert_int_equal(stream_header_times(s, &first, &last), closed);
        assert_int_equal(last, closed ? 9 : 7);
        stream_close(s);
        os_output_fake_fini(&disk);
    }
    writer_fini(&preamble);
    writer_fini(&record);
    perfdata_events_fini(&events);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),         cmocka_unit_test(killed_anywhere), cmocka_unit_test(full_disk),
        cmocka_unit_test(large_trailer), cmocka_unit_test(plain),           cmocka_unit_test(piped),
        cmocka_unit_test(closed_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
