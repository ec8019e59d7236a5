/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/workload.h"

struct datasym_buf {
    char data1;
    char reserved[55];
    char data2;
};

/* 64-aligned and with a symbol: data addresses are to be resolved to buf1+0 and buf1+56. */
extern struct datasym_buf buf1;
struct datasym_buf buf1 __attribute__((aligned(64))) = {.data1 = 1, .reserved = {2}, .data2 = 3};

void datasym(volatile struct datasym_buf *b);

WORKLOAD_FUNCTION void datasym(volatile struct datasym_buf *b) {
    WORKLOAD_FRAME();
    while (!workload_done) {
        b->data1++;
        b->data2 += b->data1;
    }
}

static int run(int argc, char **argv) {
    if (!workload_timer(argc, argv))
        return 1;
    datasym(&buf1);
    return 0;
}

const struct workload workload_datasym = {"datasym", "[seconds=1]", "loads and stores of the variable buf1",
                                          run};
