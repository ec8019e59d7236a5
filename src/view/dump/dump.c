/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/dump_internal.h"

#include "view/dump/dump_regs.h"

enum { HEX_COLUMNS = 16 };

void dump_init(struct dump *d, const struct perfdata_events *events, const struct perfdata_header *header,
               const struct perfdata_namer *namer, const struct model *model, const char *name) {
    *d = (struct dump){.events = events, .header = header, .namer = namer, .model = model, .name = name};
    d->regs = dump_regs_find(0, NULL);
    /* perf counts a pipe's bytes from after its header. */
    d->offset_base = header->container == PERFDATA_CONTAINER_PIPE ? header->data.offset : 0;
}

void dump_fini(struct dump *d) {
    readings_fini(&d->readings);
}

static bool script_handles(uint32_t type) {
    static const uint32_t types[] = {
        PERFDATA_RECORD_THROTTLE,       PERFDATA_RECORD_UNTHROTTLE, PERFDATA_RECORD_CALLCHAIN_DEFERRED,
        PERFDATA_RECORD_AUXTRACE_ERROR, PERFDATA_RECORD_THREAD_MAP, PERFDATA_RECORD_CPU_MAP,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i] == type)
            return true;
    return false;
}

void dump_unhandled(const struct dump_line *l) {
    if (l->dump->for_script && script_handles(l->raw->raw.type))
        return;
    out_str(l->out, ": unhandled!\n");
}

const char *dump_type_name(uint32_t type) {
    static const char header[] = "HEADER_";
    const char *name = perfdata_record_name(type);
    return name && strncmp(name, header, sizeof header - 1) == 0 ? name + sizeof header - 1 : name;
}

const char *dump_event_name(const struct dump_line *l) {
    return l->event && l->event->name ? l->event->name : "unknown";
}

static bool bytes_is(struct bytes b, const char *text) {
    size_t n = strlen(text);
    return bytes_text_len(b) == n && memcmp(b.data, text, n) == 0;
}

/* --- the hex block --- */

/* ".  0010:  01 02 ...  ascii" of up to 16 bytes, both columns filled up with spaces. */
static void hex_row(struct out *o, const uint8_t *p, size_t n, uint32_t at) {
    static const char digit[] = "0123456789abcdef";
    char *line = out_room(o, 80), *t = line;
    memcpy(t, ".  ", 3);
    t += 3;
    for (int shift = at > 0xffff ? 28 : 12; shift >= 0; shift -= 4)
        *t++ = digit[at >> shift & 15];
    memcpy(t, ": ", 2);
    t += 2;
    char *ascii = t + 3 * HEX_COLUMNS + 2;
    memset(t, ' ', 4 * HEX_COLUMNS + 2);
    for (size_t i = 0; i < n; i++, t += 3) {
        t[1] = digit[p[i] >> 4];
        t[2] = digit[p[i] & 15];
        ascii[i] = p[i] >= 0x20 && p[i] < 0x7f ? (char)p[i] : '.';
    }
    ascii[HEX_COLUMNS] = '\n';
    o->len += (size_t)(ascii + HEX_COLUMNS + 1 - line);
}

static void hex_block(const struct dump *d, const struct stream_record *r, struct out *o) {
    /* The header is part of the block: it lies before the body. */
    const uint8_t *p = r->raw.body.data - PERFDATA_HEADER_SIZE;
    size_t n = r->raw.body.size + PERFDATA_HEADER_SIZE;
    out_char(o, '\n');
    record_text_hex(o, r->file_offset - d->offset_base);
    out_char(o, '@');
    out_str(o, d->name);
    out_mem(o, " [", 2);
    record_text_hex(o, n);
    out_str(o, "]: event: ");
    out_dec(o, r->raw.type, 0);
    out_str(o, "\n.\n. ... raw event: size ");
    out_dec(o, n, 0);
    out_str(o, " bytes\n");
    for (size_t at = 0; at < n; at += HEX_COLUMNS)
        hex_row(o, p + at, n - at < HEX_COLUMNS ? n - at : HEX_COLUMNS, (uint32_t)at);
    out_char(o, '\n');
}

/* --- the decoded line --- */

static uint32_t number(struct bytes text) {
    uint32_t n = 0;
    for (size_t i = 0; i < text.size && text.data[i] >= '0' && text.data[i] <= '9' && n < 1000000; i++)
        n = 10 * n + (text.data[i] - '0');
    return n;
}

/* How many branch counters there are and how wide: capabilities of the core PMU, which is listed alone or
 * first. */
static void branch_counters(struct dump *d, const struct perfdata_pairs *caps) {
    for (uint32_t i = 0; i < caps->count; i++) {
        const struct perfdata_pair *p = &caps->items[i];
        if (bytes_is(p->name, "branch_counter_nr"))
            d->counter_nr = number(p->value);
        else if (bytes_is(p->name, "branch_counter_width"))
            d->counter_bits = number(p->value);
    }
}

