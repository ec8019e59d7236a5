/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/read/read_proc.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text/hex.h"

enum { PATH_ROOM = 64, KERNEL_THREAD = 0x00200000 /* PF_KTHREAD: sched.h of Linux */ };

struct reader {
    struct waits *w;
    const struct os_proc *proc;
    const struct waits_read_options *o;
    struct writer text; /* of the file read last */
    const char *process, *kernel;
    uint32_t uid;
    bool nested; /* the process lives in a pid namespace below ours */
};

/* ---- texts ---- */

/* The next decimal number (blanks before it are skipped); 0 and *ok false when there is none. */
static uint64_t take_number(struct bytes *b, bool *ok) {
    size_t i = 0;
    uint64_t v = 0;
    while (i < b->size && (b->data[i] == ' ' || b->data[i] == '\t' || b->data[i] == '-'))
        i++; /* none of the numbers read here can be negative */
    size_t start = i;
    for (; i < b->size && b->data[i] >= '0' && b->data[i] <= '9'; i++)
        v = v * 10 + (uint64_t)(b->data[i] - '0');
    *ok &= i > start;
    *b = i ? (struct bytes){b->data + i, b->size - i} : *b;
    return v;
}

static bool take_hex(struct bytes *b, uint64_t *v) {
    size_t i = 0;
    while (i < b->size && b->data[i] == ' ')
        i++;
    if (b->size - i < 3 || b->data[i] != '0' || b->data[i + 1] != 'x')
        return false;
    size_t start = i += 2;
    for (*v = 0; i < b->size; i++) {
        unsigned digit = hex_digit(b->data[i]);
        if (digit == HEX_NONE)
            break;
        *v = *v << 4 | digit;
    }
    *b = (struct bytes){b->data + i, b->size - i};
    return i > start;
}

/* What follows the name on the line that begins with it; data NULL: there is no such line. */
static struct bytes after(struct bytes text, const char *name) {
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= text.size; i++) {
        if (memcmp(text.data + i, name, n) == 0)
            return (struct bytes){text.data + i + n, text.size - i - n};
        const uint8_t *nl = memchr(text.data + i, '\n', text.size - i);
        if (!nl)
            break;
        i = (size_t)(nl - text.data);
    }
    return (struct bytes){0};
}

bool waits_read_stat(struct waits *w, struct bytes text, struct waits_thread *t) {
    enum { PARENT = 4, FLAGS = 9, CPU = 39 };
    const uint8_t *open = text.size ? memchr(text.data, '(', text.size) : NULL;
    const uint8_t *close = text.size ? memrchr(text.data, ')', text.size) : NULL;
    bool ok = true;
    if (!open || !close || close < open || text.size - (size_t)(close - text.data) < 4)
        return false;
    t->comm = waits_text(w, (const char *)open + 1, (size_t)(close - open) - 1);
    t->state = (char)close[2];
    struct bytes rest = {close + 3, text.size - (size_t)(close + 3 - text.data)};
    t->cpu = -1;
    for (int field = PARENT; field <= CPU; field++) {
        uint64_t v = take_number(&rest, &ok);
        if (!ok)
            break;
        if (field == PARENT)
            t->parent = (int32_t)v;
        else if (field == FLAGS)
            t->kernel = v & KERNEL_THREAD;
        else if (field == CPU)
            t->cpu = v < INT32_MAX ? (int32_t)v : -1;
    }
    return t->state >= 'A' && t->state <= 'z';
}

void waits_read_syscall(struct bytes text, struct waits_thread *t) {
    bool ok = true, negative = text.size && text.data[0] == '-';
    t->call = WAITS_CALL_NONE;
    uint64_t v[WAITS_ARGS + 2] = {0}, number = text.size ? take_number(&text, &ok) : 0;
    if (!text.size || !ok) /* "running" */
        return;
    /* "-1 SP PC": the thread is in no system call. */
    for (size_t i = negative ? WAITS_ARGS : 0; i < sizeof v / sizeof *v && ok; i++)
        ok = take_hex(&text, &v[i]);
    if (!ok)
        return;
    t->sp = v[WAITS_ARGS];
    t->pc = v[WAITS_ARGS + 1];
    if (negative || number > INT32_MAX)
        return;
    /* The file does not tell 32-bit programs, but no 64-bit program has both its stack and its code below 4
     * GiB. */
    bool foreign = sizeof(void *) == 8 && t->sp <= UINT32_MAX && t->pc <= UINT32_MAX;
    t->call = foreign ? WAITS_CALL_FOREIGN : (int64_t)number;
    memcpy(t->args, v, sizeof t->args);
}

