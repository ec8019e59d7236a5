/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/view/serve.h"
#include "config.h"
#include "view/page/page.h"

/* Returns "a" or, of two recordings, "a and b", with the command line of the first. */
static void put_title(const struct stacks *s, struct out *title) {
    for (size_t i = 0; i < s->recordings.count; i++) {
        const char *path = stacks_str(s, s->recordings.items[i].path), *slash = strrchr(path, '/');
        out_str(title, i ? " and " : "");
        out_str(title, slash ? slash + 1 : path);
    }
    const char *line = s->recordings.count == 1 ? stacks_str(s, s->recordings.items[0].cmdline) : "";
    if (*line) {
        out_str(title, ": ");
        out_str(title, line);
    }
    out_char(title, '\0');
}

static bool write_page(const struct show_options *o, const struct stacks *s, struct out *out,
                       struct err *err) {
    struct out title;
    bool ok = out_init(&title, NULL, NULL) || err_memory(err, "page");
    if (ok)
        put_title(s, &title);
    ok = ok && page_write(s,
                          &(struct page_options){
                              .title = title.buf, .program = "sonde " SONDE_VERSION, .verdicts = o->verdicts},
                          out, err);
    out_fini(&title);
    return ok;
}

static bool write_file(const struct show_options *o, const struct stacks *s, struct err *err) {
    const char *path = o->output;
    struct command_sink sink = {.fd = strcmp(path, "-") ? -1 : STDOUT_FILENO};
    struct out out;
    if (sink.fd < 0 && (sink.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
        return err_errno(err, errno, path, "cannot be written");
    bool ok = out_init(&out, command_write_fd, &sink) || err_memory(err, path);
    ok = ok && write_page(o, s, &out, err);
    if (ok && !out_flush(&out))
        ok = err_errno(err, sink.errnum, path, "cannot be written");
    out_fini(&out);
    if (sink.fd != STDOUT_FILENO && close(sink.fd) && ok)
        ok = err_errno(err, errno, path, "cannot be written");
    return ok;
}

/* ---- a browser ---- */

/* Starts $BROWSER, or what the desktop has, without waiting for it. Its output would only disturb. */
static void open_browser(const char *url) {
    const char *own = getenv("BROWSER");
    const char *program = own && *own ? own : "xdg-open";
    pid_t pid = fork();
    if (pid)
        return;
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    setsid(); /* ^C is for us */
    execlp(program, program, url, (char *)NULL);
    _exit(127);
}

static bool has_desktop(void) {
    const char *browser = getenv("BROWSER");
    return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") || (browser && *browser);
}

static bool parse_port(const char *text, uint16_t *port, struct err *err) {
    char *end = NULL;
    unsigned long n = text ? strtoul(text, &end, 10) : 0;
    *port = (uint16_t)n;
    return !text || (*text && !*end && n <= UINT16_MAX) ||
           err_set(err, ERR_USAGE, "--serve", "\"%s\": use a port, or none for any", text);
}

static bool serve_page(const struct show_options *o, const struct stacks *s, struct err *err) {
    struct serve serve = {0};
    struct out page;
    if (!parse_port(o->port, &serve.port, err))
        return false;
    bool ok = out_init(&page, NULL, NULL) || err_memory(err, "page");
    ok = ok && write_page(o, s, &page, err) && (!page.failed || err_memory(err, "page"));
    serve.page = (struct bytes){(const uint8_t *)page.buf, page.len};
    if (ok && serve_open(&serve, err)) {
        char url[96];
        snprintf(url, sizeof url, "http://127.0.0.1:%u/%s/", serve.port, serve.token);
        printf("%s  (Ctrl-C ends)\n", url);
        fflush(stdout);
        if (o->open && has_desktop())
            open_browser(url);
        ok = serve_run(&serve, err);
    } else {
        ok = false;
    }
    out_fini(&page);
    return ok;
}

/* ---- all ---- */

/* Returns n with separators: "4,812". */
static const char *grouped(uint64_t n, char text[32]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    return text;
}

/* Says in a line what is there: "4,812 samples, 31 % in X". */
static void tell(const struct stacks *s) {
    const struct stacks_event *e = &s->events.items[0];
    uint64_t most;
    uint32_t name = stacks_hottest(s, 0, &most);
    char samples[32];
    if (name == STACKS_NONE)
        return;
    fprintf(stderr, "%s sample%s, %.0f %% in %.200s\n", grouped(e->samples, samples),
            e->samples == 1 ? "" : "s", e->period ? 100.0 * (double)most / (double)e->period : 0,
            stacks_str(s, name));
}

int show_page(struct command_env *env, const struct show_options *o, const struct stacks *s) {
    struct err err = ERR_INIT;
    if (!s->events.count) {
        err_set(&err, ERR_ABSENT, stacks_str(s, s->recordings.items[0].path), "no samples to show");
        return command_fail(&err);
    }
    if (env->verbose >= 0)
        tell(s);
    bool ok = o->output ? write_file(o, s, &err) : serve_page(o, s, &err);
    return ok ? EXIT_OK : command_fail(&err);
}

int show_recording(struct command_env *env, const char *path) {
    struct stacks_options in;
    struct stacks s = {0};
    stacks_options_init(&in, env->config);
    in.moments = true;
    int status = stacks_read(env, &in, path, &s, NULL);
    int shown =
        status == STACKS_FAILED ? EXIT_ERROR : show_page(env, &(struct show_options){.open = true}, &s);
    stacks_fini(&s);
    stacks_options_fini(&in);
    return shown ? shown : status;
}
