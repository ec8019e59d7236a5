/* SPDX-License-Identifier: Apache-2.0 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "config.h"
#include "events/event_parse.h"
#include "events/event_test.h"

static struct sysfs sys;
static struct perf_event_sources *src;

static int set_up(void **state) {
    (void)state;
    sys = sysfs_fake(&EVENT_TEST_TREE);
    src = perf_event_sources_new(&sys);
    return src == NULL;
}

static int tear_down(void **state) {
    (void)state;
    perf_event_sources_free(src);
    return 0;
}

/* The flags that are set, by the letters of their names below; then precise_ip. */
static void flags_text(uint64_t flags, char out[32]) {
    static const struct {
        uint64_t bit;
        char letter;
    } BITS[] = {
        {PERFDATA_ATTR_EXCLUDE_USER, 'u'},  {PERFDATA_ATTR_EXCLUDE_KERNEL, 'k'},
        {PERFDATA_ATTR_EXCLUDE_HV, 'h'},    {PERFDATA_ATTR_EXCLUDE_IDLE, 'i'},
        {PERFDATA_ATTR_EXCLUDE_GUEST, 'g'}, {PERFDATA_ATTR_EXCLUDE_HOST, 'o'},
        {PERFDATA_ATTR_PINNED, 'd'},        {PERFDATA_ATTR_EXCLUSIVE, 'e'},
        {PERFDATA_ATTR_AUX_OUTPUT, 'a'},    {PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER, 'c'},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof BITS / sizeof *BITS; i++) {
        if (flags & BITS[i].bit)
            out[n++] = BITS[i].letter;
        flags &= ~BITS[i].bit;
    }
    unsigned precise = (unsigned)(flags >> PERFDATA_ATTR_PRECISE_IP_SHIFT) & 3;
    flags &= ~(3ull << PERFDATA_ATTR_PRECISE_IP_SHIFT);
    assert_int_equal(flags, 0);
    if (precise)
        out[n++] = (char)('0' + precise);
    out[n] = '\0';
}

/* "name type config [1=config1] [2=config2] [bp=type] [flags]; ..." in hexadecimal */
static void events_text(const struct perf_events *events, struct out *o) {
    for (size_t i = 0; i < events->items.count; i++) {
        const struct perf_event *e = &events->items.items[i];
        char flags[32];
        flags_text(e->attr.flags, flags);
        out_printf(o, "%s%s %" PRIx32 " %" PRIx64, i ? "; " : "", e->name, e->attr.type, e->attr.config);
        if (e->attr.bp_type)
            out_printf(o, " bp=%" PRIx32, e->attr.bp_type);
        if (e->attr.config1)
            out_printf(o, " 1=%" PRIx64, e->attr.config1);
        if (e->attr.config2)
            out_printf(o, " 2=%" PRIx64, e->attr.config2);
        if (flags[0])
            out_printf(o, " %s", flags);
        assert_int_equal(e->attr.size, PERFDATA_ATTR_SIZE_NEWEST);
        assert_int_equal(e->attr.known_size, PERFDATA_ATTR_SIZE_NEWEST);
    }
}

static void check(const char *text, const char *want) {
    struct perf_events events = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    if (!perf_events_parse(src, text, &events, NULL, &err))
        fail_msg("%s: %s", text, err.message);
    events_text(&events, &o);
    assert_string_equal(out_text(&o), want);
    out_fini(&o);
    perf_events_fini(&events);
}

/* Names and attrs as `perf stat -vv -e TEXT` and `perf record -vv -e TEXT` (7.2) give them, with the same
 * descriptions of the PMUs in sysfs, where the row does not say otherwise. */
