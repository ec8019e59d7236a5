/* SPDX-License-Identifier: Apache-2.0 */
/* Samples, in both byte orders, and all that is around the decoded text: the hex block, which shows the
 * file's own bytes, the prefix, the thread and the object. */
#include "view/dump/dump_test.h"

#include "format/perfdata/perfdata_test.h"
#include "tests/support/fail_alloc.h"
#include "view/dump/dump_regs.h"

/* --- samples --- */

#define BASE (PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_PERIOD)

/* Lists of a sample, in the file's byte order. */
static struct perfdata_u64s list_of(struct writer *w, const uint64_t *v, size_t n) {
    writer_clear(w);
    for (size_t i = 0; i < n; i++)
        writer_u64(w, v[i]);
    return words(w);
}

struct lists {
    struct writer chain, branches, regs, read, counters;
};

static void lists_init(struct lists *l, bool swap) {
    l->chain = l->branches = l->regs = l->read = l->counters = writer_make(swap);
}

static void lists_fini(struct lists *l) {
    writer_fini(&l->chain);
    writer_fini(&l->branches);
    writer_fini(&l->regs);
    writer_fini(&l->read);
    writer_fini(&l->counters);
}

typedef void fill_fn(struct perfdata_sample *s, struct lists *l);

static void check_sample(struct perfdata_attr attr, fill_fn *fill, const char *want) {
    attr.size = attr.known_size = 136;
    attr.flags = PERFDATA_ATTR_SAMPLE_ID_ALL;
    for (int swap = 0; swap < 2; swap++) {
        struct recording r;
        struct writer w = writer_make(swap);
        struct lists lists;
        struct out out;
        recording_init(&r, &attr, 1, swap);
        lists_init(&lists, swap);
        struct perfdata_sample s = {.have = attr.sample_type,
                                    .ip = 0x401000,
                                    .pid = 11,
                                    .tid = 12,
                                    .time = 1000,
                                    .period = 77,
                                    .swap = swap};
        if (fill)
            fill(&s, &lists);
        test_put_sample(&w, &r.events.list.items[0].plan, PERFDATA_MISC_USER, &s);
        assert_string_equal(dump_text_of(&r, writer_bytes(&w), &out), want);
        out_fini(&out);
        lists_fini(&lists);
        writer_fini(&w);
        recording_fini(&r);
    }
}

static void test_sample_line(void **state) {
    (void)state;
    check_sample((struct perfdata_attr){.sample_type = BASE}, NULL,
                 "1000 0x1c8 [0x28]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0\n");
    /* Without a period in the sample it is the attr's; without a time there is none in front. */
    check_sample((struct perfdata_attr){.sample_type = PERFDATA_SAMPLE_CPU, .sample_period = 4000}, NULL,
                 "0 0x1c8 [0x10]: PERF_RECORD_SAMPLE(IP, 0x2): -1/-1: 0 period: 4000 addr: 0\n");
}

static void fill_chain(struct perfdata_sample *s, struct lists *l) {
    const uint64_t v[] = {PERFDATA_CONTEXT_KERNEL,        0xffffffff81000001,  PERFDATA_CONTEXT_USER, 0x1000,
                          PERFDATA_CONTEXT_USER_DEFERRED, PERFDATA_CONTEXT_MAX};
    s->callchain = list_of(&l->chain, v, 6);
}

static void test_callchain(void **state) {
    (void)state;
    check_sample((struct perfdata_attr){.sample_type = BASE | PERFDATA_SAMPLE_CALLCHAIN}, fill_chain,
                 "1000 0x1c8 [0x60]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0\n"
                 "... FP chain: nr:6\n"
                 ".....  0: ffffffffffffff80 (PERF_CONTEXT_KERNEL)\n"
                 ".....  1: ffffffff81000001\n"
                 ".....  2: fffffffffffffe00 (PERF_CONTEXT_USER)\n"
                 ".....  3: 0000000000001000\n"
                 ".....  4: fffffffffffffd80 (PERF_CONTEXT_USER_DEFERRED)\n"
                 ".....  5: fffffffffffff001\n");
}

