/* SPDX-License-Identifier: Apache-2.0 */
#include "record/keep/kcore.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/kallsyms/kallsyms.h"
#include "format/modules/modules.h"
#include "os/files/files.h"
#include "os/files/place.h"
#include "os/poller.h"
#include "os/rights.h"
#include "os/sysfs.h"

enum { PAGE = 4096, PATH_ROOM = 8192, SEGMENTS_MAX = 1 << 12, CHUNK = 256 << 10, BANNER_BYTES = 512 };
static const uint64_t COPY_MAX = 1 << 30; /* a kernel's code has some tens of MiB */

struct range {
    uint64_t start, end; /* the end is not part of it */
};

/* Where a piece of memory lies in the file. */
struct segment {
    uint64_t vaddr, offset, size;
};

struct plan {
    VEC(struct range) wanted;
    VEC(struct segment) segments; /* that the file has */
    VEC(struct segment) pieces;   /* of them, that are copied */
    uint16_t machine;
    uint32_t flags;
    bool swap;
};

static void plan_fini(struct plan *p) {
    vec_fini(&p->wanted);
    vec_fini(&p->segments);
    vec_fini(&p->pieces);
}

/* ---- what is wanted ---- */

struct landmarks {
    uint64_t start, end, notes, notes_end, banner; /* 0: not listed */
};

static bool is_named(const struct kallsyms_symbol *s, const char *name) {
    return !s->module.size && s->name.size == strlen(name) && memcmp(s->name.data, name, s->name.size) == 0;
}

static struct landmarks find_landmarks(struct bytes kallsyms) {
    struct landmarks l = {0};
    struct kallsyms_symbol s;
    while (kallsyms_next(&kallsyms, &s)) {
        if (!l.start && (is_named(&s, "_text") || is_named(&s, "_stext")))
            l.start = s.address;
        else if (is_named(&s, "_etext"))
            l.end = s.address;
        else if (is_named(&s, "__start_notes"))
            l.notes = s.address;
        else if (is_named(&s, "__stop_notes"))
            l.notes_end = s.address;
        else if (is_named(&s, "linux_banner"))
            l.banner = s.address;
    }
    return l;
}

static bool want(struct plan *p, uint64_t start, uint64_t end) {
    struct range *last = p->wanted.count ? &p->wanted.items[p->wanted.count - 1] : NULL;
    start &= ~(uint64_t)(PAGE - 1);
    end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    if (end <= start)
        return true;
    if (last && start >= last->start && start <= last->end) { /* lists are nearly sorted */
        last->end = end > last->end ? end : last->end;
        return true;
    }
    struct range *r = vec_push(&p->wanted);
    if (r)
        *r = (struct range){start, end};
    return r;
}

