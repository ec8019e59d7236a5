/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/file.h"

#include <errno.h>

#include "base/log.h"
#include "format/perfdata/record.h"
#include "record/write/compress.h"

enum {
    DATA_OFFSET_AT = 40, /* struct perf_header: data.offset, data.size, event_types, bitmap */
    DATA_SIZE_AT = 48,
    BITS_AT = 72,
    SECTION_BYTES = 16,
    /* Room kept for closing: table and build-ids. Taken in steps, larger ones for larger files. */
    RESERVE_CLOSING = 64 << 10,
    RESERVE_STEP = 4 << 20,
};

void record_file_stopped(struct record_file *f, struct perfdata_ending why) {
    if (!f->ending.how)
        f->ending.how = why.how;
    f->ending.missing_bytes += why.missing_bytes;
}

/* Handles a short or failed write, which returned `result`. Always returns false, for its caller to return.
 */
static bool give_up(struct record_file *f, int64_t result, const char *what, struct err *err) {
    int why = result < 0 ? (int)-result : f->out.seekable ? ENOSPC : EPIPE;
    f->full = true;
    record_file_stopped(f, (struct perfdata_ending){.how = perfdata_ending_of_errno(why)});
    return err_errno(err, why, f->name, "%s", what);
}

static uint64_t end_of(const struct record_file *f) {
    return f->data_end + f->tail_there;
}

static bool write_at(struct record_file *f, uint64_t at, struct bytes b, struct err *err) {
    int64_t n = f->out.write(f->out.ctx, at, &b, 1);
    if (n == (int64_t)b.size)
        return true;
    return give_up(f, n, "cannot write", err);
}

/* The feature table by ascending id, for contents that lie where f->features says. */
static void encode_table(struct record_file *f, struct writer *w) {
    memset(f->bits, 0, sizeof f->bits);
    for (uint32_t id = 0; id < PERFDATA_FEATURE_BITS; id++)
        for (size_t i = 0; i < f->features.count; i++) {
            const struct perfdata_feature *p = &f->features.items[i];
            if (p->id != id)
                continue;
            f->bits[id / 64] |= 1ull << id % 64;
            writer_u64(w, p->section.offset);
            writer_u64(w, p->section.size);
        }
}

static bool add_feature(struct record_file *f, const struct perfdata_feature *from, uint64_t at) {
    struct perfdata_feature *p = vec_push(&f->features);
    if (!p)
        return false;
    *p = (struct perfdata_feature){.id = from->id, .section = {at, from->content.size}};
    return true;
}

/* data.size, event_types (none) and the bitmap in one write: the moment when the new recording counts. */
static bool publish(struct record_file *f, struct err *err) {
    uint64_t words[7] = {f->data_end - f->data_offset, 0, 0, f->bits[0], f->bits[1], f->bits[2], f->bits[3]};
    return write_at(f, DATA_SIZE_AT, (struct bytes){(uint8_t *)words, sizeof words}, err);
}

static bool clear_bits(struct record_file *f, struct err *err) {
    static const uint64_t NONE[4];
    return write_at(f, BITS_AT, (struct bytes){(const uint8_t *)NONE, sizeof NONE}, err);
}

static bool start_pipe(struct record_file *f, const struct perfdata_events *events,
                       const struct perfdata_feature *features, size_t count, struct err *err) {
    struct perfdata_header h = {.container = PERFDATA_CONTAINER_PIPE};
    struct writer w = writer_make(false);
    uint32_t left_out = 0;
    h.features.items = (struct perfdata_feature *)features;
    h.features.count = count;
    perfdata_pipe_head_encode(&h, events, &w, &left_out);
    if (left_out)
        log_line(LOG_INFO, "%u header features do not fit into a pipe and were left out", left_out);
    bool ok = writer_ok(&w) ? write_at(f, 0, writer_bytes(&w), err) : err_memory(err, f->name);
    f->data_end = w.size;
    writer_fini(&w);
    return ok;
}

