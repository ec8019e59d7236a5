/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the event parser share: event_parse.c reads the text, event_resolve.c turns names into
 * attrs, event_term.c what stands between slashes, event_modifier.c the letters after a colon. */
#ifndef SONDE_EVENTS_EVENT_INTERNAL_H
#define SONDE_EVENTS_EVENT_INTERNAL_H

#include "events/event_parse.h"
#include "events/pmu.h"
#include "events/tracepoint.h"

struct perf_event_sources {
    const struct sysfs *sys;
    struct pmu_set pmus;
    struct tracepoint_set tracepoints;
    bool filters_samples;         /* --filter may be of samples */
    const char *only;             /* PMUs of that name or glob; NULL: all */
    const struct pmu *only_cores; /* of cores, this one; NULL: all */
};

/* Every letter that may stand after a colon. */
#define EVENT_MODIFIER_LETTERS "ukhIGHpPSDWebRX"

/* A piece of the text given. */
struct event_span {
    const char *at;
    size_t n;
};

struct event_term {
    struct event_span name, value; /* value.at NULL: none was written */
    bool driver;                   /* began with '@': `name` is the whole of it */
};

typedef VEC(struct event_term) event_terms;

struct event_parser {
    struct perf_event_sources *src;
    const char *text; /* the whole of it */
    size_t len, at;
    struct perf_events *out;
    struct err *err;
    size_t error_at;
    event_terms terms; /* of the event in work */
    bool has_terms;    /* slashes were there */
};

/* The error is about the text from `where` on, a pointer into p->text. Returns false. */
bool event_fail(struct event_parser *p, const char *where, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool event_fail_memory(struct event_parser *p);

/* The end of a text: what was pushed after the first `before` events stays only when all was well; *at (may
 * be NULL) is what the error is about. Returns `ok`. */
bool event_parsed(const struct event_parser *p, size_t before, bool ok, size_t *at);

/* A new event at the end with the common fields set; NULL (failed) when there are too many or memory ran
 * out. `pmu` is copied. */
struct perf_event *event_push(struct event_parser *p, const char *pmu);
/* Copies into the events' arena; NULL (failed) when memory ran out. */
const char *event_text(struct event_parser *p, const char *s, size_t n);

/* event_resolve.c: push what `word` means, with p->terms applied. */
bool event_resolve_name(struct event_parser *p, struct event_span word);
bool event_resolve_slashes(struct event_parser *p, struct event_span word);
bool event_resolve_tracepoint(struct event_parser *p, struct event_span system, struct event_span event);
/* True when `word` alone is the name of an event that needs no search: hardware, cache, software, raw. */
bool event_resolve_known(struct event_span word);
/* Makes `e` the event that the kernel translates for this PMU (generic hardware and cache events, software);
 * false: it has no such. */
bool event_legacy_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu, uint32_t type,
                        uint64_t config);

/* event_term.c */
/* Reads terms up to the closing slash (p->at stands after the opening one, then after the closing one). */
bool event_terms_read(struct event_parser *p);
/*
 * Applies p->terms to `e`. `pmu` (detail read) gives formats and aliases; NULL: only the terms that any event
 * can have.
 */
bool event_terms_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu);
/* Applies the terms of one of a PMU's aliases ("event=0x3c"); p->terms give the values of those left open
 * with
 * '?'. `where` is what to point at. */
bool event_alias_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                       const struct pmu_alias *alias, const char *where);
/* Number of `s`: decimal, or hexadecimal with 0x. */
bool event_number(struct event_span s, uint64_t *out);

/* event_modifier.c: applies the letters at p->at (which then stands after them) to events[first ...]. */
bool event_modifiers(struct event_parser *p, size_t first, bool group);

static inline bool event_span_is(struct event_span s, const char *text) {
    return strlen(text) == s.n && memcmp(text, s.at, s.n) == 0;
}

#endif
