/* SPDX-License-Identifier: Apache-2.0 */
#include "record/rings/readers.h"

#include <stdio.h>

#include "base/log.h"
#include "os/poller.h"

enum {
    FIRST_MS = 8,
    CHECKPOINT_MS = 1000, /* as in session_internal.h */
    MAX_EVENTS = 64,
};
static const uint64_t TAG_STOP = UINT64_MAX;

/* What does not fit into memory is not asked about. */
static void move_programs(struct record_readers *r, record_programs *from, record_programs *to) {
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < from->count; i++) {
        uint32_t *slot = vec_push(to);
        if (slot)
            *slot = from->items[i];
    }
    vec_clear(from);
    pthread_mutex_unlock(&r->lock);
}

void record_readers_programs(struct record_readers *r, struct record_drain *into) {
    move_programs(r, &r->programs, &into->programs);
}

static bool one_pass(struct record_reader *r) {
    struct record_drain *d = &r->drain;
    uint64_t samples = d->samples, lost = d->lost, bytes = record_file_size(&r->file);
    bool wrote;
    if (!record_drain_pass(d, &r->opened, &wrote, &r->err))
        return false;
    if (d->programs.count)
        move_programs(r->all, &d->programs, &r->all->programs);
    atomic_fetch_add(&r->all->samples, d->samples - samples);
    atomic_fetch_add(&r->all->lost, d->lost - lost);
    atomic_fetch_add(&r->all->bytes, record_file_size(&r->file) - bytes);
    return true;
}

/* Until it is told to stop; what is then in the rings is the session's to take. */
static void *read_rings(void *ctx) {
    struct record_reader *r = ctx;
    struct os_poll_event events[MAX_EVENTS];
    struct os_affinity allowed;
    int timeout_ms = FIRST_MS;
    bool stop = false;
    os_affinity_init(&allowed);
    os_affinity_to_mask(&allowed, &r->group->affinity); /* it stays there */
    while (!stop) {
        size_t n = os_poller_wait(r->poller, events, MAX_EVENTS, timeout_ms);
        timeout_ms = timeout_ms * 2 < CHECKPOINT_MS ? timeout_ms * 2 : CHECKPOINT_MS;
        for (size_t i = 0; i < n; i++) {
            stop |= events[i].tag == TAG_STOP;
            if (events[i].tag == TAG_STOP || !events[i].hung_up)
                continue;
            os_poller_remove(r->poller, (int)events[i].tag);
            atomic_fetch_sub(&r->all->polled, 1);
        }
        if (!one_pass(r)) {
            r->failed = true;
            atomic_store(&r->all->failed, true);
            break;
        }
    }
    return NULL;
}

/* Its rings, and the descriptors that tell of them. */
static bool take_rings(struct record_reader *r, const struct record_opened *opened, struct err *err) {
    r->opened.perf = opened->perf;
    r->opened.pages = opened->pages;
    for (size_t i = 0; i < opened->rings.count; i++) {
        const struct record_ring *from = &opened->rings.items[i];
        if (from->cpu < 0 || !os_cpu_mask_has(&r->group->cpus, (uint32_t)from->cpu))
            continue;
        struct record_ring *to = vec_push(&r->opened.rings);
        if (!to)
            return err_memory(err, "rings");
        *to = *from;
        for (size_t k = 0; k < opened->fds.count; k++) {
            const struct record_fd *f = &opened->fds.items[k];
            if (f->ring != i || (f->event != 0 && from->fd != f->fd))
                continue;
            if (!os_poller_add(r->poller, f->fd, (uint64_t)f->fd, err))
                return false;
            r->polled++;
        }
    }
    return true;
}

static bool open_file(struct record_reader *r, const char *folder, size_t index, struct err *err) {
    struct os_output out;
    if (asprintf(&r->name, "%s/data.%zu", folder, index) < 0) {
        r->name = NULL;
        return err_memory(err, folder);
    }
    if (!os_output_create(r->name, &out, err))
        return false;
    record_file_start_plain(&r->file, out, r->name);
    return true;
}

bool record_readers_files(const struct record_layout *layout, const char *folder, struct err *err) {
    bool ok = true;
    for (size_t i = 0; i < layout->groups.count && ok; i++) {
        struct record_reader r = {.name = NULL};
        ok = open_file(&r, folder, i, err);
        if (ok)
            record_file_finish(&r.file, NULL, 0, (struct bytes){0}, NULL);
        free(r.name);
    }
    return ok;
}

