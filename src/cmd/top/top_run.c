/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/report/report_switch.h"
#include "cmd/top/top_epoch.h"
#include "os/poller.h"
#include "os/proc/mounts.h"
#include "os/proc/proc.h"
#include "record/synth/synth.h"

enum {
    FIRST_MS = 200,        /* from the first turn to the first screen: something is there by then */
    BUSY_MS = 200,         /* until the face is asked again */
    SETTLE_MS = 1,         /* until the turn that ends the round of what is shown */
    HELD_BYTES = 24 << 20, /* more is made a profile of before its time */
    FADED_EIGHTHS = 7,
};

/* The head was written before the first turn. */
static bool begin(struct top *t, struct err *err) {
    if (t->session)
        return true;
    if (!recording_live_open(t->live, NULL, err))
        return false;
    const struct recording *r = &t->live->recording;
    if (!report_switch_event(r, "--switch-on", t->o->switch_on, &t->on_event, err) ||
        !report_switch_event(r, "--switch-off", t->o->switch_off, &t->off_event, err))
        return false;
    t->switched_off = t->o->switch_on != NULL;
    top_epoch_source(t);
    t->session = report_session_live(t->live, &t->o->view, t->env, err);
    t->next_ns = os_clock_ns() + FIRST_MS * 1000000;
    return t->session;
}

/* ---- screens ---- */

static uint64_t own_ns(void) {
    uint64_t now = 0, unused;
    os_clock_read(CLOCK_PROCESS_CPUTIME_ID, &now, &unused);
    return now;
}

/* Ends the time that a screen is about. */
static void settle_counts(struct top *t, const struct record_progress *now) {
    uint64_t now_ns = os_clock_ns(), own = own_ns();
    t->growing.seconds = (double)(now_ns - t->last_ns) / 1e9;
    t->growing.lost = now->lost - t->counts.lost_ever;
    t->growing.lost_ever = now->lost;
    t->growing.own = t->growing.seconds > 0 ? (double)(own - t->own_ns) / 1e9 / t->growing.seconds : 0;
    t->counts = t->growing;
    t->growing = (struct top_counts){0};
    t->last_ns = now_ns;
    t->own_ns = own;
}

static bool show(struct top *t, const struct record_progress *now, struct err *err) {
    if (t->face->listed && !t->frozen && !t->face->listed(t->face_ctx, t, err))
        return false;
    if (t->frozen ? !top_epoch_drop(t, err) : !top_epoch_refresh(t, t->o->zero ? 0 : FADED_EIGHTHS, err))
        return false;
    settle_counts(t, now);
    t->due = false;
    if (!top_epoch_check(t, err))
        return false;
    t->next_ns = t->last_ns + t->o->delay_ms * 1000000;
    return t->face->show(t->face_ctx, t, err);
}

bool top_again(struct top *t, const struct report_again *a, struct err *err) {
    uint64_t most = t->again.unwind_most;
    t->again = *a;
    t->again.unwind_most = most;
    return top_epoch_refresh(t, TOP_EIGHTHS, err);
}

void top_show_soon(struct top *t) {
    t->next_ns = 0;
}

/*
 * A screen is of all that came before it is due, so it is made after the next turn: what came up to then is
 * followed by the end of a round. When nothing came there is no such end, and nothing to wait for.
 */
static bool show_if_due(struct top *t, const struct record_progress *now, int *wait_ms, struct err *err) {
    uint64_t now_ns = os_clock_ns();
    if (!t->due && now_ns >= t->next_ns && t->face->busy && t->face->busy(t->face_ctx))
        t->next_ns = now_ns + BUSY_MS * 1000000ull;
    if (!t->due && now_ns >= t->next_ns) {
        t->due = true;
        t->rounds = t->live->rounds;
        *wait_ms = SETTLE_MS;
        return true;
    }
    if (t->due) {
        if (t->live->rounds == t->rounds &&
            (!recording_live_settle(t->live, err) || !recording_live_take(t->live, err)))
            return false;
        if (!show(t, now, err))
            return false;
        now_ns = os_clock_ns();
    }
    uint64_t left = t->next_ns > now_ns ? (t->next_ns - now_ns) / 1000000 + 1 : 1;
    *wait_ms = left < (uint64_t)*wait_ms ? (int)left : *wait_ms;
    return true;
}

bool top_turn(void *ctx, const struct record_progress *now, struct record_turn *next, struct err *err) {
    struct top *t = ctx;
    uint64_t epochs = t->epochs;
    if (t->records.failed) {
        *err = t->records.failure;
        return false;
    }
    if (!begin(t, err) || !recording_live_take(t->live, err))
        return false;
    if (stream_feed_held(t->live->feed) > HELD_BYTES && t->live->samples.count &&
        !(t->frozen ? top_epoch_drop(t, err) : top_epoch_refresh(t, TOP_EIGHTHS, err)))
        return false;
    if (t->face->keys && !t->face->keys(t->face_ctx, t, err))
        return false;
    if (!t->stop && !show_if_due(t, now, &next->wait_ms, err))
        return false;
    next->stop = t->stop;
    next->forget = t->epochs != epochs;
    return true;
}

/* ---- all ---- */

bool top_open(struct top *t, struct err *err) {
    t->again = (struct report_again){.group_sort_index = -1, .unwind_most = TOP_PACE_FIRST};
    t->made_ns = os_clock_ns();
    t->live = &t->lives[0];
    t->records.live = &t->live;
    return recording_live_init(t->live, MODEL_NEED_ALL, err);
}

void top_close(struct top *t) {
    report_session_free(t->session);
    report_session_free(t->held.session);
    free(t->held.images);
    for (size_t i = 0; i < sizeof t->lives / sizeof *t->lives; i++)
        recording_live_close(&t->lives[i]);
}

bool top_run(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
             char *const *argv, struct err *err) {
    struct record_result result = {0};
    struct os_mounts *mounts = os_mounts_new(); /* without one nothing is avoided */
    struct os_proc proc = os_proc_wary(mounts);
    const struct record_consumer consumer = {
        .ctx = t, .out = recording_live_output(&t->records), .fd = t->face->fd, .turn = top_turn};
    struct perf_events chosen = *events;
    const struct record_job job = {.options = &t->o->record,
                                   .sources = src,
                                   .events = chosen.items.count ? &chosen : NULL,
                                   .sys = &sysfs_system,
                                   .perf = &os_perf_system,
                                   .bpf = &os_bpf_system,
                                   .proc = &proc,
                                   .argv = argv,
                                   .output = "-",
                                   .consumer = &consumer,
                                   .synth = record_synth,
                                   .synth_ctx = &proc};
    t->last_ns = os_clock_ns();
    t->own_ns = own_ns();
    bool ok = record_run(&job, &result, err);
    t->signalled = result.signal;
    os_mounts_free(mounts);
    return ok;
}
