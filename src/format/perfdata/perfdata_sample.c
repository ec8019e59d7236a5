/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/perfdata_sample.h"

enum { BRANCH_SIZE = 24 }; /* struct perf_branch_entry */

#define WEIGHT_ANY (PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT)
#define BEHIND_BRANCHES                                                                                    \
    (PERFDATA_SAMPLE_VARIABLE & ~(PERFDATA_SAMPLE_READ | PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_RAW | \
                                  PERFDATA_SAMPLE_BRANCH_STACK))
#define SAMPLE_ID_FIELDS                                                                           \
    (PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_ID | PERFDATA_SAMPLE_STREAM_ID | \
     PERFDATA_SAMPLE_CPU | PERFDATA_SAMPLE_IDENTIFIER)

static uint8_t place(uint8_t *at, bool present) {
    uint8_t here = *at;
    if (!present)
        return PERFDATA_NO_FIELD;
    *at += 8;
    return here;
}

static uint8_t place_back(uint8_t *back, bool present) {
    if (present)
        *back += 8;
    return present ? *back : 0;
}

void perfdata_plan_init(struct perfdata_plan *plan, const struct perfdata_attr *attr, bool swap) {
    uint64_t t = attr->sample_type;
    uint8_t at = 0, back = 0;
    *plan = (struct perfdata_plan){.sample_type = t,
                                   .read_format = attr->read_format,
                                   .branch_sample_type = attr->branch_sample_type,
                                   .regs_user = attr->sample_regs_user,
                                   .regs_intr = attr->sample_regs_intr,
                                   .swap = swap,
                                   .sample_id_all = attr->flags & PERFDATA_ATTR_SAMPLE_ID_ALL,
                                   .build_ids = attr->flags & PERFDATA_ATTR_BUILD_ID};
    plan->identifier_at = place(&at, t & PERFDATA_SAMPLE_IDENTIFIER);
    plan->ip_at = place(&at, t & PERFDATA_SAMPLE_IP);
    plan->tid_at = place(&at, t & PERFDATA_SAMPLE_TID);
    plan->time_at = place(&at, t & PERFDATA_SAMPLE_TIME);
    plan->addr_at = place(&at, t & PERFDATA_SAMPLE_ADDR);
    plan->id_at = place(&at, t & PERFDATA_SAMPLE_ID);
    plan->stream_id_at = place(&at, t & PERFDATA_SAMPLE_STREAM_ID);
    plan->cpu_at = place(&at, t & PERFDATA_SAMPLE_CPU);
    plan->period_at = place(&at, t & PERFDATA_SAMPLE_PERIOD);
    plan->fixed_size = at;
    if (!plan->sample_id_all)
        return;
    plan->tail_identifier_back = place_back(&back, t & PERFDATA_SAMPLE_IDENTIFIER);
    plan->tail_cpu_back = place_back(&back, t & PERFDATA_SAMPLE_CPU);
    plan->tail_stream_id_back = place_back(&back, t & PERFDATA_SAMPLE_STREAM_ID);
    plan->tail_id_back = place_back(&back, t & PERFDATA_SAMPLE_ID);
    plan->tail_time_back = place_back(&back, t & PERFDATA_SAMPLE_TIME);
    plan->tail_tid_back = place_back(&back, t & PERFDATA_SAMPLE_TID);
    plan->tail_size = back;
}

/* struct read_format. */

static unsigned format_has(uint64_t format, uint64_t bit) {
    return (format & bit) != 0;
}

static unsigned entry_words(uint64_t format) {
    return 1 + format_has(format, PERFDATA_FORMAT_ID) + format_has(format, PERFDATA_FORMAT_LOST);
}

