/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

typedef VEC(const char *) remarks;

struct request {
    struct probe_image *image;
    const struct probe_spec *spec;
    const struct probe_place *place;
    struct arena *a;
    struct probe_event *out;
    struct err *err;
    remarks *remarks; /* said when the place does; it may be tried at another one */
};

/* ---- names ---- */

static bool is_name_taken(const struct request *r, const char *name) {
    static const char *const OWN[] = {"common_type",  "common_flags",  "common_preempt_count",
                                      "common_pid",   "common_tgid",   "__probe_ip",
                                      "__probe_func", "__probe_ret_ip"};
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (!strcmp(OWN[i], name))
            return true;
    for (size_t i = 0; i < r->out->args.count; i++)
        if (r->out->args.items[i].name && !strcmp(r->out->args.items[i].name, name))
            return true;
    return false;
}

/* A unique name: the given one, else the last member's, or the variable's with the requested type. */
static const char *name_for(const struct request *r, const struct probe_arg *arg) {
    const char *base = arg->text, *name;
    for (size_t i = 0; i < arg->steps.count; i++)
        base = arg->steps.items[i].name ? arg->steps.items[i].name : base;
    name = arg->name                        ? arg->name
           : arg->type && !arg->steps.count ? arena_printf(r->a, "%s_%s", base, arg->type)
                                            : arena_strndup(r->a, base, strlen(base));
    name = name ? probe_event_name(r->a, name) : NULL;
    const char *first = name;
    for (unsigned n = 1; name && is_name_taken(r, name); n++)
        name = arena_printf(r->a, "%s_%u", first, n);
    if (!name)
        err_memory(r->err, "arguments");
    return name;
}

/* The argument as it was written, for messages. */
static void put_label(const struct probe_arg *arg, char *to, size_t room) {
    int n = snprintf(to, room, "%s", arg->text);
    for (size_t i = 0; n >= 0 && (size_t)n < room && i < arg->steps.count; i++) {
        const struct object_debug_step *s = &arg->steps.items[i];
        n += s->name ? snprintf(to + n, room - (size_t)n, "%s%s", s->arrow ? "->" : ".", s->name)
                     : snprintf(to + n, room - (size_t)n, "[%lld]", (long long)s->index);
    }
}

static bool remark(const struct request *r, const char *text) {
    const char **slot = text ? vec_push(r->remarks) : NULL;
    if (!slot)
        return err_memory(r->err, "arguments");
    *slot = text;
    return true;
}

/* ---- values ---- */

/* How the kernel addresses a place in the image: @+OFFSET counts from where the probe's own offset would be
 * 0, @SYMBOL+OFFSET from the symbol that the probe's own offset counts from. */
static struct probe_fetch_request request_for(const struct request *r, const struct probe_arg *arg,
                                              const struct object_value *v) {
    int64_t delta = (int64_t)(r->place->offset - r->place->addr);
    const char *symbol = r->place->kernel ? r->out->symbol : NULL;
    /* A module's data lie anywhere, as seen from its code: they are found by their own name. */
    const struct probe_symbol *own =
        r->image->module && v->place.chain.linked
            ? probe_image_variable_at(r->image, (object_vaddr)v->place.chain.add[0])
            : NULL;
    if (own) {
        delta = -(int64_t)own->addr;
        symbol = own->name;
    }
    return (struct probe_fetch_request){.v = v,
                                        .machine = r->image->elf.machine,
                                        .linked_delta = delta,
                                        .linked_symbol = symbol,
                                        .type = arg->type,
                                        .user = arg->user,
                                        .a = r->a};
}

static bool fetch(const struct request *r, const struct probe_arg *arg, const struct object_value *v,
                  struct probe_fetch *out) {
    const char *note;
    struct err why = ERR_INIT;
    struct probe_fetch_request wanted = request_for(r, arg, v);
    if (!probe_value_fetch(&wanted, out, &note, &why)) {
        put_label(arg, why.where, sizeof why.where);
        *r->err = why;
        return false;
    }
    if (note) {
        char label[256];
        put_label(arg, label, sizeof label);
        return remark(r, arena_printf(r->a, "%s: %s %s", r->spec->text, label, note));
    }
    return true;
}

/* A variable that DWARF does not describe, or gives no location for: it is found by its symbol. */
static bool by_symbol(const struct request *r, const struct probe_arg *arg, struct probe_fetch *out) {
    const struct probe_symbol *s = probe_image_symbol(r->image, arg->text);
    struct object_value v = {.type = OBJECT_VALUE_UNSIGNED, .size = 8};
    if (!s || s->function)
        return err_set(r->err, ERR_ABSENT, arg->text,
                       "there is no symbol of that name for data: nm lists them");
    if (s->size == 1 || s->size == 2 || s->size == 4)
        v.size = s->size;
    v.place.kind = OBJECT_PLACE_MEMORY;
    v.place.chain = (struct object_chain){OBJECT_NO_REGISTER, true, 1, {(int64_t)s->addr}};
    if (!object_chain_add(&v.place.chain, arg->number))
        return err_set(r->err, ERR_USAGE, arg->text, "is followed by an impossible offset");
    const char *note;
    if (arg->type && strstr(arg->type, "string")) {
        v.type = OBJECT_VALUE_ARRAY;
        v.text = true;
    }
    struct probe_fetch_request wanted = request_for(r, arg, &v);
    return probe_value_fetch(&wanted, out, &note, r->err);
}

