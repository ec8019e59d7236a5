/* SPDX-License-Identifier: Apache-2.0 */
/* Structs by types that are not this kernel's, and by those that are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/writer.h"
#include "cmd/trace/trace_shapes.h"

static const char STRINGS[] = "\0pollfd\0fd\0revents\0events\0__pad\0newer\0rlimit64\0rlim_cur";
enum { POLLFD = 1, FD = 8, REVENTS = 11, EVENTS = 19, PAD = 26, NEWER = 32, RLIMIT = 38, CUR = 47 };
enum { INT = 1, SHORT };
enum { KIND_AT = 24, SIGNED = 1 << 24, KIND_INT = 1, KIND_STRUCT = 4 };

static void put(struct writer *w, uint32_t a, uint32_t b, uint32_t c) {
    writer_u32(w, a);
    writer_u32(w, b);
    writer_u32(w, c);
}

/* A pollfd in another order and with a member more; an rlimit64 that lacks what we know of it. */
static void put_all(struct writer *w) {
    struct writer types = writer_make(false);
    put(&types, 0, KIND_INT << KIND_AT, 4);
    writer_u32(&types, SIGNED | 32);
    put(&types, 0, KIND_INT << KIND_AT, 2);
    writer_u32(&types, 16);
    put(&types, POLLFD, KIND_STRUCT << KIND_AT | 5, 20);
    put(&types, REVENTS, SHORT, 0);
    put(&types, EVENTS, SHORT, 16);
    put(&types, FD, INT, 32);
    put(&types, PAD, INT, 64);
    put(&types, NEWER, INT, 96);
    put(&types, RLIMIT, KIND_STRUCT << KIND_AT | 1, 4);
    put(&types, CUR, INT, 0);
    writer_u16(w, 0xeb9f);
    writer_u16(w, 1);
    put(w, 24, 0, (uint32_t)types.size);
    writer_u32(w, (uint32_t)types.size);
    writer_u32(w, sizeof STRINGS);
    writer_bytes_put(w, writer_bytes(&types));
    writer_put(w, STRINGS, sizeof STRINGS);
    writer_fini(&types);
}

static void check_field(const struct calls_shape *s, size_t i, const char *name, size_t offset,
                        uint8_t kind) {
    assert_true(i < s->count);
    assert_string_equal(s->fields[i].name, name);
    assert_int_equal(s->fields[i].offset, offset);
    assert_int_equal(s->fields[i].kind, kind);
}

static void by_the_kernels_types(void **state) {
    struct writer w = writer_make(false);
    struct trace_shapes s;
    (void)state;
    put_all(&w);
    const struct os_fake_file table[] = {{"/sys/kernel/btf/vmlinux", writer_bytes(&w)}, {NULL, {0}}};
    struct os_files files = os_files_fake(table);
    trace_shapes_read(&s, &files);
    if (sizeof(void *) == 8) {
        const struct calls_shape *poll = &s.items[CALLS_SHAPE_POLLFD];
        assert_true(s.read[CALLS_SHAPE_POLLFD]);
        assert_int_equal(poll->size, 20);
        assert_int_equal(poll->count, 4); /* without padding */
        check_field(poll, 0, "revents", 0, CALLS_SET);
        check_field(poll, 1, "events", 2, CALLS_SET);
        check_field(poll, 2, "fd", 4, CALLS_FD);
        check_field(poll, 3, "newer", 12, CALLS_DEC);
        assert_true(poll->fields[3].minor && !poll->fields[2].minor);
    }
    assert_false(s.read[CALLS_SHAPE_RLIMIT]);
    assert_ptr_equal(s.items[CALLS_SHAPE_RLIMIT].fields, calls_shapes[CALLS_SHAPE_RLIMIT].fields);
    trace_shapes_fini(&s);
    writer_fini(&w);
}

static void without_types(void **state) {
    const struct os_fake_file none[] = {{NULL, {0}}},
                              broken[] = {{"/sys/kernel/btf/vmlinux", {(const uint8_t *)"no types", 8}},
                                          {NULL, {0}}};
    struct trace_shapes s;
    (void)state;
    struct os_files files = os_files_fake(none);
    trace_shapes_read(&s, &files);
    assert_memory_equal(s.items, calls_shapes, sizeof s.items);
    trace_shapes_fini(&s);
    files = os_files_fake(broken);
    trace_shapes_read(&s, &files);
    assert_memory_equal(s.items, calls_shapes, sizeof s.items);
    trace_shapes_fini(&s);
}

/* Where the kernel has types, what we were built with is as it has it. */
static void as_this_kernel_has_them(void **state) {
    struct trace_shapes s;
    (void)state;
    trace_shapes_read(&s, &os_files_real);
    for (size_t i = 0; i < CALLS_SHAPE_COUNT; i++) {
        const struct calls_shape *ours = &calls_shapes[i], *kernels = &s.items[i];
        for (size_t k = 0; s.read[i] && k < ours->count; k++)
            for (size_t n = 0; n < kernels->count; n++) {
                const struct calls_field *a = &ours->fields[k], *b = &kernels->fields[n];
                if (strcmp(a->name, b->name) != 0)
                    continue;
                assert_int_equal(a->offset, b->offset);
                assert_int_equal(a->size, b->size);
            }
    }
    trace_shapes_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_kernels_types),
        cmocka_unit_test(without_types),
        cmocka_unit_test(as_this_kernel_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
