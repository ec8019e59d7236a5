/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A live profile: record's session has what it records taken in after each of its turns (record_consumer);
 * every so often a profile is made of what came, and shown.
 *
 *   record_run -> turn -> recording_live_take -> (every -d seconds) report_session_refresh -> face->show
 *
 * The samples of earlier screens count on, faded: of eight seven stay at each new screen
 * (profile/collect/carry.c).
 */
#ifndef SONDE_CMD_TOP_TOP_H
#define SONDE_CMD_TOP_TOP_H

#include "cmd/common/command.h"
#include "cmd/report/report_profile.h"
#include "cmd/top/top_options.h"
#include "cmd/top/top_pace.h"
#include "recording/live.h"
#include "view/top/top_text.h"

struct top;

/* How it is shown: as text, or in the terminal browser. */
struct top_face {
    int fd; /* where keys come from; -1: there are none */
    /* Samples are listed, and a profile will be made of them. NULL: nothing is to be done. */
    bool (*listed)(void *ctx, struct top *t, struct err *err);
    /* There is a new profile. False: *err says why nothing can be shown any more. */
    bool (*show)(void *ctx, struct top *t, struct err *err);
    /* Takes the keys that were pressed. */
    bool (*keys)(void *ctx, struct top *t, struct err *err);
    /* Whether the next screen has to wait. NULL: never. */
    bool (*busy)(void *ctx);
};

/* What is shown while frozen, if another epoch began since. */
struct top_held {
    struct report_session *session; /* NULL: t->session is shown */
    struct recording_live *live;
    uint32_t *images; /* [image_count], by image of held.live's model: those of t->live's; or MODEL_NONE */
    uint32_t image_count;
};

struct top {
    struct command_env *env;
    struct top_options *o;
    const struct top_face *face;
    void *face_ctx;
    struct recording_live lives[3]; /* of this epoch, while one begins of the last, and the held one */
    struct recording_live *live;
    struct report_session *session; /* NULL until the head came */
    struct top_held held;
    struct recording_live_sink records;

    struct top_source source;
    struct top_counts counts;     /* of the last screen */
    struct top_counts growing;    /* of the next one, so far */
    uint64_t generation;          /* of the profile */
    struct report_again again;    /* how it is made */
    uint64_t made_ns;             /* os_clock_ns() when it was */
    uint32_t on_event, off_event; /* of --switch-on and --switch-off; PERFDATA_NO_EVENT: none */
    bool switched_off;            /* samples are left out until the next --switch-on */
    bool frozen;                  /* what is shown stays; samples are left out meanwhile */
    bool stop;                    /* the user has seen enough */
    bool signalled;               /* a signal ended it */
    bool due;                     /* a screen is, after another turn over the rings */
    uint64_t rounds;              /* of the recording when it became due */
    uint64_t next_ns, last_ns;    /* os_clock_ns(): of the next screen, of the last one */
    uint64_t own_ns;              /* our CPU time at the last one */
    uint32_t first_images;        /* of the model when the epoch began */
    size_t first_lasting;         /* bytes of live->lasting, likewise */
    uint64_t epochs;              /* that began, after the first one */
};

/* Zeroed before. False: *err says why; top_close is allowed. */
bool top_open(struct top *t, struct err *err);
void top_close(struct top *t);

/* Records and shows until the user has seen enough, all threads of -p or -t ended, or a signal comes. False:
 * *err says why. */
bool top_run(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
             char *const *argv, struct err *err);

/* The session whose profile is shown. */
struct report_session *top_shown(const struct top *t);

/* Has a screen shown at once, of what came so far. */
void top_show_soon(struct top *t);

/* Leaves the sum of older samples as it is and adds what came, with another choice of what is shown. False:
 * *err. */
bool top_again(struct top *t, const struct report_again *a, struct err *err);

/* The faces. False: *err says why. */
bool top_stdio(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
               char *const *argv, struct err *err);
bool top_tui(struct top *t, struct perf_event_sources *src, const struct perf_events *events,
             char *const *argv, struct err *err);
/* Whether the browser is wanted, and possible. */
bool top_tui_wanted(const struct top *t);

#endif
