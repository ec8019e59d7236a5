/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text/json.h"
#include "cmd/common/command.h"
#include "events/event_names.h"
#include "events/pmu.h"
#include "events/tracepoint.h"
#include "object/sdt.h"
#include "os/files/map.h"
#include "os/files/place.h"
#include "record/keep/cache_entries.h"

struct list_options {
    bool desc, long_desc, json, details, deprecated, debug, raw;
    const char *unit, *output, *cputype;
};

static const struct option options[] = {
    OPTION_STRING(0, "cputype", struct list_options, cputype, "cpu type",
                  "Limit PMU events to the CPUs of that type (core, atom)."),
    OPTION_BOOL('d', "desc", struct list_options, desc,
                "Print extra event descriptions. --no-desc to not print."),
    OPTION_BOOL('j', "json", struct list_options, json, "JSON encode events and metrics"),
    OPTION_STRING('o', "output", struct list_options, output, "file", "output file name"),
    OPTION_BOOL('v', "long-desc", struct list_options, long_desc,
                "Print longer event descriptions and all similar PMUs with alphanumeric suffixes."),
    OPTION_BOOL(0, "debug", struct list_options, debug, "Enable debugging output"),
    OPTION_BOOL(0, "deprecated", struct list_options, deprecated, "Print deprecated events."),
    OPTION_BOOL(0, "details", struct list_options, details,
                "Print information on the perf event names and expressions used internally by events."),
    OPTION_BOOL(0, "raw-dump", struct list_options, raw,
                "Print names only, in one line, for other programs."),
    OPTION_STRING(0, "unit", struct list_options, unit, "PMU name",
                  "Limit PMU or metric printing to the specified PMU."),
    OPTION_END,
};

enum group { HW = 1, SW = 2, CACHE = 4, TRACEPOINT = 8, PMU = 16, SDT = 32, TOOL = 64, METRIC = 128 };
enum { ALL = HW | SW | CACHE | TRACEPOINT | PMU | SDT | TOOL, TEXT_ROOM = 512, WIDTH = 79 };

static const struct {
    const char *word;
    unsigned groups;
} WORDS[] = {
    {"hw", HW},
    {"hardware", HW},
    {"sw", SW | TOOL},
    {"software", SW | TOOL},
    {"cache", CACHE},
    {"hwcache", CACHE},
    {"pmu", PMU | TOOL},
    {"tracepoint", TRACEPOINT | SDT},
    {"sdt", SDT},
    {"metric", METRIC},
    {"metrics", METRIC},
    {"metricgroup", METRIC},
    {"metricgroups", METRIC},
};

/* One line of the list. Texts are borrowed for one call only. */
struct row {
    const char *name, *alias; /* alias may be NULL */
    const char *unit, *type;
    const char *topic, *desc; /* NULL: none */
    char encoding[TEXT_ROOM];
};

struct lister {
    const struct list_options *o;
    struct out *out;
    struct json json;  /* with --json */
    const char *glob;  /* NULL: everything */
    const char *topic; /* the topic printed last */
    bool any;          /* something was printed */
    bool hit;          /* likewise, for the current word */
    const char *cache; /* folder of the build-id cache; NULL: none */
    struct pmu_set pmus;
    struct tracepoint_set tracepoints;
};

/* True if the pattern occurs anywhere in a name. */
static bool wanted(const struct lister *l, const struct row *r) {
    char pattern[TEXT_ROOM];
    if (l->o->unit && strcmp(l->o->unit, r->unit) != 0)
        return false;
    if (!l->glob)
        return true;
    snprintf(pattern, sizeof pattern, "*%s*", l->glob);
    return fnmatch(pattern, r->name, FNM_CASEFOLD) == 0 ||
           (r->alias && fnmatch(pattern, r->alias, FNM_CASEFOLD) == 0);
}

static void member(struct json *j, const char *key, const char *value) {
    if (value && *value)
        json_text(j, key, value);
}