static const struct {
    const char *text, *want;
} GOOD[] = {
    {"cycles", "cycles 0 0"},
    {"CYCLES:u", "CYCLES:u 0 0 kh"},
    {"cpu-cycles", "cpu-cycles 4 76"},
    {"instructions", "instructions 4 c0"},
    {"branches", "branches 0 4"},
    {"idle-cycles-backend", "idle-cycles-backend 0 8"},
    {"ref-cycles", "ref-cycles 0 9"},
    {"L1-dcache", "L1-dcache 3 0"},
    {"L1-dcache-load-misses", "L1-dcache-load-misses 3 10000"},
    {"l1d-read-miss", "l1d-read-miss 3 10000"},
    {"LLC-speculative-read", "LLC-speculative-read 3 202"},
    {"d-tlb-load-misses", "d-tlb-load-misses 3 10003"},
    {"bpc-read-refs", "bpc-read-refs 3 5"},
    {"node-store-misses", "node-store-misses 3 10106"},
    {"r1a8:u", "r1a8:u 4 1a8 kh"},
    {"rFF", "rFF 4 ff"},
    {"cpu-clock", "cpu-clock 1 0"},
    {"faults,cs", "faults 1 2; cs 1 3"},
    {"cgroup-switches", "cgroup-switches 1 b"},
    {"duration_time", "duration_time fffffffe 1"},
    {"tool/user_time/", "tool/user_time/ fffffffe 2"},
    {"cpu//u", "cpu//u 4 0 kh"},
    {"cpu/r0x1a8/u", "cpu/r0x1a8/u 4 1a8 kh"},
    {"cpu/event=0x1ff/", "cpu/event=0x1ff/ 4 1000000ff"},
    {"cpu/event=010/", "cpu/event=010/ 4 a"},
    {"cpu/inv,edge,cmask=0x3,event=0xc0/pp", "cpu/inv,edge,cmask=0x3,event=0xc0/pp 4 38400c0 2"},
    {"cpu/umask=2,config=1/", "cpu/umask=2,config=1/ 4 201"},
    {"cpu/config=0x3c,config1=2,config2=3/", "cpu/config=0x3c,config1=2,config2=3/ 4 3c 1=2 2=3"},
    {"cpu/cycles/", "cpu/cycles/ 0 0"},
    {"cpu/instructions/k", "cpu/instructions/k 4 c0 uh"},
    {"cpu/event=0x3c,name=foo.bar/u", "foo.bar 4 3c kh"},
    {"cpu/mem-loads/P", "cpu/mem-loads/P 4 1cd 1=3"},
    /* perf joins the bits of both values, here to 31: docs/differences.md */
    {"cpu/mem-loads,ldlat=30/", "cpu/mem-loads,ldlat=30/ 4 1cd 1=1e"},
    {"cpu/ldlat=30,mem-loads/", "cpu/ldlat=30,mem-loads/ 4 1cd 1=1e"},
    {"software/cs,config=4/", "software/cs,config=4/ 1 4"},
    {"software/r3/", "software/r3/ 1 3"},
    {"uncore_imc_0/cas_count_read/", "uncore_imc_0/cas_count_read/ 14 304"},
    {"imc_1/event=7/", "imc_1/event=7/ 15 7"},
    {"imc/cas_count_read/", "imc/cas_count_read/ 14 304; imc/cas_count_read/ 15 4"},
    {"*imc*/event=4/", "*imc*/event=4/ 14 4; *imc*/event=4/ 15 4"},
    {"cas_count_read", "cas_count_read 14 304; cas_count_read 15 4"},
    {"par/param,idx=0x2/", "par/param,idx=0x2/ 32 10 1=2"},
    {"intel_pt//u", "intel_pt//u 28 2401 kh"},
    {"intel_pt/tsc=0/", "intel_pt/tsc=0/ 28 2001"},
    {"sched:sched_switch", "sched:sched_switch 2 174"},
    {"sched:sched_switch:u", "sched:sched_switch 2 174 kh"},
    {"sched:sched_switch/call-graph=fp/", "sched:sched_switch 2 174"},
    {"sched:sched_wak*", "sched:sched_wakeup 2 176; sched:sched_waking 2 177"},
    {"s*:sched_switch:k", "sched:sched_switch 2 174 uh"},
    {"probe_libc:malloc__return", "probe_libc:malloc__return 2 76c"},
    {"ftrace:function", "ftrace:function 2 1 c"},
    {"mem:0x1000", "mem:0x1000 5 0 bp=3 1=1000 2=4"},
    {"mem:0x1000:x", "mem:0x1000:x 5 0 bp=4 1=1000 2=8"},
    {"mem:4096:wr:u", "mem:4096:wr:u 5 0 bp=3 1=1000 2=4 kh"},
    {"mem:0x1000/8:w:u", "mem:0x1000 5 0 bp=2 1=1000 2=8 kh"},
    {"mem:0x1000/8:u", "mem:0x1000 5 0 bp=3 1=1000 2=8 kh"},
    {"/bin/ls:0x1234", "/bin/ls:0x1234 8 0 2=1234"},
    {"/bin/ls:0x1234%return:u", "/bin/ls:0x1234%return:u 8 1 2=1234 kh"},
    {"cycles:ukh", "cycles:ukh 0 0"},
    {"cycles:kh", "cycles:kh 0 0 u"},
    {"cycles:G", "cycles:G 0 0 o"},
    {"cycles:GH", "cycles:GH 0 0"},
    {"cycles:Hu", "cycles:Hu 0 0 khg"},
    {"cycles:IDeppp", "cycles:IDeppp 0 0 ide3"},
    {"cpu-clock:", "cpu-clock: 1 0"},
    {"{cycles,r1:k}:u", "cycles 0 0 kh; r1:k 4 1 h"},
    {"{cycles:u,r1}:D", "cycles:u 0 0 khd; r1 4 1"},
    {"{cycles:p,r1}:p", "cycles:p 0 0 2; r1 4 1 1"},
    {" cycles ,\n# a comment, with {braces\n cs:u # and one more\n", "cycles 0 0; cs:u 1 3 kh"},
    {"cpu-clock/name='A.B:c=0x1, d'/", "A.B:c=0x1, d 1 0"},
    {"cpu-clock//u", "cpu-clock//u 1 0 kh"},
    {"cpu-clock/aux-output/", "cpu-clock/aux-output/ 1 0 a"},
};

