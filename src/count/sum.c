/* SPDX-License-Identifier: Apache-2.0 */
#include "count/sum.h"

#include <stdio.h>

#include "count/topology.h"

/* --- keys --- */

static bool keep_key(struct count_keys *k, const char *text, uint32_t *index) {
    for (size_t i = k->texts.count; i-- > 0;) /* neighbours are often equal */
        if (strcmp(k->texts.items[i], text) == 0) {
            *index = (uint32_t)i;
            return true;
        }
    const char *copy = arena_strndup(&k->arena, text, strlen(text));
    const char **slot = copy ? vec_push(&k->texts) : NULL;
    if (slot)
        *slot = copy;
    *index = (uint32_t)k->texts.count - 1;
    return slot != NULL;
}

struct placed {
    struct count_place place;
    size_t cpu; /* index in the target */
};

/* Keys in the order of places; there are few CPUs, so the simplest sort will do. */
static void sort_places(struct placed *p, size_t n, enum count_level level) {
    for (size_t i = 1; i < n; i++) {
        struct placed one = p[i];
        size_t at = i;
        for (; at > 0 && count_place_compare(&p[at - 1].place, &one.place, level) > 0; at--)
            p[at] = p[at - 1];
        p[at] = one;
    }
}

static bool keys_by_cpu(struct count_keys *k, const struct count_options *o, const struct perf_target *t,
                        const struct sysfs *sys, struct err *err) {
    size_t n = t->cpus.count;
    VEC(struct placed) places = {0};
    bool ok = vec_reserve(&places, n + 1) && vec_reserve(&k->of_cpu, n + 1);
    bool cache = k->level != COUNT_CACHE;
    for (size_t i = 0; i < n && ok; i++) {
        struct placed *p = vec_push(&places);
        p->cpu = i;
        count_place_read(sys, t->cpus.items[i], k->level, o->cache_level, &p->place);
        cache |= p->place.cache_level != 0;
    }
    if (ok && !cache) {
        vec_fini(&places);
        return err_set(err, ERR_ABSENT, "--per-cache", "this machine does not tell of such a cache");
    }
    if (ok)
        sort_places(places.items, n, k->level);
    k->of_cpu.count = ok ? n : 0;
    for (size_t i = 0; i < n && ok; i++) {
        char text[COUNT_PLACE_TEXT];
        size_t cpu = places.items[i].cpu;
        count_place_text(&places.items[i].place, t->cpus.items[cpu], k->level, text);
        ok = keep_key(k, text, &k->of_cpu.items[cpu]);
    }
    vec_fini(&places);
    return ok || err_memory(err, "counts");
}

static bool any_percore(const struct count_plan *p) {
    for (size_t i = 0; i < p->events.count; i++)
        if (p->events.items[i].percore)
            return true;
    return false;
}

/* Adds the cores, whose texts follow those of the CPUs. */
static bool add_cores(struct count_keys *k, const struct count_options *o, const struct perf_target *t,
                      const struct sysfs *sys, struct err *err) {
    struct count_keys cores = {.level = COUNT_CORE};
    bool ok = keys_by_cpu(&cores, o, t, sys, err);
    k->first_core = k->texts.count;
    k->core_threads = o->percore_threads;
    for (size_t i = 0; ok && i < cores.of_cpu.count; i++) {
        uint32_t *slot = vec_push(&k->core_of);
        ok = slot || err_memory(err, "counts");
        if (slot)
            *slot = cores.of_cpu.items[i];
    }
    for (size_t i = 0; ok && !k->core_threads && i < cores.texts.count; i++) {
        uint32_t unused;
        ok = keep_key(k, cores.texts.items[i], &unused) || err_memory(err, "counts");
    }
    count_keys_fini(&cores);
    return ok;
}

static bool keys_by_thread(struct count_keys *k, const struct perf_target *t, struct err *err) {
    bool ok = true;
    for (size_t i = 0; i < t->threads.count && ok; i++) {
        const struct perf_target_thread *th = &t->threads.items[i];
        char text[96];
        uint32_t *key = vec_push(&k->of_thread);
        if (k->level == COUNT_THREAD)
            snprintf(text, sizeof text, "%s-%d", th->comm, (int)th->tid);
        else
            snprintf(text, sizeof text, "%s", th->comm);
        ok = key && keep_key(k, text, key);
    }
    return ok || err_memory(err, "counts");
}

bool count_keys_init(struct count_keys *k, const struct count_options *o, const struct perf_target *t,
                     const struct count_plan *p, const struct sysfs *sys, struct err *err) {
    uint32_t unused;
    *k = (struct count_keys){.level = o->level, .only_counted = o->target.all_threads};
    switch (o->level) {
    case COUNT_ALL:
        return keep_key(k, "", &unused) || err_memory(err, "counts");
    case COUNT_CGROUP:
        for (size_t i = 0; i < p->cgroups.count; i++)
            if (!keep_key(k, p->cgroups.items[i], &unused))
                return err_memory(err, "counts");
        return true;
    case COUNT_THREAD:
    case COUNT_COMM:
        return keys_by_thread(k, t, err);
    default:
        return keys_by_cpu(k, o, t, sys, err) &&
               (o->level != COUNT_CPU || !any_percore(p) || add_cores(k, o, t, sys, err));
    }
}

void count_keys_fini(struct count_keys *k) {
    vec_fini(&k->texts);
    vec_fini(&k->of_cpu);
    vec_fini(&k->of_thread);
    vec_fini(&k->core_of);
    arena_fini(&k->arena);
}

