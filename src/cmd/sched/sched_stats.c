/* SPDX-License-Identifier: Apache-2.0 */
/* `sched stats`: the scheduler's own counters before and after, from /proc/schedstat. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "cmd/sched/sched.h"
#include "format/perfdata/header/header_encode.h"
#include "format/schedstat/schedstat.h"
#include "os/files/files.h"
#include "os/files/output.h"
#include "os/run/child.h"
#include "select/filter.h"
#include "view/sched/stats_text.h"

struct stats_options {
    const char *input, *output, *cpus;
    bool force;
    int verbose;
};

#define OWN struct stats_options
static const struct option options[] = {
    OPTION_STRING('C', "cpu", OWN, cpus, "cpu", "list of cpus to profile"),
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_STRING('o', "output", OWN, output, "file", "`stats record` with output filename"),
    OPTION_COUNT('v', "verbose", OWN, verbose, "Show explanation for fields in the report"),
    OPTION_END,
};

static const char *const usage[] = {"sched stats {record|report|diff} [<options>]",
                                    "sched stats [<options>] [<command>]", NULL};

static const char STATS[] = "/proc/schedstat", SWITCH[] = "/proc/sys/kernel/sched_schedstats";

/* ---- counting ---- */

/* The counters are off, as a rule. Returns whether they are to be switched off again. */
static bool switch_on(void) {
    int fd = open(SWITCH, O_RDWR | O_CLOEXEC);
    char c = 0;
    bool off = fd >= 0 && read(fd, &c, 1) == 1 && c == '0' && pwrite(fd, "1", 1, 0) == 1;
    if (fd >= 0)
        close(fd);
    return off;
}

static void switch_off(void) {
    int fd = open(SWITCH, O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "0", 1) != 1)
        log_line(LOG_WARN, "%s is still on", SWITCH);
    if (fd >= 0)
        close(fd);
}

/* Waits until the command has ended or, without one, for ^C. */
static bool wait_for(struct os_child *child, const char *name, const struct os_signals *signals,
                     struct err *err) {
    int poller = os_poller_open(err), status;
    bool ok = poller >= 0 && os_poller_add(poller, signals->fd, 0, err) &&
              (!child || os_child_go(child, name, err));
    for (bool over = false; ok && !over;) {
        struct os_poll_event e;
        os_poller_wait(poller, &e, 1, -1);
        int got = os_signals_next(signals, NULL);
        over = child ? os_child_ended(child, &status) : got == SIGINT || got == SIGTERM;
    }
    os_close(poller);
    return ok;
}

/* Two snapshots, before and after the command, whose texts are in `texts`. */
static bool count(char **argv, struct writer texts[2], struct schedstat *all, struct err *err) {
    static const int SIGNALS[] = {SIGINT, SIGTERM, SIGCHLD, 0};
    struct os_child child = {0};
    struct os_signals signals;
    struct err absent = ERR_INIT;
    if (!os_files_real.read(os_files_real.ctx, STATS, &texts[0], &absent))
        return err_set(err, absent.code, STATS, "%s: the kernel needs CONFIG_SCHEDSTATS", absent.message);
    if (!os_signals_open(&signals, SIGNALS, err))
        return false;
    bool command = argv[0] != NULL, was_off = switch_on();
    writer_clear(&texts[0]);
    bool ok = (!command || os_child_start(&child, argv, &signals, OS_CHILD_OURS, err)) &&
              os_files_real.read(os_files_real.ctx, STATS, &texts[0], err) &&
              wait_for(command ? &child : NULL, argv[0], &signals, err) &&
              os_files_real.read(os_files_real.ctx, STATS, &texts[1], err);
    if (command && child.pid && !ok)
        os_child_stop(&child);
    if (was_off)
        switch_off();
    os_signals_close(&signals);
    return ok && schedstat_parse(writer_bytes(&texts[0]), all, err) &&
           schedstat_parse(writer_bytes(&texts[1]), all, err);
}

