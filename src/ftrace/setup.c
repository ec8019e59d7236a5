/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/setup.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define MARK "sonde-"
/* Files that list names, and that an empty write clears: what a process that died had put there cannot be
 * told from what was there before. */
static const char *const LISTS[] = {"set_ftrace_filter", "set_ftrace_notrace", "set_graph_function",
                                    "set_graph_notrace", "set_ftrace_pid",     "set_event_pid"};

/* --- reading and writing --- */

static char *read_text(struct ftrace_setup *s, const char *path, struct err *err) {
    struct writer w = writer_make(false);
    char *text = NULL;
    if (s->fs->read(s->fs->ctx, path, &w, err)) {
        text = writer_ok(&w) ? arena_strndup(&s->arena, w.data ? (const char *)w.data : "", w.size) : NULL;
        if (!text)
            err_memory(err, path);
    }
    writer_fini(&w);
    for (size_t n = text ? strlen(text) : 0; n && isspace((unsigned char)text[n - 1]);)
        text[--n] = '\0';
    return text;
}

/* What has to be written to a file to restore the text that was read. */
static const char *rewritable(const char *path, char *text) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (text[0] == '#' || strcmp(text, "no pid") == 0) /* "#### all functions enabled ####" */
        return "";
    if (strcmp(name, "trace_clock") == 0) { /* "[local] global ..." */
        char *open = strchr(text, '['), *end = open ? strchr(open, ']') : NULL;
        if (end)
            *end = '\0';
        return end ? open + 1 : text;
    }
    if (strcmp(name, "buffer_size_kb") == 0) /* "7 (expanded: 1408)" */
        text[strspn(text, "0123456789")] = '\0';
    return text;
}

static bool keep(struct ftrace_setup *s, const char *path, struct err *err) {
    for (size_t i = 0; i < s->kept.count; i++)
        if (strcmp(s->kept.items[i].path, path) == 0)
            return true;
    char *text = read_text(s, path, err);
    struct ftrace_kept *k = text ? vec_push(&s->kept) : NULL;
    if (k)
        *k = (struct ftrace_kept){path, rewritable(path, text)};
    return k || (err && err->code != ERR_NONE ? false : err_memory(err, path));
}

const char *ftrace_setup_path(struct ftrace_setup *s, const char *file) {
    return arena_printf(&s->arena, "%s%s", s->base, file);
}

bool ftrace_setup_locked(const char *file, struct err *err) {
    return err_set(
        err, ERR_PERMISSION, file,
        "this kernel is locked down (kernel_lockdown(7)): it does not let its functions be traced; "
        "tracepoints work: sonde ftrace latency -e, sonde record -e, sonde sched");
}

static bool refused(int why, const char *file, const char *text, struct err *err) {
    /* We have the rights, as we could make an instance. */
    if ((why == EPERM || why == EACCES) &&
        (strcmp(file, "current_tracer") == 0 || !strncmp(file, "set_ftrace_", 11) ||
         !strncmp(file, "set_graph_", 10)))
        return ftrace_setup_locked(file, err);
    if (why == EACCES || why == EPERM)
        return err_set(err, ERR_PERMISSION, file, "tracefs may not be changed: run as root");
    if (why == EINVAL && strncmp(file, "set_", 4) == 0)
        return err_set(err, ERR_ABSENT, file, "no function matches it: sonde ftrace -F lists them");
    if (why == ENOENT && strncmp(file, "options/", 8) == 0)
        return err_set(err, ERR_UNSUPPORTED, file + 8, "this kernel's tracer has no such option");
    return err_errno(err, why, file, "cannot write '%s' into it", text);
}

/* Writes a file, and keeps its old text. */
static bool set(struct ftrace_setup *s, const char *file, const char *text, bool append, struct err *err) {
    const char *path = ftrace_setup_path(s, file);
    struct err why = ERR_INIT;
    if (!path)
        return err_memory(err, file);
    if (!keep(s, path, &why)) {
        if (why.code == ERR_ABSENT)
            return refused(ENOENT, file, text, err);
        return why.code == ERR_PERMISSION ? refused(EACCES, file, text, err) : (*err = why, false);
    }
    int errnum = s->fs->write(s->fs->ctx, path, text, append);
    return errnum == 0 || refused(errnum, file, text, err);
}

/* --- the beginning --- */

static void clean_up(struct ftrace_setup *s, pid_t gone) {
    char name[64];
    struct err none = ERR_INIT;
    snprintf(name, sizeof name, "instances/" MARK "%d", (int)gone);
    int why = s->fs->remove(s->fs->ctx, name);
    char *tracer = read_text(s, "current_tracer", &none);
    bool set = tracer && strcmp(tracer, "nop") != 0;
    if (set) {
        s->fs->write(s->fs->ctx, "current_tracer", "nop", false);
        for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++)
            s->fs->write(s->fs->ctx, LISTS[i], "", false);
    }
    if (why)
        log_line(LOG_WARN, "sonde ftrace (process %d) was killed and left %s in tracefs: %s", (int)gone, name,
                 strerror(why));
    else
        log_line(LOG_WARN, "sonde ftrace (process %d) was killed: what it left in tracefs is gone now%s%s%s",
                 (int)gone, set ? ", its tracer (" : "", set ? tracer : "",
                 set ? ") and its filters, too" : "");
}

