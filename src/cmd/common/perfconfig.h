/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration files of perf-config(1), "Configuration file": sections in
 * brackets, name = value, comments with # or ;, quotes and escapes as git has
 * them. Read once at start into a table that nobody changes afterwards.
 */
#ifndef SONDE_CMD_COMMON_PERFCONFIG_H
#define SONDE_CMD_COMMON_PERFCONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

struct perfconfig_entry {
    const char *key;   /* "section.name"; compared without regard to case */
    const char *value; /* NULL: the name stood alone, which means true */
};

struct perfconfig {
    struct arena arena;
    VEC(struct perfconfig_entry) entries; /* in the order read; the last of a key counts */
};

#define PERFCONFIG_INIT ((struct perfconfig){0})

void perfconfig_fini(struct perfconfig *c);

/* Adds what `text` says. False at the first line that is none: ERR_BROKEN, "bad config file line N in PATH";
 * the lines before it stay. `path` is for the message. */
bool perfconfig_parse(struct perfconfig *c, struct bytes text, const char *path, struct err *e);

/* Reads $PERF_CONFIG if set, else /etc/perfconfig and ~/.perfconfig, in this order. What is not there is
 * skipped; what is broken, unreadable or neither ours nor root's is reported through log_line and skipped
 * from there on. */
void perfconfig_load(struct perfconfig *c);

/* The last value of "section.name"; NULL when there is none (or it has no value). Lives as long as the
 * config. */
const char *perfconfig_text(const struct perfconfig *c, const char *key);
/* true, yes, on, 1 / false, no, off, 0 / no value: true. Anything else is reported and ignored. */
bool perfconfig_bool(const struct perfconfig *c, const char *key, bool fallback);

#endif
