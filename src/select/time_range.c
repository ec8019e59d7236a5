/* SPDX-License-Identifier: Apache-2.0 */
#include "select/time_range.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NS_DIGITS = 9 };
#define NS_PER_SECOND 1000000000ull

bool time_ranges_relative(const char *text) {
    return strchr(text, '%') != NULL;
}

void time_ranges_fini(struct time_ranges *r) {
    vec_fini(&r->list);
}

/* Reads "123.456" as nanoseconds and steps past it. False: no such number. */
static bool read_seconds(const char **at, uint64_t *ns) {
    uint64_t value = 0, fraction = 0, unit = NS_PER_SECOND;
    const char *p = *at;
    bool any = false;
    for (; isdigit((unsigned char)*p); p++, any = true)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p - '0', &value))
            return false;
    if (*p == '.') {
        p++;
        for (int n = 0; isdigit((unsigned char)*p); p++, n++, any = true) {
            if (n == NS_DIGITS)
                return false;
            unit /= 10;
            fraction += (uint64_t)(*p - '0') * unit;
        }
    }
    *at = p;
    return any && !__builtin_mul_overflow(value, NS_PER_SECOND, ns) &&
           !__builtin_add_overflow(*ns, fraction, ns);
}

/* One "start,stop" up to a space or the end. */
static bool read_absolute(const char **at, struct time_range *r) {
    *r = (struct time_range){0, UINT64_MAX};
    if (**at != ',' && !read_seconds(at, &r->first_ns))
        return false;
    if (**at != ',')
        return false;
    ++*at;
    if (**at && **at != ' ' && !read_seconds(at, &r->last_ns))
        return false;
    return (!**at || **at == ' ') && r->first_ns <= r->last_ns;
}

/* A number from 0 to 100 before a percent sign, as a fraction of 1. */
static bool read_percent(const char **at, double *out) {
    char *end;
    if (!isdigit((unsigned char)**at) && **at != '.')
        return false;
    double v = strtod(*at, &end);
    if (*end != '%' || !(v >= 0 && v <= 100))
        return false;
    *at = end + 1;
    *out = v / 100;
    return true;
}

/* One "a%/n", "a%-b%" or "a%" up to a comma or the end. */
static bool read_relative(const char **at, uint64_t first_ns, uint64_t last_ns, struct time_range *r) {
    double from = 0, to;
    if (!read_percent(at, &to))
        return false;
    if (**at == '/') {
        char *end;
        ++*at;
        unsigned long n = isdigit((unsigned char)**at) ? strtoul(*at, &end, 10) : 0;
        /* The last part may be cut short by rounding, but not lie after the end. */
        if (n == 0 || to * (double)n > 1 + 1e-9)
            return false;
        *at = end;
        from = to * (double)(n - 1);
        to *= (double)n;
    } else if (**at == '-') {
        from = to;
        ++*at;
        if (!read_percent(at, &to))
            return false;
    }
    if (**at && **at != ',')
        return false;
    double total = (double)(last_ns - first_ns);
    r->first_ns = first_ns + (uint64_t)(from * total + 0.5);
    r->last_ns = first_ns + (uint64_t)(to * total + 0.5);
    if (r->last_ns >= last_ns)
        r->last_ns = last_ns;
    else if (r->last_ns > r->first_ns)
        r->last_ns--;
    return true;
}

static int by_start(const void *a, const void *b) {
    const struct time_range *x = a, *y = b;
    return x->first_ns < y->first_ns ? -1 : x->first_ns > y->first_ns;
}

/* Sorts the ranges. Overlapping slices become one; absolute ranges that overlap are a mistake: false. */
static bool settle(struct time_ranges *out, bool relative) {
    if (!out->list.count)
        return true;
    struct time_range *r = out->list.items;
    qsort(r, out->list.count, sizeof *r, by_start);
    size_t kept = 1;
    for (size_t i = 1; i < out->list.count; i++) {
        if (r[i].first_ns > r[kept - 1].last_ns) {
            r[kept++] = r[i];
        } else if (!relative) {
            return false;
        } else if (r[i].last_ns > r[kept - 1].last_ns) {
            r[kept - 1].last_ns = r[i].last_ns;
        }
    }
    out->list.count = kept;
    return true;
}

bool time_ranges_parse(const char *text, uint64_t first_ns, uint64_t last_ns, struct time_ranges *out,
                       struct err *err) {
    bool relative = time_ranges_relative(text), ok = true;
    const char *at = text;
    while (*at == ' ')
        at++;
    if (!*at)
        return err_set(err, ERR_USAGE, "--time", "Invalid time string: it is empty");
    while (*at && ok) {
        struct time_range r;
        ok = relative ? read_relative(&at, first_ns, last_ns, &r) : read_absolute(&at, &r);
        struct time_range *slot = ok ? vec_push(&out->list) : NULL;
        if (ok && !slot)
            return err_memory(err, "--time");
        if (ok)
            *slot = r;
        while (ok && (*at == ' ' || (relative && *at == ',')))
            at++;
    }
    if (!ok)
        return err_set(err, ERR_USAGE, "--time", "Invalid time string '%s'", text);
    if (!settle(out, relative))
        return err_set(err, ERR_USAGE, "--time", "Invalid time string '%s': the ranges overlap", text);
    return true;
}
