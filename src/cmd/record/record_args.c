/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record/record_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/log.h"
#include "os/limits.h"
#include "record/plan/plan.h"

/* A number and what follows it; false when there is none. */
static bool read_u64(const char *text, uint64_t *n, const char **rest) {
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    *n = strtoull(text, &end, 0);
    *rest = end;
    return true;
}

static bool unit_shift(const char *text, unsigned *shift) {
    static const char UNITS[] = "BKMG";
    const char *p = *text ? strchr(UNITS, *text & ~0x20) : NULL;
    if (!p || text[1])
        return false;
    *shift = (unsigned)(p - UNITS) * 10;
    return true;
}

bool record_args_bytes(const char *text, uint64_t *bytes, struct err *e) {
    uint64_t n;
    unsigned shift;
    const char *rest;
    if (!read_u64(text, &n, &rest) || !unit_shift(rest, &shift) || n > UINT64_MAX >> shift || n == 0)
        return err_set(e, ERR_USAGE, NULL, "bad size '%s': use a number followed by B, K, M or G", text);
    *bytes = n << shift;
    return true;
}

static bool ring_pages(const char *text, uint64_t page_bytes, uint64_t *pages, struct err *e) {
    uint64_t n;
    unsigned shift;
    const char *rest;
    if (!read_u64(text, &n, &rest) || (*rest && !unit_shift(rest, &shift)) || n == 0 || n > 1ull << 40)
        return err_set(e, ERR_USAGE, NULL,
                       "bad ring size '%s': use a number of pages, or a number followed by B, K, M or G",
                       text);
    if (*rest)
        n = ((n << shift) + page_bytes - 1) / page_bytes;
    for (*pages = 1; *pages < n;)
        *pages *= 2;
    return *pages <= 1ull << 26 || err_set(e, ERR_USAGE, NULL, "a ring of %s is too large", text);
}

bool record_args_pages(const char *text, uint64_t page_bytes, uint64_t *pages, struct err *e) {
    uint64_t unused;
    char *rings = strdup(text);
    if (!rings)
        return err_memory(e, text);
    char *comma = strchr(rings, ',');
    if (comma)
        *comma++ = 0;
    *pages = 0;
    /* The size of AUX areas counts only for events that are not recorded anyway. */
    bool ok = (comma == rings + 1 || ring_pages(rings, page_bytes, pages, e)) &&
              (!comma || ring_pages(comma, page_bytes, &unused, e));
    free(rings);
    return ok;
}

bool record_args_callgraph(const char *text, struct record_options *o, struct err *e) {
    uint64_t n;
    const char *rest;
    size_t len = strcspn(text, ",");
    const char *arg = text[len] ? text + len + 1 : NULL;
    if (len == 2 && strncmp(text, "fp", 2) == 0) {
        o->callgraph = RECORD_CALLGRAPH_FP;
        if (arg && read_u64(arg, &n, &rest) && n && n <= UINT16_MAX) {
            o->max_stack = (uint16_t)n;
            arg = *rest == ',' ? rest + 1 : *rest ? rest : NULL;
        }
        o->defer_callchain = arg && strcmp(arg, "defer") == 0;
        return !arg || o->defer_callchain ||
               err_set(e, ERR_USAGE, NULL, "fp takes a number of frames and \"defer\", not '%s'", arg);
    }
    if (len == 5 && strncmp(text, "dwarf", 5) == 0) {
        o->callgraph = RECORD_CALLGRAPH_DWARF;
        if (!arg)
            return true;
        /* The record must hold it: 16 bits of size, less what else is in a sample. */
        if (!read_u64(arg, &n, &rest) || *rest || n == 0 || n > 65528)
            return err_set(e, ERR_USAGE, NULL, "bad stack size '%s': use 8 to 65528 bytes", arg);
        o->stack_bytes = (uint32_t)n;
        return true;
    }
    if (len == 3 && strncmp(text, "lbr", 3) == 0 && !arg) {
        o->callgraph = RECORD_CALLGRAPH_LBR;
        return true;
    }
    if (strcmp(text, "no") == 0) {
        o->callgraph = RECORD_CALLGRAPH_NONE;
        return true;
    }
    return err_set(e, ERR_USAGE, NULL, "unknown call-graph mode '%s': use fp, dwarf[,size] or lbr", text);
}

struct word {
    const char *name;
    uint64_t value;
};

