/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_test.h"

#include "format/perfdata/events/events.h"
#include "tests/support/fail_alloc.h"

static struct perfdata_u64s ids(const uint64_t *v, uint64_t n) {
    return (struct perfdata_u64s){(const uint8_t *)v, n, false};
}

static void one_event_owns_everything(void **state) {
    (void)state;
    struct perfdata_events set;
    perfdata_events_init(&set, false);
    assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_SAMPLE, (struct bytes){0}),
                     PERFDATA_NO_EVENT);
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_ID};
    assert_int_equal(perfdata_events_add(&set, &attr, NULL), 0);
    uint64_t unknown = 99;
    struct bytes body = {(const uint8_t *)&unknown, 8};
    assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_SAMPLE, body), 0);
    assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_COMM, (struct bytes){0}), 0);
    assert_int_equal(set.list.items[0].leader, 0);
    assert_int_equal(set.list.items[0].group_members, 1);
    assert_true(set.list.items[0].scale == 1.0);
    perfdata_events_fini(&set);
    assert_int_equal(set.list.count, 0);
}

static void find(uint64_t sample_type, size_t at, bool swap) {
    struct perfdata_events set;
    perfdata_events_init(&set, swap);
    struct perfdata_attr attr = {.sample_type = sample_type, .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    uint64_t first[] = {11, 12}, second[] = {21, 22};
    if (swap)
        for (int i = 0; i < 2; i++) {
            first[i] = __builtin_bswap64(first[i]);
            second[i] = __builtin_bswap64(second[i]);
        }
    struct perfdata_u64s a = ids(first, 2), b = ids(second, 2);
    a.swap = b.swap = swap;
    perfdata_events_add(&set, &attr, &a);
    perfdata_events_add(&set, &attr, &b);
    assert_true(perfdata_events_add_id(&set, 0, 13));
    assert_int_equal(set.list.items[0].id_count, 3);
    assert_int_equal(set.list.items[0].ids[2], 13);
    assert_int_equal(set.list.items[1].ids[1], 22);

    static const struct {
        uint64_t id;
        uint32_t sample, other;
    } CASES[] = {{11, 0, 0},
                 {13, 0, 0},
                 {21, 1, 1},
                 {22, 1, 1},
                 {0, PERFDATA_NO_EVENT, 0},
                 {77, PERFDATA_NO_EVENT, 0}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct writer sample = writer_make(swap), comm = writer_make(swap);
        writer_zero(&sample, at);
        writer_u64(&sample, CASES[i].id);
        writer_zero(&comm, 8);
        writer_u64(&comm, CASES[i].id); /* ID or IDENTIFIER: the last of the tail here */
        assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_SAMPLE, writer_bytes(&sample)),
                         CASES[i].sample);
        assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_COMM, writer_bytes(&comm)),
                         CASES[i].other);
        sample.size--;
        assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_SAMPLE, writer_bytes(&sample)),
                         PERFDATA_NO_EVENT);
        comm.size = 7;
        assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_COMM, writer_bytes(&comm)), 0);
        writer_fini(&sample);
        writer_fini(&comm);
    }
    perfdata_events_fini(&set);
}

static void several_events_are_told_by_id(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        find(PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME, 0, swap);
        find(PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID, 16, swap);
    }
}

static void without_ids_the_first_one_counts(void **state) {
    (void)state;
    struct perfdata_events set;
    perfdata_events_init(&set, false);
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_IP};
    perfdata_events_add(&set, &attr, NULL);
    perfdata_events_add(&set, &attr, NULL);
    uint64_t ip = 5;
    struct bytes body = {(const uint8_t *)&ip, 8};
    assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_SAMPLE, body), 0);
    assert_int_equal(perfdata_events_find(&set, PERFDATA_RECORD_MMAP, body), 0);
    assert_true(set.same_layout);
    attr.read_format = 1;
    perfdata_events_add(&set, &attr, NULL);
    assert_false(set.same_layout);
    perfdata_events_fini(&set);
}

