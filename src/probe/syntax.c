/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/syntax.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 4096, ARGS_MAX = 128 /* MAX_TRACE_ARGS of the kernel */, STEPS_MAX = 32 };

/* The first character of `set` that no backslash precedes; the end if there is none. C++'s "::" is no
 * separator. */
static const char *find(const char *s, const char *set) {
    for (; *s; s++) {
        if (*s == '\\' && s[1])
            s++;
        else if (*s == ':' && s[1] == ':')
            s++;
        else if (strchr(set, *s))
            return s;
    }
    return s;
}

/* A copy without the backslashes that protect characters. */
static const char *plain(struct arena *a, const char *s, const char *end) {
    char *copy = arena_alloc(a, (size_t)(end - s) + 1), *to = copy;
    if (!copy)
        return NULL;
    for (; s < end; s++) {
        if (*s == '\\' && s + 1 < end)
            s++;
        *to++ = *s;
    }
    *to = '\0';
    return copy;
}

static bool is_name(const char *s) {
    if (!isalpha((unsigned char)*s) && *s != '_')
        return false;
    for (; *s; s++)
        if (!isalnum((unsigned char)*s) && *s != '_')
            return false;
    return true;
}

static bool read_number(const char *s, const char *end, uint64_t *out) {
    char *stop;
    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    *out = strtoull(s, &stop, 0);
    return stop == end && !errno;
}

static bool read_line(const char *s, const char *end, uint32_t *out) {
    uint64_t n;
    if (!read_number(s, end, &n) || n > INT32_MAX)
        return false;
    *out = (uint32_t)n;
    return true;
}

/* ---- arguments ---- */

static bool add_step(struct probe_arg *arg, struct object_debug_step step, struct err *err) {
    if (arg->steps.count >= STEPS_MAX)
        return err_set(err, ERR_USAGE, arg->text, "has too many members and indexes");
    struct object_debug_step *slot = vec_push(&arg->steps);
    if (!slot)
        return err_memory(err, "arguments");
    *slot = step;
    return true;
}

/* var->a.b[3] */
static bool parse_variable(const char *s, struct arena *a, struct probe_arg *arg, struct err *err) {
    const char *at = s + strcspn(s, "-.[");
    arg->kind = PROBE_ARG_VARIABLE;
    arg->text = arena_strndup(a, s, (size_t)(at - s));
    if (!arg->text)
        return err_memory(err, "arguments");
    if (!is_name(arg->text))
        return err_set(err, ERR_USAGE, s,
                       "is no variable, register (%%ax), $retval, $stack, $comm, @symbol or +8(%%sp)");
    while (*at) {
        struct object_debug_step step = {.arrow = at[0] == '-' && at[1] == '>'};
        if (*at == '[') {
            uint64_t n;
            const char *end = strchr(at, ']');
            if (!end || !read_number(at + 1, end, &n) || n > INT64_MAX)
                return err_set(err, ERR_USAGE, s, "expected a number and ']' after '['");
            step.index = (int64_t)n;
            at = end + 1;
        } else if (*at == '.' || step.arrow) {
            at += step.arrow ? 2 : 1;
            size_t n = strcspn(at, "-.[");
            step.name = arena_strndup(a, at, n);
            if (!step.name)
                return err_memory(err, "arguments");
            if (!is_name(step.name))
                return err_set(err, ERR_USAGE, s, "expected the name of a member after '%s'",
                               step.arrow ? "->" : ".");
            at += n;
        } else {
            return err_set(err, ERR_USAGE, s, "expected '->', '.' or '[' where it says '%s'", at);
        }
        if (!add_step(arg, step, err))
            return false;
    }
    return true;
}

