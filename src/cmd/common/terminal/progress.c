/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/terminal/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* Work shorter than this needs no line; and how often the line changes. */
enum { PATIENCE_MS = 500, STEP_MS = 100 };

static struct {
    char what[128];
    const char *hint;
    bool on, shown, forbidden;
    uint64_t start_ms, next_ms, done;
} line;

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void progress_allow(bool yes) {
    line.forbidden = !yes;
}

void progress_start(const char *what, const char *hint) {
    progress_end();
    snprintf(line.what, sizeof line.what, "%s", what);
    line.hint = hint;
    line.on = !line.forbidden && isatty(STDERR_FILENO);
    line.start_ms = now_ms();
    line.next_ms = line.start_ms + PATIENCE_MS;
}

void progress_tick(void *ctx, uint64_t done, uint64_t total) {
    uint64_t now = line.on ? now_ms() : 0;
    (void)ctx;
    if (!line.on || now < line.next_ms)
        return;
    if (done < line.done) /* another pass */
        line.start_ms = now;
    line.done = done;
    line.next_ms = now + STEP_MS;
    line.shown = true;
    double rate = (double)done / 1e3 / (double)(now - line.start_ms + 1);
    if (total)
        fprintf(stderr, "\r%s: %u %%, %.0f MB/s%s\033[K", line.what,
                done >= total ? 100 : (unsigned)((double)done * 100 / (double)total), rate, line.hint);
    else
        fprintf(stderr, "\r%s: %.0f MB, %.0f MB/s%s\033[K", line.what, (double)done / 1e6, rate, line.hint);
}

void progress_say(const char *fmt, ...) {
    uint64_t now = line.on ? now_ms() : 0;
    va_list ap;
    if (!line.on || now < line.next_ms)
        return;
    line.next_ms = now + STEP_MS;
    line.shown = true;
    fprintf(stderr, "\r%s: ", line.what);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s\033[K", line.hint);
}

void progress_clear(void) {
    if (line.shown)
        fputs("\r\033[K", stderr);
    line.shown = false;
}

void progress_end(void) {
    progress_clear();
    line.on = false;
}
