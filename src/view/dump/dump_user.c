/* SPDX-License-Identifier: Apache-2.0 */
#include "view/dump/dump_internal.h"

#include "base/cursor.h"
#include "format/perfdata/cpu_map.h"
#include "view/lists/attr_text.h"
#include "view/lists/header_text.h"

#include <inttypes.h>

static void dump_finished_round(const struct dump_line *l) {
    out_char(l->out, '\n');
}

/* perf ends no line here: the next block's empty line does. */
static void dump_name_only(const struct dump_line *l) {
    (void)l;
}

static void dump_id_index(const struct dump_line *l) {
    const struct perfdata_id_index *x = &l->rec->id_index;
    struct out *o = l->out;
    out_printf(o, " nr: %" PRIu64 "\n", x->nr);
    for (uint64_t i = 0; i < x->nr; i++) {
        out_printf(o, " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64 "  tid: %" PRId64,
                   perfdata_u64_at(&x->entries, 4 * i), perfdata_u64_at(&x->entries, 4 * i + 1),
                   (int64_t)perfdata_u64_at(&x->entries, 4 * i + 2),
                   (int64_t)perfdata_u64_at(&x->entries, 4 * i + 3));
        if (x->guests.count)
            out_printf(o, "  machine_pid: %" PRId64 "  vcpu: %" PRId64,
                       (int64_t)perfdata_u64_at(&x->guests, 2 * i),
                       (int64_t)perfdata_u64_at(&x->guests, 2 * i + 1));
        out_char(o, '\n');
    }
}

static void dump_auxtrace(const struct dump_line *l) {
    const struct perfdata_auxtrace *a = &l->rec->auxtrace;
    struct out *o = l->out;
    out_str(o, " size: ");
    record_text_hex(o, a->size);
    out_str(o, "  offset: ");
    record_text_hex(o, a->offset);
    out_str(o, "  ref: ");
    record_text_hex(o, a->reference);
    out_printf(o, "  idx: %u  tid: %" PRId32 "  cpu: %" PRId32 "\n", a->idx, (int32_t)a->tid,
               (int32_t)a->cpu);
}

static void dump_thread_map(const struct dump_line *l) {
    const struct perfdata_thread_map *t = &l->rec->thread_map;
    struct cursor c = cursor_make(t->entries, l->dump->events->swap);
    out_printf(l->out, " nr: %" PRIu64 " thread%s: ", t->nr, t->nr > 1 ? "s" : "");
    for (uint64_t i = 0; i < t->nr && cursor_left(&c); i++) {
        out_printf(l->out, "%s%" PRId32, i ? ", " : "", (int32_t)cursor_u64(&c));
        cursor_take(&c, 16);
    }
    out_char(l->out, '\n');
    dump_unhandled(l);
}

static void cpu_range(struct out *o, bool first, uint32_t from, uint32_t to) {
    if (!first)
        out_char(o, ',');
    if (from == PERFDATA_CPU_ANY)
        out_mem(o, "-1", 2);
    else
        out_dec(o, from, 0);
    if (to != from) {
        out_char(o, '-');
        out_dec(o, to, 0);
    }
}

/* "0-3,8": runs of consecutive CPUs. False when the map is of no known form. */
static bool cpu_list(const struct dump_line *l, const struct perfdata_cpu_map *map) {
    struct perfdata_cpu_iter it;
    uint32_t cpu, from = 0, to = 0;
    bool first = true, open = false;
    if (!perfdata_cpu_iter_init(&it, map, l->dump->events->swap))
        return false;
    while (perfdata_cpu_iter_next(&it, &cpu)) {
        if (open && cpu == to + 1 && cpu != PERFDATA_CPU_ANY) {
            to = cpu;
            continue;
        }
        if (open) {
            cpu_range(l->out, first, from, to);
            first = false;
        }
        open = true;
        from = to = cpu;
    }
    if (open)
        cpu_range(l->out, first, from, to);
    return true;
}

