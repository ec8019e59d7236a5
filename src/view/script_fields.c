/* SPDX-License-Identifier: Apache-2.0 */
#include "view/script_fields.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest.h"

#define KIND(name) (1u << SCRIPT_KIND_##name)
enum { BRANCH_ANY = 1 << 3 }; /* PERF_SAMPLE_BRANCH_ANY */
enum { ANY_KIND = (1 << SCRIPT_KIND_COUNT) - 1 };

/* A field's name; the sample bits of which one must be there (0: none); the kinds of events that can have it.
 */
struct field_row {
    const char *name;
    uint64_t needs;
    const char *needs_name; /* as perf's messages call it */
    unsigned kinds;
};

static const struct field_row fields[SCRIPT_FIELD_COUNT] = {
    [SCRIPT_COMM] = {"comm", 0, NULL, ANY_KIND}, /* without TID: that of -1 */
    [SCRIPT_TID] = {"tid", PERFDATA_SAMPLE_TID, "TID", ANY_KIND},
    [SCRIPT_PID] = {"pid", PERFDATA_SAMPLE_TID, "TID", ANY_KIND},
    [SCRIPT_TIME] = {"time", PERFDATA_SAMPLE_TIME, "TIME", ANY_KIND},
    [SCRIPT_CPU] = {"cpu", PERFDATA_SAMPLE_CPU, "CPU", ANY_KIND},
    [SCRIPT_EVENT] = {"event", 0, NULL, ANY_KIND},
    [SCRIPT_TRACE] = {"trace", PERFDATA_SAMPLE_RAW, "RAW", KIND(TRACE)},
    [SCRIPT_IP] = {"ip", PERFDATA_SAMPLE_IP, "IP", ANY_KIND},
    [SCRIPT_SYM] = {"sym", 0, NULL, ANY_KIND},
    [SCRIPT_DSO] = {"dso", 0, NULL, ANY_KIND},
    [SCRIPT_DSOFF] = {"dsoff", 0, NULL, ANY_KIND},
    [SCRIPT_ADDR] = {"addr", PERFDATA_SAMPLE_ADDR, "ADDR", ANY_KIND},
    [SCRIPT_SYMOFF] = {"symoff", 0, NULL, ANY_KIND},
    [SCRIPT_SRCLINE] = {"srcline", 0, NULL, ANY_KIND},
    [SCRIPT_PERIOD] = {"period", 0, NULL, ANY_KIND},
    [SCRIPT_IREGS] = {"iregs", PERFDATA_SAMPLE_REGS_INTR, "IREGS", ANY_KIND},
    [SCRIPT_UREGS] = {"uregs", PERFDATA_SAMPLE_REGS_USER, "UREGS", ANY_KIND},
    [SCRIPT_BRSTACK] = {"brstack", 0, NULL, ANY_KIND},
    [SCRIPT_BRSTACKSYM] = {"brstacksym", 0, NULL, ANY_KIND},
    [SCRIPT_BRSTACKOFF] = {"brstackoff", 0, NULL, ANY_KIND},
    [SCRIPT_FLAGS] = {"flags", 0, NULL, ANY_KIND},
    [SCRIPT_DATA_SRC] = {"data_src", PERFDATA_SAMPLE_DATA_SRC, "DATA_SRC", ANY_KIND},
    [SCRIPT_WEIGHT] = {"weight", PERFDATA_SAMPLE_WEIGHT | PERFDATA_SAMPLE_WEIGHT_STRUCT, "WEIGHT", ANY_KIND},
    [SCRIPT_BPF_OUTPUT] = {"bpf-output", 0, NULL, KIND(SOFTWARE)},
    [SCRIPT_SYNTH] = {"synth", 0, NULL, ANY_KIND},
    [SCRIPT_PHYS_ADDR] = {"phys_addr", PERFDATA_SAMPLE_PHYS_ADDR, "PHYS_ADDR", ANY_KIND},
    [SCRIPT_MISC] = {"misc", 0, NULL, ANY_KIND},
    [SCRIPT_TOD] = {"tod", PERFDATA_SAMPLE_TIME, "TIME", ANY_KIND},
    [SCRIPT_DATA_PAGE_SIZE] = {"data_page_size", PERFDATA_SAMPLE_DATA_PAGE_SIZE, "DATA_PAGE_SIZE", ANY_KIND},
    [SCRIPT_CODE_PAGE_SIZE] = {"code_page_size", PERFDATA_SAMPLE_CODE_PAGE_SIZE, "CODE_PAGE_SIZE", ANY_KIND},
    [SCRIPT_INS_LAT] = {"ins_lat", PERFDATA_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", ANY_KIND},
    [SCRIPT_RETIRE_LAT] = {"retire_lat", PERFDATA_SAMPLE_WEIGHT_STRUCT, "WEIGHT_STRUCT", ANY_KIND},
    [SCRIPT_MACHINE_PID] = {"machine_pid", 0, NULL, ANY_KIND},
    [SCRIPT_VCPU] = {"vcpu", 0, NULL, ANY_KIND},
    [SCRIPT_CGROUP] = {"cgroup", PERFDATA_SAMPLE_CGROUP, "CGROUP", ANY_KIND},
    [SCRIPT_INSN] = {"insn", 0, NULL, ANY_KIND},
    [SCRIPT_INSNLEN] = {"insnlen", 0, NULL, ANY_KIND},
    [SCRIPT_BRSTACKINSN] = {"brstackinsn", 0, NULL, ANY_KIND},
    [SCRIPT_BRSTACKINSNLEN] = {"brstackinsnlen", 0, NULL, ANY_KIND},
    [SCRIPT_BRSTACKDISASM] = {"brstackdisasm", 0, NULL, ANY_KIND},
    /* Of instruction traces; other samples show nothing. */
    [SCRIPT_CALLINDENT] = {"callindent", 0, NULL, ANY_KIND},
    [SCRIPT_IPC] = {"ipc", 0, NULL, ANY_KIND},
    [SCRIPT_METRIC] = {"metric", 0, NULL, ANY_KIND}, /* lines of their own: script_metric.h */
    [SCRIPT_GRADE] = {"grade", 0, NULL, ANY_KIND},
    [SCRIPT_IDENTITY] = {"identity", 0, NULL, ANY_KIND},
    [SCRIPT_PROVENANCE] = {"provenance", 0, NULL, ANY_KIND},
};

/* Fields of perf's that are not there yet. */
static const struct {
    const char *name, *why;
} absent_fields[] = {
    {"disasm", "insn has the bytes of the instruction"},
    {"srccode", "source files are not read; srcline says which line it is"},
    {"brcntr", "what a branch's counters count is not known"},
};

#define COMMON (SCRIPT_BIT(COMM) | SCRIPT_BIT(TID) | SCRIPT_BIT(CPU) | SCRIPT_BIT(TIME) | SCRIPT_BIT(EVENT))
#define PLACE  (SCRIPT_BIT(IP) | SCRIPT_BIT(SYM) | SCRIPT_BIT(SYMOFF) | SCRIPT_BIT(DSO))

struct kind_row {
    const char *prefix; /* before the colon of -F; NULL: cannot be named */
    const char *name;
    uint64_t defaults;
};

static const struct kind_row kinds[SCRIPT_KIND_COUNT] = {
    [SCRIPT_KIND_HARDWARE] = {"hw", "hardware", COMMON | PLACE | SCRIPT_BIT(PERIOD)},
    [SCRIPT_KIND_SOFTWARE] = {"sw", "software", COMMON | PLACE | SCRIPT_BIT(PERIOD) | SCRIPT_BIT(BPF_OUTPUT)},
    [SCRIPT_KIND_TRACE] = {"trace", "tracepoint", COMMON | SCRIPT_BIT(TRACE)},
    [SCRIPT_KIND_CACHE] = {NULL, "hardware-cache", COMMON | PLACE | SCRIPT_BIT(PERIOD)},
    [SCRIPT_KIND_RAW] = {"raw", "raw",
                         COMMON | PLACE | SCRIPT_BIT(PERIOD) | SCRIPT_BIT(ADDR) | SCRIPT_BIT(DATA_SRC) |
                             SCRIPT_BIT(WEIGHT) | SCRIPT_BIT(PHYS_ADDR) | SCRIPT_BIT(DATA_PAGE_SIZE) |
                             SCRIPT_BIT(CODE_PAGE_SIZE) | SCRIPT_BIT(INS_LAT) | SCRIPT_BIT(RETIRE_LAT)},
    [SCRIPT_KIND_BREAKPOINT] = {NULL, "breakpoint", COMMON | PLACE | SCRIPT_BIT(PERIOD)},
    [SCRIPT_KIND_OTHER] = {NULL, "unknown", COMMON | PLACE | SCRIPT_BIT(PERIOD)},
    [SCRIPT_KIND_SYNTH] = {"synth", "synth", COMMON | PLACE | SCRIPT_BIT(PERIOD) | SCRIPT_BIT(SYNTH)},
};

void script_fields_init(struct script_fields *f) {
    *f = (struct script_fields){0};
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++)
        f->chosen[k] = kinds[k].defaults;
}

