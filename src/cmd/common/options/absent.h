/* SPDX-License-Identifier: Apache-2.0 */
/* Options of perf's `report` and `script` that sonde does not have yet: why not, and what to do instead. */
#ifndef SONDE_CMD_COMMON_ABSENT_H
#define SONDE_CMD_COMMON_ABSENT_H

#include "base/err.h"

/* Sets the error (ERR_UNSUPPORTED) for a long option, named without dashes. Returns false. */
bool absent_err(struct err *err, const char *command, const char *option);

#endif
