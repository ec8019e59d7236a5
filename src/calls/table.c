/* SPDX-License-Identifier: Apache-2.0 */
#include "calls/table.h"

#include <fnmatch.h>
#include <string.h>

enum row_id {
#define ROW(call, ...) ROW_##call,
#include "calls/rows.h"
#undef ROW
};

static const struct calls_row ROWS[] = {
#define A(name_, kind_, set_, width_) \
    { .name = name_, .kind = CALLS_##kind_, .set = CALLS_SET_##set_, .width = width_ }
#define M(name_, kind_, shape_, when_, many_)                                            \
    {                                                                                    \
        .name = name_, .kind = CALLS_##kind_, .width = 8, .shape = CALLS_SHAPE_##shape_, \
        .when = CALLS_##when_, .many = CALLS_##many_                                     \
    }
#define ROW(call, returns, count, ...) {#call, CALLS_##returns, count, {__VA_ARGS__}},
#include "calls/rows.h"
#undef ROW
#undef M
#undef A
};

#define CALL(number, name, row) [number] = {name, &ROWS[ROW_##row]},
#define PLAIN(number, name)     [number] = {name, NULL},
static const struct calls_table_entry X86_64[] = {
#include "calls/numbers_x86_64.h"
};
static const struct calls_table_entry I386[] = {
#include "calls/numbers_i386.h"
};
/* The table of all newer architectures: arm64, riscv, loongarch. */
static const struct calls_table_entry GENERIC[] = {
#include "calls/numbers_generic.h"
};
#undef CALL
#undef PLAIN

#define TABLE(machine, flavour, entries) \
    { machine, CALLS_FLAVOUR_##flavour, entries, sizeof entries / sizeof *entries }
static const struct calls_table TABLES[] = {
    TABLE("x86_64", USUAL, X86_64), TABLE("i386", USUAL, I386),       TABLE("i486", USUAL, I386),
    TABLE("i586", USUAL, I386),     TABLE("i686", USUAL, I386),       TABLE("aarch64", ARM, GENERIC),
    TABLE("arm64", ARM, GENERIC),   TABLE("riscv64", USUAL, GENERIC), TABLE("loongarch64", USUAL, GENERIC),
};

enum { X32_BIT = 0x40000000 };

const struct calls_table *calls_table(const char *machine, bool compat) {
    if (!machine)
        return NULL;
    if (compat)
        machine = strcmp(machine, "x86_64") == 0 ? "i386" : "";
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++)
        if (strcmp(TABLES[i].machine, machine) == 0)
            return &TABLES[i];
    return NULL;
}

static const struct calls_table_entry *find(const struct calls_table *t, int64_t number) {
    if (!t || number < 0)
        return NULL;
    if (number & X32_BIT &&
        number < 2ll * X32_BIT) /* x32 has calls of its own from 512 on, which are not in the table */
        number &= ~(int64_t)X32_BIT;
    return (uint64_t)number < t->count && t->entries[number].name ? &t->entries[number] : NULL;
}

const char *calls_table_name(const struct calls_table *t, int64_t number) {
    const struct calls_table_entry *e = find(t, number);
    return e ? e->name : NULL;
}

const struct calls_row *calls_table_row(const struct calls_table *t, int64_t number) {
    const struct calls_table_entry *e = find(t, number);
    return e ? e->row : NULL;
}

bool calls_table_has(const struct calls_table *t, const char *glob) {
    for (size_t i = 0; t && i < t->count; i++)
        if (t->entries[i].name && fnmatch(glob, t->entries[i].name, 0) == 0)
            return true;
    return false;
}
