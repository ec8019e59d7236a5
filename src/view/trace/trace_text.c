/* SPDX-License-Identifier: Apache-2.0 */
#include "view/trace/trace_text.h"

#include <inttypes.h>
#include <string.h>

bool trace_text_init(struct trace_text *t) {
    return out_init(&t->line, NULL, NULL);
}

void trace_text_fini(struct trace_text *t) {
    out_fini(&t->line);
}

/* ---- pieces ---- */

static void put_time(struct trace_text *t, bool known, uint64_t time_ns) {
    if (t->no_timestamp)
        return;
    if (!known)
        out_str(t->out, "         ? ");
    else if (t->full_time)
        out_printf(t->out, "%10.3f ", (double)time_ns / 1e6);
    else
        out_printf(t->out, "%10.3f ", (double)(int64_t)(time_ns - t->base_ns) / 1e6);
}

static void put_cpu(struct trace_text *t, uint32_t cpu) {
    if (t->cpu)
        out_printf(t->out, "[%03" PRIu32 "] ", cpu);
}

static void put_duration(struct trace_text *t, const struct calls_call *call, bool ended) {
    if (t->no_duration)
        return;
    if (ended && call->has_enter && call->has_exit)
        out_printf(t->out, "(%6.3f ms): ", (double)(call->exit_ns - call->enter_ns) / 1e6);
    else
        out_str(t->out, "(         ): ");
}

static void put_thread(struct trace_text *t, uint32_t tid) {
    const char *name = calls_thread_name(t->calls, tid);
    if (t->comm && name)
        out_plain(t->out, name, strlen(name));
    else if (t->comm)
        out_printf(t->out, ":%" PRIu32, tid);
    if (t->comm)
        out_char(t->out, '/');
    out_printf(t->out, "%" PRIu32 " ", tid);
}

/* Writes the line buffer, blanks up to a column, and `then`. */
static void put_aligned(struct trace_text *t, unsigned column, const char *then) {
    out_mem(t->out, t->line.buf, t->line.len);
    if (t->line.len < column)
        out_fill(t->out, ' ', column - t->line.len);
    else
        out_char(t->out, ' ');
    out_str(t->out, then);
}

static void put_dots(struct trace_text *t) {
    enum { DOTS = 3 };
    put_aligned(t, t->align > DOTS ? t->align - DOTS : 0, "...\n");
}

static void put_beginning(struct trace_text *t, const struct calls_call *call, bool ended) {
    put_time(t, call->has_enter, call->enter_ns);
    put_cpu(t, call->cpu);
    put_duration(t, call, ended);
    put_thread(t, call->tid);
}

/* ---- lines ---- */

static bool is_wanted(const struct trace_text *t, const struct calls_call *call) {
    return !t->wanted || t->wanted(t->ctx, call);
}

static void put_unfinished(struct trace_text *t, struct calls_call *call) {
    char room[CALLS_NAME_MAX];
    put_beginning(t, call, false);
    t->line.len = 0;
    out_printf(&t->line, "%s(", calls_values_name(t->calls, call, room));
    calls_values_args(&t->values, call, &t->line);
    out_char(&t->line, ')');
    put_dots(t);
    call->shown = true;
    t->lines++;
}

void trace_text_heard(struct trace_text *t, uint64_t time_ns, uint32_t tid) {
    if (!t->begun) {
        t->begun = true;
        t->base_ns = time_ns;
    }
    if (!t->current || t->current == tid)
        return;
    struct calls_thread *c = calls_thread(t->calls, t->current);
    t->current = 0;
    /* Whether it will fail, or take long, is not known yet. */
    if (c && c->open && !c->call.shown && !t->failure && !t->least_ns && is_wanted(t, &c->call))
        put_unfinished(t, &c->call);
}

void trace_text_entered(struct trace_text *t, uint32_t tid) {
    t->current = tid;
}

static bool passes(const struct trace_text *t, const struct calls_call *call, enum calls_end end) {
    uint32_t number;
    if (!is_wanted(t, call) || (t->failure && !calls_values_failed(call, &number)))
        return false;
    return !t->least_ns || (end == CALLS_RETURNED && call->exit_ns - call->enter_ns > t->least_ns);
}

bool trace_text_call(struct trace_text *t, const struct calls_call *call, enum calls_end end) {
    char room[CALLS_NAME_MAX];
    if (t->current == call->tid)
        t->current = 0;
    if (!passes(t, call, end) || (call->shown && end == CALLS_EXIT_UNSEEN))
        return false;
    put_beginning(t, call, true);
    t->line.len = 0;
    bool again = call->shown || end == CALLS_ENTER_UNSEEN;
    out_printf(&t->line, again ? " ... [continued]: %s(" : "%s(", calls_values_name(t->calls, call, room));
    (again ? calls_values_written : calls_values_args)(&t->values, call, &t->line);
    out_str(&t->line, again ? "))" : ")");
    if (end == CALLS_EXIT_UNSEEN) {
        put_dots(t);
    } else {
        put_aligned(t, t->align, "= ");
        calls_values_result(&t->values, call, t->out);
        out_char(t->out, '\n');
    }
    t->lines++;
    return true;
}

void trace_text_head(struct trace_text *t, uint64_t time_ns, uint32_t cpu, uint32_t tid) {
    put_time(t, true, time_ns);
    put_cpu(t, cpu);
    put_thread(t, tid);
}

void trace_text_fault(struct trace_text *t, uint64_t time_ns, uint32_t cpu, uint32_t tid) {
    put_time(t, true, time_ns);
    put_cpu(t, cpu);
    if (!t->no_duration)
        out_str(t->out, "( 0.000 ms): ");
    put_thread(t, tid);
}
