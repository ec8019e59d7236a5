/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/explain.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>

#include "waits/calls.h"
#include "waits/futex.h"

enum { TEXT_ROOM = 600, PATH_MOST = 256, PATH_SHORT = 60, POLLED_SHOWN = 4 };

struct explainer {
    struct waits *w;
    const struct os_proc *proc;
    struct waits_ends *ends;
    uint32_t thread; /* the thread that is being explained */
};

static struct waits_thread *self(const struct explainer *x) {
    return &x->w->threads.items[x->thread];
}

__attribute__((format(printf, 2, 3))) static const char *text(struct explainer *x, const char *fmt, ...) {
    char room[TEXT_ROOM];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(room, sizeof room, fmt, ap);
    va_end(ap);
    return waits_text(x->w, room, n < 0 ? 0 : strlen(room));
}

/* A process as "comm/pid". */
static const char *process_name(struct explainer *x, int32_t pid) {
    const struct waits_process *p = waits_process(x->w, pid);
    return text(x, "%s/%d", p ? x->w->threads.items[p->first].process : "?", (int)pid);
}

static const char *process_comm(const struct explainer *x, int32_t pid) {
    const struct waits_process *p = waits_process(x->w, pid);
    return p ? x->w->threads.items[p->first].process : "?";
}

/* The process's thread, if it has only one: nobody else could do what is waited for. */
static uint32_t only_thread(const struct explainer *x, int32_t pid) {
    const struct waits_process *p = waits_process(x->w, pid);
    return p && p->count == 1 && p->first != x->thread ? p->first : WAITS_NOBODY;
}

static bool memory(struct explainer *x, uint64_t address, void *to, size_t n) {
    struct err why = ERR_INIT;
    bool ok = x->proc->memory(x->proc->ctx, self(x)->pid, address, to, n, &why);
    x->w->hidden_memory += !ok && why.code == ERR_PERMISSION;
    return ok;
}

/* ---- times ---- */

static bool read_time(struct explainer *x, uint64_t address, int64_t *ns) {
    int64_t v[2]; /* struct timespec of 64-bit machines */
    if (!address || sizeof(long) != 8 || !memory(x, address, v, sizeof v) || v[0] < 0 ||
        v[0] > INT64_MAX / 1000000000 - 1 || v[1] < 0 || v[1] >= 1000000000)
        return false;
    *ns = v[0] * 1000000000 + v[1];
    return true;
}

static const char *time_text(struct explainer *x, int64_t ns) {
    return text(x, "%" PRId64 ".%03" PRId64 " s", ns / 1000000000, ns / 1000000 % 1000);
}

static void sleeps(struct explainer *x, const struct waits_call *call) {
    struct waits_thread *t = self(x);
    int64_t ns;
    bool absolute = call->arg == 2 && t->args[1] & TIMER_ABSTIME;
    t->wait.kind = WAITS_SLEEP;
    t->wait.what = "the end of its sleep";
    if (!read_time(x, t->args[call->arg], &ns))
        return;
    if (absolute) {
        t->wait.what = "a point in time";
        return;
    }
    t->wait.limit_ns = ns;
    t->wait.which = time_text(x, ns);
}

/* ---- futexes ---- */

/* Whether a word lies in glibc's thread descriptor. On x86-64 that begins with its own address, as the ABI's
 * TLS wants it ("%fs:0"), and has less than BEFORE bytes before the tid. Other architectures have no such
 * mark. */
static bool in_descriptor(struct explainer *x, uint64_t word) {
#ifdef __x86_64__
    enum { BEFORE = 1024, SELF = 2 };
    uint64_t words[BEFORE / 8], start = (word & ~(uint64_t)7) - BEFORE;
    if (!memory(x, start, words, sizeof words))
        return false;
    for (size_t i = 0; i + SELF < BEFORE / 8; i++)
        if (words[i] == start + i * 8 && words[i + SELF] == words[i])
            return true;
    return false;
#else
    (void)x, (void)word;
    return true;
#endif
}

