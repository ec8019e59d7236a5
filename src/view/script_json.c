/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_json.h"

#include <string.h>

#include "base/writer.h"
#include "format/perfdata/feature.h"
#include "view/script_internal.h"
#include "view/script_record.h"

static void quoted(struct out *o, const char *p, size_t n) {
    out_char(o, '"');
    out_json(o, p, n);
    out_char(o, '"');
}

static void key(struct out *o, const char *name) {
    out_str(o, ",\"");
    out_str(o, name);
    out_str(o, "\":");
}

static void text(struct out *o, const char *name, const char *value) {
    key(o, name);
    quoted(o, value, strlen(value));
}

static void number(struct out *o, const char *name, uint64_t v) {
    key(o, name);
    out_dec(o, v, 0);
}

static void id(struct out *o, const char *name, uint32_t v) {
    key(o, name);
    out_int(o, (int32_t)v, 0);
}

/* Addresses and words of bits: many readers' numbers have no 64 bits. */
static void hex(struct out *o, const char *name, uint64_t v) {
    key(o, name);
    out_str(o, "\"0x");
    out_hex(o, v, 0);
    out_char(o, '"');
}

static void digits(struct out *o, const char *name, const uint8_t *p, size_t n) {
    key(o, name);
    out_char(o, '"');
    for (size_t i = 0; i < n; i++)
        out_hex0(o, p[i], 2);
    out_char(o, '"');
}

void script_json_text(struct script_json *j, const char *name, const char *value) {
    text(j->print->out, name, value);
}

void script_json_number(struct script_json *j, const char *name, uint64_t v) {
    number(j->print->out, name, v);
}

void script_json_id(struct script_json *j, const char *name, uint32_t v) {
    id(j->print->out, name, v);
}

void script_json_hex(struct script_json *j, const char *name, uint64_t v) {
    hex(j->print->out, name, v);
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
    struct out *o = j->print->out;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    out_str(o, "{\"type\":\"header\",\"format\":\"sonde-script\",\"version\":1");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!perfdata_feature_get(h, texts[i].feature, &arena, &v))
            continue;
        key(o, texts[i].name);
        quoted(o, (const char *)v.text.data, bytes_text_len(v.text));
    }
    arena_fini(&arena);
    if (j->scripting && j->tracing) {
        number(o, "big_endian", j->tracing->big_endian);
        number(o, "long_size", j->tracing->long_size);
    }
    out_str(o, "}\n");
}

/* struct perf_event_attr as in memory, for scripts that unpack it. */
static void attr_bytes(struct out *o, const struct perfdata_attr *attr) {
    struct writer w = {0};
    perfdata_attr_encode(attr, &w);
    if (!w.failed)
        digits(o, "attr", w.data, w.size);
    writer_fini(&w);
}

static void describe_event(struct script_json *j, size_t index) {
    const struct perfdata_event *e = &j->print->events->list.items[index];
    struct out *o = j->print->out;
    out_str(o, "{\"type\":\"event\"");
    number(o, "event", index);
    text(o, "name", e->name ? e->name : "unknown");
    number(o, "attr_type", e->attr.type);
    hex(o, "config", e->attr.config);
    number(o, "sample_period", e->attr.sample_period);
    hex(o, "sample_type", e->attr.sample_type);
    if (j->scripting)
        attr_bytes(o, &e->attr);
    const struct tracing_event *t = j->scripting && j->tracing && e->attr.type == PERFDATA_TYPE_TRACEPOINT
                                        ? tracing_data_find(j->tracing, e->attr.config)
                                        : NULL;
    if (t) {
        key(o, "system");
        quoted(o, (const char *)t->system.data, t->system.size);
        key(o, "tracepoint");
        quoted(o, (const char *)t->name.data, t->name.size);
        key(o, "tracepoint_format");
        quoted(o, (const char *)t->format.data, t->format.size);
    }
    out_str(o, "}\n");
}

/* ---- places ---- */

static const char *const binds[] = {"local", "global", "weak", "unique"};

static void symbol(struct script_json *j, const char *prefix, const struct model_hit *hit) {
    struct out *o = j->print->out;
    struct script_names *names = &j->print->names;
    uint64_t offset = 0;
    char name[32];
    const char *sym = script_names_symbol(names, hit, &offset);
    if (!sym)
        return;
    text(o, strcat(strcpy(name, prefix), "sym"), sym);
    number(o, strcat(strcpy(name, prefix), "symoff"), offset);
    if (!j->scripting)
        return;
    struct resolve_symbol s = script_names_symbol_id(names, hit);
    const struct symbol_table *table = resolve_names_table(names->names, s.image);
    number(o, strcat(strcpy(name, prefix), "start"), symbol_table_start(table, s.index));
    number(o, strcat(strcpy(name, prefix), "end"), symbol_table_end(table, s.index));
    text(o, strcat(strcpy(name, prefix), "bind"), binds[symbol_table_bind(table, s.index)]);
}

