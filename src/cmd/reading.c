/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/reading.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <time.h>

#include "base/log.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "format/kallsyms/kallsyms.h"
#include "format/perfdata/evidence.h"
#include "format/perfdata/module_map.h"
#include "os/files.h"
#include "os/heap.h"

bool reading_open(struct reading *r, const char *path, bool force, struct err *err) {
    *r = (struct reading){0};
    if (!input_check(path, force, err))
        return false;
    os_heap_prepare();
    r->stream = stream_open(path, &(struct stream_options){0}, err);
    if (!r->stream)
        return false;
    r->events = stream_events(r->stream);
    return input_read_head(r->stream, err) && reading_names(r, err);
}

/* The formats borrow from the namer. */
static void forget_names(struct reading *r) {
    tracefs_formats_free(r->formats);
    r->formats = NULL;
    perfdata_namer_fini(&r->namer);
}

void reading_close(struct reading *r) {
    forget_names(r);
    resolve_jit_free(r->jit);
    stream_close(r->stream);
    kmod_sections_fini(&r->kmod);
    resolve_returns_fini(&r->returns);
    *r = (struct reading){0};
}

bool reading_names(struct reading *r, struct err *err) {
    const struct perfdata_header *h = stream_header(r->stream);
    size_t events = r->events->list.count, features = h->features.count;
    if (r->named_events == events && r->named_features == features)
        return true;
    forget_names(r);
    r->named_events = events;
    r->named_features = features;
    if (!perfdata_namer_init(&r->namer, h) || !perfdata_feature_apply_names(h, r->events) ||
        !perfdata_event_name_rest(&r->namer, r->events))
        return err_memory(err, "event names");
    struct err absent = ERR_INIT;
    if (r->namer.tracing.events.count) {
        r->formats = tracefs_formats_new(&r->namer.tracing, r->symbol, r->symbol_ctx, &absent);
        if (!r->formats)
            log_line(LOG_WARN, "%s: %s", absent.where, absent.message);
    }
    return true;
}

bool reading_symbols(struct reading *r, tracefs_symbol_fn *symbol, void *ctx, struct err *err) {
    r->symbol = symbol;
    r->symbol_ctx = ctx;
    if (!r->formats)
        return true;
    tracefs_formats_free(r->formats);
    r->formats = tracefs_formats_new(&r->namer.tracing, symbol, ctx, err);
    return r->formats;
}

/* ---- jitdumps ---- */

bool reading_jitdumps(struct reading *r, const char *dump_dir, const char *symfs, struct err *err) {
    struct resolve_jit_options o = {.recording = stream_path(r->stream),
                                    .dump_dir = dump_dir,
                                    .symfs = symfs,
                                    .kept = reading_kept(r),
                                    .kept_swap = r->events->swap};
    if (!r->jit)
        r->jit = resolve_jit_new(&o, err);
    return r->jit;
}

static bool feed_jit(struct reading *r, struct model *m, struct err *err) {
    if (!r->jit)
        return true;
    resolve_jit_use_clock(r->jit, r->events);
    resolve_jit_use_pairs(r->jit, stream_part(r->stream, true, PERFDATA_PART_CLOCK),
                          stream_part(r->stream, false, PERFDATA_PART_CLOCK), r->events->swap);
    if (!resolve_jit_feed(r->jit, m, err))
        return false;
    reading_warn_jitdumps(r);
    return true;
}

bool reading_follow_jitdumps(struct reading *r, struct model *m, uint64_t now_ns, bool grown,
                             struct err *err) {
    if (!r->jit)
        return true;
    if (grown)
        resolve_jit_use_clock(r->jit, r->events);
    return resolve_jit_follow(r->jit, m, now_ns, grown, err);
}

void reading_warn_jitdumps(const struct reading *r) {
    for (size_t i = 0; r->jit && i < resolve_jit_count(r->jit); i++)
        if (resolve_jit_dump(r->jit, i)->why)
            log_line(LOG_WARN, "%s", resolve_jit_dump(r->jit, i)->why);
}

struct model_when reading_when(const struct reading *r, const struct stream_record *rec) {
    uint64_t time_ns = rec->has_time ? rec->time_ns : stream_when_ns(r->stream, rec);
    return (struct model_when){time_ns, rec->loc};
}

bool reading_decode(struct reading *r, const struct stream_record *raw, struct perfdata_record *out) {
    const struct perfdata_plan *plan = NULL;
    const char *reason = NULL;
    if (raw->event < r->events->list.count)
        plan = &r->events->list.items[raw->event].plan;
    if (perfdata_record_decode(&raw->raw, plan, r->events->swap, out, &reason))
        return true;
    stream_bad_record(r->stream, raw, reason);
    return false;
}

