/* SPDX-License-Identifier: Apache-2.0 */
/* A page of the kernel's trace ring, in both byte orders: records lie in the page, and follow each other. */
#include "fuzz.h"

#include "format/tracefs/ring_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int i = 0; i < 4; i++) {
        const struct ring_page_layout l = {8, i & 1 ? 4 : 8, i & 1 ? 12 : 16, i & 2};
        struct ring_page p;
        struct ring_page_record r;
        const uint8_t *end = data;
        if (!ring_page_open(&p, &l, (struct bytes){data, size}))
            continue;
        while (ring_page_next(&p, &r)) {
            FUZZ_CHECK(!r.data.size ||
                       (r.data.data >= end && r.data.size <= (size_t)(data + size - r.data.data)));
            end = r.data.size ? r.data.data + r.data.size : end;
        }
        FUZZ_CHECK(p.at == p.data.size);
    }
    return 0;
}
