/* SPDX-License-Identifier: Apache-2.0 */
/* What `sched latency` and `sched timehist` show, as JSON (docs/JSON.md). */
#ifndef SONDE_VIEW_SCHED_SCHED_JSON_H
#define SONDE_VIEW_SCHED_SCHED_JSON_H

#include "base/text/json.h"
#include "states/sched/latency.h"
#include "states/sched/timehist.h"
#include "view/sched/stack_text.h"

void latency_json_write(const struct latency *l, const struct states *s, struct out *o);

struct timehist_json {
    struct json json;          /* `out` is set */
    bool wakes, migrations;    /* their events are written */
    struct stack_text *stacks; /* NULL: none are written */
};

/* Write the beginning, up to the events; an event, as the line function of struct timehist; and the end, with
 * the sums. */
void timehist_json_begin(struct timehist_json *t);
bool timehist_json_line(void *ctx, const struct states *s, const struct timehist_line *line);
void timehist_json_end(struct timehist_json *t, const struct timehist *h, const struct states *s);

#endif
