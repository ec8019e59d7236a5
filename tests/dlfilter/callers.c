/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An example of a filter: keeps samples of the functions named with --dlarg, and counts on standard error
 * what it kept and dropped. Build it with: cc -shared -fPIC -I include -o callers.so callers.c
 */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

int start(void **data, void *ctx);
int stop(void *data, void *ctx);
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
const char *filter_description(const char **long_description);

struct counts {
    unsigned long kept, dropped;
};

int start(void **data, void *ctx) {
    int count;
    (void)perf_dlfilter_fns.args(ctx, &count);
    *data = count ? calloc(1, sizeof(struct counts)) : NULL;
    return *data ? 0 : -1;
}

int stop(void *data, void *ctx) {
    (void)ctx;
    struct counts *c = data;
    fprintf(stderr, "kept %lu, dropped %lu\n", c->kept, c->dropped);
    free(c);
    return 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx) {
    struct counts *c = data;
    const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);
    int count;
    char **names = perf_dlfilter_fns.args(ctx, &count);
    (void)sample;
    for (int i = 0; al && al->sym && i < count; i++) {
        if (!strcmp(al->sym, names[i])) {
            c->kept++;
            return 0;
        }
    }
    c->dropped++;
    return 1;
}

const char *filter_description(const char **long_description) {
    *long_description = "Each --dlarg names a function; samples of others are dropped.";
    return "Keep samples of certain functions";
}
