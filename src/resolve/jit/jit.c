/* SPDX-License-Identifier: Apache-2.0 */
#include "resolve/jit/jit_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "format/perfdata/added/kept.h"
#include "object/compressed.h"

enum {
    START_SLACK_NS = 2000000000, /* between a dump's first word and the event of its marker */
};

static const char where[] = "jitdump";

struct resolve_jit *resolve_jit_new(const struct resolve_jit_options *options, struct err *err) {
    struct resolve_jit *j = calloc(1, sizeof *j);
    if (!j)
        err_memory(err, where);
    else
        j->options = *options;
    return j;
}

static void free_dump(struct resolve_jit_dump *d) {
    jitcode_fini(&d->code);
    os_map_fini(&d->map);
    arena_fini(&d->unpacked);
    if (d->growth)
        jit_growth_free(d->growth);
    free(d->steps);
    free(d->read);
    free(d);
}

struct resolve_jit_dump *jit_new_dump(struct resolve_jit *j) {
    struct resolve_jit_dump *d = calloc(1, sizeof *d), **slot = d ? vec_push(&j->dumps) : NULL;
    if (!slot) {
        free(d);
        return NULL;
    }
    return *slot = d;
}

void resolve_jit_free(struct resolve_jit *j) {
    if (!j)
        return;
    for (size_t i = 0; i < j->dumps.count; i++)
        free_dump(j->dumps.items[i]);
    vec_fini(&j->dumps);
    vec_fini(&j->waiting);
    vec_fini(&j->begun);
    hash_map_fini(&j->last_of);
    hash_map_fini(&j->injected);
    hash_map_fini(&j->by_image);
    arena_fini(&j->texts);
    free(j);
}

void resolve_jit_set_clock(struct resolve_jit *j, enum resolve_jit_clock clock,
                           const struct perfdata_clock_pair pairs[2]) {
    j->options.clock = clock;
    if (pairs)
        memcpy(j->options.pairs, pairs, sizeof j->options.pairs);
}

void resolve_jit_use_clock(struct resolve_jit *j, const struct perfdata_events *events) {
    bool all = events->list.count;
    for (size_t i = 0; i < events->list.count; i++) {
        const struct perfdata_attr *a = &events->list.items[i].attr;
        all &= (a->flags & PERFDATA_ATTR_USE_CLOCKID) && a->clockid == CLOCK_MONOTONIC;
    }
    if (all)
        j->options.clock = RESOLVE_JIT_CLOCK_SAME;
}

void resolve_jit_use_pairs(struct resolve_jit *j, struct bytes start, struct bytes end, bool swap) {
    struct perfdata_clock_pair *p = j->options.pairs;
    bool first = perfdata_clock_pair_next(&start, swap, &p[0]);
    bool last = perfdata_clock_pair_next(&end, swap, &p[1]);
    if (!first && !last)
        return;
    if (!first)
        p[0] = p[1];
    if (!last)
        p[1] = p[0];
    if (j->options.clock == RESOLVE_JIT_CLOCK_UNKNOWN)
        j->options.clock = RESOLVE_JIT_CLOCK_PAIRS;
}

/* "" if memory ran out: no file of this name is found then. */
static const char *text_or_empty(const char *text) {
    return text ? text : "";
}

/* ---- clocks ---- */

/* Converts as described at the mmap page in perf_event.h. */
static int64_t time_of_counter(const struct perfdata_time_conv *c, uint64_t cycles) {
    if (c->has_cycles && c->cap_user_time_short)
        cycles = c->time_cycles + ((cycles - c->time_cycles) & c->time_mask);
    unsigned shift = c->time_shift & 63;
    uint64_t rest = cycles & (((uint64_t)1 << shift) - 1);
    return (int64_t)(c->time_zero + (cycles >> shift) * c->time_mult + (rest * c->time_mult >> shift));
}

/* Scales a time span; saturates, as times in files may be anything. */
static int64_t at_rate(int64_t ns, double rate) {
    double there = (double)ns * rate;
    return there >= 0x1p63 ? INT64_MAX : there < -0x1p63 ? INT64_MIN : (int64_t)there;
}

/* Converts a time of the dump to the recording's clock; may be negative. */
static int64_t time_there(const struct resolve_jit_dump *d, uint64_t time) {
    if (d->counted)
        return time_of_counter(&d->counter, time);
    int64_t since = (int64_t)(time - d->code.start);
    return (int64_t)(d->code.start + (uint64_t)d->offset_ns + (uint64_t)at_rate(since, d->rate));
}