/* The third word's fields lie from its first bit on in either byte order; see struct perf_branch_entry. */
static void fill_branches(struct perfdata_sample *s, struct lists *l) {
    static const struct {
        unsigned shift, bits;
        uint64_t v[3];
    } fields[] = {
        {0, 1, {1, 0, 0}},      {1, 1, {0, 1, 0}},    {2, 1, {1, 0, 0}},  {3, 1, {0, 1, 0}},
        {4, 16, {3, 65535, 0}}, {20, 4, {1, 15, 15}}, {24, 2, {2, 0, 1}}, {26, 4, {0, 1, 9}},
        {30, 3, {0, 0, 7}},     {34, 30, {0, 1, 0}},
    };
    for (unsigned i = 0; i < 3; i++) {
        uint64_t flags = 0;
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            unsigned shift =
                BYTES_HOST_BIG != l->branches.swap ? 64 - fields[f].shift - fields[f].bits : fields[f].shift;
            flags |= fields[f].v[i] << shift;
        }
        writer_u64(&l->branches, 0x1000 + i);
        writer_u64(&l->branches, 0x2000 + i);
        writer_u64(&l->branches, flags);
    }
    s->branch_count = 3;
    s->branches = l->branches.data;
}

static void fill_counters(struct perfdata_sample *s, struct lists *l) {
    fill_branches(s, l);
    s->branch_counters = list_of(&l->counters, (const uint64_t[]){0x1b, 2, 0}, 3);
}

static void fill_call_stack(struct perfdata_sample *s, struct lists *l) {
    fill_branches(s, l);
    s->callchain =
        list_of(&l->chain, (const uint64_t[]){PERFDATA_CONTEXT_KERNEL, 0x5, PERFDATA_CONTEXT_USER, 0x6}, 4);
}

static void test_branches(void **state) {
    (void)state;
    struct perfdata_attr a = {.sample_type = BASE | PERFDATA_SAMPLE_BRANCH_STACK, .branch_sample_type = 1};
    check_sample(a, fill_branches,
                 "1000 0x1c8 [0x78]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0\n"
                 "... branch stack: nr:3\n"
                 ".....  0: 0000000000001000 -> 0000000000002000 3 cycles M  T 0 COND NON_SPEC_CORRECT_PATH\n"
                 ".....  1: 0000000000001001 -> 0000000000002001 65535 cycles  PA  1 FAULT_DATA \n"
                 ".....  2: 0000000000001002 -> 0000000000002002 0 cycles      0 unknown SPEC_WRONG_PATH\n");
    a.branch_sample_type |= PERFDATA_BRANCH_COUNTERS;
    check_sample(a, fill_counters,
                 "1000 0x1c8 [0x90]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0\n"
                 "... branch stack: nr:3\n"
                 ".....  0: 0000000000001000 -> 0000000000002000 3 cycles M  T 0 COND NON_SPEC_CORRECT_PATH\n"
                 ".....  1: 0000000000001001 -> 0000000000002001 65535 cycles  PA  1 FAULT_DATA \n"
                 ".....  2: 0000000000001002 -> 0000000000002002 0 cycles      0 unknown SPEC_WRONG_PATH\n"
                 "... branch stack counters: nr:3 (counter width: 0 max counter nr:0)\n"
                 ".....  0: 000000000000001b\n.....  1: 0000000000000002\n.....  2: 0000000000000000\n");
    struct perfdata_attr c = {.sample_type = BASE | PERFDATA_SAMPLE_BRANCH_STACK | PERFDATA_SAMPLE_CALLCHAIN,
                              .branch_sample_type = 1 << 11};
    check_sample(c, fill_call_stack,
                 "1000 0x1c8 [0xa0]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0\n"
                 "... LBR call chain: nr:7\n"
                 ".....  0: ffffffffffffff80\n.....  1: 0000000000000005\n.....  2: fffffffffffffe00\n"
                 ".....  3: 0000000000002000\n.....  4: 0000000000001000\n.....  5: 0000000000001001\n"
                 ".....  6: 0000000000001002\n"
                 "... FP chain: nr:4\n"
                 ".....  0: ffffffffffffff80 (PERF_CONTEXT_KERNEL)\n.....  1: 0000000000000005\n"
                 ".....  2: fffffffffffffe00 (PERF_CONTEXT_USER)\n.....  3: 0000000000000006\n"
                 "... branch callstack: nr:4\n"
                 ".....  0: 0000000000002000\n.....  1: 0000000000001000\n.....  2: 0000000000001001\n"
                 ".....  3: 0000000000001002\n");
}

