/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/naming.h"

#include <stdlib.h>

#include "format/perfdata/feature.h"

static char *release_of(const struct reading *r) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    char *release = NULL;
    if (perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_OSRELEASE, &arena, &value) &&
        value.text.size)
        release = strndup((const char *)value.text.data, bytes_text_len(value.text));
    arena_fini(&arena);
    return release;
}

bool naming_open(struct naming *n, const struct reading *r, const struct model *m,
                 const struct symbol_options *o, bool strict, struct err *err) {
    struct symbol_options options = *o;
    options.kept = reading_kept(r);
    options.kept_swap = r->events->swap;
    n->release = release_of(r);
    n->store = symbol_store_new(&options, err);
    n->names = n->store ? resolve_names_new(m, n->store, n->release, err) : NULL;
    if (n->names && strict)
        resolve_names_be_strict(n->names);
    n->lines = n->names ? resolve_lines_new(n->names, n->store, err) : NULL;
    return n->lines;
}

void naming_close(struct naming *n) {
    resolve_lines_free(n->lines);
    resolve_names_free(n->names);
    symbol_store_free(n->store);
    free(n->release);
}
