/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task_names.h"

/* Returns the comm that a thread had when it exited: perf report, unlike script, keeps it for what still runs
 * after the EXIT record. After a second such record it may be that of an earlier incarnation; *thread becomes
 * whose it is. */
static const char *earlier_comm(const struct model *m, uint32_t pid, uint32_t tid, struct model_when when,
                                uint32_t *thread) {
    const char *comm = NULL;
    for (unsigned tries = 0; !comm && tries < 3; tries++) {
        uint32_t id = model_thread_at(m, pid, tid, when);
        if (id == MODEL_NONE || (!model_thread(m, id)->exited && !tries))
            break;
        comm = model_comm(m, pid, tid, model_when_prior(model_thread(m, id)->ended), NULL);
        if (!comm && model_thread(m, id)->forked)
            break;
        *thread = comm ? id : *thread;
        when = model_when_prior(model_thread(m, id)->born);
    }
    return comm;
}

/* Returns the comm in the first COMM record of a thread without a name so far: perf then replaces the name
 * that it had made up, for earlier samples as well. A thread that is forked, or begins after this one's end,
 * is another. */
static const char *later_comm(const struct model *m, uint32_t pid, uint32_t tid,
                              const struct model_comm_span *span) {
    if (span->until.time_ns == UINT64_MAX)
        return NULL;
    uint32_t then = model_thread_at(m, pid, tid, span->until);
    bool ended = span->thread != MODEL_NONE && model_thread(m, span->thread)->exited;
    if (then != span->thread && (ended || (then != MODEL_NONE && model_thread(m, then)->forked)))
        return NULL;
    return model_comm(m, pid, tid, span->until, NULL);
}

struct model_comm_span model_task_name_at(const struct model *m, uint32_t pid, uint32_t tid,
                                          struct model_when when) {
    struct model_comm_span span;
    model_comm_at(m, pid, tid, when, &span);
    if (!span.comm && (span.comm = later_comm(m, pid, tid, &span)))
        span.thread = model_thread_at(m, pid, tid, span.until);
    if (!span.comm)
        span.comm = earlier_comm(m, pid, tid, when, &span.thread);
    return span;
}

const char *model_task_last_name(const struct model *m, uint32_t thread) {
    const struct model_thread *t = thread == MODEL_NONE ? NULL : model_thread(m, thread);
    while (t && !t->exited) {
        uint32_t next = model_thread_at(m, t->pid, t->tid, t->ended);
        if (next == MODEL_NONE || next == thread || model_thread(m, next)->forked)
            break;
        thread = next;
        t = model_thread(m, thread);
    }
    return t ? model_comm(m, t->pid, t->tid, model_when_prior(t->ended), NULL) : NULL;
}
