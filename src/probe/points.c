/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/points.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "object/sdt.h"
#include "probe/boundary.h"
#include "probe/lazy.h"
#include "symbol/name_match.h"

enum { MAX_PROBES = 128 };

struct search {
    struct probe_image *image;
    const struct probe_spec *spec;
    const struct probe_options *o;
    struct arena *a;
    probe_points *out;
    struct err *err;
};

static bool push(const struct search *s, const struct probe_point *p) {
    struct probe_point *slot = vec_push(s->out);
    if (!slot)
        return err_memory(s->err, "probes");
    *slot = *p;
    return true;
}

/* A place that is known by its address: with the function that it is in, if DWARF knows one. */
static struct probe_point point_at(const struct search *s, object_vaddr addr, bool function) {
    struct probe_point p = {.addr = addr};
    struct object_debug *d = probe_image_debug(s->image);
    p.has_instance = d && object_debug_at(d, addr, function, &p.instance);
    if (p.has_instance)
        p.name = p.instance.name;
    const struct probe_symbol *symbol = p.name ? NULL : probe_image_function_at(s->image, addr);
    if (symbol)
        p.name = symbol->name;
    return p;
}

/* ---- functions ---- */

/* Whether the address is still code of the function that the instance lies in. */
static bool is_inside(const struct search *s, const struct object_instance *i, object_vaddr addr) {
    struct object_instance f;
    return object_debug_at(probe_image_debug(s->image), addr, true, &f) && f.entry == i->outer_entry;
}

/* Whether a probe at the line records its variables as they are there: it is the first whose statement begins
 * there, or the last one. */
static bool is_own(const struct object_debug_line *l) {
    return l->last || l->owner == l->line;
}

/* Sets the error for a line all of whose instructions belong to other lines, too. Returns false. */
static bool say_shared(const struct search *s, const object_debug_lines *lines, uint32_t base) {
    struct object_instance f;
    object_vaddr addr = lines->items[0].addr;
    if (object_debug_at(probe_image_debug(s->image), addr, true, &f) && f.entry == addr)
        return err_set(
            s->err, ERR_ABSENT, NULL,
            "This line is sharing the address with other lines. Please try to probe at %s:0 instead.",
            f.name);
    if (s->spec->function && lines->items[0].owner >= base)
        return err_set(
            s->err, ERR_ABSENT, NULL,
            "This line is sharing the address with other lines. Please try to probe at %s:%u instead.",
            s->spec->function, lines->items[0].owner - base);
    return err_set(s->err, ERR_ABSENT, NULL,
                   "This line is sharing the address with other lines. Please try to probe at %s:%u instead.",
                   lines->items[0].file, lines->items[0].owner);
}

/* The statements of a line, or of those that match the pattern. */
static bool find_statements(const struct search *s, const char *file, uint32_t line,
                            const struct object_instance *within, object_debug_lines *out) {
    struct object_debug *d = probe_image_debug(s->image);
    const struct lazy_query query = {file, within, s->spec->pattern, s->o->source_dir};
    const struct object_debug_span span = {file, line, line, within};
    return s->spec->pattern ? lazy_find(d, &query, s->a, out, s->err)
                            : object_debug_statements(d, &span, out, s->err);
}

/* A function or copy that was found: its place, or those of a line of it. */
static bool add_instance(const struct search *s, const struct object_instance *i) {
    const struct probe_spec *spec = s->spec;
    struct probe_point p = {.instance = *i, .has_instance = true, .addr = i->entry, .name = i->name};
    if (spec->returns && i->inlined)
        return true; /* copies do not return */
    if (!spec->glob && strcmp(spec->function, i->name ? i->name : "") != 0 && i->linked)
        p.name = i->linked;
    p.addr += spec->offset;
    if (spec->offset && !is_inside(s, i, p.addr))
        return err_set(s->err, ERR_USAGE, NULL, "Offset %" PRIu64 " is bigger than the size of %s",
                       spec->offset, i->name);
    if (!spec->line && !spec->pattern)
        return push(s, &p);
    object_debug_lines lines = {0};
    uint32_t line = i->line + spec->line;
    p.line = spec->line;
    bool ok = !i->file || find_statements(s, i->file, line, i, &lines);
    size_t shared = 0;
    for (size_t k = 0; ok && k < lines.count; k++) {
        bool own = is_own(&lines.items[k]);
        shared += !own;
        p.addr = lines.items[k].addr;
        p.between = !lines.items[k].last;
        ok = !own || push(s, &p);
    }
    ok = ok && (!shared || shared < lines.count || say_shared(s, &lines, i->line));
    vec_fini(&lines);
    return ok;
}

