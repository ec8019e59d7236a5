/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lock/lock_live.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "bpf/dist/locks.h"
#include "cmd/common/measure.h"
#include "events/cgroups.h"

/* ---- while it lasts ---- */

static bool load(void *ctx, uint64_t pid, struct err *err) {
    struct lock_live *l = ctx;
    return lock_live_load(l, err) && (!pid || l->all || lock_live_measure_process(l, pid, err));
}

static bool attach(void *ctx, struct err *err) {
    struct lock_live *l = ctx;
    return os_bpf_attach(&l->object, err);
}

static void end(void *ctx) {
    struct lock_live *l = ctx;
    os_bpf_detach(&l->object);
}

static bool measure(struct lock_live *l, struct err *err) {
    struct measure m = {.command = l->command, .ctx = l, .load = load, .attach = attach, .end = end};
    bool ok = measure_run(&m, err);
    l->status = m.status;
    return ok;
}

/* ---- names ---- */

static const char *name_function(void *ctx, uint64_t address, uint64_t *offset, char *room, size_t size) {
    struct lock_live *l = ctx;
    const char *name = kernel_names_function(&l->kernel, address, offset);
    if (name)
        snprintf(room, size, "%s", name);
    return name ? room : NULL;
}

/* A path that was given to another group since is the later one's. */
static bool note_group(void *ctx, uint64_t id, const char *path) {
    struct lock_live *l = ctx;
    uint32_t name = strpool_add(&l->names, path, strlen(path));
    return name != STRPOOL_NONE && hash_map_set(&l->group_names, id, name);
}

/* The kernel's anew: there may be modules that were not when the choice was made. */
static bool read_names(struct lock_live *l, struct err *err) {
    return kernel_names_read(&l->kernel, err) &&
           (l->table.by != LOCK_BY_GROUP || perf_cgroups_each(&os_proc_system, note_group, l) ||
            err_memory(err, "control groups"));
}

static const char *site_text(void *ctx, const struct lock_row *r) {
    const struct lock_live *l = ctx;
    return r->site < l->site.list.count ? strpool_text(&l->site.texts, l->site.list.items[r->site].name)
                                        : "Unknown";
}

static const char *stack_text(void *ctx, const struct lock_row *r) {
    const struct lock_live *l = ctx;
    return r->site < l->site.list.count ? strpool_text(&l->site.texts, l->site.list.items[r->site].stack)
                                        : "";
}

static const char *thread_text(void *ctx, const struct lock_row *r) {
    const struct lock_live *l = ctx;
    return r->name == STRPOOL_NONE ? "Unknown" : strpool_text(&l->names, r->name);
}

static const char *lock_text(void *ctx, const struct lock_row *r) {
    struct lock_live *l = ctx;
    const char *name = kernel_names_variable(&l->kernel, r->address);
    return name ? name : "";
}

static const char *group_text(void *ctx, const struct lock_row *r) {
    struct lock_live *l = ctx;
    uint32_t name = hash_map_get(&l->group_names, r->group);
    if (name != HASH_ABSENT)
        return strpool_text(&l->names, name);
    snprintf(l->room, sizeof l->room, LOCK_GROUP_WITHOUT_NAME, (unsigned long long)r->group);
    return l->room;
}

struct lock_names lock_live_names(struct lock_live *l) {
    return (struct lock_names){l, site_text, stack_text, thread_text, lock_text, group_text};
}

/* ---- what was summed ---- */

struct taking {
    struct lock_live *l;
    uint32_t cpus;
    bool failed;
};

static bool find_site(struct lock_live *l, uint64_t hash, uint32_t *site) {
    struct bpf_locks_stack stack = {0};
    if (hash && os_bpf_lookup(l->bpf, l->object.maps[LOCKS_MAP_STACKS].fd, &hash, &stack) < 0)
        stack.count = 0;
    uint64_t n = stack.count < BPF_LOCKS_FRAMES ? stack.count : BPF_LOCKS_FRAMES;
    *site = call_sites_of_addresses(&l->site, (const uint64_t *)stack.ips, n, name_function, l);
    return *site != CALL_SITE_NONE;
}

