/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report/report_progress.h"

#include <stdio.h>
#include <string.h>

#include "cmd/common/terminal/progress.h"

static volatile sig_atomic_t stop;

static void on_interrupt(int sig) {
    (void)sig;
    stop = 1;
}

void report_progress_start(struct report_progress *p, const char *path, bool quiet) {
    struct sigaction act = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    const char *name = strrchr(path, '/');
    char what[128];
    *p = (struct report_progress){0};
    snprintf(what, sizeof what, "reading %s", name ? name + 1 : path);
    progress_end();
    if (!quiet)
        progress_start(what, " (^C shows what there is)");
    stop = 0;
    sigaction(SIGINT, &act, &p->before);
    if (p->before.sa_handler == SIG_IGN) /* in the background, as nohup and shells have it */
        sigaction(SIGINT, &p->before, NULL);
}

bool report_progress_tick(void *ctx, uint64_t done, uint64_t total) {
    struct report_progress *p = ctx;
    p->percent = !total || done >= total ? 100 : (unsigned)((double)done * 100 / (double)total);
    p->interrupted = stop;
    if (!stop)
        progress_tick(NULL, done, total);
    return !stop;
}

void report_progress_end(struct report_progress *p) {
    sigaction(SIGINT, &p->before, NULL);
    progress_end();
}
