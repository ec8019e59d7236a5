/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/bpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "bpf/dist/off_cpu.h"
#include "format/perfdata/record.h"
#include "os/bpf/bpf_fake.h"
#include "os/perf/perf_event_fake.h"
#include "os/proc/proc_fake.h"
#include "record/off_cpu/off_cpu.h"
#include "record/off_cpu/wait_frames.h"
#include "record/plan/plan.h"
#include "tests/support/fail_alloc.h"

enum { SCHEDULER = 0x1000, CALLER = 0x3000, USER = 0x5000 };

struct fixture {
    struct os_bpf_fake bpf;
    struct os_perf_fake perf;
    struct perf_target target;
    struct record_options options;
    struct perfdata_events events;
    struct record_sink sink;
    struct record_off_cpu *x;
    struct err err;
};

/* The program's maps, as bpf/off_cpu.bpf.c has them. */
static const struct os_bpf_map_kind *kinds(void) {
    static const struct os_bpf_map_kind KINDS[OFF_CPU_MAP_COUNT] = {
        [OFF_CPU_MAP_SUMS_A] = {.key_bytes = sizeof(struct bpf_off_cpu_key),
                                .value_bytes = sizeof(struct bpf_off_cpu_sum),
                                .entries = 100},
        [OFF_CPU_MAP_SUMS_B] = {.key_bytes = sizeof(struct bpf_off_cpu_key),
                                .value_bytes = sizeof(struct bpf_off_cpu_sum),
                                .entries = 100},
        [OFF_CPU_MAP_SUMS] = {.key_bytes = 4, .value_bytes = 4, .entries = 1},
        [OFF_CPU_MAP_TARGETS] = {.key_bytes = 4, .value_bytes = 4, .entries = 10},
        [OFF_CPU_MAP_STACKS] = {.key_bytes = 8,
                                .value_bytes = sizeof(struct bpf_off_cpu_stack),
                                .entries = 10},
        [OFF_CPU_MAP_PAGES] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_off_cpu_page), .entries = 10},
        [OFF_CPU_MAP_COPIES] = {.key_bytes = sizeof(struct bpf_off_cpu_copy_key),
                                .value_bytes = sizeof(struct bpf_off_cpu_copy),
                                .entries = 10},
        [OFF_CPU_MAP_CODE] = {.key_bytes = 4, .value_bytes = sizeof(struct bpf_off_cpu_code), .entries = 10},
        [OFF_CPU_MAP_OBJECTS] = {.key_bytes = 8,
                                 .value_bytes = sizeof(struct bpf_off_cpu_object),
                                 .entries = 10},
        [OFF_CPU_MAP_WAKERS] = {.key_bytes = 8,
                                .value_bytes = sizeof(struct bpf_off_cpu_waker),
                                .entries = 10},
        [OFF_CPU_MAP_COUNTERS] = {.key_bytes = 4,
                                  .value_bytes = 2 * sizeof(struct bpf_off_cpu_counters),
                                  .entries = 1},
    };
    return KINDS;
}

static int map_fd(uint32_t number) {
    return OS_BPF_FAKE_FD + 2 + (int)number; /* after the loader's data and the loader */
}

static void begin_with(struct fixture *f, uint64_t more_sample_type) {
    *f = (struct fixture){.options = {.off_cpu = true, .inherit = true}};
    os_bpf_fake_init(&f->bpf, &bpf_off_cpu);
    f->bpf.kinds = kinds();
    os_perf_fake_init(&f->perf);
    struct perf_target_thread *t = vec_push(&f->target.threads);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
                                                PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_CALLCHAIN |
                                                more_sample_type,
                                 .sample_regs_user = record_plan_off_cpu_regs(),
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    if (t)
        t->tid = 77;
    perfdata_events_init(&f->events, false);
    if (perfdata_events_add(&f->events, &attr, NULL) != PERFDATA_NO_EVENT &&
        perfdata_events_add_id(&f->events, 0, 42))
        f->sink.plan = &f->events.list.items[0].plan;
}

static void begin(struct fixture *f) {
    begin_with(f, 0);
}

