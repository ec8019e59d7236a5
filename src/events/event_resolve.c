/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>

#include "base/nearest.h"
#include "events/event_internal.h"
#include "events/event_names.h"
#include "format/perfdata/abi.h"

enum { NAME_ROOM = 128, CACHE_NAMES = 64 };

/* r and up to 16 hexadecimal digits */
static bool raw_config(struct event_span word, uint64_t *config) {
    uint64_t v = 0;
    if (word.n < 2 || word.n > 17 || word.at[0] != 'r')
        return false;
    for (size_t i = 1; i < word.n; i++) {
        char c = (char)(word.at[i] | 32);
        if (!isxdigit((unsigned char)word.at[i]))
            return false;
        v = v << 4 | (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    *config = v;
    return true;
}

bool event_resolve_known(struct event_span word) {
    uint32_t type;
    uint64_t config;
    return raw_config(word, &config) || event_names_find(word.at, word.n, &type, &config);
}

static size_t core_count(struct event_parser *p) {
    size_t n = 0;
    for (size_t i = 0, count = pmu_count(&p->src->pmus); i < count; i++) {
        const struct pmu *pmu = pmu_at(&p->src->pmus, i);
        n += pmu && pmu->core;
    }
    return n;
}

bool event_legacy_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu, uint32_t type,
                        uint64_t config) {
    bool hardware = type == PERFDATA_TYPE_HARDWARE || type == PERFDATA_TYPE_HW_CACHE;
    if (hardware ? !pmu->core : pmu->type != type)
        return false;
    e->attr.type = type;
    /* Among several kinds of core the upper half says which (PERF_PMU_TYPE_SHIFT in perf_event.h). */
    e->attr.config = config | (hardware && core_count(p) > 1 ? (uint64_t)pmu->type << 32 : 0);
    return true;
}

static struct perf_event *push_pmu(struct event_parser *p, const struct pmu *pmu) {
    if (!pmu_detail(&p->src->pmus, pmu, p->err))
        return NULL;
    struct perf_event *e = event_push(p, pmu->name);
    if (!e)
        return NULL;
    e->attr.type = pmu->type;
    e->max_precise = pmu->max_precise;
    if (pmu->cpus && !(e->cpus = event_text(p, pmu->cpus, strlen(pmu->cpus))))
        return NULL;
    return e;
}

/* Intel PT's defaults (perf-intel-pt(1), "config terms"): time stamps, and tracing of branches at all. */
static void trace_defaults(struct perf_event *e, const struct pmu *pmu) {
    static const char *const ON[] = {"tsc", "pt", "branch"};
    uint64_t words[5] = {0}, max;
    if (strncmp(pmu->name, "intel_pt", 8) != 0)
        return;
    for (size_t i = 0; i < 3; i++) {
        const struct pmu_format *f = pmu_find_format(pmu, ON[i], strlen(ON[i]));
        if (f)
            pmu_format_put(f, 1, words, &max);
    }
    e->attr.config = words[0];
}

static bool push_software(struct event_parser *p, uint32_t type, uint64_t config) {
    bool tool = type == EVENT_NAMES_TYPE_TOOL;
    struct perf_event *e = event_push(p, tool ? "tool" : "software");
    if (!e)
        return false;
    e->kind = tool ? PERF_EVENT_TOOL : PERF_EVENT_PMU;
    e->attr.type = type;
    e->attr.config = config;
    return event_terms_apply(p, e, NULL);
}

/* The i-th PMU, or NULL: it cannot be read, or is not wanted. */
static const struct pmu *wanted_pmu(struct event_parser *p, size_t i) {
    const struct pmu *pmu = pmu_at(&p->src->pmus, i);
    if (!pmu || (p->src->only && fnmatch(p->src->only, pmu->name, 0) != 0))
        return NULL;
    return pmu->core && p->src->only_cores && pmu != p->src->only_cores ? NULL : pmu;
}

static bool none_wanted(struct event_parser *p, struct event_span word) {
    return event_fail(p, word.at, ERR_ABSENT, "there is no event '%.*s' on a PMU '%s'",
                      (int)(word.n < NAME_ROOM ? word.n : NAME_ROOM), word.at, p->src->only);
}

/* One event per kind of core: what sysfs says it is, or else what the kernel translates. */
static bool push_hardware(struct event_parser *p, struct event_span word, uint32_t type, uint64_t config) {
    bool any = false;
    for (size_t i = 0, count = pmu_count(&p->src->pmus); i < count; i++) {
        const struct pmu *pmu = wanted_pmu(p, i);
        if (!pmu || !pmu->core)
            continue;
        any = true;
        struct perf_event *e = push_pmu(p, pmu);
        if (!e)
            return false;
        const struct pmu_alias *alias = pmu_find_alias(pmu, word.at, word.n);
        if (type == PERFDATA_TYPE_RAW)
            e->attr.config = config;
        else if (alias ? !event_alias_apply(p, e, pmu, alias, word.at)
                       : !event_legacy_apply(p, e, pmu, type, config))
            return false;
        if (!event_terms_apply(p, e, e->attr.type == pmu->type ? pmu : NULL))
            return false;
    }
    if (any)
        return true;
    if (p->src->only)
        return none_wanted(p, word);
    struct perf_event *e = event_push(p, "cpu");
    if (!e)
        return false;
    e->attr.type = type;
    e->attr.config = config;
    return event_terms_apply(p, e, NULL);
}

/* Every PMU that has an event of that name. */
static bool push_aliases(struct event_parser *p, struct event_span word, bool *any) {
    for (size_t i = 0, count = pmu_count(&p->src->pmus); i < count; i++) {
        const struct pmu *pmu = wanted_pmu(p, i);
        if (!pmu)
            continue;
        if (!pmu_detail(&p->src->pmus, pmu, p->err))
            return false;
        const struct pmu_alias *alias = pmu_find_alias(pmu, word.at, word.n);
        if (!alias)
            continue;
        *any = true;
        struct perf_event *e = push_pmu(p, pmu);
        if (!e || !event_alias_apply(p, e, pmu, alias, word.at) || !event_terms_apply(p, e, pmu))
            return false;
    }
    return true;
}

static bool unknown_event(struct event_parser *p, struct event_span word, bool pmus) {
    char text[NAME_ROOM], caches[CACHE_NAMES][EVENT_NAMES_CACHE_MAX];
    static const struct event_name *const LISTS[] = {EVENT_NAMES_HARDWARE, EVENT_NAMES_SOFTWARE,
                                                     EVENT_NAMES_TOOL};
    uint64_t config;
    snprintf(text, sizeof text, "%.*s", (int)(word.n < NAME_ROOM ? word.n : NAME_ROOM - 1), word.at);
    struct nearest near = nearest_start(text);
    for (size_t i = 0; i < 3; i++) {
        for (const struct event_name *e = LISTS[i]; e->name; e++) {
            nearest_try(&near, e->name);
            if (e->alias)
                nearest_try(&near, e->alias);
        }
    }
    for (size_t i = 0; i < CACHE_NAMES && event_names_cache(i, caches[i], &config); i++)
        nearest_try(&near, caches[i]);
    for (size_t i = 0, count = pmu_count(&p->src->pmus); i < count; i++) {
        const struct pmu *pmu = pmu_at(&p->src->pmus, i);
        if (!pmu)
            continue;
        if (pmus)
            nearest_try(&near, pmu->name);
        for (size_t j = 0; j < pmu->aliases.count; j++)
            nearest_try(&near, pmu->aliases.items[j].name);
    }
    const char *what = pmus ? "PMU or event" : "event";
    if (near.best)
        return event_fail(p, word.at, ERR_USAGE, "unknown %s '%s', did you mean '%s'?", what, text,
                          near.best);
    return event_fail(p, word.at, ERR_USAGE, "unknown %s '%s': sonde list shows what there is", what, text);
}

static bool resolve(struct event_parser *p, struct event_span word, bool pmus) {
    uint32_t type;
    uint64_t config;
    bool any = false;
    if (raw_config(word, &config))
        return push_hardware(p, word, PERFDATA_TYPE_RAW, config);
    if (event_names_find(word.at, word.n, &type, &config))
        return type == PERFDATA_TYPE_SOFTWARE && p->src->only && fnmatch(p->src->only, "software", 0) != 0
                   ? none_wanted(p, word)
               : type == PERFDATA_TYPE_SOFTWARE || type == EVENT_NAMES_TYPE_TOOL
                   ? push_software(p, type, config)
                   : push_hardware(p, word, type, config);
    if (!push_aliases(p, word, &any))
        return false;
    return any || (p->src->only ? none_wanted(p, word) : unknown_event(p, word, pmus));
}

bool event_resolve_name(struct event_parser *p, struct event_span word) {
    return resolve(p, word, false);
}

/* tool/duration_time/: a PMU that only perf knows. */
static bool push_tool(struct event_parser *p, bool *any) {
    uint32_t type;
    uint64_t config;
    const struct event_term *t = p->terms.items;
    if (!p->terms.count || t->value.at || !event_names_find(t->name.at, t->name.n, &type, &config) ||
        type != EVENT_NAMES_TYPE_TOOL)
        return true;
    *any = true;
    p->terms.count--;
    memmove(p->terms.items, p->terms.items + 1, p->terms.count * sizeof *p->terms.items);
    return push_software(p, type, config);
}

bool event_resolve_slashes(struct event_parser *p, struct event_span word) {
    const struct pmu *exact = pmu_find(&p->src->pmus, word.at, word.n);
    bool any = false;
    for (size_t i = 0, count = pmu_count(&p->src->pmus); i < count; i++) {
        const struct pmu *pmu = wanted_pmu(p, i);
        if (!pmu || (exact ? pmu != exact : !pmu_match(pmu, word.at, word.n)))
            continue;
        any = true;
        struct perf_event *e = push_pmu(p, pmu);
        if (!e)
            return false;
        trace_defaults(e, pmu);
        if (!event_terms_apply(p, e, pmu))
            return false;
    }
    if (!any && event_span_is(word, "tool") && !push_tool(p, &any))
        return false;
    return any || resolve(p, word, true);
}

static bool push_tracepoint(struct event_parser *p, const char *system, const char *event, uint64_t id) {
    struct perf_event *e = event_push(p, "tracepoint");
    char name[2 * NAME_ROOM + 2];
    if (!e)
        return false;
    e->kind = PERF_EVENT_TRACEPOINT;
    e->attr.type = PERFDATA_TYPE_TRACEPOINT;
    e->attr.config = id;
    e->attr.sample_period = 1;
    int n = snprintf(name, sizeof name, "%s:%s", system, event);
    /* The kernel's function tracer cannot give user frames (perf_event_open(2) refuses them). */
    if (strcmp(name, "ftrace:function") == 0)
        e->attr.flags |= PERFDATA_ATTR_EXCLUDE_CALLCHAIN_USER;
    return (e->name = event_text(p, name, (size_t)n)) && event_terms_apply(p, e, NULL);
}

static bool unknown_tracepoint(struct event_parser *p, struct event_span system, struct event_span event,
                               bool system_known) {
    char text[NAME_ROOM];
    struct event_span word = system_known ? event : system;
    snprintf(text, sizeof text, "%.*s", (int)(word.n < NAME_ROOM ? word.n : NAME_ROOM - 1), word.at);
    struct nearest near = nearest_start(text);
    struct tracepoint_set *set = &p->src->tracepoints;
    for (size_t i = 0; i < set->systems.count; i++) {
        struct tracepoint_system *s = &set->systems.items[i];
        if (!system_known)
            nearest_try(&near, s->name);
        else if (event_span_is(system, s->name))
            for (size_t j = 0; j < s->events.count; j++)
                nearest_try(&near, s->events.items[j]);
    }
    const char *what = system_known ? "tracepoint" : "event or group of tracepoints";
    if (near.best)
        return event_fail(p, word.at, ERR_ABSENT, "unknown %s '%s', did you mean '%s'?", what, text,
                          near.best);
    return event_fail(p, word.at, ERR_ABSENT, "unknown %s '%s': sonde list tracepoint shows what there is",
                      what, text);
}

static bool is_glob(const char *s) {
    return strpbrk(s, "*?[") != NULL;
}

/* All events of a system that the pattern fits. */
static bool match_events(struct event_parser *p, struct tracepoint_system *s, const char *pattern,
                         bool *any) {
    struct tracepoint_set *set = &p->src->tracepoints;
    if (!tracepoint_events(set, s, p->err))
        return false;
    for (size_t i = 0; i < s->events.count; i++) {
        uint64_t id;
        struct err why = ERR_INIT;
        if (fnmatch(pattern, s->events.items[i], 0) != 0)
            continue;
        if (!tracepoint_id(set, s->name, s->events.items[i], &id, &why)) {
            if (why.code == ERR_ABSENT)
                continue; /* "enable" and "filter" are no events */
            *p->err = why;
            return false;
        }
        *any = true;
        if (!push_tracepoint(p, s->name, s->events.items[i], id))
            return false;
    }
    return true;
}

bool event_resolve_tracepoint(struct event_parser *p, struct event_span system, struct event_span event) {
    char system_text[NAME_ROOM], event_text_room[NAME_ROOM];
    struct tracepoint_set *set = &p->src->tracepoints;
    if (system.n >= NAME_ROOM || event.n >= NAME_ROOM)
        return event_fail(p, system.at, ERR_USAGE, "no tracepoint has so long a name");
    snprintf(system_text, sizeof system_text, "%.*s", (int)system.n, system.at);
    snprintf(event_text_room, sizeof event_text_room, "%.*s", (int)event.n, event.at);
    if (!tracepoint_systems(set, p->err)) {
        p->error_at = (size_t)(system.at - p->text);
        return false;
    }
    uint64_t id;
    if (!is_glob(system_text) && !is_glob(event_text_room)) {
        struct err why = ERR_INIT;
        if (tracepoint_id(set, system_text, event_text_room, &id, &why))
            return push_tracepoint(p, system_text, event_text_room, id);
        if (why.code != ERR_ABSENT) {
            *p->err = why;
            return false;
        }
    }
    bool any = false, known = false;
    for (size_t i = 0; i < set->systems.count; i++) {
        struct tracepoint_system *s = &set->systems.items[i];
        if (fnmatch(system_text, s->name, 0) != 0)
            continue;
        known = true;
        if (!match_events(p, s, event_text_room, &any))
            return false;
    }
    return any || unknown_tracepoint(p, system, event, known);
}
