/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/why/why_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/proc/proc.h"
#include "recording/kernel/kernel_maps.h"
#include "symbol/name_match.h"

void why_finder_init(struct why_finder *s, struct recording *r, const struct model *m,
                     const struct recording_names *naming) {
    *s = (struct why_finder){.recording = r, .model = m, .naming = naming};
    s->why.pid = s->why.tid = UINT32_MAX;
    s->locator.model = m;
    s->samples =
        (struct resolve_samples){.locator = &s->locator, .names = naming->names, .lines = naming->lines};
    s->samples.chain.o = recording_chains(r, naming->names, RESOLVE_CHAIN_USUAL);
    s->search.samples = &s->samples;
    s->why.model = m;
    s->why.names = naming->names;
    s->why.stream = r->stream;
    s->why.events = r->events;
}

void why_finder_fini(struct why_finder *s) {
    resolve_samples_fini(&s->samples);
    resolve_locator_fini(&s->locator);
    why_search_fini(&s->search);
}

/* ---- frames ---- */

/* Names the frames that were read, for `why`. */
static void name_frames(struct why_finder *s) {
    struct resolve_samples *r = &s->samples;
    size_t kept = 0;
    for (size_t i = 0; i < r->frames.count; i++)
        resolve_sample_symbol(r, &r->frames.items[i]);
    for (size_t i = 0; i < r->frames.count; i++)
        if (r->frames.items[i].kind != RESOLVE_AT_NOTHING)
            r->frames.items[kept++] = r->frames.items[i];
    s->why.frames = r->frames.items;
    s->why.count = r->frames.count = kept;
}

static bool is_at(const struct why_finder *s, const struct resolve_sample_frame *f) {
    return f->address == s->place || (f->hit.image != MODEL_NONE && f->hit.offset == s->place);
}

/* Whether a frame is of the object that is looked for. */
static bool is_of(const struct why_finder *s, const struct resolve_sample_frame *f) {
    if (!s->dso)
        return true;
    if (f->hit.image == MODEL_NONE)
        return false;
    const struct model_image *image = model_image(s->model, f->hit.image);
    return !strcmp(image->short_name, s->dso) || !strcmp(image->name, s->dso);
}

static bool has_inlined(struct why_finder *s, struct resolve_sample_frame *f, const char *name) {
    struct object_inline functions[WHY_FUNCTIONS_MAX];
    size_t n = f->symbol.index == SYMBOL_NONE
                   ? 0
                   : resolve_sample_inlined(&s->samples, f, functions, WHY_FUNCTIONS_MAX);
    for (size_t i = 0; i + 1 < n; i++)
        if (functions[i].name && symbol_name_matches(functions[i].name, name))
            return true;
    return false;
}

/* The frame of that name; the number of frames when there is none. */
static size_t find_symbol(struct why_finder *s, const char *name) {
    size_t i = 0;
    for (; i < s->why.count; i++) {
        const char *text = resolve_names_text(s->naming->names, s->why.frames[i].symbol);
        bool found =
            s->by_place ? !text && is_at(s, &s->why.frames[i]) : text && symbol_name_matches(text, name);
        found = found || (s->inlined && has_inlined(s, &s->samples.frames.items[i], name));
        if (found && is_of(s, &s->why.frames[i]))
            break;
    }
    return i;
}

/* ---- samples ---- */

/* Without frames: it is not one that --symbol wants, or damaged. */
static bool take_sample(struct why_finder *s, const struct stream_record *r, struct err *err) {
    const uint64_t want = PERFDATA_SAMPLE_TIME | RESOLVE_CHAIN_FIELDS;
    const struct perfdata_event *e = &s->recording->events->list.items[r->event];
    struct perfdata_sample x = {.pid = UINT32_MAX, .tid = UINT32_MAX};
    struct why *w = &s->why;
    w->count = 0;
    if (!perfdata_sample_decode(&e->plan, r->raw.body, want, &x)) {
        stream_bad_record(s->recording->stream, r, "a sample is shorter than its fields");
        return true;
    }
    const struct resolve_sample_at at = {&x, &e->attr, r->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                         recording_when(s->recording, r)};
    if (s->symbol && !resolve_chain_read(&s->samples.chain, &x, &e->attr, at.cpumode, at.when))
        return err_memory(err, "why");
    if (s->symbol && !s->by_place && !s->inlined && s->samples.chain.segments.count &&
        !why_search_may_show(&s->search, &at, &s->samples.chain))
        return true;
    w->loc = r->loc;
    w->event = r->event;
    w->pid = x.pid;
    w->tid = x.tid;
    w->has_time = r->has_time;
    w->when = at.when;
    if (!resolve_sample_read_all(&s->samples, &at))
        return err_memory(err, "why");
    name_frames(s);
    return true;
}

static bool lacks_sample(const struct why_finder *s, struct err *err) {
    if (s->symbol)
        return err_set(err, ERR_ABSENT, "--symbol", "no frame of the recording is called %s", s->symbol);
    return err_set(err, ERR_ABSENT, "--sample", "the recording has %llu samples",
                   (unsigned long long)s->why.number);
}

