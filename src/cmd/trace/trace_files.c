/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What descriptors are: the path that was opened, as the program gave it, where that was seen; else from
 * /proc/PID/fd. That is how it is now, and calls are shown a moment later: a name is kept from when it was
 * first asked for until a call of the process is seen to change the descriptor.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/strpool.h"
#include "cmd/trace/trace.h"

enum { PATH_ROOM = 4096, ENTRIES_MAX = 1 << 16 };

struct trace_files {
    struct hash_map by_fd; /* process and descriptor: the path in `paths` */
    struct strpool paths;
};

#define NOT_KNOWN (HASH_ABSENT - 1) /* asked, and not there */
#define ASK_AGAIN (HASH_ABSENT - 2) /* it changed */

struct trace_files *trace_files_new(void) {
    return calloc(1, sizeof(struct trace_files));
}

static void forget_all(struct trace_files *f) {
    hash_map_fini(&f->by_fd);
    strpool_fini(&f->paths);
    *f = (struct trace_files){0};
}

void trace_files_free(struct trace_files *f) {
    if (f)
        forget_all(f);
    free(f);
}

static uint64_t key_of(uint32_t pid, int32_t fd) {
    return (uint64_t)pid << 32 | (uint32_t)fd;
}

static void set(struct trace_files *f, uint64_t key, const char *path, size_t n) {
    if (f->by_fd.count >= ENTRIES_MAX || f->paths.entries.count >= ENTRIES_MAX)
        forget_all(f);
    uint32_t id = path ? strpool_add(&f->paths, path, n) : NOT_KNOWN;
    if (id != STRPOOL_NONE)
        hash_map_set(&f->by_fd, key, id); /* without memory it is asked for again */
}

const char *trace_files_path(void *files, uint32_t pid, int32_t fd) {
    struct trace_files *f = files;
    uint64_t key = key_of(pid, fd);
    uint32_t id = hash_map_get(&f->by_fd, key);
    if (id == HASH_ABSENT || id == ASK_AGAIN) {
        char link[64], path[PATH_ROOM];
        snprintf(link, sizeof link, "/proc/%u/fd/%d", pid, fd);
        ssize_t n = readlink(link, path, sizeof path - 1);
        if (n >= 0)
            path[n] = 0;
        set(f, key, n > 0 ? path : NULL, n > 0 ? strlen(path) : 0);
        id = hash_map_get(&f->by_fd, key);
    }
    return id >= ASK_AGAIN ? NULL : strpool_text(&f->paths, id);
}

static void forget(struct trace_files *f, uint32_t pid, int64_t fd) {
    uint64_t key = key_of(pid, (int32_t)fd);
    if (hash_map_get(&f->by_fd, key) == HASH_ABSENT)
        return;
    hash_map_set(&f->by_fd, key, ASK_AGAIN);
}

/* The text of the argument that is a path, if it is known as a whole. */
static const struct calls_memory *path_of(const struct calls_row *row, const struct calls_call *call) {
    for (size_t i = 0; i < row->count && i < CALLS_ARGS; i++)
        if (row->args[i].kind == CALLS_PATH && call->memory[i].data && call->memory[i].size &&
            !call->memory[i].cut)
            return &call->memory[i];
    return NULL;
}

/* dup, dup2, dup3, and fcntl's: the new one is what the old one was, as far as that is known. */
static bool is_copy(const struct calls_row *row, const struct calls_call *call) {
    enum { DUPFD = 0, DUPFD_CLOEXEC = 1030 };
    uint32_t command = (uint32_t)call->args[1];
    return strncmp(row->name, "dup", 3) == 0 ||
           (strcmp(row->name, "fcntl") == 0 && (command == DUPFD || command == DUPFD_CLOEXEC));
}

static void copy(struct trace_files *f, uint32_t pid, int32_t from, int32_t to) {
    uint32_t id = hash_map_get(&f->by_fd, key_of(pid, from));
    hash_map_set(&f->by_fd, key_of(pid, to), id < ASK_AGAIN ? id : ASK_AGAIN);
}

/* All by which a descriptor ends: what it is afterwards is asked for again; and those that say what it is. */
bool trace_files_need(const char *call) {
    static const char *const NEEDED[] = {"close",    "close_range", "dup2",   "dup3",    "execve",
                                         "execveat", "open",        "openat", "openat2", "creat"};
    for (size_t i = 0; call && i < sizeof NEEDED / sizeof *NEEDED; i++)
        if (strcmp(NEEDED[i], call) == 0)
            return true;
    return false;
}

void trace_files_call(struct trace_files *f, const struct calls *c, const struct calls_call *call) {
    const struct calls_row *row = calls_table_row(calls_table_of(c, call), call->number);
    if (!row || !call->has_exit || call->result < 0)
        return;
    const struct calls_memory *path = call->has_enter ? path_of(row, call) : NULL;
    if (call->has_enter && is_copy(row, call))
        copy(f, call->pid, (int32_t)call->args[0], (int32_t)call->result);
    else if (row->returns == CALLS_FD && path)
        set(f, key_of(call->pid, (int32_t)call->result), (const char *)path->data,
            strnlen((const char *)path->data, path->size));
    else if (row->returns == CALLS_FD)
        forget(f, call->pid, call->result);
    else if (call->has_enter && strcmp(row->name, "close") == 0)
        forget(f, call->pid, (int64_t)call->args[0]);
    else if (strcmp(row->name, "close_range") == 0 || strncmp(row->name, "execve", 6) == 0)
        forget_all(f);
}
