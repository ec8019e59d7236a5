/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/log.h"
#include "config.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "stream/pieces.h"
#include "stream/stream_order.h"
#include "tests/support/fail_alloc.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

static void drop_log(void *ctx, enum log_level level, const char *line) {
    (void)level, (void)line;
    ++*(int *)ctx;
}

/* One event: IP, TID, TIME, CPU, PERIOD, with sample_id_all. */
static void make_events(struct perfdata_events *events, bool swap) {
    perfdata_events_init(events, swap);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .sample_period = 1000,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU |
                                                PERFDATA_SAMPLE_PERIOD};
    assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){0}), 0);
}

static void put_sample(struct writer *w, const struct perfdata_events *events, uint64_t time_ns) {
    const struct perfdata_plan *plan = &events->list.items[0].plan;
    test_put_sample(
        w, plan, PERFDATA_MISC_USER,
        &(struct perfdata_sample){
            .have = plan->sample_type, .ip = 0x1000, .pid = 7, .tid = 8, .time = time_ns, .period = 3});
}

/* A finished file around `data`; data.size as given. */
static struct writer make_file(const struct perfdata_events *events, const struct writer *data,
                               uint64_t size) {
    static const uint64_t no_bits[4];
    struct writer w = writer_make(events->swap);
    perfdata_file_head_encode(events, &w);
    perfdata_file_head_finish(&w, size, no_bits);
    writer_bytes_put(&w, writer_bytes(data));
    assert_true(writer_ok(&w));
    return w;
}

struct counts {
    unsigned samples, rounds, others;
    uint64_t last_loc;
    int log_lines;
};

static struct counts read_all(struct stream *s) {
    struct counts n = {0};
    struct stream_record r;
    struct err err = ERR_INIT;
    enum stream_status status;
    while ((status = stream_next(s, &r, &err)) == STREAM_RECORD) {
        assert_true(n.last_loc == 0 || r.loc > n.last_loc);
        n.last_loc = r.loc;
        n.samples += r.raw.type == PERFDATA_RECORD_SAMPLE;
        n.rounds += r.raw.type == PERFDATA_RECORD_FINISHED_ROUND;
        n.others += r.raw.type != PERFDATA_RECORD_SAMPLE && r.raw.type != PERFDATA_RECORD_FINISHED_ROUND;
        struct stream_record again = stream_record_at(s, r.loc);
        assert_ptr_equal(again.raw.body.data, r.raw.body.data);
        assert_int_equal(again.raw.body.size, r.raw.body.size);
        assert_int_equal(again.time_ns, r.time_ns);
    }
    assert_int_equal(status, STREAM_END);
    return n;
}

static void test_lost_text(void **state) {
    (void)state;
    static const struct {
        uint64_t events, samples;
        const char *text;
    } rows[] = {
        {94, 0, "94 events"}, {1, 0, "1 event"}, {0, 1, "1 sample"}, {2, 3, "2 events and 3 samples"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct stream_losses l = {.lost_events = rows[i].events, .lost_samples = rows[i].samples};
        char room[STREAM_LOST_ROOM];
        assert_string_equal(stream_lost_text(&l, room), rows[i].text);
    }
}

/* Reads twice: the second pass must give the same and count nothing again. */
static struct counts read_file(const struct writer *file, struct stream_losses *losses) {
    int lines = 0;
    log_set_sink(drop_log, &lines);
    struct err err = ERR_INIT;
    struct stream *s = stream_open_memory(writer_bytes(file), NULL, &err);
    assert_non_null(s);
    struct counts n = read_all(s);
    *losses = *stream_losses(s);
    stream_rewind(s);
    struct counts again = read_all(s);
    assert_int_equal(again.samples, n.samples);
    assert_int_equal(again.last_loc, n.last_loc);
    assert_memory_equal(stream_losses(s), losses, sizeof *losses);
    stream_close(s);
    log_set_sink(NULL, NULL);
    n.log_lines = lines;
    return n;
}

static void test_reads_both_orders(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct perfdata_events events;
        struct stream_losses losses;
        make_events(&events, swap);
        struct writer data = writer_make(swap);
        for (int i = 1; i <= 20; i++)
            put_sample(&data, &events, 1000u * (unsigned)i);
        test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
        test_put_zeros(&data, 4711, 24);
        struct writer file = make_file(&events, &data, data.size);
        struct counts n = read_file(&file, &losses);
        assert_int_equal(n.samples, 20);
        assert_int_equal(n.rounds, 1);
        assert_int_equal(n.others, 1);
        assert_int_equal(losses.unknown_types, 1);
        assert_false(losses.unread);
        assert_int_equal(n.log_lines, 0);
        writer_fini(&file);
        writer_fini(&data);
        perfdata_events_fini(&events);
    }
}

