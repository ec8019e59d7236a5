/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a noun after a number. */
#ifndef SONDE_BASE_PLURAL_H
#define SONDE_BASE_PLURAL_H

#include <stdint.h>

/* "" after 1, else "s": printf("%zu file%s", n, plural(n)). */
static inline const char *plural(uint64_t n) {
    return n == 1 ? "" : "s";
}

#endif
