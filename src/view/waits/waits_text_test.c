/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/waits/waits_text.h"

struct made {
    struct waits w;
    struct waits_chains chains;
    struct waits_groups groups;
    struct waits_choice choice;
    struct waits_view view;
};

/* A thread that waits for `on` (-1: nobody), its id being its place + 1. */
static void add(struct made *m, const char *comm, enum waits_kind kind, const char *what, int on) {
    struct waits_thread *t = vec_push(&m->w.threads);
    assert_non_null(t);
    int32_t tid = (int32_t)m->w.threads.count;
    *t = (struct waits_thread){.pid = 1,
                               .tid = tid,
                               .inner_tid = tid,
                               .state = kind == WAITS_RUNNING ? 'R' : 'S',
                               .call = WAITS_CALL_NONE,
                               .since_ns = tid * 1500000,
                               .comm = comm,
                               .process = "app"};
    t->wait = (struct waits_wait){.kind = kind,
                                  .what = what,
                                  .limit_ns = -1,
                                  .fd = -1,
                                  .on = on < 0 ? WAITS_NOBODY : (uint32_t)on,
                                  .certain = kind == WAITS_LOCK};
}

static void ready(struct made *m) {
    assert_true(waits_index(&m->w));
    assert_true(waits_chains_find(&m->chains, &m->w));
    assert_true(waits_groups_find(&m->groups, &m->w, &m->choice, false));
    m->view =
        (struct waits_view){.w = &m->w, .chains = &m->chains, .groups = &m->groups, .choice = &m->choice};
}

static void end(struct made *m) {
    waits_chains_fini(&m->chains);
    waits_groups_fini(&m->groups);
    waits_fini(&m->w);
}

static void check(const struct made *m, const char *expected) {
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    waits_text_write(&m->view, &o);
    assert_string_equal(out_text(&o), expected);
    out_fini(&o);
}

static void deadlock_first(void **state) {
    (void)state;
    struct made m = {0};
    add(&m, "one", WAITS_LOCK, "mutex 0x10, held by two/2", 1);
    add(&m, "two", WAITS_LOCK, "mutex 0x20, held by one/1", 0);
    add(&m, "late", WAITS_LOCK, "mutex 0x20, held by one/1", 0);
    add(&m, "w", WAITS_LOCK, "mutex 0x30, held by busy/6", 5);
    add(&m, "w", WAITS_LOCK, "mutex 0x30, held by busy/6", 5);
    add(&m, "busy\x1b[m", WAITS_RUNNING, "nothing: it runs", -1);
    ready(&m);
    check(&m, "deadlock: one/1 waits for mutex 0x10, held by two/2,\n"
              "          which waits for mutex 0x20, held by one/1\n"
              "          for 1.500 ms; 1 more thread waits for them\n"
              "\n"
              "2 threads wait for busy?[m/6, which runs\n"
              "    <- 2 threads w wait for mutex 0x30, held by busy/6 (7.500 ms)\n"
              "\n"
              "THREADS  PROCESS          STATE            LONGEST  WAITS FOR\n"
              "      2  app              sleeping        7.500 ms  mutex 0x30, held by busy/6\n"
              "      2  app              sleeping        4.500 ms  mutex 0x20, held by one/1\n"
              "      1  app              sleeping        1.500 ms  mutex 0x10, held by two/2\n"
              "      1  app              running         9.000 ms  nothing: it runs\n");
    m.view.width = 20;
    m.view.threads = true;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    waits_text_write(&m.view, &o);
    assert_non_null(strstr(out_text(&o), "deadlock: one/1 wait\n"));
    out_fini(&o);
    end(&m);
}

/* Chains without a chosen thread are not shown; chains of one step only with -v. */
static void what_was_chosen(void **state) {
    (void)state;
    const int32_t last = 3;
    struct made m = {.choice = {.tids = &last, .tid_count = 1}};
    add(&m, "a", WAITS_SLEEP, "the end of its sleep", -1);
    add(&m, "b", WAITS_LOCK, "mutex 0x10, held by a/1", 0);
    add(&m, "c", WAITS_SLEEP, "the end of its sleep", -1);
    add(&m, "d", WAITS_CHILD, "the end of its child c", 2);
    ready(&m);
    check(&m, "THREADS  PROCESS          STATE            LONGEST  WAITS FOR\n"
              "      1  app              sleeping        4.500 ms  the end of its sleep\n");
    m.view.all_chains = true;
    check(&m, "1 thread waits for c/3, which waits for the end of its sleep (4.500 ms)\n"
              "    <- d/4 waits for the end of its child c (6.000 ms)\n"
              "\n"
              "THREADS  PROCESS          STATE            LONGEST  WAITS FOR\n"
              "      1  app              sleeping        4.500 ms  the end of its sleep\n");
    end(&m);
}

