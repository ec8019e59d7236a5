/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "annotate/listing.h"
#include "annotate/sources.h"
#include "format/perfdata/header/header_encode.h"
#include "format/perfdata/perfdata_test.h"
#include "model/model_test_records.h"
#include "tests/support/fail_alloc.h"

/* What is annotated: this program's own functions, as they lie in its file. */
static volatile unsigned sink;

static inline __attribute__((always_inline)) unsigned stir(unsigned x) {
    return (x ^ x >> 7) * 2654435761u;
}

__attribute__((noinline)) unsigned annotate_test_target(unsigned n);
unsigned annotate_test_target(unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += stir(i);
        if (sum & 1)
            sum = stir(sum) / 3;
    }
    return sum;
}

__attribute__((noinline)) void annotate_test_other(void);
void annotate_test_other(void) {
    sink = sink * 3 + 1;
}

enum { PID = 7, BASE = 0x10000000, SPAN = 1 << 28, EVENTS = 2, HITS = 300 };

struct place {
    uint64_t offset, size; /* in the file */
};

/* Finds a function in this program's file. */
static struct place place_of(const char *path, const char *name) {
    struct os_file file;
    struct os_map map;
    struct object_elf e;
    struct object_layout layout;
    struct object_symbols walk;
    struct place found = {0, 0};
    assert_true(os_file_open(path, &file, NULL));
    assert_true(os_map_file(&file, path, &map, NULL));
    assert_true(object_elf_open(map.bytes, &e, NULL));
    assert_true(object_layout_init(&e, &layout, NULL));
    assert_true(object_symbols_open(&e, 2 /* SHT_SYMTAB */, &walk, NULL));
    for (struct object_symbol s; object_symbols_next(&walk, &s);)
        if (s.name.size == strlen(name) && memcmp(s.name.data, name, s.name.size) == 0) {
            assert_true(object_layout_offset(&layout, s.value, &found.offset));
            found.size = s.size;
        }
    object_layout_fini(&layout);
    os_map_fini(&map);
    os_file_close(&file);
    assert_true(found.size > 0);
    return found;
}

struct session {
    char path[4096];
    struct place target, other;
    struct writer file;
    struct annotate_sums want[EVENTS]; /* of the target */
    struct recording recording;
    struct model *model;
    struct recording_names naming;
    struct annotate_input in;
    struct annotate_profile profile;
};

static void put_hit(struct writer *data, const struct perfdata_plan *plan, uint64_t ip, uint64_t period,
                    uint64_t id) {
    struct perfdata_sample s = {.have = plan->sample_type,
                                .identifier = id,
                                .ip = ip,
                                .pid = PID,
                                .tid = PID,
                                .time = 5,
                                .period = period};
    test_put_sample(data, plan, PERFDATA_MISC_USER, &s);
}

static void put_hits(struct session *s, struct writer *data, const struct perfdata_plan *plan) {
    uint64_t random = 12345;
    for (unsigned i = 0; i < HITS; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t period = random >> 10, event = random >> 33 & 1;
        put_hit(data, plan, BASE + s->target.offset + (random >> 40) % s->target.size, period, event + 1);
        annotate_sums_add(&s->want[event], &(struct annotate_sums){1, period});
    }
    put_hit(data, plan, BASE + s->other.offset, 3, 1);
    put_hit(data, plan, 16, 5, 1); /* nothing is there */
}

static void make_file(struct session *s) {
    struct perfdata_events events;
    const struct perfdata_attr attr = {.size = 112,
                                       .known_size = 112,
                                       .flags = PERFDATA_ATTR_SAMPLE_ID_ALL,
                                       .sample_type = PERFDATA_SAMPLE_IDENTIFIER | PERFDATA_SAMPLE_IP |
                                                      PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME |
                                                      PERFDATA_SAMPLE_PERIOD};
    uint64_t bits[4];
    struct writer data = writer_make(false), tail = writer_make(false);
    s->file = writer_make(false);
    perfdata_events_init(&events, false);
    for (uint32_t i = 0; i < EVENTS; i++) {
        assert_int_equal(perfdata_events_add(&events, &attr, &(struct perfdata_u64s){0}), i);
        assert_true(perfdata_events_add_id(&events, i, i + 1));
    }
    const struct perfdata_plan *plan = &events.list.items[0].plan;
    struct perfdata_record map = rec_map(PID, BASE, SPAN, s->path);
    map.id = (struct perfdata_sample_id){
        .have = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_IDENTIFIER, .time = 1, .id = 1};
    perfdata_record_encode(&map, plan, &data);
    put_hits(s, &data, plan);
    perfdata_file_head_encode(&events, &s->file);
    perfdata_file_tail_encode(NULL, 0, s->file.size + data.size, &tail, bits);
    perfdata_file_head_finish(&s->file, data.size, bits);
    writer_bytes_put(&s->file, writer_bytes(&data));
    writer_bytes_put(&s->file, writer_bytes(&tail));
    assert_true(writer_ok(&s->file));
    writer_fini(&data);
    writer_fini(&tail);
    perfdata_events_fini(&events);
}