uint64_t resolve_jit_time(const struct resolve_jit_dump *d, uint64_t time) {
    int64_t there = time_there(d, time);
    uint64_t at = there < 1 ? 1 : (uint64_t)there; /* 0 would be before the recording */
    return at > d->mapped.time_ns ? at : d->mapped.time_ns;
}

void jit_set_clock(const struct resolve_jit *j, struct resolve_jit_dump *d) {
    const struct resolve_jit_options *o = &j->options;
    const struct perfdata_clock_pair *p = o->pairs;
    uint64_t start = d->code.start;
    d->offset_ns = 0;
    d->rate = 1;
    d->doubt = NULL;
    d->counter = j->counter;
    bool counter = d->code.header.flags & JITDUMP_FLAG_ARCH_TIMESTAMP;
    /* The recording relates the counter to perf's own clock only. */
    d->counted = counter && j->counter.cap_user_time_zero && o->clock != RESOLVE_JIT_CLOCK_SAME;
    if (d->counted || (o->clock == RESOLVE_JIT_CLOCK_SAME && !counter))
        return;
    if (o->clock == RESOLVE_JIT_CLOCK_PAIRS && !counter) {
        if (p[1].monotonic_ns > p[0].monotonic_ns)
            d->rate = (double)(int64_t)(p[1].perf_ns - p[0].perf_ns) /
                      (double)(int64_t)(p[1].monotonic_ns - p[0].monotonic_ns);
        int64_t since = at_rate((int64_t)(start - p[0].monotonic_ns), d->rate);
        d->offset_ns = (int64_t)(p[0].perf_ns - start + (uint64_t)since);
        return;
    }
    d->doubt = counter ? "the jitdump has the times of the processor's counter, which the recording does not "
                         "relate to its own"
                       : "the jitdump's clock is not the recording's: record with -k mono";
    /* Without the marker's time the offset is 0: perf's own clock and CLOCK_MONOTONIC both begin at boot. */
    if (d->mapped.time_ns)
        d->offset_ns = (int64_t)(d->mapped.time_ns - start);
}

bool jit_is_of_that_program(const struct resolve_jit_dump *d) {
    int64_t start = time_there(d, d->code.start);
    return d->doubt || (start >= (int64_t)(d->from.time_ns & INT64_MAX) &&
                        start < (int64_t)(d->until.time_ns & INT64_MAX));
}

/* Whether a dump can be the one whose marker was mapped then: another process's may be at its path now.
 * Without a common clock the file is taken to be that of the last program that mapped it. */
static bool is_of_that_time(const struct resolve_jit_dump *d) {
    if (d->doubt)
        return !d->later;
    if (!jit_is_of_that_program(d))
        return false;
    int64_t apart = (int64_t)((uint64_t)time_there(d, d->code.start) - d->mapped.time_ns);
    return !d->mapped.time_ns ||
           (apart > -START_SLACK_NS && (apart < START_SLACK_NS || !d->code.header_timed));
}

/* ---- finding and reading ---- */

/* Reads a dump from a file, whose ownership it takes even if that fails. False: *why says why. */
static bool read_file(struct resolve_jit *j, struct resolve_jit_dump *d, struct os_file *file,
                      const char *path, struct err *why) {
    if (j->growing) {
        struct jit_growth *g = d->growth;
        g->file = *file;
        if (jit_read_more(d, g, why))
            return true;
        os_file_close(&g->file);
        return false;
    }
    bool ok = os_map_file(file, path, &d->map, why) && jitcode_read(d->map.bytes, &d->code, why);
    os_file_close(file);
    return ok;
}

/* Drops all that was read of a dump. */
static void forget(struct resolve_jit_dump *d) {
    jitcode_fini(&d->code);
    os_map_fini(&d->map);
    arena_fini(&d->unpacked);
    free(d->read);
    d->read = NULL;
    d->code = (struct jitcode){0};
    d->map = (struct os_map){{NULL, 0}};
    if (!d->growth)
        return;
    os_file_close(&d->growth->file);
    jitcode_history_fini(&d->growth->history);
    *d->growth = (struct jit_growth){.file = {.fd = -1}, .tries = d->growth->tries};
}

