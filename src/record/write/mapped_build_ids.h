/* SPDX-License-Identifier: Apache-2.0 */
/* The build-ids that map records carried, each file once: the content of the BUILD_ID feature. */
#ifndef SONDE_RECORD_WRITE_MAPPED_BUILD_IDS_H
#define SONDE_RECORD_WRITE_MAPPED_BUILD_IDS_H

#include "base/hash.h"
#include "base/writer.h"
#include "format/perfdata/record.h"

struct record_build_ids {
    struct writer content; /* entries, one after the other */
    struct hash_map seen;  /* hash of id and name */
    uint32_t count;
};

void record_build_ids_fini(struct record_build_ids *b);

/* Looks at an MMAP2 record's body; keeps its build-id when it has one and maps code. */
void record_build_ids_mmap2(struct record_build_ids *b, uint16_t misc, struct bytes body);

/* A file's build-id; `misc` is the cpumode of what maps it (PERFDATA_MISC_KERNEL, _USER). */
void record_build_ids_add(struct record_build_ids *b, uint16_t misc, struct bytes id, struct bytes name);

#endif
