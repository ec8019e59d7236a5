/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/forward.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 128 };

void forward_add(struct forward *f, const char *word) {
    if (f->count < FORWARD_WORDS_MAX)
        f->list[f->count++] = (char *)word;
}

static int run(struct command_env *env, const struct command *command, const struct forward *f, int argc,
               char **argv) {
    char **line = calloc(f->count + (size_t)argc + 1, sizeof *line);
    if (!line)
        return command_fail(&(struct err){.code = ERR_MEMORY, .message = "out of memory"});
    memcpy(line, f->list, f->count * sizeof *line);
    for (int i = 1; i < argc; i++)
        line[f->count + (size_t)i - 1] = argv[i];
    env->command = command;
    int status = command->run(env, (int)f->count + argc - 1, line);
    free(line);
    return status;
}

int forward_script(struct command_env *env, const char *input, bool force, bool dump, int argc, char **argv) {
    struct forward f = {0};
    forward_add(&f, "script");
    if (input) {
        forward_add(&f, "-i");
        forward_add(&f, input);
    }
    if (force)
        forward_add(&f, "-f");
    if (dump)
        forward_add(&f, "-D");
    return run(env, &cmd_script, &f, argc, argv);
}

void forward_record_begin(struct forward *f, const char *const *words) {
    f->count = 0;
    tracepoint_set_init(&f->tracepoints, &sysfs_system);
    f->tracepoints.mounts = true;
    forward_add(f, "record");
    for (; *words; words++)
        forward_add(f, *words);
}

bool forward_has(struct forward *f, const char *event, struct err *err) {
    char system[NAME_ROOM], name[NAME_ROOM];
    size_t n = strcspn(event, ":"), m = event[n] ? strcspn(event + n + 1, "/") : 0;
    uint64_t id = 0;
    if (!m || n >= sizeof system || m >= sizeof name)
        return err_set(err, ERR_USAGE, NULL, "%s: no tracepoint", event);
    memcpy(system, event, n);
    memcpy(name, event + n + 1, m);
    system[n] = name[m] = 0;
    return tracepoint_id(&f->tracepoints, system, name, &id, err);
}

bool forward_event(struct forward *f, const char *event, struct err *err) {
    if (!forward_has(f, event, err))
        return false;
    forward_add(f, "-e");
    forward_add(f, event);
    return true;
}

int forward_record_run(struct command_env *env, struct forward *f, bool ok, const struct err *err, int argc,
                       char **argv) {
    tracepoint_set_fini(&f->tracepoints);
    return ok ? run(env, &cmd_record, f, argc, argv) : command_fail(err);
}
