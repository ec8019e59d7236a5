/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_test.h"

#include "format/perfdata/perfdata_sample.h"

/*
 * Bodies are generated field by field in the order of the comment at PERF_RECORD_SAMPLE in perf_event.h,
 * without any of the code under test, beside what the decoder must find in them.
 */
struct made {
    struct perfdata_attr attr;
    struct perfdata_sample want;
    uint64_t chain[8], regs[64], regs_intr[64], branches[8 * 3], counters[8], reads[8 * 3];
    uint8_t raw[64], stack[64], aux[64];
    uint64_t read_count;
    size_t fixed; /* bytes */
};

static uint64_t word(uint64_t *seed, struct writer *w) {
    uint64_t v = test_random(seed);
    writer_u64(w, v);
    return v;
}

static uint64_t words(uint64_t *seed, struct writer *w, uint64_t *to, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        to[i] = word(seed, w);
    return n;
}

static struct bytes blob(uint64_t *seed, struct writer *w, uint8_t *to, size_t n) {
    for (size_t i = 0; i < n; i++)
        writer_u8(w, to[i] = (uint8_t)test_random(seed));
    return (struct bytes){to, n};
}

static void make_fixed(uint64_t *seed, struct made *m, struct writer *w) {
    struct perfdata_sample *s = &m->want;
    uint64_t t = m->attr.sample_type;
    if (t & PERFDATA_SAMPLE_IDENTIFIER)
        s->identifier = word(seed, w);
    if (t & PERFDATA_SAMPLE_IP)
        s->ip = word(seed, w);
    if (t & PERFDATA_SAMPLE_TID) {
        writer_u32(w, s->pid = (uint32_t)test_random(seed));
        writer_u32(w, s->tid = (uint32_t)test_random(seed));
    }
    if (t & PERFDATA_SAMPLE_TIME)
        s->time = word(seed, w);
    if (t & PERFDATA_SAMPLE_ADDR)
        s->addr = word(seed, w);
    if (t & PERFDATA_SAMPLE_ID)
        s->id = word(seed, w);
    if (t & PERFDATA_SAMPLE_STREAM_ID)
        s->stream_id = word(seed, w);
    if (t & PERFDATA_SAMPLE_CPU) {
        writer_u32(w, s->cpu = (uint32_t)test_random(seed));
        writer_u32(w, s->cpu_reserved = (uint32_t)test_random(seed));
    }
    if (t & PERFDATA_SAMPLE_PERIOD)
        s->period = word(seed, w);
    m->fixed = w->size;
}

