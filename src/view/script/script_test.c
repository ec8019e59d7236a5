/* SPDX-License-Identifier: Apache-2.0 */
/* The expected texts are what perf 7.2 printed for recordings with these values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "view/script/script_internal.h"
#include "view/script/script_record.h"

enum { PID = 100, TID = 101, X86_64 = 62 };

static struct bytes text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s) + 1};
}

/* A process with a kernel, a file and JIT memory; its thread 101 has a long name. */
struct world {
    struct perfdata_events events;
    struct model *model;
    struct out out;
    struct script_print print;
};

static void apply(struct model *m, struct perfdata_record rec, uint64_t order) {
    assert_true(model_apply(m, &rec, (struct model_when){1, order}, NULL));
}

static void comm(struct model *m, uint32_t tid, const char *name, uint64_t order) {
    struct perfdata_record rec = {.type = PERFDATA_RECORD_COMM};
    rec.comm = (struct perfdata_comm){PID, tid, text(name)};
    apply(m, rec, order);
}

static void map(struct model *m, uint32_t pid, uint64_t addr, uint64_t len, uint64_t pgoff,
                const char *name) {
    static uint64_t order = 10;
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP2, .misc = PERFDATA_MISC_USER};
    if (pid == UINT32_MAX) {
        rec.type = PERFDATA_RECORD_MMAP;
        rec.misc = PERFDATA_MISC_KERNEL;
        rec.mmap = (struct perfdata_mmap){pid, 0, addr, len, pgoff, text(name)};
    } else {
        rec.mmap2 = (struct perfdata_mmap2){
            .pid = pid, .tid = pid, .addr = addr, .len = len, .pgoff = pgoff, .prot = 5, .flags = 2};
        rec.mmap2.filename = text(name);
    }
    apply(m, rec, order++);
}

static void world_init(struct world *w, struct perfdata_attr attr, struct script_print_options *o) {
    perfdata_events_init(&w->events, false);
    assert_int_equal(perfdata_events_add(&w->events, &attr, NULL), 0);
    assert_true(perfdata_events_name(&w->events, 0, "cycles", 6));
    w->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, NULL);
    comm(w->model, PID, "main", 0);
    comm(w->model, TID, "thr with (odd]\tname", 1);
    map(w->model, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, "[kernel.kallsyms]_text");
    map(w->model, PID, 0x400000, 0x1000, 0x2000, "/bin/foo");
    map(w->model, PID, 0x7f0000000000, 0x2000, 0, "//anon");
    struct perfdata_record cgroup = {.type = PERFDATA_RECORD_CGROUP};
    cgroup.cgroup = (struct perfdata_cgroup){5, text("/user/a.slice")};
    apply(w->model, cgroup, 30);
    assert_true(model_freeze(w->model, NULL));
    assert_true(out_init(&w->out, NULL, NULL));
    o->max_stack = o->max_stack ? o->max_stack : 127;
    assert_true(script_print_init(&w->print, &w->out, &w->events, w->model, o));
    w->print.regs = dump_regs_find(X86_64, NULL);
}

static void world_fini(struct world *w) {
    script_print_fini(&w->print);
    out_fini(&w->out);
    model_free(w->model);
    perfdata_events_fini(&w->events);
}

/* Options as from the command line; `fields` may be NULL. */
static struct script_print_options options(const char *fields) {
    struct script_print_options o = {.chains = true};
    script_fields_init(&o.fields);
    if (fields)
        assert_true(script_fields_parse(&o.fields, fields, NULL));
    return o;
}

static struct perfdata_sample sample(uint64_t ip) {
    return (struct perfdata_sample){.have = ~0ull,
                                    .ip = ip,
                                    .pid = PID,
                                    .tid = TID,
                                    .time = 1234567890123,
                                    .cpu = 3,
                                    .period = 777,
                                    .addr = 0xdead};
}

enum {
    ALL_FIXED = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ADDR |
                PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_PERIOD
};

static void print(struct world *w, const struct perfdata_sample *s, uint16_t misc) {
    struct err err = ERR_INIT;
    if (!script_print_plan(&w->print, 0, &err))
        fail_msg("%s", err.message);
    struct script_sample x = {s, 0, misc, {s->time, 1000}};
    script_print_sample(&w->print, &x);
}

/* Compares what one sample of a hardware event with these sample bits prints. */
static void assert_line(struct script_print_options o, uint64_t bits, const struct perfdata_sample *s,
                        uint16_t misc, const char *want) {
    struct world w;
    world_init(&w, (struct perfdata_attr){.size = 64, .sample_type = bits, .sample_period = 4000}, &o);
    print(&w, s, misc);
    assert_string_equal(out_text(&w.out), want);
    world_fini(&w);
}

