/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From listed samples to the profile that is shown, and from one live recording to the next.
 *
 *   t->live, t->session            what comes goes here
 *   t->held, if another epoch      what is shown while frozen: the session and the recording of the epoch in
 *   began since it was frozen      which it was made; nothing is added to them
 */
#include <stdlib.h>
#include <unistd.h>

#include "cmd/top/top_epoch.h"
#include "os/heap.h"
#include "os/poller.h"

enum {
    MORE_IMAGES = 4096, /* than twice as many as there were: another epoch begins */
    LASTING_BYTES = 4 << 20,
};
/* Who ended is still known that long: its samples fade meanwhile. */
static const uint64_t LINGER_NS = 60000000000;

/* ---- what comes ---- */

void top_epoch_source(struct top *t) {
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

/* ---- profiles ---- */

/* Counts the dumped stacks of the profile that was made since `begun`, and says how many to unwind next. */
static void set_pace(struct top *t, uint64_t begun_ns) {
    const struct resolve_unwind_tally *u = profile_unwound(report_session_parts(top_shown(t)).profile);
    uint64_t now = os_clock_ns();
    const struct top_pace made = {u->stacks, u->skipped, begun_ns - t->made_ns, now - begun_ns};
    t->growing.stacks += u->stacks;
    t->growing.stacks_cut += u->skipped;
    t->again.unwind_most = top_pace_next(t->again.unwind_most, &made);
    t->made_ns = now;
}

/* No longer frozen: what was shown is handed on to the epoch that goes on. */
static void take_over(struct top *t) {
    report_session_follow(t->session, t->held.session, t->held.images);
    report_session_free(t->held.session);
    recording_live_close(t->held.live);
    t->held.session = NULL;
    t->held.live = NULL;
}

bool top_epoch_refresh(struct top *t, unsigned eighths, struct err *err) {
    uint64_t begun = os_clock_ns();
    sift(t);
    if (t->held.session && !t->frozen)
        take_over(t);
    /* Numbers of threads change: nothing looks at the old profile's any more. */
    if (!recording_live_retire(t->live, LINGER_NS, err) ||
        !report_session_refresh(top_shown(t), eighths, &t->again, err))
        return false;
    if (!t->held.session) {
        free(t->held.images);
        t->held.images = NULL;
    }
    set_pace(t, begun);
    recording_live_forget(t->live);
    t->generation++;
    symbol_store_rest(report_session_parts(top_shown(t)).naming->store);
    os_heap_give_back();
    return true;
}

bool top_epoch_drop(struct top *t, struct err *err) {
    sift(t);
    report_session_outlive(t->session);
    if (!recording_live_retire(t->live, LINGER_NS, err))
        return false;
    recording_live_forget(t->live);
    return true;
}

struct report_session *top_shown(const struct top *t) {
    return t->held.session ? t->held.session : t->session;
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

static struct recording_live *unused_live(struct top *t) {
    struct recording_live *l = t->lives;
    while (l == t->live || l == t->held.live)
        l++;
    return l;
}

/* What is shown is the older epoch's, and stays. `images` as of recording_live_images, owned from now on. */
static void hold(struct top *t, struct recording_live *old, uint32_t *images) {
    if (!t->held.session) {
        t->held = (struct top_held){t->session, old, images, model_image_count(old->model)};
        return;
    }
    for (uint32_t i = 0; i < t->held.image_count; i++)
        if (t->held.images[i] != MODEL_NONE)
            t->held.images[i] = images[t->held.images[i]];
    free(images);
    report_session_free(t->session);
    recording_live_close(old);
}

/* Older samples stay; those in code that nobody has any more lose their names. */
static void follow(struct top *t, struct recording_live *old, struct report_session *next, uint32_t *images) {
    report_session_follow(next, t->session, images);
    report_session_free(t->session);
    recording_live_close(old);
}

static bool renew(struct top *t, struct err *err) {
    struct recording_live *old = t->live, *fresh = unused_live(t);
    struct report_session *session = NULL;
    uint32_t *images = NULL;
    if (!recording_live_settle(old, err) || !recording_live_take(old, err) ||
        !(t->frozen ? top_epoch_drop(t, err) : top_epoch_refresh(t, TOP_EIGHTHS, err)))
        return false;
    bool ok = recording_live_renew(old, fresh, err) &&
              (session = report_session_live(fresh, &t->o->view, t->env, err)) && /* it looks for jitdumps */
              recording_live_take(fresh, err) && recording_live_images(old, fresh, &images, err);
    if (!ok) {
        report_session_free(session);
        free(images);
        return false;
    }
    t->live = fresh;
    if (t->frozen)
        hold(t, old, images);
    else
        follow(t, old, session, images);
    t->session = session;
    top_epoch_source(t);
    note_beginning(t);
    t->epochs++;
    if (t->frozen)
        return true;
    ok = top_epoch_refresh(t, TOP_EIGHTHS, err);
    free(images);
    return ok;
}

bool top_epoch_check(struct top *t, struct err *err) {
    if (!t->first_images)
        note_beginning(t);
    return !is_worn(t) || renew(t, err);
}