/* reads[] gets value, id, lost of each entry, 0 where the format lacks one. */
static void make_read(uint64_t *seed, struct made *m, struct writer *w) {
    uint64_t f = m->attr.read_format;
    bool group = f & PERFDATA_FORMAT_GROUP;
    m->read_count = 1;
    if (group)
        writer_u64(w, m->read_count = test_below(seed, 5));
    else
        m->reads[0] = word(seed, w);
    if (f & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        m->want.read.time_enabled = word(seed, w);
    if (f & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        m->want.read.time_running = word(seed, w);
    for (uint64_t i = 0; i < m->read_count; i++) {
        if (group)
            m->reads[3 * i] = word(seed, w);
        if (f & PERFDATA_FORMAT_ID)
            m->reads[3 * i + 1] = word(seed, w);
        if (f & PERFDATA_FORMAT_LOST)
            m->reads[3 * i + 2] = word(seed, w);
    }
}

static void make_branches(uint64_t *seed, struct made *m, struct writer *w) {
    uint64_t n = test_below(seed, 6);
    writer_u64(w, m->want.branch_count = n);
    if (m->attr.branch_sample_type & PERFDATA_BRANCH_HW_INDEX)
        m->want.branch_hw_index = word(seed, w);
    words(seed, w, m->branches, 3 * n);
    if (m->attr.branch_sample_type & PERFDATA_BRANCH_COUNTERS)
        m->want.branch_counters.count = words(seed, w, m->counters, n);
}

static void make_regs(uint64_t *seed, uint64_t mask, struct perfdata_regs *r, uint64_t *values,
                      struct writer *w) {
    writer_u64(w, r->abi = test_below(seed, 3));
    r->mask = mask;
    if (r->abi)
        r->values.count = words(seed, w, values, (uint64_t)__builtin_popcountll(mask));
}

static void make_variable(uint64_t *seed, struct made *m, struct writer *w) {
    struct perfdata_sample *s = &m->want;
    uint64_t t = m->attr.sample_type;
    if (t & PERFDATA_SAMPLE_READ)
        make_read(seed, m, w);
    if (t & PERFDATA_SAMPLE_CALLCHAIN) {
        writer_u64(w, s->callchain.count = test_below(seed, 8));
        words(seed, w, m->chain, s->callchain.count);
    }
    if (t & PERFDATA_SAMPLE_RAW) {
        size_t n = 4 + 8 * test_below(seed, 7);
        writer_u32(w, (uint32_t)n);
        s->raw = blob(seed, w, m->raw, n);
    }
    if (t & PERFDATA_SAMPLE_BRANCH_STACK)
        make_branches(seed, m, w);
    if (t & PERFDATA_SAMPLE_REGS_USER)
        make_regs(seed, m->attr.sample_regs_user, &s->regs_user, m->regs, w);
    if (t & PERFDATA_SAMPLE_STACK_USER) {
        size_t n = 8 * test_below(seed, 8);
        writer_u64(w, n);
        s->stack_user = blob(seed, w, m->stack, n);
        if (n)
            writer_u64(w, s->stack_dyn_size = test_below(seed, n + 1));
    }
    if (t & PERFDATA_SAMPLE_WEIGHT_STRUCT) {
        s->weight = (uint32_t)test_random(seed);
        s->ins_lat = (uint16_t)test_random(seed);
        s->weight3 = (uint16_t)test_random(seed);
        if (w->swap != BYTES_HOST_BIG) {
            writer_u16(w, s->weight3);
            writer_u16(w, s->ins_lat);
            writer_u32(w, (uint32_t)s->weight);
        } else {
            writer_u32(w, (uint32_t)s->weight);
            writer_u16(w, s->ins_lat);
            writer_u16(w, s->weight3);
        }
    } else if (t & PERFDATA_SAMPLE_WEIGHT)
        s->weight = word(seed, w);
    if (t & PERFDATA_SAMPLE_DATA_SRC)
        s->data_src = word(seed, w);
    if (t & PERFDATA_SAMPLE_TRANSACTION)
        s->transaction = word(seed, w);
    if (t & PERFDATA_SAMPLE_REGS_INTR)
        make_regs(seed, m->attr.sample_regs_intr, &s->regs_intr, m->regs_intr, w);
    if (t & PERFDATA_SAMPLE_PHYS_ADDR)
        s->phys_addr = word(seed, w);
    if (t & PERFDATA_SAMPLE_CGROUP)
        s->cgroup = word(seed, w);
    if (t & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
        s->data_page_size = word(seed, w);
    if (t & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
        s->code_page_size = word(seed, w);
    if (t & PERFDATA_SAMPLE_AUX) {
        size_t n = test_below(seed, 9);
        writer_u64(w, n);
        s->aux = blob(seed, w, m->aux, n);
    }
}

static void make(uint64_t *seed, uint64_t sample_type, struct made *m, struct writer *w) {
    *m = (struct made){.attr = {.sample_type = sample_type,
                                .read_format = test_below(seed, 32),
                                .branch_sample_type = test_random(seed),
                                .sample_regs_user = test_random(seed) & test_random(seed),
                                .sample_regs_intr = test_random(seed) & test_random(seed)}};
    make_fixed(seed, m, w);
    make_variable(seed, m, w);
}

static void assert_words(const struct perfdata_u64s *got, const uint64_t *want, uint64_t count) {
    assert_int_equal(got->count, count);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(perfdata_u64_at(got, i), want[i]);
}

static void assert_fixed(const struct made *m, const struct perfdata_sample *s) {
    uint64_t t = s->have;
    if (t & PERFDATA_SAMPLE_IDENTIFIER)
        assert_int_equal(s->identifier, m->want.identifier);
    if (t & PERFDATA_SAMPLE_IP)
        assert_int_equal(s->ip, m->want.ip);
    if (t & PERFDATA_SAMPLE_TID) {
        assert_int_equal(s->pid, m->want.pid);
        assert_int_equal(s->tid, m->want.tid);
    }
    if (t & PERFDATA_SAMPLE_TIME)
        assert_int_equal(s->time, m->want.time);
    if (t & PERFDATA_SAMPLE_ADDR)
        assert_int_equal(s->addr, m->want.addr);
    if (t & PERFDATA_SAMPLE_ID)
        assert_int_equal(s->id, m->want.id);
    if (t & PERFDATA_SAMPLE_STREAM_ID)
        assert_int_equal(s->stream_id, m->want.stream_id);
    if (t & PERFDATA_SAMPLE_CPU) {
        assert_int_equal(s->cpu, m->want.cpu);
        assert_int_equal(s->cpu_reserved, m->want.cpu_reserved);
    }
    if (t & PERFDATA_SAMPLE_PERIOD)
        assert_int_equal(s->period, m->want.period);
}

static void assert_lists(const struct made *m, const struct perfdata_sample *s) {
    uint64_t t = s->have;
    if (t & PERFDATA_SAMPLE_READ) {
        assert_int_equal(s->read.count, m->read_count);
        assert_int_equal(s->read.time_enabled, m->want.read.time_enabled);
        assert_int_equal(s->read.time_running, m->want.read.time_running);
        for (uint64_t i = 0; i < m->read_count; i++) {
            struct perfdata_read_value v = perfdata_read_at(&s->read, i);
            assert_int_equal(v.value, m->reads[3 * i]);
            assert_int_equal(v.id, m->reads[3 * i + 1]);
            assert_int_equal(v.lost, m->reads[3 * i + 2]);
        }
    }
    if (t & PERFDATA_SAMPLE_CALLCHAIN)
        assert_words(&s->callchain, m->chain, m->want.callchain.count);
    if (t & PERFDATA_SAMPLE_RAW)
        assert_bytes(s->raw, m->raw, m->want.raw.size);
    if (t & PERFDATA_SAMPLE_BRANCH_STACK) {
        assert_int_equal(s->branch_count, m->want.branch_count);
        assert_int_equal(s->branch_hw_index, m->want.branch_hw_index);
        for (uint64_t i = 0; i < s->branch_count; i++) {
            struct perfdata_branch b = perfdata_branch_at(s, i);
            assert_int_equal(b.from, m->branches[3 * i]);
            assert_int_equal(b.to, m->branches[3 * i + 1]);
            assert_int_equal(b.flags, m->branches[3 * i + 2]);
        }
        assert_words(&s->branch_counters, m->counters, m->want.branch_counters.count);
    }
    if (t & PERFDATA_SAMPLE_REGS_USER) {
        assert_int_equal(s->regs_user.abi, m->want.regs_user.abi);
        assert_int_equal(s->regs_user.mask, m->attr.sample_regs_user);
        assert_words(&s->regs_user.values, m->regs, m->want.regs_user.values.count);
    }
    if (t & PERFDATA_SAMPLE_REGS_INTR) {
        assert_int_equal(s->regs_intr.abi, m->want.regs_intr.abi);
        assert_words(&s->regs_intr.values, m->regs_intr, m->want.regs_intr.values.count);
    }
    if (t & PERFDATA_SAMPLE_STACK_USER) {
        assert_bytes(s->stack_user, m->stack, m->want.stack_user.size);
        assert_int_equal(s->stack_dyn_size, m->want.stack_dyn_size);
    }
    if (t & PERFDATA_SAMPLE_AUX)
        assert_bytes(s->aux, m->aux, m->want.aux.size);
}

static void assert_plain(const struct made *m, const struct perfdata_sample *s) {
    uint64_t t = s->have;
    if (t & (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT)) {
        assert_int_equal(s->weight, m->want.weight);
        assert_int_equal(s->ins_lat, m->want.ins_lat);
        assert_int_equal(s->weight3, m->want.weight3);
    }
    if (t & PERFDATA_SAMPLE_DATA_SRC)
        assert_int_equal(s->data_src, m->want.data_src);
    if (t & PERFDATA_SAMPLE_TRANSACTION)
        assert_int_equal(s->transaction, m->want.transaction);
    if (t & PERFDATA_SAMPLE_PHYS_ADDR)
        assert_int_equal(s->phys_addr, m->want.phys_addr);
    if (t & PERFDATA_SAMPLE_CGROUP)
        assert_int_equal(s->cgroup, m->want.cgroup);
    if (t & PERFDATA_SAMPLE_DATA_PAGE_SIZE)
        assert_int_equal(s->data_page_size, m->want.data_page_size);
    if (t & PERFDATA_SAMPLE_CODE_PAGE_SIZE)
        assert_int_equal(s->code_page_size, m->want.code_page_size);
}

static void assert_made(const struct made *m, const struct perfdata_sample *s) {
    assert_fixed(m, s);
    assert_lists(m, s);
    assert_plain(m, s);
}

/* Random types of few and of many bits; every bit alone first. */
static uint64_t some_type(uint64_t *seed, unsigned round) {
    if (round < 25)
        return 1ull << round;
    uint64_t t = test_random(seed) & PERFDATA_SAMPLE_KNOWN;
    return round & 1 ? t : t & test_random(seed);
}

enum { ROUNDS = 600 };

static void generated_samples_round_trip(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (unsigned round = 0; round < 2 * ROUNDS; round++) {
        bool swap = round & 1;
        struct made m;
        struct writer w = writer_make(swap), again = writer_make(swap);
        make(&seed, some_type(&seed, round / 2), &m, &w);
        size_t exact = w.size;
        /* Behind the known fields: nothing, or a few bytes that a newer kernel's field put there. */
        size_t extra = round % 3 ? 0 : 8 * test_below(&seed, 3);
        if (extra)
            m.attr.sample_type |= 1ull << 40;
        writer_zero(&w, extra);
        uint8_t *copy = test_copy(w.data, w.size);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &m.attr, swap);
        assert_int_equal(plan.fixed_size, m.fixed);

        struct perfdata_sample s;
        memset(&s, 0xa5, sizeof s);
        assert_true(perfdata_sample_decode(&plan, (struct bytes){copy, w.size}, ~0ull, &s));
        assert_int_equal(s.have, m.attr.sample_type & PERFDATA_SAMPLE_KNOWN);
        assert_int_equal(s.tail.size, w.size - exact);
        assert_made(&m, &s);

        perfdata_sample_encode(&plan, &s, &again);
        assert_bytes(writer_bytes(&again), w.data, w.size);
        free(copy);
        writer_fini(&w);
        writer_fini(&again);
    }
}

/* Every prefix of a sample is refused, and what it holds is right. */
static void truncated_samples_are_refused(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (unsigned round = 0; round < 100; round++) {
        bool swap = round & 1;
        struct made m;
        struct writer w = writer_make(swap);
        make(&seed, some_type(&seed, round / 2), &m, &w);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &m.attr, swap);
        /* The empty branch stack's optional word makes some prefixes whole samples; tested by itself. */
        bool ambiguous = m.attr.sample_type & PERFDATA_SAMPLE_BRANCH_STACK && !m.want.branch_count;
        for (size_t n = 0; n < w.size; n++) {
            uint8_t *copy = test_copy(w.data, n);
            struct perfdata_sample s;
            bool ok = perfdata_sample_decode(&plan, (struct bytes){copy, n}, ~0ull, &s);
            if (!ambiguous) {
                assert_false(ok);
                assert_true((s.have & m.attr.sample_type) == s.have && s.have != m.attr.sample_type);
                assert_made(&m, &s);
            }
            free(copy);
        }
        writer_fini(&w);
    }
}

/* Whatever is wanted, it is there and right, and nothing after it is needed. */
static void partial_wishes_are_met(void **state) {
    (void)state;
    uint64_t seed = 13;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool swap = round & 1;
        struct made m;
        struct writer w = writer_make(swap);
        make(&seed, some_type(&seed, round), &m, &w);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &m.attr, swap);
        uint64_t want = test_random(&seed) & test_random(&seed) & PERFDATA_SAMPLE_KNOWN;
        uint8_t *copy = test_copy(w.data, w.size);
        struct perfdata_sample s;
        memset(&s, 0xa5, sizeof s);
        assert_true(perfdata_sample_decode(&plan, (struct bytes){copy, w.size}, want, &s));
        assert_int_equal(s.have & want, m.attr.sample_type & want);
        assert_int_equal(s.tail.size, 0);
        assert_made(&m, &s);

        /* Cut off after the fixed fields, only they can be wanted. */
        bool all_fixed = !(want & m.attr.sample_type & PERFDATA_SAMPLE_VARIABLE);
        assert_int_equal(perfdata_sample_decode(&plan, (struct bytes){copy, m.fixed}, want, &s), all_fixed);
        free(copy);
        writer_fini(&w);
    }
}

