/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of os_proc_system that have files of their own. */
#ifndef SONDE_OS_PROC_INTERNAL_H
#define SONDE_OS_PROC_INTERNAL_H

#include "os/proc.h"

int os_bpf_next(void *ctx, uint32_t after, struct os_bpf_program *out);

#endif