bool record_file_start(struct record_file *f, struct os_output out, const char *name,
                       const struct record_file_head *head, struct err *err) {
    *f = (struct record_file){.out = out, .name = name};
    if (!out.seekable)
        return start_pipe(f, head->events, head->features, head->count, err);
    struct writer w = writer_make(false);
    bool ok = true;
    perfdata_file_head_encode(head->events, &w);
    for (size_t i = 0; i < head->count && ok; i++) {
        ok = add_feature(f, &head->features[i], w.size);
        writer_bytes_put(&w, head->features[i].content);
        writer_align(&w, 8);
    }
    writer_bytes_put(&w, head->preamble);
    writer_bytes_put(&f->preamble, head->preamble);
    f->data_offset = f->data_end = w.size;
    writer_patch64(&w, DATA_OFFSET_AT, w.size);
    encode_table(f, &f->tail);
    if (!ok || !writer_ok(&w) || !writer_ok(&f->tail) || !writer_ok(&f->preamble))
        ok = err_memory(err, name);
    else
        ok = write_at(f, 0, writer_bytes(&w), err);
    writer_fini(&w);
    return ok;
}

static uint64_t total(const struct bytes *spans, size_t count) {
    uint64_t n = 0;
    for (size_t i = 0; i < count; i++)
        n += spans[i].size;
    return n;
}

/* The spans' bytes [from, to) as spans; how many. */
static size_t slice(const struct bytes *spans, size_t count, uint64_t from, uint64_t to, struct bytes *out) {
    size_t n = 0;
    for (size_t i = 0; i < count && to; i++) {
        uint64_t skip = from < spans[i].size ? from : spans[i].size;
        uint64_t end = to < spans[i].size ? to : spans[i].size;
        if (end > skip)
            out[n++] = (struct bytes){spans[i].data + skip, (size_t)(end - skip)};
        from -= skip;
        to -= end;
    }
    return n;
}

static uint8_t byte_at(const struct bytes *spans, size_t count, uint64_t at) {
    for (size_t i = 0; i < count; i++) {
        if (at < spans[i].size)
            return spans[i].data[at];
        at -= spans[i].size;
    }
    return 0;
}

/* The end of the last whole record within the first `limit` bytes. A COMPRESSED one as large as one can be
 * goes on in the next one (compress.h). */
static uint64_t whole_records(const struct bytes *spans, size_t count, uint64_t limit) {
    uint64_t at = 0, whole = 0;
    while (at + PERFDATA_HEADER_SIZE <= limit) {
        uint8_t h[PERFDATA_HEADER_SIZE];
        for (size_t i = 0; i < sizeof h; i++)
            h[i] = byte_at(spans, count, at + i);
        uint16_t size = bytes_load16(h + 6, false);
        if (size < PERFDATA_HEADER_SIZE || at + size > limit)
            break;
        at += size;
        if (bytes_load32(h, false) != PERFDATA_RECORD_COMPRESSED || size != RECORD_COMPRESS_RECORD_MAX)
            whole = at;
    }
    return whole;
}

static int ask_room(struct record_file *f, uint64_t upto) {
    uint64_t from = f->reserved > end_of(f) ? f->reserved : end_of(f);
    if (upto <= f->reserved)
        return 0;
    int why = f->out.reserve(f->out.ctx, from, upto);
    if (why == 0)
        f->reserved = upto;
    return why;
}

/* There is no room for `size` bytes and for closing: for how many of them there is, in whole records. Room
 * for closing is given up at last, but for what any recording has. */
static uint64_t what_fits(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size) {
    enum { CLOSING_LEAST = 4 << 10, GRAIN = 512 };
    uint64_t fits = 0;
    for (uint64_t closing = RESERVE_CLOSING; !fits && closing;
         closing = closing > CLOSING_LEAST ? CLOSING_LEAST : 0)
        for (uint64_t low = 0, high = size; high - low > GRAIN;) {
            uint64_t middle = low + (high - low) / 2;
            if (ask_room(f, f->data_end + middle + f->tail.size + closing) == 0)
                fits = whole_records(spans, count, low = middle);
            else
                high = middle;
        }
    return fits;
}

/* Steps 2 and 3: the beginning of the new data over the old table, then everything counts. */
static bool join(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                 struct err *err) {
    struct bytes part[OS_OUTPUT_SPANS];
    uint64_t over = f->tail_there;
    size_t n = slice(spans, count, 0, over, part);
    if (over && !clear_bits(f, err))
        return false;
    int64_t done = over ? f->out.write(f->out.ctx, f->data_end, part, n) : 0;
    if (done != (int64_t)over)
        return give_up(f, done, "cannot write", err);
    f->data_end += size;
    f->tail_there = f->tail.size;
    return publish(f, err);
}

