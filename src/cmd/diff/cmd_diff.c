/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings compared: which functions cost more than before, and which less. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/common/input.h"
#include "cmd/diff/diff_read.h"
#include "cmd/diff/diff_table.h"
#include "cmd/diff/diff_tui.h"
#include "cmd/diff/diff_verdict.h"
#include "cmd/report/report_dump.h"

/* -D: the records of all files. */
static bool dump(const char *const *paths, uint32_t count, const struct diff_options *o, struct out *out,
                 struct err *err) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct recording r;
        ok = input_open(&r, paths[i], o->report.force, err) && report_dump_write(&r, false, out, err);
        recording_close(&r);
    }
    return ok;
}

/* The recordings to compare, the base's first. */
struct wish {
    const char *paths[DIFF_FILES_MAX];
    uint32_t count, base_count;
};

/* Prints the comparison, or the verdict. Returns the status: with --gate, 1 says that a regression is proved,
 * so failures have another one. */
static int print_all(const struct diff_files *f, const struct wish *w, const struct diff_options *o,
                     struct out *out) {
    struct err err = ERR_INIT;
    int judged = EXIT_OK;
    bool ok = (!o->dump || dump(w->paths, w->count, o, out, &err)) &&
              (diff_judges(o) ? diff_verdict_print(f, w->base_count, o, out, &judged, &err)
                              : diff_table_print(f, o, out, &err));
    int read = diff_files_status(f), failed = ok ? EXIT_OK : command_fail(&err);
    if (!o->gate)
        return failed ? failed : read;
    return failed == EXIT_USAGE ? failed : failed || read ? DIFF_NOT_JUDGED : judged;
}

static int compare_all(struct command_env *env, const struct diff_options *o, const struct wish *w) {
    struct diff_files files = {0};
    struct err err = ERR_INIT;
    struct out out;
    bool tui = diff_tui_wanted(o);
    int failed = o->gate ? DIFF_NOT_JUDGED : EXIT_ERROR, status = failed;
    if (!diff_files_read(&files, w->paths, w->count, o, env, &err)) {
        status = command_fail(&err);
        status = status == EXIT_USAGE ? status : failed;
    } else {
        diff_say_files(&files);
        bool shown = tui && diff_tui_show(&files, w->base_count, o, env, &status);
        if (!shown && command_output(env, &out)) {
            status = print_all(&files, w, o, &out);
            int finished = command_finish(env, &out, EXIT_OK);
            status = finished ? failed : status;
            shown = true;
        }
        for (uint32_t i = 0; shown && i < files.count; i++)
            report_session_warn(files.list[i].session);
    }
    diff_files_free(&files);
    return status;
}

/* Adds the files of --base or --new, in a copy of that. False: out of memory, or there are too many. */
static bool add_list(struct wish *w, char *list) {
    for (char *save = NULL, *one = strtok_r(list, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
        if (w->count == DIFF_FILES_MAX)
            return false;
        w->paths[w->count++] = one;
    }
    return true;
}

/* Finds which files are wanted. `lists`: room for copies of --base and --new. False: usage. */
static bool find_files(const struct diff_options *o, int argc, char **argv, char *lists[2], struct wish *w) {
    *w = (struct wish){.paths = {"perf.data.old", "perf.data"}, .count = 2, .base_count = 1};
    if (o->base || o->now) {
        if (!o->base || !o->now || argc)
            return false;
        w->count = 0;
        lists[0] = strdup(o->base);
        lists[1] = strdup(o->now);
        bool ok = lists[0] && lists[1] && add_list(w, lists[0]);
        w->base_count = w->count;
        return ok && w->base_count && add_list(w, lists[1]) && w->count > w->base_count;
    }
    if (argc > DIFF_FILES_MAX || (diff_judges(o) && argc > 2))
        return false;
    for (int i = 0; i < argc; i++)
        w->paths[argc == 1 ? 1 : i] = argv[i];
    w->count = argc < 2 ? 2 : (uint32_t)argc;
    return true;
}

static int run_files(struct command_env *env, struct diff_options *o, const struct wish *w) {
    struct err err = ERR_INIT;
    command_log(env, o->report.verbose, o->report.quiet);
    if (o->order < 0 || (uint32_t)o->order >= w->count)
        return command_usage(env, "-o %d: there are files 0 (the baseline) to %u", o->order, w->count - 1);
    if (o->streams && w->count != 2)
        return command_usage(env, "--stream compares two files");
    if (!diff_options_settle(o, &err))
        return command_fail(&err);
    return compare_all(env, o, w);
}

static int run_with(struct command_env *env, struct diff_options *o, int argc, char **argv) {
    struct wish w;
    char *lists[2] = {0};
    int status;
    if (!command_options(env, o, 0, &argc, &argv, &status))
        return status;
    if (!!o->per + !!o->by_event + o->by_time > 1)
        status = command_usage(env, "--per, --by and --by-time exclude each other");
    else if (find_files(o, argc, argv, lists, &w))
        status = run_files(env, o, &w);
    else
        status = command_usage(env,
                               "give files as operands (two, for a verdict), or with both --base and --new; "
                               "at most %d",
                               DIFF_FILES_MAX);
    free(lists[0]);
    free(lists[1]);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct diff_options o;
    diff_options_init(&o, env->config);
    int status = run_with(env, &o, argc, argv);
    diff_options_fini(&o);
    return status;
}

const struct command cmd_diff = {
    .name = "diff",
    .summary = "Compare recordings: what costs more, what less",
    .usage = (const char *const[]){"diff [<options>] [<old file>] [<new file>...]",
                                   "diff [<options>] --base <file>,... --new <file>,...", NULL},
    .options = diff_option_rows,
    .run = run,
};
