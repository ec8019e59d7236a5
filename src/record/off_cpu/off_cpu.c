/* SPDX-License-Identifier: Apache-2.0 */
#include "record/off_cpu/off_cpu.h"

#include <stdio.h>

#include "base/log.h"
#include "base/text/plural.h"
#include "bpf/dist/off_cpu.h"
#include "format/kallsyms/kallsyms.h"
#include "format/perfdata/record.h"
#include "os/bpf/bpf_ring.h"
#include "os/poller.h"
#include "record/off_cpu/code_ranges.h"
#include "record/off_cpu/copies.h"
#include "record/off_cpu/named_frames.h"
#include "record/plan/plan.h"
#include "record/rings/clock.h"

enum {
    SUMS_MAX = 1 << 15, /* entries, as in the program */
    RING_BYTES = 1 << 20,
    LOOKED_AT_MOST = 256, /* new objects at a time: each may cost reads of /proc */
};
static const uint64_t TAKE_NS = 1000000000, PAIR_NS = 10000000000, NEVER = UINT64_MAX;

struct wait {
    struct bpf_off_cpu_key key;
    uint64_t ns, count, at_ns;
    uint32_t own_stack, own_count; /* a user stack that is in no map: where in record_off_cpu.own, */
    uint32_t own_copy;             /* or its number in record_off_cpu.copies; 0: none */
};

struct record_off_cpu {
    struct record_off_cpu_sources from;
    struct os_bpf_object object;
    struct os_bpf_ring ring;
    int inner, spare; /* the map of sums that programs write to, and the other one */
    bool on;
    VEC(struct wait) waits;
    VEC(uint64_t) own;
    struct record_copies copies;
    uint64_t gone; /* samples without a user stack, because its copy was not kept */
    VEC(uint64_t) chain;
    struct writer body;
    struct record_named_frames frames;
    uint64_t news; /* the kernel's count of new objects and wakers when they were looked at; NEVER */
    char machine[65];
    uint64_t sched_start, sched_end; /* the scheduler's own functions; 0: not known */
    uint64_t taken_ns, paired_ns;    /* os_clock_ns() then; 0: never */
    uint64_t perf_minus_monotonic;   /* modulo 2^64 */
};

/* --- start --- */

/* What is looked for among the kernel's symbols. */
static const char *const MARKERS[] = {
    "__sched_text_start",        "__sched_text_end",        "__irqentry_text_start", "__irqentry_text_end",
    "__softirqentry_text_start", "__softirqentry_text_end", "handle_softirqs"};
enum { SCHED, SCHED_END, IRQ, IRQ_END, SOFTIRQ, SOFTIRQ_END, SOFTIRQS, SOFTIRQS_END, MARKS };

struct marks {
    uint64_t at[MARKS]; /* 0: not found */
};

/* The address of the first symbol in the lines that lies above `start`; 0: none. */
static uint64_t next_above(struct bytes lines, uint64_t start) {
    struct kallsyms_symbol s;
    while (kallsyms_next(&lines, &s))
        if (s.address > start)
            return s.address;
    return 0;
}

static void find_marker(struct marks *m, uint32_t which, struct bytes lines) {
    const char *name = MARKERS[which];
    size_t n = strlen(name);
    const uint8_t *hit;
    while ((hit = memmem(lines.data, lines.size, name, n)) != NULL) {
        const uint8_t *nl = memrchr(lines.data, '\n', (size_t)(hit - lines.data));
        const uint8_t *start = nl ? nl + 1 : lines.data, *end = lines.data + lines.size;
        struct bytes rest = {start, (size_t)(end - start)};
        struct kallsyms_symbol s;
        lines = (struct bytes){hit + n, (size_t)(end - hit) - n};
        if (!kallsyms_next(&rest, &s) || s.name.size != n || memcmp(s.name.data, name, n) != 0)
            continue;
        m->at[which] = s.address;
        if (which == SOFTIRQS)
            m->at[SOFTIRQS_END] = next_above(rest, s.address);
    }
}

/* Lines of /proc/kallsyms, in which functions come by address. */
static bool find_markers(void *ctx, struct bytes lines) {
    struct marks *m = ctx;
    for (uint32_t i = 0; i < sizeof MARKERS / sizeof *MARKERS; i++)
        if (!m->at[i])
            find_marker(m, i, lines);
    return true;
}