/* Tries to read the dump from a path; d->why notes a failure. False: out of memory. */
static bool try_path(struct resolve_jit *j, struct resolve_jit_dump *d, const char *path, struct err *err) {
    struct err why = ERR_INIT;
    struct os_file file;
    if (!*path || !os_file_open_regular(path, &file, &why)) {
        /* A root in /proc may well be forbidden to us. */
        if (why.code != ERR_ABSENT && strncmp(path, "/proc/", 6) != 0 && *path && !d->why)
            d->why = text_or_empty(arena_printf(&j->texts, "%s: %s", path, why.message));
        return true;
    }
    if (!read_file(j, d, &file, path, &why)) {
        d->why = d->why ? d->why : text_or_empty(arena_printf(&j->texts, "%s: %s", path, why.message));
    } else {
        jit_set_clock(j, d);
        if (is_of_that_time(d)) {
            d->path = path;
            d->why = d->code.damage.code
                         ? text_or_empty(arena_printf(&j->texts, "%s: %s", path, d->code.damage.message))
                         : NULL;
            return true;
        }
        d->why =
            d->why ? d->why
                   : text_or_empty(arena_printf(
                         &j->texts,
                         d->later ? "%s: is of a program that the process began later; the one before is gone"
                                  : "%s: is of another time than the process that mapped it",
                         path));
    }
    forget(d);
    return why.code != ERR_MEMORY || err_memory(err, where);
}

/* Whether a kept file is a jitdump that had the marker's name when it was mapped. */
static bool keeps(const struct perfdata_kept *k, const struct resolve_jit_dump *d) {
    size_t len = strlen(d->marker);
    bool deleted = k->name.size > len && memcmp(k->name.data + len, " (", 2) == 0;
    return k->kind == PERFDATA_KEPT_JITDUMP && k->pid == d->pid && k->name.size >= len &&
           memcmp(k->name.data, d->marker, len) == 0 && (k->name.size == len || deleted);
}

/* Tries the jitdumps that the recording keeps, whole or the beginning, in the order of their markers. Without
 * a common clock it is the one with d->later more after it. False: out of memory. */
static bool try_kept(struct resolve_jit *j, struct resolve_jit_dump *d, struct err *err) {
    struct bytes rest = j->options.kept, all;
    struct perfdata_kept k;
    size_t left = 0;
    while (perfdata_kept_next(&rest, j->options.kept_swap, &k))
        left += keeps(&k, d);
    rest = j->options.kept;
    while (left && perfdata_kept_next(&rest, j->options.kept_swap, &k)) {
        struct err why = ERR_INIT;
        if (!keeps(&k, d))
            continue;
        left--;
        all = k.packed;
        bool ok = (k.packed.size == k.kept_size ||
                   object_decompress_sized(OBJECT_ZSTD, k.packed, k.kept_size, &d->unpacked, &all, &why)) &&
                  jitcode_read(all, &d->code, &why);
        if (!ok && why.code == ERR_MEMORY)
            return err_memory(err, where);
        if (ok)
            jit_set_clock(j, d);
        if (!ok || !jit_is_of_that_program(d) || (d->doubt && left != d->later)) {
            forget(d);
            continue;
        }
        d->kept = true;
        d->path = text_or_empty(arena_printf(&j->texts, "%s (kept in the recording)", d->marker));
        d->why = d->code.damage.code
                     ? text_or_empty(arena_printf(&j->texts, "%s: %s", d->path, d->code.damage.message))
                     : NULL;
        return true;
    }
    return true;
}

bool jit_find(struct resolve_jit *j, struct resolve_jit_dump *d, struct err *err) {
    const struct resolve_jit_options *o = &j->options;
    const char *slash = strrchr(d->marker, '/'), *base = slash ? slash + 1 : d->marker;
    const char *end = o->recording ? strrchr(o->recording, '/') : NULL;
    const char *const paths[] = {
        o->dump_dir ? text_or_empty(arena_printf(&j->texts, "%s/%s", o->dump_dir, base)) : "",
        /* The process may have another root; but its pid may be another process's by now. */
        o->symfs ? text_or_empty(arena_printf(&j->texts, "%s%s", o->symfs, d->marker))
                 : text_or_empty(arena_printf(&j->texts, "/proc/%" PRIu32 "/root%s", d->pid, d->marker)),
        o->symfs ? "" : d->marker,
        !o->recording ? ""
        : end
            ? text_or_empty(arena_printf(&j->texts, "%.*s/%s", (int)(end - o->recording), o->recording, base))
            : base,
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !d->path; i++)
        if (!try_path(j, d, paths[i], err) || (i == 0 && !d->path && !try_kept(j, d, err)))
            return false;
    if (!d->path && !d->why)
        d->why = text_or_empty(arena_printf(
            &j->texts, "%s: the jitdump is gone: if it was moved, name its directory with --jitdump-dir",
            d->marker));
    d->image = text_or_empty(
        arena_printf(&j->texts, "%.*sjitted-%" PRIu32 ".so", (int)(base - d->marker), d->marker, d->pid));
    return true;
}