static void print_json(struct json *j, const struct row *r) {
    json_open(j, NULL, '{');
    member(j, "Unit", r->unit);
    member(j, "Topic", r->topic);
    member(j, "EventName", r->name);
    member(j, "EventAlias", r->alias);
    member(j, "EventType", r->type);
    member(j, "BriefDescription", r->desc);
    member(j, "Encoding", r->encoding);
    json_close(j, '}');
}

/* Prints "[TEXT. Unit: UNIT]", broken between words, in perf's layout. */
static void print_desc(struct out *o, const char *desc, const char *unit) {
    char text[TEXT_ROOM];
    snprintf(text, sizeof text, "[%s. Unit: %s]", desc, unit);
    size_t column = 7;
    out_fill(o, ' ', column);
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, " ");
        if (column + n > WIDTH && column > 8) {
            out_str(o, "\n        ");
            column = 8;
        } else if (at != text) {
            out_char(o, ' ');
            column++;
        }
        out_mem(o, at, n);
        column += n;
        at += n + (at[n] == ' ');
    }
    out_char(o, '\n');
}

static void print_text(struct lister *l, const struct row *r) {
    char both[TEXT_ROOM];
    struct out *o = l->out;
    if (r->topic) {
        if (!l->topic || strcmp(l->topic, r->topic) != 0)
            out_printf(o, "%s%s:\n", l->any ? "\n" : "", r->topic);
        l->topic = r->topic;
        out_printf(o, "  %s\n", r->name);
        if (l->o->desc && r->desc)
            print_desc(o, r->desc, r->unit);
    } else {
        snprintf(both, sizeof both, "%s%s%s", r->name, r->alias ? " OR " : "", r->alias ? r->alias : "");
        out_printf(o, "  %-50s [%s]\n", both, r->type);
    }
    if (l->o->details && r->encoding[0])
        out_printf(o, "        %s\n", r->encoding);
}

static void put(struct lister *l, const struct row *r) {
    if (!wanted(l, r))
        return;
    if (l->o->raw)
        out_printf(l->out, "%s ", r->name);
    else if (l->o->json)
        print_json(&l->json, r);
    else
        print_text(l, r);
    l->any = l->hit = true;
}

/* True if a PMU can count hardware and cache events. */
static bool has_core(struct lister *l) {
    for (size_t i = 0, n = pmu_count(&l->pmus); i < n; i++) {
        const struct pmu *p = pmu_at(&l->pmus, i);
        if (p && p->core)
            return true;
    }
    return false;
}

static void list_hardware(struct lister *l) {
    for (const struct event_name *e = EVENT_NAMES_HARDWARE; e->name; e++) {
        struct row r = {.name = e->name, .alias = e->alias, .unit = "cpu", .type = "Hardware event"};
        snprintf(r.encoding, sizeof r.encoding, "cpu/legacy-hardware-config=%#" PRIx32 "/", e->config);
        put(l, &r);
    }
}

static void list_cache(struct lister *l) {
    char name[EVENT_NAMES_CACHE_MAX];
    uint64_t config;
    for (size_t i = 0; event_names_cache(i, name, &config); i++) {
        struct row r = {.name = name, .unit = "cpu", .type = "Hardware cache event"};
        snprintf(r.encoding, sizeof r.encoding, "cpu/legacy-cache-config=%#" PRIx64 "/", config);
        put(l, &r);
    }
}

/* Lists the names and aliases of a table, sorted by name. */
static void list_topic(struct lister *l, const struct event_name *rows, const char *topic) {
    const char *last = "";
    for (;;) {
        const struct event_name *best = NULL;
        const char *name = NULL;
        for (const struct event_name *e = rows; e->name; e++) {
            const char *const names[] = {e->name, e->alias};
            for (size_t i = 0; i < 2; i++) {
                if (names[i] && strcmp(names[i], last) > 0 && (!name || strcmp(names[i], name) < 0)) {
                    best = e;
                    name = names[i];
                }
            }
        }
        if (!name)
            return;
        struct row r = {
            .name = name, .unit = topic, .type = "Kernel PMU event", .topic = topic, .desc = best->text};
        if (strcmp(topic, "tool") == 0)
            r.type = "Tool event";
        snprintf(r.encoding, sizeof r.encoding, "%s/config=%s%" PRIx32 "/", topic,
                 best->config > 9 ? "0x" : "", best->config);
        put(l, &r);
        last = name;
    }
}

