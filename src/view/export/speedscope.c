/* SPDX-License-Identifier: Apache-2.0 */
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): a profile for each event,
 * whose samples are the different stacks with the command as their outermost frame.
 */
#include <stdlib.h>

#include "base/text/json.h"
#include "view/export/export.h"
#include "view/export/row_order.h"
#include "view/export/visible_text.h"

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct json json;
    struct out text;     /* scratch */
    uint32_t *comms;     /* by text: number of the command's frame, + 1 */
    uint32_t frames;     /* written so far */
    VEC(uint32_t) stack; /* scratch */
    bool failed;
};

static void put_text(struct writing *w, const char *key, uint32_t text) {
    w->text.len = 0;
    visible_plain(stacks_str(w->s, text), &w->text);
    json_bytes(&w->json, key, w->text.buf, w->text.len);
}

static void put_frames(struct writing *w) {
    json_open(&w->json, "shared", '{');
    json_open(&w->json, "frames", '[');
    for (size_t i = 0; i < w->s->frames.count; i++) {
        const struct stacks_frame *f = &w->s->frames.items[i];
        json_open(&w->json, NULL, '{');
        put_text(w, "name", f->name);
        if (f->file)
            put_text(w, "file", f->file);
        else if (f->image != STACKS_NONE)
            put_text(w, "file", w->s->images.items[f->image].name);
        if (f->line)
            json_number(&w->json, "line", f->line);
        json_close(&w->json, '}');
    }
    w->frames = (uint32_t)w->s->frames.count;
    for (size_t i = 0; i < w->s->rows.count; i++) {
        uint32_t comm = w->s->rows.items[i].comm;
        if (w->comms[comm])
            continue;
        w->comms[comm] = ++w->frames;
        json_open(&w->json, NULL, '{');
        put_text(w, "name", comm);
        json_close(&w->json, '}');
    }
    json_close(&w->json, ']');
    json_close(&w->json, '}');
}

static void put_stack(struct writing *w, const struct stacks_row *row) {
    w->stack.count = 0;
    for (uint32_t node = row->node; node != STACKS_NONE; node = w->s->nodes.items[node].caller) {
        uint32_t *frame = vec_push(&w->stack);
        if (frame)
            *frame = w->s->nodes.items[node].frame;
        w->failed |= !frame;
    }
    json_open(&w->json, NULL, '[');
    json_number(&w->json, NULL, w->comms[row->comm] - 1);
    for (size_t i = w->stack.count; i-- > 0;)
        json_number(&w->json, NULL, w->stack.items[i]);
    json_close(&w->json, ']');
}

static void put_profile(struct writing *w, uint32_t event) {
    const struct stacks_event *e = &w->s->events.items[event];
    size_t n = 0;
    uint32_t *rows = row_order(w->s, event, &n);
    bool ns = !w->o->samples && !strcmp(stacks_str(w->s, e->unit), "ns");
    w->failed |= !rows;
    json_open(&w->json, NULL, '{');
    json_text(&w->json, "type", "sampled");
    put_text(w, "name", e->name);
    json_text(&w->json, "unit", ns ? "nanoseconds" : "none");
    json_number(&w->json, "startValue", 0);
    json_number(&w->json, "endValue", export_weight(w->o, e->samples, e->period));
    json_open(&w->json, "samples", '[');
    for (size_t i = 0; rows && i < n; i++)
        put_stack(w, &w->s->rows.items[rows[i]]);
    json_close(&w->json, ']');
    json_open(&w->json, "weights", '[');
    for (size_t i = 0; rows && i < n; i++) {
        const struct stacks_row *row = &w->s->rows.items[rows[i]];
        json_number(&w->json, NULL, export_weight(w->o, row->samples, row->period));
    }
    json_close(&w->json, ']');
    json_close(&w->json, '}');
    free(rows);
}

bool export_speedscope(const struct stacks *s, const struct export_options *o, struct out *out,
                       struct err *err) {
    struct writing w = {
        .s = s, .o = o, .json = {.out = out}, .comms = calloc(s->texts.entries.count + 1, sizeof *w.comms)};
    bool ok = w.comms && out_init(&w.text, NULL, NULL);
    if (ok) {
        json_open(&w.json, NULL, '{');
        json_text(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
        json_text(&w.json, "exporter", "sonde");
        if (s->recordings.count)
            put_text(&w, "name", s->recordings.items[0].path);
        put_frames(&w);
        json_open(&w.json, "profiles", '[');
        for (uint32_t i = 0; i < s->events.count; i++)
            if (export_wants(o, i))
                put_profile(&w, i);
        json_close(&w.json, ']');
        json_close(&w.json, '}');
        ok = !w.failed && !w.text.failed;
    }
    out_fini(&w.text);
    vec_fini(&w.stack);
    free(w.comms);
    return ok || err_memory(err, "speedscope");
}
