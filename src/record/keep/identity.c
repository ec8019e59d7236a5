/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/identity.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "object/build_id.h"
#include "object/cookie.h"

enum {
    FILES_MAX = 1 << 14,
    PATH_ROOM = OS_MAPPING_NAME + 64,
    /* Files that are looked into while recording goes on. */
    AT_ONCE_BYTES_MAX = 64 << 20,
};
static const int64_t CLOCK_GRAIN_NS = 20000000; /* ctimes come from a clock that ticks: timer interrupts */
static const char DELETED[] = " (deleted)";

void record_identities_fini(struct record_identities *ids) {
    vec_fini(&ids->list);
    hash_map_fini(&ids->seen);
    arena_fini(&ids->arena);
}

static bool begins(struct bytes name, const char *with) {
    size_t n = strlen(with);
    return name.size >= n && memcmp(name.data, with, n) == 0;
}

static bool is_deleted(struct bytes name) {
    size_t n = sizeof DELETED - 1;
    return name.size > n && memcmp(name.data + name.size - n, DELETED, n) == 0;
}

/* Code of a file, and nothing known of the file. */
static bool concerns_us(const struct perfdata_mmap2 *m, struct bytes name) {
    return !m->has_build_id && m->pid != UINT32_MAX && m->prot & PROT_EXEC && m->ino &&
           name.size < OS_MAPPING_NAME && begins(name, "/") && !begins(name, "//anon") &&
           !begins(name, "/dev/zero") && !begins(name, "/anon_hugepage") && !begins(name, "/SYSV");
}

enum where { MAPPED_STILL, MAPPED_NO_MORE, MAPPED_UNKNOWN };

/* The range of the mapping as it is now, which is what /proc/PID/map_files names it by: mappings grow
 * together, and are split. MAPPED_UNKNOWN: this kernel cannot be asked, or not by us. */
static enum where range_now(struct record_identities *ids, const struct perfdata_mmap2 *m, uint64_t *start,
                            uint64_t *end) {
    struct os_mapping now;
    int handle = ids->proc->maps_open(ids->proc->ctx, (int32_t)m->pid);
    *start = m->addr;
    *end = m->addr + m->len;
    if (handle < 0)
        return MAPPED_UNKNOWN;
    int got = ids->proc->maps_next(ids->proc->ctx, handle, m->addr, false, &now);
    ids->proc->maps_close(ids->proc->ctx, handle);
    if (got < 0)
        return MAPPED_UNKNOWN;
    if (!got || now.start > m->addr || now.ino != m->ino || now.maj != m->maj || now.min != m->min)
        return MAPPED_NO_MORE;
    *start = now.start;
    *end = now.end;
    return MAPPED_STILL;
}

/* A time stamp of before the mapping was made. */
static bool is_older(const struct record_identities *ids, int64_t ns) {
    return ns < ids->since_ns - CLOCK_GRAIN_NS;
}

/*
 * Whether a file that is mapped still has the content that it had when it was mapped: written into since, it
 * changes what the process runs, and no event tells of it. Its ctime does not matter: it may have been
 * removed or renamed. The program that a process runs cannot be written into (ETXTBSY, execve(2)); its device
 * is not compared, because of overlays.
 */
static bool is_content_same(const struct record_identities *ids, const struct perfdata_mmap2 *m,
                            const struct os_identity *id) {
    struct os_identity exe;
    char path[40];
    if (!ids->since_ns || is_older(ids, id->mtime_ns)) /* 0: what ran before, which is told of as it is now */
        return true;
    snprintf(path, sizeof path, "/proc/%u/exe", m->pid);
    return ids->proc->identity(ids->proc->ctx, path, &exe, NULL) && exe.ino == id->ino &&
           exe.size == id->size && exe.mtime_ns == id->mtime_ns;
}

/*
 * Finds the file that is mapped: its state and a path by which it can be opened now. The kernel's own link
 * leads to it, unless something else has been mapped at its place since. Without the right to follow that, or
 * after the process has ended, there is the name, if the file there has the same inode number. Those are used
 * again, but not as long as the file is mapped; once it is not, the file must have been there, unchanged,
 * since before it was mapped.
 */
static bool find_file(struct record_identities *ids, const struct perfdata_mmap2 *m, struct bytes name,
                      char path[PATH_ROOM], struct os_identity *id) {
    const struct os_proc *p = ids->proc;
    uint64_t start, end, again;
    enum where where = range_now(ids, m, &start, &end);
    snprintf(path, PATH_ROOM, "/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)start,
             (unsigned long long)end);
    /* Asked before and after: it may go in between. */
    if (where != MAPPED_NO_MORE && p->identity(p->ctx, path, id, NULL) &&
        (where == MAPPED_UNKNOWN ? id->ino == m->ino : range_now(ids, m, &again, &again) == MAPPED_STILL))
        return is_content_same(ids, m, id);
    if (is_deleted(name))
        return false;
    bool mapped = where == MAPPED_STILL;
    snprintf(path, PATH_ROOM, "/proc/%u/root%.*s", m->pid, (int)name.size, (const char *)name.data);
    if (p->identity(p->ctx, path, id, NULL))
        return id->ino == m->ino && (mapped ? is_content_same(ids, m, id) : is_older(ids, id->ctime_ns));
    /* The process has ended; its root may have been another one than ours. */
    snprintf(path, PATH_ROOM, "%.*s", (int)name.size, (const char *)name.data);
    return p->identity(p->ctx, path, id, NULL) && id->ino == m->ino && id->dev == makedev(m->maj, m->min) &&
           is_older(ids, id->ctime_ns);
}

