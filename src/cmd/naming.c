/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/naming.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/perfdata/feature.h"
#include "os/place.h"

/* A feature that is a text; NULL: not recorded. */
static char *text_of(const struct reading *r, enum perfdata_feature_id id) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    char *text = NULL;
    if (perfdata_feature_get(stream_header(r->stream), id, &arena, &value) && value.text.size)
        text = strndup((const char *)value.text.data, bytes_text_len(value.text));
    arena_fini(&arena);
    return text;
}

/* Where the base directory specification (freedesktop.org) puts what can be made again: a path that is not
 * absolute counts as none. NULL: nowhere. */
static char *own_cache_path(void) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (cache && *cache == '/')
        return asprintf(&path, "%s/sonde", cache) < 0 ? NULL : path;
    return !home || *home != '/' || asprintf(&path, "%s/.cache/sonde", home) < 0 ? NULL : path;
}

/* Where `perf record --kcore` puts it: DIRECTORY/kcore_dir/kallsyms. NULL: it is not there. */
static char *kcore_list(const struct reading *r) {
    char *path = NULL;
    if (asprintf(&path, "%s/kcore_dir/kallsyms", stream_path(r->stream)) < 0)
        return NULL;
    if (os_place_taken(path))
        return path;
    free(path);
    return NULL;
}

static struct symbol_returns find_returns(void *ctx, enum symbol_space space) {
    struct reading *r = ctx;
    return resolve_returns_find(&r->returns, r->stream, space);
}

bool naming_open(struct naming *n, const struct command_env *env, struct reading *r, const struct model *m,
                 const struct symbol_options *o, struct err *err) {
    struct symbol_options options = *o;
    const struct os_file *file = stream_file(r->stream);
    const char *servers = getenv("DEBUGINFOD_URLS");
    n->release = text_of(r, PERFDATA_FEATURE_OSRELEASE);
    n->host = text_of(r, PERFDATA_FEATURE_HOSTNAME);
    n->arch = text_of(r, PERFDATA_FEATURE_ARCH);
    options.cache = env->buildid_dir;
    n->own_cache = own_cache_path();
    options.own_cache = n->own_cache;
    options.debuginfod_urls = servers && *servers ? servers : NULL;
    options.recorded_host = n->host;
    options.recorded_arch = n->arch;
    options.recorded_ns = stream_is_pipe(r->stream) || file->fd < 0 ? 0 : file->mtime_ns;
    options.kernel = reading_kernel_facts(r);
    options.module_lines = r->module_lines;
    n->kcore = options.host.kallsyms || options.host.vmlinux ? NULL : kcore_list(r);
    options.host.kallsyms = n->kcore ? n->kcore : options.host.kallsyms;
    options.returns = find_returns;
    options.returns_ctx = r;
    options.kept = reading_kept(r);
    options.kept_swap = r->events->swap;
    n->store = symbol_store_new(&options, err);
    n->names = n->store ? resolve_names_new(m, n->store, n->release, err) : NULL;
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
    free(n->kcore);
    free(n->release);
    free(n->host);
    free(n->arch);
}