static void fill_all(struct perfdata_sample *s, struct lists *l) {
    s->addr = 0xadd;
    s->regs_user =
        (struct perfdata_regs){2, 0x81, list_of(&l->regs, (const uint64_t[]){1, 0xffffffffffffffda}, 2)};
    s->regs_intr = (struct perfdata_regs){1, 0x81, s->regs_user.values};
    s->stack_user = (struct bytes){(const uint8_t *)"stackdat", 8};
    s->stack_dyn_size = 5;
    s->weight = 10;
    s->ins_lat = 2;
    s->weight3 = 3;
    s->data_src = 0x5080021;
    s->phys_addr = 0xf00;
    s->data_page_size = 4096;
    s->code_page_size = 2 << 20;
    s->transaction = 0x11;
    s->read = (struct perfdata_read){.format = PERFDATA_FORMAT_ID | PERFDATA_FORMAT_LOST |
                                               PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_TOTAL_TIME_ENABLED,
                                     .count = 2,
                                     .time_enabled = 100,
                                     .swap = l->read.swap};
    list_of(&l->read, (const uint64_t[]){5, 7, 1, 6, 8, 0}, 6);
    s->read.entries = l->read.data;
}

static void test_all_parts(void **state) {
    (void)state;
    const uint64_t parts = PERFDATA_SAMPLE_ADDR | PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_REGS_INTR |
                           PERFDATA_SAMPLE_STACK_USER | PERFDATA_SAMPLE_WEIGHT_STRUCT |
                           PERFDATA_SAMPLE_DATA_SRC | PERFDATA_SAMPLE_PHYS_ADDR |
                           PERFDATA_SAMPLE_DATA_PAGE_SIZE | PERFDATA_SAMPLE_CODE_PAGE_SIZE |
                           PERFDATA_SAMPLE_TRANSACTION | PERFDATA_SAMPLE_READ;
    struct perfdata_attr a = {.sample_type = BASE | parts,
                              .sample_regs_user = 0x81,
                              .sample_regs_intr = 0x81,
                              .sample_stack_user = 8,
                              .read_format = PERFDATA_FORMAT_ID | PERFDATA_FORMAT_LOST |
                                             PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_TOTAL_TIME_ENABLED};
    check_sample(a, fill_all,
                 "1000 0x1c8 [0xe8]: PERF_RECORD_SAMPLE(IP, 0x2): 11/12: 0x401000 period: 77 addr: 0xadd\n"
                 "... user regs: mask 0x81 ABI 64-bit\n.... unknown 0x0000000000000001\n.... unknown "
                 "0xffffffffffffffda\n"
                 "... intr regs: mask 0x81 ABI 32-bit\n.... unknown 0x0000000000000001\n.... unknown "
                 "0xffffffffffffffda\n"
                 "... ustack: size 5, offset 0x88\n"
                 "... weight: 10,0x2,0x3\n"
                 " . data_src: 0x5080021\n"
                 " .. phys_addr: 0xf00\n"
                 " .. data page size: 4K\n"
                 " .. code page size: 2M\n"
                 "... transaction: 11\n"
                 "... sample_read:\n"
                 "...... time enabled 0000000000000064\n"
                 ".... group nr 2\n"
                 "..... id 0000000000000007, value 0000000000000005, lost 1\n"
                 "..... id 0000000000000008, value 0000000000000006, lost 0\n");
}

/* --- the block, the prefix, the thread and object --- */

static void test_hex_block(void **state) {
    (void)state;
    struct recording r;
    struct perfdata_attr attr = kernel_attr(0);
    struct out out;
    struct writer w = writer_make(false);
    recording_init(&r, &attr, 1, false);
    writer_put(&w, "\xc8\0\0\0\0\0\x18\0", 8);
    writer_put(&w, "AZaz ~\x7f\x1f\xff!.\0\1\2\3\4", 16);
    dump_text_of(&r, writer_bytes(&w), &out);
    assert_string_equal(out_text(&out),
                        "\n0x1c8@perf.data [0x18]: event: 200\n.\n. ... raw event: size 24 bytes\n"
                        ".  0000:  c8 00 00 00 00 00 18 00 41 5a 61 7a 20 7e 7f 1f  ........AZaz ~..\n"
                        ".  0010:  ff 21 2e 00 01 02 03 04                          .!......        \n\n"
                        "0 0 0x1c8 [0x18]: PERF_RECORD_UNKNOWN type 200 size 24\n");
    out_fini(&out);
    writer_fini(&w);
    recording_fini(&r);
}

