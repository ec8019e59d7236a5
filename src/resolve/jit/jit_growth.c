/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jitdumps that are still being written, for streams: each time that one has grown, its new part becomes
 * another dump beside the first one, with its own images. All dumps are fed to the model in the order of
 * time, as far as the stream has come.
 *
 *   file     [header LOAD LOAD LOAD][LOAD MOVE][LOAD ...
 *   dumps     0                      1          2
 *   steps     fed  | still to come     fed   to come
 */
#include <stdlib.h>

#include "resolve/jit/jit_internal.h"

enum {
    FIRST_BYTES = 1 << 16,
    PART_BYTES = 1 << 28, /* read at once; the rest is read in the next round */
    TRIES_MAX = 100,      /* rounds in which a missing dump is looked for */
};

static const char where[] = "jitdump";

void jit_growth_free(struct jit_growth *g) {
    os_file_close(&g->file);
    jitcode_history_fini(&g->history);
    free(g);
}

/* Reads into d->read what the file has after g->at. False: out of memory. */
static bool read_tail(struct resolve_jit_dump *d, struct jit_growth *g, size_t *size, struct err *err) {
    struct err why = ERR_INIT;
    size_t room = 0;
    for (int64_t got = 1; got > 0 && *size < PART_BYTES;) {
        if (*size == room) {
            room = room ? 2 * room : FIRST_BYTES;
            uint8_t *larger = realloc(d->read, room);
            if (!larger)
                return err_memory(err, where);
            d->read = larger;
        }
        got = os_file_read_at(&g->file, g->at + *size, d->read + *size, room - *size, where, &why);
        *size += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* Whether the file still begins as it did: the next program of the process may empty it and write its own. */
static bool is_the_same(struct jit_growth *g, struct err *why) {
    uint8_t now[JITDUMP_HEADER_SIZE];
    bool read = os_file_read_at(&g->file, 0, now, sizeof now, where, why) == (int64_t)sizeof now;
    bool same = read && (!g->at || memcmp(now, g->header, sizeof now) == 0);
    memcpy(g->header, now, sizeof now);
    return same;
}

bool jit_read_more(struct resolve_jit_dump *d, struct jit_growth *g, struct err *err) {
    struct err why = ERR_INIT;
    uint8_t last;
    size_t size = 0;
    if (g->wanted && os_file_read_at(&g->file, g->at + g->wanted - 1, &last, 1, where, &why) != 1)
        return true;
    if (!read_tail(d, g, &size, err))
        return false;
    if (!is_the_same(g, &why) && g->at) {
        g->history.ended = g->replaced = true;
        return true;
    }
    if (!jitcode_read_part((struct bytes){d->read, size}, &g->history, &d->code, err))
        return false;
    for (size_t i = 0; i < d->code.events.count; i++)
        g->closed |= d->code.events.items[i].kind == JITCODE_CLOSED;
    g->at += d->code.whole;
    g->wanted = d->code.wanted - d->code.whole;
    return true;
}

/* ---- changes of the code, in the order of time ---- */

static int compare_steps(const void *a, const void *b) {
    const struct jit_step *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->event != y->event ? (x->event < y->event ? -1 : 1) : y->early - x->early;
}

static bool make_steps(struct resolve_jit_dump *d, struct err *err) {
    size_t n = d->code.events.count;
    d->steps = n ? malloc(2 * n * sizeof *d->steps) : NULL;
    if (n && !d->steps)
        return err_memory(err, where);
    for (size_t i = 0; i < n; i++)
        for (int early = d->code.events.items[i].early < d->code.events.items[i].time; early >= 0; early--)
            d->steps[d->step_count++] =
                (struct jit_step){jit_event_time(d, i, early), (uint32_t)i, (uint8_t)early};
    if (n)
        qsort(d->steps, d->step_count, sizeof *d->steps, compare_steps);
    return true;
}

/* Whether other code is known already where an event's code is believed to be early. */
static bool is_taken(const struct resolve_jit_dump *d, const struct model *m, const struct jitcode_event *e) {
    const uint64_t ends[] = {e->address, e->address + (e->size - 1)};
    struct model_hit hit;
    for (int i = 0; i < 2; i++)
        if (model_find(m, PERFDATA_MISC_USER, d->pid, MODEL_WHEN_END, ends[i], &hit) &&
            model_image(m, hit.image)->kind == MODEL_IMAGE_CODE)
            return true;
    return false;
}

static bool take_step(struct resolve_jit_dump *d, struct model *m, struct err *err) {
    struct jit_step step = d->steps[d->next_step++];
    return (step.early && is_taken(d, m, &d->code.events.items[step.event])) ||
           jit_feed_event(d, m, step.event, step.early, err);
}

/* The index in j->waiting of the dump with the next step, the first of equal times; j->waiting.count: none.
 */
static size_t next_waiting(const struct resolve_jit *j) {
    size_t next = j->waiting.count;
    uint64_t first_ns = 0;
    for (size_t i = 0; i < j->waiting.count; i++) {
        const struct resolve_jit_dump *d = j->dumps.items[j->waiting.items[i]];
        uint64_t time_ns = d->steps[d->next_step].time_ns;
        if (next == j->waiting.count || time_ns < first_ns) {
            next = i;
            first_ns = time_ns;
        }
    }
    return next;
}

static bool feed_until(struct resolve_jit *j, struct model *m, uint64_t now_ns, struct err *err) {
    for (size_t next; (next = next_waiting(j)) < j->waiting.count;) {
        struct resolve_jit_dump *d = j->dumps.items[j->waiting.items[next]];
        j->next_ns = d->steps[d->next_step].time_ns;
        if (j->next_ns > now_ns)
            return true;
        if (!take_step(d, m, err))
            return false;
        if (d->next_step == d->step_count) {
            free(d->steps);
            d->steps = NULL;
            j->waiting.count--;
            memmove(&j->waiting.items[next], &j->waiting.items[next + 1],
                    (j->waiting.count - next) * sizeof *j->waiting.items);
        }
    }
    j->next_ns = UINT64_MAX;
    return true;
}

/* ---- reading ---- */

static bool open_dump(struct resolve_jit *j, size_t index, struct model *m, struct err *err) {
    struct resolve_jit_dump *d = j->dumps.items[index];
    if (!jit_add_images(j, index, m, err) || !make_steps(d, err))
        return false;
    uint32_t *slot = d->step_count ? vec_push(&j->waiting) : NULL;
    if (slot)
        *slot = (uint32_t)index;
    return slot || !d->step_count || err_memory(err, where);
}

/* Reads what was added to the file since as one more dump. */
static bool read_on(struct resolve_jit *j, size_t index, struct model *m, struct err *err) {
    struct resolve_jit_dump *first = j->dumps.items[index];
    struct jit_growth *g = first->growth;
    struct resolve_jit_dump next = {.pid = first->pid,
                                    .marker = first->marker,
                                    .path = first->path,
                                    .image = first->image,
                                    .mapped = first->mapped,
                                    .continues = true};
    if (g->history.ended)
        return true;
    bool ok = jit_read_more(&next, g, err);
    struct resolve_jit_dump *made = ok && next.code.events.count ? jit_new_dump(j) : NULL;
    if (!made) {
        ok = ok && (!next.code.events.count || err_memory(err, where));
        jitcode_fini(&next.code);
        free(next.read);
        return ok;
    }
    *made = next;
    jit_set_clock(j, made);
    return open_dump(j, j->dumps.count - 1, m, err);
}

/* Notes in d->why if the process's next program has overwritten the dump before all of it was read. */
static void note_loss(struct resolve_jit *j, struct resolve_jit_dump *d) {
    struct jit_growth *g = d->growth;
    bool begun = jit_is_of_that_program(d);
    if (d->why || (begun && (!g->replaced || g->closed)))
        return;
    const char *lost = begun ? "what the one before wrote last may be missing" : "the one before is gone";
    const char *text =
        arena_printf(&j->texts, "%s: is of a program that the process began later; %s", d->path, lost);
    d->why = text ? text : "";
}

static bool look(struct resolve_jit *j, struct model *m, struct err *err) {
    size_t count = j->dumps.count; /* before what is added */
    if (j->news)
        jit_settle_markers(j);
    j->news = false;
    for (size_t i = 0; i < count; i++) {
        struct resolve_jit_dump *d = j->dumps.items[i];
        if (d->again)
            continue;
        if (!d->growth && !d->path && !d->continues) { /* its first look */
            d->growth = calloc(1, sizeof *d->growth);
            if (!d->growth)
                return err_memory(err, where);
            d->growth->file.fd = -1;
        }
        if (!d->growth || hash_map_get(&j->injected, d->pid) != HASH_ABSENT)
            continue;
        bool ok = true;
        if (d->path) {
            ok = read_on(j, i, m, err);
            note_loss(j, d);
        } else if (d->growth->tries++ < TRIES_MAX) {
            d->why = NULL;
            ok = jit_find(j, d, err) && (!d->path || open_dump(j, i, m, err));
        }
        if (!ok)
            return false;
    }
    return true;
}

bool resolve_jit_follow(struct resolve_jit *j, struct model *m, uint64_t now_ns, bool grown,
                        struct err *err) {
    j->growing = true;
    bool looks = j->dumps.count && (grown || j->news);
    if (looks && !look(j, m, err))
        return false;
    return (!looks && now_ns < j->next_ns) || feed_until(j, m, now_ns, err);
}