/* Garbage in the middle: found again by FINISHED_ROUND, or by eight good records, never by fewer. */
static void test_resynchronises(void **state) {
    (void)state;
    static const struct {
        int before, after;
        bool round;
        unsigned want;
    } cases[] = {
        {5, 8, false, 13}, {5, 7, false, 5}, {0, 8, false, 8}, {5, 3, true, 8}, {5, 300, false, 305}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct perfdata_events events;
        struct stream_losses losses;
        make_events(&events, false);
        struct writer data = writer_make(false);
        for (int i = 0; i < cases[k].before; i++)
            put_sample(&data, &events, 1000u + (unsigned)i);
        test_put_zeros(&data, PERFDATA_RECORD_SAMPLE, 3); /* less than its header */
        for (uint32_t i = 0; i < 40; i++)
            writer_u32(&data, 0xdeadbeef * i + 1);
        if (cases[k].round)
            test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
        for (int i = 0; i < cases[k].after; i++)
            put_sample(&data, &events, 2000u + (unsigned)i);
        struct writer file = make_file(&events, &data, data.size);
        struct counts n = read_file(&file, &losses);
        assert_int_equal(n.samples, cases[k].want);
        assert_int_equal(losses.bad_records, 1);
        assert_true(losses.unread);
        assert_int_equal(losses.skipped_bytes,
                         cases[k].want > (unsigned)cases[k].before ? 168 : 168 + 7 * 48);
        assert_int_equal(n.log_lines, 1);
        writer_fini(&file);
        writer_fini(&data);
        perfdata_events_fini(&events);
    }
}

