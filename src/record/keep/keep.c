/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/keep.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/log.h"
#include "format/perfdata/record.h"
#include "object/build_id.h"
#include "symbol/symbol_kept.h"

enum { PATH_ROOM = OS_MAPPING_NAME + 64 };
static const uint64_t JIT_KEY = (uint64_t)1 << 62; /* keys of processes, beside hashes */
static const char DELETED[] = " (deleted)";

static void let_go(struct record_keep *k) {
    for (size_t i = 0; i < k->held.count; i++)
        k->proc->unhold(k->proc->ctx, &k->held.items[i].held);
    vec_clear(&k->held);
}

void record_keep_fini(struct record_keep *k) {
    let_go(k);
    vec_fini(&k->held);
    vec_fini(&k->named);
    vec_fini(&k->copies);
    hash_map_fini(&k->seen);
    hash_map_fini(&k->tried);
    writer_fini(&k->entries);
    arena_fini(&k->arena);
}

static bool begins(struct bytes name, const char *with) {
    size_t n = strlen(with);
    return name.size >= n && memcmp(name.data, with, n) == 0;
}

static bool ends(struct bytes name, const char *with) {
    size_t n = strlen(with);
    return name.size >= n && memcmp(name.data + name.size - n, with, n) == 0;
}

/* --- copying --- */

static bool is_image(const struct perfdata_kept *k) {
    return k->kind == PERFDATA_KEPT_TABLES || k->kind == PERFDATA_KEPT_WHOLE;
}

/* What lies at a path, or was held, is still (or again) what was mapped. */
static bool is_proved(const struct perfdata_kept *k, struct bytes file) {
    struct object_build_id id;
    struct bytes want = {k->evidence.build_id, k->evidence.build_id_size};
    return !want.size ||
           (object_build_id_read(file, &id) && bytes_equal((struct bytes){id.bytes, id.size}, want));
}

/* Appends the entry of a file whose bytes these are. */
static void copy_bytes(struct record_keep *k, struct perfdata_kept *is, struct bytes file) {
    if (symbol_kept_encode(is, file, false, RECORD_KEEP_ALL_MAX - k->bytes, &k->entries))
        k->bytes += is->kept_size;
    else if (is->kept_size)
        k->left_out++;
}

static void copy_file(struct record_keep *k, struct perfdata_kept *is, const struct os_held *held,
                      uint64_t most) {
    struct os_identity now;
    struct os_image image;
    if (!k->proc->held_identity(k->proc->ctx, held, &now) || now.size > most) {
        k->left_out++;
        return;
    }
    /* Without a build-id only its state tells that nobody has written into it. */
    if (is_image(is) && !is->evidence.build_id_size &&
        (now.size != held->identity.size || now.mtime_ns != held->identity.mtime_ns))
        return;
    if (!k->proc->held_image(k->proc->ctx, held, most, &image, NULL))
        return;
    if (!is_image(is) || is_proved(is, image.bytes))
        copy_bytes(k, is, image.bytes);
    k->proc->release(k->proc->ctx, &image);
}

/* --- while recording --- */

/* At once; what has a name still is asked for it at the end. */
static void copy_now(struct record_keep *k, struct perfdata_kept *is, struct bytes name,
                     const struct os_held *held) {
    size_t from = k->entries.size;
    copy_file(k, is, held, RECORD_KEEP_FILE_MAX);
    const char *kept = k->entries.size > from && !ends(name, DELETED)
                           ? arena_strndup(&k->arena, (const char *)name.data, name.size)
                           : NULL;
    struct record_keep_copy *to = kept ? vec_push(&k->copies) : NULL;
    if (to)
        *to = (struct record_keep_copy){kept, is->pid, held->identity, from, k->entries.size};
}

/* Copies, holds or lets go of an opened file; `name` is kept. */
static void take(struct record_keep *k, struct perfdata_kept *is, struct bytes name, struct os_held *held) {
    const char *kept = NULL;
    struct record_kept_file *to = NULL;
    bool now = is_image(is) && held->where == OS_HELD_PASSING;
    bool later = !now && (!is_image(is) || held->where == OS_HELD_HERE);
    /* Held, it would keep its mount busy: it is opened again at the end. With a build-id a cache has it. */
    bool again = !now && !later && !is->evidence.build_id_size && is->evidence.has_state;
    is->name = name;
    if (now)
        copy_now(k, is, name, held);
    else if (later && k->held.count >= RECORD_KEEP_HELD_MAX)
        k->left_out++;
    else if (again && k->named.count >= RECORD_KEEP_NAMED_MAX)
        k->left_out++;
    else if ((later || again) && (kept = arena_strndup(&k->arena, (const char *)name.data, name.size)))
        to = later ? vec_push(&k->held) : vec_push(&k->named);
    if (to) {
        is->name = (struct bytes){(const uint8_t *)kept, name.size};
        *to = (struct record_kept_file){*is, *held};
    }
    if (!to || again)
        k->proc->unhold(k->proc->ctx, held);
}

