/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script/script_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"

enum { BRANCH_ANY = 1 << 3 }; /* PERF_SAMPLE_BRANCH_ANY */

/* Fields that tracepoints show if they have a callchain. */
#define PLACE (SCRIPT_BIT(IP) | SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO))

static const struct kind_row {
    const char *prefix; /* before the colon of -F; NULL: users cannot name it */
    const char *name;
} kinds[SCRIPT_KIND_COUNT] = {
    [SCRIPT_KIND_HARDWARE] = {"hw", "hardware"},
    [SCRIPT_KIND_SOFTWARE] = {"sw", "software"},
    [SCRIPT_KIND_TRACE] = {"trace", "tracepoint"},
    [SCRIPT_KIND_CACHE] = {NULL, "hardware-cache"},
    [SCRIPT_KIND_RAW] = {"raw", "raw"},
    [SCRIPT_KIND_BREAKPOINT] = {NULL, "breakpoint"},
    [SCRIPT_KIND_OTHER] = {NULL, "unknown"},
    [SCRIPT_KIND_SYNTH] = {"synth", "synth"},
};

uint64_t script_field_bit(size_t i) {
    const struct script_field *field = script_field_at(i);
    unsigned others = 0;
    if (field->later)
        return 0;
    if (field->id)
        return 1ull << field->id;
    for (size_t k = 0; k < i; k++)
        others += !script_field_at(k)->id && !script_field_at(k)->later;
    return 1ull << (SCRIPT_FIELD_NAMED + others);
}

void script_fields_init(struct script_fields *f) {
    const struct script_field *field;
    *f = (struct script_fields){0};
    for (size_t i = 0; (field = script_field_at(i)); i++)
        for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
            f->chosen[k] |= field->defaults >> k & 1 ? script_field_bit(i) : 0;
}

const struct script_field *script_field_listed(size_t i) {
    const struct script_field *field;
    for (size_t k = 0; (field = script_field_at(k)); k++)
        if (!field->later && i-- == 0)
            return field;
    return NULL;
}

unsigned script_fields_model(const struct script_fields *f) {
    const struct script_field *field;
    uint64_t chosen = 0;
    unsigned need = 0;
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        chosen |= f->chosen[k];
    for (size_t i = 0; (field = script_field_at(i)); i++)
        need |= chosen & script_field_bit(i) ? field->model : 0;
    return need;
}

static bool field_unknown(const char *name, size_t len, struct err *err) {
    char word[32];
    const struct script_field *field;
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    struct nearest near = nearest_start(word);
    for (size_t i = 0; len < sizeof word && (field = script_field_listed(i)); i++)
        nearest_try(&near, field->name);
    if (near.best)
        return err_set(err, ERR_USAGE, "-F", "Invalid field requested: '%.*s', did you mean '%s'?", (int)len,
                       name, near.best);
    return err_set(err, ERR_USAGE, "-F", "Invalid field requested: '%.*s'", (int)len, name);
}

/* Finds the row with that name. False: -F does not accept it. */
static bool field_find(const char *name, size_t len, size_t *row, struct err *err) {
    const struct script_field *field;
    for (size_t i = 0; (field = script_field_at(i)); i++) {
        if (strlen(field->name) != len || memcmp(field->name, name, len))
            continue;
        *row = i;
        return !field->later || err_set(err, ERR_UNSUPPORTED, "-F", "field '%s' is not there yet: %s",
                                        field->name, field->later);
    }
    return field_unknown(name, len, err);
}

/* The state of applying one list. */
struct change {
    unsigned kinds; /* a bit for each kind that the list is for */
    bool typed;     /* the list names a kind */
    int sign;       /* of the last name: '+', '-' or 0 */
    bool signs, plain;
};

/* Applies one name, with or without a sign, to the masks. */
static bool change_apply(struct script_fields *f, struct change *c, const char *name, size_t len,
                         struct err *err) {
    c->sign = 0;
    if (len && (*name == '+' || *name == '-')) {
        c->sign = *name++;
        len--;
    }
    c->signs |= c->sign != 0;
    c->plain |= c->sign == 0;
    if (c->signs && c->plain)
        return err_set(err, ERR_USAGE, "-F", "Cannot mix +-field with overridden fields");
    size_t row = 0;
    if (!field_find(name, len, &row, err))
        return false;
    const struct script_field *field = script_field_at(row);
    uint64_t bit = script_field_bit(row);
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++) {
        if (!(c->kinds & 1u << k))
            continue;
        if (field->kinds && !(field->kinds & 1u << k)) {
            if (c->typed)
                return err_set(err, ERR_USAGE, "-F", "'%s' not valid for %s events.", field->name,
                               kinds[k].name);
            if (c->sign != '-')
                log_line(LOG_INFO, "'%s' not valid for %s events. Ignoring.", field->name, kinds[k].name);
            continue;
        }
        if (c->sign == '-') {
            f->chosen[k] &= ~bit;
            f->asked[k] &= ~bit;
        } else {
            f->chosen[k] |= bit;
            if (!c->typed)
                f->asked[k] |= bit;
        }
    }
    return true;
}