/* Times far outside what the file had so far are not trusted. */
static void test_resync_wants_plausible_times(void **state) {
    (void)state;
    struct perfdata_events events;
    struct stream_losses losses;
    make_events(&events, false);
    struct writer data = writer_make(false);
    put_sample(&data, &events, 1000);
    test_put_zeros(&data, 1, 0);
    for (unsigned i = 0; i < 20; i++)
        put_sample(&data, &events, 1ull << 60 | i);
    struct writer file = make_file(&events, &data, data.size);
    assert_int_equal(read_file(&file, &losses).samples, 1);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

/* Cut at every byte: whole records are read, one line says it, and the exit status knows. */
static void test_cut_anywhere(void **state) {
    (void)state;
    struct perfdata_events events;
    struct stream_losses losses;
    make_events(&events, false);
    struct writer data = writer_make(false);
    for (unsigned i = 0; i < 3; i++)
        put_sample(&data, &events, 1000 + i);
    struct writer whole = make_file(&events, &data, data.size), open_end = make_file(&events, &data, 0);
    size_t start = whole.size - data.size, one = data.size / 3;
    for (size_t n = 1; n < data.size; n++) {
        struct writer cut = whole, unfinished = open_end;
        cut.size = unfinished.size = start + n;
        assert_int_equal(read_file(&cut, &losses).samples, n / one);
        assert_true(losses.cut && losses.unread && !losses.unfinished);
        assert_int_equal(losses.bad_records, 0);
        assert_int_equal(read_file(&unfinished, &losses).samples, n / one);
        assert_true(losses.unfinished && !losses.unread);
        assert_int_equal(losses.cut, n % one != 0);
    }
    writer_fini(&whole);
    writer_fini(&open_end);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

/* A body shorter than its type needs costs only itself: its size is believed. */
static void test_short_body(void **state) {
    (void)state;
    struct perfdata_events events;
    struct stream_losses losses;
    make_events(&events, false);
    struct writer data = writer_make(false);
    put_sample(&data, &events, 1000);
    test_put_zeros(&data, PERFDATA_RECORD_MMAP2, 16);
    test_put_zeros(&data, PERFDATA_RECORD_SAMPLE, 16);
    put_sample(&data, &events, 1001);
    struct writer file = make_file(&events, &data, data.size);
    struct counts n = read_file(&file, &losses);
    assert_int_equal(n.samples, 2);
    assert_int_equal(n.others, 0);
    assert_int_equal(losses.bad_records, 2);
    assert_int_equal(losses.skipped_bytes, 0);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

static void test_losses(void **state) {
    (void)state;
    struct perfdata_events events;
    struct stream_losses losses;
    make_events(&events, false);
    struct writer data = writer_make(false);
    for (uint64_t n = 1; n <= 3; n++) {
        struct perfdata_record lost = {.type = PERFDATA_RECORD_LOST, .lost = {.lost = n}};
        struct perfdata_record samples = {.type = PERFDATA_RECORD_LOST_SAMPLES,
                                          .lost_samples = {.lost = 10 * n}};
        perfdata_record_encode(&lost, NULL, &data);
        perfdata_record_encode(&samples, NULL, &data);
    }
    struct writer file = make_file(&events, &data, data.size);
    read_file(&file, &losses);
    assert_int_equal(losses.lost_records, 3);
    assert_int_equal(losses.lost_events, 6);
    assert_int_equal(losses.lost_samples, 60);
    assert_false(losses.unread);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

static void test_pipe(void **state) {
    (void)state;
    struct perfdata_events events;
    struct perfdata_header h = {.container = PERFDATA_CONTAINER_PIPE};
    struct perfdata_feature host = {.id = PERFDATA_FEATURE_HOSTNAME,
                                    .content = {(const uint8_t *)"\4\0\0\0abc", 8}};
    struct stream_losses losses;
    uint32_t left_out;
    make_events(&events, true);
    *vec_push(&h.features) = host;
    struct writer file = writer_make(true);
    perfdata_pipe_head_encode(&h, &events, &file, &left_out);
    assert_int_equal(left_out, 0);
    put_sample(&file, &events, 77);
    struct counts n = read_file(&file, &losses);
    assert_int_equal(n.samples, 1);
    assert_int_equal(n.others, 2);
    struct stream *s = stream_open_memory(writer_bytes(&file), NULL, NULL);
    read_all(s);
    const struct perfdata_feature *f = perfdata_header_feature(stream_header(s), PERFDATA_FEATURE_HOSTNAME);
    assert_non_null(f);
    assert_memory_equal(f->content.data, host.content.data, 8);
    assert_int_equal(stream_events(s)->list.count, 1);
    stream_close(s);
    perfdata_header_fini(&h);
    writer_fini(&file);
    perfdata_events_fini(&events);
}

#ifdef HAVE_ZSTD
/* Appends `n` bytes of a running zstd stream as a COMPRESSED2 record. */
static void put_compressed(struct writer *w, ZSTD_CCtx *cctx, const uint8_t *p, size_t n) {
    uint8_t out[32768];
    ZSTD_inBuffer in = {p, n, 0};
    ZSTD_outBuffer buf = {out, sizeof out, 0};
    assert_int_equal(ZSTD_compressStream2(cctx, &buf, &in, ZSTD_e_flush), 0);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_COMPRESSED2,
        .compressed = {.data_size = buf.pos, .data = {out, (buf.pos + 7) & ~(size_t)7}}};
    memset(out + buf.pos, 0, rec.compressed.data.size - buf.pos);
    perfdata_record_encode(&rec, NULL, w);
}

/* A record comes from the compressed one that holds its last byte, piece by piece of 100 bytes. */
static void check_origins(const struct writer *file, uint64_t record_size, const uint64_t *piece_offsets) {
    struct stream *s = stream_open_memory(writer_bytes(file), NULL, NULL);
    struct stream_record r;
    uint64_t read = 0, pieces = 0;
    assert_non_null(s);
    assert_int_equal(stream_next(s, &r, NULL), STREAM_RECORD); /* not compressed */
    while (stream_next(s, &r, NULL) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE)
            continue;
        read += record_size;
        pieces = (read - 1) / 100;
        assert_int_equal(r.file_offset, piece_offsets[pieces]);
        assert_int_equal(stream_record_at(s, r.loc).file_offset, r.file_offset);
    }
    assert_int_equal(stream_expanded(s, PERFDATA_RECORD_COMPRESSED2), pieces + 1);
    assert_int_equal(stream_expanded(s, PERFDATA_RECORD_COMPRESSED), 0);
    assert_int_equal(stream_expanded(s, PERFDATA_RECORD_SAMPLE), 0);
    stream_close(s);
}

/* Records straddle the frames' pieces, and plain records stand between them. */
static void test_compressed(void **state) {
    (void)state;
    struct perfdata_events events;
    struct stream_losses losses;
    make_events(&events, false);
    struct writer inner = writer_make(false), data = writer_make(false);
    for (unsigned i = 0; i < 50; i++)
        put_sample(&inner, &events, 1000 + i);
    ZSTD_CCtx *cctx = ZSTD_createCCtx();
    put_sample(&data, &events, 999);
    uint64_t offsets[64] = {0};
    for (size_t at = 0; at < inner.size; at += 100) {
        assert_true(at / 100 < 64);
        offsets[at / 100] = data.size;
        put_compressed(&data, cctx, inner.data + at, inner.size - at < 100 ? inner.size - at : 100);
        test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
    }
    struct writer file = make_file(&events, &data, data.size);
    struct counts n = read_file(&file, &losses);
    assert_int_equal(n.samples, 51);
    assert_int_equal(n.rounds, (inner.size + 99) / 100);
    assert_false(losses.unread);
    for (size_t i = 0; i < 64; i++)
        offsets[i] += file.size - data.size;
    check_origins(&file, inner.size / 50, offsets);

    /* One flipped byte in a frame: what came before is read, the rest is counted. */
    file.data[file.size / 2 + 20] ^= 0xff;
    n = read_file(&file, &losses);
    assert_true(n.samples > 0 && n.samples < 51);
    assert_true(losses.unread);
    ZSTD_freeCCtx(cctx);
    writer_fini(&file);
    writer_fini(&data);
    writer_fini(&inner);
    perfdata_events_fini(&events);
}
#endif

/* What is passed over is what stream_next would have given: place, times and losses end up the same. */
static void test_samples_are_passed_over(void **state) {
    (void)state;
    struct perfdata_events events;
    make_events(&events, false);
    struct writer data = writer_make(false);
    for (uint64_t i = 0; i < 60; i++) {
        put_sample(&data, &events, 1000 + (i * 7) % 60);
        if (i % 20 == 19)
            test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
    }
    struct writer file = make_file(&events, &data, data.size);
    struct stream *s = stream_open_memory(writer_bytes(&file), NULL, NULL);
    struct stream *plain = stream_open_memory(writer_bytes(&file), NULL, NULL);
    struct stream_passed passed = {UINT64_MAX, 0};
    struct stream_record r, want;
    uint64_t samples = 0, rounds = 0;
    for (uint64_t n = 0; (n = stream_pass_samples(s, 7, &passed)) || rounds < 3;) {
        samples += n;
        assert_true(n <= 7);
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(stream_next(plain, &want, NULL), STREAM_RECORD);
        assert_int_equal(stream_next(s, &r, NULL), STREAM_RECORD);
        assert_int_equal(stream_next(plain, &want, NULL), STREAM_RECORD);
        assert_int_equal(r.loc, want.loc);
        assert_int_equal(r.time_ns, want.time_ns);
        assert_int_equal(stream_when_ns(s, &r), stream_when_ns(plain, &want));
        samples += r.raw.type == PERFDATA_RECORD_SAMPLE;
        rounds += r.raw.type == PERFDATA_RECORD_FINISHED_ROUND;
    }
    assert_int_equal(samples, 60);
    assert_int_equal(stream_next(s, &r, NULL), STREAM_END);
    assert_int_equal(stream_pass_samples(s, 7, &passed), 0);
    assert_true(passed.first_ns >= 1000 && passed.last_ns < 1060 && passed.first_ns < passed.last_ns);
    stream_close(plain);
    stream_close(s);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

/* Two events with ids, whose samples have times or not. */
static void make_two_events(struct perfdata_events *events, bool swap, uint64_t time) {
    perfdata_events_init(events, swap);
    for (uint64_t id = 11; id < 13; id++) {
        struct perfdata_attr attr = {.size = 128,
                                     .known_size = 128,
                                     .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                     .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                    (id == 12 ? PERFDATA_SAMPLE_PERIOD : 0) | time};
        struct writer w = writer_make(swap);
        writer_u64(&w, id);
        assert_int_equal(perfdata_events_add(events, &attr, &(struct perfdata_u64s){w.data, 1, swap}),
                         id - 11);
        writer_fini(&w);
    }
}

/* Samples of both events in runs, records of other kinds between them, a sample that is too short, and one of
 * no event. */
static void put_mixture(struct writer *w, const struct perfdata_events *events) {
    for (uint64_t i = 0; i < 90; i++) {
        const struct perfdata_plan *plan = &events->list.items[i / 5 % 2].plan;
        test_put_sample(w, plan, PERFDATA_MISC_USER,
                        &(struct perfdata_sample){.have = plan->sample_type,
                                                  .identifier = i == 71 ? 99 : 11 + i / 5 % 2,
                                                  .ip = 0x1000 + i,
                                                  .time = 1000 + (i * 7) % 60});
        if (i % 13 == 12)
            test_put_zeros(w, PERFDATA_RECORD_LOST, 48);
        if (i == 50) {
            writer_u32(w, PERFDATA_RECORD_SAMPLE);
            writer_u16(w, 0);
            writer_u16(w, PERFDATA_HEADER_SIZE + 8);
            writer_u64(w, 11);
        }
        if (i % 20 == 19)
            test_put_zeros(w, PERFDATA_RECORD_FINISHED_ROUND, 8);
    }
}

/* The samples of a pass in batches are those of a pass one by one. Returns how many there are. */
static uint64_t check_batches(struct stream *s, struct stream *plain) {
    struct stream_sample batch[7];
    struct stream_record r, want;
    uint64_t samples = 0;
    for (;;) {
        size_t n = stream_take_samples(s, batch, 7);
        enum stream_status status = n ? STREAM_RECORD : stream_next(s, &r, NULL);
        if (!n && status == STREAM_RECORD) {
            if (r.raw.type != PERFDATA_RECORD_SAMPLE)
                continue;
            batch[0] = (struct stream_sample){r.raw.body, r.loc, stream_when_ns(s, &r), r.event, r.raw.misc};
        }
        for (size_t i = 0; i < (n ? n : 1); i++) {
            enum stream_status other;
            while ((other = stream_next(plain, &want, NULL)) == STREAM_RECORD &&
                   want.raw.type != PERFDATA_RECORD_SAMPLE)
                ;
            assert_int_equal(other, status);
            if (status != STREAM_RECORD)
                return samples;
            assert_int_equal(batch[i].loc, want.loc);
            assert_int_equal(batch[i].when_ns, stream_when_ns(plain, &want));
            assert_int_equal(batch[i].event, want.event);
            assert_int_equal(batch[i].misc, want.raw.misc);
            assert_int_equal(batch[i].body.size, want.raw.body.size);
            assert_memory_equal(batch[i].body.data, want.raw.body.data, want.raw.body.size);
            samples++;
        }
    }
}

static void test_samples_in_batches(void **state) {
    (void)state;
    log_set_sink(drop_log, &(int){0});
    for (int k = 0; k < 4; k++) {
        struct perfdata_events events;
        bool swap = k & 1;
        make_two_events(&events, swap, k & 2 ? PERFDATA_SAMPLE_TIME : 0);
        struct writer data = writer_make(swap);
        put_mixture(&data, &events);
        struct writer file = make_file(&events, &data, data.size);
        struct stream *s = stream_open_memory(writer_bytes(&file), NULL, NULL);
        struct stream *plain = stream_open_memory(writer_bytes(&file), NULL, NULL);
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(check_batches(s, plain), 90);
            assert_int_equal(stream_losses(s)->bad_records, stream_losses(plain)->bad_records);
            stream_rewind(s);
            stream_rewind(plain);
        }
        assert_int_equal(stream_losses(s)->bad_records, 1);
        stream_close(plain);
        stream_close(s);
        writer_fini(&file);
        writer_fini(&data);
        perfdata_events_fini(&events);
    }
}

/* What a pass gives, in one number, and how many records. */
struct pass {
    uint64_t hash, records, last_loc;
};

static void follow(struct stream *s, struct pass *pass) {
    struct stream_record r;
    enum stream_status status;
    while ((status = stream_next(s, &r, NULL)) == STREAM_RECORD) {
        assert_true(!pass->records || r.loc > pass->last_loc);
        const uint64_t words[] = {r.loc,           (uint64_t)(uintptr_t)r.raw.body.data,
                                  r.raw.body.size, r.file_offset,
                                  r.event,         stream_when_ns(s, &r),
                                  pass->hash};
        pass->hash = hash_bytes(words, sizeof words);
        pass->last_loc = r.loc;
        pass->records++;
    }
    assert_int_equal(status, STREAM_END);
}

/* However the pieces are shared out, the shares together give what another pass gives, and count nothing. */
static void check_pieces(const struct writer *file, uint32_t at_least) {
    int lines = 0;
    struct err err = ERR_INIT;
    struct pass whole = {0};
    struct stream_record r;
    struct stream *s = stream_open_memory(writer_bytes(file), NULL, &err);
    log_set_sink(drop_log, &lines);
    assert_non_null(s);
    do { /* as first passes read */
        while (stream_pass_samples(s, 100, &(struct stream_passed){UINT64_MAX, 0}))
            ;
    } while (stream_next(s, &r, NULL) == STREAM_RECORD);
    stream_rewind(s);
    follow(s, &whole);
    struct stream_losses losses = *stream_losses(s);
    uint32_t count = stream_piece_count(s);
    int before = lines;
    assert_true(count >= at_least);
    const uint32_t shares[] = {1, 2, 3, 7, count};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct pass parts = {0};
        for (uint32_t k = 0; k < shares[i]; k++) {
            uint32_t from = (uint32_t)((uint64_t)count * k / shares[i]),
                     to = (uint32_t)((uint64_t)count * (k + 1) / shares[i]);
            if (from == to)
                continue;
            struct stream *share = stream_pieces_open(s, from, to, &err);
            assert_non_null(share);
            follow(share, &parts);
            stream_pieces_close(share);
        }
        assert_int_equal(parts.records, whole.records);
        assert_int_equal(parts.hash, whole.hash);
    }
    assert_memory_equal(stream_losses(s), &losses, sizeof losses);
    assert_int_equal(lines, before);
    stream_close(s);
    log_set_sink(NULL, NULL);
}

/* Samples and, with `damage`, bytes that are none; times go back and forth, some records have none. */
static struct writer make_long(const struct perfdata_events *events, bool damage) {
    struct writer data = writer_make(events->swap);
    for (uint64_t i = 0; i < 6000; i++) {
        put_sample(&data, events, 1000000 + i * 1000 - i % 7 * 900);
        if (i % 50 == 0)
            test_put_zeros(&data, PERFDATA_RECORD_FINISHED_ROUND, 8);
        if (damage && i % 900 == 899)
            for (uint64_t k = 0; k < 8 + i % 4000; k++)
                writer_u64(&data, 0);
        if (damage && i % 700 == 699)
            test_put_zeros(&data, PERFDATA_RECORD_MMAP, 16);
    }
    return data;
}

static void test_pieces(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct perfdata_events events;
        make_events(&events, i & 1);
        struct writer data = make_long(&events, i & 2);
        struct writer file = make_file(&events, &data, data.size - (i & 2 ? 5 : 0));
        check_pieces(&file, 8);
        writer_fini(&data);
        writer_fini(&file);
        perfdata_events_fini(&events);
    }
}

