/* SPDX-License-Identifier: Apache-2.0 */
/* A perf-PID.map. */
#include "fuzz.h"

#include "format/perfmap/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = {data, size};
    for (struct perfmap_symbol s; perfmap_next(&rest, &s);) {
        FUZZ_CHECK(s.name.size && s.name.data >= data && s.name.data + s.name.size <= data + size);
        FUZZ_CHECK(!memchr(s.name.data, '\n', s.name.size));
    }
    return 0;
}