static struct waits_futex_claim claim_of(struct explainer *x, uint32_t op, uint32_t value, bool limited) {
    uint8_t around[WAITS_FUTEX_BEFORE + WAITS_FUTEX_AFTER] = {0};
    struct waits_futex f = {.op = op, .value = value, .limited = limited, .around = around};
    uint64_t word = self(x)->args[0];
    struct waits_futex_claim none = {0};
    /* Memory may begin or end near the word. Then no lock surrounds it, and less is read. */
    if (word < WAITS_FUTEX_BEFORE || !(memory(x, word - WAITS_FUTEX_BEFORE, around, sizeof around) ||
                                       memory(x, word, around + WAITS_FUTEX_BEFORE, WAITS_FUTEX_AFTER) ||
                                       memory(x, word, around + WAITS_FUTEX_BEFORE, 4)))
        return none;
    return waits_futex_claim(&f);
}

static void owned(struct explainer *x, struct waits_futex_claim c, uint32_t owner) {
    static const char *const names[] = {
        [WAITS_FUTEX_MUTEX] = "mutex", [WAITS_FUTEX_PI] = "mutex (PI)", [WAITS_FUTEX_RWLOCK] = "rwlock"};
    struct waits_thread *t = self(x);
    t->wait.on = owner;
    t->wait.certain = t->wait.limit_ns < 0 && !t->args[3];
    if (c.kind == WAITS_FUTEX_JOIN) {
        t->wait.kind = WAITS_JOIN;
        t->wait.what = text(x, "the end of thread %s", waits_name(x->w, owner));
        return;
    }
    t->wait.kind = WAITS_LOCK;
    t->wait.lock += (uint64_t)(int64_t)c.at;
    const char *by = owner == x->thread ? "itself" : waits_name(x->w, owner);
    t->wait.what = text(x, "%s 0x%" PRIx64 ", held by %s", names[c.kind], t->wait.lock, by);
}

/* Whether the claimed owner is possible. A thread that has ended holds nothing. If the end of a thread is
 * waited for, the word must be the one that the kernel clears when that thread ends. */
static bool may_own(struct explainer *x, struct waits_futex_claim c, uint32_t owner) {
    const struct waits_thread *o = &x->w->threads.items[owner];
    uint64_t word = self(x)->args[0];
    if (o->state == 'X' || o->state == 'Z')
        return false;
    return c.kind != WAITS_FUTEX_JOIN ||
           (owner != x->thread && (o->end_word ? o->end_word == word : in_descriptor(x, word)));
}

static void futex(struct explainer *x) {
    struct waits_thread *t = self(x);
    uint32_t op = (uint32_t)t->args[1], value = (uint32_t)t->args[2];
    t->wait.kind = WAITS_FUTEX;
    t->wait.what = "a futex, owner unknown";
    if (!waits_futex_waits(op))
        return;
    t->wait.lock = t->args[0];
    t->wait.which = text(x, "0x%" PRIx64, t->args[0]);
    if (!waits_futex_relative(op) || !read_time(x, t->args[3], &t->wait.limit_ns))
        t->wait.limit_ns = -1;
    struct waits_futex_claim c = claim_of(x, op, value, t->args[3] != 0);
    uint32_t owner = c.kind ? waits_find_inner(x->w, x->thread, c.tid, c.own) : WAITS_NOBODY;
    if (owner == WAITS_NOBODY || !may_own(x, c, owner))
        return;
    t->wait.which = NULL;
    owned(x, c, owner);
}

static void futexes(struct explainer *x) {
    struct waits_thread *t = self(x);
    t->wait.kind = WAITS_FUTEX;
    t->wait.what = "one of several futexes, owners unknown";
    t->wait.which = text(x, "%u", (unsigned)t->args[1]);
}

/* ---- descriptors ---- */

