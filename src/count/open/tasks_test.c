/* SPDX-License-Identifier: Apache-2.0 */
#include "count/open/tasks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "format/perfdata/abi.h"

/* One event, with id 9; the command is thread 10. */
struct fixture {
    struct count_tasks tasks;
    struct count_plan plan;
    struct count_counters counters;
    struct counts counts;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->tasks.events = 1;
    assert_true(hash_map_set(&f->tasks.by_id, 9, 0));
    assert_non_null(vec_push(&f->plan.events));
    assert_non_null(vec_push(&f->plan.shown));
    *(bool *)vec_push(&f->counters.supported) = true;
    *vec_push(&f->counters.list) = (struct count_counter){.fd = -1, .now = {100, 1000, 1000}};
    struct count_task *first = vec_push(&f->tasks.tasks);
    first->tid = 10;
    first->sums = arena_zalloc(&f->tasks.arena, sizeof *first->sums);
    assert_true(hash_map_set(&f->tasks.by_tid, 10, 0));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    counts_fini(&f->counts);
    count_tasks_fini(&f->tasks);
    count_counters_fini(&f->counters);
    count_plan_fini(&f->plan);
    free(f);
    return 0;
}

/* A record of those words, of 64 bits each after the header. */
static void put(struct fixture *f, uint32_t type, const uint64_t *words, size_t n) {
    uint8_t *record = malloc(8 + 8 * n); /* of just that size, for sanitizers */
    uint16_t size = (uint16_t)(8 + 8 * n), misc = 0;
    memcpy(record, &type, 4);
    memcpy(record + 4, &misc, 2);
    memcpy(record + 6, &size, 2);
    if (n)
        memcpy(record + 8, words, 8 * n);
    count_tasks_record(&f->tasks, (struct bytes){record, size});
    free(record);
}

static uint64_t two(uint32_t low, uint32_t high) {
    return low | (uint64_t)high << 32;
}

static uint64_t name(const char *text) {
    uint64_t word = 0;
    memcpy(&word, text, strlen(text));
    return word;
}

#define PUT(f, type, ...) \
    put(f, PERFDATA_RECORD_##type, (const uint64_t[]){__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / 8)

static void check(struct fixture *f, enum count_level level, const char *want) {
    char text[200] = "";
    counts_fini(&f->counts);
    assert_true(count_tasks_sum(&f->tasks, &f->counters, &f->plan, level, &f->counts));
    for (size_t k = 0; k < f->counts.keys.count; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %.0f\n", f->counts.keys.items[k].text,
                 counts_cell(&f->counts, k, 0)->value);
    assert_string_equal(text, want);
}

/* As two CPUs' rings give them: not in the order of time. The first thread has exchanged its counters with
 * another. */
static void by_thread(void **state) {
    struct fixture *f = *state;
    PUT(f, READ, two(10, 12), 30, 300, 300, 9, 60);
    PUT(f, COMM, two(10, 12), name("child"), 0, 50);
    PUT(f, COMM, two(10, 10), name("main"), 0, 10);
    PUT(f, FORK, two(10, 10), two(11, 10), 777, 20);
    PUT(f, FORK, two(10, 10), two(12, 10), 777, 40);
    PUT(f, READ, two(10, 10), 50, 500, 500, 9, 70);
    PUT(f, EXIT, two(12, 10), two(12, 10), 777, 70);
    count_tasks_take(&f->tasks, UINT64_MAX);
    assert_false(count_tasks_silent(&f->tasks));
    check(f, COUNT_THREAD, "main-10 50\nmain-11 20\nchild-12 30\n");
    check(f, COUNT_COMM, "main 70\nchild 30\n");
}

/* What is too young waits for what may be older. */
static void waiting(void **state) {
    struct fixture *f = *state;
    PUT(f, COMM, two(10, 10), name("late"), 0, 200);
    count_tasks_take(&f->tasks, 100);
    assert_int_equal(f->tasks.notes.count, 1);
    PUT(f, COMM, two(10, 10), name("early"), 0, 150);
    count_tasks_take(&f->tasks, UINT64_MAX);
    assert_int_equal(f->tasks.notes.count, 0);
    check(f, COUNT_THREAD, "late-10 100\n");
}

static void odd_records(void **state) {
    struct fixture *f = *state;
    PUT(f, READ, two(10, 12), 30, 300, 300, 8, 60); /* of no event of ours */
    PUT(f, READ, two(10, 12), 30);                  /* cut short */
    PUT(f, COMM, two(10, 12));
    PUT(f, FORK, 1);
    PUT(f, LOST, 9, 44, 60);
    PUT(f, EXIT, two(10, 1), two(10, 1), 3, 4); /* the first one ends last */
    assert_false(count_tasks_silent(&f->tasks));
    PUT(f, EXIT, two(11, 10), two(11, 10), 3, 4);
    assert_true(count_tasks_silent(&f->tasks));
    put(f, PERFDATA_RECORD_COMM, NULL, 0);
    count_tasks_record(&f->tasks, (struct bytes){NULL, 0});
    count_tasks_take(&f->tasks, UINT64_MAX);
    assert_int_equal(f->tasks.lost, 44);
    check(f, COUNT_THREAD, "-10 100\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(by_thread, setup, teardown),
                                       cmocka_unit_test_setup_teardown(waiting, setup, teardown),
                                       cmocka_unit_test_setup_teardown(odd_records, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
