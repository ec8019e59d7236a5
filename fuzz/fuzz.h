/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target defines: libFuzzer calls it with inputs it makes up, replay.c with files. */
#ifndef SONDE_FUZZ_FUZZ_H
#define SONDE_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input is; a finding when it does not. */
#define FUZZ_CHECK(condition) \
    do {                      \
        if (!(condition))     \
            abort();          \
    } while (0)

#endif
