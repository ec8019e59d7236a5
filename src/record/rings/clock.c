/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/clock.h"

#include <sys/prctl.h>
#include <time.h>

#include "format/perfdata/events/attr.h"
#include "format/perfdata/record.h"
#include "os/poller.h"

enum { TRIES = 5, SOFTWARE = 1, DUMMY = 9 }; /* PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY */

/* The time of the newest record in the ring, a COMM whose last word it is; all records are given back. */
static bool newest_time(struct os_ring *ring, uint64_t *time_ns) {
    uint64_t head = os_ring_head(ring), tail = os_ring_tail(ring);
    bool any = head - tail >= PERFDATA_HEADER_SIZE + sizeof *time_ns && head - tail <= ring->data_bytes;
    if (any)
        os_ring_copy(ring, head - sizeof *time_ns, time_ns, sizeof *time_ns);
    os_ring_consume(ring, head);
    return any;
}

static bool try_once(struct os_ring *ring, struct perfdata_clock_pair *out) {
    char name[16] = "";
    uint64_t before, after, unused;
    if (prctl(PR_GET_NAME, name) != 0 || !os_clock_read(CLOCK_MONOTONIC, &before, &unused) ||
        prctl(PR_SET_NAME, name) != 0 || !os_clock_read(CLOCK_MONOTONIC, &after, &unused) ||
        !newest_time(ring, &out->perf_ns))
        return false;
    out->monotonic_ns = before + (after - before) / 2;
    out->error_ns = (after - before) / 2 + 1;
    return true;
}

bool record_clock_pair(const struct os_perf *perf, const struct record_options *o,
                       struct perfdata_clock_pair *out) {
    const struct perfdata_attr attr = {
        .type = SOFTWARE,
        .config = DUMMY,
        .size = 112,
        .known_size = 112,
        .sample_type = PERFDATA_SAMPLE_TIME,
        .flags = PERFDATA_ATTR_COMM | PERFDATA_ATTR_SAMPLE_ID_ALL | PERFDATA_ATTR_EXCLUDE_KERNEL |
                 (o->use_clockid ? PERFDATA_ATTR_USE_CLOCKID : 0),
        .clockid = o->use_clockid ? o->clockid : 0,
    };
    struct writer w = writer_make(false);
    struct os_ring ring = {0};
    bool any = false;
    perfdata_attr_encode(&attr, &w);
    int fd = writer_ok(&w) ? perf->open(perf->ctx, writer_bytes(&w), 0, -1, -1) : -1;
    writer_fini(&w);
    if (fd < 0)
        return false;
    if (perf->map(perf->ctx, fd, 1, false, &ring) == 0) {
        for (int i = 0; i < TRIES; i++) {
            struct perfdata_clock_pair pair;
            if (!try_once(&ring, &pair) || (any && pair.error_ns >= out->error_ns))
                continue;
            *out = pair;
            any = true;
        }
        perf->unmap(perf->ctx, &ring);
    }
    perf->close(perf->ctx, fd);
    return any;
}
