/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for tracefs_formats.c where libtraceevent is missing. */
#include "format/tracefs/tracefs_formats.h"

struct tracefs_formats *tracefs_formats_new(const struct tracing_data *td, tracefs_symbol_fn *symbol,
                                            void *ctx, struct err *err) {
    (void)td, (void)symbol, (void)ctx;
    err_set(err, ERR_UNSUPPORTED, "tracepoint fields",
            "this sonde was built without libtraceevent (packages: libtraceevent-dev, libtraceevent-devel)");
    return NULL;
}

void tracefs_formats_free(struct tracefs_formats *f) {
    (void)f;
}

bool tracefs_formats_print(struct tracefs_formats *f, uint64_t id, int cpu, struct bytes raw, struct out *o) {
    (void)f, (void)id, (void)cpu, (void)raw, (void)o;
    return false;
}

bool tracefs_formats_fields(struct tracefs_formats *f, uint64_t id, struct bytes raw, tracefs_field_fn *fn,
                            void *ctx) {
    (void)f, (void)id, (void)raw, (void)fn, (void)ctx;
    return false;
}