static void dump_one(struct dump *d, const struct recording *r, uint32_t type, uint64_t offset,
                     struct out *out) {
    struct writer w = writer_make(false);
    struct perfdata_record rec = {.type = type};
    if (type == PERFDATA_RECORD_HEADER_ATTR)
        rec.header_attr.attr = (struct perfdata_attr){.size = 64, .known_size = 64};
    perfdata_record_encode(&rec, NULL, &w);
    struct stream_record s = stream_record_of(r, writer_bytes(&w));
    s.file_offset = offset;
    dump_record(d, &s, out);
    writer_fini(&w);
}

/* Of a pipe no event is known before its attr was printed, and offsets do not count the pipe's header. */
static void test_pipe(void **state) {
    (void)state;
    struct recording r;
    struct dump d;
    struct out out;
    struct perfdata_attr attr = kernel_attr(0);
    recording_init(&r, &attr, 1, false);
    r.header.container = PERFDATA_CONTAINER_PIPE;
    r.header.data.offset = 16;
    assert_true(out_init(&out, NULL, NULL));
    dump_init(&d, &r.events, &r.header, &r.namer, NULL, "pipe");
    dump_one(&d, &r, PERFDATA_RECORD_FINISHED_ROUND, 16, &out);
    dump_one(&d, &r, PERFDATA_RECORD_HEADER_ATTR, 24, &out);
    dump_one(&d, &r, PERFDATA_RECORD_FINISHED_ROUND, 96, &out);
    const char *text = out_text(&out);
    assert_non_null(strstr(text, "\n0@pipe [0x8]: event: 68\n"));
    assert_non_null(strstr(text, "\n-1 -1 0 [0x8]: PERF_RECORD_FINISHED_ROUND\n"));
    assert_non_null(strstr(text, "\n-1 -1 0x8 [0x48]: PERF_RECORD_ATTR, "));
    assert_non_null(strstr(text, "\n0 0 0x50 [0x8]: PERF_RECORD_FINISHED_ROUND\n"));
    out_fini(&out);
    dump_fini(&d);
    recording_fini(&r);
}

/* The old ChromeOS pipes have features under type numbers that mean something else elsewhere. */
static void test_legacy(void **state) {
    (void)state;
    struct recording r;
    struct dump d;
    struct out out;
    struct writer w = writer_make(false);
    struct perfdata_attr attr = kernel_attr(0);
    recording_init(&r, &attr, 1, false);
    r.header.container = PERFDATA_CONTAINER_PIPE;
    struct perfdata_feature *f = vec_push(&r.header.features);
    assert_non_null(f);
    writer_put(&w,
               "\x45\0\0\0\0\0\x14\0"
               "\x08\0\0\0tux\0\0\0\0",
               20);
    *f = (struct perfdata_feature){.id = PERFDATA_FEATURE_HOSTNAME, .content = {w.data + 8, 12}};
    assert_true(out_init(&out, NULL, NULL));
    dump_init(&d, &r.events, &r.header, &r.namer, NULL, "pipe");
    struct stream_record s = stream_record_of(&r, writer_bytes(&w));
    s.legacy = true;
    assert_null(dump_record(&d, &s, &out));
    assert_non_null(strstr(out_text(&out), ": event: 69\n"));
    assert_non_null(
        strstr(out_text(&out), "-1 -1 0x1c8 [0x14]: PERF_RECORD_LEGACY_HOSTNAME, # hostname : tux\n"));
    s.raw.type = 70; /* OSRELEASE, which the header has not: cut off, say */
    assert_null(dump_record(&d, &s, &out));
    assert_non_null(strstr(out_text(&out), "-1 -1 0x1c8 [0x14]: PERF_RECORD_LEGACY_OSRELEASE\n"));
    out_fini(&out);
    dump_fini(&d);
    writer_fini(&w);
    recording_fini(&r);
}

/* Without sample_id_all other records than samples say neither CPU nor time. */
static void test_prefix_without_sample_id(void **state) {
    (void)state;
    struct recording r;
    struct perfdata_attr attr = kernel_attr(0);
    struct out out;
    struct writer w = writer_make(false);
    attr.flags = 0;
    recording_init(&r, &attr, 1, false);
    struct perfdata_record c = {.type = PERFDATA_RECORD_COMM, .comm = {1, 2, TEXT("abc\0\0\0\0")}};
    perfdata_record_encode(&c, NULL, &w);
    assert_string_equal(dump_text_of(&r, writer_bytes(&w), &out),
                        "-1 -1 0x1c8 [0x18]: PERF_RECORD_COMM: abc:1/2\n");
    out_fini(&out);
    writer_fini(&w);
    recording_fini(&r);
}

