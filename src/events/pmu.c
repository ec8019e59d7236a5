/* SPDX-License-Identifier: Apache-2.0 */
#include "events/pmu.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define DEVICES "/sys/bus/event_source/devices"

enum { PATH_ROOM = 512 };

void pmu_set_init(struct pmu_set *s, const struct sysfs *sys) {
    *s = (struct pmu_set){.sys = sys};
}

void pmu_set_fini(struct pmu_set *s) {
    for (size_t i = 0; i < s->items.count; i++) {
        vec_fini(&s->items.items[i].formats);
        vec_fini(&s->items.items[i].aliases);
    }
    vec_fini(&s->items);
    arena_fini(&s->arena);
}

size_t pmu_count(struct pmu_set *s) {
    if (s->listed)
        return s->items.count;
    struct err err = ERR_INIT;
    struct sysfs_names names;
    if (!s->sys->list(s->sys, DEVICES, &s->arena, &names, &err) || !vec_reserve(&s->items, names.count)) {
        /* Without event_source there are no PMUs to name; memory is asked for again at the next call. */
        s->listed = err.code != ERR_NONE && err.code != ERR_MEMORY;
        return 0;
    }
    for (size_t i = 0; i < names.count; i++)
        vec_push(&s->items)->name = names.items[i];
    s->listed = true;
    return s->items.count;
}

/* A file of the PMU; NULL when it is not there. */
static const char *text(struct pmu_set *s, const struct pmu *p, const char *file) {
    char path[PATH_ROOM];
    struct err err = ERR_INIT;
    if (snprintf(path, sizeof path, DEVICES "/%s/%s", p->name, file) >= (int)sizeof path)
        return NULL;
    return s->sys->read(s->sys, path, &s->arena, &err);
}

static bool number(const char *t, uint64_t max, uint64_t *out) {
    if (!t || !isdigit((unsigned char)*t))
        return false;
    char *end;
    *out = strtoull(t, &end, 10);
    return *end == '\0' && *out <= max;
}

static void read_head(struct pmu_set *s, struct pmu *p) {
    uint64_t type, precise = 3;
    p->head = PMU_BROKEN;
    if (!number(text(s, p, "type"), UINT32_MAX, &type))
        return;
    const char *cpus = text(s, p, "cpus");
    p->type = (uint32_t)type;
    p->core = cpus || strcmp(p->name, "cpu") == 0;
    p->cpus = cpus ? cpus : text(s, p, "cpumask");
    if (p->cpus && !*p->cpus)
        p->cpus = NULL;
    if (!number(text(s, p, "caps/max_precise"), 3, &precise))
        precise = 3;
    p->max_precise = (uint8_t)precise;
    /* The PMUs that trace into an AUX area, by the names their drivers register. */
    static const char *const AUX[] = {"intel_pt", "intel_bts", "arm_spe", "cs_etm", "hisi_ptt", "s390_sf"};
    for (size_t i = 0; i < sizeof AUX / sizeof *AUX; i++)
        p->aux |= strncmp(p->name, AUX[i], strlen(AUX[i])) == 0;
    p->head = PMU_READ;
}

const struct pmu *pmu_at(struct pmu_set *s, size_t i) {
    struct pmu *p = &s->items.items[i];
    if (p->head == PMU_UNREAD)
        read_head(s, p);
    return p->head == PMU_READ ? p : NULL;
}

/* "config:0-7,32-35" or "config1:5" */
static bool parse_format(const char *t, struct pmu_format *f) {
    if (strncmp(t, "config", 6) != 0)
        return false;
    t += 6;
    if (*t >= '1' && *t <= '4')
        f->word = (unsigned)(*t++ - '0');
    if (*t++ != ':')
        return false;
    for (;;) {
        if (!isdigit((unsigned char)*t))
            return false;
        char *end;
        unsigned long low = strtoul(t, &end, 10), high = low;
        if (*end == '-') {
            if (!isdigit((unsigned char)end[1]))
                return false;
            high = strtoul(end + 1, &end, 10);
        }
        if (low > high || high > 63)
            return false;
        f->bits |= (high == 63 ? 0 : 1ull << (high + 1)) - (1ull << low);
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        t = end + 1;
    }
}

static bool list(struct pmu_set *s, const struct pmu *p, const char *dir, struct sysfs_names *names,
                 struct err *err) {
    char path[PATH_ROOM];
    struct err why = ERR_INIT;
    *names = (struct sysfs_names){NULL, 0};
    if (snprintf(path, sizeof path, DEVICES "/%s/%s", p->name, dir) >= (int)sizeof path ||
        s->sys->list(s->sys, path, &s->arena, names, &why))
        return true;
    return why.code != ERR_MEMORY || err_memory(err, path);
}

static bool read_formats(struct pmu_set *s, struct pmu *p, struct err *err) {
    struct sysfs_names names;
    char path[PATH_ROOM];
    if (!list(s, p, "format", &names, err) || !vec_reserve(&p->formats, names.count))
        return err_memory(err, p->name);
    for (size_t i = 0; i < names.count; i++) {
        struct pmu_format f = {.name = names.items[i]};
        if (snprintf(path, sizeof path, "format/%s", f.name) >= (int)sizeof path)
            continue;
        const char *t = text(s, p, path);
        /* A word that this program does not know makes the term unknown, not the PMU useless. */
        if (t && parse_format(t, &f))
            *vec_push(&p->formats) = f;
    }
    return true;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), e = strlen(end);
    return n > e && strcmp(name + n - e, end) == 0;
}