static void other_end(struct explainer *x, const struct waits_far *far) {
    struct waits_thread *t = self(x);
    t->wait.peer = far->pid;
    t->wait.address = far->address;
    t->wait.on = far->pid && far->pid != t->pid ? only_thread(x, far->pid) : WAITS_NOBODY;
}

static void pipe_wait(struct explainer *x, const struct waits_call *call, const struct waits_object *o) {
    struct waits_thread *t = self(x);
    bool reading = call->kind != WAITS_CALL_WRITE;
    struct waits_far far = waits_ends_far(x->ends, x->thread, o, reading);
    const char *verb = reading ? "read of a pipe" : "write to a pipe", *by = reading ? "written" : "read";
    t->wait.kind = WAITS_PIPE;
    other_end(x, &far);
    t->wait.which = text(x, "fd %d, %s", t->wait.fd, o->name);
    if (far.pid == t->pid)
        t->wait.what = text(x, "%s, %s by its own process only", verb, by);
    else if (far.pid)
        t->wait.what = text(x, "%s, %s by %s", verb, by, process_name(x, far.pid));
    else if (far.count)
        t->wait.what = text(x, "%s, %s by %u processes", verb, by, far.count);
    else
        t->wait.what = text(x, "%s, the other end unknown", verb);
}

static const char *verb_of(struct explainer *x, const struct waits_call *call) {
    return call->verb ? call->verb : text(x, "%s of", call->name);
}

static void socket_wait(struct explainer *x, const struct waits_call *call, const struct waits_object *o) {
    struct waits_thread *t = self(x);
    struct waits_far far = waits_ends_far(x->ends, x->thread, o, call->kind != WAITS_CALL_WRITE);
    const char *kind = far.kind ? far.kind : "unknown";
    const char *verb = verb_of(x, call);
    t->wait.kind = WAITS_SOCKET;
    other_end(x, &far);
    if (far.listens) {
        t->wait.what =
            text(x, "connections to %s socket %.*s", kind, PATH_MOST, far.address ? far.address : "?");
        t->wait.which = text(x, "fd %d", t->wait.fd);
        t->wait.on = WAITS_NOBODY;
    } else if (far.pid) {
        t->wait.what = text(x, "%s %s socket to %s%s", verb, kind, process_comm(x, far.pid),
                            far.pid == t->pid ? " (itself)" : "");
        t->wait.which = text(x, "fd %d, %s%s%.*s", t->wait.fd, process_name(x, far.pid),
                             far.address ? ", " : "", PATH_MOST, far.address ? far.address : "");
    } else {
        t->wait.what = text(x, "%s %s socket", verb, kind);
        if (far.count)
            t->wait.which = text(x, "fd %d, %u processes at the other end", t->wait.fd, far.count);
        else
            t->wait.which = text(x, "fd %d%s%.*s", t->wait.fd, far.address ? ", to " : "", PATH_MOST,
                                 far.address ? far.address : "");
    }
}

/* Explains a wait for a descriptor, with the verb of the call. */
static void descriptor(struct explainer *x, const struct waits_call *call, uint64_t fd) {
    struct waits_thread *t = self(x);
    if ((int32_t)fd < 0) { /* mmap(2) of memory without a file */
        t->wait.kind = WAITS_OTHER;
        t->wait.what = text(x, "system call %s", call->name);
        return;
    }
    struct waits_object o = waits_ends_object(x->ends, x->thread, (uint32_t)fd);
    const char *verb = verb_of(x, call);
    t->wait.fd = (int32_t)fd;
    t->wait.object = o.name;
    t->wait.kind = WAITS_FILE;
    if (o.kind == WAITS_OBJECT_PIPE) {
        pipe_wait(x, call, &o);
    } else if (o.kind == WAITS_OBJECT_SOCKET) {
        socket_wait(x, call, &o);
    } else if (o.name) {
        t->wait.what = text(x, "%s %.*s", verb, PATH_MOST, o.name);
        t->wait.which = text(x, "fd %d", t->wait.fd);
    } else {
        t->wait.what = text(x, "%s an unknown file", verb);
        t->wait.which = text(x, "fd %d", t->wait.fd);
    }
}