static void end(struct fixture *f) {
    record_off_cpu_free(f->x);
    perfdata_events_fini(&f->events);
    vec_fini(&f->target.threads);
    os_perf_fake_fini(&f->perf);
    assert_int_equal(os_bpf_fake_open(&f->bpf), 0);
    os_bpf_fake_fini(&f->bpf);
}

static bool start(struct fixture *f, const struct os_proc *proc) {
    const struct record_off_cpu_sources from = {&f->bpf.bpf, &f->perf.perf, proc,
                                                &f->options, &f->target,    "x86_64"};
    return (f->x = record_off_cpu_start(&from, &f->err)) != NULL;
}

static int put_sum(struct fixture *f, int map, const struct bpf_off_cpu_key *key, uint64_t ns,
                   uint64_t last_ns) {
    struct bpf_off_cpu_sum sum = {.ns = ns, .count = 3, .last_ns = last_ns};
    return os_bpf_update(&f->bpf.bpf, map, key, &sum);
}

static void put_stack(struct fixture *f, uint64_t hash, uint64_t first, uint64_t second) {
    struct bpf_off_cpu_stack s = {.count = 2, .ips = {first, second}};
    assert_int_equal(os_bpf_update(&f->bpf.bpf, map_fd(OFF_CPU_MAP_STACKS), &hash, &s), 0);
}

/* The record at *at, which moves on to the next one. */
static struct perfdata_raw next(const struct writer *w, size_t *at) {
    assert_true(*at + PERFDATA_HEADER_SIZE <= w->size);
    uint16_t size = bytes_load16(w->data + *at + 6, false);
    struct perfdata_raw raw = {
        .type = bytes_load32(w->data + *at, false),
        .misc = bytes_load16(w->data + *at + 4, false),
        .body = {w->data + *at + PERFDATA_HEADER_SIZE, size - (size_t)PERFDATA_HEADER_SIZE}};
    *at += size;
    return raw;
}

static uint64_t expect_name(const struct writer *w, size_t *at, const struct fixture *f, const char *name) {
    struct perfdata_raw raw = next(w, at);
    struct perfdata_record rec;
    assert_int_equal(raw.type, PERFDATA_RECORD_KSYMBOL);
    assert_true(perfdata_record_decode(&raw, f->sink.plan, false, &rec, NULL));
    assert_string_equal((const char *)rec.ksymbol.name.data, name);
    return rec.ksymbol.addr;
}

static struct perfdata_sample expect_sample(const struct writer *w, size_t *at, const struct fixture *f) {
    struct perfdata_raw raw = next(w, at);
    struct perfdata_sample s;
    assert_int_equal(raw.type, PERFDATA_RECORD_SAMPLE);
    assert_int_equal(raw.misc, PERFDATA_MISC_KERNEL);
    assert_true(perfdata_sample_decode(f->sink.plan, raw.body, ~0ull, &s));
    assert_int_equal(s.identifier, 42);
    return s;
}

static const struct perfdata_event *event(const struct fixture *f) {
    return &f->events.list.items[0];
}

