/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/measure.h"

#include <signal.h>

#include "os/files/files.h"
#include "os/poller.h"
#include "os/run/child.h"

struct waiting {
    struct os_child child;
    struct os_signals signals;
    int poller;
};

static bool wait_for_end(struct measure *m, struct waiting *w, struct err *err) {
    struct os_poll_event event;
    if ((w->poller = os_poller_open(err)) < 0 || !os_poller_add(w->poller, w->signals.fd, 0, err))
        return false;
    if (!m->attach(m->ctx, err) || (m->command && !os_child_go(&w->child, m->command[0], err)))
        return false;
    for (bool stop = false; !stop;) {
        os_poller_wait(w->poller, &event, 1, -1);
        for (int sig; (sig = os_signals_next(&w->signals, NULL)) != 0;)
            stop = sig != SIGCHLD || os_child_ended(&w->child, &m->status) || stop;
    }
    m->end(m->ctx);
    if (w->child.pid)
        m->status = os_child_stop(&w->child);
    return true;
}

bool measure_run(struct measure *m, struct err *err) {
    static const int SIGNALS[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, 0};
    struct waiting w = {.poller = -1, .signals = {.fd = -1}};
    bool ok = os_signals_open(&w.signals, SIGNALS, err) &&
              (!m->command || os_child_start(&w.child, m->command, &w.signals, OS_CHILD_OURS, err)) &&
              m->load(m->ctx, (uint64_t)w.child.pid, err) && wait_for_end(m, &w, err);
    if (w.child.pid)
        os_child_stop(&w.child);
    os_close(w.poller);
    os_signals_close(&w.signals);
    return ok;
}
