/* SPDX-License-Identifier: Apache-2.0 */
/* One header feature: byte 0 byte order, 1 its id, 2 the number of CPUs, then the content. */
#include "fuzz.h"

#include "format/perfdata/header/feature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3)
        return 0;
    struct perfdata_feature_env env = {.swap = data[0] & 1, .cpus_available = data[2]};
    struct bytes content = {data + 3, size - 3};
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    FUZZ_CHECK(perfdata_feature_decode(data[1], content, &env, &arena, &value));
    /* No count in the content may make more memory than the content pays for. */
    FUZZ_CHECK(arena.total_bytes <= 65536 + 64 * size);
    struct writer w = writer_make(env.swap);
    perfdata_feature_encode(&value, &w);
    FUZZ_CHECK(writer_ok(&w));
    if (!value.cut)
        FUZZ_CHECK(bytes_equal(writer_bytes(&w), content));
    writer_fini(&w);
    arena_fini(&arena);
    return 0;
}