static void sums_become_samples(void **state) {
    (void)state;
    static const struct os_proc_fake_file FILES[] = {
        {"/proc/kallsyms",
         OS_PROC_TEXT("0000000000000f00 T _text\n0000000000001000 T __sched_text_start\n0000000000001010 t "
                      "__schedule\n"
                      "0000000000002000 T __sched_text_end\n0000000000003000 T pipe_read\n")},
    };
    const struct os_proc_fake fake = {.files = FILES, .file_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    struct fixture f;
    begin(&f);
    assert_true(start(&f, &proc));
    uint32_t tid = 77, value;
    assert_int_equal(os_bpf_lookup(&f.bpf.bpf, map_fd(OFF_CPU_MAP_TARGETS), &tid, &value), 0);
    assert_true(record_off_cpu_switch(f.x, true, &f.err) && record_off_cpu_switch(f.x, true, &f.err));
    assert_true(record_off_cpu_due(f.x));

    put_stack(&f, 111, SCHEDULER + 0x20, CALLER);
    put_stack(&f, 222, USER, USER + 8);
    struct bpf_off_cpu_key key = {77, 78, 111, 222, BPF_OFF_CPU_SLEEPS, 0};
    struct bpf_off_cpu_key brief = {77, 79, 0, 0, BPF_OFF_CPU_RUNNABLE, BPF_OFF_CPU_SHORT};
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &key, 5000, 900);
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &brief, 30, 800);

    struct writer w = writer_make(false);
    size_t at = 0;
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    assert_false(record_off_cpu_due(f.x));
    expect_name(&w, &at, &f, "short waits for a CPU");
    struct perfdata_sample s = expect_sample(&w, &at, &f);
    assert_true(s.tid == 79 && s.period == 30 && s.time == 800 && s.callchain.count == 2);
    uint64_t address = expect_name(&w, &at, &f, "sleeps in read");
    s = expect_sample(&w, &at, &f);
    assert_true(s.pid == 77 && s.tid == 78 && s.period == 5000 && s.time == 900 && s.ip == address);
    const uint64_t chain[] = {PERFDATA_CONTEXT_KERNEL, address, CALLER,
                              PERFDATA_CONTEXT_USER,   USER,    USER + 8};
    assert_int_equal(s.callchain.count, 6);
    for (uint64_t i = 0; i < 6; i++)
        assert_true(perfdata_u64_at(&s.callchain, i) == chain[i]);
    assert_int_equal(at, w.size);

    /* The next ones are in the other map; their names are known; what was taken does not come again. */
    writer_clear(&w);
    at = 0;
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_B), &key, 6000, 1000);
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    s = expect_sample(&w, &at, &f);
    assert_true(s.period == 6000 && at == w.size);
    record_off_cpu_forget(f.x); /* another file */
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &key, 7000, 1100);
    writer_clear(&w);
    at = 0;
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    expect_name(&w, &at, &f, "sleeps in read");
    s = expect_sample(&w, &at, &f);
    assert_true(s.period == 7000 && at == w.size);
    assert_true(record_off_cpu_switch(f.x, false, &f.err));
    record_off_cpu_tell(f.x);
    writer_fini(&w);
    end(&f);
}

/* The kernel symbols that mark interrupt entry code. Without them it cannot be decided whether a thread or an
 * interrupt woke the sleeper. */
static const struct os_proc_fake_file KERNEL = {
    "/proc/kallsyms",
    OS_PROC_TEXT("0000000000001000 T __irqentry_text_start\n0000000000001800 T __irqentry_text_end\n"
                 "0000000000002000 t handle_softirqs.cold\n0000000000002100 t handle_softirqs\n"
                 "0000000000002100 t alias\n0000000000002500 T _local_bh_enable\n")};

static void put_object(struct fixture *f, uint64_t hash, uint32_t kind, const char *name) {
    struct bpf_off_cpu_object o = {.kind = kind, .pid = 77};
    memcpy(o.name, name, strlen(name));
    assert_int_equal(os_bpf_update(&f->bpf.bpf, map_fd(OFF_CPU_MAP_OBJECTS), &hash, &o), 0);
}

static void put_waker(struct fixture *f, uint64_t hash, uint64_t before, int32_t call) {
    struct bpf_off_cpu_waker waker = {.before = before, .call = call, .depth = 1, .comm = "nginx"};
    assert_int_equal(os_bpf_update(&f->bpf.bpf, map_fd(OFF_CPU_MAP_WAKERS), &hash, &waker), 0);
}

static size_t entries_left(struct fixture *f, int map) {
    return f->bpf.fds.items[map - OS_BPF_FAKE_FD].entries.count;
}

