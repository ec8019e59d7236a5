/* SPDX-License-Identifier: Apache-2.0 */
/* The text form of an event's attr, the same in `evlist -v`, the header's "# event" lines, record and the
 * dump. */
#ifndef SONDE_VIEW_LISTS_ATTR_TEXT_H
#define SONDE_VIEW_LISTS_ATTR_TEXT_H

#include "base/text/out.h"
#include "format/perfdata/events/event_name.h"

/* How fields are joined: in "type: 0, size: 136", `between` is ", " and `equals` is ": ". */
struct attr_text_style {
    const char *between, *equals;
};

/*
 * Writes type, size, config, then every field that is not 0, in perf's order ("type: 0 (PERF_TYPE_HARDWARE),
 * size: 136, config: 0x1 (PERF_COUNT_HW_INSTRUCTIONS), ..."). Bits without a name follow as one hexadecimal
 * number.
 */
void attr_text_write(const struct perfdata_namer *names, const struct perfdata_attr *attr,
                     const struct attr_text_style *style, struct out *o);

/* Writes the names of sample_type's bits, as attr_text_write does: "IP|TID|TIME". */
void attr_text_sample_type(uint64_t sample_type, struct out *o);

#endif