static int by_start(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void merge(struct plan *p) {
    size_t to = 0;
    if (p->wanted.count)
        qsort(p->wanted.items, p->wanted.count, sizeof *p->wanted.items, by_start);
    for (size_t i = 1; i < p->wanted.count; i++) {
        struct range *last = &p->wanted.items[to], next = p->wanted.items[i];
        if (next.start > last->end)
            p->wanted.items[++to] = next;
        else if (next.end > last->end)
            last->end = next.end;
    }
    p->wanted.count = p->wanted.count ? to + 1 : 0;
}

/* Code beyond what modules' sizes cover, since Linux 6.4 their init code among it; a function reaches into
 * the next page at most, or is known by those that follow it. */
static bool want_listed(struct plan *p, struct bytes kallsyms) {
    struct kallsyms_symbol s;
    bool ok = true;
    while (ok && kallsyms_next(&kallsyms, &s))
        if (s.module.size && strchr("tTwW", s.type) && s.address)
            ok = want(p, s.address, s.address + PAGE);
    return ok;
}

static bool plan_ranges(const struct record_kcore *k, struct plan *p, struct err *err) {
    const struct landmarks l = find_landmarks(writer_bytes(&k->kallsyms));
    struct bytes modules = writer_bytes(&k->modules);
    struct modules_entry m;
    bool ok = want(p, l.start, l.end) && want(p, l.notes, l.notes_end) &&
              (!l.banner || want(p, l.banner, l.banner + BANNER_BYTES));
    while (ok && modules_next(&modules, &m))
        ok = !m.address || m.size > COPY_MAX || want(p, m.address, m.address + m.size);
    ok = ok && want_listed(p, writer_bytes(&k->kallsyms));
    merge(p);
    return ok || err_memory(err, "kcore");
}

/* ---- where it lies ---- */

static bool read_all(const struct os_core *core, uint64_t at, uint8_t *to, size_t n) {
    while (n) {
        int64_t got = core->read(core->ctx, at, to, n);
        if (got <= 0)
            return false;
        at += (uint64_t)got;
        to += got;
        n -= (size_t)got;
    }
    return true;
}

static bool read_segments(const struct os_core *core, uint64_t at, uint32_t count, struct plan *p,
                          struct err *err) {
    for (uint32_t i = 0; i < count; i++) {
        uint8_t raw[sizeof(Elf64_Phdr)];
        if (!read_all(core, at + i * sizeof raw, raw, sizeof raw))
            return err_set(err, ERR_BROKEN, "kcore", "its program headers are cut");
        struct cursor c = cursor_make((struct bytes){raw, sizeof raw}, p->swap);
        uint32_t type = cursor_u32(&c);
        cursor_u32(&c); /* flags */
        struct segment s = {.offset = cursor_u64(&c)};
        s.vaddr = cursor_u64(&c);
        cursor_u64(&c); /* physical address */
        s.size = cursor_u64(&c);
        struct segment *slot = type == PT_LOAD ? vec_push(&p->segments) : NULL;
        if (type == PT_LOAD && !slot)
            return err_memory(err, "kcore");
        if (slot)
            *slot = s;
    }
    return true;
}

/* gABI, chapter 4: the ELF header of 64 bits. */
static bool plan_segments(const struct os_core *core, struct plan *p, struct err *err) {
    uint8_t raw[sizeof(Elf64_Ehdr)];
    if (!read_all(core, 0, raw, sizeof raw) || memcmp(raw, ELFMAG, SELFMAG) != 0)
        return err_set(err, ERR_BROKEN, "kcore", "it is not an ELF file");
    p->swap = (raw[EI_DATA] == ELFDATA2MSB) != BYTES_HOST_BIG;
    struct cursor c = cursor_make((struct bytes){raw, sizeof raw}, p->swap);
    cursor_take(&c, EI_NIDENT);
    uint16_t type = cursor_u16(&c);
    p->machine = cursor_u16(&c);
    cursor_u32(&c); /* version */
    cursor_u64(&c); /* entry */
    uint64_t at = cursor_u64(&c);
    cursor_u64(&c); /* sections */
    p->flags = cursor_u32(&c);
    cursor_u16(&c); /* size of this header */
    uint16_t size = cursor_u16(&c), count = cursor_u16(&c);
    if (raw[EI_CLASS] != ELFCLASS64 || type != ET_CORE || size != sizeof(Elf64_Phdr) || count > SEGMENTS_MAX)
        return err_set(err, ERR_UNSUPPORTED, "kcore", "it is no copy of a 64-bit kernel's memory");
    return read_segments(core, at, count, p, err);
}

/* The segment that has `at`, or the next one above it; NULL: there is none. */
static const struct segment *segment_from(const struct plan *p, uint64_t at) {
    const struct segment *next = NULL;
    for (size_t i = 0; i < p->segments.count; i++) {
        const struct segment *s = &p->segments.items[i];
        if (at - s->vaddr < s->size)
            return s;
        if (s->vaddr > at && s->size && (!next || s->vaddr < next->vaddr))
            next = s;
    }
    return next;
}

static bool plan_pieces(struct plan *p, struct err *err) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < p->wanted.count; i++) {
        uint64_t at = p->wanted.items[i].start, end = p->wanted.items[i].end;
        while (at < end) {
            const struct segment *s = segment_from(p, at);
            if (!s || s->vaddr >= end)
                break;
            at = at > s->vaddr ? at : s->vaddr;
            uint64_t skip = at - s->vaddr, left = s->size - skip, n = end - at < left ? end - at : left;
            if (bytes + n > COPY_MAX)
                return err_set(err, ERR_UNSUPPORTED, "kcore", "there is too much of it to be copied");
            struct segment *piece = vec_push(&p->pieces);
            if (!piece)
                return err_memory(err, "kcore");
            *piece = (struct segment){at, s->offset + skip, n};
            bytes += n;
            at += n;
        }
    }
    return true;
}

