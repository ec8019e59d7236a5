/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a BPF ring buffer (BPF_MAP_TYPE_RINGBUF; Documentation/bpf/ringbuf.rst): records in the order in
 * which programs reserved them. A record for which there was no room is known to the program alone, which
 * should count it.
 */
#ifndef SONDE_OS_BPF_BPF_RING_H
#define SONDE_OS_BPF_BPF_RING_H

#include "os/bpf/bpf_maps.h"

struct os_bpf_ring {
    const struct os_bpf *bpf;
    int fd; /* of the map: borrowed. Can be waited for with os_poller_add */
    uint32_t bytes;
    uint8_t *consumer, *producer; /* as mapped; NULL: not */
};

/* `bytes`: the map's max_entries. False and *err when it cannot be mapped. os_bpf_ring_close in any case. */
bool os_bpf_ring_open(struct os_bpf_ring *r, const struct os_bpf *bpf, int fd, uint32_t bytes, struct err *e);

/* Calls `fn` for each record that is whole, and gives its room back; `record` is valid during the call, which
 * may return false to stop after it. How many there were; -EBADMSG: the ring is corrupt, and is no longer
 * read. */
typedef bool os_bpf_record_fn(void *ctx, struct bytes record);
int os_bpf_ring_take(struct os_bpf_ring *r, os_bpf_record_fn *fn, void *ctx);

void os_bpf_ring_close(struct os_bpf_ring *r);

#endif
