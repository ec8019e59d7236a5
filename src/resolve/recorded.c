/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "format/perfdata/added/evidence.h"
#include "format/perfdata/added/module_map.h"
#include "format/perfdata/header/feature.h"
#include "os/files/place.h"

void resolve_recorded_fini(struct resolve_recorded *r) {
    resolve_returns_fini(&r->returns);
    free(r->release);
    free(r->host);
    free(r->arch);
    free(r->kcore);
    free(r->kcore_modules);
}

/* Gives the model the header's build-ids, for files that have them only there. */
static bool apply_build_ids(struct resolve_recorded *r, struct model *m, struct err *err) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    bool ok = true;
    if (perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_BUILD_ID, &arena, &value)) {
        for (uint32_t i = 0; ok && i < value.build_ids.count; i++) {
            const struct perfdata_feature_build_id *b = &value.build_ids.items[i];
            struct perfdata_record rec = {.type = PERFDATA_RECORD_HEADER_BUILD_ID, .misc = b->misc};
            rec.build_id.pid = b->pid;
            memcpy(rec.build_id.build_id, b->id, sizeof rec.build_id.build_id);
            rec.build_id.filename = b->name;
            ok = model_apply(m, &rec, (struct model_when){0, 0}, err);
        }
    }
    if (value.no_memory)
        ok = err_memory(err, "build-ids");
    arena_fini(&arena);
    return ok;
}

struct bytes resolve_recorded_kept(const struct resolve_recorded *r) {
    return stream_part(r->stream, false, PERFDATA_PART_KEPT);
}

const struct perfdata_kernel_facts *resolve_recorded_kernel(struct resolve_recorded *r) {
    struct bytes text = stream_part(r->stream, false, PERFDATA_PART_KERNEL);
    if (text.size && !r->kernel.start)
        perfdata_kernel_facts_decode(text, &r->kernel);
    return &r->kernel;
}

void resolve_recorded_see(struct resolve_recorded *r, const struct perfdata_record *rec) {
    struct perfdata_evidence e;
    if (rec->type == PERFDATA_RECORD_MMAP2 && rec->mmap2.pid == UINT32_MAX && !r->kernel.start &&
        (rec->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL &&
        perfdata_evidence_decode(rec->mmap2.filename, stream_header(r->stream)->swap, &e) && e.kernel.size)
        perfdata_kernel_facts_decode(e.kernel, &r->kernel);
}

/* Makes the places of kernel modules that were unloaded while recording empty, as a KSYMBOL record does for
 * other code. */
static bool apply_unloads(struct model *m, struct bytes lines, struct err *err) {
    for (struct perfdata_module_line l; perfdata_module_line_next(&lines, &l);) {
        if (l.kind != PERFDATA_MODULE_LINE_UNLOADED || l.end <= l.start)
            continue;
        uint64_t size = l.end - l.start;
        struct perfdata_record gone = {.type = PERFDATA_RECORD_KSYMBOL,
                                       .ksymbol = {.addr = l.start,
                                                   .len = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX,
                                                   .flags = PERFDATA_KSYMBOL_UNREGISTER}};
        if (model_wants(m, gone.type) && !model_apply(m, &gone, (struct model_when){l.time_ns, 0}, err))
            return false;
    }
    return true;
}

/* Maps the code that modules ran while they were loaded. When it was freed is not recorded: it ends when
 * something else is mapped there. */
static bool apply_init_code(struct model *m, struct bytes lines, struct err *err) {
    for (struct perfdata_module_map map; perfdata_module_map_next(&lines, &map);) {
        uint64_t start, end;
        if (!map.loaded || !perfdata_module_map_init(&map, &start, &end))
            continue;
        struct perfdata_record init = {
            .type = PERFDATA_RECORD_MMAP2,
            .misc = PERFDATA_MISC_KERNEL,
            .mmap2 = {.pid = UINT32_MAX,
                      .addr = start,
                      .len = end - start,
                      .pgoff = PERFDATA_MODULE_INIT,
                      .has_build_id = map.module.build_id_bytes != 0,
                      .build_id_size = map.module.build_id_bytes,
                      .prot = PROT_READ | PROT_EXEC,
                      .filename = map.module.path},
        };
        memcpy(init.mmap2.build_id, map.module.build_id, sizeof init.mmap2.build_id);
        if (model_wants(m, init.type) && !model_apply(m, &init, (struct model_when){map.time_ns, 0}, err))
            return false;
    }
    return true;
}

/* Gives the model what the trailer says of mapped files and modules. */
static bool apply_trailer(struct resolve_recorded *r, struct model *m, struct err *err) {
    struct bytes box = stream_box(r->stream, false), name;
    const bool swap = stream_header(r->stream)->swap;
    struct perfdata_part part;
    struct perfdata_evidence e;
    bool ok = true;
    for (uint32_t i = 0; box.size && ok && perfdata_box_part(box, swap, i, &part); i++) {
        while (ok && part.tag == PERFDATA_PART_IMAGES &&
               perfdata_image_evidence_next(&part.content, swap, &name, &e))
            ok = model_add_evidence(m, name, &e, err);
        if (ok && part.tag == PERFDATA_PART_MODULES)
            ok = apply_unloads(m, part.content, err) && apply_init_code(m, part.content, err);
    }
    return ok;
}

/* A copy of a feature that is text; NULL: not recorded. */
static char *text_of(const struct resolve_recorded *r, enum perfdata_feature_id id) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value value;
    char *text = NULL;
    if (perfdata_feature_get(stream_header(r->stream), id, &arena, &value) && value.text.size)
        text = strndup((const char *)value.text.data, bytes_text_len(value.text));
    arena_fini(&arena);
    return text;
}

