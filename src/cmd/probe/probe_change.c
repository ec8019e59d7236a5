/* SPDX-License-Identifier: Apache-2.0 */
/* --add, --definition and --del. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/probe/probe_kept.h"
#include "cmd/probe/probe_run.h"
#include "os/files/files.h"
#include "probe/defined.h"
#include "view/probe/probe_text.h"

bool probe_run_kernel(const struct probe_cli *c, struct arena *a, struct writer *into,
                      struct probe_kernel *out, struct err *err) {
    *out = (struct probe_kernel){.module = NULL};
    if (c->module && !(out->module = probe_kernel_module(a, c->module)))
        return err_memory(err, "probe");
    out->offline = c->module && strchr(c->module, '/');
    if (!os_files_real.read(os_files_real.ctx, "/proc/kallsyms", into, err))
        return false;
    out->kallsyms = writer_bytes(into);
    return true;
}

/* ---- defining ---- */

struct job {
    struct command_env *env;
    const struct probe_cli *c;
    struct arena a;
    probe_events events, there;
    struct probe_kept kept;
};

static bool make_one(struct job *j, struct probe_image *i, const struct probe_kernel *kernel,
                     const struct probe_spec *spec, struct err *err) {
    size_t before = j->events.count;
    bool ok = i ? probe_events_make(i, spec, &j->c->o, &j->a, &j->events, err)
                : probe_kernel_events(kernel, spec, j->c->o.max_probes, &j->a, &j->events, err);
    j->kept.image = i;
    ok = ok || probe_kept_take(&j->kept, spec, &j->a, &j->events, err);
    if (ok && j->c->cache && !j->c->define.count)
        ok = probe_kept_read(&j->kept, err) &&
             probe_cache_put(&j->kept.cache, spec, &j->events, before, j->events.count, err);
    return ok;
}

/* Makes the events of all probes that were given, of the image or, if that is NULL, of the kernel. */
static bool make_events(struct job *j, struct probe_image *i, const struct probe_kernel *kernel,
                        const struct option_list *list, struct err *err) {
    for (size_t k = 0; k < list->count; k++) {
        struct probe_spec spec;
        bool ok = probe_spec_parse(list->items[k], &j->a, &spec, err) && make_one(j, i, kernel, &spec, err);
        probe_spec_fini(&spec);
        if (!ok)
            return false;
    }
    return true;
}

static int show_definitions(struct job *j) {
    struct out out;
    if (!command_output(j->env, &out))
        return EXIT_ERROR;
    if (j->c->bootconfig)
        probe_events_print_boot(&out, &j->events);
    for (size_t i = 0; i < j->events.count && !j->c->bootconfig; i++) {
        probe_event_print(&out, &j->events.items[i]);
        out_char(&out, '\n');
    }
    return command_finish(j->env, &out, EXIT_OK);
}

/* All or none: what was added before one that the kernel refuses goes again. */
static bool define_all(struct job *j, struct err *err) {
    const struct os_dynamic_events *sys = &os_dynamic_events_system;
    for (size_t i = 0; i < j->events.count; i++) {
        if (probe_defined_add(sys, &j->events.items[i], err))
            continue;
        for (size_t k = 0; k < i; k++) {
            bool again = false;
            for (size_t m = 0; m < k; m++)
                again |= !strcmp(j->events.items[m].event, j->events.items[k].event) &&
                         !strcmp(j->events.items[m].group, j->events.items[k].group);
            if (!again)
                probe_defined_remove(sys, &j->events.items[k], NULL);
        }
        return false;
    }
    probe_notes_update(j->env->own_cache, &j->events, &(probe_events){0});
    return true;
}

static int say_added(struct job *j) {
    struct out out;
    const struct probe_event *last = &j->events.items[j->events.count - 1];
    if (j->c->quiet)
        return EXIT_OK;
    if (!command_output(j->env, &out))
        return EXIT_ERROR;
    out_printf(&out, "Added new event%s:\n", j->events.count > 1 ? "s" : "");
    for (size_t i = 0; i < j->events.count; i++) {
        const struct probe_event *e = &j->events.items[i];
        probe_text_event(&out, e, e->given, e->given_args, e->path ? e->path : e->module);
    }
    out_printf(&out, "\nYou can now use it in all %s tools, such as:\n\n\t%s record -e %s:%s -aR sleep 1\n\n",
               j->env->program, j->env->program, last->group, last->event);
    return command_finish(j->env, &out, EXIT_OK);
}