static const char *beside(struct pmu_set *s, const struct pmu *p, const char *name, const char *end) {
    char path[PATH_ROOM];
    if (snprintf(path, sizeof path, "events/%s%s", name, end) >= (int)sizeof path)
        return NULL;
    return text(s, p, path);
}

static bool listed(const struct sysfs_names *names, const char *name, const char *end) {
    for (size_t i = 0; i < names->count; i++) {
        size_t n = strlen(name);
        if (strncmp(names->items[i], name, n) == 0 && strcmp(names->items[i] + n, end) == 0)
            return true;
    }
    return false;
}

static bool read_aliases(struct pmu_set *s, struct pmu *p, struct err *err) {
    static const char *const ENDS[] = {".scale", ".unit", ".per-pkg", ".snapshot"};
    struct sysfs_names names;
    if (!list(s, p, "events", &names, err) || !vec_reserve(&p->aliases, names.count))
        return err_memory(err, p->name);
    bool extras = false; /* most PMUs have none: no search for them then */
    for (size_t i = 0; i < names.count; i++)
        for (size_t j = 0; j < 4; j++)
            extras |= ends_with(names.items[i], ENDS[j]);
    for (size_t i = 0; i < names.count; i++) {
        struct pmu_alias a = {.name = names.items[i], .scale = 1};
        bool extra = false;
        for (size_t j = 0; j < 4; j++)
            extra |= ends_with(a.name, ENDS[j]);
        a.terms = extra ? NULL : beside(s, p, a.name, "");
        if (!a.terms)
            continue;
        if (extras) {
            const char *scale = listed(&names, a.name, ".scale") ? beside(s, p, a.name, ".scale") : NULL;
            a.unit = listed(&names, a.name, ".unit") ? beside(s, p, a.name, ".unit") : NULL;
            a.per_pkg = listed(&names, a.name, ".per-pkg");
            a.snapshot = listed(&names, a.name, ".snapshot");
            char *end;
            double v = scale ? strtod(scale, &end) : 1;
            a.scale = scale && end != scale ? v : 1;
        }
        *vec_push(&p->aliases) = a;
    }
    return true;
}

bool pmu_detail(struct pmu_set *s, const struct pmu *pmu, struct err *err) {
    struct pmu *p = &s->items.items[pmu - s->items.items];
    if (p->detail == PMU_READ)
        return true;
    vec_clear(&p->formats);
    vec_clear(&p->aliases);
    if (!read_formats(s, p, err) || !read_aliases(s, p, err))
        return false;
    p->detail = PMU_READ;
    return true;
}

const struct pmu *pmu_find(struct pmu_set *s, const char *name, size_t n) {
    for (size_t i = 0, count = pmu_count(s); i < count; i++)
        if (strlen(s->items.items[i].name) == n && memcmp(s->items.items[i].name, name, n) == 0)
            return pmu_at(s, i);
    return NULL;
}

/* The length of a name without "_" and a number, as in uncore_imc_0 or hisi_sccl1_ddrc0. */
static size_t stem(const char *name, size_t n) {
    size_t i = n;
    while (i && isdigit((unsigned char)name[i - 1]))
        i--;
    if (i == n || i == 0)
        return n;
    return name[i - 1] == '_' ? i - 1 : i;
}

static bool same(const char *a, size_t an, const char *b, size_t bn) {
    return an == bn && strncasecmp(a, b, an) == 0;
}

bool pmu_match(const struct pmu *p, const char *pattern, size_t n) {
    char glob[128];
    const char *short_name = strncmp(p->name, "uncore_", 7) == 0 ? p->name + 7 : p->name;
    size_t name_len = strlen(p->name), short_len = strlen(short_name);
    if (memchr(pattern, '*', n) || memchr(pattern, '?', n) || memchr(pattern, '[', n)) {
        if (n >= sizeof glob)
            return false;
        memcpy(glob, pattern, n);
        glob[n] = '\0';
        return fnmatch(glob, p->name, FNM_CASEFOLD) == 0 || fnmatch(glob, short_name, FNM_CASEFOLD) == 0;
    }
    return same(p->name, name_len, pattern, n) || same(short_name, short_len, pattern, n) ||
           same(p->name, stem(p->name, name_len), pattern, n) ||
           same(short_name, stem(short_name, short_len), pattern, n);
}

const struct pmu_format *pmu_find_format(const struct pmu *p, const char *name, size_t n) {
    for (size_t i = 0; i < p->formats.count; i++)
        if (strlen(p->formats.items[i].name) == n && memcmp(p->formats.items[i].name, name, n) == 0)
            return &p->formats.items[i];
    return NULL;
}

const struct pmu_alias *pmu_find_alias(const struct pmu *p, const char *name, size_t n) {
    for (size_t i = 0; i < p->aliases.count; i++)
        if (same(p->aliases.items[i].name, strlen(p->aliases.items[i].name), name, n))
            return &p->aliases.items[i];
    return NULL;
}

bool pmu_format_put(const struct pmu_format *f, uint64_t value, uint64_t words[5], uint64_t *max) {
    int width = __builtin_popcountll(f->bits);
    *max = width == 64 ? UINT64_MAX : (1ull << width) - 1;
    if (value > *max)
        return false;
    uint64_t at = f->bits, word = words[f->word] & ~f->bits;
    for (; at; at &= at - 1, value >>= 1)
        if (value & 1)
            word |= at & -at;
    words[f->word] = word;
    return true;
}
