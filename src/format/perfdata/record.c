/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/record.h"

#include "base/cursor.h"
#include "format/perfdata/record_internal.h"

static void *member(struct perfdata_record *rec, uint16_t offset) {
    return (uint8_t *)rec + offset;
}

static const void *peek(const struct perfdata_record *rec, uint16_t offset) {
    return (const uint8_t *)rec + offset;
}

static uint64_t load(const struct perfdata_record *rec, uint16_t offset, unsigned width) {
    const uint8_t *p = peek(rec, offset);
    return width == 1   ? *p
           : width == 2 ? bytes_load16(p, false)
           : width == 4 ? bytes_load32(p, false)
                        : bytes_load64(p, false);
}

static bool flag(const struct perfdata_record *rec, uint16_t offset) {
    return *(const bool *)peek(rec, offset);
}

/* How many of the fields after a WHEN or UNLESS to leave out; 0 for all other fields. */
static unsigned skipped(const struct record_field *f, const struct perfdata_record *rec) {
    if (f->kind != RECORD_WHEN && f->kind != RECORD_UNLESS)
        return 0;
    return flag(rec, f->other) == (f->kind == RECORD_WHEN) ? 0 : f->arg;
}

/* Decoding. */

static void take_uint(struct cursor *c, const struct record_field *f, struct perfdata_record *rec) {
    void *to = member(rec, f->member);
    if (f->arg == 1)
        *(uint8_t *)to = cursor_u8(c);
    else if (f->arg == 2)
        *(uint16_t *)to = cursor_u16(c);
    else if (f->arg == 4)
        *(uint32_t *)to = cursor_u32(c);
    else
        *(uint64_t *)to = cursor_u64(c);
}

/* `count` times `each` bytes, or nothing, and a failed cursor, when fewer are left. */
static struct bytes take_counted(struct cursor *c, uint64_t count, unsigned each) {
    if (count > cursor_left(c) / each) {
        c->failed = true;
        return (struct bytes){NULL, 0};
    }
    return cursor_bytes(c, count * each);
}

static struct perfdata_u64s take_list(struct cursor *c, const struct record_field *f,
                                      const struct perfdata_record *rec) {
    uint64_t count = f->kind == RECORD_LIST_REST ? cursor_left(c) / 8 : load(rec, f->other, 8);
    unsigned each = f->kind == RECORD_LIST_REST ? 8 : 8u * f->arg;
    if (f->kind == RECORD_LIST_IF && count > cursor_left(c) / each)
        count = 0;
    struct bytes b = take_counted(c, count, each);
    return (struct perfdata_u64s){b.data, b.size / 8, c->swap};
}

static void take_attr(struct cursor *c, struct perfdata_attr *attr) {
    if (cursor_left(c) < PERFDATA_ATTR_SIZE_MIN) {
        c->failed = true;
        return;
    }
    uint32_t size = bytes_load32(c->at + 4, c->swap);
    struct bytes b = cursor_bytes(c, size < PERFDATA_ATTR_SIZE_MIN ? PERFDATA_ATTR_SIZE_MIN : size);
    if (cursor_ok(c))
        perfdata_attr_decode(b, c->swap, attr);
}

static void take_field(struct cursor *c, const struct record_field *f, const struct perfdata_plan *plan,
                       struct perfdata_record *rec) {
    void *to = member(rec, f->member);
    switch ((enum record_kind)f->kind) {
    case RECORD_UINT:
        take_uint(c, f, rec);
        break;
    case RECORD_ARRAY: {
        const uint8_t *p = cursor_take(c, f->arg);
        if (p)
            memcpy(to, p, f->arg);
        break;
    }
    case RECORD_TEXT:
    case RECORD_REST:
        *(struct bytes *)to = cursor_rest(c);
        break;
    case RECORD_TEXT_MAX:
        *(struct bytes *)to = cursor_bytes(c, cursor_left(c) < f->arg ? cursor_left(c) : f->arg);
        break;
    case RECORD_COUNTED:
        *(struct bytes *)to = take_counted(c, load(rec, f->other, 8), f->arg);
        break;
    case RECORD_LIST:
    case RECORD_LIST_IF:
    case RECORD_LIST_REST:
        *(struct perfdata_u64s *)to = take_list(c, f, rec);
        break;
    case RECORD_READ:
        perfdata_read_decode(c, plan ? plan->read_format : 0, to);
        break;
    case RECORD_ATTR:
        take_attr(c, to);
        break;
    case RECORD_LEFT:
        *(uint64_t *)to = cursor_left(c);
        break;
    case RECORD_IF_MISC:
        *(bool *)to = rec->misc >> f->arg & 1;
        break;
    case RECORD_IF_LEFT:
        *(bool *)to = cursor_left(c) >= f->arg;
        break;
    case RECORD_IF_AT_LEAST:
        *(bool *)to = load(rec, f->other, 4) >= f->arg;
        break;
    case RECORD_WHEN:
    case RECORD_UNLESS:
    case RECORD_END:
        break;
    }
}