static bool read_there(struct job *j, enum os_dynamic_kind kind, struct err *err) {
    return probe_defined_read(&os_dynamic_events_system, kind, &j->a, &j->there, err);
}

/* What there is to define, of a file or of the kernel. */
static bool prepare(struct job *j, struct probe_image *i, struct writer *kallsyms, struct err *err) {
    const struct option_list *list = j->c->define.count ? &j->c->define : &j->c->add;
    struct probe_kernel kernel;
    bool by_name;
    if (!probe_run_open(j->env, j->c, &j->a, i, &by_name, err))
        return false;
    if (!by_name)
        return make_events(j, i, NULL, list, err);
    return probe_run_kernel(j->c, &j->a, kallsyms, &kernel, err) && make_events(j, NULL, &kernel, list, err);
}

/* The path as the process itself has it. */
static const char *own_name(const struct probe_cli *c, const char *path) {
    static const char root[] = "/root/";
    const char *within = c->target_ns && path ? strstr(path, root) : NULL;
    if (!within)
        return path;
    path = within + sizeof root - 2;
    return path + (path[1] == '/');
}

int probe_run_add(struct command_env *env, const struct probe_cli *c) {
    struct job j = {.env = env, .c = c, .kept = {.env = env, .module = c->module != NULL}};
    struct probe_image image = {.path = NULL};
    struct writer kallsyms = writer_make(false);
    struct err err = ERR_INIT;
    bool show = c->define.count > 0, keep = c->cache && !show;
    enum os_dynamic_kind kind = c->exec ? OS_DYNAMIC_UPROBES : OS_DYNAMIC_KPROBES;
    bool ok = prepare(&j, &image, &kallsyms, &err) && (show || c->dry_run || read_there(&j, kind, &err)) &&
              probe_events_distinguish(&j.events, &j.there, c->force, &j.a, &err) &&
              (show || c->dry_run || define_all(&j, &err));
    int status = !ok ? command_fail(&err) : show ? show_definitions(&j) : say_added(&j);
    if (ok && keep && !probe_kept_write(&j.kept, own_name(c, image.path), &err))
        status = command_fail(&err);
    probe_kept_fini(&j.kept);
    probe_image_fini(&image);
    writer_fini(&kallsyms);
    probe_events_fini(&j.events);
    probe_events_fini(&j.there);
    arena_fini(&j.a);
    return status;
}

/* ---- deleting ---- */

static bool matches(const char *pattern, const struct probe_event *e) {
    char name[2 * PROBE_NAME_MAX + 2];
    snprintf(name, sizeof name, "%s:%s", e->group, e->event);
    return fnmatch(pattern, strchr(pattern, ':') ? name : e->event, 0) == 0;
}

static int by_name(const void *a, const void *b) {
    const struct probe_event *x = a, *y = b;
    int order = strcmp(x->group, y->group);
    return order ? order : strcmp(x->event, y->event);
}

/* Either list may be absent, as the kernel is built; not both. */
static bool read_all(struct job *j, struct err *err) {
    struct err none = ERR_INIT;
    bool uprobes = read_there(j, OS_DYNAMIC_UPROBES, err);
    bool kprobes = read_there(j, OS_DYNAMIC_KPROBES, &none);
    if (j->there.count)
        qsort(j->there.items, j->there.count, sizeof *j->there.items, by_name);
    return uprobes || (kprobes && err->code == ERR_ABSENT);
}

