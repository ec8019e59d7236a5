/* SPDX-License-Identifier: Apache-2.0 */
/* Names of data at addresses of a process: maps of its files and their symbols. */
#ifndef SONDE_WAITS_NAME_SYMBOLS_H
#define SONDE_WAITS_NAME_SYMBOLS_H

#include "base/err.h"
#include "os/proc/proc.h"

/* Zeroed at first: what was read last, as the next address is often of the same process and file. */
struct waits_symbols {
    struct writer maps; /* of the process `pid`; 0: none */
    int32_t pid;
    char path[256]; /* the file of `image`; empty: none */
    struct os_image image;
};

/* Fills `to` with "SYMBOL (FILE)", or "SYMBOL+0x10 (FILE)" inside of it. False: no symbol is known, or the
 * file is another one than was mapped. */
bool waits_symbols_find(struct waits_symbols *s, const struct os_proc *proc, int32_t pid, uint64_t address,
                        char *to, size_t room);
void waits_symbols_forget(struct waits_symbols *s, const struct os_proc *proc);

#endif
