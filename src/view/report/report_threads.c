/* SPDX-License-Identifier: Apache-2.0 */
/* As observed: columns are as wide as their longest cell, with two spaces between; the title's "# " takes the
 * place of the first two. */
#include "view/report/report_threads.h"

#include <inttypes.h>
#include <stdio.h>

static unsigned digits_of(uint64_t n) {
    unsigned digits = 1;
    for (; n >= 10; n /= 10)
        digits++;
    return digits;
}

bool report_threads_add(struct report_threads *t, uint32_t pid, uint32_t tid, uint32_t event,
                        uint64_t value) {
    uint64_t key = (uint64_t)pid << 32 | tid;
    uint32_t thread = hash_map_get(&t->by_thread, key);
    if (thread == HASH_ABSENT) {
        thread = (uint32_t)t->threads.count;
        struct report_thread *made = vec_push(&t->threads);
        if (!made || !hash_map_set(&t->by_thread, key, thread))
            return false;
        *made = (struct report_thread){pid, tid};
    }
    uint32_t column = hash_map_get(&t->by_event, event);
    if (column == HASH_ABSENT) {
        column = (uint32_t)t->events.count;
        struct report_thread_event *made = vec_push(&t->events);
        if (!made || !hash_map_set(&t->by_event, event, column))
            return false;
        made->event = event;
    }
    key = (uint64_t)thread << 32 | event;
    uint32_t at = hash_map_get(&t->by_value, key);
    if (at == HASH_ABSENT) {
        at = (uint32_t)t->values.count;
        if (!vec_push(&t->values) || !hash_map_set(&t->by_value, key, at))
            return false;
    }
    t->values.items[at] += value;
    unsigned digits = digits_of(t->values.items[at]);
    if (digits > t->events.items[column].digits)
        t->events.items[column].digits = digits;
    return true;
}

void report_threads_fini(struct report_threads *t) {
    vec_fini(&t->threads);
    vec_fini(&t->events);
    vec_fini(&t->values);
    hash_map_fini(&t->by_thread);
    hash_map_fini(&t->by_event);
    hash_map_fini(&t->by_value);
}

static uint64_t value_of(const struct report_threads *t, size_t thread, uint32_t event) {
    uint32_t at = hash_map_get(&t->by_value, (uint64_t)thread << 32 | event);
    return at == HASH_ABSENT ? 0 : t->values.items[at];
}

static const char *name_of(const struct perfdata_events *events, uint32_t event) {
    const char *name = events->list.items[event].name;
    return name ? name : "unknown";
}

static int width_of(const struct report_thread_event *e, const char *name) {
    size_t len = strlen(name);
    return (int)(len > e->digits ? len : e->digits);
}

static void print_table(const struct report_threads *t, const struct perfdata_events *events, int pid_width,
                        int tid_width, struct out *out) {
    out_printf(out, "# %*s  %*s", pid_width, "PID", tid_width, "TID");
    for (size_t k = 0; k < t->events.count; k++) {
        const char *name = name_of(events, t->events.items[k].event);
        out_printf(out, "  %*s", width_of(&t->events.items[k], name), name);
    }
    out_char(out, '\n');
    for (size_t i = 0; i < t->threads.count; i++) {
        const struct report_thread *x = &t->threads.items[i];
        out_printf(out, "  %*" PRId32 "  %*" PRId32, pid_width, (int32_t)x->pid, tid_width, (int32_t)x->tid);
        for (size_t k = 0; k < t->events.count; k++) {
            const struct report_thread_event *e = &t->events.items[k];
            out_printf(out, "  %*" PRIu64, width_of(e, name_of(events, e->event)), value_of(t, i, e->event));
        }
        out_char(out, '\n');
    }
}

static void print_raw(const struct report_threads *t, const struct perfdata_events *events, int pid_width,
                      int tid_width, struct out *out) {
    enum { RAW_LEAST = 3, COUNT_LEAST = 5 };
    int name_width = 4, raw_width = RAW_LEAST, count_width = COUNT_LEAST;
    for (size_t k = 0; k < t->events.count; k++) {
        uint32_t event = t->events.items[k].event;
        int name = (int)strlen(name_of(events, event)), count = (int)t->events.items[k].digits,
            raw = snprintf(NULL, 0, "%" PRIx64, events->list.items[event].attr.config);
        name_width = name > name_width ? name : name_width;
        raw_width = raw > raw_width ? raw : raw_width;
        count_width = count > count_width ? count : count_width;
    }
    out_printf(out, "# %*s  %*s  %*s  %*s  %*s\n", pid_width, "PID", tid_width, "TID", name_width, "Name",
               raw_width, "Raw", count_width, "Count");
    for (size_t i = 0; i < t->threads.count; i++)
        for (size_t k = 0; k < t->events.count; k++) {
            const struct report_thread *x = &t->threads.items[i];
            uint32_t event = t->events.items[k].event;
            out_printf(out, "  %*" PRId32 "  %*" PRId32 "  %*s  %*" PRIx64 "  %*" PRIu64 "\n", pid_width,
                       (int32_t)x->pid, tid_width, (int32_t)x->tid, name_width, name_of(events, event),
                       raw_width, events->list.items[event].attr.config, count_width, value_of(t, i, event));
        }
}

void report_threads_print(const struct report_threads *t, const struct perfdata_events *events, bool raw,
                          struct out *out) {
    int pid_width = 3, tid_width = 3;
    for (size_t i = 0; i < t->threads.count; i++) {
        int pid = (int)digits_of(t->threads.items[i].pid), tid = (int)digits_of(t->threads.items[i].tid);
        pid_width = pid > pid_width ? pid : pid_width;
        tid_width = tid > tid_width ? tid : tid_width;
    }
    (raw ? print_raw : print_table)(t, events, pid_width, tid_width, out);
}
