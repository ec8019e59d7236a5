/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/input.h"
#include "cmd/common/symbol_notes.h"
#include "cmd/why/why_search.h"
#include "os/proc.h"
#include "recording/kernel_maps.h"
#include "symbol/name_match.h"
#include "view/lists/why.h"

struct why_options {
    bool force, json;
    int verbose;
    const char *input, *pid, *time, *symbol;
    uint64_t sample, frame;
    struct symbol_options symbols;
};

#define OWN struct why_options
static const struct option options[] = {
    INPUT_OPTION(OWN, input),
    INPUT_FORCE_OPTION(OWN, force),
    OPTION_COUNT('v', "verbose", OWN, verbose, "be more verbose"),
    OPTION_U64(0, "sample", OWN, sample, "n",
               "a frame of the n-th sample, in the order of the file (default: 1)"),
    OPTION_U64(0, "frame", OWN, frame, "n", "with --sample: the n-th frame from the innermost, which is 0"),
    OPTION_STRING(0, "pid", OWN, pid, "pid", "an address of this process; without it, of the kernel"),
    OPTION_STRING(0, "time", OWN, time, "seconds", "when, as script shows it (default: at the end)"),
    OPTION_STRING(0, "symbol", OWN, symbol, "name", "the first frame of that name"),
    OPTION_BOOL(0, "json", OWN, json, "as one line of JSON"),
    OPTION_STRING('k', "vmlinux", OWN, symbols.host.vmlinux, "file", "kernel image"),
    OPTION_STRING(0, "force-image", OWN, symbols.force_images, "[object=]file[,...]",
                  "use these files even though nothing proves that they match"),
    OPTION_STRING(0, "kallsyms", OWN, symbols.host.kallsyms, "file", "kallsyms file"),
    OPTION_STRING(0, "symfs", OWN, symbols.symfs, "directory",
                  "look for files with symbols under this directory"),
    OPTION_END,
};

struct session {
    const struct why_options *o;
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct resolve_locator locator;
    struct resolve_samples samples;
    struct why_search search; /* of --symbol */
    struct why why;
};

/* ---- frames ---- */