/* @SYMBOL[+-OFFSET], @ADDRESS, @+FILE_OFFSET */
static bool parse_at(const char *s, struct arena *a, struct probe_arg *arg, struct err *err) {
    const char *sign = s + 1 + strcspn(s + 1, "+-");
    uint64_t n = 0;
    if (isdigit((unsigned char)s[1]) || s[1] == '+') {
        arg->kind = PROBE_ARG_KERNEL;
        arg->text = s;
        return true;
    }
    if (sign == s + 1 || (*sign && (!read_number(sign + 1, sign + strlen(sign), &n) || n > INT64_MAX)))
        return err_set(err, ERR_USAGE, s, "expected @SYMBOL, @SYMBOL+OFFSET, or @ADDRESS");
    arg->kind = PROBE_ARG_SYMBOL;
    arg->text = arena_strndup(a, s + 1, (size_t)(sign - s - 1));
    arg->number = *sign == '-' ? -(int64_t)n : (int64_t)n;
    return arg->text || err_memory(err, "arguments");
}

static bool parse_value(const char *s, struct arena *a, struct probe_arg *arg, struct err *err) {
    if (!*s)
        return err_set(err, ERR_USAGE, "argument", "is empty");
    if (!strcmp(s, "$params") || !strcmp(s, "$vars")) {
        arg->kind = s[1] == 'p' ? PROBE_ARG_PARAMS : PROBE_ARG_VARS;
        arg->text = s;
        return arg->name || arg->type
                   ? err_set(err, ERR_USAGE, s,
                             "stands for several variables: it can have neither a name nor a type")
                   : true;
    }
    if (*s == '@')
        return parse_at(s, a, arg, err);
    if (*s == '%' || *s == '$' || *s == '\\' || ((*s == '+' || *s == '-') && strchr(s, '('))) {
        arg->kind = PROBE_ARG_KERNEL;
        arg->text = s;
        return true;
    }
    return parse_variable(s, a, arg, err);
}

/* What the kernel's documentation lists (Documentation/trace/kprobetrace.rst), and perf's u, s and x. */
static bool is_type(const char *t) {
    static const char *const WORDS[] = {"string", "ustring", "symbol", "symstr", "char", "u", "s", "x"};
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (!strcmp(t, WORDS[i]))
            return true;
    char letter = *t;
    if (!letter || !strchr("usxb", letter))
        return false;
    char *end;
    if (!isdigit((unsigned char)t[1]))
        return false;
    unsigned long bits = strtoul(t + 1, &end, 10);
    if (letter == 'b') {
        if (*end != '@' || !isdigit((unsigned char)end[1]))
            return false;
        unsigned long from = strtoul(end + 1, &end, 10);
        unsigned long of = *end == '/' && isdigit((unsigned char)end[1]) ? strtoul(end + 1, &end, 10) : 0;
        return !*end && bits && bits <= 64 && (of == 8 || of == 16 || of == 32 || of == 64) &&
               from + bits <= of;
    }
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64)
        return false;
    if (*end == '[') {
        unsigned long n = isdigit((unsigned char)end[1]) ? strtoul(end + 1, &end, 10) : 0;
        return n >= 1 && n <= 64 && !strcmp(end, "]");
    }
    return !*end;
}

static bool parse_arg(const char *word, struct arena *a, struct probe_arg *arg, struct err *err) {
    char *s = arena_strndup(a, word, strlen(word));
    if (!s)
        return err_memory(err, "arguments");
    char *equals = strchr(s, '=');
    if (equals) {
        *equals = '\0';
        arg->name = s;
        s = equals + 1;
        if (!is_name(arg->name))
            return err_set(err, ERR_USAGE, word, "'%s' is no name for an argument: letters, digits and _",
                           arg->name);
    }
    size_t n = strlen(s);
    if (n > 5 && !strcmp(s + n - 5, "@user")) {
        arg->user = true;
        s[n - 5] = '\0';
    }
    char *colon = strchr(s, ':');
    if (colon) {
        *colon = '\0';
        arg->type = colon + 1;
        if (!is_type(arg->type))
            return err_set(
                err, ERR_USAGE, word,
                "'%s' is no type: u8 to u64, s8 to s64, x8 to x64, u, s, x, string, ustring, symbol, "
                "b<bits>@<offset>/<size>",
                arg->type);
    }
    return parse_value(s, a, arg, err);
}

