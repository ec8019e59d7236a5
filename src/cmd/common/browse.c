/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/browse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/options/perfconfig.h"
#include "cmd/common/terminal/terminal.h"
#include "view/tui/browser.h"

static void hold(void *ctx, enum log_level level, const char *line) {
    struct held_log *h = ctx;
    out_char(&h->text, (char)('0' + level));
    out_str(&h->text, line);
    out_char(&h->text, '\n');
}

void held_log_say(struct held_log *h) {
    for (char *line = h->ok ? (char *)out_text(&h->text) : NULL, *end; line && (end = strchr(line, '\n'));
         line = end + 1) {
        *end = '\0';
        log_line((enum log_level)(*line - '0'), "%s", line + 1);
    }
    out_fini(&h->text);
}

void held_log_begin(struct held_log *h, bool wanted) {
    *h = (struct held_log){.ok = false};
    h->ok = wanted && out_init(&h->text, NULL, NULL);
    log_set_sink(h->ok ? hold : NULL, h);
}

bool browse_save(void *ctx, const char *text, size_t n, char *name, size_t size, struct err *err) {
    enum { MOST = 10000 };
    struct command_sink sink = {.fd = -1};
    (void)ctx;
    for (unsigned i = 0; i < MOST && sink.fd < 0; i++) {
        snprintf(name, size, "perf.hist.%u", i);
        sink.fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (sink.fd < 0 && errno != EEXIST)
            return err_errno(err, errno, name, "cannot be written");
    }
    if (sink.fd < 0)
        return err_set(err, ERR_IO, name, "there are too many of them: remove some");
    bool ok = command_write_fd(&sink, text, n) || err_errno(err, sink.errnum, name, "cannot be written");
    close(sink.fd);
    return ok;
}

bool browse_possible(bool said) {
    const char *lacks = terminal_lacks();
    if (lacks && said)
        log_line(LOG_WARN, "--tui: %s", lacks);
    return !lacks;
}

/* ---- the loop ---- */

static bool run(struct terminal *t, struct tui_browser *b, struct err *err) {
    struct tui_surface surface = {0};
    enum tui_state state = TUI_GO_ON;
    bool ok = true;
    while (ok && state != TUI_QUIT && !terminal_ended()) {
        ok = terminal_fit(t, &surface, err) && tui_browser_draw(b, &surface, err);
        if (!ok)
            break;
        terminal_show(t, &surface);
        if (state == TUI_WORK) {
            ok = tui_browser_work(b, err);
            state = TUI_GO_ON;
            continue;
        }
        struct tui_press press = terminal_key(t, -1);
        if (press.key != TUI_KEY_NONE)
            state = tui_browser_key(b, press);
    }
    tui_surface_fini(&surface);
    return ok;
}

bool browse(const struct browse_wish *w, struct command_env *env, int *ended, struct err *err) {
    struct held_log held;
    *ended = 0;
    struct tui_browser *b =
        tui_browser_new(w->source, perfconfig_bool(env->config, "ui.show-headers", true), err);
    if (!b)
        return false;
    struct terminal *t = terminal_open(err);
    held_log_begin(&held, t);
    bool ok = t && run(t, b, err);
    *ended = terminal_ended();
    terminal_close(t);
    command_log(env, w->verbose, w->quiet);
    held_log_say(&held);
    tui_browser_free(b);
    return ok;
}

bool browse_settle(bool ok, const struct err *err, int *status) {
    if (ok)
        return true;
    if (err->code == ERR_ABSENT)
        return false;
    if (err->code == ERR_UNSUPPORTED) {
        log_line(LOG_WARN, "%s%s%s", err->where, *err->where ? ": " : "", err->message);
        return false;
    }
    *status = command_fail(err);
    return true;
}
