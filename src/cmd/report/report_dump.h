/* SPDX-License-Identifier: Apache-2.0 */
/* Every record of a recording, in hex and decoded (-D). */
#ifndef SONDE_CMD_REPORT_REPORT_DUMP_H
#define SONDE_CMD_REPORT_REPORT_DUMP_H

#include "recording/recording.h"

/* Does the first pass into a new model (model_free): all records but samples. `need`: MODEL_NEED_*. NULL:
 * *err says why. */
struct model *report_first_pass(struct recording *r, unsigned need, struct err *err);

/* Prints the records, by time unless `disable_order`. False and *err: not all could be read. */
bool report_dump_write(struct recording *r, bool disable_order, struct out *out, struct err *err);

#endif
