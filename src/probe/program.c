/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/out.h"

enum {
    WORD = 8,
    PARENTHESES_MAX = 16,
    ARRAY_MAX = 64,
    HEAD = 8,             /* of common_type, common_flags, common_preempt_count, common_pid */
    STACK_WORDS_MAX = 512 /* of $stackN: a page */
};

#if defined(__x86_64__)
static const char *const NAMES[] = {"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10",   "r9", "r8", "ax",
                                    "cx",  "dx",  "si",  "di",  NULL, "ip", "cs",  "flags", "sp", "ss"};
static const struct probe_registers HERE = {NAMES, sizeof NAMES / sizeof *NAMES, 10, 19, 16};
#elif defined(__aarch64__)
static const char *const NAMES[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",    "x7",  "x8",
                                    "x9",  "x10", "x11", "x12", "x13", "x14", "x15",   "x16", "x17",
                                    "x18", "x19", "x20", "x21", "x22", "x23", "x24",   "x25", "x26",
                                    "x27", "x28", "x29", "x30", "sp",  "pc",  "pstate"};
static const struct probe_registers HERE = {NAMES, sizeof NAMES / sizeof *NAMES, 0, 31, 32};
#endif

const struct probe_registers *probe_registers_here(void) {
#if defined(__x86_64__) || defined(__aarch64__)
    return &HERE;
#else
    return NULL;
#endif
}

/* ---- types ---- */

struct type {
    char letter;        /* s, u, x, c(har), b(its), t(ext) */
    uint32_t size;      /* bytes of an element */
    uint32_t count;     /* of an array; 0: none */
    uint32_t width, at; /* of b: bits */
};

