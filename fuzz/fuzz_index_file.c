/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of an index (object/index/index_file.h): as one unit's block, and as a file whose checksums
 * are made right, as whoever can write it can do. */
#include "fuzz.h"

#include <string.h>
#include <xxhash.h>

#include "object/index/index_file.h"
#include "object/index/index_unit.h"
#include "object/index/object_index.h"

enum { QUESTIONS = 16, STEP = 5, HEAD = 16, KEY_AT = HEAD + 8 };

static uint64_t sum_of(const struct object_line *line) {
    return line->file ? strlen(line->file) : 0;
}

static uint64_t ask_unit(struct bytes block) {
    struct index_unit u;
    struct object_inline frames[8];
    struct object_line line;
    uint64_t sum = 0;
    for (uint64_t i = 0; index_unit_open(block, &u) && i < QUESTIONS; i++) {
        size_t n = index_unit_chain(&u, u.base + STEP * i, frames, 8);
        for (size_t k = 0; k < n; k++)
            sum += strlen(frames[k].name) + sum_of(&frames[k].line);
        sum += index_unit_line(&u, u.base + STEP * i, &line) ? sum_of(&line) : 0;
    }
    return sum;
}

static uint64_t word(const uint8_t *at) {
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

/* Sets the checksums of a file that is long enough for its head. Returns the key; empty: it is not. */
static struct bytes make_right(uint8_t *file, size_t size) {
    uint32_t key_size;
    struct bytes none = {NULL, 0};
    if (size < KEY_AT)
        return none;
    memcpy(&key_size, file + HEAD + 4, sizeof key_size);
    uint64_t counts = KEY_AT + (((uint64_t)key_size + 7) & ~(uint64_t)7);
    if (!key_size || counts + 24 > size)
        return none;
    uint64_t units = word(file + counts), ranges = word(file + counts + 8),
             rangeless = word(file + counts + 16);
    if (units > size || ranges > size || rangeless > size)
        return none;
    uint64_t table = counts + 24 + ranges * sizeof(struct index_range) + ((rangeless * 4 + 7) & ~(uint64_t)7),
             end = table + units * sizeof(struct index_file_unit);
    if (end > size)
        return none;
    for (uint64_t i = 0; i < units; i++) {
        uint8_t *unit = file + table + i * sizeof(struct index_file_unit);
        uint64_t at = word(unit), bytes = word(unit + 8);
        if (at > size || bytes > size - at)
            continue;
        uint64_t checksum = bytes ? XXH3_64bits(file + at, bytes) : 0;
        memcpy(unit + 16, &checksum, sizeof checksum);
    }
    uint64_t checksum = XXH3_64bits(file + HEAD, end - HEAD);
    memcpy(file + 8, &checksum, sizeof checksum);
    return (struct bytes){file + KEY_AT, key_size};
}

static uint64_t ask_index(const struct object_index_kept *kept, uint64_t first) {
    struct object_inline frames[8];
    struct object_line line;
    struct bytes none = {NULL, 0}, *parts = NULL;
    struct writer head = writer_make(false);
    struct object_index *x = object_index_new(none, none, NULL, kept, NULL);
    uint64_t sum = 0;
    for (uint64_t i = 0; x && i < QUESTIONS; i++) {
        sum += object_index_inlined(x, first + STEP * i, frames, 8);
        sum += object_index_find(x, first + STEP * i, &line) ? sum_of(&line) : 0;
    }
    if (x)
        FUZZ_CHECK(!object_index_encode(x, kept->key, &head, &parts)); /* nothing is new */
    writer_fini(&head);
    object_index_free(x);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    uint64_t sum = ask_unit((struct bytes){copy, size});
    const struct object_index_kept kept = {make_right(copy, size), {copy, size}};
    struct index_file f;
    if (kept.key.size && index_file_open(kept.file, kept.key, &f))
        sum += ask_index(&kept, f.range_count ? f.ranges[0].start : 0);
    free(copy);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