/* Finds the sample with that number, or the first one with a frame of the name. */
static bool find_sample(struct why_finder *s, uint64_t wanted, struct err *err) {
    struct stream_record r;
    enum stream_status status;
    struct why *w = &s->why;
    w->has_sample = true;
    w->number = 0;
    stream_rewind(s->recording->stream);
    while ((status = stream_next(s->recording->stream, &r, err)) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE || r.event >= s->recording->events->list.count)
            continue;
        w->number++;
        if (!s->symbol && w->number != wanted)
            continue;
        if (!take_sample(s, &r, err))
            return false;
        if (s->symbol)
            w->chosen = find_symbol(s, s->symbol);
        if (!s->symbol || w->chosen < w->count)
            break;
    }
    if (status == STREAM_FAILED)
        return false;
    if (status == STREAM_END)
        return lacks_sample(s, err);
    w->comm = model_comm(s->model, w->pid, w->tid, w->when, NULL);
    return w->chosen < w->count || err_set(err, ERR_ABSENT, "--frame", "the sample has %zu frames", w->count);
}

bool why_finder_sample(struct why_finder *s, uint64_t sample, uint64_t frame, struct err *err) {
    s->why.chosen = (size_t)frame;
    return find_sample(s, sample, err);
}

bool why_finder_symbol(struct why_finder *s, const char *name, const char *dso, struct err *err) {
    char *end = NULL;
    s->place = !strncmp(name, "0x", 2) ? strtoull(name, &end, 16) : 0;
    s->by_place = end && end > name + 2 && !*end;
    s->symbol = s->search.name = name;
    s->dso = dso;
    if (find_sample(s, 0, err))
        return true;
    if (err->code != ERR_ABSENT || s->by_place)
        return false;
    *err = ERR_INIT;
    s->inlined = true; /* every frame's functions are looked up, which is slow: only now */
    return find_sample(s, 0, err);
}

bool why_finder_address(struct why_finder *s, bool kernel, uint64_t address, struct err *err) {
    if (!resolve_sample_read_address(&s->samples, kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER,
                                     s->why.pid, s->why.when, address))
        return err_memory(err, "why");
    name_frames(s);
    return true;
}

void why_finder_source(struct why_finder *s) {
    struct why *w = &s->why;
    struct resolve_sample_frame *f = &s->samples.frames.items[w->chosen];
    if (f->symbol.index == SYMBOL_NONE)
        return;
    w->function_count = resolve_sample_inlined(&s->samples, f, w->functions, WHY_FUNCTIONS_MAX);
    if (!w->function_count && resolve_sample_line(&s->samples, f, &w->functions[0].line))
        w->function_count = 1;
}

/* ---- identities ---- */

static void recorded_identity(const struct why_finder *s, const struct model_image *image,
                              struct why_identity *id) {
    struct perfdata_evidence e;
    struct bytes build_id = model_image_build_id(s->model, image, NULL);
    id->build_id.size = (uint8_t)(build_id.size < sizeof id->build_id.bytes ? build_id.size : 0);
    memcpy(id->build_id.bytes, build_id.data ? build_id.data : id->build_id.bytes, id->build_id.size);
    if (!model_image_evidence(s->model, image, &e))
        return;
    id->has_cookie = e.has_cookie;
    memcpy(id->cookie, e.cookie, sizeof id->cookie);
    id->has_state = e.has_state;
    id->state = e.state;
}

static void read_file(struct why *w, struct err *err) {
    struct os_identity now;
    struct os_image file;
    if (!os_proc_system.identity(NULL, w->now_path, &now, err) ||
        !os_proc_system.image(NULL, w->now_path, UINT64_MAX, &file, err))
        return;
    w->now.has_state = true;
    w->now.state = (struct perfdata_file_state){now.dev, now.ino, now.size, now.mtime_ns, now.ctime_ns};
    object_build_id_read(file.bytes, &w->now.build_id);
    if (!w->now.build_id.size)
        w->now.has_cookie = object_cookie_read(file.bytes, w->now.cookie);
    os_proc_system.release(NULL, &file);
}

void why_finder_identities(struct why_finder *s, const char *symfs, char *path, size_t size,
                           struct err *err) {
    struct why *w = &s->why;
    const struct resolve_sample_frame *f = &w->frames[w->chosen];
    const struct model_image *image = f->hit.image == MODEL_NONE ? NULL : model_image(s->model, f->hit.image);
    if (!image)
        return;
    recorded_identity(s, image, &w->then);
    if (image->kind == MODEL_IMAGE_KERNEL && image->space == MODEL_SPACE_KERNEL) {
        w->now_path = WHY_RUNNING_KERNEL;
        kernel_maps_kernel_id(&os_files_real, &w->now.build_id, err);
    } else if (*image->name == '/' && image->pid == MODEL_NONE) {
        int len = (int)strlen(image->name) - (image->deleted ? (int)strlen(" (deleted)") : 0);
        snprintf(path, size, "%s%.*s", symfs ? symfs : "", len, image->name);
        w->now_path = path;
        read_file(w, err);
    }
    bool gone = err->code == ERR_ABSENT && w->now_path == path;
    w->now_error = gone ? "there is no such file" : err->code ? err->message : NULL;
}
