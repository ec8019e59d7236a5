/* SPDX-License-Identifier: (MIT OR GPL-2.0) */
/* The kernel's structs of open files and sockets, in the way of kernel.h. */
#ifndef SONDE_BPF_KERNEL_FILES_H
#define SONDE_BPF_KERNEL_FILES_H

#include "kernel.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct fdtable {
    unsigned int max_fds;
    struct file **fd;
};

struct files_struct {
    struct fdtable *fdt;
};

struct task_struct___files {
    struct files_struct *files;
};

struct qstr {
    const unsigned char *name;
};

struct dentry {
    struct qstr d_name;
};

struct path {
    struct dentry *dentry;
};

struct file___open {
    struct path f_path;
    void *private_data; /* of a socket: struct socket */
};

struct super_block___device {
    unsigned int s_dev;
};

struct inode___identity {
    struct super_block___device *i_sb;
    unsigned int i_generation;
};

struct in6_addr {
    unsigned char bytes[16];
};

struct sock_common {
    unsigned short skc_family, skc_num, skc_dport; /* skc_dport in network order */
    unsigned char skc_state;
    unsigned int skc_daddr;
    struct in6_addr skc_v6_daddr; /* only in kernels with IPv6 */
};

struct sock {
    struct sock_common __sk_common;
    unsigned short sk_type;
};

struct socket {
    struct sock *sk;
};

#pragma clang attribute pop

#endif
