/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The kernel's structs of control groups, in the way of kernel.h. */
#ifndef SONDE_BPF_KERNEL_GROUPS_H
#define SONDE_BPF_KERNEL_GROUPS_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
    __u64 id;
};

struct cgroup_subsys_state {
    struct cgroup *cgroup;
    struct cgroup_subsys_state *parent; /* NULL: of the root group */
};

struct cgroup {
    struct kernfs_node *kn;
};

enum cgroup_subsys_id {
    perf_event_cgrp_id = 8, /* depends on the kernel's configuration: use bpf_core_enum_value */
    CGROUP_SUBSYS_COUNT = 16
};

struct css_set {
    struct cgroup_subsys_state *subsys[CGROUP_SUBSYS_COUNT];
};

struct task_struct___with_groups {
    struct css_set *cgroups;
};

#pragma clang attribute pop

/* The task's group of the hierarchy that has the controller perf_event, as its state there. */
static __always_inline struct cgroup_subsys_state *perf_state_of(struct task_struct *task) {
    __u32 at = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);
    struct css_set *set = BPF_CORE_READ((struct task_struct___with_groups *)task, cgroups);
    struct cgroup_subsys_state *css = NULL;
    bpf_probe_read_kernel(&css, sizeof css,
                          (void *)set + bpf_core_field_offset(set->subsys) + at * sizeof(void *));
    return css;
}

#endif
