/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/edit_jit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "format/jitdump/jitelf.h"
#include "format/perfdata/added/evidence.h"
#include "os/files/output.h"

enum {
    PART_MAX_BYTES = 1 << 30,
    TABLES_MAX_BYTES = 1 << 16, /* for one function's unwind tables */
    PIECES_MAX = 256,           /* the most pieces of one map record */
};

/* A file with code. */
struct file {
    struct jitelf_part part;
    const char *path;
    uint8_t build_id[JITELF_BUILD_ID_SIZE];
};

struct dump_files {
    size_t first, last;           /* of files */
    size_t next_number;           /* the first number for files of another dump of the process */
    struct perfdata_sample_id id; /* of the marker's record; used for all map records */
    uint32_t event;
};

/* A map record to be added. */
struct coming {
    uint64_t time;
    uint32_t dump, event;
};

struct range {
    uint64_t start, last;
};

/* Where a process ever had announced code: ascending, without overlaps. */
struct process {
    VEC(struct range) ranges;
};

struct edit_jit {
    struct edit_jit_options options;
    struct stream *in;
    struct resolve_jit *found;
    struct arena texts;
    struct copy_editor editor;
    VEC(struct file) files;
    VEC(struct dump_files) dumps; /* as in `found` */
    VEC(struct coming) coming;
    size_t next;                /* index in `coming` */
    struct hash_map process_of; /* pid -> processes */
    VEC(struct process) processes;
    struct edit_jit_counts counts;
};

static const char where[] = "inject --jit";

void edit_jit_free(struct edit_jit *j) {
    if (!j)
        return;
    resolve_jit_free(j->found);
    for (size_t i = 0; i < j->processes.count; i++)
        vec_fini(&j->processes.items[i].ranges);
    vec_fini(&j->processes);
    vec_fini(&j->files);
    vec_fini(&j->dumps);
    vec_fini(&j->coming);
    hash_map_fini(&j->process_of);
    arena_fini(&j->texts);
    free(j);
}

/* ---- the first pass ---- */

