/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/browse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/command.h"

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
