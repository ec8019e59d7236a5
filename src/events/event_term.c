/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/nearest.h"
#include "events/event_internal.h"
#include "events/event_names.h"
#include "format/perfdata/abi.h"

enum { TERMS_MAX = 256, NAME_ROOM = 64 };

bool event_number(struct event_span s, uint64_t *out) {
    uint64_t v = 0;
    unsigned base = s.n > 2 && s.at[0] == '0' && (s.at[1] | 32) == 'x' ? 16 : 10;
    size_t i = base == 16 ? 2 : 0;
    if (i >= s.n)
        return false;
    for (; i < s.n; i++) {
        char c = (char)(s.at[i] | 32);
        unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
        if (!isxdigit((unsigned char)s.at[i]) || digit >= base || __builtin_mul_overflow(v, base, &v) ||
            __builtin_add_overflow(v, digit, &v))
            return false;
    }
    *out = v;
    return true;
}

static bool at_end(const struct event_parser *p, const char *stop) {
    return p->at >= p->len || strchr(stop, p->text[p->at]);
}

static struct event_span take_until(struct event_parser *p, const char *stop) {
    struct event_span s = {p->text + p->at, 0};
    while (!at_end(p, stop))
        p->at++;
    s.n = (size_t)(p->text + p->at - s.at);
    return s;
}

static bool read_value(struct event_parser *p, struct event_term *t) {
    const char *quote = p->text + p->at;
    if (p->at >= p->len || *quote != '\'') {
        t->value = take_until(p, ",/ \t\n");
        return t->value.n || event_fail(p, quote, ERR_USAGE, "'%.*s=' needs a value",
                                        (int)(t->name.n < NAME_ROOM ? t->name.n : NAME_ROOM), t->name.at);
    }
    p->at++;
    t->value = take_until(p, "'");
    if (p->at >= p->len)
        return event_fail(p, quote, ERR_USAGE, "this quote is not closed");
    p->at++;
    return true;
}

static bool read_term(struct event_parser *p) {
    if (p->terms.count >= TERMS_MAX)
        return event_fail(p, p->text + p->at, ERR_USAGE, "more than %d terms", TERMS_MAX);
    struct event_term *t = vec_push(&p->terms);
    if (!t)
        return event_fail_memory(p);
    t->driver = p->at < p->len && p->text[p->at] == '@';
    p->at += t->driver;
    t->name = take_until(p, t->driver ? ",/ \t\n" : "=,/{}:' \t\n");
    if (!t->name.n)
        return event_fail(p, p->text + p->at, ERR_USAGE, "expected a term");
    if (t->driver || p->at >= p->len || p->text[p->at] != '=')
        return true;
    p->at++;
    return read_value(p, t);
}

bool event_terms_read(struct event_parser *p) {
    const char *slash = p->text + p->at - 1;
    bool more = p->at < p->len && p->text[p->at] != '/';
    while (more) {
        if (!read_term(p))
            return false;
        more = p->at < p->len && p->text[p->at] == ',';
        p->at += more;
    }
    if (p->at >= p->len)
        return event_fail(p, slash, ERR_USAGE, "this slash is not closed");
    if (p->text[p->at] != '/')
        return event_fail(p, p->text + p->at, ERR_USAGE, "expected ',' or '/'");
    p->at++;
    return true;
}

/* What the general terms are and where their values go. perf-record(1), perf-list(1) and the list that perf
 * prints of "valid terms". */
enum term_kind {
    KIND_U64,
    KIND_U32,
    KIND_U16,
    KIND_BOOL, /* alone: true */
    KIND_NOT,  /* the opposite of the one before */
    KIND_TEXT,
    KIND_DOUBLE,
    KIND_CONFIG,
    KIND_NAME,
    KIND_CPU,
};

