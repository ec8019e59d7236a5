/* SPDX-License-Identifier: Apache-2.0 */
#include "view/json_convert.h"

#include <stdio.h>
#include <time.h>

#include "format/perfdata/feature.h"

/* A line break and `depth` tabs. */
static void line(struct out *o, unsigned depth) {
    out_char(o, '\n');
    out_fill(o, '\t', depth);
}

static void quoted(struct out *o, const char *p, size_t n) {
    out_char(o, '"');
    out_json(o, p, n);
    out_char(o, '"');
}

static void key(struct out *o, unsigned depth, const char *name) {
    line(o, depth);
    quoted(o, name, strlen(name));
    out_str(o, ": ");
}

static void text(struct out *o, struct bytes b) {
    quoted(o, (const char *)b.data, bytes_text_len(b));
}

/* ---- the header ---- */

enum { HEADER_DEPTH = 2 };

struct header_text {
    const char *key;
    uint32_t feature;
    bool optional; /* left out when it is not there; else empty */
};

/* A feature that is a text, as a member. */
static void header_text(struct out *o, const struct perfdata_header *h, const struct header_text *t,
                        struct arena *arena) {
    struct perfdata_feature_value v;
    bool have = perfdata_feature_get(h, t->feature, arena, &v);
    if (!have && t->optional)
        return;
    out_char(o, ',');
    key(o, HEADER_DEPTH, t->key);
    text(o, have ? v.text : (struct bytes){NULL, 0});
}

static void header_number(struct out *o, const char *name, uint64_t v) {
    out_char(o, ',');
    key(o, HEADER_DEPTH, name);
    out_dec(o, v, 0);
}

static void header_cmdline(struct out *o, const struct perfdata_header *h, struct arena *arena) {
    struct perfdata_feature_value v;
    out_char(o, ',');
    key(o, HEADER_DEPTH, "cmdline");
    out_char(o, '[');
    if (perfdata_feature_get(h, PERFDATA_FEATURE_CMDLINE, arena, &v)) {
        for (uint32_t i = 0; i < v.cmdline.count; i++) {
            out_str(o, i ? "," : "");
            line(o, HEADER_DEPTH + 1);
            text(o, v.cmdline.items[i]);
        }
    }
    line(o, HEADER_DEPTH);
    out_char(o, ']');
}

