/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    import_input(STACKS_IMPORT_FOLDED, data, size);
    return 0;
}
