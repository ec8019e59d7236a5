/* SPDX-License-Identifier: Apache-2.0 */
/* `ftrace profile` and `latency`: what the rings hold, added up. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/ftrace/ftrace.h"
#include "format/kallsyms/kallsyms.h"
#include "ftrace/rings.h"
#include "ftrace/spans.h"
#include "os/files/files.h"
#include "view/ftrace/ftrace_text.h"

struct numbers {
    struct ftrace_cli *cli;
    struct ftrace_rings rings;
    struct ftrace_calls calls;
    struct ftrace_spans spans;
    struct ftrace_histogram histogram;
    const char *events[2]; /* "SYSTEM/EVENT", of latency -e; NULL: functions */
};

/* --- the trace --- */

static bool read_format(struct ftrace_setup *s, const char *event, struct writer *w, struct err *err) {
    const char *path = arena_printf(&s->arena, "events/%s/format", event);
    *w = writer_make(false);
    return (path || err_memory(err, event)) && s->fs->read(s->fs->ctx, path, w, err) &&
           (writer_ok(w) || err_memory(err, event));
}

static bool read_formats(struct numbers *n, struct ftrace_setup *s, struct err *err) {
    const char *first = n->events[0] ? n->events[0] : "ftrace/funcgraph_entry";
    const char *second = n->events[0] ? n->events[1] : "ftrace/funcgraph_exit";
    struct writer a, b = writer_make(false);
    bool ok = read_format(s, first, &a, err) && read_format(s, second, &b, err);
    if (ok && n->events[0]) {
        n->spans.type = ftrace_field_find(writer_bytes(&a), "common_type");
        n->spans.pid = ftrace_field_find(writer_bytes(&a), "common_pid");
        n->spans.first = ftrace_format_id(writer_bytes(&a));
        n->spans.second = ftrace_format_id(writer_bytes(&b));
    } else if (ok && !ftrace_graph_format_read(&n->calls.format, writer_bytes(&a), writer_bytes(&b))) {
        ok =
            err_set(err, ERR_UNSUPPORTED, "function_graph", "this kernel's records of it are not understood");
    }
    writer_fini(&a);
    writer_fini(&b);
    return ok;
}

static bool open_numbers(void *ctx, struct ftrace_setup *s, struct err *err) {
    struct numbers *n = ctx;
    return read_formats(n, s, err) && ftrace_rings_open(&n->rings, s, err);
}

static bool take_record(void *ctx, const struct ftrace_record *r, struct err *err) {
    struct numbers *n = ctx;
    bool ok = n->events[0] ? ftrace_spans_take(&n->spans, r->time, r->data)
                           : ftrace_calls_take(&n->calls, r->time, r->data);
    return ok || err_memory(err, "calls");
}

static bool take_numbers(void *ctx, uint64_t until, bool *stop, struct err *err) {
    struct numbers *n = ctx;
    (void)stop;
    return ftrace_rings_take(&n->rings, until, take_record, n, err);
}

static void close_numbers(void *ctx) {
    struct numbers *n = ctx;
    ftrace_rings_close(&n->rings);
}

/* What is not in the numbers. */
static void tell_losses(const struct numbers *n) {
    const struct ftrace_rings *r = &n->rings;
    if (r->lost || r->lost_more)
        log_line(LOG_WARN,
                 "%s%" PRIu64
                 " records were lost: use a larger buffer (-m 16M), or trace fewer functions (-T)",
                 r->lost_more ? "more than " : "", r->lost);
    if (r->broken)
        log_line(LOG_WARN, "%" PRIu64 " pages of the trace are damaged: what they hold is missing",
                 r->broken);
    uint64_t halves = n->events[0] ? 0 : n->calls.open;
    if (halves)
        log_line(LOG_INFO, "%" PRIu64 " calls had not ended when tracing did", halves);
}

/* Traces; the status, or -1 when it failed. */
static int measure(struct numbers *n, struct err *err) {
    n->cli->o.clock = "mono"; /* one clock for all CPUs */
    int status = ftrace_measure(
        n->cli,
        &(struct ftrace_face){.ctx = n, .open = open_numbers, .take = take_numbers, .close = close_numbers},
        err);
    if (status >= 0)
        tell_losses(n);
    return status;
}

/* --- names --- */

struct symbol {
    uint64_t start;
    struct bytes name;
};

static int by_start(const void *a, const void *b) {
    uint64_t x = ((const struct symbol *)a)->start, y = ((const struct symbol *)b)->start;
    return (x > y) - (x < y);
}

typedef VEC(struct symbol) symbols;

static bool read_symbols(struct bytes text, symbols *out) {
    for (struct kallsyms_symbol k; kallsyms_next(&text, &k);) {
        if (!k.address || !strchr("tTwW", k.type))
            continue;
        struct symbol *s = vec_push(out);
        if (!s)
            return false;
        *s = (struct symbol){k.address, k.name};
    }
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, by_start);
    return true;
}

static const char *name_of(const symbols *list, uint64_t address, struct arena *a) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (list->items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return arena_printf(a, "0x%" PRIx64, address);
    const struct bytes *name = &list->items[low - 1].name;
    return arena_strndup(a, (const char *)name->data, name->size);
}

