/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/sets.h"

#include <string.h>

#define SET(id, prefix, chosen, ...) static const struct calls_name id##_NAMES[] = {__VA_ARGS__};
#include "calls/set_rows.h"
#undef SET

static const struct calls_set SETS[] = {
#define SET(id, prefix, chosen, ...) \
    [CALLS_SET_##id] = {prefix, chosen, id##_NAMES, sizeof id##_NAMES / sizeof *id##_NAMES},
#include "calls/set_rows.h"
#undef SET
};

/* signal(7); the numbers of x86 and Arm. */
static const char *const SIGNALS[] = {
    NULL,   "HUP",  "INT",  "QUIT", "ILL",    "TRAP",   "ABRT",  "BUS",  "FPE",  "KILL", "USR1",
    "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD",  "CONT", "STOP", "TSTP", "TTIN",
    "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF",   "WINCH", "IO",   "PWR",  "SYS",
};

static const char *const ERRNOS[] = {
#define ERRNO(number, name) [number] = name,
#include "calls/errnos.h"
#undef ERRNO
};

const struct calls_set *calls_set(enum calls_set_id id, enum calls_flavour flavour) {
    if (id == CALLS_SET_OPEN && flavour == CALLS_FLAVOUR_ARM)
        id = CALLS_SET_OPEN_ARM;
    return id == CALLS_SET_NONE || id >= CALLS_SET_COUNT ? NULL : &SETS[id];
}

bool calls_set_names_zero(const struct calls_set *s) {
    for (size_t i = 0; i < s->count; i++)
        if (!s->names[i].value)
            return true;
    return false;
}

static void put_name(const struct calls_set *s, const char *name, bool prefix, bool *first, struct out *o) {
    if (!*first)
        out_char(o, '|');
    *first = false;
    if (*name == '=')
        name++;
    else if (prefix)
        out_str(o, s->prefix);
    out_str(o, name);
}

/* The name of the value in the bits `chosen`; NULL: it has none. */
static const char *find_chosen(const struct calls_set *s, uint64_t value) {
    for (size_t i = 0; s->chosen && i < s->count; i++)
        if (!(s->names[i].value & ~s->chosen) && s->names[i].value == (value & s->chosen))
            return s->names[i].name;
    return NULL;
}

void calls_set_put(const struct calls_set *s, uint64_t value, bool prefix, struct out *o) {
    uint64_t left = value;
    bool first = true;
    const char *chosen = find_chosen(s, value);
    if (chosen) {
        put_name(s, chosen, prefix, &first, o);
        left &= ~s->chosen;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct calls_name *n = &s->names[i];
        bool flag = !s->chosen || n->value & ~s->chosen;
        if (!flag || (n->value ? (left & n->value) != n->value : value != 0))
            continue;
        put_name(s, n->name, prefix, &first, o);
        left &= ~n->value;
    }
    if (!left && !first)
        return;
    if (!first)
        out_char(o, '|');
    out_str(o, left ? "0x" : "0");
    if (left)
        out_hex(o, left, 0);
}

const char *calls_signal_name(uint32_t signal) {
    return signal < sizeof SIGNALS / sizeof *SIGNALS ? SIGNALS[signal] : NULL;
}

/* Numbers that the kernel keeps for itself: include/linux/errno.h. */
static const struct inner {
    uint32_t number;
    const char *name, *text;
} INNER[] = {
    {512, "ERESTARTSYS", "begun again, if the signal's handler says so"},
    {513, "ERESTARTNOINTR", "begun again"},
    {514, "ERESTARTNOHAND", "begun again, if no handler runs"},
    {516, "ERESTART_RESTARTBLOCK", "goes on as restart_syscall, if no handler runs"},
};

const char *calls_errno_name(uint32_t number) {
    for (size_t i = 0; i < sizeof INNER / sizeof *INNER; i++)
        if (INNER[i].number == number)
            return INNER[i].name;
    return number < sizeof ERRNOS / sizeof *ERRNOS ? ERRNOS[number] : NULL;
}

const char *calls_errno_text(uint32_t number, bool *restarts) {
    *restarts = true;
    for (size_t i = 0; i < sizeof INNER / sizeof *INNER; i++)
        if (INNER[i].number == number)
            return INNER[i].text;
    *restarts = false;
    return strerror((int)number);
}