/* Where the scheduler's own functions lie, and those that are on the stack of interrupts. */
static void find_code(struct record_off_cpu *x, struct bpf_off_cpu_options *to) {
    struct marks m = {{0}};
    if (x->from.proc)
        x->from.proc->lines(x->from.proc->ctx, "/proc/kallsyms", find_markers, &m, NULL);
    x->sched_start = m.at[SCHED];
    x->sched_end = m.at[SCHED_END];
    for (uint32_t i = 0; i < BPF_OFF_CPU_ENTRIES; i++) {
        uint64_t start = m.at[IRQ + 2 * i], end = m.at[IRQ + 2 * i + 1];
        if (start && end > start)
            to->entries[i] = (struct bpf_off_cpu_range){start, end - start};
    }
}

/* The threads that are recorded, if not all. */
static bool set_targets(struct record_off_cpu *x, struct err *err) {
    const struct perf_target *t = x->from.target;
    static const uint32_t ONE = 1;
    for (size_t i = 0; i < t->threads.count; i++) {
        uint32_t tid = (uint32_t)t->threads.items[i].tid;
        int status = t->system_wide
                         ? 0
                         : os_bpf_update(x->from.bpf, x->object.maps[OFF_CPU_MAP_TARGETS].fd, &tid, &ONE);
        if (status < 0)
            return err_errno(err, -status, "--off-cpu", "not all threads can be watched");
    }
    return true;
}

static bool load(struct record_off_cpu *x, struct err *err) {
    const struct record_options *o = x->from.options;
    if (!os_bpf_open(&x->object, x->from.bpf, &bpf_off_cpu, err))
        return false;
    record_copies_init(&x->copies, &x->object, record_plan_off_cpu_copies(o));
    struct bpf_off_cpu_rodata *rodata = os_bpf_data(&x->object, OFF_CPU_MAP_RODATA);
    rodata->options = (struct bpf_off_cpu_options){.min_ns = o->off_cpu_min_ns,
                                                   .direct_ns = o->off_cpu_direct_ns,
                                                   .all = x->from.target->system_wide,
                                                   .inherit = o->inherit,
                                                   .kernel_stacks = !o->user_callchains && !o->all_user,
                                                   .user_stacks = !o->kernel_callchains && !o->all_kernel,
                                                   .copy_bytes = x->copies.bytes,
                                                   .pages = x->copies.pages,
                                                   .objects = x->from.proc != NULL,
                                                   .wakers = x->from.proc && o->off_cpu_wakers};
    find_code(x, &rodata->options);
    if (o->off_cpu_wakers && !rodata->options.entries[0].size)
        return err_set(err, ERR_UNSUPPORTED, "--off-cpu-wakers",
                       "where interrupts enter the kernel is not known: /proc/kallsyms does not show it");
    record_named_frames_init(&x->frames, &x->object, x->from.proc, x->machine);
    if (!os_bpf_load(&x->object, o->verbose, err) || !set_targets(x, err))
        return false;
    x->inner = x->object.maps[OFF_CPU_MAP_SUMS_A].fd;
    x->spare = x->object.maps[OFF_CPU_MAP_SUMS_B].fd;
    return os_bpf_ring_open(&x->ring, x->from.bpf, x->object.maps[OFF_CPU_MAP_DIRECTS].fd, RING_BYTES, err);
}

struct record_off_cpu *record_off_cpu_start(const struct record_off_cpu_sources *sources, struct err *err) {
    const struct perf_target_options *t = &sources->options->target;
    if (t->cpus) {
        err_set(err, ERR_USAGE, "--off-cpu", "it does not go with -C: a wait is a thread's, on no CPU");
        return NULL;
    }
    struct record_off_cpu *x = calloc(1, sizeof *x);
    if (!x) {
        err_memory(err, "--off-cpu");
        return NULL;
    }
    x->from = *sources;
    x->news = NEVER;
    x->body = writer_make(false);
    snprintf(x->machine, sizeof x->machine, "%s", sources->machine);
    if (!load(x, err)) {
        record_off_cpu_free(x);
        return NULL;
    }
    return x;
}

