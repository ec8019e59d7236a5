/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/perf_event.h>

#include "base/log.h"
#include "os/perf/perf_event_fake.h"
#include "record/synth/opening.h"

/* A machine with CPUs 0, 1 and 3, and process 40 with threads 40, 41, 42. */
static const struct sysfs_fake_file FILES[] = {
    {"/sys/devices/system/cpu/online", "0-1,3"},
    {"/proc/40/task/40/comm", "first"},
    {"/proc/40/task/41/comm", "second"},
    {"/proc/40/task/42/comm", "third"},
    {"/proc/40/comm", "first"},
    {"/proc/41/comm", "second"},
    {"/proc/42/comm", "third"},
    {"/proc/40/status", "Name:\tfirst\nUid:\t7\t7\t7\t7"},
};
static const struct sysfs_fake TREE = {FILES, sizeof FILES / sizeof *FILES};

static char notes[2000];

static void keep_note(void *ctx, enum log_level level, const char *line) {
    (void)ctx, (void)level;
    strncat(notes, line, sizeof notes - strlen(notes) - 2);
    strcat(notes, "\n");
}

struct fixture {
    struct sysfs sys;
    struct os_perf_fake fake;
    struct perf_event_sources *sources;
    struct perf_events events;
    struct record_options o;
    struct perf_target target;
    struct record_plan plan;
    struct record_opened opened;
    struct err err;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->sys = sysfs_fake(&TREE);
    os_perf_fake_init(&f->fake);
    f->sources = perf_event_sources_new(&f->sys);
    f->o = (struct record_options){.inherit = true, .build_id_mmap = true};
    notes[0] = 0;
    log_set_sink(keep_note, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    record_opened_fini(&f->opened);
    record_plan_fini(&f->plan);
    perf_target_fini(&f->target);
    perf_events_fini(&f->events);
    perf_event_sources_free(f->sources);
    os_perf_fake_fini(&f->fake);
    log_set_sink(NULL, NULL);
    free(f);
    return 0;
}

/* Everything up to opening; whether that went well. */
static bool open_all(struct fixture *f, const char *events, int32_t child) {
    assert_true(perf_events_parse(f->sources, events, &f->events, NULL, &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, child, &f->err));
    assert_true(record_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    return record_open(&f->opened, &f->fake.perf, &f->plan, &f->target, &f->o, &f->err);
}

static struct perfdata_attr attr_of(const struct fixture *f, size_t i) {
    struct perfdata_attr a;
    const struct os_perf_fake_event *e = &f->fake.events.items[i];
    assert_true(perfdata_attr_decode((struct bytes){e->attr, e->attr_bytes}, false, &a));
    return a;
}

static void command(void **state) {
    struct fixture *f = *state;
    assert_true(open_all(f, "cpu-clock,page-faults", 77));
    assert_int_equal(f->opened.rings.count, 3); /* one per CPU, for both events */
    assert_int_equal(f->opened.fds.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct os_perf_fake_event *e = &f->fake.events.items[i];
        assert_int_equal(e->pid, 77);
        assert_int_equal(e->cpu, i % 3 == 2 ? 3 : (int)(i % 3));
        assert_int_equal(e->output_fd, i < 3 ? -1 : OS_PERF_FAKE_FD + (int)i - 3);
        assert_int_equal(f->opened.fds.items[i].id, i + 1);
    }
    struct perfdata_attr a = attr_of(f, 0), b = attr_of(f, 3);
    assert_int_equal(a.size, 128); /* what the oldest readers know */
    assert_int_equal(a.sample_type, PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
                                        PERFDATA_SAMPLE_PERIOD | PERFDATA_SAMPLE_ID);
    assert_int_equal(a.sample_type, b.sample_type);
    assert_int_equal(a.sample_period, 4000);
    const uint64_t side = PERFDATA_ATTR_MMAP | PERFDATA_ATTR_MMAP2 | PERFDATA_ATTR_COMM |
                          PERFDATA_ATTR_COMM_EXEC | PERFDATA_ATTR_TASK | PERFDATA_ATTR_KSYMBOL |
                          PERFDATA_ATTR_BPF_EVENT | PERFDATA_ATTR_BUILD_ID;
    const uint64_t both = PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_INHERIT | PERFDATA_ATTR_FREQ |
                          PERFDATA_ATTR_ENABLE_ON_EXEC | PERFDATA_ATTR_SAMPLE_ID_ALL;
    assert_int_equal(a.flags & ~PERFDATA_ATTR_EXCLUDE_GUEST, both | side); /* only the first carries it */
    assert_int_equal(b.flags & ~PERFDATA_ATTR_EXCLUDE_GUEST, both);
}

static void system_wide_on_one_cpu(void **state) {
    struct fixture *f = *state;
    f->o.target.cpus = "1";
    f->o.callgraph = RECORD_CALLGRAPH_DWARF;
    assert_true(open_all(f, "cpu-clock", 0));
    /* What processes do elsewhere concerns us: the side-band is on all CPUs. */
    assert_int_equal(f->opened.fds.count, 4);
    assert_int_equal(f->opened.rings.count, 3);
    assert_int_equal(f->fake.events.items[0].cpu, 1);
    assert_int_equal(f->fake.events.items[0].pid, -1);
    struct perfdata_attr a = attr_of(f, 0), dummy = attr_of(f, 1);
    assert_int_equal(dummy.config, 9);
    assert_true(a.sample_type & PERFDATA_SAMPLE_IDENTIFIER); /* two layouts */
    assert_true(dummy.sample_type & PERFDATA_SAMPLE_IDENTIFIER);
    assert_false(a.flags & PERFDATA_ATTR_MMAP);
    assert_true(dummy.flags & PERFDATA_ATTR_MMAP);
    assert_true(dummy.flags & PERFDATA_ATTR_MMAP_DATA); /* unwinding reads what is not executable */
    assert_false(dummy.flags & PERFDATA_ATTR_DISABLED);
    assert_int_equal(a.sample_stack_user, 8192);
    assert_true(a.flags & PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER);
}

/* What the first ring says of the processor's counter is told first, as long as the kernel's own record. */
static void counter(void **state) {
    struct fixture *f = *state;
    const struct record_sink sink = {0};
    struct writer w = writer_make(false);
    assert_true(open_all(f, "cpu-clock", 0));
    struct perf_event_mmap_page *page = f->opened.rings.items[0].map.map;
    record_opening_encode(&f->opened, &f->target, &sink, NULL, &w);
    assert_int_not_equal(bytes_load32(w.data, false), PERFDATA_RECORD_TIME_CONV);
    page->cap_user_time = page->cap_user_time_zero = 1;
    page->time_mult = 9;
    page->time_zero = 1000;
    writer_clear(&w);
    record_opening_encode(&f->opened, &f->target, &sink, NULL, &w);
    assert_int_equal(bytes_load32(w.data, false), PERFDATA_RECORD_TIME_CONV);
    assert_int_equal(bytes_load16(w.data + 6, false), 56);
    assert_int_equal(bytes_load64(w.data + 16, false), 9);
    assert_int_equal(bytes_load64(w.data + 24, false), 1000);
    writer_fini(&w);
}

static void threads_of_a_process(void **state) {
    struct fixture *f = *state;
    f->o.target.pids = "40";
    assert_true(open_all(f, "cpu-clock", 0));
    assert_int_equal(f->opened.fds.count, 9); /* three threads on three CPUs */
    assert_int_equal(f->opened.rings.count, 3);
    assert_string_equal(f->target.threads.items[2].comm, "third");
    assert_false(attr_of(f, 0).flags & PERFDATA_ATTR_ENABLE_ON_EXEC);
    record_open_enable(&f->opened, &f->plan, true);
    for (size_t i = 0; i < 9; i++)
        assert_true(f->fake.events.items[i].enabled);
}

static void per_thread(void **state) {
    struct fixture *f = *state;
    f->o.target.pids = "40";
    f->o.target.per_thread = true;
    assert_true(open_all(f, "cpu-clock", 0));
    assert_int_equal(f->opened.fds.count, 3);
    assert_int_equal(f->opened.rings.count, 3);
    assert_int_equal(f->fake.events.items[1].cpu, -1);
    assert_false(attr_of(f, 0).flags & PERFDATA_ATTR_INHERIT); /* the kernel maps no ring for that */
}

static void group(void **state) {
    struct fixture *f = *state;
    assert_true(open_all(f, "{cpu-clock,page-faults}:S", 77));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f->fake.events.items[i].group_fd, -1);
        assert_int_equal(f->fake.events.items[i + 3].group_fd, OS_PERF_FAKE_FD + (int)i);
    }
    struct perfdata_attr a = attr_of(f, 0), b = attr_of(f, 3);
    assert_int_equal(a.sample_period, 4000);
    assert_int_equal(b.sample_period, 0); /* counts, and is read with the leader */
    assert_true(a.sample_type & PERFDATA_SAMPLE_READ);
    assert_true(a.read_format & PERFDATA_FORMAT_GROUP);
    assert_false(b.flags & (PERFDATA_ATTR_DISABLED | PERFDATA_ATTR_ENABLE_ON_EXEC));
}