#define AT(field) offsetof(struct perf_event_terms, field)
static const struct term_row {
    const char *name;
    enum term_kind kind;
    size_t offset; /* in perf_event_terms; of KIND_CONFIG the word */
    uint32_t bit;
} ROWS[] = {
    {"config", KIND_CONFIG, 0},
    {"config1", KIND_CONFIG, 1},
    {"config2", KIND_CONFIG, 2},
    {"config3", KIND_CONFIG, 3},
    {"config4", KIND_CONFIG, 4},
    {"name", KIND_NAME},
    {"cpu", KIND_CPU},
    {"period", KIND_U64, AT(period), PERF_TERM_PERIOD},
    {"freq", KIND_U64, AT(freq_hz), PERF_TERM_FREQ},
    {"time", KIND_BOOL, AT(time), PERF_TERM_TIME},
    {"call-graph", KIND_TEXT, AT(call_graph), PERF_TERM_CALL_GRAPH},
    {"stack-size", KIND_U32, AT(stack_size_bytes), PERF_TERM_STACK_SIZE},
    {"inherit", KIND_BOOL, AT(inherit), PERF_TERM_INHERIT},
    {"no-inherit", KIND_NOT, AT(inherit), PERF_TERM_INHERIT},
    {"max-stack", KIND_U16, AT(max_stack), PERF_TERM_MAX_STACK},
    {"nr", KIND_U32, AT(max_events), PERF_TERM_MAX_EVENTS},
    {"overwrite", KIND_BOOL, AT(overwrite), PERF_TERM_OVERWRITE},
    {"no-overwrite", KIND_NOT, AT(overwrite), PERF_TERM_OVERWRITE},
    {"percore", KIND_BOOL, AT(percore), PERF_TERM_PERCORE},
    {"aux-output", KIND_BOOL, AT(aux_output), PERF_TERM_AUX_OUTPUT},
    {"aux-action", KIND_TEXT, AT(aux_action), PERF_TERM_AUX_ACTION},
    {"aux-sample-size", KIND_U32, AT(aux_sample_size), PERF_TERM_AUX_SAMPLE_SIZE},
    {"branch_type", KIND_TEXT, AT(branch_type), PERF_TERM_BRANCH_TYPE},
    {"driver-config", KIND_TEXT, AT(driver_config), PERF_TERM_DRIVER_CONFIG},
    {"ratio-to-prev", KIND_DOUBLE, AT(ratio_to_prev), PERF_TERM_RATIO_TO_PREV},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static const struct term_row *find_row(struct event_span name) {
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (event_span_is(name, ROWS[i].name))
            return &ROWS[i];
    return NULL;
}

static int width(struct event_span s) {
    return (int)(s.n < NAME_ROOM ? s.n : NAME_ROOM);
}

/* The number that a term has, at most `max`; `alone` is what the term means without one (UINT64_MAX: that is
 * an error). */
static bool number(struct event_parser *p, const struct event_term *t, uint64_t alone, uint64_t max,
                   uint64_t *out) {
    *out = alone;
    if (!t->value.at && alone == UINT64_MAX)
        return event_fail(p, t->name.at, ERR_USAGE, "term '%.*s' needs a value: %.*s=N", width(t->name),
                          t->name.at, width(t->name), t->name.at);
    if (!t->value.at)
        return true;
    if (!event_number(t->value, out))
        return event_fail(p, t->value.at, ERR_USAGE, "expected a number (0x for hexadecimal) below 2^64");
    return *out <= max ||
           event_fail(p, t->value.at, ERR_USAGE, "%" PRIu64 " is too big for '%.*s', the maximum is %" PRIu64,
                      *out, width(t->name), t->name.at, max);
}

/* Joins with a comma to what was there. */
static bool append(struct event_parser *p, const char **to, struct event_span s) {
    size_t old = *to ? strlen(*to) + 1 : 0;
    char *text = arena_alloc(&p->out->arena, old + s.n + 1);
    if (!text)
        return event_fail_memory(p);
    if (old) {
        memcpy(text, *to, old - 1);
        text[old - 1] = ',';
    }
    memcpy(text + old, s.at, s.n);
    text[old + s.n] = '\0';
    *to = text;
    return true;
}

/* "0", "1-3,5" or a PMU whose CPUs are meant. */
static bool set_cpus(struct event_parser *p, struct perf_event *e, const struct event_term *t,
                     bool *replaced) {
    struct event_span s = t->value;
    if (!s.at)
        return event_fail(p, t->name.at, ERR_USAGE, "term 'cpu' needs a CPU, a range or a PMU: cpu=0-3");
    size_t digits = 0;
    while (digits < s.n && (isdigit((unsigned char)s.at[digits]) || s.at[digits] == '-'))
        digits++;
    const struct pmu *pmu = pmu_find(&p->src->pmus, s.at, s.n);
    if (pmu && pmu->cpus)
        s = (struct event_span){pmu->cpus, strlen(pmu->cpus)};
    else if (digits != s.n || !isdigit((unsigned char)s.at[0]) || !isdigit((unsigned char)s.at[s.n - 1]))
        return event_fail(p, s.at, ERR_USAGE, "expected a CPU, a range of CPUs or a PMU that has a CPU mask");
    if (!*replaced)
        e->cpus = NULL; /* the term says more than the PMU's own mask */
    *replaced = true;
    return append(p, &e->cpus, s);
}

static bool check_text(struct event_parser *p, struct perf_event *e, const struct event_term *t,
                       uint32_t bit) {
    static const char *const GRAPHS[] = {"fp", "dwarf", "lbr", "no"};
    static const char *const ACTIONS[] = {"start-paused", "pause", "resume"}; /* bits of attr.aux_action */
    const char *const *known = bit == PERF_TERM_CALL_GRAPH ? GRAPHS : ACTIONS;
    size_t count = bit == PERF_TERM_CALL_GRAPH ? 4 : 3;
    if (bit != PERF_TERM_CALL_GRAPH && bit != PERF_TERM_AUX_ACTION)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (event_span_is(t->value, known[i])) {
            if (bit == PERF_TERM_AUX_ACTION)
                e->attr.aux_action |= 1u << i;
            return true;
        }
    }
    return event_fail(p, t->value.at, ERR_USAGE, "%s",
                      bit == PERF_TERM_CALL_GRAPH ? "call-graph is fp, dwarf, lbr or no"
                                                  : "aux-action is start-paused, pause or resume");
}

