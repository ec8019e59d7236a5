/* SPDX-License-Identifier: Apache-2.0 */
/* `sonde trace -i FILE`, and `sonde trace record`. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/forward.h"
#include "cmd/trace/trace.h"
#include "os/proc/host.h"

bool trace_sink_open(struct trace_sink *s, const char *path, struct err *err) {
    s->sink.fd = STDERR_FILENO;
    if (path) {
        s->sink.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (s->sink.fd < 0)
            return err_errno(err, errno, path, "cannot write");
        s->file = true;
    }
    s->opened = out_init(&s->out, command_write_fd, &s->sink);
    return s->opened || err_memory(err, "lines");
}

bool trace_sink_close(struct trace_sink *s) {
    bool ok = !s->opened || out_flush(&s->out);
    if (s->opened)
        out_fini(&s->out);
    if (s->file && close(s->sink.fd) != 0)
        ok = false;
    return ok;
}

enum { MACHINE_MAX = 65 };

static const char *machine_of(const struct recording *r, char room[MACHINE_MAX]) {
    return perfdata_feature_text(stream_header(r->stream), PERFDATA_FEATURE_ARCH, room, MACHINE_MAX) ? room
                                                                                                     : NULL;
}

/* What was copied has the byte order and the layout of the machine that it was copied on. */
static bool is_like_ours(const struct recording *r, const char *machine) {
    struct os_host host;
    os_host_read(&host);
    return machine && strcmp(machine, host.machine) == 0 && !r->events->swap;
}

static bool read_all(struct trace *t, struct event_view *v, struct err *err) {
    if (!event_view_read(v, trace_want, trace_take, t, err) && !t->done)
        return false;
    if (!call_events_any(&t->events) && t->select->syscalls)
        return err_set(err, ERR_ABSENT, stream_path(v->recording.stream),
                       "no system calls were recorded: use 'sonde trace record'");
    return trace_finish(t, err);
}

int trace_file(struct command_env *env, struct trace_options *o) {
    struct symbol_options symbols = {0};
    struct event_view v = {.env = env, .input = o->input, .force = o->force, .other_output = true};
    struct trace_select select = {0};
    struct trace_sink sink = {0};
    struct trace_texts texts = {0};
    struct trace t = {.env = env, .o = o, .select = &select};
    struct err err = ERR_INIT;
    char room[MACHINE_MAX];
    if (o->callgraph || o->faults)
        v.symbols = &symbols;
    v.names_addresses = o->faults;
    bool ok = event_view_open(&v, &err) && trace_sink_open(&sink, o->output, &err);
    if (ok) {
        const char *machine = machine_of(&v.recording, room);
        t.out = &sink.out;
        t.texts = is_like_ours(&v.recording, machine) ? &texts : NULL;
        t.model = v.model;
        t.stacks = v.symbols ? &v.stacks : NULL;
        ok = trace_select_parse(&select, o, calls_table(machine, false), calls_table(machine, true), &err) &&
             trace_init(&t, &v.recording, machine, &err) && read_all(&t, &v, &err);
        if (ok)
            trace_faults(&t);
    }
    trace_fini(&t);
    trace_texts_fini(&texts);
    trace_select_fini(&select);
    if (!trace_sink_close(&sink) && ok)
        ok = err_set(&err, ERR_IO, o->output ? o->output : "standard error", "cannot write");
    return event_view_close(&v, ok, &err);
}

int trace_record(struct command_env *env, int argc, char **argv) {
    static const char *const FIRST[] = {"-R", "-m", "1024", "-c", "1", "--syscall-memory", NULL};
    struct forward words;
    struct err err = ERR_INIT;
    forward_record_begin(&words, FIRST);
    bool ok = forward_event(&words, "raw_syscalls:sys_enter", &err) &&
              forward_event(&words, "raw_syscalls:sys_exit", &err);
    return forward_record_run(env, &words, ok, &err, argc, argv);
}