const char *script_fields_name(size_t i) {
    return i < SCRIPT_FIELD_COUNT ? fields[i].name : NULL;
}

static int field_find(const char *name, size_t len) {
    for (int i = 0; i < SCRIPT_FIELD_COUNT; i++)
        if (strlen(fields[i].name) == len && !memcmp(fields[i].name, name, len))
            return i;
    return -1;
}

static bool field_unknown(const char *name, size_t len, struct err *err) {
    for (size_t i = 0; i < sizeof absent_fields / sizeof absent_fields[0]; i++)
        if (strlen(absent_fields[i].name) == len && !memcmp(absent_fields[i].name, name, len))
            return err_set(err, ERR_UNSUPPORTED, "-F", "field '%s' is not there yet: %s",
                           absent_fields[i].name, absent_fields[i].why);
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)len, name);
    struct nearest near = nearest_start(word);
    for (int i = 0; len < sizeof word && i < SCRIPT_FIELD_COUNT; i++)
        nearest_try(&near, fields[i].name);
    if (near.best)
        return err_set(err, ERR_USAGE, "-F", "Invalid field requested: '%.*s', did you mean '%s'?", (int)len,
                       name, near.best);
    return err_set(err, ERR_USAGE, "-F", "Invalid field requested: '%.*s'", (int)len, name);
}