static uint64_t *config_word(struct perfdata_attr *a, size_t word) {
    uint64_t *const words[] = {&a->config, &a->config1, &a->config2, &a->config3, &a->config4};
    return words[word];
}

static bool set_text(struct event_parser *p, struct perf_event *e, const struct event_term *t,
                     const struct term_row *row) {
    if (!t->value.at)
        return event_fail(p, t->name.at, ERR_USAGE, "term '%s' needs a value", row->name);
    const char *text = event_text(p, t->value.at, t->value.n);
    if (!text || !check_text(p, e, t, row->bit))
        return false;
    if (row->kind == KIND_NAME)
        e->name = text;
    else
        *(const char **)((char *)&e->terms + row->offset) = text;
    return true;
}

static bool set_double(struct event_parser *p, const struct event_term *t, double *to) {
    char room[NAME_ROOM], *end = room;
    if (t->value.at && t->value.n < sizeof room) {
        memcpy(room, t->value.at, t->value.n);
        room[t->value.n] = '\0';
        *to = strtod(room, &end);
    }
    return (end != room && !*end) ||
           event_fail(p, t->value.at ? t->value.at : t->name.at, ERR_USAGE, "expected a number");
}

static bool set_general(struct event_parser *p, struct perf_event *e, const struct event_term *t,
                        const struct term_row *row, bool *cpus) {
    char *to = (char *)&e->terms + row->offset;
    uint64_t v;
    e->terms.given |= row->bit;
    switch (row->kind) {
    case KIND_U64:
        return number(p, t, UINT64_MAX, UINT64_MAX, (uint64_t *)to);
    case KIND_U32:
        if (!number(p, t, UINT64_MAX, UINT32_MAX, &v))
            return false;
        *(uint32_t *)to = (uint32_t)v;
        return true;
    case KIND_U16:
        if (!number(p, t, UINT64_MAX, UINT16_MAX, &v))
            return false;
        *(uint16_t *)to = (uint16_t)v;
        return true;
    case KIND_BOOL:
    case KIND_NOT:
        if (!number(p, t, 1, 1, &v))
            return false;
        *(bool *)to = v == (row->kind == KIND_BOOL);
        if (row->bit == PERF_TERM_AUX_OUTPUT)
            e->attr.flags = (e->attr.flags & ~PERFDATA_ATTR_AUX_OUTPUT) | (v ? PERFDATA_ATTR_AUX_OUTPUT : 0);
        return true;
    case KIND_CONFIG:
        return number(p, t, UINT64_MAX, UINT64_MAX, config_word(&e->attr, row->offset));
    case KIND_DOUBLE:
        return set_double(p, t, (double *)to);
    case KIND_CPU:
        return set_cpus(p, e, t, cpus);
    case KIND_TEXT:
    case KIND_NAME:
        break;
    }
    return set_text(p, e, t, row);
}

