/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_dump.h"

#include "cmd/common/raw_dump.h"
#include "view/lists/stats.h"

struct model *report_first_pass(struct recording *r, unsigned need, struct err *err) {
    struct model *m = model_new(&(struct model_options){.need = need}, err);
    if (m && recording_first_pass(r, m, NULL, NULL, NULL, err))
        return m;
    model_free(m);
    return NULL;
}

struct counting {
    struct recording *recording;
    struct stats stats;
};

static bool count(void *ctx, const struct stream_record *r, const char *reason, struct err *err) {
    struct counting *c = ctx;
    bool ok = true;
    /* Other records were decoded in the first pass, and counted there if bad. */
    if (reason && r->raw.type == PERFDATA_RECORD_SAMPLE)
        stream_bad_record(c->recording->stream, r, reason);
    stats_add(&c->stats, c->recording->events, r, &ok);
    return ok || err_memory(err, "statistics");
}

bool report_dump_write(struct recording *r, bool disable_order, struct out *out, struct err *err) {
    struct counting c = {.recording = r};
    struct model *m = report_first_pass(r, MODEL_NEED_COMMS | MODEL_NEED_MAPS, err);
    const struct raw_dump d = {
        .recording = r, .model = m, .out = out, .unsorted = disable_order, .each = count, .ctx = &c};
    if (!m)
        return false;
    stats_init(&c.stats, false);
    c.stats.samples_only = true;
    bool ok = raw_dump_write(&d, err);
    stats_print(&c.stats, r->stream, out);
    stats_fini(&c.stats);
    model_free(m);
    return ok && !out->failed;
}