/* Which one of several is said of a group if it is the same for all of it, of none or of some it is not. */
static void which_one(void **state) {
    static const char *const WHICH[] = {"pipe:[1]", "pipe:[1]", "pipe:[1]", "pipe:[2]", "pipe:[1]", NULL};
    (void)state;
    struct made m = {0};
    for (size_t i = 0; i < 6; i++) {
        add(&m, "t", WAITS_PIPE, i < 2 ? "one" : i < 4 ? "two" : "three", -1);
        m.w.threads.items[i].wait.which = WHICH[i];
    }
    ready(&m);
    check(&m, "THREADS  PROCESS          STATE            LONGEST  WAITS FOR\n"
              "      2  app              sleeping        9.000 ms  three\n"
              "      2  app              sleeping        6.000 ms  two\n"
              "      2  app              sleeping        3.000 ms  one (pipe:[1])\n");
    end(&m);
}

static void five_deep(void **state) {
    (void)state;
    struct made m = {0};
    add(&m, "t", WAITS_SLEEP, "the end of its sleep", -1);
    for (int i = 0; i < 40; i++)
        add(&m, "t", WAITS_LOCK, "mutex", i);
    ready(&m);
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    waits_text_write(&m.view, &o);
    assert_non_null(strstr(out_text(&o), "                    <- t/6 waits for mutex"));
    assert_non_null(strstr(out_text(&o), "                        <- 1 more, and what waits for them\n"));
    assert_null(strstr(out_text(&o), "<- t/7"));
    out_fini(&o);
    end(&m);
}

/* The JSON can be parsed, whatever the names are. */
static void json(void **state) {
    (void)state;
    struct made m = {0};
    static const char *stack[] = {"a\"b", "c\xff"};
    add(&m, "o\"ne\n\xff", WAITS_LOCK, "mutex 0x10, held by itself", 0);
    m.w.threads.items[0].stack = stack;
    m.w.threads.items[0].depth = 2;
    m.w.threads.items[0].kernel_depth = 1;
    ready(&m);
    m.view.stacks = true;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    waits_json_write(&m.view, &o);
    assert_non_null(strstr(out_text(&o), "\"deadlock\":true"));
    assert_non_null(strstr(out_text(&o), "{\"sym\":\"a\\\"b\",\"kernel\":true}"));
    out_fini(&o);
    end(&m);
}

static void over_time(void **state) {
    (void)state;
    struct made m = {0};
    struct waits_over_time t = {0};
    struct out o;
    static const char *stack[] = {"inner", "outer"};
    add(&m, "a", WAITS_SLEEP, "the end of its sleep", -1);
    add(&m, "b", WAITS_FUTEX, "a futex\t", -1);
    m.w.threads.items[1].stack = stack;
    m.w.threads.items[1].depth = 2;
    assert_true(waits_over_time_add(&t, &m.w, &m.choice, true, 1000000000));
    assert_true(out_init(&o, NULL, NULL));
    assert_true(waits_tree_write(&t, 0, &o));
    assert_string_equal(out_text(&o), "1.000 s, 1 snapshot: time of threads by what they waited for\n\n"
                                      "       2.000 s 100.00 %  app\n"
                                      "       1.000 s  50.00 %    a futex?\n"
                                      "       1.000 s  50.00 %      outer\n"
                                      "       1.000 s  50.00 %        inner\n"
                                      "       1.000 s  50.00 %    the end of its sleep\n");
    out_fini(&o);
    assert_true(out_init(&o, NULL, NULL));
    assert_true(waits_tree_json_write(&t, &o));
    assert_string_equal(
        out_text(&o),
        "{\"version\":1,\"elapsed\":1000000000,\"snapshots\":1,\"time\":2000000000,\"left_out\":0,\"tree\":["
        "{\"name\":\"app\",\"time\":2000000000,\"below\":["
        "{\"name\":\"a futex\\t\",\"kind\":\"futex\",\"time\":1000000000,\"below\":["
        "{\"name\":\"outer\",\"time\":1000000000,\"below\":["
        "{\"name\":\"inner\",\"time\":1000000000,\"below\":[]}]}]},"
        "{\"name\":\"the end of its sleep\",\"kind\":\"sleep\",\"time\":1000000000,\"below\":[]}]}]}\n");
    out_fini(&o);
    waits_over_time_fini(&t);
    waits_fini(&m.w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deadlock_first), cmocka_unit_test(what_was_chosen),
        cmocka_unit_test(which_one),      cmocka_unit_test(five_deep),
        cmocka_unit_test(json),           cmocka_unit_test(over_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
