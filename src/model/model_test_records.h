/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: records of a few words each, and a model's short answers. Include cmocka.h first. */
#ifndef SONDE_MODEL_MODEL_TEST_RECORDS_H
#define SONDE_MODEL_MODEL_TEST_RECORDS_H

#include "model/model.h"

#include <sys/mman.h>

static inline struct bytes rec_text(const char *s) {
    return (struct bytes){(const uint8_t *)s, strlen(s) + 1};
}

/* Everything up to a time. */
static inline struct model_when upto(uint64_t time_ns) {
    return (struct model_when){time_ns, UINT64_MAX};
}

static inline struct perfdata_record rec_comm(uint32_t pid, uint32_t tid, const char *name) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_COMM, .comm = {pid, tid, rec_text(name)}};
}

static inline struct perfdata_record rec_exec(uint32_t pid, const char *name) {
    return (struct perfdata_record){
        .type = PERFDATA_RECORD_COMM, .misc = PERFDATA_MISC_COMM_EXEC, .comm = {pid, pid, rec_text(name)}};
}

/* A fork as the kernel records it. */
static inline struct perfdata_record rec_fork(uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_FORK,
                                    .task = {.pid = pid, .tid = tid, .ppid = ppid, .ptid = ptid, .time = 1}};
}

/* A fork as perf record makes it up for what existed before. */
static inline struct perfdata_record rec_fork_synthesised(uint32_t pid, uint32_t tid, uint32_t ppid,
                                                          uint32_t ptid) {
    struct perfdata_record r = rec_fork(pid, tid, ppid, ptid);
    r.task.time = 0;
    return r;
}

static inline struct perfdata_record rec_exit(uint32_t pid, uint32_t tid, uint32_t ppid) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_EXIT,
                                    .task = {.pid = pid, .tid = tid, .ppid = ppid, .ptid = ppid, .time = 1}};
}

static inline struct perfdata_record rec_mmap(unsigned cpumode, uint32_t pid, uint64_t start, uint64_t len,
                                              uint64_t pgoff, const char *name) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_MMAP,
                                    .misc = (uint16_t)cpumode,
                                    .mmap = {pid, pid, start, len, pgoff, rec_text(name)}};
}

static inline struct perfdata_record rec_map(uint32_t pid, uint64_t start, uint64_t len, const char *name) {
    return rec_mmap(PERFDATA_MISC_USER, pid, start, len, 0, name);
}

static inline struct perfdata_record rec_ksymbol(uint64_t address, uint32_t len, uint16_t type,
                                                 uint16_t flags, const char *name) {
    return (struct perfdata_record){.type = PERFDATA_RECORD_KSYMBOL,
                                    .ksymbol = {address, len, type, flags, rec_text(name)}};
}

/* ---- a model, a record at a time, and short answers ---- */

enum {
    K = PERFDATA_MISC_KERNEL,
    U = PERFDATA_MISC_USER,
    GK = PERFDATA_MISC_GUEST_KERNEL,
    GU = PERFDATA_MISC_GUEST_USER
};

static inline struct model *new_model(unsigned need, bool streaming) {
    struct model *m = model_new(&(struct model_options){.need = need, .streaming = streaming}, NULL);
    assert_non_null(m);
    return m;
}

static inline struct model *batch(void) {
    return new_model(MODEL_NEED_ALL, false);
}

/* Applies a record at a time; a record's order is its position in the test. */
static inline void at(struct model *m, uint64_t time_ns, struct perfdata_record rec) {
    static _Thread_local uint64_t order;
    assert_true(model_apply(m, &rec, (struct model_when){time_ns, ++order}, NULL));
}

static inline void freeze(struct model *m) {
    assert_true(model_freeze(m, NULL));
}

/* The object that perf script would print; "-" for none. */
static inline const char *dso(struct model *m, unsigned cpumode, uint32_t pid, uint64_t t, uint64_t address) {
    struct model_hit hit;
    if (model_find(m, cpumode, pid, upto(t), address, &hit)) {
        assert_int_equal(model_mapping(m, hit.mapping).image, hit.image);
        return model_image_dso(m, model_image(m, hit.image));
    }
    assert_int_equal(hit.mapping, MODEL_NONE);
    assert_int_equal(hit.image, MODEL_NONE);
    return "-";
}

static inline uint64_t offset(struct model *m, unsigned cpumode, uint32_t pid, uint64_t t, uint64_t address) {
    struct model_hit hit;
    assert_true(model_find(m, cpumode, pid, upto(t), address, &hit));
    return hit.offset;
}

static inline const char *name_of(struct model *m, uint32_t pid, uint32_t tid, uint64_t t) {
    const char *s = model_comm(m, pid, tid, upto(t), NULL);
    return s ? s : "-";
}

#define assert_dso(pid, t, address, want) assert_string_equal(dso(m, U, pid, t, address), want)
#define assert_comm(pid, tid, t, want)    assert_string_equal(name_of(m, pid, tid, t), want)

static inline const char *before_exec(struct model *m, uint32_t pid, uint64_t t, uint64_t address) {
    struct model_hit hit;
    bool found = model_find_before_exec(m, U, pid, upto(t), address, &hit);
    assert_true(found || (hit.mapping == MODEL_NONE && hit.image == MODEL_NONE));
    return found ? model_image_dso(m, model_image(m, hit.image)) : "-";
}

#define assert_before_exec(pid, t, address, want) assert_string_equal(before_exec(m, pid, t, address), want)

#endif