/* Whether an address belongs to none of the instances found so far. */
static bool is_new(const struct search *s, object_vaddr addr) {
    for (size_t i = 0; i < s->out->count; i++)
        if (s->out->items[i].has_instance && !s->out->items[i].instance.inlined &&
            s->out->items[i].instance.entry == addr)
            return false;
    return true;
}

/* Symbols: aliases, which DWARF does not list, functions without DWARF, and C++'s by their full names. */
static bool add_symbol(const struct search *s, struct probe_symbol *symbol) {
    struct probe_point p = point_at(s, symbol->addr, true);
    const struct probe_spec *spec = s->spec;
    if (p.has_instance && p.instance.entry != symbol->addr)
        p.has_instance = false;
    if (p.has_instance && spec->file &&
        (!p.instance.file || !object_debug_path_ends(p.instance.file, spec->file)))
        return true;
    if (symbol->indirect)
        log_line(
            LOG_WARN,
            "%s is resolved when the program starts (GNU indirect function): the probe is on the resolver; "
            "set it on the function that is used",
            symbol->name);
    if (p.has_instance) {
        struct object_instance i = p.instance;
        if (strcmp(spec->function, symbol->name) == 0) /* an alias is called as it was asked for */
            i.linked = i.name = symbol->name;
        else
            i.linked = NULL;
        return add_instance(s, &i);
    }
    if (spec->line || spec->pattern || spec->file)
        return true;
    if (spec->offset && spec->offset >= symbol->size)
        return err_set(s->err, ERR_USAGE, spec->text, "the function has only %" PRIu64 " bytes",
                       symbol->size);
    p.name = spec->glob || !strcmp(symbol->name, spec->function) ? symbol->name
             : p.name                                            ? p.name
                                                                 : symbol->name;
    p.addr = symbol->addr + spec->offset;
    return push(s, &p);
}

/* Copies a name without the blanks between a template's arguments: people cannot write them here, where a
 * blank ends the name. Cut to `room`. */
static const char *squeeze(const char *name, char *to, size_t room) {
    size_t n = 0;
    for (; *name && n + 1 < room; name++)
        if (*name != ' ' || !n || (to[n - 1] != ',' && name[1] != '>'))
            to[n++] = *name;
    to[n] = '\0';
    return to;
}

/* Whether a demangled name is the wanted one, perhaps without the outer namespaces and classes. */
static bool is_shown_as(const char *name, const char *wanted) {
    unsigned brackets = 0;
    char room[1024];
    if (strchr(wanted, '<'))
        name = squeeze(name, room, sizeof room);
    if (symbol_name_matches(name, wanted))
        return true;
    for (const char *at = name; *at && *at != '('; at++) {
        brackets += *at == '<';
        brackets -= brackets && *at == '>';
        if (!brackets && at[0] == ':' && at[1] == ':' && symbol_name_matches(at + 2, wanted))
            return true;
    }
    return false;
}

static bool is_wanted(struct probe_image *i, const struct probe_spec *spec, struct probe_symbol *s) {
    if (!s->function || strstr(s->name, "@plt"))
        return false;
    if (spec->glob)
        return fnmatch(spec->function, s->name, 0) == 0;
    if (!strcmp(s->name, spec->function))
        return true;
    return s->name[0] == '_' && is_shown_as(probe_symbol_shown(i, s), spec->function);
}

static bool find_symbols(const struct search *s, bool exact) {
    bool ok = true;
    for (size_t k = 0; ok && k < s->image->symbols.count; k++) {
        struct probe_symbol *symbol = &s->image->symbols.items[k];
        if ((exact ? symbol->function && !strcmp(symbol->name, s->spec->function)
                   : is_wanted(s->image, s->spec, symbol)) &&
            is_new(s, symbol->addr))
            ok = add_symbol(s, symbol);
    }
    return ok;
}

