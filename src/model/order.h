/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_when.order in 32 bits. It nearly always is a record's offset in the stream, a multiple of 8
 * (include/uapi/linux/perf_event.h, perf_event_header.size): one below 16 GiB is stored divided by 8, any
 * other in a table:
 *
 *   0 | order / 8        1 | index in `far`
 */
#ifndef SONDE_MODEL_ORDER_H
#define SONDE_MODEL_ORDER_H

#include "model/model.h"

struct order_table {
    VEC(uint64_t) far;
};

#define ORDER_FAR 0x80000000u

/* False: memory or ids ran out. */
static inline bool order_put(struct order_table *t, uint64_t order, uint32_t *code) {
    if (__builtin_expect(order % 8 == 0 && order / 8 < ORDER_FAR, 1)) {
        *code = (uint32_t)(order / 8);
        return true;
    }
    uint64_t *far = t->far.count < ORDER_FAR ? vec_push(&t->far) : NULL;
    if (!far)
        return false;
    *far = order;
    *code = (uint32_t)(t->far.count - 1) | ORDER_FAR;
    return true;
}

static inline uint64_t order_get(const struct order_table *t, uint32_t code) {
    return __builtin_expect(code & ORDER_FAR, 0) ? t->far.items[code & ~ORDER_FAR] : (uint64_t)code * 8;
}

#endif
