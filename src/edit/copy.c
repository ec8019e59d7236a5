/* SPDX-License-Identifier: Apache-2.0 */
#include "edit/copy.h"

#include "format/perfdata/header/header_encode.h"

enum { RUN_BYTES = 1 << 20 };

/* The state of a copy. Records that follow each other are written in one go. */
struct run {
    struct stream *in;
    const struct copy_sink *sink;
    const struct copy_editor *editor; /* NULL: nothing changes */
    struct writer before;             /* what the editor puts in front of a record */
    struct bytes pending;
    uint64_t written; /* bytes of records so far, including pending ones */
    uint64_t last_loc;
    bool after_attr; /* the record before was a HEADER_ATTR */
};

static bool run_flush(struct run *r, struct err *err) {
    bool ok = !r->pending.size || r->sink->write(r->sink->ctx, r->pending, err);
    r->pending = (struct bytes){0};
    if (ok && stream_is_pipe(r->in))
        stream_release(r->in, r->last_loc);
    return ok;
}

static bool run_add(struct run *r, const struct stream_record *rec, struct err *err) {
    const uint8_t *at = rec->raw.body.data - PERFDATA_HEADER_SIZE;
    size_t n = rec->raw.size + rec->raw.payload.size;
    if (r->pending.size && (r->pending.data + r->pending.size != at || r->pending.size > RUN_BYTES) &&
        !run_flush(r, err))
        return false;
    if (!r->pending.size)
        r->pending.data = at;
    r->pending.size += n;
    r->written += n;
    r->last_loc = rec->loc;
    return true;
}

/* Copies a record (NULL: the end) as the editor wants it. */
static bool run_edit(struct run *r, const struct stream_record *rec, struct copy_result *result,
                     struct err *err) {
    bool keep = rec != NULL;
    if (r->editor) {
        writer_clear(&r->before);
        if (!r->editor->edit(r->editor->ctx, rec, &r->before, &keep, err))
            return false;
        if (!writer_ok(&r->before))
            return err_memory(err, "records");
        if (r->before.size &&
            (!run_flush(r, err) || !r->sink->write(r->sink->ctx, writer_bytes(&r->before), err)))
            return false;
        r->written += r->before.size;
    }
    if (!keep)
        return true;
    result->records++;
    return run_add(r, rec, err);
}

/*
 * True of records that only repeat, in a pipe, what a file's tables say. An EVENT_UPDATE directly after a
 * HEADER_ATTR is the name that a copy into a pipe put there; perf's own are elsewhere, in files too.
 */
static bool is_head_record(struct run *run, const struct stream_record *r) {
    bool named_attr = run->after_attr && r->raw.type == PERFDATA_RECORD_EVENT_UPDATE;
    run->after_attr = r->raw.type == PERFDATA_RECORD_HEADER_ATTR;
    return r->legacy || named_attr || r->raw.type == PERFDATA_RECORD_HEADER_ATTR ||
           r->raw.type == PERFDATA_RECORD_HEADER_EVENT_TYPE ||
           r->raw.type == PERFDATA_RECORD_HEADER_TRACING_DATA ||
           r->raw.type == PERFDATA_RECORD_HEADER_FEATURE;
}

static bool copy_records(struct run *run, bool drop_head_records, struct copy_result *result,
                         struct err *err) {
    struct stream_record r;
    for (;;) {
        enum stream_status status = stream_next(run->in, &r, err);
        if (status == STREAM_RECORD)
            stream_tell(run->in, r.loc);
        if (status == STREAM_FAILED)
            return false;
        if (status == STREAM_END)
            return run_edit(run, NULL, result, err) && run_flush(run, err);
        if (drop_head_records && is_head_record(run, &r))
            continue;
        if (!run_edit(run, &r, result, err))
            return false;
    }
}

/* Adjusts the offsets of the sections after the data by as much as the data shrank (modulo 2^64: it may have
 * grown); those before it stay. */
static void move_sections(struct writer *tail, const struct perfdata_header *h, uint64_t data_end,
                          uint64_t shrunk) {
    for (size_t i = 0; i < h->features.count; i++) {
        uint64_t at = h->features.items[i].section.offset;
        if (at >= data_end)
            writer_patch64(tail, i * 16, at - shrunk);
    }
}

