/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/synth.h"

#include <pthread.h>

#include "base/log.h"
#include "record/synth/bpf_programs.h"
#include "record/synth/cgroups.h"
#include "record/synth/kernel.h"
#include "record/synth/tasks.h"

enum {
    FLUSH_BYTES = 128 << 10,
    THREADS_MAX = 16,
    /* Below so many processes a thread costs more than it saves. */
    PROCESSES_PER_THREAD = 64,
};

static bool flush(const struct record_sink *sink, struct writer *w, struct err *err) {
    if (!writer_ok(w))
        return err_memory(err, "records");
    bool ok = !w->size || sink->put(sink->ctx, writer_bytes(w), err);
    writer_clear(w);
    return ok;
}

static bool kernel_and_groups(const struct os_proc *proc, const struct record_synth_request *r,
                              const struct record_sink *sink, struct err *err) {
    struct writer w = writer_make(false);
    const struct record_options *o = r->options;
    bool ok = record_kernel_encode(proc, sink, r->modules, o->build_id_mmap, r->kernel, &w);
    if (!o->no_bpf_event)
        ok = ok && record_bpf_encode(proc, sink, &w);
    if (o->all_cgroups && !o->no_cgroups)
        ok = ok && record_cgroups_encode(proc, sink, &w);
    ok = ok || err_memory(err, "the kernel's map");
    ok = ok && flush(sink, &w, err);
    writer_fini(&w);
    return ok;
}

/* The processes and threads that were named, each once. */
static bool named_tasks(struct record_tasks *t, const struct record_synth_request *r, struct err *err) {
    int32_t last = 0;
    for (size_t i = 0; i < r->target->threads.count; i++) {
        const struct perf_target_thread *th = &r->target->threads.items[i];
        if (th->pid && th->pid == last)
            continue;
        last = th->pid;
        bool ok = th->pid ? record_tasks_process(t, th->pid) : record_tasks_thread(t, th->tid);
        if (!ok)
            return err_memory(err, "processes");
        if (!flush(t->sink, &t->out, err))
            return false;
    }
    return true;
}

/* A thread's part of all processes: its records wait in its own buffer, so that they come out in order. */
struct share {
    struct record_tasks tasks;
    const int32_t *pids;
    size_t count;
    pthread_t thread;
    bool started, ok;
};

static void *do_share(void *arg) {
    struct share *s = arg;
    s->ok = true;
    for (size_t i = 0; i < s->count && s->ok; i++)
        s->ok = record_tasks_process(&s->tasks, s->pids[i]);
    return NULL;
}

static size_t thread_count(const struct record_synth_request *r, size_t processes) {
    size_t n = r->options->synth_threads ? r->options->synth_threads : 1;
    n = n > THREADS_MAX ? THREADS_MAX : n;
    return processes < n * PROCESSES_PER_THREAD ? processes / PROCESSES_PER_THREAD + 1 : n;
}

static bool shared_tasks(struct record_tasks *model, const os_numbers *pids, size_t threads,
                         struct err *err) {
    struct share *shares = calloc(threads, sizeof *shares);
    bool ok = shares != NULL || err_memory(err, "processes");
    for (size_t i = 0; ok && i < threads; i++) {
        size_t from = pids->count * i / threads, to = pids->count * (i + 1) / threads;
        shares[i].tasks = *model; /* nothing found yet: nothing owned */
        shares[i].pids = pids->items + from;
        shares[i].count = to - from;
        /* The last share is our own; so is one whose thread cannot be had. */
        shares[i].started =
            i + 1 < threads && pthread_create(&shares[i].thread, NULL, do_share, &shares[i]) == 0;
    }
    for (size_t i = threads; shares && ok && i-- > 0;)
        if (!shares[i].started)
            do_share(&shares[i]);
    for (size_t i = 0; shares && i < threads; i++) {
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
        model->denied += shares[i].tasks.denied;
        model->asked += shares[i].tasks.asked;
        if (ok)
            ok = shares[i].ok ? flush(model->sink, &shares[i].tasks.out, err) : err_memory(err, "processes");
        record_tasks_fini(&shares[i].tasks);
    }
    free(shares);
    return ok;
}

static bool all_tasks(struct record_tasks *t, const struct record_synth_request *r, struct err *err) {
    os_numbers pids = {0};
    struct err why;
    bool ok = true;
    t->forks = true;
    if (t->proc->numbers(t->proc->ctx, "/proc", &pids, &why)) {
        size_t threads = thread_count(r, pids.count);
        if (threads > 1)
            ok = shared_tasks(t, &pids, threads, err);
        for (size_t i = 0; threads <= 1 && ok && i < pids.count; i++) {
            ok = record_tasks_process(t, pids.items[i]) || err_memory(err, "processes");
            if (ok && t->out.size >= FLUSH_BYTES)
                ok = flush(t->sink, &t->out, err);
        }
    }
    vec_fini(&pids);
    return ok && flush(t->sink, &t->out, err);
}

/*
 * Who may not look at a process has fewer rights than it: proc(5), ptrace(2). A root without all capabilities
 * meets a few such processes in every container, and can do nothing about it: no reason to say it aloud.
 */
static void advise(const struct record_tasks *t, bool root) {
    bool many = t->denied > t->asked / 8;
    if (t->denied)
        log_line(many && !root ? LOG_WARN : LOG_INFO,
                 "%u of %u processes do not show their mappings to this user, their functions will have no "
                 "names: %s",
                 t->denied, t->asked,
                 root ? "they have capabilities that this root lacks (capsh --print)" : "record as root");
}

bool record_synth(void *ctx, const struct record_synth_request *r, const struct record_sink *sink,
                  struct err *err) {
    const struct os_proc *proc = ctx;
    /* Processes first: they end, while the kernel can be looked at at leisure. What a command maps, and its
     * name, come when it starts. */
    if (!r->target->exec && !r->options->no_tasks) {
        struct record_tasks tasks;
        record_tasks_init(&tasks, proc, sink, r->options);
        bool ok = r->target->system_wide ? all_tasks(&tasks, r, err) : named_tasks(&tasks, r, err);
        advise(&tasks, r->root);
        record_tasks_fini(&tasks);
        if (!ok)
            return false;
    }
    return kernel_and_groups(proc, r, sink, err);
}
