/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/read/read_bpf.h"

#include "bpf/dist/waits.h"
#include "os/bpf/bpf_maps.h"

_Static_assert((int)WAITS_REGS == (int)BPF_WAITS_REGS && (int)WAITS_ARGS == (int)BPF_WAITS_ARGS,
               "copied as a whole");

enum { KERNEL_THREAD = 0x00200000 /* PF_KTHREAD */, THREADS_MOST = 1 << 22 /* PID_MAX_LIMIT */ };

bool waits_bpf_open(struct waits_bpf *b, const struct os_bpf *bpf, bool stacks, struct err *err) {
    b->open = true;
    if (!os_bpf_open(&b->object, bpf, &bpf_waits, err))
        return false;
    ((struct bpf_waits_rodata *)os_bpf_data(&b->object, WAITS_MAP_RODATA))->all_frames = stacks;
    return os_bpf_load(&b->object, false, err);
}

void waits_bpf_close(struct waits_bpf *b) {
    if (b->open)
        os_bpf_close(&b->object);
    b->open = false;
}

/* ---- threads ---- */

struct reader {
    struct waits *w;
    const struct waits_read_options *o;
    VEC(struct bpf_waits_thread) rows;
    struct hash_map names; /* address of code -> index in texts */
    VEC(const char *) texts;
    bool failed;
};

char waits_bpf_state(uint32_t state, uint32_t exit_state) {
    enum { REPORTED = 0x7f, IDLE = 0x402, RTLOCK = 0x1000, FROZEN = 0x8000, UNINTERRUPTIBLE = 2 };
    static const char letters[] = "RSDTtXZP"; /* by the highest bit, as the kernel has it (sched.h) */
    uint32_t bits = (state | exit_state) & REPORTED;
    if ((state & IDLE) == IDLE)
        return 'I';
    if (state & (RTLOCK | FROZEN))
        bits = UNINTERRUPTIBLE;
    return letters[bits ? 32 - __builtin_clz(bits) : 0];
}

static bool take_row(void *ctx, const void *key, const void *value) {
    struct reader *r = ctx;
    (void)key;
    struct bpf_waits_thread *slot = r->rows.count < THREADS_MOST ? vec_push(&r->rows) : NULL;
    r->failed |= !slot;
    if (slot)
        memcpy(slot, value, sizeof *slot);
    return slot != NULL;
}

static bool take_name(void *ctx, const void *key, const void *value) {
    struct reader *r = ctx;
    uint64_t address;
    const char **slot = vec_push(&r->texts);
    memcpy(&address, key, sizeof address);
    if (slot)
        *slot = arena_strndup(&r->w->arena, value, strnlen(value, BPF_WAITS_NAME));
    r->failed |= !slot || !*slot || !hash_map_set(&r->names, address, (uint32_t)r->texts.count - 1);
    return !r->failed;
}

static const char *name_of(const struct reader *r, uint64_t address) {
    uint32_t i = hash_map_get(&r->names, address);
    return i == HASH_ABSENT ? "[unknown]" : r->texts.items[i];
}

