/* SPDX-License-Identifier: Apache-2.0 */
#include "view/export/export.h"

#include <string.h>

const struct export_format export_formats[] = {
    {"flamegraph", "an SVG picture that can be searched and zoomed", EXPORT_FUNCTIONS,
     .write = export_flamegraph},
    {"folded", "one line a stack, as stackcollapse-perf.pl writes", EXPORT_FUNCTIONS, .write = export_folded},
    {0},
};

const struct export_format *export_format_find(const char *name) {
    for (const struct export_format *f = export_formats; f->name; f++)
        if (!strcmp(f->name, name))
            return f;
    return NULL;
}
