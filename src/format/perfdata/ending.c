/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/ending.h"

#include <errno.h>

#include "base/cursor.h"
#include "format/perfdata/evidence.h"

void perfdata_ending_encode(const struct perfdata_ending *e, struct writer *w) {
    writer_u32(w, e->how);
    writer_u32(w, 0);
    writer_u64(w, e->missing_bytes);
    writer_u64(w, e->missing_ns);
}

bool perfdata_ending_decode(struct bytes part, bool swap, struct perfdata_ending *out) {
    struct cursor c = cursor_make(part, swap);
    *out = (struct perfdata_ending){.how = cursor_u32(&c)};
    cursor_u32(&c);
    out->missing_bytes = cursor_u64(&c);
    out->missing_ns = cursor_u64(&c);
    if (!cursor_ok(&c))
        *out = (struct perfdata_ending){.how = PERFDATA_ENDING_UNKNOWN};
    return cursor_ok(&c);
}

size_t perfdata_ending_replace(const struct perfdata_ending *e, uint8_t *box, size_t size) {
    struct writer w = writer_make(false);
    perfdata_ending_encode(e, &w);
    size_t at = size;
    if (writer_ok(&w))
        at = perfdata_box_replace(box, size, PERFDATA_PART_ENDING, writer_bytes(&w));
    writer_fini(&w);
    return at;
}

enum perfdata_ending_how perfdata_ending_of_errno(int error) {
    switch (error) {
    case ENOSPC:
        return PERFDATA_ENDING_FULL;
    case EDQUOT:
        return PERFDATA_ENDING_QUOTA;
    case EFBIG:
        return PERFDATA_ENDING_LIMIT;
    default:
        return PERFDATA_ENDING_ERROR;
    }
}
