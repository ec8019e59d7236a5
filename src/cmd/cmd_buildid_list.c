/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cmd/build_ids.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "os/files/map.h"
#include "recording/kernel/kernel_maps.h"

struct buildid_options {
    bool force, hits, kernel, kernel_maps;
    int verbose;
    const char *input;
};

static const struct option options[] = {
    INPUT_FORCE_OPTION(struct buildid_options, force),
    OPTION_BOOL('H', "with-hits", struct buildid_options, hits, "Show only DSOs with hits"),
    INPUT_OPTION(struct buildid_options, input),
    OPTION_BOOL('k', "kernel", struct buildid_options, kernel, "Show current kernel build id"),
    OPTION_BOOL('m', "kernel-maps", struct buildid_options, kernel_maps,
                "Show build id of current kernel + modules"),
    OPTION_COUNT('v', "verbose", struct buildid_options, verbose, "be more verbose"),
    OPTION_END,
};

static int list_kernel(struct command_env *env) {
    struct object_build_id id;
    struct err err = ERR_INIT;
    struct out out;
    if (!kernel_maps_kernel_id(&os_files_real, &id, &err))
        return command_fail(&err);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    buildid_text_id((struct bytes){id.bytes, id.size}, 0, &out);
    out_char(&out, '\n');
    return command_finish(env, &out, EXIT_OK);
}

static int list_kernel_maps(struct command_env *env) {
    struct kernel_maps maps;
    struct err err = ERR_INIT;
    struct utsname uts;
    struct out out;
    int status = EXIT_ERROR;
    const char *release = uname(&uts) == 0 ? uts.release : "";
    if (!kernel_maps_read(&maps, &os_files_real, release, &err)) {
        command_fail(&err);
    } else if (command_output(env, &out)) {
        for (size_t i = 0; i < maps.list.count; i++) {
            const struct kernel_map *m = &maps.list.items[i];
            buildid_text_id((struct bytes){m->id.bytes, m->id.size}, 40, &out);
            out_char(&out, ' ');
            out_hex(&out, m->start, 16);
            out_char(&out, ' ');
            out_hex(&out, m->end, 16);
            out_printf(&out, " %s\n", m->path);
        }
        status = command_finish(env, &out, EXIT_OK);
    }
    kernel_maps_fini(&maps);
    return status;
}

/* Prints the build-id if the input is an ELF file. False: it is none. */
static bool list_elf(struct command_env *env, const char *path, int *status) {
    struct os_file file;
    struct os_map map = {0};
    struct object_build_id id;
    struct err err = ERR_INIT;
    struct out out;
    struct stat st;
    /* A FIFO can be opened only once: its contents are taken for a recording. */
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        !os_file_open(path, &file, &err))
        return false; /* opening it as a recording will say why not */
    bool is_elf =
        file.kind == OS_FILE_REGULAR && os_map_file(&file, path, &map, &err) && object_is_elf(map.bytes);
    if (is_elf && !object_build_id_read(map.bytes, &id)) {
        err_set(&err, ERR_ABSENT, path, "this ELF file has no build-id");
        *status = command_fail(&err);
    } else if (is_elf) {
        *status = EXIT_ERROR;
        if (command_output(env, &out)) {
            buildid_text_id((struct bytes){id.bytes, id.size}, 0, &out);
            out_char(&out, '\n');
            *status = command_finish(env, &out, EXIT_OK);
        }
    }
    os_map_fini(&map);
    os_file_close(&file);
    return is_elf;
}

/* Prints the build-ids that the recording lists or, if it lists none, those of DSOs with hits, as -H does. */
static int list_recording(struct command_env *env, const char *path, const struct buildid_options *o) {
    struct recording r;
    struct build_ids ids = {0};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    if (!input_open(&r, path, o->force, &err) || !build_ids_collect(&ids, &r, o->hits, &err)) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        buildid_text_write(&ids.list, &out);
        status = command_finish(env, &out, input_status(&r));
    }
    build_ids_fini(&ids);
    recording_close(&r);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct buildid_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, NULL);
    command_log(env, o.verbose, false);
    if (o.kernel)
        return list_kernel(env);
    if (o.kernel_maps)
        return list_kernel_maps(env);
    const char *path = input_path(o.input);
    if (list_elf(env, path, &status))
        return status;
    return list_recording(env, path, &o);
}

const struct command cmd_buildid_list = {
    .name = "buildid-list",
    .summary = "List the build-ids in a recording",
    .usage = (const char *const[]){"buildid-list [<options>]", NULL},
    .options = options,
    .run = run,
};
