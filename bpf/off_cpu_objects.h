/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/*
 * What threads wait for: for off_cpu.bpf.c alone.
 *
 * The system call's argument is looked at when the wait begins. An open file is remembered by its address, as
 * its number may belong to another file before the wait ends; while the call lasts, so does the file. Only a
 * wait that was long is looked at more closely, when it ends.
 */
#ifndef SONDE_BPF_OFF_CPU_OBJECTS_H
#define SONDE_BPF_OFF_CPU_OBJECTS_H

#include "kernel_files.h"

enum { FILE_TYPE = 0170000, IS_SOCKET = 0140000, IS_PIPE = 0010000 }; /* S_IFMT and so on */
enum { INET = 2, INET6 = 10, LISTENS = 10, EXITING = 4 };             /* AF_, TCP_LISTEN, PF_EXITING */

/* By number of the system call. */
const volatile struct bpf_off_cpu_call calls[BPF_OFF_CPU_CALLS];

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 1 << 14);
    __type(key, __u64);
    __type(value, struct bpf_off_cpu_object);
} objects SEC(".maps");

/* As on_waking and on_switch are not interrupted, one for each CPU is enough. */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct bpf_off_cpu_object);
} object_scratch SEC(".maps");

static __u64 argument_x86(struct pt_regs___x86 *regs, __u32 index) {
    return index == 0   ? regs->di
           : index == 1 ? regs->si
           : index == 2 ? regs->dx
           : index == 3 ? regs->r10
           : index == 4 ? regs->r8
                        : regs->r9;
}

static __u64 argument(struct task_struct *task, __u32 index) {
    struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
    if (bpf_core_field_exists(((struct pt_regs___x86 *)0)->orig_ax))
        return argument_x86((struct pt_regs___x86 *)regs, index);
    if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0) && index == 0)
        return BPF_CORE_READ((struct pt_regs___arm64 *)regs, orig_x0);
    if (bpf_core_field_exists(((struct pt_regs___arm64 *)0)->orig_x0)) {
        __u64 word = 0;
        bpf_probe_read_kernel(&word, sizeof word, &((struct pt_regs___arm64 *)regs)->regs[index & 7]);
        return word;
    }
    return 0;
}

/* The file that the thread has open under that number; 0: none. At each wait: plain loads cost less than
 * BPF_CORE_READ, though the verifier takes longer. */
static __u64 open_file(struct task_struct *task, __u32 fd) {
    struct files_struct *files = ((struct task_struct___files *)task)->files;
    struct fdtable *table = files ? files->fdt : NULL;
    struct file *file = NULL;
    if (table && fd < table->max_fds)
        bpf_probe_read_kernel(&file, sizeof file, (struct file **)table->fd + fd);
    return (__u64)file;
}

/* A thread begins to wait, or is found waiting: then its memory cannot be read here. */
static void note_object(struct task_struct *task, struct noted *n, __s32 call, bool is_current) {
    n->argument = BPF_OFF_CPU_NOTHING;
    if (call < 0 || call >= BPF_OFF_CPU_CALLS)
        return;
    __u32 kind = calls[call].argument;
    if (kind == BPF_OFF_CPU_NOTHING)
        return;
    n->argument = kind;
    n->writes = calls[call].writes;
    n->word = argument(task, calls[call].index);
    if (kind == BPF_OFF_CPU_FD) {
        n->fd = n->word;
        n->word = open_file(task, n->fd);
    } else if (kind == BPF_OFF_CPU_POLLFDS) {
        bool one = is_current && argument(task, 1) == 1 &&
                   bpf_probe_read_user(&n->fd, sizeof n->fd, (void *)n->word) == 0;
        n->word = one ? open_file(task, n->fd) : 0;
    } else if (kind == BPF_OFF_CPU_WORD) {
        n->op = argument(task, 1);
        n->value = argument(task, 2);
        n->limited = argument(task, 3) != 0;
        if (!is_current ||
            bpf_probe_read_user(n->around, sizeof n->around, (void *)(n->word - BPF_OFF_CPU_BEFORE)))
            __builtin_memset(n->around, 0, sizeof n->around);
    }
}

