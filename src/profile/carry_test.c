/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "profile/profile_test_session.h"
#include "recording/live.h"

enum { EIGHTHS = 8 };

/* Screens of a live profile: samples come, older ones fade. */
struct live {
    struct session s;
    struct recording_live lives[2], *live;
    struct profile *profile;
    uint64_t time_ns;
    uint32_t left;
};

static void give(struct live *x) {
    struct err err = ERR_INIT;
    struct bytes b = writer_bytes(&x->s.data);
    assert_true(writer_ok(&x->s.data));
    assert_true(recording_live_put(x->live, &b, 1, &err));
    writer_clear(&x->s.data);
}

static void start(struct live *x, bool children) {
    struct err err = ERR_INIT;
    struct writer head = writer_make(false);
    *x = (struct live){.time_ns = 100};
    x->live = &x->lives[0];
    session_start(&x->s);
    assert_true(recording_live_init(x->live, MODEL_NEED_ALL, &err));
    perfdata_pipe_head_encode(&(struct perfdata_header){.swap = false}, &x->s.events, &head, &x->left);
    struct bytes b = writer_bytes(&head);
    assert_true(recording_live_put(x->live, &b, 1, &err));
    writer_fini(&head);
    give(x);
    assert_true(recording_live_open(x->live, NULL, &err));
    x->s.store = symbol_store_new(&(struct symbol_options){0}, &err);
    x->s.names = resolve_names_new(x->live->model, x->s.store, NULL, &err);
    assert_true(
        profile_columns_make(&(struct profile_column_options){.sort = "comm,sym", .children = children},
                             x->live->recording.events, &x->s.columns, &err));
    x->s.options = (struct profile_options){.columns = &x->s.columns,
                                            .children = children,
                                            .chain_mode = children ? PROFILE_CHAIN_GRAPH : PROFILE_CHAIN_NONE,
                                            .max_stack = 127,
                                            .time_quantum_ns = 1,
                                            .socket = -1};
}

static void end(struct live *x) {
    profile_free(x->profile);
    resolve_names_free(x->s.names);
    symbol_store_free(x->s.store);
    profile_columns_fini(&x->s.columns);
    recording_live_close(x->live);
    writer_fini(&x->s.data);
    perfdata_events_fini(&x->s.events);
}

static void add(struct live *x, uint32_t tid, unsigned function, unsigned caller, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        put_sample(&x->s, &(struct test_sample){.tid = tid,
                                                .period = 1000,
                                                .time_ns = ++x->time_ns,
                                                .depth = 2,
                                                .chain = {function, caller}});
}

/* The next screen. */
static void screen(struct live *x, unsigned eighths) {
    struct err err = ERR_INIT;
    give(x);
    assert_true(recording_live_settle(x->live, &err));
    assert_true(recording_live_take(x->live, &err));
    assert_true(recording_live_retire(x->live, 0, &err));
    struct profile *old = x->profile;
    x->s.input = (struct profile_input){.stream = x->live->recording.stream,
                                        .events = x->live->recording.events,
                                        .model = x->live->model,
                                        .names = x->s.names,
                                        .live = true,
                                        .listed = x->live->samples.items,
                                        .listed_count = x->live->samples.count,
                                        .before = {.profile = old, .eighths = eighths}};
    x->profile = profile_collect(&x->s.input, &x->s.options, &err);
    assert_non_null(x->profile);
    profile_free(old);
    recording_live_forget(x->live);
}

/* Another epoch: a model, names and a store of its own. */
static void renew(struct live *x) {
    struct err err = ERR_INIT;
    struct recording_live *fresh = &x->lives[x->live == &x->lives[0]];
    struct symbol_store *store = symbol_store_new(&(struct symbol_options){0}, &err);
    uint32_t *images;
    assert_true(recording_live_renew(x->live, fresh, &err));
    assert_true(recording_live_take(fresh, &err));
    assert_true(recording_live_images(x->live, fresh, &images, &err));
    struct resolve_names *names = resolve_names_new(fresh->model, store, NULL, &err);
    struct profile *old = x->profile;
    x->s.input = (struct profile_input){.stream = fresh->recording.stream,
                                        .events = fresh->recording.events,
                                        .model = fresh->model,
                                        .names = names,
                                        .live = true,
                                        .before = {.profile = old, .eighths = 8, .images = images}};
    resolve_names_free(x->s.names);
    symbol_store_free(x->s.store);
    recording_live_close(x->live);
    x->profile = profile_collect(&x->s.input, &x->s.options, &err);
    assert_non_null(x->profile);
    profile_free(old);
    free(images);
    x->live = fresh;
    x->s.names = names;
    x->s.store = store;
    x->s.input.events = x->live->recording.events;
}

/* The samples of the row whose text ends so; 0: there is none. */
static uint64_t samples_of(const struct live *x, const char *name) {
    const struct profile_event *e = profile_event(x->profile, 0);
    struct out text;
    uint64_t n = 0;
    assert_true(out_init(&text, NULL, NULL));
    for (uint32_t i = 0; i < e->entry_count; i++) {
        struct profile_entry entry = profile_entry_at(x->profile, e, i);
        text.len = 0;
        for (size_t c = 0; c < x->s.columns.out.count; c++)
            if (profile_column_is_key(&x->s.columns.out.items[c])) {
                profile_text(x->profile, e, &entry, &x->s.columns.out.items[c], &text);
                out_char(&text, ' ');
            }
        if (!strcmp(out_text(&text), name)) {
            n += entry.self->samples;
            assert_int_equal(entry.self->period, 1000 * entry.self->samples);
        }
    }
    out_fini(&text);
    return n;
}

