/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/kernel_maps.h"
#include "cmd/naming.h"
#include "cmd/symbol_notes.h"
#include "cmd/why_search.h"
#include "os/proc.h"
#include "resolve/deferred.h"
#include "resolve/unwind.h"
#include "view/script_names.h"
#include "view/why.h"

enum { MAX_FRAMES = 4096 };

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
    struct reading reading;
    struct model *model;
    struct naming naming;
    struct script_names places; /* how script finds them */
    struct why_search search;   /* of --symbol */
    struct resolve_deferred deferred;
    struct resolve_unwind *unwind; /* NULL: no stack dump was met yet */
    VEC(uint64_t) chain;           /* the sample's, with what was recorded later */
    struct why why;
};

/* ---- frames ---- */

/* As script shows it: `exact` is false for addresses that calls return to, and becomes what the next one is.
 */
static bool add_frame(struct session *s, unsigned cpumode, uint64_t address, bool in_kernel, bool *exact) {
    struct why_frame *f = vec_push(&s->why.frames);
    enum model_space space = model_space_of(cpumode);
    if (!f)
        return false;
    const struct model_state *state = script_names_state(&s->places, space, s->why.pid, s->why.when);
    f->address = address;
    f->cpumode = cpumode;
    f->hit = MODEL_NOTHING;
    if (*exact)
        script_names_find(&s->places, state, space, in_kernel, address, &f->hit);
    else
        script_names_find_caller(&s->places, state, space, in_kernel, address, &f->hit);
    f->symbol = script_names_symbol_id(&s->places, &f->hit);
    *exact = script_names_is_entry(&s->places, &f->hit);
    return true;
}

/* The sample's callchain, or where it lies; `cut`: it is not all of the stack. */
static bool add_frames(struct session *s, const struct perfdata_sample *x, unsigned sampled, bool cut) {
    unsigned cpumode = sampled;
    bool ok = true, exact = true, in_kernel = sampled == PERFDATA_MISC_KERNEL;
    vec_clear(&s->why.frames);
    for (uint64_t i = 0; ok && i < x->callchain.count && s->why.frames.count < MAX_FRAMES; i++) {
        uint64_t ip = perfdata_u64_at(&x->callchain, i);
        if (ip < PERFDATA_CONTEXT_MAX) {
            ok = add_frame(s, cpumode, ip, in_kernel, &exact);
            continue;
        }
        cpumode = perfdata_context_cpumode(ip);
        exact = true;
    }
    if (cut && s->why.frames.count)
        s->why.frames.items[s->why.frames.count - 1].cut = true;
    return ok && (s->why.frames.count || add_frame(s, sampled, x->ip, in_kernel, &exact));
}

/* The frame of that name; the number of frames when there is none. */
static size_t find_symbol(const struct session *s, const char *name) {
    size_t i = 0;
    for (; i < s->why.frames.count; i++) {
        const char *text = resolve_names_text(s->naming.names, s->why.frames.items[i].symbol);
        if (text && !strcmp(text, name))
            break;
    }
    return i;
}

/* ---- samples ---- */

/* False: memory. *deferred: how many chains it refers to; with too many it is none. */
static bool copy_chain(struct session *s, const struct perfdata_u64s *chain, uint32_t tid,
                       unsigned *deferred) {
    const bool nested = deferred == NULL;
    for (uint64_t i = 0; i < chain->count; i++) {
        uint64_t ip = perfdata_u64_at(chain, i);
        if (ip != PERFDATA_CONTEXT_USER_DEFERRED || nested || i + 1 >= chain->count) {
            uint64_t *to = vec_push(&s->chain);
            if (!to)
                return false;
            *to = ip;
            continue;
        }
        if (++*deferred > RESOLVE_DEFERRED_MOST) {
            vec_clear(&s->chain);
            return true;
        }
        struct perfdata_u64s later =
            resolve_deferred_find(&s->deferred, s->reading.stream, s->reading.events,
                                  perfdata_u64_at(chain, ++i), tid, s->why.when.order);
        if (!copy_chain(s, &later, tid, NULL))
            return false;
    }
    return true;
}

/* The callchain as script and report show it: with what was recorded later, or in the dump of the stack.
 * *cut: it ends before the stack does. */
static bool complete_chain(struct session *s, const struct perfdata_attr *attr, const struct why_where *at,
                           struct perfdata_sample *x, bool *cut, struct err *err) {
    enum { FRAMES = 127 }; /* as many as those show by default */
    s->why.when = at->when;
    if (s->deferred.list.count) {
        unsigned deferred = 0;
        vec_clear(&s->chain);
        if (!copy_chain(s, &x->callchain, x->tid, &deferred))
            return err_memory(err, "why");
        x->callchain = (struct perfdata_u64s){(const uint8_t *)s->chain.items, s->chain.count, false};
    }
    *cut = resolve_chain_is_cut(attr, &x->callchain);
    if (!resolve_unwind_has(x))
        return true;
    if (!s->unwind)
        s->unwind = resolve_unwind_new(s->naming.names, stream_header(s->reading.stream), err);
    if (!s->unwind)
        return false;
    x->callchain = resolve_unwind_chain(s->unwind, x, at->cpumode, at->when, FRAMES);
    *cut = resolve_unwind_was_cut(s->unwind);
    return true;
}

