/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/drain.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "config.h"
#include "os/perf/perf_event_fake.h"
#include "os/proc/proc_fake.h"
#include "stream/stream.h"

enum { RINGS = 3 };

struct fixture {
    struct os_perf_fake perf;
    struct os_output_fake disk;
    struct perfdata_events events;
    struct perfdata_attr attr;
    struct perfdata_plan plan;
    struct record_opened opened;
    struct record_file file;
    struct record_build_ids ids;
    struct record_drain drain;
    struct err err;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    uint8_t attr[8] = {0};
    f->attr = (struct perfdata_attr){.size = 128,
                                     .known_size = 128,
                                     .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                    PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU,
                                     .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    os_perf_fake_init(&f->perf);
    os_output_fake_init(&f->disk, true);
    perfdata_events_init(&f->events, false);
    perfdata_events_add(&f->events, &f->attr, NULL);
    perfdata_plan_init(&f->plan, &f->attr, false);
    f->opened.perf = &f->perf.perf;
    for (int i = 0; i < RINGS; i++) {
        struct record_ring *r = vec_push(&f->opened.rings);
        *r = (struct record_ring){.cpu = i};
        r->fd = f->perf.perf.open(&f->perf, (struct bytes){attr, sizeof attr}, -1, i, -1);
        assert_int_equal(f->perf.perf.map(&f->perf, r->fd, 1, false, &r->map), 0);
    }
    assert_true(record_file_start(&f->file, f->disk.out, "fake",
                                  &(struct record_file_head){.events = &f->events}, &f->err));
    f->drain = (struct record_drain){.outlet.file = &f->file, .events = &f->events, .build_ids = &f->ids};
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    record_drain_fini(&f->drain);
    record_build_ids_fini(&f->ids);
    record_opened_fini(&f->opened);
    perfdata_events_fini(&f->events);
    os_perf_fake_fini(&f->perf);
    os_output_fake_fini(&f->disk);
    free(f);
    return 0;
}

/* What the kernel would write for a sample at `time` on `cpu`. */
static bool sample(struct fixture *f, uint32_t cpu, uint64_t time) {
    struct writer w = writer_make(false);
    struct perfdata_sample s = {
        .have = f->attr.sample_type, .ip = 0x1000 + time, .pid = 5, .tid = 6, .time = time, .cpu = cpu};
    writer_u32(&w, PERFDATA_RECORD_SAMPLE);
    writer_u16(&w, PERFDATA_MISC_USER);
    writer_u16(&w, 0);
    perfdata_sample_encode(&f->plan, &s, &w);
    writer_patch16(&w, 6, (uint16_t)w.size);
    bool ok = os_perf_fake_write(&f->perf, OS_PERF_FAKE_FD + (int)cpu, writer_bytes(&w));
    writer_fini(&w);
    return ok;
}

static void put(struct fixture *f, uint32_t cpu, struct perfdata_record *rec, uint64_t time) {
    struct writer w = writer_make(false);
    rec->id = (struct perfdata_sample_id){
        .have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU, .time = time, .cpu = cpu};
    perfdata_record_encode(rec, &f->plan, &w);
    assert_true(writer_ok(&w));
    assert_true(os_perf_fake_write(&f->perf, OS_PERF_FAKE_FD + (int)cpu, writer_bytes(&w)));
    writer_fini(&w);
}

static struct stream *reopen(struct fixture *f) {
    assert_true(record_file_finish(&f->file, NULL, 0, (struct bytes){0}, &f->err));
    struct stream *s = stream_open_memory((struct bytes){f->disk.bytes.items, f->disk.bytes.count},
                                          &(struct stream_options){0}, &f->err);
    assert_non_null(s);
    return s;
}

/* Rings wrap many times over; every record arrives once, whole, in its ring's order. */
static void everything_once(void **state) {
    struct fixture *f = *state;
    uint64_t written = 0, time = 100;
    bool wrote;
    for (int pass = 0; pass < 200; pass++) {
        for (uint32_t cpu = 0; cpu < RINGS; cpu++)
            for (uint64_t n = (uint64_t)(pass * 7 + (int)cpu * 3) % 60; n; n--)
                written += sample(f, cpu, time++);
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    }
    assert_int_equal(f->drain.samples, written);
    assert_int_equal(f->drain.first_ns, 100);
    assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    assert_false(wrote);
    uint64_t size = record_file_size(&f->file);
    assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    assert_int_equal(record_file_size(&f->file),
                     size); /* nothing came, nothing is written: no empty rounds */

    struct stream *s = reopen(f);
    struct stream_record r;
    uint64_t last[RINGS] = {0}, got = 0, newest = 0;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD) {
        struct perfdata_sample v;
        if (r.raw.type == PERFDATA_RECORD_FINISHED_ROUND)
            continue;
        assert_true(perfdata_sample_decode(&f->plan, r.raw.body, ~0ull, &v));
        assert_int_equal(v.ip, 0x1000 + v.time);
        assert_true(v.time > last[v.cpu]);
        last[v.cpu] = v.time;
        newest = v.time > newest ? v.time : newest;
        got++;
    }
    assert_int_equal(got, written);
    assert_int_equal(newest, f->drain.last_ns);
    assert_int_equal(stream_losses(s)->bad_records, 0);
    stream_close(s);
}

