/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a ring is read: what lies in a CPU's caches is copied at less cost there. Little is not worth the
 * way, which is a long one where others wait for that CPU too: tens of milliseconds were seen.
 */
#ifndef SONDE_RECORD_RINGS_TRAVEL_H
#define SONDE_RECORD_RINGS_TRAVEL_H

#include "os/affinity.h"

enum { RECORD_TRAVEL_BYTES = 64 << 10 }; /* less is not worth it */

struct record_travel {
    struct os_mover mover;
    bool near;     /* to the CPU's node, not to the CPU itself */
    bool cautious; /* nowhere while CPUs are crowded; and after a long way nowhere for a while, twice as long
                      each time */
    uint64_t stay_until_ns, stay_ns;
};

/* Goes where the ring of `cpu` is best read, of which so many bytes are wanted. False: the thread stayed. */
bool record_travel_to(struct record_travel *t, int32_t cpu, uint64_t bytes);

/* Back to where the thread may run at all. */
void record_travel_home(struct record_travel *t);

#endif
