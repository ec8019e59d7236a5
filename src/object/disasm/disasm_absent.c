/* SPDX-License-Identifier: Apache-2.0 */
/* Without capstone. */
#include "object/disasm/disasm.h"

bool disasm_supported(void) {
    return false;
}

struct disasm *disasm_new(const struct disasm_options *options, struct err *err) {
    (void)options;
    err_set(err, ERR_UNSUPPORTED, "instructions",
            "sonde was built without capstone: install libcapstone-dev and build again");
    return NULL;
}

void disasm_free(struct disasm *d) {
    (void)d;
}

bool disasm_function(struct disasm *d, struct bytes code, uint64_t address, struct disasm_list *list,
                     struct err *err) {
    (void)d, (void)code, (void)address, (void)list;
    return err_set(err, ERR_UNSUPPORTED, "instructions", "sonde was built without capstone");
}