static void mutated_samples_stay_inside(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool swap = round & 1;
        struct made m;
        struct writer w = writer_make(swap), again = writer_make(swap);
        make(&seed, some_type(&seed, round), &m, &w);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &m.attr, swap);
        for (unsigned k = 0; k < 40 && w.size; k++) {
            uint8_t *copy = test_copy(w.data, w.size);
            for (unsigned i = 0; i <= k % 4; i++) {
                /* Whole words of extreme values hit the counts; odd bytes the rest. */
                size_t at = test_below(&seed, w.size);
                uint64_t v = k & 1 ? ~0ull >> test_below(&seed, 64) : test_random(&seed);
                memcpy(copy + (at & ~7ull), &v, w.size - (at & ~7ull) < 8 ? w.size - (at & ~7ull) : 8);
            }
            struct perfdata_sample s;
            if (perfdata_sample_decode(&plan, (struct bytes){copy, w.size}, ~0ull, &s)) {
                writer_clear(&again);
                perfdata_sample_encode(&plan, &s, &again);
                assert_bytes(writer_bytes(&again), copy, w.size);
            }
            free(copy);
        }
        writer_fini(&w);
        writer_fini(&again);
    }
}

static void empty_branch_stack_may_lack_its_index(void **state) {
    (void)state;
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_BRANCH_STACK |
                                                PERFDATA_SAMPLE_DATA_SRC,
                                 .branch_sample_type = PERFDATA_BRANCH_HW_INDEX};
    struct perfdata_plan plan;
    perfdata_plan_init(&plan, &attr, false);
    for (int with = 0; with < 2; with++) {
        struct writer w = writer_make(false), again = writer_make(false);
        writer_u64(&w, 0x1234);
        writer_u64(&w, 0);
        if (with)
            writer_u64(&w, 5);
        writer_u64(&w, 0x77);
        struct perfdata_sample s;
        assert_true(perfdata_sample_decode(&plan, writer_bytes(&w), ~0ull, &s));
        assert_int_equal(s.has_branch_hw_index, with);
        assert_int_equal(s.branch_hw_index, with ? 5 : 0);
        assert_int_equal(s.data_src, 0x77);
        perfdata_sample_encode(&plan, &s, &again);
        assert_bytes(writer_bytes(&again), w.data, w.size);
        writer_fini(&w);
        writer_fini(&again);
    }
}