/* Nothing after a FINISHED_ROUND is older than the newest record before the one before it. */
static void rounds_keep_their_promise(void **state) {
    struct fixture *f = *state;
    uint64_t time = 1;
    bool wrote;
    for (int pass = 0; pass < 50; pass++) {
        for (uint64_t n = 0; n < 30; n++)
            sample(f, (uint32_t)(time * 5 / 3) % RINGS, time), time++;
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    }
    struct stream *s = reopen(f);
    struct stream_record r;
    uint64_t newest = 0, limit = 0, rounds = 0;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD) {
        if (r.raw.type == PERFDATA_RECORD_FINISHED_ROUND) {
            limit = newest;
            rounds++;
            continue;
        }
        assert_true(r.has_time && r.time_ns > limit);
        newest = r.time_ns > newest ? r.time_ns : newest;
    }
    assert_int_equal(rounds, 50);
    stream_close(s);
}

static void losses_are_counted(void **state) {
    struct fixture *f = *state;
    struct perfdata_record lost = {.type = PERFDATA_RECORD_LOST, .lost = {1, 17}};
    bool wrote;
    put(f, 2, &lost, 50);
    lost.lost.lost = 4;
    put(f, 2, &lost, 60);
    put(f, 0, &lost, 70);
    assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    assert_int_equal(f->drain.lost, 25);
    assert_int_equal(f->opened.rings.items[2].lost, 21);
    assert_int_equal(f->opened.rings.items[1].lost, 0);
    assert_int_equal(f->drain.samples, 0);
    struct stream *s = reopen(f);
    struct stream_record r;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD)
        ;
    assert_int_equal(stream_losses(s)->lost_events, 25);
    stream_close(s);
}

/* Build-ids of code, each file once, also from a record that wraps around the ring's end. */
static void build_ids_are_kept(void **state) {
    struct fixture *f = *state;
    bool wrote;
    struct perfdata_record m = {
        .type = PERFDATA_RECORD_MMAP2,
        .misc = PERFDATA_MISC_USER | PERFDATA_MISC_MMAP_BUILD_ID,
        .mmap2 = {
            .has_build_id = true, .build_id_size = 20, .prot = 5, .filename = {(uint8_t *)"/lib/a\0", 8}}};
    for (int i = 0; i < 300; i++) {
        m.mmap2.build_id[0] = (uint8_t)(i % 3);
        m.mmap2.prot = i % 3 == 2 ? 1 : 5; /* the third is data */
        put(f, 0, &m, (uint64_t)i);
        if (i % 20 == 19)
            assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    }
    assert_int_equal(f->ids.count, 2);
    assert_int_equal(f->ids.content.size, 2 * (36 + 64));
}

