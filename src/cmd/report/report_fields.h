/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of tracepoints as sort keys: their names and values. */
#ifndef SONDE_CMD_REPORT_REPORT_FIELDS_H
#define SONDE_CMD_REPORT_REPORT_FIELDS_H

#include "profile/profile.h"
#include "recording/recording.h"

/* A profile_field_fn; ctx: the struct recording. */
bool report_fields_of(void *ctx, const struct perfdata_attr *attr, size_t i, struct profile_field *out);

/* Appends the value of a column's field: from the text made with the event's print format, if that has it as
 * "name=value" and the column is not raw, else according to the field's type. */
void report_fields_print(struct tracefs_formats *formats, const struct perfdata_attr *attr,
                         const struct perfdata_sample *s, const struct profile_column *column,
                         struct out *out);

#endif
