/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/added/clock_pair.h"

#include "base/cursor.h"

void perfdata_clock_pair_encode(const struct perfdata_clock_pair *pair, struct writer *w) {
    writer_u64(w, pair->perf_ns);
    writer_u64(w, pair->monotonic_ns);
    writer_u64(w, pair->error_ns);
}

bool perfdata_clock_pair_next(struct bytes *rest, bool swap, struct perfdata_clock_pair *out) {
    struct cursor c = cursor_make(*rest, swap);
    out->perf_ns = cursor_u64(&c);
    out->monotonic_ns = cursor_u64(&c);
    out->error_ns = cursor_u64(&c);
    if (!cursor_ok(&c))
        return false;
    *rest = cursor_rest(&c);
    return true;
}