static bool take_sample(struct session *s, const struct stream_record *r, struct err *err) {
    const uint64_t want = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TIME | RESOLVE_UNWIND_FIELDS;
    bool cut = false;
    const struct perfdata_event *e = &s->reading.events->list.items[r->event];
    struct perfdata_sample x = {.pid = UINT32_MAX, .tid = UINT32_MAX};
    if (!perfdata_sample_decode(&e->plan, r->raw.body, want, &x)) {
        stream_bad_record(s->reading.stream, r, "a sample is shorter than its fields");
        vec_clear(&s->why.frames);
        return true;
    }
    struct why *w = &s->why;
    struct why_where at = {x.pid, reading_when(&s->reading, r), r->raw.misc & PERFDATA_MISC_CPUMODE_MASK};
    if (!complete_chain(s, &e->attr, &at, &x, &cut, err))
        return false;
    if (s->o->symbol && !why_search_may_show(&s->search, &at, &x.callchain, x.ip)) {
        vec_clear(&s->why.frames);
        return true;
    }
    w->loc = r->loc;
    w->event = r->event;
    w->pid = x.pid;
    w->tid = x.tid;
    w->has_time = r->has_time;
    w->when = at.when;
    return add_frames(s, &x, at.cpumode, cut) || err_memory(err, "why");
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
    while ((status = stream_next(s->reading.stream, &r, err)) == STREAM_RECORD) {
        if (r.raw.type != PERFDATA_RECORD_SAMPLE || r.event >= s->reading.events->list.count)
            continue;
        w->number++;
        if (!o->symbol && w->number != wanted)
            continue;
        if (!take_sample(s, &r, err))
            return false;
        if (o->symbol)
            w->chosen = find_symbol(s, o->symbol);
        if (!o->symbol || w->chosen < w->frames.count)
            break;
    }
    if (status == STREAM_FAILED)
        return false;
    if (status == STREAM_END)
        return lacks_sample(s, err);
    w->comm = model_comm(s->model, w->pid, w->tid, w->when, NULL);
    return w->chosen < w->frames.count ||
           err_set(err, ERR_ABSENT, "--frame", "the sample has %zu frames", w->frames.count);
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
    bool exact = true;
    return add_frame(s, kernel ? PERFDATA_MISC_KERNEL : PERFDATA_MISC_USER, address, false, &exact) ||
           err_memory(err, "why");
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
    const struct why_frame *f = &w->frames.items[w->chosen];
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

/* For reading_first_pass. */
static bool see_record(void *ctx, const struct stream_record *r, struct err *err) {
    struct session *s = ctx;
    struct perfdata_record rec;
    if (r->raw.type != PERFDATA_RECORD_CALLCHAIN_DEFERRED || !reading_decode(&s->reading, r, &rec))
        return true;
    return resolve_deferred_note(&s->deferred, rec.callchain_deferred.cookie, r->loc) ||
           err_memory(err, "deferred callchains");
}

static bool prepare(struct session *s, const struct command_env *env, struct err *err) {
    s->why.pid = s->why.tid = UINT32_MAX;
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_COMMS | MODEL_NEED_MAPS}, err);
    s->reading.kallsyms = s->o->symbols.host.kallsyms;
    s->reading.symfs = s->o->symbols.symfs;
    if (!s->model || !reading_jitdumps(&s->reading, NULL, s->o->symbols.symfs, err) ||
        !reading_first_pass(&s->reading, s->model, NULL, see_record, s, err) ||
        !naming_open(&s->naming, env, &s->reading, s->model, &s->o->symbols, err))
        return false;
    if (!script_names_init(&s->places, s->model))
        return err_memory(err, "why");
    resolve_deferred_sort(&s->deferred);
    s->places.names = s->naming.names;
    s->search.name = s->o->symbol;
    s->search.places = &s->places;
    s->why.model = s->model;
    s->why.names = s->naming.names;
    s->why.stream = s->reading.stream;
    s->why.events = s->reading.events;
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
    return command_finish(env, &out, reading_status(&s->reading));
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
    bool ok = reading_open(&s.reading, input_path(o.input), o.force, &err) && prepare(&s, env, &err) &&
              (argc ? find_address(&s, argv[0], &err) : find_sample(&s, &err));
    status = ok ? show(env, &s) : command_fail(&err);
    vec_fini(&s.why.frames);
    vec_fini(&s.chain);
    resolve_deferred_fini(&s.deferred);
    resolve_unwind_free(s.unwind);
    why_search_fini(&s.search);
    script_names_fini(&s.places);
    naming_close(&s.naming);
    model_free(s.model);
    reading_close(&s.reading);
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
