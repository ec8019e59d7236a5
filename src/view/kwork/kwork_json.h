/* SPDX-License-Identifier: Apache-2.0 */
/* What `kwork` shows, as JSON (docs/JSON.md). */
#ifndef SONDE_VIEW_KWORK_KWORK_JSON_H
#define SONDE_VIEW_KWORK_KWORK_JSON_H

#include "base/text/json.h"
#include "view/kwork/kwork_text.h"

/* Runs and delays of each work. */
void kwork_json_sums(const struct kwork_text *t, const struct kwork *k, const struct kwork_sums *s);

/* Writes each run: the beginning; the sink of kwork, whose ctx is a struct kwork_json; and the end. */
struct kwork_json {
    const struct kwork_text *text;
    struct json json; /* `out` is set */
};
void kwork_json_begin(struct kwork_json *j);
bool kwork_json_run(void *ctx, const struct kwork *k, const struct kwork_run *run);
void kwork_json_end(struct kwork_json *j, const struct kwork *k);

void kwork_json_top(const struct kwork_text *t, const struct kwork_top *top);

#endif