/* What all is known of is not asked for again; a file that could not be opened yet is, and so is everything
 * in a new file. */
static void known_maps_are_settled(void **state) {
    struct fixture *f = *state;
    static const struct perfdata_mmap2 MAP = {.pid = 1,
                                              .addr = 0x1000,
                                              .len = 0x1000,
                                              .has_build_id = true,
                                              .build_id_size = 20,
                                              .prot = 5,
                                              .filename = {(const uint8_t *)"/bin/a\0", 8}};
    struct os_proc_fake_file file = {.path = "/bin/b"};
    const struct os_proc_fake fake = {.files = &file, .file_count = 1};
    struct os_proc proc = os_proc_fake(&fake);
    struct record_identities none = {.proc = NULL};
    struct record_keep keep = {.proc = &proc};
    struct perfdata_record m = {.type = PERFDATA_RECORD_MMAP2,
                                .misc = PERFDATA_MISC_USER | PERFDATA_MISC_MMAP_BUILD_ID,
                                .mmap2 = MAP};
    bool wrote;
    f->drain.identities = &none;
    f->drain.keep = &keep;
    f->drain.id_bytes = f->plan.tail_size;
    for (uint64_t pass = 0; pass < 4; pass++) {
        m.mmap2.pid = 1 + (uint32_t)pass;
        put(f, 0, &m, pass);
        if (pass == 1)
            file.path = "/bin/a";
        if (pass == 3) {
            record_keep_fini(&keep);
            keep = (struct record_keep){.proc = &proc};
            record_drain_restart(&f->drain);
        }
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
        assert_int_equal(f->drain.settled.count, pass > 0);
        assert_int_equal(keep.seen.count, pass > 0);
    }
    record_keep_fini(&keep);
}

/* So are those of no file, but for code made at run time: each process has its own map of that. A file
 * without a build-id may be another one by now. */
static void maps_of_no_file_are_settled(void **state) {
    struct fixture *f = *state;
    static const struct {
        char name[8];
        uint64_t ino;
        size_t settled; /* afterwards */
    } MAPS[] = {{"[vdso]", 0, 1}, {"[vdso]", 0, 1}, {"[vvar]", 0, 2}, {"//anon", 0, 2}, {"/bin/b", 7, 2}};
    const struct os_proc_fake fake = {.file_count = 0};
    struct os_proc proc = os_proc_fake(&fake);
    struct record_identities none = {.proc = NULL};
    struct record_keep keep = {.proc = &proc};
    bool wrote;
    f->drain.identities = &none;
    f->drain.keep = &keep;
    f->drain.id_bytes = f->plan.tail_size;
    for (size_t i = 0; i < sizeof MAPS / sizeof *MAPS; i++) {
        struct perfdata_record m = {
            .type = PERFDATA_RECORD_MMAP2,
            .misc = PERFDATA_MISC_USER,
            .mmap2 = {.pid = 1 + (uint32_t)i, .len = 0x1000, .prot = 5, .ino = MAPS[i].ino}};
        m.mmap2.filename = (struct bytes){(const uint8_t *)MAPS[i].name, 8};
        put(f, 0, &m, i);
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
        assert_int_equal(f->drain.settled.count, MAPS[i].settled);
    }
    record_keep_fini(&keep);
}

/* Of programs that are loaded, not of those that go, the numbers are noted. */
static void programs_are_noted(void **state) {
    struct fixture *f = *state;
    bool wrote;
    for (uint16_t type = 1; type <= 3; type++) {
        struct perfdata_record r = {.type = PERFDATA_RECORD_BPF_EVENT,
                                    .bpf_event = {.type = type % 2 ? 1 : 2, .id = 40 + type}};
        put(f, type % RINGS, &r, type);
    }
    assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    assert_int_equal(f->drain.programs.count, 2);
    assert_int_equal(f->drain.programs.items[0] + f->drain.programs.items[1], 41 + 43);
}