int64_t waits_read_exec_start(struct bytes text) {
    bool ok = true;
    struct bytes rest = after(text, "se.exec_start");
    const uint8_t *colon = rest.size ? memchr(rest.data, ':', rest.size) : NULL;
    if (!colon)
        return -1;
    rest.size -= (size_t)(colon + 1 - rest.data);
    rest.data = colon + 1;
    uint64_t ms = take_number(&rest, &ok);
    if (!ok || ms > INT64_MAX / 1000000 - 1 || rest.size < 7 || rest.data[0] != '.')
        return -1;
    rest = (struct bytes){rest.data + 1, 6}; /* milliseconds with six places */
    uint64_t ns = take_number(&rest, &ok);
    return ok ? (int64_t)(ms * 1000000 + ns) : -1;
}

/* ---- files ---- */

/* False: it could not be read; *denied is set if we lack the rights. */
static bool read_file(struct reader *r, const char *path, bool *denied) {
    struct err why = ERR_INIT;
    writer_clear(&r->text);
    bool ok = r->proc->read_once(r->proc->ctx, path, &r->text, &why);
    *denied |= !ok && why.code == ERR_PERMISSION;
    return ok;
}

static struct bytes text_of(const struct reader *r) {
    return writer_bytes(&r->text);
}

/* Reads a file of the thread's directory. */
static bool read_own(struct reader *r, const struct waits_thread *t, const char *name, bool *denied) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)t->pid, (int)t->tid, name);
    return read_file(r, path, denied);
}

/* The thread's id in its innermost pid namespace: the last number on the NSpid line of /proc/PID/status. */
static int32_t inner_of(struct bytes status, int32_t tid, bool *nested) {
    struct bytes line = after(status, "NSpid:");
    uint64_t v = 0;
    unsigned count = 0;
    for (bool ok = true; ok && line.size && line.data[0] != '\n';) {
        uint64_t next = take_number(&line, &ok);
        v = ok ? next : v;
        count += ok;
    }
    *nested = count > 1;
    return count && v <= INT32_MAX ? (int32_t)v : tid;
}

static void read_process(struct reader *r, int32_t pid) {
    char path[PATH_ROOM];
    bool ok = true, denied = false;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    r->uid = UINT32_MAX;
    r->nested = false;
    if (!read_file(r, path, &denied))
        return;
    struct bytes uid = after(text_of(r), "Uid:");
    uint64_t v = uid.size ? take_number(&uid, &ok) : UINT32_MAX;
    r->uid = ok ? (uint32_t)v : UINT32_MAX;
    inner_of(text_of(r), pid, &r->nested);
}

/* "[<0>] name+0x1/0x2 [module]" by line. */
static void take_stack(struct reader *r, struct waits_thread *t) {
    struct bytes rest = text_of(r);
    const char *names[WAITS_STACK_MAX];
    uint32_t n = 0;
    while (rest.size && n < WAITS_STACK_MAX) {
        const uint8_t *nl = memchr(rest.data, '\n', rest.size);
        struct bytes line = {rest.data, nl ? (size_t)(nl - rest.data) : rest.size};
        size_t used = line.size + (nl != NULL);
        rest = (struct bytes){rest.data + used, rest.size - used};
        const uint8_t *blank = line.size ? memchr(line.data, ' ', line.size) : NULL;
        if (!blank)
            continue;
        const char *name = (const char *)blank + 1;
        size_t len = line.size - (size_t)(blank + 1 - line.data), end = 0;
        while (end < len && name[end] != '+' && name[end] != ' ')
            end++;
        if (end)
            names[n++] = waits_text(r->w, name, end);
    }
    t->stack = arena_alloc(&r->w->arena, n * sizeof *names);
    r->w->failed |= !t->stack;
    t->depth = t->kernel_depth = t->stack ? n : 0;
    if (t->depth)
        memcpy(t->stack, names, n * sizeof *names);
}