/* Whether the thread is still in the same wait: it has made no voluntary switch since. */
static bool waits_still(struct record_off_cpu *x, const struct bpf_off_cpu_still *still) {
    static const char STATE[] = "\nState:\t", SWITCHES[] = "\nvoluntary_ctxt_switches:\t";
    const struct os_proc *proc = x->from.proc;
    struct writer text = writer_make(false);
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/status", still->key.pid, still->key.tid);
    bool ok = proc->read(proc->ctx, path, &text, NULL);
    writer_u8(&text, 0);
    const char *all = writer_ok(&text) ? (const char *)text.data : "";
    const char *state = ok ? strstr(all, STATE) : NULL, *switches = ok ? strstr(all, SWITCHES) : NULL;
    ok = state && switches && state[sizeof STATE - 1] != 'R' &&
         strtoull(switches + sizeof SWITCHES - 1, NULL, 10) == still->switches;
    writer_fini(&text);
    return ok;
}

/* The callers of a thread that waits, by its frame pointers, into x->own: how many. */
static uint32_t walk(struct record_off_cpu *x, const struct bpf_off_cpu_still *still) {
    const struct os_proc *proc = x->from.proc;
    uint64_t frame = still->frame, pair[2];
    uint32_t n = 0;
    for (uint64_t ip = still->ip; ip && n < BPF_OFF_CPU_FRAMES; ip = pair[1]) {
        uint64_t *to = vec_push(&x->own);
        if (!to)
            break;
        *to = ip;
        n++;
        if (!frame || frame % sizeof frame ||
            !proc->memory(proc->ctx, (int32_t)still->key.pid, frame, pair, sizeof pair, NULL))
            break;
        frame = pair[0] > frame ? pair[0] : 0; /* stacks grow downwards: callers' frames lie higher */
    }
    return n;
}

/* The user stack of a thread that waits; none when it ran meanwhile. */
static void look_at_still(struct record_off_cpu *x, const struct bpf_off_cpu_still *still, struct wait *to) {
    if (x->copies.bytes)
        to->own_copy = record_copies_read(&x->copies, x->from.proc, still);
    else
        to->own_count = walk(x, still);
    if (!waits_still(x, still))
        to->own_copy = to->own_count = 0;
}

static bool add_still(void *ctx, const void *key, const void *value) {
    struct record_off_cpu *x = ctx;
    struct bpf_off_cpu_still still;
    struct wait *to = vec_push(&x->waits);
    (void)key;
    memcpy(&still, value, sizeof still);
    if (!to) {
        x->body.failed = true;
        return false;
    }
    *to = (struct wait){.key = still.key,
                        .ns = still.ns,
                        .count = 1,
                        .at_ns = still.at_ns,
                        .own_stack = (uint32_t)x->own.count};
    if (x->from.proc)
        look_at_still(x, &still, to);
    return true;
}

static bool no_row(void *ctx, const void *key, const void *value) {
    (void)ctx, (void)key, (void)value;
    return true;
}

bool record_off_cpu_switch(struct record_off_cpu *x, bool on, struct err *err) {
    bool user = !x->from.options->kernel_callchains && !x->from.options->all_kernel;
    if (x->on == on)
        return true;
    x->on = on;
    if (!on) {
        os_bpf_detach(&x->object);
        return os_bpf_iterate(&x->object, OFF_CPU_PROGRAM_END, sizeof(struct bpf_off_cpu_still), add_still, x,
                              err);
    }
    for (uint32_t i = 0; i < bpf_off_cpu.program_count; i++)
        if (bpf_off_cpu.programs[i].attach == OS_BPF_ATTACH_BTF &&
            (user || i != OFF_CPU_PROGRAM_ON_SYS_EXIT) && !os_bpf_attach_one(&x->object, i, err))
            return false;
    return os_bpf_iterate(&x->object, OFF_CPU_PROGRAM_BEGIN, 1, no_row, NULL, err);
}

/* --- taking --- */

/* What the kernel wants to know, or saw for the first time, does not wait until sums are taken. */
static void look_at_news(struct record_off_cpu *x, const struct bpf_off_cpu_bss *bss) {
    uint64_t news = __atomic_load_n(&bss->news, __ATOMIC_ACQUIRE);
    if (news == x->news || !x->from.proc)
        return;
    x->news = news;
    if (!record_named_frames_look(&x->frames, LOOKED_AT_MOST))
        x->news = NEVER; /* there is more */
    if (x->copies.bytes)
        record_code_ranges_fill(&x->object, x->from.proc);
}