static bool find_functions(const struct search *s) {
    struct object_debug *d = probe_image_debug(s->image);
    struct object_debug_query q = {.name = s->spec->function,
                                   .pattern = s->spec->glob,
                                   .no_inlines = s->o->no_inlines || s->spec->returns,
                                   .file = s->spec->file};
    object_instances found = {0};
    bool ok = !d || object_debug_functions(d, &q, &found, s->err);
    for (size_t i = 0; ok && i < found.count; i++)
        ok = add_instance(s, &found.items[i]);
    bool any = found.count > 0;
    vec_fini(&found);
    /* Symbols of that very name may lie in code without DWARF; names that only look like it come last. */
    if (ok && !any)
        ok = find_symbols(s, false);
    else if (ok && !s->spec->glob && !s->spec->file)
        ok = find_symbols(s, true);
    return ok;
}

/* ---- lines, markers, addresses ---- */

static bool find_lines(const struct search *s) {
    struct object_debug *d = probe_image_debug(s->image);
    const struct probe_spec *spec = s->spec;
    object_debug_lines lines = {0};
    if (!d)
        return err_set(s->err, s->image->debug_err.code, s->image->path,
                       "has no source lines: %s (install the package with its debugging information)",
                       s->image->debug_err.message);
    bool ok = find_statements(s, spec->file, spec->line, NULL, &lines);
    size_t shared = 0;
    for (size_t i = 0; ok && i < lines.count; i++) {
        struct probe_point p = point_at(s, lines.items[i].addr, false);
        shared += !is_own(&lines.items[i]);
        p.between = !lines.items[i].last;
        if (!is_own(&lines.items[i]))
            continue;
        if (p.has_instance && p.instance.outer)
            p.name = p.instance.outer;
        ok = push(s, &p);
    }
    ok = ok && (!shared || shared < lines.count || say_shared(s, &lines, 0));
    vec_fini(&lines);
    return ok;
}

static bool is_text(struct bytes b, const char *text) {
    return b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

static bool find_markers(const struct search *s) {
    struct object_sdts walk;
    struct object_sdt m;
    if (s->spec->cached_group && !s->spec->sdt_provider)
        return err_set(s->err, ERR_ABSENT, s->spec->text,
                       "is in no cache of probes: --add --cache puts probes there");
    if (!object_sdts_open(&s->image->elf, &walk))
        return err_set(s->err, ERR_ABSENT, s->image->path, "has no markers of <sys/sdt.h>");
    while (object_sdts_next(&walk, &m)) {
        if (!is_text(m.name, s->spec->sdt_name) ||
            (s->spec->sdt_provider && !is_text(m.provider, s->spec->sdt_provider)))
            continue;
        struct probe_point p = point_at(s, m.place, false);
        p.name = arena_printf(s->a, "sdt_%.*s", (int)m.provider.size, (const char *)m.provider.data);
        p.semaphore = m.semaphore;
        p.marker = m.args;
        if (!p.name)
            return err_memory(s->err, "probes");
        if (!push(s, &p))
            return false;
    }
    return true;
}

static int by_addr(const void *a, const void *b) {
    const struct probe_point *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return 0;
}

static bool find(const struct search *s) {
    if (s->spec->has_address) {
        struct probe_point p = point_at(s, s->spec->address, false);
        p.name = arena_printf(s->a, "abs_%" PRIx64, s->spec->address);
        return p.name ? push(s, &p) : err_memory(s->err, "probes");
    }
    return s->spec->sdt_name ? find_markers(s) : s->spec->function ? find_functions(s) : find_lines(s);
}

bool probe_points_find(struct probe_image *i, const struct probe_spec *spec, const struct probe_options *o,
                       struct arena *a, probe_points *out, struct err *err) {
    struct search s = {i, spec, o, a, out, err};
    unsigned most = o->max_probes ? o->max_probes : MAX_PROBES;
    if (!find(&s))
        return false;
    size_t kept = 0;
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_addr);
    for (size_t k = 0; k < out->count; k++)
        if (!kept || out->items[kept - 1].addr != out->items[k].addr)
            out->items[kept++] = out->items[k];
    out->count = kept;
    if (!kept)
        return err_set(err, ERR_ABSENT, NULL, "Probe point '%s' not found in %s%s%s%s%s", spec->text, i->path,
                       *i->debug_err.message ? ", which has " : "", i->debug_err.message,
                       probe_image_missing(i), *probe_image_missing(i) ? "" : ".");
    if (kept > most)
        return err_set(
            err, ERR_USAGE, NULL,
            "Too many (%zu > %u) probe points for '%s': allow more with --max-probes, or name fewer", kept,
            most, spec->text);
    return true;
}