static bool variable(const struct request *r, const struct probe_arg *arg, struct probe_fetch *out) {
    struct object_value v;
    struct object_debug *d = probe_image_debug(r->image);
    if (r->place->returns)
        return err_set(
            r->err, ERR_UNSUPPORTED, arg->text,
            "cannot be had when the function has returned: there is $retval, or a probe inside of it");
    if (!d)
        return err_set(
            r->err, r->image->debug_err.code, r->image->path,
            "cannot look up %s: %s (or install the package with its debugging information, or name a "
            "register, as in %%di)",
            arg->text, r->image->debug_err.message);
    if (!r->place->has_instance)
        return err_set(r->err, ERR_ABSENT, arg->text,
                       "cannot be looked up: nothing describes the function that this place is in%s",
                       probe_image_missing(r->image));
    struct object_debug_place at = {r->place->instance, r->place->addr, r->place->entry, r->place->between};
    const struct object_debug_path path = {arg->text, arg->steps.items, arg->steps.count};
    if (!object_debug_value(d, at, &path, &v, r->err)) {
        if (r->err->code == ERR_UNSUPPORTED)
            put_label(arg, r->err->where, sizeof r->err->where);
        return false;
    }
    return fetch(r, arg, &v, out);
}

static bool add(const struct request *r, const struct probe_arg *arg) {
    struct probe_fetch f = {NULL, NULL, arg->type};
    bool ok = true;
    if (arg->kind == PROBE_ARG_VARIABLE) {
        ok = variable(r, arg, &f) && (f.name = name_for(r, arg));
    } else if (arg->kind == PROBE_ARG_SYMBOL && !r->place->kernel) {
        ok = by_symbol(r, arg, &f) && (f.name = name_for(r, arg));
    } else if (arg->kind == PROBE_ARG_SYMBOL) {
        f.fetch = arg->number ? arena_printf(r->a, "@%s%+" PRId64, arg->text, arg->number)
                              : arena_printf(r->a, "@%s", arg->text);
    } else {
        f.fetch = arg->text;
    }
    if (ok && arg->name && !f.name)
        ok = (f.name = name_for(r, arg)) != NULL;
    struct probe_fetch *slot = ok ? vec_push(&r->out->args) : NULL;
    if (ok && (!slot || !f.fetch))
        return err_memory(r->err, "arguments");
    if (slot)
        *slot = f;
    return ok;
}

/* ---- $params, $vars ---- */

static bool add_all(const struct request *r, bool parameters) {
    object_variables all = {0};
    struct object_debug *d = probe_image_debug(r->image);
    struct probe_arg arg = {.kind = PROBE_ARG_VARIABLE, .text = parameters ? "$params" : "$vars"};
    if (!d || !r->place->has_instance || r->place->returns)
        return variable(r, &arg, &(struct probe_fetch){0}); /* says why */
    struct object_debug_place at = {r->place->instance, r->place->addr, r->place->entry, r->place->between};
    bool ok = object_debug_variables(d, at, false, &all, r->err);
    for (size_t i = 0; ok && i < all.count; i++) {
        struct err why = ERR_INIT;
        struct request one = *r;
        one.err = &why;
        arg.text = all.items[i].name;
        if ((parameters && !all.items[i].parameter) || (!all.items[i].here && !all.items[i].parameter))
            continue;
        if (add(&one, &arg))
            continue;
        if (why.code == ERR_MEMORY || (why.code == ERR_IO && !r->place->leaves_unwritten)) {
            *r->err = why;
            ok = false;
        } else {
            ok = remark(
                r, arena_printf(r->a, "%s: %s is left out: it %s", r->spec->text, arg.text, why.message));
        }
    }
    vec_fini(&all);
    return ok;
}

bool probe_arguments(struct probe_image *i, const struct probe_spec *spec, const struct probe_place *place,
                     struct arena *a, struct probe_event *out, struct err *err) {
    remarks said = {0};
    struct request r = {i, spec, place, a, out, err, &said};
    bool ok = true;
    for (size_t k = 0; ok && k < spec->args.count; k++) {
        const struct probe_arg *arg = &spec->args.items[k];
        bool all = arg->kind == PROBE_ARG_PARAMS || arg->kind == PROBE_ARG_VARS;
        ok = all ? add_all(&r, arg->kind == PROBE_ARG_PARAMS) : add(&r, arg);
    }
    for (size_t k = 0; ok && k < said.count; k++)
        log_line(LOG_WARN, "%s", said.items[k]);
    vec_fini(&said);
    return ok;
}