static bool is_size(unsigned long bits) {
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool parse_array(const char *text, struct type *t) {
    char *end;
    if (*text == '\0')
        return true;
    if (*text != '[')
        return false;
    unsigned long n = strtoul(text + 1, &end, 10);
    t->count = (uint32_t)n;
    return n >= 1 && n <= ARRAY_MAX && strcmp(end, "]") == 0;
}

/* b<width>@<first bit>/<container> */
static bool parse_bits(const char *text, struct type *t) {
    char *end;
    unsigned long width = strtoul(text + 1, &end, 10), at, container;
    if (*end != '@')
        return false;
    at = strtoul(end + 1, &end, 10);
    if (*end != '/')
        return false;
    container = strtoul(end + 1, &end, 10);
    *t = (struct type){'b', (uint32_t)container / 8, 0, (uint32_t)width, (uint32_t)at};
    return *end == '\0' && is_size(container) && width >= 1 && width <= container && at <= container - width;
}

/* The kernel's words (uprobetracer.rst). `text`: what a value has that was given no type. */
static bool parse_type(const char *type, bool comm, struct type *t) {
    char *end;
    *t = (struct type){.letter = comm ? 't' : 'x', .size = comm ? 4 : WORD};
    if (!type)
        return true;
    if (*type == 'b')
        return parse_bits(type, t);
    if (strncmp(type, "char", 4) == 0) {
        *t = (struct type){.letter = 'c', .size = 1};
        return parse_array(type + 4, t);
    }
    if (strcmp(type, "string") == 0 || strcmp(type, "ustring") == 0) {
        *t = (struct type){.letter = 't', .size = 4};
        return true;
    }
    if (!strchr("sux", *type) || type[1] < '0' || type[1] > '9')
        return false;
    unsigned long bits = strtoul(type + 1, &end, 10);
    *t = (struct type){.letter = *type, .size = (uint32_t)bits / 8};
    return is_size(bits) && parse_array(end, t);
}

/* ---- steps ---- */

struct making {
    const struct probe_event *e;
    const struct probe_registers *r;
    struct probe_program *p;
    const char *name; /* of the argument, for messages */
    struct err *err;
    struct out fields, format, values; /* of the format: its lines, and the print format's two halves */
};

static bool refuse(struct making *m, const char *why) {
    return err_set(m->err, ERR_UNSUPPORTED, m->name, "%s", why);
}

static bool push(struct making *m, uint32_t code, uint32_t at, int64_t value) {
    if (m->p->code.count == BPF_PROBE_OPS)
        return refuse(m, "one probe cannot fetch so much: leave arguments out");
    m->p->code.ops[m->p->code.count++] = (struct bpf_probe_op){code, at, value};
    return true;
}

static int find_register(const struct making *m, const char *name, size_t n) {
    for (uint32_t i = 0; i < m->r->count; i++)
        if (m->r->names[i] && strlen(m->r->names[i]) == n && !memcmp(m->r->names[i], name, n))
            return (int)i;
    return -1;
}

static bool number(const char *text, const char **end, int64_t *out) {
    char *stop;
    errno = 0;
    *out = strtoll(text, &stop, 0);
    if (errno == ERANGE && *text != '-')
        errno = 0, *out = (int64_t)strtoull(text, &stop, 0);
    *end = stop;
    return stop != text && errno == 0;
}

/* $retval, $stack, $stackN */
static bool special(struct making *m, const char *text, size_t n, bool *memory) {
    int64_t word = 0;
    const char *end = text + n;
    if (n == 7 && !memcmp(text, "$retval", n))
        return m->e->returns ? push(m, BPF_PROBE_REGISTER, (uint32_t)m->r->result, 0)
                             : refuse(m, "$retval is there when the function returns: FUNC%return");
    if (n < 6 || memcmp(text, "$stack", 6) != 0)
        return refuse(m, "cannot be fetched by record --probe");
    if (n > 6 && (!number(text + 6, &end, &word) || end != text + n || word < 0 || word >= STACK_WORDS_MAX))
        return refuse(m, "is no word of the stack");
    *memory = n > 6;
    return push(m, BPF_PROBE_REGISTER, (uint32_t)m->r->stack, 0) &&
           (n == 6 || push(m, BPF_PROBE_ADD, 0, word * WORD));
}

/* A value without parentheses around it. *memory: what comes out is the address where it lies. */
static bool plain(struct making *m, const char *text, size_t n, bool *memory) {
    int64_t value;
    const char *end;
    char copy[128];
    *memory = false;
    if (n == 0 || n >= sizeof copy)
        return refuse(m, "cannot be read as something to fetch");
    memcpy(copy, text, n);
    copy[n] = '\0';
    if (*copy == '%') {
        int word = find_register(m, copy + 1, n - 1);
        return word < 0 ? refuse(m, "there is no such register")
                        : push(m, BPF_PROBE_REGISTER, (uint32_t)word, 0);
    }
    if (*copy == '$')
        return special(m, copy, n, memory);
    if ((*copy != '\\' && *copy != '@') || !number(copy + 1 + (copy[1] == '+'), &end, &value) || *end)
        return refuse(m, "cannot be fetched by record --probe");
    if (*copy == '\\')
        return push(m, BPF_PROBE_NUMBER, 0, value);
    *memory = true;
    if (copy[1] != '+')
        return push(m, BPF_PROBE_NUMBER, 0, value);
    if (m->e->returns)
        return refuse(m, "where the program lies is not known at a return: probe the function itself");
    return push(m, BPF_PROBE_IMAGE, 0, (int64_t)((uint64_t)value - m->e->offset));
}

/* +8(-16(%bp)): from the innermost outwards. */
static bool value(struct making *m, const char *text, bool *memory) {
    int64_t more[PARENTHESES_MAX];
    size_t depth = 0;
    const char *at = text;
    while (*at == '+' || *at == '-') {
        char sign = *at++;
        at += *at == 'u';
        if (depth == PARENTHESES_MAX || *at == '-' || !number(at, &at, &more[depth]) || *at++ != '(')
            return refuse(m, "cannot be read as something to fetch");
        if (sign == '-')
            more[depth] = (int64_t)(0 - (uint64_t)more[depth]);
        depth++;
    }
    size_t n = strlen(at);
    for (size_t i = 0; i < depth; i++)
        if (n == 0 || at[--n] != ')')
            return refuse(m, "lacks a parenthesis");
    if (!plain(m, at, n, memory))
        return false;
    while (depth--) {
        if ((*memory && !push(m, BPF_PROBE_LOAD, WORD, 0)) || !push(m, BPF_PROBE_ADD, 0, more[depth]))
            return false;
        *memory = true;
    }
    return true;
}

static uint32_t bytes_of(const struct type *t) {
    return t->size * (t->count ? t->count : 1);
}

/* From the value to the record. */
static bool put(struct making *m, const struct type *t, bool memory) {
    uint32_t at = m->p->code.fixed;
    if (t->letter == 't')
        return memory ? push(m, BPF_PROBE_TEXT_TO, at, 0) : refuse(m, "is no text in memory: +0(...):string");
    if (t->count)
        return memory ? push(m, BPF_PROBE_COPY_TO, at, bytes_of(t)) : refuse(m, "is no array in memory");
    if (t->letter == 'b') {
        uint64_t mask = t->width == 64 ? UINT64_MAX : (1ull << t->width) - 1;
        return (!memory || push(m, BPF_PROBE_LOAD, t->size, 0)) &&
               push(m, BPF_PROBE_BITS, t->at, (int64_t)mask) && push(m, BPF_PROBE_STORE, at, t->size);
    }
    return push(m, memory ? BPF_PROBE_COPY_TO : BPF_PROBE_STORE, at, t->size);
}

/* ---- the format ---- */

static void field(struct making *m, const char *declaration, uint32_t at, uint32_t size, bool has_sign) {
    out_printf(&m->fields, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", declaration, at, size,
               has_sign);
}

/* How one element is printed. */
static void element(struct making *m, const struct type *t) {
    const char *wide = t->size == WORD ? "L" : "";
    if (t->letter == 'c')
        out_str(&m->format, "'%c'");
    else if (t->letter == 't')
        out_str(&m->format, "\\\"%s\\\"");
    else
        out_printf(&m->format, "%s%%%s%c", t->letter == 'x' ? "0x" : "", wide,
                   t->letter == 's'   ? 'd'
                   : t->letter == 'x' ? 'x'
                                      : 'u');
}

static void describe(struct making *m, const struct type *t, const char *name) {
    char declaration[160];
    if (t->letter == 't')
        snprintf(declaration, sizeof declaration, "__data_loc char[] %s", name);
    else
        snprintf(declaration, sizeof declaration, "%c%u %s%s", t->letter == 's' ? 's' : 'u', t->size * 8,
                 name, t->count ? "[]" : "");
    field(m, declaration, m->p->code.fixed, bytes_of(t), t->letter == 's' || t->letter == 't');
    out_printf(&m->format, " %s=%s", name, t->count ? "{" : "");
    for (uint32_t i = 0; i < (t->count ? t->count : 1); i++) {
        out_str(&m->format, i ? "," : "");
        element(m, t);
        if (t->letter == 't')
            out_printf(&m->values, ", __get_str(%s)", name);
        else if (t->count)
            out_printf(&m->values, ", REC->%s[%u]", name, i);
        else
            out_printf(&m->values, ", REC->%s", name);
    }
    out_str(&m->format, t->count ? "}" : "");
}

static void begin(struct making *m) {
    bool returns = m->e->returns;
    field(m, "unsigned short common_type", 0, 2, false);
    field(m, "unsigned char common_flags", 2, 1, false);
    field(m, "unsigned char common_preempt_count", 3, 1, false);
    field(m, "int common_pid", 4, 4, true);
    out_str(&m->fields, "\n");
    field(m, returns ? "unsigned long __probe_func" : "unsigned long __probe_ip", HEAD, WORD, false);
    if (returns)
        field(m, "unsigned long __probe_ret_ip", HEAD + WORD, WORD, false);
    out_str(&m->format, returns ? "\"(%lx <- %lx)" : "\"(%lx)");
    out_str(&m->values, returns ? "\", REC->__probe_func, REC->__probe_ret_ip" : "\", REC->__probe_ip");
    m->p->code.fixed = HEAD + WORD * (returns ? 2 : 1);
}

static bool finish(struct making *m, struct arena *a) {
    bool ok = !m->fields.failed && !m->format.failed && !m->values.failed;
    if (ok)
        m->p->format =
            arena_printf(a, "name: %s\nID: %u\nformat:\n%s\nprint fmt: %s%s\n", m->e->event, m->p->code.type,
                         out_text(&m->fields), out_text(&m->format), out_text(&m->values));
    return m->p->format || err_memory(m->err, "probe");
}

static bool add(struct making *m, const struct probe_fetch *f, size_t index) {
    char number_name[32];
    struct type t;
    bool memory = false, comm = strcmp(f->fetch, "$comm") == 0;
    snprintf(number_name, sizeof number_name, "arg%zu", index + 1); /* as the kernel calls it */
    m->name = f->name ? f->name : number_name;
    if (!parse_type(f->type, comm, &t) || (comm && t.letter != 't'))
        return err_set(m->err, ERR_UNSUPPORTED, m->name, "record --probe has no type %s", f->type);
    if (m->p->code.fixed + bytes_of(&t) > BPF_PROBE_FIXED - WORD)
        return refuse(m, "one probe cannot fetch so much: leave arguments out");
    if (comm ? !push(m, BPF_PROBE_COMM_TO, m->p->code.fixed, 0)
             : !value(m, f->fetch, &memory) || !put(m, &t, memory))
        return false;
    describe(m, &t, m->name);
    m->p->code.fixed += bytes_of(&t);
    return true;
}

static bool make(struct making *m, struct arena *a) {
    if (!out_init(&m->fields, NULL, NULL) || !out_init(&m->format, NULL, NULL) ||
        !out_init(&m->values, NULL, NULL))
        return err_memory(m->err, "probe");
    begin(m);
    for (size_t i = 0; i < m->e->args.count; i++)
        if (!add(m, &m->e->args.items[i], i))
            return false;
    return finish(m, a);
}

const struct probe_program *probe_program_new(const struct probe_event *e, const struct probe_registers *r,
                                              uint16_t id, struct arena *a, struct err *err) {
    struct probe_program *p = arena_zalloc(a, sizeof *p);
    struct making m = {.e = e, .r = r, .p = p, .err = err};
    if (!p) {
        err_memory(err, "probe");
        return NULL;
    }
    if (!e->path || !r) {
        err_set(err, ERR_UNSUPPORTED, "--probe",
                "arguments are fetched in programs only, on x86-64 and arm64: use sonde probe");
        return NULL;
    }
    p->group = arena_strndup(a, e->group, strlen(e->group));
    p->offset = e->offset;
    p->code.type = id;
    p->code.returns = e->returns;
    bool ok = (p->group || err_memory(err, "probe")) && make(&m, a);
    out_fini(&m.fields);
    out_fini(&m.format);
    out_fini(&m.values);
    return ok ? p : NULL;
}
