/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_switch.h"

#include <string.h>

#include "stream/stream_order.h"

bool report_switch_event(const struct recording *r, const char *option, const char *name, uint32_t *out,
                         struct err *err) {
    *out = PERFDATA_NO_EVENT;
    for (size_t i = 0; name && i < r->events->list.count; i++) {
        const char *have = r->events->list.items[i].name;
        if (have && !strcmp(have, name)) {
            *out = (uint32_t)i;
            return true;
        }
    }
    return !name || err_set(err, ERR_ABSENT, option,
                            "event '%s' not found: 'evlist' shows the names of the events", name);
}

/* One more instant at which it changes, if it does. */
static bool change(struct report_switch *w, bool on, struct model_when when) {
    struct report_switch_span *last = w->spans.count ? &w->spans.items[w->spans.count - 1] : NULL;
    bool is_on = last && last->off.time_ns == UINT64_MAX;
    if (on == is_on)
        return true;
    if (is_on) {
        last->off = when;
        return true;
    }
    last = vec_push(&w->spans);
    if (last)
        *last = (struct report_switch_span){when, MODEL_WHEN_END};
    return last;
}

bool report_switch_find(struct report_switch *w, struct recording *r, const char *on, const char *off,
                        struct err *err) {
    uint32_t on_event, off_event;
    struct order order;
    struct stream_record rec;
    enum stream_status status = STREAM_END;
    w->asked = on || off;
    if (!w->asked)
        return true;
    if (!report_switch_event(r, "--switch-on", on, &on_event, err) ||
        !report_switch_event(r, "--switch-off", off, &off_event, err))
        return false;
    bool ok = on || change(w, true, (struct model_when){0, 0});
    order_init(&order, r->stream, NULL, NULL, false);
    while (ok && (status = order_next(&order, &rec, err)) == STREAM_RECORD) {
        if (rec.legacy || rec.raw.type != PERFDATA_RECORD_SAMPLE)
            continue;
        uint32_t event = perfdata_events_find(r->events, rec.raw.type, rec.raw.body);
        if (event != PERFDATA_NO_EVENT && (event == on_event || event == off_event))
            ok = change(w, event == on_event, recording_when(r, &rec));
    }
    order_fini(&order);
    if (!ok)
        return err_memory(err, "--switch-on");
    stream_rewind(r->stream);
    return status == STREAM_END;
}

void report_switch_fini(struct report_switch *w) {
    vec_fini(&w->spans);
}

bool report_switch_is_on(const struct report_switch *w, struct model_when when) {
    for (size_t i = 0; i < w->spans.count; i++)
        if (model_when_before(w->spans.items[i].on, when) && model_when_before(when, w->spans.items[i].off))
            return true;
    return !w->asked;
}