/* ---- events ---- */

static bool name_event(const struct search *s, const struct probe_point *p, struct probe_event *e) {
    const struct probe_spec *spec = s->spec;
    e->group = spec->group                          ? spec->group
               : spec->sdt_name                     ? probe_event_name(s->a, p->name)
               : s->image->text || s->image->module ? "probe"
                                                    : probe_event_group(s->a, s->image->path);
    const char *base = spec->sdt_name ? spec->sdt_name : p->name ? p->name : "at";
    char *text = spec->event ? arena_strndup(s->a, spec->event, strlen(spec->event))
                 : p->line && spec->function
                     ? arena_printf(s->a, "%s_L%u", base, p->line)
                     : arena_printf(s->a, "%s%s", base, spec->returns ? "__return" : "");
    e->event = text ? probe_event_name(s->a, text) : NULL;
    return (e->group && e->event) || err_memory(s->err, "probes");
}

static bool is_code(const struct object_layout *l, object_vaddr addr) {
    for (uint32_t i = 0; i < l->count; i++)
        if (l->by_addr[i].executable && addr - l->by_addr[i].addr < l->by_addr[i].size)
            return true;
    return false;
}

bool probe_point_is_entry(const struct probe_point *p, object_vaddr addr) {
    return p->has_instance && !p->instance.inlined && p->instance.entry == addr && !p->line;
}

/* Whether an instruction begins at the offset or address that the user gave. */
static bool check_boundary(const struct search *s, const struct probe_point *p, object_vaddr addr) {
    const struct probe_symbol *symbol = probe_image_function_at(s->image, addr);
    object_vaddr from, start = symbol ? symbol->addr : p->has_instance ? p->instance.outer_entry : addr;
    if ((!s->spec->offset && !s->spec->has_address) || probe_boundary(s->image, start, addr, &from))
        return true;
    return err_set(s->err, ERR_USAGE, s->spec->text,
                   "0x%" PRIx64 " is within an instruction, which begins at 0x%" PRIx64 " (%s+%" PRIu64
                   "): a probe there would break the program",
                   addr, from, symbol ? symbol->name : "its function", from - start);
}

/* The event of one place. `last`: no other place will do, so that what is not in memory yet is left out. */
static bool make(const struct search *s, const struct probe_point *p, object_vaddr addr, bool last,
                 struct probe_event *e) {
    const struct probe_spec *spec = s->spec;
    *e = (struct probe_event){.returns = spec->returns, .path = s->image->path, .addr = addr};
    e->given = spec->text;
    e->given_args = spec->args_text;
    const struct probe_symbol *from = s->image->module ? probe_image_function_at(s->image, addr) : NULL;
    if (s->image->module && !from)
        return err_set(s->err, ERR_USAGE, spec->text, "0x%" PRIx64 " is in no function of the module", addr);
    if (s->image->text && addr < s->image->text->addr)
        return err_set(s->err, ERR_USAGE, spec->text, "0x%" PRIx64 " is not in the kernel's code", addr);
    if (from) { /* the kernel finds the function in the loaded module by its name */
        e->path = NULL;
        e->module = s->image->module;
        e->symbol = from->name;
        e->offset = addr - from->addr;
    } else if (s->image->text) {
        e->path = NULL;
        e->symbol = s->image->text->name;
        e->offset = addr - s->image->text->addr;
    } else if (!is_code(&s->image->layout, addr) ||
               !object_layout_offset(&s->image->layout, addr, &e->offset)) {
        return err_set(s->err, ERR_USAGE, spec->text, "0x%" PRIx64 " is no address of the file's code", addr);
    }
    if (!check_boundary(s, p, addr))
        return false;
    if (p->semaphore && !object_layout_offset(&s->image->layout, p->semaphore, &e->semaphore))
        return err_set(s->err, ERR_BROKEN, spec->text, "the marker's semaphore is not in the file");
    struct probe_place place = {.addr = addr,
                                .offset = e->offset,
                                .has_instance = p->has_instance,
                                .instance = p->instance.id,
                                .returns = spec->returns,
                                .kernel = s->image->text != NULL || from,
                                .entry = probe_point_is_entry(p, addr),
                                .between = p->between,
                                .leaves_unwritten = last};
    return name_event(s, p, e) &&
           probe_marker_arguments(s->image->elf.machine, spec, p->marker, s->a, e, s->err) &&
           probe_arguments(s->image, spec, &place, s->a, e, s->err) && probe_event_check(e, s->err);
}

