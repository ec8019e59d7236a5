/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The kernel's structs of its own work, in the way of kernel.h. */
#ifndef SONDE_BPF_KERNEL_KWORK_H
#define SONDE_BPF_KERNEL_KWORK_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct irqaction {
    const char *name;
};

struct work_struct {
    void (*func)(struct work_struct *);
};

#pragma clang attribute pop

#endif
