/* SPDX-License-Identifier: Apache-2.0 */
/* What is said about events beside their selection: filters, the default event, where an error is. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text/out.h"
#include "events/event_internal.h"

/* The kernel parses the filter; what a shell commonly breaks is found here. */
static bool check_filter(const char *text, struct err *err) {
    size_t depth = 0;
    char quote = 0;
    for (const char *c = text; *c; c++) {
        if (quote)
            quote = *c == quote ? 0 : quote;
        else if (*c == '"' || *c == '\'')
            quote = *c;
        else if (*c == '(')
            depth++;
        else if (*c == ')' && depth-- == 0)
            return err_set(err, ERR_USAGE, "filter", "')' without '(' at byte %zu of: %s", (size_t)(c - text),
                           text);
    }
    if (quote)
        return err_set(err, ERR_USAGE, "filter", "unclosed %c in: %s", quote, text);
    return depth == 0 || err_set(err, ERR_USAGE, "filter", "unclosed '(' in: %s", text);
}

static bool join(struct perf_events *events, struct perf_event *e, const char *text, struct err *err) {
    size_t old = e->filter ? strlen(e->filter) : 0, room = old + strlen(text) + 16;
    char *joined = arena_alloc(&events->arena, room);
    if (!joined)
        return err_memory(err, "filter");
    if (e->filter)
        snprintf(joined, room, e->filters_samples ? "%s, %s" : "(%s) && (%s)", e->filter, text);
    else
        snprintf(joined, room, "%s", text);
    e->filter = joined;
    return true;
}

/* Address filters: a PMU that says how many it takes (perf-record(1)). */
static bool takes_addresses(struct perf_event_sources *src, const struct perf_event *e) {
    char path[512];
    struct err why = ERR_INIT;
    struct arena a = ARENA_INIT;
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/nr_addr_filters", e->pmu);
    const char *t = e->kind == PERF_EVENT_PMU ? src->sys->read(src->sys, path, &a, &why) : NULL;
    bool yes = t && *t >= '1' && *t <= '9';
    arena_fini(&a);
    return yes;
}

void perf_event_sources_filter_samples(struct perf_event_sources *src) {
    src->filters_samples = true;
}

static bool filter_samples(const char *text, struct perf_events *events, struct err *err) {
    for (size_t i = events->last; i < events->items.count; i++) {
        events->items.items[i].filters_samples = true;
        if (!join(events, &events->items.items[i], text, err))
            return false;
    }
    return true;
}

bool perf_events_filter(struct perf_event_sources *src, const char *text, struct perf_events *events,
                        struct err *err) {
    bool any = false;
    if (events->last >= events->items.count)
        return err_set(err, ERR_USAGE, "filter", "--filter must come after the -e that it applies to");
    if (!*text || !check_filter(text, err))
        return *text ? false : err_set(err, ERR_USAGE, "filter", "the filter is empty");
    for (size_t i = events->last; i < events->items.count; i++) {
        struct perf_event *e = &events->items.items[i];
        if (e->kind != PERF_EVENT_TRACEPOINT && !takes_addresses(src, e))
            continue;
        any = true;
        if (!join(events, e, text, err))
            return false;
    }
    if (!any && src->filters_samples)
        return filter_samples(text, events, err);
    return any || err_set(err, ERR_USAGE, "filter",
                          "'%s' cannot have a filter: only tracepoints and tracing PMUs can",
                          events->items.items[events->last].name);
}

bool perf_events_exclude_pid(struct perf_events *events, uint32_t pid, struct err *err) {
    char text[40];
    bool any = false;
    snprintf(text, sizeof text, "common_pid != %" PRIu32, pid);
    for (size_t i = events->last; i < events->items.count; i++) {
        struct perf_event *e = &events->items.items[i];
        if (e->kind != PERF_EVENT_TRACEPOINT)
            continue;
        any = true;
        if (!join(events, e, text, err))
            return false;
    }
    return any || err_set(err, ERR_USAGE, "filter", "--exclude-perf must come after the -e of a tracepoint");
}

bool perf_events_default(struct perf_event_sources *src, enum perf_event_default which,
                         struct perf_events *out, struct err *err) {
    static const char *const TEXTS[] = {"cycles:P", "task-clock:ppp", "cpu-clock:ppp"};
    return perf_events_parse(src, TEXTS[which], out, NULL, err);
}

enum { MARK_BEFORE = 60, MARK_AFTER = 30 };

void perf_events_mark(const char *text, size_t at, const char *message, struct out *o) {
    static const char LEAD[] = "event syntax error: '";
    size_t len = strlen(text), from, to;
    at = at < len ? at : len;
    from = at > MARK_BEFORE ? at - MARK_BEFORE : 0;
    to = len - at > MARK_AFTER ? at + MARK_AFTER : len;
    /* One line only, however many the text has. */
    for (size_t i = from; i < at; i++)
        if (text[i] == '\n')
            from = i + 1;
    for (size_t i = at; i < to; i++)
        if (text[i] == '\n')
            to = i;
    const char *before = from ? ".." : "", *after = to < len ? ".." : "";
    out_printf(o, "%s%s%.*s%s'\n", LEAD, before, (int)(to - from), text + from, after);
    out_fill(o, ' ', sizeof LEAD - 1 + strlen(before) + (at - from));
    out_printf(o, "\\___ %s\n", message);
}

bool perf_events_cgroups(struct perf_events *events, const char *text, struct err *err) {
    size_t at = 0;
    bool one = !strchr(text, ',');
    for (size_t i = 0; one && i < events->items.count; i++)
        if (!events->items.items[i].cgroup &&
            !(events->items.items[i].cgroup = arena_strndup(&events->arena, text, strlen(text))))
            return err_memory(err, "-G");
    for (const char *p = text; !one; p++, at++) {
        size_t n = strcspn(p, ",");
        if (at >= events->items.count)
            break;
        if (!(events->items.items[at].cgroup = arena_strndup(&events->arena, p, n)))
            return err_memory(err, "-G");
        p += n;
        if (!*p)
            return true;
    }
    return (one && events->items.count) ||
           err_set(err, ERR_USAGE, "-G", "must come after the events (-e) that it is for, one name each");
}
