/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile format of callgrind (https://valgrind.org/docs/manual/cl-format.html): costs by line, with all
 * events as columns. A "call" is a sample below it.
 */
#include <stdlib.h>

#include "view/export/call_costs.h"
#include "view/export/visible_text.h"

struct writing {
    const struct stacks *s;
    const struct export_options *o;
    struct out *out;
    struct call_costs costs;
    uint32_t *order;
    /* Names are written once, then by number. By text, by function, by image: 0: not yet. */
    uint32_t *file_ids, *function_ids, *object_ids, files, functions, objects;
    uint32_t file; /* that lines are of now */
};

/* Writes "(1) name", then "(1)". */
static void put_name(struct writing *w, const char *key, uint32_t *id, uint32_t *last, uint32_t text) {
    bool known = *id;
    if (!known)
        *id = ++*last;
    out_str(w->out, key);
    out_char(w->out, '(');
    out_dec(w->out, *id, 0);
    out_char(w->out, ')');
    if (!known) {
        out_char(w->out, ' ');
        visible_plain(text ? stacks_str(w->s, text) : "???", w->out); /* what callgrind calls what it lacks */
    }
    out_char(w->out, '\n');
}

static void put_file(struct writing *w, const char *key, uint32_t file) {
    put_name(w, key, &w->file_ids[file], &w->files, file);
}

static void put_object(struct writing *w, const char *key, uint32_t image) {
    const struct stacks_image *i = image >= CALL_COMMAND ? NULL : &w->s->images.items[image];
    put_name(w, key, &w->object_ids[i ? image + 1 : 0], &w->objects, !i ? 0 : i->path ? i->path : i->name);
}

static void put_function(struct writing *w, const char *key, uint32_t function) {
    put_name(w, key, &w->function_ids[function], &w->functions, w->costs.functions.items[function].name);
}

/* ---- costs ---- */

static uint64_t cost_of(const struct writing *w, uint32_t item, uint32_t event) {
    size_t at = (size_t)item * w->costs.events + event;
    return export_weight(w->o, w->costs.samples.items[at], w->costs.periods.items[at]);
}

static void put_costs(struct writing *w, uint32_t item) {
    out_dec(w->out, w->costs.list.items[item].line, 0);
    for (uint32_t i = 0; i < w->costs.events; i++) {
        if (!export_wants(w->o, i))
            continue;
        out_char(w->out, ' ');
        out_dec(w->out, cost_of(w, item, i), 0);
    }
    out_char(w->out, '\n');
}

static bool is_wanted(const struct writing *w, uint32_t item) {
    if (!w->o->only)
        return true;
    return w->costs.samples.items[(size_t)item * w->costs.events + w->o->event];
}

static void put_call(struct writing *w, uint32_t item) {
    uint32_t callee = w->costs.list.items[item].callee;
    const struct call_function *f = &w->costs.functions.items[callee];
    uint64_t samples = 0;
    for (uint32_t i = 0; i < w->costs.events; i++)
        if (export_wants(w->o, i))
            samples += w->costs.samples.items[(size_t)item * w->costs.events + i];
    put_object(w, "cob=", f->image);
    put_file(w, "cfi=", f->file);
    put_function(w, "cfn=", callee);
    out_str(w->out, "calls=");
    out_dec(w->out, samples, 0);
    out_char(w->out, ' ');
    out_dec(w->out, f->line, 0);
    out_char(w->out, '\n');
}

/* Opens a function: what follows is its own. */
static void enter(struct writing *w, uint32_t function) {
    const struct call_function *f = &w->costs.functions.items[function];
    out_char(w->out, '\n');
    put_object(w, "ob=", f->image);
    put_file(w, "fl=", f->file);
    put_function(w, "fn=", function);
    w->file = f->file;
}

static int by_function(const void *a, const void *b, void *ctx) {
    const struct call_cost *list = ctx, *x = &list[*(const uint32_t *)a], *y = &list[*(const uint32_t *)b];
    const uint32_t xs[] = {x->function, x->file, x->line, x->callee},
                   ys[] = {y->function, y->file, y->line, y->callee};
    for (unsigned i = 0; i < sizeof xs / sizeof *xs; i++)
        if (xs[i] != ys[i])
            return xs[i] < ys[i] ? -1 : 1;
    return 0;
}

static void put_functions(struct writing *w) {
    struct call_cost *list = w->costs.list.items;
    uint32_t last = STACKS_NONE;
    for (uint32_t i = 0; i < w->costs.list.count; i++)
        w->order[i] = i;
    qsort_r(w->order, w->costs.list.count, sizeof *w->order, by_function, list);
    for (size_t i = 0; i < w->costs.list.count; i++) {
        const struct call_cost *x = &list[w->order[i]];
        if (!is_wanted(w, w->order[i]))
            continue;
        if (x->function != last)
            enter(w, last = x->function);
        if (x->file != w->file) /* code of another file that is inlined here */
            put_file(w, x->file == w->costs.functions.items[last].file ? "fe=" : "fi=", w->file = x->file);
        if (x->callee != STACKS_NONE)
            put_call(w, w->order[i]);
        put_costs(w, w->order[i]);
    }
}

/* ---- what is true of the whole ---- */

static void put_event(struct writing *w, uint32_t event) {
    for (const char *p = stacks_str(w->s, w->s->events.items[event].name); *p; p++)
        out_char(w->out, (unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f ? '_' : *p);
}

static void put_head(struct writing *w) {
    char grades[128];
    const struct stacks_recording *r = w->s->recordings.count ? w->s->recordings.items : NULL;
    out_str(w->out, "# callgrind format\nversion: 1\ncreator: sonde\npositions: line\n");
    if (r && r->cmdline) {
        out_str(w->out, "cmd: ");
        visible_plain(stacks_str(w->s, r->cmdline), w->out);
        out_char(w->out, '\n');
    }
    for (size_t i = 0; i < w->s->notes.count; i++) {
        out_str(w->out, "desc: Note: ");
        visible_plain(stacks_str(w->s, w->s->notes.items[i]), w->out);
        out_char(w->out, '\n');
    }
    if (export_grades_text(w->s, w->o, grades, sizeof grades))
        out_printf(w->out, "desc: Grades: %s\n", grades);
    out_str(w->out, "events:");
    for (uint32_t i = 0; i < w->s->events.count; i++)
        if (export_wants(w->o, i)) {
            out_char(w->out, ' ');
            put_event(w, i);
        }
    out_char(w->out, '\n');
}

static void put_totals(struct writing *w) {
    out_str(w->out, "\ntotals:");
    for (uint32_t i = 0; i < w->s->events.count; i++)
        if (export_wants(w->o, i)) {
            out_char(w->out, ' ');
            out_dec(w->out, export_weight(w->o, w->s->events.items[i].samples, w->s->events.items[i].period),
                    0);
        }
    out_char(w->out, '\n');
}

bool export_callgrind(const struct stacks *s, const struct export_options *o, struct out *out,
                      struct err *err) {
    struct writing w = {.s = s, .o = o, .out = out};
    bool ok = call_costs_make(&w.costs, s, err);
    w.file_ids = calloc(s->texts.entries.count + 1, sizeof *w.file_ids);
    w.function_ids = calloc(w.costs.functions.count + 1, sizeof *w.function_ids);
    w.object_ids = calloc(s->images.count + 1, sizeof *w.object_ids);
    w.order = malloc((w.costs.list.count + 1) * sizeof *w.order);
    if (ok && w.file_ids && w.function_ids && w.object_ids && w.order) {
        put_head(&w);
        put_functions(&w);
        put_totals(&w);
    } else {
        ok = err_memory(err, "callgrind");
    }
    free(w.file_ids);
    free(w.function_ids);
    free(w.object_ids);
    free(w.order);
    call_costs_fini(&w.costs);
    return ok;
}