/* A map record of user space; false for all others and for damaged ones, which the copy reports. */
static bool decode_map(struct stream *in, const struct stream_record *r, struct perfdata_record *rec) {
    const struct perfdata_events *events = stream_events(in);
    bool map = r->raw.type == PERFDATA_RECORD_MMAP || r->raw.type == PERFDATA_RECORD_MMAP2;
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    return map && !r->legacy && (r->raw.misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_USER &&
           perfdata_record_decode(&r->raw, plan, events->swap, rec, NULL);
}

/* Decodes a record on the CPU's time-stamp counter or on the start of a program; false for all others. */
static bool decode_other(struct stream *in, const struct stream_record *r, struct perfdata_record *rec) {
    bool wanted = r->raw.type == PERFDATA_RECORD_TIME_CONV || r->raw.type == PERFDATA_RECORD_COMM ||
                  r->raw.type == PERFDATA_RECORD_FORK;
    return wanted && !r->legacy && perfdata_record_decode(&r->raw, NULL, stream_events(in)->swap, rec, NULL);
}

static bool scan(struct edit_jit *j, struct err *err) {
    struct stream_record r;
    struct perfdata_record rec;
    enum stream_status status;
    while ((status = stream_next(j->in, &r, err)) == STREAM_RECORD) {
        if (!decode_map(j->in, &r, &rec) && !decode_other(j->in, &r, &rec))
            continue;
        struct model_when when = {r.has_time ? r.time_ns : stream_when_ns(j->in, &r), r.loc};
        if (!resolve_jit_note_record(j->found, &rec, when))
            return err_memory(err, where);
        if (resolve_jit_count(j->found) == j->dumps.count)
            continue;
        struct dump_files *d = vec_push(&j->dumps);
        if (!d)
            return err_memory(err, where);
        d->id = rec.id;
        d->event = r.event;
    }
    stream_rewind(j->in);
    return status == STREAM_END;
}

/* ---- files ---- */

/* Returns the folder for a dump's files as an absolute path, but none in /proc, which would soon be gone. */
static const char *folder_of(struct edit_jit *j, const struct resolve_jit_dump *d) {
    const char *slash = strrchr(d->path, '/');
    const char *name = d->kept || strncmp(d->path, "/proc/", 6) == 0
                           ? j->options.folder ? j->options.folder : "."
                       : !slash           ? "."
                       : slash == d->path ? "/"
                                          : arena_printf(&j->texts, "%.*s", (int)(slash - d->path), d->path);
    char *whole = name ? realpath(name, NULL) : NULL;
    const char *copy = whole ? arena_printf(&j->texts, "%s", strcmp(whole, "/") == 0 ? "" : whole) : name;
    free(whole);
    return copy;
}

static bool write_whole(const char *path, struct bytes content, struct err *err) {
    struct os_output out;
    if (!os_output_create(path, &out, err))
        return false;
    uint64_t at = 0;
    bool ok = os_output_put(&out, &at, content, path, err);
    int closed = out.close(out.ctx);
    return ok && (closed == 0 || err_errno(err, -closed, path, "cannot write"));
}

static bool make_file(struct edit_jit *j, const struct resolve_jit_dump *d, const char *folder, size_t number,
                      const struct jitelf_part *part, struct err *err) {
    struct file *f = vec_push(&j->files);
    struct writer w = jitelf_writer(&d->code);
    if (!f)
        return err_memory(err, where);
    f->part = *part;
    f->path = number ? arena_printf(&j->texts, "%s/jitted-%u-%zu.so", folder, d->pid, number)
                     : arena_printf(&j->texts, "%s/jitted-%u.so", folder, d->pid);
    bool ok = f->path || err_memory(err, where);
    ok = ok && jitelf_write(part, &w, f->build_id, err) && write_whole(f->path, writer_bytes(&w), err);
    writer_fini(&w);
    j->counts.files++;
    return ok;
}

/* Returns the number of the dump's first file: another program of the process may have left a dump, too. */
static size_t first_number(const struct edit_jit *j, size_t index) {
    const struct resolve_jit_dump *d = resolve_jit_dump(j->found, index);
    size_t number = j->options.mode == EDIT_JIT_FILES;
    for (size_t i = 0; i < index; i++)
        if (resolve_jit_dump(j->found, i)->pid == d->pid && j->dumps.items[i].next_number > number)
            number = j->dumps.items[i].next_number;
    return number;
}

static bool make_files(struct edit_jit *j, size_t index, struct err *err) {
    const struct resolve_jit_dump *d = resolve_jit_dump(j->found, index);
    struct dump_files *files = &j->dumps.items[index];
    files->first = files->last = j->files.count;
    if (!d->path || !d->code.functions.count)
        return true;
    const char *folder = folder_of(j, d);
    if (!folder)
        return err_memory(err, where);
    bool each = j->options.mode == EDIT_JIT_FILES;
    size_t number = first_number(j, index);
    for (size_t first = 0; first < d->code.functions.count; number += number ? 1 : 2) {
        struct jitelf_part part = jitelf_part_from(&d->code, first, each ? 0 : PART_MAX_BYTES);
        if (!make_file(j, d, folder, number, &part, err))
            return false;
        first = part.last;
    }
    files->last = j->files.count;
    files->next_number = number;
    j->counts.functions += d->code.functions.count;
    return true;
}

/* ---- map records to be added ---- */

static struct process *process_of(struct edit_jit *j, uint32_t pid) {
    uint32_t i = hash_map_get(&j->process_of, pid);
    if (i != HASH_ABSENT)
        return &j->processes.items[i];
    struct process *p = vec_push(&j->processes);
    return p && hash_map_set(&j->process_of, pid, (uint32_t)(j->processes.count - 1)) ? p : NULL;
}

static bool note_events(struct edit_jit *j, size_t index) {
    const struct resolve_jit_dump *d = resolve_jit_dump(j->found, index);
    const struct jitcode *code = &d->code;
    struct process *p = d->path && code->functions.count ? process_of(j, d->pid) : NULL;
    if (!p)
        return !d->path || !code->functions.count;
    for (size_t i = 0; i < code->events.count; i++) {
        const struct jitcode_event *e = &code->events.items[i];
        if (e->kind != JITCODE_APPEARS)
            continue;
        struct coming *c = vec_push(&j->coming);
        struct range *r = c ? vec_push(&p->ranges) : NULL;
        if (!r)
            return false;
        uint64_t last = e->address + (e->size - 1);
        *c = (struct coming){resolve_jit_time(d, e->early), (uint32_t)index, (uint32_t)i};
        *r = (struct range){e->address, last >= e->address ? last : UINT64_MAX};
    }
    return true;
}

static int compare_coming(const void *a, const void *b) {
    const struct coming *x = a, *y = b;
    if (x->time != y->time)
        return (x->time > y->time) - (x->time < y->time);
    if (x->dump != y->dump)
        return (x->dump > y->dump) - (x->dump < y->dump);
    return (x->event > y->event) - (x->event < y->event);
}

static int compare_ranges(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Between functions JITs leave gaps that never run, to begin the next one at a round address. */
enum { GAP_BYTES = 64 };

static void join_ranges(struct process *p) {
    size_t kept = 0;
    struct range *r = p->ranges.items;
    if (p->ranges.count)
        qsort(r, p->ranges.count, sizeof *r, compare_ranges);
    for (size_t i = 0; i < p->ranges.count; i++) {
        if (kept && (r[i].start <= r[kept - 1].last || r[i].start - r[kept - 1].last <= GAP_BYTES))
            r[kept - 1].last = r[i].last > r[kept - 1].last ? r[i].last : r[kept - 1].last;
        else
            r[kept++] = r[i];
    }
    p->ranges.count = kept;
}

/* ---- the second pass ---- */

static const struct file *file_of(const struct edit_jit *j, const struct dump_files *d, uint32_t function) {
    size_t low = d->first, high = d->last;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (j->files.items[middle].part.first <= function)
            low = middle;
        else
            high = middle;
    }
    return &j->files.items[low];
}

/*
 * Returns how many bytes of memory a function's map covers. Readers find a file's unwind tables through its
 * map: if the process has them after the code, a file of one function has them there, too, and the map covers
 * them. In a file of many functions they are elsewhere.
 */
static uint64_t map_size(const struct edit_jit *j, const struct jitcode_function *f) {
    uint64_t tables = f->unwinding.mapped_size;
    bool shown = j->options.mode == EDIT_JIT_FILES && tables && tables <= TABLES_MAX_BYTES;
    return shown ? ((f->code.size + 7) & ~7ull) + tables : f->code.size;
}

static void put_map(struct edit_jit *j, const struct coming *c, struct writer *w) {
    const struct resolve_jit_dump *d = resolve_jit_dump(j->found, c->dump);
    const struct dump_files *files = &j->dumps.items[c->dump];
    const struct jitcode_event *e = &d->code.events.items[c->event];
    const struct file *f = file_of(j, files, e->function);
    const struct perfdata_events *events = stream_events(j->in);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP2,
                                  .misc = PERFDATA_MISC_USER | PERFDATA_MISC_MMAP_BUILD_ID,
                                  .id = files->id};
    char name[4096] = "";
    size_t len = strlen(f->path);
    memcpy(name, f->path, len < sizeof name ? len : sizeof name - 1);
    rec.mmap2 = (struct perfdata_mmap2){.pid = d->pid,
                                        .tid = d->pid,
                                        .addr = e->address,
                                        .len = map_size(j, &d->code.functions.items[e->function]),
                                        .pgoff = jitelf_offset(&f->part, e->function),
                                        .has_build_id = true,
                                        .build_id_size = JITELF_BUILD_ID_SIZE,
                                        .prot = PROT_READ | PROT_EXEC,
                                        .flags = MAP_PRIVATE,
                                        .filename = {(const uint8_t *)name, (len + 8) & ~(size_t)7}};
    memcpy(rec.mmap2.build_id, f->build_id, JITELF_BUILD_ID_SIZE);
    rec.id.pid = rec.id.tid = d->pid;
    rec.id.time = c->time;
    perfdata_record_encode(
        &rec, files->event < events->list.count ? &events->list.items[files->event].plan : NULL, w);
    j->counts.maps++;
}

