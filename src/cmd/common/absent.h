/* SPDX-License-Identifier: Apache-2.0 */
/* Options of perf's `report` and `script` that are not there yet: why not, and what to do instead. */
#ifndef SONDE_CMD_COMMON_ABSENT_H
#define SONDE_CMD_COMMON_ABSENT_H

#include "base/err.h"

/* Fills in the error (ERR_UNSUPPORTED) for a long option's name, without dashes. Returns false. */
bool absent_err(struct err *err, const char *command, const char *option);

#endif
