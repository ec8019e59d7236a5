/* SPDX-License-Identifier: Apache-2.0 */
#include "os/bpf/bpf_ring.h"

#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>

#include "os/limits.h"

/*
 * The map, as it is mapped: a page with our position, which we may write; a page with the writers' position;
 * the data, mapped twice in a row, so that no record is ever cut. Positions grow for ever (unsigned long).
 */
enum { HEADER = BPF_RINGBUF_HDR_SZ };

bool os_bpf_ring_open(struct os_bpf_ring *r, const struct os_bpf *bpf, int fd, uint32_t bytes,
                      struct err *e) {
    size_t page = os_limits_page_bytes();
    *r = (struct os_bpf_ring){.bpf = bpf, .fd = fd, .bytes = bytes};
    r->consumer = bpf->map(bpf->ctx, fd, 0, page, true);
    r->producer = bpf->map(bpf->ctx, fd, page, page + 2 * (size_t)bytes, false);
    return (r->consumer && r->producer) || err_set(e, ERR_MEMORY, "BPF ring", "it cannot be mapped");
}

int os_bpf_ring_take(struct os_bpf_ring *r, os_bpf_record_fn *fn, void *ctx) {
    unsigned long *our = (unsigned long *)r->consumer;
    unsigned long at = *our, end = __atomic_load_n((unsigned long *)r->producer, __ATOMIC_ACQUIRE);
    const uint8_t *data = r->producer + os_limits_page_bytes();
    int n = 0;
    bool more = true;
    while (more && at < end && n < INT_MAX) {
        const uint8_t *record = data + (at & (r->bytes - 1));
        uint32_t word = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
        uint32_t size = word & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
        if (word & BPF_RINGBUF_BUSY_BIT)
            break; /* reserved, and not yet written */
        unsigned long whole = ((unsigned long)size + HEADER + 7) & ~7ul;
        if (whole > end - at || whole > r->bytes)
            return -EBADMSG;
        if (!(word & BPF_RINGBUF_DISCARD_BIT)) {
            more = fn(ctx, (struct bytes){record + HEADER, size});
            n++;
        }
        at += whole;
        __atomic_store_n(our, at, __ATOMIC_RELEASE);
    }
    return n;
}

void os_bpf_ring_close(struct os_bpf_ring *r) {
    size_t page = os_limits_page_bytes();
    if (r->consumer)
        r->bpf->unmap(r->bpf->ctx, r->consumer, page);
    if (r->producer)
        r->bpf->unmap(r->bpf->ctx, r->producer, page + 2 * (size_t)r->bytes);
    r->consumer = r->producer = NULL;
}
