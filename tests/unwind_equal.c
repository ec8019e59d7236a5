/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_equal RECORDING [DIFFERENCES]
 *
 * Gives the records of a recording with dumped stacks, as they left the rings, to the unwinding that `record
 * --unwind=record` does, and compares each sample's callchain with the one that its dump leads to when the
 * recording is read. Prints one line of numbers, after up to DIFFERENCES samples that differ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/perfdata/header/feature.h"
#include "record/unwind/unwind_core.h"
#include "recording/naming.h"

enum { MOST = RECORD_UNWIND_FRAMES_MAX };

struct chain {
    size_t from, count; /* in words */
    bool dumped, cut;
};

struct test {
    struct recording r;
    struct model *m;
    struct recording_names names;
    struct record_unwind_core core;
    struct record_unwind_queue queue;
    struct resolve_chain later, written;
    struct writer round;
    VEC(uint64_t) words;
    VEC(struct chain) want;
    size_t seen, equal, kept, differ, show;
    uint64_t bytes_in, bytes_out;
};

static bool fail(const char *what, const struct err *err) {
    fprintf(stderr, "unwind_equal: %s: %s\n", what, err->message);
    return false;
}

static void add_segments(struct test *t, const struct resolve_chain *c, struct chain *to) {
    to->from = t->words.count;
    to->cut = c->cut;
    for (size_t i = 0; i < c->segments.count; i++)
        for (uint64_t k = 0; k < c->segments.items[i].count; k++) {
            uint64_t *word = vec_push(&t->words);
            if (word)
                *word = resolve_segment_at(&c->segments.items[i], k);
        }
    to->count = t->words.count - to->from;
}

/* What the sample's dump leads to when it is read. */
static bool expect(struct test *t, const struct stream_record *rec) {
    const struct perfdata_event *e = &t->r.events->list.items[rec->event];
    struct perfdata_sample s;
    struct chain *to = vec_push(&t->want);
    if (!to || !perfdata_sample_decode(&e->plan, rec->raw.body, RESOLVE_CHAIN_FIELDS, &s) ||
        !resolve_chain_read(&t->later, &s, &e->attr, rec->raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                            recording_when(&t->r, rec)))
        return false;
    add_segments(t, &t->later, to);
    to->dumped = resolve_unwind_has(&s);
    return true;
}

static void print_chain(const char *what, const uint64_t *words, size_t count, bool cut) {
    printf("  %s%s:", what, cut ? " (cut)" : "");
    for (size_t i = 0; i < count; i++)
        printf(" %" PRIx64, words[i]);
    printf("\n");
}

/* A sample as it was written, with what is expected of it. */
static void compare(struct test *t, const struct perfdata_event *e, const struct perfdata_raw *raw) {
    struct perfdata_sample s;
    const struct chain *want = &t->want.items[t->seen++];
    struct chain got;
    if (!want->dumped)
        return;
    size_t mark = t->words.count;
    bool ok = perfdata_sample_decode(&e->plan, raw->body, RESOLVE_CHAIN_FIELDS, &s);
    if (ok && resolve_unwind_has(&s)) {
        t->kept++; /* and will be unwound then */
        return;
    }
    t->written.known = NULL;
    ok = ok && resolve_chain_read(&t->written, &s, &e->attr, raw->misc & PERFDATA_MISC_CPUMODE_MASK,
                                  (struct model_when){0, t->seen});
    if (ok)
        add_segments(t, &t->written, &got);
    const uint64_t *words = t->words.items;
    bool equal = ok && got.count == want->count && got.cut == want->cut &&
                 (!got.count || memcmp(words + got.from, words + want->from, got.count * sizeof *words) == 0);
    t->equal += equal;
    t->differ += !equal;
    if (!equal && ok && t->differ <= t->show) {
        printf("sample %zu\n", t->seen);
        print_chain("later  ", words + want->from, want->count, want->cut);
        print_chain("written", words + got.from, got.count, got.cut);
    }
    t->words.count = mark;
}

static bool put(void *ctx, const struct bytes *spans, size_t count, size_t packed, struct err *err) {
    struct test *t = ctx;
    (void)packed, (void)err;
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0; spans[i].size - at >= PERFDATA_HEADER_SIZE;) {
            const uint8_t *h = spans[i].data + at;
            struct perfdata_raw raw = {.type = bytes_load32(h, false),
                                       .misc = bytes_load16(h + 4, false),
                                       .size = bytes_load16(h + 6, false)};
            if (raw.size < PERFDATA_HEADER_SIZE || raw.size > spans[i].size - at)
                return false;
            raw.body = (struct bytes){h + PERFDATA_HEADER_SIZE, raw.size - PERFDATA_HEADER_SIZE};
            uint32_t event = perfdata_events_find(t->r.events, raw.type, raw.body);
            if (raw.type == PERFDATA_RECORD_SAMPLE && event != PERFDATA_NO_EVENT) {
                t->bytes_out += raw.size;
                compare(t, &t->r.events->list.items[event], &raw);
            }
            at += raw.size;
        }
    return true;
}

