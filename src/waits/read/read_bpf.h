/* SPDX-License-Identifier: Apache-2.0 */
/* The snapshot of read_proc.h, taken from the kernel's BPF iterators over tasks and their files: one read for
 * all threads. */
#ifndef SONDE_WAITS_READ_READ_BPF_H
#define SONDE_WAITS_READ_READ_BPF_H

#include "os/bpf/bpf_object.h"
#include "waits/ends.h"
#include "waits/read/read_proc.h"

struct waits_bpf {
    struct os_bpf_object object;
    bool open;
};

/* Loads the programs; waits_bpf_close must be called in any case. False and *err: they cannot be loaded here.
 */
bool waits_bpf_open(struct waits_bpf *b, const struct os_bpf *bpf, bool stacks, struct err *err);
void waits_bpf_close(struct waits_bpf *b);

/* As waits_read_proc. `proc` is still used for threads whose system call is not in their row. */
bool waits_read_bpf(struct waits_bpf *b, struct waits *w, const struct os_proc *proc,
                    const struct waits_read_options *o, struct err *err);

/* A waits_ends.find: all pipes and sockets that are open; ctx is the struct waits_bpf. */
bool waits_bpf_find_holders(void *ctx, struct waits_ends *e);

/* The letter of proc(5) for the state bits of a task; exported for tests. */
char waits_bpf_state(uint32_t state, uint32_t exit_state);

#endif