bool perfdata_read_decode(struct cursor *c, uint64_t format, struct perfdata_read *out) {
    bool group = format & PERFDATA_FORMAT_GROUP;
    *out = (struct perfdata_read){.format = format, .count = 1, .swap = c->swap};
    if (group)
        out->count = cursor_u64(c);
    else
        out->entries = cursor_take(c, 8);
    if (format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        out->time_enabled = cursor_u64(c);
    if (format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        out->time_running = cursor_u64(c);
    unsigned words = entry_words(format);
    if (!group)
        cursor_take(c, 8 * (words - 1));
    else if (out->count > cursor_left(c) / (8 * words))
        c->failed = true;
    else
        out->entries = cursor_take(c, out->count * 8 * words);
    return cursor_ok(c);
}

struct perfdata_read_value perfdata_read_at(const struct perfdata_read *r, uint64_t i) {
    struct perfdata_read_value v = {0};
    const uint8_t *p = r->entries + i * 8 * entry_words(r->format);
    v.value = bytes_load64(p, r->swap);
    p += 8;
    if (!(r->format & PERFDATA_FORMAT_GROUP))
        p += 8 * (format_has(r->format, PERFDATA_FORMAT_TOTAL_TIME_ENABLED) +
                  format_has(r->format, PERFDATA_FORMAT_TOTAL_TIME_RUNNING));
    if (r->format & PERFDATA_FORMAT_ID) {
        v.id = bytes_load64(p, r->swap);
        p += 8;
    }
    if (r->format & PERFDATA_FORMAT_LOST)
        v.lost = bytes_load64(p, r->swap);
    return v;
}

static void encode_times(const struct perfdata_read *r, struct writer *w) {
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        writer_u64(w, r->time_enabled);
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        writer_u64(w, r->time_running);
}

void perfdata_read_encode(const struct perfdata_read *r, struct writer *w) {
    bool group = r->format & PERFDATA_FORMAT_GROUP;
    if (group) {
        writer_u64(w, r->count);
        encode_times(r, w);
    }
    for (uint64_t i = 0; i < (group ? r->count : 1); i++) {
        struct perfdata_read_value v = r->count ? perfdata_read_at(r, i) : (struct perfdata_read_value){0};
        writer_u64(w, v.value);
        if (!group)
            encode_times(r, w);
        if (r->format & PERFDATA_FORMAT_ID)
            writer_u64(w, v.id);
        if (r->format & PERFDATA_FORMAT_LOST)
            writer_u64(w, v.lost);
    }
}

/* The variable part: a take and a put for every field that is more than a word. */

static struct perfdata_u64s take_u64s(struct cursor *c, uint64_t count) {
    struct perfdata_u64s list = {.swap = c->swap};
    if (count > cursor_left(c) / 8)
        c->failed = true;
    else {
        list.data = cursor_take(c, count * 8);
        list.count = count;
    }
    return list;
}

static void put_u64s(const struct perfdata_u64s *list, struct writer *w) {
    if (list->swap == w->swap) {
        writer_put(w, list->data, list->count * 8);
        return;
    }
    for (uint64_t i = 0; i < list->count; i++)
        writer_u64(w, perfdata_u64_at(list, i));
}

static void take_read(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    perfdata_read_decode(c, plan->read_format, &s->read);
}

static void put_read(const struct perfdata_plan *plan, const struct perfdata_sample *s, struct writer *w) {
    struct perfdata_read none = {.format = plan->read_format};
    perfdata_read_encode(s->have & PERFDATA_SAMPLE_READ ? &s->read : &none, w);
}

static void take_callchain(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    (void)plan;
    s->callchain = take_u64s(c, cursor_u64(c));
}

static void put_callchain(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                          struct writer *w) {
    (void)plan;
    struct perfdata_u64s list =
        s->have & PERFDATA_SAMPLE_CALLCHAIN ? s->callchain : (struct perfdata_u64s){0};
    writer_u64(w, list.count);
    put_u64s(&list, w);
}

static void take_raw(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    (void)plan;
    s->raw = cursor_bytes(c, cursor_u32(c));
}

static void put_raw(const struct perfdata_plan *plan, const struct perfdata_sample *s, struct writer *w) {
    (void)plan;
    struct bytes raw = s->have & PERFDATA_SAMPLE_RAW ? s->raw : (struct bytes){0};
    writer_u32(w, (uint32_t)raw.size);
    writer_bytes_put(w, raw);
}

static bool ends_exactly(const struct perfdata_plan *plan, struct cursor c);

static void take_branches(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    s->branch_count = cursor_u64(c);
    s->has_branch_hw_index = plan->branch_sample_type & PERFDATA_BRANCH_HW_INDEX;
    /* A sample without a stack may have `nr` alone: believe whichever reading leaves no bytes over, and the
     * documented one when neither does. */
    if (s->has_branch_hw_index && s->branch_count == 0) {
        struct cursor behind = *c;
        cursor_take(&behind, 8);
        s->has_branch_hw_index = ends_exactly(plan, behind) || !ends_exactly(plan, *c);
    }
    s->branch_hw_index = s->has_branch_hw_index ? cursor_u64(c) : 0;
    bool counters = plan->branch_sample_type & PERFDATA_BRANCH_COUNTERS;
    s->branches = NULL;
    if (s->branch_count > cursor_left(c) / (BRANCH_SIZE + (counters ? 8 : 0))) {
        c->failed = true;
        return;
    }
    s->branches = cursor_take(c, s->branch_count * BRANCH_SIZE);
    s->branch_counters = take_u64s(c, counters ? s->branch_count : 0);
}

static void put_branches(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                         struct writer *w) {
    (void)plan;
    bool have = s->have & PERFDATA_SAMPLE_BRANCH_STACK;
    writer_u64(w, have ? s->branch_count : 0);
    if (!have)
        return;
    if (s->has_branch_hw_index)
        writer_u64(w, s->branch_hw_index);
    put_u64s(&(struct perfdata_u64s){s->branches, s->branch_count * (BRANCH_SIZE / 8), s->swap}, w);
    put_u64s(&s->branch_counters, w);
}

static struct perfdata_regs take_regs(struct cursor *c, uint64_t mask) {
    struct perfdata_regs r = {.abi = cursor_u64(c), .mask = mask};
    r.values = take_u64s(c, r.abi ? (uint64_t)__builtin_popcountll(mask) : 0);
    return r;
}

static void put_regs(const struct perfdata_regs *r, bool have, struct writer *w) {
    writer_u64(w, have ? r->abi : 0);
    if (have)
        put_u64s(&r->values, w);
}

static void take_regs_user(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    s->regs_user = take_regs(c, plan->regs_user);
}

static void put_regs_user(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                          struct writer *w) {
    (void)plan;
    put_regs(&s->regs_user, s->have & PERFDATA_SAMPLE_REGS_USER, w);
}

static void take_regs_intr(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    s->regs_intr = take_regs(c, plan->regs_intr);
}

static void put_regs_intr(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                          struct writer *w) {
    (void)plan;
    put_regs(&s->regs_intr, s->have & PERFDATA_SAMPLE_REGS_INTR, w);
}

static void take_stack(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    (void)plan;
    s->stack_user = cursor_bytes(c, cursor_u64(c));
    s->stack_dyn_size = s->stack_user.size ? cursor_u64(c) : 0;
}

static void put_stack(const struct perfdata_plan *plan, const struct perfdata_sample *s, struct writer *w) {
    (void)plan;
    struct bytes stack = s->have & PERFDATA_SAMPLE_STACK_USER ? s->stack_user : (struct bytes){0};
    writer_u64(w, stack.size);
    writer_bytes_put(w, stack);
    if (stack.size)
        writer_u64(w, s->stack_dyn_size);
}

static void take_weight(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    /* The parts of WEIGHT_STRUCT are declared in mirrored order for big-endian machines, so that var1_dw is
     * the low half of the word on either. */
    uint64_t word = cursor_u64(c);
    bool parts = plan->sample_type & PERFDATA_SAMPLE_WEIGHT_STRUCT;
    s->weight = parts ? (uint32_t)word : word;
    s->ins_lat = parts ? (uint16_t)(word >> 32) : 0;
    s->weight3 = parts ? (uint16_t)(word >> 48) : 0;
}

static void put_weight(const struct perfdata_plan *plan, const struct perfdata_sample *s, struct writer *w) {
    bool parts = plan->sample_type & PERFDATA_SAMPLE_WEIGHT_STRUCT;
    uint64_t word =
        parts ? (uint32_t)s->weight | (uint64_t)s->ins_lat << 32 | (uint64_t)s->weight3 << 48 : s->weight;
    writer_u64(w, s->have & WEIGHT_ANY ? word : 0);
}

static void take_aux(const struct perfdata_plan *plan, struct cursor *c, struct perfdata_sample *s) {
    (void)plan;
    s->aux = cursor_bytes(c, cursor_u64(c));
}

static void put_aux(const struct perfdata_plan *plan, const struct perfdata_sample *s, struct writer *w) {
    (void)plan;
    struct bytes aux = s->have & PERFDATA_SAMPLE_AUX ? s->aux : (struct bytes){0};
    writer_u64(w, aux.size);
    writer_bytes_put(w, aux);
}

struct row {
    uint64_t bits;
    size_t word; /* without a take: the member that the field's one word goes to */
    void (*take)(const struct perfdata_plan *, struct cursor *, struct perfdata_sample *);
    void (*put)(const struct perfdata_plan *, const struct perfdata_sample *, struct writer *);
};

#define WORD(bit, member) \
    { bit, __builtin_offsetof(struct perfdata_sample, member), NULL, NULL }

/* In file order. */
static const struct row ROWS[] = {
    {PERFDATA_SAMPLE_READ, 0, take_read, put_read},
    {PERFDATA_SAMPLE_CALLCHAIN, 0, take_callchain, put_callchain},
    {PERFDATA_SAMPLE_RAW, 0, take_raw, put_raw},
    {PERFDATA_SAMPLE_BRANCH_STACK, 0, take_branches, put_branches},
    {PERFDATA_SAMPLE_REGS_USER, 0, take_regs_user, put_regs_user},
    {PERFDATA_SAMPLE_STACK_USER, 0, take_stack, put_stack},
    {WEIGHT_ANY, 0, take_weight, put_weight},
    WORD(PERFDATA_SAMPLE_DATA_SRC, data_src),
    WORD(PERFDATA_SAMPLE_TRANSACTION, transaction),
    {PERFDATA_SAMPLE_REGS_INTR, 0, take_regs_intr, put_regs_intr},
    WORD(PERFDATA_SAMPLE_PHYS_ADDR, phys_addr),
    WORD(PERFDATA_SAMPLE_CGROUP, cgroup),
    WORD(PERFDATA_SAMPLE_DATA_PAGE_SIZE, data_page_size),
    WORD(PERFDATA_SAMPLE_CODE_PAGE_SIZE, code_page_size),
    {PERFDATA_SAMPLE_AUX, 0, take_aux, put_aux},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS, ROW_BEHIND_BRANCHES = 4 };

/* Walks the plan's variable fields from row `i` until none of `want` is left. */
static bool walk(const struct perfdata_plan *plan, struct cursor *c, int i, uint64_t want,
                 struct perfdata_sample *s) {
    for (; i < ROW_COUNT && want; i++) {
        const struct row *row = &ROWS[i];
        if (!(plan->sample_type & row->bits))
            continue;
        if (row->take)
            row->take(plan, c, s);
        else {
            uint64_t v = cursor_u64(c);
            memcpy((uint8_t *)s + row->word, &v, sizeof v);
        }
        if (!cursor_ok(c))
            return false;
        s->have |= plan->sample_type & row->bits;
        want &= ~row->bits;
    }
    return true;
}

/* True when the fields after the branch stack fill c to its last byte. */
static bool ends_exactly(const struct perfdata_plan *plan, struct cursor c) {
    struct perfdata_sample scratch;
    scratch.have = 0;
    return cursor_ok(&c) &&
           walk(plan, &c, ROW_BEHIND_BRANCHES, plan->sample_type & BEHIND_BRANCHES, &scratch) &&
           cursor_left(&c) == 0;
}

/* The fixed fields that lie wholly inside a body that is too short for all. */
static uint64_t fixed_inside(const struct perfdata_plan *plan, size_t size) {
    static const uint64_t ORDER[] = {
        PERFDATA_SAMPLE_IDENTIFIER, PERFDATA_SAMPLE_IP,   PERFDATA_SAMPLE_TID,
        PERFDATA_SAMPLE_TIME,       PERFDATA_SAMPLE_ADDR, PERFDATA_SAMPLE_ID,
        PERFDATA_SAMPLE_STREAM_ID,  PERFDATA_SAMPLE_CPU,  PERFDATA_SAMPLE_PERIOD,
    };
    uint64_t inside = 0;
    size_t at = 0;
    for (size_t i = 0; i < sizeof ORDER / sizeof *ORDER; i++)
        if (plan->sample_type & ORDER[i] && (at += 8) <= size)
            inside |= ORDER[i];
    return inside;
}

bool perfdata_sample_decode_slow(const struct perfdata_plan *plan, struct bytes body, uint64_t want,
                                 struct perfdata_sample *out) {
    uint64_t fixed = want & plan->sample_type & PERFDATA_SAMPLE_FIXED;
    out->tail = (struct bytes){NULL, 0};
    if (body.size < plan->fixed_size) {
        perfdata_sample_load_fixed(plan, body.data, plan->swap, fixed & fixed_inside(plan, body.size), out);
        return false;
    }
    perfdata_sample_load_fixed(plan, body.data, plan->swap, fixed, out);
    struct cursor c = cursor_make(body, plan->swap);
    cursor_take(&c, plan->fixed_size);
    uint64_t variable = plan->sample_type & PERFDATA_SAMPLE_VARIABLE;
    if (!walk(plan, &c, 0, want & variable, out))
        return false;
    if ((out->have & variable) == variable)
        out->tail = cursor_rest(&c);
    return true;
}

void perfdata_sample_encode(const struct perfdata_plan *plan, const struct perfdata_sample *s,
                            struct writer *w) {
    const uint64_t t = plan->sample_type, have = s->have;
    if (t & PERFDATA_SAMPLE_IDENTIFIER)
        writer_u64(w, have & PERFDATA_SAMPLE_IDENTIFIER ? s->identifier : 0);
    if (t & PERFDATA_SAMPLE_IP)
        writer_u64(w, have & PERFDATA_SAMPLE_IP ? s->ip : 0);
    if (t & PERFDATA_SAMPLE_TID) {
        writer_u32(w, have & PERFDATA_SAMPLE_TID ? s->pid : 0);
        writer_u32(w, have & PERFDATA_SAMPLE_TID ? s->tid : 0);
    }
    if (t & PERFDATA_SAMPLE_TIME)
        writer_u64(w, have & PERFDATA_SAMPLE_TIME ? s->time : 0);
    if (t & PERFDATA_SAMPLE_ADDR)
        writer_u64(w, have & PERFDATA_SAMPLE_ADDR ? s->addr : 0);
    if (t & PERFDATA_SAMPLE_ID)
        writer_u64(w, have & PERFDATA_SAMPLE_ID ? s->id : 0);
    if (t & PERFDATA_SAMPLE_STREAM_ID)
        writer_u64(w, have & PERFDATA_SAMPLE_STREAM_ID ? s->stream_id : 0);
    if (t & PERFDATA_SAMPLE_CPU) {
        writer_u32(w, have & PERFDATA_SAMPLE_CPU ? s->cpu : 0);
        writer_u32(w, have & PERFDATA_SAMPLE_CPU ? s->cpu_reserved : 0);
    }
    if (t & PERFDATA_SAMPLE_PERIOD)
        writer_u64(w, have & PERFDATA_SAMPLE_PERIOD ? s->period : 0);
    for (int i = 0; i < ROW_COUNT; i++) {
        const struct row *row = &ROWS[i];
        if (!(t & row->bits))
            continue;
        uint64_t v = 0;
        if (row->put)
            row->put(plan, s, w);
        else {
            if (have & row->bits)
                memcpy(&v, (const uint8_t *)s + row->word, sizeof v);
            writer_u64(w, v);
        }
    }
    writer_bytes_put(w, s->tail);
}

struct perfdata_branch perfdata_branch_at(const struct perfdata_sample *s, uint64_t i) {
    const uint8_t *p = s->branches + i * BRANCH_SIZE;
    uint64_t word = bytes_load64(p + 16, s->swap);
    struct perfdata_branch b = {
        .from = bytes_load64(p, s->swap), .to = bytes_load64(p + 8, s->swap), .flags = word};
    /* Bitfields fill the word from its low end on little-endian machines, from its high end on big-endian
     * ones. The order is struct perf_branch_entry's; older kernels leave the later ones 0. */
    static const uint8_t WIDTHS[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
    uint16_t v[sizeof WIDTHS];
    unsigned at = 0;
    for (size_t k = 0; k < sizeof WIDTHS; at += WIDTHS[k++])
        v[k] = (uint16_t)((s->swap != BYTES_HOST_BIG ? word >> (64 - at - WIDTHS[k]) : word >> at) &
                          ((1u << WIDTHS[k]) - 1));
    b.mispred = v[0];
    b.predicted = v[1];
    b.in_tx = v[2];
    b.abort = v[3];
    b.cycles = v[4];
    b.type = (uint8_t)v[5];
    b.spec = (uint8_t)v[6];
    b.new_type = (uint8_t)v[7];
    b.priv = (uint8_t)v[8];
    return b;
}

/* The sample_id tail. */

void perfdata_sample_id_decode(const struct perfdata_plan *plan, struct bytes body,
                               struct perfdata_sample_id *out) {
    *out = (struct perfdata_sample_id){0};
    if (!plan->tail_size || body.size < plan->tail_size)
        return;
    const uint8_t *end = body.data + body.size;
    out->have = plan->sample_type & SAMPLE_ID_FIELDS;
    if (plan->tail_tid_back) {
        out->pid = bytes_load32(end - plan->tail_tid_back, plan->swap);
        out->tid = bytes_load32(end - plan->tail_tid_back + 4, plan->swap);
    }
    if (plan->tail_time_back)
        out->time = bytes_load64(end - plan->tail_time_back, plan->swap);
    if (plan->tail_id_back)
        out->id = bytes_load64(end - plan->tail_id_back, plan->swap);
    if (plan->tail_stream_id_back)
        out->stream_id = bytes_load64(end - plan->tail_stream_id_back, plan->swap);
    if (plan->tail_cpu_back) {
        out->cpu = bytes_load32(end - plan->tail_cpu_back, plan->swap);
        out->cpu_reserved = bytes_load32(end - plan->tail_cpu_back + 4, plan->swap);
    }
    if (plan->tail_identifier_back)
        out->identifier = bytes_load64(end - plan->tail_identifier_back, plan->swap);
}

void perfdata_sample_id_encode(const struct perfdata_plan *plan, const struct perfdata_sample_id *id,
                               struct writer *w) {
    if (plan->tail_tid_back) {
        writer_u32(w, id->pid);
        writer_u32(w, id->tid);
    }
    if (plan->tail_time_back)
        writer_u64(w, id->time);
    if (plan->tail_id_back)
        writer_u64(w, id->id);
    if (plan->tail_stream_id_back)
        writer_u64(w, id->stream_id);
    if (plan->tail_cpu_back) {
        writer_u32(w, id->cpu);
        writer_u32(w, id->cpu_reserved);
    }
    if (plan->tail_identifier_back)
        writer_u64(w, id->identifier);
}
