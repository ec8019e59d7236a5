/* SPDX-License-Identifier: Apache-2.0 */
/* Records of a few words each, for tests: time, who, what. */
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

#endif