/* What is known of an address; each member's name starts with `prefix`. `doubt`: as SCRIPT_DOUBT. */
static void place_of(struct script_json *j, const char *prefix, const struct model_hit *hit, bool doubt) {
    struct out *o = j->print->out;
    const struct model *model = j->print->model;
    char name[32];
    if (hit->image == MODEL_NONE)
        return;
    symbol(j, prefix, hit);
    enum grade grade = script_names_grade(&j->print->names, hit);
    text(o, strcat(strcpy(name, prefix), "grade"),
         grade_name(doubt || resolve_locator_is_late(&j->print->names.locator, hit)
                        ? resolve_grade_doubted(grade)
                        : grade));
    const struct model_image *image = model_image(model, hit->image);
    text(o, strcat(strcpy(name, prefix), "dso"), model_image_dso(model, image));
    hex(o, strcat(strcpy(name, prefix), "dsoff"), hit->offset);
    if (!j->scripting)
        return;
    struct bytes build_id = model_image_build_id(model, image, NULL);
    if (build_id.size)
        digits(o, strcat(strcpy(name, prefix), "buildid"), build_id.data, build_id.size);
    if (hit->mapping != MODEL_NONE) {
        const struct model_mapping map = model_mapping(model, hit->mapping);
        number(o, strcat(strcpy(name, prefix), "map_start"), map.start);
        number(o, strcat(strcpy(name, prefix), "map_end"), map.last + 1);
        number(o, strcat(strcpy(name, prefix), "map_pgoff"), map.pgoff);
    }
}

static void place(struct script_json *j, const char *prefix, const struct model_hit *hit) {
    place_of(j, prefix, hit, false);
}

static void callchain(struct script_json *j, const struct script_sample *x) {
    struct script_print *p = j->print;
    struct resolve_samples *r = &p->samples;
    struct out *o = p->out;
    const struct resolve_sample_at at = {x->s, &p->events->list.items[x->event].attr,
                                         x->misc & PERFDATA_MISC_CPUMODE_MASK, x->when};
    bool any = false;
    key(o, "callchain");
    out_char(o, '[');
    o->failed |= !resolve_sample_read(r, &at);
    for (size_t i = 0; i < r->frames.count; i++) {
        struct resolve_sample_frame *f = &r->frames.items[i];
        if (f->kind == RESOLVE_AT_NOTHING)
            continue;
        out_str(o, any ? ",{\"ip\":\"0x" : "{\"ip\":\"0x");
        any = true;
        out_hex(o, f->address, 0);
        out_char(o, '"');
        resolve_sample_symbol(r, f); /* settles where it lies */
        place_of(j, "", &f->hit, f->ends_early);
        out_char(o, '}');
    }
    out_char(o, ']');
}

void script_json_branches(struct script_json *j, const struct script_sample *x) {
    struct out *o = j->print->out;
    if (!(x->s->have & PERFDATA_SAMPLE_BRANCH_STACK))
        return;
    key(o, "branches");
    out_char(o, '[');
    for (uint64_t i = 0; i < x->s->branch_count; i++) {
        struct perfdata_branch b = perfdata_branch_at(x->s, i);
        struct model_hit hit;
        out_str(o, i ? ",{\"from\":\"0x" : "{\"from\":\"0x");
        out_hex(o, b.from, 0);
        out_char(o, '"');
        hex(o, "to", b.to);
        script_print_locate_address(j->print, x, b.from, &hit);
        place(j, "from_", &hit);
        script_print_locate_address(j->print, x, b.to, &hit);
        place(j, "to_", &hit);
        if (b.mispred)
            out_str(o, ",\"mispredicted\":true");
        if (b.predicted)
            out_str(o, ",\"predicted\":true");
        if (b.in_tx)
            out_str(o, ",\"in_tx\":true");
        if (b.abort)
            out_str(o, ",\"abort\":true");
        number(o, "cycles", b.cycles);
        out_char(o, '}');
    }
    out_char(o, ']');
}

/* ---- samples ---- */

void script_json_regs(struct script_json *j, const char *name, const struct perfdata_regs *r) {
    struct out *o = j->print->out;
    if (!r->abi)
        return;
    key(o, name);
    out_char(o, '{');
    uint64_t mask = r->mask;
    for (uint64_t i = 0; mask && i < r->values.count; i++, mask &= mask - 1) {
        const char *reg = dump_regs_name(j->print->regs, (unsigned)__builtin_ctzll(mask));
        out_str(o, i ? ",\"" : "\"");
        out_json(o, reg, strlen(reg));
        out_str(o, "\":\"0x");
        out_hex(o, perfdata_u64_at(&r->values, i), 0);
        out_char(o, '"');
    }
    out_char(o, '}');
}

static void readings(struct out *o, const struct perfdata_sample *s) {
    key(o, "read");
    out_char(o, '[');
    for (uint64_t i = 0; i < s->read.count; i++) {
        struct perfdata_read_value v = perfdata_read_at(&s->read, i);
        out_str(o, i ? ",{\"value\":" : "{\"value\":");
        out_dec(o, v.value, 0);
        number(o, "id", v.id);
        out_char(o, '}');
    }
    out_char(o, ']');
    if (s->read.format & PERFDATA_FORMAT_TOTAL_TIME_ENABLED)
        number(o, "time_enabled", s->read.time_enabled);
    if (s->read.format & PERFDATA_FORMAT_TOTAL_TIME_RUNNING)
        number(o, "time_running", s->read.time_running);
}