static void pass_tells_of_a_full_disk(void **state) {
    struct fixture *f = *state;
    bool wrote;
    f->disk.room = 3000;
    for (int pass = 0; pass < 3; pass++)
        for (uint64_t i = 0; i < 50; i++)
            sample(f, 1, (uint64_t)pass * 50 + i);
    assert_false(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    assert_int_equal(f->err.code, ERR_IO);
    assert_false(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err)); /* and it stays so */
}

static void compressed(void **state) {
    struct fixture *f = *state;
    struct record_compress z;
    bool wrote;
#ifndef HAVE_ZSTD
    assert_false(record_compress_init(&z, 1, &f->err));
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
    skip();
#endif
    assert_true(record_compress_init(&z, 1, &f->err));
    f->drain.outlet.compress = &z;
    uint64_t time = 1, written = 0;
    for (int pass = 0; pass < 100; pass++) {
        for (int i = 0; i < 90; i++)
            written += sample(f, (uint32_t)i % RINGS, time++);
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    }
    assert_true(z.written < z.in);
    struct stream *s = reopen(f);
    struct stream_record r;
    uint64_t got = 0;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD)
        got += r.raw.type == PERFDATA_RECORD_SAMPLE;
    assert_int_equal(got, written);
    assert_int_equal(stream_losses(s)->bad_records, 0);
    stream_close(s);
    record_compress_fini(&z);
}

static int promise_nothing(void *ctx, uint64_t from, uint64_t upto) {
    (void)ctx, (void)from, (void)upto;
    return -EOPNOTSUPP;
}

/* Wherever a full disk ends a compressed recording, it ends after a whole record, also where one lay across
 * a ring's end. */
static void compressed_on_a_full_disk(void **state) {
    struct fixture *f = *state;
    (void)f;
#ifndef HAVE_ZSTD
    skip();
#endif
    uint64_t wraps = 0;
    for (uint64_t room = 3000; room < 7000; room += 9) {
        struct record_compress z;
        void *own = NULL;
        bool wrote, ok = true;
        assert_int_equal(setup(&own), 0);
        struct fixture *one = own;
        one->disk.room = room;
        one->file.out.reserve = promise_nothing;
        assert_true(record_compress_init(&z, 1, &one->err));
        one->drain.outlet.compress = &z;
        one->drain.no_rounds = true;
        for (uint64_t time = 1; ok && time < 20000; time++) {
            assert_true(sample(one, 0, time));
            if (time % 37 == 0) {
                const struct os_ring *r = &one->opened.rings.items[0].map;
                wraps += (os_ring_tail(r) ^ os_ring_head(r)) >= r->data_bytes;
                ok = record_drain_pass(&one->drain, &one->opened, &wrote, &one->err);
            }
        }
        assert_false(ok);
        struct stream *s = reopen(one);
        struct stream_record r;
        while (stream_next(s, &r, &one->err) == STREAM_RECORD)
            ;
        assert_int_equal(stream_losses(s)->bad_records, 0);
        assert_false(stream_losses(s)->cut);
        stream_close(s);
        record_compress_fini(&z);
        teardown(&own);
    }

    assert_true(wraps > 100);
}

