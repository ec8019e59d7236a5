/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfdata/evidence.h"
#include "stream/stream.h"

struct bytes stream_box(const struct stream *s, bool preamble) {
    const struct perfdata_header *h = stream_header(s);
    struct bytes before = stream_input_bytes(s);
    if (stream_is_pipe(s) || !before.size || (preamble && h->data.offset > before.size))
        return (struct bytes){NULL, 0};
    if (preamble)
        before.size = (size_t)h->data.offset;
    uint64_t size = perfdata_box_size(before, h->swap);
    return (struct bytes){before.data + (before.size - size), (size_t)size};
}

struct bytes stream_part(const struct stream *s, bool preamble, uint32_t tag) {
    struct bytes box = stream_box(s, preamble);
    struct perfdata_part part;
    for (uint32_t i = 0; box.size && perfdata_box_part(box, stream_header(s)->swap, i, &part); i++)
        if (part.tag == tag)
            return part.content;
    return (struct bytes){NULL, 0};
}
