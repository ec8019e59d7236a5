/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as JSON, one object per line: `script --json`. The layout is
 * described in man/sonde-script.md and is stable: members may be added, not changed.
 */
#ifndef SONDE_VIEW_SCRIPT_SCRIPT_JSON_H
#define SONDE_VIEW_SCRIPT_SCRIPT_JSON_H

#include "base/text/json.h"
#include "format/perfdata/header/header.h"
#include "format/tracefs/tracing_data.h"
#include "view/script/script_print.h"

struct script_json;
/* Passes the fields of a tracepoint's raw data to script_json_field; the owner (cmd/) knows the formats. */
typedef void script_json_fields_fn(void *ctx, struct script_json *j, const struct perfdata_attr *attr,
                                   const struct perfdata_sample *s);

struct script_json {
    struct script_print *print;    /* borrowed: sink, events, names; its plans are not used */
    script_json_fields_fn *fields; /* NULL: no formats */
    void *fields_ctx;
    const struct tracing_data *tracing; /* for `scripting`; NULL without tracepoints */
    bool scripting;   /* adds what only scripts need: raw data, extents of symbols and mappings, build-ids */
    struct json json; /* of the line being written */
    size_t described_events; /* number of events whose line has been written */
};

/* Writes the first line. */
void script_json_header(struct script_json *j, const struct perfdata_header *h);

/* Writes a sample's line, after the lines of events not described yet. Leaves out what is not in x->s->have.
 */
void script_json_sample(struct script_json *j, const struct script_sample *x);

/* Writes the line, including the text, of a record that is no sample and of a type that script_record_print
 * knows. */
void script_json_record(struct script_json *j, const struct perfdata_record *rec, struct model_when when);

/* Writes one tracepoint field of the current sample. A script_json_fields_fn calls it for each field. */
void script_json_field(struct script_json *j, const char *name, const char *value, size_t len);

#endif