/* The name of each function; where addresses are hidden, the address. NULL: out of memory. */
static const char **find_names(const struct ftrace_calls *c, struct arena *a) {
    const char **names = arena_zalloc(a, (c->functions.count + 1) * sizeof *names);
    struct writer w = writer_make(false);
    struct err none = ERR_INIT;
    symbols list = {0};
    bool ok = names && (!os_files_real.read(os_files_real.ctx, "/proc/kallsyms", &w, &none) ||
                        (writer_ok(&w) && read_symbols(writer_bytes(&w), &list)));
    for (size_t i = 0; ok && i < c->functions.count; i++)
        ok = (names[i] = name_of(&list, c->functions.items[i].address, a)) != NULL;
    vec_fini(&list);
    writer_fini(&w);
    return ok ? names : NULL;
}

/* --- profile --- */

static bool find_sort(const char *text, enum ftrace_sort *out, struct err *err) {
    static const char *const NAMES[] = {"total", "avg", "max", "count", "name"};
    *out = FTRACE_BY_TOTAL;
    for (size_t i = 0; text && i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i], text) == 0) {
            *out = (enum ftrace_sort)i;
            return true;
        }
    return !text ||
           err_set(err, ERR_USAGE, "-s", "unknown sort key '%s': use total, avg, max, count or name", text);
}

static int print_profile(struct command_env *env, const struct numbers *n, enum ftrace_sort sort,
                         int status) {
    struct arena a = ARENA_INIT;
    const char **names = find_names(&n->calls, &a);
    struct out out;
    if (!names || !command_output(env, &out)) {
        arena_fini(&a);
        return command_fail(&(struct err){.code = ERR_MEMORY, .message = "out of memory"});
    }
    bool ok = n->cli->tree     ? ftrace_tree_print(&n->calls, names, &out)
              : n->cli->folded ? ftrace_folded_print(&n->calls, names, &out)
                               : ftrace_profile_print(&n->calls, names, sort, &out);
    arena_fini(&a);
    return command_finish(env, &out, ok ? status : EXIT_ERROR);
}

int ftrace_profile(struct command_env *env, struct ftrace_cli *c) {
    struct numbers n = {.cli = c};
    struct err err = ERR_INIT;
    enum ftrace_sort sort;
    int status = -1;
    c->o.tracer = "function_graph";
    if (find_sort(c->sort, &sort, &err))
        status = measure(&n, &err);
    status = status < 0 ? command_fail(&err) : print_profile(env, &n, sort, status);
    ftrace_calls_fini(&n.calls);
    return status;
}

/* --- latency --- */

static void count_call(void *ctx, uint32_t function, uint64_t ns) {
    struct numbers *n = ctx;
    (void)function;
    ftrace_histogram_add(&n->histogram, ns);
}

static void count_span(void *ctx, uint64_t ns) {
    struct numbers *n = ctx;
    ftrace_histogram_add(&n->histogram, ns);
}

static bool check_latency(const struct ftrace_cli *c, struct err *err) {
    const struct ftrace_options *o = &c->o;
    if (o->filters.count + (o->events.count > 0) != 1 || (o->events.count && o->events.count != 2))
        return err_set(err, ERR_USAGE, NULL,
                       "Please provide a function to measure (-T), or two events (-e FIRST,SECOND)");
    if ((c->min_latency || c->max_latency) && !c->bucket_range)
        return err_set(err, ERR_USAGE, NULL, "--min-latency and --max-latency work only with --bucket-range");
    return !c->max_latency || c->max_latency > c->min_latency ||
           err_set(err, ERR_USAGE, NULL, "--max-latency has to be more than --min-latency");
}

int ftrace_latency(struct command_env *env, struct ftrace_cli *c) {
    struct numbers n = {.cli = c};
    struct err err = ERR_INIT;
    struct out out;
    if (!check_latency(c, &err))
        return command_usage(env, "%s", err.message);
    n.histogram = (struct ftrace_histogram){.unit_ns = c->use_nsec ? 1 : 1000,
                                            .range = c->bucket_range,
                                            .least = c->min_latency,
                                            .largest = c->max_latency};
    n.calls.ended = count_call;
    n.spans.ended = count_span;
    n.calls.ctx = n.spans.ctx = &n;
    if (c->o.events.count) {
        n.events[0] = c->o.events.items[0];
        n.events[1] = c->o.events.items[1];
    } else {
        c->o.tracer = "function_graph";
    }
    if (c->use_bpf && !c->o.events.count)
        log_line(LOG_WARN, "-b is for two events (-e): functions are measured by the function tracer");
    int status =
        c->use_bpf && c->o.events.count ? ftrace_latency_by_bpf(c, &n.histogram, &err) : measure(&n, &err);
    ftrace_calls_fini(&n.calls);
    ftrace_spans_fini(&n.spans);
    if (status < 0)
        return command_fail(&err);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    ftrace_histogram_print(&n.histogram, c->hide_empty, &out);
    return command_finish(env, &out, status);
}