/* Names that come from objects and wakers, which leave their maps once they are known. */
static void waits_and_wakers_are_named(void **state) {
    (void)state;
    enum { WRITE = 1, INTERRUPT = 501, BY_WRITE, LOST };
    const struct os_proc_fake fake = {.files = &KERNEL, .file_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    struct fixture f;
    struct writer w = writer_make(false);
    size_t at = 0;
    begin(&f);
    f.options.off_cpu_wakers = true;
    assert_true(start(&f, &proc) && record_off_cpu_switch(f.x, true, &f.err));
    put_object(&f, 301, BPF_OFF_CPU_FILE, "log");
    put_object(&f, 302, 77, "");
    put_waker(&f, INTERRUPT, 0, BPF_OFF_CPU_INTERRUPT);
    put_waker(&f, BY_WRITE, INTERRUPT, WRITE);
    const struct bpf_off_cpu_key keys[] = {
        {77, 78, 0, 0, BPF_OFF_CPU_SLEEPS, 0, .object = 301, .waker = BY_WRITE},
        {77, 78, 0, 0, BPF_OFF_CPU_SLEEPS, 0, .object = 302, .waker = LOST},
        {77, 78, 0, 0, BPF_OFF_CPU_SLEEPS, 1, .object = 301, .waker = INTERRUPT}};
    for (uint32_t i = 0; i < 3; i++)
        put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &keys[i], 5000, 900 + i);
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    uint64_t interrupt = expect_name(&w, &at, &f, "woken by an interrupt");
    uint64_t by_write = expect_name(&w, &at, &f, "woken by nginx in write");
    uint64_t wait = expect_name(&w, &at, &f, "sleeps in read: log");
    struct perfdata_sample s = expect_sample(&w, &at, &f);
    const uint64_t chain[] = {PERFDATA_CONTEXT_KERNEL, interrupt, by_write, wait};
    assert_int_equal(s.callchain.count, 4);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(perfdata_u64_at(&s.callchain, i) == chain[i]);
    assert_true(s.ip == interrupt);
    uint64_t plain = expect_name(&w, &at, &f, "sleeps in read");
    s = expect_sample(&w, &at, &f);
    assert_true(s.ip == plain && s.callchain.count == 2);
    expect_name(&w, &at, &f, "sleeps in write: log");
    s = expect_sample(&w, &at, &f);
    assert_true(s.ip == interrupt && at == w.size);
    assert_int_equal(entries_left(&f, map_fd(OFF_CPU_MAP_OBJECTS)), 0);
    assert_int_equal(entries_left(&f, map_fd(OFF_CPU_MAP_WAKERS)), 0);

    record_off_cpu_forget(f.x); /* another file has the names again */
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_B), &keys[0], 6000, 1000);
    writer_clear(&w);
    at = 0;
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    assert_true(expect_name(&w, &at, &f, "woken by an interrupt") == interrupt);
    expect_name(&w, &at, &f, "woken by nginx in write");
    assert_true(expect_name(&w, &at, &f, "sleeps in read: log") == wait);
    expect_sample(&w, &at, &f);
    writer_fini(&w);
    end(&f);
}

/* They are looked at when the kernel counts new ones, before sums are taken: another end may be gone then. */
static void news_are_looked_at_soon(void **state) {
    (void)state;
    const struct os_proc_fake fake = {.files = &KERNEL, .file_count = 1};
    const struct os_proc proc = os_proc_fake(&fake);
    struct fixture f;
    begin(&f);
    assert_true(start(&f, &proc) && record_off_cpu_switch(f.x, true, &f.err));
    put_object(&f, 301, BPF_OFF_CPU_FILE, "log");
    record_off_cpu_due(f.x); /* the first time there may be some */
    assert_int_equal(entries_left(&f, map_fd(OFF_CPU_MAP_OBJECTS)), 0);
    put_object(&f, 302, BPF_OFF_CPU_FILE, "log");
    record_off_cpu_due(f.x); /* nothing is new */
    assert_int_equal(entries_left(&f, map_fd(OFF_CPU_MAP_OBJECTS)), 1);
    end(&f);
}