static void look_at_features(struct dump *d) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    d->regs = dump_regs_of(d->header);
    if (perfdata_feature_get(d->header, PERFDATA_FEATURE_CPU_PMU_CAPS, &arena, &v))
        branch_counters(d, &v.pairs);
    if (perfdata_feature_get(d->header, PERFDATA_FEATURE_PMU_CAPS, &arena, &v) && v.pmu_caps.count)
        branch_counters(d, &v.pmu_caps.items[0].caps);
    arena_fini(&arena);
}

/* Finds again what follows from the events and features, if there are more of them than before. */
static void refresh(struct dump *d) {
    size_t events = d->events->list.count;
    if (d->header->container == PERFDATA_CONTAINER_PIPE && d->attrs_seen < events)
        events = d->attrs_seen;
    if (events != d->known_events) {
        for (size_t i = d->known_events; i < events; i++)
            d->any_sample_type |= d->events->list.items[i].attr.sample_type;
        d->known_events = events;
        d->sample_id_all = d->events->list.items[0].attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL;
    }
    if (d->header->features.count != d->known_features) {
        d->known_features = d->header->features.count;
        look_at_features(d);
    }
}

/*
 * "CPU TIME OFFSET [SIZE]: PERF_RECORD_": the first two when any event's samples hold them, as 0 for user
 * records, which have neither; "-1 -1" for records that could have had them, had the producer been asked.
 */
static void prefix(const struct dump_line *l, const struct perfdata_sample_id *id) {
    const struct dump *d = l->dump;
    struct out *o = l->out;
    uint32_t type = l->raw->raw.type;
    if (!d->known_events || (type != PERFDATA_RECORD_SAMPLE && !d->sample_id_all)) {
        out_str(o, "-1 -1 ");
    } else {
        bool user = type >= PERFDATA_RECORD_USER_START;
        if (d->any_sample_type & PERFDATA_SAMPLE_CPU) {
            out_dec(o, user ? 0 : id->have & PERFDATA_SAMPLE_CPU ? id->cpu : UINT32_MAX, 0);
            out_char(o, ' ');
        }
        if (d->any_sample_type & PERFDATA_SAMPLE_TIME) {
            out_dec(o, user ? 0 : id->have & PERFDATA_SAMPLE_TIME ? id->time : UINT64_MAX, 0);
            out_char(o, ' ');
        }
    }
    record_text_hex(o, l->raw->file_offset - d->offset_base);
    out_mem(o, " [", 2);
    record_text_hex(o, l->raw->raw.body.size + PERFDATA_HEADER_SIZE);
    out_str(o, "]: PERF_RECORD_");
    const char *name = l->raw->legacy ? dump_legacy_name(type) : dump_type_name(type);
    if (name && l->raw->legacy)
        out_str(o, "LEGACY_");
    if (name)
        out_str(o, name);
    else
        out_printf(o, "UNKNOWN type %u size %u\n", type, l->raw->raw.size);
}

static const char *undecodable(const struct dump_line *l, const char *reason) {
    out_printf(l->out, ": cannot be decoded: %s\n", reason);
    return reason;
}

static const char *sample(const struct dump_line *l) {
    const struct perfdata_events *events = l->dump->events;
    const struct perfdata_event *e = l->event;
    struct perfdata_sample s;
    /* Of a sample with an unknown id only the layout may be known, if all events share it. */
    if (!e && events->list.count && events->same_layout)
        e = &events->list.items[0];
    if (!e) {
        prefix(l, &(struct perfdata_sample_id){0});
        out_str(l->out, ": its id belongs to no event\n");
        return NULL;
    }
    bool good = perfdata_sample_decode(&e->plan, l->raw->raw.body, PERFDATA_SAMPLE_KNOWN, &s);
    prefix(l, &(struct perfdata_sample_id){.have = s.have, .cpu = s.cpu, .time = s.time});
    if (!good)
        return undecodable(l, "it ends before its fields do");
    struct dump_line of_event = *l;
    of_event.event = e;
    dump_sample(&of_event, &s);
    return NULL;
}

const char *dump_record(struct dump *d, const struct stream_record *r, struct out *out) {
    uint32_t type = r->raw.type;
    bool user = type >= PERFDATA_RECORD_USER_START;
    struct perfdata_record rec;
    struct dump_line l = {.dump = d, .raw = r, .out = out, .rec = &rec};
    if (!user && r->event < d->events->list.count)
        l.event = &d->events->list.items[r->event];
    refresh(d);
    hex_block(d, r, out);
    if (type == PERFDATA_RECORD_SAMPLE)
        return sample(&l);
    if (r->legacy) {
        prefix(&l, &(struct perfdata_sample_id){0});
        dump_legacy(&l);
        return NULL;
    }
    const char *reason = NULL;
    bool good =
        perfdata_record_decode(&r->raw, l.event ? &l.event->plan : NULL, d->events->swap, &rec, &reason);
    prefix(&l, good ? &rec.id : &(struct perfdata_sample_id){0});
    if (!good)
        return undecodable(&l, reason);
    d->attrs_seen += type == PERFDATA_RECORD_HEADER_ATTR;
    dump_fields_fn *fields = user ? dump_user_fields(type) : dump_kernel_fields(type);
    if (fields)
        fields(&l);
    else if (dump_type_name(type))
        dump_unhandled(&l);
    return NULL;
}