static bool put(struct event_parser *p, struct perf_event *e, const struct pmu_format *f,
                const struct event_term *t, uint64_t value, const char *where) {
    struct perfdata_attr *a = &e->attr;
    uint64_t words[5] = {a->config, a->config1, a->config2, a->config3, a->config4}, max;
    if (!pmu_format_put(f, value, words, &max))
        return event_fail(p, where, ERR_USAGE, "%" PRIu64 " is too big for '%.*s', the maximum is %" PRIu64,
                          value, width(t->name), t->name.at, max);
    for (size_t i = 0; i < 5; i++)
        *config_word(a, i) = words[i];
    return true;
}

static bool set_format(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                       const struct pmu_format *f, const struct event_term *t) {
    uint64_t value;
    bool single = (f->bits & (f->bits - 1)) == 0;
    if (e->attr.type != pmu->type)
        return event_fail(p, t->name.at, ERR_USAGE,
                          "'%s' is the PMU's own: it cannot be set for an event that the kernel translates",
                          f->name);
    return number(p, t, single ? 1 : UINT64_MAX, UINT64_MAX, &value) &&
           put(p, e, f, t, value, t->value.at ? t->value.at : t->name.at);
}

/* The value that the user gave for a term that an alias leaves open. */
static bool open_value(struct event_parser *p, const struct pmu_alias *alias, const struct event_term *t,
                       const char *where, uint64_t *value) {
    for (size_t i = 0; i < p->terms.count; i++) {
        const struct event_term *given = &p->terms.items[i];
        if (given->value.at && given->name.n == t->name.n &&
            memcmp(given->name.at, t->name.at, t->name.n) == 0)
            return number(p, given, 0, UINT64_MAX, value);
    }
    return event_fail(p, where, ERR_USAGE, "'%s' needs a value for '%.*s': %s,%.*s=N", alias->name,
                      width(t->name), t->name.at, alias->name, width(t->name), t->name.at);
}

static bool alias_term(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                       const struct pmu_alias *alias, const struct event_term *t, const char *where) {
    const struct pmu_format *f = pmu_find_format(pmu, t->name.at, t->name.n);
    const struct term_row *row = find_row(t->name);
    uint64_t value = 1;
    if (t->value.at && event_span_is(t->value, "?")) {
        if (!open_value(p, alias, t, where, &value))
            return false;
    } else if (t->value.at && !event_number(t->value, &value)) {
        return event_fail(p, where, ERR_BROKEN, "%s: '%s' in sysfs says '%s', which is no number", pmu->name,
                          alias->name, alias->terms);
    }
    if (f)
        return put(p, e, f, t, value, where);
    if (row && row->kind == KIND_CONFIG) {
        *config_word(&e->attr, row->offset) = value;
        return true;
    }
    if (row && row->kind == KIND_U64) {
        *(uint64_t *)((char *)&e->terms + row->offset) = value;
        e->terms.given |= row->bit;
        return true;
    }
    return event_fail(p, where, ERR_UNSUPPORTED, "%s: '%s' in sysfs has the unknown term '%.*s'", pmu->name,
                      alias->name, width(t->name), t->name.at);
}