static bool plan_all(const struct record_kcore *k, struct plan *p, struct err *err) {
    *p = (struct plan){.machine = 0};
    uint64_t start = find_landmarks(writer_bytes(&k->kallsyms)).start;
    if (!plan_ranges(k, p, err) || !plan_segments(&k->core, p, err) || !plan_pieces(p, err))
        return false;
    for (size_t i = 0; i < p->pieces.count; i++)
        if (start - p->pieces.items[i].vaddr < p->pieces.items[i].size)
            return true;
    return err_set(err, ERR_ABSENT, "kcore",
                   "it has nothing at %#llx, where the kernel begins by the list beside it",
                   (unsigned long long)start);
}

/* ---- writing ---- */

static void encode_head(const struct plan *p, struct writer *w, uint64_t *offset) {
    const uint8_t ident[EI_NIDENT] = {
        ELFMAG0,    ELFMAG1,    ELFMAG2,
        ELFMAG3,    ELFCLASS64, p->swap != BYTES_HOST_BIG ? ELFDATA2MSB : ELFDATA2LSB,
        EV_CURRENT,
    };
    uint64_t at = sizeof(Elf64_Ehdr) + p->pieces.count * sizeof(Elf64_Phdr);
    at = (at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    *offset = at;
    writer_put(w, ident, sizeof ident);
    writer_u16(w, ET_CORE);
    writer_u16(w, p->machine);
    writer_u32(w, EV_CURRENT);
    writer_u64(w, 0);
    writer_u64(w, sizeof(Elf64_Ehdr));
    writer_u64(w, 0);
    writer_u32(w, p->flags);
    writer_u16(w, sizeof(Elf64_Ehdr));
    writer_u16(w, sizeof(Elf64_Phdr));
    writer_u16(w, (uint16_t)p->pieces.count);
    writer_zero(w, 6); /* no sections */
    for (size_t i = 0; i < p->pieces.count; i++) {
        const struct segment *s = &p->pieces.items[i];
        writer_u32(w, PT_LOAD);
        writer_u32(w, PF_R | PF_W | PF_X);
        writer_u64(w, at);
        writer_u64(w, s->vaddr);
        writer_u64(w, 0);
        writer_u64(w, s->size);
        writer_u64(w, s->size);
        writer_u64(w, PAGE);
        at += s->size;
    }
    writer_zero(w, (size_t)(*offset - w->size));
}

static bool put(const struct os_output *to, uint64_t at, struct bytes b, struct err *err) {
    int64_t done = to->write(to->ctx, at, &b, 1);
    return done == (int64_t)b.size || err_errno(err, done < 0 ? (int)-done : ENOSPC, "kcore", "cannot write");
}

static bool put_piece(const struct os_core *core, const struct os_output *to, const struct segment *s,
                      uint64_t at, struct err *err) {
    uint8_t *room = malloc(CHUNK);
    bool ok = room || err_memory(err, "kcore");
    for (uint64_t done = 0; ok && done < s->size;) {
        size_t n = s->size - done < CHUNK ? (size_t)(s->size - done) : CHUNK;
        ok = read_all(core, s->offset + done, room, n)
                 ? put(to, at + done, (struct bytes){room, n}, err)
                 : err_set(err, ERR_BROKEN, "kcore", "nothing can be read at %#llx",
                           (unsigned long long)(s->vaddr + done));
        done += n;
    }
    free(room);
    return ok;
}

bool record_kcore_write(const struct record_kcore *k, const struct os_output *to, struct err *err) {
    struct plan p;
    struct writer head = writer_make(false);
    uint64_t at = 0;
    bool ok = plan_all(k, &p, err);
    if (ok && p.pieces.count >= PN_XNUM)
        ok = err_set(err, ERR_UNSUPPORTED, "kcore", "it has too many pieces");
    if (ok) {
        head.swap = p.swap;
        encode_head(&p, &head, &at);
        ok = writer_ok(&head) ? put(to, 0, writer_bytes(&head), err) : err_memory(err, "kcore");
    }
    for (size_t i = 0; ok && i < p.pieces.count; i++) {
        ok = put_piece(&k->core, to, &p.pieces.items[i], at, err);
        at += p.pieces.items[i].size;
    }
    writer_fini(&head);
    plan_fini(&p);
    return ok;
}

bool record_kcore_id(const struct record_kcore *k, struct object_build_id *out) {
    const struct landmarks l = find_landmarks(writer_bytes(&k->kallsyms));
    uint8_t notes[PAGE];
    struct plan p = {.machine = 0};
    bool found = false;
    if (l.notes && l.notes_end > l.notes && plan_segments(&k->core, &p, NULL)) {
        size_t n = l.notes_end - l.notes < sizeof notes ? (size_t)(l.notes_end - l.notes) : sizeof notes;
        const struct segment *s = segment_from(&p, l.notes);
        found = s && l.notes - s->vaddr < s->size && !p.swap &&
                read_all(&k->core, s->offset + (l.notes - s->vaddr), notes, n) &&
                object_build_id_in_notes((struct bytes){notes, n}, out);
    }
    plan_fini(&p);
    return found;
}

/* ---- folders ---- */

static bool read_beside(const char *path, const char *name, struct writer *into, struct err *err) {
    char room[PATH_ROOM];
    const char *slash = strrchr(path, '/');
    if ((size_t)snprintf(room, sizeof room, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, name) >=
        sizeof room)
        return err_set(err, ERR_USAGE, path, "the name is too long");
    return os_files_real.read(os_files_real.ctx, room, into, err);
}

bool record_kcore_open(struct record_kcore *k, const char *path, struct err *err) {
    *k = (struct record_kcore){.kallsyms = writer_make(false), .modules = writer_make(false)};
    if (!os_core_open(path, &k->core, err))
        return false;
    struct err none = ERR_INIT;
    bool ok = read_beside(path, "kallsyms", &k->kallsyms, err);
    /* A kernel without modules has no such file. */
    ok = ok && (read_beside(path, "modules", &k->modules, &none) || none.code == ERR_ABSENT);
    if (!ok && none.code != ERR_NONE)
        *err = none;
    const struct landmarks l = find_landmarks(writer_bytes(&k->kallsyms));
    if (ok && (!l.start || !l.end)) {
        char advice[OS_RIGHTS_ROOM];
        bool own = !strcmp(path, "/proc/kcore");
        ok = err_set(
            err, ERR_PERMISSION, path, "the list of symbols beside it does not say where the kernel lies: %s",
            own ? os_rights_show_addresses_here(advice) : "it was copied without the right to see it");
    }
    if (!ok)
        record_kcore_close(k);
    return ok;
}

void record_kcore_close(struct record_kcore *k) {
    if (k->core.close)
        k->core.close(k->core.ctx);
    writer_fini(&k->kallsyms);
    writer_fini(&k->modules);
    *k = (struct record_kcore){.kallsyms = writer_make(false), .modules = writer_make(false)};
}

/* A new file in the folder; `text` NULL: the memory. */
static bool put_file(const struct record_kcore *k, const char *folder, const char *name,
                     const struct bytes *text, struct err *err) {
    char path[PATH_ROOM];
    struct os_output out;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return err_set(err, ERR_USAGE, folder, "the name is too long");
    if (!os_output_create(path, &out, err))
        return false;
    bool ok = text ? put(&out, 0, *text, err) : record_kcore_write(k, &out, err);
    int why = -out.close(out.ctx);
    return ok && (!why || err_errno(err, why, path, "cannot write"));
}

/* Half a copy is none. */
static void remove_all(const char *folder) {
    static const char *const NAMES[] = {"/kcore", "/kallsyms", "/modules", ""};
    char path[PATH_ROOM];
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if ((size_t)snprintf(path, sizeof path, "%s%s", folder, NAMES[i]) < sizeof path)
            os_place_remove(path, NULL);
}

bool record_kcore_copy(const struct record_kcore *k, const char *folder, struct err *err) {
    struct bytes kallsyms = writer_bytes(&k->kallsyms), modules = writer_bytes(&k->modules);
    if (!os_output_folder(folder, err))
        return false;
    bool ok = put_file(k, folder, "kallsyms", &kallsyms, err) &&
              put_file(k, folder, "modules", &modules, err) && put_file(k, folder, "kcore", NULL, err);
    if (!ok)
        remove_all(folder);
    return ok;
}

/* The sum of the modules' names and addresses, whatever their order. */
static uint64_t sum_modules(struct bytes text) {
    uint64_t sum = 0;
    struct modules_entry m;
    while (modules_next(&text, &m))
        sum += hash_u64(hash_bytes(m.name.data, m.name.size) ^ m.address);
    return sum;
}

/* Whether the copy in `folder` is of this boot, with these modules at these addresses. */
static bool is_same(const struct record_kcore *k, const char *folder) {
    char path[PATH_ROOM];
    struct record_kcore there;
    struct err err = ERR_INIT;
    if ((size_t)snprintf(path, sizeof path, "%s/kcore", folder) >= sizeof path ||
        !record_kcore_open(&there, path, &err))
        return false;
    struct landmarks a = find_landmarks(writer_bytes(&k->kallsyms));
    struct landmarks b = find_landmarks(writer_bytes(&there.kallsyms));
    bool same = a.start == b.start && a.end == b.end &&
                sum_modules(writer_bytes(&k->modules)) == sum_modules(writer_bytes(&there.modules));
    record_kcore_close(&there);
    return same;
}

bool record_kcore_begin(const char *from, const char *recording, struct err *err) {
    char folder[PATH_ROOM];
    struct record_kcore k;
    if ((size_t)snprintf(folder, sizeof folder, "%s/kcore_dir", recording) >= sizeof folder)
        return err_set(err, ERR_USAGE, recording, "the name is too long");
    if (!record_kcore_open(&k, from, err))
        return false;
    bool ok = os_output_keep_old(recording, err) && os_output_folder(recording, err);
    if (ok && !record_kcore_copy(&k, folder, err)) {
        os_place_remove(recording, NULL);
        ok = false;
    }
    record_kcore_close(&k);
    return ok;
}

/* ---- the cache ---- */

static bool in_cache(const struct record_kcore *k, const char *folder) {
    struct arena scratch = ARENA_INIT;
    struct sysfs_names names;
    bool found = false;
    char path[PATH_ROOM];
    if (sysfs_system.list(&sysfs_system, folder, &scratch, &names, NULL))
        for (size_t i = 0; i < names.count && !found; i++)
            found = (size_t)snprintf(path, sizeof path, "%s/%s", folder, names.items[i]) < sizeof path &&
                    is_same(k, path);
    arena_fini(&scratch);
    return found;
}

bool record_kcore_cache(const struct record_kcore *k, const char *cache, const char *id, bool *added,
                        struct err *err) {
    char folder[PATH_ROOM - 64], path[PATH_ROOM], stamp[32];
    *added = false;
    if ((size_t)snprintf(folder, sizeof folder, "%s/[kernel.kcore]/%s", cache, id) >= sizeof folder)
        return err_set(err, ERR_USAGE, cache, "the name is too long");
    if (in_cache(k, folder))
        return true;
    os_clock_stamp(stamp, sizeof stamp);
    snprintf(path, sizeof path, "%s/%s", folder, stamp);
    *added = os_place_folders(path, err) && record_kcore_copy(k, path, err);
    return *added;
}