/* Reads "kind:" at the start of *text and steps past it. */
static bool kind_prefix(const char **text, struct change *c, struct err *err) {
    const char *colon = strchr(*text, ':');
    c->kinds = SCRIPT_ANY_KIND;
    if (!colon)
        return true;
    size_t len = (size_t)(colon - *text);
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++) {
        if (kinds[k].prefix && strlen(kinds[k].prefix) == len && !memcmp(kinds[k].prefix, *text, len)) {
            c->kinds = 1u << k;
            c->typed = true;
            *text = colon + 1;
            return true;
        }
    }
    return err_set(err, ERR_USAGE, "-F", "Invalid event type in field string.");
}

bool script_fields_parse(struct script_fields *f, const char *text, struct err *err) {
    struct change c = {0};
    if (!kind_prefix(&text, &c, err))
        return false;
    if (!*text && !c.typed)
        return err_set(err, ERR_USAGE, "-F", "Cannot set fields to 'none' for all event types.");
    bool replaces = *text != '+' && *text != '-', overrides = false;
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++) {
        if (!(c.kinds & 1u << k))
            continue;
        overrides |= replaces && f->spoken[k];
        f->spoken[k] = true;
        if (replaces)
            f->chosen[k] = f->asked[k] = 0;
    }
    if (overrides)
        log_line(LOG_WARN, "Overriding previous field request for %s events.",
                 c.typed ? kinds[__builtin_ctz(c.kinds)].name : "all");
    while (*text) {
        size_t len = strcspn(text, ",");
        if (len && !change_apply(f, &c, text, len, err))
            return false;
        text += len + (text[len] == ',');
    }
    return true;
}

enum script_kind script_kind_of(const struct perfdata_attr *attr) {
    switch (attr->type) {
    case PERFDATA_TYPE_HARDWARE:
        return SCRIPT_KIND_HARDWARE;
    case PERFDATA_TYPE_SOFTWARE:
        return SCRIPT_KIND_SOFTWARE;
    case PERFDATA_TYPE_TRACEPOINT:
        return SCRIPT_KIND_TRACE;
    case PERFDATA_TYPE_HW_CACHE:
        return SCRIPT_KIND_CACHE;
    case PERFDATA_TYPE_RAW:
        return SCRIPT_KIND_RAW;
    case PERFDATA_TYPE_BREAKPOINT:
        return SCRIPT_KIND_BREAKPOINT;
    default:
        return SCRIPT_KIND_OTHER;
    }
}

/* Drops the fields that an event's samples lack; fails if the user named them. */
static bool drop_missing(const struct perfdata_event *event, uint64_t asked, uint64_t *mask,
                         struct err *err) {
    const struct script_field *field;
    for (size_t i = 0; (field = script_field_at(i)); i++) {
        uint64_t bit = script_field_bit(i);
        if (!(*mask & bit) || !field->needs || (event->attr.sample_type & field->needs))
            continue;
        const char *name = event->name ? event->name : "unknown";
        if (asked & bit)
            return err_set(err, ERR_ABSENT, "",
                           "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
                           name, field->needs_name, field->name);
        *mask &= ~bit;
    }
    return true;
}

bool script_fields_of(const struct script_fields *f, const struct perfdata_event *event, bool chains,
                      uint64_t *out, struct err *err) {
    enum script_kind kind = script_kind_of(&event->attr);
    uint64_t mask = f->chosen[kind], asked = f->asked[kind];
    /* A tracepoint's address is not interesting, but its callchain is. */
    if (kind == SCRIPT_KIND_TRACE && !f->spoken[kind] && chains &&
        (event->attr.sample_type & PERFDATA_SAMPLE_CALLCHAIN))
        mask |= PLACE;
    if (!drop_missing(event, asked, &mask, err))
        return false;
    if (!(mask & SCRIPT_BIT(SYM)) && (mask & asked & SCRIPT_BIT(SYMOFF)))
        return err_set(err, ERR_ABSENT, "-F", "Display of offsets requested but symbol is not selected.");
    uint64_t addresses = PERFDATA_SAMPLE_IP | PERFDATA_SAMPLE_ADDR;
    if (!(event->attr.sample_type & addresses)) {
        if (mask & asked & (SCRIPT_BIT(SYM) | SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF)))
            return err_set(
                err, ERR_ABSENT, "-F",
                "Display of symbols or DSOs requested but the samples of '%s' have neither IP nor address.",
                event->name ? event->name : "unknown");
        mask &= ~(SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO) | SCRIPT_BIT(DSOFF));
    }
    if (!(mask & SCRIPT_BIT(IP)) && (mask & asked & SCRIPT_BIT(SRCLINE)))
        return err_set(
            err, ERR_ABSENT, "-F",
            "Display of source line number requested but sample IP is not selected: ask for ip, too.");
    if (mask & asked & SCRIPT_BRANCH_CODE && !(event->attr.branch_sample_type & BRANCH_ANY))
        return err_set(
            err, ERR_ABSENT, "-F",
            "Display of branch stack assembler requested, but non all-branch filter set: record with -b");
    if (!(event->attr.branch_sample_type & BRANCH_ANY))
        mask &= ~SCRIPT_BRANCH_CODE;
    *out = mask;
    return true;
}
