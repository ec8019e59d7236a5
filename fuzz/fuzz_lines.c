/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF image with DWARF: eight bytes of a first address, then the image. */
#include "fuzz.h"

#include <string.h>

#include "base/bytes.h"
#include "object/dwarf/lines.h"
#include "object/dwarf/types.h"

enum { QUESTIONS = 32, STEP = 13, REGISTERS = 17 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct object_line line;
    if (size < 8)
        return 0;
    uint64_t addr = bytes_load64(data, BYTES_HOST_BIG), sum = 0;
    struct bytes image = {data + 8, size - 8};
    struct object_lines *lines = object_lines_new(image, (struct bytes){NULL, 0}, NULL);
    for (int i = 0; lines && i < QUESTIONS; i++, addr += STEP) {
        struct object_inline frames[8];
        size_t n = object_lines_inlined(lines, addr, frames, 8);
        for (size_t k = 0; k < n; k++)
            sum += (uint8_t)*frames[k].name + frames[k].line.line;
        if (object_lines_find(lines, addr, &line))
            for (const char *s = line.file; *s; s++)
                sum += (uint8_t)*s + line.line;
        struct object_access access = {.has_address = i & 1,
                                       .address = addr + (uint64_t)(STEP * i),
                                       .base = i % REGISTERS,
                                       .offset = STEP - i};
        struct object_type type;
        if (object_types_find(lines, addr, &access, &type))
            sum += strlen(type.name) + strlen(type.field) + type.offset;
    }
    object_lines_free(lines);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
