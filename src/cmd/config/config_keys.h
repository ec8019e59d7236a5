/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every configuration variable that sonde reads, with its meaning: for `config`, its manual page and
 * completion. Who reads a new one adds its row; a test compares.
 */
#ifndef SONDE_CMD_CONFIG_CONFIG_KEYS_H
#define SONDE_CMD_CONFIG_CONFIG_KEYS_H

#include <stddef.h>

#include "base/err.h"

struct config_key {
    const char *name;     /* "section.name"; a last part CMD stands for any command's name */
    const char *values;   /* words with | between them; "true|false" is all that means either; "N": a number;
                             NULL: any */
    const char *fallback; /* what it is when it is not set */
    const char *help;
};

/* Returns the i-th by name; NULL after the last. */
const struct config_key *config_key_at(size_t i);

/* Returns the row of a variable, in upper or lower case; NULL: sonde reads none of that name. */
const struct config_key *config_key_find(const char *name);

/* Returns the name that is most like it, NULL: none is. */
const char *config_key_nearest(const char *name);

/* Whether the variable can have that value; false and *err: which ones it can. */
bool config_key_takes(const struct config_key *key, const char *value, struct err *err);

#endif