/* A kernel of 2019: knows nothing that came after Linux 5.1. */
static int old_kernel(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    struct perfdata_attr a;
    (void)ctx, (void)pid, (void)cpu;
    perfdata_attr_decode(attr, false, &a);
    return a.flags & (PERFDATA_ATTR_BUILD_ID | PERFDATA_ATTR_CGROUP) ||
                   a.read_format & PERFDATA_FORMAT_LOST ||
                   a.sample_type & (PERFDATA_SAMPLE_WEIGHT_STRUCT | PERFDATA_SAMPLE_CGROUP)
               ? EINVAL
               : 0;
}

static void older_kernel(void **state) {
    struct fixture *f = *state;
    f->fake.refuse = old_kernel;
    f->o.weight = f->o.all_cgroups = true;
    assert_true(open_all(f, "cpu-clock,page-faults", 77));
    for (size_t i = 0; i < 6; i++) {
        struct perfdata_attr a = attr_of(f, i);
        assert_int_equal(a.read_format, PERFDATA_FORMAT_ID);
        assert_true(a.sample_type & PERFDATA_SAMPLE_WEIGHT);
        assert_false(a.flags & (PERFDATA_ATTR_BUILD_ID | PERFDATA_ATTR_CGROUP));
    }
    assert_true(attr_of(f, 0).flags & PERFDATA_ATTR_KSYMBOL); /* it does know that */
    assert_non_null(strstr(notes, "lost samples (Linux 6.0)"));
    assert_non_null(strstr(notes, "build-ids in map records"));
    assert_null(strstr(notes, "kernel symbols"));
    /* Refused once, then known: the second event is not tried again and again. */
    assert_true(f->fake.opens < 6 + 8);
    assert_int_equal(record_open_lost(&f->opened, &f->plan), 0);
}

