/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar, by recursive descent (groups do not nest, so the depth is fixed):
 *
 *     list   := item (',' item)*
 *     item   := [name] '{' event (',' event)* '}' [':' modifiers] | event
 *     event  := 'mem:' address ['/' length] [':' access] [':' modifiers]
 *             | system ':' tracepoint ['/' terms '/'] [':' modifiers]
 *             | path ':' place
 *             | (pmu | name) '/' terms '/' [modifiers]
 *             | name [':' modifiers]
 *     terms  := [term (',' term)*]
 *     term   := '@' text | name ['=' value]
 *
 * White space and comments (from '#' to the end of the line) may stand around events.
 */
#include "events/event_parse.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/out.h"
#include "events/event_internal.h"
#include "events/uprobe.h"
#include "format/perfdata/abi.h"

struct perf_event_sources *perf_event_sources_new(const struct sysfs *sys) {
    struct perf_event_sources *src = calloc(1, sizeof *src);
    if (!src)
        return NULL;
    src->sys = sys;
    pmu_set_init(&src->pmus, sys);
    tracepoint_set_init(&src->tracepoints, sys);
    src->tracepoints.mounts = true;
    return src;
}

void perf_event_sources_free(struct perf_event_sources *src) {
    if (!src)
        return;
    pmu_set_fini(&src->pmus);
    tracepoint_set_fini(&src->tracepoints);
    free(src);
}

void perf_event_sources_pmu(struct perf_event_sources *src, const char *name) {
    src->only = name;
}

bool perf_event_sources_cores(struct perf_event_sources *src, const char *type) {
    for (size_t i = 0, n = pmu_count(&src->pmus); i < n; i++) {
        const struct pmu *pmu = pmu_at(&src->pmus, i);
        if (pmu && pmu->core && strncmp(pmu->name, "cpu_", 4) == 0 && strcmp(pmu->name + 4, type) == 0)
            src->only_cores = pmu;
    }
    return src->only_cores;
}

void perf_events_fini(struct perf_events *events) {
    vec_fini(&events->items);
    arena_fini(&events->arena);
    events->last = 0;
}

