/* SPDX-License-Identifier: Apache-2.0 */
/* An ELF image with DWARF: eight bytes of a first address, then the image, which is its own .dwo and dwz file
 * too. */
#include "fuzz.h"

#include <string.h>

#include "object/index/object_index.h"

enum { QUESTIONS = 32, STEP = 13 };

static struct bytes same_file(void *ctx, const char *folder, const char *name) {
    (void)folder, (void)name;
    return *(struct bytes *)ctx;
}

static uint64_t ask(struct object_index *x, uint64_t addr) {
    struct object_inline frames[8];
    struct object_line line;
    size_t n = object_index_inlined(x, addr, frames, 8);
    uint64_t sum = n;
    for (size_t k = 0; k < n; k++)
        sum += strlen(frames[k].name) + (frames[k].line.file ? strlen(frames[k].line.file) : 0);
    bool found = object_index_find(x, addr, &line);
    FUZZ_CHECK(!found || line.file);
    return sum + (found ? strlen(line.file) : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8)
        return 0;
    uint64_t addr = bytes_load64(data, BYTES_HOST_BIG), sum = 0;
    struct bytes image = {data + 8, size - 8};
    const struct object_index_split split = {.dwp = image, .dwo = same_file, .ctx = &image};
    for (int kind = 0; kind < 2; kind++) {
        struct bytes alt = kind ? image : (struct bytes){NULL, 0};
        struct object_index *x = object_index_new(image, alt, &split, NULL, NULL);
        for (int i = 0; x && i < QUESTIONS; i++)
            sum += ask(x, addr + (uint64_t)(STEP * i));
        object_index_free(x);
    }
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