static void what_is_given_is_copied(void **state) {
    (void)state;
    struct perfdata_events set;
    perfdata_events_init(&set, false);
    uint8_t tail[] = {1, 2, 3};
    struct perfdata_attr attr = {.tail = {tail, 3}};
    uint64_t id = 7;
    struct perfdata_u64s one = ids(&id, 1);
    assert_int_equal(perfdata_events_add(&set, &attr, &one), 0);
    tail[0] = 9;
    id = 8;
    assert_int_equal(set.list.items[0].attr.tail.data[0], 1);
    assert_int_equal(set.list.items[0].ids[0], 7);
    for (uint64_t i = 100; i < 400; i++)
        assert_true(perfdata_events_add_id(&set, 0, i));
    assert_int_equal(set.list.items[0].id_count, 301);
    assert_int_equal(set.list.items[0].ids[300], 399);
    assert_int_equal(set.list.items[0].ids[0], 7);
    perfdata_events_fini(&set);
}

static void updates_apply_to_their_event(void **state) {
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        struct perfdata_events set;
        perfdata_events_init(&set, swap);
        struct perfdata_attr attr = {0};
        perfdata_events_add(&set, &attr, NULL);
        perfdata_events_add(&set, &attr, NULL);
        perfdata_events_add_id(&set, 1, 42);
        struct perfdata_event *e = &set.list.items[1];
        char text[] = "Joules\0junk";
        struct perfdata_event_update u = {.id = 42, .data = {(const uint8_t *)text, sizeof text}};
        assert_true(perfdata_events_update(&set, &u));
        u.update_type = 2;
        assert_true(perfdata_events_update(&set, &u));
        text[0] = 'X';
        assert_string_equal(e->unit, "Joules");
        assert_string_equal(e->name, "Joules");

        double scale = 2.5;
        uint64_t bits;
        memcpy(&bits, &scale, 8);
        struct writer w = writer_make(swap);
        writer_u64(&w, bits);
        u = (struct perfdata_event_update){1, 42, writer_bytes(&w)};
        assert_true(perfdata_events_update(&set, &u));
        assert_true(e->scale == 2.5);
        u.data.size = 7;
        assert_true(perfdata_events_update(&set, &u));
        assert_true(e->scale == 2.5);
        u = (struct perfdata_event_update){3, 42, writer_bytes(&w)};
        assert_true(perfdata_events_update(&set, &u));
        assert_bytes(e->own_cpus, w.data, 8);
        u = (struct perfdata_event_update){2, 42, {NULL, 0}};
        assert_true(perfdata_events_update(&set, &u));
        assert_string_equal(e->name, "");
        u = (struct perfdata_event_update){0, 43, {(const uint8_t *)"no", 3}};
        assert_true(perfdata_events_update(&set, &u));
        assert_null(set.list.items[0].unit);
        writer_fini(&w);
        perfdata_events_fini(&set);
    }
}

/* Whatever allocation fails: the failure is told, and no id leads to an event that is not there. */
static void fill_with_faults(void) {
    struct perfdata_events set;
    perfdata_events_init(&set, false);
    uint64_t v[40], first = 0;
    uint8_t tail[20] = {1};
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_ID, .tail = {tail, sizeof tail}};
    for (unsigned i = 0; i < 12; i++) {
        for (unsigned k = 0; k < 40; k++)
            v[k] = first + k;
        first += 40;
        struct perfdata_u64s list = ids(v, 40);
        uint32_t index = perfdata_events_add(&set, &attr, &list);
        if (index == PERFDATA_NO_EVENT)
            continue;
        assert_int_equal(set.list.items[index].id_count, 40);
        assert_bytes(set.list.items[index].attr.tail, tail, sizeof tail);
        assert_int_equal(hash_map_get(&set.by_id, v[39]), index);
        if (perfdata_events_add_id(&set, index, 5000 + i))
            assert_int_equal(hash_map_get(&set.by_id, 5000 + i), index);
        struct perfdata_event_update u = {2, v[0], {tail, 1}};
        if (perfdata_events_update(&set, &u))
            assert_string_equal(set.list.items[index].name, "\x01");
    }
    for (uint64_t id = 0; id < 6000; id++) {
        uint32_t index = hash_map_get(&set.by_id, id);
        assert_true(index == HASH_ABSENT || index < set.list.count);
    }
    perfdata_events_fini(&set);
}

static void failed_allocations_leave_a_whole_set(void **state) {
    (void)state;
    FAIL_EACH_ALLOC(fill_with_faults());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_event_owns_everything),
        cmocka_unit_test(several_events_are_told_by_id),
        cmocka_unit_test(without_ids_the_first_one_counts),
        cmocka_unit_test(what_is_given_is_copied),
        cmocka_unit_test(updates_apply_to_their_event),
        cmocka_unit_test(failed_allocations_leave_a_whole_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