/* Returns the lock's owner from /proc/locks: "3: POSIX ADVISORY WRITE 123 ...", "3: -> POSIX ADVISORY WRITE
 * 456 ...". */
static int32_t file_lock_owner(struct explainer *x) {
    struct writer w = writer_make(false);
    struct err why = ERR_INIT;
    int32_t owner = 0, holder = 0, pid;
    if (x->proc->read(x->proc->ctx, "/proc/locks", &w, &why))
        writer_u8(&w, 0);
    for (const char *line = w.size && writer_ok(&w) ? (const char *)w.data : NULL; line && *line;) {
        bool waits = sscanf(line, "%*d: -> %*s %*s %*s %d", &pid) == 1;
        if (!waits && sscanf(line, "%*d: %*s %*s %*s %d", &pid) == 1)
            holder = pid;
        else if (waits && pid == self(x)->pid)
            owner = holder;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    writer_fini(&w);
    return owner;
}

static void file_lock(struct explainer *x, const struct waits_call *call) {
    struct waits_thread *t = self(x);
    const struct waits_call as = {call->name, call->kind, 0, "a lock of"};
    bool locks = strcmp(call->name, "flock") == 0 || t->args[1] == F_SETLKW || t->args[1] == F_OFD_SETLKW;
    descriptor(x, &as, t->args[0]);
    if (!locks)
        return;
    int32_t owner = file_lock_owner(x);
    t->wait.on = WAITS_NOBODY;
    if (owner <= 0 || !waits_process(x->w, owner))
        return;
    t->wait.kind = WAITS_FILE_LOCK;
    t->wait.peer = owner;
    t->wait.on = only_thread(x, owner);
    t->wait.what = text(x, "a lock of %.*s, held by %s", PATH_MOST,
                        t->wait.object ? t->wait.object : "a file", process_name(x, owner));
}

static void of_path(struct explainer *x, const struct waits_call *call) {
    struct waits_thread *t = self(x);
    char path[PATH_MOST];
    struct err why = ERR_INIT;
    size_t n = 0;
    t->wait.kind = WAITS_OTHER;
    /* Byte by byte at the end: the memory after the text may not be mapped. */
    while (n < sizeof path - 1 &&
           x->proc->memory(x->proc->ctx, t->pid, t->args[call->arg] + n, &path[n], 1, &why) && path[n])
        n++;
    path[n] = 0;
    t->wait.what = n ? text(x, "%s of %s", call->name, path) : call->name;
}

/* ---- many descriptors ---- */

/* What a call that waits for any number of descriptors found out about them. */
struct polled {
    uint64_t count;
    uint32_t fds[POLLED_SHOWN]; /* the first of them */
    bool known;                 /* `fds` is set */
    bool reads;                 /* it only waits to read */
};

static void add_polled(struct polled *p, uint32_t fd, bool reads) {
    if (p->count < POLLED_SHOWN)
        p->fds[p->count] = fd;
    p->reads = reads && (p->reads || !p->count);
    p->count++;
}

/* A descriptor among others, in a few words. */
static const char *object_text(struct explainer *x, uint32_t fd, bool reads) {
    struct waits_object o = waits_ends_object(x->ends, x->thread, fd);
    if (o.kind != WAITS_OBJECT_PIPE && o.kind != WAITS_OBJECT_SOCKET)
        return text(x, "fd %u %.*s", fd, PATH_SHORT, o.name ? o.name : "?");
    struct waits_far far = waits_ends_far(x->ends, x->thread, &o, reads);
    const char *kind = o.kind == WAITS_OBJECT_PIPE ? "pipe" : far.kind ? far.kind : "socket";
    if (far.pid)
        return text(x, "fd %u %s to %s", fd, kind, process_name(x, far.pid));
    return text(x, "fd %u %s%s%.*s", fd, kind, far.address ? " " : "", PATH_SHORT,
                far.address ? far.address : "");
}

static const char *polled_text(struct explainer *x, const struct polled *p) {
    const char *list = text(x, "%" PRIu64 " of them", p->count);
    for (uint64_t i = 0; p->known && i < p->count && i < POLLED_SHOWN; i++)
        list = text(x, "%s%s %s", list, i ? "," : ":", object_text(x, p->fds[i], p->reads));
    return p->known && p->count > POLLED_SHOWN ? text(x, "%s, ...", list) : list;
}

static void polled(struct explainer *x, const struct polled *p) {
    static const struct waits_call read = {"poll", WAITS_CALL_READ, 0, "read of"};
    struct waits_thread *t = self(x);
    t->wait.kind = p->count ? WAITS_POLL : WAITS_SLEEP;
    if (!p->count) {
        t->wait.what = "the end of its sleep";
        t->wait.which = t->wait.limit_ns >= 0 ? time_text(x, t->wait.limit_ns) : NULL;
    } else if (p->count == 1 && p->known && p->reads) {
        descriptor(x, &read, p->fds[0]);
    } else {
        t->wait.what = p->count == 1 ? "one descriptor" : "one of several descriptors";
        t->wait.which = polled_text(x, p);
    }
}

/* The descriptors of a set that poll was given. */
static void take_pollfds(struct explainer *x, struct polled *p, uint64_t address, uint64_t count) {
    struct pollfd all[POLLED_SHOWN];
    size_t n = count < POLLED_SHOWN ? (size_t)count : POLLED_SHOWN;
    bool ok = n && memory(x, address, all, n * sizeof *all);
    for (size_t i = 0; ok && i < n; i++)
        if (all[i].fd >= 0) /* poll(2) ignores negative ones */
            add_polled(p, (uint32_t)all[i].fd, all[i].events & POLLIN && !(all[i].events & POLLOUT));
    p->known = ok && (count <= POLLED_SHOWN || p->count == POLLED_SHOWN);
    p->count = ok && count <= POLLED_SHOWN ? p->count : count;
}

static void poll_wait(struct explainer *x, const struct waits_call *call) {
    struct waits_thread *t = self(x);
    bool old = strcmp(call->name, "poll") == 0;
    if (old && (int32_t)t->args[2] >= 0)
        t->wait.limit_ns = (int64_t)(int32_t)t->args[2] * 1000000;
    else if (!old && !read_time(x, t->args[2], &t->wait.limit_ns))
        t->wait.limit_ns = -1;
    struct polled p = {0};
    take_pollfds(x, &p, t->args[0], t->args[1]);
    polled(x, &p);
}

static void select_wait(struct explainer *x) {
    enum { SETS = 3, FDS_MOST = 1024 };
    struct waits_thread *t = self(x);
    uint64_t sets[SETS][FDS_MOST / 64] = {{0}};
    size_t words = t->args[0] <= FDS_MOST ? ((size_t)t->args[0] + 63) / 64 : 0;
    struct polled p = {.known = words || !t->args[0]};
    for (unsigned s = 0; s < SETS; s++)
        if (t->args[1 + s] && words)
            p.known &= memory(x, t->args[1 + s], sets[s], words * 8);
    for (uint32_t i = 0; p.known && i < words * 64; i++) {
        bool writes = sets[1][i / 64] >> i % 64 & 1, reads = sets[0][i / 64] >> i % 64 & 1;
        if (!writes && !reads && !(sets[2][i / 64] >> i % 64 & 1))
            continue;
        add_polled(&p, i, reads && !writes);
    }
    if (p.known) {
        polled(x, &p);
        return;
    }
    t->wait.kind = WAITS_POLL;
    t->wait.what = "one of several descriptors";
}

/* Lines "tfd: 7 events: 19 data: ..." of /proc/PID/fdinfo/FD; the events are hexadecimal. */
static void epoll_wait_on(struct explainer *x) {
    struct waits_thread *t = self(x);
    struct writer w = writer_make(false);
    struct err why = ERR_INIT;
    char path[64];
    unsigned fd, events;
    snprintf(path, sizeof path, "/proc/%d/task/%d/fdinfo/%u", (int)t->pid, (int)t->tid, (unsigned)t->args[0]);
    struct polled p = {.known = x->proc->read(x->proc->ctx, path, &w, &why)};
    writer_u8(&w, 0);
    for (const char *at = writer_ok(&w) ? (const char *)w.data : ""; (at = strstr(at, "tfd:")); at++) {
        if (sscanf(at, "tfd: %u events: %x", &fd, &events) == 2)
            add_polled(&p, fd, events & EPOLLIN && !(events & EPOLLOUT));
    }
    writer_fini(&w);
    if ((int32_t)t->args[3] >= 0)
        t->wait.limit_ns = (int64_t)(int32_t)t->args[3] * 1000000;
    if (p.known && p.count == 1) {
        polled(x, &p);
        return;
    }
    t->wait.kind = WAITS_POLL;
    t->wait.fd = (int32_t)t->args[0];
    t->wait.what = "one of several descriptors (epoll)";
    t->wait.which = p.known ? polled_text(x, &p) : NULL;
}

/* ---- children ---- */

static void children(struct explainer *x, int64_t wanted) {
    struct waits_thread *t = self(x);
    int32_t child = 0;
    uint32_t count = 0;
    for (size_t i = 0; i < x->w->processes.count; i++) {
        const struct waits_process *p = &x->w->processes.items[i];
        const struct waits_thread *c = &x->w->threads.items[p->first];
        if (c->parent != t->pid || (wanted > 0 && c->inner_tid != wanted && p->pid != wanted))
            continue;
        child = p->pid;
        count++;
    }
    t->wait.kind = WAITS_CHILD;
    if (count == 1) {
        t->wait.what = text(x, "the end of its child %s", process_comm(x, child));
        t->wait.which = process_name(x, child);
        t->wait.peer = child;
        t->wait.on = only_thread(x, child);
    } else if (count) {
        t->wait.what = "the end of one of its children";
        t->wait.which = text(x, "%u of them", count);
    } else {
        t->wait.what = "the end of a child";
    }
}

static void child_call(struct explainer *x, const struct waits_call *call) {
    const struct waits_thread *t = self(x);
    if (call->kind == WAITS_CALL_CHILD)
        children(x, (int32_t)t->args[0]);
    else
        children(x, t->args[0] == P_PID ? (int32_t)t->args[1] : -1);
}

/* ---- by call and state ---- */

static void by_call(struct explainer *x, const struct waits_call *call) {
    struct waits_thread *t = self(x);
    switch (call->kind) {
    case WAITS_CALL_READ:
    case WAITS_CALL_WRITE:
    case WAITS_CALL_FILE:
        descriptor(x, call, t->args[call->arg]);
        break;
    case WAITS_CALL_PATH:
        of_path(x, call);
        break;
    case WAITS_CALL_LOCKF:
        file_lock(x, call);
        break;
    case WAITS_CALL_POLL:
        poll_wait(x, call);
        break;
    case WAITS_CALL_SELECT:
        select_wait(x);
        break;
    case WAITS_CALL_EPOLL:
        epoll_wait_on(x);
        break;
    case WAITS_CALL_FUTEX:
        futex(x);
        break;
    case WAITS_CALL_FUTEXES:
        futexes(x);
        break;
    case WAITS_CALL_SLEEP:
        sleeps(x, call);
        break;
    case WAITS_CALL_CHILD:
    case WAITS_CALL_CHILDREN:
        child_call(x, call);
        break;
    case WAITS_CALL_VFORK:
        children(x, -1);
        break;
    case WAITS_CALL_SIGNAL:
        t->wait.kind = WAITS_SIGNAL;
        t->wait.what = "a signal";
        break;
    case WAITS_CALL_IPC:
        t->wait.kind = WAITS_IPC;
        t->wait.what = text(x, "%s of set or queue %d", call->name, (int)t->args[0]);
        break;
    case WAITS_CALL_OTHER:
        t->wait.kind = WAITS_OTHER;
        t->wait.what = text(x, "system call %s", call->name);
        break;
    }
}

static void without_call(struct explainer *x) {
    struct waits_thread *t = self(x);
    const char *in = t->site ? text(x, " in %s", t->site) : "";
    t->wait.kind = WAITS_OTHER;
    if (t->call == WAITS_CALL_HIDDEN) {
        t->wait.kind = WAITS_HIDDEN;
        t->wait.what = text(x, "a system call that may not be known%s", in);
    } else if (t->call == WAITS_CALL_FOREIGN) {
        t->wait.what = text(x, "a system call of a 32-bit program%s", in);
    } else if (t->kernel) {
        t->wait.kind = WAITS_KERNEL;
        t->wait.what = t->site ? t->site : "work";
    } else if (t->call >= 0) {
        t->wait.what = text(x, "system call %d%s", (int)t->call, in);
    } else {
        t->wait.what = text(x, "the kernel, in no system call%s", in);
    }
}

/* Explains a wait by the thread's state alone. True: that is enough. */
static bool by_state(struct explainer *x) {
    struct waits_thread *t = self(x);
    static const struct {
        char state;
        enum waits_kind kind;
        const char *what;
    } rows[] = {{'T', WAITS_STOPPED, "SIGCONT: it was stopped"},
                {'t', WAITS_STOPPED, "its debugger"},
                {'Z', WAITS_ZOMBIE, "its parent, to take its status"},
                {'X', WAITS_ZOMBIE, "nothing: it has ended"}};
    if (t->state == 'R') {
        bool waits = x->w->running_known && !t->running;
        t->wait.kind = waits ? WAITS_CPU : WAITS_RUNNING;
        t->wait.what = waits ? "a CPU" : t->running ? "nothing: it runs" : "nothing, or a CPU";
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].state == t->state) {
            t->wait.kind = rows[i].kind;
            t->wait.what = rows[i].what;
            return true;
        }
    return false;
}