/* One list being applied. */
struct change {
    unsigned kinds; /* bits of the kinds it is for */
    bool typed;     /* a kind was named */
    int sign;       /* of the last name: '+', '-' or 0 */
    bool signs, plain;
};

/* Takes one name, with or without a sign, into the masks. */
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
    int field = field_find(name, len);
    if (field < 0)
        return field_unknown(name, len, err);
    uint64_t bit = 1ull << field;
    for (int k = 0; k < SCRIPT_KIND_COUNT; k++) {
        if (!(c->kinds & 1u << k))
            continue;
        if (!(fields[field].kinds & 1u << k)) {
            if (c->typed)
                return err_set(err, ERR_USAGE, "-F", "'%s' not valid for %s events.", fields[field].name,
                               kinds[k].name);
            if (c->sign != '-')
                log_line(LOG_INFO, "'%s' not valid for %s events. Ignoring.", fields[field].name,
                         kinds[k].name);
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
    c->kinds = ANY_KIND;
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

/* Drops the fields that an event's samples lack; an error where the user named them. */
static bool drop_missing(const struct perfdata_event *event, uint64_t asked, uint64_t *mask,
                         struct err *err) {
    for (int i = 0; i < SCRIPT_FIELD_COUNT; i++) {
        uint64_t bit = 1ull << i;
        if (!(*mask & bit) || !fields[i].needs || (event->attr.sample_type & fields[i].needs))
            continue;
        const char *name = event->name ? event->name : "unknown";
        if (asked & bit)
            return err_set(err, ERR_ABSENT, "",
                           "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
                           name, fields[i].needs_name, fields[i].name);
        *mask &= ~bit;
    }
    return true;
}

bool script_fields_of(const struct script_fields *f, const struct perfdata_event *event, bool chains,
                      uint64_t *out, struct err *err) {
    enum script_kind kind = script_kind_of(&event->attr);
    uint64_t mask = f->chosen[kind], asked = f->asked[kind];
    /* A tracepoint's address says nothing; its callchain does. */
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
