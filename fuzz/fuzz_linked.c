/* SPDX-License-Identifier: Apache-2.0 */
/* A relocatable ELF file, which gets addresses. */
#include "fuzz.h"

#include <stdlib.h>

#include "object/dwarf/lines.h"
#include "object/linked.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes linked;
    if (!object_linked_new((struct bytes){data, size}, &linked, NULL))
        return 0;
    struct object_lines *lines = object_lines_new(linked, (struct bytes){NULL, 0}, NULL);
    struct object_line line;
    uint64_t sum = 0;
    for (uint64_t addr = OBJECT_LINKED_START; lines && addr < OBJECT_LINKED_START + 64; addr += 4)
        if (object_lines_find(lines, addr, &line))
            sum += line.line + (uint8_t)*line.file;
    object_lines_free(lines);
    free((void *)linked.data);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