bool resolve_recorded_apply(struct resolve_recorded *r, struct model *m, struct err *err) {
    r->module_lines[0] = stream_part(r->stream, true, PERFDATA_PART_SECTIONS);
    r->module_lines[1] = stream_part(r->stream, false, PERFDATA_PART_MODULES);
    r->release = r->release ? r->release : text_of(r, PERFDATA_FEATURE_OSRELEASE);
    return apply_build_ids(r, m, err) && apply_trailer(r, m, err);
}

static struct symbol_returns find_returns(void *ctx, enum symbol_space space) {
    struct resolve_recorded *r = ctx;
    return resolve_returns_find(&r->returns, r->stream, space);
}

/* The path of a file where `perf record --kcore` puts it: DIRECTORY/kcore_dir/NAME. NULL: it does not exist.
 */
static char *kcore_file(const struct resolve_recorded *r, const char *name) {
    char *path = NULL;
    if (asprintf(&path, "%s/kcore_dir/%s", stream_path(r->stream), name) < 0)
        return NULL;
    if (os_place_taken(path))
        return path;
    free(path);
    return NULL;
}

/* What to add to the recording's clock to get wall-clock time, as both were read at its start; 0: not known.
 */
static int64_t clock_to_wall_ns(const struct resolve_recorded *r) {
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    int64_t ns = 0;
    if (perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_CLOCK_DATA, &arena, &v) &&
        v.clock_data.wall_ns <= INT64_MAX && v.clock_data.clock_ns <= INT64_MAX)
        ns = (int64_t)v.clock_data.wall_ns - (int64_t)v.clock_data.clock_ns;
    arena_fini(&arena);
    return ns;
}

void resolve_recorded_options(struct resolve_recorded *r, struct symbol_options *o) {
    const struct os_file *file = stream_file(r->stream);
    r->release = r->release ? r->release : text_of(r, PERFDATA_FEATURE_OSRELEASE);
    r->host = r->host ? r->host : text_of(r, PERFDATA_FEATURE_HOSTNAME);
    r->arch = r->arch ? r->arch : text_of(r, PERFDATA_FEATURE_ARCH);
    if (!o->host.kallsyms && !o->host.vmlinux && !r->kcore) {
        r->kcore = kcore_file(r, "kallsyms");
        r->kcore_modules = kcore_file(r, "modules");
    }
    o->host.kallsyms = r->kcore ? r->kcore : o->host.kallsyms;
    if (r->kcore_modules && !o->host.modules)
        o->host.modules = r->kcore_modules;
    o->recorded_host = r->host;
    o->recorded_arch = r->arch;
    o->recorded_ns = stream_is_pipe(r->stream) || !file || file->fd < 0 ? 0 : file->mtime_ns;
    o->clock_to_wall_ns = clock_to_wall_ns(r);
    o->span = &r->span;
    o->kernel = resolve_recorded_kernel(r);
    o->module_lines = r->module_lines;
    o->returns = find_returns;
    o->returns_ctx = r;
    o->kept = resolve_recorded_kept(r);
    o->kept_swap = stream_header(r->stream)->swap;
}