static bool start_one(struct record_readers *all, const struct record_layout_group *group,
                      const struct record_opened *opened, const struct record_drain *model,
                      const char *folder, int compression, struct err *err) {
    struct record_reader *r = calloc(1, sizeof *r), **slot = r ? vec_push(&all->list) : NULL;
    if (!slot) {
        free(r);
        return err_memory(err, "threads");
    }
    *slot = r;
    *r = (struct record_reader){.group = group, .all = all, .poller = os_poller_open(err)};
    if (r->poller < 0 || !os_poller_add(r->poller, all->stop_fd, TAG_STOP, err) ||
        !take_rings(r, opened, err) || !open_file(r, folder, all->list.count - 1, err) ||
        (compression && !record_compress_init(&r->compress, compression, err)))
        return false;
    r->drain = (struct record_drain){
        .outlet = {.file = &r->file, .compress = compression ? &r->compress : NULL},
        .events = model->events,
        .build_ids = model->build_ids,
        .identities = model->identities,
        .keep = model->keep,
        .shared = &all->lock,
        .pass_ns = model->pass_ns,
        .id_bytes = model->id_bytes,
        .flush_bytes = model->flush_bytes,
        .no_rounds = true, /* no file knows how far the others are */
    };
    atomic_fetch_add(&all->polled, r->polled);
    r->started = pthread_create(&r->thread, NULL, read_rings, r) == 0;
    return r->started || err_set(err, ERR_IO, "--threads", "cannot start a thread");
}

bool record_readers_start(struct record_readers *r, const struct record_layout *layout,
                          const struct record_opened *opened, const struct record_drain *model,
                          const char *folder, int compression, struct err *err) {
    pthread_mutex_init(&r->lock, NULL);
    r->stop_fd = os_wake_open(err);
    bool ok = r->stop_fd >= 0;
    for (size_t i = 0; i < layout->groups.count && ok; i++)
        ok = start_one(r, &layout->groups.items[i], opened, model, folder, compression, err);
    return ok;
}

/* What one of them counted. */
static void merge(const struct record_reader *r, struct record_drain *into, struct record_opened *opened) {
    const struct record_drain *d = &r->drain;
    into->samples += d->samples;
    into->lost += d->lost;
    into->bytes += d->bytes;
    if (d->has_time) {
        into->first_ns = !into->has_time || d->first_ns < into->first_ns ? d->first_ns : into->first_ns;
        into->last_ns = !into->has_time || d->last_ns > into->last_ns ? d->last_ns : into->last_ns;
        into->has_time = true;
    }
    for (size_t i = 0; i < r->opened.rings.count; i++)
        for (size_t k = 0; k < opened->rings.count; k++)
            if (opened->rings.items[k].fd == r->opened.rings.items[i].fd)
                opened->rings.items[k].lost = r->opened.rings.items[i].lost;
}

static void join(struct record_readers *r) {
    if (r->stop_fd >= 0)
        os_wake(r->stop_fd);
    for (size_t i = 0; i < r->list.count; i++) {
        struct record_reader *one = r->list.items[i];
        if (one->started)
            pthread_join(one->thread, NULL);
        one->started = false;
    }
}

bool record_readers_stop(struct record_readers *r, struct record_drain *into, struct record_opened *opened,
                         struct err *err) {
    bool ok = true;
    join(r);
    for (size_t i = 0; i < r->list.count; i++) {
        struct record_reader *one = r->list.items[i];
        one->drain.flush_bytes = 0;
        bool whole = !one->failed && one_pass(one);
        struct err why = one->err;
        r->how = r->how ? r->how : one->file.ending.how;
        whole = record_file_finish(&one->file, NULL, 0, (struct bytes){0}, whole ? &why : NULL) && whole;
        one->file.out = (struct os_output){0};
        if (!whole && ok && err)
            *err = why;
        ok = ok && whole;
        merge(one, into, opened);
    }
    return ok;
}

void record_readers_fini(struct record_readers *r) {
    join(r);
    for (size_t i = 0; i < r->list.count; i++) {
        struct record_reader *one = r->list.items[i];
        if (one->file.out.close)
            record_file_finish(&one->file, NULL, 0, (struct bytes){0}, NULL);
        record_drain_fini(&one->drain);
        record_compress_fini(&one->compress);
        vec_fini(&one->opened.rings);
        os_close(one->poller);
        free(one->name);
        free(one);
    }
    if (r->stop_fd >= 0) {
        os_close(r->stop_fd);
        pthread_mutex_destroy(&r->lock);
    }
    vec_fini(&r->list);
    vec_fini(&r->programs);
    r->stop_fd = -1;
}

void record_readers_compressed(const struct record_readers *r, uint64_t *in, uint64_t *written) {
    for (size_t i = 0; i < r->list.count; i++) {
        *in += r->list.items[i]->compress.in;
        *written += r->list.items[i]->compress.written;
    }
}
