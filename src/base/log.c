/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static log_fn *sink;
static void *sink_ctx;

void log_set_sink(log_fn *fn, void *ctx) {
    sink = fn;
    sink_ctx = ctx;
}

void log_line(enum log_level level, const char *fmt, ...) {
    if (!sink)
        return;
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    sink(sink_ctx, level, line);
}