static void describe_socket(struct bpf_off_cpu_object *o, struct file *file) {
    struct socket *socket = BPF_CORE_READ((struct file___open *)file, private_data);
    struct sock *sk = BPF_CORE_READ(socket, sk);
    o->kind = BPF_OFF_CPU_SOCKET;
    o->type = BPF_CORE_READ(sk, sk_type);
    o->family = BPF_CORE_READ(sk, __sk_common.skc_family);
    o->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
    o->remote_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
    o->listens = BPF_CORE_READ(sk, __sk_common.skc_state) == LISTENS;
    if (o->family == INET) {
        __u32 address = BPF_CORE_READ(sk, __sk_common.skc_daddr);
        __builtin_memcpy(o->remote, &address, sizeof address);
    } else if (o->family == INET6 && bpf_core_field_exists(sk->__sk_common.skc_v6_daddr)) {
        BPF_CORE_READ_INTO(&o->remote, sk, __sk_common.skc_v6_daddr);
    } else {
        o->local_port = o->remote_port = 0;
    }
}

static void describe_file(struct bpf_off_cpu_object *o, struct file *file, bool writes) {
    struct inode *inode = BPF_CORE_READ(file, f_inode);
    __u32 type = BPF_CORE_READ(inode, i_mode) & FILE_TYPE;
    o->kind = type == IS_PIPE ? BPF_OFF_CPU_PIPE : BPF_OFF_CPU_FILE;
    o->writes = type == IS_PIPE && writes;
    o->ino = BPF_CORE_READ(inode, i_ino);
    o->dev = BPF_CORE_READ((struct inode___identity *)inode, i_sb, s_dev);
    o->generation = BPF_CORE_READ((struct inode___identity *)inode, i_generation);
    if (type == IS_SOCKET) {
        describe_socket(o, file);
        return;
    }
    const unsigned char *name = BPF_CORE_READ((struct file___open *)file, f_path.dentry, d_name.name);
    bpf_probe_read_kernel_str(o->name, sizeof o->name, name);
}

static __u64 identity_of(const struct bpf_off_cpu_object *o) {
    __u64 hash = 0x9e3779b97f4a7c15ull;
    for (__u32 i = 0; i < BPF_OFF_CPU_IDENTITY / 8; i++) {
        hash = (hash ^ ((const __u64 *)o)[i]) * 0xff51afd7ed558ccdull;
        hash ^= hash >> 32;
    }
    return hash ? hash : 1;
}

/* Whether the thread is ending, and the kernel clears that word for it: who waits for that, joins it. */
static bool ends_with(struct task_struct *task, __u64 word) {
    return task->flags & EXITING && (__u64)BPF_CORE_READ(task, clear_child_tid) == word;
}

/* The thread has waited: `woken` by the current one, else nobody knows by whom. Returns the hash under which
 * the object is kept, 0 for none. */
static __u64 object_of(struct task_struct *task, const struct noted *n, bool woken) {
    struct bpf_off_cpu_object *o = bpf_map_lookup_elem(&object_scratch, &ZERO);
    struct task_struct *by = bpf_get_current_task_btf();
    if (!o || n->argument == BPF_OFF_CPU_NOTHING || !n->word)
        return 0;
    __builtin_memset(o, 0, sizeof *o);
    o->pid = task->tgid;
    o->tid = task->pid;
    o->fd = n->fd;
    if (n->argument == BPF_OFF_CPU_FD || n->argument == BPF_OFF_CPU_POLLFDS) {
        describe_file(o, (struct file *)n->word, n->writes);
    } else if (n->argument == BPF_OFF_CPU_WORD && woken && ends_with(by, n->word)) {
        o->kind = BPF_OFF_CPU_THREAD;
        bpf_get_current_comm(o->name, sizeof by->comm);
    } else if (n->argument == BPF_OFF_CPU_WORD) {
        o->kind = BPF_OFF_CPU_FUTEX;
        o->ino = n->word;
        o->dev = o->pid;
        o->op = n->op;
        o->value = n->value;
        o->limited = n->limited;
        __builtin_memcpy(o->around, n->around, sizeof o->around);
    } else {
        if (!woken || !(by->flags & EXITING))
            return 0;
        o->kind = BPF_OFF_CPU_CHILD;
        bpf_get_current_comm(o->name, sizeof by->comm);
    }
    __u64 hash = identity_of(o);
    if (bpf_map_lookup_elem(&objects, &hash))
        return hash;
    __sync_fetch_and_add(&news, 1);
    if (bpf_map_update_elem(&objects, &hash, o, BPF_NOEXIST) && !bpf_map_lookup_elem(&objects, &hash)) {
        struct bpf_off_cpu_counters *c = count();
        if (c)
            c->lost_objects++;
        return 0;
    }
    return hash;
}

#endif
