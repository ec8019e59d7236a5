/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/option.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/vec.h"

struct parser {
    const struct option *rows;
    char *into;
    char **next, **end; /* remaining arguments */
    struct option_result *r;
};

/* An option as it occurs on the command line. */
struct use {
    const struct option *row;
    char letter;      /* if it was given as -x */
    bool negated;     /* given as --no-x (or as --x, for a row named no-x) */
    const char *text; /* the value attached with = or to the letter, or NULL */
};

void option_list_fini(struct option_list *l) {
    vec_fini(l);
}

bool option_takes_value(const struct option *row) {
    return row->kind >= OPTION_KIND_INT && !(row->flags & OPTION_NO_VALUE);
}

bool option_negatable(const struct option *row) {
    if (row->flags & OPTION_NO_NEGATION)
        return false;
    return row->kind != OPTION_KIND_INT && row->kind != OPTION_KIND_U64;
}

bool option_absent(const struct option *row, void *field, const char *value, bool negated, struct err *e) {
    (void)field, (void)value;
    if (negated)
        return true;
    char letter[2] = {row->letter, 0};
    return err_set(e, ERR_UNSUPPORTED, "", "option %s%s is not there yet", row->name ? "--" : "-",
                   row->name ? row->name : letter);
}

static bool bad(struct parser *p, const struct use *u, const char *what) {
    const char *no = u->negated ? "no-" : "";
    const char *name = u->row->name;
    if (u->negated && strncmp(name, "no-", 3) == 0) {
        no = "";
        name += 3;
    }
    p->r->row = u->row;
    p->r->row_only = true;
    if (u->letter)
        return err_set(&p->r->err, ERR_USAGE, "", "switch `%c' %s", u->letter, what);
    return err_set(&p->r->err, ERR_USAGE, "", "option `%s%s' %s", no, name, what);
}

/* Decimal only, as perf: strtoull alone would take signs, blanks and a tail. */
static bool number(const char *text, bool sign_allowed, uint64_t *out, bool *negative) {
    *negative = sign_allowed && *text == '-';
    text += *negative;
    if (!isdigit((unsigned char)*text))
        return false;
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return errno == 0 && *end == 0;
}

static bool store_number(struct parser *p, const struct use *u, void *field, const char *value) {
    uint64_t v;
    bool negative;
    bool is_int = u->row->kind == OPTION_KIND_INT;
    if (!number(value, is_int, &v, &negative) || (is_int && v > INT_MAX))
        return bad(p, u, "expects a numerical value");
    if (is_int)
        *(int *)field = negative ? -(int)v : (int)v;
    else
        *(uint64_t *)field = v;
    return true;
}

static bool store_list(struct parser *p, struct option_list *list, const char *value) {
    if (!value) {
        vec_clear(list);
        return true;
    }
    const char **slot = vec_push(list);
    if (!slot)
        return err_memory(&p->r->err, "options");
    *slot = value;
    return true;
}

static bool store(struct parser *p, const struct use *u, const char *value) {
    void *field = p->into + u->row->offset;
    if (value && u->row->words && u->row->words < OPTION_WORDS_EVENTS && strcmp(value, "help") == 0) {
        p->r->status = OPTION_LIST_WORDS;
        p->r->row = u->row;
        return true;
    }
    switch (u->row->kind) {
    case OPTION_KIND_BOOL:
        *(bool *)field = !u->negated;
        return true;
    case OPTION_KIND_COUNT:
        *(int *)field = u->negated ? 0 : *(int *)field + 1;
        return true;
    case OPTION_KIND_INT:
    case OPTION_KIND_U64:
        return store_number(p, u, field, value);
    case OPTION_KIND_STRING:
        *(const char **)field = value;
        return true;
    case OPTION_KIND_LIST:
        return store_list(p, field, value);
    default:
        if (u->row->call(u->row, field, value, u->negated, &p->r->err))
            return true;
        p->r->row = u->row;
        p->r->row_only = true;
        return false;
    }
}

/* Finds the value that belongs to this use, which may be the next argument, and stores it. */
static bool apply(struct parser *p, const struct use *u) {
    if (u->negated || !option_takes_value(u->row)) {
        if (u->text)
            return bad(p, u, "takes no value");
        return store(p, u, NULL);
    }
    if (u->text)
        return store(p, u, u->text);
    bool adopt = u->row->flags & OPTION_VALUE_ADOPT;
    if (adopt && p->next < p->end && **p->next != '-')
        return store(p, u, *p->next++);
    if (adopt || (u->row->flags & OPTION_VALUE_OPTIONAL))
        return store(p, u, u->row->fallback);
    if (p->next == p->end)
        return bad(p, u, "requires a value");
    return store(p, u, *p->next++);
}

/* Splits the ways to write a long name: as it is, or negated by adding "no-" or removing it. */
static bool spelling(const struct option *row, bool negated, const char **prefix, const char **stem) {
    *prefix = "";
    *stem = row->name;
    if (!negated)
        return true;
    if (!option_negatable(row))
        return false;
    if (strncmp(row->name, "no-", 3) == 0)
        *stem += 3;
    else
        *prefix = "no-";
    return true;
}

/* Returns 0: no match; 1: `text` of `len` bytes is a proper prefix of prefix+stem; 2: it is all of it. */
static int match(const char *prefix, const char *stem, const char *text, size_t len) {
    size_t n = strlen(prefix);
    if (strncmp(text, prefix, len < n ? len : n) != 0)
        return 0;
    if (len <= n)
        return n ? 1 : 0;
    if (strncmp(stem, text + n, len - n) != 0)
        return 0;
    return stem[len - n] ? 1 : 2;
}

