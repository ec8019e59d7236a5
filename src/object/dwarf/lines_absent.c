/* SPDX-License-Identifier: Apache-2.0 */
/* In place of lines.c where there is no libdw. */
#include "object/dwarf/types.h"

struct object_lines *object_lines_new(struct bytes image, struct bytes alt, struct err *err) {
    (void)image, (void)alt;
    err_set(err, ERR_UNSUPPORTED, "", "source lines: this sonde was built without libdw (libdw-dev)");
    return NULL;
}

void object_lines_free(struct object_lines *l) {
    (void)l;
}

bool object_lines_find(struct object_lines *l, object_vaddr addr, struct object_line *out) {
    (void)l, (void)addr;
    *out = (struct object_line){0};
    return false;
}

size_t object_lines_inlined(struct object_lines *l, object_vaddr addr, struct object_inline *out,
                            size_t max) {
    (void)l, (void)addr, (void)out, (void)max;
    return 0;
}

bool object_types_find(struct object_lines *l, object_vaddr addr, const struct object_access *access,
                       struct object_type *out) {
    (void)l, (void)addr, (void)access, (void)out;
    return false;
}

bool object_lines_supported(void) {
    return false;
}