static void read_call(struct reader *r, struct waits_thread *t) {
    bool denied = false;
    t->call = WAITS_CALL_NONE;
    if (t->kernel || t->state == 'Z' || t->state == 'X')
        return;
    if (read_own(r, t, "syscall", &denied))
        waits_read_syscall(text_of(r), t);
    else
        t->call = denied ? WAITS_CALL_HIDDEN : WAITS_CALL_NONE;
    r->w->hidden_calls += denied;
}

void waits_read_call(struct waits *w, const struct os_proc *proc, struct waits_thread *t) {
    struct reader r = {.w = w, .proc = proc};
    read_call(&r, t);
    writer_fini(&r.text);
}

static void read_wait(struct reader *r, struct waits_thread *t) {
    bool hidden = false;
    read_call(r, t);
    /* "0": it runs, or it is hidden from us. */
    if (t->state != 'R' && read_own(r, t, "wchan", &hidden) && r->text.size > 1)
        t->site = waits_text(r->w, (const char *)r->text.data, r->text.size);
    if (!r->o->stacks || t->state == 'R')
        return;
    hidden = false;
    if (read_own(r, t, "stack", &hidden))
        take_stack(r, t);
    r->w->hidden_stacks += hidden;
}

void waits_since(struct waits_thread *t, const struct waits_read_options *o, int64_t exec_start) {
    t->since_ns = -1;
    if (!o->clock_ns || t->cpu < 0 || (size_t)t->cpu >= o->cpus || o->clock_ns[t->cpu] < 0 || exec_start <= 0)
        return;
    int64_t now = o->clock_ns[t->cpu] + (o->now_ns ? (int64_t)(o->now_ns() - o->clock_at_ns) : 0);
    t->since_ns = now > exec_start ? now - exec_start : 0;
}

static void read_since(struct reader *r, struct waits_thread *t) {
    bool denied = false;
    bool known = r->o->clock_ns && read_own(r, t, "sched", &denied);
    waits_since(t, r->o, known ? waits_read_exec_start(text_of(r)) : -1);
}

static bool read_thread(struct reader *r, int32_t pid, int32_t tid, struct err *err) {
    struct waits_thread t = {.pid = pid, .tid = tid, .inner_tid = tid, .uid = r->uid};
    bool denied = false, nested;
    if (!read_own(r, &t, "stat", &denied) || !waits_read_stat(r->w, text_of(r), &t))
        return true; /* it has ended */
    if (tid == pid)
        r->process = t.comm;
    t.process = t.kernel ? r->kernel : r->process ? r->process : t.comm;
    if (r->nested && read_own(r, &t, "status", &denied))
        t.inner_tid = inner_of(text_of(r), tid, &nested);
    read_wait(r, &t);
    read_since(r, &t);
    struct waits_thread *slot = vec_push(&r->w->threads);
    if (!slot)
        return err_memory(err, "threads");
    *slot = t;
    return true;
}

bool waits_read_proc(struct waits *w, const struct os_proc *proc, const struct waits_read_options *o,
                     struct err *err) {
    struct reader r = {.w = w, .proc = proc, .o = o, .kernel = "[kernel]"};
    os_numbers pids = {0}, tids = {0};
    bool ok = proc->numbers(proc->ctx, "/proc", &pids, err);
    for (size_t i = 0; ok && i < pids.count; i++) {
        char path[PATH_ROOM];
        int32_t pid = pids.items[i];
        struct err gone = ERR_INIT;
        snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        vec_clear(&tids);
        if (!proc->numbers(proc->ctx, path, &tids, &gone)) {
            w->failed |= gone.code == ERR_MEMORY;
            continue;
        }
        read_process(&r, pid);
        r.process = NULL;
        for (size_t k = 0; ok && k < tids.count; k++)
            ok = read_thread(&r, pid, tids.items[k], err);
    }
    ok = ok && ((waits_index(w) && !w->failed && writer_ok(&r.text)) || err_memory(err, "threads"));
    vec_fini(&pids);
    vec_fini(&tids);
    writer_fini(&r.text);
    return ok;
}
