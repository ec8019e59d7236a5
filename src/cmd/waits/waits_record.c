/* SPDX-License-Identifier: Apache-2.0 */
/*
 * It is what `record --off-cpu` and `view` or `export` do, with a recording that has no name:
 *
 *     record -> memory -> stacks (event "wall-clock") -> tree | page | another format
 */
#include "cmd/waits/waits_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/common/forward.h"
#include "cmd/view/show.h"
#include "cmd/view/stacks_output.h"
#include "record/off_cpu/wait_frames.h"
#include "stacks/wall_clock.h"
#include "view/waits/waits_text.h"

/* ---- recording ---- */

static void add_option(struct forward *f, const char *option, const char *value) {
    if (!value)
        return;
    forward_add(f, option);
    forward_add(f, value);
}

/* Idle CPUs are no program's time. Callers are unwound at once: stacks are not kept. */
static int record(struct command_env *env, const struct waits_options *o, const char *path, int argc,
                  char **argv) {
    struct forward f = {0};
    struct err err = ERR_INIT;
    const char *const words[] = {"-q", "-N", "--off-cpu", "-e", "cpu-clock:I", "-F", "999", "-o", path, NULL};
    forward_record_begin(&f, words);
    if (o->stacks) {
        forward_add(&f, "--call-graph=dwarf");
        forward_add(&f, "--unwind=record");
    }
    if (o->wakers)
        forward_add(&f, "--off-cpu-wakers");
    if (o->all)
        forward_add(&f, "-a");
    add_option(&f, "-p", o->pids);
    add_option(&f, "-t", o->tids);
    add_option(&f, "-u", o->user);
    forward_add(&f, "--");
    return forward_record_run(env, &f, true, &err, argc + 1, argv - 1);
}

/* What becomes of it. */
struct waits_shown {
    const struct waits_options *o;
    const struct export_format *format; /* of o->output; NULL: a page */
    size_t width;
};

/* ---- the tree ---- */

struct tree {
    const struct stacks *s;
    bool stacks;
    VEC(const char *) names; /* of one row, outermost first */
    struct waits_over_time sums;
};

static bool has_name(const struct stacks *s, uint32_t event, const char *name) {
    return strcmp(stacks_str(s, s->events.items[event].name), name) == 0;
}

/* Appends the stack's names from the outermost on. */
static bool push_frames(struct tree *t, uint32_t node) {
    const struct stacks *s = t->s;
    size_t n = stacks_depth(s, node), first = t->names.count;
    if (!vec_reserve(&t->names, first + n))
        return false;
    t->names.count += n;
    for (; n && node != STACKS_NONE; node = s->nodes.items[node].caller)
        t->names.items[first + --n] = stacks_frame_name(s, &s->frames.items[s->nodes.items[node].frame]);
    return true;
}

/* Takes functions out: what is left is the program, what it waits for, and who woke it. */
static void drop_functions(struct tree *t) {
    static const char WAKER[] = RECORD_WAKER_WORDS;
    size_t wait = t->names.count - 1;
    while (wait > 1 && strncmp(t->names.items[wait], WAKER, sizeof WAKER - 1) == 0)
        wait--;
    if (wait > 1)
        memmove(t->names.items + 1, t->names.items + wait, (t->names.count - wait) * sizeof *t->names.items);
    t->names.count -= wait > 1 ? wait - 1 : 0;
}

static bool add_row(struct tree *t, const struct stacks_row *row) {
    bool off = has_name(t->s, row->event, STACKS_OFF_CPU);
    const char **to;
    vec_clear(&t->names);
    if (!(to = vec_push(&t->names)))
        return false;
    *to = stacks_str(t->s, row->comm);
    if ((off || t->stacks) && !push_frames(t, row->node))
        return false;
    if (!off && !t->stacks) {
        if (!(to = vec_push(&t->names)))
            return false;
        *to = "on a CPU";
    } else if (!t->stacks) {
        drop_functions(t);
    }
    return waits_over_time_add_path(&t->sums, t->names.items, t->names.count, row->period);
}