/* The flags of struct perf_branch_entry as a little-endian and as a big-endian compiler lays them out. */
static void branch_flags_follow_the_byte_order(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        bool swap = big != BYTES_HOST_BIG;
        struct writer w = writer_make(swap);
        uint64_t mispred = 1, in_tx = 1, cycles = 0xabcd, type = 9, spec = 2, new_type = 5, priv = 3;
        uint64_t little =
            mispred | in_tx << 2 | cycles << 4 | type << 20 | spec << 24 | new_type << 26 | priv << 30;
        uint64_t bigword = mispred << 63 | in_tx << 61 | cycles << 44 | type << 40 | spec << 38 |
                           new_type << 34 | priv << 31;
        writer_u64(&w, 1);
        writer_u64(&w, 0x1000);
        writer_u64(&w, 0x2000);
        writer_u64(&w, big ? bigword : little);
        struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_BRANCH_STACK};
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &attr, swap);
        struct perfdata_sample s;
        assert_true(perfdata_sample_decode(&plan, writer_bytes(&w), ~0ull, &s));
        struct perfdata_branch b = perfdata_branch_at(&s, 0);
        assert_int_equal(b.from, 0x1000);
        assert_int_equal(b.to, 0x2000);
        assert_true(b.mispred && !b.predicted && b.in_tx && !b.abort);
        assert_int_equal(b.cycles, 0xabcd);
        assert_int_equal(b.type, 9);
        assert_int_equal(b.spec, 2);
        assert_int_equal(b.new_type, 5);
        assert_int_equal(b.priv, 3);
        writer_fini(&w);
    }
}

