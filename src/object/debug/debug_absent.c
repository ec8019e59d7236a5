/* SPDX-License-Identifier: Apache-2.0 */
/* In place of debug.c and its siblings where there is no libdw. */
#include <string.h>

#include "object/debug/debug.h"

struct object_debug *object_debug_new(struct bytes image, struct bytes alt, const struct object_cfi *cfi,
                                      struct err *err) {
    (void)image, (void)alt, (void)cfi;
    err_set(err, ERR_UNSUPPORTED, "",
            "this sonde was built without libdw (libdw-dev), which reads debugging information");
    return NULL;
}

void object_debug_rest_by(struct object_debug *d, void (*rest)(void *ctx), void *ctx) {
    (void)d, (void)rest, (void)ctx;
}

void object_debug_free(struct object_debug *d) {
    (void)d;
}

const char *object_debug_missing(const struct object_debug *d) {
    (void)d;
    return NULL;
}

/* No object_debug exists that the other functions could be called with. */
bool object_debug_functions(struct object_debug *d, const struct object_debug_query *q, object_instances *out,
                            struct err *err) {
    (void)d, (void)q, (void)out, (void)err;
    return true;
}

bool object_debug_at(struct object_debug *d, object_vaddr addr, bool function, struct object_instance *out) {
    (void)d, (void)addr, (void)function, (void)out;
    return false;
}

bool object_debug_statements(struct object_debug *d, const struct object_debug_span *span,
                             object_debug_lines *out, struct err *err) {
    (void)d, (void)span, (void)out, (void)err;
    return true;
}

bool object_debug_path_ends(const char *path, const char *end) {
    (void)path, (void)end;
    return false;
}

bool object_debug_value(struct object_debug *d, struct object_debug_place at,
                        const struct object_debug_path *path, struct object_value *out, struct err *err) {
    (void)d, (void)at, (void)out;
    return err_set(err, ERR_UNSUPPORTED, path->name, "needs libdw");
}

bool object_debug_variables(struct object_debug *d, struct object_debug_place at, bool externals,
                            object_variables *out, struct err *err) {
    (void)d, (void)at, (void)externals, (void)out, (void)err;
    return true;
}

void object_debug_ranges(struct object_debug *d, struct object_debug_place at, const char *name, char *to,
                         size_t room) {
    (void)d, (void)at, (void)name, (void)room;
    *to = '\0';
}