/* What still waits at the end has its user stack read from its memory, unless it ran meanwhile. */
static void who_still_waits_is_read(void **state) {
    (void)state;
    enum { FRAME = 0x7000, NEXT = 0x7010 };
    static const uint64_t WORDS[4] = {NEXT, USER + 8, NEXT, USER + 16}; /* the last frame leads nowhere */
    static const struct os_proc_fake_memory MEMORY[] = {
        {77, FRAME, {(const uint8_t *)WORDS, sizeof WORDS}, false}};
    static const char *const STATUS[] = {"Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t5\n",
                                         "Name:\tx\nState:\tS (sleeping)\nvoluntary_ctxt_switches:\t6\n",
                                         "Name:\tx\nState:\tR (running)\nvoluntary_ctxt_switches:\t5\n",
                                         "Name:\tx\n", ""};
    const struct bpf_off_cpu_still still = {.key = {77, 78, 111, 0, BPF_OFF_CPU_SLEEPS, 0},
                                            .at_ns = 900,
                                            .ns = 5000,
                                            .ip = USER,
                                            .frame = FRAME,
                                            .switches = 5};
    for (size_t i = 0; i < sizeof STATUS / sizeof *STATUS; i++) {
        const struct os_proc_fake_file file = {"/proc/77/task/78/status",
                                               {(const uint8_t *)STATUS[i], strlen(STATUS[i])}};
        const struct os_proc_fake fake = {
            .files = &file, .file_count = 1, .memory = MEMORY, .memory_count = 1};
        const struct os_proc proc = os_proc_fake(&fake);
        struct fixture f;
        struct writer w = writer_make(false);
        size_t at = 0;
        begin(&f);
        assert_true(start(&f, &proc) && record_off_cpu_switch(f.x, true, &f.err));
        f.bpf.iterated = (struct bytes){(const uint8_t *)&still, sizeof still};
        assert_true(record_off_cpu_switch(f.x, false, &f.err));
        assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
        expect_name(&w, &at, &f, "sleeps in read");
        struct perfdata_sample s = expect_sample(&w, &at, &f);
        assert_true(s.tid == 78 && s.period == 5000 && s.time == 900);
        assert_int_equal(s.callchain.count, i ? 2 : 6);
        if (!i)
            for (uint64_t k = 0; k < 3; k++)
                assert_int_equal(perfdata_u64_at(&s.callchain, 3 + k), USER + 8 * k);
        writer_clear(&w); /* each wait is written once */
        assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
        assert_int_equal(w.size, 0);
        writer_fini(&w);
        end(&f);
    }
}

/* With --call-graph dwarf samples have the stack's copy, and the kernel's part of the callchain. */
static char told[2048];

static void keep(void *ctx, enum log_level level, const char *line) {
    (void)ctx, (void)level;
    size_t used = strlen(told);
    snprintf(told + used, sizeof told - used, "%s\n", line);
}

/* What it says at the end, into `told`. */
static void tell(struct fixture *f) {
    *told = 0;
    log_set_sink(keep, NULL);
    record_off_cpu_tell(f->x);
    log_set_sink(NULL, NULL);
}

static void copies_go_with_samples(void **state) {
    (void)state;
    enum { STACK_BYTES = 65528, GIVEN = 7 * BPF_OFF_CPU_PAGE }; /* cut to what a record has room for */
    struct fixture f;
    struct writer w = writer_make(false);
    size_t at = 0;
    if (!record_plan_off_cpu_regs())
        skip();
    begin_with(&f, PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER);
    f.options.callgraph = RECORD_CALLGRAPH_DWARF;
    f.options.stack_bytes = STACK_BYTES;
    assert_true(start(&f, NULL) && record_off_cpu_switch(f.x, true, &f.err));
    static struct bpf_off_cpu_page page;
    for (uint32_t i = 0; i < 8; i++) {
        memset(page.bytes, (int)i + 1, sizeof page.bytes);
        assert_int_equal(os_bpf_update(&f.bpf.bpf, map_fd(OFF_CPU_MAP_PAGES), &i, &page), 0);
    }
    struct bpf_off_cpu_copy copy = {
        .registers = {.mask = record_plan_off_cpu_regs(), .abi = 2, .values = {5}}};
    const uint32_t bytes[] = {GIVEN, STACK_BYTES};
    for (uint32_t i = 0; i < 2; i++) {
        struct bpf_off_cpu_copy_key key = {.hash = 333 + i};
        struct bpf_off_cpu_key wait = {77, 78, 111, 333 + i, BPF_OFF_CPU_SLEEPS, 0};
        copy.bytes = bytes[i];
        assert_int_equal(os_bpf_update(&f.bpf.bpf, map_fd(OFF_CPU_MAP_COPIES), &key, &copy), 0);
        put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &wait, 5000, 900 + i);
    }
    /* One that has no copy, and one that was walked as there was no room for it. */
    struct bpf_off_cpu_key none = {77, 78, 111, 444, BPF_OFF_CPU_SLEEPS, 0};
    struct bpf_off_cpu_key walked = {77, 78, 111, 222, BPF_OFF_CPU_SLEEPS, 0};
    put_stack(&f, 222, USER, USER + 8);
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &walked, 5000, 1100);
    put_stack(&f, 111, CALLER, CALLER + 8);
    put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &none, 5000, 1000);
    assert_true(record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err));
    expect_name(&w, &at, &f, "sleeps in read");
    for (uint32_t i = 0; i < 4; i++) {
        struct perfdata_sample s = expect_sample(&w, &at, &f);
        assert_int_equal(s.callchain.count, i == 3 ? 7 : 4); /* no user's part */
        assert_int_equal(s.regs_user.abi, i < 2 ? 2 : 0);
        if (i >= 2) {
            assert_int_equal(s.stack_user.size, 0);
            continue;
        }
        assert_int_equal(perfdata_u64_at(&s.regs_user.values, 0), 5);
        assert_int_equal(s.stack_dyn_size, s.stack_user.size);
        assert_true(i ? s.stack_user.size > GIVEN && s.stack_user.size < STACK_BYTES
                      : s.stack_user.size == GIVEN);
        assert_int_equal(s.stack_user.data[GIVEN - 1], 7);
    }
    assert_int_equal(at, w.size);
    tell(&f);
    assert_non_null(strstr(told, "1 sample without a user stack: its copy was not kept"));
    writer_fini(&w);
    end(&f);
}