static bool same_file(const struct os_held *h, const struct perfdata_file_state *s) {
    return h->identity.dev == s->dev && h->identity.ino == s->ino && h->identity.size == s->size &&
           h->identity.mtime_ns == s->mtime_ns && h->identity.ctime_ns == s->ctime_ns;
}

/* The kernel's link to what is mapped; without the right to follow it, or behind an overlay whose own file
 * systems it leads to, what has the name. Or else the program that the process runs, or what has the name
 * now that it has ended: the build-id proves it, or does not. */
static bool open_mapped(struct record_keep *k, const struct perfdata_mmap2 *m, struct bytes name,
                        struct os_held *held) {
    const struct os_proc *p = k->proc;
    int32_t pid = (int32_t)m->pid;
    char path[PATH_ROOM], exe[40];
    struct os_held by_name;
    bool has_name = !ends(name, DELETED);
    snprintf(path, sizeof path, "/proc/%u/map_files/%llx-%llx", m->pid, (unsigned long long)m->addr,
             (unsigned long long)(m->addr + m->len));
    bool linked = p->hold(p->ctx, path, pid, held, NULL);
    if (linked && (held->where != OS_HELD_ELSEWHERE || !has_name))
        return true;
    snprintf(path, sizeof path, "/proc/%u/root%.*s", m->pid, (int)name.size, (const char *)name.data);
    bool named = has_name && p->hold(p->ctx, path, pid, &by_name, NULL);
    if (linked) {
        bool same = named && by_name.identity.ino == held->identity.ino;
        if (named)
            p->unhold(p->ctx, same ? held : &by_name);
        if (same)
            *held = by_name;
        return true;
    }
    if (named)
        *held = by_name;
    snprintf(exe, sizeof exe, "/proc/%u/exe", m->pid);
    snprintf(path, sizeof path, "%.*s", (int)name.size, (const char *)name.data);
    return named || p->hold(p->ctx, exe, pid, held, NULL) ||
           (has_name && p->hold(p->ctx, path, pid, held, NULL));
}

/* Whether all is done for this file. */
static bool note_image(struct record_keep *k, const struct perfdata_mmap2 *m, struct bytes name,
                       const struct perfdata_evidence *evidence) {
    struct perfdata_kept is = {
        .kind = k->what == RECORD_KEEP_FULL ? PERFDATA_KEPT_WHOLE : PERFDATA_KEPT_TABLES, .pid = m->pid};
    struct os_held held;
    uint64_t key;
    if (m->has_build_id) {
        is.evidence.build_id_size = m->build_id_size <= sizeof m->build_id ? m->build_id_size : 0;
        memcpy(is.evidence.build_id, m->build_id, is.evidence.build_id_size);
    } else if (evidence) {
        is.evidence = *evidence;
        is.evidence.has_cookie = false; /* it may come later; the state is enough */
    }
    const struct perfdata_evidence *e = &is.evidence;
    if (e->build_id_size)
        key = hash_bytes(e->build_id, e->build_id_size);
    else if (e->has_state)
        key = hash_bytes(&e->state, sizeof e->state);
    else
        return true; /* nothing could prove it */
    if (hash_map_get(&k->seen, key & ~JIT_KEY) != HASH_ABSENT)
        return true;
    if (!open_mapped(k, m, name, &held))
        return false;
    if (!e->build_id_size && !same_file(&held, &e->state)) {
        k->proc->unhold(k->proc->ctx, &held);
        return false;
    }
    hash_map_set(&k->seen, key & ~JIT_KEY, 1);
    take(k, &is, name, &held);
    return true;
}

/* The process's number where it runs, which is the one that a JIT knows: the last of "NSpid:" in
 * proc_pid_status(5). */
static uint32_t inner_pid(const struct record_keep *k, uint32_t pid) {
    char path[40];
    struct writer text = writer_make(false);
    uint32_t inner = pid;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    if (k->proc->read(k->proc->ctx, path, &text, NULL)) {
        writer_u8(&text, 0);
        char *line = writer_ok(&text) ? strstr((char *)text.data, "\nNSpid:") : NULL;
        if (line) {
            line[1 + strcspn(line + 1, "\n")] = 0;
            char *last = strrchr(line, '\t');
            inner = last ? (uint32_t)strtoul(last, NULL, 10) : pid;
        }
    }
    writer_fini(&text);
    return inner;
}

