/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"
#include "recording/live.h"

struct fixture {
    struct perfdata_events events;
    const struct perfdata_plan *plan;
    struct writer w;
    struct recording_live live;
};

static void give(struct fixture *f) {
    struct err err = ERR_INIT;
    struct bytes b = writer_bytes(&f->w);
    assert_true(writer_ok(&f->w));
    assert_true(recording_live_put(&f->live, &b, 1, &err));
    writer_clear(&f->w);
}

static void start(struct fixture *f) {
    struct err err = ERR_INIT;
    struct perfdata_attr attr = {.size = 112,
                                 .known_size = 112,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type =
                                     PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME};
    const struct perfdata_header head = {.swap = false};
    uint32_t left;
    *f = (struct fixture){.w = writer_make(false)};
    perfdata_events_init(&f->events, false);
    assert_int_equal(perfdata_events_add(&f->events, &attr, &(struct perfdata_u64s){0}), 0);
    f->plan = &f->events.list.items[0].plan;
    assert_true(recording_live_init(&f->live, MODEL_NEED_ALL, &err));
    perfdata_pipe_head_encode(&head, &f->events, &f->w, &left);
    give(f);
    assert_true(recording_live_open(&f->live, NULL, &err));
}

static void end(struct fixture *f) {
    recording_live_close(&f->live);
    writer_fini(&f->w);
    perfdata_events_fini(&f->events);
}

static void put(struct fixture *f, struct perfdata_record rec, uint64_t time_ns) {
    rec.id = (struct perfdata_sample_id){.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME, .time = time_ns};
    perfdata_record_encode(&rec, f->plan, &f->w);
}

static void sample(struct fixture *f, uint32_t pid, uint64_t ip, uint64_t time_ns) {
    test_put_sample(&f->w, f->plan, PERFDATA_MISC_USER,
                    &(struct perfdata_sample){
                        .have = f->plan->sample_type, .ip = ip, .pid = pid, .tid = pid, .time = time_ns});
}

static void round_ends(struct fixture *f) {
    writer_u32(&f->w, PERFDATA_RECORD_FINISHED_ROUND);
    writer_u16(&f->w, 0);
    writer_u16(&f->w, PERFDATA_HEADER_SIZE);
}

static const char *found_at(const struct fixture *f, uint32_t pid, uint64_t ip, uint64_t time_ns) {
    struct model_hit hit;
    if (!model_find(f->live.model, PERFDATA_MISC_USER, pid, (struct model_when){time_ns, UINT64_MAX}, ip,
                    &hit))
        return "-";
    return model_image(f->live.model, hit.image)->name;
}

/* A process that starts while it runs is known when its samples are given, in the order of time. */
static void test_takes_in_order(void **state) {
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    start(&f);
    sample(&f, 7, 0x1010, 30); /* of one CPU */
    put(&f, rec_map(7, 0x1000, 0x1000, "/early"), 20);
    sample(&f, 7, 0x1010, 25);
    round_ends(&f);
    give(&f);
    assert_true(recording_live_take(&f.live, &err));
    assert_int_equal(f.live.samples.count, 0); /* older ones may come */
    put(&f, rec_map(7, 0x1000, 0x1000, "/late"), 28);
    round_ends(&f);
    round_ends(&f);
    give(&f);
    assert_true(recording_live_take(&f.live, &err));
    assert_int_equal(f.live.samples.count, 2);
    assert_int_equal(f.live.samples.items[0].time_ns, 25);
    assert_int_equal(f.live.samples.items[1].time_ns, 30);
    assert_string_equal(found_at(&f, 7, 0x1010, 25), "/early");
    assert_string_equal(found_at(&f, 7, 0x1010, 30), "/late");
    struct model_state early;
    model_state_at(f.live.model, MODEL_SPACE_USER, 7, (struct model_when){25, UINT64_MAX}, &early);
    assert_int_equal(early.until.time_ns, 28); /* as far as is known */
    struct stream_record r = stream_record_at(f.live.recording.stream, f.live.samples.items[0].loc);
    assert_int_equal(r.time_ns, 25);
    recording_live_forget(&f.live);
    assert_int_equal(f.live.samples.count, 0);
    end(&f);
}

