/* SPDX-License-Identifier: Apache-2.0 */
/* What sonde adds to recordings: tails of map records, boxes and their images. The first byte picks the byte
 * order, the second what the rest is. */
#include "fuzz.h"

#include "format/perfdata/added/kept.h"
#include "format/perfdata/added/module_lines.h"
#include "format/perfdata/added/unwound.h"

static void images(struct bytes rest, bool swap) {
    const uint8_t *start = rest.data, *end = start + rest.size;
    struct perfdata_evidence e;
    struct bytes name;
    while (perfdata_image_evidence_next(&rest, swap, &name, &e))
        FUZZ_CHECK(name.data >= start && name.data + name.size <= end && e.build_id_size <= 20);
}

static void kept(struct bytes rest, bool swap) {
    const uint8_t *start = rest.data, *end = start + rest.size;
    struct perfdata_kept k;
    while (perfdata_kept_next(&rest, swap, &k)) {
        FUZZ_CHECK(k.name.data >= start && k.packed.data + k.packed.size <= end);
        for (uint32_t i = 0; i < k.extent_count; i++) {
            struct perfdata_extent x = perfdata_kept_extent(&k, swap, i);
            FUZZ_CHECK(x.offset <= k.file_size && x.size <= k.file_size - x.offset);
        }
    }
}

static void unwound(struct bytes rest) {
    const uint8_t *start = rest.data, *end = start + rest.size;
    struct perfdata_unwound u;
    struct bytes image;
    uint64_t stacks;
    perfdata_unwound_decode(rest, &u);
    while (perfdata_unwound_next_cut(&rest, &stacks, &image))
        FUZZ_CHECK(!image.size || (image.data >= start && image.data + image.size <= end));
}

static void modules(struct bytes rest) {
    unwound(rest); /* text, too */
    const uint8_t *start = rest.data, *end = start + rest.size;
    for (struct perfdata_module_line l; perfdata_module_line_next(&rest, &l);)
        FUZZ_CHECK(!l.name.size || (l.name.data >= start && l.name.data + l.name.size <= end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct perfdata_evidence e;
    struct perfdata_part part;
    if (size < 2)
        return 0;
    struct bytes rest = {data + 2, size - 2};
    bool swap = data[0] & 1;
    if (data[1] % 3 == 0) {
        perfdata_evidence_decode(rest, swap, &e);
    } else if (data[1] % 3 == 1) {
        images(rest, swap);
        kept(rest, swap);
        modules(rest);
    } else { /* the checksum is no obstacle: parts are read whether it is right or not */
        perfdata_box_size(rest, swap);
        for (uint32_t i = 0; perfdata_box_part(rest, swap, i, &part); i++) {
            images(part.content, swap);
            kept(part.content, swap);
        }
    }
    return 0;
}
