/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells about processes and about itself (proc(5), sysfs(5)), as a struct of functions; the
 * fake beside it (proc_fake.h) answers from tables. All functions may be called by several threads at once.
 */
#ifndef SONDE_OS_PROC_H
#define SONDE_OS_PROC_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "base/writer.h"

enum { OS_MAPPING_NAME = 4352, OS_BUILD_ID_MAX = 20 };

/* One mapping of a process's address space. */
struct os_mapping {
    uint64_t start, end, offset; /* offset: bytes in the file */
    uint64_t ino;
    uint32_t maj, min;
    uint32_t prot, flags;       /* PROT_*; MAP_PRIVATE or MAP_SHARED (mmap(2)) */
    char name[OS_MAPPING_NAME]; /* as the kernel says it; empty for anonymous memory */
};

struct os_build_id {
    uint8_t size; /* 0: none */
    uint8_t bytes[OS_BUILD_ID_MAX];
};

/* Numeric names of a directory. */
typedef VEC(int32_t) os_numbers;

typedef VEC(const char *) os_names;

/* A socket of the unix family (sock_diag(7)). */
struct os_unix_socket {
    uint32_t ino, peer_ino; /* peer_ino 0: none */
    char name[108];         /* the path it is bound to; "@..." of the abstract space; empty: none */
};
typedef VEC(struct os_unix_socket) os_unix_sockets;

/* What identifies a file at a moment: stat(2). */
struct os_identity {
    uint64_t dev, ino, size;
    int64_t mtime_ns, ctime_ns;
};

/* A file's bytes, for as long as it is not given back. */
struct os_image {
    struct bytes bytes;
    void *own; /* the implementation's */
};

/* A file that is held open, so that its bytes stay when its name goes. */
struct os_held {
    int handle;
    struct os_identity identity; /* when it was opened */
    enum os_held_where {
        OS_HELD_HERE,     /* on the file system that is our root: holding it disturbs nobody */
        OS_HELD_PASSING,  /* it has no name any more, lies in memory (tmpfs), or in another mount namespace */
        OS_HELD_ELSEWHERE /* on another mount of ours, which a held file keeps busy */
    } where;
};

enum { OS_BPF_FUNCTIONS_MAX = 256, OS_BPF_TAG = 8 };

/* A loaded BPF program (bpf(2), struct bpf_prog_info). */
struct os_bpf_program {
    uint32_t id;
    uint8_t tag[OS_BPF_TAG];
    char name[17];
    uint32_t function_count; /* those beyond OS_BPF_FUNCTIONS_MAX are left out */
    struct os_bpf_function {
        uint64_t address; /* 0: hidden, or not compiled to machine code */
        uint32_t size;
        uint8_t tag[OS_BPF_TAG];
    } functions[OS_BPF_FUNCTIONS_MAX];
};

/* All that the kernel says of a BPF program; owned: writer_fini both. */
struct os_bpf_info {
    struct writer info; /* struct bpf_prog_info; what are pointers to arrays in it are offsets in `data` */
    struct writer data; /* the arrays, each at a multiple of 8 bytes */
    uint64_t arrays; /* which of them are there: bit 0 machine code, 3 addresses and 4 lengths of functions, 5
                        their types, 6 lines, 7 lines of machine code, 8 tags (as files of perf have it) */
};

/* Takes a piece of a text, whole lines of it (the last one of all may lack its newline); false: enough. */
typedef bool os_lines_fn(void *ctx, struct bytes lines);

struct os_proc {
    void *ctx;
    /* Appends a file's content; ERR_ABSENT, ERR_PERMISSION. */
    bool (*read)(void *ctx, const char *path, struct writer *into, struct err *err);
    /* The same by a single read(2): files of at most a page that are whole or nothing (/proc/PID/stat), and
     * those that fail when read at an offset (/sys/module/NAME/sections). */
    bool (*read_once)(void *ctx, const char *path, struct writer *into, struct err *err);
    /* Hands a file's text over in pieces of whole lines, until `fn` says false. */
    bool (*lines)(void *ctx, const char *path, os_lines_fn *fn, void *fn_ctx, struct err *err);
    /* The numbers among a directory's names, ascending. */
    bool (*numbers)(void *ctx, const char *path, os_numbers *out, struct err *err);
    /* Appends the names of a folder's folders, in any order, not those that begin with a dot. */
    bool (*folders)(void *ctx, const char *path, struct arena *a, os_names *out, struct err *err);
    /* readlink(2): a text, cut to `room` bytes with its NUL. */
    bool (*link)(void *ctx, const char *path, char *to, size_t room, struct err *err);
    /* All unix sockets of our network namespace. */
    bool (*unix_sockets)(void *ctx, os_unix_sockets *out, struct err *err);
    /* Copies `n` bytes of a process's memory: all, or none. */
    bool (*memory)(void *ctx, int32_t pid, uint64_t address, void *to, size_t n, struct err *err);
    /* stat(2) of what `path` leads to. */
    bool (*identity)(void *ctx, const char *path, struct os_identity *out, struct err *err);
    /* The first `most` bytes of a regular file, or all; release gives them back. Read, not mapped: a file
     * that is cut short while we look at a map of it would end us (SIGBUS). */
    bool (*image)(void *ctx, const char *path, uint64_t most, struct os_image *out, struct err *err);
    void (*release)(void *ctx, struct os_image *image);

    /* Opens a regular file that process `pid` uses. */
    bool (*hold)(void *ctx, const char *path, int32_t pid, struct os_held *out, struct err *err);
    /* Its bytes, as image does it; and its state now. */
    bool (*held_image)(void *ctx, const struct os_held *held, uint64_t most, struct os_image *out,
                       struct err *err);
    bool (*held_identity)(void *ctx, const struct os_held *held, struct os_identity *out);
    void (*unhold)(void *ctx, struct os_held *held);

    /* The BPF program with the smallest id above `after`: 1; 0 when there is none, or none for us to see; -1:
     * there is one, but only its id could be had. */
    int (*bpf_next)(void *ctx, uint32_t after, struct os_bpf_program *out);
    /* All about that program; false when it is gone, or that is not for us. */
    bool (*bpf_info)(void *ctx, uint32_t id, struct os_bpf_info *out);
    /* Appends the type information (BTF) of that number; false likewise. */
    bool (*bpf_btf)(void *ctx, uint32_t id, struct writer *into);

    /* PROCMAP_QUERY (linux/fs.h, Linux 6.11): single mappings of a process without their text. A handle, or a
     * negative errno. */
    int (*maps_open)(void *ctx, int32_t pid);
    /* The first mapping that ends after `from` and, with `executable`, may be executed. 1, or 0 when there
     * is none, or a negative errno (-ENOTTY: this kernel cannot). */
    int (*maps_next)(void *ctx, int handle, uint64_t from, bool executable, struct os_mapping *out);
    /* The build-id of the file of a mapping that maps_next gave; size 0 when it has none, or nobody knows.
     * The kernel reads the file for it, as far as that is not in memory. */
    void (*maps_build_id)(void *ctx, int handle, int32_t pid, const struct os_mapping *m,
                          struct os_build_id *out);
    void (*maps_close)(void *ctx, int handle);
};

/* The running system's. */
extern const struct os_proc os_proc_system;

#endif
