/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/name_match.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (uint8_t)c >= 0x80;
}

/* The length of an operator's name at text[at] ("operator<<"), which may look like brackets; 0: none. */
static size_t operator_at(const char *text, size_t at) {
    static const char word[] = "operator";
    static const char *const brackets[] = {
        "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "()", "[]", "<", ">"};
    size_t n = sizeof word - 1;
    if (strncmp(text + at, word, n) != 0 || (at && is_word(text[at - 1])) || is_word(text[at + n]))
        return 0;
    for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
        if (strncmp(text + at + n, brackets[i], strlen(brackets[i])) == 0)
            return n + strlen(brackets[i]);
    return n;
}

/* ---- finding the parts of a name: all results are offsets ---- */

static bool ends_in(const char *name, size_t end, const char *what) {
    size_t n = strlen(what);
    return end >= n && memcmp(name + end - n, what, n) == 0;
}

/* The end without one of .cold, .part.0, .constprop.1, [clone .cold]. */
static size_t without_part(const char *name, size_t end) {
    static const char *const kinds[] = {".cold", ".part", ".constprop", ".isra", ".lto_priv", ".llvm"};
    static const char clone[] = " [clone ";
    if (end && name[end - 1] == ']') {
        for (size_t at = end - 1; at; at--)
            if (name[at] == '[')
                return strncmp(name + at - 1, clone, sizeof clone - 1) == 0 ? at - 1 : end;
        return end;
    }
    size_t at = end;
    while (at && isxdigit((unsigned char)name[at - 1]))
        at--;
    at = at < end && at && name[at - 1] == '.' ? at - 1 : end;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_in(name, at, kinds[i]) && at > strlen(kinds[i]))
            return at - strlen(kinds[i]);
    return end;
}

static size_t without_parts(const char *name, size_t end) {
    for (size_t shorter; (shorter = without_part(name, end)) != end;)
        end = shorter;
    return end;
}

static size_t without_qualifiers(const char *name, size_t end) {
    static const char *const qualifiers[] = {" const", " volatile", " &", " &&", " noexcept"};
    for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++)
        if (ends_in(name, end, qualifiers[i])) {
            end -= strlen(qualifiers[i]);
            i = SIZE_MAX; /* from the first on */
        }
    return end;
}

/* The end without the parameters in brackets, unless these brackets are part of the name. */
static size_t without_parameters(const char *name, size_t end) {
    static const char anonymous[] = "(anonymous namespace)";
    size_t depth = 0, at = end;
    if (!end || name[end - 1] != ')')
        return end;
    do {
        at--;
        depth += name[at] == ')';
        depth -= name[at] == '(';
    } while (at && depth);
    bool own = ends_in(name, at, "operator") && (at == 8 || !is_word(name[at - 9]));
    return depth || !at || own || strncmp(name + at, anonymous, sizeof anonymous - 1) == 0 ? end : at;
}

/* A walk over a name from its start that keeps track of open brackets. */
struct walk {
    size_t at, angles, others; /* open < , and ( [ { */
};

/* Steps over the byte or operator at w->at. Angle brackets within other brackets are ignored. */
static void step(struct walk *w, const char *name) {
    char c = name[w->at];
    if (!w->others) {
        size_t whole = operator_at(name, w->at);
        if (whole) {
            w->at += whole;
            return;
        }
        bool arrow = c == '>' && w->at && name[w->at - 1] == '-';
        w->angles += c == '<';
        w->angles -= c == '>' && !arrow && w->angles;
    }
    w->others += c == '(' || c == '[' || c == '{';
    w->others -= (c == ')' || c == ']' || c == '}') && w->others;
    w->at++;
}

/* Where the function's own name begins, after its return type; *arguments: where its last template arguments
 * begin, or `end`. */