/* Numbers are most of what most rows begin with: as take_field takes them, up to the first field that is none
 * or does not fit. */
static const struct record_field *take_uints(struct cursor *c, const struct record_field *f,
                                             struct perfdata_record *rec) {
    const uint8_t *at = c->at;
    for (; f->kind == RECORD_UINT && f->arg <= (size_t)(c->end - at); at += f++->arg) {
        void *to = member(rec, f->member);
        if (f->arg == 4)
            *(uint32_t *)to = bytes_load32(at, c->swap);
        else if (f->arg == 8)
            *(uint64_t *)to = bytes_load64(at, c->swap);
        else if (f->arg == 2)
            *(uint16_t *)to = bytes_load16(at, c->swap);
        else
            *(uint8_t *)to = *at;
    }
    c->at = at;
    return f;
}

/* Reads a row's fields from all of `b`; NULL, or the reason why that cannot be. *last is its last
 * field that is no number. */
static const char *take_fields(const struct record_row *row, struct bytes b, const struct perfdata_plan *plan,
                               bool swap, struct perfdata_record *rec, const struct record_field **last) {
    struct cursor c = cursor_make(b, swap);
    const struct record_field *f = take_uints(&c, row->fields, rec);
    while (f->kind != RECORD_END) {
        *last = f;
        take_field(&c, f, plan, rec);
        f += 1 + skipped(f, rec);
        if (!c.failed)
            f = take_uints(&c, f, rec);
    }
    if (!cursor_ok(&c))
        return b.size < row->min_body ? "it is shorter than its type's fields"
                                      : "a count or size in it is larger than the record";
    rec->tail = cursor_rest(&c);
    return row->check ? row->check(rec) : NULL;
}

/*
 * Whether the text runs on through what was taken for the sample_id. The kernel and all tools end it with a
 * NUL, so text without one, in a record that has one further on, belongs to a producer that set sample_id_all
 * but wrote this record (one that it made up itself) without a sample_id.
 */
static bool text_runs_on(const struct record_field *last, const struct perfdata_record *rec,
                         struct bytes body) {
    if (!last || last->kind != RECORD_TEXT)
        return false;
    struct bytes text = *(const struct bytes *)peek(rec, last->member);
    if (text.size && !text.data[text.size - 1]) /* as nearly all */
        return false;
    struct bytes all = {text.data, (size_t)(body.data + body.size - text.data)};
    return bytes_text_len(text) == text.size && bytes_text_len(all) < all.size;
}

/* A device's major number has a byte or two, its minor number leaves bytes at zero, and where that number is
 * a size that build-ids have (8, 16, 20), they would have to begin with three zeros. */
static bool is_device(const struct perfdata_mmap2 *m, bool asked) {
    const uint8_t *id = m->build_id;
    if (m->build_id_size > sizeof m->build_id || m->reserved_1 || m->reserved_2)
        return true;
    return !asked && m->build_id_size < sizeof m->build_id && !id[1] && !id[2] && !id[3];
}

void perfdata_mmap2_settle(struct perfdata_mmap2 *m, bool asked, bool swap) {
    if (!m->has_build_id || !is_device(m, asked))
        return;
    uint8_t first[4] = {m->build_id_size, m->reserved_1, 0, 0};
    m->has_build_id = false;
    m->maj = bytes_load32(first, swap);
    /* The half word was swapped as one: its bytes stand where they stood. */
    m->maj |= swap ? (uint32_t)m->reserved_2 : (uint32_t)m->reserved_2 << 16;
    m->min = bytes_load32(m->build_id, swap);
    m->ino = bytes_load64(m->build_id + 4, swap);
    m->ino_generation = bytes_load64(m->build_id + 12, swap);
    m->build_id_size = 0;
    memset(m->build_id, 0, sizeof m->build_id);
}