static void test_settles(void **state) {
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    start(&f);
    sample(&f, 7, 0x1010, 30);
    round_ends(&f);
    give(&f);
    assert_true(recording_live_take(&f.live, &err));
    assert_int_equal(f.live.samples.count, 0);
    assert_true(recording_live_settle(&f.live, &err));
    assert_true(recording_live_take(&f.live, &err));
    assert_int_equal(f.live.samples.count, 1);
    end(&f);
}

static bool count_seen(void *ctx, const struct stream_record *r, struct err *err) {
    (void)err;
    *(unsigned *)ctx += r->raw.type == PERFDATA_RECORD_EXIT;
    return true;
}

/* Hours of short processes, as fast as can be: what is held stays the same. */
static void test_hours_in_bounded_memory(void **state) {
    (void)state;
    enum { ROUNDS = 600, PROCESSES = 200, SAMPLES = 20 };
    const uint64_t second = 1000000000;
    struct fixture f;
    struct err err = ERR_INIT;
    unsigned seen = 0;
    uint64_t most_held = 0, samples = 0;
    size_t early = 0, most = 0;
    start(&f);
    f.live.seen = count_seen;
    f.live.seen_ctx = &seen;
    put(&f, rec_comm(1, 1, "init"), 1);
    put(&f, rec_map(1, 0x1000, 0x1000, "/init"), 1);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        for (uint32_t k = 0; k < PROCESSES; k++) {
            uint64_t t = (i + 1) * 48 * second + k * second / 8;
            uint32_t pid = 2 + (uint32_t)((i * PROCESSES + k) % 30000);
            put(&f, rec_fork(pid, pid, 1, 1), t);
            put(&f, rec_exec(pid, "short"), t + 1);
            put(&f, rec_map(pid, 0x1000, 0x1000, "/short"), t + 2);
            for (unsigned n = 0; n < SAMPLES; n++)
                sample(&f, pid, 0x1010, t + 3 + n);
            put(&f, rec_exit(pid, pid, 1), t + 100);
        }
        round_ends(&f);
        give(&f);
        assert_true(recording_live_take(&f.live, &err));
        for (size_t n = 0; n < f.live.samples.count; n += SAMPLES) {
            uint32_t pid = 2 + (uint32_t)((samples + n) / SAMPLES % 30000);
            assert_string_equal(found_at(&f, pid, 0x1010, f.live.samples.items[n].time_ns), "/short");
        }
        samples += f.live.samples.count;
        recording_live_forget(&f.live);
        assert_true(recording_live_retire(&f.live, 60 * second, &err));
        uint64_t held = stream_feed_held(f.live.feed);
        most_held = held > most_held ? held : most_held;
        size_t bytes = model_memory_bytes(f.live.model);
        most = bytes > most ? bytes : most;
        if (i == ROUNDS / 10)
            early = most;
    }
    assert_int_equal(samples, (uint64_t)(ROUNDS - 1) * PROCESSES * SAMPLES);
    assert_int_equal(seen, (ROUNDS - 1) * PROCESSES);
    assert_true(most_held < 12 << 20);
    assert_true(most <= 2 * early);
    assert_true(model_process_count(f.live.model) < 20 * PROCESSES);
    assert_string_equal(found_at(&f, 1, 0x1010, f.live.now_ns), "/init");
    end(&f);
}

