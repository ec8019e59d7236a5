/* SPDX-License-Identifier: Apache-2.0 */
/* record --filter: two bytes choose what is sampled, the rest is the text. What is taken fits the program
 * that gets it; what is refused is explained. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "record/filter/filter_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    const struct perfdata_attr attr = {.sample_type = (uint64_t)(data[0] | data[1] << 8) << 9 | 0xff};
    char *text = malloc(size - 1);
    struct bpf_filter f;
    struct err err = ERR_INIT;
    if (!text)
        return 0;
    memcpy(text, data + 2, size - 2);
    text[size - 2] = 0;
    if (record_filter_parse(text, &attr, &f, &err)) {
        FUZZ_CHECK(f.count && f.count <= BPF_FILTER_TERMS && !f.terms[f.count - 1].either);
        for (uint32_t i = 0; i < f.count; i++)
            FUZZ_CHECK(f.terms[i].field <= BPF_FILTER_GID && f.terms[i].how <= BPF_FILTER_MISS &&
                       f.terms[i].shift + f.terms[i].bits <= 64);
    } else {
        FUZZ_CHECK(err.code == ERR_USAGE && *err.message);
    }
    free(text);
    return 0;
}