void script_json_field(struct script_json *j, const char *name, const char *value, size_t len) {
    struct out *o = j->print->out;
    out_str(o, j->any_field ? ",\"" : "\"");
    j->any_field = true;
    out_json(o, name, strlen(name));
    out_str(o, "\":");
    quoted(o, value, len);
}

void script_json_ip(struct script_json *j, const struct script_sample *x) {
    struct model_hit hit;
    hex(j->print->out, "ip", x->s->ip);
    script_place_find(j->print, x, x->misc & PERFDATA_MISC_CPUMODE_MASK, x->s->ip, &hit);
    place(j, "", &hit);
}

void script_json_addr(struct script_json *j, const struct script_sample *x) {
    struct model_hit hit;
    hex(j->print->out, "addr", x->s->addr);
    if (!script_print_addr_named(&j->print->events->list.items[x->event].attr))
        return;
    script_print_locate_address(j->print, x, x->s->addr, &hit);
    place(j, "addr_", &hit);
}

/* A tracepoint's fields, or the bytes of all others. */
void script_json_raw(struct script_json *j, const struct script_sample *x) {
    const struct perfdata_attr *attr = &j->print->events->list.items[x->event].attr;
    struct out *o = j->print->out;
    if (j->scripting || attr->type != PERFDATA_TYPE_TRACEPOINT || !j->fields) {
        digits(o, "raw", x->s->raw.data, x->s->raw.size);
        return;
    }
    key(o, "fields");
    out_char(o, '{');
    j->any_field = false;
    j->fields(j->fields_ctx, j, attr, x->s);
    out_char(o, '}');
}

/* What -F has no field for. */
static void other_values(struct script_json *j, const struct perfdata_sample *s) {
    struct out *o = j->print->out;
    if (s->have & PERFDATA_SAMPLE_IDENTIFIER)
        number(o, "identifier", s->identifier);
    if (s->have & PERFDATA_SAMPLE_ID)
        number(o, "id", s->id);
    if (s->have & PERFDATA_SAMPLE_STREAM_ID)
        number(o, "stream_id", s->stream_id);
    if (s->have & PERFDATA_SAMPLE_TRANSACTION)
        hex(o, "transaction", s->transaction);
    if (s->have & PERFDATA_SAMPLE_READ)
        readings(o, s);
}

void script_json_sample(struct script_json *j, const struct script_sample *x) {
    const struct script_field *field;
    struct out *o = j->print->out;
    while (j->described_events < j->print->events->list.count)
        describe_event(j, j->described_events++);
    out_str(o, "{\"type\":\"sample\"");
    for (size_t i = 0; (field = script_field_at(i)); i++)
        if (field->json && (!field->needs || x->s->have & field->needs))
            field->json(j, x);
    other_values(j, x->s);
    if (x->s->have & PERFDATA_SAMPLE_CALLCHAIN && j->print->options.chains)
        callchain(j, x);
    out_str(o, "}\n");
}

static void context_switch(struct out *o, const struct perfdata_record *rec) {
    bool out = rec->misc & PERFDATA_MISC_SWITCH_OUT;
    out_str(o, out ? ",\"switch\":{\"out\":true" : ",\"switch\":{\"out\":false");
    out_str(o, out && rec->misc & PERFDATA_MISC_SWITCH_OUT_PREEMPT ? ",\"preempted\":true"
                                                                   : ",\"preempted\":false");
    if (rec->type == PERFDATA_RECORD_SWITCH_CPU_WIDE) {
        id(o, "other_pid", rec->switch_cpu_wide.next_prev_pid);
        id(o, "other_tid", rec->switch_cpu_wide.next_prev_tid);
    }
    out_char(o, '}');
}

void script_json_record(struct script_json *j, const struct perfdata_record *rec, struct model_when when) {
    struct out *o = j->print->out, line;
    if (!out_init(&line, NULL, NULL))
        return;
    j->print->out = &line;
    script_record_text(j->print, rec);
    j->print->out = o;
    out_str(o, "{\"type\":\"record\"");
    number(o, "record", rec->type);
    if (rec->id.have & PERFDATA_SAMPLE_TIME)
        number(o, "time", rec->id.time);
    if (rec->id.have & PERFDATA_SAMPLE_TID) {
        id(o, "pid", rec->id.pid);
        id(o, "tid", rec->id.tid);
        const char *comm = model_comm(j->print->model, rec->id.pid, rec->id.tid, when, NULL);
        if (comm)
            text(o, "comm", comm);
    }
    if (rec->id.have & PERFDATA_SAMPLE_CPU)
        id(o, "cpu", rec->id.cpu);
    if (rec->type == PERFDATA_RECORD_SWITCH || rec->type == PERFDATA_RECORD_SWITCH_CPU_WIDE)
        context_switch(o, rec);
    key(o, "text");
    quoted(o, line.buf, line.len && line.buf[line.len - 1] == '\n' ? line.len - 1 : line.len);
    out_str(o, "}\n");
    out_fini(&line);
}