/* Each CPU has its own counters. */
static void losses_are_told(void **state) {
    (void)state;
    static const struct bpf_off_cpu_counters COUNTERS[2] = {
        {.switches_voluntary = 5, .waits = 7, .lost_sums = 1, .lost_sums_ns = 500000000, .lost_copies = 1},
        {.switches_involuntary = 6,
         .lost_sums = 2,
         .lost_sums_ns = 1000000000,
         .lost_stacks = 4,
         .unseen = 9},
    };
    struct fixture f;
    uint32_t zero = 0;
    begin(&f);
    f.bpf.cpu_count = 2;
    assert_true(start(&f, NULL));
    assert_int_equal(os_bpf_update(&f.bpf.bpf, map_fd(OFF_CPU_MAP_COUNTERS), &zero, COUNTERS), 0);
    tell(&f);
    assert_non_null(strstr(told, "5 voluntary and 6 involuntary switches, 7 waits"));
    assert_non_null(strstr(told, "3 waits (1.500 s) lost: the map of sums was full"));
    assert_non_null(strstr(told, "4 waits without a stack"));
    assert_non_null(strstr(told, "1 wait with a user stack by frame pointers only"));
    assert_non_null(strstr(told, "9 times a thread ran without"));
    assert_null(strstr(told, "was not kept"));
    assert_null(strstr(told, "could not be watched"));
    end(&f);
}

/* How many programs are attached, of those that run at a tracepoint. */
static uint32_t attached(bool kernel_only) {
    struct fixture f;
    uint32_t n = 0;
    begin(&f);
    f.options.all_kernel = kernel_only;
    assert_true(start(&f, NULL) && record_off_cpu_switch(f.x, true, &f.err));
    for (size_t i = 0; i < f.bpf.fds.count; i++)
        n += f.bpf.fds.items[i].command == BPF_RAW_TRACEPOINT_OPEN && !f.bpf.fds.items[i].closed;
    end(&f);
    return n;
}

/* Without user stacks nothing has to run as calls return. */
static void no_more_is_attached_than_needed(void **state) {
    (void)state;
    assert_int_equal(attached(true) + 1, attached(false));
}

static void refusals(void **state) {
    (void)state;
    struct fixture f;
    begin(&f);
    f.options.target.cpus = "0";
    assert_false(start(&f, NULL));
    assert_int_equal(f.err.code, ERR_USAGE);
    end(&f);
    begin(&f);
    f.options.off_cpu_wakers = true; /* without the kernel's symbols */
    assert_false(start(&f, NULL));
    assert_int_equal(f.err.code, ERR_UNSUPPORTED);
    end(&f);
    begin(&f);
    for (int32_t i = 0; i < 20; i++) { /* more than the map holds */
        struct perf_target_thread *t = vec_push(&f.target.threads);
        assert_non_null(t);
        t->tid = 100 + i;
    }
    assert_false(start(&f, NULL));
    assert_non_null(strstr(f.err.message, "watched"));
    end(&f);
}

static int refuse(void *ctx, int command) {
    return command == *(int *)ctx ? EPERM : 0;
}

