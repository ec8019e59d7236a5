/* SPDX-License-Identifier: Apache-2.0 */
/* Types in BTF. */
#include <string.h>

#include "fuzz.h"

#include "format/btf/btf.h"

static bool look(void *ctx, const char *name, uint32_t id) {
    const struct btf *b = ctx;
    struct btf_type type, inner;
    struct btf_member m;
    FUZZ_CHECK(*name && btf_type(b, id, &type) && type.kind == BTF_STRUCT && type.id == id);
    for (uint32_t i = 0; i < type.count; i++) {
        FUZZ_CHECK(btf_member(b, id, i, &m) && strlen(m.name) < b->strings.size);
        btf_type(b, m.type, &inner);
    }
    FUZZ_CHECK(!btf_member(b, id, type.count, &m));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct btf b;
    struct err err = ERR_INIT;
    if (btf_open(&b, (struct bytes){data, size}, &err))
        FUZZ_CHECK(btf_each_struct(&b, look, &b));
    btf_close(&b);
    return 0;
}
