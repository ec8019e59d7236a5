/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any record but samples: byte 0 byte order and sample_id, 1 read format, 2 to 5 type, 6 and 7 misc, then a
 * body. What decodes must encode to the same bytes.
 */
#include <stdlib.h>

#include "format/perfdata/cpu_map.h"

static void visit(void *ctx, const struct perfdata_value *value) {
    uint64_t *sum = ctx;
    for (size_t i = 0; i < value->bytes.size; i++)
        *sum += value->bytes.data[i];
    *sum += value->number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 8 || size > 0xffff)
        return 0;
    bool swap = data[0] & 1;
    struct perfdata_attr attr = {.flags = data[0] & 2 ? PERFDATA_ATTR_SAMPLE_ID_ALL : 0,
                                 .sample_type =
                                     PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_TIME | PERFDATA_SAMPLE_IDENTIFIER,
                                 .read_format = data[1]};
    struct perfdata_plan plan;
    perfdata_plan_init(&plan, &attr, swap);
    struct perfdata_raw raw = {bytes_load32(data + 2, false),
                               bytes_load16(data + 6, false),
                               (uint32_t)size,
                               {data + 8, size - 8},
                               {NULL, 0}};
    struct perfdata_record rec;
    uint64_t sum = 0;
    perfdata_record_payload_size(&raw, swap, &sum);
    if (!perfdata_record_decode(&raw, &plan, swap, &rec, NULL))
        return 0;
    perfdata_record_describe(&rec, visit, &sum);
    struct perfdata_cpu_iter it;
    uint32_t cpu;
    if (raw.type == PERFDATA_RECORD_CPU_MAP && perfdata_cpu_iter_init(&it, &rec.cpu_map, swap))
        while (perfdata_cpu_iter_next(&it, &cpu))
            sum += cpu;
    struct writer w = writer_make(swap);
    perfdata_record_encode(&rec, &plan, &w);
    if (w.size != size || (size > 8 && memcmp(w.data + 8, raw.body.data, raw.body.size)))
        abort();
    writer_fini(&w);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
