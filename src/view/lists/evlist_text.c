/* SPDX-License-Identifier: Apache-2.0 */
#include "view/lists/evlist_text.h"

#include "view/lists/attr_text.h"

struct list {
    const struct perfdata_namer *names;
    const struct evlist_text_options *opts;
    struct out *o;
};

static void write_name(const struct list *l, const struct perfdata_event *e) {
    if (e->name && !l->opts->attr_names)
        out_str(l->o, e->name);
    else
        perfdata_event_name_write(l->names, &e->attr, l->o);
}

static void write_trace_fields(const struct list *l, const struct perfdata_event *e) {
    if (e->attr.type != PERFDATA_TYPE_TRACEPOINT) {
        out_str(l->o, "(not a tracepoint)");
        return;
    }
    const struct tracing_event *event = perfdata_namer_tracepoint(l->names, e->attr.config);
    struct bytes rest = event ? event->format : (struct bytes){NULL, 0};
    struct tracing_field field;
    const char *between = "trace_fields: ";
    while (tracing_field_next(&rest, &field)) {
        if (field.common)
            continue;
        out_str(l->o, between);
        out_mem(l->o, (const char *)field.name.data, field.name.size);
        between = ",";
    }
    if (*between == 't')
        out_str(l->o, "(no trace field)");
}

static void write_event(const struct list *l, const struct perfdata_event *e) {
    static const struct attr_text_style STYLE = {", ", ": "};
    const char *between = ": ";
    write_name(l, e);
    if (l->opts->verbose) {
        out_str(l->o, between);
        attr_text_write(l->names, &e->attr, &STYLE, l->o);
        between = ", ";
    } else if (l->opts->freq) {
        out_str(l->o, between);
        out_str(l->o, e->attr.flags & PERFDATA_ATTR_FREQ ? "sample_freq=" : "sample_period=");
        out_dec(l->o, e->attr.sample_period, 0);
        between = ", ";
    }
    if (l->opts->trace_fields) {
        out_str(l->o, between);
        write_trace_fields(l, e);
    }
    out_char(l->o, '\n');
}

/* Writes the group that begins at `first`; returns the event after it. */
static size_t write_group(const struct list *l, const struct perfdata_events *events, size_t first) {
    const struct perfdata_event *leader = &events->list.items[first];
    size_t end = first + leader->group_members;
    if (end > events->list.count)
        end = events->list.count;
    if (leader->group_name)
        out_str(l->o, leader->group_name);
    for (size_t i = first; i < end; i++) {
        out_char(l->o, i == first ? '{' : ',');
        write_name(l, &events->list.items[i]);
    }
    out_str(l->o, "}\n");
    return end;
}

void evlist_text_write(const struct perfdata_events *events, const struct perfdata_namer *names,
                       const struct evlist_text_options *opts, struct out *o) {
    const struct list l = {names, opts, o};
    bool tracepoints = false, groups = false;
    for (size_t i = 0; i < events->list.count; i++) {
        tracepoints |= events->list.items[i].attr.type == PERFDATA_TYPE_TRACEPOINT;
        groups |= events->list.items[i].group_members > 1;
    }
    for (size_t i = 0; i < events->list.count;) {
        if (opts->group && events->list.items[i].group_members > 1)
            i = write_group(&l, events, i);
        else
            write_event(&l, &events->list.items[i++]);
    }
    if (tracepoints && !opts->trace_fields)
        out_printf(o, "# Tip: use '%s evlist --trace-fields' to show fields for tracepoint events\n",
                   opts->program);
    if (groups && !opts->group)
        out_printf(o, "# Tip: use '%s evlist -g' to show group information\n", opts->program);
}