static int always(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    (void)attr, (void)pid, (void)cpu;
    return *(int *)ctx;
}

static void refusals(void **state) {
    struct fixture *f = *state;
    static const struct {
        int why;
        enum err_code code;
        const char *text;
    } cases[] = {
        {ENOENT, ERR_ABSENT, "does not have"},    {EOPNOTSUPP, ERR_ABSENT, "cannot be sampled"},
        {EINVAL, ERR_UNSUPPORTED, "combination"}, {EACCES, ERR_PERMISSION, "nothing may be recorded"},
        {EPERM, ERR_PERMISSION, "forbid"},        {ENOSYS, ERR_UNSUPPORTED, "no perf events"},
    };
    static int why; /* the fake keeps its address */
    f->fake.refuse = always;
    f->fake.refuse_ctx = &why;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        why = cases[i].why;
        assert_false(open_all(f, "cpu-clock", 77));
        assert_int_equal(f->err.code, cases[i].code);
        assert_non_null(strstr(f->err.message, cases[i].text));
        record_plan_fini(&f->plan);
        perf_target_fini(&f->target);
    }
}

static int user_only(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    struct perfdata_attr a;
    (void)ctx, (void)cpu;
    perfdata_attr_decode(attr, false, &a);
    return pid < 0 || !(a.flags & PERFDATA_ATTR_EXCLUDE_KERNEL) ? EACCES : 0;
}