static void session_init(struct session *s) {
    *s = (struct session){0};
    ssize_t n = readlink("/proc/self/exe", s->path, sizeof s->path - 1);
    assert_true(n > 0);
    s->target = place_of(s->path, "annotate_test_target");
    s->other = place_of(s->path, "annotate_test_other");
    make_file(s);
}

static bool session_open(struct session *s, struct err *err) {
    struct stream *stream = stream_open_memory(writer_bytes(&s->file), &(struct stream_options){0}, err);
    s->profile = (struct annotate_profile){0};
    if (!recording_open(&s->recording, stream, NULL, err))
        return false;
    s->model = model_new(&(struct model_options){.need = MODEL_NEED_ALL}, err);
    s->in = (struct annotate_input){
        .recording = &s->recording, .model = s->model, .naming = &s->naming, .keep = NULL};
    return s->model && recording_first_pass(&s->recording, s->model, NULL, NULL, NULL, err) &&
           recording_names_open(&s->naming, &s->recording, s->model, &(struct symbol_options){0}, err) &&
           annotate_profile_collect(&s->profile, &s->in, err);
}

static void session_close(struct session *s) {
    annotate_profile_fini(&s->profile);
    recording_names_close(&s->naming);
    model_free(s->model);
    recording_close(&s->recording);
    s->recording = (struct recording){0};
    s->model = NULL;
}

static const struct annotate_events BOTH = {0, EVENTS};

static void assert_sums(const struct annotate_sums *got, const struct annotate_sums *want) {
    assert_true(got->samples == want->samples && got->period == want->period);
}

/* ---- the profile ---- */

static void test_profile(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    struct annotate_sums self[EVENTS];
    struct annotate_order order = {0};
    session_init(&s);
    assert_true(session_open(&s, &err));
    assert_int_equal(s.profile.functions.count, 2);
    assert_true(annotate_profile_order(&s.profile, BOTH, &order, &err));
    assert_int_equal(order.list.count, 2);
    const struct annotate_function *f = &s.profile.functions.items[order.list.items[0]];
    assert_string_equal(annotate_function_name(&s.profile, f), "annotate_test_target");
    assert_true(f->start == s.target.offset && f->end - f->start == s.target.size);
    annotate_function_self(&s.profile, f, BOTH, self);
    for (uint32_t i = 0; i < EVENTS; i++)
        assert_sums(&self[i], &s.want[i]);
    const struct annotate_sums all = {s.want[0].samples + 2, s.want[0].period + 8};
    assert_sums(&s.profile.totals.items[0], &all);
    assert_sums(&s.profile.totals.items[1], &s.want[1]);
    /* The second event hit one function only. */
    vec_clear(&order.list);
    assert_true(annotate_profile_order(&s.profile, (struct annotate_events){1, 1}, &order, &err));
    assert_int_equal(order.list.count, 1);
    vec_fini(&order.list);
    session_close(&s);
    writer_fini(&s.file);
}

static bool keep_none(void *ctx, const struct perfdata_sample *s, struct model_when when) {
    (void)ctx, (void)s, (void)when;
    return false;
}

static void test_keep(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    struct annotate_profile none = {0};
    session_init(&s);
    assert_true(session_open(&s, &err));
    s.in.keep = keep_none;
    assert_true(annotate_profile_collect(&none, &s.in, &err));
    assert_true(none.functions.count == 0 && none.totals.items[0].samples == 0);
    annotate_profile_fini(&none);
    session_close(&s);
    writer_fini(&s.file);
}

/* ---- listings ---- */

static const struct annotate_function *target_of(const struct session *s) {
    for (size_t i = 0; i < s->profile.functions.count; i++)
        if (s->profile.functions.items[i].start == s->target.offset)
            return &s->profile.functions.items[i];
    return NULL;
}

