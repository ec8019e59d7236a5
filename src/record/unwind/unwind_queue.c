/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind/unwind_queue.h"

void record_unwind_queue_init(struct record_unwind_queue *q, uint64_t most) {
    *q = (struct record_unwind_queue){.most = most};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->todo, NULL);
    pthread_cond_init(&q->room, NULL);
}

void record_unwind_queue_fini(struct record_unwind_queue *q) {
    for (size_t i = q->first; i < q->waiting.count; i++)
        writer_fini(&q->waiting.items[i].memory);
    for (unsigned i = 0; i < q->spare_count; i++)
        writer_fini(&q->spares[i]);
    vec_fini(&q->waiting);
    if (q->has_file)
        os_spool_close(&q->file);
    pthread_cond_destroy(&q->todo);
    pthread_cond_destroy(&q->room);
    pthread_mutex_destroy(&q->lock);
}

static bool fits(const struct record_unwind_queue *q, size_t size) {
    return !q->bytes || (size <= q->most && q->bytes <= q->most - size);
}

/* Writes to the file. False: that cannot be. */
static bool put_in_file(struct record_unwind_queue *q, const struct bytes *spans, size_t count) {
    if (!q->has_file && !q->no_file)
        q->has_file = os_spool_open(&q->file, NULL);
    q->no_file |= !q->has_file || !os_spool_append(&q->file, spans, count, NULL);
    return !q->no_file;
}

/* Waits for room in memory. False and *err when the queue failed. */
static bool find_room(struct record_unwind_queue *q, struct record_chunk *chunk, size_t size,
                      struct err *err) {
    pthread_mutex_lock(&q->lock);
    while (!fits(q, size) && !q->failed) {
        q->hurry = true;
        pthread_cond_signal(&q->todo);
        pthread_cond_wait(&q->room, &q->lock);
    }
    q->bytes += size;
    if (q->spare_count)
        chunk->memory = q->spares[--q->spare_count];
    bool ok = !q->failed;
    if (!ok && err)
        *err = q->err;
    pthread_mutex_unlock(&q->lock);
    return ok;
}

static bool is_full(struct record_unwind_queue *q, size_t size) {
    pthread_mutex_lock(&q->lock);
    bool full = !fits(q, size) && !q->failed;
    pthread_mutex_unlock(&q->lock);
    return full;
}

/* Copies the spans into the chunk's memory. False: there is none. */
static bool copy(struct record_chunk *chunk, const struct bytes *spans, size_t count) {
    size_t size = chunk->bytes.size, at = 0;
    writer_clear(&chunk->memory);
    uint8_t *to = size ? writer_grow(&chunk->memory, size) : NULL;
    for (size_t i = 0; i < count && to; at += spans[i++].size)
        if (spans[i].size)
            memcpy(to + at, spans[i].data, spans[i].size);
    chunk->bytes.data = to;
    return to || !size;
}

/* Puts the chunk, whose bytes are there, at the end. False: out of memory. */
static bool append(struct record_unwind_queue *q, const struct record_chunk *chunk) {
    pthread_mutex_lock(&q->lock);
    if (q->first && q->first == q->waiting.count)
        q->first = q->waiting.count = 0;
    struct record_chunk *slot = vec_push(&q->waiting);
    if (slot)
        *slot = *chunk;
    pthread_cond_signal(&q->todo);
    pthread_mutex_unlock(&q->lock);
    return slot;
}

bool record_unwind_queue_put(struct record_unwind_queue *q, const struct bytes *spans, size_t count,
                             size_t packed, bool round, struct err *err) {
    struct record_chunk chunk = {.round = round};
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += spans[i].size;
        chunk.packed = i < packed ? size : chunk.packed;
    }
    chunk.bytes.size = size;
    if (is_full(q, size) && put_in_file(q, spans, count)) {
        chunk.file = q->file.fd;
        chunk.file_end = q->file.size;
        chunk.bytes.data = q->file.base + (q->file.size - size);
        return append(q, &chunk) || err_memory(err, "records");
    }
    if (!find_room(q, &chunk, size, err))
        return false;
    if (copy(&chunk, spans, count) && append(q, &chunk))
        return true;
    record_unwind_queue_give_back(q, &chunk);
    return err_memory(err, "records");
}

static void pop(struct record_unwind_queue *q, struct record_chunk *out) {
    *out = q->waiting.items[q->first++];
    if (q->first > 64 && q->first > q->waiting.count / 2) {
        q->waiting.count -= q->first;
        memmove(q->waiting.items, q->waiting.items + q->first, q->waiting.count * sizeof *q->waiting.items);
        q->first = 0;
    }
}

enum record_unwind_next record_unwind_queue_take(struct record_unwind_queue *q, struct record_chunk *out,
                                                 bool *hurry) {
    enum record_unwind_next next = RECORD_UNWIND_STOP;
    pthread_mutex_lock(&q->lock);
    while (q->first == q->waiting.count && !q->stop && !q->hurry)
        pthread_cond_wait(&q->todo, &q->lock);
    *hurry = q->hurry;
    if (!q->stop && q->first < q->waiting.count) {
        pop(q, out);
        next = RECORD_UNWIND_CHUNK;
    } else if (!q->stop) {
        q->hurry = false;
        next = RECORD_UNWIND_HURRY;
    }
    pthread_mutex_unlock(&q->lock);
    return next;
}

bool record_unwind_queue_try(struct record_unwind_queue *q, struct record_chunk *out) {
    pthread_mutex_lock(&q->lock);
    bool any = q->first < q->waiting.count;
    if (any)
        pop(q, out);
    pthread_mutex_unlock(&q->lock);
    return any;
}

void record_unwind_queue_give_back(struct record_unwind_queue *q, struct record_chunk *chunk) {
    if (chunk->file_end) { /* without the lock: it may wait for the disk */
        struct os_spool file = {.fd = chunk->file, .size = chunk->file_end, .released = q->released};
        os_spool_release(&file, chunk->file_end);
        q->released = file.released;
    }
    pthread_mutex_lock(&q->lock);
    if (!chunk->file_end) {
        q->bytes -= chunk->bytes.size;
        if (chunk->memory.data && q->spare_count < RECORD_UNWIND_SPARES)
            q->spares[q->spare_count++] = chunk->memory;
        else
            writer_fini(&chunk->memory);
    }
    pthread_cond_signal(&q->room);
    pthread_mutex_unlock(&q->lock);
    *chunk = (struct record_chunk){.packed = 0};
}

void record_unwind_queue_stop(struct record_unwind_queue *q, const struct err *why) {
    pthread_mutex_lock(&q->lock);
    q->stop = true;
    if (why && !q->failed) {
        q->failed = true;
        q->err = *why;
    }
    pthread_cond_broadcast(&q->todo);
    pthread_cond_broadcast(&q->room);
    pthread_mutex_unlock(&q->lock);
}
