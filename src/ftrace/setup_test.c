/* SPDX-License-Identifier: Apache-2.0 */
#include "ftrace/setup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"

enum { OWN = 77, GONE = 66 };

static char notes[1024];

static void keep_note(void *ctx, enum log_level level, const char *line) {
    (void)ctx, (void)level;
    snprintf(notes + strlen(notes), sizeof notes - strlen(notes), "%s\n", line);
}

/* The shared files, as they are when nobody traces. */
static void make_tree(struct os_tracefs_fake *f) {
    static const char *const FILES[][2] = {
        {"current_tracer", "nop\n"},
        {"available_tracers", "blk function_graph function nop\n"},
        {"tracing_on", "1\n"},
        {"buffer_size_kb", "7 (expanded: 1408)\n"},
        {"trace_clock", "local [global] mono\n"},
        {"tracing_cpumask", "3\n"},
        {"set_ftrace_filter", "#### all functions enabled ####\n"},
        {"set_ftrace_notrace", "kfree\nkmalloc\n"},
        {"set_graph_function", "#### all functions enabled ####\n"},
        {"set_graph_notrace", "#### no functions disabled ####\n"},
        {"set_ftrace_pid", "no pid\n"},
        {"set_event_pid", ""},
        {"max_graph_depth", "0\n"},
        {"tracing_thresh", "0\n"},
        {"options/funcgraph-proc", "0\n"},
        {"options/funcgraph-abstime", "0\n"},
        {"options/latency-format", "0\n"},
        {"options/function-fork", "0\n"},
        {"events/sched/sched_switch/enable", "0\n"},
    };
    *f = (struct os_tracefs_fake){.alive = OWN};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        os_tracefs_fake_put(f, FILES[i][0], FILES[i][1]);
    notes[0] = '\0';
    log_set_sink(keep_note, NULL);
}

/* What a file means, as the kernel reads it back. */
static const char *meaning(const struct os_tracefs_fake *f, size_t i) {
    const char *t = f->files[i].text;
    return *t == '#' || !strncmp(t, "no pid", 6) ? "" : strchr(t, '[') ? "global" : t;
}

static void assert_as_before(const struct os_tracefs_fake *f) {
    struct os_tracefs_fake *before = calloc(1, sizeof *before);
    make_tree(before);
    assert_int_equal(f->count, before->count);
    for (size_t i = 0; i < f->count; i++) {
        const char *want = meaning(before, i), *got = meaning(f, i);
        size_t n = strcmp(f->files[i].path, "buffer_size_kb") == 0 ? 1 : strcspn(want, "\n");
        n = strchr(want, '\n') && strchr(want, '\n')[1] ? strlen(want) - 1 : n; /* of several lines */
        assert_string_equal(f->files[i].path, before->files[i].path);
        assert_memory_equal(got, want, n);
    }
    free(before);
}

static struct ftrace_options whole(void) {
    struct ftrace_options o = {.tracer = "function_graph",
                               .clock = "mono",
                               .buffer_kb = 4096,
                               .cpus = "1",
                               .depth = 5,
                               .verbose = true,
                               .inherit = true};
    *(const char **)vec_push(&o.filters) = "vfs_*";
    *(const char **)vec_push(&o.filters) = "do_*";
    *(const char **)vec_push(&o.notraces) = "x";
    return o;
}

static void drop(struct ftrace_options *o) {
    vec_fini(&o->filters);
    vec_fini(&o->notraces);
    vec_fini(&o->events);
}

/* Whatever fails, and wherever: everything is restored. */
static void restoring(void **state) {
    struct os_tracefs_fake *f = malloc(sizeof *f);
    (void)state;
    unsigned failed = 0, worked = 0;
    for (unsigned n = 1; !worked; n++) {
        struct err err = ERR_INIT, back = ERR_INIT;
        struct ftrace_options o = whole();
        struct ftrace_setup s;
        make_tree(f);
        struct os_tracefs fs = os_tracefs_fake(f);
        assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
        f->fail_after = n;
        f->refused_with = EIO;
        bool ok = ftrace_setup_apply(&s, &o, &err) && ftrace_setup_pids(&s, "12", &err) &&
                  ftrace_setup_switch(&s, true, &err);
        failed += !ok;
        worked += ok;
        assert_int_equal(ok, err.code == ERR_NONE);
        if (ok) {
            assert_string_equal(os_tracefs_fake_text(f, "set_ftrace_filter"), "vfs_*\ndo_*\n");
            assert_string_equal(os_tracefs_fake_text(f, "current_tracer"), "function_graph");
            assert_non_null(os_tracefs_fake_text(f, "instances/sonde-77/")); /* the mark */
        }
        f->fail_after = 0;
        assert_true(ftrace_setup_restore(&s, &back));
        assert_as_before(f);
        drop(&o);
    }
    assert_true(failed > 10);
    free(f);
}