/* ---- to the model ---- */

uint64_t jit_event_time(const struct resolve_jit_dump *d, size_t i, bool early) {
    const struct jitcode_event *e = &d->code.events.items[i];
    return resolve_jit_time(d, early ? e->early : e->time);
}

/* Ends all code of the process, in two halves of the address space: the size of the whole exceeds 64 bits. */
static bool feed_end(const struct resolve_jit_dump *d, struct model *m, struct model_when when,
                     struct err *err) {
    const uint64_t half = (uint64_t)1 << 63;
    return model_add_code(m, d->pid, &(struct model_code){0, half, 0, MODEL_NONE}, when, err) &&
           model_add_code(m, d->pid, &(struct model_code){half, half, 0, MODEL_NONE}, when, err);
}

bool jit_feed_event(const struct resolve_jit_dump *d, struct model *m, size_t i, bool early,
                    struct err *err) {
    const struct jitcode_event *e = &d->code.events.items[i];
    struct model_when when = {jit_event_time(d, i, early), i + 1};
    struct model_code code = {e->address, e->size, 0, MODEL_NONE};
    if (e->kind == JITCODE_CLOSED)
        return feed_end(d, m, when, err);
    if (e->kind == JITCODE_APPEARS) {
        code.pgoff = d->code.functions.items[e->function].offset;
        code.image = d->image_ids[early];
    }
    return model_add_code(m, d->pid, &code, when, err);
}

bool jit_add_images(struct resolve_jit *j, size_t index, struct model *m, struct err *err) {
    struct resolve_jit_dump *d = j->dumps.items[index];
    for (uint32_t early = 0; early < 2; early++) {
        uint32_t id = model_add_code_image(m, d->pid, d->image, (uint32_t)(2 * index + early));
        d->image_ids[early] = id;
        if (id == MODEL_NONE || !hash_map_set(&j->by_image, id, (uint32_t)(2 * index + early)))
            return err_memory(err, where);
    }
    return true;
}

static bool feed_dump(struct resolve_jit *j, size_t index, struct model *m, struct err *err) {
    struct resolve_jit_dump *d = j->dumps.items[index];
    if (!jit_add_images(j, index, m, err))
        return false;
    for (size_t i = 0; i < d->code.events.count; i++)
        if ((jit_event_time(d, i, true) < jit_event_time(d, i, false) &&
             !jit_feed_event(d, m, i, true, err)) ||
            !jit_feed_event(d, m, i, false, err))
            return false;
    return true;
}

bool resolve_jit_feed(struct resolve_jit *j, struct model *m, struct err *err) {
    jit_settle_markers(j);
    vec_fini(&j->begun); /* all markers are settled */
    for (size_t i = 0; i < j->dumps.count; i++) {
        struct resolve_jit_dump *d = j->dumps.items[i];
        d->injected = hash_map_get(&j->injected, d->pid) != HASH_ABSENT;
        if (d->injected || d->again || d->path)
            continue;
        if (!jit_find(j, d, err) || (d->path && m && !feed_dump(j, i, m, err)))
            return false;
    }
    return true;
}

bool resolve_jit_code(const struct resolve_jit *j, uint32_t image, struct symbol_code *out) {
    uint32_t which = hash_map_get(&j->by_image, image);
    if (which == HASH_ABSENT)
        return false;
    const struct resolve_jit_dump *d = j->dumps.items[which / 2];
    *out = (struct symbol_code){&d->code, d->path, d->doubt};
    if (which % 2 && !out->doubt)
        out->doubt = "the JIT announced it a little later, and nothing else was there";
    return true;
}

size_t resolve_jit_count(const struct resolve_jit *j) {
    return j->dumps.count;
}

const struct resolve_jit_dump *resolve_jit_dump(const struct resolve_jit *j, size_t i) {
    return j->dumps.items[i];
}
