/* SPDX-License-Identifier: Apache-2.0 */
#include "view/probe/probe_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe/filter.h"

enum { LINES_AFTER = 3, NAME_WIDTH = 20, LINE_WIDTH = 7 };

void probe_text_event(struct out *o, const struct probe_event *e, const char *place, const char *args,
                      const char *path) {
    size_t n = strlen(e->group) + 1 + strlen(e->event);
    out_printf(o, "  %s:%s", e->group, e->event);
    out_fill(o, ' ', n < NAME_WIDTH ? NAME_WIDTH - n : 0);
    out_printf(o, " (on %s", place);
    if (path)
        out_printf(o, " in %s", path);
    if (*args)
        out_printf(o, " with %s", args);
    out_str(o, ")\n");
}

/* ---- functions ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool probe_text_functions(struct out *o, struct probe_image *i, const char *filter, bool demangle,
                          struct err *err) {
    VEC(const char *) names = {0};
    for (size_t k = 0; k < i->symbols.count; k++) {
        struct probe_symbol *s = &i->symbols.items[k];
        const char *name = demangle ? probe_symbol_shown(i, s) : s->name;
        if (!s->function || !probe_filter_passes(filter, name))
            continue;
        const char **slot = vec_push(&names);
        if (!slot) {
            vec_fini(&names);
            return err_memory(err, "functions");
        }
        *slot = name;
    }
    if (names.count)
        qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t k = 0; k < names.count; k++)
        if (!k || strcmp(names.items[k - 1], names.items[k]) != 0) {
            out_str(o, names.items[k]);
            out_char(o, '\n');
        }
    vec_fini(&names);
    return true;
}

/* ---- variables ---- */

static bool no_debug(struct probe_image *i, struct err *err) {
    return err_set(err, i->debug_err.code, i->path, "%s: install the package with its debugging information",
                   i->debug_err.message);
}

static bool add_variable(const struct object_variable *v, struct object_debug *d,
                         struct object_debug_place at, const struct probe_vars_options *o, struct arena *a,
                         const char **out) {
    char ranges[512] = "";
    if (o->ranges && !v->external)
        object_debug_ranges(d, at, v->name, ranges, sizeof ranges);
    *out = o->ranges ? arena_printf(a, "[%s]\t%s\t%s%s%s", v->external ? "EXT" : "VAL", v->type_name, v->name,
                                    *ranges ? "\t@" : "", ranges)
           : o->externals
               ? arena_printf(a, "[%s]\t%s\t%s", v->external ? "EXT" : "VAL", v->type_name, v->name)
               : arena_printf(a, "%s\t%s", v->type_name, v->name);
    return *out != NULL;
}

static bool variables_at(struct out *o, struct probe_image *i, const struct probe_point *p,
                         const struct probe_vars_options *v, struct arena *a, struct err *err) {
    object_variables all = {0};
    VEC(const char *) texts = {0};
    struct object_debug *d = probe_image_debug(i);
    struct object_debug_place at = {p->instance.id, p->addr, probe_point_is_entry(p, p->addr), false};
    bool ok = object_debug_variables(d, at, v->externals, &all, err);
    for (size_t k = 0; ok && k < all.count; k++) {
        if (!probe_filter_passes(v->filter, all.items[k].name) || (!all.items[k].here && !v->ranges))
            continue;
        const char **slot = vec_push(&texts);
        ok = (slot && add_variable(&all.items[k], d, at, v, a, slot)) || err_memory(err, "variables");
    }
    if (ok && texts.count)
        qsort(texts.items, texts.count, sizeof *texts.items, by_name);
    const struct object_instance *f = &p->instance;
    if (ok)
        out_printf(o, "\t@<%s+%" PRIu64 ">\n", f->outer ? f->outer : f->name, p->addr - f->outer_entry);
    for (size_t k = 0; ok && k < texts.count; k++)
        out_printf(o, "\t\t%s\n", texts.items[k]);
    if (ok && !texts.count)
        out_str(o, "\t\t(No matched variables)\n");
    vec_fini(&texts);
    vec_fini(&all);
    return ok;
}

bool probe_text_variables(struct out *o, struct probe_image *i, const struct probe_spec *spec,
                          const struct probe_options *p, const struct probe_vars_options *v,
                          struct err *err) {
    struct arena a = ARENA_INIT;
    probe_points points = {0};
    if (!probe_image_debug(i))
        return no_debug(i, err);
    bool ok = probe_points_find(i, spec, p, &a, &points, err), any = false;
    for (size_t k = 0; ok && k < points.count; k++) {
        if (!points.items[k].has_instance)
            continue;
        if (!any)
            out_printf(o, "Available variables at %s\n", spec->text);
        any = true;
        ok = variables_at(o, i, &points.items[k], v, &a, err);
    }
    if (ok && !any)
        ok = err_set(err, ERR_ABSENT, spec->text, "is in code that nothing describes%s",
                     *probe_image_missing(i) ? probe_image_missing(i) : ": it has no variables");
    vec_fini(&points);
    arena_fini(&a);
    return ok;
}

/* ---- lines ---- */

struct listing {
    struct out *out;
    const char *path, *function; /* function NULL: lines count from 0 */
    uint32_t base;               /* the line that has the number 0; else 0 */
    uint32_t first, last;
    bool to_end; /* no last line was given */
    const object_debug_lines *lines;
};

/* Keeps the lines that have an instruction of their own. `entry`: of the function, which is the place of its
 * declaration's line, whatever else begins there; 0: none. */
