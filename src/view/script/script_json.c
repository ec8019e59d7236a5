/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_json.h"

#include <string.h>

#include "base/writer.h"
#include "format/perfdata/header/feature.h"
#include "view/script/script_internal.h"
#include "view/script/script_record.h"

/* Begins a line with what all have. */
static struct json *open_line(struct script_json *j, const char *type) {
    j->json.out = j->print->out;
    json_open(&j->json, NULL, '{');
    json_text(&j->json, "type", type);
    return &j->json;
}

/* ---- header and events ---- */

void script_json_header(struct script_json *j, const struct perfdata_header *h) {
    static const struct {
        const char *name;
        uint32_t feature;
    } texts[] = {
        {"hostname", PERFDATA_FEATURE_HOSTNAME},
        {"release", PERFDATA_FEATURE_OSRELEASE},
        {"arch", PERFDATA_FEATURE_ARCH},
        {"recorder", PERFDATA_FEATURE_VERSION},
    };
    struct json *o = open_line(j, "header");
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    json_text(o, "format", "sonde-script");
    json_number(o, "version", 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (perfdata_feature_get(h, texts[i].feature, &arena, &v))
            json_bytes(o, texts[i].name, (const char *)v.text.data, bytes_text_len(v.text));
    }
    arena_fini(&arena);
    if (j->scripting && j->tracing) {
        json_number(o, "big_endian", j->tracing->big_endian);
        json_number(o, "long_size", j->tracing->long_size);
    }
    json_close(o, '}');
}

/* Writes struct perf_event_attr as it is in memory, for scripts that unpack it. */
static void attr_bytes(struct json *o, const struct perfdata_attr *attr) {
    struct writer w = {0};
    perfdata_attr_encode(attr, &w);
    if (!w.failed)
        json_digits(o, "attr", w.data, w.size);
    writer_fini(&w);
}

static void describe_event(struct script_json *j, size_t index) {
    const struct perfdata_event *e = &j->print->events->list.items[index];
    struct json *o = open_line(j, "event");
    json_number(o, "event", index);
    json_text(o, "name", e->name ? e->name : "unknown");
    json_number(o, "attr_type", e->attr.type);
    json_hex(o, "config", e->attr.config);
    json_number(o, "sample_period", e->attr.sample_period);
    json_hex(o, "sample_type", e->attr.sample_type);
    if (j->scripting)
        attr_bytes(o, &e->attr);
    const struct tracing_event *t = j->scripting && j->tracing && e->attr.type == PERFDATA_TYPE_TRACEPOINT
                                        ? tracing_data_find(j->tracing, e->attr.config)
                                        : NULL;
    if (t) {
        json_bytes(o, "system", (const char *)t->system.data, t->system.size);
        json_bytes(o, "tracepoint", (const char *)t->name.data, t->name.size);
        json_bytes(o, "tracepoint_format", (const char *)t->format.data, t->format.size);
    }
    json_close(o, '}');
}

/* ---- places ---- */

static const char *const binds[] = {"local", "global", "weak", "unique"};

/* `inlined`: the name to show instead of the function's own; NULL: none. */
static void symbol(struct script_json *j, const char *prefix, const struct model_hit *hit,
                   const char *inlined) {
    struct json *o = &j->json;
    struct script_names *names = &j->print->names;
    uint64_t offset = 0;
    char name[32];
    const char *sym = script_names_symbol(names, hit, &offset);
    if (!sym)
        return;
    json_text(o, strcat(strcpy(name, prefix), "sym"), inlined ? inlined : sym);
    json_number(o, strcat(strcpy(name, prefix), "symoff"), offset);
    if (!j->scripting)
        return;
    struct resolve_symbol s = script_names_symbol_id(names, hit);
    const struct symbol_table *table = resolve_names_table(names->names, s.image);
    json_number(o, strcat(strcpy(name, prefix), "start"), symbol_table_start(table, s.index));
    json_number(o, strcat(strcpy(name, prefix), "end"), symbol_table_end(table, s.index));
    json_text(o, strcat(strcpy(name, prefix), "bind"), binds[symbol_table_bind(table, s.index)]);
}

/* Writes what is known of an address, in members whose names start with `prefix`. `doubt`: as SCRIPT_DOUBT;
 * `inlined`: as above. */