/* Map records get their tails wherever they lie in a ring, also across its end; nothing else changes. */
static void maps_get_tails(void **state) {
    struct fixture *f = *state;
    struct os_proc_fake_file file = {.path = "/bin/a", .identity = {.ino = 9, .size = 33}};
    const struct os_proc_fake_mapping none = {.pid = 1};
    const struct os_proc_fake fake = {&file, 1, &none, 1, false, NULL};
    struct os_proc proc = os_proc_fake(&fake);
    struct record_identities ids = {.proc = &proc};
    struct perfdata_record map = {
        .type = PERFDATA_RECORD_MMAP2,
        .misc = PERFDATA_MISC_USER,
        .mmap2 = {.pid = 5,
                  .addr = 0x1000,
                  .len = 0x1000,
                  .ino = 9,
                  .prot = 5,
                  .filename = {(const uint8_t *)"/bin/a\0", 8}},
    };
    uint64_t time = 1, maps = 0, samples = 0;
    bool wrote;
    f->drain.identities = &ids;
    f->drain.id_bytes = f->plan.tail_size;
    for (int pass = 0; pass < 300; pass++) {
        f->drain.pass_ns = INT64_MAX; /* so that the file counts as older */
        for (uint32_t n = 0; n < (uint32_t)pass % 7; n++) {
            samples += sample(f, n % RINGS, time++);
            put(f, (n + (uint32_t)pass) % RINGS, &map, time++);
            maps++;
        }
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
    }
    struct writer direct = writer_make(false); /* and among those that come from no ring */
    struct perfdata_record comm = {
        .type = PERFDATA_RECORD_COMM, .comm = {5, 5, {(const uint8_t *)"a\0\0\0\0\0\0", 8}}, .id = map.id};
    perfdata_record_encode(&comm, &f->plan, &direct);
    perfdata_record_encode(&map, &f->plan, &direct);
    perfdata_record_encode(&comm, &f->plan, &direct);
    maps++;
    assert_true(record_drain_put(&f->drain, writer_bytes(&direct), &f->err));
    writer_fini(&direct);

    struct stream *s = reopen(f);
    struct stream_record r;
    uint64_t got = 0, got_samples = 0, comms = 0;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD) {
        struct perfdata_record rec;
        struct perfdata_evidence e;
        got_samples += r.raw.type == PERFDATA_RECORD_SAMPLE;
        comms += r.raw.type == PERFDATA_RECORD_COMM;
        if (r.raw.type != PERFDATA_RECORD_MMAP2)
            continue;
        assert_true(perfdata_record_decode(&r.raw, &f->plan, false, &rec, NULL));
        assert_string_equal((const char *)rec.mmap2.filename.data, "/bin/a");
        assert_true(perfdata_evidence_decode(rec.mmap2.filename, false, &e));
        assert_true(e.has_state && e.state.ino == 9 && e.state.size == 33);
        assert_true(rec.id.have && rec.id.time < time);
        got++;
    }
    assert_int_equal(got, maps);
    assert_int_equal(got_samples, samples);
    assert_int_equal(comms, 2);
    assert_int_equal(stream_losses(s)->bad_records, 0);
    stream_close(s);
    record_identities_fini(&ids);
}

/* Who began another program, wherever it lies in the rings; and only what was told of them goes. */
static void execs_are_forgotten(void **state) {
    struct fixture *f = *state;
    struct hash_map pids = {0};
    struct writer told = writer_make(false);
    bool wrote;
    for (uint32_t turn = 0; turn < 100; turn++) {
        struct perfdata_record comm = {.type = PERFDATA_RECORD_COMM,
                                       .misc = turn % 2 ? PERFDATA_MISC_COMM_EXEC : 0,
                                       .comm = {turn, turn, {(const uint8_t *)"name\0\0\0", 8}}};
        sample(f, turn % RINGS, turn + 1);
        put(f, turn % RINGS, &comm, turn + 1);
        hash_map_fini(&pids);
        assert_true(record_drain_execs(&f->drain, &f->opened, &pids));
        assert_int_equal(pids.count, turn % 2);
        assert_int_equal(hash_map_get(&pids, turn) != HASH_ABSENT, turn % 2);
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
        assert_true(wrote); /* they were only looked at */
    }
    for (uint32_t pid = 98; pid < 101; pid++) { /* 99 it was */
        struct perfdata_record rec = {.type = PERFDATA_RECORD_FORK, .task = {.pid = pid}};
        perfdata_record_encode(&rec, NULL, &told);
        rec = (struct perfdata_record){.type = PERFDATA_RECORD_COMM,
                                       .comm = {pid, pid, {(const uint8_t *)"n\0\0\0\0\0\0", 8}}};
        perfdata_record_encode(&rec, NULL, &told);
        rec = (struct perfdata_record){.type = PERFDATA_RECORD_MMAP2,
                                       .mmap2 = {.pid = pid, .filename = {(const uint8_t *)"/bin/a\0", 8}}};
        perfdata_record_encode(&rec, NULL, &told);
    }
    record_drain_forget(&told, &pids);
    char got[16] = "";
    size_t n = 0;
    for (size_t at = 0; at < told.size; at += bytes_load16(told.data + at + 6, false)) {
        uint32_t type = bytes_load32(told.data + at, false), pid = bytes_load32(told.data + at + 8, false);
        got[n++] = type == PERFDATA_RECORD_FORK ? 'f' : type == PERFDATA_RECORD_COMM ? 'c' : 'm';
        assert_true(got[n - 1] == 'f' || pid != 99);
    }
    assert_string_equal(got, "fcmffcm");
    hash_map_fini(&pids);
    writer_fini(&told);
}

