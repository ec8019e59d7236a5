/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export.h"

#include <stdio.h>
#include <string.h>

const struct export_format export_formats[] = {
    {"callgrind", "costs by line, as callgrind_annotate and KCachegrind read", EXPORT_LINES,
     .write = export_callgrind},
    {"firefox", "JSON for profiler.firefox.com, with the time axis", EXPORT_LINES, .moments = true,
     .one_event = true, .write = export_firefox},
    {"flamegraph", "an SVG picture that can be searched and zoomed", EXPORT_FUNCTIONS, .one_event = true,
     .compares = true, .write = export_flamegraph},
    {"folded", "one line a stack, as stackcollapse-perf.pl writes", EXPORT_FUNCTIONS, .one_event = true,
     .compares = true, .write = export_folded},
    {"json", "everything, as docs/STACKS_JSON.md describes", EXPORT_ADDRESSES, .moments = true,
     .write = export_json},
    {"perfetto", "a trace for ui.perfetto.dev, with the time axis", EXPORT_ADDRESSES, .moments = true,
     .binary = true, .write = export_perfetto},
    {"pprof", "compressed profile.proto, as `go tool pprof` reads", EXPORT_ADDRESSES, .binary = true,
     .write = export_pprof},
    {"speedscope", "JSON for www.speedscope.app", EXPORT_FUNCTIONS, .write = export_speedscope},
    {"sqlite", "a database with a view of flat totals", EXPORT_LINES, .moments = true, .binary = true,
     .write = export_sqlite},
    {0},
};

const struct export_format *export_format_find(const char *name) {
    for (const struct export_format *f = export_formats; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}

bool export_grades_text(const struct stacks *s, const struct export_options *o, char *line, size_t size) {
    static const char *const words[] = {"exact", "inferred", "stale", "unknown"};
    uint64_t sums[4] = {0}, all = 0;
    for (size_t i = 0; i < s->rows.count; i++) {
        const struct stacks_row *row = &s->rows.items[i];
        if (!export_wants(o, row->event))
            continue;
        sums[s->frames.items[s->nodes.items[row->node].frame].grade & 3] += row->samples;
        all += row->samples;
    }
    size_t at = 0;
    for (unsigned i = STACKS_INFERRED; i <= STACKS_UNKNOWN && at < size; i++)
        if (sums[i])
            at += (size_t)snprintf(line + at, size - at, "%s%.3g %% %s",
                                   at ? ", " : "names of what ran: ", 100.0 * (double)sums[i] / (double)all,
                                   words[i]);
    return at > 0;
}
