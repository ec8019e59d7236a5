/* SPDX-License-Identifier: Apache-2.0 */
/* --funcs, --line and --vars: what of a file can be probed. */
#include <string.h>

#include "cmd/probe/probe_run.h"
#include "probe/filter.h"
#include "view/probe/probe_text.h"

static bool show_variables(struct out *out, struct probe_image *i, const struct probe_cli *c, struct arena *a,
                           struct err *err) {
    struct probe_vars_options v = {c->filter ? c->filter : "!__k???tab_* & !__crc_*", c->externs, c->range};
    for (size_t k = 0; k < c->vars.count; k++) {
        struct probe_spec spec;
        bool ok =
            probe_spec_parse(c->vars.items[k], a, &spec, err) &&
            (!spec.args.count || err_set(err, ERR_USAGE, "--vars", "takes a place without arguments")) &&
            probe_text_variables(out, i, &spec, &c->o, &v, err);
        probe_spec_fini(&spec);
        if (!ok)
            return false;
    }
    return true;
}

static bool show(struct out *out, struct probe_image *i, const struct probe_cli *c, struct arena *a,
                 struct err *err) {
    struct probe_lines lines;
    if (c->funcs) {
        const char *filter = *c->funcs ? c->funcs : c->filter ? c->filter : "!_* & !*@plt";
        return probe_filter_check(filter, err) && probe_text_functions(out, i, filter, c->demangle, err);
    }
    if (c->line)
        return probe_lines_parse(c->line, a, &lines, err) && probe_text_lines(out, i, &lines, &c->o, err);
    return show_variables(out, i, c, a, err);
}

static bool print_name(void *ctx, const char *name) {
    out_str(ctx, name);
    out_char(ctx, '\n');
    return true;
}

/* Without a file there are only the kernel's names. */
static int show_kernel(struct command_env *env, const struct probe_cli *c) {
    struct arena a = ARENA_INIT;
    struct writer kallsyms = writer_make(false);
    struct probe_kernel kernel;
    struct err err = ERR_INIT;
    struct out out;
    const char *filter = c->funcs && *c->funcs ? c->funcs : c->filter ? c->filter : "!_*";
    int status = EXIT_ERROR;
    bool ok =
        c->funcs ? probe_filter_check(filter, &err) && probe_run_kernel(c, &a, &kallsyms, &kernel, &err)
                 : err_set(&err, ERR_UNSUPPORTED, NULL,
                           "--line and --vars need a file with debugging information: name it with -x or -k");
    if (!ok) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        probe_kernel_functions(&kernel, filter, print_name, &out);
        status = command_finish(env, &out, EXIT_OK);
    }
    writer_fini(&kallsyms);
    arena_fini(&a);
    return status;
}

int probe_run_show(struct command_env *env, const struct probe_cli *c) {
    struct arena a = ARENA_INIT;
    struct probe_image image;
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    bool by_name;
    if (!probe_run_open(env, c, &a, &image, &by_name, &err)) {
        status = command_fail(&err);
    } else if (by_name) {
        status = show_kernel(env, c);
    } else if (command_output(env, &out)) {
        bool ok = show(&out, &image, c, &a, &err);
        status = command_finish(env, &out, EXIT_OK);
        status = ok ? status : command_fail(&err);
    }
    probe_image_fini(&image);
    arena_fini(&a);
    return status;
}
