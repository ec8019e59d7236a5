/* SPDX-License-Identifier: Apache-2.0 */
#include "os/proc/mounts.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/poller.h"

enum { NAMESPACES_MAX = 64, PATH_ROOM = OS_MAPPING_NAME };
static const uint64_t FRESH_NS = 1000000000;

/* The mounts of one namespace. */
struct table {
    uint64_t space; /* inode of the namespace */
    uint64_t read_ns;
    struct writer text; /* mountinfo */
};

struct os_mounts {
    pthread_mutex_t lock;
    uint64_t own; /* our namespace */
    int own_fd;   /* its mountinfo, which tells when it has changed: poll(2), proc_pid_mounts(5) */
    VEC(struct table) tables;
};

struct os_mounts *os_mounts_new(void) {
    struct os_mounts *m = calloc(1, sizeof *m);
    struct stat st;
    if (!m)
        return NULL;
    pthread_mutex_init(&m->lock, NULL);
    m->own = stat("/proc/self/ns/mnt", &st) == 0 ? st.st_ino : 0;
    m->own_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    return m;
}

void os_mounts_free(struct os_mounts *m) {
    if (!m)
        return;
    for (size_t i = 0; i < m->tables.count; i++)
        writer_fini(&m->tables.items[i].text);
    vec_fini(&m->tables);
    os_close(m->own_fd);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ---- a list ---- */

static struct bytes take(struct bytes *rest, uint8_t end) {
    const uint8_t *at = rest->size ? memchr(rest->data, end, rest->size) : NULL;
    struct bytes part = {rest->data, at ? (size_t)(at - rest->data) : rest->size};
    size_t step = part.size + (at != NULL);
    *rest = (struct bytes){rest->data + step, rest->size - step};
    return part;
}

static bool is_octal(const uint8_t *p) {
    return p[0] >= '0' && p[0] <= '3' && p[1] >= '0' && p[1] <= '7' && p[2] >= '0' && p[2] <= '7';
}

/* How much of `path` the mount point covers, which is written with \040 for a space and the like; 0: it does
 * not lie in it. */
static size_t covers(struct bytes point, struct bytes path) {
    size_t n = 0;
    for (size_t i = 0; i < point.size; n++) {
        uint8_t c = point.data[i++];
        if (c == '\\' && point.size - i >= 3 && is_octal(point.data + i)) {
            const uint8_t *o = point.data + i;
            c = (uint8_t)((o[0] - '0') << 6 | (o[1] - '0') << 3 | (o[2] - '0'));
            i += 3;
        }
        if (n >= path.size || path.data[n] != c)
            return 0;
    }
    bool root = n == 1;
    return root || n == path.size || path.data[n] == '/' ? n : 0;
}

/* "fuse", "fuse.sshfs", "fuseblk" (fuse(4)); an automounter's process is waited for alike. */
static bool may_stall(struct bytes type) {
    static const char *const TYPES[] = {"fuse", "autofs"};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++)
        if (type.size >= strlen(TYPES[i]) && memcmp(type.data, TYPES[i], strlen(TYPES[i])) == 0)
            return true;
    return false;
}

bool os_mounts_stall_in(struct bytes mountinfo, struct bytes path) {
    size_t longest = 0;
    bool stall = false;
    while (mountinfo.size) {
        struct bytes line = take(&mountinfo, '\n'), point, field;
        for (int i = 0; i < 4; i++) /* id, parent, device, root */
            take(&line, ' ');
        point = take(&line, ' ');
        do /* options, and optional fields up to "-" */
            field = take(&line, ' ');
        while (line.size && !(field.size == 1 && field.data[0] == '-'));
        size_t n = covers(point, path);
        /* Of two at the same place the later one hides the other. */
        if (n && n >= longest) {
            longest = n;
            stall = may_stall(take(&line, ' '));
        }
    }
    return stall;
}

/* ---- the running system's ---- */