/* Another epoch knows who lives, what they are called and what is mapped, and the kernel; and no more. */
static void test_renews(void **state) {
    (void)state;
    struct fixture f, next;
    struct err err = ERR_INIT;
    uint32_t *images = NULL;
    start(&f);
    put(&f,
        rec_mmap(PERFDATA_MISC_KERNEL, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
                 "[kernel.kallsyms]_text"),
        0);
    put(&f, rec_ksymbol(0xffffffffa0000000, 0x100, 1, 0, "stays"), 5);
    put(&f, rec_ksymbol(0xffffffffa0001000, 0x100, 1, 0, "goes"), 6);
    put(&f, rec_ksymbol(0xffffffffa0001000, 0x100, 1, PERFDATA_KSYMBOL_UNREGISTER, "goes"), 7);
    put(&f, rec_comm(1, 1, "shell"), 8);
    put(&f, rec_map(1, 0x1000, 0x3000, "/shell"), 9);
    put(&f, rec_map(1, 0x2000, 0x1000, "/cut"), 10);
    put(&f, rec_fork(20, 20, 1, 1), 11);
    put(&f, rec_exec(20, "lives"), 12);
    put(&f, rec_map(20, 0x1000, 0x1000, "/lives"), 13);
    put(&f, rec_fork(20, 21, 20, 20), 14);
    put(&f, rec_comm(20, 21, "helper"), 15);
    put(&f, rec_fork(30, 30, 1, 1), 16);
    put(&f, rec_exec(30, "gone"), 17);
    put(&f, rec_map(30, 0x1000, 0x1000, "/gone"), 18);
    put(&f, rec_exit(30, 30, 1), 19);
    give(&f);
    assert_true(recording_live_settle(&f.live, &err));
    assert_true(recording_live_take(&f.live, &err));
    next = f;
    next.w = writer_make(false);
    assert_true(recording_live_renew(&f.live, &next.live, &err));
    assert_true(recording_live_take(&next.live, &err));
    assert_true(recording_live_images(&f.live, &next.live, &images, &err));
    assert_int_equal(next.live.recording.events->list.count, 1);
    assert_string_equal(found_at(&next, 1, 0x1010, 30), "/shell");
    assert_string_equal(found_at(&next, 1, 0x2010, 30), "/cut");
    assert_string_equal(found_at(&next, 1, 0x3010, 30), "/shell");
    assert_string_equal(found_at(&next, 20, 0x1010, 30), "/lives");
    assert_string_equal(found_at(&next, 30, 0x1010, 30), "-");
    const struct model *m = next.live.model;
    struct model_when now = {30, UINT64_MAX};
    struct model_hit hit;
    assert_string_equal(model_comm(m, 1, 1, now, NULL), "shell");
    assert_string_equal(model_comm(m, 20, 20, now, NULL), "lives");
    assert_string_equal(model_comm(m, 20, 21, now, NULL), "helper");
    assert_null(model_comm(m, 30, 30, now, NULL));
    assert_true(model_find(m, PERFDATA_MISC_KERNEL, 1, now, 0xffffffff81000010, &hit));
    assert_true(model_find(m, PERFDATA_MISC_KERNEL, 1, now, 0xffffffffa0000010, &hit));
    model_find(m, PERFDATA_MISC_KERNEL, 1, now, 0xffffffffa0001010, &hit);
    assert_true(hit.image == MODEL_NONE || model_image(m, hit.image)->kind == MODEL_IMAGE_KERNEL);
    for (uint32_t i = 0; i < model_image_count(f.live.model); i++) {
        const char *name = model_image(f.live.model, i)->name;
        bool gone = !strcmp(name, "/gone") || strstr(name, "goes");
        assert_int_equal(images[i] == MODEL_NONE, gone);
        if (!gone)
            assert_string_equal(model_image(m, images[i])->name, name);
    }
    /* It goes on where the old one ended. */
    sample(&next, 20, 0x1010, 40);
    put(&next, rec_map(20, 0x5000, 0x1000, "/later"), 41);
    sample(&next, 20, 0x5010, 42);
    give(&next);
    assert_true(recording_live_settle(&next.live, &err));
    assert_true(recording_live_take(&next.live, &err));
    assert_int_equal(next.live.samples.count, 2);
    assert_string_equal(found_at(&next, 20, 0x5010, 42), "/later");
    free(images);
    recording_live_close(&next.live);
    writer_fini(&next.w);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_in_order),
        cmocka_unit_test(test_settles),
        cmocka_unit_test(test_renews),
        cmocka_unit_test(test_hours_in_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
