/* SPDX-License-Identifier: Apache-2.0 */
/* What a whole recording says about scheduling, in the order of the file. */
#include "fuzz.h"

#include "format/perfdata/events/event_name.h"
#include "states/check_intervals.h"
#include "states/sched_events.h"

static void play(struct stream *stream, const struct perfdata_namer *names) {
    struct check_intervals check = {0};
    struct sched_events events;
    struct stream_record r;
    struct states s;
    struct err err = ERR_INIT;
    sched_events_init(&events, stream, names);
    states_init(&s, check_intervals_add, &check);
    while (stream_next(stream, &r, &err) == STREAM_RECORD)
        FUZZ_CHECK(sched_events_apply(&events, &s, &r, &err));
    FUZZ_CHECK(states_finish(&s) && !check_intervals_end(&check, &s));
    states_fini(&s);
    sched_events_fini(&events);
    vec_fini(&check.threads);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct err err = ERR_INIT;
    struct stream *stream = stream_open_memory((struct bytes){data, size}, &(struct stream_options){0}, &err);
    struct perfdata_namer names = {0};
    if (!stream)
        return 0;
    FUZZ_CHECK(perfdata_namer_init(&names, stream_header(stream)));
    play(stream, &names);
    perfdata_namer_fini(&names);
    stream_close(stream);
    return 0;
}