/* As the kernel does it: in front of what is there, over the oldest. */
static void write_backward(struct os_ring *r, struct bytes record) {
    uint64_t head = os_ring_head(r) - record.size;
    uint8_t *data = (uint8_t *)r->data;
    for (size_t i = 0; i < record.size; i++)
        data[(head + i) & (r->data_bytes - 1)] = record.data[i];
    *(uint64_t *)r->head = head;
}

/* The newest that are whole, newest first, however often the ring went round; and no round is finished. */
static void overwritten(void **state) {
    struct fixture *f = *state;
    struct record_ring *ring = &f->opened.rings.items[1];
    uint64_t time = 0, last = UINT64_MAX, got = 0;
    bool wrote;
    ring->backward = true;
    f->drain.no_rounds = true;
    for (int round = 0; round < 3; round++) {
        for (int n = 0; n < (round ? 500 : 5); n++) {
            struct writer w = writer_make(false);
            struct perfdata_sample s = {.have = f->attr.sample_type, .time = ++time, .cpu = 1};
            writer_u32(&w, PERFDATA_RECORD_SAMPLE);
            writer_u16(&w, PERFDATA_MISC_USER);
            writer_u16(&w, 0);
            perfdata_sample_encode(&f->plan, &s, &w);
            writer_zero(&w, time % 3 * 8); /* records of several sizes */
            writer_patch16(&w, 6, (uint16_t)w.size);
            write_backward(&ring->map, writer_bytes(&w));
            writer_fini(&w);
        }
        sample(f, 0, time); /* an ordinary ring beside it */
        assert_true(record_drain_pass(&f->drain, &f->opened, &wrote, &f->err));
        uint64_t before = f->drain.samples;
        assert_true(record_drain_backward(&f->drain, &f->opened, &f->err));
        uint64_t taken = f->drain.samples - before;
        assert_true(round ? taken > 50 && taken < 500 : taken == 5);
        assert_false(f->drain.damaged);
    }
    struct stream *s = reopen(f);
    struct stream_record r;
    while (stream_next(s, &r, &f->err) == STREAM_RECORD) {
        struct perfdata_sample v;
        assert_int_equal(r.raw.type, PERFDATA_RECORD_SAMPLE);
        assert_true(perfdata_sample_decode(&f->plan, r.raw.body, ~0ull, &v));
        if (v.cpu == 1) {
            assert_true(v.time == last - 1 || v.time == 5 || v.time == 505 || v.time == 1005);
            last = v.time;
        }
        got++;
    }
    assert_int_equal(got, f->drain.samples);
    assert_int_equal(stream_losses(s)->bad_records, 0);
    stream_close(s);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(everything_once),
        TEST(rounds_keep_their_promise),
        TEST(losses_are_counted),
        TEST(build_ids_are_kept),
        TEST(known_maps_are_settled),
        TEST(maps_of_no_file_are_settled),
        TEST(programs_are_noted),
        TEST(pass_tells_of_a_full_disk),
        TEST(compressed),
        TEST(compressed_on_a_full_disk),
        TEST(maps_get_tails),
        TEST(execs_are_forgotten),
        TEST(overwritten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
