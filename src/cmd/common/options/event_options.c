/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/event_options.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/out.h"
#include "cmd/common/command.h"

bool event_choices_set(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    event_choices *list = field;
    struct event_choice *s = negated ? NULL : vec_push(list);
    if (negated)
        return true;
    if (!s)
        return err_memory(e, "events");
    *s = (struct event_choice){row->letter == 'e'                              ? EVENT_CHOICE_EVENT
                               : row->letter == 'G'                            ? EVENT_CHOICE_CGROUPS
                               : strcmp(row->name, "pfm-events") == 0          ? EVENT_CHOICE_PFM
                               : strcmp(row->name, "filter") == 0              ? EVENT_CHOICE_FILTER
                               : strcmp(row->name, "switch-output-event") == 0 ? EVENT_CHOICE_SWITCH
                                                                               : EVENT_CHOICE_EXCLUDE_SELF,
                               value};
    return true;
}

bool event_choices_parse(const event_choices *choices, struct perf_event_sources *src,
                         struct perf_events *events, struct perf_events *triggers, struct err *err) {
    for (size_t i = 0; i < choices->count; i++) {
        const struct event_choice *s = &choices->items[i];
        size_t at = SIZE_MAX;
        if (s->what == EVENT_CHOICE_FILTER && !perf_events_filter(src, s->text, events, err))
            return false;
        if (s->what == EVENT_CHOICE_EXCLUDE_SELF && !perf_events_exclude_pid(events, (uint32_t)getpid(), err))
            return false;
        if (s->what == EVENT_CHOICE_CGROUPS && !perf_events_cgroups(events, s->text, err))
            return false;
        if ((s->what != EVENT_CHOICE_EVENT && s->what != EVENT_CHOICE_PFM &&
             s->what != EVENT_CHOICE_SWITCH) ||
            (s->what == EVENT_CHOICE_PFM ? perf_events_parse_pfm : perf_events_parse)(
                src, s->text, s->what == EVENT_CHOICE_SWITCH ? triggers : events, &at, err))
            continue;
        struct out o;
        if (at != SIZE_MAX && out_init(&o, NULL, NULL)) {
            perf_events_mark(s->text, at, err->message, &o);
            char room[COMMAND_WORDS_ROOM];
            fputs(command_words(out_text(&o), room, sizeof room), stderr);
            out_fini(&o);
            *err = ERR_INIT; /* said */
        }
        return false;
    }
    return true;
}

bool event_options_user(const char *user, char room[16], const char **number, struct err *err) {
    char *end;
    *number = NULL;
    if (!user)
        return true;
    unsigned long uid = strtoul(user, &end, 10);
    if (!*user || *end) {
        const struct passwd *p = getpwnam(user);
        if (!p)
            return err_set(err, ERR_USAGE, "-u", "there is no user %s", user);
        uid = p->pw_uid;
    }
    snprintf(room, 16, "%lu", uid);
    *number = room;
    return true;
}
