/* SPDX-License-Identifier: Apache-2.0 */
#include "events/tracepoint.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc/host.h"

enum { PATH_ROOM = 512 };

void tracepoint_set_init(struct tracepoint_set *s, const struct sysfs *sys) {
    *s = (struct tracepoint_set){.sys = sys};
}

void tracepoint_set_fini(struct tracepoint_set *s) {
    vec_fini(&s->systems);
    arena_fini(&s->arena);
}

static const char MOUNT[] = "/sys/kernel/tracing";

/* What is there of tracefs, and who may see it; "$(id -g)" is for the shell that takes the advice. Only the
 * mount's group opens the files in it: a mode alone lets them be listed, and not read. */
static bool explain(const struct tracepoint_set *s, const struct err *why, struct err *err) {
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    struct err none = ERR_INIT;
    bool root = os_host_root();
    if (why->code != ERR_ABSENT && why->code != ERR_PERMISSION) {
        if (err)
            *err = *why;
        return false;
    }
    if (why->code == ERR_PERMISSION && !strncmp(why->where, MOUNT, sizeof MOUNT - 1))
        return err_set(err, ERR_PERMISSION, MOUNT, "%s",
                       root ? "tracefs is closed even to root: a locked-down kernel (kernel_lockdown(7))?"
                            : "tracefs is mounted but closed to this user: run as root, or sudo mount -o "
                              "remount,mode=750,gid=$(id -g) /sys/kernel/tracing");
    bool there = s->sys->list(s->sys, MOUNT, &scratch, &names, &none) || none.code != ERR_ABSENT;
    arena_fini(&scratch);
    if (!there)
        return err_set(err, ERR_ABSENT, MOUNT,
                       "there are no tracepoints: this kernel has no tracefs, or a container hides it");
    if (!root)
        return err_set(err, ERR_ABSENT, MOUNT,
                       "tracefs is not mounted: run as root, which mounts it, or sudo mount -t tracefs -o "
                       "mode=750,gid=$(id -g) nodev /sys/kernel/tracing");
    return err_set(err, ERR_ABSENT, MOUNT,
                   s->mounts
                       ? "tracefs is not mounted, and mounting it is not allowed: outside of this "
                         "container, mount -t tracefs nodev /sys/kernel/tracing"
                       : "tracefs is not mounted: record and list do it, once a tracepoint is asked for");
}

/* As the full names "system:event" are ordered: the end of a name counts as the colon that follows it. */
static int by_full_name(const void *a, const void *b) {
    const char *x = ((const struct tracepoint_system *)a)->name,
               *y = ((const struct tracepoint_system *)b)->name;
    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (*x ? *x : ':') - (*y ? *y : ':');
}

/* Both places are tried: the second is where tracefs was before it had a mount point of its own. */
static bool look_for_root(struct tracepoint_set *s, struct err *err) {
    static const char *const ROOTS[] = {"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};
    struct err why = ERR_INIT, first = ERR_INIT;
    if (s->root)
        return true;
    for (size_t i = 0; i < 2; i++) {
        struct sysfs_names names;
        if (s->sys->list(s->sys, ROOTS[i], &s->arena, &names, &why)) {
            if (!vec_reserve(&s->systems, names.count))
                return err_memory(err, ROOTS[i]);
            for (size_t j = 0; j < names.count; j++)
                vec_push(&s->systems)->name = names.items[j];
            if (s->systems.count)
                qsort(s->systems.items, s->systems.count, sizeof *s->systems.items, by_full_name);
            s->root = ROOTS[i];
            return true;
        }
        if (i == 0 || why.code != ERR_ABSENT)
            first = first.code == ERR_PERMISSION ? first : why;
    }
    *err = first;
    return false;
}

static bool find_root(struct tracepoint_set *s, struct err *err) {
    struct err why = ERR_INIT;
    if (look_for_root(s, &why))
        return true;
    if (why.code == ERR_ABSENT && s->mounts && s->sys->mount_tracefs && s->sys->mount_tracefs(s->sys) &&
        look_for_root(s, &why))
        return true;
    return explain(s, &why, err);
}

bool tracepoint_systems(struct tracepoint_set *s, struct err *err) {
    return find_root(s, err);
}

bool tracepoint_events(struct tracepoint_set *s, struct tracepoint_system *system, struct err *err) {
    char path[PATH_ROOM];
    struct err why = ERR_INIT;
    if (system->read)
        return true;
    snprintf(path, sizeof path, "%s/%s", s->root, system->name);
    /* "enable", "header_page" and the like are files beside the systems. */
    if (!s->sys->list(s->sys, path, &s->arena, &system->events, &why)) {
        if (why.code == ERR_MEMORY || why.code == ERR_PERMISSION)
            return explain(s, &why, err);
        system->events = (struct sysfs_names){NULL, 0};
    }
    system->read = true;
    return true;
}

bool tracepoint_id(struct tracepoint_set *s, const char *system, const char *event, uint64_t *id,
                   struct err *err) {
    char path[PATH_ROOM];
    struct err why = ERR_INIT;
    if (!find_root(s, err))
        return false;
    if (snprintf(path, sizeof path, "%s/%s/%s/id", s->root, system, event) >= (int)sizeof path)
        return err_set(err, ERR_ABSENT, "", "no tracepoint has so long a name");
    const char *t = s->sys->read(s->sys, path, &s->arena, &why);
    if (!t && why.code == ERR_PERMISSION)
        return explain(s, &why, err);
    if (!t)
        return err_set(err, ERR_ABSENT, path, "unknown tracepoint %s:%s", system, event);
    char *end;
    *id = strtoull(t, &end, 10);
    if (!isdigit((unsigned char)*t) || *end)
        return err_set(err, ERR_BROKEN, path, "%s holds no number", path);
    return true;
}
