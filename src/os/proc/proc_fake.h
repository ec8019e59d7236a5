/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and kernel facts for tests, from tables. */
#ifndef SONDE_OS_PROC_FAKE_H
#define SONDE_OS_PROC_FAKE_H

#include "os/proc/proc.h"

struct os_proc_fake_file {
    const char *path;     /* directories are implied */
    struct bytes content; /* of a symbolic link: where it leads */
    struct os_identity identity;
    bool denied;              /* EACCES */
    bool gone;                /* ESRCH: listed, but the process has ended since */
    enum os_held_where where; /* when it is held */
};

struct os_proc_fake_mapping {
    int32_t pid;
    struct os_mapping mapping;
    struct os_build_id build_id;
};

/* A piece of a process's memory. */
struct os_proc_fake_memory {
    int32_t pid;
    uint64_t address;
    struct bytes content;
    bool denied; /* EPERM */
};

struct os_proc_fake {
    const struct os_proc_fake_file *files;
    size_t file_count;
    const struct os_proc_fake_mapping *mappings; /* of each process in ascending order */
    size_t mapping_count;
    bool no_query;                         /* a kernel before 6.11 */
    unsigned *id_queries;                  /* counts build-ids asked for; may be NULL */
    const struct os_bpf_program *programs; /* by id; those without a tag tell nothing else */
    size_t program_count;
    const struct os_proc_fake_memory *memory;
    size_t memory_count;
    const struct os_unix_socket *unix_sockets;
    size_t unix_count;
    bool mappings_denied; /* EACCES, whoever they belong to */
};

/* `fake` is borrowed for as long as the result is used. */
struct os_proc os_proc_fake(const struct os_proc_fake *fake);

/* A text as a file's content. */
#define OS_PROC_TEXT(s) \
    { (const uint8_t *)(s), sizeof(s) - 1 }

#endif
