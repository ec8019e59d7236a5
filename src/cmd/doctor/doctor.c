/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/doctor/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/command.h"

const char *doctor_severity_name(enum doctor_severity s) {
    static const char *const names[] = {"ok", "note", "warning", "problem"};
    return names[s];
}

void doctor_fini(struct doctor *d) {
    vec_fini(&d->list);
    arena_fini(&d->texts);
}

static const char *keep(struct doctor *d, const char *fmt, va_list args) {
    char text[2048], room[COMMAND_WORDS_ROOM];
    int n = vsnprintf(text, sizeof text, fmt, args);
    const char *words = command_words(n < 0 ? "" : text, room, sizeof room);
    const char *copy = arena_strndup(&d->texts, words, strlen(words));
    d->failed |= !copy;
    return copy ? copy : "";
}

const char *doctor_text(struct doctor *d, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const char *text = keep(d, fmt, args);
    va_end(args);
    return text;
}

void doctor_say(struct doctor *d, enum doctor_severity severity, const char *id, const char *advice,
                const char *fmt, ...) {
    struct doctor_finding *f = vec_push(&d->list);
    va_list args;
    if (!f) {
        d->failed = true;
        return;
    }
    va_start(args, fmt);
    *f = (struct doctor_finding){severity, id, keep(d, fmt, args), NULL};
    va_end(args);
    if (advice)
        f->advice = doctor_text(d, "%s", advice);
}

const char *doctor_percent(struct doctor *d, double percent) {
    return percent > 0 && percent < 0.1 ? "<0.1 %" : doctor_text(d, "%.1f %%", percent);
}
