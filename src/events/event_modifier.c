/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>

#include "events/event_internal.h"

#define EXCLUDE_MODES  (PERFDATA_ATTR_EXCLUDE_USER | PERFDATA_ATTR_EXCLUDE_KERNEL | PERFDATA_ATTR_EXCLUDE_HV)
#define EXCLUDE_GUESTS (PERFDATA_ATTR_EXCLUDE_HOST | PERFDATA_ATTR_EXCLUDE_GUEST)

enum { PRECISE_MAX = 3 };

/*
 * perf-list(1), EVENT MODIFIERS. A letter of a set (user, kernel, hypervisor; host, guest) excludes the
 * others of its set and clears its own bit; every other letter sets its bit.
 */
static const struct modifier {
    char letter;
    const char *what;
    uint64_t set, clear; /* attr flags */
    uint32_t modifiers;  /* enum perf_event_modifier */
    bool leader_only;    /* after a group: concerns the group as a whole */
} MODIFIERS[] = {
    {'u', "user", EXCLUDE_MODES, PERFDATA_ATTR_EXCLUDE_USER, PERF_EVENT_MODE_GIVEN},
    {'k', "kernel", EXCLUDE_MODES, PERFDATA_ATTR_EXCLUDE_KERNEL, PERF_EVENT_MODE_GIVEN},
    {'h', "hypervisor", EXCLUDE_MODES, PERFDATA_ATTR_EXCLUDE_HV, PERF_EVENT_MODE_GIVEN},
    {'G', "guest", EXCLUDE_GUESTS, PERFDATA_ATTR_EXCLUDE_GUEST, PERF_EVENT_GUEST_GIVEN},
    {'H', "host", EXCLUDE_GUESTS, PERFDATA_ATTR_EXCLUDE_HOST, PERF_EVENT_GUEST_GIVEN},
    {'I', "not idle", PERFDATA_ATTR_EXCLUDE_IDLE},
    {'D', "pinned", PERFDATA_ATTR_PINNED, .leader_only = true},
    {'e', "exclusive", PERFDATA_ATTR_EXCLUSIVE, .leader_only = true},
    {'p', "precise", .modifiers = PERF_EVENT_PRECISE_GIVEN},
    {'P', "most precise", .modifiers = PERF_EVENT_PRECISE_GIVEN | PERF_EVENT_MAX_PRECISE},
    {'S', "sample read", .modifiers = PERF_EVENT_SAMPLE_READ},
    {'W', "weak group", .modifiers = PERF_EVENT_WEAK},
    {'b', "BPF", .modifiers = PERF_EVENT_BPF},
    {'R', "retire latency", .modifiers = PERF_EVENT_RETIRE_LATENCY},
    {'X', "not regrouped", .modifiers = PERF_EVENT_KEEP_GROUP},
};
enum { MODIFIER_COUNT = sizeof MODIFIERS / sizeof *MODIFIERS };

static const struct modifier *find(char letter) {
    for (size_t i = 0; i < MODIFIER_COUNT; i++)
        if (MODIFIERS[i].letter == letter)
            return &MODIFIERS[i];
    return NULL;
}

static void apply(const struct modifier *m, struct perf_event *e) {
    uint64_t *flags = &e->attr.flags;
    e->modifiers |= m->modifiers;
    /* The first of a set excludes the whole set; the letters together then let in what they name. */
    if (!m->clear || !(*flags & m->set))
        *flags |= m->set;
    *flags &= ~m->clear;
}

/* The letters of a word: checks them, counts the p's. */
static bool check(struct event_parser *p, struct event_span word, unsigned *precise) {
    for (size_t i = 0; i < word.n; i++) {
        char c = word.at[i];
        if (!find(c))
            return event_fail(p, word.at + i, ERR_USAGE,
                              "unknown modifier '%c', there are " EVENT_MODIFIER_LETTERS, c);
        if (c == 'p' && ++*precise > PRECISE_MAX)
            return event_fail(p, word.at + i, ERR_USAGE, "at most three p");
        if (c != 'p' && memchr(word.at, c, i))
            return event_fail(p, word.at + i, ERR_USAGE, "modifier '%c' (%s) twice", c, find(c)->what);
    }
    return true;
}

bool event_modifiers(struct event_parser *p, size_t first, bool group) {
    struct event_span word = {p->text + p->at, 0};
    while (p->at < p->len && isalpha((unsigned char)p->text[p->at]))
        p->at++;
    word.n = (size_t)(p->text + p->at - word.at);
    unsigned precise = 0;
    if (!check(p, word, &precise))
        return false;
    for (size_t i = first; i < p->out->items.count; i++) {
        struct perf_event *e = &p->out->items.items[i];
        for (size_t j = 0; j < word.n; j++) {
            const struct modifier *m = find(word.at[j]);
            if (!(group && m->leader_only && i != first))
                apply(m, e);
        }
        unsigned sum = perfdata_attr_precise_ip(&e->attr) + precise;
        if (sum > PRECISE_MAX)
            return event_fail(p, word.at, ERR_USAGE, "at most three p, the event's own included");
        e->attr.flags &= ~(3ull << PERFDATA_ATTR_PRECISE_IP_SHIFT);
        e->attr.flags |= (uint64_t)sum << PERFDATA_ATTR_PRECISE_IP_SHIFT;
    }
    return true;
}
