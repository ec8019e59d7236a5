/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/PID/maps. */
#include "fuzz.h"

#include "format/maps/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = {data, size};
    struct maps_entry e;
    char name[64];
    while (maps_next(&rest, &e)) {
        maps_name(&e, name, sizeof name);
        FUZZ_CHECK(e.start < e.end && strnlen(name, sizeof name) < sizeof name);
    }
    return 0;
}