/* Instructions, lines and what is outside of them add up to the function's own samples. */
static void check_sums(const struct annotate_listing *l) {
    for (uint32_t i = 0; i < EVENTS; i++) {
        struct annotate_sums rows = l->outside[i], lines = l->outside[i];
        for (size_t k = 0; k < l->rows.count; k++)
            annotate_sums_add(&rows, &l->row_sums[k * EVENTS + i]);
        for (size_t k = 0; k < l->lines.count; k++)
            annotate_sums_add(&lines, &l->line_sums[k * EVENTS + i]);
        annotate_sums_add(&lines, &l->no_line[i]);
        assert_sums(&rows, &l->self[i]);
        assert_sums(&lines, &l->self[i]);
    }
}

static void test_listing(void **state) {
    (void)state;
    struct session s;
    struct err err = ERR_INIT;
    struct annotate_listing l = {0};
    if (!disasm_supported())
        skip();
    session_init(&s);
    assert_true(session_open(&s, &err));
    struct annotate_maker m = {.profile = &s.profile};
    if (!annotate_listing_make(&m, target_of(&s), BOTH, &l, &err)) {
        assert_int_equal(err.code, ERR_UNSUPPORTED); /* an architecture that is not known */
        skip();
    }
    assert_int_equal(l.rows.count, l.list.instructions.count);
    assert_int_equal(l.code.bytes.size, s.target.size);
    assert_true(l.outside[0].samples == 0);
    check_sums(&l);
    for (uint32_t i = 0; i < EVENTS; i++)
        assert_sums(&l.self[i], &s.want[i]);
    assert_int_equal(annotate_listing_row(&l, s.target.offset), 0);
    assert_int_equal(annotate_listing_row(&l, s.target.offset + s.target.size), ANNOTATE_NONE);
    assert_int_equal(annotate_listing_row(&l, s.target.offset - 1), ANNOTATE_NONE);
    uint64_t next = l.list.instructions.items[1].address - l.code.address;
    assert_int_equal(annotate_listing_row(&l, s.target.offset + next - 1), 0);
    assert_int_equal(annotate_listing_row(&l, s.target.offset + next), 1);
    annotate_listing_fini(&l);
    annotate_maker_fini(&m);
    session_close(&s);
    writer_fini(&s.file);
}

/* Everything from the recording to the listing, with each allocation failing once. */
static void test_memory(void **state) {
    (void)state;
    struct session s;
    session_init(&s);
    FAIL_EACH_ALLOC({
        struct err err = ERR_INIT;
        struct annotate_order order = {0};
        struct annotate_listing l = {0};
        bool ok = session_open(&s, &err);
        struct annotate_maker m = {.profile = &s.profile};
        ok = ok && annotate_profile_order(&s.profile, BOTH, &order, &err);
        if (ok && target_of(&s) && annotate_listing_make(&m, target_of(&s), BOTH, &l, &err))
            check_sums(&l); /* of what names could be found */
        annotate_listing_fini(&l);
        annotate_maker_fini(&m);
        vec_fini(&order.list);
        session_close(&s);
    })
    writer_fini(&s.file);
}

/* ---- sources ---- */

static void test_sources(void **state) {
    (void)state;
    char folder[] = "/tmp/annotate_test.XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/b.c", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("first\r\n\nthird", f);
    fclose(f);
    struct annotate_sources s = {.prefix = folder, .strip = 2};
    struct bytes text;
    assert_true(annotate_sources_line(&s, "/x/y/b.c", 1, &text));
    assert_true(text.size == 5 && memcmp(text.data, "first", 5) == 0);
    assert_true(annotate_sources_line(&s, "/x/y/b.c", 2, &text) && text.size == 0);
    assert_true(annotate_sources_line(&s, "/x/y/b.c", 3, &text) && text.size == 5);
    assert_false(annotate_sources_line(&s, "/x/y/b.c", 4, &text));
    assert_false(annotate_sources_line(&s, "/x/y/b.c", 0, &text));
    assert_int_equal(s.absent, 0);
    for (int i = 0; i < 2; i++)
        assert_false(annotate_sources_line(&s, "/x/y/c.c", 1, &text));
    assert_false(annotate_sources_line(&s, "/z", 1, &text)); /* has no two folders */
    assert_int_equal(s.absent, 2);
    assert_string_equal(strpool_text(&s.paths, s.first_absent), "/x/y/c.c");
    annotate_sources_fini(&s);
    unlink(path);
    rmdir(folder);
}

int main(void) {
    annotate_test_target(1);
    annotate_test_other();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_profile), cmocka_unit_test(test_keep),    cmocka_unit_test(test_listing),
        cmocka_unit_test(test_memory),  cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