bool event_fail(struct event_parser *p, const char *where, enum err_code code, const char *fmt, ...) {
    char message[sizeof p->err->message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    p->error_at = (size_t)(where - p->text);
    return err_set(p->err, code, "event", "%s", message);
}

bool event_fail_memory(struct event_parser *p) {
    return err_memory(p->err, "event");
}

const char *event_text(struct event_parser *p, const char *s, size_t n) {
    const char *copy = arena_strndup(&p->out->arena, s, n);
    if (!copy)
        event_fail_memory(p);
    return copy;
}

struct perf_event *event_push(struct event_parser *p, const char *pmu) {
    if (p->out->items.count >= PERF_EVENTS_MAX) {
        event_fail(p, p->text + p->at, ERR_USAGE, "more than %d events", PERF_EVENTS_MAX);
        return NULL;
    }
    const char *copy = event_text(p, pmu, strlen(pmu));
    struct perf_event *e = copy ? vec_push(&p->out->items) : NULL;
    if (!e) {
        event_fail_memory(p);
        return NULL;
    }
    e->attr.size = e->attr.known_size = PERFDATA_ATTR_SIZE_NEWEST;
    e->pmu = copy;
    e->scale = PERF_EVENT_SCALE_NONE;
    e->max_precise = 3;
    e->leader = (uint32_t)(p->out->items.count - 1);
    e->members = 1;
    return e;
}

static void skip_space(struct event_parser *p) {
    while (p->at < p->len) {
        char c = p->text[p->at];
        if (c == '#')
            while (p->at < p->len && p->text[p->at] != '\n')
                p->at++;
        else if (isspace((unsigned char)c))
            p->at++;
        else
            return;
    }
}

static bool next_is(const struct event_parser *p, char c) {
    return p->at < p->len && p->text[p->at] == c;
}

static bool accept(struct event_parser *p, char c) {
    bool yes = next_is(p, c);
    p->at += yes;
    return yes;
}

/* Everything up to what has a meaning of its own. Globs may hold '*', '?', '!' and brackets. */
static struct event_span take_word(struct event_parser *p) {
    struct event_span word = {p->text + p->at, 0};
    while (p->at < p->len &&
           (isalnum((unsigned char)p->text[p->at]) || strchr("_-.*?![]@%+", p->text[p->at])))
        p->at++;
    word.n = (size_t)(p->text + p->at - word.at);
    return word;
}

/* "end of the text" or "'x'", for messages. */
static const char *what_is_next(const struct event_parser *p, char room[4]) {
    if (p->at >= p->len)
        return "the end";
    unsigned char c = (unsigned char)p->text[p->at];
    snprintf(room, 4, "'%c'", isprint(c) ? c : '?');
    return room;
}

static bool fail_expected(struct event_parser *p, const char *what) {
    char room[4];
    return event_fail(p, p->text + p->at, ERR_USAGE, "expected %s, found %s", what, what_is_next(p, room));
}

/* `mem:address[/length][:access]`; enum of HW_BREAKPOINT_R, _W, _X in linux/hw_breakpoint.h */
enum { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_EXECUTE = 4 };

static bool parse_access(struct event_parser *p, uint32_t *access) {
    static const char LETTERS[] = "rwx";
    if (p->at + 1 >= p->len || p->text[p->at] != ':' || !strchr(LETTERS, p->text[p->at + 1]))
        return true;
    for (p->at++; p->at < p->len && isalpha((unsigned char)p->text[p->at]); p->at++) {
        const char *letter = strchr(LETTERS, p->text[p->at]);
        if (!letter)
            return event_fail(p, p->text + p->at, ERR_USAGE, "access is made of r, w and x, not '%c'",
                              p->text[p->at]);
        uint32_t bit = 1u << (letter - LETTERS);
        if (*access & bit)
            return event_fail(p, p->text + p->at, ERR_USAGE, "access '%c' twice", *letter);
        *access |= bit;
    }
    return true;
}

static bool parse_breakpoint(struct event_parser *p, size_t *name_end) {
    struct event_span address = take_word(p), length = {NULL, 0};
    uint64_t addr, len = 0;
    uint32_t access = 0;
    if (!event_number(address, &addr))
        return event_fail(p, address.at, ERR_USAGE,
                          "expected an address in memory: mem:ADDRESS[/LENGTH][:ACCESS]");
    if (next_is(p, '/')) {
        *name_end = p->at; /* perf names the event without its length */
        p->at++;
        length = take_word(p);
        if (!event_number(length, &len) || !len)
            return event_fail(p, length.at, ERR_USAGE, "expected the number of bytes to watch");
    }
    if (!parse_access(p, &access))
        return false;
    struct perf_event *e = event_push(p, "breakpoint");
    if (!e)
        return false;
    access = access ? access : ACCESS_READ | ACCESS_WRITE;
    e->kind = PERF_EVENT_BREAKPOINT;
    e->attr.type = PERFDATA_TYPE_BREAKPOINT;
    e->attr.bp_type = access;
    e->attr.config1 = addr;
    /* perf watches 4 bytes of data; for instructions the kernel wants the size of a long (on x86). */
    e->attr.config2 = len ? len : access == ACCESS_EXECUTE ? sizeof(long) : 4;
    e->attr.sample_period = 1;
    return true;
}

/* path:0xOFFSET or path:symbol[+offset], either with %return */
static bool parse_uprobe(struct event_parser *p) {
    static const char RETURN[] = "%return";
    struct event_span path = {p->text + p->at, 0};
    while (p->at < p->len && !strchr(":,{} \t\n", p->text[p->at]))
        p->at++;
    path.n = (size_t)(p->text + p->at - path.at);
    if (!accept(p, ':'))
        return fail_expected(p, "':' and a place in the file");
    struct event_span place = take_word(p);
    size_t r = sizeof RETURN - 1;
    bool ret = place.n > r && memcmp(place.at + place.n - r, RETURN, r) == 0;
    place.n -= ret ? r : 0;
    const struct pmu *pmu = pmu_find(&p->src->pmus, "uprobe", 6);
    uint64_t offset;
    if (!place.n)
        return fail_expected(p, "a symbol or an offset in the file");
    if (!pmu)
        return event_fail(p, path.at, ERR_ABSENT,
                          "this kernel has no uprobe PMU (Linux 4.17, CONFIG_UPROBES)");
    struct err why = ERR_INIT;
    if (!event_number(place, &offset) && !uprobe_find(path, place, &offset, &why))
        return event_fail(p, *why.where ? place.at : path.at, why.code, "%s", why.message);
    struct perf_event *e = event_push(p, "uprobe");
    if (!e)
        return false;
    uint64_t words[5] = {0}, max;
    if (!pmu_detail(&p->src->pmus, pmu, p->err))
        return false;
    const struct pmu_format *retprobe = pmu_find_format(pmu, "retprobe", 8);
    if (ret && (!retprobe || !pmu_format_put(retprobe, 1, words, &max)))
        return event_fail(p, place.at, ERR_ABSENT, "this kernel's uprobe PMU cannot probe returns");
    e->kind = PERF_EVENT_UPROBE;
    /* For each new thread the kernel reads the path again, at the same address, but in that thread's memory:
     * clone(2) of the program that is watched fails then, with EFAULT. */
    e->terms.given |= PERF_TERM_INHERIT;
    e->terms.inherit = false;
    e->attr.type = pmu->type;
    e->attr.config = words[0];
    e->attr.config2 = offset;
    e->attr.sample_period = 1;
    e->probe_path = event_text(p, path.at, path.n);
    return e->probe_path != NULL;
}

static bool all_modifier_letters(const struct event_parser *p, size_t at) {
    for (; at < p->len && isalpha((unsigned char)p->text[at]); at++)
        if (!strchr(EVENT_MODIFIER_LETTERS, p->text[at]))
            return false;
    return at >= p->len || strchr(",}# \t\n", p->text[at]);
}

static bool parse_terms(struct event_parser *p) {
    p->has_terms = true;
    p->at++;
    return event_terms_read(p);
}

/* A word with a colon after it: a name with modifiers or a tracepoint. p->at stands at the colon. */
static bool parse_colon(struct event_parser *p, struct event_span word, bool *tracepoint) {
    bool glob = memchr(word.at, '*', word.n) || memchr(word.at, '?', word.n) || memchr(word.at, '[', word.n);
    *tracepoint = false;
    if (!glob && (event_resolve_known(word) || p->at + 1 >= p->len))
        return event_resolve_name(p, word);
    struct err why = ERR_INIT;
    bool systems = tracepoint_systems(&p->src->tracepoints, &why);
    *tracepoint = glob;
    for (size_t i = 0; systems && i < p->src->tracepoints.systems.count; i++)
        *tracepoint |= event_span_is(word, p->src->tracepoints.systems.items[i].name);
    /* An event of a PMU with modifiers, unless it can only be a tracepoint that may not be read. */
    if (!*tracepoint && (systems || all_modifier_letters(p, p->at + 1)))
        return event_resolve_name(p, word);
    *tracepoint = true;
    p->at++;
    struct event_span event = take_word(p);
    if (!event.n)
        return fail_expected(p, "the name of a tracepoint");
    if (next_is(p, '/') && !parse_terms(p))
        return false;
    return event_resolve_tracepoint(p, word, event);
}

/* The events pushed since `first` that have no name of their own yet. */
static bool name_events(struct event_parser *p, size_t first, size_t start, size_t end) {
    const char *name = NULL;
    for (size_t i = first; i < p->out->items.count; i++) {
        struct perf_event *e = &p->out->items.items[i];
        if (e->name)
            continue;
        if (!name && !(name = event_text(p, p->text + start, end - start)))
            return false;
        e->name = name;
    }
    return true;
}

static bool parse_event(struct event_parser *p) {
    size_t first = p->out->items.count, start = p->at, name_end = 0;
    bool tracepoint = false, ok;
    vec_clear(&p->terms);
    p->has_terms = false;
    if (next_is(p, '/')) {
        ok = parse_uprobe(p);
    } else {
        struct event_span word = take_word(p);
        if (!word.n)
            return fail_expected(p, "an event");
        if (event_span_is(word, "mem") && accept(p, ':'))
            ok = parse_breakpoint(p, &name_end);
        else if (next_is(p, '/'))
            ok = parse_terms(p) && event_resolve_slashes(p, word);
        else if (next_is(p, ':'))
            ok = parse_colon(p, word, &tracepoint);
        else
            ok = event_resolve_name(p, word);
    }
    if (!ok)
        return false;
    if ((accept(p, ':') || (p->has_terms && !tracepoint)) && !event_modifiers(p, first, false))
        return false;
    return name_events(p, first, start, name_end ? name_end : p->at);
}

static bool parse_group(struct event_parser *p, struct event_span name) {
    size_t first = p->out->items.count;
    const char *brace = p->text + p->at;
    p->at++;
    do {
        skip_space(p);
        if (!parse_event(p))
            return false;
        skip_space(p);
    } while (accept(p, ','));
    if (p->at >= p->len)
        return event_fail(p, brace, ERR_USAGE, "this brace is not closed");
    if (!accept(p, '}'))
        return fail_expected(p, "',' or '}'");
    struct perf_event *items = p->out->items.items;
    size_t count = p->out->items.count;
    for (size_t i = first; i < count; i++) {
        items[i].leader = (uint32_t)first;
        items[i].members = i == first ? (uint32_t)(count - first) : 0;
    }
    if (name.n && !(items[first].group = event_text(p, name.at, name.n)))
        return false;
    return !accept(p, ':') || event_modifiers(p, first, true);
}

static bool parse_item(struct event_parser *p) {
    size_t start = p->at;
    struct event_span name = take_word(p);
    if (next_is(p, '{'))
        return parse_group(p, name);
    p->at = start;
    return parse_event(p);
}

static bool parse_list(struct event_parser *p) {
    do {
        skip_space(p);
        if (!parse_item(p))
            return false;
        skip_space(p);
    } while (accept(p, ','));
    return p->at >= p->len || fail_expected(p, "',' or the end");
}

bool event_parsed(const struct event_parser *p, size_t before, bool ok, size_t *at) {
    if (ok)
        p->out->last = before;
    else
        p->out->items.count = before;
    if (at)
        *at = p->error_at;
    return ok;
}

bool perf_events_parse(struct perf_event_sources *src, const char *text, struct perf_events *out, size_t *at,
                       struct err *err) {
    struct err local = ERR_INIT;
    size_t before = out->items.count;
    struct event_parser p = {
        .src = src, .text = text, .len = strlen(text), .out = out, .err = err ? err : &local};
    bool ok;
    if (p.len > PERF_EVENTS_TEXT_MAX)
        ok = event_fail(&p, text, ERR_USAGE, "more than %d bytes of events", PERF_EVENTS_TEXT_MAX);
    else
        ok = parse_list(&p);
    vec_fini(&p.terms);
    return event_parsed(&p, before, ok, at);
}