static bool file_to_file(struct run *run, struct copy_result *result, struct err *err) {
    enum { DATA_SIZE_AT = 48, BITS_AT = 72 };
    const struct perfdata_header *h = stream_header(run->in);
    struct bytes file = stream_input_bytes(run->in);
    uint64_t start = h->data.offset, end = file.size;
    bool has_tables = !h->data_size_zero && !h->data_cut;
    if (has_tables)
        end = h->data.offset + h->data.size;
    if (!run->sink->write(run->sink->ctx, (struct bytes){file.data, (size_t)start}, err) ||
        !copy_records(run, false, result, err))
        return false;
    uint64_t shrunk = end - start - run->written;
    if (shrunk && h->events_end > start)
        return err_set(err, ERR_UNSUPPORTED, stream_path(run->in),
                       "damaged, and its events lie in or after the data: copy it into a pipe instead");
    struct writer tail = writer_make(h->swap), word = writer_make(h->swap);
    if (has_tables)
        writer_bytes_put(&tail, (struct bytes){file.data + end, (size_t)(file.size - end)});
    if (has_tables && shrunk)
        move_sections(&tail, h, end, shrunk);
    bool ok = (writer_ok(&tail) || err_memory(err, "tables")) &&
              (!tail.size || run->sink->write(run->sink->ctx, writer_bytes(&tail), err));
    if (ok && (shrunk || !has_tables)) {
        writer_u64(&word, run->written);
        ok = run->sink->patch(run->sink->ctx, DATA_SIZE_AT, writer_bytes(&word), err);
    }
    if (ok && !has_tables && h->size >= BITS_AT + 32) { /* the tables are lost: no bit may promise one */
        writer_clear(&word);
        writer_zero(&word, 32);
        ok = run->sink->patch(run->sink->ctx, BITS_AT, writer_bytes(&word), err);
    }
    writer_fini(&tail);
    writer_fini(&word);
    return ok;
}

static bool is_anew(const struct run *run) {
    return run->editor && run->editor->anew;
}

/* Drops features that are wrong in the copy, as they say how records are stored on disk, and those that the
 * editor does not want. */
static void drop_features(const struct run *run, struct perfdata_header *h, bool expanded) {
    const struct copy_editor *e = is_anew(run) && run->editor->feature ? run->editor : NULL;
    size_t kept = 0;
    for (size_t i = 0; i < h->features.count; i++) {
        uint32_t id = h->features.items[i].id;
        if (id != PERFDATA_FEATURE_DIR_FORMAT && id != PERFDATA_FEATURE_AUXTRACE &&
            !(expanded && id == PERFDATA_FEATURE_COMPRESSED) && (!e || e->feature(e->ctx, id)))
            h->features.items[kept++] = h->features.items[i];
    }
    h->features.count = kept;
}

/* Makes the header of the copy, as its container needs it; free with perfdata_header_fini. */
static bool copy_header(const struct run *run, struct perfdata_header *out, struct err *err) {
    struct stream *in = run->in;
    const struct perfdata_header *h = stream_header(in);
    *out = *h;
    out->features.items = NULL;
    out->features.count = out->features.cap = 0;
    if (!vec_reserve(&out->features, h->features.count + 1))
        return err_memory(err, "features");
    if (h->features.count)
        memcpy(out->features.items, h->features.items, h->features.count * sizeof *h->features.items);
    out->features.count = h->features.count;
    drop_features(run, out, is_anew(run) || stream_file(in)->kind == OS_FILE_DIRECTORY);
    return true;
}

/* Adds an empty FINISHED_ROUND where there are no records: data of size 0 mean an unfinished recording whose
 * tables are lost. */
static bool put_empty_round(struct run *run, struct err *err) {
    struct writer round = writer_make(stream_header(run->in)->swap);
    writer_u32(&round, PERFDATA_RECORD_FINISHED_ROUND);
    writer_u16(&round, 0);
    writer_u16(&round, PERFDATA_HEADER_SIZE);
    bool ok = (writer_ok(&round) || err_memory(err, "round")) &&
              run->sink->write(run->sink->ctx, writer_bytes(&round), err);
    run->written += round.size;
    writer_fini(&round);
    return ok;
}

/* Appends the editor's trailer to `tail`, which begins at `at` in the output. */
static bool put_trailer(struct run *run, uint64_t at, struct writer *tail, struct err *err) {
    enum { ALIGN = 8 };
    struct writer box = writer_make(stream_header(run->in)->swap);
    if (!is_anew(run) || !run->editor->trailer)
        return true;
    bool ok = run->editor->trailer(run->editor->ctx, &box, err);
    if (ok && box.size) {
        writer_zero(tail, -(at + tail->size) % ALIGN);
        writer_bytes_put(tail, writer_bytes(&box));
    }
    writer_fini(&box);
    return ok;
}

