/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/naming.h"

bool recording_names_open(struct recording_names *n, struct recording *r, const struct model *m,
                          const struct symbol_options *o, struct err *err) {
    struct symbol_options options = *o;
    resolve_recorded_options(&r->recorded, &options);
    n->store = symbol_store_new(&options, err);
    n->names = n->store ? resolve_names_new(m, n->store, r->recorded.release, err) : NULL;
    if (n->names)
        resolve_names_use_jit(n->names, r->jit);
    n->lines = n->names ? resolve_lines_new(n->names, n->store, err) : NULL;
    return n->lines;
}

void recording_names_close(struct recording_names *n) {
    resolve_lines_free(n->lines);
    resolve_names_free(n->names);
    symbol_store_free(n->store);
    *n = (struct recording_names){0};
}
