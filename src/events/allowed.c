/* SPDX-License-Identifier: Apache-2.0 */
#include "events/allowed.h"

#include <errno.h>

#include "format/perfdata/events/attr.h"

static const struct perfdata_attr CPU_CLOCK = {
    .type = PERFDATA_TYPE_SOFTWARE,
    .size = PERFDATA_ATTR_SIZE_MIN,
    .known_size = PERFDATA_ATTR_SIZE_MIN,
    .config = 0, /* PERF_COUNT_SW_CPU_CLOCK */
    .sample_period = 1000000000,
    .sample_type = PERFDATA_SAMPLE_IP,
    .flags = PERFDATA_ATTR_DISABLED,
};

enum { USER = PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_HV };

static int try(const struct os_perf *perf, const struct perfdata_attr *a, int32_t pid, int32_t cpu) {
    struct writer w = writer_make(false);
    perfdata_attr_encode(a, &w);
    int fd = writer_ok(&w) ? perf->open(perf->ctx, writer_bytes(&w), pid, cpu, -1) : -ENOMEM;
    writer_fini(&w);
    if (fd >= 0)
        perf->close(perf->ctx, fd);
    return fd < 0 ? -fd : 0;
}

void perf_allowed_find(const struct os_perf *perf, struct perf_allowed *out) {
    enum { CPUS_MAX = 64 };
    struct perfdata_attr a = CPU_CLOCK;
    out->kernel = try(perf, &a, 0, -1);
    /* CPU 0 may be switched off. */
    out->cpus = ENODEV;
    for (int32_t cpu = 0; cpu < CPUS_MAX && out->cpus == ENODEV; cpu++)
        out->cpus = try(perf, &a, -1, cpu);
    a.flags |= USER;
    out->user = try(perf, &a, 0, -1);
    a.type = PERFDATA_TYPE_HARDWARE;
    a.config = 0; /* PERF_COUNT_HW_CPU_CYCLES */
    out->counters = try(perf, &a, 0, -1);
}

int perf_allowed_task(const struct os_perf *perf, int32_t tid) {
    struct perfdata_attr a = CPU_CLOCK;
    a.flags |= USER;
    return try(perf, &a, tid, -1);
}

int perf_allowed_tracepoint(const struct os_perf *perf, uint64_t id) {
    struct perfdata_attr a = CPU_CLOCK;
    a.type = PERFDATA_TYPE_TRACEPOINT;
    a.config = id;
    a.sample_type |= PERFDATA_SAMPLE_RAW;
    return try(perf, &a, 0, -1);
}

bool perf_allowed_denies(int why) {
    return why == EACCES || why == EPERM;
}

const char *perf_allowed_nothing(const struct perf_allowed *a, const struct os_rights *r) {
    if (!perf_allowed_denies(a->user))
        return "this kernel has no perf events (CONFIG_PERF_EVENTS)";
    if (r->filtered && a->user == EPERM)
        return "the container's seccomp filter forbids it: start it with --cap-add PERFMON, or with "
               "--security-opt seccomp=unconfined";
    if (r->paranoid > 2)
        return "nothing may be recorded: run as root, or sudo sysctl kernel.perf_event_paranoid=2, which "
               "allows one's own user code";
    return "nothing may be recorded, although kernel.perf_event_paranoid allows it: a container or a "
           "security "
           "module forbids it";
}
