/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/filter.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

enum { DEPTH_MAX = 64, PATTERN_ROOM = 256 };

/*   any: all ('|' all)*    all: one ('&' one)*    one: '!' one | '(' any ')' | PATTERN   */
struct reader {
    const char *at, *name;
    unsigned depth;
    const char *wrong; /* what was expected; NULL: nothing is wrong */
};

static bool any(struct reader *r);

static bool fail(struct reader *r, const char *expected) {
    r->wrong = r->wrong ? r->wrong : expected;
    return false;
}

static void skip(struct reader *r) {
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool pattern(struct reader *r) {
    char glob[PATTERN_ROOM];
    size_t n = 0;
    bool brackets = false; /* [!a-z]: no operator within */
    for (; r->at[n] && (brackets || !strchr("!&|() \t", r->at[n])) && n < PATTERN_ROOM - 1; n++) {
        glob[n] = r->at[n];
        brackets = glob[n] == '[' ? strchr(r->at + n, ']') != NULL : brackets && glob[n] != ']';
    }
    glob[n] = '\0';
    r->at += n;
    return n && n < PATTERN_ROOM - 1 ? r->name && fnmatch(glob, r->name, 0) == 0 : fail(r, "a pattern");
}

static bool one(struct reader *r) {
    bool result;
    skip(r);
    if (r->depth >= DEPTH_MAX)
        return fail(r, "fewer parentheses");
    r->depth++;
    if (*r->at == '!') {
        r->at++;
        result = !one(r);
    } else if (*r->at == '(') {
        r->at++;
        result = any(r);
        skip(r);
        if (*r->at == ')')
            r->at++;
        else
            fail(r, "')'");
    } else {
        result = pattern(r);
    }
    r->depth--;
    return result;
}

static bool all(struct reader *r) {
    bool result = one(r);
    for (skip(r); !r->wrong && *r->at == '&'; skip(r)) {
        r->at++;
        result &= one(r);
    }
    return result;
}

static bool any(struct reader *r) {
    bool result = all(r);
    for (skip(r); !r->wrong && *r->at == '|'; skip(r)) {
        r->at++;
        result |= all(r);
    }
    return result;
}

bool probe_filter_check(const char *filter, struct err *err) {
    struct reader r = {.at = filter};
    any(&r);
    skip(&r);
    if (!r.wrong && *r.at)
        r.wrong = "'&' or '|'";
    return !r.wrong || err_set(err, ERR_USAGE, filter, "is no filter: expected %s at '%s'", r.wrong, r.at);
}

bool probe_filter_passes(const char *filter, const char *name) {
    struct reader r = {.at = filter, .name = name};
    return !filter || any(&r);
}
