/* SPDX-License-Identifier: Apache-2.0 */
#include "record/synth/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/log.h"
#include "format/kallsyms/kallsyms.h"
#include "format/perfdata/added/evidence.h"
#include "object/build_id.h"
#include "os/rights.h"

enum { PICKS_MAX = 512 };

/* Functions met on the way, every stride-th piece's first: so that few lines need be looked at. */
struct picks {
    uint32_t count, stride, pieces;
    struct perfdata_kernel_symbol symbols[PICKS_MAX];
};

struct search {
    struct record_kernel *k;
    uint64_t text, stext;
    struct picks *picks; /* NULL: none are wanted */
};

static void pick(struct picks *p, struct bytes lines) {
    struct kallsyms_symbol s;
    if (p->pieces++ % p->stride)
        return;
    while (kallsyms_next(&lines, &s)) {
        struct perfdata_kernel_symbol *to = &p->symbols[p->count];
        if (!strchr("tT", s.type) || s.module.size || !s.address || s.name.size >= sizeof to->name)
            continue;
        to->address = s.address;
        memcpy(to->name, s.name.data, s.name.size);
        to->name[s.name.size] = 0;
        p->count++;
        break;
    }
    if (p->count < PICKS_MAX)
        return;
    for (p->count = 0; p->count < PICKS_MAX / 2; p->count++)
        p->symbols[p->count] = p->symbols[2 * p->count];
    p->stride *= 2;
}

static bool named(const struct kallsyms_symbol *s, const char *name) {
    return s->module.size == 0 && s->name.size == strlen(name) &&
           memcmp(s->name.data, name, s->name.size) == 0;
}

/*
 * There are 10^5 lines, and three of them concern us: those whose name ends in "text" are found without
 * looking at the others. Lines ascend by address, so that _etext is after the other two.
 */
static bool look(void *ctx, struct bytes lines) {
    static const char END[] = "text\n";
    struct search *s = ctx;
    if (s->picks)
        pick(s->picks, lines);
    for (;;) {
        const uint8_t *hit = memmem(lines.data, lines.size, END, sizeof END - 1);
        if (!hit)
            return true;
        const uint8_t *nl = memrchr(lines.data, '\n', (size_t)(hit - lines.data));
        const uint8_t *start = nl ? nl + 1 : lines.data, *next = hit + sizeof END - 1;
        struct bytes line = {start, (size_t)(next - start)};
        struct kallsyms_symbol sym;
        if (kallsyms_next(&line, &sym)) {
            if (named(&sym, "_text"))
                s->text = sym.address;
            else if (named(&sym, "_stext"))
                s->stext = sym.address;
            else if (!named(&sym, "_etext"))
                goto on;
            s->k->hidden = sym.address == 0;
            s->k->end = sym.address;
            if (s->k->hidden || named(&sym, "_etext"))
                return false;
        }
    on:
        lines = (struct bytes){next, (size_t)(lines.data + lines.size - next)};
    }
}

static void find(const struct os_proc *proc, struct record_kernel *out, struct picks *picks) {
    struct search s = {.k = out, .picks = picks};
    *out = (struct record_kernel){0};
    proc->lines(proc->ctx, "/proc/kallsyms", look, &s, NULL);
    out->reference = s.text ? "_text" : "_stext";
    out->start = s.text ? s.text : s.stext;
    if (!out->start || out->end <= out->start)
        out->start = out->end = 0;
}

void record_kernel_find(const struct os_proc *proc, struct record_kernel *out) {
    find(proc, out, NULL);
}

static void read_boot_id(const struct os_proc *proc, struct perfdata_kernel_facts *out) {
    struct writer w = writer_make(false);
    if (proc->read_once(proc->ctx, "/proc/sys/kernel/random/boot_id", &w, NULL) && w.size &&
        w.size <= sizeof out->boot_id) {
        memcpy(out->boot_id, w.data, w.size);
        out->boot_id[w.size - 1] = 0; /* the newline's place */
    }
    writer_fini(&w);
}

void record_kernel_facts(const struct os_proc *proc, struct perfdata_kernel_facts *out,
                         struct record_kernel *found) {
    struct os_build_id id;
    struct picks *picks = calloc(1, sizeof *picks);
    *out = (struct perfdata_kernel_facts){0};
    if (picks)
        picks->stride = 1;
    find(proc, found, picks);
    const struct record_kernel k = *found;
    record_kernel_notes(proc, "/sys/kernel/notes", &id);
    read_boot_id(proc, out);
    out->start = k.start;
    out->end = k.end;
    out->build_id_size = id.size <= sizeof out->build_id ? (uint8_t)id.size : 0;
    memcpy(out->build_id, id.bytes, out->build_id_size);
    for (uint32_t i = 0; picks && k.start && i < PERFDATA_KERNEL_SYMBOLS; i++) {
        uint32_t from = picks->count < PERFDATA_KERNEL_SYMBOLS
                            ? i
                            : (uint32_t)((uint64_t)i * picks->count / PERFDATA_KERNEL_SYMBOLS);
        if (from < picks->count && picks->symbols[from].address < k.end)
            out->symbols[out->symbol_count++] = picks->symbols[from];
    }
    free(picks);
}

