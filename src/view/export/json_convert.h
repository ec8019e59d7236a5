/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as JSON, in the layout of perf's `data convert --to-json` (perf-data(1)): one object with the
 * header and all samples. A frame has a "symbol" where the function has a name that nothing contradicts, and
 * a "dso" wherever a mapping is known.
 */
#ifndef SONDE_VIEW_EXPORT_JSON_CONVERT_H
#define SONDE_VIEW_EXPORT_JSON_CONVERT_H

#include "base/text/json.h"
#include "format/perfdata/header/header.h"
#include "model/model.h"
#include "resolve/sample.h"

/* Prints the members of a tracepoint's raw data through json_convert_member; the owner (cmd/) knows the
 * formats. */
struct json_convert;
typedef void json_trace_fn(void *ctx, struct json_convert *j, const struct perfdata_attr *attr,
                           const struct perfdata_sample *s);

struct json_convert {
    struct out *out;                /* borrowed, as all here */
    const struct model *model;      /* answers for comms */
    struct resolve_samples *frames; /* answers for frames */
    json_trace_fn *trace;           /* NULL: no formats */
    void *trace_ctx;
    uint64_t samples; /* written so far */
    struct json json; /* set by json_convert_begin */
};

/* From the first brace to the bracket that opens "samples". captured_s: seconds since 1970. */
void json_convert_begin(struct json_convert *j, const struct perfdata_header *h, int64_t captured_s);

/* One sample; what is not in at->s->have is left out. */
void json_convert_sample(struct json_convert *j, const struct resolve_sample_at *at);

/* A further member of the sample being written: for json_trace_fn. A name that a sample has already gets
 * "trace." before it. */
void json_convert_member(struct json_convert *j, const char *name, const char *value, size_t len);

/* The closing brackets. */
void json_convert_end(struct json_convert *j);

#endif
