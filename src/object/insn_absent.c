/* SPDX-License-Identifier: Apache-2.0 */
/* Without capstone. */
#include "object/insn.h"

bool object_insns_supported(void) {
    return false;
}

struct object_insns *object_insns_new(struct bytes image, struct err *err) {
    (void)image;
    err_set(err, ERR_UNSUPPORTED, "instructions",
            "sonde was built without capstone: install libcapstone-dev and build again");
    return NULL;
}

void object_insns_free(struct object_insns *n) {
    (void)n;
}

struct object_insns *object_insns_for(struct object_insns_kept *kept, struct bytes image) {
    (void)kept, (void)image;
    return NULL;
}

bool object_insns_decode(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_insn *out) {
    (void)n, (void)code, (void)address, (void)out;
    return false;
}

bool object_insns_access(struct object_insns *n, struct bytes code, uint64_t address,
                         struct object_access *out) {
    (void)n, (void)code, (void)address, (void)out;
    return false;
}
