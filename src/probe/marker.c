/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of markers: "SIZE@OPERAND", the operand in the assembler's syntax (SystemTap's wiki,
 * "UserSpaceProbeImplementation"). A negative size is a signed one. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "probe/arguments.h"

enum { OPERAND_ROOM = 64 };

/* The kernel's name of an x86-64 register of any width: %eax, %rax, %al -> ax; %r8d -> r8. */
static bool x86_register(const char *name, char out[8]) {
    static const char LEGACY[][3] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
    size_t n = strlen(name);
    if (*name++ != '%' || n < 3 || n > 5)
        return false;
    for (size_t i = 0; i < sizeof LEGACY / sizeof *LEGACY; i++) {
        const char *l = LEGACY[i];
        bool wide = (*name == 'r' || *name == 'e') && !strcmp(name + 1, l);
        bool low = name[0] == l[0] && name[1] == 'l' && !name[2] && l[1] == 'x'; /* %al; never %ah */
        bool low_index = !strncmp(name, l, 2) && name[2] == 'l' && !name[3] && l[1] != 'x';
        if (wide || low || low_index || !strcmp(name, l)) {
            snprintf(out, 8, "%.2s", l);
            return true;
        }
    }
    char *end;
    unsigned long k = *name == 'r' ? strtoul(name + 1, &end, 10) : 0;
    if (k < 8 || k > 15 || (*end && (end[1] || !strchr("dwb", *end))))
        return false;
    snprintf(out, 8, "r%lu", k);
    return true;
}

/* $5, %eax, -8(%rbp), (%rdi) */
static const char *x86_operand(const char *s, struct arena *a) {
    char reg[8], inside[OPERAND_ROOM], *end;
    if (*s == '$') {
        long long n = strtoll(s + 1, &end, 0);
        return *end || end == s + 1 ? NULL : arena_printf(a, "\\%lld", n);
    }
    if (x86_register(s, reg))
        return arena_printf(a, "%%%s", reg);
    long long offset = *s == '(' ? 0 : strtoll(s, &end, 0);
    const char *open = *s == '(' ? s : end;
    size_t n = strlen(open);
    if (*open != '(' || n < 3 || n >= OPERAND_ROOM || open[n - 1] != ')')
        return NULL;
    memcpy(inside, open + 1, n - 2);
    inside[n - 2] = '\0';
    return x86_register(inside, reg) ? arena_printf(a, "%+lld(%%%s)", offset, reg) : NULL;
}

/* 5, x0, w0, [sp, 8], [x1] */
static const char *arm64_operand(const char *s, struct arena *a) {
    char *end;
    if (*s == 'x' || *s == 'w') {
        unsigned long n = strtoul(s + 1, &end, 10);
        return *end || end == s + 1 || n > 30 ? NULL : arena_printf(a, "%%x%lu", n);
    }
    if (*s != '[') {
        long long n = strtoll(s, &end, 0);
        return *end || end == s ? NULL : arena_printf(a, "\\%lld", n);
    }
    char reg[8];
    size_t n = strcspn(++s, ",]");
    if (n >= sizeof reg)
        return NULL;
    memcpy(reg, s, n);
    reg[n] = '\0';
    if (strcmp(reg, "sp") != 0 && (*reg != 'x' || strtoul(reg + 1, &end, 10) > 30 || *end))
        return NULL;
    long long offset = s[n] == ',' ? strtoll(s + n + 1 + strspn(s + n + 1, " #"), &end, 0) : 0;
    if (s[n] == ',' ? strcmp(end, "]") != 0 : strcmp(s + n, "]") != 0)
        return NULL;
    return arena_printf(a, "%+lld(%%%s)", offset, reg);
}

static bool one(uint16_t machine, const char *word, unsigned number, struct arena *a,
                struct probe_fetch *out) {
    char *at;
    long size = strtol(word, &at, 10);
    long bytes = size < 0 ? -size : size;
    if (*at != '@' || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return false;
    out->fetch = machine == EM_X86_64    ? x86_operand(at + 1, a)
                 : machine == EM_AARCH64 ? arm64_operand(at + 1, a)
                                         : NULL;
    out->name = arena_printf(a, "arg%u", number);
    out->type = arena_printf(a, "%c%ld", size < 0 ? 's' : 'u', bytes * 8);
    return out->fetch && out->name && out->type;
}

/* The end of an argument: arm64's have spaces within brackets. */
static size_t word_length(const char *s) {
    size_t n = 0;
    for (bool inside = false; s[n] && (inside || s[n] != ' '); n++)
        inside = s[n] == '[' || (inside && s[n] != ']');
    return n;
}

bool probe_marker_arguments(uint16_t machine, const struct probe_spec *spec, struct bytes text,
                            struct arena *a, struct probe_event *out, struct err *err) {
    const char *s = text.size ? arena_strndup(a, (const char *)text.data, text.size) : "";
    if (!s)
        return err_memory(err, "arguments");
    for (unsigned number = 1; *(s += strspn(s, " ")); number++) {
        size_t n = word_length(s);
        struct probe_fetch f = {NULL, NULL, NULL};
        const char *word = arena_strndup(a, s, n);
        if (!word)
            return err_memory(err, "arguments");
        s += n;
        if (!one(machine, word, number, a, &f)) {
            log_line(spec->quiet ? LOG_DEBUG : LOG_WARN,
                     "%s: arg%u is left out: %s is nothing that the kernel can fetch", spec->text, number,
                     word);
            continue;
        }
        struct probe_fetch *slot = vec_push(&out->args);
        if (!slot)
            return err_memory(err, "arguments");
        *slot = f;
    }
    return true;
}