static void drop_shared(object_debug_lines *lines, object_vaddr entry) {
    size_t kept = 0;
    for (size_t i = 0; i < lines->count; i++)
        if (lines->items[i].owner == lines->items[i].line && (!entry || lines->items[i].addr != entry))
            lines->items[kept++] = lines->items[i];
    lines->count = kept;
}

static bool is_probed(const struct listing *l, uint32_t line) {
    size_t low = 0, high = l->lines->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (l->lines->items[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < l->lines->count && l->lines->items[low].line == line;
}

static bool print_source(const struct listing *l, const char *source_dir, struct arena *a, struct err *err) {
    probe_source source = {0};
    if (!probe_source_read(l->path, source_dir, a, &source, err)) {
        err_set(err, err->code, l->path, "the source cannot be read: give its folder with -s");
        return false;
    }
    if (l->function)
        out_printf(l->out, "<%s@%s:%u>\n", l->function, l->path, l->first - l->base);
    else
        out_printf(l->out, "<%s:%u>\n", l->path, l->to_end && l->first == 1 ? 0 : l->first);
    for (uint32_t line = l->first; line <= l->last && line <= source.count; line++) {
        if (is_probed(l, line))
            out_printf(l->out, "%*u  ", LINE_WIDTH, line - l->base);
        else
            out_printf(l->out, "%*s  ", LINE_WIDTH, "");
        out_printf(l->out, "%s\n", source.items[line - 1]);
    }
    vec_fini(&source);
    return true;
}

/* Adds the line of the declaration: its place is the function's entry, whatever the line table says. */
static bool add_entry(object_debug_lines *lines, const struct object_instance *f, struct err *err) {
    struct object_debug_line *slot = vec_push(lines);
    if (!slot)
        return err_memory(err, "lines");
    memmove(lines->items + 1, lines->items, (lines->count - 1) * sizeof *lines->items);
    lines->items[0] = (struct object_debug_line){f->entry, f->file, f->line, f->line, true};
    return true;
}

static bool function_lines(struct out *o, struct probe_image *i, const struct probe_lines *l,
                           const struct probe_options *p, struct arena *a, struct err *err) {
    struct object_debug *d = probe_image_debug(i);
    struct object_debug_query q = {.name = l->function, .file = l->file};
    object_instances found = {0};
    object_debug_lines lines = {0};
    bool ok = object_debug_functions(d, &q, &found, err);
    const struct probe_symbol *alias = ok && !found.count ? probe_image_symbol(i, l->function) : NULL;
    struct object_instance *f = found.count ? &found.items[0] : NULL;
    struct object_instance by_alias;
    if (alias && object_debug_at(d, alias->addr, true, &by_alias) && by_alias.entry == alias->addr)
        f = &by_alias;
    for (size_t k = 0; k < found.count; k++) /* the function's own code, if it has any */
        if (!found.items[k].inlined) {
            f = &found.items[k];
            break;
        }
    if (ok && (!f || !f->file || !f->line))
        ok = err_set(err, ERR_ABSENT, NULL, "Specified source line(function: %s, line:%u) is not found%s",
                     l->function, l->first, *probe_image_missing(i) ? probe_image_missing(i) : ".");
    uint32_t last = ok && l->last < UINT32_MAX - f->line ? f->line + l->last : UINT32_MAX;
    ok = ok && object_debug_statements(d, &(struct object_debug_span){f->file, f->line + l->first, last, f},
                                       &lines, err);
    drop_shared(&lines, ok ? f->entry : 0);
    if (ok && l->first == 0 && (!lines.count || lines.items[0].line != f->line))
        ok = add_entry(&lines, f, err);
    if (ok && !lines.count)
        ok = err_set(err, ERR_ABSENT, NULL, "Specified source line(function: %s, line:%u) is not found.",
                     l->function, l->first);
    if (ok) {
        if (last == UINT32_MAX)
            last = lines.items[lines.count - 1].line + LINES_AFTER;
        struct listing x = {.out = o,
                            .path = f->file,
                            .function = l->function,
                            .base = f->line,
                            .first = f->line + l->first,
                            .last = last,
                            .to_end = l->last == UINT32_MAX,
                            .lines = &lines};
        ok = print_source(&x, p->source_dir, a, err);
    }
    vec_fini(&lines);
    vec_fini(&found);
    return ok;
}

static bool file_lines(struct out *o, struct probe_image *i, const struct probe_lines *l,
                       const struct probe_options *p, struct arena *a, struct err *err) {
    object_debug_lines lines = {0};
    struct object_debug *d = probe_image_debug(i);
    uint32_t first = l->first ? l->first : 1;
    bool ok =
        object_debug_statements(d, &(struct object_debug_span){l->file, first, l->last, NULL}, &lines, err);
    drop_shared(&lines, 0);
    if (ok && !lines.count)
        ok = err_set(err, ERR_ABSENT, NULL, "Specified source line(%s:%u) is not found.", l->file, first);
    if (ok) {
        uint32_t last = l->last == UINT32_MAX ? lines.items[lines.count - 1].line + LINES_AFTER : l->last;
        struct listing x = {.out = o,
                            .path = lines.items[0].file,
                            .first = first,
                            .last = last,
                            .to_end = l->last == UINT32_MAX,
                            .lines = &lines};
        ok = print_source(&x, p->source_dir, a, err);
    }
    vec_fini(&lines);
    return ok;
}

bool probe_text_lines(struct out *o, struct probe_image *i, const struct probe_lines *l,
                      const struct probe_options *p, struct err *err) {
    struct arena a = ARENA_INIT;
    if (!probe_image_debug(i))
        return no_debug(i, err);
    bool ok = l->function ? function_lines(o, i, l, p, &a, err) : file_lines(o, i, l, p, &a, err);
    arena_fini(&a);
    return ok;
}
