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
    size_t at, end;    /* "name = value" in the file's text: [at, end), without what follows on its line */
};

struct perfconfig_section {
    const char *name; /* the part of keys before the last dot */
    size_t end;       /* in the file's text: behind what the section had last, itself or a variable */
};

struct perfconfig {
    struct arena arena;
    VEC(struct perfconfig_entry) entries; /* in the order read; the last one of a key counts */
    VEC(struct perfconfig_section) sections;
    bool damaged; /* a file could not be read as a whole */
};

#define PERFCONFIG_INIT ((struct perfconfig){0})

void perfconfig_fini(struct perfconfig *c);

/* Adds the entries of `text`. False at the first malformed line: ERR_BROKEN, "bad config file line N in
 * PATH"; the lines before it are kept. `path` is for the message. */
bool perfconfig_parse(struct perfconfig *c, struct bytes text, const char *path, struct err *e);

enum { PERFCONFIG_BYTES_MAX = 1 << 20, PERFCONFIG_NAME_BYTES = 256, PERFCONFIG_VALUE_BYTES = 4096 };

/* Reads $PERF_CONFIG if set, else /etc/perfconfig and ~/.perfconfig, in this order, each with
 * perfconfig_load_file. */
void perfconfig_load(struct perfconfig *c);

/* Adds a file's entries. A missing file is skipped; one that is malformed, unreadable or owned by someone
 * other than us and root is reported with log_line, and skipped from there on. */
void perfconfig_load_file(struct perfconfig *c, const char *path);

/* Reads a whole file into `text` (of the caller's; freed with free(text->data), also when empty). A missing
 * file is empty. False and *err: it cannot be read, is larger than PERFCONFIG_BYTES_MAX, or another user's.
 */
bool perfconfig_read_file(const char *path, struct bytes *text, struct err *err);

/* Returns $PERF_CONFIG, which stands for both files; NULL: not set. */
const char *perfconfig_given(void);

enum perfconfig_file { PERFCONFIG_USER, PERFCONFIG_SYSTEM };
/* Returns the path of the file, made in `room` or constant; NULL: there is no home, or its name is too long.
 */
const char *perfconfig_path(enum perfconfig_file which, char *room, size_t size);

/* Returns the last value of "section.name"; NULL: none, or a name without value. Valid as long as the config.
 */
const char *perfconfig_text(const struct perfconfig *c, const char *key);
/* Returns what true, yes, on, 1 / false, no, off, 0 mean, in any case; -1: anything else. */
int perfconfig_truth(const char *text);
/* Reads true, yes, on, 1 / false, no, off, 0 / no value: true. Anything else is reported and ignored. */
bool perfconfig_bool(const struct perfconfig *c, const char *key, bool fallback);

#endif