static void ordinary_user(void **state) {
    struct fixture *f = *state;
    f->fake.refuse = user_only;
    f->fake.max_pages = 16;
    assert_true(open_all(f, "cpu-clock", 77));
    for (size_t i = 0; i < 3; i++)
        assert_true(attr_of(f, i).flags & PERFDATA_ATTR_EXCLUDE_KERNEL);
    assert_int_equal(f->opened.pages, 16);
    assert_non_null(strstr(notes, "sudo sysctl kernel.perf_event_paranoid=1"));
    assert_non_null(strstr(notes, "sudo sysctl kernel.perf_event_mlock_kb="));
    const char *first = strstr(notes, "only user space");
    assert_null(strstr(first + 1, "only user space")); /* said once */
    struct perfdata_events events;
    perfdata_events_init(&events, false);
    assert_true(record_open_events(&f->opened, &f->plan, &events));
    assert_string_equal(events.list.items[0].name, "cpu-clock:u");
    assert_int_equal(events.list.items[0].id_count, 3);
    perfdata_events_fini(&events);
}

/* Who asks for the kernel, or for a ring of a size, gets that or an error. */
static void asked_for(void **state) {
    struct fixture *f = *state;
    f->fake.refuse = user_only;
    assert_false(open_all(f, "cpu-clock:k", 77));
    assert_int_equal(f->err.code, ERR_PERMISSION);
    assert_non_null(strstr(f->err.message, "sudo sysctl kernel.perf_event_paranoid=1"));
    record_plan_fini(&f->plan);
    perf_target_fini(&f->target);
    perf_events_fini(&f->events);
    f->events = PERF_EVENTS_INIT;
    f->fake.refuse = NULL;
    f->fake.max_pages = 16;
    f->o.pages = 32;
    assert_false(open_all(f, "cpu-clock", 77));
    assert_int_equal(f->err.code, ERR_PERMISSION);
    assert_non_null(strstr(f->err.message, "perf_event_mlock_kb"));
}

/* Thread 40 is another user's. */
static int not_ours(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    return pid == 40 ? EACCES : user_only(ctx, attr, pid, cpu);
}

/* The advice is about what was refused: the process, or whole CPUs. */
static void advice_is_for_what_was_refused(void **state) {
    struct fixture *f = *state;
    static const struct {
        bool all;
        const char *pids, *events, *text;
    } cases[] = {
        {false, "40", "cpu-clock:u", "as its owner"},
        {true, NULL, "cpu-clock", "kernel.perf_event_paranoid=0"},
    };
    f->fake.refuse = not_ours;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->o.target.pids = cases[i].pids;
        f->o.target.all_cpus = cases[i].all;
        assert_false(open_all(f, cases[i].events, 0));
        assert_int_equal(f->err.code, ERR_PERMISSION);
        assert_non_null(strstr(f->err.message, cases[i].text));
        record_plan_fini(&f->plan);
        perf_target_fini(&f->target);
        perf_events_fini(&f->events);
        f->events = PERF_EVENTS_INIT;
    }
}

static int no_thread_41(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    (void)ctx, (void)attr, (void)cpu;
    return pid == 41 ? ESRCH : 0;
}

static void thread_ends_meanwhile(void **state) {
    struct fixture *f = *state;
    f->o.target.pids = "40";
    f->fake.refuse = no_thread_41;
    assert_true(open_all(f, "{cpu-clock,page-faults}", 0));
    assert_int_equal(f->opened.fds.count, 12);
    for (size_t i = 0; i < f->opened.fds.count; i++)
        assert_int_not_equal(f->opened.fds.items[i].tid, 41);
}