/* What the record's own event tells of it. */
static void settle(struct perfdata_record *r, const struct perfdata_plan *plan, bool swap) {
    if (!plan || r->type != PERFDATA_RECORD_MMAP2 || !r->mmap2.has_build_id)
        return;
    perfdata_mmap2_settle(&r->mmap2, plan->build_ids, swap);
    if (!r->mmap2.has_build_id)
        r->misc &= (uint16_t)~PERFDATA_MISC_MMAP_BUILD_ID;
}

/* All else is zero. */
static void begin(const struct perfdata_raw *raw, struct perfdata_record *out) {
    memset(out, 0, sizeof *out);
    out->type = raw->type;
    out->misc = raw->misc;
    out->size = raw->size;
}

/* The records that most others are, as their rows have them. All fields are there. */

static void take_mmap2(const uint8_t *p, struct bytes text, bool by_build_id, bool swap,
                       struct perfdata_mmap2 *m) {
    *m = (struct perfdata_mmap2){.pid = bytes_load32(p, swap),
                                 .tid = bytes_load32(p + 4, swap),
                                 .addr = bytes_load64(p + 8, swap),
                                 .len = bytes_load64(p + 16, swap),
                                 .pgoff = bytes_load64(p + 24, swap),
                                 .has_build_id = by_build_id,
                                 .prot = bytes_load32(p + 56, swap),
                                 .flags = bytes_load32(p + 60, swap),
                                 .filename = text};
    if (by_build_id) {
        m->build_id_size = p[32];
        m->reserved_1 = p[33];
        m->reserved_2 = bytes_load16(p + 34, swap);
        memcpy(m->build_id, p + 36, sizeof m->build_id);
    } else {
        m->maj = bytes_load32(p + 32, swap);
        m->min = bytes_load32(p + 36, swap);
        m->ino = bytes_load64(p + 40, swap);
        m->ino_generation = bytes_load64(p + 48, swap);
    }
}

static void take_task(const uint8_t *p, bool swap, struct perfdata_task *t) {
    *t = (struct perfdata_task){bytes_load32(p, swap), bytes_load32(p + 4, swap), bytes_load32(p + 8, swap),
                                bytes_load32(p + 12, swap), bytes_load64(p + 16, swap)};
}

/* The bytes of a record's fields before its text or its end; 0 of what is not decoded quickly. */
static size_t quick_bytes(uint32_t type) {
    switch (type) {
    case PERFDATA_RECORD_MMAP2:
        return 64;
    case PERFDATA_RECORD_COMM:
        return 8;
    case PERFDATA_RECORD_FORK:
    case PERFDATA_RECORD_EXIT:
        return 24;
    default:
        return 0;
    }
}

/* False: another record, or one whose fields, NUL and sample_id are not all where they are to be. */
static bool decode_quickly(const struct perfdata_raw *raw, const struct perfdata_plan *plan, bool swap,
                           struct perfdata_record *out) {
    const uint8_t *p = raw->body.data;
    const size_t fixed = quick_bytes(raw->type), id = plan ? plan->tail_size : 0;
    if (!fixed || !id || raw->body.size < fixed + id)
        return false;
    struct bytes rest = {p + fixed, raw->body.size - id - fixed};
    const bool task = raw->type == PERFDATA_RECORD_FORK || raw->type == PERFDATA_RECORD_EXIT;
    if (!task && (!rest.size || rest.data[rest.size - 1]))
        return false;
    out->type = raw->type;
    out->misc = raw->misc;
    out->size = raw->size;
    out->tail = task ? rest : (struct bytes){rest.data + rest.size, 0};
    perfdata_sample_id_decode(plan, raw->body, &out->id);
    if (task) {
        take_task(p, swap, &out->task);
    } else if (raw->type == PERFDATA_RECORD_COMM) {
        out->comm = (struct perfdata_comm){bytes_load32(p, swap), bytes_load32(p + 4, swap), rest};
    } else {
        take_mmap2(p, rest, raw->misc & PERFDATA_MISC_MMAP_BUILD_ID, swap, &out->mmap2);
        settle(out, plan, swap);
    }
    return true;
}

