/* SPDX-License-Identifier: Apache-2.0 */
/* A bpf(2) for tests: maps in ordinary memory, programs that the test runs itself, refusals as the test asks.
 */
#ifndef SONDE_OS_BPF_BPF_FAKE_H
#define SONDE_OS_BPF_BPF_FAKE_H

#include "base/vec.h"
#include "os/bpf/bpf_maps.h"

struct os_bpf_fake_entry {
    uint8_t *key, *value; /* owned */
};

struct os_bpf_fake_fd {
    bool closed;
    int command;                                        /* that made it: BPF_MAP_CREATE, BPF_PROG_LOAD ... */
    uint32_t type, key_bytes, value_bytes, max_entries; /* of a map */
    VEC(struct os_bpf_fake_entry) entries;
    size_t at; /* of an iterator: bytes read */
};

struct os_bpf_fake {
    struct os_bpf bpf;              /* hand this on; ctx is the fake */
    VEC(struct os_bpf_fake_fd) fds; /* descriptor i + OS_BPF_FAKE_FD is items[i] */
    const struct os_bpf_code *code; /* what the loader makes when it is run */
    const struct os_bpf_map_kind
        *kinds; /* of the code's maps, by number; NULL: it has none, or only .data and the like */
    int (*refuse)(void *ctx,
                  int command); /* the errno to refuse a call with, 0 to allow it; NULL: allow all */
    void *refuse_ctx;
    int (*run_on)(void *ctx, uint32_t cpu); /* what os_bpf_run_on does and returns; NULL: nothing, 0 */
    void *run_ctx;
    struct bytes iterated; /* what iterators give, at most `read_most` bytes a read (0: all) */
    size_t read_most;
    bool no_types;
    const char *log; /* what the verifier writes when the loader is run with a log */
    uint32_t cpu_count;
};

enum { OS_BPF_FAKE_FD = 2000 };

void os_bpf_fake_init(struct os_bpf_fake *f, const struct os_bpf_code *code);
void os_bpf_fake_fini(struct os_bpf_fake *f);

/* How many descriptors are open. */
uint32_t os_bpf_fake_open(const struct os_bpf_fake *f);

#endif
