/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: recordings made up in memory, and all steps from there to their profiles. Include cmocka.h
 * first. */
#ifndef SONDE_PROFILE_PROFILE_TEST_SESSION_H
#define SONDE_PROFILE_PROFILE_TEST_SESSION_H

#include "format/perfdata/header/header_encode.h"
#include "model/model_test_records.h"
#include "profile/profile.h"

enum { FUNCTIONS = 6, FUNCTION_BYTES = 0x1000, DEPTH = 7 };
#define CODE 0xffffffffa0000000ull

/* The name of function i is one letter; AT_ZERO: no function, at address 0. */
enum { AT_ZERO = FUNCTIONS + 1 };
static inline uint64_t address_in(unsigned function, unsigned offset) {
    return function == AT_ZERO ? offset : CODE + (uint64_t)function * FUNCTION_BYTES + offset;
}

struct test_sample {
    uint32_t tid;
    uint64_t period, time_ns;
    unsigned depth, chain[DEPTH]; /* functions, innermost first; FUNCTIONS: an address that nothing covers */
};

struct session {
    struct perfdata_events events;
    struct writer data, file;
    struct stream *stream;
    struct model *model;
    struct symbol_store *store;
    struct resolve_names *names;
    struct profile_columns columns;
    struct profile_options options;
    struct profile_input input;
    struct profile *profile;
};

static inline void put_record(struct session *s, struct perfdata_record rec, uint64_t time_ns) {
    rec.id = (struct perfdata_sample_id){.have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME, .time = time_ns};
    perfdata_record_encode(&rec, &s->events.list.items[0].plan, &s->data);
}

static inline void put_sample(struct session *s, const struct test_sample *x) {
    uint64_t words[DEPTH + 1] = {PERFDATA_CONTEXT_KERNEL};
    for (unsigned i = 0; i < x->depth; i++)
        words[i + 1] = address_in(x->chain[i], 8 * i);
    struct perfdata_sample sample = {.have = s->events.list.items[0].plan.sample_type,
                                     .ip = address_in(x->chain[0], 0),
                                     .pid = x->tid,
                                     .tid = x->tid,
                                     .time = x->time_ns,
                                     .period = x->period,
                                     .callchain = {(const uint8_t *)words, x->depth + 1u, false}};
    size_t at = s->data.size;
    writer_u32(&s->data, PERFDATA_RECORD_SAMPLE);
    writer_u16(&s->data, PERFDATA_MISC_KERNEL);
    writer_u16(&s->data, 0);
    perfdata_sample_encode(&s->events.list.items[0].plan, &sample, &s->data);
    writer_patch16(&s->data, at + 6, (uint16_t)(s->data.size - at));
}

static inline void session_start(struct session *s) {
    *s = (struct session){.data = writer_make(false)};
    perfdata_events_init(&s->events, false);
    struct perfdata_attr attr = {.size = 128,
                                 .known_size = 128,
                                 .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                 .sample_type = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID |
                                                PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_CALLCHAIN |
                                                PERFDATA_SAMPLE_PERIOD};
    assert_int_equal(perfdata_events_add(&s->events, &attr, &(struct perfdata_u64s){0}), 0);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        put_record(s, rec_ksymbol(address_in(i, 0), FUNCTION_BYTES, 1, 0, name), 1);
    }
    put_record(s, rec_comm(7, 7, "seven"), 1);
    put_record(s, rec_comm(8, 8, "eight"), 1);
}

/* Does everything from the written records to the profile. */
static inline void session_run(struct session *s, struct profile_options options,
                               struct profile_column_options columns) {
    static const uint64_t no_bits[4];
    struct err err = ERR_INIT;
    s->file = writer_make(false);
    perfdata_file_head_encode(&s->events, &s->file);
    perfdata_file_head_finish(&s->file, s->data.size, no_bits);
    writer_bytes_put(&s->file, writer_bytes(&s->data));
    s->stream = stream_open_memory(writer_bytes(&s->file), &(struct stream_options){0}, &err);
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, &err);
    assert_non_null(s->stream);
    assert_non_null(s->model);
    const struct perfdata_events *events = stream_events(s->stream);
    struct stream_record r;
    while (stream_next(s->stream, &r, &err) == STREAM_RECORD) {
        struct perfdata_record rec;
        const char *reason;
        if (r.raw.type == PERFDATA_RECORD_SAMPLE)
            continue;
        assert_true(perfdata_record_decode(&r.raw, &events->list.items[0].plan, events->swap, &rec, &reason));
        assert_true(model_apply(s->model, &rec, (struct model_when){r.time_ns, r.loc}, &err));
    }
    assert_true(model_freeze(s->model, &err));
    stream_rewind(s->stream);
    s->store = symbol_store_new(&(struct symbol_options){0}, &err);
    s->names = resolve_names_new(s->model, s->store, NULL, &err);
    assert_true(profile_columns_make(&columns, events, &s->columns, &err));
    s->options = options;
    s->options.columns = &s->columns;
    s->options.max_stack = 127;
    s->options.time_quantum_ns = 1;
    s->options.socket = -1;
    s->options.relative = true;
    s->input =
        (struct profile_input){.stream = s->stream, .events = events, .model = s->model, .names = s->names};
    s->profile = profile_collect(&s->input, &s->options, &err);
    assert_non_null(s->profile);
}

static inline void session_end(struct session *s) {
    profile_free(s->profile);
    profile_columns_fini(&s->columns);
    resolve_names_free(s->names);
    symbol_store_free(s->store);
    model_free(s->model);
    stream_close(s->stream);
    perfdata_events_fini(&s->events);
    writer_fini(&s->data);
    writer_fini(&s->file);
}

#endif