static void test_default_line(void **state) {
    (void)state;
    struct perfdata_sample s = sample(0x400123);
    assert_line(
        options(NULL), ALL_FIXED, &s, PERFDATA_MISC_USER,
        "thr with (odd]\tname     101 [003]  1234.567890:        777 cycles:            400123 [unknown] "
        "(/bin/foo)\n");
    s.ip = 0xffffffff81234567;
    s.tid = PID;
    assert_line(options(NULL), ALL_FIXED, &s, PERFDATA_MISC_KERNEL,
                "            main     100 [003]  1234.567890:        777 cycles:  ffffffff81234567 [unknown] "
                "([kernel.kallsyms])\n");
    s.tid = 77;
    s.cpu = 1234;
    s.time = 5;
    s.ip = 0x99;
    assert_line(
        options(NULL), ALL_FIXED & ~PERFDATA_SAMPLE_PERIOD, &s, PERFDATA_MISC_USER,
        "             :77      77 [1234]     0.000000:       4000 cycles:                99 [unknown] "
        "([unknown])\n");
    assert_line(options(NULL), PERFDATA_SAMPLE_TID, &s, PERFDATA_MISC_USER,
                "             :77      77       4000 cycles: \n");
}

static void test_times(void **state) {
    (void)state;
    static const char *const want[][2] = {
        {" 1234.567890123: \n", " 1235.000000004: \n"}, /* --ns */
        {"    0.000000: \n", "    0.432109: \n"},       /* --reltime */
        {"    0.000000: \n", "    0.432109: \n"},       /* --deltatime */
    };
    for (int i = 0; i < 3; i++) {
        struct script_print_options o = options("time");
        o.ns = i == 0;
        o.reltime = i == 1;
        o.deltatime = i == 2;
        struct perfdata_sample s = sample(1);
        struct world w;
        world_init(&w, (struct perfdata_attr){.size = 64, .sample_type = ALL_FIXED}, &o);
        print(&w, &s, 2);
        s.time = 1235000000004;
        print(&w, &s, 2);
        char both[128];
        strcat(strcpy(both, want[i][0]), want[i][1]);
        assert_string_equal(out_text(&w.out), both);
        world_fini(&w);
    }
}