bool record_off_cpu_due(struct record_off_cpu *x) {
    const struct bpf_off_cpu_bss *bss = os_bpf_data(&x->object, OFF_CPU_MAP_BSS);
    look_at_news(x, bss);
    return os_clock_ns() - x->taken_ns >= TAKE_NS ||
           __atomic_load_n(&bss->entries, __ATOMIC_RELAXED) >= SUMS_MAX / 2 || record_copies_due(&x->copies);
}

static bool add_sum(void *ctx, const void *key, const void *value) {
    struct record_off_cpu *x = ctx;
    struct bpf_off_cpu_sum sum;
    struct wait *to = vec_push(&x->waits);
    memcpy(&sum, value, sizeof sum);
    if (!to) {
        x->body.failed = true;
        return false;
    }
    memcpy(&to->key, key, sizeof to->key);
    to->ns = sum.ns;
    to->count = sum.count;
    to->at_ns = sum.last_ns;
    return true;
}

static bool add_direct(void *ctx, struct bytes record) {
    struct record_off_cpu *x = ctx;
    struct bpf_off_cpu_direct d;
    struct wait *to = record.size >= sizeof d ? vec_push(&x->waits) : NULL;
    if (!to) {
        x->body.failed = true;
        return false;
    }
    memcpy(&d, record.data, sizeof d);
    *to = (struct wait){.key = d.key, .ns = d.ns, .count = 1, .at_ns = d.at_ns};
    return true;
}

/* Exchanges the maps of sums, and empties the one that is no longer written to. */
static bool collect(struct record_off_cpu *x, struct err *err) {
    const struct os_bpf *bpf = x->from.bpf;
    struct bpf_off_cpu_bss *bss = os_bpf_data(&x->object, OFF_CPU_MAP_BSS);
    int full = x->inner, status = os_bpf_put_inner(bpf, x->object.maps[OFF_CPU_MAP_SUMS].fd, 0, x->spare);
    size_t stills = x->waits.count; /* waits of threads that still wait: in no map */
    if (status < 0)
        return err_errno(err, -status, "--off-cpu", "the BPF maps cannot be exchanged");
    __atomic_store_n(&bss->entries, 0, __ATOMIC_RELAXED); /* a few more may be in it: it is a hint */
    x->inner = x->spare;
    x->spare = full;
    status =
        os_bpf_each(bpf, full, sizeof(struct bpf_off_cpu_key), sizeof(struct bpf_off_cpu_sum), add_sum, x);
    for (size_t i = stills; i < x->waits.count; i++)
        os_bpf_delete(bpf, full, &x->waits.items[i].key);
    if (status >= 0)
        status = os_bpf_ring_take(&x->ring, add_direct, x);
    if (status < 0)
        return err_errno(err, -status, "--off-cpu", "the BPF maps cannot be read");
    return !x->body.failed || err_memory(err, "--off-cpu");
}

static int compare(const void *a, const void *b) {
    const struct wait *x = a, *y = b;
    return x->at_ns != y->at_ns ? (x->at_ns < y->at_ns ? -1 : 1) : memcmp(&x->key, &y->key, sizeof x->key);
}

static bool push(struct record_off_cpu *x, uint64_t word) {
    uint64_t *to = vec_push(&x->chain);
    if (to)
        *to = word;
    return to != NULL;
}

/* Appends a stack after its marker. The kernel's (`marker` 0: it has its own) loses the scheduler's functions
 * at its beginning. False: out of memory. */
static bool add_stack(struct record_off_cpu *x, uint64_t hash, uint64_t marker) {
    struct bpf_off_cpu_stack s;
    bool inner = !marker, ok = true;
    if (!hash || os_bpf_lookup(x->from.bpf, x->object.maps[OFF_CPU_MAP_STACKS].fd, &hash, &s) < 0)
        return true;
    uint32_t n = s.count < BPF_OFF_CPU_FRAMES ? s.count : BPF_OFF_CPU_FRAMES;
    for (uint32_t i = 0; i < n && ok; i++) {
        inner = inner && s.ips[i] >= x->sched_start && s.ips[i] < x->sched_end && i + 1 < n;
        if (inner)
            continue;
        ok = (!marker || push(x, marker)) && push(x, s.ips[i]);
        marker = 0;
    }
    return ok;
}

/* The wait's callchain into x->chain, without the user's part where the stack is copied. False: out of
 * memory. */