static uint64_t total(const struct live *x) {
    return profile_event(x->profile, 0)->total.samples;
}

static void test_fades(void **state) {
    (void)state;
    struct live x;
    start(&x, false);
    add(&x, 7, 0, 3, 800);
    add(&x, 8, 1, 3, 80);
    screen(&x, 7);
    assert_int_equal(samples_of(&x, "seven [k] a "), 800);
    assert_int_equal(samples_of(&x, "eight [k] b "), 80);
    add(&x, 8, 2, 3, 5);
    screen(&x, 7);
    assert_int_equal(samples_of(&x, "seven [k] a "), 700);
    assert_int_equal(samples_of(&x, "eight [k] b "), 70);
    assert_int_equal(samples_of(&x, "eight [k] c "), 5);
    assert_int_equal(total(&x), 775);
    screen(&x, 8); /* nothing fades */
    assert_int_equal(total(&x), 775);
    uint64_t last = total(&x), screens = 0;
    while (total(&x)) { /* in the end nothing is left, and nothing is held */
        screen(&x, 7);
        assert_true(total(&x) < last || !last);
        last = total(&x);
        assert_true(++screens < 200);
    }
    assert_int_equal(profile_event(x.profile, 0)->entry_count, 0);
    add(&x, 7, 0, 3, 3);
    screen(&x, 7);
    assert_int_equal(samples_of(&x, "seven [k] a "), 3);
    end(&x);
}

/* Functions keep their names and sums over the beginning of another epoch. */
static void test_epochs(void **state) {
    (void)state;
    for (unsigned graphs = 0; graphs < 2; graphs++) {
        struct live x;
        start(&x, graphs);
        add(&x, 7, 0, 3, 80);
        add(&x, 8, 1, 2, 8);
        screen(&x, 7);
        renew(&x);
        assert_int_equal(samples_of(&x, "seven [k] a "), 80);
        assert_int_equal(samples_of(&x, "eight [k] b "), 8);
        add(&x, 7, 0, 3, 5);
        screen(&x, 7);
        assert_int_equal(samples_of(&x, "seven [k] a "), 75);
        assert_int_equal(samples_of(&x, "eight [k] b "), 7);
        assert_int_equal(total(&x), 82);
        end(&x);
    }
}

/* Each screen of its own. */
static void test_zeroes(void **state) {
    (void)state;
    struct live x;
    start(&x, false);
    add(&x, 7, 0, 3, 800);
    screen(&x, 0);
    add(&x, 7, 1, 3, 10);
    screen(&x, 0);
    assert_int_equal(total(&x), 10);
    assert_int_equal(samples_of(&x, "seven [k] a "), 0);
    end(&x);
}

/* Many stacks with one sample each fade as one with many does: no share is lost to rounding. */
static void test_fades_evenly(void **state) {
    (void)state;
    struct live x;
    start(&x, true);
    for (unsigned i = 0; i < FUNCTIONS * FUNCTIONS; i++)
        add(&x, 7 + i % 2, i / FUNCTIONS, i % FUNCTIONS, 1);
    screen(&x, 7);
    uint64_t n = total(&x);
    assert_int_equal(n, FUNCTIONS * FUNCTIONS);
    screen(&x, 7);
    assert_in_range(total(&x), n * 7 / EIGHTHS, n * 7 / EIGHTHS + 1);
    const struct profile_event *e = profile_event(x.profile, 0);
    uint64_t self = 0;
    for (uint32_t i = 0; i < e->entry_count; i++)
        self += profile_entry_at(x.profile, e, i).self->samples;
    assert_int_equal(self, total(&x));
    end(&x);
}

/* A process that is gone is still named in older samples; many screens of such hold no more than a few. */
static void test_short_processes(void **state) {
    (void)state;
    struct live x;
    size_t early = 0, most = 0;
    start(&x, true);
    for (unsigned i = 0; i < 400; i++) {
        for (unsigned k = 0; k < 50; k++) {
            uint32_t pid = 1000 + (i * 50 + k) % 20000;
            put_record(&x.s, rec_fork(pid, pid, 1, 1), ++x.time_ns);
            put_record(&x.s, rec_exec(pid, "short"), ++x.time_ns);
            add(&x, pid, k % FUNCTIONS, 3, 2);
            put_record(&x.s, rec_exit(pid, pid, 1), ++x.time_ns);
        }
        screen(&x, 7);
        size_t bytes = model_memory_bytes(x.live->model);
        most = bytes > most ? bytes : most;
        early = i == 40 ? most : early;
        assert_true(total(&x) <= 8 * 100 + 8);
    }
    assert_true(samples_of(&x, "short [k] a ") > 50);
    assert_true(most <= 2 * early);
    end(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fades),           cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_zeroes),          cmocka_unit_test(test_fades_evenly),
        cmocka_unit_test(test_short_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