static void test_field_combinations(void **state) {
    (void)state;
    struct perfdata_sample s = sample(0x400123);
    static const struct {
        const char *fields, *want;
    } rows[] = {
        {"comm,pid,tid,cpu,time,event,ip,period",
         "thr with (odd]\tname     100/101     [003]  1234.567890:        777 cycles:            400123\n"},
        {"pid", "    100 \n"},
        {"+misc,-cpu,-tid,-time,-period,-ip,-sym,-dso", "thr with (odd]\tname U     cycles: \n"},
        {"addr", "            dead\n"},
        {"ip,addr,sym", "            dead           400123 [unknown]\n"},
        {"ip,dsoff", "           400123 (/bin/foo+0x2123)\n"},
        {"event,sym", "cycles: \n"},
        {"event,ip,flags", "cycles:                                    400123\n"},
        {"ip,sym,srcline", "           400123 [unknown]\n  foo[2123]\n"},
        {"hw:event", "cycles: \n"},
        {"sw:event", "thr with (odd]\tname     101 [003]  1234.567890:        777 cycles:            400123 "
                     "[unknown] (/bin/foo)\n"},
        {"hw:", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_line(options(rows[i].fields), ALL_FIXED, &s, PERFDATA_MISC_USER, rows[i].want);
}

static void test_latency_format(void **state) {
    (void)state;
    struct script_print_options o = options("comm,tid,cpu,time");
    o.latency = true;
    struct perfdata_sample s = sample(0);
    assert_line(o, ALL_FIXED, &s, 2, "thr with     101   3  1234.567890: \n");
}

static void test_every_value(void **state) {
    (void)state;
    static const uint64_t intr[] = {1, 2, 3, 0xabc}, user[] = {0x7ffe, 0x400123};
    struct perfdata_sample s = sample(0x400123);
    s.data_src = 0x68100142;
    s.weight = 42;
    s.ins_lat = 6;
    s.weight3 = 7;
    s.cgroup = 5;
    s.phys_addr = 0x123000;
    s.data_page_size = 2 << 20;
    s.code_page_size = 0;
    s.regs_intr = (struct perfdata_regs){2, 0x107, {(const uint8_t *)intr, 4, false}};
    s.regs_user = (struct perfdata_regs){1, 0x180, {(const uint8_t *)user, 2, false}};
    uint64_t bits = ALL_FIXED | PERFDATA_SAMPLE_DATA_SRC | PERFDATA_SAMPLE_WEIGHT_STRUCT |
                    PERFDATA_SAMPLE_CGROUP | PERFDATA_SAMPLE_PHYS_ADDR | PERFDATA_SAMPLE_DATA_PAGE_SIZE |
                    PERFDATA_SAMPLE_CODE_PAGE_SIZE | PERFDATA_SAMPLE_REGS_INTR | PERFDATA_SAMPLE_REGS_USER;
    assert_line(
        options("event,data_src,weight,ins_lat,retire_lat,cgroup,ip,iregs,uregs,phys_addr,data_page_size,"
                "code_page_size"),
        bits, &s, PERFDATA_MISC_USER,
        "cycles:         68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A              "
        "42"
        "               6               7 /user/a.slice           400123 ABI:2    AX:0x1    BX:0x2    CX:0x3 "
        "   IP:0xabc  ABI:1    SP:0x7ffe    IP:0x400123           123000 2M N/A\n");
    s.cgroup = 6;
    assert_line(options("cgroup"), bits, &s, PERFDATA_MISC_USER, " unknown\n");
}

/* ---- callchains ---- */

static void assert_chain(const char *fields, unsigned max_stack, const uint64_t *ips, uint64_t count,
                         const char *want) {
    struct script_print_options o = options(fields);
    o.max_stack = max_stack;
    struct perfdata_sample s = sample(0x400123);
    s.callchain = (struct perfdata_u64s){(const uint8_t *)ips, count, false};
    assert_line(o, ALL_FIXED | PERFDATA_SAMPLE_CALLCHAIN, &s, PERFDATA_MISC_KERNEL, want);
}

static void test_callchain(void **state) {
    (void)state;
    const uint64_t chain[] = {PERFDATA_CONTEXT_KERNEL,
                              0xffffffff81234567,
                              0xffffffff81234599,
                              PERFDATA_CONTEXT_USER,
                              0x400123,
                              0x7f0000000100,
                              0x12345};
    assert_chain("comm,ip,sym,dso", 0, chain, 7,
                 "thr with (odd]\tname \n"
                 "\tffffffff81234567 [unknown] ([kernel.kallsyms])\n"
                 "\tffffffff81234599 [unknown] ([kernel.kallsyms])\n"
                 "\t          400123 [unknown] (/bin/foo)\n"
                 "\t    7f0000000100 [unknown] (/tmp/perf-100.map)\n"
                 "\t           12345 [unknown] ([unknown])\n"
                 "\n");
    assert_chain("ip", 3, chain, 7, "\n\tffffffff81234567\n\tffffffff81234599\n\t          400123\n\n");
    assert_chain("ip,dsoff", 1, chain, 7, "\n\tffffffff81234567 ([kernel.kallsyms]+0xffffffff81234567)\n\n");
    assert_chain("event,ip", 0, chain, 0, "cycles: \n\n");
    assert_chain("event", 0, chain, 7, "cycles: \n");
}

static void test_corrupt_chain_shows_nothing(void **state) {
    (void)state;
    const uint64_t chain[] = {PERFDATA_CONTEXT_USER, 0x400123, (uint64_t)-600, 0x400124};
    assert_chain("ip", 0, chain, 4, "\n\n");
    /* Addresses beyond the depth that is shown are not looked at. */
    assert_chain("ip", 1, chain, 4, "\n\t          400123\n\n");
}

/* Without its deferred chain the cookie is shown. */
static void test_cookie(void **state) {
    (void)state;
    uint64_t chain[] = {PERFDATA_CONTEXT_KERNEL, 0xffffffff81000010, PERFDATA_CONTEXT_USER_DEFERRED,
                        0x600010000};
    assert_chain("ip,dso", 0, chain, 4,
                 "\n\tffffffff81000010 ([kernel.kallsyms])\n\t       600010000 (cookie) ([unknown])\n\n");
}

/* ---- branches, bpf-output, tracepoints ---- */

static void test_branches(void **state) {
    (void)state;
    const uint64_t stack[] = {0x400100, 0x400200, 1 | 5 << 4, 0x7f0000000000,       0xffffffff81000010,
                              4 | 8,    1,        2,          2 | 5 << 20 | 3 << 24};
    struct perfdata_sample s = sample(0x400123);
    s.branches = (const uint8_t *)stack;
    s.branch_count = 3;
    uint64_t bits = ALL_FIXED | PERFDATA_SAMPLE_BRANCH_STACK;
    assert_line(options("brstack"), bits, &s, PERFDATA_MISC_USER,
                " 0x400100/0x400200/M/-/-/5//-  0x7f0000000000/0xffffffff81000010/-/X/A/0//-  "
                "0x1/0x2/P/-/-/0/IND_CALL/SPEC_CORRECT_PATH \n");
    assert_line(options("brstack,dso"), bits, &s, PERFDATA_MISC_USER,
                " 0x400100 (/bin/foo)/0x400200 (/bin/foo)/M/-/-/5//-  0x7f0000000000 (/tmp/perf-100.map)/"
                "0xffffffff81000010 ([kernel.kallsyms])/-/X/A/0//-  0x1 ([unknown])/0x2 "
                "([unknown])/P/-/-/0/IND_CALL/SPEC_CORRECT_PATH \n");
    assert_line(options("brstacksym"), bits, &s, PERFDATA_MISC_USER,
                "[unknown]/[unknown]/M/-/-/5//- [unknown]/[unknown]/-/X/A/0//- "
                "[unknown]/[unknown]/P/-/-/0/IND_CALL/SPEC_CORRECT_PATH \n");
    assert_line(
        options("brstackoff"), bits, &s, PERFDATA_MISC_USER,
        " 0x2100/0x2200/M/-/-/5//-  0x0/0x10/-/X/A/0//-  0x1/0x2/P/-/-/0/IND_CALL/SPEC_CORRECT_PATH \n");
}

static void test_branch_types(void **state) {
    (void)state;
    static const struct {
        struct perfdata_branch b;
        const char *want;
    } rows[] = {
        {{.mispred = true, .predicted = true}, "/P/-/-/0//- "},
        {{.mispred = true, .flags = 1ull << 33, .cycles = 65535}, "/MN/-/-/65535//- "},
        {{.type = 1, .spec = 1}, "/-/-/-/0/COND/SPEC_WRONG_PATH "},
        {{.type = 14, .spec = 2}, "/-/-/-/0/NO_TX/NON_SPEC_CORRECT_PATH "},
        {{.type = 15, .new_type = 2}, "/-/-/-/0/FAULT_INST/- "},
        {{.type = 15, .new_type = 15}, "/-/-/-/0/-/- "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        script_value_branch(&o, &rows[i].b);
        assert_string_equal(out_text(&o), rows[i].want);
        out_fini(&o);
    }
}

/* BTS: each sample is a branch. */
static void test_branch_pair(void **state) {
    (void)state;
    struct script_print_options o = options(NULL);
    struct world w;
    world_init(&w,
               (struct perfdata_attr){.size = 64, .config = 4, .sample_type = ALL_FIXED, .sample_period = 1},
               &o);
    struct perfdata_sample s = sample(0x400123);
    s.addr = 0x400200;
    print(&w, &s, PERFDATA_MISC_USER);
    assert_string_equal(
        out_text(&w.out),
        "thr with (odd]\tname     101 [003]  1234.567890:        777 cycles:            400123 "
        "[unknown] (/bin/foo) =>           400200 [unknown] (/bin/foo)\n");
    world_fini(&w);
}

static void test_page_fault_address(void **state) {
    (void)state;
    struct script_print_options o = options("addr,ip,sym,dso");
    struct world w;
    world_init(&w, (struct perfdata_attr){.type = 1, .config = 2, .size = 64, .sample_type = ALL_FIXED}, &o);
    struct perfdata_sample s = sample(0xffffffff81000001);
    s.addr = 0x400200;
    print(&w, &s, PERFDATA_MISC_KERNEL);
    assert_string_equal(out_text(&w.out), "          400200 [unknown] (/bin/foo) ffffffff81000001 [unknown] "
                                          "([kernel.kallsyms])\n");
    world_fini(&w);
}

static void test_bpf_output(void **state) {
    (void)state;
    static const struct {
        const char *raw;
        size_t size;
        const char *want;
    } rows[] = {
        {"abcd", 4, "\n      BPF output: 0000: 61 62 63 64              abcd    \n"},
        {"0123456\n", 8, "\n      BPF output: 0000: 30 31 32 33 34 35 36 0a  0123456.\n"},
        {"hello wo\0\0\0\0", 12,
         "\n      BPF output: 0000: 68 65 6c 6c 6f 20 77 6f  hello wo\n"
         "                  0008: 00 00 00 00              ....    \n      BPF string: \"hello wo\"\n"},
        {"a\0b\0", 4, "\n      BPF output: 0000: 61 00 62 00              a.b.    \n"},
        {"", 0, "\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        script_value_bpf(&o, (struct bytes){(const uint8_t *)rows[i].raw, rows[i].size});
        assert_string_equal(out_text(&o), rows[i].want);
        out_fini(&o);
    }
}

static void give_trace(void *ctx, const struct perfdata_attr *attr, const struct perfdata_sample *s,
                       struct out *out) {
    (void)ctx, (void)s;
    out_printf(out, "id=%d", (int)attr->config);
}

static void test_tracepoint(void **state) {
    (void)state;
    struct script_print_options o = options(NULL);
    struct world w;
    uint64_t bits = ALL_FIXED | PERFDATA_SAMPLE_RAW;
    world_init(&w, (struct perfdata_attr){.type = 2, .config = 9, .size = 64, .sample_type = bits}, &o);
    w.print.trace = give_trace;
    struct perfdata_sample s = sample(0x400123);
    print(&w, &s, PERFDATA_MISC_KERNEL);
    assert_string_equal(out_text(&w.out), "thr with (odd]\tname     101 [003]  1234.567890: cycles: id=9\n");
    world_fini(&w);
    /* With a callchain the addresses are printed, too. */
    const uint64_t chain[] = {PERFDATA_CONTEXT_USER, 0x400123};
    s.callchain = (struct perfdata_u64s){(const uint8_t *)chain, 2, false};
    bits |= PERFDATA_SAMPLE_CALLCHAIN;
    world_init(&w, (struct perfdata_attr){.type = 2, .config = 9, .size = 64, .sample_type = bits}, &o);
    w.print.trace = give_trace;
    print(&w, &s, PERFDATA_MISC_KERNEL);
    assert_string_equal(out_text(&w.out), "thr with (odd]\tname     101 [003]  1234.567890: cycles: id=9\n"
                                          "\t          400123 [unknown] (/bin/foo)\n\n");
    world_fini(&w);
}

static void test_guest(void **state) {
    (void)state;
    const uint64_t entries[] = {7, 0, 0, 0, 8, 0, 0, 0}, guests[] = {0, 0, 13376, 3};
    struct perfdata_id_index index = {
        2, {(const uint8_t *)entries, 8, false}, {(const uint8_t *)guests, 4, false}};
    struct script_guests known = {0};
    assert_true(script_guests_add(&known, &index));
    struct script_print_options o = options("comm,machine_pid,vcpu");
    struct world w;
    world_init(&w, (struct perfdata_attr){.size = 64, .sample_type = ALL_FIXED | PERFDATA_SAMPLE_IDENTIFIER},
               &o);
    w.print.guests = &known;
    struct perfdata_sample s = sample(0);
    s.identifier = 7;
    print(&w, &s, 2);
    s.identifier = 8;
    print(&w, &s, 2);
    assert_string_equal(out_text(&w.out), "thr with (odd]\tname \nVM:13376 VCPU:003 thr with (odd]\tname \n");
    world_fini(&w);
    script_guests_fini(&known);
}

/* ---- memory sources ---- */

static void test_data_src(void **state) {
    (void)state;
    static const struct {
        uint64_t v;
        const char *want;
    } rows[] = {
        {0, "               0 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x1e05080021, "      1e05080021 |OP N/A|LVL N/A|SNP N/A|TLB N/A|LCK N/A|BLK  N/A"},
        {0x68100142, "        68100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A"},
        {0x6, "               6 |OP LOAD|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x2140, "            2140 |OP No|LVL L1 or Remote RAM (1 hop) hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x100, "             100 |OP No|LVL L1 |SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {0x18000000, "        18000000 |OP No|LVL N/A|SNP N/A|TLB N/A hit miss|LCK No|BLK  N/A"},
        {0x2000000, "         2000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK Yes|BLK  N/A"},
        {6ull << 40, "     60000000000 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  Data Addr"},
        {1ull << 43 | 13ull << 33 | 1ull << 37 | 2 << 5,
         "     83a00000040 |OP No|LVL Remote core, same node RAM hit|SNP N/A|TLB N/A|LCK No|BLK  N/A"},
        {3ull << 38 | 4 << 19,
         "      c000200000 |OP No|LVL N/A|SNP Hit or Fwd or Peer|TLB N/A|LCK No|BLK  N/A"},
        /* cut at 99 chars */
        {0x7ffe0, "           7ffe0 |OP No|LVL L1 or LFB/MAB or L2 or L3 or Local RAM or Remote RAM (1 hop) "
                  "or Remote "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct out o;
        unsigned width = 0;
        assert_true(out_init(&o, NULL, NULL));
        script_value_data_src(&o, rows[i].v, &width);
        assert_string_equal(out_text(&o), rows[i].want);
        out_fini(&o);
    }
    /* Later texts are padded to the widest before. */
    struct out o;
    unsigned width = 47;
    assert_true(out_init(&o, NULL, NULL));
    script_value_data_src(&o, 0, &width);
    assert_string_equal(out_text(&o), "               0 |OP No|LVL N/A|SNP N/A|TLB N/A|LCK No|BLK  N/A ");
    out_fini(&o);
}

static void test_page_sizes(void **state) {
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *want;
    } rows[] = {{0, " N/A"},     {1, " 1B"},          {1025, " 1025B"},
                {4096, " 4K"},   {1 << 20, " 1024K"}, {1ull << 33, " 8G"},
                {12345, " 12K"}, {3 << 19, " 1536K"}, {1ull << 40, " 1024G"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct out o;
        assert_true(out_init(&o, NULL, NULL));
        script_value_page_size(&o, rows[i].bytes);
        assert_string_equal(out_text(&o), rows[i].want);
        out_fini(&o);
    }
}

/* ---- other records ---- */

static void assert_record(struct perfdata_record rec, bool with_id, const char *want) {
    struct script_print_options o = options(NULL);
    struct world w;
    struct err err = ERR_INIT;
    world_init(&w, (struct perfdata_attr){.size = 64, .sample_type = ALL_FIXED}, &o);
    assert_non_null(script_print_plan(&w.print, 0, &err));
    if (with_id) {
        rec.id.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CPU;
        rec.id.pid = PID;
        rec.id.tid = TID;
        rec.id.time = 2000000;
        rec.id.cpu = 2;
    }
    script_record_print(&w.print, 0, &rec, (struct model_when){2000000, 1000});
    assert_string_equal(out_text(&w.out), want);
    world_fini(&w);
}

#define START "thr with (odd]\tname     101 [002]     0.002000: PERF_RECORD_"

static void test_records(void **state) {
    (void)state;
    struct perfdata_record r = {.type = PERFDATA_RECORD_COMM, .misc = PERFDATA_MISC_COMM_EXEC};
    r.comm = (struct perfdata_comm){PID, TID, text("thr with (odd]\tname")};
    assert_record(r, true, START "COMM exec: thr with (odd]\tname:100/101\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_FORK};
    r.task = (struct perfdata_task){PID, UINT32_MAX, TID, 1, 5555};
    assert_record(r, true, START "FORK(100:101):(-1:1)\n");
    assert_record(r, false,
                  "thr with (odd]\tname     101 [000]     0.000005: PERF_RECORD_FORK(100:101):(-1:1)\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_LOST};
    r.lost.lost = 77;
    assert_record(r, true, START "LOST lost 77\n");
    assert_record(r, false, "             :-1      -1 [000]     0.000000: PERF_RECORD_LOST lost 77\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_SWITCH, .misc = 3 << 13};
    assert_record(r, true, START "SWITCH OUT preempt\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_SWITCH_CPU_WIDE};
    r.switch_cpu_wide = (struct perfdata_switch_cpu_wide){300, 301};
    assert_record(r, true, START "SWITCH_CPU_WIDE IN           prev pid/tid:   300/301  \n");
    r.misc = 1 << 13;
    assert_record(r, true, START "SWITCH_CPU_WIDE OUT          next pid/tid:   300/301  \n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_KSYMBOL};
    r.ksymbol = (struct perfdata_ksymbol){0xffffffffc0001000, 256, 1, 0, text("bpf_prog_1")};
    assert_record(r, true, START "KSYMBOL addr ffffffffc0001000 len 256 type 1 flags 0x0 name bpf_prog_1\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_BPF_EVENT};
    r.bpf_event = (struct perfdata_bpf_event){.type = 1, .flags = 2, .id = 33};
    assert_record(r, true, START "BPF_EVENT type 1, flags 2, id 33\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_CGROUP};
    r.cgroup = (struct perfdata_cgroup){5, text("/a")};
    assert_record(r, true, START "CGROUP cgroup: 5 /a\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_FINISHED_ROUND};
    assert_record(r, false, "PERF_RECORD_FINISHED_ROUND\n");
}

static void test_map_records(void **state) {
    (void)state;
    struct perfdata_record r = {.type = PERFDATA_RECORD_MMAP};
    r.mmap = (struct perfdata_mmap){UINT32_MAX, 0, 0xffffffff81000000,
                                    0x120bb08,  0, text("[kernel.kallsyms]_text")};
    assert_record(
        r, true,
        "         swapper     101 [002]     0.002000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) "
        "@ 0]: x [kernel.kallsyms]_text\n");
    r.misc = PERFDATA_MISC_MMAP_DATA;
    r.mmap = (struct perfdata_mmap){PID, TID, 0, 0, 0x1000, text("/d")};
    assert_record(r, true, START "MMAP 100/101: [0(0) @ 0x1000]: r /d\n");
    r = (struct perfdata_record){.type = PERFDATA_RECORD_MMAP2};
    r.mmap2 = (struct perfdata_mmap2){.pid = PID,
                                      .tid = TID,
                                      .addr = 0x400000,
                                      .len = 0x1000,
                                      .pgoff = 0x2000,
                                      .maj = 8,
                                      .min = 1,
                                      .ino = 77,
                                      .ino_generation = 3,
                                      .prot = 5,
                                      .flags = 2};
    r.mmap2.filename = text("/bin/foo");
    assert_record(r, true, START "MMAP2 100/101: [0x400000(0x1000) @ 0x2000 08:01 77 3]: r-xp /bin/foo\n");
    r.mmap2.has_build_id = true;
    r.mmap2.build_id_size = 200; /* impossible size: ignored */
    r.mmap2.build_id[0] = 0xab;
    r.mmap2.build_id[19] = 0xcd;
    r.mmap2.prot = 2;
    r.mmap2.flags = 1;
    assert_record(r, true,
                  START "MMAP2 100/101: [0x400000(0x1000) @ 0x2000 <ab000000000000000000000000000000000000cd>"
                        "]: -w-s /bin/foo\n");
}

static void test_long_records(void **state) {
    (void)state;
    uint64_t links[18];
    for (uint64_t i = 0; i < 18; i++)
        links[i] = i;
    struct perfdata_record r = {.type = PERFDATA_RECORD_NAMESPACES};
    r.namespaces = (struct perfdata_namespaces){PID, TID, 9, {(const uint8_t *)links, 18, false}};
    assert_record(r, true,
                  START "NAMESPACES 100/101 - nr_namespaces: 9\n"
                        "\t\t[0/net: 0/0x1, 1/uts: 2/0x3, 2/ipc: 4/0x5, 3/pid: 6/0x7, \n"
                        "\t\t 4/user: 8/0x9, 5/mnt: 10/0xb, 6/cgroup: 12/0xd, 7/UNKNOWN: 14/0xf, \n"
                        "\t\t 8/UNKNOWN: 16/0x11]\n");
    static const uint8_t code[20] = {15, 31, 68, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xe8, 0xff, 0};
    r = (struct perfdata_record){.type = PERFDATA_RECORD_TEXT_POKE};
    r.text_poke = (struct perfdata_text_poke){0xffffffff81001000, 17, 2, {code, sizeof code}};
    assert_record(r, true,
                  START "TEXT_POKE ffffffff81001000  old len 17 new len 2\n"
                        "            Old bytes: 0f 1f 44 00 00 01 02 03 04 05 06 07 08 09 0a 0b\n"
                        "            Old bytes: 0c\n"
                        "            New bytes: e8 ff\n");
    /* Lengths beyond the record: what is there is shown. */
    r.text_poke.new_len = 9999;
    r.text_poke.bytes.size = 18;
    assert_record(r, true,
                  START "TEXT_POKE ffffffff81001000  old len 17 new len 9999\n"
                        "            Old bytes: 0f 1f 44 00 00 01 02 03 04 05 06 07 08 09 0a 0b\n"
                        "            Old bytes: 0c\n"
                        "            New bytes: e8\n");
    const uint64_t ips[] = {PERFDATA_CONTEXT_USER, 0x400100};
    r = (struct perfdata_record){.type = PERFDATA_RECORD_CALLCHAIN_DEFERRED};
    r.callchain_deferred = (struct perfdata_callchain_deferred){0x55, 2, {(const uint8_t *)ips, 2, false}};
    assert_record(r, true,
                  "thr with (odd]\tname     101 [002]     0.002000: DEFERRED CALLCHAIN [cookie: 55]\n"
                  "\t          400100 [unknown] (/bin/foo)\n\n");
}

static void test_auxtrace_error(void **state) {
    (void)state;
    struct perfdata_record r = {.type = PERFDATA_RECORD_AUXTRACE_ERROR};
    r.auxtrace_error = (struct perfdata_auxtrace_error){.type = 1,
                                                        .code = 6,
                                                        .cpu = UINT32_MAX,
                                                        .pid = 3,
                                                        .tid = 4,
                                                        .fmt = 1,
                                                        .ip = 0x55,
                                                        .time = 1234567890123};
    r.auxtrace_error.message = text("oops");
    assert_record(r, false,
                  " instruction trace error type 1 time 1234.567890123 cpu -1 pid 3 tid 4 ip 0x55 code 6: "
                  "oops\n");
    r.auxtrace_error.type = 2;
    r.auxtrace_error.time = r.auxtrace_error.ip = 0;
    r.auxtrace_error.has_guest = true;
    r.auxtrace_error.machine_pid = 77;
    r.auxtrace_error.vcpu = 8;
    assert_record(r, false,
                  " unknown AUX error type 2 time 0 machine_pid 77 vcpu 8 cpu -1 pid 3 tid 4 ip 0 code 6: "
                  "oops\n");
}

static void test_what_is_shown(void **state) {
    (void)state;
    assert_true(script_record_shown(SCRIPT_SHOW_TASK, PERFDATA_RECORD_EXIT));
    assert_false(script_record_shown(SCRIPT_SHOW_TASK, PERFDATA_RECORD_MMAP));
    assert_true(script_record_shown(SCRIPT_SHOW_TEXT_POKE, PERFDATA_RECORD_KSYMBOL));
    assert_true(script_record_shown(SCRIPT_SHOW_BPF, PERFDATA_RECORD_KSYMBOL));
    assert_false(script_record_shown(SCRIPT_SHOW_LOST, PERFDATA_RECORD_LOST_SAMPLES));
    assert_false(script_record_shown(~0u, PERFDATA_RECORD_SAMPLE));
    assert_false(script_record_shown(~0u, 12345));
}

/* ---- fields ---- */

static void test_bad_fields(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        enum err_code code;
    } rows[] = {
        {"bogus", "Invalid field requested: 'bogus'", ERR_USAGE},
        {"comm,tmie", "Invalid field requested: 'tmie', did you mean 'time'?", ERR_USAGE},
        {"comm,+tid", "Cannot mix +-field with overridden fields", ERR_USAGE},
        {"+tid,comm", "Cannot mix +-field with overridden fields", ERR_USAGE},
        {"", "Cannot set fields to 'none' for all event types.", ERR_USAGE},
        {"bogus:comm", "Invalid event type in field string.", ERR_USAGE},
        {"sw:trace", "'trace' not valid for software events.", ERR_USAGE},
        {"hw:+bpf-output", "'bpf-output' not valid for hardware events.", ERR_USAGE},
        {"+brcntr", "field 'brcntr' is not there yet: what a branch's counters count is not known",
         ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct script_fields f;
        struct err err = ERR_INIT;
        script_fields_init(&f);
        assert_false(script_fields_parse(&f, rows[i].text, &err));
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.code, rows[i].code);
    }
}

static void test_missing_fields(void **state) {
    (void)state;
    struct perfdata_event e = {.attr = {.sample_type = PERFDATA_SAMPLE_TID}, .name = "cycles"};
    static const struct {
        const char *fields;
        bool fails;
        uint64_t left;
    } rows[] = {
        {"time", true, 0},
        {"+iregs", true, 0},
        {"sw:+iregs", false, SCRIPT_BIT(COMM) | SCRIPT_BIT(TID) | SCRIPT_BIT(EVENT) | SCRIPT_BIT(PERIOD)},
        {"hw:time,event", false, SCRIPT_BIT(EVENT)},
        {"hw:+iregs", false, SCRIPT_BIT(COMM) | SCRIPT_BIT(TID) | SCRIPT_BIT(EVENT) | SCRIPT_BIT(PERIOD)},
        {"comm,sym", true, 0},
        {"comm,dso", true, 0},
        {"comm,symoff", true, 0},
        {"comm,misc", false, SCRIPT_BIT(COMM) | SCRIPT_BIT(MISC)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct script_fields f;
        struct err err = ERR_INIT;
        uint64_t left;
        script_fields_init(&f);
        assert_true(script_fields_parse(&f, rows[i].fields, &err));
        assert_int_equal(script_fields_of(&f, &e, true, &left, &err), !rows[i].fails);
        if (rows[i].fails)
            assert_int_equal(err.code, ERR_ABSENT);
        else
            assert_int_equal(left, rows[i].left);
    }
}

/* Each row of the table of fields has what all rows need, and a bit of its own. */
static void test_field_rows(void **state) {
    const struct script_field *field, *other;
    uint64_t bits = 0;
    (void)state;
    for (size_t i = 0; (field = script_field_at(i)); i++) {
        for (size_t k = 0; k < i && (other = script_field_at(k)); k++)
            assert_string_not_equal(field->name, other->name);
        if (!field->later == !script_field_bit(i) || bits & script_field_bit(i))
            fail_msg("%s: every field that is there has a bit, each another one", field->name);
        bits |= script_field_bit(i);
        if (!field->later && !field->help)
            fail_msg("%s has no help", field->name);
        if (!field->needs != !field->needs_name)
            fail_msg("%s: what it needs has a name", field->name);
        if (field->kinds && field->defaults & ~field->kinds)
            fail_msg("%s is a default of events that cannot have it", field->name);
    }
    assert_true(bits && bits >> SCRIPT_FIELDS_MAX == 0);
}

static void test_later_lists_override(void **state) {
    (void)state;
    struct script_fields f;
    script_fields_init(&f);
    assert_true(script_fields_parse(&f, "trace:", NULL));
    assert_true(script_fields_parse(&f, "comm,trace", NULL));
    assert_int_equal(f.chosen[SCRIPT_KIND_TRACE], SCRIPT_BIT(COMM) | SCRIPT_BIT(TRACE));
    assert_int_equal(f.chosen[SCRIPT_KIND_CACHE], SCRIPT_BIT(COMM));
    assert_true(script_fields_parse(&f, "trace:", NULL));
    assert_int_equal(f.chosen[SCRIPT_KIND_TRACE], 0);
    assert_int_equal(f.chosen[SCRIPT_KIND_HARDWARE], SCRIPT_BIT(COMM));
    /* A hyphen inside a name is no sign. */
    assert_true(script_fields_parse(&f, "sw:event,bpf-output", NULL));
    assert_int_equal(f.chosen[SCRIPT_KIND_SOFTWARE], SCRIPT_BIT(EVENT) | SCRIPT_BIT(BPF_OUTPUT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_line),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_field_combinations),
        cmocka_unit_test(test_latency_format),
        cmocka_unit_test(test_every_value),
        cmocka_unit_test(test_callchain),
        cmocka_unit_test(test_corrupt_chain_shows_nothing),
        cmocka_unit_test(test_cookie),
        cmocka_unit_test(test_branches),
        cmocka_unit_test(test_branch_types),
        cmocka_unit_test(test_branch_pair),
        cmocka_unit_test(test_page_fault_address),
        cmocka_unit_test(test_bpf_output),
        cmocka_unit_test(test_tracepoint),
        cmocka_unit_test(test_guest),
        cmocka_unit_test(test_data_src),
        cmocka_unit_test(test_page_sizes),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_map_records),
        cmocka_unit_test(test_long_records),
        cmocka_unit_test(test_auxtrace_error),
        cmocka_unit_test(test_what_is_shown),
        cmocka_unit_test(test_bad_fields),
        cmocka_unit_test(test_missing_fields),
        cmocka_unit_test(test_field_rows),
        cmocka_unit_test(test_later_lists_override),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
