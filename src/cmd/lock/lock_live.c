/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/lock/lock_live.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "bpf/dist/locks.h"
#include "os/files.h"
#include "os/poller.h"
#include "os/run/child.h"

static const char KALLSYMS[] = "/proc/kallsyms";

/* ---- what is measured ---- */

static bool put_targets(struct lock_live *l, const struct filter_ranges *ranges, uint64_t bit,
                        struct err *err) {
    const uint32_t one = 1;
    for (size_t i = 0; ranges && i < ranges->list.count; i++)
        for (uint64_t n = ranges->list.items[i].first; n <= ranges->list.items[i].last; n++) {
            uint64_t key = n | bit;
            int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_TARGETS].fd, &key, &one);
            if (e < 0)
                return err_errno(err, -e, "-p", "too many processes or threads");
        }
    return true;
}

static bool put_cpus(struct lock_live *l, struct err *err) {
    const uint32_t one = 1;
    for (size_t i = 0; i < l->cpus->list.count; i++)
        for (uint64_t n = l->cpus->list.items[i].first; n <= l->cpus->list.items[i].last; n++) {
            uint32_t cpu = (uint32_t)n;
            int e = os_bpf_update(l->bpf, l->object.maps[LOCKS_MAP_CPUS].fd, &cpu, &one);
            if (e < 0)
                return err_errno(err, -e, "-C", "too many CPUs");
        }
    return true;
}

/* The flags of events that have one of these types. */
static uint64_t flags_of(uint32_t types) {
    uint64_t flags = 0;
    for (unsigned f = 0; f < 64 && types; f++)
        if (types & UINT32_C(1) << lock_type(f))
            flags |= UINT64_C(1) << f;
    return flags;
}

static uint32_t told_apart_by(const struct lock_live *l) {
    if (l->owners)
        return BPF_LOCKS_BY_OWNER;
    return l->table.by == LOCK_BY_THREAD    ? BPF_LOCKS_BY_THREAD
           : l->table.by == LOCK_BY_ADDRESS ? BPF_LOCKS_BY_ADDRESS
                                            : BPF_LOCKS_BY_STACK;
}

static bool load(struct lock_live *l, struct err *err) {
    static const uint32_t MAPS[] = {LOCKS_MAP_WAITS, LOCKS_MAP_SUMS, LOCKS_MAP_STACKS};
    if (!os_bpf_open(&l->object, l->bpf, &bpf_locks, err))
        return false;
    struct bpf_locks_rodata *data = os_bpf_data(&l->object, LOCKS_MAP_RODATA);
    data->options = (struct bpf_locks_options){
        .by = told_apart_by(l),
        .stacks = told_apart_by(l) == BPF_LOCKS_BY_STACK || l->site.filter,
        .all = l->all,
        .cpus = l->cpus && l->cpus->list.count,
        .types = flags_of(l->types),
        .address = l->address,
    };
    for (size_t i = 0; l->entries && i < sizeof MAPS / sizeof *MAPS; i++)
        os_bpf_set_entries(&l->object, MAPS[i], l->entries);
    return os_bpf_load(&l->object, l->verbose, err) && put_targets(l, l->pids, 0, err) &&
           put_targets(l, l->tids, UINT64_C(1) << 32, err) && (!l->cpus || put_cpus(l, err));
}

/* ---- while it lasts ---- */

struct waiting {
    struct os_child child;
    struct os_signals signals;
    int poller;
};

static bool wait_for_end(struct lock_live *l, struct waiting *w, struct err *err) {
    struct os_poll_event event;
    if ((w->poller = os_poller_open(err)) < 0 || !os_poller_add(w->poller, w->signals.fd, 0, err))
        return false;
    if (!os_bpf_attach(&l->object, err) || (l->command && !os_child_go(&w->child, l->command[0], err)))
        return false;
    for (bool stop = false; !stop;) {
        os_poller_wait(w->poller, &event, 1, -1);
        for (int sig; (sig = os_signals_next(&w->signals, NULL)) != 0;)
            stop = sig != SIGCHLD || os_child_ended(&w->child, &l->status) || stop;
    }
    os_bpf_detach(&l->object);
    if (w->child.pid)
        l->status = os_child_stop(&w->child);
    return true;
}

static bool measure(struct lock_live *l, struct err *err) {
    static const int SIGNALS[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, 0};
    struct waiting w = {.poller = -1, .signals = {.fd = -1}};
    bool ok = os_signals_open(&w.signals, SIGNALS, err) &&
              (!l->command || os_child_start(&w.child, l->command, &w.signals, OS_CHILD_OURS, err)) &&
              load(l, err);
    if (ok && l->command && !l->all) {
        struct filter_range one = {(uint64_t)w.child.pid, (uint64_t)w.child.pid};
        struct filter_ranges own = {.list = {&one, 1, 1}};
        ok = put_targets(l, &own, 0, err);
    }
    ok = ok && wait_for_end(l, &w, err);
    if (w.child.pid)
        os_child_stop(&w.child);
    os_close(w.poller);
    os_signals_close(&w.signals);
    return ok;
}

/* ---- names ---- */

static const char *name_function(void *ctx, uint64_t address, uint64_t *offset, char *room, size_t size) {
    struct lock_live *l = ctx;
    const struct kallsyms_place *p = kallsyms_names_find(&l->functions, address);
    if (!p)
        return NULL;
    *offset = address - p->address;
    snprintf(room, size, "%.*s", (int)p->name.size, (const char *)p->name.data);
    return room;
}

static bool read_names(struct lock_live *l, struct err *err) {
    l->kallsyms = writer_make(false);
    if (!os_files_real.read(os_files_real.ctx, KALLSYMS, &l->kallsyms, err))
        return false;
    return kallsyms_names_read(&l->functions, writer_bytes(&l->kallsyms)) || err_memory(err, KALLSYMS);
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
    (void)ctx, (void)r; /* the list of functions has no variables */
    return "";
}

struct lock_names lock_live_names(struct lock_live *l) {
    return (struct lock_names){l, site_text, stack_text, thread_text, lock_text};
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
    if (!measure(l, err) || !read_names(l, err) || !read_sums(l, err))
        return false;
    lock_table_sort(&l->table, key);
    return true;
}

void lock_live_close(struct lock_live *l) {
    os_bpf_close(&l->object);
    kallsyms_names_fini(&l->functions);
    writer_fini(&l->kallsyms);
    strpool_fini(&l->names);
    lock_table_fini(&l->table);
    call_sites_fini(&l->site);
}
