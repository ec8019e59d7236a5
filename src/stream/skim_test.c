/* SPDX-License-Identifier: Apache-2.0 */
/* Counting with stream_skim must find what looking at every record finds, in every kind of file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "stream/skim.h"

#include <stdlib.h>
#include <unistd.h>

enum { TYPES = 128 };

static void count_line(void *ctx, enum log_level level, const char *line) {
    (void)level, (void)line;
    ++*(unsigned *)ctx;
}

/* Two events, told apart by IDENTIFIER (ids 7 and 8), with sample_id_all. */
static void make_events(struct perfdata_events *events, bool swap, unsigned count) {
    perfdata_events_init(events, swap);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME};
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){0}), i);
        assert_true(perfdata_events_add_id(events, i, 7 + i));
    }
}

static void put_sample(struct writer *w, const struct perfdata_events *events, uint64_t id,
                       uint64_t time_ns) {
    const struct perfdata_plan *plan = &events->list.items[0].plan;
    test_put_sample(
        w, plan, PERFDATA_MISC_USER,
        &(struct perfdata_sample){
            .have = plan->sample_type, .identifier = id, .id = id, .ip = 0x1000, .time = time_ns});
}

/* Samples, and something that needs a look after every 7,000 bytes or so: more than one piece in all. */
static void put_records(struct writer *data, const struct perfdata_events *events) {
    static const struct {
        uint32_t type;
        uint16_t size;
    } others[] = {
        {PERFDATA_RECORD_COMM, 64},
        {PERFDATA_RECORD_FINISHED_ROUND, 8},
        {PERFDATA_RECORD_LOST, 64},
        {PERFDATA_RECORD_LOST_SAMPLES, 56},
        {4711, 24},
        {PERFDATA_RECORD_MMAP2, 16}, /* too short for its type */
        {PERFDATA_RECORD_SAMPLE, 16},
        {PERFDATA_RECORD_MMAP, 65528},
    };
    for (unsigned i = 0; i < 8000; i++) {
        put_sample(data, events, 7 + i % events->list.count, 1000 + i);
        if (i % 150 == 149)
            test_put_zeros(data, others[i / 150 % 8].type, others[i / 150 % 8].size);
        if (i == 4000)
            put_sample(data, events, 99, 5000); /* of no event, where there are several */
    }
}

struct counts {
    uint64_t by_type[TYPES], by_event[2], looked;
    struct stream_losses losses;
    unsigned lines;
};

static void read_file(const char *path, bool skim, struct counts *n) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct stream_skim k;
    *n = (struct counts){0};
    log_set_sink(count_line, &n->lines);
    struct stream *s = stream_open(path, NULL, &err);
    assert_non_null(s);
    stream_skim_init(&k, UINT64_MAX);
    enum stream_status status = STREAM_END;
    for (;;) {
        if (skim)
            assert_true(stream_skim(s, &k, &err));
        if ((status = stream_next(s, &r, &err)) != STREAM_RECORD)
            break;
        n->looked++;
        n->by_type[r.raw.type % TYPES]++;
        if (r.raw.type == PERFDATA_RECORD_SAMPLE && r.event < 2)
            n->by_event[r.event]++;
    }
    assert_int_equal(status, STREAM_END);
    for (size_t i = 0; i < STREAM_SKIM_TYPES; i++)
        n->by_type[i] += k.by_type[i];
    for (size_t i = 0; i < k.event_count; i++)
        n->by_event[i] += k.samples[i];
    n->losses = *stream_losses(s);
    stream_skim_fini(&k);
    stream_close(s);
    log_set_sink(NULL, NULL);
}

/* Writes the recording, less its last `cut` bytes, and reads it both ways. */
static void check(bool swap, unsigned event_count, size_t cut) {
    static const uint64_t no_bits[4];
    char path[] = "/tmp/skim_test_XXXXXX";
    struct perfdata_events events;
    struct writer data = writer_make(swap), file = writer_make(swap);
    struct counts slow, fast;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    make_events(&events, swap, event_count);
    put_records(&data, &events);
    perfdata_file_head_encode(&events, &file);
    perfdata_file_head_finish(&file, data.size, no_bits);
    writer_bytes_put(&file, writer_bytes(&data));
    assert_true(writer_ok(&file));
    assert_int_equal(write(fd, file.data, file.size - cut), file.size - cut);
    read_file(path, false, &slow);
    read_file(path, true, &fast);
    unlink(path);
    close(fd);
    assert_memory_equal(fast.by_type, slow.by_type, sizeof slow.by_type);
    assert_memory_equal(fast.by_event, slow.by_event, sizeof slow.by_event);
    assert_memory_equal(&fast.losses, &slow.losses, sizeof slow.losses);
    assert_int_equal(fast.lines, slow.lines);
    assert_true(slow.by_type[PERFDATA_RECORD_SAMPLE] > 7900);
    assert_int_equal(slow.losses.lost_records, 7);
    assert_int_equal(slow.losses.unknown_types, 7);
    assert_int_equal(slow.losses.unknown_ids, event_count > 1 ? 7 : 0); /* six of them too short as well */
    /* Nearly all was stepped over. */
    assert_true(fast.looked < 100);
    perfdata_events_fini(&events);
    writer_fini(&file);
    writer_fini(&data);
}

static void test_counts_alike(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        for (unsigned events = 1; events <= 2; events++) {
            check(swap, events, 0);
            check(swap, events, 20);
        }
    }
}

static void test_plain_types_only(void **state) {
    (void)state;
    struct stream_skim k;
    stream_skim_init(&k, UINT64_MAX);
    assert_false(k.plain >> PERFDATA_RECORD_LOST & 1);
    assert_false(k.plain >> PERFDATA_RECORD_LOST_SAMPLES & 1);
    assert_true(k.plain >> PERFDATA_RECORD_SAMPLE & 1);
    stream_skim_fini(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_alike),
        cmocka_unit_test(test_plain_types_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
