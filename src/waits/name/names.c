/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/name/names.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "waits/calls.h"
#include "waits/futex.h"

_Static_assert((int)BPF_OFF_CPU_BEFORE == (int)WAITS_FUTEX_BEFORE &&
                   (int)BPF_OFF_CPU_AROUND == WAITS_FUTEX_BEFORE + WAITS_FUTEX_AFTER,
               "read there, judged here");

enum { PROCESSES_MOST = 1 << 16, COMM_ROOM = 64 };

struct bpf_off_cpu_call waits_names_call(int64_t number) {
    static const uint8_t ARGUMENTS[] = {
        [WAITS_CALL_READ] = BPF_OFF_CPU_FD,       [WAITS_CALL_WRITE] = BPF_OFF_CPU_FD,
        [WAITS_CALL_FILE] = BPF_OFF_CPU_FD,       [WAITS_CALL_LOCKF] = BPF_OFF_CPU_FD,
        [WAITS_CALL_POLL] = BPF_OFF_CPU_POLLFDS,  [WAITS_CALL_FUTEX] = BPF_OFF_CPU_WORD,
        [WAITS_CALL_CHILD] = BPF_OFF_CPU_PROCESS, [WAITS_CALL_CHILDREN] = BPF_OFF_CPU_PROCESS,
        [WAITS_CALL_OTHER] = BPF_OFF_CPU_NOTHING};
    struct waits_call call;
    struct bpf_off_cpu_call out = {0};
    if (!waits_call_find(number, &call))
        return out;
    out.argument = ARGUMENTS[call.kind];
    out.index = call.kind == WAITS_CALL_CHILDREN ? 1 : call.arg;
    out.writes = call.kind == WAITS_CALL_WRITE;
    return out;
}

/* ---- other processes ---- */

/* The name of a process, or of a thread; empty: it is gone. */
static void read_comm(const struct waits_names *n, int32_t pid, char comm[COMM_ROOM]) {
    struct writer w = writer_make(false);
    char path[40];
    size_t used = 0;
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    if (pid > 0 && n->proc->read_once(n->proc->ctx, path, &w, NULL) && writer_ok(&w))
        for (; used < w.size && used < COMM_ROOM - 1 && w.data[used] != '\n'; used++)
            comm[used] = (char)w.data[used];
    comm[used] = 0;
    writer_fini(&w);
}

/* Of all processes only which there are: that is what other ends are searched in. */
static bool read_processes(struct waits_names *n) {
    os_numbers pids = {0};
    bool ok = n->proc->numbers(n->proc->ctx, "/proc", &pids, NULL);
    for (size_t i = 0; ok && i < pids.count && i < PROCESSES_MOST; i++) {
        struct waits_thread *t = vec_push(&n->w.threads);
        ok = t != NULL;
        if (ok)
            *t = (struct waits_thread){.tid = pids.items[i], .pid = pids.items[i]};
    }
    vec_fini(&pids);
    return ok && waits_index(&n->w);
}

/* Who is at the other end of the pipe or socket. */
static struct waits_far far_of(struct waits_names *n, const struct bpf_off_cpu_object *o) {
    const struct waits_object object = {o->kind == BPF_OFF_CPU_PIPE ? WAITS_OBJECT_PIPE : WAITS_OBJECT_SOCKET,
                                        NULL, o->ino};
    if (!n->looked) {
        waits_init(&n->w);
        n->ends = (struct waits_ends){.w = &n->w, .proc = n->proc};
        n->failed |= !read_processes(n);
        n->looked = true;
    }
    const struct waits_process *self = waits_process(&n->w, (int32_t)o->pid);
    return self ? waits_ends_far(&n->ends, self->first, &object, !o->writes) : (struct waits_far){0};
}

static bool name_pipe(struct waits_names *n, const struct bpf_off_cpu_object *o, char *name) {
    struct waits_far far = far_of(n, o);
    char comm[COMM_ROOM];
    read_comm(n, far.pid, comm);
    if (far.pid == (int32_t)o->pid)
        snprintf(name, WAITS_NAME_ROOM, "a pipe of its own");
    else if (*comm)
        snprintf(name, WAITS_NAME_ROOM, "a pipe, %s by %s", o->writes ? "read" : "written", comm);
    else
        snprintf(name, WAITS_NAME_ROOM, "a pipe");
    return true;
}

