/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a recording's clock stands to CLOCK_MONOTONIC, which is the one of jitdumps: perf's own clock is none
 * that a program can read. So our own thread is renamed to what it is called already, of which the kernel
 * makes a COMM record with perf's time; CLOCK_MONOTONIC is read before and after.
 */
#ifndef SONDE_RECORD_RINGS_CLOCK_H
#define SONDE_RECORD_RINGS_CLOCK_H

#include "format/perfdata/added/clock_pair.h"
#include "os/perf/perf_event.h"
#include "record/options.h"

/* An instant on both clocks; the tightest of a few tries. False where the kernel gives no such record. */
bool record_clock_pair(const struct os_perf *perf, const struct record_options *o,
                       struct perfdata_clock_pair *out);

#endif
