/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/json_convert.h"

#include <stdio.h>
#include <time.h>

#include "format/perfdata/header/feature.h"

static void bytes(struct json *j, const char *key, struct bytes b) {
    json_bytes(j, key, (const char *)b.data, bytes_text_len(b));
}

/* ---- the header ---- */

struct header_text {
    const char *key;
    uint32_t feature;
    bool optional; /* left out when it is not there; else empty */
};

/* A feature that is a text, as a member. */
static void header_text(struct json *o, const struct perfdata_header *h, const struct header_text *t,
                        struct arena *arena) {
    struct perfdata_feature_value v;
    bool have = perfdata_feature_get(h, t->feature, arena, &v);
    if (have || !t->optional)
        bytes(o, t->key, have ? v.text : (struct bytes){NULL, 0});
}

static void header_cmdline(struct json *o, const struct perfdata_header *h, struct arena *arena) {
    struct perfdata_feature_value v;
    json_open(o, "cmdline", '[');
    if (perfdata_feature_get(h, PERFDATA_FEATURE_CMDLINE, arena, &v))
        for (uint32_t i = 0; i < v.cmdline.count; i++)
            bytes(o, NULL, v.cmdline.items[i]);
    json_close(o, ']');
}

static void header_captured(struct json *o, int64_t captured_s) {
    time_t seconds = (time_t)captured_s;
    struct tm tm;
    char date[64] = "";
    if (gmtime_r(&seconds, &tm))
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_text(o, "captured-on", date);
}

void json_convert_begin(struct json_convert *j, const struct perfdata_header *h, int64_t captured_s) {
    static const struct header_text before[] = {
        {"hostname", PERFDATA_FEATURE_HOSTNAME, false}, {"os-release", PERFDATA_FEATURE_OSRELEASE, false},
        {"arch", PERFDATA_FEATURE_ARCH, false},         {"cpu-desc", PERFDATA_FEATURE_CPUDESC, true},
        {"cpuid", PERFDATA_FEATURE_CPUID, false},
    };
    static const struct header_text version = {"perf-version", PERFDATA_FEATURE_VERSION, false};
    struct json *o = &j->json;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    struct perfdata_feature_nr_cpus cpus = {0, 0};
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE;
    *o = (struct json){.out = j->out, .tabs = true};
    json_open(o, NULL, '{');
    json_number(o, "linux-perf-json-version", 1);
    json_open(o, "headers", '{');
    json_number(o, "header-version", 1);
    header_captured(o, captured_s);
    json_number(o, "data-offset", pipe ? 0 : h->data.offset);
    json_number(o, "data-size", pipe ? 0 : h->data.size);
    json_number(o, "feat-offset", pipe ? 0 : h->data.offset + h->data.size);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        header_text(o, h, &before[i], &arena);
    if (perfdata_feature_get(h, PERFDATA_FEATURE_NRCPUS, &arena, &v))
        cpus = v.nr_cpus;
    json_number(o, "nrcpus-online", cpus.online);
    json_number(o, "nrcpus-avail", cpus.available);
    if (perfdata_feature_get(h, PERFDATA_FEATURE_CLOCK_DATA, &arena, &v)) {
        json_number(o, "clockid", v.clock_data.clockid);
        json_number(o, "clock-time", v.clock_data.clock_ns);
        json_number(o, "real-time", v.clock_data.wall_ns);
    }
    header_text(o, h, &version, &arena);
    header_cmdline(o, h, &arena);
    arena_fini(&arena);
    json_close(o, '}');
    json_open(o, "samples", '[');
}

/* ---- samples ---- */

static void frame(struct json_convert *j, struct resolve_sample_frame *f) {
    struct json *o = &j->json;
    json_open(o, NULL, '{');
    json_hex(o, "ip", f->address);
    const char *name = resolve_sample_name(j->frames, f, NULL);
    if (name)
        json_text(o, "symbol", name);
    if (f->hit.image != MODEL_NONE)
        json_text(o, "dso", model_image(j->model, f->hit.image)->short_name);
    json_close(o, '}');
}

/* Without a callchain there is one frame, the sample's own place. */
static void callchain(struct json_convert *j, const struct resolve_sample_at *at) {
    struct resolve_samples *r = j->frames;
    json_open(&j->json, "callchain", '[');
    j->out->failed |= !(at->s->have & PERFDATA_SAMPLE_CALLCHAIN
                            ? resolve_sample_read(r, at)
                            : resolve_sample_read_address(r, at->cpumode, at->s->pid, at->when, at->s->ip));
    for (size_t i = 0; i < r->frames.count; i++)
        if (r->frames.items[i].kind != RESOLVE_AT_NOTHING)
            frame(j, &r->frames.items[i]);
    json_close(&j->json, ']');
}

void json_convert_member(struct json_convert *j, const char *name, const char *value, size_t len) {
    /* A name that is there twice would hide the first in most readers. */
    static const char *const own[][2] = {{"timestamp", "trace.timestamp"},
                                         {"pid", "trace.pid"},
                                         {"tid", "trace.tid"},
                                         {"cpu", "trace.cpu"},
                                         {"comm", "trace.comm"},
                                         {"callchain", "trace.callchain"}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(own[i][0], name)) {
            name = own[i][1];
            break;
        }
    json_bytes(&j->json, name, value, len);
}

void json_convert_sample(struct json_convert *j, const struct resolve_sample_at *at) {
    const struct perfdata_sample *s = at->s;
    struct json *o = &j->json;
    bool has_tid = s->have & PERFDATA_SAMPLE_TID;
    j->samples++;
    json_open(o, NULL, '{');
    json_int(o, "timestamp", s->have & PERFDATA_SAMPLE_TIME ? (int64_t)s->time : -1);
    json_int(o, "pid", has_tid ? (int32_t)s->pid : -1);
    json_int(o, "tid", has_tid ? (int32_t)s->tid : -1);
    if (s->have & PERFDATA_SAMPLE_CPU)
        json_int(o, "cpu", (int32_t)s->cpu);
    const char *comm = has_tid ? model_comm(j->model, s->pid, s->tid, at->when, NULL) : NULL;
    char unnamed[24];
    if (!comm) {
        snprintf(unnamed, sizeof unnamed, ":%d", has_tid ? (int32_t)s->tid : -1);
        comm = unnamed;
    }
    json_text(o, "comm", comm);
    callchain(j, at);
    if (j->trace && at->attr->type == PERFDATA_TYPE_TRACEPOINT && s->have & PERFDATA_SAMPLE_RAW)
        j->trace(j->trace_ctx, j, at->attr, s);
    json_close(o, '}');
}

void json_convert_end(struct json_convert *j) {
    json_close(&j->json, ']');
    json_close(&j->json, '}');
}