/* Writes all map records up to a time. */
static void put_until(struct edit_jit *j, uint64_t time, struct writer *w) {
    while (j->next < j->coming.count && j->coming.items[j->next].time <= time)
        put_map(j, &j->coming.items[j->next++], w);
}

/* Finds the first range that ends at or after an address. */
static size_t first_range(const struct process *p, uint64_t address) {
    return sorted_below(&p->ranges, last, address);
}

/* Finds the parts of [start, last] that hold no code, ignoring gaps smaller than `gap` bytes. Returns their
 * number, PIECES_MAX + 1 at most, and appends them to `out` unless that is NULL. */
static size_t cut(const struct process *p, uint64_t start, uint64_t last, uint64_t gap, struct range *out) {
    size_t n = 0;
    uint64_t at = start;
    bool open = true; /* something is left, from `at` on */
    for (size_t i = first_range(p, start); open && i < p->ranges.count && p->ranges.items[i].start <= last;
         i++) {
        const struct range *r = &p->ranges.items[i];
        if (r->start > at && r->start - at >= gap) {
            if (n == PIECES_MAX)
                return n + 1;
            if (out)
                out[n] = (struct range){at, r->start - 1};
            n++;
        }
        open = r->last < last;
        at = r->last + 1;
    }
    if (open) {
        if (n == PIECES_MAX)
            return n + 1;
        if (out)
            out[n] = (struct range){at, last};
        n++;
    }
    return n;
}

