/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/kernel/kmod_sections.h"

#include <stdio.h>
#include <stdlib.h>

#include "format/perfdata/added/module_map.h"

void kmod_sections_fini(struct kmod_sections *k) {
    strpool_fini(&k->texts);
    vec_fini(&k->sections);
    vec_fini(&k->maps);
    writer_fini(&k->lines);
}

static uint32_t text_id(struct kmod_sections *k, struct bytes text) {
    return strpool_add(&k->texts, (const char *)text.data, text.size);
}

static bool see_section(struct kmod_sections *k, const struct perfdata_kmod_sec_map *m) {
    struct bytes name, file;
    if (!m->len || !perfdata_kmod_names(m, &name, &file) || memchr(name.data, '\t', name.size) ||
        memchr(file.data, '\t', file.size) || memchr(name.data, '\n', name.size) ||
        memchr(file.data, '\n', file.size))
        return true;
    struct kmod_section s = {text_id(k, file), text_id(k, name), m->start, m->start + m->len};
    struct kmod_section *to =
        s.module == STRPOOL_NONE || s.name == STRPOOL_NONE ? NULL : vec_push(&k->sections);
    if (to)
        *to = s;
    return to != NULL;
}

static bool see_map(struct kmod_sections *k, uint64_t start, uint64_t len, struct bytes file) {
    struct bytes name = {file.data, bytes_text_len(file)};
    struct kmod_map map = {name.size ? text_id(k, name) : STRPOOL_NONE, start, start + len};
    struct kmod_map *to = map.module == STRPOOL_NONE || map.end < start ? NULL : vec_push(&k->maps);
    if (to)
        *to = map;
    return to || !name.size || map.end < start;
}

bool kmod_sections_see(struct kmod_sections *k, const struct perfdata_record *rec) {
    bool kernel = (rec->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL;
    if (rec->type == PERFDATA_RECORD_KMOD_SEC_MAP)
        return see_section(k, &rec->kmod_sec_map);
    if (rec->type == PERFDATA_RECORD_MMAP && kernel)
        return see_map(k, rec->mmap.addr, rec->mmap.len, rec->mmap.filename);
    if (rec->type == PERFDATA_RECORD_MMAP2 && kernel)
        return see_map(k, rec->mmap2.addr, rec->mmap2.len, rec->mmap2.filename);
    return true;
}

static int by_module(const void *a, const void *b) {
    const struct kmod_section *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static int map_by_module(const void *a, const void *b) {
    const struct kmod_map *x = a, *y = b;
    return (x->module > y->module) - (x->module < y->module);
}

/* A longer map is one without an end, as old perfs write for the last module. */
enum { PLAUSIBLE_BYTES = 256 << 20 };

static bool is_init(const char *name) {
    return strncmp(name, ".init", 5) == 0;
}

/* Writes the name as the kernel spells it: "nf_nat" for /lib/modules/V/kernel/net/nf-nat.ko.xz or "[nf-nat]".
 */
static void put_name(struct writer *w, const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = *name == '[' ? strcspn(++name, "]") : strcspn(name, ".");
    for (size_t i = 0; i < len; i++)
        writer_u8(w, name[i] == '-' ? '_' : (uint8_t)name[i]);
}

static void put_text(struct writer *w, const char *text) {
    writer_put(w, text, strlen(text));
}

/* Adds a map of a section that no map of its module covers. The store of symbols gives it `offset`, too. */
static bool map_section(struct kmod_sections *k, struct model *m, const struct kmod_section *s,
                        uint64_t offset, struct err *err) {
    const char *path = strpool_text(&k->texts, s->module);
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP,
        .misc = PERFDATA_MISC_KERNEL,
        .mmap = {.pid = UINT32_MAX,
                 .addr = s->start,
                 .len = s->end - s->start,
                 .pgoff = offset,
                 .filename = {(const uint8_t *)path, strlen(path) + 1}},
    };
    return !model_wants(m, rec.type) || model_apply(m, &rec, (struct model_when){0, 0}, err);
}

static bool finish_module(struct kmod_sections *k, struct model *m, const struct kmod_section *s, size_t n,
                          const struct kmod_map *map, struct err *err) {
    uint64_t start = map ? map->start : 0;
    bool bounded = map && map->end - map->start < PLAUSIBLE_BYTES;
    uint64_t end = bounded ? map->end : start;
    char text[64];
    for (size_t i = 0; i < n; i++) {
        if (bounded || is_init(strpool_text(&k->texts, s[i].name)) ||
            (map && s[i].start - start >= PLAUSIBLE_BYTES))
            continue;
        start = start ? start : s[i].start;
        end = s[i].end > end ? s[i].end : end;
    }
    struct writer *w = &k->lines;
    snprintf(text, sizeof text, "module\t%llx\t%llx\t-\t", (unsigned long long)start,
             (unsigned long long)end);
    put_text(w, text);
    put_name(w, strpool_text(&k->texts, s->module));
    put_text(w, "\t");
    put_text(w, strpool_text(&k->texts, s->module));
    put_text(w, "\n");
    for (size_t i = 0; i < n; i++) {
        const char *name = strpool_text(&k->texts, s[i].name);
        bool inside = s[i].start >= start && s[i].start < end;
        snprintf(text, sizeof text, "section\t%llx\t", (unsigned long long)s[i].start);
        put_text(w, text);
        put_text(w, name);
        put_text(w, "\n");
        /* .init sections are left out: they are gone after loading, though these records, made from
         * /sys/module, still list them. */
        if (inside && !map && !map_section(k, m, &s[i], s[i].start - start, err))
            return false;
    }
    return true;
}

bool kmod_sections_finish(struct kmod_sections *k, struct model *m, struct err *err) {
    size_t next = 0;
    if (!k->sections.count)
        return true;
    qsort(k->sections.items, k->sections.count, sizeof *k->sections.items, by_module);
    if (k->maps.count)
        qsort(k->maps.items, k->maps.count, sizeof *k->maps.items, map_by_module);
    for (size_t i = 0, n; i < k->sections.count; i += n) {
        const struct kmod_section *s = &k->sections.items[i];
        for (n = 1; i + n < k->sections.count && s[n].module == s->module; n++)
            continue;
        while (next < k->maps.count && k->maps.items[next].module < s->module)
            next++;
        bool mapped = next < k->maps.count && k->maps.items[next].module == s->module;
        if (!finish_module(k, m, s, n, mapped ? &k->maps.items[next] : NULL, err))
            return false;
    }
    return writer_ok(&k->lines) || err_memory(err, "modules");
}
