/* SPDX-License-Identifier: Apache-2.0 */
/* Two descriptors to talk to a controlling process: commands come in, answers go out. */
#ifndef SONDE_OS_CHANNEL_H
#define SONDE_OS_CHANNEL_H

#include "base/err.h"

#include <stddef.h>
#include <sys/types.h>

struct os_channel {
    int in, out; /* -1: none */
    bool owned;  /* opened here: FIFOs; inherited descriptors are not closed */
};

/* "fd:IN[,OUT]" or "fifo:IN[,OUT]": numbers of descriptors that are open, or paths of FIFOs. */
bool os_channel_open(struct os_channel *c, const char *text, struct err *err);
void os_channel_close(struct os_channel *c);

/* What has come, without waiting: 0 when there is nothing, -1 at the end. */
ssize_t os_channel_read(const struct os_channel *c, char *p, size_t n);
void os_channel_write(const struct os_channel *c, const char *text);

#endif
