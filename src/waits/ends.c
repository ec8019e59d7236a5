/* SPDX-License-Identifier: Apache-2.0 */
#include "waits/ends.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

enum { PATH_ROOM = 64, NAME_ROOM = 512, HOLDERS_MAX = 4 << 20, TCP_LISTEN = 10, END = 18 };

void waits_ends_fini(struct waits_ends *e) {
    vec_fini(&e->holders);
    vec_fini(&e->tcp);
    vec_fini(&e->unix_sockets);
    hash_map_fini(&e->tcp_by_ino);
    hash_map_fini(&e->tcp_by_ends);
    hash_map_fini(&e->unix_by_ino);
    hash_map_fini(&e->namespaces);
    writer_fini(&e->text);
}

/* "pipe:[123]" */
static bool inode_of(const char *name, const char *kind, uint64_t *ino) {
    size_t n = strlen(kind);
    char end = 0, more = 0;
    return strncmp(name, kind, n) == 0 && sscanf(name + n, ":[%" SCNu64 "%c%c", ino, &end, &more) == 2 &&
           end == ']';
}

static struct waits_object object_of(const char *name) {
    struct waits_object o = {.kind = WAITS_OBJECT_FILE};
    if (inode_of(name, "pipe", &o.ino))
        o.kind = WAITS_OBJECT_PIPE;
    else if (inode_of(name, "socket", &o.ino))
        o.kind = WAITS_OBJECT_SOCKET;
    return o;
}

struct waits_object waits_ends_object(struct waits_ends *e, uint32_t thread, uint64_t fd) {
    const struct waits_thread *t = &e->w->threads.items[thread];
    char path[PATH_ROOM], name[NAME_ROOM];
    struct err why = ERR_INIT;
    if (fd > INT32_MAX)
        return (struct waits_object){0};
    snprintf(path, sizeof path, "/proc/%d/task/%d/fd/%" PRIu64, (int)t->pid, (int)t->tid, fd);
    if (!e->proc->link(e->proc->ctx, path, name, sizeof name, &why))
        return (struct waits_object){0};
    struct waits_object o = object_of(name);
    o.name = waits_text(e->w, name, strlen(name));
    return o;
}

/* ---- who has which pipes and sockets open ---- */

static int by_inode(const void *a, const void *b) {
    const struct waits_holder *x = a, *y = b;
    if (x->ino != y->ino)
        return x->ino < y->ino ? -1 : 1;
    if (x->socket != y->socket)
        return x->socket ? 1 : -1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->fd > y->fd) - (x->fd < y->fd);
}

/* O_WRONLY and so on, from "flags:\t0100001" of /proc/PID/fdinfo/FD. */
static void read_mode(struct waits_ends *e, struct waits_holder *h) {
    char path[PATH_ROOM];
    struct err why = ERR_INIT;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)h->pid, (int)h->fd);
    writer_clear(&e->text);
    if (!e->proc->read_once(e->proc->ctx, path, &e->text, &why))
        return;
    writer_u8(&e->text, 0);
    const char *flags = writer_ok(&e->text) ? strstr((const char *)e->text.data, "flags:") : NULL;
    unsigned long mode = flags ? strtoul(flags + strlen("flags:"), NULL, 8) & O_ACCMODE : O_RDWR;
    h->writes = mode != O_RDONLY;
    h->reads = mode != O_WRONLY;
}

static void add_holder(struct waits_ends *e, int32_t pid, int32_t fd) {
    char path[PATH_ROOM], name[NAME_ROOM];
    struct err why = ERR_INIT;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, (int)fd);
    if (!e->proc->link(e->proc->ctx, path, name, sizeof name, &why))
        return;
    struct waits_object o = object_of(name);
    if (o.kind != WAITS_OBJECT_PIPE && o.kind != WAITS_OBJECT_SOCKET)
        return;
    struct waits_holder *h = e->holders.count < HOLDERS_MAX ? vec_push(&e->holders) : NULL;
    e->failed |= !h;
    if (!h)
        return;
    *h = (struct waits_holder){o.ino, pid, fd, o.kind == WAITS_OBJECT_SOCKET, true, true};
    if (!h->socket)
        read_mode(e, h);
}

