/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_progress.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Work shorter than this needs no line. */
#define PATIENCE_NS 500000000u

static volatile sig_atomic_t stop;

static void on_interrupt(int sig) {
    (void)sig;
    stop = 1;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void report_progress_start(struct report_progress *p, const char *path, bool quiet) {
    struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    const char *name = strrchr(path, '/');
    *p = (struct report_progress){
        .path = name ? name + 1 : path, .shows = !quiet && isatty(STDERR_FILENO), .start_ns = now_ns()};
    stop = 0;
    sigaction(SIGINT, &act, &p->before);
    if (p->before.sa_handler == SIG_IGN) /* in the background, as nohup and shells have it */
        sigaction(SIGINT, &p->before, NULL);
}

bool report_progress_tick(void *ctx, uint64_t done, uint64_t total) {
    struct report_progress *p = ctx;
    unsigned percent = !total || done >= total ? 100 : (unsigned)((double)done * 100 / (double)total);
    if (stop) {
        p->interrupted = true;
        p->percent = percent;
        return false;
    }
    if (p->shows && (!p->shown || percent != p->percent) && now_ns() - p->start_ns > PATIENCE_NS) {
        fprintf(stderr, "\rreading %s: %u %% (^C shows what there is) ", p->path, percent);
        p->shown = true;
    }
    p->percent = percent;
    return true;
}

void report_progress_end(struct report_progress *p) {
    sigaction(SIGINT, &p->before, NULL);
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}