/* These functions are common to all sleeping threads, so they do not tell what a thread waits for. */
static bool says_nothing(const char *name) {
    static const char *const beginnings[] = {
        "__schedule",          "schedule",          "io_schedule",   "preempt_sched",
        "do_nanosleep",        "bit_wait",          "__wait_on_bit", "out_of_line_wait_on_bit",
        "wait_for_completion", "__wait_for_common", "[unknown]"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static void take_stack(struct reader *r, const struct bpf_waits_thread *row, struct waits_thread *t) {
    uint32_t n = row->frames < BPF_WAITS_FRAMES ? row->frames : BPF_WAITS_FRAMES;
    for (uint32_t i = 0; i < n && !t->site; i++)
        if (!says_nothing(name_of(r, row->stack[i])))
            t->site = name_of(r, row->stack[i]);
    if (!r->o->stacks || !n)
        return;
    t->stack = arena_alloc(&r->w->arena, n * sizeof *t->stack);
    r->w->failed |= !t->stack;
    for (uint32_t i = 0; t->stack && i < n; i++)
        t->stack[i] = name_of(r, row->stack[i]);
    t->depth = t->kernel_depth = t->stack ? n : 0;
}

static void take_call(struct reader *r, const struct os_proc *proc, const struct bpf_waits_thread *row,
                      struct waits_thread *t) {
    t->call = row->call == BPF_WAITS_NO_CALL       ? WAITS_CALL_NONE
              : row->call == BPF_WAITS_COMPAT_CALL ? WAITS_CALL_FOREIGN
                                                   : row->call;
    t->sp = row->sp;
    t->pc = row->pc;
    memcpy(t->args, row->args, sizeof t->args);
    t->regs_mask = row->regs_mask;
    memcpy(t->regs, row->regs, sizeof t->regs);
    if (row->call == BPF_WAITS_OTHER_CPU)
        waits_read_call(r->w, proc, t);
}

static bool add_thread(struct reader *r, const struct os_proc *proc, const struct bpf_waits_thread *row) {
    struct waits_thread *t = vec_push(&r->w->threads);
    if (!t)
        return false;
    *t = (struct waits_thread){.tid = (int32_t)row->tid,
                               .pid = (int32_t)row->pid,
                               .parent = (int32_t)row->parent,
                               .inner_tid = (int32_t)row->inner_tid,
                               .cpu = row->cpu,
                               .uid = row->uid,
                               .state = waits_bpf_state(row->state, row->exit_state),
                               .kernel = row->flags & KERNEL_THREAD,
                               .running = row->on_cpu,
                               .since_ns = -1,
                               .end_word = row->clear_tid};
    t->comm = waits_text(r->w, row->comm, strnlen(row->comm, sizeof row->comm));
    t->process = t->kernel
                     ? "[kernel]"
                     : arena_strndup(&r->w->arena, row->process, strnlen(row->process, sizeof row->process));
    waits_since(t, r->o, (int64_t)row->exec_start);
    take_call(r, proc, row, t);
    take_stack(r, row, t);
    return !r->w->failed;
}

static int by_process(const void *a, const void *b) {
    const struct bpf_waits_thread *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static bool take_rows(struct reader *r, const struct os_proc *proc) {
    if (r->rows.count)
        qsort(r->rows.items, r->rows.count, sizeof *r->rows.items, by_process);
    for (size_t i = 0; i < r->rows.count; i++) {
        const struct bpf_waits_thread *row = &r->rows.items[i];
        /* Without a number in our namespace, or the same number again: the thread has ended, and another one
         * got its tid. */
        if (!row->tid || !row->pid || row->tid > INT32_MAX || row->pid > INT32_MAX ||
            (i && by_process(row - 1, row) == 0))
            continue;
        if (!add_thread(r, proc, row))
            return false;
    }
    return waits_index(r->w);
}

bool waits_read_bpf(struct waits_bpf *b, struct waits *w, const struct os_proc *proc,
                    const struct waits_read_options *o, struct err *err) {
    struct reader r = {.w = w, .o = o};
    struct os_bpf_object *object = &b->object;
    bool ok =
        os_bpf_iterate(object, WAITS_PROGRAM_THREADS, sizeof(struct bpf_waits_thread), take_row, &r, err);
    if (ok && !r.failed) {
        int failed = os_bpf_each(object->bpf, object->maps[WAITS_MAP_NAMES].fd, sizeof(uint64_t),
                                 BPF_WAITS_NAME, take_name, &r);
        ok = !failed || err_errno(err, -failed, "waits", "names of the kernel's functions cannot be read");
    }
    w->running_known = true;
    ok = ok && ((!r.failed && take_rows(&r, proc)) || err_memory(err, "threads"));
    vec_fini(&r.rows);
    vec_fini(&r.texts);
    hash_map_fini(&r.names);
    return ok;
}

/* ---- files ---- */

static bool take_file(void *ctx, const void *key, const void *value) {
    struct waits_ends *e = ctx;
    struct bpf_waits_file f;
    (void)key;
    memcpy(&f, value, sizeof f);
    if (!f.pid || f.pid > INT32_MAX || f.fd > INT32_MAX)
        return true;
    struct waits_holder *h = vec_push(&e->holders);
    e->failed |= !h;
    if (h)
        *h = (struct waits_holder){f.ino, (int32_t)f.pid, (int32_t)f.fd, f.socket, f.mode & 2, f.mode & 1};
    return h != NULL;
}

bool waits_bpf_find_holders(void *ctx, struct waits_ends *e) {
    struct waits_bpf *b = ctx;
    struct err why = ERR_INIT;
    return os_bpf_iterate(&b->object, WAITS_PROGRAM_FILES, sizeof(struct bpf_waits_file), take_file, e, &why);
}
