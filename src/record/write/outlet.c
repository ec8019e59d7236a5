/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/outlet.h"

bool record_outlet_put(const struct record_outlet *o, const struct bytes *spans, size_t count, size_t packed,
                       struct err *err) {
    struct bytes all[OS_OUTPUT_SPANS];
    size_t n = 0;
    if (o->thread)
        return record_write_thread_put(o->thread, spans, count, packed, err);
    if (!o->compress || !packed)
        return record_file_append(o->file, spans, count, err);
    if (!record_compress_spans(o->compress, spans, packed, err))
        return false;
    all[n++] = writer_bytes(&o->compress->out);
    for (size_t i = packed; i < count; i++)
        all[n++] = spans[i];
    return record_file_append(o->file, all, n, err);
}
