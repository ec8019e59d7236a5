/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that is known of the stacks, as docs/STACKS_JSON.md describes. */
#include "base/text/json.h"

#include "view/export/export.h"

static void put_number(struct json *j, const char *key, uint32_t id) {
    if (id == STACKS_NONE)
        json_null(j, key);
    else
        json_number(j, key, id);
}

static void put_recordings(struct json *j, const struct stacks *s) {
    json_open(j, "recordings", '[');
    for (size_t i = 0; i < s->recordings.count; i++) {
        const struct stacks_recording *r = &s->recordings.items[i];
        json_open(j, NULL, '[');
        json_number(j, NULL, r->path);
        json_number(j, NULL, r->host);
        json_number(j, NULL, r->os);
        json_number(j, NULL, r->arch);
        json_number(j, NULL, r->cpu);
        json_number(j, NULL, r->cmdline);
        json_number(j, NULL, r->start_ns);
        json_number(j, NULL, r->duration_ns);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void put_events(struct json *j, const struct stacks *s) {
    json_open(j, "events", '[');
    for (size_t i = 0; i < s->events.count; i++) {
        const struct stacks_event *e = &s->events.items[i];
        json_open(j, NULL, '[');
        json_number(j, NULL, e->name);
        json_number(j, NULL, e->unit);
        json_number(j, NULL, e->recording);
        json_number(j, NULL, e->lost);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void put_frames(struct json *j, const struct stacks *s) {
    json_open(j, "images", '[');
    for (size_t i = 0; i < s->images.count; i++) {
        const struct stacks_image *x = &s->images.items[i];
        json_open(j, NULL, '[');
        json_number(j, NULL, x->name);
        json_number(j, NULL, x->path);
        json_number(j, NULL, x->build_id);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_open(j, "frames", '[');
    for (size_t i = 0; i < s->frames.count; i++) {
        const struct stacks_frame *x = &s->frames.items[i];
        json_open(j, NULL, '[');
        json_number(j, NULL, x->name);
        put_number(j, NULL, x->image);
        json_number(j, NULL, x->address);
        json_number(j, NULL, x->file);
        json_number(j, NULL, x->line);
        json_number(j, NULL, x->why);
        json_number(j, NULL, x->level);
        json_number(j, NULL, x->grade);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void put_rows(struct json *j, const struct stacks *s, const struct export_options *o) {
    json_open(j, "nodes", '[');
    for (size_t i = 0; i < s->nodes.count; i++) {
        json_open(j, NULL, '[');
        put_number(j, NULL, s->nodes.items[i].caller);
        json_number(j, NULL, s->nodes.items[i].frame);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_open(j, "rows", '[');
    for (size_t i = 0; i < s->rows.count; i++) {
        const struct stacks_row *x = &s->rows.items[i];
        bool wanted = export_wants(o, x->event); /* rows keep their numbers */
        json_open(j, NULL, '[');
        json_number(j, NULL, x->event);
        json_number(j, NULL, x->comm);
        json_number(j, NULL, x->node);
        json_number(j, NULL, wanted ? x->samples : 0);
        json_number(j, NULL, wanted ? x->period : 0);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void put_samples(struct json *j, const struct stacks *s, const struct export_options *o) {
    json_open(j, "threads", '[');
    for (size_t i = 0; i < s->threads.count; i++) {
        const struct stacks_thread *x = &s->threads.items[i];
        json_open(j, NULL, '[');
        json_number(j, NULL, x->pid);
        json_number(j, NULL, x->tid);
        json_number(j, NULL, x->comm);
        json_close(j, ']');
    }
    json_close(j, ']');
    json_open(j, "samples", '[');
    for (size_t i = 0; i < s->moments.count; i++) {
        const struct stacks_moment *x = &s->moments.items[i];
        if (!export_wants(o, s->rows.items[x->row].event))
            continue;
        json_open(j, NULL, '[');
        json_number(j, NULL, x->time_ns);
        json_number(j, NULL, x->period);
        json_number(j, NULL, x->row);
        json_number(j, NULL, x->thread);
        put_number(j, NULL, x->cpu);
        json_close(j, ']');
    }
    json_close(j, ']');
}

bool export_json(const struct stacks *s, const struct export_options *o, struct out *out, struct err *err) {
    struct json j = {.out = out};
    (void)err;
    json_open(&j, NULL, '{');
    json_text(&j, "format", STACKS_JSON_FORMAT);
    json_number(&j, "version", STACKS_JSON_VERSION);
    json_open(&j, "texts", '[');
    for (uint32_t i = 0; i < s->texts.entries.count; i++)
        json_bytes(&j, NULL, strpool_text(&s->texts, i), strpool_len(&s->texts, i));
    json_close(&j, ']');
    json_number(&j, "title", s->title);
    json_open(&j, "notes", '[');
    for (size_t i = 0; i < s->notes.count; i++)
        json_number(&j, NULL, s->notes.items[i]);
    json_close(&j, ']');
    put_recordings(&j, s);
    put_events(&j, s);
    put_frames(&j, s);
    put_rows(&j, s, o);
    put_samples(&j, s, o);
    json_close(&j, '}');
    return true;
}
