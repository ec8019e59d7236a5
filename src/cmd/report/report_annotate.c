/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_annotate.h"

#include "cmd/annotate/annotate_print.h"

static bool keep(void *ctx, const struct perfdata_sample *x, struct model_when when) {
    return report_session_keeps(ctx, x, when);
}

/* Copies a text, with spaces for tabs. */
static void put_plain(struct out *from, struct out *to) {
    for (const char *c = out_text(from); *c; c++)
        out_str(to, *c == '\t' ? "  " : (char[]){*c, '\0'});
}

bool report_annotate(const struct report_annotate_wish *w, struct out *out, uint64_t *line, struct err *err) {
    struct report_session_parts parts = report_session_parts(w->session);
    const struct annotate_wish wish = {.symbol = w->function,
                                       .exact = true,
                                       .dso = w->dso,
                                       .event = &w->event,
                                       .first_only = true,
                                       .skip_missing = true,
                                       .code = {.raw_names = w->options->symbol.raw_names},
                                       .text = {.source = true},
                                       .symfs = w->options->symbol.symfs};
    const struct annotate_input in = {.recording = w->recording,
                                      .model = parts.model,
                                      .naming = parts.naming,
                                      .keep = keep,
                                      .keep_ctx = (void *)w->session,
                                      .live = w->live,
                                      .listed = w->live ? w->live->samples.items : NULL,
                                      .listed_count = w->live ? w->live->samples.count : 0};
    struct annotate_result result;
    struct out text;
    if (!out_init(&text, NULL, NULL))
        return err_memory(err, "annotate");
    bool ok = annotate_print(&in, &wish, &text, &result, err);
    if (ok && result.printed) {
        put_plain(&text, out);
        *line = result.hottest;
    } else if (ok && result.missed)
        *err = result.why;
    else if (ok)
        err_set(err, ERR_ABSENT, "", "no sample hit it by itself%s",
                w->live ? " since the last screen" : ": it is inlined, or only calls others");
    out_fini(&text);
    return ok && result.printed;
}