/* Writes a new file. Its head needs the events, which a pipe has in header records. */
static bool to_new_file(struct run *run, struct copy_result *result, struct err *err) {
    const struct perfdata_header *h = stream_header(run->in);
    struct stream_record r;
    /* Reads the header records: they are complete once there is another record. */
    enum stream_status status;
    do
        status = stream_next(run->in, &r, err);
    while (status == STREAM_RECORD && is_head_record(run, &r));
    if (status == STREAM_FAILED)
        return false;
    struct writer head = writer_make(h->swap), tail = writer_make(h->swap);
    struct perfdata_header tables = {0};
    perfdata_file_head_encode(stream_events(run->in), &head);
    size_t events = stream_events(run->in)->list.count;
    bool ok = (writer_ok(&head) || err_memory(err, "head")) &&
              run->sink->write(run->sink->ctx, writer_bytes(&head), err);
    if (ok && status == STREAM_RECORD) {
        ok = run_edit(run, &r, result, err) && copy_records(run, true, result, err);
    } else if (ok) {
        ok = put_empty_round(run, err);
    }
    if (ok && stream_events(run->in)->list.count != events)
        ok = err_set(err, ERR_UNSUPPORTED, stream_path(run->in),
                     "events that come after samples cannot be put into a file's head");
    ok = ok && copy_header(run, &tables, err);
    if (ok) {
        uint64_t bits[4];
        perfdata_file_tail_encode(tables.features.items, tables.features.count, head.size + run->written,
                                  &tail, bits);
        perfdata_file_head_finish(&head, run->written, bits);
        ok = put_trailer(run, head.size + run->written, &tail, err) &&
             ((writer_ok(&head) && writer_ok(&tail)) || err_memory(err, "tables"));
    }
    /* The tables first: without them in its head, an interrupted copy counts as unfinished. */
    ok = ok && (!tail.size || run->sink->write(run->sink->ctx, writer_bytes(&tail), err)) &&
         run->sink->patch(run->sink->ctx, 0, writer_bytes(&head), err);
    perfdata_header_fini(&tables);
    writer_fini(&head);
    writer_fini(&tail);
    return ok;
}

static bool to_pipe(struct run *run, struct copy_result *result, struct err *err) {
    struct perfdata_header tables = {0};
    struct writer head = writer_make(stream_header(run->in)->swap);
    bool ok = copy_header(run, &tables, err);
    if (ok) {
        perfdata_pipe_head_encode(&tables, stream_events(run->in), &head, &result->features_left_out);
        ok = (writer_ok(&head) || err_memory(err, "head")) &&
             run->sink->write(run->sink->ctx, writer_bytes(&head), err) &&
             copy_records(run, false, result, err);
    }
    perfdata_header_fini(&tables);
    writer_fini(&head);
    return ok;
}

static bool copy(struct run *run, struct copy_result *result, struct err *err) {
    struct stream *in = run->in;
    const struct copy_sink *sink = run->sink;
    if (stream_header(in)->container == PERFDATA_CONTAINER_PIPE) {
        struct bytes head = stream_input_bytes(in);
        head.size = (size_t)stream_header(in)->data.offset;
        if (!sink->patch)
            return sink->write(sink->ctx, head, err) && copy_records(run, false, result, err);
        return to_new_file(run, result, err);
    }
    if (!sink->patch)
        return to_pipe(run, result, err);
    /* A header that overlaps with the data section cannot be kept as it is. */
    bool keeps_head = stream_header(in)->data.offset >= stream_header(in)->size;
    return stream_input_bytes(in).size && stream_file(in)->kind != OS_FILE_DIRECTORY && keeps_head &&
                   !is_anew(run)
               ? file_to_file(run, result, err)
               : to_new_file(run, result, err);
}

bool copy_recording(struct stream *in, const struct copy_sink *sink, const struct copy_editor *editor,
                    struct copy_result *result, struct err *err) {
    struct run run = {
        .in = in, .sink = sink, .editor = editor, .before = writer_make(stream_header(in)->swap)};
    *result = (struct copy_result){0};
    bool ok = copy(&run, result, err);
    writer_fini(&run.before);
    return ok;
}