static bool add_chain(struct record_off_cpu *x, const struct wait *wait, const uint64_t *frames,
                      uint32_t count, bool copied) {
    vec_clear(&x->chain);
    if (!push(x, PERFDATA_CONTEXT_KERNEL))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!push(x, frames[i]))
            return false;
    if (!add_stack(x, wait->key.kernel_stack, 0))
        return false;
    size_t before = x->chain.count;
    bool ok = copied || add_stack(x, wait->key.user_stack, PERFDATA_CONTEXT_USER);
    for (uint32_t i = 0; i < wait->own_count && ok; i++)
        ok = (i || push(x, PERFDATA_CONTEXT_USER)) && push(x, x->own.items[wait->own_stack + i]);
    x->gone += ok && x->copies.bytes && wait->key.user_stack && !copied && x->chain.count == before;
    return ok;
}

/* Gives the sample the copy of its user stack, if there is one. */
static bool add_copy(struct record_off_cpu *x, const struct wait *wait, struct perfdata_sample *s) {
    if (wait->own_copy)
        return record_copies_own(&x->copies, wait->own_copy, s);
    return x->copies.bytes && wait->key.user_stack && record_copies_find(&x->copies, wait->key.user_stack, s);
}

/* Into x->body; a stack gets as much as a record has room for. */
static void encode(struct record_off_cpu *x, const struct perfdata_event *event, struct perfdata_sample *s) {
    const size_t room = UINT16_MAX - PERFDATA_HEADER_SIZE;
    writer_clear(&x->body);
    perfdata_sample_encode(&event->plan, s, &x->body);
    if (x->body.size <= room)
        return;
    size_t over = (x->body.size - room + 7) & ~(size_t)7;
    s->stack_user.size -= over < s->stack_user.size ? over : s->stack_user.size;
    s->stack_dyn_size = s->stack_user.size;
    writer_clear(&x->body);
    perfdata_sample_encode(&event->plan, s, &x->body);
}

static void put_sample(struct record_off_cpu *x, const struct perfdata_event *event, const struct wait *wait,
                       const struct record_sink *sink, struct writer *w) {
    enum { KERNEL = 1 }; /* PERF_RECORD_MISC_CPUMODE_ */
    uint64_t frames[RECORD_NAMED_FRAMES_MOST];
    uint32_t count = record_named_frames_of(&x->frames, &wait->key, frames, sink, w);
    struct perfdata_sample s = {
        .have = event->plan.sample_type,
        .identifier = event->id_count ? event->ids[0] : 0,
        .id = event->id_count ? event->ids[0] : 0,
        .ip = frames[0],
        .pid = wait->key.pid,
        .tid = wait->key.tid,
        .time = wait->at_ns + x->perf_minus_monotonic,
        .period = wait->ns,
    };
    bool copied = add_copy(x, wait, &s);
    w->failed |= x->frames.failed || !add_chain(x, wait, frames, count, copied);
    s.callchain = (struct perfdata_u64s){(const uint8_t *)x->chain.items, x->chain.count, false};
    encode(x, event, &s);
    w->failed |= !writer_ok(&x->body);
    if (w->failed)
        return;
    writer_u32(w, PERFDATA_RECORD_SAMPLE);
    writer_u16(w, KERNEL);
    writer_u16(w, (uint16_t)(x->body.size + PERFDATA_HEADER_SIZE));
    writer_bytes_put(w, writer_bytes(&x->body));
}

bool record_off_cpu_take(struct record_off_cpu *x, const struct perfdata_event *event,
                         const struct record_sink *sink, struct writer *w, struct err *err) {
    struct perfdata_clock_pair pair;
    x->taken_ns = os_clock_ns();
    if (!collect(x, err))
        return false;
    if (x->from.proc)
        record_named_frames_look(&x->frames, x->on ? LOOKED_AT_MOST : UINT32_MAX);
    if ((!x->paired_ns || x->taken_ns - x->paired_ns >= PAIR_NS) &&
        record_clock_pair(x->from.perf, x->from.options, &pair)) {
        x->perf_minus_monotonic = pair.perf_ns - pair.monotonic_ns;
        x->paired_ns = x->taken_ns;
    }
    if (x->waits.count)
        qsort(x->waits.items, x->waits.count, sizeof *x->waits.items, compare);
    for (size_t i = 0; i < x->waits.count; i++)
        put_sample(x, event, &x->waits.items[i], sink, w);
    vec_clear(&x->waits);
    vec_clear(&x->own);
    record_copies_forget(&x->copies);
    return (record_copies_turn(&x->copies) && writer_ok(w)) || err_memory(err, "--off-cpu");
}

