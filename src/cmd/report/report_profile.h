/* SPDX-License-Identifier: Apache-2.0 */
/* The report itself: reads an open recording into a model, symbols and a profile, and prints that. */
#ifndef SONDE_CMD_REPORT_REPORT_PROFILE_H
#define SONDE_CMD_REPORT_REPORT_PROFILE_H

#include "cmd/common/command.h"
#include "cmd/report/report_options.h"
#include "recording/live.h"
#include "recording/naming.h"
#include "recording/recording.h"
#include "view/report/report_text.h"

struct report_session;

/* Does everything up to the frozen profile; prints nothing. `r` and `o` are borrowed and must outlive it.
 * NULL: *err says why. */
struct report_session *report_session_new(struct recording *r, const struct report_options *o,
                                          const struct command_env *env, struct err *err);
void report_session_free(struct report_session *s); /* NULL is allowed */

/*
 * The same of a recording that goes on, whose head is there: nothing is read yet, there is no profile. It has
 * live->seen told of each record. `live` must outlive it.
 */
struct report_session *report_session_live(struct recording_live *live, const struct report_options *o,
                                           const struct command_env *env, struct err *err);

/* The parts of a session, for other views of it. */
struct report_session_parts {
    const struct profile *profile;
    const struct report_text_options *text; /* how report_session_print would print it */
    const struct model *model;
    const struct recording_names *naming;
    uint64_t lost;      /* lost samples, from LOST_SAMPLES records */
    uint64_t throttled; /* how often the kernel paused an event */
    uint64_t late;      /* records about tasks and maps that came after their round */
};
struct report_session_parts report_session_parts(const struct report_session *s);

/* What may be changed of a session that was read. */
struct report_again {
    bool ranged; /* of the samples that count only those of this range of time: */
    uint64_t from_ns, to_ns;
    bool verbose;
    int group_sort_index; /* -1: as the options say */
    uint64_t unwind_most; /* live: about so many stacks are unwound (profile_input); 0: all */
};
/* Reads the samples again into a new profile; the old one is gone in any case. False: there is none, and *err
 * says why: the session can only be freed. */
bool report_session_again(struct report_session *s, const struct report_again *a, struct err *err);

/* Whether a sample counts: by CPU, task, socket, time and so on; not by comm, object and symbol. */
bool report_session_keeps(const struct report_session *s, const struct perfdata_sample *x,
                          struct model_when when);

/* Hands the older session's profile on: the next one made counts its samples, too. images: by image of the
 * older session's model that of the newer one's; borrowed until then. The older one has no profile any more.
 */
void report_session_follow(struct report_session *s, struct report_session *older, const uint32_t *images);

/* Makes a new profile of a live session: of the samples that live->samples lists, and of `eighths` eighths of
 * those in the old one. False: there is none, as above. */
bool report_session_refresh(struct report_session *s, unsigned eighths, const struct report_again *a,
                            struct err *err);

/* The profile of a live session stays while its model forgets whoever ended (profile_outlive). */
void report_session_outlive(struct report_session *s);

/* Prints the profile as text or JSON. False: out of memory. */
bool report_session_print(struct report_session *s, bool color, struct out *out, struct err *err);

/* Whether the user ended reading early, which it reports through log_line. */
bool report_session_interrupted(const struct report_session *s);

/* Reports other facts through log_line, after everything is printed. */
void report_session_warn(const struct report_session *s);

#endif