/* The number in "/proc/NUMBER/", what follows in *rest; 0: no such path. */
static unsigned long process_of(const char *path, const char **rest) {
    char *end;
    if (strncmp(path, "/proc/", 6) != 0 || path[6] < '1' || path[6] > '9')
        return 0;
    unsigned long pid = strtoul(path + 6, &end, 10);
    *rest = end + 1;
    return *end == '/' ? pid : 0;
}

/* The file's own name, in `room` or `path` itself; NULL: it is no other file system's than /proc's. */
static const char *name_of(const char *path, unsigned long pid, const char *rest, char room[PATH_ROOM]) {
    if (!pid)
        return strncmp(path, "/proc/", 6) == 0 ? NULL : path;
    if (strncmp(rest, "root/", 5) == 0)
        return rest + 4;
    if (strncmp(rest, "map_files/", 10) != 0 && strcmp(rest, "exe") != 0)
        return NULL;
    ssize_t n = readlink(path, room, PATH_ROOM - 1); /* asks nobody but the kernel */
    room[n > 0 ? n : 0] = 0;
    return n > 0 ? room : NULL;
}

static struct table *table_of(struct os_mounts *m, uint64_t space) {
    for (size_t i = 0; i < m->tables.count; i++)
        if (m->tables.items[i].space == space)
            return &m->tables.items[i];
    if (m->tables.count == NAMESPACES_MAX) { /* the first one is ours, and stays */
        struct table *last = &m->tables.items[NAMESPACES_MAX - 1];
        last->space = space;
        last->read_ns = 0;
        return last;
    }
    struct table *t = vec_push(&m->tables);
    if (t)
        *t = (struct table){.space = space, .text = writer_make(false)};
    return t;
}

/* To hold another namespace's list open would keep the namespace; so that is read again after a while. */
static bool is_fresh(struct os_mounts *m, const struct table *t, uint64_t now_ns) {
    struct pollfd changed = {.fd = m->own_fd, .events = POLLPRI};
    if (!t->read_ns)
        return false;
    if (t->space != m->own || m->own_fd < 0)
        return now_ns - t->read_ns < FRESH_NS;
    return poll(&changed, 1, 0) == 0;
}

/* The mounts that the process sees, ours if it has ended. NULL: they cannot be had. */
static struct table *mounts_of(struct os_mounts *m, unsigned long pid) {
    char path[40];
    struct stat st;
    uint64_t space = m->own, now = os_clock_ns();
    snprintf(path, sizeof path, "/proc/%lu/ns/mnt", pid);
    if (pid && stat(path, &st) == 0)
        space = st.st_ino;
    struct table *t = table_of(m, space);
    if (!t || is_fresh(m, t, now))
        return t;
    if (space == m->own)
        snprintf(path, sizeof path, "/proc/self/mountinfo");
    else
        snprintf(path, sizeof path, "/proc/%lu/mountinfo", pid);
    writer_clear(&t->text);
    bool ok = os_proc_system.read(NULL, path, &t->text, NULL) && writer_ok(&t->text);
    t->read_ns = ok ? now : 0; /* what has changed is told once: without the list of it, it is read again */
    return ok ? t : NULL;
}

bool os_mounts_stall(struct os_mounts *m, const char *path) {
    char room[PATH_ROOM];
    const char *rest = path;
    unsigned long pid = process_of(path, &rest);
    const char *name = name_of(path, pid, rest, room);
    if (!name)
        return false;
    pthread_mutex_lock(&m->lock);
    struct table *t = mounts_of(m, pid);
    bool stall =
        t && os_mounts_stall_in(writer_bytes(&t->text), (struct bytes){(const uint8_t *)name, strlen(name)});
    pthread_mutex_unlock(&m->lock);
    return stall;
}

struct os_proc os_proc_wary(struct os_mounts *m) {
    struct os_proc wary = os_proc_system;
    wary.ctx = m;
    return wary;
}
