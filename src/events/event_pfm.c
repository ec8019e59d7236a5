/* SPDX-License-Identifier: Apache-2.0 */
/* Events by libpfm4's names (pfm_get_os_event_encoding(3), pfm_get_perf_event_encoding(3)). */
#include "config.h"
#include "events/event_internal.h"

#ifdef HAVE_LIBPFM4
#include <perfmon/pfmlib_perf_event.h>

#include "base/library.h"

enum { NAME_ROOM = 512 };

static const char LIBRARY[] = "libpfm.so.4"; /* LIBPFM_VERSION is no text */
_Static_assert(PFM_MAJ_VERSION(LIBPFM_VERSION) == 4, "of the version that the header describes");

/* The functions used, under their names without the prefix. */
struct pfm {
    void *library;
    __typeof__(pfm_initialize) *initialize;
    __typeof__(pfm_terminate) *terminate;
    __typeof__(pfm_strerror) *strerror;
    __typeof__(pfm_get_os_event_encoding) *get_os_event_encoding;
};

static bool load(struct pfm *pfm, struct err *err) {
    const struct library_function functions[] = {{"pfm_initialize", &pfm->initialize},
                                                 {"pfm_terminate", &pfm->terminate},
                                                 {"pfm_strerror", &pfm->strerror},
                                                 {"pfm_get_os_event_encoding", &pfm->get_os_event_encoding}};
    pfm->library = library_load(LIBRARY, functions, sizeof functions / sizeof *functions, err);
    return pfm->library;
}

static bool push_encoded(struct event_parser *p, const struct pfm *pfm, struct event_span name) {
    char text[NAME_ROOM];
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg};
    if (name.n >= sizeof text)
        return event_fail(p, name.at, ERR_USAGE, "no event has so long a name");
    memcpy(text, name.at, name.n);
    text[name.n] = '\0';
    int code = pfm->get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3 | PFM_PLMH, PFM_OS_PERF_EVENT_EXT, &arg);
    if (code != PFM_SUCCESS)
        return event_fail(p, name.at, ERR_USAGE, "'%s': %s", text, pfm->strerror(code));
    struct perf_event *e = event_push(p, "cpu");
    struct perfdata_attr made;
    if (!e)
        return false;
    perfdata_attr_decode((struct bytes){(const uint8_t *)&attr, sizeof attr}, false, &made);
    e->attr.type = made.type;
    e->attr.config = made.config;
    e->attr.config1 = made.config1;
    e->attr.config2 = made.config2;
    e->attr.flags = made.flags;
    e->modifiers = PERF_EVENT_MODE_GIVEN;
    e->name = event_text(p, text, name.n);
    return e->name != NULL;
}

static bool parse_names(struct event_parser *p, const struct pfm *pfm) {
    size_t first = SIZE_MAX, brace = 0;
    for (;;) {
        bool opens = first == SIZE_MAX && p->text[p->at] == '{';
        if (opens) {
            brace = p->at++;
            first = p->out->items.count;
        }
        struct event_span name = {p->text + p->at, strcspn(p->text + p->at, ",{}")};
        if (!name.n)
            return event_fail(p, name.at, ERR_USAGE, "expected an event");
        if (!push_encoded(p, pfm, name))
            return false;
        p->at += name.n;
        if (p->text[p->at] == '}' && first != SIZE_MAX) {
            size_t count = p->out->items.count;
            for (size_t i = first; i < count; i++) {
                p->out->items.items[i].leader = (uint32_t)first;
                p->out->items.items[i].members = i == first ? (uint32_t)(count - first) : 0;
            }
            p->at++;
            first = SIZE_MAX;
        }
        if (p->text[p->at] != ',')
            break;
        p->at++;
    }
    if (p->at < p->len)
        return event_fail(p, p->text + p->at, ERR_USAGE, "expected ',' or the end");
    return first == SIZE_MAX || event_fail(p, p->text + brace, ERR_USAGE, "this brace is not closed");
}

bool perf_events_parse_pfm(struct perf_event_sources *src, const char *text, struct perf_events *out,
                           size_t *at, struct err *err) {
    struct err local = ERR_INIT;
    size_t before = out->items.count;
    struct event_parser p = {
        .src = src, .text = text, .len = strlen(text), .out = out, .err = err ? err : &local};
    struct pfm pfm;
    if (!load(&pfm, err)) {
        if (at)
            *at = 0;
        return false;
    }
    int code = pfm.initialize();
    bool ok = code == PFM_SUCCESS ? parse_names(&p, &pfm)
                                  : event_fail(&p, text, ERR_UNSUPPORTED, "libpfm4: %s", pfm.strerror(code));
    if (code == PFM_SUCCESS)
        pfm.terminate();
    library_unload(pfm.library);
    return event_parsed(&p, before, ok, at);
}
#else
bool perf_events_parse_pfm(struct perf_event_sources *src, const char *text, struct perf_events *out,
                           size_t *at, struct err *err) {
    (void)src, (void)text, (void)out;
    if (at)
        *at = 0;
    return err_set(err, ERR_UNSUPPORTED, "event",
                   "built without libpfm4, which knows these names: install libpfm4-dev and build again");
}
#endif