static size_t key_of(const struct count_source *s, const struct count_counter *c) {
    const struct count_keys *k = s->keys;
    if (k->level == COUNT_CGROUP)
        return s->plan->events.items[c->event].key;
    return k->of_cpu.count ? k->of_cpu.items[c->cpu] : k->of_thread.count ? k->of_thread.items[c->thread] : 0;
}

/* --- sums --- */

static bool by_core(const struct count_source *s, size_t event) {
    return s->keys->core_of.count && s->plan->events.items[event].percore;
}

static void add_to(const struct count_source *s, const struct count_counter *c, struct count_cell *cell) {
    const struct count_reading zero = {0}, *from = s->deltas ? &c->before : &zero;
    double value = (double)(c->now.value - from->value);
    double enabled = (double)(c->now.enabled_ns - from->enabled_ns);
    double running = (double)(c->now.running_ns - from->running_ns);
    /* Whether others took its counter meanwhile cannot be told; or nobody did, whatever the kernel says of
     * the times of control groups. */
    if (s->shared_cpus > 1 || s->plan->events.items[c->event].software)
        enabled = running;
    if (cell->state == COUNT_NONE)
        cell->state = COUNT_NOT_COUNTED;
    cell->enabled_ns += enabled;
    cell->running_ns += running;
    cell->counters++;
    if (running <= 0 || enabled <= 0)
        return;
    /* A counter that had to share with others is taken to have counted on at the same rate. */
    cell->value += s->no_scale || running >= enabled ? value : value * enabled / running;
    cell->state = COUNT_COUNTED;
}

static void add_counter(const struct count_source *s, const struct count_counter *c, struct counts *out) {
    size_t row = s->plan->shown.items[c->event].row_of;
    const struct count_keys *k = s->keys;
    if (!by_core(s, c->event)) {
        add_to(s, c, counts_cell(out, key_of(s, c), row));
    } else if (!k->core_threads) {
        add_to(s, c, counts_cell(out, k->first_core + k->core_of.items[c->cpu], row));
    } else {
        for (size_t i = 0; i < k->core_of.count; i++)
            if (k->core_of.items[i] == k->core_of.items[c->cpu])
                add_to(s, c, counts_cell(out, k->of_cpu.items[i], row));
    }
}

/* Whether the event has a row under that key: cores are for those that are added up by core. */
static bool belongs(const struct count_source *s, size_t event, size_t key) {
    bool core = s->keys->core_of.count && key >= s->keys->first_core;
    return core == (by_core(s, event) && !s->keys->core_threads);
}

/* What the tool counts belongs to no CPU and no thread: it is shown once. */
static void put_tool(const struct count_source *s, size_t event, struct counts *out) {
    double value;
    struct count_cell *cell = counts_cell(out, 0, event);
    if (!count_tool_value(s->tool, s->plan->events.items[event].tool, &value)) {
        cell->state = COUNT_NOT_SUPPORTED;
        return;
    }
    *cell = (struct count_cell){COUNT_COUNTED, 1, value, value > 0 ? value : 1, value > 0 ? value : 1, 0};
}

bool count_sum(const struct count_source *s, struct counts *out) {
    size_t keys = s->keys->texts.count, events = s->plan->events.count;
    *out = (struct counts){.level = s->keys->level, .events = s->plan->shown.items, .event_count = events};
    out->cells = calloc(keys * events + 1, sizeof *out->cells);
    bool ok = out->cells != NULL;
    for (size_t i = 0; i < keys && ok; i++) {
        struct count_key *k = vec_push(&out->keys);
        if (k)
            k->core = s->keys->core_of.count && i >= s->keys->first_core;
        if ((ok = k && (k->text = arena_strndup(&out->arena, s->keys->texts.items[i],
                                                strlen(s->keys->texts.items[i])))))
            continue;
    }
    if (!ok) {
        counts_fini(out);
        return false;
    }
    for (size_t i = 0; i < s->counters->list.count; i++)
        add_counter(s, &s->counters->list.items[i], out);
    for (size_t e = 0; e < events && keys; e++) {
        if (s->plan->events.items[e].tool)
            put_tool(s, e, out);
        bool shown = !s->plan->events.items[e].optional;
        for (size_t k = 0; k < keys && shown && !s->counters->supported.items[e]; k++)
            if (s->plan->shown.items[e].row_of == e && belongs(s, e, k) &&
                counts_cell(out, k, e)->state == COUNT_NONE)
                counts_cell(out, k, e)->state = COUNT_NOT_SUPPORTED;
    }
    for (size_t i = 0; i < keys * events && s->keys->only_counted; i++)
        if (out->cells[i].state == COUNT_NOT_COUNTED || out->cells[i].state == COUNT_NOT_SUPPORTED)
            out->cells[i].state = COUNT_NONE;
    return true;
}

bool count_multiplexed(const struct counts *c, count_names *out) {
    for (size_t e = 0; e < c->event_count; e++) {
        bool short_of = false;
        for (size_t k = 0; k < c->keys.count; k++) {
            const struct count_cell *cell = counts_cell(c, k, e);
            short_of |= cell->state == COUNT_COUNTED && cell->running_ns < 0.9 * cell->enabled_ns;
        }
        const char **slot = short_of ? vec_push(out) : NULL;
        if (short_of && !slot)
            return false;
        if (slot)
            *slot = c->events[e].name;
    }
    return true;
}
