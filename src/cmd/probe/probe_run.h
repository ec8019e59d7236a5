/* SPDX-License-Identifier: Apache-2.0 */
/* What `sonde probe` does, by what it was asked for. */
#ifndef SONDE_CMD_PROBE_PROBE_RUN_H
#define SONDE_CMD_PROBE_PROBE_RUN_H

#include "base/writer.h"
#include "cmd/common/command.h"
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

/* Reads what names the kernel's functions. False and *err. The text is `into`'s. */
bool probe_run_kernel(const struct probe_cli *c, struct arena *a, struct writer *into,
                      struct probe_kernel *out, struct err *err);

/* Opens the file that -x, -k or -m means. *by_name: there is none with debugging information, and probes go
 * into the kernel by the names of functions alone. False and *err. probe_image_fini in any case. */
bool probe_run_open(struct command_env *env, const struct probe_cli *c, struct arena *a,
                    struct probe_image *out, bool *by_name, struct err *err);

#endif
