/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration files of perf-config(1), "Configuration file": sections in brackets, name = value,
 * comments with # or ;, quotes and escapes as in git. Read once at start into a table that does not change.
 */
#ifndef SONDE_CMD_COMMON_PERFCONFIG_H
#define SONDE_CMD_COMMON_PERFCONFIG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/err.h"
#include "base/vec.h"

struct perfconfig_entry {
    const char *key;   /* "section.name"; case does not matter */
    const char *value; /* NULL: a name without a value, which means true */
};

struct perfconfig {
    struct arena arena;
    VEC(struct perfconfig_entry) entries; /* in the order read; the last one of a key counts */
};

#define PERFCONFIG_INIT ((struct perfconfig){0})

void perfconfig_fini(struct perfconfig *c);

/* Adds the entries of `text`. False at the first malformed line: ERR_BROKEN, "bad config file line N in
 * PATH"; the lines before it are kept. `path` is for the message. */
bool perfconfig_parse(struct perfconfig *c, struct bytes text, const char *path, struct err *e);

/* Reads $PERF_CONFIG if set, else /etc/perfconfig and ~/.perfconfig, in this order. Missing files are
 * skipped; files that are malformed, unreadable or owned by someone other than us and root are reported with
 * log_line, and skipped from there on. */
void perfconfig_load(struct perfconfig *c);

/* Returns the last value of "section.name"; NULL: none, or a name without value. Valid as long as the config.
 */
const char *perfconfig_text(const struct perfconfig *c, const char *key);
/* Reads true, yes, on, 1 / false, no, off, 0 / no value: true. Anything else is reported and ignored. */
bool perfconfig_bool(const struct perfconfig *c, const char *key, bool fallback);

#endif
