/* SPDX-License-Identifier: Apache-2.0 */
/* Samples with a dumped stack leave as ordinary ones. */
#include "record/unwind/unwind_core.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/perfdata/added/unwound.h"
#include "model/model_test_records.h"
#include "tests/support/cfi_image.h"
#include "tests/support/fail_alloc.h"

/*
 * A process with a file's code and a JIT's:
 *
 *   FILE_AT + 0x10  frame      pushes rbp: CFA rsp + 16 from its second byte on
 *           + 0x50  outermost  the return address is undefined
 *           + 0x60  keeps      a frame pointer: CFA rbp + 16 from its fifth byte on
 *   JIT_AT                     memory without a file
 */
enum { PID = 7, FILE_AT = 0x10000, JIT_AT = 0x40000, STACK = 0x700000, NOTHING = 0x90000 };
enum { FRAME = FILE_AT + 0x10, OUTERMOST = FILE_AT + 0x50, KEEPS = FILE_AT + 0x60 };

#define INITIAL "\x0c\x07\x08\x90\x01" /* def_cfa rsp+8; rip at cfa-8 */
static const struct test_cfi_fde FDES[] = {
    TEST_CFI_FDE(0x1010, 0x40, "\x41\x0e\x10\x86\x02"),
    TEST_CFI_FDE(0x1050, 0x10, "\x07\x10"),
    TEST_CFI_FDE(0x1060, 0x20, "\x41\x0e\x10\x86\x02\x43\x0d\x06"),
};

struct session {
    char root[64], folder[96], file[128];
    uint64_t offset; /* of the code in the file */
    struct perfdata_events events;
    struct record_unwind_queue queue;
    struct record_unwind_core core;
    struct writer in, out;
    size_t packed; /* bytes that were put to be compressed */
    size_t refuse; /* so many puts succeed; 0: all */
    size_t puts;
    uint64_t words[16];
};

static bool put(void *ctx, const struct bytes *spans, size_t count, size_t packed, struct err *err) {
    struct session *s = ctx;
    if (s->refuse && ++s->puts > s->refuse)
        return err_set(err, ERR_IO, "fake", "the disk is full");
    for (size_t i = 0; i < count; i++) {
        writer_bytes_put(&s->out, spans[i]);
        s->packed += i < packed ? spans[i].size : 0;
    }
    return true;
}

static void give_back(void *ctx, struct record_chunk *chunk) {
    struct session *s = ctx;
    record_unwind_queue_give_back(&s->queue, chunk);
}

static void write_image(struct session *s) {
    const struct test_cfi x = {.wide = true,
                               .machine = EM_X86_64,
                               .return_column = 16,
                               .data_align = -8,
                               .augmentation = "zR",
                               .initial = INITIAL,
                               .initial_size = sizeof INITIAL - 1,
                               .fdes = FDES,
                               .count = 3};
    struct test_image image;
    struct bytes b = test_cfi_make(&x, &image);
    Elf64_Ehdr head;
    Elf64_Phdr text;
    memcpy(&head, b.data, sizeof head);
    memcpy(&text, b.data + head.e_phoff, sizeof text);
    FILE *f = fopen(s->file, "w");
    assert_true(f && fwrite(b.data, 1, b.size, f) == b.size && fclose(f) == 0);
    test_image_fini(&image);
    s->offset = text.p_offset;
}

static bool start(struct session *s) {
    const struct record_unwind_options o = {.events = &s->events,
                                            .machine = "x86_64",
                                            .symfs = s->root,
                                            .put = put,
                                            .give_back = give_back,
                                            .ctx = s};
    record_unwind_queue_init(&s->queue, 1 << 20);
    return record_unwind_core_init(&s->core, &o, NULL);
}