/* Copies the lines of chosen CPUs. */
static bool choose_cpus(const struct schedstat *s, const struct filter_ranges *cpus, struct schedstat *out,
                        struct err *err) {
    for (size_t i = 0; i < s->lines.count; i++) {
        bool wanted = filter_ranges_have(cpus, s->lines.items[i].cpu);
        struct schedstat_line *l = wanted ? vec_push(&out->lines) : NULL;
        if (wanted && !l)
            return err_memory(err, "schedstat");
        if (l)
            *l = s->lines.items[i];
    }
    return out->lines.count || err_set(err, ERR_ABSENT, "--cpu", "none of these CPUs was counted");
}

/* ---- files ---- */

/* A text as headers have them: ended by NUL, and filled up to 64 bytes or a multiple of it. Empty: out of
 * memory. */
static struct bytes padded(struct arena *a, const char *text, size_t n) {
    enum { UNIT = 64 };
    size_t size = (n / UNIT + 1) * UNIT;
    uint8_t *p = arena_zalloc(a, size);
    if (!p)
        return (struct bytes){NULL, 0};
    if (n)
        memcpy(p, text, n);
    return (struct bytes){p, size};
}

/* What is told of domains: names, and the CPUs in them; of all CPUs, which perf expects, by one snapshot. */
static bool encode_domains(const struct schedstat *s, struct writer *w) {
    const size_t count_of_first = s->lines.count / 2;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v = {.id = PERFDATA_FEATURE_CPU_DOMAIN_INFO};
    struct perfdata_cpu_domains *cpus = arena_alloc(&arena, count_of_first * sizeof *cpus);
    struct perfdata_domain *domains = arena_alloc(&arena, count_of_first * sizeof *domains);
    bool ok = cpus && domains;
    v.cpu_domains.schedstat_version = s->lines.items[0].version;
    v.cpu_domains.items = cpus;
    for (size_t i = 0; ok && i < count_of_first; i++) {
        const struct schedstat_line *l = &s->lines.items[i];
        if (!l->is_domain) {
            cpus[v.cpu_domains.count++] =
                (struct perfdata_cpu_domains){.cpu = l->cpu, .items = &domains[i + 1]};
            continue;
        }
        char list[SCHEDSTAT_LIST_ROOM];
        schedstat_mask_list(l->mask, list);
        domains[i] = (struct perfdata_domain){
            .domain = l->domain,
            .name = padded(&arena, (const char *)l->name.data, l->name.size),
            .mask = padded(&arena, (const char *)l->mask.data, l->mask.size),
            .list = padded(&arena, list, strlen(list)),
        };
        ok = domains[i].name.size && domains[i].mask.size && domains[i].list.size;
        uint32_t n = ++cpus[v.cpu_domains.count - 1].count;
        v.cpu_domains.max_domains = n > v.cpu_domains.max_domains ? n : v.cpu_domains.max_domains;
    }
    if (ok)
        perfdata_feature_encode(&v, w);
    arena_fini(&arena);
    return ok && writer_ok(w);
}

/* A recording of these records alone: no events, no samples. `all`: the snapshots with all CPUs. */
static bool encode_file(const struct schedstat *s, const struct schedstat *all, struct writer *file) {
    struct perfdata_events none;
    struct writer data = writer_make(false), tail = writer_make(false), info = writer_make(false),
                  cpus = writer_make(false);
    uint64_t bits[4];
    uint32_t online = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
             available = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
    perfdata_events_init(&none, false);
    schedstat_encode(s, &data);
    bool ok = encode_domains(all, &info);
    perfdata_feature_encode(
        &(struct perfdata_feature_value){.id = PERFDATA_FEATURE_NRCPUS, .nr_cpus = {available, online}},
        &cpus);
    const struct perfdata_feature features[] = {
        {.id = PERFDATA_FEATURE_NRCPUS, .content = writer_bytes(&cpus)},
        {.id = PERFDATA_FEATURE_CPU_DOMAIN_INFO, .content = writer_bytes(&info)},
    };
    perfdata_file_head_encode(&none, file);
    perfdata_file_tail_encode(features, 2, file->size + data.size, &tail, bits);
    perfdata_file_head_finish(file, data.size, bits);
    writer_bytes_put(file, writer_bytes(&data));
    writer_bytes_put(file, writer_bytes(&tail));
    ok = ok && writer_ok(&data) && writer_ok(&tail) && writer_ok(&cpus) && writer_ok(file);
    writer_fini(&data);
    writer_fini(&tail);
    writer_fini(&info);
    writer_fini(&cpus);
    perfdata_events_fini(&none);
    return ok;
}