/* enum perf_branch_sample_type of include/uapi/linux/perf_event.h. */
static const struct word BRANCHES[] = {
    {"u", 1 << 0},          {"k", 1 << 1},          {"hv", 1 << 2},
    {"any", 1 << 3},        {"any_call", 1 << 4},   {"any_ret", 1 << 5},
    {"ind_call", 1 << 6},   {"abort_tx", 1 << 7},   {"in_tx", 1 << 8},
    {"no_tx", 1 << 9},      {"cond", 1 << 10},      {"stack", 1 << 11},
    {"ind_jmp", 1 << 12},   {"call", 1 << 13},      {"no_flags", 1 << 14},
    {"no_cycles", 1 << 15}, {"save_type", 1 << 16}, {"hw_index", 1 << 17},
    {"priv", 1 << 18},      {"counter", 1 << 19},   {NULL, 0},
};

/* The bits that are a register's number: asm/perf_regs.h. */
static const struct word REGISTERS[] = {
#if defined(__x86_64__)
    {"ax", 0},   {"bx", 1},   {"cx", 2},    {"dx", 3},   {"si", 4},   {"di", 5},   {"bp", 6},
    {"sp", 7},   {"ip", 8},   {"flags", 9}, {"cs", 10},  {"ss", 11},  {"r8", 16},  {"r9", 17},
    {"r10", 18}, {"r11", 19}, {"r12", 20},  {"r13", 21}, {"r14", 22}, {"r15", 23},
#elif defined(__aarch64__)
    {"x0", 0},   {"x1", 1},   {"x2", 2},   {"x3", 3},   {"x4", 4},   {"x5", 5},   {"x6", 6},
    {"x7", 7},   {"x8", 8},   {"x9", 9},   {"x10", 10}, {"x11", 11}, {"x12", 12}, {"x13", 13},
    {"x14", 14}, {"x15", 15}, {"x16", 16}, {"x17", 17}, {"x18", 18}, {"x19", 19}, {"x20", 20},
    {"x21", 21}, {"x22", 22}, {"x23", 23}, {"x24", 24}, {"x25", 25}, {"x26", 26}, {"x27", 27},
    {"x28", 28}, {"x29", 29}, {"lr", 30},  {"sp", 31},  {"pc", 32},
#endif
    {NULL, 0},
};

/* clock_gettime(2), and perf's short names. */
static const struct word CLOCKS[] = {
    {"monotonic", CLOCK_MONOTONIC},
    {"mono", CLOCK_MONOTONIC},
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
    {"raw", CLOCK_MONOTONIC_RAW},
    {"realtime", CLOCK_REALTIME},
    {"real", CLOCK_REALTIME},
    {"boottime", CLOCK_BOOTTIME},
    {"boot", CLOCK_BOOTTIME},
    {"tai", CLOCK_TAI},
    {NULL, 0},
};

static const struct word *find_word(const struct word *words, const char *name, size_t len) {
    for (; words->name; words++)
        if (strlen(words->name) == len && strncasecmp(words->name, name, len) == 0)
            return words;
    return NULL;
}

bool record_args_branches(const char *text, uint64_t *bits, struct err *e) {
    static const uint64_t LEVELS = 7;
    *bits = 0;
    for (const char *p = text;;) {
        size_t len = strcspn(p, ",");
        const struct word *w = find_word(BRANCHES, p, len);
        if (!w)
            return err_set(e, ERR_USAGE, NULL, "unknown branch filter '%.*s'", (int)len, p);
        *bits |= w->value;
        if (!p[len])
            break;
        p += len + 1;
    }
    if (!(*bits & ~LEVELS))
        *bits |= 1 << 3; /* levels alone: any branch there */
    return true;
}

bool record_args_registers(const char *text, uint64_t *mask, struct err *e) {
    *mask = record_plan_all_regs();
    if (!text)
        return *mask || err_set(e, ERR_UNSUPPORTED, NULL, "registers of this machine are not known");
    if (strcmp(text, "?") == 0) {
        char names[300] = "";
        size_t n = 0;
        for (const struct word *w = REGISTERS; w->name && n < sizeof names; w++)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? " " : "", w->name);
        return err_set(e, ERR_USAGE, NULL, "available registers: %s", names);
    }
    *mask = 0;
    for (const char *p = text;;) {
        size_t len = strcspn(p, ",");
        const struct word *w = find_word(REGISTERS, p, len);
        if (!w)
            return err_set(e, ERR_USAGE, NULL, "this machine has no register '%.*s' ('?' lists them)",
                           (int)len, p);
        *mask |= 1ull << w->value;
        if (!p[len])
            return true;
        p += len + 1;
    }
}