bool record_identity_build_id(const struct os_proc *proc, const char *path, struct os_build_id *out) {
    static const uint64_t STEPS[] = {64 << 10, UINT64_MAX}; /* nearly always at the beginning */
    struct object_build_id id;
    *out = (struct os_build_id){0};
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        struct os_image image;
        if (!proc->image(proc->ctx, path, STEPS[i], &image, NULL))
            return false;
        bool all = image.bytes.size < STEPS[i], found = object_build_id_read(image.bytes, &id);
        proc->release(proc->ctx, &image);
        if (found && id.size <= sizeof out->bytes) {
            out->size = id.size;
            memcpy(out->bytes, id.bytes, id.size);
        }
        if (found || all)
            break;
    }
    return true;
}

static void look_into(struct record_identities *ids, const char *path, bool cookie,
                      struct perfdata_evidence *e) {
    struct os_build_id id;
    struct os_image image;
    if (!record_identity_build_id(ids->proc, path, &id))
        return;
    e->build_id_size = id.size;
    memcpy(e->build_id, id.bytes, id.size);
    if (id.size || !cookie || !ids->proc->image(ids->proc->ctx, path, UINT64_MAX, &image, NULL))
        return;
    e->has_cookie = object_cookie_read(image.bytes, e->cookie);
    ids->proc->release(ids->proc->ctx, &image);
}

const struct perfdata_evidence *record_identities_note(struct record_identities *ids, uint16_t misc,
                                                       struct bytes body) {
    struct perfdata_raw raw = {.type = PERFDATA_RECORD_MMAP2,
                               .misc = misc,
                               .size = (uint32_t)body.size + PERFDATA_HEADER_SIZE,
                               .body = body};
    struct perfdata_record rec;
    struct os_identity id;
    char path[PATH_ROOM];
    if (!ids->proc || !perfdata_record_decode(&raw, NULL, false, &rec, NULL))
        return NULL;
    const struct perfdata_mmap2 *m = &rec.mmap2;
    struct bytes name = {m->filename.data, bytes_text_len(m->filename)};
    perfdata_mmap2_settle(&rec.mmap2, false, false);
    if (!concerns_us(m, name) || !find_file(ids, m, name, path, &id))
        return NULL;
    uint64_t words[5] = {id.dev, id.ino, id.size, (uint64_t)id.mtime_ns, (uint64_t)id.ctime_ns};
    uint64_t key = hash_bytes(name.data, name.size) ^ hash_bytes(words, sizeof words);
    uint32_t at = hash_map_get(&ids->seen, key);
    if (at != HASH_ABSENT)
        return &ids->list.items[at].evidence;
    const char *kept = arena_strndup(&ids->arena, (const char *)name.data, name.size);
    struct record_identity *to = kept && ids->list.count < FILES_MAX ? vec_push(&ids->list) : NULL;
    if (!to)
        return NULL;
    *to = (struct record_identity){
        .name = kept,
        .pid = (int32_t)m->pid,
        .last_chance = is_deleted(name),
        .evidence = {.has_state = true, .state = {id.dev, id.ino, id.size, id.mtime_ns, id.ctime_ns}},
    };
    look_into(ids, path, to->last_chance && id.size <= AT_ONCE_BYTES_MAX, &to->evidence);
    struct os_identity now;
    if (ids->proc->identity(ids->proc->ctx, path, &now, NULL) &&
        (now.size != id.size || now.mtime_ns != id.mtime_ns)) {
        ids->list.count--; /* written into while it was being read */
        return NULL;
    }
    if (to->evidence.build_id_size && ids->build_ids)
        record_build_ids_add(ids->build_ids, PERFDATA_MISC_USER,
                             (struct bytes){to->evidence.build_id, to->evidence.build_id_size}, name);
    hash_map_set(&ids->seen, key, (uint32_t)ids->list.count - 1);
    return &to->evidence;
}

static bool unchanged(struct record_identities *ids, const char *path,
                      const struct perfdata_file_state *was) {
    struct os_identity now;
    return ids->proc->identity(ids->proc->ctx, path, &now, NULL) && now.dev == was->dev &&
           now.ino == was->ino && now.size == was->size && now.mtime_ns == was->mtime_ns &&
           now.ctime_ns == was->ctime_ns;
}

void record_identities_finish(struct record_identities *ids, struct writer *w) {
    char path[PATH_ROOM];
    for (size_t i = 0; i < ids->list.count; i++) {
        struct record_identity *id = &ids->list.items[i];
        struct perfdata_evidence *e = &id->evidence;
        if (!id->last_chance && !e->build_id_size) {
            bool same = unchanged(ids, id->name, &e->state);
            snprintf(path, sizeof path, "/proc/%d/root%s", (int)id->pid, id->name);
            if (same)
                look_into(ids, id->name, true, e);
            else if (unchanged(ids, path, &e->state))
                look_into(ids, path, true, e);
            /* What changed while it was being read proves nothing. */
            if (e->has_cookie && !unchanged(ids, same ? id->name : path, &e->state))
                e->has_cookie = false;
        }
        perfdata_image_evidence_encode((struct bytes){(const uint8_t *)id->name, strlen(id->name)}, e, w);
    }
}
