/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/cgroups.h"

#include "events/cgroups.h"

enum { PATH_ROOM = 4096 };

struct putting {
    const struct record_sink *sink;
    struct writer *w;
};

static bool put(void *ctx, uint64_t id, const char *path) {
    struct putting *p = ctx;
    char room[PATH_ROOM + 8];
    size_t len = strlen(path), size = (len + 8) & ~(size_t)7;
    if (len >= PATH_ROOM)
        return true;
    memset(room, 0, size);
    memcpy(room, path, len);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_CGROUP,
        .cgroup = {id, {(const uint8_t *)room, size}},
    };
    record_sink_encode(p->sink, &rec, p->w);
    return writer_ok(p->w);
}

bool record_cgroups_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w) {
    return perf_cgroups_each(proc, put, &(struct putting){sink, w});
}