/* Code without a file: its process may have written a map of it. It is looked for until it is there, but once
 * in a pass is enough: a JIT may have told of a thousand pieces of code by then. */
static void note_map(struct record_keep *k, const struct perfdata_mmap2 *m) {
    struct perfdata_kept is = {.kind = PERFDATA_KEPT_MAP, .pid = m->pid};
    char path[PATH_ROOM], name[40];
    struct os_held held;
    uint32_t pass_ms = (uint32_t)(k->pass_ns / 1000000) & INT32_MAX;
    if (hash_map_get(&k->seen, JIT_KEY | m->pid) != HASH_ABSENT ||
        (k->pass_ns && hash_map_get(&k->tried, m->pid) == pass_ms))
        return;
    hash_map_set(&k->tried, m->pid, pass_ms);
    snprintf(path, sizeof path, "/proc/%u/root/tmp/perf-%u.map", m->pid, inner_pid(k, m->pid));
    if (!k->proc->hold(k->proc->ctx, path, (int32_t)m->pid, &held, NULL))
        return;
    hash_map_set(&k->seen, JIT_KEY | m->pid, 1);
    int n = snprintf(name, sizeof name, "/tmp/perf-%u.map", m->pid);
    take(k, &is, (struct bytes){(const uint8_t *)name, (size_t)n}, &held);
}

static void note_jitdump(struct record_keep *k, const struct perfdata_mmap2 *m, struct bytes name) {
    struct perfdata_kept is = {.kind = PERFDATA_KEPT_JITDUMP, .pid = m->pid};
    struct os_held held;
    /* The program that the process runs next may put another file there. */
    uint64_t key = (hash_bytes(name.data, name.size) ^ hash_u64(m->pid) ^ hash_u64(m->ino)) & ~JIT_KEY;
    if (hash_map_get(&k->seen, key) != HASH_ABSENT || !open_mapped(k, m, name, &held))
        return;
    hash_map_set(&k->seen, key, 1);
    take(k, &is, name, &held);
}

/* perf-inject(1), jitdump-specification: a JIT maps its jit-PID.dump with PROT_EXEC to tell of it. */
static bool is_jitdump(struct bytes name) {
    const uint8_t *slash = name.size ? memrchr(name.data, '/', name.size) : NULL;
    size_t at = slash ? (size_t)(slash - name.data) + 1 : 0;
    struct bytes last = {name.data + at, name.size - at};
    return begins(last, "jit-") && ends(last, ".dump");
}

bool record_keep_note(struct record_keep *k, uint16_t misc, struct bytes body,
                      const struct perfdata_evidence *evidence) {
    static const char *const NO_FILE[] = {"//anon", "/dev/zero", "/anon_hugepage",
                                          "/SYSV",  "[anon",     "[heap]"};
    struct perfdata_raw raw = {.type = PERFDATA_RECORD_MMAP2,
                               .misc = misc,
                               .size = (uint32_t)body.size + PERFDATA_HEADER_SIZE,
                               .body = body};
    struct perfdata_record rec;
    if (!k->proc || k->what == RECORD_KEEP_NONE || !perfdata_record_decode(&raw, NULL, false, &rec, NULL))
        return true;
    const struct perfdata_mmap2 *m = &rec.mmap2;
    struct bytes name = {m->filename.data, bytes_text_len(m->filename)};
    perfdata_mmap2_settle(&rec.mmap2, false, false);
    if (m->pid == UINT32_MAX || !(m->prot & PROT_EXEC) || name.size >= OS_MAPPING_NAME)
        return true;
    for (size_t i = 0; i < sizeof NO_FILE / sizeof *NO_FILE; i++)
        if (begins(name, NO_FILE[i])) {
            note_map(k, m);
            return false;
        }
    if (is_jitdump(name)) {
        note_jitdump(k, m, name);
        return false;
    }
    return !begins(name, "/") || note_image(k, m, name, evidence);
}

/* --- at the end --- */

/* Whether whoever reads the recording will find what was mapped by its name. Without a build-id nothing else
 * finds it again once it is built anew, so it had better be here. */
