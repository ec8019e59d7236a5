/* SPDX-License-Identifier: Apache-2.0 */
/* `ftrace latency -b`: the kernel sums up the times between two events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/ftrace/ftrace.h"
#include "events/target.h"
#include "ftrace/latency.h"

struct measured {
    const struct ftrace_cli *cli;
    struct ftrace_latency_options options;
    struct ftrace_histogram *histogram;
    struct ftrace_latency latency;
    struct err *err; /* of add_cpu */
};

static bool add_cpu(void *ctx, uint32_t cpu) {
    struct measured *m = ctx;
    return ftrace_latency_add_cpu(&m->latency, cpu, m->err);
}

static bool open_latency(void *ctx, struct ftrace_setup *s, struct err *err) {
    struct measured *m = ctx;
    (void)s;
    m->options.all = m->cli->all_cpus && !m->cli->pids && !m->cli->tids;
    m->options.some_cpus = m->cli->cpus != NULL;
    m->err = err;
    return ftrace_latency_load(&m->latency, &os_bpf_system, m->histogram, &m->options, err) &&
           (!m->cli->cpus || perf_target_list(m->cli->cpus, add_cpu, m));
}

static bool begin_latency(void *ctx, const char *pids, struct err *err) {
    struct measured *m = ctx;
    char *end;
    for (const char *p = pids ? pids : ""; *p; p = end + strspn(end, " "))
        if (!ftrace_latency_add_task(&m->latency, (uint32_t)strtoul(p, &end, 10), m->cli->tids != NULL, err))
            return false;
    return ftrace_latency_attach(&m->latency, &m->options, err);
}

/* Nothing comes while it lasts. */
static bool take_latency(void *ctx, uint64_t until, bool *stop, struct err *err) {
    struct measured *m = ctx;
    (void)stop;
    return until != UINT64_MAX || ftrace_latency_read(&m->latency, m->histogram, err);
}

static void close_latency(void *ctx) {
    struct measured *m = ctx;
    ftrace_latency_close(&m->latency);
}

int ftrace_latency_by_bpf(struct ftrace_cli *c, struct ftrace_histogram *h, struct err *err) {
    struct measured m = {.cli = c,
                         .options = {.first = c->o.events.items[0],
                                     .second = c->o.events.items[1],
                                     .inherit = c->o.inherit,
                                     .verbose = c->verbose > 0},
                         .histogram = h};
    int status = ftrace_measure(c,
                                &(struct ftrace_face){.ctx = &m,
                                                      .begin = begin_latency,
                                                      .open = open_latency,
                                                      .take = take_latency,
                                                      .close = close_latency},
                                err);
    if (status >= 0 && m.latency.full)
        log_line(LOG_WARN, "%" PRIu64 " events had no room in the kernel's map: their times are missing",
                 m.latency.full);
    return status;
}