/* What is in memory has nothing to bring there; of a file that is told of as long as there is any. */
static void test_expects(void **state) {
    (void)state;
    struct err err;
    struct perfdata_events events;
    make_events(&events, false);
    struct writer data = make_long(&events, false), file = make_file(&events, &data, data.size);
    struct stream *s = stream_open_memory(writer_bytes(&file), NULL, &err);
    assert_non_null(s);
    assert_false(stream_expect(s, 0, file.size));
    assert_int_equal(stream_pieces_expected(s), 0);
    stream_close(s);

    char path[] = "/tmp/sonde-stream-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file.data, file.size), file.size);
    close(fd);
    s = stream_open(path, NULL, &err);
    unlink(path);
    assert_non_null(s);
    assert_true(stream_expect(s, 0, file.size));
    assert_true(stream_expect(s, file.size - 1, file.size + (64 << 20)));
    assert_false(stream_expect(s, file.size, file.size + 1));
    struct stream_record r;
    while (stream_next(s, &r, &err) == STREAM_RECORD)
        ;
    assert_in_range(stream_piece_count(s), stream_pieces_expected(s), stream_pieces_expected(s) + 2);
    assert_true(stream_pieces_expected(s) > 4);
    stream_close(s);
    writer_fini(&data);
    writer_fini(&file);
    perfdata_events_fini(&events);
}

