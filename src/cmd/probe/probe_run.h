/* SPDX-License-Identifier: Apache-2.0 */
/* What `sonde probe` does, by what it was asked for. */
#ifndef SONDE_CMD_PROBE_PROBE_RUN_H
#define SONDE_CMD_PROBE_PROBE_RUN_H

#include "base/writer.h"
#include "cmd/common/command.h"
#include "probe/cache/cache.h"
#include "probe/kernel.h"
#include "probe/points.h"

struct probe_cli {
    struct option_list add, define, del, vars;
    const char *funcs, *line, *list;
    const char *exec, *module, *vmlinux, *symfs, *target_ns, *filter;
    struct probe_options o;
    int max_probes, verbose;
    bool bootconfig, force, dry_run, quiet, cache, demangle, demangle_kernel, externs, range;
};

/* Each returns the exit status; what went wrong was printed. */
int probe_run_list(struct command_env *env, const struct probe_cli *c);
int probe_run_show(struct command_env *env, const struct probe_cli *c);
int probe_run_add(struct command_env *env, const struct probe_cli *c); /* --definition too */
int probe_run_delete(struct command_env *env, const struct probe_cli *c);
int probe_run_list_cached(struct command_env *env, const struct probe_cli *c);
int probe_run_delete_cached(struct command_env *env, const struct probe_cli *c);

/* Reads the probes that are kept for an image or, if that is NULL, for the kernel; none where none are. False
 * and *err: it has no build-id to find them by (ERR_ABSENT), it is a module, there is no cache; out of
 * memory. probe_cache_fini in any case. */
bool probe_run_cache_read(const struct command_env *env, const struct probe_cli *c,
                          const struct probe_image *i, struct probe_cache *out, struct err *err);
/* Keeps them, beside a copy of the program. False and *err. */
bool probe_run_cache_write(const struct command_env *env, const struct probe_cli *c, struct probe_image *i,
                           struct probe_cache *cache, struct err *err);

/* Reads what names the kernel's functions. False and *err. The text is `into`'s. */
bool probe_run_kernel(const struct probe_cli *c, struct arena *a, struct writer *into,
                      struct probe_kernel *out, struct err *err);

/* Opens the file that -x, -k or -m means. *by_name: there is none with debugging information, and probes go
 * into the kernel by the names of functions alone. False and *err. probe_image_fini in any case. */
bool probe_run_open(struct command_env *env, const struct probe_cli *c, struct arena *a,
                    struct probe_image *out, bool *by_name, struct err *err);

#endif
