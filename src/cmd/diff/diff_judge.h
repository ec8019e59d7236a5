/* SPDX-License-Identifier: Apache-2.0 */
/* Rows judged (profile/compare/judge.h) for each event that all recordings have: what `diff --verdict`
 * prints, and `view` puts into the page. */
#ifndef SONDE_CMD_DIFF_DIFF_JUDGE_H
#define SONDE_CMD_DIFF_DIFF_JUDGE_H

#include "cmd/diff/diff_read.h"
#include "profile/compare/judge.h"

/* One event, while diff_judged_fn runs, which may take the comparison and the judgement over and leave zeroed
 * ones. */
struct diff_judged {
    const struct compare_side *sides; /* by file; all have an event */
    struct compare *compare;
    struct judgement *judgement;
    double level; /* of the intervals, so that those of all events hold together */
};
typedef bool diff_judged_fn(void *ctx, const struct diff_judged *one, struct err *err);

/* Calls `told` for each event that all of the recordings have samples of, the first `base_count` of which are
 * the base's; false of that ends it. False and *err: they could not be judged. */
bool diff_judge(const struct diff_files *f, uint32_t base_count, const struct diff_options *o,
                diff_judged_fn *told, void *ctx, struct err *err);

/* What costs are counted against. */
enum judge_by diff_judge_by(const struct diff_options *o);

#endif