bool perfdata_record_decode(const struct perfdata_raw *raw, const struct perfdata_plan *plan, bool swap,
                            struct perfdata_record *out, const char **reason) {
    if (decode_quickly(raw, plan, swap, out))
        return true;
    const struct record_row *row = record_row(raw->type);
    const struct record_field *last = NULL; /* that is no number */
    if (!row)
        row = &RECORD_ROW_OPAQUE;
    size_t tail = plan && raw->type < PERFDATA_RECORD_USER_START && raw->type != PERFDATA_RECORD_SAMPLE
                      ? plan->tail_size
                      : 0;
    if (tail && raw->body.size >= row->min_body + tail) {
        struct bytes b = {raw->body.data, raw->body.size - tail};
        begin(raw, out);
        if (!take_fields(row, b, plan, swap, out, &last) && !text_runs_on(last, out, raw->body)) {
            perfdata_sample_id_decode(plan, raw->body, &out->id);
            settle(out, plan, swap);
            return true;
        }
    }
    begin(raw, out);
    const char *why = take_fields(row, raw->body, plan, swap, out, &last);
    if (why && reason)
        *reason = why;
    if (!why)
        settle(out, plan, swap);
    return !why;
}

/* Encoding. */

static void put_uint(struct writer *w, uint64_t v, unsigned width) {
    if (width == 1)
        writer_u8(w, (uint8_t)v);
    else if (width == 2)
        writer_u16(w, (uint16_t)v);
    else if (width == 4)
        writer_u32(w, (uint32_t)v);
    else
        writer_u64(w, v);
}

static void put_list(struct writer *w, const struct perfdata_u64s *list) {
    for (uint64_t i = 0; i < list->count; i++)
        writer_u64(w, perfdata_u64_at(list, i));
}

static void put_field(struct writer *w, const struct record_field *f, const struct perfdata_record *rec) {
    const void *from = peek(rec, f->member);
    switch ((enum record_kind)f->kind) {
    case RECORD_UINT:
        put_uint(w, load(rec, f->member, f->arg), f->arg);
        break;
    case RECORD_ARRAY:
        writer_put(w, from, f->arg);
        break;
    case RECORD_TEXT:
    case RECORD_REST:
    case RECORD_TEXT_MAX:
    case RECORD_COUNTED:
        writer_bytes_put(w, *(const struct bytes *)from);
        break;
    case RECORD_LIST:
    case RECORD_LIST_IF:
    case RECORD_LIST_REST:
        put_list(w, from);
        break;
    case RECORD_READ:
        perfdata_read_encode(from, w);
        break;
    case RECORD_ATTR:
        perfdata_attr_encode(from, w);
        break;
    case RECORD_LEFT:
    case RECORD_IF_MISC:
    case RECORD_IF_LEFT:
    case RECORD_IF_AT_LEAST:
    case RECORD_WHEN:
    case RECORD_UNLESS:
    case RECORD_END:
        break;
    }
}

void perfdata_record_encode(const struct perfdata_record *rec, const struct perfdata_plan *plan,
                            struct writer *w) {
    const struct record_row *row = record_row(rec->type);
    if (!row)
        row = &RECORD_ROW_OPAQUE;
    size_t start = w->size;
    uint16_t misc = rec->misc;
    writer_u32(w,
               rec->type == PERFDATA_RECORD_KMOD_SEC_MAP ? (uint32_t)PERFDATA_RECORD_COMPRESSED2 : rec->type);
    writer_u32(w, 0);
    for (const struct record_field *f = row->fields; f->kind != RECORD_END; f += 1 + skipped(f, rec)) {
        if (f->kind == RECORD_IF_MISC)
            misc = (uint16_t)((misc & ~(1u << f->arg)) | (unsigned)flag(rec, f->member) << f->arg);
        put_field(w, f, rec);
    }
    writer_bytes_put(w, rec->tail);
    if (plan && rec->id.have)
        perfdata_sample_id_encode(plan, &rec->id, w);
    if (!writer_ok(w))
        return;
    uint64_t size = w->size - start;
    if (rec->type >= PERFDATA_RECORD_SIMPLEPERF_START && rec->type < PERFDATA_RECORD_SIMPLEPERF_END)
        misc = (uint16_t)(size >> 16);
    writer_patch16(w, start + 4, misc);
    writer_patch16(w, start + 6, (uint16_t)size);
    if (perfdata_record_size(rec->type, misc, (uint16_t)size) != size)
        w->failed = true;
}