static void look_at_all(struct waits_ends *e) {
    os_numbers fds = {0};
    vec_clear(&e->holders);
    for (size_t i = 0; i < e->w->processes.count; i++) {
        const struct waits_process *p = &e->w->processes.items[i];
        char path[PATH_ROOM];
        struct err why = ERR_INIT;
        if (e->w->threads.items[p->first].kernel)
            continue;
        snprintf(path, sizeof path, "/proc/%d/fd", (int)p->pid);
        vec_clear(&fds);
        if (e->proc->numbers(e->proc->ctx, path, &fds, &why))
            for (size_t k = 0; k < fds.count && !e->failed; k++)
                add_holder(e, p->pid, fds.items[k]);
        else
            e->w->hidden_files += why.code == ERR_PERMISSION;
    }
    vec_fini(&fds);
}

static void find_holders(struct waits_ends *e) {
    if (!e->find || !e->find(e->find_ctx, e))
        look_at_all(e);
    if (e->holders.count)
        qsort(e->holders.items, e->holders.count, sizeof *e->holders.items, by_inode);
    e->holders_known = true;
}

/* Counts the processes that have the pipe's or socket's end open; `self` counts only if no other process has
 * it. */
static void count_holders(struct waits_ends *e, uint64_t ino, bool socket, bool reading, int32_t self,
                          struct waits_far *far) {
    bool own = false;
    int32_t last = 0;
    size_t low = 0, high = e->holders.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (e->holders.items[mid].ino < ino)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < e->holders.count && e->holders.items[low].ino == ino; low++) {
        const struct waits_holder *h = &e->holders.items[low];
        bool fits = h->socket == socket && (socket || (reading ? h->writes : h->reads));
        own |= fits && h->pid == self;
        if (!fits || h->pid == self || h->pid == last)
            continue;
        last = far->pid = h->pid;
        far->count++;
    }
    if (!far->count && own) {
        far->pid = self;
        far->count = 1;
    }
    far->pid = far->count == 1 ? far->pid : 0;
}

/* ---- TCP ---- */

/* "0100007F:1F90", or 32 digits of IPv6: words in the machine's order (proc(5), /proc/net/tcp). */
static bool take_end(const char *text, uint8_t *end) {
    size_t digits = strspn(text, "0123456789ABCDEFabcdef");
    memset(end, 0, END);
    if ((digits != 8 && digits != 32) || text[digits] != ':')
        return false;
    for (size_t i = 0; i < digits; i += 8) {
        char word[9] = {0};
        memcpy(word, text + i, 8);
        uint32_t v = (uint32_t)strtoul(word, NULL, 16);
        memcpy(end + (digits == 8 ? 12 : i / 2), &v, sizeof v);
    }
    if (digits == 8)
        end[10] = end[11] = 0xff; /* IPv4, mapped (RFC 4291, 2.5.5.2) */
    unsigned long port = strtoul(text + digits + 1, NULL, 16);
    end[16] = (uint8_t)(port >> 8);
    end[17] = (uint8_t)port;
    return true;
}

static bool take_tcp(void *ctx, struct bytes lines) {
    struct waits_ends *e = ctx;
    while (lines.size) {
        const uint8_t *nl = memchr(lines.data, '\n', lines.size);
        size_t n = nl ? (size_t)(nl - lines.data) : lines.size, used = n + (nl != NULL);
        char line[256], local[64], remote[64];
        unsigned state;
        uint64_t ino;
        struct waits_tcp row = {0};
        n = n < sizeof line ? n : sizeof line - 1;
        memcpy(line, lines.data, n);
        line[n] = 0;
        lines = (struct bytes){lines.data + used, lines.size - used};
        if (sscanf(line, " %*[0-9]: %63s %63s %x %*s %*s %*s %*s %*s %" SCNu64, local, remote, &state,
                   &ino) != 4 ||
            !take_end(local, row.ends) || !take_end(remote, row.ends + END) || !ino)
            continue;
        row.ino = ino;
        row.state = (uint8_t)state;
        row.listens = state == TCP_LISTEN;
        struct waits_tcp *slot = vec_push(&e->tcp);
        uint32_t index = (uint32_t)e->tcp.count - 1;
        if (!slot || !hash_map_set(&e->tcp_by_ino, ino, index) ||
            !hash_map_set(&e->tcp_by_ends, hash_bytes(row.ends, sizeof row.ends), index)) {
            e->failed = true;
            return false;
        }
        *slot = row;
    }
    return true;
}

