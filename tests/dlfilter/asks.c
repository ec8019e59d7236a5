/* SPDX-License-Identifier: Apache-2.0 */
/* A filter that prints what it is told of each sample: the tests read it, between script's own lines. */
#include <inttypes.h>
#include <perf/perf_dlfilter.h>
#include <stdio.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

int start(void **data, void *ctx);
int stop(void *data, void *ctx);
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);

int start(void **data, void *ctx) {
    (void)data, (void)ctx;
    puts("asks: start");
    return 0;
}

int stop(void *data, void *ctx) {
    (void)data, (void)ctx;
    puts("asks: stop");
    return 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx) {
    unsigned char code[4];
    __u32 size = 0, line = 0;
    const __u8 *insn = perf_dlfilter_fns.insn(ctx, &size);
    const char *file = perf_dlfilter_fns.srcline(ctx, &line);
    (void)data;
    printf("asks: insn");
    for (__u32 i = 0; insn && i < size; i++)
        printf(" %02x", insn[i]);
    printf(", line %s:%u, id %" PRId64 ", stream %" PRId64 ", vcpu %d, code %d\n", file ? file : "-", line,
           (int64_t)sample->id, (int64_t)sample->stream_id, sample->vcpu,
           perf_dlfilter_fns.object_code(ctx, sample->ip, code, sizeof code));
    return 0;
}
