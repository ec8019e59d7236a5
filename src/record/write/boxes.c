/* SPDX-License-Identifier: Apache-2.0 */
#include "record/write/boxes.h"

#include "format/perfdata/added/evidence.h"
#include "record/keep/sections.h"
#include "record/rings/clock.h"
#include "record/synth/kernel.h"
#include "record/unwind/unwind_thread.h"

static void add(struct perfdata_part *parts, size_t *count, uint32_t tag, struct bytes content) {
    if (content.size)
        parts[(*count)++] = (struct perfdata_part){tag, content};
}

/* How the clock stands to the one of jitdumps; nothing where that cannot be known. */
static void put_clock(const struct record_box_sources *from, struct writer *w) {
    struct perfdata_clock_pair pair;
    if (from->proc && record_clock_pair(from->perf, from->options, &pair))
        perfdata_clock_pair_encode(&pair, w);
}

/* What the file says if we are killed before its end is written: at most what rings and buffers hold is
 * missing, and, unless rings wait until they are fuller, or for the end, what came since the last look. */
static void put_ending(const struct record_box_sources *from, struct writer *w) {
    const struct record_options *o = from->options;
    struct perfdata_ending e = {.how = PERFDATA_ENDING_OPEN};
    for (size_t i = 0; i < from->opened->rings.count; i++)
        e.missing_bytes += from->opened->rings.items[i].map.data_bytes * (1 + (uint64_t)from->buffers);
    e.missing_bytes += o->unwind ? RECORD_UNWIND_BYTES_MAX : 0;
    if (!o->overwrite && o->flush_bytes <= 1 && !o->unwind) /* stacks may wait for as long as they must */
        e.missing_ns = from->interval_ns;
    perfdata_ending_encode(&e, w);
}

/* The mark is last, so that what is written over at the end is small. */
bool record_boxes_preamble(const struct record_box_sources *from, struct writer *w) {
    struct writer sections = writer_make(false), clock = writer_make(false), ending = writer_make(false);
    bool ok = !from->proc || record_sections_encode(from->proc, from->sys, &from->modules->known, &sections);
    struct perfdata_part parts[3];
    size_t count = 0;
    put_clock(from, &clock);
    put_ending(from, &ending);
    add(parts, &count, PERFDATA_PART_SECTIONS, writer_bytes(&sections));
    add(parts, &count, PERFDATA_PART_CLOCK, writer_bytes(&clock));
    add(parts, &count, PERFDATA_PART_ENDING, writer_bytes(&ending));
    perfdata_box_encode(parts, count, w);
    ok = ok && writer_ok(w) && writer_ok(&clock) && writer_ok(&ending);
    writer_fini(&sections);
    writer_fini(&clock);
    writer_fini(&ending);
    return ok;
}

void record_boxes_trailer(const struct record_box_sources *from, struct writer *w) {
    struct writer images = writer_make(false), kernel = writer_make(false), clock = writer_make(false);
    const struct writer *log = &from->modules->log;
    struct record_kernel unused;
    struct perfdata_part parts[6];
    size_t count = 0;
    record_identities_finish(from->identities, &images);
    if (from->proc) {
        if (!from->kernel_facts->boot_id[0])
            record_kernel_facts(from->proc, from->kernel_facts, &unused);
        perfdata_kernel_facts_encode(from->kernel_facts, &kernel);
    }
    struct bytes kept = record_keep_finish(from->keep);
    put_clock(from, &clock);
    add(parts, &count, PERFDATA_PART_IMAGES, writer_bytes(&images));
    add(parts, &count, PERFDATA_PART_MODULES, writer_bytes(log));
    add(parts, &count, PERFDATA_PART_KERNEL, writer_bytes(&kernel));
    add(parts, &count, PERFDATA_PART_KEPT, kept);
    add(parts, &count, PERFDATA_PART_CLOCK, writer_bytes(&clock));
    add(parts, &count, PERFDATA_PART_UNWOUND, from->unwound);
    perfdata_box_encode(parts, count, w);
    if (!writer_ok(w) || !writer_ok(&images) || !writer_ok(log))
        writer_clear(w);
    writer_fini(&images);
    writer_fini(&kernel);
    writer_fini(&clock);
}
