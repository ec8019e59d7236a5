/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/hash.h"
#include "base/log.h"
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/kernel_maps.h"
#include "cmd/reading.h"
#include "os/map.h"
#include "view/buildid_text.h"

struct buildid_options {
    bool force, hits, kernel, kernel_maps;
    int verbose;
    const char *input;
};

static const struct option options[] = {
    INPUT_FORCE_OPTION(struct buildid_options, force),
    OPTION_BOOL('H', "with-hits", struct buildid_options, hits, "Show only DSOs with hits"),
    INPUT_OPTION(struct buildid_options, input),
    OPTION_BOOL('k', "kernel", struct buildid_options, kernel, "Show current kernel build id"),
    OPTION_BOOL('m', "kernel-maps", struct buildid_options, kernel_maps,
                "Show build id of current kernel + modules"),
    OPTION_COUNT('v', "verbose", struct buildid_options, verbose, "be more verbose"),
    OPTION_END,
};

static int list_kernel(struct command_env *env) {
    struct object_build_id id;
    struct err err = ERR_INIT;
    struct out out;
    if (!kernel_maps_kernel_id(&os_files_real, &id, &err))
        return command_fail(&err);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    buildid_text_id((struct bytes){id.bytes, id.size}, 0, &out);
    out_char(&out, '\n');
    return command_finish(env, &out, EXIT_OK);
}

static int list_kernel_maps(struct command_env *env) {
    struct kernel_maps maps;
    struct err err = ERR_INIT;
    struct utsname uts;
    struct out out;
    int status = EXIT_ERROR;
    const char *release = uname(&uts) == 0 ? uts.release : "";
    if (!kernel_maps_read(&maps, &os_files_real, release, &err)) {
        command_fail(&err);
    } else if (command_output(env, &out)) {
        for (size_t i = 0; i < maps.list.count; i++) {
            const struct kernel_map *m = &maps.list.items[i];
            buildid_text_id((struct bytes){m->id.bytes, m->id.size}, 40, &out);
            out_char(&out, ' ');
            out_hex(&out, m->start, 16);
            out_char(&out, ' ');
            out_hex(&out, m->end, 16);
            out_printf(&out, " %s\n", m->path);
        }
        status = command_finish(env, &out, EXIT_OK);
    }
    kernel_maps_fini(&maps);
    return status;
}

/* Prints the build-id if the input is an ELF file; false when it is none. */
static bool list_elf(struct command_env *env, const char *path, int *status) {
    struct os_file file;
    struct os_map map = {0};
    struct object_build_id id;
    struct err err = ERR_INIT;
    struct out out;
    struct stat st;
    /* A FIFO can be opened once only: what comes through it is taken for a recording. */
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        !os_file_open(path, &file, &err))
        return false; /* opened as a recording, it will tell why not */
    bool is_elf =
        file.kind == OS_FILE_REGULAR && os_map_file(&file, path, &map, &err) && object_is_elf(map.bytes);
    if (is_elf && !object_build_id_read(map.bytes, &id)) {
        err_set(&err, ERR_ABSENT, path, "this ELF file has no build-id");
        *status = command_fail(&err);
    } else if (is_elf) {
        *status = EXIT_ERROR;
        if (command_output(env, &out)) {
            buildid_text_id((struct bytes){id.bytes, id.size}, 0, &out);
            out_char(&out, '\n');
            *status = command_finish(env, &out, EXIT_OK);
        }
    }
    os_map_fini(&map);
    os_file_close(&file);
    return is_elf;
}

/* --- DSOs with hits --- */

struct hits {
    struct reading *reading;
    struct model *model;
    uint8_t *hit; /* by image id */
};

static void hit_address(struct hits *h, unsigned cpumode, uint32_t pid, struct model_when when,
                        uint64_t address) {
    struct model_hit found;
    if (model_find(h->model, cpumode, pid, when, address, &found))
        h->hit[found.image] = 1;
}

/* The sample's own address, and those of its callchain. */
static void hit_sample(struct hits *h, const struct stream_record *r, const struct perfdata_sample *s) {
    struct model_when when = reading_when(h->reading, r);
    unsigned cpumode = r->raw.misc & PERFDATA_MISC_CPUMODE_MASK;
    if (s->have & PERFDATA_SAMPLE_IP)
        hit_address(h, cpumode, s->pid, when, s->ip);
    if (!(s->have & PERFDATA_SAMPLE_CALLCHAIN))
        return;
    for (uint64_t i = 0; i < s->callchain.count; i++) {
        uint64_t address = perfdata_u64_at(&s->callchain, i);
        if (address >= PERFDATA_CONTEXT_MAX)
            cpumode = perfdata_context_cpumode(address);
        else
            hit_address(h, cpumode, s->pid, when, address);
    }
}

static bool find_hits(struct hits *h, struct err *err) {
    const uint64_t want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_CALLCHAIN;
    struct stream *s = h->reading->stream;
    struct stream_record r;
    enum stream_status status;
    while ((status = stream_next(s, &r, err)) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE || r.legacy || r.event == PERFDATA_NO_EVENT)
            continue;
        struct perfdata_sample sample;
        const struct perfdata_plan *plan = &h->reading->events->list.items[r.event].plan;
        if (perfdata_sample_decode(plan, r.raw.body, want, &sample))
            hit_sample(h, &r, &sample);
        else
            stream_bad_record(s, &r, "the sample is shorter than its event's fields");
    }
    return status == STREAM_END;
}

