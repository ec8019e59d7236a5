/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte 0: byte order; byte 1: size of the attr; the attr; 8 bytes of wanted fields; then a sample of that
 * attr. What decodes must encode to the same bytes.
 */
#include <stdlib.h>

#include "format/perfdata/perfdata_sample.h"

static void check(struct writer *w, struct bytes want) {
    if (w->size != want.size || (want.size && memcmp(w->data, want.data, want.size)))
        abort();
    writer_clear(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2 || size < 10u + data[1])
        return 0;
    bool swap = data[0] & 1;
    struct bytes b = {data + 2, data[1]};
    struct perfdata_attr attr;
    if (!perfdata_attr_decode(b, swap, &attr))
        return 0;
    struct writer w = writer_make(swap);
    perfdata_attr_encode(&attr, &w);
    check(&w, b);

    uint64_t want = bytes_load64(data + 2 + b.size, false), sum = 0;
    struct bytes body = {data + 10 + b.size, size - 10 - b.size};
    struct perfdata_plan plan;
    struct perfdata_sample s;
    struct perfdata_sample_id id;
    perfdata_plan_init(&plan, &attr, swap);
    perfdata_record_time(&plan, PERFDATA_RECORD_SAMPLE, body, &sum);
    perfdata_sample_id_decode(&plan, body, &id);
    perfdata_sample_decode(&plan, body, want, &s);
    if (perfdata_sample_decode(&plan, body, ~0ull, &s)) {
        for (uint64_t i = 0; s.have & PERFDATA_SAMPLE_BRANCH_STACK && i < s.branch_count; i++)
            sum += perfdata_branch_at(&s, i).cycles;
        for (uint64_t i = 0; s.have & PERFDATA_SAMPLE_READ && i < s.read.count; i++)
            sum += perfdata_read_at(&s.read, i).id;
        perfdata_sample_encode(&plan, &s, &w);
        check(&w, body);
    }
    writer_fini(&w);
    __asm__ volatile("" : : "r"(sum)); /* keeps the reads that only sum needs */
    return 0;
}
