/* SPDX-License-Identifier: Apache-2.0 */
/* An event selection as -e takes it, on the fake machine of the tests. What parses has complete events; the
 * place of an error lies inside the text. */
#include <stdlib.h>

#include "base/text/out.h"
#include "events/event_parse.h"
#include "events/event_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct sysfs sys = sysfs_fake(&EVENT_TEST_TREE);
    struct perf_event_sources *src = perf_event_sources_new(&sys);
    struct perf_events events = PERF_EVENTS_INIT;
    struct err err = ERR_INIT;
    struct out o;
    size_t at = 0;
    char *text = size < 4096 ? malloc(size + 1) : NULL;
    if (src && text && out_init(&o, NULL, NULL)) {
        memcpy(text, data, size);
        text[size] = '\0';
        if (!perf_events_parse(src, text, &events, &at, &err)) {
            if (at > strlen(text) || events.items.count)
                abort();
            perf_events_mark(text, at, err.message, &o);
        }
        for (size_t i = 0; i < events.items.count; i++)
            if (!events.items.items[i].name || !events.items.items[i].pmu || events.items.items[i].leader > i)
                abort();
        perf_events_filter(src, text, &events, &err);
        out_fini(&o);
    }
    free(text);
    perf_events_fini(&events);
    perf_event_sources_free(src);
    return 0;
}