static void dump_cpu_map(const struct dump_line *l) {
    out_mem(l->out, ": ", 2);
    if (!cpu_list(l, &l->rec->cpu_map))
        out_str(l->out, "failed to get cpumap from event");
    out_char(l->out, '\n');
    dump_unhandled(l);
}

static void dump_stat_config(const struct dump_line *l) {
    /* Tags 0, 1, 2 of a STAT_CONFIG, learned from perf stat record. */
    uint64_t values[3] = {0};
    const struct perfdata_stat_config *s = &l->rec->stat_config;
    for (uint64_t i = 0; i < s->nr; i++) {
        uint64_t tag = perfdata_u64_at(&s->pairs, 2 * i);
        if (tag < 3)
            values[tag] = perfdata_u64_at(&s->pairs, 2 * i + 1);
    }
    out_printf(l->out, "\n... aggr_mode %" PRId32 "\n... scale     %" PRIu64 "\n... interval  %" PRIu64 "\n",
               (int32_t)values[0], values[2], values[1]);
    dump_unhandled(l);
}

static void dump_stat(const struct dump_line *l) {
    const struct perfdata_stat *s = &l->rec->stat;
    out_printf(l->out,
               "\n... id %" PRIu64 ", cpu %" PRId32 ", thread %" PRId32 "\n... value %" PRIu64
               ", enabled %" PRIu64 ", running %" PRIu64 "\n",
               s->id, (int32_t)s->cpu, (int32_t)s->thread, s->value, s->enabled, s->running);
    dump_unhandled(l);
}

static void dump_stat_round(const struct dump_line *l) {
    const struct perfdata_stat_round *s = &l->rec->stat_round;
    out_printf(l->out, "\n... time %" PRIu64 ", type %s\n", s->time,
               s->round_type == 1 ? "FINAL" : "INTERVAL");
    dump_unhandled(l);
}

static void dump_event_update(const struct dump_line *l) {
    const struct perfdata_event_update *u = &l->rec->event_update;
    struct out *o = l->out;
    struct perfdata_cpu_map cpus;
    out_printf(o, "\n... id:    %" PRIu64 "\n", u->id);
    switch (u->update_type) {
    case 0:
        out_str(o, "... unit:  ");
        record_text_string(o, u->data);
        break;
    case 1: {
        struct cursor c = cursor_make(u->data, l->dump->events->swap);
        uint64_t bits = cursor_u64(&c);
        double scale;
        memcpy(&scale, &bits, sizeof scale);
        out_printf(o, "... scale: %f", scale);
        break;
    }
    case 2:
        out_str(o, "... name:  ");
        record_text_string(o, u->data);
        break;
    case 3:
        out_str(o, "... ");
        if (!perfdata_cpu_map_decode(u->data, l->dump->events->swap, &cpus) || !cpu_list(l, &cpus))
            out_str(o, "failed to get cpumap from event");
        break;
    default:
        out_str(o, "... unknown type");
        break;
    }
    out_char(o, '\n');
}

static void dump_time_conv(const struct dump_line *l) {
    const struct perfdata_time_conv *t = &l->rec->time_conv;
    struct out *o = l->out;
    out_printf(o, "\n... Time Shift      %" PRIu64 "\n", t->time_shift);
    out_printf(o, "... Time Multiplier %" PRIu64 "\n", t->time_mult);
    out_printf(o, "... Time Zero       %" PRIu64 "\n", t->time_zero);
    if (t->has_cycles) {
        out_printf(o, "... Time Cycles     %" PRIu64 "\n", t->time_cycles);
        out_str(o, "... Time Mask       ");
        record_text_hex(o, t->time_mask);
        out_printf(o, "\n... Cap Time Zero   %d\n", t->cap_user_time_zero);
        out_printf(o, "... Cap Time Short  %d\n", t->cap_user_time_short);
    }
    dump_unhandled(l);
}

