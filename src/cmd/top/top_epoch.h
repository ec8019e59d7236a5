/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of a live recording, and the recordings that take over from one another: what top_run is made
 * of. */
#ifndef SONDE_CMD_TOP_TOP_EPOCH_H
#define SONDE_CMD_TOP_TOP_EPOCH_H

#include "cmd/top/top.h"
#include "record/session.h"

enum { TOP_EIGHTHS = 8 };

/* Makes the profile of what came; `eighths` of the last one's samples count on. False: *err. */
bool top_epoch_refresh(struct top *t, unsigned eighths, struct err *err);
/* Frozen: what came is counted and done with. False: out of memory. */
bool top_epoch_drop(struct top *t, struct err *err);
/* After a screen, frozen or not: begins another epoch if this one has grown much. False: *err. */
bool top_epoch_check(struct top *t, struct err *err);
/* Says what is sampled (t->source). */
void top_epoch_source(struct top *t);

/* The consumer's turn (record_consumer): ctx is the struct top. */
bool top_turn(void *ctx, const struct record_progress *now, struct record_turn *next, struct err *err);

#endif
