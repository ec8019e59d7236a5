/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/report/report_switch.h"
#include "cmd/top/top.h"
#include "os/heap.h"
#include "os/mounts.h"
#include "os/poller.h"
#include "os/proc.h"
#include "record/session.h"
#include "record/synth/synth.h"

enum {
    FIRST_MS = 200,        /* from the first turn to the first screen: something is there by then */
    BUSY_MS = 200,         /* until the face is asked again */
    SETTLE_MS = 1,         /* until the turn that ends the round of what is shown */
    HELD_BYTES = 24 << 20, /* more is made a profile of before its time */
    MORE_IMAGES = 4096,    /* than twice as many as there were: another epoch begins */
    LASTING_BYTES = 4 << 20,
    EIGHTHS = 8,
    FADED_EIGHTHS = 7,
};
/* Who ended is still known that long: its samples fade meanwhile. */
static const uint64_t LINGER_NS = 60000000000;

/* ---- what comes ---- */

/* A record_consumer's output: pipe format into the feed. */
static int64_t take_bytes(void *ctx, uint64_t at, const struct bytes *spans, size_t count) {
    struct top *t = ctx;
    int64_t n = 0;
    (void)at;
    for (size_t i = 0; i < count; i++)
        n += (int64_t)spans[i].size;
    if (recording_live_put(t->live, spans, count, &t->failure))
        return n;
    t->failed = true;
    return -ENOMEM;
}

static int close_nothing(void *ctx) {
    (void)ctx;
    return 0;
}

static void name_source(struct top *t) {
    const struct perfdata_event *e = &t->live->recording.events->list.items[0];
    bool freq = e->attr.flags & PERFDATA_ATTR_FREQ;
    const struct record_options *o = &t->o->record;
    t->source = (struct top_source){.event = e->name,
                                    .freq_hz = freq ? e->attr.sample_period : 0,
                                    .period = freq ? 0 : e->attr.sample_period,
                                    .pids = o->target.pids,
                                    .tids = o->target.tids,
                                    .user = o->target.uid,
                                    .cpus = o->target.cpus,
                                    .cpu_count = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
}

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
    name_source(t);
    t->session = report_session_live(t->live, &t->o->view, t->env, err);
    t->next_ns = os_clock_ns() + FIRST_MS * 1000000;
    return t->session;
}

/* Whether a sample counts as far as --switch-on and --switch-off go; those two events do not. */
static bool is_switched_on(struct top *t, const struct stream_record *r) {
    if (t->on_event == PERFDATA_NO_EVENT && t->off_event == PERFDATA_NO_EVENT)
        return true;
    uint32_t event = perfdata_events_find(t->live->recording.events, r->raw.type, r->raw.body);
    if (event == PERFDATA_NO_EVENT || (event != t->on_event && event != t->off_event))
        return !t->switched_off;
    t->switched_off = event != t->on_event;
    return false;
}

/* Counts the samples that came, and leaves out those that are not to be seen. */
static void sift(struct top *t) {
    struct recording_live_sample *list = t->live->samples.items;
    size_t kept = 0;
    for (size_t i = 0; i < t->live->samples.count; i++) {
        struct stream_record r = stream_record_at(t->live->recording.stream, list[i].loc);
        if (!is_switched_on(t, &r))
            continue;
        unsigned mode = r.raw.misc & PERFDATA_MISC_CPUMODE_MASK;
        bool kernel = mode == PERFDATA_MISC_KERNEL, user = mode == PERFDATA_MISC_USER;
        t->growing.samples++;
        t->growing.kernel += kernel;
        t->growing.exact += (r.raw.misc & PERFDATA_MISC_EXACT_IP) != 0;
        if ((kernel && t->o->hide_kernel) || (user && t->o->hide_user) || t->frozen)
            continue;
        list[kept++] = list[i];
    }
    t->live->samples.count = kept;
}

/* ---- screens ---- */

static uint64_t own_ns(void) {
    uint64_t now = 0, unused;
    os_clock_read(CLOCK_PROCESS_CPUTIME_ID, &now, &unused);
    return now;
}

/* Counts the dumped stacks of the profile that was made since `begun`, and says how many to unwind next. */
static void set_pace(struct top *t, uint64_t begun_ns) {
    const struct resolve_unwind_tally *u = profile_unwound(report_session_parts(t->session).profile);
    uint64_t now = os_clock_ns();
    const struct top_pace made = {u->stacks, u->skipped, begun_ns - t->made_ns, now - begun_ns};
    t->growing.stacks += u->stacks;
    t->growing.stacks_cut += u->skipped;
    t->again.unwind_most = top_pace_next(t->again.unwind_most, &made);
    t->made_ns = now;
}