static const char *protocol(const struct bpf_off_cpu_object *o) {
    return o->type == SOCK_STREAM ? "TCP" : o->type == SOCK_DGRAM ? "UDP" : "Internet";
}

/* Of an Internet socket, as the kernel had it: the other end with its port where that is the service's. */
static void name_inet(const struct bpf_off_cpu_object *o, char *name) {
    char address[INET6_ADDRSTRLEN] = "?";
    bool six = o->family == AF_INET6, asks = o->remote_port < o->local_port;
    inet_ntop(o->family, o->remote, address, sizeof address);
    if (o->listens)
        snprintf(name, WAITS_NAME_ROOM, "%s socket, connections to port %u", protocol(o), o->local_port);
    else if (!o->remote_port)
        snprintf(name, WAITS_NAME_ROOM, "%s socket, port %u", protocol(o), o->local_port);
    else if (asks)
        snprintf(name, WAITS_NAME_ROOM, six ? "%s socket to [%s]:%u" : "%s socket to %s:%u", protocol(o),
                 address, o->remote_port);
    else
        snprintf(name, WAITS_NAME_ROOM, "%s socket to %s", protocol(o), address);
}

static bool name_socket(struct waits_names *n, const struct bpf_off_cpu_object *o, char *name) {
    bool inet = o->family == AF_INET || o->family == AF_INET6, is_unix = o->family == AF_UNIX;
    struct waits_far far = {0};
    char comm[COMM_ROOM] = "";
    if (is_unix || (inet && !o->listens && o->remote_port))
        far = far_of(n, o);
    read_comm(n, far.pid, comm);
    if (*comm && !far.listens)
        snprintf(name, WAITS_NAME_ROOM, "%s socket to %s%s", inet ? protocol(o) : "unix", comm,
                 far.pid == (int32_t)o->pid ? " (itself)" : "");
    else if (inet)
        name_inet(o, name);
    else if (is_unix && far.address)
        snprintf(name, WAITS_NAME_ROOM, "unix socket%s %.*s", far.listens ? ", connections to" : "",
                 WAITS_NAME_ROOM / 2, far.address);
    else
        snprintf(name, WAITS_NAME_ROOM, is_unix ? "unix socket" : "socket");
    return true;
}

/* ---- files ---- */

/* Whether the descriptor is still of the inode that was waited for: "ino:\t123" (proc(5), fdinfo). */
static bool is_still(const struct waits_names *n, const struct bpf_off_cpu_object *o) {
    static const char INO[] = "\nino:\t";
    struct writer w = writer_make(false);
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/fdinfo/%u", o->pid, o->tid, o->fd);
    bool ok = n->proc->read_once(n->proc->ctx, path, &w, NULL);
    writer_u8(&w, 0);
    const char *at = ok && writer_ok(&w) ? strstr((const char *)w.data, INO) : NULL;
    ok = at && strtoull(at + sizeof INO - 1, NULL, 10) == o->ino;
    writer_fini(&w);
    return ok;
}

/* The path that the descriptor leads to, if that is the file: it has the same inode and last name. Else only
 * the last name, which the kernel told. */
static bool name_file(const struct waits_names *n, const struct bpf_off_cpu_object *o, char *name) {
    static const char GONE[] = " (deleted)";
    char path[64], link[4096];
    size_t have = strnlen(o->name, sizeof o->name);
    snprintf(path, sizeof path, "/proc/%u/task/%u/fd/%u", o->pid, o->tid, o->fd);
    if (have && is_still(n, o) && n->proc->link(n->proc->ctx, path, link, sizeof link, NULL)) {
        size_t size = strlen(link), gone = sizeof GONE - 1;
        if (size > gone && strcmp(link + size - gone, GONE) == 0)
            link[size -= gone] = 0;
        const char *slash = strrchr(link, '/'), *last = slash && slash[1] ? slash + 1 : link;
        if (strncmp(last, o->name, have) == 0 && size < WAITS_NAME_ROOM) {
            memcpy(name, link, size + 1);
            return true;
        }
    }
    snprintf(name, WAITS_NAME_ROOM, "%.*s", (int)have, o->name);
    return have;
}

