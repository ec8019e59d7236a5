/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate/annotate_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/text/plural.h"
#include "select/filter.h"
#include "symbol/name_match.h"

/* Functions that cannot be annotated for the same reason. */
struct miss {
    uint32_t image;
    char *first, *why; /* owned: the first function; the reason, with the object's name */
    size_t count;
};

struct printing {
    const struct annotate_wish *w;
    struct annotate_profile profile;
    struct annotate_maker maker;
    struct annotate_sources sources;
    VEC(struct miss) misses;
    struct hash_map said; /* images whose code was told of */
    struct out *out;
    struct annotate_result *result;
};

/* ---- what is said ---- */

static bool note_miss(struct printing *p, const struct annotate_function *f, const struct err *why) {
    char text[sizeof why->where + sizeof why->message + 3];
    snprintf(text, sizeof text, "%s: %s", why->where, why->message);
    if (!p->result->missed++)
        p->result->why = *why;
    for (size_t i = 0; i < p->misses.count; i++)
        if (p->misses.items[i].image == f->image && strcmp(p->misses.items[i].why, text) == 0) {
            p->misses.items[i].count++;
            return true;
        }
    struct miss *m = vec_push(&p->misses);
    if (!m)
        return false;
    *m = (struct miss){f->image, strdup(annotate_function_name(&p->profile, f)), strdup(text), 1};
    return m->first && m->why;
}

/* Says, for -v, where an image's code is from. */
static void say_code(struct printing *p, const struct annotate_function *f,
                     const struct symbol_machine_code *code, const char *object) {
    if (hash_map_get(&p->said, f->image) == HASH_ABSENT && hash_map_set(&p->said, f->image, 1))
        log_line(LOG_INFO, "%s: code from %s%s", object, code->path ? code->path : "the recording",
                 code->proved ? "" : "; nothing recorded proves that it is what ran");
}

static void say_misses(const struct printing *p) {
    for (size_t i = 0; i < p->misses.count && !p->w->skip_missing; i++) {
        const struct miss *m = &p->misses.items[i];
        if (!m->first || !m->why)
            continue;
        if (m->count == 1)
            log_line(LOG_WARN, "cannot annotate %s: %s", m->first, m->why);
        else
            log_line(LOG_WARN, "cannot annotate %s and %zu more function%s: %s", m->first, m->count - 1,
                     plural(m->count - 1), m->why);
    }
    if (p->maker.unknown)
        log_line(LOG_WARN, "%zu instruction%s not known here%s", p->maker.unknown,
                 p->maker.unknown == 1 ? " is" : "s are",
                 p->maker.no_objdump ? ": with objdump (binutils) they may be" : "");
    if (!p->sources.absent)
        return;
    const char *first = strpool_text(&p->sources.paths, p->sources.first_absent);
    if (p->sources.absent == 1)
        log_line(LOG_WARN, "%s: the source file is not there: see --prefix, --symfs", first);
    else
        log_line(LOG_WARN, "%s and %zu more source file%s are not there: see --prefix, --symfs", first,
                 p->sources.absent - 1, plural(p->sources.absent - 1));
}

/* ---- one function ---- */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool print_function(struct printing *p, const struct annotate_function *f,
                           struct annotate_events events, const char *event, struct err *err) {
    const struct model_image *image = model_image(p->profile.in->model, f->image);
    struct annotate_listing l = {0};
    struct err why = ERR_INIT;
    struct annotate_text_options text = p->w->text;
    bool made = annotate_listing_make(&p->maker, f, events, &l, &why), ok = made;
    if (made) {
        const char *shown =
            symbol_store_source(p->profile.in->naming->store,
                                resolve_names_store_id(p->profile.in->naming->names, f->image))
                .shown_path;
        text.sources = &p->sources;
        text.totals = &p->profile.totals.items[events.first];
        text.event = event;
        text.object_path = shown ? shown : image->name;
        text.object = shown ? last_part(shown) : image->short_name;
        text.function = annotate_function_name(&p->profile, f);
        text.hide_empty = p->w->skip_empty;
        say_code(p, f, &l.code, text.object_path);
        ok = annotate_text_print(&l, &text, p->out, &p->result->hottest, err);
        p->result->printed++;
    } else if (why.code != ERR_MEMORY)
        ok = note_miss(p, f, &why) || err_memory(err, "annotate");
    else if (err)
        *err = why;
    annotate_listing_fini(&l);
    return ok;
}

/* ---- all functions of some events ---- */

