/* SPDX-License-Identifier: Apache-2.0 */
/* What an objdump may print: the first byte chooses the architecture, the second how many bytes are the code.
 */
#include "fuzz.h"

#include "object/disasm/objdump_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || data[1] > size - 2)
        return 0;
    struct disasm_options o = {.arch = data[0] % 3};
    struct bytes code = {data + 2, data[1]}, text = {data + 2 + data[1], size - 2 - data[1]};
    struct disasm_list list = {0};
    size_t at = 0;
    if (disasm_objdump_read(text, code, 0x1000, &o, &list, NULL))
        for (size_t i = 0; i < list.instructions.count; i++) {
            const struct disasm_instruction *in = &list.instructions.items[i];
            FUZZ_CHECK(in->length && in->bytes == code.data + at && in->address == 0x1000 + at);
            at += in->length;
        }
    else
        FUZZ_CHECK(list.instructions.count == 0 && list.unknown == 0);
    FUZZ_CHECK(at == code.size || list.instructions.count == 0);
    disasm_list_fini(&list);
    return 0;
}
