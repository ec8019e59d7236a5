/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_dump.h"

#include "stream/stream_order.h"
#include "view/dump/dump.h"
#include "view/lists/stats.h"

struct model *report_first_pass(struct recording *r, unsigned need, struct err *err) {
    struct model *m = model_new(&(struct model_options){.need = need}, err);
    if (m && recording_first_pass(r, m, NULL, NULL, NULL, err))
        return m;
    model_free(m);
    return NULL;
}

/* perf sorts by time only if every record has one, which needs sample_id_all. */
static bool can_order(const struct recording *r) {
    return r->events->list.count && r->events->list.items[0].attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL;
}

bool report_dump_write(struct recording *r, bool disable_order, struct out *out, struct err *err) {
    struct model *m = report_first_pass(r, MODEL_NEED_COMMS | MODEL_NEED_MAPS, err);
    if (!m)
        return false;
    const struct perfdata_header *h = stream_header(r->stream);
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE;
    struct dump dump;
    struct stats stats;
    struct order order;
    struct stream_record rec;
    enum stream_status status = STREAM_END;
    bool ok = true;
    dump_init(&dump, r->events, h, &r->namer, m, pipe ? "pipe" : stream_path(r->stream));
    stats_init(&stats, false);
    stats.samples_only = true;
    order_init(&order, r->stream, NULL, NULL, disable_order || !can_order(r));
    while (ok && (status = order_next(&order, &rec, err)) == STREAM_RECORD) {
        const char *reason = dump_record(&dump, &rec, out);
        /* Other records were decoded in the first pass, and counted there if bad. */
        if (reason && rec.raw.type == PERFDATA_RECORD_SAMPLE)
            stream_bad_record(r->stream, &rec, reason);
        stats_add(&stats, r->events, &rec, &ok);
        if (!ok)
            err_memory(err, "statistics");
        ok = ok && !out->failed;
    }
    stats_print(&stats, r->stream, out);
    order_fini(&order);
    stats_fini(&stats);
    dump_fini(&dump);
    model_free(m);
    return ok && status == STREAM_END;
}
