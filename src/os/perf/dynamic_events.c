/* SPDX-License-Identifier: Apache-2.0 */
#include "os/perf/dynamic_events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "os/proc/host.h"
#include "os/sysfs.h"

static const char *const ROOTS[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
static const char *const NAMES[] = {"uprobe_events", "kprobe_events"};
static const char *const OPTIONS[] = {"CONFIG_UPROBE_EVENTS", "CONFIG_KPROBE_EVENTS"};

/* Why the list cannot be opened, and what to do. */
static bool explain(enum os_dynamic_kind kind, const char *path, int errnum, struct err *err) {
    if (errnum == EACCES || errnum == EPERM)
        return err_set(err, ERR_PERMISSION, path, "%s",
                       os_host_root() ? "is closed even to root: a locked-down kernel (kernel_lockdown(7))?"
                                      : "is closed to this user: run as root");
    if (errnum != ENOENT)
        return err_errno(err, errnum, path, "cannot be opened");
    if (access(ROOTS[0], F_OK) != 0)
        return err_set(err, ERR_ABSENT, path,
                       "is not there: this kernel has no tracefs, or a container hides it");
    char events[64];
    snprintf(events, sizeof events, "%s/events", ROOTS[0]);
    if (access(events, F_OK) != 0)
        return err_set(err, ERR_ABSENT, path,
                       "is not there: run as root, which mounts tracefs, or sudo mount -t tracefs nodev "
                       "/sys/kernel/tracing");
    return err_set(err, ERR_ABSENT, path, "is not there: this kernel was built without %s", OPTIONS[kind]);
}

static int open_list(enum os_dynamic_kind kind, int flags, char path[64]) {
    int fd = -1;
    for (int try = 0; fd < 0 && try < 2; try++) {
        for (size_t i = 0; fd < 0 && i < 2; i++) {
            snprintf(path, 64, "%s/%s", ROOTS[i], NAMES[kind]);
            fd = open(path, flags | O_CLOEXEC);
            if (fd < 0 && errno != ENOENT)
                return fd;
        }
        if (fd < 0 && (try || !sysfs_system.mount_tracefs || !sysfs_system.mount_tracefs(&sysfs_system)))
            break;
    }
    if (fd < 0) {
        snprintf(path, 64, "%s/%s", ROOTS[0], NAMES[kind]);
        errno = ENOENT;
    }
    return fd;
}

static const char *system_read(const struct os_dynamic_events *e, enum os_dynamic_kind kind, struct arena *a,
                               struct err *err) {
    (void)e;
    char path[64];
    int fd = open_list(kind, O_RDONLY, path);
    if (fd < 0) {
        explain(kind, path, errno, err);
        return NULL;
    }
    close(fd);
    return sysfs_system.read(&sysfs_system, path, a, err);
}

/* Finds in the kernel's log why it refused a line:
 *   [  12.3] trace_uprobe: error: Invalid argument name
 *     Command: p:probe_a/main /a:0x1139 x=%xx
 */
static bool kernel_says(const char *line, char *to, size_t room) {
    struct arena a = ARENA_INIT;
    char path[64];
    const char *found = NULL;
    for (size_t i = 0; !found && i < 2; i++) {
        snprintf(path, sizeof path, "%s/error_log", ROOTS[i]);
        const char *log = sysfs_system.read(&sysfs_system, path, &a, NULL);
        for (const char *at = log; at && (at = strstr(at, "error: ")); at += 7) {
            const char *command = strstr(at, "Command: "), *next = strstr(at + 7, "error: ");
            if (command && (!next || command < next) && !strncmp(command + 9, line, strlen(line)))
                found = at + 7;
        }
    }
    if (found)
        snprintf(to, room, "%.*s", (int)strcspn(found, "\n"), found);
    arena_fini(&a);
    return found != NULL;
}

static bool system_write(const struct os_dynamic_events *e, enum os_dynamic_kind kind, const char *line,
                         struct err *err) {
    (void)e;
    char path[64], why[128];
    int fd = open_list(kind, O_WRONLY | O_APPEND, path); /* without O_APPEND all probes would go */
    if (fd < 0)
        return explain(kind, path, errno, err);
    size_t n = strlen(line);
    ssize_t done = write(fd, line, n);
    int errnum = done < 0 ? errno : EIO;
    close(fd);
    if (done == (ssize_t)n)
        return true;
    if (errnum == EBUSY)
        return err_set(err, ERR_IO, path, "the event is in use: end what records it first");
    if (errnum == EACCES || errnum == EPERM)
        return explain(kind, path, errnum, err);
    if ((errnum == EINVAL || errnum == EEXIST) && kernel_says(line, why, sizeof why))
        return err_set(err, ERR_USAGE, path, "the kernel refuses \"%s\": %s", line, why);
    return err_errno(err, errnum, path, "the kernel refuses \"%s\"", line);
}

const struct os_dynamic_events os_dynamic_events_system = {NULL, system_read, system_write};

/* ---- the fake ---- */

static const char *fake_read(const struct os_dynamic_events *e, enum os_dynamic_kind kind, struct arena *a,
                             struct err *err) {
    const struct os_dynamic_fake *f = e->ctx;
    const char *copy = arena_strndup(a, f->text[kind], strlen(f->text[kind]));
    if (!copy)
        err_memory(err, NAMES[kind]);
    return copy;
}

/* Removes the lines of an event. */
static bool fake_remove(char *text, const char *name) {
    bool any = false;
    for (char *at = text; *at;) {
        char *end = at + strcspn(at, "\n"), *next = *end ? end + 1 : end;
        size_t n = strlen(name);
        if (end - at > 2 && !strncmp(at + 2, name, n) && at[2 + n] == ' ') {
            memmove(at, next, strlen(next) + 1);
            any = true;
        } else {
            at = next;
        }
    }
    return any;
}

static bool fake_write(const struct os_dynamic_events *e, enum os_dynamic_kind kind, const char *line,
                       struct err *err) {
    struct os_dynamic_fake *f = e->ctx;
    size_t used = strlen(f->text[kind]);
    if (f->refuses)
        return err_set(err, ERR_USAGE, NAMES[kind], "the kernel refuses \"%s\"", line);
    if (line[0] == '-')
        return fake_remove(f->text[kind], line + 2) || err_errno(err, ENOENT, NAMES[kind], "no such probe");
    if (used + strlen(line) + 2 > sizeof f->text[kind])
        return err_errno(err, ENOSPC, NAMES[kind], "too many probes");
    snprintf(f->text[kind] + used, sizeof f->text[kind] - used, "%s\n", line);
    return true;
}

struct os_dynamic_events os_dynamic_events_fake(struct os_dynamic_fake *fake) {
    return (struct os_dynamic_events){fake, fake_read, fake_write};
}