static void good_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        check(GOOD[i].text, GOOD[i].want);
}

static const struct {
    const char *text;
    size_t at;
    enum err_code code;
    const char *message;
} BAD[] = {
    {"", 0, ERR_USAGE, "expected an event, found the end"},
    {"cyles", 0, ERR_USAGE, "unknown event 'cyles', did you mean 'cycles'?"},
    {"cs,cyles:u", 3, ERR_USAGE, "unknown event 'cyles', did you mean 'cycles'?"},
    {"zzzzzzzzzzz", 0, ERR_USAGE, "unknown event 'zzzzzzzzzzz': sonde list shows what there is"},
    {"L1-dcache-lod-misses", 0, ERR_USAGE,
     "unknown event 'L1-dcache-lod-misses', did you mean 'L1-dcache-load-misses'?"},
    {"L1-icache-stores", 0, ERR_USAGE, "unknown event 'L1-icache-stores', did you mean 'L1-dcache-stores'?"},
    {"cas_count_raed", 0, ERR_USAGE, "unknown event 'cas_count_raed', did you mean 'cas_count_read'?"},
    {"r0x12", 0, ERR_USAGE, "unknown event 'r0x12': sonde list shows what there is"},
    {"cycles:q", 7, ERR_USAGE, "unknown modifier 'q', there are ukhIGHpPSDWebRX"},
    {"cycles:uku", 9, ERR_USAGE, "modifier 'u' (user) twice"},
    {"cycles:pppp", 10, ERR_USAGE, "at most three p"},
    {"{cycles:pp,r1}:pp", 15, ERR_USAGE, "at most three p, the event's own included"},
    {"cycles:u:S", 8, ERR_USAGE, "expected ',' or the end, found ':'"},
    {"cycles instructions", 7, ERR_USAGE, "expected ',' or the end, found 'i'"},
    {"cycles,,cs", 7, ERR_USAGE, "expected an event, found ','"},
    {"cycles,", 7, ERR_USAGE, "expected an event, found the end"},
    {"{cycles,cs", 0, ERR_USAGE, "this brace is not closed"},
    {"{cycles;cs}", 7, ERR_USAGE, "expected ',' or '}', found ';'"},
    {"{{cycles}}", 1, ERR_USAGE, "expected an event, found '{'"},
    {"cycles}", 6, ERR_USAGE, "expected ',' or the end, found '}'"},
    {"cpu/event=1", 3, ERR_USAGE, "this slash is not closed"},
    {"cpu///", 5, ERR_USAGE, "expected ',' or the end, found '/'"},
    {"cpu/event=1,/", 12, ERR_USAGE, "expected a term"},
    {"cpu/event=/", 10, ERR_USAGE, "'event=' needs a value"},
    {"cpu/event/", 4, ERR_USAGE, "term 'event' needs a value: event=N"},
    {"cpu/event=abc/", 10, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64"},
    {"cpu/event=-1/", 10, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64"},
    {"cpu/config=0x10000000000000000/", 11, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64"},
    {"cpu/umask=0x100/", 10, ERR_USAGE, "256 is too big for 'umask', the maximum is 255"},
    {"cpu/edge=2/", 9, ERR_USAGE, "2 is too big for 'edge', the maximum is 1"},
    {"cpu/evnt=3/", 4, ERR_USAGE, "unknown term 'evnt' for cpu, did you mean 'event'?"},
    {"cpu/odd=1/", 4, ERR_USAGE, "unknown term 'odd' for cpu"},
    {"cpu/perid=3/", 4, ERR_USAGE, "unknown term 'perid' for cpu, did you mean 'period'?"},
    {"cpu/odd-one/", 4, ERR_UNSUPPORTED, "cpu: 'odd-one' in sysfs has the unknown term 'nothing'"},
    {"cpu/cycles,umask=1/", 11, ERR_USAGE,
     "'umask' is the PMU's own: it cannot be set for an event that the kernel translates"},
    {"cycles/config=5/", 7, ERR_USAGE, "unknown term 'config' for an event without a PMU"},
    {"cpu/name='x/", 9, ERR_USAGE, "this quote is not closed"},
    {"cpx/event=1/", 0, ERR_USAGE, "unknown PMU or event 'cpx', did you mean 'cpu'?"},
    {"broken/event=1/", 0, ERR_USAGE, "unknown PMU or event 'broken': sonde list shows what there is"},
    {"par/param/", 4, ERR_USAGE, "'param' needs a value for 'idx': param,idx=N"},
    {"par/param,idx=?/", 14, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64"},
    {"cpu-clock/freq=max/", 15, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64"},
    {"cpu-clock/max-stack=65536/", 20, ERR_USAGE, "65536 is too big for 'max-stack', the maximum is 65535"},
    {"cpu-clock/call-graph=fpp/", 21, ERR_USAGE, "call-graph is fp, dwarf, lbr or no"},
    {"cpu-clock/aux-action=go/", 21, ERR_USAGE, "aux-action is start-paused, pause or resume"},
    {"cpu-clock/cpu=a/", 14, ERR_USAGE, "expected a CPU, a range of CPUs or a PMU that has a CPU mask"},
    {"sched:sched_swich", 6, ERR_ABSENT, "unknown tracepoint 'sched_swich', did you mean 'sched_switch'?"},
    {"sched:zz*", 6, ERR_ABSENT, "unknown tracepoint 'zz*': sonde list tracepoint shows what there is"},
    {"zz*:x", 0, ERR_ABSENT,
     "unknown event or group of tracepoints 'zz*': sonde list tracepoint shows what there is"},
    {"sched:", 6, ERR_USAGE, NULL},
    {"mem:", 4, ERR_USAGE, "expected an address in memory: mem:ADDRESS[/LENGTH][:ACCESS]"},
    {"mem:0x1/0", 8, ERR_USAGE, "expected the number of bytes to watch"},
    {"mem:0x1:rr", 9, ERR_USAGE, "access 'r' twice"},
    {"mem:0x1:rq", 9, ERR_USAGE, "access is made of r, w and x, not 'q'"},
    {"/bin/ls", 7, ERR_USAGE, "expected ':' and a place in the file, found the end"},
    {"/no/such/file:main", 0, ERR_ABSENT, "cannot open: No such file or directory"},
};

static void bad_texts(void **state) {
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        struct perf_events events = PERF_EVENTS_INIT;
        struct err err = ERR_INIT;
        size_t at = 99;
        assert_true(perf_events_parse(src, "task-clock", &events, NULL, &err));
        if (perf_events_parse(src, BAD[i].text, &events, &at, &err))
            fail_msg("accepted: %s", BAD[i].text);
        assert_int_equal(events.items.count, 1);
        if (!BAD[i].message) {
            perf_events_fini(&events);
            continue;
        }
        if (strcmp(err.message, BAD[i].message) != 0 || at != BAD[i].at || err.code != BAD[i].code)
            print_error("%s: %zu %d %s\n", BAD[i].text, at, err.code, err.message), wrong++;
        perf_events_fini(&events);
    }
    assert_int_equal(wrong, 0);
}

static void denied_tracepoint(void **state) {
    (void)state;
    struct perf_events events = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    assert_false(perf_events_parse(src, "secret:door", &events, NULL, &err));
    assert_int_equal(err.code, ERR_PERMISSION);
    perf_events_fini(&events);
}

static void terms_and_units(void **state) {
    (void)state;
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    assert_true(perf_events_parse(
        src,
        "cpu/event=1,period=0x10,freq=99,call-graph=dwarf,stack-size=512,time=0,no-inherit,max-stack=7,"
        "percore,nr=5,overwrite,@a,@b=c,cpu=1,cpu=3-4,branch_type=any,aux-action=pause/P",
        &ev, NULL, &err));
    const struct perf_event *e = &ev.items.items[0];
    const struct perf_event_terms *t = &e->terms;
    assert_int_equal(t->period, 16);
    assert_int_equal(t->freq_hz, 99);
    assert_string_equal(t->call_graph, "dwarf");
    assert_int_equal(t->stack_size_bytes, 512);
    assert_int_equal(t->max_stack, 7);
    assert_int_equal(t->max_events, 5);
    assert_false(t->time || t->inherit);
    assert_true(t->overwrite && t->percore);
    assert_string_equal(t->driver_config, "a,b=c");
    assert_string_equal(t->branch_type, "any");
    assert_string_equal(e->cpus, "1,3-4");
    assert_int_equal(e->attr.aux_action, 2);
    assert_int_equal(e->attr.sample_period, 0);
    assert_int_equal(e->max_precise, 2);
    assert_int_equal(e->modifiers, PERF_EVENT_MAX_PRECISE | PERF_EVENT_PRECISE_GIVEN);
    assert_int_equal(t->given, PERF_TERM_PERIOD | PERF_TERM_FREQ | PERF_TERM_TIME | PERF_TERM_CALL_GRAPH |
                                   PERF_TERM_STACK_SIZE | PERF_TERM_INHERIT | PERF_TERM_MAX_STACK |
                                   PERF_TERM_OVERWRITE | PERF_TERM_PERCORE | PERF_TERM_AUX_ACTION |
                                   PERF_TERM_BRANCH_TYPE | PERF_TERM_DRIVER_CONFIG | PERF_TERM_MAX_EVENTS);
    assert_true(perf_events_parse(src, "uncore_imc_0/cas_count_read/", &ev, NULL, &err));
    e = &ev.items.items[1];
    assert_string_equal(e->unit, "MiB");
    assert_string_equal(e->cpus, "0,18");
    assert_true(e->scale == 6.103515625e-5 && e->per_pkg && !e->snapshot);
    perf_events_fini(&ev);
}

static void groups_and_kinds(void **state) {
    (void)state;
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    assert_true(perf_events_parse(src, "cs", &ev, NULL, &err));
    assert_true(perf_events_parse(src, "g{cycles,sched:sched_wak*}:SW,mem:1,num_cpus,/a:1", &ev, NULL, &err));
    static const struct {
        uint32_t leader, members;
        enum perf_event_kind kind;
        uint64_t period;
    } WANT[] = {
        {0, 1, PERF_EVENT_PMU, 0},        {1, 3, PERF_EVENT_PMU, 0},        {1, 0, PERF_EVENT_TRACEPOINT, 1},
        {1, 0, PERF_EVENT_TRACEPOINT, 1}, {4, 1, PERF_EVENT_BREAKPOINT, 1}, {5, 1, PERF_EVENT_TOOL, 0},
        {6, 1, PERF_EVENT_UPROBE, 1},
    };
    assert_int_equal(ev.items.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(ev.items.items[i].leader, WANT[i].leader);
        assert_int_equal(ev.items.items[i].members, WANT[i].members);
        assert_int_equal(ev.items.items[i].kind, WANT[i].kind);
        assert_int_equal(ev.items.items[i].attr.sample_period, WANT[i].period);
    }
    assert_string_equal(ev.items.items[1].group, "g");
    assert_int_equal(ev.items.items[3].modifiers, PERF_EVENT_SAMPLE_READ | PERF_EVENT_WEAK);
    assert_string_equal(ev.items.items[6].probe_path, "/a");
    perf_events_fini(&ev);
}

static void filters(void **state) {
    (void)state;
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    assert_false(perf_events_filter(src, "a == 1", &ev, &err));
    assert_true(perf_events_parse(src, "sched:sched_switch", &ev, NULL, &err));
    assert_true(perf_events_parse(src, "cs,sched:sched_wakeup", &ev, NULL, &err));
    assert_true(perf_events_filter(src, "a == \"(\"", &ev, &err));
    assert_true(perf_events_filter(src, "(b)", &ev, &err));
    assert_true(perf_events_exclude_pid(&ev, 12, &err));
    assert_null(ev.items.items[0].filter);
    assert_null(ev.items.items[1].filter);
    assert_string_equal(ev.items.items[2].filter, "((a == \"(\") && ((b))) && (common_pid != 12)");
    static const char *const BROKEN[] = {"", "(a", "a)", "a == \"b", "'"};
    for (size_t i = 0; i < 5; i++) {
        assert_false(perf_events_filter(src, BROKEN[i], &ev, &err));
        assert_int_equal(err.code, ERR_USAGE);
    }
    assert_true(perf_events_parse(src, "intel_pt//", &ev, NULL, &err));
    assert_true(perf_events_filter(src, "filter 0x1000/16", &ev, &err));
    assert_false(perf_events_exclude_pid(&ev, 12, &err));
    assert_true(perf_events_parse(src, "cs", &ev, NULL, &err));
    assert_false(perf_events_filter(src, "a", &ev, &err));
    perf_event_sources_filter_samples(src);
    assert_true(perf_events_filter(src, "pid == 1", &ev, &err));
    assert_true(perf_events_filter(src, "cpu < 2 || cpu > 8", &ev, &err));
    const struct perf_event *last = &ev.items.items[ev.items.count - 1];
    assert_true(last->filters_samples);
    assert_string_equal(last->filter, "pid == 1, cpu < 2 || cpu > 8");
    assert_true(perf_events_parse(src, "sched:sched_switch,cs", &ev, NULL, &err));
    assert_true(perf_events_filter(src, "prev_pid == 0", &ev, &err)); /* the tracepoint's alone */
    last = &ev.items.items[ev.items.count - 1];
    assert_true(!last->filter && !last->filters_samples && last[-1].filter && !last[-1].filters_samples);
    perf_events_fini(&ev);
}

/* libpfm4's "perf" PMU is there on every machine. It leaves guests out unless mg=1 asks for them. */
static void pfm_names(void **state) {
    (void)state;
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    size_t at = 9;
#ifdef HAVE_LIBPFM4
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    assert_true(
        perf_events_parse_pfm(src, "{perf::cycles:u,perf::PAGE-FAULTS},perf::instructions", &ev, &at, &err));
    events_text(&ev, &o);
    assert_string_equal(out_text(&o),
                        "perf::cycles:u 0 0 khg; perf::PAGE-FAULTS 1 2 g; perf::instructions 0 1 g");
    assert_int_equal(ev.items.items[0].members, 2);
    assert_int_equal(ev.items.items[1].leader, 0);
    out_fini(&o);
    assert_false(perf_events_parse_pfm(src, "perf::cycles,perf::nothing", &ev, &at, &err));
    assert_int_equal(at, 13);
    assert_false(perf_events_parse_pfm(src, "{perf::cycles", &ev, &at, &err));
    assert_false(perf_events_parse_pfm(src, "perf::cycles}", &ev, &at, &err));
    assert_int_equal(ev.items.count, 3);
#else
    assert_false(perf_events_parse_pfm(src, "perf::cycles", &ev, &at, &err));
    assert_int_equal(err.code, ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "libpfm4-dev"));
#endif
    perf_events_fini(&ev);
}

static void defaults(void **state) {
    (void)state;
    static const char *const NAMES[] = {"cycles:P", "task-clock:ppp", "cpu-clock:ppp"};
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    for (unsigned i = 0; i < 3; i++) {
        assert_true(perf_events_default(src, (enum perf_event_default)i, &ev, &err));
        assert_string_equal(ev.items.items[i].name, NAMES[i]);
    }
    perf_events_fini(&ev);
}

static void marks(void **state) {
    (void)state;
    struct out o;
    assert_true(out_init(&o, NULL, NULL));
    perf_events_mark("cs,\ncyles:u,\nx", 4, "no", &o);
    assert_string_equal(out_text(&o), "event syntax error: '..cyles:u,..'\n"
                                      "                       \\___ no\n");
    out_fini(&o);
    char text[300];
    memset(text, 'a', sizeof text);
    text[299] = '\0';
    text[200] = '!';
    assert_true(out_init(&o, NULL, NULL));
    perf_events_mark(text, 200, "no", &o);
    const char *line = out_text(&o), *second = strchr(line, '\n') + 1;
    assert_int_equal(strchr(line, '!') - line, strchr(second, '\\') - second);
    out_fini(&o);
}

/* Where tracefs is not mounted it is, once somebody asks for a tracepoint, and only then. */
static void tracefs_is_mounted(void **state) {
    (void)state;
    bool mounted = false;
    struct sysfs_fake tree = EVENT_TEST_TREE;
    tree.mounted = &mounted;
    struct sysfs machine = sysfs_fake(&tree);
    struct perf_event_sources *s = perf_event_sources_new(&machine);
    struct perf_events ev = PERF_EVENTS_INIT;
    assert_non_null(s);
    assert_true(perf_events_parse(s, "cycles:u,cs", &ev, NULL, NULL));
    assert_false(mounted);
    assert_true(perf_events_parse(s, "sched:sched_switch", &ev, NULL, NULL));
    assert_true(mounted);
    perf_events_fini(&ev);
    perf_event_sources_free(s);
}

/* A machine without event_source and tracefs still has the events that every kernel has. */
static void bare_machine(void **state) {
    (void)state;
    static const struct sysfs_fake_file mount_point[] = {{"/sys/kernel/tracing/", NULL}};
    const struct sysfs_fake none = {mount_point, 1};
    struct sysfs bare = sysfs_fake(&none);
    struct perf_event_sources *s = perf_event_sources_new(&bare);
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    assert_non_null(s);
    assert_true(perf_events_parse(s, "cycles:u,r3,cs,LLC-loads", &ev, NULL, &err));
    assert_int_equal(ev.items.items[1].attr.type, 4);
    assert_false(perf_events_parse(s, "sched:sched_switch", &ev, NULL, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_non_null(strstr(err.message, "mount -t tracefs"));
    assert_false(perf_events_parse(s, "/bin/ls:1", &ev, NULL, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    perf_events_fini(&ev);
    perf_event_sources_free(s);
}

/* --pmu-filter, and --cputype on a machine with two kinds of cores. */
static void chosen_pmus(void **state) {
    static const struct sysfs_fake_file files[] = {
        {"/sys/bus/event_source/devices/cpu_core/type", "4"},
        {"/sys/bus/event_source/devices/cpu_core/cpus", "0-3"},
        {"/sys/bus/event_source/devices/cpu_atom/type", "10"},
        {"/sys/bus/event_source/devices/cpu_atom/cpus", "4-7"},
    };
    const struct sysfs_fake tree = {files, sizeof files / sizeof *files};
    struct sysfs hybrid = sysfs_fake(&tree);
    struct perf_event_sources *s = perf_event_sources_new(&hybrid);
    struct perf_events ev = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    (void)state;
    assert_non_null(s);
    assert_false(perf_event_sources_cores(s, "none"));
    assert_true(perf_events_parse(s, "cycles", &ev, NULL, &err));
    assert_int_equal(ev.items.count, 2);
    assert_true(perf_event_sources_cores(s, "atom"));
    assert_true(perf_events_parse(s, "cycles,cs", &ev, NULL, &err));
    assert_int_equal(ev.items.count, 4);
    assert_string_equal(ev.items.items[2].pmu, "cpu_atom");
    perf_event_sources_free(s);
    perf_events_fini(&ev);

    s = perf_event_sources_new(&sys);
    perf_event_sources_pmu(s, "uncore_imc_1");
    assert_true(perf_events_parse(s, "uncore_imc/cas_count_read/", &ev, NULL, &err));
    assert_int_equal(ev.items.count, 1);
    assert_int_equal(ev.items.items[0].attr.type, 21);
    assert_false(perf_events_parse(s, "cs", &ev, NULL, &err));
    assert_int_equal(err.code, ERR_ABSENT);
    assert_false(perf_events_parse(s, "cycles", &ev, NULL, &err));
    assert_false(perf_events_parse(s, "par/event=1/", &ev, NULL, &err));
    assert_true(perf_events_parse(s, "duration_time", &ev, NULL, &err));
    perf_event_sources_free(s);
    perf_events_fini(&ev);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts),      cmocka_unit_test(bad_texts),
        cmocka_unit_test(terms_and_units), cmocka_unit_test(groups_and_kinds),
        cmocka_unit_test(filters),         cmocka_unit_test(defaults),
        cmocka_unit_test(marks),           cmocka_unit_test(tracefs_is_mounted),
        cmocka_unit_test(bare_machine),    cmocka_unit_test(denied_tracepoint),
        cmocka_unit_test(pfm_names),       cmocka_unit_test(chosen_pmus),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
