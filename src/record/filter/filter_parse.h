/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `record --filter` says of samples (perf-record(1), "bpf filters"), as data for
 * bpf/sample_filter.bpf.c:
 *
 *   <term> <operator> <value> (("," | "||") <term> <operator> <value>)*
 *
 * "||" joins terms to one condition, "," separates conditions, all of which must hold.
 */
#ifndef SONDE_RECORD_FILTER_PARSE_H
#define SONDE_RECORD_FILTER_PARSE_H

#include "base/err.h"
#include "bpf/sample_filter.h"
#include "format/perfdata/record.h"

/* False with *err (ERR_USAGE): what is wrong at which byte, or what of `attr` must be sampled for a term. */
bool record_filter_parse(const char *text, const struct perfdata_attr *attr, struct bpf_filter *out,
                         struct err *err);

#endif