void record_kernel_notes(const struct os_proc *proc, const char *path, struct os_build_id *out) {
    struct object_build_id id;
    struct writer w = writer_make(false);
    *out = (struct os_build_id){0};
    if (proc->read_once(proc->ctx, path, &w, NULL) && object_build_id_in_notes(writer_bytes(&w), &id) &&
        id.size <= OS_BUILD_ID_MAX) {
        out->size = id.size;
        memcpy(out->bytes, id.bytes, id.size);
    }
    writer_fini(&w);
}

/* A map of code that every process shares. */
struct shared_map {
    uint64_t start, end, offset;
    const struct os_build_id *id; /* NULL, or empty: none */
    const char *name;
    struct bytes facts; /* perfdata_evidence.kernel; only where there is a build-id */
};

/* MMAP2 where it can carry a build-id, else MMAP. */
static void put_map(const struct record_sink *sink, const struct shared_map *m, struct writer *w) {
    static const uint8_t zeros[8];
    struct writer name = writer_make(false);
    size_t len = strnlen(m->name, OS_MAPPING_NAME - sizeof zeros);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_MMAP, .misc = PERFDATA_MISC_KERNEL};
    writer_put(&name, m->name, len);
    writer_put(&name, zeros, sizeof zeros - len % sizeof zeros); /* at least the NUL */
    if (m->id && m->id->size) {
        if (m->facts.size)
            perfdata_evidence_encode(&(struct perfdata_evidence){.kernel = m->facts}, &name);
        rec.type = PERFDATA_RECORD_MMAP2;
        rec.misc |= PERFDATA_MISC_MMAP_BUILD_ID;
        rec.mmap2 = (struct perfdata_mmap2){
            .pid = UINT32_MAX,
            .addr = m->start,
            .len = m->end - m->start,
            .pgoff = m->offset,
            .has_build_id = true,
            .build_id_size = m->id->size,
            .prot = PROT_READ | PROT_EXEC,
            .flags = MAP_PRIVATE,
            .filename = writer_bytes(&name),
        };
        memcpy(rec.mmap2.build_id, m->id->bytes, m->id->size);
    } else {
        rec.mmap = (struct perfdata_mmap){UINT32_MAX,        0,         m->start,
                                          m->end - m->start, m->offset, writer_bytes(&name)};
    }
    if (writer_ok(&name))
        record_sink_encode(sink, &rec, w);
    else
        w->failed = true;
    writer_fini(&name);
}

/* The kernel's own: named after its reference symbol; what else tells it goes along. */
static void put_kernel(const struct record_sink *sink, const struct record_kernel *k,
                       const struct os_build_id *id, struct writer *w) {
    struct writer facts = writer_make(false);
    char name[32];
    if (sink->kernel_facts)
        perfdata_kernel_facts_encode(sink->kernel_facts, &facts);
    snprintf(name, sizeof name, "[kernel.kallsyms]%s", k->reference);
    put_map(sink, &(struct shared_map){k->start, k->end, k->start, id, name, writer_bytes(&facts)}, w);
    writer_fini(&facts);
}

static void keep_id(const struct record_sink *sink, const struct os_build_id *id, const char *name) {
    if (id->size && sink->build_ids)
        record_build_ids_add(sink->build_ids, PERFDATA_MISC_KERNEL, (struct bytes){id->bytes, id->size},
                             (struct bytes){(const uint8_t *)name, strlen(name)});
}

void record_kernel_put_module(const struct record_sink *sink, const struct record_module *m, bool ids,
                              struct writer *w) {
    put_map(sink, &(struct shared_map){m->start, m->end, 0, ids ? &m->build_id : NULL, m->path, {0}}, w);
    keep_id(sink, &m->build_id, m->path);
}

bool record_kernel_encode(const struct os_proc *proc, const struct record_sink *sink,
                          const struct record_modules *modules, bool ids, bool wanted, struct writer *w) {
    struct record_kernel k;
    struct os_build_id id;
    struct record_modules own = {0};
    if (sink->kernel_facts)
        record_kernel_facts(proc, sink->kernel_facts, &k);
    else
        record_kernel_find(proc, &k);
    record_kernel_notes(proc, "/sys/kernel/notes", &id);
    if (k.hidden && wanted) {
        char advice[OS_RIGHTS_ROOM];
        log_line(LOG_WARN, "the kernel's addresses are hidden, its functions will have no names: %s",
                 os_rights_show_addresses_here(advice));
    }
    if (k.start)
        put_kernel(sink, &k, ids ? &id : NULL, w);
    keep_id(sink, &id, "[kernel.kallsyms]");
    bool ok = modules || record_modules_read(proc, &own);
    modules = modules ? modules : &own;
    for (size_t i = 0; ok && i < modules->list.count; i++)
        record_kernel_put_module(sink, &modules->list.items[i], ids, w);
    record_modules_fini(&own);
    return ok && writer_ok(w);
}
