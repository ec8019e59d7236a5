/* SPDX-License-Identifier: Apache-2.0 */
/* ELF images for tests, written by format/elf's encoder, with what their sections borrow kept until the end.
 */
#ifndef SONDE_TESTS_SUPPORT_ELF_IMAGE_H
#define SONDE_TESTS_SUPPORT_ELF_IMAGE_H

#include <elf.h>
#include <stdlib.h>

#include "format/elf/elf_image.h"

enum { TEST_IMAGE_PARTS = 16 };

struct test_image {
    struct elf_image image;
    struct writer parts[TEST_IMAGE_PARTS], file;
    size_t part_count;
};

static inline void test_image_init(struct test_image *t, bool wide, bool big, uint16_t type,
                                   uint16_t machine) {
    *t = (struct test_image){0};
    elf_image_init(&t->image, wide, big, type, machine);
    t->file = elf_image_writer(&t->image);
}

/* An empty writer of the image's byte order, for one section's content; complete before the section is added.
 */
static inline struct writer *test_image_part(struct test_image *t) {
    if (t->part_count == TEST_IMAGE_PARTS)
        abort();
    struct writer *w = &t->parts[t->part_count++];
    *w = elf_image_writer(&t->image);
    return w;
}

/* The image; abort() when memory ran out. */
static inline struct bytes test_image_done(struct test_image *t) {
    if (!elf_image_write(&t->image, &t->file))
        abort();
    return writer_bytes(&t->file);
}

static inline void test_image_fini(struct test_image *t) {
    for (size_t i = 0; i < t->part_count; i++)
        writer_fini(&t->parts[i]);
    writer_fini(&t->file);
    elf_image_fini(&t->image);
}

#endif