#ifdef HAVE_ZSTD
/* Records as they are, then compressed ones, a plain one between them. */
static void test_pieces_of_compressed(void **state) {
    (void)state;
    for (int damage = 0; damage < 2; damage++) {
        struct perfdata_events events;
        make_events(&events, false);
        struct writer inner = make_long(&events, damage), data = make_long(&events, damage);
        ZSTD_CCtx *cctx = ZSTD_createCCtx();
        const size_t step = 30000;
        for (size_t at = 0; at < inner.size; at += step) {
            put_compressed(&data, cctx, inner.data + at, inner.size - at < step ? inner.size - at : step);
            if (at == 3 * step)
                put_sample(&data, &events, 5000000);
        }
        struct writer file = make_file(&events, &data, data.size);
        check_pieces(&file, 16);
        ZSTD_freeCCtx(cctx);
        writer_fini(&inner);
        writer_fini(&data);
        writer_fini(&file);
        perfdata_events_fini(&events);
    }
}
#endif

static void test_ordered_reading(void **state) {
    (void)state;
    struct perfdata_events events;
    make_events(&events, false);
    struct writer data = writer_make(false);
    static const uint64_t times[] = {50, 40, 45, 0, 10, 90, 60};
    for (size_t i = 0; i < 7; i++)
        put_sample(&data, &events, times[i]);
    struct writer file = make_file(&events, &data, data.size);
    struct stream *s = stream_open_memory(writer_bytes(&file), NULL, NULL);
    struct order o;
    struct stream_record r;
    order_init(&o, s, NULL, NULL, false);
    static const uint64_t want[] = {0, 10, 40, 45, 50, 60, 90};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(order_next(&o, &r, NULL), STREAM_RECORD);
        assert_int_equal(r.time_ns, want[i]);
    }
    assert_int_equal(order_next(&o, &r, NULL), STREAM_END);
    order_fini(&o);
    stream_close(s);
    writer_fini(&file);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

