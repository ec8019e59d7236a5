/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of os_proc_system that have files of their own. */
#ifndef SONDE_OS_PROC_INTERNAL_H
#define SONDE_OS_PROC_INTERNAL_H

#include "os/proc/proc.h"

int os_bpf_next(void *ctx, uint32_t after, struct os_bpf_program *out);

/* False and *err: the file at `path` may take for ever to be looked at. `mounts` (struct os_mounts) may be
 * NULL. */
bool os_answers(void *mounts, const char *path, struct err *err);
bool os_bpf_info(void *ctx, uint32_t id, struct os_bpf_info *out);
bool os_bpf_btf(void *ctx, uint32_t id, struct writer *into);

/* The image of an open regular file. */
bool os_image_of_fd(int fd, const char *name, uint64_t most, struct os_image *out, struct err *err);

bool os_hold(void *ctx, const char *path, int32_t pid, struct os_held *out, struct err *err);
bool os_held_image(void *ctx, const struct os_held *held, uint64_t most, struct os_image *out,
                   struct err *err);
bool os_held_identity(void *ctx, const struct os_held *held, struct os_identity *out);
void os_unhold(void *ctx, struct os_held *held);

/* os_proc.unix_sockets of this machine. */
bool os_unix_sockets_read(void *ctx, os_unix_sockets *out, struct err *err);

#endif