static void look_for_leftovers(struct ftrace_setup *s) {
    struct sysfs_names names;
    struct err none = ERR_INIT;
    if (!s->fs->list(s->fs->ctx, "instances", &s->arena, &names, &none))
        return;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i];
        char *end;
        if (strncmp(name, MARK, strlen(MARK)) != 0)
            continue;
        long pid = strtol(name + strlen(MARK), &end, 10);
        if (!*end && pid > 0 && pid <= INT32_MAX && !s->fs->is_alive(s->fs->ctx, (pid_t)pid))
            clean_up(s, (pid_t)pid);
    }
}

/*
 * Until a tracer is first used the shared ring is tiny: "7 (expanded: 1408)". Up to Linux 6.5 the kernel
 * forgets to expand it if there is an instance, so we do it. Returns the kB that it is to have; 0: it is
 * expanded.
 */
static uint64_t expanded_kb(struct ftrace_setup *s) {
    struct err none = ERR_INIT;
    const char *text = read_text(s, "buffer_size_kb", &none);
    const char *at = text ? strstr(text, "expanded: ") : NULL;
    return at ? strtoull(at + strlen("expanded: "), NULL, 10) : 0;
}

static void expand(struct ftrace_setup *s, uint64_t kb) {
    char text[32];
    if (!kb || expanded_kb(s))
        return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)kb);
    s->fs->write(s->fs->ctx, "buffer_size_kb", text, false);
}

bool ftrace_setup_init(struct ftrace_setup *s, const struct os_tracefs *fs, pid_t own, struct err *err) {
    struct err why = ERR_INIT;
    *s = (struct ftrace_setup){.fs = fs};
    if (!read_text(s, "current_tracer", &why)) {
        if (why.code == ERR_ABSENT)
            return err_set(err, ERR_ABSENT, "tracefs",
                           "it is not there, or not mounted: mount -t tracefs nodev /sys/kernel/tracing");
        return err_set(err, why.code, "tracefs", "it may not be read: run as root");
    }
    look_for_leftovers(s);
    snprintf(s->instance, sizeof s->instance, "instances/" MARK "%d", (int)own);
    uint64_t kb = expanded_kb(s);
    int errnum = fs->make(fs->ctx, s->instance);
    if (!errnum)
        expand(s, kb);
    if (errnum == EACCES || errnum == EPERM || errnum == EROFS) {
        s->instance[0] = '\0';
        return err_set(err, ERR_PERMISSION, "tracefs", "it may not be changed: run as root");
    }
    if (errnum) /* kernels without instances */
        s->instance[0] = '\0';
    return true;
}

static bool has_word(const char *text, const char *word) {
    size_t n = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at += n)
        if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0' || at[n] == '\n'))
            return true;
    return false;
}

/* Chooses the instance if the tracer can be set there, else the shared files if nobody uses them. */
static bool choose_base(struct ftrace_setup *s, const struct ftrace_options *o, struct err *err) {
    char path[96];
    struct err none = ERR_INIT;
    bool shared = o->graph.count || o->nograph.count || o->depth || o->thresh_us; /* not in instances */
    if (s->instance[0] && !shared) {
        snprintf(path, sizeof path, "%s/available_tracers", s->instance);
        const char *there = o->tracer ? read_text(s, path, &none) : "";
        if (there && (!o->tracer || has_word(there, o->tracer))) {
            snprintf(s->base, sizeof s->base, "%.60s/", s->instance);
            return true;
        }
    }
    const char *all = o->tracer ? read_text(s, "available_tracers", &none) : "";
    if (!all || (o->tracer && !has_word(all, o->tracer)))
        return err_set(err, ERR_UNSUPPORTED, o->tracer, "this kernel was built without that tracer");
    const char *now = read_text(s, "current_tracer", err);
    if (!now)
        return false;
    return strcmp(now, "nop") == 0 || !o->tracer ||
           err_set(
               err, ERR_IO, "current_tracer",
               "somebody else uses it (%s); if nobody does: echo nop > /sys/kernel/tracing/current_tracer",
               now);
}

/* --- all --- */

static bool set_list(struct ftrace_setup *s, const char *file, const ftrace_names *names, struct err *err) {
    for (size_t i = 0; i < names->count; i++) {
        /* A word that is not terminated is parsed only when the file is closed, and errors are lost then. */
        const char *line = arena_printf(&s->arena, "%s\n", names->items[i]);
        struct err why = ERR_INIT;
        if (!line)
            return err_memory(err, file);
        if (!set(s, file, line, i > 0, &why))
            return err_set(err, why.code, names->items[i], "%s", why.message);
    }
    return true;
}

