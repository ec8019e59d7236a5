/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/travel.h"

static const uint64_t LONG_NS = 2000000, FIRST_STAY_NS = 1000000000, LAST_STAY_NS = 300000000000;

bool record_travel_to(struct record_travel *t, int32_t cpu, uint64_t bytes) {
    const struct os_mover *m = &t->mover;
    if (!m->ctx || bytes < RECORD_TRAVEL_BYTES)
        return false;
    uint64_t start_ns = t->cautious ? m->clock_ns(m->ctx) : 0;
    if (t->cautious && start_ns < t->stay_until_ns)
        return false;
    bool there = !(t->cautious && m->crowded(m->ctx)) && (t->near ? m->to_node : m->to_cpu)(m->ctx, cpu);
    if (t->cautious && (!there || m->clock_ns(m->ctx) - start_ns > LONG_NS)) {
        t->stay_ns = t->stay_ns ? 2 * t->stay_ns : FIRST_STAY_NS;
        t->stay_ns = t->stay_ns < LAST_STAY_NS ? t->stay_ns : LAST_STAY_NS;
        t->stay_until_ns = start_ns + t->stay_ns;
    }
    return there;
}

void record_travel_home(struct record_travel *t) {
    t->mover.home(t->mover.ctx);
}