/* A small piece: it and the table in one write, over the old table. */
static bool append_small(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                         struct err *err) {
    struct writer w = writer_make(false);
    for (size_t i = 0; i < count; i++)
        writer_bytes_put(&w, spans[i]);
    writer_bytes_put(&w, writer_bytes(&f->tail));
    bool ok = writer_ok(&w) ? clear_bits(f, err) : err_memory(err, f->name);
    if (ok && (ok = write_at(f, f->data_end, writer_bytes(&w), err))) {
        f->data_end += size;
        ok = publish(f, err);
    }
    writer_fini(&w);
    return ok;
}

/* The first piece: with data.size 0 everything to the end of the file counts as data, so the size is set
 * before a table follows. */
static bool append_first(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                         int64_t *done, struct err *err) {
    static const uint64_t NO_BITS[4];
    struct bytes tail = writer_bytes(&f->tail);
    *done = f->out.write(f->out.ctx, f->data_end, spans, count);
    if (*done != (int64_t)size)
        return false;
    uint64_t bits[4];
    memcpy(bits, f->bits, sizeof bits);
    memcpy(f->bits, NO_BITS, sizeof bits);
    f->data_end += size;
    bool ok = publish(f, err);
    memcpy(f->bits, bits, sizeof bits);
    if (ok && f->out.write(f->out.ctx, f->data_end, &tail, 1) == (int64_t)tail.size) {
        f->tail_there = tail.size;
        return publish(f, err);
    }
    f->data_end -= size; /* no room for the table: the caller ends earlier */
    return false;
}

/* Appends some data, of `size` bytes, in the way that keeps the file whole. *done: bytes that went out. */
static bool append_some(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                        int64_t *done, struct err *err) {
    struct bytes part[OS_OUTPUT_SPANS];
    if (f->tail_there == 0)
        return append_first(f, spans, count, size, done, err);
    size_t n = slice(spans, count, f->tail_there, size, part);
    part[n++] = writer_bytes(&f->tail);
    *done = f->out.write(f->out.ctx, f->data_end + f->tail_there, part, n);
    return *done == (int64_t)(size - f->tail_there + f->tail.size) && join(f, spans, count, size, err);
}

/* The disk is full: ends the data with the last whole record of `spans` after which there is room for the
 * table within what went out. */
static void cut_short(struct record_file *f, const struct bytes *spans, size_t count, int64_t done) {
    uint64_t there = f->tail_there, room = there + (done > 0 ? (uint64_t)done : 0);
    uint64_t fits = room > f->tail.size ? whole_records(spans, count, room - f->tail.size) : 0;
    struct bytes tail = writer_bytes(&f->tail);
    if (fits && fits >= there &&
        f->out.write(f->out.ctx, f->data_end + fits, &tail, 1) == (int64_t)f->tail.size)
        join(f, spans, count, fits, NULL);
}

/* Asks for room up to `end` and for closing: 0, or why there is none. 0 also where the file system makes no
 * promises. */
static int reserve(struct record_file *f, uint64_t end) {
    uint64_t need = end + RESERVE_CLOSING, step = f->data_end / 4;
    if (need <= f->reserved)
        return 0;
    int why = ask_room(f, need + (step > RESERVE_STEP ? RESERVE_STEP : step));
    if (why)
        why = ask_room(f, need);
    return why == -ENOSPC || why == -EFBIG || why == -EDQUOT ? why : 0;
}

void record_file_start_plain(struct record_file *f, struct os_output out, const char *name) {
    *f = (struct record_file){.out = out, .name = name, .plain = true};
}

/* Whole records only stay. */
static bool append_plain(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                         struct err *err) {
    int64_t done = f->out.write(f->out.ctx, f->data_end, spans, count);
    if (done == (int64_t)size) {
        f->data_end += size;
        return true;
    }
    f->data_end += done > 0 ? whole_records(spans, count, (uint64_t)done) : 0;
    return give_up(f, done, "cannot write any more", err);
}

/* Where there should be room. */
static bool append(struct record_file *f, const struct bytes *spans, size_t count, uint64_t size,
                   struct err *err) {
    int64_t done = 0;
    if (f->plain)
        return append_plain(f, spans, count, size, err);
    if (size < f->tail_there)
        return append_small(f, spans, count, size, err);
    if (append_some(f, spans, count, size, &done, err))
        return true;
    if (!f->full) {
        cut_short(f, spans, count, done);
        give_up(f, done, "cannot write any more", err);
    }
    return false;
}

