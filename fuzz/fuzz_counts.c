/* SPDX-License-Identifier: Apache-2.0 */
/* Counts in a recording (stat report), by all levels. */
#include "fuzz.h"

#include "count/replay.h"

static void round_over(void *ctx, const struct counts *c, bool last) {
    (void)ctx, (void)last;
    for (size_t i = 0; i < c->keys.count * c->event_count; i++)
        FUZZ_CHECK(c->cells[i].state <= COUNT_NOT_SUPPORTED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const enum count_level LEVELS[] = {COUNT_LEVELS, COUNT_CPU, COUNT_CORE, COUNT_THREAD};
    const struct sysfs_fake nothing = {0};
    const struct sysfs sys = sysfs_fake(&nothing);
    for (size_t i = 0; i < sizeof LEVELS / sizeof *LEVELS; i++) {
        struct err err = ERR_INIT;
        struct stream *s = stream_open_memory((struct bytes){data, size}, &(struct stream_options){0}, &err);
        const struct count_replay_options o = {
            .level = LEVELS[i], .sys = i ? &sys : NULL, .round = round_over};
        if (!s)
            return 0;
        bool any = count_replay(s, &o, &err);
        FUZZ_CHECK(any || err.code != ERR_NONE);
        stream_close(s);
        if (!any)
            return 0;
    }
    return 0;
}