static bool delete_matching(struct job *j, const char *pattern, struct out *out, struct err *err) {
    bool any = false;
    const struct probe_event *last = NULL;
    for (size_t i = 0; i < j->there.count; i++) {
        const struct probe_event *e = &j->there.items[i];
        if (!matches(pattern, e) || (last && by_name(last, e) == 0))
            continue;
        if (!j->c->dry_run && !probe_defined_remove(&os_dynamic_events_system, e, err))
            return false;
        last = e;
        any = true;
        if (!j->c->quiet)
            out_printf(out, "Removed event: %s:%s\n", e->group, e->event);
        probe_notes_update(j->env->own_cache, &(probe_events){0},
                           &(probe_events){(struct probe_event *)e, 1, 1});
    }
    return any || err_set(err, ERR_ABSENT, NULL, "\"%s\" does not hit any event.", pattern);
}

int probe_run_delete(struct command_env *env, const struct probe_cli *c) {
    struct job j = {.env = env, .c = c};
    struct err err = ERR_INIT;
    struct out out;
    bool ok = true;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    for (size_t i = 0; ok && i < c->del.count; i++) {
        probe_events_fini(&j.there);
        ok = read_all(&j, &err) && delete_matching(&j, c->del.items[i], &out, &err);
    }
    int status = command_finish(env, &out, EXIT_OK);
    probe_events_fini(&j.there);
    arena_fini(&j.a);
    return ok ? status : command_fail(&err);
}

/* ---- listing ---- */

/* The names of the arguments, as perf shows them. */
static const char *argument_names(const struct probe_event *e, struct arena *a) {
    const char *text = "";
    for (size_t i = 0; text && i < e->args.count; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " " : "",
                            e->args.items[i].name ? e->args.items[i].name : "?");
    return text ? text : "?";
}

struct listing {
    struct job job;
    struct out out;
    struct probe_image image; /* the last one that was opened */
    const char *path;
    bool open;
};

/* Where a probe of a file lies, by the file as it is now. */
static const char *place_in_file(struct listing *l, const struct probe_event *e, const char *stale) {
    struct err none = ERR_INIT;
    object_vaddr addr;
    if (stale)
        return arena_printf(&l->job.a, "[stale]+0x%llx", (unsigned long long)e->offset);
    if (!l->path || strcmp(l->path, e->path) != 0) {
        if (l->path)
            probe_image_fini(&l->image);
        struct probe_image_options o = {.symfs = l->job.c->symfs, .buildid_dir = l->job.env->buildid_dir};
        l->open = probe_image_open(&l->image, e->path, &o, &none);
        l->path = e->path;
    }
    if (l->open && object_layout_addr(&l->image.layout, e->offset, &addr))
        return probe_place_text(&l->image, addr, e->returns, &l->job.a);
    return arena_printf(&l->job.a, "0x%llx", (unsigned long long)e->offset);
}

static void list_one(struct listing *l, const struct probe_event *e) {
    struct arena *a = &l->job.a;
    const char *stale = e->path ? probe_note_stale(l->job.env->own_cache, e, a) : NULL, *place;
    if (e->path)
        place = place_in_file(l, e, stale);
    else if (e->offset)
        place = arena_printf(a, "%s+%llu", e->symbol, (unsigned long long)e->offset);
    else
        place = arena_printf(a, "%s%s", e->symbol, e->returns ? "%return" : "");
    probe_text_event(&l->out, e, place ? place : "?", argument_names(e, a), e->path ? e->path : e->module);
    if (stale)
        log_line(LOG_WARN, "%s:%s is stale: %s: %s (remove it with probe -d)", e->group, e->event, e->path,
                 stale);
}

int probe_run_list(struct command_env *env, const struct probe_cli *c) {
    struct listing l = {.job = {.env = env, .c = c}};
    struct err err = ERR_INIT;
    if (!read_all(&l.job, &err)) {
        probe_events_fini(&l.job.there);
        arena_fini(&l.job.a);
        return command_fail(&err);
    }
    int status = EXIT_ERROR;
    if (command_output(env, &l.out)) {
        for (size_t i = 0; i < l.job.there.count; i++)
            if (!*c->list || matches(c->list, &l.job.there.items[i]))
                list_one(&l, &l.job.there.items[i]);
        status = command_finish(env, &l.out, EXIT_OK);
    }
    if (l.path)
        probe_image_fini(&l.image);
    probe_events_fini(&l.job.there);
    arena_fini(&l.job.a);
    return status;
}