/* Gives the model the header's BUILD_ID entries, for files that have them only there. */
static bool apply_build_ids(struct reading *r, struct model *m, struct err *err) {
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

static void find_module_lines(struct reading *r) {
    struct bytes own = stream_part(r->stream, true, PERFDATA_PART_SECTIONS);
    r->module_lines[0] = own.size ? own : writer_bytes(&r->kmod.lines);
    r->module_lines[1] = stream_part(r->stream, false, PERFDATA_PART_MODULES);
}

struct bytes reading_kept(const struct reading *r) {
    return stream_part(r->stream, false, PERFDATA_PART_KEPT);
}

const struct perfdata_kernel_facts *reading_kernel_facts(struct reading *r) {
    struct bytes text = stream_part(r->stream, false, PERFDATA_PART_KERNEL);
    if (text.size && !r->kernel.start)
        perfdata_kernel_facts_decode(text, &r->kernel);
    return &r->kernel;
}

/* The kernel's own map may say the same. */
static void see_kernel(struct reading *r, const struct perfdata_record *rec) {
    struct perfdata_evidence e;
    if (rec->type == PERFDATA_RECORD_MMAP2 && rec->mmap2.pid == UINT32_MAX && !r->kernel.start &&
        (rec->misc & PERFDATA_MISC_CPUMODE_MASK) == PERFDATA_MISC_KERNEL &&
        perfdata_evidence_decode(rec->mmap2.filename, r->events->swap, &e) && e.kernel.size)
        perfdata_kernel_facts_decode(e.kernel, &r->kernel);
}

/* A kernel module that went while recording: nothing is there any more, as after a KSYMBOL record that says
 * so of other code. */
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

/* Code that a module ran while it was loaded. Nothing says when it was freed: what is mapped there next ends
 * it.
 */
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
static bool apply_trailer(struct reading *r, struct model *m, struct err *err) {
    struct bytes box = stream_box(r->stream, false), name;
    const bool swap = r->events->swap;
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

bool reading_apply(struct reading *r, struct model *m, const struct stream_record *raw, struct err *err) {
    struct perfdata_record rec;
    /* Decoded in any case: damage is damage whoever looks. */
    if (raw->legacy || !reading_decode(r, raw, &rec))
        return true;
    if (!kmod_sections_see(&r->kmod, &rec))
        return err_memory(err, "modules");
    see_kernel(r, &rec);
    if (r->jit && !resolve_jit_note_record(r->jit, &rec, reading_when(r, raw)))
        return err_memory(err, "jitdumps");
    if (!model_wants(m, raw->raw.type))
        return true;
    return model_apply(m, &rec, reading_when(r, raw), err);
}

/* Where modules end of which the recording does not say it: a page behind their last symbol. */
static void end_modules(const struct reading *r, struct model *m) {
    enum { MODULES_MAX = 64 }; /* old perfs wrote one */
    struct writer text = writer_make(false);
    bool needed = r->kallsyms && model_endless_count(m);
    if (needed && os_files_real.read(os_files_real.ctx, r->kallsyms, &text, NULL))
        for (uint32_t i = 0; i < model_endless_count(m) && i < MODULES_MAX; i++) {
            const struct model_mapping *map = model_mapping(m, model_endless(m, i));
            const char *name = model_image(m, map->image)->short_name;
            struct bytes rest = writer_bytes(&text);
            struct kallsyms_symbol s;
            uint64_t last = 0, first = UINT64_MAX;
            while (kallsyms_next(&rest, &s))
                if (s.module.size && s.type != 'a' && *name == '[' && strlen(name) == s.module.size + 2 &&
                    memcmp(name + 1, s.module.data, s.module.size) == 0) {
                    last = s.address > last ? s.address : last;
                    first = s.address < first ? s.address : first;
                }
            if (first >= map->start && last >= first) /* else it was loaded elsewhere then */
                model_end_module(m, i, (last & ~(uint64_t)4095) + 2 * 4096 - 1);
        }
    writer_fini(&text);
}

/* The next record that needs a look; some samples among them. */
static enum stream_status next_of_first_pass(struct reading *r, struct reading_span *times,
                                             struct stream_record *rec, struct err *err) {
    struct stream_passed passed = {times->first_ns, times->last_ns};
    resolve_returns_pass(&r->returns,
                         stream_pass_samples(r->stream, resolve_returns_left(&r->returns), &passed));
    *times = (struct reading_span){passed.first_ns, passed.last_ns};
    return stream_next(r->stream, rec, err);
}

bool reading_first_pass(struct reading *r, struct model *m, struct reading_span *span, reading_seen_fn *seen,
                        void *ctx, struct err *err) {
    struct stream_record rec;
    struct reading_span times = {UINT64_MAX, 0};
    enum stream_status status;
    while ((status = next_of_first_pass(r, &times, &rec, err)) == STREAM_RECORD) {
        if (rec.raw.type == PERFDATA_RECORD_SAMPLE) {
            if (rec.has_time) {
                times.first_ns = rec.time_ns < times.first_ns ? rec.time_ns : times.first_ns;
                times.last_ns = rec.time_ns > times.last_ns ? rec.time_ns : times.last_ns;
            }
            resolve_returns_note(&r->returns, rec.loc);
            continue;
        }
        if (rec.legacy)
            continue;
        if ((seen && !seen(ctx, &rec, err)) || !reading_apply(r, m, &rec, err))
            return false;
    }
    if (span)
        *span = times;
    if (status != STREAM_END || !reading_names(r, err) || !apply_build_ids(r, m, err) ||
        !apply_trailer(r, m, err) || !kmod_sections_finish(&r->kmod, m, err))
        return false;
    find_module_lines(r);
    end_modules(r, m);
    if (!feed_jit(r, m, err) || !model_freeze(m, err))
        return false;
    stream_rewind(r->stream);
    return true;
}

int64_t reading_captured_s(const struct reading *r) {
    const struct os_file *f = stream_file(r->stream);
    return stream_is_pipe(r->stream) || f->fd < 0 ? (int64_t)time(NULL) : f->mtime_s;
}

int reading_status(const struct reading *r) {
    const struct stream_losses *l = stream_losses(r->stream);
    if (l->lost_events || l->lost_samples)
        log_line(LOG_WARN, "%s: the recorder lost %" PRIu64 " events and %" PRIu64 " samples",
                 stream_path(r->stream), l->lost_events, l->lost_samples);
    if (l->unknown_ids)
        log_line(LOG_WARN, "%s: %" PRIu64 " samples belong to no event and are not shown",
                 stream_path(r->stream), l->unknown_ids);
    return stream_all_read(r->stream) ? EXIT_OK : EXIT_ERROR;
}
