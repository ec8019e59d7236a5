/* SPDX-License-Identifier: Apache-2.0 */
#include "record/plan/fallback.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "format/perfdata/events/attr.h"

enum { HARDWARE_CYCLES = 0, SOFTWARE_CPU_CLOCK = 0, SOFTWARE_TASK_CLOCK = 1, MAX_PRECISE = 3 };

static void note(struct writer *notes, const char *name, const char *what, const char *instead) {
    char line[512];
    int n = snprintf(line, sizeof line, "%s: this machine does not have this event%s: %s%s", name,
                     *instead ? " (a virtual machine?)" : "", what, instead);
    writer_put(notes, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    writer_u8(notes, 0);
}

/* What stands after the name: "u" of cycles:u, cycles/period=9/u and cpu/cycles/u. */
static const char *modifiers(const char *name) {
    const char *slash = strrchr(name, '/'), *colon = strrchr(slash ? slash : name, ':');
    return colon ? colon + 1 : slash ? slash + 1 : "";
}

/* "task-clock" with an event's modifiers; P, the highest precision that opens, is the highest there is. */
static const char *clock_name(struct perf_events *events, const struct perf_event *e, bool tasks) {
    char name[128];
    const char *m = modifiers(e->name);
    size_t n = (size_t)snprintf(name, sizeof name, "%s%s", tasks ? "task-clock" : "cpu-clock", *m ? ":" : "");
    for (; *m && n + 4 < sizeof name; m++)
        n += (size_t)snprintf(name + n, sizeof name - n, "%s", *m == 'P' ? "ppp" : (char[]){*m, 0});
    return arena_strndup(&events->arena, name, strlen(name));
}

/* Whatever the core PMU makes of it. */
static bool is_cycles(const struct perf_event *e) {
    size_t n = strcspn(e->name, ":/");
    return (e->attr.type == PERFDATA_TYPE_HARDWARE && (uint32_t)e->attr.config == HARDWARE_CYCLES) ||
           (n == 6 && memcmp(e->name, "cycles", n) == 0) ||
           (n == 10 && memcmp(e->name, "cpu-cycles", n) == 0);
}

static bool become_clock(struct perf_events *events, struct perf_event *e, bool tasks, struct writer *notes,
                         struct err *err) {
    const char *name = clock_name(events, e, tasks);
    if (!name)
        return err_memory(err, "events");
    note(notes, e->name, "recording ", name);
    e->attr.type = PERFDATA_TYPE_SOFTWARE;
    e->attr.config1 = e->attr.config2 = 0;
    e->attr.config = tasks ? SOFTWARE_TASK_CLOCK : SOFTWARE_CPU_CLOCK;
    e->name = name;
    e->pmu = "software";
    if (e->modifiers & PERF_EVENT_MAX_PRECISE)
        e->attr.flags |= (uint64_t)MAX_PRECISE << PERFDATA_ATTR_PRECISE_IP_SHIFT;
    e->modifiers &= ~(uint32_t)PERF_EVENT_MAX_PRECISE;
    return true;
}

/* The next member of its group leads it. */
static void hand_over(struct perf_events *events, size_t index) {
    const uint64_t whole_group = PERFDATA_ATTR_PINNED | PERFDATA_ATTR_EXCLUSIVE;
    const uint32_t read = PERF_EVENT_SAMPLE_READ | PERF_EVENT_WEAK;
    const struct perf_event *old = &events->items.items[index];
    struct perf_event *leader = NULL;
    for (size_t i = index + 1; i < events->items.count; i++) {
        struct perf_event *e = &events->items.items[i];
        if (e->leader != index)
            continue;
        if (!leader) {
            leader = e;
            leader->members = old->members - 1;
            leader->group = leader->members > 1 ? old->group : NULL;
            leader->attr.flags |= old->attr.flags & whole_group;
            leader->modifiers |= old->modifiers & read;
        }
        e->leader = (uint32_t)(leader - events->items.items);
    }
}

static void take_out(struct perf_events *events, size_t index) {
    struct perf_event *items = events->items.items;
    if (items[index].leader == index)
        hand_over(events, index);
    else
        items[items[index].leader].members--;
    events->items.count--;
    memmove(&items[index], &items[index + 1], (events->items.count - index) * sizeof *items);
    for (size_t i = 0; i < events->items.count; i++)
        items[i].leader -= items[i].leader > index;
    events->last -= events->last > index;
}

bool record_fallback(struct perf_events *events, size_t index, bool tasks, struct writer *notes,
                     struct err *err) {
    if (index >= events->items.count)
        return false;
    struct perf_event *e = &events->items.items[index];
    if (is_cycles(e))
        return become_clock(events, e, tasks, notes, err);
    if (events->items.count == 1)
        return false;
    note(notes, e->name, "it is left out", "");
    take_out(events, index);
    return true;
}

void record_fallback_tell(const struct writer *notes) {
    for (size_t at = 0; writer_ok(notes) && at < notes->size;) {
        const char *line = (const char *)notes->data + at;
        log_line(LOG_WARN, "%s", line);
        at += strlen(line) + 1;
    }
}