/* Describing. */

struct describer {
    perfdata_describe_fn *fn;
    void *ctx;
};

static void tell_number(const struct describer *d, const char *name, enum perfdata_value_kind kind,
                        uint64_t v) {
    d->fn(d->ctx, &(struct perfdata_value){.name = name, .kind = kind, .number = v});
}

static void tell_decimal(const struct describer *d, const char *name, uint64_t v) {
    tell_number(d, name, PERFDATA_VALUE_DECIMAL, v);
}

static void tell_bytes(const struct describer *d, const char *name, struct bytes b, bool text) {
    if (text)
        b.size = bytes_text_len(b);
    d->fn(d->ctx, &(struct perfdata_value){
                      .name = name, .kind = text ? PERFDATA_VALUE_TEXT : PERFDATA_VALUE_BYTES, .bytes = b});
}

static void tell_list(const struct describer *d, const struct record_field *f,
                      const struct perfdata_u64s *l) {
    for (uint64_t i = 0; i < l->count; i++)
        d->fn(d->ctx, &(struct perfdata_value){.name = f->name,
                                               .kind = f->show,
                                               .number = perfdata_u64_at(l, i),
                                               .index = i,
                                               .count = l->count});
}

static void tell_read(const struct describer *d, const struct perfdata_read *r) {
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        tell_decimal(d, "time_enabled", r->time_enabled);
    if (r->format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        tell_decimal(d, "time_running", r->time_running);
    for (uint64_t i = 0; i < r->count; i++) {
        struct perfdata_read_value v = perfdata_read_at(r, i);
        struct perfdata_value value = {.name = "value",
                                       .kind = PERFDATA_VALUE_DECIMAL,
                                       .number = v.value,
                                       .index = i,
                                       .count = r->count};
        d->fn(d->ctx, &value);
        value.name = "id";
        value.number = v.id;
        if (r->format & PERFDATA_FORMAT_ID)
            d->fn(d->ctx, &value);
        value.name = "lost";
        value.number = v.lost;
        if (r->format & PERFDATA_FORMAT_LOST)
            d->fn(d->ctx, &value);
    }
}

static void tell_attr(const struct describer *d, const struct perfdata_attr *a) {
    tell_decimal(d, "attr.type", a->type);
    tell_decimal(d, "attr.size", a->size);
    tell_number(d, "attr.config", PERFDATA_VALUE_HEX, a->config);
    tell_decimal(d, "attr.sample_period", a->sample_period);
    tell_number(d, "attr.sample_type", PERFDATA_VALUE_HEX, a->sample_type);
    tell_number(d, "attr.read_format", PERFDATA_VALUE_HEX, a->read_format);
    tell_number(d, "attr.flags", PERFDATA_VALUE_HEX, a->flags);
}

static void tell_field(const struct describer *d, const struct record_field *f,
                       const struct perfdata_record *rec) {
    const void *from = peek(rec, f->member);
    switch ((enum record_kind)f->kind) {
    case RECORD_UINT: {
        uint64_t v = load(rec, f->member, f->arg);
        bool narrow = f->show == PERFDATA_VALUE_SIGNED && f->arg == 4;
        tell_number(d, f->name, f->show, narrow ? (uint64_t)(int32_t)v : v);
        break;
    }
    case RECORD_ARRAY:
        tell_bytes(d, f->name, (struct bytes){from, f->arg}, false);
        break;
    case RECORD_TEXT:
    case RECORD_TEXT_MAX:
        tell_bytes(d, f->name, *(const struct bytes *)from, true);
        break;
    case RECORD_REST:
    case RECORD_COUNTED:
        tell_bytes(d, f->name, *(const struct bytes *)from, false);
        break;
    case RECORD_LIST:
    case RECORD_LIST_IF:
    case RECORD_LIST_REST:
        tell_list(d, f, from);
        break;
    case RECORD_READ:
        tell_read(d, from);
        break;
    case RECORD_ATTR:
        tell_attr(d, from);
        break;
    case RECORD_LEFT:
        tell_number(d, f->name, f->show, load(rec, f->member, 8));
        break;
    case RECORD_IF_MISC:
    case RECORD_IF_LEFT:
    case RECORD_IF_AT_LEAST:
    case RECORD_WHEN:
    case RECORD_UNLESS:
    case RECORD_END:
        break;
    }
}

static void tell_sample_id(const struct describer *d, const struct perfdata_sample_id *id) {
    if (id->have & PERFDATA_SAMPLE_TID) {
        tell_decimal(d, "sample_id.pid", id->pid);
        tell_decimal(d, "sample_id.tid", id->tid);
    }
    if (id->have & PERFDATA_SAMPLE_TIME)
        tell_decimal(d, "sample_id.time", id->time);
    if (id->have & PERFDATA_SAMPLE_ID)
        tell_decimal(d, "sample_id.id", id->id);
    if (id->have & PERFDATA_SAMPLE_STREAM_ID)
        tell_decimal(d, "sample_id.stream_id", id->stream_id);
    if (id->have & PERFDATA_SAMPLE_CPU)
        tell_decimal(d, "sample_id.cpu", id->cpu);
    if (id->have & PERFDATA_SAMPLE_IDENTIFIER)
        tell_decimal(d, "sample_id.identifier", id->identifier);
}

void perfdata_record_describe(const struct perfdata_record *rec, perfdata_describe_fn *fn, void *ctx) {
    const struct record_row *row = record_row(rec->type);
    const struct describer d = {fn, ctx};
    if (!row)
        row = &RECORD_ROW_OPAQUE;
    for (const struct record_field *f = row->fields; f->kind != RECORD_END; f += 1 + skipped(f, rec))
        tell_field(&d, f, rec);
    if (rec->tail.size)
        tell_bytes(&d, "tail", rec->tail, false);
    tell_sample_id(&d, &rec->id);
}

/* What is known of a type. */

const char *perfdata_record_name(uint32_t type) {
    const struct record_row *row = record_row(type);
    return row ? row->name : NULL;
}

bool perfdata_record_known(uint32_t type) {
    return record_row(type) != NULL;
}

uint32_t perfdata_record_min_body(uint32_t type) {
    const struct record_row *row = record_row(type);
    return row ? row->min_body : 0;
}

bool perfdata_record_payload_size(const struct perfdata_raw *raw, bool swap, uint64_t *out) {
    struct cursor c = cursor_make(raw->body, swap);
    *out = 0;
    if (raw->type == PERFDATA_RECORD_AUXTRACE)
        *out = cursor_u64(&c);
    else if (raw->type == PERFDATA_RECORD_HEADER_TRACING_DATA) {
        uint64_t size = cursor_u32(&c);
        if (cursor_left(&c) < size)
            *out = (size + 7) & ~7ull;
    }
    return cursor_ok(&c);
}

/* A text of that length, its NUL included, without it. */
static bool text_at(struct bytes b, size_t at, size_t len, struct bytes *out) {
    if (!len || at > b.size || len > b.size - at || b.data[at + len - 1] != 0)
        return false;
    *out = (struct bytes){b.data + at, len - 1};
    return len > 1 && !memchr(out->data, 0, out->size);
}

bool perfdata_kmod_names(const struct perfdata_kmod_sec_map *m, struct bytes *section, struct bytes *file) {
    return text_at(m->names, 0, m->section_len, section) &&
           (text_at(m->names, m->section_len, m->file_len, file) ||
            text_at(m->names, (size_t)m->section_len + 1, m->file_len, file));
}

bool perfdata_is_kmod_sec_map(struct bytes body, bool swap) {
    struct cursor c = cursor_make(body, swap);
    struct perfdata_kmod_sec_map m = {.pid = cursor_u32(&c), .reserved = cursor_u32(&c)};
    struct bytes section, file;
    m.start = cursor_u64(&c);
    m.len = cursor_u64(&c);
    m.pgoff = cursor_u64(&c);
    m.section_len = cursor_u16(&c);
    m.file_len = cursor_u16(&c);
    m.names = cursor_bytes(&c, cursor_left(&c));
    return cursor_ok(&c) && m.start + m.len >= m.start && perfdata_kmod_names(&m, &section, &file) &&
           section.data[0] == '.' && (file.data[0] == '/' || file.data[0] == '[');
}