/* char program[512], u64 count, then count pairs of char key[64], char value[256]. */
static void dump_bpf_metadata(const struct dump_line *l) {
    enum { PROGRAM = 512, KEY = 64, VALUE = 256 };
    struct cursor c = cursor_make(l->rec->opaque.data, l->dump->events->swap);
    struct bytes program = cursor_bytes(&c, PROGRAM);
    uint64_t count = cursor_u64(&c);
    out_str(l->out, " prog ");
    record_text_string(l->out, program);
    out_char(l->out, '\n');
    for (uint64_t i = 0; i < count && cursor_left(&c) >= KEY + VALUE; i++) {
        struct bytes key = cursor_bytes(&c, KEY), value = cursor_bytes(&c, VALUE);
        out_printf(l->out, "  entry %" PRIu64 ": ", i);
        out_right(l->out, (const char *)key.data, bytes_text_len(key), 20);
        out_mem(l->out, " = ", 3);
        record_text_string(l->out, value);
        out_char(l->out, '\n');
    }
    dump_unhandled(l);
}

static void dump_header_attr(const struct dump_line *l) {
    static const struct attr_text_style style = {", ", " = "};
    out_str(l->out, ", ");
    attr_text_write(l->dump->namer, &l->rec->header_attr.attr, &style, l->out);
}

/* ", # hostname : tux": the feature's text comes from the header, which has taken it in. False: there is
 * none. */
static bool feature_text(const struct dump_line *l, uint64_t id) {
    struct out text;
    if (id >= PERFDATA_FEATURE_BITS || !out_init(&text, NULL, NULL))
        return false;
    bool any = header_text_feature(l->dump->header, l->dump->namer, (uint32_t)id, &text);
    if (any) {
        out_mem(l->out, ", ", 2);
        out_mem(l->out, text.buf, text.len);
    }
    out_fini(&text);
    return any;
}

static void dump_header_feature(const struct dump_line *l) {
    if (l->rec->header_feature.data.size)
        feature_text(l, l->rec->header_feature.id);
}

enum {
    LEGACY_SHIFT = 66, /* type 69 holds HOSTNAME (3), and so on */
};

const char *dump_legacy_name(uint32_t type) {
    return type > LEGACY_SHIFT ? perfdata_feature_name(type - LEGACY_SHIFT) : NULL;
}

void dump_legacy(const struct dump_line *l) {
    if (!feature_text(l, l->raw->raw.type - LEGACY_SHIFT))
        out_char(l->out, '\n');
}

dump_fields_fn *dump_user_fields(uint32_t type) {
#define ROW(name) [PERFDATA_RECORD_##name - PERFDATA_RECORD_USER_START]
    static dump_fields_fn *const rows[] = {
        ROW(HEADER_ATTR) = dump_header_attr,       ROW(HEADER_EVENT_TYPE) = dump_name_only,
        ROW(HEADER_TRACING_DATA) = dump_name_only, ROW(HEADER_BUILD_ID) = dump_name_only,
        ROW(FINISHED_ROUND) = dump_finished_round, ROW(ID_INDEX) = dump_id_index,
        ROW(AUXTRACE_INFO) = dump_auxtrace_info,   ROW(AUXTRACE) = dump_auxtrace,
        ROW(THREAD_MAP) = dump_thread_map,         ROW(CPU_MAP) = dump_cpu_map,
        ROW(STAT_CONFIG) = dump_stat_config,       ROW(STAT) = dump_stat,
        ROW(STAT_ROUND) = dump_stat_round,         ROW(EVENT_UPDATE) = dump_event_update,
        ROW(TIME_CONV) = dump_time_conv,           ROW(HEADER_FEATURE) = dump_header_feature,
        ROW(BPF_METADATA) = dump_bpf_metadata,
    };
#undef ROW
    uint32_t i = type - PERFDATA_RECORD_USER_START;
    return i < sizeof rows / sizeof *rows ? rows[i] : NULL;
}