bool record_args_synth(const char *text, struct record_options *o, struct err *e) {
    enum { TASKS = 1, MAPPINGS = 2, CGROUPS = 4 };
    static const struct word TYPES[] = {
        {"no", 0},
        {"task", TASKS},
        {"mmap", MAPPINGS | TASKS},
        {"cgroup", CGROUPS},
        {"all", TASKS | MAPPINGS | CGROUPS},
        {NULL, 0},
    };
    uint64_t set = 0;
    for (const char *p = text;;) {
        size_t len = strcspn(p, ",");
        const struct word *w = find_word(TYPES, p, len);
        if (!w)
            return err_set(e, ERR_USAGE, NULL, "cannot synthesize '%.*s': use task, mmap, cgroup, all or no",
                           (int)len, p);
        set |= w->value;
        if (!p[len])
            break;
        p += len + 1;
    }
    o->no_tasks = !(set & TASKS);
    o->no_mappings = !(set & MAPPINGS);
    o->no_cgroups = !(set & CGROUPS);
    return true;
}

bool record_args_keep(const char *text, enum record_keep_what *what, struct err *e) {
    static const struct word WHAT[] = {
        {"none", RECORD_KEEP_NONE}, {"unwind", RECORD_KEEP_UNWIND}, {"full", RECORD_KEEP_FULL}, {NULL, 0}};
    const struct word *w = find_word(WHAT, text, strlen(text));
    if (!w)
        return err_set(e, ERR_USAGE, NULL, "cannot keep '%s': use none, unwind or full", text);
    *what = (enum record_keep_what)w->value;
    return true;
}

bool record_args_affinity(const char *text, enum record_affinity *affinity, struct err *e) {
    static const struct word WHERE[] = {{"sys", RECORD_AFFINITY_SYSTEM},
                                        {"node", RECORD_AFFINITY_NODE},
                                        {"cpu", RECORD_AFFINITY_CPU},
                                        {NULL, 0}};
    const struct word *w = find_word(WHERE, text, strlen(text));
    if (!w)
        return err_set(e, ERR_USAGE, NULL, "unknown affinity '%s': use sys, node or cpu", text);
    *affinity = (enum record_affinity)w->value;
    return true;
}

bool record_args_clock(const char *text, int32_t *clockid, struct err *e) {
    uint64_t n;
    const char *rest;
    if (read_u64(text, &n, &rest) && !*rest && n <= INT32_MAX) {
        *clockid = (int32_t)n;
        return true;
    }
    const char *name = strncasecmp(text, "CLOCK_", 6) == 0 ? text + 6 : text;
    const struct word *w = find_word(CLOCKS, name, strlen(name));
    if (!w)
        return err_set(
            e, ERR_USAGE, NULL,
            "unknown clock '%s': use monotonic, monotonic_raw, realtime, boottime, tai or a number", text);
    *clockid = (int32_t)w->value;
    return true;
}

bool record_args_delay(const char *text, struct record_options *o, struct err *e) {
    uint64_t from = 0, to = 0, last = 0;
    const char *rest;
    o->range_count = 0;
    o->delay_ms = strcmp(text, "-1") == 0 ? -1 : 0;
    if (o->delay_ms == -1)
        return true;
    if (read_u64(text, &from, &rest) && !*rest && from <= INT32_MAX) {
        o->delay_ms = (int64_t)from;
        return true;
    }
    for (const char *p = text;; p = rest + 1) {
        bool ok = read_u64(p, &from, &rest) && *rest == '-' && read_u64(rest + 1, &to, &rest) &&
                  (!*rest || *rest == ',') && to <= INT32_MAX && from < to && (p == text || from > last);
        if (!ok)
            return err_set(
                e, ERR_USAGE, NULL,
                "bad delay '%s': use milliseconds, or ranges of them in ascending order such as 10-20,30-40",
                text);
        if (o->range_count == RECORD_RANGES_MAX)
            return err_set(e, ERR_USAGE, NULL, "more than %d ranges of time", RECORD_RANGES_MAX);
        o->ranges[o->range_count++] = (struct record_range){(int64_t)from, (int64_t)to};
        last = to;
        if (!*rest)
            break;
    }
    o->delay_ms = o->ranges[0].start_ms;
    return true;
}