static void failures_are_told(void **state) {
    (void)state;
    static const int COMMANDS[] = {BPF_MAP_CREATE,          BPF_PROG_LOAD,   BPF_BTF_LOAD,
                                   BPF_RAW_TRACEPOINT_OPEN, BPF_LINK_CREATE, BPF_ITER_CREATE,
                                   BPF_MAP_LOOKUP_BATCH};
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        struct fixture f;
        struct writer w = writer_make(false);
        int command = COMMANDS[i];
        begin(&f);
        f.bpf.refuse = refuse;
        f.bpf.refuse_ctx = &command;
        bool ok = start(&f, NULL) && record_off_cpu_switch(f.x, true, &f.err) &&
                  record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err);
        assert_false(ok);
        assert_true(f.err.code != ERR_NONE && *f.err.message);
        writer_fini(&w);
        end(&f);
    }
}

static void no_memory(void **state) {
    (void)state;
    static const struct bpf_off_cpu_key KEY = {77, 78, 111, 0, BPF_OFF_CPU_BLOCKED, 74};
    FAIL_EACH_ALLOC({
        struct fixture f;
        struct writer w = writer_make(false);
        begin(&f);
        if (f.sink.plan && start(&f, NULL) && record_off_cpu_switch(f.x, true, &f.err) &&
            put_sum(&f, map_fd(OFF_CPU_MAP_SUMS_A), &KEY, 1, 1) == 0)
            record_off_cpu_take(f.x, event(&f), &f.sink, &w, &f.err);
        if (f.x)
            record_off_cpu_tell(f.x);
        writer_fini(&w);
        end(&f);
    });
}

static void waits_have_names(void **state) {
    (void)state;
    static const struct {
        struct bpf_off_cpu_key key;
        const char *name;
    } CASES[] = {
        {{.kind = BPF_OFF_CPU_SLEEPS, .syscall = 202}, "sleeps in futex"},
        {{.kind = BPF_OFF_CPU_BLOCKED, .syscall = 74}, "blocked in fsync"},
        {{.kind = BPF_OFF_CPU_SLEEPS, .syscall = 630}, "sleeps in system call 630"},
        {{.kind = BPF_OFF_CPU_SLEEPS, .syscall = 1000000}, "sleeps"},
        {{.kind = BPF_OFF_CPU_RUNNABLE, .syscall = 74}, "waits for a CPU"},
        {{.kind = BPF_OFF_CPU_BLOCKED, .syscall = BPF_OFF_CPU_NO_CALL, .user_stack = 1},
         "blocked in a fault"},
        {{.kind = BPF_OFF_CPU_BLOCKED, .syscall = BPF_OFF_CPU_NO_CALL}, "blocked"},
        {{.kind = BPF_OFF_CPU_STOPPED, .syscall = BPF_OFF_CPU_UNKNOWN_CALL, .user_stack = 1}, "stopped"},
        {{.kind = BPF_OFF_CPU_SLEEPS, .syscall = BPF_OFF_CPU_SHORT}, "short sleeps"},
        {{.kind = BPF_OFF_CPU_SLEEPS, .syscall = BPF_OFF_CPU_UNTOLD, .user_stack = 1}, "sleeps"},
        {{.kind = 77, .syscall = -9}, "waits"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char name[RECORD_WAIT_NAME];
        uint32_t number = record_wait_number(&CASES[i].key);
        assert_true(number < RECORD_WAIT_NUMBERS);
        assert_int_equal(record_wait_name(number, "x86_64", name), strlen(CASES[i].name));
        assert_string_equal(name, CASES[i].name);
    }
    for (uint32_t i = 0; i < RECORD_WAIT_NUMBERS; i++) {
        char name[RECORD_WAIT_NAME];
        assert_true(record_wait_name(i, "", name) < RECORD_WAIT_NAME - 8);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_become_samples),
        cmocka_unit_test(waits_and_wakers_are_named),
        cmocka_unit_test(news_are_looked_at_soon),
        cmocka_unit_test(who_still_waits_is_read),
        cmocka_unit_test(copies_go_with_samples),
        cmocka_unit_test(losses_are_told),
        cmocka_unit_test(no_more_is_attached_than_needed),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(no_memory),
        cmocka_unit_test(waits_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