/* Opens, reads in order and closes; all failures are allowed but none may crash or leak. */
static void read_whatever_comes(const struct writer *file) {
    struct err err = ERR_INIT;
    struct stream_record r;
    struct stream *s = stream_open_memory(writer_bytes(file), NULL, &err);
    if (!s) {
        assert_int_equal(err.code, ERR_MEMORY);
        return;
    }
    struct order o;
    order_init(&o, s, NULL, NULL, false);
    enum stream_status status;
    do
        status = order_next(&o, &r, &err);
    while (status == STREAM_RECORD);
    if (status == STREAM_FAILED)
        assert_int_equal(err.code, ERR_MEMORY);
    order_fini(&o);
    stream_close(s);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    struct perfdata_events events;
    make_events(&events, false);
    struct perfdata_header h = {.container = PERFDATA_CONTAINER_PIPE};
    struct perfdata_feature host = {.id = PERFDATA_FEATURE_HOSTNAME,
                                    .content = {(const uint8_t *)"\4\0\0\0abc", 8}};
    uint32_t left_out;
    struct writer data = writer_make(false), pipe = writer_make(false);
    *vec_push(&h.features) = host;
    perfdata_pipe_head_encode(&h, &events, &pipe, &left_out);
    for (unsigned i = 0; i < 5000; i++)
        put_sample(&data, &events, 5000 - i);
    writer_bytes_put(&pipe, writer_bytes(&data));
    struct writer file = make_file(&events, &data, data.size);
    FAIL_EACH_ALLOC(read_whatever_comes(&file));
    FAIL_EACH_ALLOC(read_whatever_comes(&pipe));
    perfdata_header_fini(&h);
    writer_fini(&file);
    writer_fini(&pipe);
    writer_fini(&data);
    perfdata_events_fini(&events);
}