static void explain(struct explainer *x) {
    struct waits_thread *t = self(x);
    struct waits_call call;
    bool known = waits_call_find(t->call, &call);
    t->wait = (struct waits_wait){.limit_ns = -1, .fd = -1, .on = WAITS_NOBODY};
    t->wait.call = known ? call.name : NULL;
    if (by_state(x))
        return;
    if (known)
        by_call(x, &call);
    else
        without_call(x);
    /* An uninterruptible wait is for a file system or a device, whatever the call. A wait for a lock in the
     * kernel may look the same, so the kernel function is shown with it. */
    if (t->state == 'D' && t->wait.kind != WAITS_CHILD && !t->kernel) {
        t->wait.kind = WAITS_DISK;
        if (t->site)
            t->wait.what = text(x, "%s, in %s", t->wait.what, t->site);
    }
    if (t->wait.kind == WAITS_KERNEL && t->state == 'D')
        t->wait.kind = WAITS_DISK;
}

bool waits_explain(struct waits *w, const struct os_proc *proc, struct waits_ends *ends, struct err *err) {
    struct explainer x = {.w = w, .proc = proc, .ends = ends};
    ends->w = w;
    ends->proc = proc;
    for (x.thread = 0; x.thread < w->threads.count; x.thread++)
        explain(&x);
    return (!w->failed && !ends->failed) || err_memory(err, "waits");
}