static bool parse_args(const char *s, struct arena *a, struct probe_spec *out, struct err *err) {
    char *copy = arena_alloc(a, strlen(s) + 1), *to = copy;
    if (!copy)
        return err_memory(err, "arguments");
    for (;;) {
        s += strspn(s, " \t\n");
        size_t n = strcspn(s, " \t\n");
        if (!n)
            break;
        struct probe_arg *arg = out->args.count < ARGS_MAX ? vec_push(&out->args) : NULL;
        if (!arg)
            return out->args.count < ARGS_MAX
                       ? err_memory(err, "arguments")
                       : err_set(err, ERR_USAGE, out->text, "has more than %d arguments", ARGS_MAX);
        const char *word = arena_strndup(a, s, n);
        if (!word)
            return err_memory(err, "arguments");
        if (!parse_arg(word, a, arg, err))
            return false;
        if (to != copy)
            *to++ = ' ';
        memcpy(to, s, n);
        to += n;
        s += n;
    }
    *to = '\0';
    out->args_text = copy;
    return true;
}

/* ---- places ---- */

static bool bad(struct err *err, const struct probe_spec *s, const char *what) {
    return err_set(err, ERR_USAGE, s->text, "%s", what);
}

/* [GROUP:]EVENT before the equals sign. */
static bool parse_event(const char *s, const char *end, struct arena *a, struct probe_spec *out,
                        struct err *err) {
    const char *colon = find(s, ":=");
    if (colon < end) {
        out->group = plain(a, s, colon);
        s = colon + 1;
        if (out->group && !is_name(out->group))
            return bad(err, out, "the name of an event's group has letters, digits and _ only");
    }
    out->event = plain(a, s, end);
    if (!out->event || (colon < end && !out->group))
        return err_memory(err, "probe");
    return is_name(out->event) || bad(err, out, "the name of an event has letters, digits and _ only");
}

static bool parse_sdt(const char *s, struct arena *a, struct probe_spec *out, struct err *err) {
    const char *colon = find(s, ":");
    if (*colon) {
        bool marker = strncmp(s, "sdt_", 4) == 0;
        if (colon == s + 4 * marker || !colon[1])
            return bad(err, out, "expected %sdt_PROVIDER:NAME or %GROUP:EVENT");
        out->cached_group = plain(a, s, colon);
        out->sdt_provider = marker ? plain(a, s + 4, colon) : NULL;
        if (!out->cached_group || (marker && !out->sdt_provider))
            return err_memory(err, "probe");
        s = colon + 1;
    }
    out->sdt_name = plain(a, s, s + strlen(s));
    if (!out->sdt_name)
        return err_memory(err, "probe");
    return *s ? true : bad(err, out, "expected the name of a marker after '%'");
}

/* What follows a function's name. */
static bool parse_tail(const char *s, struct arena *a, struct probe_spec *out, struct err *err) {
    while (*s) {
        const char *end = *s == ';' ? s + strlen(s) : find(s + 1, ";:+@%");
        switch (*s) {
        case '@':
            out->file = plain(a, s + 1, end);
            if (out->file && !*out->file)
                return bad(err, out, "expected a source file after '@'");
            break;
        case '+':
            if (!read_number(s + 1, end, &out->offset))
                return bad(err, out, "expected a number of bytes after '+'");
            break;
        case ':':
            if (!read_line(s + 1, end, &out->line))
                return bad(err, out, "expected a line number after ':'");
            out->has_line = true;
            break;
        case ';':
            out->pattern = plain(a, s + 1, end);
            if (out->pattern && !*out->pattern)
                return bad(err, out, "expected a pattern of source text after ';'");
            break;
        default:
            if ((size_t)(end - s) != 7 || strncmp(s, "%return", 7) != 0)
                return bad(err, out, "expected %return after the function's name");
            out->returns = true;
        }
        s = end;
    }
    if (!out->function && (out->returns || out->offset))
        return bad(err, out, "lines have neither offsets nor %return: those need a function");
    if ((out->returns || out->offset || out->has_line || out->pattern) &&
        out->returns + (out->offset > 0) + out->has_line + (out->pattern != NULL) > 1)
        return bad(err, out, "offset, line, pattern and %return exclude each other");
    return true;
}

