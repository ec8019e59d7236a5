/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log sink: the one piece of mutable global state below cmd/. Layers report
 * notes and warnings here; cmd/ decides where (if anywhere) they are shown.
 */
#ifndef SONDE_BASE_LOG_H
#define SONDE_BASE_LOG_H

enum log_level { LOG_WARN, LOG_INFO, LOG_DEBUG };

typedef void log_fn(void *ctx, enum log_level level, const char *line);

/* Installs the sink; NULL drops everything (the state at start). Call it before other threads start. */
void log_set_sink(log_fn *fn, void *ctx);

/* One line without a newline. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