static void lists(void **state) {
    struct fixture *f = *state;
    static const char *const bad[] = {"", "x", "1,", "2-1", "1-", "99999999999", "0,5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f->o.target.cpus = bad[i];
        assert_false(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    }
    f->o.target.cpus = "3,0-1,1";
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_int_equal(f->target.cpus.count, 3);
    assert_int_equal(f->target.cpus.items[0], 3);
    perf_target_fini(&f->target);
    f->o = (struct record_options){.target.pids = "40,41"};
    assert_false(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_string_equal(f->err.message, "there is no process 41");
    f->o = (struct record_options){.target.uid = "7"};
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_int_equal(f->target.threads.count, 3);
}

/* Samples in rings that are overwritten, the side-band in rings of its own that are not. */
static void overwrite(void **state) {
    struct fixture *f = *state;
    f->o.overwrite = true;
    assert_true(open_all(f, "cpu-clock", 77));
    assert_int_equal(f->opened.rings.count, 6);
    for (size_t i = 0; i < f->opened.fds.count; i++) {
        struct perfdata_attr a = attr_of(f, i);
        bool side_band = f->opened.fds.items[i].event == 1;
        assert_int_equal((a.flags & PERFDATA_ATTR_WRITE_BACKWARD) != 0, !side_band);
        assert_int_equal((a.flags & PERFDATA_ATTR_MMAP2) != 0, side_band);
        assert_int_equal(f->opened.rings.items[f->opened.fds.items[i].ring].backward, !side_band);
    }
}

/* The second of a group (cpu-clock, task-clock, page-faults) has no counter left. */
static int no_room(void *ctx, struct bytes attr, int32_t pid, int32_t cpu) {
    uint64_t config = bytes_load64(attr.data + 8, false), flags = bytes_load64(attr.data + 40, false);
    (void)ctx, (void)pid, (void)cpu;
    return config == PERF_COUNT_SW_TASK_CLOCK && !(flags & PERFDATA_ATTR_DISABLED) ? EINVAL : 0;
}

static void groups_that_do_not_fit(void **state) {
    struct fixture *f = *state;
    f->fake.refuse = no_room;
    assert_false(open_all(f, "{cpu-clock,task-clock,page-faults},faults", 77));
    assert_int_equal(f->err.code, ERR_UNSUPPORTED);
}

/* A weak one is recorded one by one. */
static void weak_groups(void **state) {
    struct fixture *f = *state;
    f->fake.refuse = no_room;
    assert_true(open_all(f, "{cpu-clock,task-clock,page-faults}:W,{cpu-clock,faults}", 77));
    assert_non_null(strstr(notes, "one by one"));
    for (uint32_t i = 0; i < 5; i++) {
        const struct record_event_plan *p = &f->plan.events.items[i];
        assert_int_equal(p->leader, i < 4 ? i : 3);
        assert_int_equal(p->members, i < 3 ? 1 : i == 3 ? 2 : 0);
        assert_int_equal(!!(p->attr.flags & PERFDATA_ATTR_DISABLED), i < 4);
    }
    for (size_t i = 0; i < f->opened.fds.count; i++) {
        const struct record_fd *fd = &f->opened.fds.items[i];
        int group_fd = f->fake.events.items[fd->fd - OS_PERF_FAKE_FD].group_fd;
        assert_int_equal(group_fd >= 0, fd->event == 4);
    }
}

/* Names go to events in order, a single one to all; the group's folder takes the place of a thread. */
static void cgroups(void **state) {
    struct fixture *f = *state;
    const char *folder = "/cg/web/a";
    f->o.target.all_cpus = true;
    assert_true(perf_events_parse(f->sources, "cpu-clock,page-faults", &f->events, NULL, &f->err));
    assert_false(perf_events_cgroups(&f->events, "a,b,c", &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_true(perf_events_cgroups(&f->events, ",web/a", &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_true(record_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    assert_false(record_open(&f->opened, &f->fake.perf, &f->plan, &f->target, &f->o, &f->err));
    assert_int_equal(f->err.code, ERR_ABSENT); /* no hierarchy */
    size_t before = f->fake.events.count;
    f->plan.cgroup_folder = "/cg";
    assert_true(record_open(&f->opened, &f->fake.perf, &f->plan, &f->target, &f->o, &f->err));
    for (size_t i = 0; i < f->opened.fds.count; i++) {
        bool in_group = f->opened.fds.items[i].event == 1;
        assert_int_equal(f->fake.events.items[before + i].pid,
                         in_group ? OS_PERF_FAKE_CGROUP + (int)strlen(folder) : -1);
    }
}

static void cgroup_is_not_there(void **state) {
    struct fixture *f = *state;
    f->o.target.all_cpus = true;
    assert_true(perf_events_parse(f->sources, "cpu-clock,page-faults", &f->events, NULL, &f->err));
    assert_true(perf_events_cgroups(&f->events, "absent", &f->err));
    assert_string_equal(f->events.items.items[1].cgroup, "absent");
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 0, &f->err));
    assert_true(record_plan_init(&f->plan, &f->events, &f->o, &f->target, &f->err));
    f->plan.cgroup_folder = "/cg";
    assert_false(record_open(&f->opened, &f->fake.perf, &f->plan, &f->target, &f->o, &f->err));
    assert_int_equal(f->err.code, ERR_ABSENT);
    struct perf_target tasks = f->target;
    tasks.system_wide = false;
    struct record_plan plan;
    assert_false(record_plan_init(&plan, &f->events, &f->o, &tasks, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    record_plan_fini(&plan);
}

/* The event of --off-cpu has dumps of registers and stacks if stacks are copied for it. */
static void off_cpu_stacks(void **state) {
    struct fixture *f = *state;
    const uint64_t dump = PERFDATA_SAMPLE_REGS_USER | PERFDATA_SAMPLE_STACK_USER;
    static const struct {
        enum record_callgraph how;
        bool kernel_only;
        uint32_t asked, bytes;
    } CASES[] = {{RECORD_CALLGRAPH_DWARF, false, 0, 8192},
                 {RECORD_CALLGRAPH_DWARF, false, 1001, 1008},
                 {RECORD_CALLGRAPH_DWARF, true, 0, 0},
                 {RECORD_CALLGRAPH_FP, false, 0, 0},
                 {RECORD_CALLGRAPH_NONE, false, 0, 0}};
    if (!record_plan_off_cpu_regs())
        skip();
    f->o.off_cpu = true;
    assert_true(perf_events_parse(f->sources, "cpu-clock", &f->events, NULL, &f->err));
    assert_true(perf_target_init(&f->target, &f->o.target, &f->sys, 77, &f->err));
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct record_plan plan;
        f->o.callgraph = CASES[i].how;
        f->o.kernel_callchains = CASES[i].kernel_only;
        f->o.stack_bytes = CASES[i].asked;
        assert_true(record_plan_init(&plan, &f->events, &f->o, &f->target, &f->err));
        const struct perfdata_attr *a = &plan.events.items[1].attr;
        assert_true(plan.events.items[1].off_cpu);
        assert_int_equal(record_plan_off_cpu_copies(&f->o), CASES[i].bytes);
        assert_int_equal(a->sample_type & dump, CASES[i].bytes ? dump : 0);
        assert_int_equal(a->sample_stack_user, CASES[i].bytes);
        assert_int_equal(a->sample_regs_user, CASES[i].bytes ? record_plan_off_cpu_regs() : 0);
        record_plan_fini(&plan);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(command),
        TEST(overwrite),
        TEST(cgroups),
        TEST(groups_that_do_not_fit),
        TEST(weak_groups),
        TEST(cgroup_is_not_there),
        TEST(off_cpu_stacks),
        TEST(system_wide_on_one_cpu),
        TEST(per_thread),
        TEST(threads_of_a_process),
        TEST(group),
        TEST(counter),
        TEST(older_kernel),
        TEST(refusals),
        TEST(ordinary_user),
        TEST(asked_for),
        TEST(advice_is_for_what_was_refused),
        TEST(thread_ends_meanwhile),
        TEST(lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