static void give_back(void *ctx, struct record_chunk *chunk) {
    struct test *t = ctx;
    record_unwind_queue_give_back(&t->queue, chunk);
}

static bool end_round(struct test *t, struct err *err) {
    struct bytes all = writer_bytes(&t->round);
    struct record_chunk chunk;
    bool ok = record_unwind_queue_put(&t->queue, &all, 1, 1, true, err) &&
              record_unwind_queue_try(&t->queue, &chunk) && record_unwind_core_take(&t->core, &chunk, err);
    writer_clear(&t->round);
    return ok;
}

/* All records in the order of the file: each round is a chunk. */
static bool feed(struct test *t, struct err *err) {
    struct stream_record rec;
    enum stream_status status;
    while ((status = stream_next(t->r.stream, &rec, err)) == STREAM_RECORD) {
        bool sample = rec.raw.type == PERFDATA_RECORD_SAMPLE && rec.event != PERFDATA_NO_EVENT;
        if (sample && !expect(t, &rec))
            return err_memory(err, "sample");
        if (rec.raw.type < PERFDATA_RECORD_USER_START)
            writer_put(&t->round, rec.raw.body.data - PERFDATA_HEADER_SIZE, rec.raw.size);
        t->bytes_in += sample ? rec.raw.size : 0;
        if (rec.raw.type == PERFDATA_RECORD_FINISHED_ROUND && !end_round(t, err))
            return false;
    }
    return status == STREAM_END && end_round(t, err) && record_unwind_core_finish(&t->core, err);
}

static bool open_all(struct test *t, const char *path, struct err *err) {
    char *machine = NULL;
    struct arena arena = ARENA_INIT;
    struct perfdata_feature_value v;
    const struct symbol_options symbols = {.symfs = NULL};
    t->m = model_new(&(struct model_options){.need = MODEL_NEED_MAPS}, err);
    bool ok = t->m && recording_open(&t->r, stream_open(path, NULL, err), NULL, err) &&
              recording_first_pass(&t->r, t->m, NULL, NULL, NULL, err) &&
              recording_names_open(&t->names, &t->r, t->m, &symbols, err) &&
              resolve_names_prepare(t->names.names, err);
    if (ok && stream_header(t->r.stream)->swap)
        ok = err_set(err, ERR_UNSUPPORTED, path, "it is of a machine with the other byte order");
    if (ok && perfdata_feature_get(stream_header(t->r.stream), PERFDATA_FEATURE_ARCH, &arena, &v))
        machine = strndup((const char *)v.text.data, bytes_text_len(v.text));
    const struct record_unwind_options options = {.events = t->r.events,
                                                  .machine = machine ? machine : "",
                                                  .put = put,
                                                  .give_back = give_back,
                                                  .ctx = t};
    record_unwind_queue_init(&t->queue, 1 << 28);
    ok = ok && record_unwind_core_init(&t->core, &options, err);
    if (ok) {
        t->later.o = recording_chains(&t->r, t->names.names, MOST);
        t->written.o = recording_chains(&t->r, NULL, UINT64_MAX);
    }
    free(machine);
    arena_fini(&arena);
    return ok;
}

int main(int argc, char **argv) {
    struct test t = {.show = argc > 2 ? strtoul(argv[2], NULL, 10) : 0};
    struct err err = ERR_INIT;
    if (argc < 2)
        return 2;
    bool ok = (open_all(&t, argv[1], &err) && feed(&t, &err)) || fail(argv[1], &err);
    if (ok)
        printf("stacks %zu equal %zu kept %zu differ %zu bytes %" PRIu64 " -> %" PRIu64 "\n",
               t.equal + t.kept + t.differ, t.equal, t.kept, t.differ, t.bytes_in, t.bytes_out);
    record_unwind_core_fini(&t.core);
    record_unwind_queue_fini(&t.queue);
    resolve_chain_fini(&t.later);
    resolve_chain_fini(&t.written);
    recording_names_close(&t.names);
    recording_close(&t.r);
    model_free(t.m);
    writer_fini(&t.round);
    vec_fini(&t.words);
    vec_fini(&t.want);
    return ok ? 0 : 1;
}
