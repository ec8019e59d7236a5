/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol's name, in whatever language. */
#include "fuzz.h"

#include <string.h>

#include "symbol/demangle/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = ARENA_INIT;
    char *name = malloc(size + 1);
    FUZZ_CHECK(name);
    if (size)
        memcpy(name, data, size);
    name[size] = 0;
    const char *text = symbol_demangle(name, &arena);
    FUZZ_CHECK(!text || (*text && strlen(text) <= 64 * 1024));
    FUZZ_CHECK(arena.total_bytes < 256 * 1024);
    free(name);
    arena_fini(&arena);
    return 0;
}