/* ---- locks ---- */

static enum waits_named name_futex(struct waits_names *n, const struct bpf_off_cpu_object *o, char *name) {
    static const char *const KINDS[] = {[WAITS_FUTEX_UNKNOWN] = "a futex",
                                        [WAITS_FUTEX_MUTEX] = "mutex",
                                        [WAITS_FUTEX_PI] = "mutex (PI)",
                                        [WAITS_FUTEX_RWLOCK] = "rwlock",
                                        [WAITS_FUTEX_JOIN] = "the end of thread"};
    static const uint8_t NOTHING[BPF_OFF_CPU_AROUND];
    uint8_t around[BPF_OFF_CPU_AROUND];
    const struct waits_futex f = {o->op, o->value, o->limited, around};
    memcpy(around, o->around, sizeof around);
    if (memcmp(around, NOTHING, sizeof around) == 0 && /* it waited already: as it is now */
        !n->proc->memory(n->proc->ctx, (int32_t)o->pid, o->ino - BPF_OFF_CPU_BEFORE, around, sizeof around,
                         NULL))
        memset(around, 0, sizeof around);
    struct waits_futex_claim claim = waits_futex_claim(&f);
    char owner[COMM_ROOM] = "", symbol[WAITS_NAME_ROOM / 2];
    if (claim.kind)
        read_comm(n, (int32_t)claim.tid, owner);
    enum waits_named sure = claim.kind && !*owner ? WAITS_NOT_YET : WAITS_NAMED;
    if (!*owner)
        claim = (struct waits_futex_claim){0};
    if (claim.kind == WAITS_FUTEX_JOIN) {
        snprintf(name, WAITS_NAME_ROOM, "%s %s", KINDS[claim.kind], owner);
        return sure;
    }
    if (waits_symbols_find(&n->symbols, n->proc, (int32_t)o->pid, o->ino + (uint64_t)(int64_t)claim.at,
                           symbol, sizeof symbol))
        snprintf(name, WAITS_NAME_ROOM, "%s %s", KINDS[claim.kind], symbol);
    else if (claim.kind)
        snprintf(name, WAITS_NAME_ROOM, "%s", KINDS[claim.kind]);
    else
        return sure == WAITS_NOT_YET ? sure : WAITS_UNNAMED;
    return sure;
}

void waits_names_clean(char *name) {
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f || *name == ';')
            *name = '?';
}

enum waits_named waits_names_find(struct waits_names *n, const struct bpf_off_cpu_object *o,
                                  char name[WAITS_NAME_ROOM]) {
    enum waits_named named = WAITS_NAMED;
    *name = 0;
    if (o->kind == BPF_OFF_CPU_PIPE)
        name_pipe(n, o, name);
    else if (o->kind == BPF_OFF_CPU_SOCKET)
        name_socket(n, o, name);
    else if (o->kind == BPF_OFF_CPU_FILE)
        named = name_file(n, o, name) ? WAITS_NAMED : WAITS_UNNAMED;
    else if (o->kind == BPF_OFF_CPU_FUTEX)
        named = name_futex(n, o, name);
    else if (o->kind == BPF_OFF_CPU_CHILD || o->kind == BPF_OFF_CPU_THREAD)
        snprintf(name, WAITS_NAME_ROOM, "the end of %s %.*s",
                 o->kind == BPF_OFF_CPU_CHILD ? "child" : "thread", (int)strnlen(o->name, sizeof o->name),
                 o->name);
    else
        named = WAITS_UNNAMED;
    waits_names_clean(name);
    n->failed |= n->looked && (n->w.failed || n->ends.failed);
    return named;
}

void waits_names_forget(struct waits_names *n) {
    waits_symbols_forget(&n->symbols, n->proc);
    if (n->looked) {
        waits_ends_fini(&n->ends);
        waits_fini(&n->w);
    }
    n->looked = n->failed = false;
}