static void put_part(struct writer *w, uint32_t type, struct bytes part) {
    writer_u32(w, type);
    writer_u16(w, 0);
    writer_u16(w, (uint16_t)(8 + part.size));
    writer_bytes_put(w, part);
}

/* simpleperf's tracing data are records of their own, or too large for one and in parts: both become the
 * feature. */
static void test_simpleperf_tracing_data(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        bool swap = kind & 1, split = kind & 2;
        struct perfdata_events events;
        make_events(&events, swap);
        struct writer inner = writer_make(swap), data = writer_make(swap);
        if (split) {
            writer_u32(&inner, PERFDATA_RECORD_SIMPLEPERF_TRACING_DATA);
            writer_u32(&inner, 0);
        }
        writer_u32(&inner, 10);
        writer_put(&inner, "formats!..", 10);
        writer_align(&inner, 8);
        struct bytes all = writer_bytes(&inner);
        if (split) {
            put_part(&data, PERFDATA_RECORD_SIMPLEPERF_SPLIT, (struct bytes){all.data, 8});
            put_part(&data, PERFDATA_RECORD_SIMPLEPERF_SPLIT, (struct bytes){all.data + 8, all.size - 8});
            test_put_zeros(&data, PERFDATA_RECORD_SIMPLEPERF_SPLIT_END, 8);
        } else {
            put_part(&data, PERFDATA_RECORD_SIMPLEPERF_TRACING_DATA, all);
        }
        struct writer file = make_file(&events, &data, data.size);
        struct err err = ERR_INIT;
        struct stream *s = stream_open_memory(writer_bytes(&file), NULL, &err);
        assert_non_null(s);
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(read_all(s).others, split ? 3 : 1);
            stream_rewind(s);
        }
        const struct perfdata_feature *f =
            perfdata_header_feature(stream_header(s), PERFDATA_FEATURE_TRACING_DATA);
        assert_non_null(f);
        assert_int_equal(f->content.size, 10);
        assert_memory_equal(f->content.data, "formats!..", 10);
        assert_int_equal(stream_header(s)->features.count, 1);
        stream_close(s);
        perfdata_events_fini(&events);
        writer_fini(&inner);
        writer_fini(&data);
        writer_fini(&file);
    }
}

static void test_refuses(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    assert_null(
        stream_open_memory((struct bytes){(const uint8_t *)"hello, world, this is text", 26}, NULL, &err));
    assert_int_equal(err.code, ERR_BROKEN);
    assert_null(stream_open_memory((struct bytes){(const uint8_t *)"PERFILE2", 8}, NULL, &err));
    assert_null(stream_open("/nonexistent/perf.data", NULL, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_string_equal(err.where, "/nonexistent/perf.data");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lost_text),
        cmocka_unit_test(test_reads_both_orders),
        cmocka_unit_test(test_resynchronises),
        cmocka_unit_test(test_resync_wants_plausible_times),
        cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_short_body),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_pipe),
#ifdef HAVE_ZSTD
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_pieces_of_compressed),
#endif
        cmocka_unit_test(test_samples_are_passed_over),
        cmocka_unit_test(test_samples_in_batches),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_expects),
        cmocka_unit_test(test_ordered_reading),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_simpleperf_tracing_data),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
