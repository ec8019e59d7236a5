/* SPDX-License-Identifier: Apache-2.0 */
/* Files of /proc with any content, memory with any words: a snapshot is made of them, and its invariants
 * hold. */
#include "fuzz.h"

#include "os/proc/proc_fake.h"
#include "waits/check_waits.h"
#include "waits/explain.h"
#include "waits/read/read_proc.h"

enum { FILES = 24 };

/* The input is split at bytes of 255; its parts are the contents of these files, in turn. */
static const char *const paths[FILES] = {
    "/proc/1/task/1/stat",  "/proc/1/task/1/syscall", "/proc/2/task/2/stat",     "/proc/2/task/2/syscall",
    "/proc/2/task/3/stat",  "/proc/2/task/3/syscall", "/proc/1/status",          "/proc/2/status",
    "/proc/1/task/1/sched", "/proc/1/task/1/stack",   "/proc/1/task/1/wchan",    "/proc/2/task/2/fd/3",
    "/proc/1/fd/3",         "/proc/2/fd/4",           "/proc/1/fdinfo/3",        "/proc/2/fdinfo/4",
    "/proc/1/task/1/fd/3",  "/proc/1/net/tcp",        "/proc/2/net/tcp6",        "/proc/1/ns/net",
    "/proc/locks",          "/proc/2/task/2/status",  "/proc/1/task/1/fdinfo/3", "/proc/2/task/3/fd/0",
};

static struct bytes take(struct bytes *rest) {
    const uint8_t *end = rest->size ? memchr(rest->data, 255, rest->size) : NULL;
    size_t n = end ? (size_t)(end - rest->data) : rest->size, used = n + (end != NULL);
    struct bytes text = {rest->data, n};
    *rest = used ? (struct bytes){rest->data + used, rest->size - used} : *rest;
    return text;
}

static void check(struct waits *w) {
    struct waits_chains chains = {0};
    struct waits_groups groups = {0};
    FUZZ_CHECK(waits_chains_find(&chains, w) && !check_chains(w, &chains));
    FUZZ_CHECK(waits_groups_find(&groups, w, &(struct waits_choice){0}, true) && !check_groups(w, &groups));
    waits_groups_fini(&groups);
    waits_chains_fini(&chains);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int64_t clocks[] = {1000000000, -1};
    struct os_proc_fake_file files[FILES] = {0};
    struct bytes rest = {data, size};
    for (size_t i = 0; i < FILES; i++)
        files[i] = (struct os_proc_fake_file){.path = paths[i], .content = take(&rest)};
    /* All the memory that there is, at small addresses, so that numbers of few digits lead there. */
    const struct os_proc_fake_memory memory[] = {{1, 0, {data, size}, false}, {2, 16, {data, size}, false}};
    const struct os_unix_socket sockets[] = {{1, 2, "a"}, {2, 1, ""}, {3, 3, "b"}};
    const struct os_proc_fake fake = {
        files, FILES, .memory = memory, .memory_count = 2, .unix_sockets = sockets, .unix_count = 3};
    const struct os_proc proc = os_proc_fake(&fake);
    struct waits w;
    struct waits_ends ends = {0};
    struct err err = ERR_INIT;
    waits_init(&w);
    FUZZ_CHECK(waits_read_proc(
        &w, &proc, &(struct waits_read_options){.stacks = true, .clock_ns = clocks, .cpus = 2}, &err));
    FUZZ_CHECK(waits_explain(&w, &proc, &ends, &err));
    check(&w);
    waits_ends_fini(&ends);
    waits_fini(&w);
    return 0;
}