static bool write_file(const struct schedstat *s, const struct schedstat *all, const char *path,
                       struct err *err) {
    struct writer file = writer_make(false);
    struct os_output out;
    uint64_t at = 0;
    bool ok = encode_file(s, all, &file) || err_memory(err, "recording");
    ok = ok && os_output_keep_old(path, err) && os_output_create(path, &out, err);
    if (ok) {
        ok = os_output_put(&out, &at, writer_bytes(&file), path, err);
        int errnum = out.close(out.ctx);
        if (ok && errnum < 0)
            ok = err_errno(err, -errnum, path, "cannot write");
    }
    writer_fini(&file);
    return ok;
}

/* A recording's lines, and what it says of their domains. */
struct loaded {
    struct recording r;
    struct arena arena;
    struct schedstat all, chosen, span;
};

static void name_domains(struct loaded *l) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(l->r.stream), PERFDATA_FEATURE_CPU_DOMAIN_INFO, &l->arena, &v))
        return;
    for (size_t i = 0; i < l->span.lines.count; i++) {
        struct schedstat_line *line = &l->span.lines.items[i];
        for (uint32_t c = 0; line->is_domain && c < v.cpu_domains.count; c++) {
            const struct perfdata_cpu_domains *cpu = &v.cpu_domains.items[c];
            for (uint32_t d = 0; cpu->cpu == line->cpu && d < cpu->count; d++)
                if (cpu->items[d].domain == line->domain) {
                    line->name = cpu->items[d].name;
                    line->list = cpu->items[d].list;
                    break;
                }
        }
    }
}

static bool load(struct loaded *l, const char *path, bool force, const struct filter_ranges *cpus,
                 struct err *err) {
    struct stream_record rec;
    enum stream_status status;
    *l = (struct loaded){.arena = ARENA_INIT};
    if (!input_open(&l->r, path, force, err))
        return false;
    while ((status = stream_next(l->r.stream, &rec, err)) == STREAM_RECORD) {
        struct schedstat_line line;
        if (rec.raw.type != PERFDATA_RECORD_SCHEDSTAT_CPU && rec.raw.type != PERFDATA_RECORD_SCHEDSTAT_DOMAIN)
            continue;
        if (!schedstat_decode(&rec.raw, l->r.events->swap, &line)) {
            stream_bad_record(l->r.stream, &rec, "counters of the scheduler of no known version, or too few");
            continue;
        }
        struct schedstat_line *to = vec_push(&l->all.lines);
        if (!to)
            return err_memory(err, "schedstat");
        *to = line;
    }
    if (status != STREAM_END)
        return false;
    if (!l->all.lines.count)
        return err_set(err, ERR_ABSENT, path,
                       "the scheduler's counters were not recorded: use 'sonde sched stats record'");
    if (!choose_cpus(&l->all, cpus, &l->chosen, err))
        return false;
    if (!schedstat_span(&l->chosen, &l->span))
        return err_memory(err, "schedstat");
    name_domains(l);
    return true;
}

static void unload(struct loaded *l) {
    schedstat_fini(&l->all);
    schedstat_fini(&l->chosen);
    schedstat_fini(&l->span);
    arena_fini(&l->arena);
    recording_close(&l->r);
}

/* ---- verbs ---- */

static bool show(struct command_env *env, const struct stats_options *o, const struct schedstat *a,
                 const struct schedstat *b, int *status) {
    struct out out;
    if (!command_output(env, &out))
        return false;
    stats_text_write(&(struct stats_text){.sets = {a, b}, .explain = o->verbose > 0, .out = &out});
    *status = command_finish(env, &out, *status);
    return true;
}