/* Makes the profile of what came; `eighths` of the last one's samples count on. */
static bool refresh(struct top *t, unsigned eighths, struct err *err) {
    uint64_t begun = os_clock_ns();
    sift(t);
    /* Numbers of threads change: nothing looks at the old profile's any more. */
    if (!recording_live_retire(t->live, LINGER_NS, err) ||
        !report_session_refresh(t->session, eighths, &t->again, err))
        return false;
    set_pace(t, begun);
    recording_live_forget(t->live);
    t->generation++;
    symbol_store_rest(report_session_parts(t->session).naming->store);
    os_heap_give_back();
    return true;
}

/* ---- epochs ---- */

/*
 * Images, their names and the files that these were read from stay as long as the epoch, whoever is gone. So
 * when there have been many more than there were in the beginning, another epoch begins, which knows only
 * what still is.
 */
static bool is_worn(const struct top *t) {
    return model_image_count(t->live->model) > 2 * t->first_images + MORE_IMAGES ||
           t->live->lasting.size > 2 * t->first_lasting + LASTING_BYTES;
}

static void note_beginning(struct top *t) {
    t->first_images = model_image_count(t->live->model);
    t->first_lasting = t->live->lasting.size;
}

/* Older samples stay; those in code that nobody has any more lose their names. */
static bool renew(struct top *t, struct err *err) {
    struct recording_live *old = t->live, *fresh = &t->lives[old == &t->lives[0]];
    struct report_session *session = NULL;
    uint32_t *images = NULL;
    if (!recording_live_settle(old, err) || !recording_live_take(old, err) || !refresh(t, EIGHTHS, err))
        return false;
    bool ok = recording_live_renew(old, fresh, err) &&
              (session = report_session_live(fresh, &t->o->view, t->env, err)) && /* it looks for jitdumps */
              recording_live_take(fresh, err) && recording_live_images(old, fresh, &images, err);
    if (ok) {
        report_session_follow(session, t->session, images);
        t->live = fresh;
        report_session_free(t->session);
        t->session = session;
        name_source(t);
        note_beginning(t);
        t->epochs++;
        recording_live_close(old);
        ok = refresh(t, EIGHTHS, err);
    } else {
        report_session_free(session);
    }
    free(images);
    return ok;
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
    if (t->frozen) {
        sift(t);
        report_session_outlive(t->session);
        if (!recording_live_retire(t->live, LINGER_NS, err))
            return false;
        recording_live_forget(t->live);
        settle_counts(t, now);
    } else {
        if (!refresh(t, t->o->zero ? 0 : FADED_EIGHTHS, err))
            return false;
        settle_counts(t, now);
    }
    t->due = false;
    if (!t->first_images)
        note_beginning(t);
    if (!t->frozen && is_worn(t) && !renew(t, err))
        return false;
    t->next_ns = t->last_ns + t->o->delay_ms * 1000000;
    return t->face->show(t->face_ctx, t, err);
}

bool top_again(struct top *t, const struct report_again *a, struct err *err) {
    uint64_t most = t->again.unwind_most;
    t->again = *a;
    t->again.unwind_most = most;
    return refresh(t, EIGHTHS, err);
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

static bool turn(void *ctx, const struct record_progress *now, struct record_turn *next, struct err *err) {
    struct top *t = ctx;
    uint64_t epochs = t->epochs;
    if (t->failed) {
        *err = t->failure;
        return false;
    }
    if (!begin(t, err) || !recording_live_take(t->live, err))
        return false;
    if (stream_feed_held(t->live->feed) > HELD_BYTES && t->live->samples.count && !t->frozen &&
        !refresh(t, EIGHTHS, err))
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
    return recording_live_init(t->live, MODEL_NEED_ALL, err);
}

void top_close(struct top *t) {
    report_session_free(t->session);
    for (size_t i = 0; i < sizeof t->lives / sizeof *t->lives; i++)
        recording_live_close(&t->lives[i]);
}

bool top_run(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
             char *const *argv, struct err *err) {
    struct record_result result = {0};
    struct os_mounts *mounts = os_mounts_new(); /* without one nothing is avoided */
    struct os_proc proc = os_proc_wary(mounts);
    const struct record_consumer consumer = {.ctx = t,
                                             .out = {.ctx = t, .write = take_bytes, .close = close_nothing},
                                             .fd = t->face->fd,
                                             .turn = turn};
    struct perf_events chosen = *events;
    const struct record_job job = {.options = &t->o->record,
                                   .sources = src,
                                   .events = chosen.items.count ? &chosen : NULL,
                                   .sys = &sysfs_system,
                                   .perf = &os_perf_system,
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
