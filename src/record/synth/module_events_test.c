/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/module_events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/writer.h"
#include "format/perfdata/record.h"
#include "os/perf/perf_event_fake.h"

/* The texts of a 6.1 kernel, shortened; the second name's place is elsewhere. */
#define FIELD(what, at) "\tfield:" what ";\toffset:" at ";\tsize:4;\tsigned:0;\n"
#define COMMON          "format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n"
static const struct sysfs_fake_file FILES[] = {
    {"/sys/kernel/tracing/events/module/module_free/id", "401"},
    {"/sys/kernel/tracing/events/module/module_free/format", COMMON FIELD("__data_loc char[] name", "8")},
    {"/sys/kernel/tracing/events/module/module_load/id", "402"},
    {"/sys/kernel/tracing/events/module/module_load/format",
     COMMON FIELD("unsigned int taints", "8") FIELD("__data_loc char[] name", "12")},
};

struct bench {
    struct os_perf_fake fake;
    struct sysfs_fake tree;
    struct sysfs sys;
    struct perf_target target;
    struct record_options options;
    struct record_module_events e;
};

static int setup(void **state) {
    struct bench *b = calloc(1, sizeof *b);
    os_perf_fake_init(&b->fake);
    b->tree = (struct sysfs_fake){FILES, sizeof FILES / sizeof *FILES};
    b->sys = sysfs_fake(&b->tree);
    for (int32_t cpu = 0; cpu < 2; cpu++)
        *vec_push(&b->target.online) = 3 * cpu;
    *state = b;
    return 0;
}

static int teardown(void **state) {
    struct bench *b = *state;
    record_module_events_close(&b->e);
    vec_fini(&b->target.online);
    os_perf_fake_fini(&b->fake);
    free(b);
    return 0;
}

static bool open_all(struct bench *b) {
    return record_module_events_open(&b->e, &b->fake.perf, &b->sys, &b->target, &b->options);
}

/* `cut`: bytes that the name claims beyond the data. */
static void write_event(struct bench *b, int fd, uint64_t ns, bool load, const char *name, uint32_t cut) {
    struct writer w = writer_make(false);
    uint32_t length = (uint32_t)strlen(name) + 1, fixed = load ? 16 : 12,
             room = (fixed + length + 4 + 7) / 8 * 8 - 4;
    writer_u32(&w, PERFDATA_RECORD_SAMPLE);
    writer_u16(&w, 0);
    writer_u16(&w, (uint16_t)(PERFDATA_HEADER_SIZE + 12 + room));
    writer_u64(&w, ns);
    writer_u32(&w, room);
    writer_u16(&w, load ? 402 : 401);
    writer_u16(&w, 0);
    writer_u32(&w, 1);
    if (load)
        writer_u32(&w, 0);
    writer_u32(&w, (length + cut) << 16 | fixed);
    writer_put(&w, name, length);
    while (w.size < PERFDATA_HEADER_SIZE + 12 + room)
        writer_u8(&w, 0);
    assert_true(os_perf_fake_write(&b->fake, fd, writer_bytes(&w)));
    writer_fini(&w);
}

static void test_take(void **state) {
    struct bench *b = *state;
    assert_true(open_all(b));
    assert_int_equal(b->e.rings.count, 2);
    assert_false(record_module_events_take(&b->e));
    const struct record_module_ring *first = &b->e.rings.items[0], *second = &b->e.rings.items[1];
    /* Each kind through the ring of its CPU; rings are put in order of time. */
    write_event(b, second->load_fd, 30, true, "ext4", 0);
    write_event(b, first->load_fd, 10, true, "ext4", 0);
    write_event(b, first->free_fd, 20, false, "ext4", 0);
    write_event(b, first->load_fd, 25, true, "hostile", 4000);
    assert_true(record_module_events_take(&b->e));
    assert_int_equal(b->e.list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(b->e.list.items[i].ns, 10 * (i + 1));
    assert_int_equal(record_module_events_find(&b->e, true, "ext4")->ns, 30);
    assert_int_equal(record_module_events_find(&b->e, false, "ext4")->ns, 20);
    assert_null(record_module_events_find(&b->e, false, "ext"));
    b->e.list.count = 0;
    assert_false(record_module_events_take(&b->e)); /* taken once */
}

static int no_free_event(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    (void)ctx, (void)pid;
    return bytes_load64(attr.data + 8, false) == 401 && cpu == 3 ? EACCES : 0;
}

static void test_absent(void **state) {
    struct bench *b = *state;
    b->fake.refuse = no_free_event;
    assert_false(open_all(b));
    for (size_t i = 0; i < b->fake.events.count; i++)
        assert_true(b->fake.events.items[i].closed);
    assert_int_equal(b->fake.events.count, 3);
    b->tree.count = 3; /* the format is missing */
    b->fake.refuse = NULL;
    assert_false(open_all(b));
    b->tree.count = 0;
    assert_false(open_all(b));
    assert_int_equal(b->fake.events.count, 3);
    assert_false(record_module_events_take(&b->e));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_take, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