static int show_files(struct command_env *env, const struct stats_options *o,
                      const struct filter_ranges *cpus, const char *const paths[2]) {
    struct loaded l[2] = {{.arena = ARENA_INIT}, {.arena = ARENA_INIT}};
    struct err err = ERR_INIT;
    int status = EXIT_OK;
    bool ok = true;
    size_t n = 0;
    while (ok && n < 2 && paths[n]) {
        ok = load(&l[n], paths[n], o->force, cpus, &err);
        n++;
        if (ok)
            status = input_status(&l[n - 1].r) ? EXIT_ERROR : status;
    }
    for (size_t i = 1; ok && i < l[0].span.lines.count + l[1].span.lines.count; i++) {
        size_t first = l[0].span.lines.count;
        const struct schedstat_line *x =
            i < first ? &l[0].span.lines.items[i] : &l[1].span.lines.items[i - first];
        if (x->version != l[0].span.lines.items[0].version)
            ok = err_set(&err, ERR_UNSUPPORTED, paths[i >= first], "counters of different versions");
    }
    if (ok && !show(env, o, &l[0].span, paths[1] ? &l[1].span : NULL, &status))
        status = EXIT_ERROR;
    if (!ok)
        status = command_fail(&err);
    for (size_t i = 0; i < n; i++)
        unload(&l[i]);
    return status;
}

static int count_and(struct command_env *env, const struct stats_options *o, const struct filter_ranges *cpus,
                     char **argv, bool record) {
    struct writer texts[2] = {writer_make(false), writer_make(false)};
    struct schedstat all = {0}, chosen = {0}, span = {0};
    struct err err = ERR_INIT;
    const char *path = o->output ? o->output : "perf.data";
    int status = EXIT_OK;
    bool ok = count(argv, texts, &all, &err) && choose_cpus(&all, cpus, &chosen, &err);
    if (ok && record) {
        ok = write_file(&chosen, &all, path, &err);
        if (ok)
            fprintf(stderr, "[ sonde sched stats: Wrote samples to %s ]\n", path);
    } else if (ok) {
        ok = schedstat_span(&chosen, &span) || err_memory(&err, "schedstat");
        if (ok && !show(env, o, &span, NULL, &status))
            status = EXIT_ERROR;
    }
    if (!ok)
        status = command_fail(&err);
    schedstat_fini(&all);
    schedstat_fini(&chosen);
    schedstat_fini(&span);
    writer_fini(&texts[0]);
    writer_fini(&texts[1]);
    return status;
}

int sched_stats(struct command_env *env, const struct sched_common *common, int argc, char **argv) {
    struct stats_options o = {.input = common->input, .force = common->force, .verbose = common->verbose};
    struct filter_ranges cpus = {0};
    struct err err = ERR_INIT;
    int status;
    const char *verb = argc > 1 ? argv[1] : "";
    bool record = strcmp(verb, "record") == 0, report = strcmp(verb, "report") == 0,
         diff = strcmp(verb, "diff") == 0;
    argc -= record || report || diff;
    argv += record || report || diff;
    bool parsed = report || diff ? command_verb_options(env, options, usage, &o, &argc, &argv, &status)
                                 : command_verb_options_first(env, options, usage, &o, &argc, &argv, &status);
    if (!parsed)
        return status;
    if (report ? argc > 0 : diff && (argc > 2 || argc == 1))
        return command_usage(env, report ? "unexpected argument `%s'" : "diff compares two files, not %s",
                             argv[0]);
    command_log(env, o.verbose, false);
    const char *const files[2] = {diff ? argc ? argv[0] : "perf.data.old" : input_path(o.input),
                                  diff ? argc ? argv[1] : "perf.data" : NULL};
    if (o.cpus && !filter_ranges_parse("--cpu", o.cpus, &cpus, &err))
        status = command_fail(&err);
    else if (report || diff)
        status = show_files(env, &o, &cpus, files);
    else
        status = count_and(env, &o, &cpus, argv, record);
    filter_ranges_fini(&cpus);
    return status;
}