static bool take_sum(void *ctx, const void *key_bytes, const void *values) {
    struct taking *t = ctx;
    struct lock_live *l = t->l;
    struct bpf_locks_key key;
    struct lock_row row = {.name = STRPOOL_NONE, .site = CALL_SITE_FILTERED};
    enum { STEP = (sizeof(struct bpf_locks_sum) + 7) / 8 * 8 };
    memcpy(&key, key_bytes, sizeof key);
    for (uint32_t i = 0; i < t->cpus; i++) {
        struct bpf_locks_sum s;
        memcpy(&s, (const uint8_t *)values + (size_t)i * STEP, sizeof s);
        if (!s.count)
            continue;
        if (!row.contended) {
            row.min_ns = s.min_ns;
            row.address = s.address;
            row.tid = s.tid;
            row.pid = s.pid;
            row.name =
                s.comm[0] ? strpool_add(&l->names, s.comm, strnlen(s.comm, sizeof s.comm)) : STRPOOL_NONE;
        }
        row.contended += s.count;
        row.acquired += s.count;
        row.total_ns += s.total_ns;
        row.max_ns = s.max_ns > row.max_ns ? s.max_ns : row.max_ns;
        row.min_ns = s.min_ns < row.min_ns ? s.min_ns : row.min_ns;
    }
    row.type = lock_type(key.flags);
    row.group = l->table.by == LOCK_BY_GROUP ? key.what : 0;
    if (!row.contended)
        return true;
    if (l->table.by == LOCK_BY_SITE || l->site.filter) {
        t->failed = !find_site(l, key.stack, &row.site);
        if (t->failed || row.site == CALL_SITE_FILTERED)
            return !t->failed;
    }
    t->failed = !lock_table_merge(&l->table, &row);
    return !t->failed;
}

static void note(uint64_t n, const char *what) {
    if (n)
        log_line(LOG_WARN, "%" PRIu64 " %s", n, what);
}

static bool read_sums(struct lock_live *l, struct err *err) {
    struct taking t = {.l = l, .cpus = l->bpf->cpus(l->bpf->ctx)};
    size_t bytes = (size_t)t.cpus * ((sizeof(struct bpf_locks_sum) + 7) / 8 * 8);
    int e = os_bpf_each(l->bpf, l->object.maps[LOCKS_MAP_SUMS].fd, sizeof(struct bpf_locks_key), bytes,
                        take_sum, &t);
    if (e < 0)
        return err_errno(err, -e, "BPF", "the sums cannot be read");
    if (t.failed)
        return err_memory(err, "waits for locks");
    struct bpf_locks_counters *c = calloc(t.cpus ? t.cpus : 1, sizeof *c), sum = {0};
    const uint32_t zero = 0;
    if (!c)
        return err_memory(err, "counters");
    if (os_bpf_lookup(l->bpf, l->object.maps[LOCKS_MAP_COUNTERS].fd, &zero, c) == 0)
        for (uint32_t i = 0; i < t.cpus; i++) {
            sum.full_waits += c[i].full_waits;
            sum.full_sums += c[i].full_sums;
            sum.full_stacks += c[i].full_stacks;
        }
    free(c);
    note(sum.full_waits, "waits are not counted, as the map `waits` was full: use a larger -M");
    note(sum.full_sums, "waits are not counted, as the map `sums` was full: use a larger -M");
    note(sum.full_stacks, "waits have no callers, as the map `stacks` was full: use a larger -M");
    return true;
}

bool lock_live_run(struct lock_live *l, enum lock_field key, struct err *err) {
    if (l->table.by == LOCK_BY_GROUP && !perf_cgroups_each(&os_proc_system, note_group, l))
        return err_memory(err, "control groups");
    if (!measure(l, err) || !read_names(l, err) || !read_sums(l, err))
        return false;
    lock_table_sort(&l->table, key);
    return true;
}

void lock_live_close(struct lock_live *l) {
    os_bpf_close(&l->object);
    kernel_names_fini(&l->kernel);
    hash_map_fini(&l->group_names);
    strpool_fini(&l->names);
    lock_table_fini(&l->table);
    call_sites_fini(&l->site);
}
