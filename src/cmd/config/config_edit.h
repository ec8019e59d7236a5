/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in the text of a configuration file. Comments, order and everything else in it stay as they are. */
#ifndef SONDE_CMD_CONFIG_CONFIG_EDIT_H
#define SONDE_CMD_CONFIG_CONFIG_EDIT_H

#include "base/bytes.h"
#include "base/err.h"
#include "base/text/out.h"

/*
 * Writes `text` into `o` with "section.name" set to `value`: where it stands last, else behind the last
 * variable of its section, else in a new section at the end. `value` NULL: with all lines of it removed.
 * `path` is for messages. False and *err: the text is damaged (ERR_BROKEN), the name could not be read back
 * (ERR_USAGE), or memory.
 */
bool config_edit(struct out *o, struct bytes text, const char *key, const char *value, const char *path,
                 struct err *err);

#endif
