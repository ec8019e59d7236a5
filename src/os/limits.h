/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of this process and sizes of this machine. */
#ifndef SONDE_OS_LIMITS_H
#define SONDE_OS_LIMITS_H

#include "base/err.h"

#include <stdint.h>

/* Raises the number of files that may be open: to the hard limit, and beyond where that is allowed. False
 * when it was there already. */
bool os_limits_raise_files(void);

/* Runs this process at the given SCHED_FIFO priority (sched(7)). */
bool os_limits_realtime(int priority, struct err *err);

/* Lets all others of usual priority go before the calling thread, but not starve it. */
void os_limits_be_patient(void);

uint64_t os_limits_page_bytes(void);

/* How long the clock ticks are that /proc counts CPU time in. */
double os_limits_tick_ns(void);

#endif
