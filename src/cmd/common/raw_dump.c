/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/raw_dump.h"

#include "stream/stream_order.h"
#include "view/dump/dump.h"

/* perf sorts by time only if every record has one, which needs sample_id_all. */
static bool can_order(const struct recording *r) {
    return r->events->list.count && r->events->list.items[0].attr.flags & PERFDATA_ATTR_SAMPLE_ID_ALL;
}

bool raw_dump_write(const struct raw_dump *d, struct err *err) {
    struct recording *r = d->recording;
    const struct perfdata_header *h = stream_header(r->stream);
    bool pipe = h->container == PERFDATA_CONTAINER_PIPE;
    struct dump dump;
    struct order order;
    struct stream_record rec;
    enum stream_status status = STREAM_END;
    bool ok = true;
    dump_init(&dump, r->events, h, &r->namer, d->model, pipe ? "pipe" : stream_path(r->stream));
    dump.for_script = d->for_script;
    order_init(&order, r->stream, NULL, NULL, d->unsorted || !can_order(r));
    while (ok && !d->out->failed && (status = order_next(&order, &rec, err)) == STREAM_RECORD) {
        const char *reason = dump_record(&dump, &rec, d->out);
        ok = !d->each || d->each(d->ctx, &rec, reason, err);
    }
    order_fini(&order);
    dump_fini(&dump);
    return ok && (d->out->failed || status == STREAM_END);
}
