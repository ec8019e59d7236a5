/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a report that text and the terminal browser print alike. */
#ifndef SONDE_VIEW_REPORT_REPORT_PARTS_H
#define SONDE_VIEW_REPORT_REPORT_PARTS_H

#include "view/report/report_cell.h"
#include "view/report/report_text.h"

/* Prints "of event 'cycles'" or "of events 'anon group { cycles, instructions }'", with the `count` members
 * that are shown. */
void report_print_event(const struct report_text_options *o, const struct profile_event *e,
                        const uint32_t *members, size_t count, struct out *out);

/* Prints the number of one member in a measure's column, in `width` columns (0: without padding). */
void report_print_number(const struct profile_event *e, const struct profile_entry *entry, uint32_t member,
                         const struct profile_column *c, unsigned width, bool color, struct out *out);

bool report_is_latency(const struct profile_key *key);

/* Returns the percentage by which rows are left out: with `children` that of all that passed through. */
double report_entry_percent(const struct profile_event *e, const struct profile_entry *entry, bool children);

#endif
