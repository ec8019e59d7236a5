/* SPDX-License-Identifier: Apache-2.0 */
/* An expression of a metric, and a file of metrics. What parses has a value, or none, whatever its names are
 * worth. */
#include "fuzz.h"

#include "count/metric/expr.h"
#include "count/metric/table.h"

static bool look_up(void *ctx, const char *name, enum metric_ask ask, double *value) {
    (void)ctx, (void)ask;
    *value = (double)strlen(name) - 3;
    return *name != 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct metric_expr e;
    struct metric_table t;
    struct err err = ERR_INIT;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (metric_expr_parse(&e, text, &err)) {
        metric_expr_value(&e, look_up, NULL);
        for (size_t i = 0; i < e.names.count; i++)
            metric_expr_needs(&e, e.names.items[i], look_up, NULL);
        metric_expr_fini(&e);
    } else {
        FUZZ_CHECK(err.code != ERR_NONE);
    }
    if (metric_table_init(&t)) {
        metric_table_read(&t, (struct bytes){data, size}, "fuzz", NULL);
        for (size_t i = 0; i < t.items.count; i++)
            FUZZ_CHECK(t.items.items[i].name && t.items.items[i].expr && t.items.items[i].unit);
    }
    metric_table_fini(&t);
    free(text);
    return 0;
}