static void session_init(struct session *s) {
    *s = (struct session){.root = "/tmp/unwindXXXXXX", .in = writer_make(false), .out = writer_make(false)};
    assert_non_null(mkdtemp(s->root));
    snprintf(s->folder, sizeof s->folder, "%s/lib", s->root);
    snprintf(s->file, sizeof s->file, "%s/a.so", s->folder);
    assert_int_equal(mkdir(s->folder, 0700), 0);
    write_image(s);
    struct perfdata_attr attr = {.size = 112,
                                 .known_size = 112,
                                 .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CALLCHAIN |
                                                PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER,
                                 .sample_regs_user = 7 << 6, /* perf_regs.h of x86: bp, sp, ip */
                                 .sample_stack_user = sizeof s->words,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    perfdata_events_init(&s->events, false);
    assert_int_equal(perfdata_events_add(&s->events, &attr, NULL), 0);
}

static void stop(struct session *s) {
    record_unwind_core_fini(&s->core);
    record_unwind_queue_fini(&s->queue);
    writer_clear(&s->out);
    writer_clear(&s->in);
}

static void session_fini(struct session *s) {
    stop(s);
    perfdata_events_fini(&s->events);
    writer_fini(&s->in);
    writer_fini(&s->out);
    unlink(s->file);
    rmdir(s->folder);
    assert_int_equal(rmdir(s->root), 0);
}

static const struct perfdata_plan *plan(const struct session *s) {
    return &s->events.list.items[0].plan;
}

/* Puts a record into the chunk at hand. */
static void add(struct session *s, uint64_t time_ns, struct perfdata_record rec) {
    rec.id = (struct perfdata_sample_id){
        .have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME, .pid = PID, .tid = PID, .time = time_ns};
    perfdata_record_encode(&rec, plan(s), &s->in);
}

static struct perfdata_record mapped(const struct session *s) {
    return rec_mmap(U, PID, FILE_AT, 0x1000, s->offset, "/lib/a.so");
}

/* A sample whose dump has the first `words`; the kernel's chain is `chain`. */
static void add_sample(struct session *s, uint64_t time_ns, uint64_t ip, uint64_t bp, size_t words,
                       const uint64_t *chain, size_t count) {
    const uint64_t regs[3] = {bp, STACK, ip};
    struct perfdata_sample x = {
        .have = ~0ull,
        .ip = ip,
        .pid = PID,
        .tid = PID,
        .time = time_ns,
        .callchain = {(const uint8_t *)chain, count, false},
        .regs_user = {words ? 2 : 0, 7 << 6, {(const uint8_t *)regs, words ? 3 : 0, false}},
        .stack_user = {(const uint8_t *)s->words, words * sizeof *s->words},
        .stack_dyn_size = words * sizeof *s->words,
    };
    struct writer w = writer_make(false);
    perfdata_sample_encode(plan(s), &x, &w);
    writer_u32(&s->in, PERFDATA_RECORD_SAMPLE);
    writer_u16(&s->in, PERFDATA_MISC_USER);
    writer_u16(&s->in, (uint16_t)(w.size + PERFDATA_HEADER_SIZE));
    writer_bytes_put(&s->in, writer_bytes(&w));
    writer_fini(&w);
}

static const uint64_t PLAIN[] = {PERFDATA_CONTEXT_USER, FRAME};

/* One with a whole stack: FRAME, called at FRAME + 5, called by the outermost one. */
static void add_whole(struct session *s, uint64_t time_ns) {
    s->words[0] = FRAME + 5;
    s->words[1] = 0x1234;
    s->words[2] = OUTERMOST + 2;
    add_sample(s, time_ns, FRAME, 0, 8, PLAIN, 2);
}

/* The chunk at hand goes its way; `round`: one ends with it. */
static bool send(struct session *s, bool round) {
    struct bytes all = writer_bytes(&s->in);
    struct record_chunk chunk;
    bool ok = record_unwind_queue_put(&s->queue, &all, 1, 1, round, NULL);
    writer_clear(&s->in);
    return ok && record_unwind_queue_try(&s->queue, &chunk) &&
           record_unwind_core_take(&s->core, &chunk, NULL);
}

/* The i-th sample that came out. */
static bool sample_at(const struct session *s, size_t i, struct perfdata_sample *out) {
    for (size_t at = 0, size; at < s->out.size; at += size) {
        const uint8_t *h = s->out.data + at;
        size = bytes_load16(h + 6, false);
        assert_true(size >= PERFDATA_HEADER_SIZE && size <= s->out.size - at);
        if (bytes_load32(h, false) != PERFDATA_RECORD_SAMPLE || i--)
            continue;
        struct bytes body = {h + PERFDATA_HEADER_SIZE, size - PERFDATA_HEADER_SIZE};
        assert_true(perfdata_sample_decode(plan(s), body, ~0ull, out));
        assert_int_equal(out->tail.size, 0);
        return true;
    }
    return false;
}

#define ASSERT_SAMPLE(s, i, dumped, ...)                                     \
    do {                                                                     \
        struct perfdata_sample x_;                                           \
        const uint64_t want_[] = {__VA_ARGS__};                              \
        assert_true(sample_at(s, i, &x_));                                   \
        assert_int_equal(x_.regs_user.abi, (dumped) ? 2 : 0);                \
        assert_int_equal(x_.stack_user.size != 0, dumped);                   \
        assert_int_equal(x_.callchain.count, sizeof want_ / sizeof *want_);  \
        for (size_t i_ = 0; i_ < x_.callchain.count; i_++)                   \
            assert_int_equal(perfdata_u64_at(&x_.callchain, i_), want_[i_]); \
    } while (0)

#define USER PERFDATA_CONTEXT_USER

/* What was mapped before a sample is known to it, wherever in its round or the next one the record came; what
 * was mapped later is not. */
static void test_rounds(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add_whole(&s, 20);
    assert_true(send(&s, false));
    assert_true(send(&s, true));
    assert_int_equal(s.out.size, 0);
    add(&s, 10, mapped(&s)); /* of a ring that was read before the other one */
    add_whole(&s, 30);
    assert_true(send(&s, true));
    ASSERT_SAMPLE(&s, 0, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    struct perfdata_sample x;
    assert_false(sample_at(&s, 1, &x));
    add(&s, 50, rec_exec(PID, "other"));
    add_whole(&s, 40); /* before the exec, though it came after it */
    add_whole(&s, 60);
    assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
    ASSERT_SAMPLE(&s, 1, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    ASSERT_SAMPLE(&s, 2, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    assert_true(sample_at(&s, 3, &x));
    assert_true(x.stack_user.size != 0);
    assert_int_equal(s.packed, s.out.size);
    assert_int_equal(s.queue.bytes, 0);
    session_fini(&s);
}

/* A round without anything lets the one before it go. */
static void test_idle(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    add_whole(&s, 20);
    assert_true(send(&s, true));
    assert_int_equal(s.out.size, 0);
    assert_true(send(&s, true));
    ASSERT_SAMPLE(&s, 0, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    assert_true(send(&s, true));
    session_fini(&s);
}

/* Dumps that are too short, and stacks that cannot be unwound. */
static void test_ends(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    s.words[0] = FRAME + 5;
    add_sample(&s, 1, FRAME, 0, 2, PLAIN, 2);
    s.words[0] = NOTHING;
    add_sample(&s, 2, FRAME, 0, 8, PLAIN, 2);
    const uint64_t kernels[] = {PERFDATA_CONTEXT_KERNEL, 0xffffffff81000000, USER, FRAME};
    add_sample(&s, 3, FRAME, 0, 8, kernels, 4);
    add_sample(&s, 4, FRAME, 0, 0, kernels, 2); /* a thread of the kernel */
    add_whole(&s, 5);
    assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
    struct perfdata_sample x;
    ASSERT_SAMPLE(&s, 0, false, USER, FRAME, FRAME + 4, USER);
    assert_true(sample_at(&s, 1, &x));
    assert_int_equal(x.callchain.count, 0);
    assert_int_equal(x.stack_user.size, 8 * sizeof *s.words);
    ASSERT_SAMPLE(&s, 2, true, kernels[0], kernels[1]);
    ASSERT_SAMPLE(&s, 3, false, kernels[0], kernels[1]);
    ASSERT_SAMPLE(&s, 4, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    struct perfdata_unwound counts;
    struct writer report = writer_make(false);
    record_unwind_core_report(&s.core, &report);
    struct bytes rest = writer_bytes(&report), image;
    uint64_t stacks;
    assert_true(perfdata_unwound_decode(rest, &counts));
    assert_int_equal(counts.stacks, 4);
    assert_int_equal(counts.whole, 1);
    assert_int_equal(counts.cut, 1);
    assert_int_equal(counts.kept, 2);
    assert_int_equal(counts.lagging, 0);
    assert_true(perfdata_unwound_next_cut(&rest, &stacks, &image));
    assert_int_equal(stacks, 1);
    assert_true(bytes_equal(image, (struct bytes){(const uint8_t *)"/lib/a.so", 9}));
    writer_fini(&report);
    session_fini(&s);
}

/* The kernel's chain of frame pointers tells of callers beyond the dump, if it is sure that it left out none.
 */
static void test_beyond(void **state) {
    (void)state;
    const uint64_t kernels[] = {USER, KEEPS + 0x10, KEEPS + 0x11, KEEPS + 0x15, OUTERMOST + 2};
    const uint64_t other[] = {USER, KEEPS + 0x10, KEEPS + 0x12, OUTERMOST + 2};
    const uint64_t to_nowhere[] = {USER, KEEPS + 0x10, KEEPS + 0x11, NOTHING};
    const uint64_t no_pointer[] = {USER, FRAME, FRAME + 5, OUTERMOST + 2};
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    s.words[2] = STACK + 0x1000; /* the caller's frame lies beyond the dump */
    s.words[3] = KEEPS + 0x11;
    add_sample(&s, 1, KEEPS + 0x10, STACK + 0x10, 4, kernels, 5);
    add_sample(&s, 2, KEEPS + 0x10, STACK + 0x10, 4, other, 4);
    add_sample(&s, 3, KEEPS + 0x10, STACK + 0x10, 4, to_nowhere, 4);
    s.words[0] = FRAME + 5;
    add_sample(&s, 4, FRAME, STACK + 0x10, 1, no_pointer, 4);
    assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
    ASSERT_SAMPLE(&s, 0, false, USER, KEEPS + 0x10, KEEPS + 0x10, KEEPS + 0x14, OUTERMOST + 1);
    ASSERT_SAMPLE(&s, 1, false, USER, KEEPS + 0x10, KEEPS + 0x10, USER);
    ASSERT_SAMPLE(&s, 2, false, USER, KEEPS + 0x10, KEEPS + 0x10, USER);
    ASSERT_SAMPLE(&s, 3, false, USER, FRAME, FRAME + 4, USER);
    session_fini(&s);
}

/* Frames in a JIT's code are for its jitdump to tell; without one, frame pointers lead through. */
static void test_jit(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    for (int dump = 0; dump < 2; dump++) {
        struct perfdata_record announced = {
            .type = PERFDATA_RECORD_MMAP2,
            .misc = PERFDATA_MISC_USER,
            .mmap2 = {.pid = PID,
                      .tid = PID,
                      .addr = 0x80000,
                      .len = 0x1000,
                      .prot = PROT_READ | PROT_EXEC,
                      .filename = rec_text("/tmp/jit-7.dump")},
        };
        assert_true(start(&s));
        add(&s, 0, mapped(&s));
        add(&s, 0, rec_map(PID, JIT_AT, 0x1000, "//anon"));
        if (dump)
            add(&s, 1, announced);
        s.words[4] = 0;
        s.words[5] = OUTERMOST + 2;
        add_sample(&s, 2, JIT_AT + 8, STACK + 0x20, 8, PLAIN, 2);
        assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
        struct perfdata_sample x;
        assert_true(sample_at(&s, 0, &x));
        assert_int_equal(x.stack_user.size != 0, dump);
        stop(&s);
    }
    assert_true(start(&s));
    session_fini(&s);
}

/* Told to hurry, all goes out as it is, at once; what comes later is unwound again. */
static void test_hurry(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    add_whole(&s, 1);
    assert_true(send(&s, false) && record_unwind_core_flush(&s.core, NULL));
    assert_int_equal(s.queue.bytes, 0);
    struct perfdata_sample x;
    assert_true(sample_at(&s, 0, &x));
    assert_int_equal(x.callchain.count, 0);
    assert_true(x.stack_user.size != 0);
    assert_int_equal(s.core.sampler.counts.lagging, 1);
    add_whole(&s, 2);
    assert_true(send(&s, true) && send(&s, true));
    ASSERT_SAMPLE(&s, 1, false, USER, FRAME, FRAME + 4, OUTERMOST + 1);
    session_fini(&s);
}

/* What is no record goes on as it came, and so does what is no sample. */
static void test_others(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    add(&s, 1, rec_comm(PID, PID, "name"));
    writer_u32(&s.in, PERFDATA_RECORD_FINISHED_ROUND);
    writer_u16(&s.in, 0);
    writer_u16(&s.in, PERFDATA_HEADER_SIZE);
    writer_u32(&s.in, PERFDATA_RECORD_SAMPLE); /* of a size that cannot be */
    writer_u32(&s.in, 0);
    writer_u32(&s.in, 12345);
    struct writer copy = writer_make(false);
    writer_bytes_put(&copy, writer_bytes(&s.in));
    assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
    assert_true(bytes_equal(writer_bytes(&copy), writer_bytes(&s.out)));
    writer_fini(&copy);
    /* A sample that is too short to have what its event says. */
    writer_clear(&s.out);
    writer_u32(&s.in, PERFDATA_RECORD_SAMPLE);
    writer_u16(&s.in, 0);
    writer_u16(&s.in, PERFDATA_HEADER_SIZE + 8);
    writer_u64(&s.in, 1);
    assert_true(send(&s, false) && record_unwind_core_finish(&s.core, NULL));
    assert_int_equal(s.out.size, PERFDATA_HEADER_SIZE + 8);
    session_fini(&s);
}

/* A full disk: what was not written is still held, to be counted. */
static void test_full(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    session_init(&s);
    s.refuse = 1;
    assert_true(start(&s));
    add(&s, 0, mapped(&s));
    add_whole(&s, 1);
    assert_true(send(&s, false));
    for (int i = 0; i < 2; i++) {
        add_whole(&s, 2);
        assert_true(send(&s, false));
    }
    assert_false(record_unwind_core_finish(&s.core, &err));
    assert_int_equal(err.code, ERR_IO);
    assert_int_equal(s.core.held.count, 2);
    session_fini(&s);
}

static void test_memory(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    FAIL_EACH_ALLOC({
        bool ok = start(&s);
        add(&s, 0, mapped(&s));
        add_whole(&s, 1);
        ok = ok && send(&s, true);
        add_whole(&s, 2);
        ok = ok && send(&s, true) && record_unwind_core_finish(&s.core, NULL);
        stop(&s);
        writer_fini(&s.in);
        writer_fini(&s.out);
        s.in = s.out = writer_make(false);
    });
    assert_true(start(&s));
    session_fini(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounds), cmocka_unit_test(test_idle), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_beyond), cmocka_unit_test(test_jit),  cmocka_unit_test(test_hurry),
        cmocka_unit_test(test_others), cmocka_unit_test(test_full), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