/* Returns a PMU's name; without its number if it is one of several alike, unless all are wanted. */
static void unit_name(const struct lister *l, const struct pmu *p, char room[128], bool *again) {
    size_t n = strlen(p->name), stem = n;
    while (stem && isdigit((unsigned char)p->name[stem - 1]))
        stem--;
    *again = false;
    if (l->o->long_desc || stem == n || stem < 2 || p->name[stem - 1] != '_')
        stem = n;
    else if (strcmp(p->name + stem, "0") != 0)
        *again = true; /* the first one represents all */
    else
        stem--;
    snprintf(room, 128, "%.*s", (int)stem, p->name);
}

static void list_pmu(struct lister *l, const struct pmu *p) {
    char unit[128], full[TEXT_ROOM];
    bool again;
    unit_name(l, p, unit, &again);
    if (again)
        return;
    for (size_t i = 0; i < p->aliases.count; i++) {
        const struct pmu_alias *a = &p->aliases.items[i];
        const char *open = strstr(a->terms, "=?");
        struct row r = {.name = full, .unit = p->name, .type = "Kernel PMU event"};
        /* Parameters that the event leaves open follow its name. */
        snprintf(full, sizeof full, "%s/%s", unit, a->name);
        for (; open; open = strstr(open + 2, "=?")) {
            const char *from = open;
            while (from > a->terms && from[-1] != ',')
                from--;
            size_t used = strlen(full);
            snprintf(full + used, sizeof full - used, ",%.*s", (int)(open + 2 - from), from);
        }
        size_t used = strlen(full);
        snprintf(full + used, sizeof full - used, "/");
        if (p->core) {
            r.name = a->name;
            r.alias = full;
        }
        snprintf(r.encoding, sizeof r.encoding, "%s/%s/", unit, a->terms);
        put(l, &r);
    }
    if (p->aux && !p->aliases.count) {
        snprintf(full, sizeof full, "%s//", unit);
        put(l, &(struct row){.name = full, .unit = p->name, .type = "Kernel PMU event"});
    }
}

static bool list_pmus(struct lister *l, struct err *err) {
    for (size_t i = 0, n = pmu_count(&l->pmus); i < n; i++) {
        const struct pmu *p = pmu_at(&l->pmus, i);
        if (!p)
            continue;
        if (!pmu_detail(&l->pmus, p, err))
            return false;
        list_pmu(l, p);
    }
    return true;
}

static bool list_system(struct lister *l, struct tracepoint_system *s, unsigned groups, struct err *err) {
    bool sdt = strncmp(s->name, "sdt_", 4) == 0;
    if (!(groups & (sdt ? SDT : TRACEPOINT)))
        return true;
    if (!tracepoint_events(&l->tracepoints, s, err))
        return false;
    for (size_t i = 0; i < s->events.count; i++) {
        char name[TEXT_ROOM];
        uint64_t id;
        struct row r = {.name = name, .unit = "tracepoint", .type = sdt ? "SDT event" : "Tracepoint event"};
        snprintf(name, sizeof name, "%s:%s", s->name, s->events.items[i]);
        if (!wanted(l, &r) || !tracepoint_id(&l->tracepoints, s->name, s->events.items[i], &id, NULL))
            continue; /* "enable" and "filter" have no id */
        snprintf(r.encoding, sizeof r.encoding, "tracepoint/config=%#" PRIx64 "/", id);
        put(l, &r);
    }
    return true;
}

/* Lists tracepoints. If tracefs cannot be read, the rest is still listed, unless tracepoints were asked for.
 */
static bool list_tracepoints(struct lister *l, unsigned groups, struct err *err) {
    struct err why = ERR_INIT;
    bool ok = tracepoint_systems(&l->tracepoints, &why);
    for (size_t i = 0; ok && i < l->tracepoints.systems.count; i++)
        ok = list_system(l, &l->tracepoints.systems.items[i], groups, &why);
    if (!ok && groups & (HW | SW)) {
        log_line(LOG_WARN, "without tracepoints: %s", why.message);
        return true;
    }
    if (!ok)
        *err = why;
    return ok;
}

