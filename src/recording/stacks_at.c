/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/stacks_at.h"

void recording_stacks_init(struct recording_stacks *s, struct recording *r, const struct model *m,
                           const struct recording_names *naming) {
    *s = (struct recording_stacks){.r = r, .locator = {.model = m}};
    s->samples = (struct resolve_samples){
        .locator = &s->locator,
        .names = naming->names,
        .lines = naming->lines,
        .chain.o = recording_chains(r, naming->names, RESOLVE_CHAIN_USUAL),
    };
}

void recording_stacks_fini(struct recording_stacks *s) {
    resolve_samples_fini(&s->samples);
    resolve_locator_fini(&s->locator);
}

bool recording_stacks_read(struct recording_stacks *s, uint64_t loc) {
    struct stream_record rec = stream_record_at(s->r->stream, loc);
    struct perfdata_sample sample = {0};
    s->samples.frames.count = 0;
    if (rec.raw.type != PERFDATA_RECORD_SAMPLE || rec.event >= s->r->events->list.count)
        return true;
    const struct perfdata_event *event = &s->r->events->list.items[rec.event];
    if (!perfdata_sample_decode(&event->plan, rec.raw.body, ~0ull, &sample))
        return true; /* counted when it was read */
    const struct resolve_sample_at at = {&sample, &event->attr, rec.raw.misc & PERFDATA_MISC_CPUMODE_MASK,
                                         recording_when(s->r, &rec)};
    return resolve_sample_read(&s->samples, &at);
}