/* As perf: what has a full stop or a slash and goes on with a line or a pattern is a file. */
static bool names_file(const char *s, const char *end) {
    bool path = memchr(s, '/', (size_t)(end - s)) || memchr(s, '.', (size_t)(end - s));
    return path && (*end == ':' || *end == ';') && *find(s, "+@%") == '\0';
}

static bool parse_place(const char *s, struct arena *a, struct probe_spec *out, struct err *err) {
    const char *equals = find(s, "=;"), *end;
    if (*equals == '=') {
        if (!parse_event(s, equals, a, out, err))
            return false;
        s = equals + 1;
    }
    out->place = s;
    if (*s == '%' || !strncmp(s, "sdt_", 4))
        return parse_sdt(s + (*s == '%'), a, out, err);
    if (!strncmp(s, "0x", 2)) {
        out->has_address = read_number(s, s + strlen(s), &out->address);
        return out->has_address || bad(err, out, "expected an address: 0x and hexadecimal digits");
    }
    end = find(s, ";:+@%");
    const char *name = plain(a, s, end);
    if (!name)
        return err_memory(err, "probe");
    if (!*name)
        return bad(err, out, "expected a function or a source file");
    if (names_file(s, end))
        out->file = name;
    else
        out->function = name;
    out->glob = out->function && strpbrk(name, "*?[") && !strstr(name, "operator");
    return parse_tail(end, a, out, err);
}

bool probe_spec_parse(const char *text, struct arena *arena, struct probe_spec *out, struct err *err) {
    *out = (struct probe_spec){.text = text, .args_text = ""};
    text += strspn(text, " \t\n");
    if (strlen(text) > TEXT_MAX)
        return err_set(err, ERR_USAGE, "probe", "is longer than %d bytes", TEXT_MAX);
    /* A pattern of source text may have spaces only where a backslash precedes them. */
    const char *end = text;
    while (*end && !strchr(" \t\n", *end))
        end += *end == '\\' && end[1] ? 2 : 1;
    out->text = arena_strndup(arena, text, (size_t)(end - text));
    if (!out->text)
        return err_memory(err, "probe");
    if (!*out->text)
        return err_set(err, ERR_USAGE, "probe", "is empty: say where, as in FUNC, FUNC:LINE or FILE:LINE");
    return parse_place(out->text, arena, out, err) && parse_args(end, arena, out, err);
}

void probe_spec_fini(struct probe_spec *s) {
    for (size_t i = 0; i < s->args.count; i++)
        vec_fini(&s->args.items[i].steps);
    vec_fini(&s->args);
}

/* ---- ranges of lines ---- */

bool probe_lines_parse(const char *text, struct arena *arena, struct probe_lines *out, struct err *err) {
    const char *colon = find(text, ":"), *at = find(text, "@:");
    const char *name = plain(arena, text, at);
    *out = (struct probe_lines){.last = UINT32_MAX};
    if (!name)
        return err_memory(err, "lines");
    if (*at == '@') {
        out->function = name;
        if (!(out->file = plain(arena, at + 1, colon)))
            return err_memory(err, "lines");
    } else if (strpbrk(name, "./")) {
        out->file = name;
    } else {
        out->function = name;
    }
    if (!*name || (out->file && !*out->file))
        return err_set(err, ERR_USAGE, text, "expected a function or a source file");
    if (!*colon)
        return true;
    const char *s = colon + 1, *sign = s + strcspn(s, "+-"), *end = s + strlen(s);
    uint32_t n = 0;
    out->has_first = true;
    if (!read_line(s, sign, &out->first) || (*sign && !read_line(sign + 1, end, &n)))
        return err_set(err, ERR_USAGE, text, "expected LINE, LINE+COUNT or LINE-LINE after ':'");
    if (*sign == '+')
        out->last = out->first + (n ? n - 1 : 0);
    else if (*sign == '-')
        out->last = n;
    if (out->last < out->first)
        return err_set(err, ERR_USAGE, text, "the last line is before the first");
    return true;
}