void record_off_cpu_forget(struct record_off_cpu *x) {
    record_named_frames_forget(&x->frames);
}

/* --- end --- */

void record_off_cpu_tell(struct record_off_cpu *x) {
    struct bpf_off_cpu_counters sum = {0};
    uint32_t cpus = x->from.bpf->cpus(x->from.bpf->ctx), zero = 0;
    struct bpf_off_cpu_counters *by_cpu = calloc(cpus ? cpus : 1, sizeof *by_cpu);
    if (by_cpu && cpus &&
        os_bpf_lookup(x->from.bpf, x->object.maps[OFF_CPU_MAP_COUNTERS].fd, &zero, by_cpu) == 0)
        for (uint32_t i = 0; i < cpus; i++)
            for (size_t k = 0; k < sizeof sum / sizeof(__u64); k++)
                ((__u64 *)&sum)[k] += ((const __u64 *)&by_cpu[i])[k];
    free(by_cpu);
    log_line(LOG_INFO, "off-CPU: %llu voluntary and %llu involuntary switches, %llu waits",
             (unsigned long long)sum.switches_voluntary, (unsigned long long)sum.switches_involuntary,
             (unsigned long long)sum.waits);
    if (sum.lost_sums)
        log_line(LOG_WARN, "off-CPU: %llu wait%s (%.3f s) lost: the map of sums was full",
                 (unsigned long long)sum.lost_sums, plural(sum.lost_sums), (double)sum.lost_sums_ns / 1e9);
    if (sum.lost_stacks)
        log_line(
            LOG_WARN,
            "off-CPU: %llu wait%s without a stack: the map of stacks was full; --off-cpu-min leaves out more",
            (unsigned long long)sum.lost_stacks, plural(sum.lost_stacks));
    if (sum.lost_copies)
        log_line(
            LOG_WARN,
            "off-CPU: %llu wait%s with a user stack by frame pointers only: the room for copies was full; a "
            "smaller SIZE of --call-graph dwarf,SIZE, or a longer --off-cpu-min, makes room",
            (unsigned long long)sum.lost_copies, plural(sum.lost_copies));
    if (x->gone + x->copies.no_room)
        log_line(LOG_WARN, "off-CPU: %llu sample%s without a user stack: its copy was not kept",
                 (unsigned long long)(x->gone + x->copies.no_room), plural(x->gone + x->copies.no_room));
    if (x->copies.bytes)
        log_line(LOG_INFO, "off-CPU: %llu user stack%s copied", (unsigned long long)sum.copies,
                 plural(sum.copies));
    if (sum.lost_objects + x->frames.unnamed)
        log_line(LOG_INFO,
                 "off-CPU: %llu wait%s named by the system call only: a lock had gone on, or there was no "
                 "room for more",
                 (unsigned long long)(sum.lost_objects + x->frames.unnamed),
                 plural(sum.lost_objects + x->frames.unnamed));
    if (sum.lost_wakers)
        log_line(LOG_WARN, "off-CPU: %llu wait%s without a waker: the map of wakers was full",
                 (unsigned long long)sum.lost_wakers, plural(sum.lost_wakers));
    if (sum.lost_threads)
        log_line(LOG_WARN, "off-CPU: %llu time%s a thread could not be watched",
                 (unsigned long long)sum.lost_threads, plural(sum.lost_threads));
    if (sum.unseen)
        log_line(LOG_INFO, "off-CPU: %llu time%s a thread ran without the kernel having told of it",
                 (unsigned long long)sum.unseen, plural(sum.unseen));
}

void record_off_cpu_free(struct record_off_cpu *x) {
    if (!x)
        return;
    os_bpf_ring_close(&x->ring);
    if (x->object.code)
        os_bpf_close(&x->object);
    vec_fini(&x->waits);
    vec_fini(&x->own);
    record_copies_fini(&x->copies);
    record_named_frames_fini(&x->frames);
    vec_fini(&x->chain);
    writer_fini(&x->body);
    free(x);
}