bool record_args_switch(const char *text, struct record_options *o, struct err *e) {
    static const struct word UNITS[] = {
        {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}, {NULL, 0}};
    uint64_t n;
    const char *rest;
    o->switch_bytes = o->switch_ms = 0;
    if (strcmp(text, "signal") == 0)
        return true;
    /* A unit in lower case is one of time, as perf has it: 5m are minutes, 5M bytes. */
    if (read_u64(text, &n, &rest) && n && n < INT32_MAX && rest[0] >= 'a') {
        const struct word *w = find_word(UNITS, rest, strlen(rest));
        if (w) {
            o->switch_ms = n * w->value;
            return true;
        }
    }
    return record_args_bytes(text, &o->switch_bytes, NULL) ||
           err_set(e, ERR_USAGE, NULL, "'%s': use \"signal\", a size (B, K, M, G) or a time (s, m, h, d)",
                   text);
}

/* ---- for rows of options ---- */

bool record_take_pages(const struct option *row, void *field, const char *value, bool negated,
                       struct err *e) {
    (void)row;
    *(uint64_t *)field = 0;
    return negated || record_args_pages(value, os_limits_page_bytes(), field, e);
}

bool record_take_branches(const struct option *row, void *field, const char *value, bool negated,
                          struct err *e) {
    *(uint64_t *)field = 0;
    return negated || record_args_branches(row->letter == 'b' ? "any" : value, field, e);
}

bool record_args_rate(const char *freq, struct record_options *o, const struct sysfs *sys, struct err *err) {
    static const char LIMIT[] = "/proc/sys/kernel/perf_event_max_sample_rate";
    struct arena a = ARENA_INIT;
    if (!freq)
        return true;
    if (o->period)
        return err_set(err, ERR_USAGE, NULL, "use either -c or -F, not both");
    const char *text = sys->read(sys, LIMIT, &a, NULL);
    uint64_t max = text ? strtoull(text, NULL, 10) : 0;
    arena_fini(&a);
    char *end = NULL;
    bool to_max = strcmp(freq, "max") == 0;
    o->freq_hz = to_max ? max : strtoull(freq, &end, 10);
    if ((end && *end) || o->freq_hz == 0)
        return err_set(err, to_max ? ERR_UNSUPPORTED : ERR_USAGE, "-F",
                       to_max ? "the kernel does not say what the maximum is"
                              : "bad frequency '%s': use a number of Hz",
                       freq);
    if (to_max)
        log_line(LOG_INFO, "using the maximum frequency of %llu Hz", (unsigned long long)max);
    if (!max || o->freq_hz <= max)
        return true;
    if (o->strict_freq)
        return err_set(err, ERR_USAGE, "-F",
                       "%llu Hz is more than the kernel allows (%llu): sudo sysctl "
                       "kernel.perf_event_max_sample_rate=%llu",
                       (unsigned long long)o->freq_hz, (unsigned long long)max,
                       (unsigned long long)o->freq_hz);
    log_line(LOG_WARN,
             "%llu Hz is more than the kernel allows, recording with %llu Hz: for more, sudo sysctl "
             "kernel.perf_event_max_sample_rate=%llu",
             (unsigned long long)o->freq_hz, (unsigned long long)max, (unsigned long long)o->freq_hz);
    o->freq_hz = max;
    return true;
}

bool record_args_plain_callgraph(const struct perfconfig *config, struct record_options *o, struct err *err) {
    if (o->callgraph != RECORD_CALLGRAPH_NONE)
        return true;
    const char *mode = perfconfig_text(config, "call-graph.record-mode");
    const char *size = perfconfig_text(config, "call-graph.dump-size");
    o->callgraph = RECORD_CALLGRAPH_FP;
    if (mode && !record_args_callgraph(mode, o, err))
        return false;
    if (size && o->callgraph == RECORD_CALLGRAPH_DWARF)
        o->stack_bytes = (uint32_t)strtoul(size, NULL, 10);
    return true;
}

void record_args_join(struct perf_events *events) {
    for (size_t i = 0; i < events->items.count; i++) {
        struct perf_event *e = &events->items.items[i];
        e->leader = 0;
        e->members = i ? 0 : (uint32_t)events->items.count;
        e->group = NULL;
    }
}