/* Lists how to write events that have no names; for completion, nothing. */
static void list_syntax(struct lister *l, bool core) {
    struct row r = {.name = "rNNN", .unit = "cpu", .type = "Raw event descriptor"};
    if (l->o->raw)
        return;
    if (!core)
        r.type = "Raw event descriptor; this machine has no PMU for it";
    put(l, &r);
    r = (struct row){
        .name = "mem:<addr>[/len][:access]", .unit = "breakpoint", .type = "Hardware breakpoint"};
    put(l, &r);
}

/* ---- places that programs marked ---- */

struct sdt_names {
    struct arena texts;
    VEC(const char *) list;
};

/* Reads the names in one file of the cache. A file that cannot be read has none. */
static bool read_sdts(struct sdt_names *names, const char *path, struct err *err) {
    struct os_file file;
    struct os_map map = {{NULL, 0}};
    struct object_elf elf;
    struct object_sdts sdts;
    struct object_sdt sdt;
    bool ok = true;
    if (!os_file_open(path, &file, NULL))
        return true;
    if (file.kind == OS_FILE_REGULAR && os_map_file(&file, path, &map, NULL) &&
        object_elf_open(map.bytes, &elf, NULL) && object_sdts_open(&elf, &sdts))
        while (ok && object_sdts_next(&sdts, &sdt)) {
            char text[TEXT_ROOM];
            int n =
                snprintf(text, sizeof text, "sdt_%.*s:%.*s", (int)sdt.provider.size,
                         (const char *)sdt.provider.data, (int)sdt.name.size, (const char *)sdt.name.data);
            if (n >= (int)sizeof text)
                continue;
            const char **slot = vec_push(&names->list);
            ok = slot && (*slot = arena_strndup(&names->texts, text, (size_t)n));
        }
    os_map_fini(&map);
    os_file_close(&file);
    return ok || err_memory(err, "list");
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* True of those that are probes already: they are listed as tracepoints. */
static bool is_probe(struct lister *l, const char *name) {
    char system[TEXT_ROOM];
    const char *colon = strchr(name, ':');
    uint64_t id;
    snprintf(system, sizeof system, "%.*s", (int)(colon - name), name);
    return tracepoint_id(&l->tracepoints, system, colon + 1, &id, NULL);
}

/* Lists what is in the files of the build-id cache, as perf-list(1) describes. */
static bool list_cached_sdts(struct lister *l, struct err *err) {
    struct record_cache_entries entries = {0};
    struct sdt_names names = {0};
    char path[4096];
    bool ok = !l->cache || record_cache_list(l->cache, &entries, err);
    for (size_t i = 0; ok && i < entries.list.count; i++) {
        const struct record_cache_entry *e = &entries.list.items[i];
        int n = snprintf(path, sizeof path, "%s/%s/%s/elf", l->cache, e->name, e->id);
        ok = n >= (int)sizeof path || read_sdts(&names, path, err);
    }
    if (ok && names.list.count)
        qsort(names.list.items, names.list.count, sizeof *names.list.items, by_name);
    for (size_t i = 0; ok && i < names.list.count; i++) {
        struct row r = {.name = names.list.items[i], .unit = "tracepoint", .type = "SDT event"};
        if ((!i || strcmp(r.name, names.list.items[i - 1]) != 0) && !is_probe(l, r.name))
            put(l, &r);
    }
    vec_fini(&names.list);
    arena_fini(&names.texts);
    record_cache_entries_fini(&entries);
    return ok;
}

static bool list(struct lister *l, unsigned groups, struct err *err) {
    bool core = has_core(l);
    if (groups & HW && core)
        list_hardware(l);
    if (groups & CACHE && core)
        list_cache(l);
    if (groups & PMU && !list_pmus(l, err))
        return false;
    if (groups & PMU)
        list_syntax(l, core);
    if (groups & (TRACEPOINT | SDT) && !list_tracepoints(l, groups, err))
        return false;
    if (groups & SDT && !list_cached_sdts(l, err))
        return false;
    if (groups & SW)
        list_topic(l, EVENT_NAMES_SOFTWARE, "software");
    if (groups & TOOL)
        list_topic(l, EVENT_NAMES_TOOL, "tool");
    return !(groups & METRIC) ||
           err_set(err, ERR_UNSUPPORTED, "list", "there are no tables of metrics in this build");
}

static bool list_words(struct lister *l, int argc, char **argv, struct err *err) {
    if (!argc)
        return list(l, ALL, err);
    for (int i = 0; i < argc; i++) {
        unsigned groups = 0;
        for (size_t j = 0; j < sizeof WORDS / sizeof *WORDS; j++)
            groups |= strcmp(argv[i], WORDS[j].word) == 0 ? WORDS[j].groups : 0;
        l->glob = groups ? NULL : argv[i];
        l->hit = false;
        if (!list(l, groups ? groups : ALL, err))
            return false;
        if (!l->hit && groups)
            log_line(LOG_WARN, "list: this machine has no events of the kind '%s'", argv[i]);
        else if (!l->hit)
            log_line(LOG_WARN, "list: no event of this machine has '%s' in its name", argv[i]);
    }
    return true;
}

/* Into --output's file, or through the pager. */
static int write_list(struct command_env *env, struct lister *l, int argc, char **argv) {
    struct command_sink sink = {.fd = -1};
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_OK;
    if (l->o->output) {
        sink.fd = open(l->o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (sink.fd < 0) {
            err_errno(&err, errno, l->o->output, "cannot open %s", l->o->output);
            return command_fail(&err);
        }
    }
    if (sink.fd >= 0 ? !out_init(&out, command_write_fd, &sink) : !command_output(env, &out))
        return EXIT_ERROR;
    l->out = &out;
    bool json = l->o->json && !l->o->raw;
    l->json = (struct json){.out = &out, .tabs = true, .flush = 1};
    if (json)
        json_open(&l->json, NULL, '[');
    if (!list_words(l, argc, argv, &err))
        status = command_fail(&err);
    if (l->o->raw)
        out_char(&out, '\n');
    else if (json)
        json_close(&l->json, ']');
    if (sink.fd < 0)
        return command_finish(env, &out, status);
    bool written = out_flush(&out);
    out_fini(&out);
    if (close(sink.fd) != 0 || !written) {
        err_errno(&err, written ? errno : sink.errnum, l->o->output, "cannot write %s", l->o->output);
        return command_fail(&err);
    }
    return status;
}

/* CPUs of several types have a PMU each: cpu_core, cpu_atom. */
static bool choose_cpus(struct list_options *o, char room[128], struct err *err) {
    char path[192];
    if (!o->cputype)
        return true;
    snprintf(room, 128, "cpu_%s", o->cputype);
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s", room);
    o->unit = room;
    return os_place_taken(path) ||
           err_set(err, ERR_ABSENT, "--cputype", "this machine has no CPUs of the type %s", o->cputype);
}

static int run(struct command_env *env, int argc, char **argv) {
    struct list_options o = {.desc = true};
    struct err err = ERR_INIT;
    char unit[128];
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (!choose_cpus(&o, unit, &err))
        return command_fail(&err);
    command_log(env, o.debug ? 2 : 0, false);
    struct lister l = {.o = &o, .cache = env->buildid_dir};
    pmu_set_init(&l.pmus, &sysfs_system);
    tracepoint_set_init(&l.tracepoints, &sysfs_system);
    l.tracepoints.mounts = true;
    status = write_list(env, &l, argc, argv);
    pmu_set_fini(&l.pmus);
    tracepoint_set_fini(&l.tracepoints);
    return status;
}

const struct command cmd_list = {
    .name = "list",
    .summary = "List the events that can be recorded",
    .usage =
        (const char *const[]){
            "list [<options>] [hw|sw|cache|tracepoint|pmu|sdt|metric|metricgroup|event_glob]", NULL},
    .options = options,
    .operands = OPTION_WORDS_EVENTS,
    .run = run,
};