static void header_captured(struct out *o, int64_t captured_s) {
    time_t seconds = (time_t)captured_s;
    struct tm tm;
    char date[64] = "";
    if (gmtime_r(&seconds, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    out_char(o, ',');
    key(o, HEADER_DEPTH, "captured-on");
    quoted(o, date, strlen(date));
}

void json_convert_begin(struct json_convert *j, const struct perfdata_header *h, int64_t captured_s) {
    static const struct header_text before[] = {
        {"hostname", PERFDATA_FEATURE_HOSTNAME, false}, {"os-release", PERFDATA_FEATURE_OSRELEASE, false},
        {"arch", PERFDATA_FEATURE_ARCH, false},         {"cpu-desc", PERFDATA_FEATURE_CPUDESC, true},
        {"cpuid", PERFDATA_FEATURE_CPUID, false},
    };
    static const struct header_text version = {"perf-version", PERFDATA_FEATURE_VERSION, false};
    struct out *o = j->out;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    struct perfdata_feature_nr_cpus cpus = {0, 0};
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE;
    out_char(o, '{');
    key(o, 1, "linux-perf-json-version");
    out_str(o, "1,");
    key(o, 1, "headers");
    out_char(o, '{');
    key(o, HEADER_DEPTH, "header-version");
    out_char(o, '1');
    header_captured(o, captured_s);
    header_number(o, "data-offset", pipe ? 0 : h->data.offset);
    header_number(o, "data-size", pipe ? 0 : h->data.size);
    header_number(o, "feat-offset", pipe ? 0 : h->data.offset + h->data.size);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        header_text(o, h, &before[i], &arena);
    if (perfdata_feature_get(h, PERFDATA_FEATURE_NRCPUS, &arena, &v))
        cpus = v.nr_cpus;
    header_number(o, "nrcpus-online", cpus.online);
    header_number(o, "nrcpus-avail", cpus.available);
    if (perfdata_feature_get(h, PERFDATA_FEATURE_CLOCK_DATA, &arena, &v)) {
        header_number(o, "clockid", v.clock_data.clockid);
        header_number(o, "clock-time", v.clock_data.clock_ns);
        header_number(o, "real-time", v.clock_data.wall_ns);
    }
    header_text(o, h, &version, &arena);
    header_cmdline(o, h, &arena);
    arena_fini(&arena);
    line(o, 1);
    out_str(o, "},");
    key(o, 1, "samples");
    out_char(o, '[');
}

/* ---- samples ---- */

enum { SAMPLE_DEPTH = 3 };

static void signed_member(struct out *o, const char *name, int64_t v) {
    out_char(o, ',');
    key(o, SAMPLE_DEPTH, name);
    out_int(o, v, 0);
}

/* A frame's member that is a text. */
static void frame_text(struct out *o, const char *name, const char *value) {
    out_char(o, ',');
    key(o, SAMPLE_DEPTH + 2, name);
    quoted(o, value, strlen(value));
}

static void frame(struct json_convert *j, struct resolve_sample_frame *f) {
    struct out *o = j->out;
    line(o, SAMPLE_DEPTH + 1);
    out_char(o, '{');
    key(o, SAMPLE_DEPTH + 2, "ip");
    out_str(o, "\"0x");
    out_hex(o, f->address, 0);
    out_char(o, '"');
    const char *name = resolve_sample_name(j->frames, f, NULL);
    if (name)
        frame_text(o, "symbol", name);
    if (f->hit.image != MODEL_NONE)
        frame_text(o, "dso", model_image(j->model, f->hit.image)->short_name);
    line(o, SAMPLE_DEPTH + 1);
    out_char(o, '}');
}

/* Without a callchain there is one frame, the sample's own place. */
static void callchain(struct json_convert *j, const struct resolve_sample_at *at) {
    struct out *o = j->out;
    struct resolve_samples *r = j->frames;
    bool any = false;
    out_char(o, ',');
    key(o, SAMPLE_DEPTH, "callchain");
    out_char(o, '[');
    o->failed |= !(at->s->have & PERFDATA_SAMPLE_CALLCHAIN
                       ? resolve_sample_read(r, at)
                       : resolve_sample_read_address(r, at->cpumode, at->s->pid, at->when, at->s->ip));
    for (size_t i = 0; i < r->frames.count; i++) {
        if (r->frames.items[i].kind == RESOLVE_AT_NOTHING)
            continue;
        out_str(o, any ? "," : "");
        frame(j, &r->frames.items[i]);
        any = true;
    }
    line(o, SAMPLE_DEPTH);
    out_char(o, ']');
}

void json_convert_member(struct json_convert *j, const char *name, const char *value, size_t len) {
    /* A name that is there twice would hide the first in most readers. */
    static const char *const own[] = {"timestamp", "pid", "tid", "cpu", "comm", "callchain"};
    struct out *o = j->out;
    out_char(o, ',');
    line(o, SAMPLE_DEPTH);
    out_char(o, '"');
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(own[i], name))
            out_str(o, "trace.");
    out_json(o, name, strlen(name));
    out_str(o, "\": ");
    quoted(o, value, len);
}

void json_convert_sample(struct json_convert *j, const struct resolve_sample_at *at) {
    const struct perfdata_sample *s = at->s;
    struct out *o = j->out;
    bool has_tid = s->have & PERFDATA_SAMPLE_TID;
    out_str(o, j->samples++ ? "," : "");
    line(o, SAMPLE_DEPTH - 1);
    out_char(o, '{');
    key(o, SAMPLE_DEPTH, "timestamp");
    out_int(o, s->have & PERFDATA_SAMPLE_TIME ? (int64_t)s->time : -1, 0);
    signed_member(o, "pid", has_tid ? (int32_t)s->pid : -1);
    signed_member(o, "tid", has_tid ? (int32_t)s->tid : -1);
    if (s->have & PERFDATA_SAMPLE_CPU)
        signed_member(o, "cpu", (int32_t)s->cpu);
    const char *comm = has_tid ? model_comm(j->model, s->pid, s->tid, at->when, NULL) : NULL;
    char unnamed[24];
    if (!comm) {
        snprintf(unnamed, sizeof unnamed, ":%d", has_tid ? (int32_t)s->tid : -1);
        comm = unnamed;
    }
    out_char(o, ',');
    key(o, SAMPLE_DEPTH, "comm");
    quoted(o, comm, strlen(comm));
    callchain(j, at);
    if (j->trace && at->attr->type == PERFDATA_TYPE_TRACEPOINT && s->have & PERFDATA_SAMPLE_RAW)
        j->trace(j->trace_ctx, j, at->attr, s);
    line(o, SAMPLE_DEPTH - 1);
    out_char(o, '}');
}

void json_convert_end(struct json_convert *j) {
    line(j->out, 1);
    out_char(j->out, ']');
    line(j->out, 0);
    out_str(j->out, "}\n");
}
