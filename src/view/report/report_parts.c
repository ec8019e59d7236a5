/* SPDX-License-Identifier: Apache-2.0 */
#include "view/report/report_parts.h"

#include <inttypes.h>

void report_print_event(const struct report_text_options *o, const struct profile_event *e,
                        const uint32_t *members, size_t count, struct out *out) {
    const struct perfdata_event *events = &o->events->list.items[e->event];
    if (e->members < 2) { /* of a group's leader perf says this even with --no-group */
        out_printf(out, "of event%s '%s'",
                   events->group_members > 1 || (o->unmade_group && !e->event) ? "s" : "", e->name);
        return;
    }
    const char *name = events->group_name ? events->group_name : "anon group";
    if (o->made_group)
        out_str(out, "of events '");
    else
        out_printf(out, "of events '%s { ", name);
    for (size_t i = 0; i < count; i++)
        out_printf(out, "%s%s", i ? ", " : "", events[members[i]].name);
    out_str(out, o->made_group ? "'" : " }'");
}

bool report_is_latency(const struct profile_key *key) {
    return key->id == PROFILE_LATENCY || key->id == PROFILE_LATENCY_CHILDREN;
}

void report_print_number(const struct profile_event *e, const struct profile_entry *entry, uint32_t member,
                         const struct profile_column *c, unsigned width, bool color, struct out *out) {
    const struct profile_key *key = c->key;
    const struct profile_sums *s = &entry->self[member];
    if (key->layout & PROFILE_OF_CHILDREN && !entry->children) {
        out_right(out, "N/A", 3, width);
        return;
    }
    uint64_t number = profile_measure(s, entry->children ? &entry->children[member] : NULL,
                                      entry->latency ? &entry->latency[member] : NULL, c);
    if (key->layout & PROFILE_PERCENT) {
        uint64_t whole =
            report_is_latency(key) ? e->member_totals[member].latency : e->member_totals[member].period;
        report_print_percent(report_percent(number, whole), width, color, out);
    } else if (key->per && !s->own[c->per]) {
        out_right(out, "-", 1, width);
    } else if (key->per) {
        out_printf(out, "%*.1f%%", width ? (int)width - 1 : 0, (double)number * 100 / (double)s->own[c->per]);
    } else if (key->layout & PROFILE_MEAN) {
        out_printf(out, "%*.1f", (int)width, s->samples ? (double)number / (double)s->samples : 0.0);
    } else {
        out_dec(out, number, width);
    }
}

double report_entry_percent(const struct profile_event *e, const struct profile_entry *entry, bool children) {
    uint64_t period = entry->children && children ? entry->children->period : entry->self->period;
    return report_percent(period, e->member_totals[0].period);
}
