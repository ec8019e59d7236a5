/* SPDX-License-Identifier: Apache-2.0 */
/* Which file probes go into, and whether it is the one that runs. */
#include <string.h>

#include "base/log.h"
#include "cmd/probe/probe_run.h"
#include "format/modules/modules.h"
#include "object/build_id.h"
#include "os/files/files.h"

/* Whether the image has the build-id that the running kernel has in `notes`. False: not, or it cannot be
 * compared; *absent: there are no such notes. */
static bool has_build_id_of(const struct probe_image *i, const char *notes, bool *absent) {
    struct object_build_id file, running;
    struct writer text = writer_make(false);
    struct err why = ERR_INIT;
    bool there = os_files_real.read(os_files_real.ctx, notes, &text, &why);
    bool same =
        there && object_build_id_in_notes(writer_bytes(&text), &running) &&
        object_build_id_read(i->code, &file) &&
        bytes_equal((struct bytes){file.bytes, file.size}, (struct bytes){running.bytes, running.size});
    *absent = !there && why.code == ERR_ABSENT;
    writer_fini(&text);
    return same;
}

/* Whether a vmlinux, or a module's file, is the running one. A module that is not loaded can be any. */
static bool is_running(const struct probe_image *i, struct arena *a, struct err *err) {
    const char *notes = i->module ? arena_printf(a, "/sys/module/%s/notes/.note.gnu.build-id", i->module)
                                  : "/sys/kernel/notes";
    bool absent;
    if (!notes)
        return err_memory(err, "probe");
    return has_build_id_of(i, notes, &absent) || (i->module && absent) ||
           err_set(err, ERR_USAGE, i->path,
                   "is not proved to be the running %s: its build-id is another one, or cannot be "
                   "compared. --definition shows the probe for another %s",
                   i->module ? "module" : "kernel's", i->module ? "build" : "kernel");
}

/* The file of a module of the running kernel, as depmod(8) lists it. NULL: there is none. */
static const char *module_file(const char *name, struct arena *a) {
    struct writer release = writer_make(false), list = writer_make(false);
    const char *path = NULL, *found = NULL;
    if (os_files_real.read(os_files_real.ctx, "/proc/sys/kernel/osrelease", &release, NULL))
        path = arena_printf(a, "/lib/modules/%.*s", (int)strcspn((const char *)release.data, "\n"),
                            (const char *)release.data);
    const char *dep = path ? arena_printf(a, "%s/modules.dep", path) : NULL;
    if (dep && os_files_real.read(os_files_real.ctx, dep, &list, NULL)) {
        struct bytes below =
            modules_dep_path(writer_bytes(&list), (struct bytes){(const uint8_t *)name, strlen(name)});
        if (below.size)
            found = arena_printf(a, "%s/%.*s", path, (int)below.size, (const char *)below.data);
    }
    writer_fini(&release);
    writer_fini(&list);
    return found;
}

static bool target_root(const struct probe_cli *c, struct arena *a, struct probe_image_options *o,
                        struct err *err) {
    if (!c->target_ns)
        return true;
    if (!*c->target_ns || c->target_ns[strspn(c->target_ns, "0123456789")])
        return err_set(err, ERR_USAGE, "--target-ns", "expected the number of a process");
    o->target_root = arena_printf(a, "/proc/%s/root", c->target_ns);
    return o->target_root || err_memory(err, "probe");
}

/* A module's file, if it is there and has debugging information; *by_name: it is not, or has none. */
static bool open_module(const struct probe_cli *c, struct arena *a, struct probe_image_options *o,
                        struct probe_image *out, bool *by_name, struct err *err) {
    bool given = strchr(c->module, '/') != NULL;
    const char *file = given ? c->module : module_file(c->module, a);
    *by_name = true;
    o->module = probe_kernel_module(a, c->module);
    if (!o->module)
        return err_memory(err, "probe");
    if (!file)
        return true;
    if (!probe_image_open(out, file, o, err)) {
        if (err->code == ERR_MEMORY || (given && err->code != ERR_ABSENT))
            return false; /* a file that is not here yet is known by its name */
        log_line(LOG_INFO, "%s: %s", file, err->message);
        *err = ERR_INIT;
        return true;
    }
    *by_name = !probe_image_debug(out);
    if (*by_name)
        log_line(LOG_INFO, "%s: %s: its functions are known by name only", file, out->debug_err.message);
    return true;
}

bool probe_run_open(struct command_env *env, const struct probe_cli *c, struct arena *a,
                    struct probe_image *out, bool *by_name, struct err *err) {
    struct probe_image_options o = {.symfs = c->symfs,
                                    .buildid_dir = env->buildid_dir,
                                    .debuginfod_urls = env->debuginfod_urls,
                                    .kernel = c->vmlinux != NULL};
    *out = (struct probe_image){.path = NULL};
    *by_name = !c->exec && !c->vmlinux;
    if (!target_root(c, a, &o, err))
        return false;
    if (*by_name && c->module) {
        if (!open_module(c, a, &o, out, by_name, err))
            return false;
    } else if (!*by_name && !probe_image_open(out, c->vmlinux ? c->vmlinux : c->exec, &o, err)) {
        return false;
    }
    return *by_name || c->exec || c->define.count || c->dry_run || !c->add.count || is_running(out, a, err);
}
