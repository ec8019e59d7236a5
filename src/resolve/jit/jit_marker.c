/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Markers of jitdumps, and the programs that mapped them. After an exec another runtime with the same pid may
 * write another file of the same name:
 *
 *   records   exec a ... map jit-7.dump ......... exec b .. map jit-7.dump ....
 *   dumps            from      mapped       until|from        mapped
 */
#include <stdlib.h>

#include "resolve/jit/jit_internal.h"

enum { PER_PROCESS_MAX = 100 }; /* markers of one pid; more are senseless */

/* Whether it is jitted-PID.so or jitted-PID-NUMBER.so, as `inject --jit` of sonde and of perf name files. */
static bool is_injected(const char *name) {
    if (strncmp(name, "jitted-", 7) != 0)
        return false;
    size_t n = strspn(name + 7, "0123456789-");
    return n && strcmp(name + 7 + n, ".so") == 0;
}

/* Appends a dump, which becomes the last one of its process. */
static bool add_dump(struct resolve_jit *j, uint32_t pid, const char *path, struct model_when when) {
    uint32_t before = hash_map_get(&j->last_of, pid);
    const struct resolve_jit_dump *last = before != HASH_ABSENT ? j->dumps.items[before] : NULL;
    if (last && last->of_process >= PER_PROCESS_MAX)
        return true;
    const char *marker =
        last && strcmp(last->marker, path) == 0 ? last->marker : arena_strndup(&j->texts, path, strlen(path));
    struct resolve_jit_dump *d = marker ? jit_new_dump(j) : NULL;
    if (!d)
        return false;
    *d = (struct resolve_jit_dump){.pid = pid,
                                   .marker = marker,
                                   .mapped = when,
                                   .until = MODEL_WHEN_END,
                                   .before = before,
                                   .of_process = last ? last->of_process + 1 : 1,
                                   .image_ids = {MODEL_NONE, MODEL_NONE},
                                   .rate = 1};
    j->news = true;
    return hash_map_set(&j->last_of, pid, (uint32_t)(j->dumps.count - 1));
}

bool resolve_jit_note_map(struct resolve_jit *j, uint32_t pid, struct bytes name, struct model_when when) {
    static const char deleted[] = " (deleted)";
    char path[4096];
    size_t len = bytes_text_len(name), suffix = sizeof deleted - 1;
    const char *s = (const char *)name.data;
    if (len > suffix && memcmp(s + len - suffix, deleted, suffix) == 0)
        len -= suffix;
    if (len < 8 || len >= sizeof path ||
        (memcmp(s + len - 5, ".dump", 5) != 0 && memcmp(s + len - 3, ".so", 3) != 0))
        return true;
    memcpy(path, s, len);
    path[len] = 0;
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (is_injected(base))
        return hash_map_set(&j->injected, pid, 1);
    return !jitcode_is_marker(path) || add_dump(j, pid, path, when);
}

/* Notes when a process or its program began. Records that perf made up for running processes have no time. In
 * a stream, where records come in order, only processes with a marker matter. */
static bool note_beginning(struct resolve_jit *j, uint32_t pid, struct model_when when) {
    if (!when.time_ns || (j->growing && hash_map_get(&j->last_of, pid) == HASH_ABSENT))
        return true;
    struct jit_beginning *b = vec_push(&j->begun);
    if (b)
        *b = (struct jit_beginning){when, pid};
    return b;
}

bool resolve_jit_note_record(struct resolve_jit *j, const struct perfdata_record *rec,
                             struct model_when when) {
    switch (rec->type) {
    case PERFDATA_RECORD_TIME_CONV:
        j->counter = rec->time_conv;
        return true;
    case PERFDATA_RECORD_COMM:
        return !(rec->misc & PERFDATA_MISC_COMM_EXEC) || note_beginning(j, rec->comm.pid, when);
    case PERFDATA_RECORD_FORK:
        return rec->task.pid == rec->task.ppid || note_beginning(j, rec->task.pid, when);
    default:
        break;
    }
    bool user = model_space_of(rec->misc) == MODEL_SPACE_USER;
    if (user && rec->type == PERFDATA_RECORD_MMAP2)
        return resolve_jit_note_map(j, rec->mmap2.pid, rec->mmap2.filename, when);
    return !user || rec->type != PERFDATA_RECORD_MMAP ||
           resolve_jit_note_map(j, rec->mmap.pid, rec->mmap.filename, when);
}

/* ---- which program mapped which ---- */

static int compare_beginnings(const void *a, const void *b) {
    const struct jit_beginning *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return model_when_before(x->when, y->when) ? -1 : model_when_before(y->when, x->when);
}

/* Finds the program that mapped the marker: between the last beginning at or before that and the next one. */
static void find_program(const struct resolve_jit *j, struct resolve_jit_dump *d) {
    const struct jit_beginning *b = j->begun.items, at = {d->mapped, d->pid};
    size_t low = 0, high = j->begun.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_beginnings(&b[middle], &at) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    d->from = low && b[low - 1].pid == d->pid ? b[low - 1].when : (struct model_when){0, 0};
    d->until = low < j->begun.count && b[low].pid == d->pid ? b[low].when : MODEL_WHEN_END;
}

static bool same_program(const struct resolve_jit_dump *a, const struct resolve_jit_dump *b) {
    return a->from.time_ns == b->from.time_ns && a->from.order == b->from.order;
}

void jit_settle_markers(struct resolve_jit *j) {
    if (j->dumps.count && j->begun.count)
        qsort(j->begun.items, j->begun.count, sizeof *j->begun.items, compare_beginnings);
    for (size_t i = 0; i < j->dumps.count; i++) {
        struct resolve_jit_dump *d = j->dumps.items[i];
        if (d->continues)
            continue;
        find_program(j, d);
        d->later = 0;
        for (uint32_t k = d->before; k != HASH_ABSENT && !d->again; k = j->dumps.items[k]->before) {
            struct resolve_jit_dump *other = j->dumps.items[k];
            if (other->again || strcmp(other->marker, d->marker) != 0)
                continue;
            if (same_program(other, d)) {
                d->again = true;
                if (model_when_before(d->mapped, other->mapped))
                    other->mapped = d->mapped;
            } else if (model_when_before(other->mapped, d->mapped)) {
                other->later++;
            } else {
                d->later++;
            }
        }
    }
}
