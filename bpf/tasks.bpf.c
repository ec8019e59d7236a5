/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* Every thread of the machine in one read; /proc would take five files for each. */
#include "tasks.h"
#include "kernel.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("iter/task")
int tasks(struct bpf_iter__task *c) {
    struct task_struct *task = c->task;
    struct bpf_task_row row = {0};
    if (!task)
        return 0;
    row.tid = task->pid;
    row.pid = task->tgid;
    row.state = task->__state;
    row.flags = task->flags;
    row.voluntary_switches = task->nvcsw;
    row.involuntary_switches = task->nivcsw;
    bpf_probe_read_kernel_str(row.comm, sizeof row.comm, task->comm);
    bpf_seq_write(c->meta->seq, &row, sizeof row);
    return 0;
}