static size_t own_start(const char *name, size_t end, size_t *arguments) {
    struct walk w = {0};
    size_t start = 0, opened = end;
    bool closed = false, in_operator = false;
    while (w.at < end) {
        size_t at = w.at, angles = w.angles;
        bool outside = !w.angles && !w.others;
        if (outside && operator_at(name, at))
            in_operator = true; /* operator new, operator unsigned int */
        else if (outside && name[at] == ':')
            in_operator = false;
        if (outside && name[at] == ' ' && !in_operator)
            start = at + 1;
        step(&w, name);
        if (!angles && w.angles && outside)
            opened = at;
        closed = angles && !w.angles;
    }
    *arguments = closed && opened < end ? opened : end;
    return start;
}

/* ---- comparing ---- */

static bool is_range(const char *name, size_t from, size_t to, const char *wanted, size_t size) {
    return to >= from && to - from == size && memcmp(name + from, wanted, size) == 0;
}

/* Whether the range without <...> and [abi:...] is `wanted`. */
static bool is_without_arguments(const char *name, size_t from, size_t to, const char *wanted) {
    static const char tag[] = "[abi:";
    struct walk w = {from, 0, 0};
    while (w.at < to) {
        size_t at = w.at;
        bool in_angles = w.angles;
        if (!in_angles && !w.others && strncmp(name + at, tag, sizeof tag - 1) == 0) {
            size_t size = strcspn(name + at, "]") + 1;
            w.at = at + size < to ? at + size : to;
            continue;
        }
        step(&w, name);
        if (in_angles || w.angles)
            continue;
        size_t size = (w.at < to ? w.at : to) - at;
        if (strncmp(wanted, name + at, size) != 0)
            return false;
        wanted += size;
    }
    return !*wanted && !w.angles;
}

/* Rewrites Rust's <a::B<T>>::f, a type's own function (not a trait's), as a::B<T>::f. False: it is no such
 * name, or does not fit. */
static bool unwrap(const char *name, char *to, size_t room) {
    static const char as[] = " as ";
    struct walk w = {0};
    size_t size = strlen(name);
    if (*name != '<' || size > room)
        return false;
    do {
        if (w.angles == 1 && !w.others && strncmp(name + w.at, as, sizeof as - 1) == 0)
            return false;
        step(&w, name);
    } while (w.at < size && w.angles);
    if (w.angles || strncmp(name + w.at, "::", 2) != 0)
        return false;
    memcpy(to, name + 1, w.at - 2);
    memcpy(to + w.at - 2, name + w.at, size - w.at + 1);
    return true;
}

static bool matches(const char *name, const char *wanted) {
    const char *colon = strrchr(wanted, ':');
    const char *tail = colon ? colon + 1 : wanted;
    if (!*tail || !strstr(name, tail)) /* most are refused here */
        return false;
    size_t size = strlen(wanted), ends[4], arguments;
    ends[0] = without_parts(name, strlen(name));
    ends[1] = without_qualifiers(name, ends[0]);
    ends[2] = without_parameters(name, ends[1]);
    size_t start = own_start(name, ends[2], &arguments);
    ends[3] = arguments;
    if (ends[3] && name[ends[3] - 1] == ' ') /* operator<< <char> */
        ends[3]--;
    else if (ends[3] < ends[2] && ends_in(name, ends[3], "::")) /* Rust: f::<u8> */
        ends[3] -= 2;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (is_range(name, 0, ends[i], wanted, size) || is_range(name, start, ends[i], wanted, size))
            return true;
    return is_without_arguments(name, start, ends[3], wanted);
}

bool symbol_name_matches(const char *name, const char *wanted) {
    enum { ROOM = 1024 };
    char plain[ROOM];
    return strcmp(name, wanted) == 0 || matches(name, wanted) ||
           (unwrap(name, plain, sizeof plain) && matches(plain, wanted));
}

size_t symbol_name_in_list(const char *list) {
    struct walk w = {0};
    while (list[w.at] && (list[w.at] != ',' || w.angles || w.others))
        step(&w, list);
    return w.angles || w.others ? strcspn(list, ",") : w.at;
}