static void place_of(struct script_json *j, const char *prefix, const struct model_hit *hit, bool doubt,
                     const char *inlined) {
    struct json *o = &j->json;
    const struct model *model = j->print->model;
    char name[32];
    if (hit->image == MODEL_NONE)
        return;
    symbol(j, prefix, hit, inlined);
    enum grade grade = script_names_grade(&j->print->names, hit);
    json_text(o, strcat(strcpy(name, prefix), "grade"),
              grade_name(doubt || resolve_locator_is_late(&j->print->names.locator, hit)
                             ? resolve_grade_doubted(grade)
                             : grade));
    const struct model_image *image = model_image(model, hit->image);
    json_text(o, strcat(strcpy(name, prefix), "dso"), model_image_dso(model, image));
    json_hex(o, strcat(strcpy(name, prefix), "dsoff"), hit->offset);
    if (!j->scripting)
        return;
    struct bytes build_id = model_image_build_id(model, image, NULL);
    if (build_id.size)
        json_digits(o, strcat(strcpy(name, prefix), "buildid"), build_id.data, build_id.size);
    if (hit->mapping != MODEL_NONE) {
        const struct model_mapping map = model_mapping(model, hit->mapping);
        json_number(o, strcat(strcpy(name, prefix), "map_start"), map.start);
        json_number(o, strcat(strcpy(name, prefix), "map_end"), map.last + 1);
        json_number(o, strcat(strcpy(name, prefix), "map_pgoff"), map.pgoff);
    }
}

static void place(struct script_json *j, const char *prefix, const struct model_hit *hit) {
    place_of(j, prefix, hit, false, NULL);
}

static void put_frame(struct script_json *j, const struct resolve_sample_frame *f, const char *inlined) {
    struct json *o = &j->json;
    json_open(o, NULL, '{');
    json_hex(o, "ip", f->address);
    place_of(j, "", &f->hit, f->ends_early, inlined);
    if (inlined)
        json_bool(o, "inlined", true);
    json_close(o, '}');
}

/* Writes a frame, after the functions that are inlined there. */
static void put_frames(struct script_json *j, struct resolve_sample_frame *f) {
    enum { INLINES_MAX = 64 };
    struct object_inline inlined[INLINES_MAX];
    struct resolve_samples *r = &j->print->samples;
    bool named = resolve_sample_symbol(r, f).index != SYMBOL_NONE; /* settles its place */
    size_t n = named && j->print->names.inlines ? resolve_sample_inlined(r, f, inlined, INLINES_MAX) : 0;
    for (size_t i = 0; i + 1 < n; i++)
        put_frame(j, f, inlined[i].name);
    put_frame(j, f, NULL);
}

static void callchain(struct script_json *j, const struct script_sample *x) {
    struct script_print *p = j->print;
    struct resolve_samples *r = &p->samples;
    struct json *o = &j->json;
    const struct resolve_sample_at at = {x->s, &p->events->list.items[x->event].attr,
                                         x->misc & PERFDATA_MISC_CPUMODE_MASK, x->when};
    json_open(o, "callchain", '[');
    p->out->failed |= !resolve_sample_read(r, &at);
    for (size_t i = 0; i < r->frames.count; i++) {
        struct resolve_sample_frame *f = &r->frames.items[i];
        if (f->kind != RESOLVE_AT_NOTHING)
            put_frames(j, f);
    }
    json_close(o, ']');
}

void script_json_branches(struct script_json *j, const struct script_sample *x) {
    struct json *o = &j->json;
    if (!(x->s->have & PERFDATA_SAMPLE_BRANCH_STACK))
        return;
    json_open(o, "branches", '[');
    for (uint64_t i = 0; i < x->s->branch_count; i++) {
        struct perfdata_branch b = perfdata_branch_at(x->s, i);
        struct model_hit hit;
        json_open(o, NULL, '{');
        json_hex(o, "from", b.from);
        json_hex(o, "to", b.to);
        script_print_locate_address(j->print, x, b.from, &hit);
        place(j, "from_", &hit);
        script_print_locate_address(j->print, x, b.to, &hit);
        place(j, "to_", &hit);
        if (b.mispred)
            json_bool(o, "mispredicted", true);
        if (b.predicted)
            json_bool(o, "predicted", true);
        if (b.in_tx)
            json_bool(o, "in_tx", true);
        if (b.abort)
            json_bool(o, "abort", true);
        json_number(o, "cycles", b.cycles);
        json_close(o, '}');
    }
    json_close(o, ']');
}

/* ---- samples ---- */

void script_json_regs(struct script_json *j, const char *name, const struct perfdata_regs *r) {
    struct json *o = &j->json;
    if (!r->abi)
        return;
    json_open(o, name, '{');
    uint64_t mask = r->mask;
    for (uint64_t i = 0; mask && i < r->values.count; i++, mask &= mask - 1)
        json_hex(o, dump_regs_name(j->print->regs, (unsigned)__builtin_ctzll(mask)),
                 perfdata_u64_at(&r->values, i));
    json_close(o, '}');
}