bool record_file_append(struct record_file *f, const struct bytes *spans, size_t count, struct err *err) {
    uint64_t size = total(spans, count);
    int64_t done = 0;
    struct bytes part[OS_OUTPUT_SPANS];
    if (f->full)
        return err_set(err, ERR_IO, f->name, "nothing more can be written");
    if (!f->out.seekable) {
        done = f->out.write(f->out.ctx, 0, spans, count);
        f->data_end += done > 0 ? (uint64_t)done : 0;
        return done == (int64_t)size || give_up(f, done, "cannot write", err);
    }
    int why = reserve(f, f->data_end + size + f->tail.size);
    if (why) {
        uint64_t fits = what_fits(f, spans, count, size);
        size_t n = slice(spans, count, 0, fits, part);
        return (!fits || append(f, part, n, fits, err)) && give_up(f, why, "cannot write any more", err);
    }
    return append(f, spans, count, size, err);
}
bool record_file_update(struct record_file *f, uint32_t feature, struct bytes content, struct err *err) {
    for (size_t i = 0; i < f->features.count; i++) {
        const struct perfdata_feature *p = &f->features.items[i];
        if (p->id == feature && p->section.size == content.size)
            return write_at(f, p->section.offset, content, err);
    }
    return true;
}

/* The table and the late features' contents after the data. */
static bool write_tail(struct record_file *f, const struct perfdata_feature *late, size_t count,
                       struct bytes trailer, struct err *err) {
    uint64_t at = f->data_end + SECTION_BYTES * (f->features.count + count);
    for (size_t i = 0; i < count; i++) {
        if (!add_feature(f, &late[i], at))
            return err_memory(err, f->name);
        at += (late[i].content.size + 7) & ~7ull;
    }
    writer_clear(&f->tail);
    encode_table(f, &f->tail);
    for (size_t i = 0; i < count; i++) {
        writer_bytes_put(&f->tail, late[i].content);
        writer_align(&f->tail, 8);
    }
    writer_bytes_put(&f->tail, trailer);
    if (!writer_ok(&f->tail))
        return err_memory(err, f->name);
    if (!clear_bits(f, err) || !write_at(f, f->data_end, writer_bytes(&f->tail), err))
        return false;
    f->tail_there = f->tail.size;
    return publish(f, err);
}

/* Written last: marks the recording as complete. */
static void mark_ending(struct record_file *f) {
    if (!f->ending.how)
        f->ending.how = PERFDATA_ENDING_WHOLE;
    struct bytes p = writer_bytes(&f->preamble);
    size_t at = perfdata_ending_replace(&f->ending, f->preamble.data, p.size);
    if (at < p.size) /* one small write: a signal that kills does not cut it in two */
        write_at(f, f->data_offset - p.size + at, (struct bytes){p.data + at, p.size - at}, NULL);
}

bool record_file_finish(struct record_file *f, const struct perfdata_feature *late, size_t count,
                        struct bytes trailer, struct err *err) {
    bool ok = true;
    int why = 0;
    if (f->out.seekable && !f->plain && f->data_end > f->data_offset) {
        struct writer old = f->tail;
        size_t old_count = f->features.count;
        f->tail = writer_make(false);
        f->full = false;
        ok = write_tail(f, late, count, trailer, err);
        /* Without the trailer, then; or without the late features either: the old table still fits. */
        for (int left = 1; !ok && left >= 0; left--) {
            f->features.count = old_count;
            if (write_tail(f, left ? late : NULL, left ? count : 0, (struct bytes){0}, NULL))
                break;
        }
        writer_fini(&old);
    }
    if (f->preamble.size)
        mark_ending(f);
    if (f->out.seekable && (f->data_offset || f->plain))
        why = f->out.truncate(f->out.ctx, end_of(f));
    int closed = f->out.close(f->out.ctx);
    if (ok && (why || closed))
        ok = err_errno(err, -(why ? why : closed), f->name, "cannot write");
    writer_fini(&f->tail);
    writer_fini(&f->preamble);
    vec_fini(&f->features);
    return ok;
}

uint64_t record_file_size(const struct record_file *f) {
    return end_of(f);
}
