/* SPDX-License-Identifier: Apache-2.0 */
/* While a long recording is profiled: how far it is, and ^C, which ends the reading but keeps what was read.
 */
#ifndef SONDE_CMD_REPORT_REPORT_PROGRESS_H
#define SONDE_CMD_REPORT_REPORT_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct report_progress {
    bool interrupted; /* reading was ended by ^C... */
    unsigned percent; /* ... here */
    struct sigaction before;
};

/* From here to report_progress_end a first ^C only ends the reading; a second one ends the program. */
void report_progress_start(struct report_progress *p, const char *path, bool quiet);
/* A profile_progress_fn. */
bool report_progress_tick(void *ctx, uint64_t done, uint64_t total);
void report_progress_end(struct report_progress *p);

#endif
