/* SPDX-License-Identifier: Apache-2.0 */
/* The text of /proc/schedstat; what can be read comes back from its records. */
#include "fuzz.h"

#include "format/schedstat/schedstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct schedstat s = {0};
    struct err err = ERR_INIT;
    struct writer w = writer_make(false);
    if (schedstat_parse((struct bytes){data, size}, &s, &err)) {
        schedstat_encode(&s, &w);
        size_t at = 0;
        for (size_t i = 0; i < s.lines.count && writer_ok(&w); i++) {
            const struct schedstat_line *l = &s.lines.items[i];
            size_t n = l->is_domain ? 208 : 72;
            struct perfdata_raw raw = {.type = l->is_domain ? PERFDATA_RECORD_SCHEDSTAT_DOMAIN
                                                            : PERFDATA_RECORD_SCHEDSTAT_CPU,
                                       .body = {w.data + at + 8, n - 8}};
            struct schedstat_line got;
            FUZZ_CHECK(schedstat_decode(&raw, false, &got) && got.cpu == l->cpu && got.domain == l->domain);
            at += n;
        }
    }
    writer_fini(&w);
    schedstat_fini(&s);
    return 0;
}