/* The event with both kinds of time is the sum of the two others. */
static bool add_rows(struct tree *t) {
    for (size_t i = 0; i < t->s->rows.count; i++)
        if (!has_name(t->s, t->s->rows.items[i].event, STACKS_WALL_CLOCK) &&
            !add_row(t, &t->s->rows.items[i]))
            return false;
    return true;
}

static int show_tree(struct command_env *env, const struct waits_shown *w, const struct stacks *s) {
    const struct waits_options *o = w->o;
    struct tree t = {.s = s, .stacks = o->stacks};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    bool ok = add_rows(&t);
    if (ok && command_output(env, &out)) {
        ok = o->json ? waits_tree_json_write(&t.sums, &out) : waits_tree_write(&t.sums, w->width, &out);
        status = command_finish(env, &out, EXIT_OK);
    }
    if (!ok) {
        err_memory(&err, "waits");
        status = command_fail(&err);
    }
    waits_over_time_fini(&t.sums);
    vec_fini(&t.names);
    return status;
}

/* ---- other formats ---- */

/* The format that a file's name asks for; NULL: a page. */
static bool choose_format(const char *output, const struct export_format **f, struct err *err) {
    const char *dot = strrchr(output, '.'), *end = dot ? dot + 1 : "";
    *f = export_format_find(strcmp(end, "svg") == 0 ? "flamegraph" : end);
    return *f || strcmp(end, "html") == 0 ||
           err_set(err, ERR_USAGE, "-o",
                   "the name says what is written: NAME.html, NAME.svg, NAME.folded, NAME.json ...");
}

static int write_to(struct command_env *env, const char *output, const struct export_format *f,
                    const struct stacks *s) {
    struct err err = ERR_INIT;
    const struct export_options how = {.event = 0}; /* the first one has both kinds of time */
    if (!f)
        return show_page(env, &(struct show_options){.output = output}, s);
    return stacks_write(s, f, &how, output, &err) ? EXIT_OK : command_fail(&err);
}

/* ---- the whole ---- */

static int show(struct command_env *env, const struct waits_shown *w, const char *path) {
    const struct waits_options *o = w->o;
    const struct export_format *f = w->format;
    struct stacks_options in;
    struct stacks s = {0};
    struct err err = ERR_INIT;
    stacks_options_init(&in, env->config);
    in.moments = o->output && (!f || f->moments);
    in.report.comms = o->comm;
    in.report.quiet = !o->verbose;
    int status = stacks_read(env, &in, path, &s, NULL);
    if (status == STACKS_FAILED) {
        status = EXIT_ERROR;
    } else if (!s.events.count) {
        err_set(&err, ERR_ABSENT, NULL, "nothing ran or waited that was asked for");
        status = command_fail(&err);
    } else {
        int shown = o->output ? write_to(env, o->output, f, &s) : show_tree(env, w, &s);
        status = shown ? shown : status;
    }
    stacks_fini(&s);
    stacks_options_fini(&in);
    return status;
}

int waits_record(struct command_env *env, const struct waits_options *o, size_t width, int argc,
                 char **argv) {
    const struct command *self = env->command;
    struct waits_shown w = {.o = o, .width = width};
    struct err err = ERR_INIT;
    char path[32];
    if (o->output && !choose_format(o->output, &w.format, &err))
        return command_fail(&err);
    int fd = memfd_create("waits", MFD_CLOEXEC);
    if (fd < 0) {
        err_errno(&err, errno, "waits", "no memory for a recording");
        return command_fail(&err);
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int status = record(env, o, path, argc, argv);
    env->command = self;
    if (lseek(fd, 0, SEEK_END) > 0) {
        int shown = show(env, &w, path);
        status = shown ? shown : status;
    }
    close(fd);
    return status;
}
