/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What descriptors refer to, and who is at the other end of pipes and sockets: /proc/PID/fd,
 * /proc/PID/net/tcp, sock_diag(7). All descriptors of the machine are read once, when the first other end is
 * asked for.
 */
#ifndef SONDE_WAITS_ENDS_H
#define SONDE_WAITS_ENDS_H

#include "os/proc/proc.h"
#include "waits/waits.h"

enum waits_object_kind { WAITS_OBJECT_UNKNOWN, WAITS_OBJECT_FILE, WAITS_OBJECT_PIPE, WAITS_OBJECT_SOCKET };

struct waits_object {
    enum waits_object_kind kind;
    const char *name; /* as the link has it, in the arena; NULL: unknown */
    uint64_t ino;     /* of pipes and sockets */
};

/* The other end of a pipe or socket. */
struct waits_far {
    int32_t pid;         /* of the process that has it; 0: none on this machine is known */
    uint32_t count;      /* how many processes have it */
    const char *kind;    /* of a socket: "TCP", "unix"; NULL: another family, or unknown */
    const char *address; /* of a TCP peer, or what a listening socket or its unix peer is bound to; NULL */
    bool listens;
};

/* A process that has a pipe or socket open. */
struct waits_holder {
    uint64_t ino;
    int32_t pid, fd;
    bool socket, writes, reads; /* the last two of pipes */
};

struct waits_tcp {
    uint8_t ends[36]; /* own address (16 bytes, IPv4 mapped) and port, then the other end's */
    uint64_t ino;
    uint8_t state;
    bool listens;
};

struct waits_ends {
    struct waits *w; /* this and `proc` are borrowed */
    const struct os_proc *proc;
    /* Finds all `holders` at once; NULL, or false is returned: descriptors are read one by one. */
    bool (*find)(void *ctx, struct waits_ends *e);
    void *find_ctx;
    VEC(struct waits_holder) holders; /* by inode, kind, process */
    VEC(struct waits_tcp) tcp;
    struct hash_map tcp_by_ino, tcp_by_ends, unix_by_ino, namespaces;
    os_unix_sockets unix_sockets;
    struct writer text;
    bool holders_known, unix_known;
    bool failed; /* memory ran out */
};

void waits_ends_fini(struct waits_ends *e);

/* What a descriptor of the thread refers to. */
struct waits_object waits_ends_object(struct waits_ends *e, uint32_t thread, uint64_t fd);

/* Who is at the other end of the object. Of a pipe: the processes that may write (if `reading`), else those
 * that may read. */
struct waits_far waits_ends_far(struct waits_ends *e, uint32_t thread, const struct waits_object *o,
                                bool reading);

#endif
