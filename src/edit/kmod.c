/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/kmod.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/added/module_map.h"
#include "format/perfdata/record.h"

struct edit_kmod {
    VEC(struct bytes) modules; /* their lines */
    struct hash_map by_place;  /* place -> index in `modules` */
    bool rfc;
    struct stream *in;
    uint64_t count;
    struct copy_editor editor;
};

/* True of sections of code, by their names, as /sys/module/NAME/sections has nothing else: .text, .exit.text,
 * .noinstr.text, .text.unlikely... Not .init.text, which is still listed long after it was freed: other code
 * may be there now. Nor what the loader itself writes (.plt, .text.ftrace_trampoline): stock perf would look
 * it up in the file, and find something else. */
static bool is_code(struct bytes name) {
    bool init = name.size >= 5 && memcmp(name.data, ".init", 5) == 0;
    return !init && memmem(name.data, name.size, "text", 4) &&
           !memmem(name.data, name.size, "trampoline", 10);
}

/* Returns the end of a section, whose size is not recorded: the start of the next one, or a page after the
 * last one's. */
static uint64_t end_of(const struct perfdata_module_map *m, uint32_t i) {
    uint64_t start = m->sections[i].address;
    for (uint32_t j = i + 1; j < m->count; j++)
        if (m->sections[j].address > start)
            return m->sections[j].address - start < 1 << 28 ? m->sections[j].address : start + 4096;
    return start + 4096;
}

static void put_text(struct writer *w, struct bytes text) {
    writer_put(w, text.data, text.size);
    writer_u8(w, 0);
}

static void put_rfc(const struct perfdata_module_map *m, uint32_t i, struct writer *w) {
    struct writer names = writer_make(false);
    const struct perfdata_module_section *s = &m->sections[i];
    put_text(&names, s->name);
    put_text(&names, m->module.path);
    while ((names.size + 44) % 8)
        writer_u8(&names, 0);
    struct perfdata_record rec = {.type = PERFDATA_RECORD_KMOD_SEC_MAP,
                                  .misc = PERFDATA_MISC_KERNEL,
                                  .kmod_sec_map = {.pid = UINT32_MAX,
                                                   .start = s->address,
                                                   .len = end_of(m, i) - s->address,
                                                   .section_len = (uint16_t)(s->name.size + 1),
                                                   .file_len = (uint16_t)(m->module.path.size + 1),
                                                   .names = writer_bytes(&names)}};
    perfdata_record_encode(&rec, NULL, w);
    w->failed |= !writer_ok(&names);
    writer_fini(&names);
}

/* Writes a section's map. Stock perf looks for its symbols at the map's offset, so this is the section's
 * distance from the module's start (perf 6.1 gives wrong names for 0, 7.2 ignores it). */
static void put_map(const struct edit_kmod *k, const struct perfdata_module_map *m, uint32_t i,
                    const struct perfdata_sample_id *id, struct writer *w) {
    const struct perfdata_events *events = stream_events(k->in);
    const struct perfdata_plan *plan = events->list.count ? &events->list.items[0].plan : NULL;
    struct writer name = writer_make(false);
    put_text(&name, m->module.path);
    writer_align(&name, 8);
    uint64_t start = m->sections[i].address;
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP,
        .misc = PERFDATA_MISC_KERNEL,
        .mmap = {UINT32_MAX, 0, start, end_of(m, i) - start, start - m->module.start, writer_bytes(&name)}};
    rec.id = *id;
    perfdata_record_encode(&rec, plan, w);
    w->failed |= !writer_ok(&name);
    writer_fini(&name);
}

static void put_module(struct edit_kmod *k, const struct perfdata_module_map *m,
                       const struct perfdata_sample_id *id, struct writer *w) {
    for (uint32_t i = 0; i < m->count; i++) {
        if (!is_code(m->sections[i].name) || m->module.path.size > 4000 || m->sections[i].name.size > 4000)
            continue;
        if (k->rfc)
            put_rfc(m, i, w);
        else
            put_map(k, m, i, id, w);
        k->count++;
    }
}

static uint64_t place_key(uint64_t start, struct bytes path) {
    return hash_bytes(path.data, path.size) ^ hash_u64(start);
}

/* Finds each module's lines by its address. A module that was loaded at the same address again has its
 * sections where they were. False: out of memory. */
static bool index_modules(struct edit_kmod *k, struct bytes lines) {
    /* The lines are read at each of the module's maps; the longest have some 10 KB. */
    enum { LINES_MAX = 1 << 16 };
    struct bytes at = lines;
    for (struct perfdata_module_map m; perfdata_module_map_next(&lines, &m); at = lines) {
        uint64_t key = place_key(m.module.start, m.module.path);
        if (hash_map_get(&k->by_place, key) != HASH_ABSENT)
            continue;
        struct bytes *module = vec_push(&k->modules);
        if (!module || !hash_map_set(&k->by_place, key, (uint32_t)(k->modules.count - 1)))
            return false;
        size_t size = (size_t)(lines.data - at.data);
        *module = (struct bytes){at.data, size < LINES_MAX ? size : LINES_MAX};
    }
    return true;
}

/* Adds the sections in front of the module's own map, with its time: a module that was loaded while recording
 * replaced other code. If a module has no map, its time is not known. */
static bool edit(void *ctx, const struct stream_record *r, struct writer *before, bool *keep,
                 struct err *err) {
    struct edit_kmod *k = ctx;
    const struct perfdata_events *events = stream_events(k->in);
    const struct perfdata_plan *plan =
        r && r->event < events->list.count ? &events->list.items[r->event].plan : NULL;
    struct perfdata_record rec;
    const char *why = NULL;
    (void)keep;
    if (!r || r->legacy || (r->raw.type != PERFDATA_RECORD_MMAP && r->raw.type != PERFDATA_RECORD_MMAP2) ||
        (r->raw.misc & PERFDATA_MISC_CPUMODE_MASK) != PERFDATA_MISC_KERNEL ||
        !perfdata_record_decode(&r->raw, plan, events->swap, &rec, &why))
        return true;
    bool old = rec.type == PERFDATA_RECORD_MMAP;
    uint64_t start = old ? rec.mmap.addr : rec.mmap2.addr;
    struct bytes name = old ? rec.mmap.filename : rec.mmap2.filename;
    name.size = bytes_text_len(name);
    uint32_t number = hash_map_get(&k->by_place, place_key(start, name));
    struct bytes rest = number == HASH_ABSENT ? (struct bytes){NULL, 0} : k->modules.items[number];
    struct perfdata_module_map m;
    if (perfdata_module_map_next(&rest, &m) && m.module.start == start && bytes_equal(m.module.path, name))
        put_module(k, &m, &rec.id, before);
    return writer_ok(before) || err_memory(err, "modules");
}

struct edit_kmod *edit_kmod_new(struct bytes lines, bool rfc, struct stream *in, struct err *err) {
    struct edit_kmod *k = calloc(1, sizeof *k);
    if (k)
        *k = (struct edit_kmod){.rfc = rfc, .in = in, .editor = {edit, k}};
    if (k && index_modules(k, lines))
        return k;
    err_memory(err, "modules");
    edit_kmod_free(k);
    return NULL;
}

void edit_kmod_free(struct edit_kmod *k) {
    if (!k)
        return;
    vec_fini(&k->modules);
    hash_map_fini(&k->by_place);
    free(k);
}

const struct copy_editor *edit_kmod_editor(struct edit_kmod *k) {
    return &k->editor;
}

uint64_t edit_kmod_count(const struct edit_kmod *k) {
    return k->count;
}
