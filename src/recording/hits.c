/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/hits.h"

#include <stdlib.h>

#include "resolve/sample.h"

static void note(void *ctx, uint32_t image) {
    ((uint8_t *)ctx)[image] = 1;
}

static bool read_samples(struct recording *r, struct resolve_samples *samples, uint8_t *hit,
                         struct err *err) {
    const uint64_t want =
        PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_TID | PERFDATA_SAMPLE_CALLCHAIN | PERFDATA_SAMPLE_BRANCH_STACK;
    struct stream_record rec;
    enum stream_status status;
    while ((status = stream_next(r->stream, &rec, err)) == STREAM_RECORD) {
        if (rec.raw.type != PERFDATA_RECORD_SAMPLE || rec.legacy || rec.event == PERFDATA_NO_EVENT)
            continue;
        struct perfdata_sample sample;
        const struct perfdata_event *event = &r->events->list.items[rec.event];
        const struct resolve_sample_at at = {&sample, &event->attr, rec.raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                             recording_when(r, &rec)};
        if (!perfdata_sample_decode(&event->plan, rec.raw.body, want, &sample))
            stream_bad_record(r->stream, &rec, "the sample is shorter than its event's fields");
        else if (!resolve_sample_images(samples, &at, note, hit))
            return err_memory(err, "callchains");
    }
    return status == STREAM_END;
}

uint8_t *recording_hits(struct recording *r, const struct model *m, struct err *err) {
    struct resolve_locator locator = {.model = m};
    struct resolve_samples samples = {.locator = &locator, .chain.o = recording_chains(r, NULL, UINT64_MAX)};
    uint8_t *hit = calloc(model_image_count(m) + 1u, 1);
    bool ok = hit ? read_samples(r, &samples, hit, err) : err_memory(err, "images");
    resolve_samples_fini(&samples);
    resolve_locator_fini(&locator);
    if (ok)
        return hit;
    free(hit);
    return NULL;
}