static bool unknown_long(struct parser *p, const char *text, size_t len) {
    char word[128];
    size_t n = len < sizeof word - 1 ? len : sizeof word - 1;
    memcpy(word, text, n);
    word[n] = 0;
    struct nearest near = nearest_start(word);
    for (const struct option *row = p->rows; row && row->kind; row++)
        if (row->name && !(row->flags & OPTION_HIDDEN))
            nearest_try(&near, row->name);
    if (near.best)
        return err_set(&p->r->err, ERR_USAGE, "", "unknown option `%s', did you mean `--%s'?", word,
                       near.best);
    return err_set(&p->r->err, ERR_USAGE, "", "unknown option `%s'", word);
}

/* Finds the row that `text` names in full, or else the only one that it is a prefix of. */
static bool find_long(struct parser *p, const char *text, size_t len, struct use *u) {
    struct use found[2];
    int count = 0;
    for (const struct option *row = p->rows; row && row->kind; row++) {
        for (int negated = 0; row->name && negated < 2; negated++) {
            const char *prefix, *stem;
            if (!spelling(row, negated, &prefix, &stem))
                continue;
            int how = match(prefix, stem, text, len);
            /* "--no" or "--n" alone negates nothing, and hidden names cannot be abbreviated, as they are not
             * listed. */
            bool only_no = len <= 3 && (*prefix || strncmp(stem, "no-", 3) == 0);
            if (how == 1 && (only_no || (row->flags & OPTION_HIDDEN)))
                continue;
            struct use this = {row, 0, negated, NULL};
            if (how == 2) {
                *u = this;
                return true;
            }
            if (how == 1 && count < 2 && (count == 0 || found[0].row != row))
                found[count++] = this;
        }
    }
    if (count == 1) {
        *u = found[0];
        return true;
    }
    if (count == 0)
        return unknown_long(p, text, len);
    const char *prefix[2], *stem[2];
    for (int i = 0; i < 2; i++)
        spelling(found[i].row, found[i].negated, &prefix[i], &stem[i]);
    return err_set(&p->r->err, ERR_USAGE, "", "ambiguous option: %.*s (could be --%s%s or --%s%s)", (int)len,
                   text, prefix[0], stem[0], prefix[1], stem[1]);
}

static const struct option *find_letter(const struct option *rows, char letter) {
    for (const struct option *row = rows; row && row->kind; row++)
        if (row->letter == letter)
            return row;
    return NULL;
}

static const struct option *find_name(const struct option *rows, const char *name) {
    for (const struct option *row = rows; row && row->kind; row++)
        if (row->name && strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static bool parse_long(struct parser *p, const char *text) {
    const char *eq = strchrnul(text, '=');
    struct use u;
    if (!find_long(p, text, (size_t)(eq - text), &u))
        return false;
    if (*eq)
        u.text = eq + 1;
    return apply(p, &u);
}

/* Parses the letters after one dash; sets *help at -h (unless the command has an h of its own). */
static bool parse_letters(struct parser *p, const char *text, bool *help) {
    /* "-freq" where --freq exists may be a mistake or bundled letters; for perf it is a mistake from three
     * letters on. */
    if (strlen(text) >= 3 && find_name(p->rows, text))
        return err_set(&p->r->err, ERR_USAGE, "", "did you mean `--%s' (with two dashes)?", text);
    while (*text) {
        const struct option *row = find_letter(p->rows, *text);
        if (!row && *text == 'h') {
            *help = true;
            return true;
        }
        if (!row)
            return err_set(&p->r->err, ERR_USAGE, "", "unknown switch `%c'", *text);
        struct use u = {row, *text++, false, NULL};
        if (option_takes_value(row) && *text) {
            u.text = text;
            return apply(p, &u);
        }
        if (!apply(p, &u))
            return false;
    }
    return true;
}

static bool known(struct parser *p, const char *arg) {
    struct option_result keep = *p->r;
    struct use u;
    bool yes = arg[1] == '-' ? find_long(p, arg + 2, (size_t)(strchrnul(arg, '=') - arg - 2), &u)
                             : arg[1] == 'h' || find_letter(p->rows, arg[1]);
    *p->r = keep;
    return yes;
}

struct option_result option_parse(const struct option *rows, void *into, unsigned flags, int argc,
                                  char **argv) {
    struct option_result r = {.status = OPTION_DONE};
    struct parser p = {rows, into, argv + 1, argv + argc, &r};
    char **operand = argv; /* operands gather at the front: argv[0] is free to use */
    bool help = false;
    while (p.next < p.end && !help) {
        char *arg = *p.next;
        if (arg[0] != '-' || !arg[1]) {
            if (flags & OPTION_STOP_AT_OPERAND)
                break;
            *operand++ = *p.next++;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            p.next++;
            break;
        }
        if ((flags & OPTION_KEEP_UNKNOWN) && !known(&p, arg))
            break;
        p.next++;
        if (strcmp(arg, "--help") == 0 && !find_name(rows, "help"))
            help = true;
        else if (!(arg[1] == '-' ? parse_long(&p, arg + 2) : parse_letters(&p, arg + 1, &help)))
            r.status = OPTION_BAD;
        if (r.status != OPTION_DONE)
            break;
    }
    if (help)
        r.status = OPTION_HELP;
    while (r.status != OPTION_BAD && p.next < p.end)
        *operand++ = *p.next++;
    *operand = NULL;
    r.argv = argv;
    r.argc = (int)(operand - argv);
    return r;
}

bool option_time_ns(const char *text, uint64_t bare, uint64_t *ns) {
    const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}, {"", bare}};
    char *end;
    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    for (size_t i = 0; !errno && i < sizeof units / sizeof *units; i++)
        if (units[i].ns && !strcmp(end, units[i].name) && n <= UINT64_MAX / units[i].ns) {
            *ns = n * units[i].ns;
            return true;
        }
    return false;
}