/* If an instance has the tracer, nothing else is touched. */
static void instance(void **state) {
    struct os_tracefs_fake *f = malloc(sizeof *f);
    struct err err = ERR_INIT;
    struct ftrace_options o = {.tracer = "function_graph"};
    struct ftrace_setup s;
    (void)state;
    make_tree(f);
    struct os_tracefs fs = os_tracefs_fake(f);
    assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
    os_tracefs_fake_put(f, "instances/sonde-77/available_tracers", "function_graph function nop\n");
    os_tracefs_fake_put(f, "instances/sonde-77/current_tracer", "nop\n");
    os_tracefs_fake_put(f, "instances/sonde-77/tracing_on", "1\n");
    assert_true(ftrace_setup_apply(&s, &o, &err));
    assert_string_equal(os_tracefs_fake_text(f, "instances/sonde-77/current_tracer"), "function_graph");
    assert_string_equal(os_tracefs_fake_text(f, "current_tracer"), "nop\n");
    assert_string_equal(ftrace_setup_path(&s, "trace_pipe"), "instances/sonde-77/trace_pipe");
    assert_true(ftrace_setup_restore(&s, &err));
    assert_as_before(f);
    free(f);
}

/* A run that was killed left its mark, its tracer and its filter. */
static void leftovers(void **state) {
    struct os_tracefs_fake *f = malloc(sizeof *f);
    struct err err = ERR_INIT;
    struct ftrace_setup s;
    (void)state;
    make_tree(f);
    struct os_tracefs fs = os_tracefs_fake(f);
    os_tracefs_fake_put(f, "instances/sonde-66/", "");
    os_tracefs_fake_put(f, "instances/other/", "");
    os_tracefs_fake_put(f, "current_tracer", "function\n");
    os_tracefs_fake_put(f, "set_ftrace_filter", "vfs_read\n");
    assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
    assert_non_null(strstr(notes, "process 66"));
    assert_non_null(strstr(notes, "(function)"));
    assert_null(os_tracefs_fake_text(f, "instances/sonde-66/"));
    assert_non_null(os_tracefs_fake_text(f, "instances/other/"));
    assert_string_equal(os_tracefs_fake_text(f, "current_tracer"), "nop");
    assert_string_equal(os_tracefs_fake_text(f, "set_ftrace_filter"), "");
    assert_true(ftrace_setup_restore(&s, &err));
    free(f);
}

/* The error says what is not allowed or missing, and what to do. */
static void refusals(void **state) {
    static const struct {
        const char *file;
        int why;
        const char *said;
    } CASES[] = {
        {"current_tracer", EPERM, "locked down"},
        {"set_ftrace_filter", EINVAL, "no function matches"},
        {"buffer_size_kb", EACCES, "run as root"},
        {"max_graph_depth", EIO, "cannot write '5'"},
    };
    struct os_tracefs_fake *f = malloc(sizeof *f);
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct err err = ERR_INIT, back = ERR_INIT;
        struct ftrace_options o = whole();
        struct ftrace_setup s;
        make_tree(f);
        struct os_tracefs fs = os_tracefs_fake(f);
        f->refused = CASES[i].file;
        f->refused_with = CASES[i].why;
        assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
        assert_false(ftrace_setup_apply(&s, &o, &err));
        assert_non_null(strstr(err.message, CASES[i].said));
        f->refused = NULL;
        assert_true(ftrace_setup_restore(&s, &back));
        assert_as_before(f);
        drop(&o);
    }
    struct err err = ERR_INIT;
    struct ftrace_options o = {.tracer = "function"};
    struct ftrace_setup s;
    make_tree(f);
    os_tracefs_fake_put(f, "current_tracer", "blk\n");
    struct os_tracefs fs = os_tracefs_fake(f);
    assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
    assert_false(ftrace_setup_apply(&s, &o, &err));
    assert_non_null(strstr(err.message, "somebody else uses it (blk)"));
    assert_true(ftrace_setup_restore(&s, &err));
    assert_string_equal(os_tracefs_fake_text(f, "current_tracer"), "blk\n");
    err = ERR_INIT;
    make_tree(f);
    os_tracefs_fake_put(f, "available_tracers", "function_graph my_function nop\n"); /* not that word */
    assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
    assert_false(ftrace_setup_apply(&s, &o, &err));
    assert_non_null(strstr(err.message, "built without that tracer"));
    assert_true(ftrace_setup_restore(&s, &err));
    o.args = true;
    err = ERR_INIT;
    make_tree(f);
    assert_true(ftrace_setup_init(&s, &fs, OWN, &err));
    assert_false(ftrace_setup_apply(&s, &o, &err));
    assert_string_equal(err.where, "funcgraph-args");
    assert_true(ftrace_setup_restore(&s, &err));
    assert_as_before(f);
    free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restoring),
        cmocka_unit_test(instance),
        cmocka_unit_test(leftovers),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
