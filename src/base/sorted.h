/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up in what is sorted. */
#ifndef SONDE_BASE_SORTED_H
#define SONDE_BASE_SORTED_H

#include <stddef.h>

/* How many elements of `v`, a VEC that ascends by `field`, have at most `key` there: the last of them is at
 * one less. `key` is evaluated once. */
#define sorted_up_to(v, field, key) sorted_count_(v, field, <=, key)

/* How many have less: the first that does not, if there is one, is at that index. */
#define sorted_below(v, field, key) sorted_count_(v, field, <, key)

#define sorted_count_(v, field, is, key)                                         \
    __extension__({                                                              \
        const __typeof__((v)->items[0].field) sorted_key_ = (key);               \
        size_t sorted_low_ = 0, sorted_high_ = (v)->count;                       \
        while (sorted_low_ < sorted_high_) {                                     \
            size_t sorted_mid_ = sorted_low_ + (sorted_high_ - sorted_low_) / 2; \
            if ((v)->items[sorted_mid_].field is sorted_key_)                    \
                sorted_low_ = sorted_mid_ + 1;                                   \
            else                                                                 \
                sorted_high_ = sorted_mid_;                                      \
        }                                                                        \
        sorted_low_;                                                             \
    })

#endif
