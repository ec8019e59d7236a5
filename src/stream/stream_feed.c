/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_feed.h"

#include <stdlib.h>
#include <string.h>

#include "os/files/spool.h"

struct stream_feed {
    struct os_spool spool;
    bool ended;
};

struct stream_feed *stream_feed_new(struct err *err) {
    struct stream_feed *f = calloc(1, sizeof *f);
    if (!f)
        err_memory(err, "records");
    if (f && os_spool_open_memory(&f->spool, err))
        return f;
    free(f);
    return NULL;
}

void stream_feed_free(struct stream_feed *f) {
    if (!f)
        return;
    os_spool_close(&f->spool);
    free(f);
}

bool stream_feed_put(struct stream_feed *f, const struct bytes *spans, size_t count, struct err *err) {
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += spans[i].size;
    uint8_t *to = os_spool_room(&f->spool, all, err);
    if (!to)
        return false;
    for (size_t i = 0; i < count; i++)
        if (spans[i].size) {
            memcpy(to, spans[i].data, spans[i].size);
            to += spans[i].size;
        }
    os_spool_commit(&f->spool, all);
    return true;
}

void stream_feed_end(struct stream_feed *f) {
    f->ended = true;
}

bool stream_feed_ended(const struct stream_feed *f) {
    return f->ended;
}

const uint8_t *stream_feed_base(const struct stream_feed *f) {
    return f->spool.base;
}

uint64_t stream_feed_size(const struct stream_feed *f) {
    return f->spool.size;
}

uint64_t stream_feed_held(const struct stream_feed *f) {
    return f->spool.size - f->spool.released;
}

void stream_feed_release(struct stream_feed *f, uint64_t upto) {
    os_spool_release(&f->spool, upto);
}