bool event_alias_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                       const struct pmu_alias *alias, const char *where) {
    for (const char *at = alias->terms; *at;) {
        size_t n = strcspn(at, ","), name = strcspn(at, "=,");
        struct event_term t = {.name = {at, name}};
        if (name < n)
            t.value = (struct event_span){at + name + 1, n - name - 1};
        if (n && !alias_term(p, e, pmu, alias, &t, where))
            return false;
        at += n + (at[n] == ',');
    }
    e->unit = alias->unit && *alias->unit ? event_text(p, alias->unit, strlen(alias->unit)) : NULL;
    e->scale = alias->scale;
    e->per_pkg = alias->per_pkg;
    e->snapshot = alias->snapshot;
    return true;
}

/* A term that names one of the PMU's events: rNNN, an alias, or what the kernel translates. */
static bool set_event(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                      const struct event_term *t, bool *known) {
    char hex[24];
    uint64_t v;
    uint32_t type;
    size_t digits = t->name.n - 1;
    if (t->name.at[0] == 'r' && digits && digits <= 18) {
        bool prefixed = digits > 2 && t->name.at[1] == '0' && (t->name.at[2] | 32) == 'x';
        int n = snprintf(hex, sizeof hex, "%s%.*s", prefixed ? "" : "0x", (int)digits, t->name.at + 1);
        if (event_number((struct event_span){hex, (size_t)n}, &v)) {
            e->attr.config = v;
            return true;
        }
    }
    const struct pmu_alias *alias = pmu_find_alias(pmu, t->name.at, t->name.n);
    if (alias)
        return event_alias_apply(p, e, pmu, alias, t->name.at);
    if (event_names_find(t->name.at, t->name.n, &type, &v) && event_legacy_apply(p, e, pmu, type, v))
        return true;
    *known = false;
    return true;
}

static bool unknown(struct event_parser *p, const struct pmu *pmu, const struct event_term *t) {
    char word[NAME_ROOM];
    snprintf(word, sizeof word, "%.*s", width(t->name), t->name.at);
    struct nearest near = nearest_start(word);
    for (size_t i = 0; pmu && i < pmu->formats.count; i++)
        nearest_try(&near, pmu->formats.items[i].name);
    for (size_t i = 0; pmu && !t->value.at && i < pmu->aliases.count; i++)
        nearest_try(&near, pmu->aliases.items[i].name);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (pmu || ROWS[i].kind != KIND_CONFIG)
            nearest_try(&near, ROWS[i].name);
    const char *of = pmu ? pmu->name : "an event without a PMU";
    if (near.best)
        return event_fail(p, t->name.at, ERR_USAGE, "unknown term '%s' for %s, did you mean '%s'?", word, of,
                          near.best);
    return event_fail(p, t->name.at, ERR_USAGE, "unknown term '%s' for %s", word, of);
}

/* In this order, whatever the order written: which event, whole words, single bits. */
enum pass { PASS_EVENT, PASS_WORDS, PASS_BITS, PASS_COUNT };

static bool apply_one(struct event_parser *p, struct perf_event *e, const struct pmu *pmu,
                      const struct event_term *t, enum pass pass, bool *cpus) {
    if (t->driver) {
        e->terms.given |= PERF_TERM_DRIVER_CONFIG;
        return pass != PASS_EVENT || append(p, &e->terms.driver_config, t->name);
    }
    const struct term_row *row = find_row(t->name);
    if (row && (pmu || row->kind != KIND_CONFIG))
        return pass != (row->kind == KIND_CONFIG ? PASS_WORDS : PASS_EVENT) ||
               set_general(p, e, t, row, cpus);
    const struct pmu_format *f = pmu ? pmu_find_format(pmu, t->name.at, t->name.n) : NULL;
    if (f)
        return pass != PASS_BITS || set_format(p, e, pmu, f, t);
    if (pass != PASS_EVENT)
        return true;
    bool known = pmu && !t->value.at;
    return (!known || set_event(p, e, pmu, t, &known)) && (known || unknown(p, pmu, t));
}

bool event_terms_apply(struct event_parser *p, struct perf_event *e, const struct pmu *pmu) {
    bool cpus = false;
    for (enum pass pass = PASS_EVENT; pass < PASS_COUNT; pass++)
        for (size_t i = 0; i < p->terms.count; i++)
            if (!apply_one(p, e, pmu, &p->terms.items[i], pass, &cpus))
                return false;
    return true;
}
