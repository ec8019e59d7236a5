/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from files of other tools (stacks/import/import.h). */
#ifndef SONDE_CMD_VIEW_STACKS_FILE_H
#define SONDE_CMD_VIEW_STACKS_FILE_H

#include "cmd/common/command.h"
#include "os/files/map.h"
#include "stacks/import/import.h"

struct stacks_file {
    enum stacks_import_kind kind; /* STACKS_IMPORT_NONE: it is not there, or something else */
    struct bytes bytes;
    struct os_map map; /* holds them, or ... */
    uint8_t *read;     /* ... this does */
};

/* Looks into a file. With `all`, one that is not regular is read to its end, "-" being standard input; else
 * it is left alone. False with *err: it cannot be read. */
bool stacks_file_open(struct stacks_file *f, const char *path, bool all, struct err *err);
void stacks_file_close(struct stacks_file *f);

/* Adds its stacks. *status becomes EXIT_OK, or EXIT_ERROR after log_line reported what was left out. False
 * with *err: nothing could be read. */
bool stacks_file_read(const struct stacks_file *f, const char *path, struct stacks *s, int *status,
                      struct err *err);

#endif
