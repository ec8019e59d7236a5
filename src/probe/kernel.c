/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/kernel.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/kallsyms/kallsyms.h"
#include "probe/filter.h"

enum { MAX_PROBES = 128, NAME_ROOM = 512 /* KSYM_NAME_LEN of the kernel */ };

const char *probe_kernel_module(struct arena *a, const char *text) {
    const char *slash = strrchr(text, '/');
    text = slash ? slash + 1 : text;
    const char *end = strstr(text, ".ko");
    char *name = arena_strndup(a, text, end ? (size_t)(end - text) : strlen(text));
    for (char *c = name; c && *c; c++)
        *c = *c == '-' ? '_' : *c;
    return name;
}

/* The name of a function of the wanted module. False: the symbol is no such function. */
static bool function_name(const struct probe_kernel *k, const struct kallsyms_symbol *s,
                          char name[NAME_ROOM]) {
    if (!s->type || !strchr("tTwW", s->type) || s->name.size >= NAME_ROOM || !s->name.size ||
        s->name.data[0] == '$' || /* $x, $d: where code and data begin (ELF for the Arm architecture) */
        (k->module && !bytes_equal(s->module, (struct bytes){(const uint8_t *)k->module, strlen(k->module)})))
        return false;
    snprintf(name, NAME_ROOM, "%.*s", (int)s->name.size, (const char *)s->name.data);
    return true;
}

static bool name_event(const struct probe_spec *spec, struct arena *a, struct probe_event *e) {
    const char *text =
        spec->event ? spec->event : arena_printf(a, "%s%s", e->symbol, spec->returns ? "__return" : "");
    e->group = spec->group ? spec->group : "probe";
    e->event = text ? probe_event_name(a, text) : NULL;
    return e->event != NULL;
}

static bool add_args(const struct probe_spec *spec, struct arena *a, struct probe_event *e, struct err *err) {
    for (size_t i = 0; i < spec->args.count; i++) {
        const struct probe_arg *arg = &spec->args.items[i];
        if (arg->kind != PROBE_ARG_KERNEL && arg->kind != PROBE_ARG_SYMBOL)
            return err_set(
                err, ERR_UNSUPPORTED, arg->text,
                "needs a vmlinux with debugging information (-k); without, name a register, as in %%di");
        struct probe_fetch *f = vec_push(&e->args);
        const char *fetch = arg->kind == PROBE_ARG_KERNEL ? arg->text
                            : arg->number ? arena_printf(a, "@%s%+" PRId64, arg->text, arg->number)
                                          : arena_printf(a, "@%s", arg->text);
        if (!f || !fetch)
            return err_memory(err, "probes");
        *f = (struct probe_fetch){arg->name, fetch, arg->type};
    }
    return true;
}

static bool add(const struct probe_spec *spec, const char *name, struct bytes module, struct arena *a,
                probe_events *out, struct err *err) {
    struct probe_event *e = vec_push(out);
    if (!e)
        return err_memory(err, "probes");
    e->symbol = arena_strndup(a, name, strlen(name));
    e->module = module.size ? arena_strndup(a, (const char *)module.data, module.size) : NULL;
    e->offset = spec->offset;
    e->returns = spec->returns;
    e->given = spec->text;
    e->given_args = spec->args_text;
    if (!e->symbol || (module.size && !e->module) || !name_event(spec, a, e))
        return err_memory(err, "probes");
    return add_args(spec, a, e, err) && probe_event_check(e, err);
}

static bool is_wanted(const struct probe_spec *spec, const char *name) {
    return spec->glob ? fnmatch(spec->function, name, 0) == 0 : strcmp(spec->function, name) == 0;
}

bool probe_kernel_events(const struct probe_kernel *k, const struct probe_spec *spec, unsigned max_probes,
                         struct arena *a, probe_events *out, struct err *err) {
    struct bytes rest = k->kallsyms;
    struct kallsyms_symbol s;
    char name[NAME_ROOM];
    size_t before = out->count, most = max_probes ? max_probes : MAX_PROBES, twins = 0;
    if (!spec->function || spec->file || spec->has_line || spec->pattern)
        return err_set(err, ERR_UNSUPPORTED, spec->text,
                       "needs a vmlinux with debugging information: name it with -k");
    while (kallsyms_next(&rest, &s)) {
        if (!function_name(k, &s, name) || !is_wanted(spec, name))
            continue;
        if (!spec->glob && twins++)
            return err_set(
                err, ERR_USAGE, spec->text,
                "there are several functions of that name in the kernel: name the module with -m, or a "
                "vmlinux with -k");
        if (out->count - before >= most)
            return err_set(err, ERR_USAGE, spec->text,
                           "has more than %zu places: allow more with --max-probes", most);
        if (!add(spec, name, s.module, a, out, err))
            return false;
    }
    if (out->count == before && k->offline && k->module && !spec->glob)
        return add(spec, spec->function, (struct bytes){(const uint8_t *)k->module, strlen(k->module)}, a,
                   out, err);
    return out->count > before ||
           err_set(err, ERR_ABSENT, NULL,
                   "Probe point '%s' not found: /proc/kallsyms has no function of that name%s%s", spec->text,
                   k->module ? " in module " : "", k->module ? k->module : "");
}

bool probe_kernel_functions(const struct probe_kernel *k, const char *filter,
                            bool (*each)(void *ctx, const char *name), void *ctx) {
    struct bytes rest = k->kallsyms;
    struct kallsyms_symbol s;
    char name[NAME_ROOM];
    while (kallsyms_next(&rest, &s))
        if (function_name(k, &s, name) && (k->module || !s.module.size) &&
            probe_filter_passes(filter, name) && !each(ctx, name))
            return false;
    return true;
}
