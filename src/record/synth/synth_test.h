/* SPDX-License-Identifier: Apache-2.0 */
/* A sink that keeps what it is given, and a look at the records in it: for the tests of synthesis. */
#ifndef SONDE_RECORD_SYNTH_SYNTH_TEST_H
#define SONDE_RECORD_SYNTH_SYNTH_TEST_H

#include "os/proc/proc_fake.h"
#include "record/write/sink.h"

struct synth_test {
    struct perfdata_attr attr;
    struct perfdata_plan plan;
    struct record_build_ids ids;
    struct record_sink sink;
    struct writer got;
    struct perfdata_record rec; /* of synth_test_next */
    size_t at;
};

static bool synth_test_put(void *ctx, struct bytes records, struct err *err) {
    struct synth_test *t = ctx;
    (void)err;
    writer_bytes_put(&t->got, records);
    return true;
}

static void synth_test_init(struct synth_test *t) {
    *t = (struct synth_test){.attr = {.size = 128,
                                      .known_size = 128,
                                      .sample_type = PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME,
                                      .flags = PERFDATA_ATTR_SAMPLE_ID_ALL}};
    perfdata_plan_init(&t->plan, &t->attr, false);
    t->sink = (struct record_sink){
        .put = synth_test_put,
        .ctx = t,
        .plan = &t->plan,
        .id = {.have = t->attr.sample_type},
        .build_ids = &t->ids,
    };
}

static void synth_test_fini(struct synth_test *t) {
    writer_fini(&t->got);
    record_build_ids_fini(&t->ids);
}

/* The next record of `all` into t->rec; false at the end. */
static inline bool synth_test_next(struct synth_test *t, struct bytes all) {
    if (all.size - t->at < PERFDATA_HEADER_SIZE)
        return false;
    const uint8_t *p = all.data + t->at;
    struct perfdata_raw raw = {.type = bytes_load32(p, false),
                               .misc = bytes_load16(p + 4, false),
                               .size = bytes_load16(p + 6, false)};
    raw.body = (struct bytes){p + PERFDATA_HEADER_SIZE, raw.size - PERFDATA_HEADER_SIZE};
    t->at += raw.size;
    return perfdata_record_decode(&raw, &t->plan, false, &t->rec, NULL);
}

#endif
