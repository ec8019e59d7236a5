/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/naming.h"

#include <stdio.h>
#include <stdlib.h>

/* Where the base directory specification (freedesktop.org) puts what can be made again: a path that is not
 * absolute counts as none. NULL: nowhere. */
static char *own_cache_path(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (cache && *cache == '/')
        return asprintf(&path, "%s/sonde", cache) < 0 ? NULL : path;
    return !home || *home != '/' || asprintf(&path, "%s/.cache/sonde", home) < 0 ? NULL : path;
}

bool naming_open(struct naming *n, const struct command_env *env, struct reading *r, const struct model *m,
                 const struct symbol_options *o, struct err *err) {
    struct symbol_options options = *o;
    const char *servers = getenv("DEBUGINFOD_URLS");
    resolve_recorded_options(&r->recorded, &options);
    options.cache = env->buildid_dir;
    n->own_cache = own_cache_path();
    options.own_cache = n->own_cache;
    options.debuginfod_urls = servers && *servers ? servers : NULL;
    n->store = symbol_store_new(&options, err);
    n->names = n->store ? resolve_names_new(m, n->store, r->recorded.release, err) : NULL;
    if (n->names)
        resolve_names_use_jit(n->names, r->jit);
    n->lines = n->names ? resolve_lines_new(n->names, n->store, err) : NULL;
    return n->lines;
}

void naming_close(struct naming *n) {
    resolve_lines_free(n->lines);
    resolve_names_free(n->names);
    symbol_store_free(n->store);
    free(n->own_cache);
}
