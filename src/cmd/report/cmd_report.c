/* SPDX-License-Identifier: Apache-2.0 */
/* The profile of a recording; or what is in it, unresolved: raw dump, counts, tasks, maps, header. */
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/common/browse.h"
#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "cmd/report/report_dump.h"
#include "cmd/report/report_profile.h"
#include "cmd/report/report_tui.h"
#include "view/lists/header_text.h"
#include "view/lists/mmaps.h"
#include "view/lists/stats.h"
#include "view/lists/task_tree.h"

static void write_header(struct recording *r, bool full, struct out *out) {
    const struct header_text_options text = input_header_options(r, full);
    header_text_write(stream_header(r->stream), &r->namer, &text, out);
}

static void write_hint(struct out *out) {
    out_str(out, "# To display the perf.data header info, please use --header/--header-only options.\n#\n");
}

static bool write_stats(struct recording *r, bool json, struct out *out, struct err *err) {
    struct stats t;
    stats_init(&t, json);
    bool ok = stats_read(&t, r->stream, err) && recording_name_events(r, err);
    /* After a failure, what could be read is still worth showing. */
    if (json)
        stats_print_json(&t, r->stream, out);
    else
        stats_print(&t, r->stream, out);
    stats_fini(&t);
    return ok;
}

static bool write_tasks(struct recording *r, bool mmaps, struct out *out, struct err *err) {
    struct model *m =
        report_first_pass(r, mmaps ? MODEL_NEED_COMMS | MODEL_NEED_MAPS : MODEL_NEED_COMMS, err);
    if (!m)
        return false;
    uint64_t left_out = 0;
    bool ok = mmaps ? mmaps_print(m, r->stream, out, &left_out, err) : tasks_print(m, NULL, NULL, out, err);
    if (left_out)
        log_line(LOG_WARN, "the mappings of %" PRIu64 " threads are left out: too many were inherited",
                 left_out);
    model_free(m);
    return ok;
}

/* Prints what is in the file, without a profile. */
static bool write_raw(struct recording *r, const struct report_options *o, struct out *out, struct err *err) {
    if (o->header || o->header_only)
        write_header(r, o->show_info, out);
    if (o->header_only)
        return true;
    if (o->dump && !o->header && !o->quiet && !o->stats && !o->tasks && !o->mmaps)
        write_hint(out);
    if (o->dump && !report_dump_write(r, o->disable_order, out, err))
        return false;
    if (o->stats && !o->dump && !write_stats(r, o->json, out, err))
        return false;
    return (!o->tasks && !o->mmaps) || write_tasks(r, o->mmaps, out, err);
}

static bool is_raw(const struct report_options *o) {
    return o->dump || o->stats || o->tasks || o->mmaps || o->header_only;
}

static bool use_color(const struct report_options *o) {
    const char *term = getenv("TERM");
    if (o->color != REPORT_COLOR_AUTO)
        return o->color == REPORT_COLOR_ALWAYS;
    return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

static int report_raw(struct command_env *env, const struct report_options *o, struct recording *r) {
    struct err err = ERR_INIT;
    struct out out;
    if (!command_output(env, &out))
        return EXIT_ERROR;
    int status = write_raw(r, o, &out, &err) ? EXIT_OK : command_fail(&err);
    int read_status = input_status(r);
    return command_finish(env, &out, status ? status : read_status);
}

/* Shows the profile in the terminal's browser. False: there is nothing to show there, which text says. */
static bool show(struct command_env *env, struct report_session *s, struct recording *r,
                 const struct report_options *o, int *status) {
    struct err err = ERR_INIT;
    int ended;
    bool ok = report_tui_run(s, r, env, o, &ended, &err);
    *status = input_status(r);
    if (!browse_settle(ok, &err, status))
        return false;
    if (ended)
        raise(ended); /* as if it had not been waited with */
    report_session_warn(s);
    return true;
}

static int report_profile(struct command_env *env, const struct report_options *o, bool tui,
                          struct recording *r) {
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    bool color = use_color(o); /* before a pager replaces the terminal */
    struct report_session *s = report_session_new(r, o, env, &err);
    if (!s)
        return command_fail(&err);
    if (tui && show(env, s, r, o, &status)) {
        report_session_free(s);
        return status;
    }
    if (command_output(env, &out)) {
        if (o->header && !o->quiet && !o->json)
            write_header(r, o->show_info, &out);
        else if (!o->quiet && !o->json)
            write_hint(&out);
        bool ok = report_session_print(s, color, &out, &err);
        status = ok ? input_status(r) : command_fail(&err);
        status = command_finish(env, &out, status);
        report_session_warn(s);
        if (report_session_interrupted(s) && status == EXIT_OK)
            status = EXIT_INTERRUPTED;
    }
    report_session_free(s);
    return status;
}

static int run_with(struct command_env *env, struct report_options *o, int argc, char **argv) {
    struct recording r;
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1) /* one operand names a symbol: --symbol-filter */
        return command_usage(env, NULL);
    if (argc)
        o->symbol_filter = argv[0];
    if (o->stats && (o->tasks || o->mmaps))
        return command_usage(env, "--tasks and --mmaps can't be used together with --stats");
    command_log(env, o->verbose, o->quiet);
    if (!is_raw(o) && !report_options_settle(o, &err))
        return command_fail(&err);
    bool tui = !is_raw(o) && report_tui_wanted(env, o);
    o->stacks = o->moments = tui;
    if (!input_open(&r, input_path(o->input), o->force, &err))
        status = command_fail(&err);
    else
        status = is_raw(o) ? report_raw(env, o, &r) : report_profile(env, o, tui, &r);
    recording_close(&r);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct report_options o;
    report_options_init(&o, env->config);
    int status = run_with(env, &o, argc, argv);
    report_options_fini(&o);
    return status;
}

const struct command cmd_report = {
    .name = "report",
    .summary = "Show the profile in a recording",
    .usage = (const char *const[]){"report [<options>]", NULL},
    .options = report_option_rows,
    .run = run,
};