static void missing_fields_are_written_as_nothing(void **state) {
    (void)state;
    struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_KNOWN, .read_format = 31};
    struct perfdata_plan plan;
    perfdata_plan_init(&plan, &attr, false);
    struct perfdata_sample s, back;
    memset(&s, 0xa5, sizeof s);
    s.have = PERFDATA_SAMPLE_IP;
    s.ip = 42;
    s.tail = (struct bytes){NULL, 0};
    struct writer w = writer_make(false);
    perfdata_sample_encode(&plan, &s, &w);
    assert_true(perfdata_sample_decode(&plan, writer_bytes(&w), ~0ull, &back));
    assert_int_equal(back.have, PERFDATA_SAMPLE_KNOWN);
    assert_int_equal(back.ip, 42);
    assert_int_equal(back.time, 0);
    assert_int_equal(back.callchain.count, 0);
    assert_int_equal(back.read.count, 0);
    assert_int_equal(back.regs_user.abi, 0);
    assert_int_equal(back.tail.size, 0);
    writer_fini(&w);
}

/* The tail of all other records: TID TIME ID STREAM_ID CPU IDENTIFIER, counted from the end. */
static void sample_id_sits_at_the_end(void **state) {
    (void)state;
    static const uint64_t ORDER[] = {PERFDATA_SAMPLE_TID, PERFDATA_SAMPLE_TIME,
                                     PERFDATA_SAMPLE_ID,  PERFDATA_SAMPLE_STREAM_ID,
                                     PERFDATA_SAMPLE_CPU, PERFDATA_SAMPLE_IDENTIFIER};
    uint64_t seed = 23;
    for (unsigned set = 0; set < 128; set++) {
        bool swap = set & 64;
        struct writer w = writer_make(swap), again = writer_make(swap);
        struct perfdata_attr attr = {.sample_type = PERFDATA_SAMPLE_IP, .flags = PERFDATA_ATTR_SAMPLE_ID_ALL};
        uint64_t v[6] = {0};
        writer_u64(&w, 0); /* a record's own field */
        for (unsigned i = 0; i < 6; i++) {
            if (!(set >> i & 1))
                continue;
            attr.sample_type |= ORDER[i];
            v[i] = test_random(&seed);
            if (ORDER[i] == PERFDATA_SAMPLE_TID || ORDER[i] == PERFDATA_SAMPLE_CPU) {
                writer_u32(&w, (uint32_t)v[i]);
                writer_u32(&w, (uint32_t)(v[i] >> 32));
            } else
                writer_u64(&w, v[i]);
        }
        struct perfdata_plan plan;
        struct perfdata_sample_id id;
        perfdata_plan_init(&plan, &attr, swap);
        assert_int_equal(plan.tail_size, w.size - 8);
        perfdata_sample_id_decode(&plan, writer_bytes(&w), &id);
        assert_int_equal(id.have, attr.sample_type & ~PERFDATA_SAMPLE_IP);
        assert_int_equal(id.pid | (uint64_t)id.tid << 32, v[0]);
        assert_int_equal(id.time, v[1]);
        assert_int_equal(id.id, v[2]);
        assert_int_equal(id.stream_id, v[3]);
        assert_int_equal(id.cpu | (uint64_t)id.cpu_reserved << 32, v[4]);
        assert_int_equal(id.identifier, v[5]);

        uint64_t time = 0;
        bool timed = perfdata_record_time(&plan, PERFDATA_RECORD_COMM, writer_bytes(&w), &time);
        assert_int_equal(timed, set >> 1 & 1);
        assert_int_equal(time, v[1]);
        perfdata_sample_id_encode(&plan, &id, &again);
        assert_bytes(writer_bytes(&again), w.data + 8, w.size - 8);

        struct bytes cut = {w.data, plan.tail_size ? plan.tail_size - 1u : 0};
        perfdata_sample_id_decode(&plan, cut, &id);
        assert_int_equal(id.have, 0);
        assert_false(perfdata_record_time(&plan, PERFDATA_RECORD_COMM, cut, &time));
        writer_fini(&w);
        writer_fini(&again);
    }
}