static void test_bad_records(void **state) {
    (void)state;
    struct recording r;
    struct dump d;
    struct out out;
    struct perfdata_attr attr = kernel_attr(0);
    struct writer w = writer_make(false);
    recording_init(&r, &attr, 2, false);
    assert_true(out_init(&out, NULL, NULL));
    dump_init(&d, &r.events, &r.header, &r.namer, NULL, "x");
    writer_put(&w, "\x03\0\0\0\0\0\x0c\0", 8); /* a COMM of 4 bytes */
    writer_zero(&w, 4);
    struct stream_record s = stream_record_of(&r, writer_bytes(&w));
    assert_non_null(dump_record(&d, &s, &out));
    assert_non_null(strstr(out_text(&out), "PERF_RECORD_COMM: cannot be decoded: "));
    writer_clear(&w);
    writer_put(&w, "\x09\0\0\0\0\0\x10\0", 8); /* a sample that ends after an unknown id */
    writer_u64(&w, 99);
    s = stream_record_of(&r, writer_bytes(&w));
    assert_int_equal(s.event, PERFDATA_NO_EVENT);
    assert_non_null(dump_record(&d, &s, &out));
    r.events.same_layout = false; /* nor would its layout be known then */
    assert_null(dump_record(&d, &s, &out));
    assert_non_null(strstr(out_text(&out), "PERF_RECORD_SAMPLE: its id belongs to no event\n"));
    out_fini(&out);
    writer_fini(&w);
    dump_fini(&d);
    recording_fini(&r);
}

static struct model *make_model(void) {
    struct model *m = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    const struct perfdata_record records[] = {
        {.type = PERFDATA_RECORD_COMM, .comm = {11, 12, TEXT("worker")}},
        {.type = PERFDATA_RECORD_MMAP2,
         .misc = PERFDATA_MISC_USER,
         .mmap2 = {.pid = 11,
                   .tid = 11,
                   .addr = 0x400000,
                   .len = 0x2000,
                   .prot = 5,
                   .filename = TEXT("/bin/prog")}},
        {.type = PERFDATA_RECORD_EXIT, .task = {11, 11, 12, 11, 2000}},
        {.type = PERFDATA_RECORD_EXIT, .task = {11, 11, 12, 11, 2001}},
    };
    const uint64_t times[] = {10, 20, 2000, 2001};
    assert_non_null(m);
    for (size_t i = 0; i < 4; i++)
        assert_true(model_apply(m, &records[i], (struct model_when){times[i], i}, NULL));
    assert_true(model_freeze(m, NULL));
    return m;
}