static void put_pieces(struct edit_jit *j, const struct stream_record *r, struct perfdata_record *rec,
                       const struct range *pieces, size_t count, struct writer *w) {
    const struct perfdata_events *events = stream_events(j->in);
    const struct perfdata_plan *plan =
        r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    bool old = rec->type == PERFDATA_RECORD_MMAP;
    uint64_t *addr = old ? &rec->mmap.addr : &rec->mmap2.addr, *len = old ? &rec->mmap.len : &rec->mmap2.len;
    uint64_t *pgoff = old ? &rec->mmap.pgoff : &rec->mmap2.pgoff, start = *addr, offset = *pgoff;
    for (size_t i = 0; i < count; i++) {
        *addr = pieces[i].start;
        *len = pieces[i].last - pieces[i].start + 1;
        *pgoff = offset + (pieces[i].start - start);
        perfdata_record_encode(rec, plan, w);
    }
}

/* Cuts announced code out of a map record of memory without a file. */
static void trim(struct edit_jit *j, const struct stream_record *r, struct perfdata_record *rec,
                 struct writer *w, bool *keep) {
    bool old = rec->type == PERFDATA_RECORD_MMAP;
    struct bytes name = old ? rec->mmap.filename : rec->mmap2.filename;
    uint32_t index = hash_map_get(&j->process_of, old ? rec->mmap.pid : rec->mmap2.pid);
    uint64_t start = old ? rec->mmap.addr : rec->mmap2.addr, len = old ? rec->mmap.len : rec->mmap2.len;
    uint64_t last = start + (len - 1), gap = GAP_BYTES;
    struct range pieces[PIECES_MAX];
    if (index == HASH_ABSENT || !len || last < start || !model_is_memory(name))
        return;
    if (j->options.mode == EDIT_JIT_DROP_ANON && bytes_text_len(name) == 6 &&
        memcmp(name.data, "//anon", 6) == 0) {
        *keep = false;
        j->counts.trimmed++;
        return;
    }
    const struct process *p = &j->processes.items[index];
    size_t n;
    while ((n = cut(p, start, last, gap, NULL)) > PIECES_MAX)
        gap *= 4;
    cut(p, start, last, gap, pieces);
    if (n == 1 && pieces[0].start == start && pieces[0].last == last)
        return;
    put_pieces(j, r, rec, pieces, n, w);
    *keep = false;
    j->counts.trimmed++;
}

static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_jit *j = ctx;
    struct perfdata_record rec;
    (void)err;
    if (!r || r->has_time)
        put_until(j, r ? r->time_ns : UINT64_MAX, before);
    if (r && j->processes.count && decode_map(j->in, r, &rec))
        trim(j, r, &rec, before, keep);
    return true;
}

/* ---- */

struct edit_jit *edit_jit_new(const struct edit_jit_options *options, struct stream *in, struct err *err) {
    struct edit_jit *j = calloc(1, sizeof *j);
    if (!j) {
        err_memory(err, where);
        return NULL;
    }
    j->options = *options;
    j->in = in;
    j->editor = (struct copy_editor){edit, j};
    j->options.find.kept = stream_part(in, false, PERFDATA_PART_KEPT);
    j->options.find.kept_swap = stream_header(in)->swap;
    j->found = resolve_jit_new(&j->options.find, err);
    bool ok = j->found && scan(j, err);
    if (ok) {
        resolve_jit_use_clock(j->found, stream_events(in));
        resolve_jit_use_pairs(j->found, stream_part(in, true, PERFDATA_PART_CLOCK),
                              stream_part(in, false, PERFDATA_PART_CLOCK), stream_header(in)->swap);
    }
    ok = ok && resolve_jit_feed(j->found, NULL, err);
    for (size_t i = 0; ok && i < j->dumps.count; i++)
        ok = make_files(j, i, err) && (note_events(j, i) || err_memory(err, where));
    if (!ok) {
        edit_jit_free(j);
        return NULL;
    }
    if (j->coming.count)
        qsort(j->coming.items, j->coming.count, sizeof *j->coming.items, compare_coming);
    for (size_t i = 0; i < j->processes.count; i++)
        join_ranges(&j->processes.items[i]);
    return j;
}

const struct copy_editor *edit_jit_editor(struct edit_jit *j) {
    return &j->editor;
}

const struct resolve_jit *edit_jit_found(const struct edit_jit *j) {
    return j->found;
}

struct edit_jit_counts edit_jit_counts(const struct edit_jit *j) {
    return j->counts;
}