static void readings(struct json *o, const struct perfdata_sample *s) {
    json_open(o, "read", '[');
    for (uint64_t i = 0; i < s->read.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&s->read, i);
        json_open(o, NULL, '{');
        json_number(o, "value", v.value);
        json_number(o, "id", v.id);
        json_close(o, '}');
    }
    json_close(o, ']');
    if (s->read.format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        json_number(o, "time_enabled", s->read.time_enabled);
    if (s->read.format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        json_number(o, "time_running", s->read.time_running);
}

void script_json_field(struct script_json *j, const char *name, const char *value, size_t len) {
    json_bytes(&j->json, name, value, len);
}

void script_json_ip(struct script_json *j, const struct script_sample *x) {
    struct model_hit hit;
    json_hex(&j->json, "ip", x->s->ip);
    script_place_find(j->print, x, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->ip, &hit);
    place(j, "", &hit);
}

void script_json_addr(struct script_json *j, const struct script_sample *x) {
    struct model_hit hit;
    json_hex(&j->json, "addr", x->s->addr);
    if (!script_print_addr_named(&j->print->events->list.items[x->event].attr))
        return;
    script_print_locate_address(j->print, x, x->s->addr, &hit);
    place(j, "addr_", &hit);
}

/* Writes a tracepoint's fields, or the bytes of other raw data. */
void script_json_raw(struct script_json *j, const struct script_sample *x) {
    const struct perfdata_attr *attr = &j->print->events->list.items[x->event].attr;
    struct json *o = &j->json;
    if (j->scripting || attr->type != PERFDATA_TYPE_TRACEPOINT || !j->fields) {
        json_digits(o, "raw", x->s->raw.data, x->s->raw.size);
        return;
    }
    json_open(o, "fields", '{');
    j->fields(j->fields_ctx, j, attr, x->s);
    json_close(o, '}');
}

/* Writes the values that -F has no field for. */
static void other_values(struct script_json *j, const struct perfdata_sample *s) {
    struct json *o = &j->json;
    if (s->have & PERFDATA_SAMPLE_IDENTIFIER)
        json_number(o, "identifier", s->identifier);
    if (s->have & PERFDATA_SAMPLE_ID)
        json_number(o, "id", s->id);
    if (s->have & PERFDATA_SAMPLE_STREAM_ID)
        json_number(o, "stream_id", s->stream_id);
    if (s->have & PERFDATA_SAMPLE_TRANSACTION)
        json_hex(o, "transaction", s->transaction);
    if (s->have & PERFDATA_SAMPLE_READ)
        readings(o, s);
}

void script_json_sample(struct script_json *j, const struct script_sample *x) {
    const struct script_field *field;
    while (j->described_events < j->print->events->list.count)
        describe_event(j, j->described_events++);
    struct json *o = open_line(j, "sample");
    for (size_t i = 0; (field = script_field_at(i)); i++)
        if (field->json && (!field->needs || x->s->have & field->needs))
            field->json(j, x);
    other_values(j, x->s);
    if (x->s->have & PERFDATA_SAMPLE_CALLCHAIN && j->print->options.chains)
        callchain(j, x);
    json_close(o, '}');
}

static void context_switch(struct json *o, const struct perfdata_record *rec) {
    bool out = rec->misc & PERFDATA_MISC_SWITCH_OUT;
    json_open(o, "switch", '{');
    json_bool(o, "out", out);
    json_bool(o, "preempted", out && rec->misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT);
    if (rec->type == PERFDATA_RECORD_SWITCH_CPU_WIDE) {
        json_int(o, "other_pid", (int32_t)rec->switch_cpu_wide.next_prev_pid);
        json_int(o, "other_tid", (int32_t)rec->switch_cpu_wide.next_prev_tid);
    }
    json_close(o, '}');
}

void script_json_record(struct script_json *j, const struct perfdata_record *rec, struct model_when when) {
    struct out *out = j->print->out, line;
    if (!out_init(&line, NULL, NULL))
        return;
    j->print->out = &line;
    script_record_text(j->print, rec);
    j->print->out = out;
    struct json *o = open_line(j, "record");
    json_number(o, "record", rec->type);
    if (rec->id.have & PERFDATA_SAMPLE_TIME)
        json_number(o, "time", rec->id.time);
    if (rec->id.have & PERFDATA_SAMPLE_TID) {
        json_int(o, "pid", (int32_t)rec->id.pid);
        json_int(o, "tid", (int32_t)rec->id.tid);
        const char *comm = model_comm(j->print->model, rec->id.pid, rec->id.tid, when, NULL);
        if (comm)
            json_text(o, "comm", comm);
    }
    if (rec->id.have & PERFDATA_SAMPLE_CPU)
        json_int(o, "cpu", (int32_t)rec->id.cpu);
    if (rec->type == PERFDATA_RECORD_SWITCH || rec->type == PERFDATA_RECORD_SWITCH_CPU_WIDE)
        context_switch(o, rec);
    json_bytes(o, "text", line.buf, line.len && line.buf[line.len - 1] == '\n' ? line.len - 1 : line.len);
    json_close(o, '}');
    out_fini(&line);
}