static void check_place(uint16_t misc, uint64_t time, uint64_t ip, uint32_t tid, const char *want) {
    struct recording r;
    struct perfdata_attr attr = {
        .size = 136, .known_size = 136, .sample_type = BASE, .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    struct out out;
    struct writer w = writer_make(false);
    recording_init(&r, &attr, 1, false);
    r.model = make_model();
    struct perfdata_sample s = {.have = BASE, .ip = ip, .pid = 11, .tid = tid, .time = time};
    test_put_sample(&w, &r.events.list.items[0].plan, misc, &s);
    const char *text = dump_text_of(&r, writer_bytes(&w), &out);
    assert_string_equal(strchr(text, '\n') + 1, want);
    out_fini(&out);
    writer_fini(&w);
    recording_fini(&r);
}

static void test_place(void **state) {
    (void)state;
    check_place(PERFDATA_MISC_USER, 100, 0x401000, 12, " ... thread: worker:12\n ...... dso: /bin/prog\n");
    check_place(PERFDATA_MISC_USER, 100, 0x500000, 12, " ... thread: worker:12\n ...... dso: <not found>\n");
    check_place(PERFDATA_MISC_KERNEL, 100, 0x401000, 12,
                " ... thread: worker:12\n ...... dso: <not found>\n");
    check_place(PERFDATA_MISC_HYPERVISOR, 100, 0x401000, 12,
                " ... thread: worker:12\n ...... dso: [hypervisor]\n");
    check_place(PERFDATA_MISC_USER, 100, 0x500000, 13, " ... thread: :13:13\n ...... dso: <not found>\n");
    /* The last samples of a thread come after its exit, of which each event has a record. */
    check_place(PERFDATA_MISC_KERNEL, 2500, 0x500000, 12,
                " ... thread: worker:12\n ...... dso: <not found>\n");
}

/* A sample with readings is one of each event whose counter moved. */
static void test_group_deliveries(void **state) {
    (void)state;
    static const struct {
        uint64_t a, b;
        int lines;
    } steps[] = {{5, 6, 2}, {5, 9, 1}, {5, 9, 0}, {2, 1, 2}};
    struct recording r;
    struct dump d;
    struct perfdata_attr attr = {.size = 136,
                                 .known_size = 136,
                                 .sample_type = BASE | PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_IDENTIFIER,
                                 .read_format = PERFDATA_FORMAT_GROUP | PERFDATA_FORMAT_ID,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    recording_init(&r, &attr, 2, false);
    r.model = make_model();
    dump_init(&d, &r.events, &r.header, &r.namer, r.model, "x");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct out out;
        struct writer w = writer_make(false), values = writer_make(false);
        const uint64_t v[] = {steps[i].a, 7, steps[i].b, 8, 1, 99};
        struct perfdata_sample s = {.have = attr.sample_type, .identifier = 7, .pid = 11, .tid = 12};
        list_of(&values, v, 6);
        s.read = (struct perfdata_read){.format = attr.read_format, .count = 3, .entries = values.data};
        test_put_sample(&w, &r.events.list.items[0].plan, PERFDATA_MISC_USER, &s);
        struct stream_record rec = stream_record_of(&r, writer_bytes(&w));
        assert_true(out_init(&out, NULL, NULL));
        assert_null(dump_record(&d, &rec, &out));
        int lines = 0;
        for (const char *p = out_text(&out); (p = strstr(p, " ... thread: ")); p++)
            lines++;
        assert_int_equal(lines, steps[i].lines);
        out_fini(&out);
        writer_fini(&w);
        writer_fini(&values);
    }
    dump_fini(&d);
    recording_fini(&r);
}

static void test_registers(void **state) {
    (void)state;
    assert_string_equal(dump_regs_name(dump_regs_find(0, "x86_64"), 9), "FLAGS");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "i686"), 63), "XMM15");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "x86_64"), 25), "unknown");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "aarch64"), 30), "lr");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "arm64"), 46), "vg");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "armv7l"), 14), "lr");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "ppc64le"), 32), "nip");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "s390x"), 33), "PC");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "riscv64"), 31), "t6");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "mips64"), 27), "unknown");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "mips64"), 31), "$31");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "loongarch64"), 3), "%r3");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "csky"), 36), "lo");
    assert_string_equal(dump_regs_name(dump_regs_find(183, "x86_64"), 0), "x0"); /* the machine counts more */
    assert_string_equal(dump_regs_name(dump_regs_find(3, NULL), 0), "AX");
    assert_string_equal(dump_regs_name(dump_regs_find(0, "vax"), 0), "unknown");
    assert_string_equal(dump_regs_name(dump_regs_find(0, NULL), 0), "unknown");
}

static void test_without_memory(void **state) {
    (void)state;
    struct recording r;
    struct dump d;
    struct out out;
    struct perfdata_attr attr = {.size = 136,
                                 .known_size = 136,
                                 .sample_type = BASE | PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_IDENTIFIER,
                                 .read_format = PERFDATA_FORMAT_ID,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
    struct writer w = writer_make(false), values = writer_make(false);
    recording_init(&r, &attr, 1, false);
    r.model = make_model();
    list_of(&values, (const uint64_t[]){5, 7}, 2);
    struct perfdata_sample s = {.have = attr.sample_type, .identifier = 7, .pid = 11, .tid = 12};
    s.read = (struct perfdata_read){.format = attr.read_format, .count = 1, .entries = values.data};
    test_put_sample(&w, &r.events.list.items[0].plan, PERFDATA_MISC_USER, &s);
    struct stream_record rec = stream_record_of(&r, writer_bytes(&w));
    assert_true(out_init(&out, NULL, NULL));
    FAIL_EACH_ALLOC({
        dump_init(&d, &r.events, &r.header, &r.namer, r.model, "x");
        assert_null(dump_record(&d, &rec, &out));
        dump_fini(&d);
    });
    out_fini(&out);
    writer_fini(&w);
    writer_fini(&values);
    recording_fini(&r);
}
int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_line),      cmocka_unit_test(test_callchain),
        cmocka_unit_test(test_branches),         cmocka_unit_test(test_all_parts),
        cmocka_unit_test(test_hex_block),        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_legacy),           cmocka_unit_test(test_prefix_without_sample_id),
        cmocka_unit_test(test_bad_records),      cmocka_unit_test(test_place),
        cmocka_unit_test(test_group_deliveries), cmocka_unit_test(test_registers),
        cmocka_unit_test(test_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