static bool set_number(struct ftrace_setup *s, const char *file, uint64_t n, struct err *err) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    return n == 0 || set(s, file, text, false, err);
}

static bool set_flags(struct ftrace_setup *s, const struct ftrace_options *o, struct err *err) {
    const struct {
        bool on;
        const char *file, *text;
    } FLAGS[] = {
        {o->call_graph, "options/func_stack_trace", "1"},
        {o->irq_info, "options/irq-info", "1"},
        {o->args, "options/funcgraph-args", "1"},
        {o->retval || o->retval_hex, "options/funcgraph-retval", "1"},
        {o->retval_hex, "options/funcgraph-retval-hex", "1"},
        {o->retaddr, "options/funcgraph-retaddr", "1"},
        {o->nosleep_time, "options/sleep-time", "0"},
        {o->noirqs, "options/funcgraph-irqs", "0"},
        {o->verbose, "options/funcgraph-proc", "1"},
        {o->verbose, "options/funcgraph-abstime", "1"},
        {o->verbose, "options/latency-format", "1"},
        {o->tail, "options/funcgraph-tail", "1"},
        {o->inherit && o->tracer, "options/function-fork", "1"},
        {o->inherit && o->events.count, "options/event-fork", "1"},
    };
    struct err none = ERR_INIT; /* not all kernels have this option */
    if (o->tracer && strcmp(o->tracer, "function") == 0 && !o->irq_info)
        set(s, "options/irq-info", "0", false, &none);
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        if (FLAGS[i].on && !set(s, FLAGS[i].file, FLAGS[i].text, false, err))
            return false;
    return true;
}

static bool set_events(struct ftrace_setup *s, const struct ftrace_options *o, struct err *err) {
    for (size_t i = 0; i < o->events.count; i++) {
        char file[160];
        struct err why = ERR_INIT;
        snprintf(file, sizeof file, "events/%.120s/enable", o->events.items[i]);
        if (!set(s, file, "1", false, &why))
            return why.code == ERR_ABSENT || why.code == ERR_IO
                       ? err_set(err, ERR_ABSENT, o->events.items[i],
                                 "there is no such tracepoint: sonde list tracepoint")
                       : (*err = why, false);
    }
    return true;
}

bool ftrace_setup_apply(struct ftrace_setup *s, const struct ftrace_options *o, struct err *err) {
    s->functions = o->tracer;
    s->tracepoints = o->events.count;
    /* Filters come before the tracer, which would begin with all functions otherwise; its options appear with
     * the tracer. */
    return choose_base(s, o, err) && set(s, "tracing_on", "0", false, err) &&
           set_number(s, "buffer_size_kb", o->buffer_kb, err) &&
           (!o->cpus || set(s, "tracing_cpumask", o->cpus, false, err)) &&
           (!o->clock || set(s, "trace_clock", o->clock, false, err)) &&
           set_list(s, "set_ftrace_filter", &o->filters, err) &&
           set_list(s, "set_ftrace_notrace", &o->notraces, err) &&
           set_list(s, "set_graph_function", &o->graph, err) &&
           set_list(s, "set_graph_notrace", &o->nograph, err) &&
           set_number(s, "tracing_thresh", o->thresh_us, err) &&
           set_number(s, "max_graph_depth", o->depth, err) &&
           (!o->tracer || set(s, "current_tracer", o->tracer, false, err)) && set_flags(s, o, err) &&
           set_events(s, o, err);
}

bool ftrace_setup_pids(struct ftrace_setup *s, const char *pids, struct err *err) {
    if (!pids)
        return true;
    return (!s->functions || set(s, "set_ftrace_pid", pids, false, err)) &&
           (!s->tracepoints || set(s, "set_event_pid", pids, false, err));
}

bool ftrace_setup_switch(struct ftrace_setup *s, bool on, struct err *err) {
    return set(s, "tracing_on", on ? "1" : "0", false, err);
}

bool ftrace_setup_restore(struct ftrace_setup *s, struct err *err) {
    bool ok = true;
    if (s->kept.count) /* tracing_on was kept first and is restored last, so nothing is traced meanwhile */
        s->fs->write(s->fs->ctx, s->kept.items[0].path, "0", false);
    for (size_t i = s->kept.count; i-- > 0;) {
        const struct ftrace_kept *k = &s->kept.items[i];
        int why = s->fs->write(s->fs->ctx, k->path, k->text, false);
        if (why && ok)
            ok = err_errno(err, why, k->path, "'%s' could not be put back into it", k->text);
    }
    int why = s->instance[0] ? s->fs->remove(s->fs->ctx, s->instance) : 0;
    if (why && ok)
        ok = err_errno(err, why, s->instance, "it could not be removed");
    vec_fini(&s->kept);
    arena_fini(&s->arena);
    s->instance[0] = '\0';
    return ok;
}