static void sample_time_needs_no_decoding(void **state) {
    (void)state;
    uint64_t seed = 29;
    for (unsigned round = 0; round < 200; round++) {
        bool swap = round & 1;
        struct made m;
        struct writer w = writer_make(swap);
        make(&seed, some_type(&seed, round), &m, &w);
        struct perfdata_plan plan;
        perfdata_plan_init(&plan, &m.attr, swap);
        uint64_t time = 0;
        assert_int_equal(perfdata_record_time(&plan, PERFDATA_RECORD_SAMPLE, writer_bytes(&w), &time),
                         (m.attr.sample_type & PERFDATA_SAMPLE_TIME) != 0);
        assert_int_equal(time, m.want.time);
        assert_false(perfdata_record_time(&plan, PERFDATA_RECORD_SAMPLE, (struct bytes){w.data, 7}, &time));
        writer_fini(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_samples_round_trip),
        cmocka_unit_test(truncated_samples_are_refused),
        cmocka_unit_test(partial_wishes_are_met),
        cmocka_unit_test(mutated_samples_stay_inside),
        cmocka_unit_test(empty_branch_stack_may_lack_its_index),
        cmocka_unit_test(branch_flags_follow_the_byte_order),
        cmocka_unit_test(missing_fields_are_written_as_nothing),
        cmocka_unit_test(sample_id_sits_at_the_end),
        cmocka_unit_test(sample_time_needs_no_decoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