/* What perf has no DSO for. */
static bool is_no_dso(const struct model_image *image) {
    return image->kind == MODEL_IMAGE_HEAP || image->kind == MODEL_IMAGE_STACK ||
           image->kind == MODEL_IMAGE_SYSV;
}

static bool list_hits(const struct hits *h, struct buildid_list *list) {
    struct hash_map anonymous = {0}; /* by pid: all memory without a file of a process is one DSO to perf */
    bool ok = true;
    for (uint32_t i = 0; ok && i < model_image_count(h->model); i++) {
        const struct model_image *image = model_image(h->model, i);
        bool guest = image->space == MODEL_SPACE_GUEST_USER || image->space == MODEL_SPACE_GUEST_KERNEL;
        struct bytes name = {(const uint8_t *)image->name, strlen(image->name)};
        if (!h->hit[i] || is_no_dso(image))
            continue;
        if (image->kind == MODEL_IMAGE_ANON) {
            if (hash_map_get(&anonymous, image->pid) != HASH_ABSENT)
                continue;
            ok = hash_map_set(&anonymous, image->pid, 0);
        }
        ok = ok && buildid_list_push(list, model_image_build_id(h->model, image, NULL), name, guest ? 0 : -1);
    }
    hash_map_fini(&anonymous);
    buildid_list_sort(list, false);
    return ok;
}

static bool collect_hits(struct reading *r, struct hits *h, struct buildid_list *list, struct err *err) {
    *h = (struct hits){.reading = r};
    h->model = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    if (!h->model || !reading_first_pass(r, h->model, NULL, NULL, NULL, err))
        return false;
    h->hit = calloc(model_image_count(h->model) + 1, 1);
    if (!h->hit)
        return err_memory(err, "images");
    return find_hits(h, err) && (list_hits(h, list) || err_memory(err, "images"));
}

/* --- what the header lists --- */

static void log_entries(const struct perfdata_feature_build_ids *ids) {
    for (uint32_t i = 0; i < ids->count; i++) {
        const struct perfdata_feature_build_id *e = &ids->items[i];
        char digits[2 * sizeof e->id + 1] = "";
        for (uint8_t k = 0; k < e->id_size; k++)
            snprintf(digits + 2 * k, 3, "%02x", e->id[k]);
        log_line(LOG_INFO, "build id event received for %.*s: %s [%u]", (int)bytes_text_len(e->name),
                 (const char *)e->name.data, digits, e->id_size);
    }
}

static bool list_feature(struct reading *r, struct arena *arena, struct buildid_list *list, struct err *err) {
    struct perfdata_feature_value v;
    if (!perfdata_feature_get(stream_header(r->stream), PERFDATA_FEATURE_BUILD_ID, arena, &v))
        return !v.no_memory ||
               err_memory(err, "build-ids"); /* else it lies outside the file, which was said */
    if (v.cut)
        log_line(LOG_WARN, "%s: the list of build-ids is damaged: %u of them could be read",
                 stream_path(r->stream), v.build_ids.count);
    log_entries(&v.build_ids);
    if (!buildid_list_add(list, &v.build_ids))
        return err_memory(err, "build-ids");
    buildid_list_sort(list, true);
    return true;
}

/* A recording that lists build-ids has that list printed. Others have their DSOs with hits, as with -H. */
static int list_recording(struct command_env *env, const char *path, const struct buildid_options *o) {
    struct reading reading;
    struct hits hits = {0};
    struct buildid_list list = {0};
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct out out;
    int status = EXIT_ERROR;
    bool ok = reading_open(&reading, path, o->force, &err);
    if (ok && !o->hits && stream_header(reading.stream)->container != PERFDATA_CONTAINER_PIPE &&
        perfdata_header_feature(stream_header(reading.stream), PERFDATA_FEATURE_BUILD_ID))
        ok = list_feature(&reading, &arena, &list, &err);
    else if (ok)
        ok = collect_hits(&reading, &hits, &list, &err);
    if (!ok) {
        status = command_fail(&err);
    } else if (command_output(env, &out)) {
        buildid_text_write(&list, &out);
        status = command_finish(env, &out, reading_status(&reading));
    }
    free(hits.hit);
    model_free(hits.model);
    buildid_list_fini(&list);
    arena_fini(&arena);
    reading_close(&reading);
    return status;
}

static int run(struct command_env *env, int argc, char **argv) {
    struct buildid_options o = {0};
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc)
        return command_usage(env, NULL);
    command_log(env, o.verbose, false);
    if (o.kernel)
        return list_kernel(env);
    if (o.kernel_maps)
        return list_kernel_maps(env);
    const char *path = input_path(o.input);
    if (list_elf(env, path, &status))
        return status;
    return list_recording(env, path, &o);
}

const struct command cmd_buildid_list = {
    .name = "buildid-list",
    .summary = "List the build-ids in a recording",
    .usage = (const char *const[]){"buildid-list [<options>]", NULL},
    .options = options,
    .run = run,
};