/* The sockets of the process's network namespace, each namespace once. */
static void read_tcp(struct waits_ends *e, int32_t pid) {
    char path[PATH_ROOM], name[NAME_ROOM];
    struct err why = ERR_INIT;
    uint64_t ns = 0;
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    if (!e->proc->link(e->proc->ctx, path, name, sizeof name, &why) || !inode_of(name, "net", &ns))
        ns = 0;
    if (hash_map_get(&e->namespaces, ns) != HASH_ABSENT)
        return;
    e->failed |= !hash_map_set(&e->namespaces, ns, 1);
    snprintf(path, sizeof path, "/proc/%d/net/tcp", (int)pid);
    e->proc->lines(e->proc->ctx, path, take_tcp, e, &why);
    snprintf(path, sizeof path, "/proc/%d/net/tcp6", (int)pid);
    e->proc->lines(e->proc->ctx, path, take_tcp, e, &why);
}

static const char *end_text(struct waits_ends *e, const uint8_t *end) {
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    char address[INET6_ADDRSTRLEN] = "?";
    unsigned port = (unsigned)end[16] << 8 | end[17];
    bool four = memcmp(end, mapped, sizeof mapped) == 0;
    inet_ntop(four ? AF_INET : AF_INET6, four ? end + 12 : end, address, sizeof address);
    const char *text = arena_printf(&e->w->arena, four ? "%s:%u" : "[%s]:%u", address, port);
    e->failed |= !text;
    return text;
}

static bool tcp_far(struct waits_ends *e, int32_t pid, uint64_t ino, struct waits_far *far) {
    read_tcp(e, pid);
    uint32_t i = hash_map_get(&e->tcp_by_ino, ino);
    if (i == HASH_ABSENT)
        return false;
    struct waits_tcp row = e->tcp.items[i];
    uint8_t turned[sizeof row.ends];
    far->kind = "TCP";
    far->listens = row.listens;
    far->address = end_text(e, row.ends + (row.listens ? 0 : END));
    memcpy(turned, row.ends + END, END);
    memcpy(turned + END, row.ends, END);
    uint32_t other =
        row.listens ? HASH_ABSENT : hash_map_get(&e->tcp_by_ends, hash_bytes(turned, sizeof turned));
    if (other != HASH_ABSENT && memcmp(e->tcp.items[other].ends, turned, sizeof turned) == 0)
        count_holders(e, e->tcp.items[other].ino, true, true, pid, far);
    return true;
}

/* ---- unix sockets ---- */

static void read_unix(struct waits_ends *e) {
    struct err why = ERR_INIT;
    e->unix_known = true;
    if (!e->proc->unix_sockets(e->proc->ctx, &e->unix_sockets, &why))
        e->failed |= why.code == ERR_MEMORY;
    for (size_t i = 0; i < e->unix_sockets.count; i++)
        e->failed |= !hash_map_set(&e->unix_by_ino, e->unix_sockets.items[i].ino, (uint32_t)i);
}

static bool unix_far(struct waits_ends *e, int32_t pid, uint64_t ino, struct waits_far *far) {
    if (!e->unix_known)
        read_unix(e);
    uint32_t i = hash_map_get(&e->unix_by_ino, ino);
    if (i == HASH_ABSENT)
        return false;
    const struct os_unix_socket *s = &e->unix_sockets.items[i], *named = s;
    uint32_t other = s->peer_ino ? hash_map_get(&e->unix_by_ino, s->peer_ino) : HASH_ABSENT;
    if (!s->name[0] && other != HASH_ABSENT)
        named = &e->unix_sockets.items[other];
    far->kind = "unix";
    far->listens = !s->peer_ino && s->name[0];
    far->address = named->name[0]
                       ? arena_strndup(&e->w->arena, named->name, strnlen(named->name, sizeof named->name))
                       : NULL;
    if (s->peer_ino)
        count_holders(e, s->peer_ino, true, true, pid, far);
    return true;
}

struct waits_far waits_ends_far(struct waits_ends *e, uint32_t thread, const struct waits_object *o,
                                bool reading) {
    struct waits_far far = {0};
    int32_t pid = e->w->threads.items[thread].pid;
    if (!e->holders_known)
        find_holders(e);
    if (o->kind == WAITS_OBJECT_PIPE)
        count_holders(e, o->ino, false, reading, pid, &far);
    else if (o->kind == WAITS_OBJECT_SOCKET && !unix_far(e, pid, o->ino, &far))
        tcp_far(e, pid, o->ino, &far);
    return far;
}
