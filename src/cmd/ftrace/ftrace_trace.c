/* SPDX-License-Identifier: Apache-2.0 */
/* `ftrace trace`: the text that the kernel makes of its trace; -F. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "cmd/ftrace/ftrace.h"
#include "format/tracefs/tracing_data.h"
#include "os/poller.h"
#include "os/proc/host.h"

struct text_face {
    struct out *out;
    int fd;
};

static bool open_text(void *ctx, struct ftrace_setup *s, struct err *err) {
    struct text_face *f = ctx;
    struct writer head = writer_make(false);
    const char *trace = ftrace_setup_path(s, "trace"), *pipe = ftrace_setup_path(s, "trace_pipe");
    if (!trace || !pipe)
        return err_memory(err, "trace");
    /* Nothing has been traced yet: this is the heading. */
    bool ok = s->fs->read(s->fs->ctx, trace, &head, err) && (writer_ok(&head) || err_memory(err, "trace"));
    if (ok && head.size)
        out_mem(f->out, (const char *)head.data, head.size);
    writer_fini(&head);
    f->fd = ok ? s->fs->open_ring(s->fs->ctx, pipe) : -1;
    return ok && (f->fd >= 0 || err_errno(err, -f->fd, pipe, "cannot read the trace"));
}

static bool take_text(void *ctx, uint64_t until, bool *stop, struct err *err) {
    struct text_face *f = ctx;
    char room[1 << 14];
    ssize_t n;
    (void)until, (void)err;
    while (!f->out->failed && (n = read(f->fd, room, sizeof room)) > 0)
        out_mem(f->out, room, (size_t)n);
    *stop |= !out_flush(f->out); /* whoever read it is gone */
    return true;
}

static void close_text(void *ctx) {
    struct text_face *f = ctx;
    os_close(f->fd);
}

int ftrace_trace(struct command_env *env, struct ftrace_cli *c) {
    struct err err = ERR_INIT;
    struct out out;
    struct text_face f = {.out = &out, .fd = -1};
    if (!command_output(env, &out))
        return EXIT_ERROR;
    int status = ftrace_measure(
        c, &(struct ftrace_face){.ctx = &f, .open = open_text, .take = take_text, .close = close_text}, &err);
    if (status < 0) {
        command_finish(env, &out, EXIT_ERROR);
        return command_fail(&err);
    }
    return command_finish(env, &out, status);
}

int ftrace_list(struct command_env *env, const char *pattern) {
    const struct os_tracefs *fs = &os_tracefs_system;
    struct writer w = writer_make(false);
    struct err err = ERR_INIT;
    struct bytes rest, line;
    struct out out;
    char name[256];
    size_t found = 0;
    bool ok = fs->read(fs->ctx, "available_filter_functions", &w, &err) &&
              (writer_ok(&w) || err_memory(&err, "functions"));
    if (!ok && os_host_root() && err.code != ERR_ABSENT && err.code != ERR_MEMORY)
        ftrace_setup_locked("-F", &err);
    if (!ok && err.code == ERR_PERMISSION && !os_host_root())
        err_set(&err, ERR_PERMISSION, "tracefs", "it may not be read: run as root");
    if (!ok && err.code == ERR_ABSENT)
        err_set(&err, ERR_UNSUPPORTED, "-F", "this kernel has no function tracer, or tracefs is not mounted");
    if (!ok || !command_output(env, &out)) {
        writer_fini(&w);
        return ok ? EXIT_ERROR : command_fail(&err);
    }
    for (rest = writer_bytes(&w); tracing_line_next(&rest, &line) && !out.failed;) {
        snprintf(name, sizeof name, "%.*s", (int)(line.size < sizeof name ? line.size : sizeof name - 1),
                 (const char *)line.data);
        name[strcspn(name, " \t")] = '\0'; /* a module's name may follow */
        if (!*name || (pattern && fnmatch(pattern, name, 0) != 0))
            continue;
        out_printf(&out, "%s\n", name);
        found++;
    }
    writer_fini(&w);
    int status = command_finish(env, &out, EXIT_OK);
    if (!found && pattern) {
        err_set(&err, ERR_ABSENT, pattern, "no function that can be traced has such a name");
        return command_fail(&err);
    }
    return status;
}
