/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record/record_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/probe/probe_kept.h"
#include "os/files/place.h"
#include "probe/points.h"
#include "probe/program.h"
#include "record/probes/probes.h"

enum {
    SEMAPHORE_SHIFT = 32, /* ref_ctr_offset in the uprobe PMU's config */
    PATH_ROOM = 4096,
};

struct adding {
    const struct command_env *env;
    const struct record_probe_whose *whose;
    struct perf_event_sources *src;
    struct perf_events *events;
    struct arena a;
    probe_events there;   /* of earlier --probe */
    bool asked, possible; /* whether programs can be loaded */
};

/* Where the command is, as execvp(3) looks for it. NULL: it is not there, or memory ran out. */
static const char *find_command(struct adding *w, const char *command) {
    const char *path = getenv("PATH");
    if (strchr(command, '/'))
        return command;
    for (const char *p = path ? path : "/usr/bin:/bin"; *p;) {
        size_t n = strcspn(p, ":");
        const char *full = arena_printf(&w->a, "%.*s/%s", (int)n, n ? p : ".", command);
        if (!full || access(full, X_OK) == 0)
            return full;
        p += n + (p[n] == ':');
    }
    return NULL;
}

/* The file that a process runs. NULL and *err: it has none, or its path leads to another one now. */
static const char *program_of(struct adding *w, const char *pid, size_t digits, struct err *err) {
    char exe[64], path[PATH_ROOM];
    struct stat runs, there;
    snprintf(exe, sizeof exe, "/proc/%.*s/exe", (int)(digits < 20 ? digits : 20), pid);
    if (stat(exe, &runs) != 0) {
        err_set(
            err, errno == ENOENT ? ERR_ABSENT : ERR_PERMISSION, "--probe",
            "the program of process %.*s cannot be found (%s): name it first: --probe '/usr/bin/NAME PLACE'",
            (int)digits, pid, strerror(errno));
        return NULL;
    }
    if (!os_place_real(exe, path, sizeof path, NULL) || stat(path, &there) != 0 ||
        there.st_ino != runs.st_ino || there.st_dev != runs.st_dev) {
        err_set(err, ERR_ABSENT, "--probe",
                "the program of process %.*s is no longer, or not here, where it was started from: name it "
                "first: --probe '/usr/bin/NAME PLACE'",
                (int)digits, pid);
        return NULL;
    }
    const char *file = arena_strndup(&w->a, path, strlen(path));
    return file ? file : (err_memory(err, "probe"), NULL);
}

/* The one program that all tasks run. NULL and *err: there are several. */
static const char *program_of_tasks(struct adding *w, const char *tasks, struct err *err) {
    const char *file = NULL;
    for (size_t n; *tasks; tasks += n + (tasks[n] == ',')) {
        n = strcspn(tasks, ",");
        const char *one = program_of(w, tasks, n, err);
        if (!one)
            return NULL;
        if (file && strcmp(file, one) != 0) {
            err_set(err, ERR_USAGE, "--probe",
                    "the processes run several programs (%s, %s): name one first: --probe '%s PLACE'", file,
                    one, one);
            return NULL;
        }
        file = one;
    }
    if (!file)
        err_set(err, ERR_USAGE, "--probe", "no process is named");
    return file;
}

/* Takes "/FILE " from the beginning of *text. */
static const char *take_file(struct adding *w, const char **text, struct err *err) {
    const char *blank = strchr(*text, ' ');
    if (**text == '/' && blank) {
        const char *file = arena_strndup(&w->a, *text, (size_t)(blank - *text));
        *text = blank + strspn(blank, " ");
        return file ? file : (err_memory(err, "probe"), NULL);
    }
    if (w->whose->tasks)
        return program_of_tasks(w, w->whose->tasks, err);
    const char *file = w->whose->command ? find_command(w, w->whose->command) : NULL;
    if (!file)
        err_set(err, ERR_USAGE, "--probe", "name the program or library first: --probe '/usr/bin/NAME %s'",
                *text);
    return file;
}

/* Numbers of events that are ours: from the end of those that a tracepoint can have. */
static uint16_t next_id(const struct perf_events *events) {
    uint16_t id = UINT16_MAX;
    for (size_t i = 0; i < events->items.count; i++)
        id -= events->items.items[i].program != NULL;
    return id;
}

/* One event of the uprobe PMU. A BPF program records it and its arguments; where that cannot be, and there
 * are none, the PMU itself does, which cannot follow children. */
static bool add_event(struct adding *w, const struct probe_event *e, struct err *err) {
    size_t at, before = w->events->items.count;
    if (!e->path || strpbrk(e->path, ":,{} \t\n"))
        return err_set(
            err, ERR_UNSUPPORTED, e->path ? e->path : "--probe",
            "its path cannot be part of an event's name: make a link to it that has no blanks, colons, "
            "commas or braces");
    const char *text = arena_printf(&w->a, "%s:0x%llx%s", e->path, (unsigned long long)e->offset,
                                    e->returns ? "%return" : "");
    if (!text)
        return err_memory(err, "probe");
    if (!perf_events_parse(w->src, text, w->events, &at, err))
        return false;
    struct perf_event *made = &w->events->items.items[before];
    made->name = arena_printf(&w->events->arena, "%s:%s", e->group, e->event);
    made->attr.config |= e->semaphore << SEMAPHORE_SHIFT;
    if (!w->asked && !e->args.count)
        w->possible = record_probes_possible(&os_bpf_system);
    w->asked |= !e->args.count;
    if ((w->possible || e->args.count) &&
        !(made->program =
              probe_program_new(e, probe_registers_here(), next_id(w->events), &w->events->arena, err)))
        return false;
    return made->name || err_memory(err, "probe");
}

static bool add_probe(struct adding *w, const char *text, struct err *err) {
    const struct probe_image_options open = {.buildid_dir = w->env->buildid_dir,
                                             .debuginfod_urls = w->env->debuginfod_urls};
    const struct probe_options options = {0};
    struct probe_image image = {.path = NULL};
    struct probe_kept kept = {.env = w->env, .image = &image};
    probe_events made = {0};
    struct probe_spec spec = {0};
    const char *file = take_file(w, &text, err);
    bool ok = file && probe_spec_parse(text, &w->a, &spec, err) &&
              probe_image_open(&image, file, &open, err) &&
              (probe_events_make(&image, &spec, &options, &w->events->arena, &made, err) ||
               probe_kept_take(&kept, &spec, &w->events->arena, &made, err)) &&
              probe_events_distinguish(&made, &w->there, true, &w->events->arena, err);
    for (size_t i = 0; ok && i < made.count; i++)
        ok = add_event(w, &made.items[i], err);
    for (size_t i = 0; ok && i < made.count; i++) {
        struct probe_event *slot = vec_push(&w->there);
        ok = slot || err_memory(err, "probe");
        if (slot)
            *slot = (struct probe_event){.group = made.items[i].group, .event = made.items[i].event};
    }
    probe_events_fini(&made);
    probe_kept_fini(&kept);
    probe_image_fini(&image);
    probe_spec_fini(&spec);
    return ok;
}

bool record_probe_add(const struct command_env *env, const struct option_list *probes,
                      const struct record_probe_whose *whose, struct perf_event_sources *src,
                      struct perf_events *events, struct err *err) {
    struct adding w = {.env = env, .whose = whose, .src = src, .events = events};
    bool ok = true;
    for (size_t i = 0; ok && i < probes->count; i++)
        ok = add_probe(&w, probes->items[i], err);
    probe_events_fini(&w.there);
    arena_fini(&w.a);
    return ok;
}