/* Like make, but sets the probe after the prologue if arguments are not in memory at the entry, as in code
 * that was not optimised. */
static bool make_there(const struct search *s, const struct probe_point *p, struct probe_event *e) {
    object_vaddr addr = p->addr;
    if (make(s, p, addr, false, e))
        return true;
    if (s->err->code != ERR_IO)
        return false;
    if (!s->spec->has_address && p->addr == p->instance.entry && p->instance.body > p->addr) {
        addr = p->instance.body;
        log_line(
            LOG_WARN,
            "%s was compiled without optimization: the probe is set after the prologue, where its arguments "
            "are in memory (0x%" PRIx64 " is its entry)",
            p->name ? p->name : s->spec->text, p->addr);
    }
    vec_fini(&e->args);
    *s->err = ERR_INIT;
    if (make(s, p, addr, true, e))
        return true;
    s->err->code = s->err->code == ERR_IO ? ERR_UNSUPPORTED : s->err->code;
    return false;
}

bool probe_events_make(struct probe_image *i, const struct probe_spec *spec, const struct probe_options *o,
                       struct arena *a, probe_events *out, struct err *err) {
    probe_points points = {0};
    struct err why = ERR_INIT;
    struct search s = {i, spec, o, a, &points, &why};
    size_t before = out->count;
    bool ok = probe_points_find(i, spec, o, a, &points, err);
    for (size_t k = 0; ok && k < points.count; k++) {
        struct probe_event e;
        why = ERR_INIT;
        if (make_there(&s, &points.items[k], &e)) {
            struct probe_event *slot = vec_push(out);
            if (slot) {
                *slot = e;
                continue;
            }
            err_memory(&why, "probes");
        }
        vec_fini(&e.args);
        if (k == 0 || err->code == ERR_NONE)
            *err = why;
        ok = why.code != ERR_MEMORY;
        if (points.count > 1 && !spec->quiet)
            log_line(LOG_WARN, "%s at %s is left out: %s%s%s", spec->text,
                     probe_place_text(i, points.items[k].addr, false, a), why.where, *why.where ? " " : "",
                     why.message);
    }
    vec_fini(&points);
    ok = ok && out->count > before;
    if (ok)
        *err = ERR_INIT;
    return ok;
}

const char *probe_place_text(struct probe_image *i, object_vaddr addr, bool returns, struct arena *a) {
    struct object_debug *d = probe_image_debug(i);
    struct object_instance f;
    const char *name = NULL, *file = NULL, *text;
    uint64_t from = 0;
    if (d && object_debug_at(d, addr, true, &f)) {
        name = f.name;
        file = f.file;
        from = f.entry;
    }
    const struct probe_symbol *symbol = name ? NULL : probe_image_function_at(i, addr);
    if (symbol) {
        name = symbol->name;
        from = symbol->addr;
    }
    if (!name)
        text = arena_printf(a, "0x%" PRIx64, addr);
    else if (addr == from)
        text = arena_printf(a, "%s%s%s%s", name, returns ? "%return" : "", file ? "@" : "", file ? file : "");
    else
        text = arena_printf(a, "%s+%" PRIu64 "%s%s", name, addr - from, file ? "@" : "", file ? file : "");
    return text ? text : "?";
}
