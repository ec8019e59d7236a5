/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/wall_clock.h"

#include <string.h>

/* Whether both kinds of time are there, once each: then their numbers. */
static bool find(const struct stacks *s, uint32_t first, uint32_t both[2]) {
    uint32_t found[2] = {0};
    for (uint32_t i = first; i < s->events.count; i++) {
        const struct stacks_event *e = &s->events.items[i];
        bool off = strcmp(stacks_str(s, e->name), STACKS_OFF_CPU) == 0;
        if (strcmp(stacks_str(s, e->unit), "ns") == 0) {
            both[off] = i;
            found[off]++;
        }
    }
    return found[0] == 1 && found[1] == 1;
}

/* Makes room for an event number `first`: rows and moments name theirs by number. */
static bool insert_event(struct stacks *s, uint32_t first, const uint32_t both[2]) {
    static const char NAME[] = STACKS_WALL_CLOCK;
    uint32_t name = stacks_text(s, NAME, sizeof NAME - 1);
    if (name == STRPOOL_NONE || !vec_push(&s->events))
        return false;
    struct stacks_event *e = s->events.items, made = e[both[0]];
    memmove(e + first + 1, e + first, (s->events.count - 1 - first) * sizeof *e);
    made.name = name;
    made.samples = made.period = 0;
    made.lost += e[both[1] + 1].lost;
    e[first] = made;
    for (size_t i = 0; i < s->rows.count; i++)
        s->rows.items[i].event += s->rows.items[i].event >= first;
    return stacks_rows_renumbered(s);
}

bool stacks_wall_clock(struct stacks *s, uint32_t first, struct err *err) {
    uint32_t both[2];
    size_t rows = s->rows.count, moments = s->moments.count;
    if (!find(s, first, both))
        return true;
    uint32_t *joined = malloc((rows + 1) * sizeof *joined); /* by row: the one of the new event */
    bool ok = joined && insert_event(s, first, both) && vec_reserve(&s->moments, 2 * moments + 1);
    for (size_t i = 0; ok && i < rows; i++) {
        struct stacks_row row = s->rows.items[i];
        joined[i] = STACKS_NONE;
        if (row.event != both[0] + 1 && row.event != both[1] + 1)
            continue;
        joined[i] = stacks_row(s, first, row.comm, row.node);
        ok = joined[i] != STACKS_NONE;
        if (ok)
            stacks_add(s, joined[i], row.samples, row.period);
    }
    for (size_t i = 0; ok && i < moments; i++) {
        struct stacks_moment m = s->moments.items[i];
        m.row = joined[m.row];
        if (m.row != STACKS_NONE)
            s->moments.items[s->moments.count++] = m;
    }
    free(joined);
    return ok || err_memory(err, STACKS_WALL_CLOCK);
}
