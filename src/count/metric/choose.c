/* SPDX-License-Identifier: Apache-2.0 */
#include "count/metric/choose.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "count/tool.h"

enum { NESTED_MAX = 12, TEXT_ROOM = 1 << 14 };

static bool fact(void *ctx, const char *name, enum metric_ask ask, double *value) {
    const struct metric_choice *c = ctx;
    if (ask != METRIC_VALUE || strcmp(name, "#target_cpu") != 0)
        return false;
    *value = c->target_cpu;
    return true;
}

static uint32_t find_event(const struct metric_choice *c, const char *name) {
    for (size_t i = c->from; i < c->events->items.count; i++)
        if (strcmp(c->events->items.items[i].name, name) == 0)
            return (uint32_t)i;
    return METRIC_FACT;
}

/* A name that is a metric's stands for its expression, in parentheses. `out` has TEXT_ROOM bytes. */
static bool expand(const struct metric_choice *c, const struct metric *m, int depth, char *out,
                   struct err *err) {
    struct metric_expr e;
    if (!metric_expr_parse(&e, m->expr, err))
        return false;
    snprintf(out, TEXT_ROOM, "%s", m->expr);
    bool ok = strlen(m->expr) < TEXT_ROOM, found = false;
    for (size_t i = 0; i < e.names.count && ok && !found; i++)
        found = metric_table_find(c->table, e.names.items[i], strlen(e.names.items[i])) != NULL;
    metric_expr_fini(&e);
    if (ok && !found)
        return true;
    char *inner = malloc(TEXT_ROOM);
    size_t n = 0;
    ok = ok && inner && depth < NESTED_MAX;
    for (const char *p = m->expr; *p && ok;) {
        size_t word = strcspn(p, " ()+-*/%<>&|^,"), len = word;
        while (len && p[len - 1] == '\\' && p[len]) /* an operator without its meaning */
            len += 1 + strcspn(p + len + 1, " ()+-*/%<>&|^,");
        const struct metric *of = len && p[len] != '(' ? metric_table_find(c->table, p, len) : NULL;
        const char *piece = p;
        size_t size = len ? len : 1;
        p += size;
        if (of && of != m) {
            ok = expand(c, of, depth + 1, inner, err);
            piece = inner;
            size = ok ? strlen(inner) : 0;
        }
        ok = ok && n + size + 3 < TEXT_ROOM;
        if (ok)
            n +=
                (size_t)snprintf(out + n, TEXT_ROOM - n, of && of != m ? "(%.*s)" : "%.*s", (int)size, piece);
    }
    free(inner);
    return ok || (err->code == ERR_NONE ? err_set(err, ERR_BROKEN, m->name,
                                                  "the metric is too large, or needs "
                                                  "itself")
                                        : false);
}

/* The events from `first` on become one weak group, if each is one of a kind that can. */
static void group(const struct metric_choice *c, size_t first, size_t names) {
    struct perf_event *items = c->events->items.items;
    size_t n = c->events->items.count - first;
    bool fits = !c->no_group && n > 1 && n == names;
    for (size_t i = first; i < c->events->items.count; i++)
        fits &= items[i].kind != PERF_EVENT_TOOL && items[i].members == 1;
    for (size_t i = first; i < c->events->items.count && fits; i++) {
        items[i].leader = (uint32_t)first;
        items[i].members = i == first ? (uint32_t)n : 0;
        items[i].modifiers |= PERF_EVENT_WEAK;
    }
}

/* Finds the events that a metric's expression names, and adds those that are not counted yet. */
static bool find_events(const struct metric_choice *c, struct metric_use *u, struct err *err) {
    size_t first = c->events->items.count, added = 0;
    u->shown_at = METRIC_FACT;
    for (size_t i = 0; i < u->expr.names.count; i++) {
        const char *name = u->expr.names.items[i];
        if (strcmp(name, "duration_time") == 0 || !metric_expr_needs(&u->expr, name, fact, (void *)c))
            continue;
        uint32_t event = find_event(c, name);
        if (event == METRIC_FACT) {
            struct err why = ERR_INIT;
            event = (uint32_t)c->events->items.count;
            added++;
            if (!perf_events_parse(c->sources, name, c->events, NULL, &why))
                return why.code == ERR_MEMORY
                           ? err_memory(err, name)
                           : err_set(err, ERR_ABSENT, u->metric->name,
                                     "it needs the event %s, which this machine does not have", name);
        }
        u->events.items[i] = event;
        if (u->shown_at == METRIC_FACT)
            u->shown_at = event;
    }
    group(c, first, added);
    if (u->shown_at == METRIC_FACT)
        u->shown_at = (uint32_t)c->from;
    return true;
}

static void drop_last(struct metric_set *set) {
    struct metric_use *u = &set->uses.items[set->uses.count - 1];
    metric_expr_fini(&u->expr);
    vec_fini(&u->events);
    set->uses.count--;
}

static bool add(const struct metric_choice *c, const struct metric *m, struct metric_set *set,
                struct err *err) {
    size_t had = c->events->items.count;
    char *text = malloc(TEXT_ROOM);
    if (!text)
        return err_memory(err, m->name);
    struct metric whole = *m;
    whole.expr = text;
    bool ok = expand(c, m, 0, text, err);
    struct metric_use *u = ok ? metric_set_add(set, &whole, err) : NULL;
    if (u)
        u->metric = m;
    ok = u && find_events(c, u, err);
    if (u && !ok) {
        drop_last(set);
        c->events->items.count = had;
    }
    free(text);
    return ok;
}

static bool choose(const struct metric_choice *c, const char *name, size_t n, struct metric_set *set,
                   struct err *err) {
    const struct metric *one = metric_table_find(c->table, name, n);
    size_t found = 0, had = set->uses.count;
    struct err why = ERR_INIT;
    if (one)
        return add(c, one, set, err);
    for (size_t i = 0; i < c->table->items.count; i++) {
        const struct metric *m = &c->table->items.items[i];
        if (!metric_matches(m, name, n) && !(n == 3 && strncmp(name, "all", 3) == 0))
            continue;
        found++;
        why = ERR_INIT;
        if (!add(c, m, set, &why)) {
            if (why.code == ERR_MEMORY)
                return err_memory(err, m->name);
            log_line(LOG_INFO, "%s: %s", m->name, why.message);
        }
    }
    if (!found)
        return err_set(err, ERR_USAGE, "-M", "there is no metric or group of metrics '%.*s'", (int)n, name);
    if (set->uses.count == had && err)
        *err = why;
    return set->uses.count > had;
}

bool metric_choose(const struct metric_choice *c, const char *names, struct metric_set *set,
                   struct err *err) {
    for (const char *p = names;;) {
        size_t n = strcspn(p, ",");
        if (n && !choose(c, p, n, set, err))
            return false;
        if (!p[n])
            return true;
        p += n + 1;
    }
}

bool metric_choose_there(const struct metric_choice *c, const char *name, struct metric_set *set) {
    const struct metric *m = metric_table_find(c->table, name, strlen(name));
    struct err err = ERR_INIT;
    struct metric_use *u = m ? metric_set_add(set, m, &err) : NULL;
    if (!u)
        return err.code != ERR_MEMORY;
    for (size_t i = 0; i < u->expr.names.count; i++) {
        const char *of = u->expr.names.items[i];
        if (strcmp(of, "duration_time") != 0 && metric_expr_needs(&u->expr, of, fact, (void *)c) &&
            find_event(c, of) == METRIC_FACT) {
            drop_last(set);
            return true;
        }
    }
    return find_events(c, u, &err);
}