static bool is_there(struct record_keep *k, const struct record_kept_file *f) {
    const struct os_proc *p = k->proc;
    const struct os_identity *was = &f->held.identity;
    struct os_identity now;
    struct os_image image;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%.*s", (int)f->is.name.size, (const char *)f->is.name.data);
    if (!f->is.evidence.build_id_size || !p->identity(p->ctx, path, &now, NULL))
        return false;
    if (now.dev == was->dev && now.ino == was->ino && now.size == was->size && now.mtime_ns == was->mtime_ns)
        return true;
    /* Another file, but perhaps the same code: overlays show other numbers, and copies are as good. */
    if (!p->image(p->ctx, path, RECORD_KEEP_LAST_FILE_MAX, &image, NULL))
        return false;
    bool same = is_proved(&f->is, image.bytes);
    p->release(p->ctx, &image);
    return same;
}

static bool has_ended(const struct record_keep *k, uint32_t pid) {
    char path[40];
    struct os_identity id;
    snprintf(path, sizeof path, "/proc/%u", pid);
    return !k->proc->identity(k->proc->ctx, path, &id, NULL);
}

/* Whether a reader will not find a map or a jitdump as it was when its process ended: it goes with it, or was
 * replaced. */
static bool goes(const struct record_keep *k, const struct record_kept_file *f) {
    const struct os_identity *was = &f->held.identity;
    char path[PATH_ROOM];
    struct os_identity now;
    snprintf(path, sizeof path, "/proc/%u/root%.*s", f->is.pid, (int)f->is.name.size,
             (const char *)f->is.name.data);
    return has_ended(k, f->is.pid) ||
           (f->is.kind == PERFDATA_KEPT_JITDUMP && (!k->proc->identity(k->proc->ctx, path, &now, NULL) ||
                                                    now.dev != was->dev || now.ino != was->ino));
}

/* What was not held, if its name still leads to it, here or where its process is. */
static void copy_named(struct record_keep *k, struct record_kept_file *f) {
    const struct os_proc *p = k->proc;
    int32_t pid = (int32_t)f->is.pid;
    char path[PATH_ROOM];
    for (int root = 0; root < 2; root++) {
        int n = root ? snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, (const char *)f->is.name.data)
                     : snprintf(path, sizeof path, "%s", (const char *)f->is.name.data);
        if (n >= (int)sizeof path || !p->hold(p->ctx, path, pid, &f->held, NULL))
            continue;
        bool same = same_file(&f->held, &f->is.evidence.state);
        if (same)
            copy_file(k, &f->is, &f->held, RECORD_KEEP_LAST_FILE_MAX);
        p->unhold(p->ctx, &f->held);
        if (same)
            break;
    }
}

/* Whether the file that was copied lies there still, here or where its process is, and was written into: what
 * it runs since then is not what was copied. */
static bool written_since(const struct record_keep *k, const struct record_keep_copy *c) {
    char path[PATH_ROOM];
    struct os_identity now;
    for (int root = 0; root < 2; root++) {
        int n = root ? snprintf(path, sizeof path, "/proc/%u/root%s", c->pid, c->name)
                     : snprintf(path, sizeof path, "%s", c->name);
        if (n < (int)sizeof path && k->proc->identity(k->proc->ctx, path, &now, NULL) &&
            now.dev == c->identity.dev && now.ino == c->identity.ino)
            return now.size != c->identity.size || now.mtime_ns != c->identity.mtime_ns;
    }
    return false;
}

/* The last ones first: what is after an entry moves. */
static void drop_written(struct record_keep *k) {
    for (size_t i = k->copies.count; i-- > 0;) {
        const struct record_keep_copy *c = &k->copies.items[i];
        if (!writer_ok(&k->entries) || !written_since(k, c))
            continue;
        memmove(k->entries.data + c->from, k->entries.data + c->to, k->entries.size - c->to);
        k->entries.size -= c->to - c->from;
    }
    vec_clear(&k->copies);
}

struct bytes record_keep_finish(struct record_keep *k) {
    drop_written(k);
    for (size_t i = 0; i < k->named.count; i++)
        copy_named(k, &k->named.items[i]);
    vec_clear(&k->named);
    for (size_t i = 0; i < k->held.count; i++) {
        struct record_kept_file *f = &k->held.items[i];
        if (is_image(&f->is) ? !is_there(k, f) : goes(k, f))
            copy_file(k, &f->is, &f->held, RECORD_KEEP_LAST_FILE_MAX);
    }
    if (k->left_out)
        log_line(LOG_INFO, "--keep: no room for %u files, which will have no names if they are deleted",
                 k->left_out);
    if (k->proc)
        let_go(k);
    return writer_ok(&k->entries) ? writer_bytes(&k->entries) : (struct bytes){0};
}
