/* SPDX-License-Identifier: Apache-2.0 */
#include "record/off_cpu/code_ranges.h"

#include <stdio.h>

#include "base/vec.h"
#include "format/maps/maps.h"
#include "os/bpf/bpf_maps.h"

/* Joins the two neighbours that have the least between them. */
static void join_closest(struct bpf_off_cpu_range *ranges, uint32_t *count) {
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i + 1 < *count; i++) {
        uint64_t gap = ranges[i + 1].start - ranges[i].start - ranges[i].size;
        if (gap < least) {
            least = gap;
            best = i;
        }
    }
    ranges[best].size = ranges[best + 1].start + ranges[best + 1].size - ranges[best].start;
    --*count;
    memmove(ranges + best + 1, ranges + best + 2, (*count - best - 1) * sizeof *ranges);
}

void record_code_ranges(struct bytes maps, struct bpf_off_cpu_code *to) {
    struct bpf_off_cpu_range ranges[BPF_OFF_CPU_RANGES + 1];
    struct maps_entry e;
    uint32_t n = 0;
    while (maps_next(&maps, &e)) {
        bool behind = n && ranges[n - 1].start + ranges[n - 1].size == e.start;
        if (!e.execute || e.end <= e.start || (n && e.start < ranges[n - 1].start + ranges[n - 1].size))
            continue;
        if (behind)
            ranges[n - 1].size += e.end - e.start;
        else
            ranges[n++] = (struct bpf_off_cpu_range){e.start, e.end - e.start};
        if (n > BPF_OFF_CPU_RANGES)
            join_closest(ranges, &n);
    }
    for (uint32_t i = 0; i < BPF_OFF_CPU_RANGES; i++)
        to->ranges[i] = i < n ? ranges[i] : (struct bpf_off_cpu_range){UINT64_MAX, 0};
}

struct asked {
    uint32_t pid;
    uint64_t memory, pages;
};

struct filler {
    VEC(struct asked) asked;
    bool failed;
};

static bool take(void *ctx, const void *key, const void *value) {
    struct filler *f = ctx;
    struct bpf_off_cpu_code code;
    memcpy(&code, value, sizeof code);
    if (code.filled)
        return true;
    struct asked *to = vec_push(&f->asked);
    f->failed |= !to;
    if (to) {
        *to = (struct asked){.memory = code.memory, .pages = code.pages};
        memcpy(&to->pid, key, sizeof to->pid);
    }
    return to != NULL;
}

bool record_code_ranges_fill(struct os_bpf_object *object, const struct os_proc *proc) {
    struct filler f = {.failed = false};
    struct writer maps = writer_make(false);
    int fd = object->maps[OFF_CPU_MAP_CODE].fd;
    int status = os_bpf_each(object->bpf, fd, sizeof(uint32_t), sizeof(struct bpf_off_cpu_code), take, &f);
    for (size_t i = 0; i < f.asked.count; i++) {
        const struct asked *a = &f.asked.items[i];
        struct bpf_off_cpu_code code = {.memory = a->memory, .pages = a->pages, .filled = 1};
        char path[40];
        snprintf(path, sizeof path, "/proc/%u/maps", a->pid);
        writer_clear(&maps);
        if (proc->read(proc->ctx, path, &maps, NULL) && writer_ok(&maps) && maps.size) {
            record_code_ranges(writer_bytes(&maps), &code);
            os_bpf_update(object->bpf, fd, &a->pid, &code);
        } else { /* it is gone: room for others */
            os_bpf_delete(object->bpf, fd, &a->pid);
        }
    }
    bool ok = status >= 0 && !f.failed && writer_ok(&maps);
    writer_fini(&maps);
    vec_fini(&f.asked);
    return ok;
}