static bool is_wished(const struct printing *p, const struct annotate_function *f,
                      struct annotate_events events, const struct annotate_sums *self) {
    const struct annotate_wish *w = p->w;
    const struct model_image *image = model_image(p->profile.in->model, f->image);
    const char *name = annotate_function_name(&p->profile, f);
    if (w->symbol && (w->exact ? strcmp(name, w->symbol) != 0 : !symbol_name_matches(name, w->symbol)))
        return false;
    if (w->dso && strcmp(w->dso, image->short_name) != 0 && strcmp(w->dso, image->name) != 0)
        return false;
    if (w->dsos && w->dsos->list.count && !filter_names_has(w->dsos, image->short_name) &&
        !filter_names_has(w->dsos, image->name))
        return false;
    bool above = w->percent_limit <= 0;
    for (uint32_t i = 0; i < events.count && !above; i++) {
        uint64_t all = p->profile.totals.items[events.first + i].period;
        above = all && 100.0 * (double)self[i].period / (double)all >= w->percent_limit;
    }
    return above;
}

static bool print_functions(struct printing *p, struct annotate_events events, const char *event,
                            struct err *err) {
    struct annotate_order order = {0};
    struct annotate_sums *self = calloc(events.count, sizeof *self);
    bool ok =
        (self || err_memory(err, "annotate")) && annotate_profile_order(&p->profile, events, &order, err);
    for (size_t i = 0; ok && i < order.list.count && !p->out->failed; i++) {
        const struct annotate_function *f = &p->profile.functions.items[order.list.items[i]];
        annotate_function_self(&p->profile, f, events, self);
        if (!is_wished(p, f, events, self))
            continue;
        ok = print_function(p, f, events, event, err);
        if (p->w->first_only)
            break;
    }
    vec_fini(&order.list);
    free(self);
    return ok;
}

/* ---- the events ---- */

/* "anon group { cycles, instructions }", "cycles". */
static bool name_events(const struct printing *p, struct annotate_events events, struct out *name) {
    const struct perfdata_event *list = p->profile.in->recording->events->list.items,
                                *leader = &list[events.first];
    if (!out_init(name, NULL, NULL))
        return false;
    bool named = events.count > 1 && !p->w->made_group;
    if (named)
        out_printf(name, "%s { ", leader->group_name ? leader->group_name : "anon group");
    for (uint32_t i = 0; i < events.count; i++) {
        out_str(name, i ? ", " : "");
        out_str(name, leader[i].name ? leader[i].name : "");
    }
    out_str(name, named ? " }" : "");
    return !name->failed;
}

static struct annotate_events events_from(const struct printing *p, uint32_t first) {
    const struct perfdata_events *events = p->profile.in->recording->events;
    uint32_t members = p->w->ungrouped ? 1 : events->list.items[first].group_members;
    uint32_t left = (uint32_t)events->list.count - first;
    return (struct annotate_events){first, members > left ? left : members ? members : 1};
}

static bool any_samples(const struct printing *p, struct annotate_events events) {
    for (uint32_t i = 0; i < events.count; i++)
        if (p->profile.totals.items[events.first + i].samples)
            return true;
    return false;
}

static bool print_events(struct printing *p, struct err *err) {
    const struct perfdata_events *events = p->profile.in->recording->events;
    bool ok = true, done = false;
    for (uint32_t i = 0; ok && !done && i < events->list.count;) {
        struct annotate_events some = events_from(p, i);
        struct out name;
        i += some.count;
        bool meant = !p->w->event || (*p->w->event >= some.first && *p->w->event - some.first < some.count);
        if (!meant || !any_samples(p, some))
            continue;
        ok = name_events(p, some, &name) || err_memory(err, "annotate");
        ok = ok && print_functions(p, some, out_text(&name), err);
        out_fini(&name);
        done = p->w->first_only && p->result->printed + p->result->missed;
    }
    return ok;
}

bool annotate_print(const struct annotate_input *in, const struct annotate_wish *w, struct out *out,
                    struct annotate_result *r, struct err *err) {
    struct printing p = {.w = w,
                         .out = out,
                         .result = r,
                         .sources = {.symfs = w->symfs, .prefix = w->prefix, .strip = w->strip}};
    p.maker = (struct annotate_maker){.profile = &p.profile, .options = w->code};
    *r = (struct annotate_result){0};
    bool ok = annotate_profile_collect(&p.profile, in, err) && print_events(&p, err);
    say_misses(&p);
    for (size_t i = 0; i < p.misses.count; i++) {
        free(p.misses.items[i].first);
        free(p.misses.items[i].why);
    }
    vec_fini(&p.misses);
    hash_map_fini(&p.said);
    annotate_maker_fini(&p.maker);
    annotate_sources_fini(&p.sources);
    annotate_profile_fini(&p.profile);
    return ok;
}
