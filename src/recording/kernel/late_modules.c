/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/kernel/late_modules.h"

#include <stdlib.h>

#include "base/vec.h"
#include "format/kallsyms/kallsyms.h"
#include "format/modules/modules.h"
#include "os/proc/host.h"
#include "recording/kernel/kernel_maps.h"

enum {
    MODULES_MAX = 4096,
    NAME_MAX_BYTES = 256,
    PAGE_BYTES = 4096,
    TABLES_BYTES = 1 << 16, /* on s390x these precede the code, which perf takes for the module's start */
    LARGEST_BYTES = 64 << 20
};

struct module {
    struct bytes name;   /* borrows from the list's text */
    uint64_t start, end; /* of the module's code */
    bool recorded;       /* the recording has a map of it */
};

struct modules {
    struct writer text;
    VEC(struct module) list;
};

static bool add(struct modules *l, struct bytes name, uint64_t start, uint64_t end) {
    if (!start || end <= start || end - start > LARGEST_BYTES || name.size >= NAME_MAX_BYTES - 2)
        return true;
    if (l->list.count == MODULES_MAX)
        return true;
    struct module *to = vec_push(&l->list);
    if (to)
        *to = (struct module){name, start, end, false};
    return to;
}

static int by_start(const void *a, const void *b) {
    const struct module *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_name(const void *a, const void *b) {
    const struct bytes *x = &((const struct module *)a)->name, *y = &((const struct module *)b)->name;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->size ? memcmp(x->data, y->data, x->size) : 0;
}

/* ---- lists ---- */

static bool is_code(char type) {
    return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static bool is_text(struct bytes b, const char *text) {
    return b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

/* BPF programs and the like, which are in the list as if of modules; they have records of their own. */
static bool is_made(struct bytes module) {
    static const char builtin[] = "__builtin__";
    size_t n = sizeof builtin - 1;
    return is_text(module, "bpf") || (module.size > n && !memcmp(module.data, builtin, n));
}

/* Takes the modules of a list of symbols: each begins at its first function, and ends after its last one. */
static bool take_symbols(struct modules *l, const struct model_kernel_reference *kernel, bool *same) {
    struct bytes rest = writer_bytes(&l->text), name = {0};
    uint64_t first = 0, last = 0;
    bool ok = true;
    for (struct kallsyms_symbol s; ok && kallsyms_next(&rest, &s);) {
        if (!s.module.size) {
            *same |= s.address == kernel->address && is_text(s.name, kernel->symbol);
            continue;
        }
        if (!is_code(s.type) || is_made(s.module))
            continue;
        if (bytes_equal(s.module, name)) {
            first = s.address < first ? s.address : first;
            last = s.address > last ? s.address : last;
            continue;
        }
        ok = add(l, name, first & ~(uint64_t)(PAGE_BYTES - 1), last + PAGE_BYTES);
        name = s.module;
        first = last = s.address;
    }
    return ok && add(l, name, first & ~(uint64_t)(PAGE_BYTES - 1), last + PAGE_BYTES);
}

static bool read_symbols(struct modules *l, const struct os_files *files, const char *path,
                         const struct model_kernel_reference *kernel, bool *same, struct err *err) {
    *same = false;
    if (!files->read(files->ctx, path, &l->text, NULL))
        return true; /* reported by whoever reads it for names */
    return take_symbols(l, kernel, same) || err_memory(err, "modules");
}

static bool read_modules(struct modules *l, const struct os_files *files, struct err *err) {
    if (!files->read(files->ctx, "/proc/modules", &l->text, NULL))
        return true; /* a kernel without modules */
    struct bytes rest = writer_bytes(&l->text);
    for (struct modules_entry e; modules_next(&rest, &e);)
        if (!e.loading && !add(l, e.name, e.address, e.address + e.size))
            return err_memory(err, "modules");
    return true;
}

/* ---- whether it is the recorded boot's ---- */

static bool has_running_id(const struct os_files *files, struct bytes want) {
    struct object_build_id id;
    return kernel_maps_kernel_id(files, &id, NULL) && bytes_equal((struct bytes){id.bytes, id.size}, want);
}

/* Returns when this machine was booted, seconds since 1970; 0: not known. */
static int64_t booted_s(const struct os_files *files) {
    struct writer text = writer_make(false);
    const char *at = NULL;
    if (files->read(files->ctx, "/proc/stat", &text, NULL)) {
        writer_u8(&text, 0);
        at = writer_ok(&text) ? strstr((const char *)text.data, "\nbtime ") : NULL;
    }
    int64_t s = at ? strtoll(at + strlen("\nbtime "), NULL, 10) : 0;
    writer_fini(&text);
    return s;
}

/* False if the recording shows that the running kernel is another one, or was booted since. */
static bool may_be_running(const struct resolve_recorded *r, const struct os_files *files,
                           const struct model *m, const struct model_kernel_reference *kernel) {
    struct os_host host;
    struct bytes id = model_image_build_id(m, model_image(m, kernel->image), NULL);
    const struct os_file *file = stream_file(r->stream);
    os_host_read(&host);
    if (!r->release || strcmp(r->release, host.release) != 0 || (id.size && !has_running_id(files, id)))
        return false;
    return stream_is_pipe(r->stream) || !file || file->fd < 0 || file->mtime_s >= booted_s(files);
}

static const struct model_image *module_of(const struct model *m, uint32_t image) {
    const struct model_image *i = image == MODEL_NONE ? NULL : model_image(m, image);
    return i && i->kind == MODEL_IMAGE_MODULE && i->space == MODEL_SPACE_KERNEL ? i : NULL;
}

/* Finds the image's module; the list is sorted by name. */
static struct module *find(struct modules *l, const struct model_image *image) {
    size_t len = strlen(image->short_name);
    struct module key = {.name = {(const uint8_t *)image->short_name + 1, len > 2 ? len - 2 : 0}};
    return *image->short_name == '['
               ? bsearch(&key, l->list.items, l->list.count, sizeof *l->list.items, by_name)
               : NULL;
}

/* Marks the recorded modules. Returns the number of the others. */
static size_t mark_recorded(struct modules *l, const struct model *m) {
    size_t left = l->list.count;
    if (left)
        qsort(l->list.items, left, sizeof *l->list.items, by_name);
    for (uint32_t i = 0; left && i < model_image_count(m); i++) {
        const struct model_image *image = module_of(m, i);
        struct module *is = image ? find(l, image) : NULL;
        left -= is && !is->recorded;
        if (is)
            is->recorded = true;
    }
    return left;
}

/* True if more recorded modules are where the list says than elsewhere, and some are. */
static bool lie_there(struct modules *l, const struct model *m) {
    size_t here = 0, elsewhere = 0;
    for (uint32_t i = 0; i < model_mapping_count(m); i++) {
        const struct model_mapping map = model_mapping(m, i);
        const struct model_image *image = module_of(m, map.image);
        const struct module *is = image ? find(l, image) : NULL;
        if (!is || map.pgoff)
            continue;
        bool there = map.start >= is->start && map.start < is->end && map.start - is->start < TABLES_BYTES;
        here += there;
        elsewhere += !there;
    }
    return here > elsewhere;
}

/* ---- maps ---- */

static bool map_module(struct model *m, const struct module *is, struct err *err) {
    char name[NAME_MAX_BYTES] = "[";
    memcpy(name + 1, is->name.data, is->name.size);
    name[1 + is->name.size] = ']';
    struct perfdata_record rec = {
        .type = PERFDATA_RECORD_MMAP,
        .misc = PERFDATA_MISC_KERNEL,
        .mmap = {.pid = UINT32_MAX,
                 .addr = is->start,
                 .len = is->end - is->start,
                 .filename = {(const uint8_t *)name, strlen(name) + 1}},
    };
    /* Older than every recorded map, so that each of those overrides it. */
    return model_apply(m, &rec, (struct model_when){0, 0}, err);
}

static bool map_all(struct modules *l, struct model *m, struct err *err) {
    bool ok = true;
    qsort(l->list.items, l->list.count, sizeof *l->list.items, by_start);
    for (size_t i = 0; ok && i < l->list.count; i++) {
        struct module *is = &l->list.items[i];
        if (i + 1 < l->list.count && is->end > is[1].start)
            is->end = is[1].start;
        ok = is->recorded || is->end == is->start || map_module(m, is, err);
    }
    return ok;
}

bool late_modules_map(struct resolve_recorded *r, const struct os_files *files, const char *kallsyms,
                      struct model *m, struct err *err) {
    struct model_kernel_reference kernel;
    struct modules l = {.text = writer_make(false)};
    bool same = true;
    if (resolve_recorded_kernel(r)->start || r->module_lines[0].size ||
        !model_wants(m, PERFDATA_RECORD_MMAP) || !model_kernel_reference(m, MODEL_SPACE_KERNEL, &kernel) ||
        !kernel.address)
        return true;
    bool ok =
        kallsyms ? read_symbols(&l, files, kallsyms, &kernel, &same, err) : read_modules(&l, files, err);
    if (ok && same && mark_recorded(&l, m) && lie_there(&l, m) &&
        (kallsyms || may_be_running(r, files, m, &kernel)))
        ok = map_all(&l, m, err);
    writer_fini(&l.text);
    vec_fini(&l.list);
    return ok;
}