/* Names the frames that were read, for `why`. */
static void name_frames(struct session *s) {
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

/* The frame of that name; the number of frames when there is none. */
static size_t find_symbol(const struct session *s, const char *name) {
    size_t i = 0;
    for (; i < s->why.count; i++) {
        const char *text = resolve_names_text(s->naming.names, s->why.frames[i].symbol);
        if (text && symbol_name_matches(text, name))
            break;
    }
    return i;
}

/* ---- samples ---- */

/* Without frames: it is not one that --symbol wants, or damaged. */
static bool take_sample(struct session *s, const struct stream_record *r, struct err *err) {
    const uint64_t want = PERFDATA_SAMPLE_TIME | RESOLVE_CHAIN_FIELDS;
    const struct perfdata_event *e = &s->recording.events->list.items[r->event];
    struct perfdata_sample x = {.pid = UINT32_MAX, .tid = UINT32_MAX};
    struct why *w = &s->why;
    w->count = 0;
    if (!perfdata_sample_decode(&e->plan, r->raw.body, want, &x)) {
        stream_bad_record(s->recording.stream, r, "a sample is shorter than its fields");
        return true;
    }
    const struct resolve_sample_at at = {&x, &e->attr, r->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                         recording_when(&s->recording, r)};
    if (s->o->symbol && !resolve_chain_read(&s->samples.chain, &x, &e->attr, at.cpumode, at.when))
        return err_memory(err, "why");
    if (s->o->symbol && s->samples.chain.segments.count &&
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

static bool lacks_sample(const struct session *s, struct err *err) {
    if (s->o->symbol)
        return err_set(err, ERR_ABSENT, "--symbol", "no frame of the recording is called %s", s->o->symbol);
    return err_set(err, ERR_ABSENT, "--sample", "the recording has %llu samples",
                   (unsigned long long)s->why.number);
}

/* The sample asked for, or the first one with a frame of that name. */
static bool find_sample(struct session *s, struct err *err) {
    const struct why_options *o = s->o;
    uint64_t wanted = o->sample ? o->sample : 1;
    struct stream_record r;
    enum stream_status status;
    struct why *w = &s->why;
    w->has_sample = true;
    w->chosen = (size_t)o->frame;
    while ((status = stream_next(s->recording.stream, &r, err)) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE || r.event >= s->recording.events->list.count)
            continue;
        w->number++;
        if (!o->symbol && w->number != wanted)
            continue;
        if (!take_sample(s, &r, err))
            return false;
        if (o->symbol)
            w->chosen = find_symbol(s, o->symbol);
        if (!o->symbol || w->chosen < w->count)
            break;
    }
    if (status == STREAM_FAILED)
        return false;
    if (status == STREAM_END)
        return lacks_sample(s, err);
    w->comm = model_comm(s->model, w->pid, w->tid, w->when, NULL);
    return w->chosen < w->count || err_set(err, ERR_ABSENT, "--frame", "the sample has %zu frames", w->count);
}

/* ---- addresses ---- */

/* Seconds with decimals, and up to the end of what they leave open: script prints microseconds. */
static bool parse_time(const char *text, uint64_t *ns) {
    uint64_t scale = 1000000000, seconds;
    char *end;
    seconds = strtoull(text, &end, 10);
    if (end == text || *text == '-' || seconds > UINT64_MAX / scale - 1)
        return false;
    *ns = seconds * scale;
    if (*end == '.')
        for (end++; *end >= '0' && *end <= '9' && scale > 1; end++) {
            scale /= 10;
            *ns += (uint64_t)(*end - '0') * scale;
        }
    *ns += scale - 1;
    return !*end;
}

/* At the end of all a process that is over has no address space. */
static struct model_when last_instant(const struct session *s) {
    uint32_t id = s->o->pid ? model_process_at(s->model, s->why.pid, MODEL_WHEN_END) : MODEL_NONE;
    if (id == MODEL_NONE)
        return MODEL_WHEN_END;
    struct model_when ended = model_process(s->model, id)->ended;
    return model_when_before(ended, MODEL_WHEN_END) ? model_when_prior(ended) : MODEL_WHEN_END;
}

static bool find_address(struct session *s, const char *text, struct err *err) {
    const struct why_options *o = s->o;
    char *end;
    uint64_t address = strtoull(text, &end, 16);
    struct why *w = &s->why;
    if (end == text || *end)
        return err_set(err, ERR_USAGE, NULL, "%s: give an address in hexadecimal", text);
    if (o->pid) {
        w->pid = w->tid = (uint32_t)strtol(o->pid, &end, 10);
        if (end == o->pid || *end)
            return err_set(err, ERR_USAGE, "--pid", "%s: give a number", o->pid);
    }
    w->when = last_instant(s);
    if (o->time) {
        if (!parse_time(o->time, &w->when.time_ns))
            return err_set(err, ERR_USAGE, "--time", "%s: give seconds, as script shows them", o->time);
        w->when.order = UINT64_MAX;
        w->has_time = true;
    }
    bool kernel = !o->pid || address >> 63;
    if (!resolve_sample_read_address(&s->samples, kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, w->pid,
                                     w->when, address))
        return err_memory(err, "why");
    name_frames(s);
    return true;
}

/* ---- identities ---- */

static void recorded_identity(const struct session *s, const struct model_image *image,
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

/* What the image's path leads to now; into `err` why there is nothing. `path` is room for one. */
static void find_identities(struct session *s, char *path, size_t size, struct err *err) {
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
        const char *symfs = s->o->symbols.symfs;
        int len = (int)strlen(image->name) - (image->deleted ? (int)strlen(" (deleted)") : 0);
        snprintf(path, size, "%s%.*s", symfs ? symfs : "", len, image->name);
        w->now_path = path;
        read_file(w, err);
    }
    bool gone = err->code == ERR_ABSENT && w->now_path == path;
    w->now_error = gone ? "there is no such file" : err->code ? err->message : NULL;
}

/* ---- the command ---- */

static bool prepare(struct session *s, const struct command_env *env, struct err *err) {
    s->why.pid = s->why.tid = UINT32_MAX;
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err);
    s->recording.kallsyms = s->o->symbols.host.kallsyms;
    s->recording.symfs = s->o->symbols.symfs;
    if (!s->model || !recording_jitdumps(&s->recording, NULL, s->o->symbols.symfs, err) ||
        !input_first_pass(&s->recording, s->model, NULL, NULL, NULL, err) ||
        !input_names(&s->naming, env, &s->recording, s->model, &s->o->symbols, err))
        return false;
    s->locator.model = s->model;
    s->samples = (struct resolve_samples){.locator = &s->locator, .names = s->naming.names};
    s->samples.chain.o = recording_chains(&s->recording, s->naming.names, RESOLVE_CHAIN_USUAL);
    s->search.name = s->o->symbol;
    s->search.samples = &s->samples;
    s->why.model = s->model;
    s->why.names = s->naming.names;
    s->why.stream = s->recording.stream;
    s->why.events = s->recording.events;
    return true;
}

static int show(struct command_env *env, struct session *s) {
    struct out out;
    struct err absent = ERR_INIT;
    char path[4608];
    find_identities(s, path, sizeof path, &absent);
    if (!command_output(env, &out))
        return EXIT_ERROR;
    if (s->o->json)
        why_print_json(&s->why, &out);
    else
        why_print_text(&s->why, &out);
    return command_finish(env, &out, input_status(&s->recording));
}

static int run(struct command_env *env, int argc, char **argv) {
    struct why_options o = {0};
    struct session s = {.o = &o};
    struct err err = ERR_INIT;
    int status;
    if (!command_options(env, &o, 0, &argc, &argv, &status))
        return status;
    if (argc > 1 || (argc && (o.sample || o.symbol)) || (!argc && (o.pid || o.time)) ||
        (o.sample && o.symbol))
        return command_usage(env, argc ? NULL : "give an address, --sample or --symbol");
    command_log(env, o.verbose, false);
    bool ok = input_open(&s.recording, input_path(o.input), o.force, &err) && prepare(&s, env, &err) &&
              (argc ? find_address(&s, argv[0], &err) : find_sample(&s, &err));
    status = ok ? show(env, &s) : command_fail(&err);
    resolve_samples_fini(&s.samples);
    resolve_locator_fini(&s.locator);
    why_search_fini(&s.search);
    recording_names_close(&s.naming);
    model_free(s.model);
    recording_close(&s.recording);
    return status;
}

const struct command cmd_why = {
    .name = "why",
    .summary = "Explain how a frame got its name",
    .usage = (const char *const[]){"why [<options>] [--sample <n> [--frame <n>]]",
                                   "why [<options>] [--pid <pid>] [--time <seconds>] <address>",
                                   "why [<options>] --symbol <name>", NULL},
    .options = options,
    .run = run,
};
