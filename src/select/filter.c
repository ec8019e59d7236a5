/* SPDX-License-Identifier: Apache-2.0 */
#include "select/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/name_match.h"

typedef VEC(struct filter_range) ranges;

static bool read_number(const char **at, uint64_t *out) {
    char *end;
    if (!isdigit((unsigned char)**at))
        return false;
    errno = 0;
    unsigned long long v = strtoull(*at, &end, 10);
    if (errno || v > UINT32_MAX)
        return false;
    *at = end;
    *out = v;
    return true;
}

/* "3" or "1-4", separated by commas. */
static bool read_list(const char *option, const char *text, void *into, struct err *err) {
    ranges *list = into;
    for (const char *at = text; *at;) {
        struct filter_range r;
        bool ok = read_number(&at, &r.first);
        r.last = r.first;
        if (ok && *at == '-') {
            at++;
            ok = read_number(&at, &r.last);
        }
        if (!ok || r.last < r.first || (*at && *at != ','))
            return err_set(err, ERR_USAGE, option, "Invalid list '%s': give numbers and ranges, like 0,2-4",
                           text);
        struct filter_range *slot = vec_push(list);
        if (!slot)
            return err_memory(err, option);
        *slot = r;
        at += *at == ',';
    }
    if (!list->count)
        return err_set(err, ERR_USAGE, option, "the list is empty");
    return true;
}

static bool add_name(const char *option, struct filter_names *names, const char *text, size_t len,
                     struct err *err) {
    if (!len)
        return true;
    char **slot = vec_push(&names->list);
    if (!slot || !(*slot = strndup(text, len)))
        return err_memory(err, option);
    return true;
}

static bool add_file(const char *option, struct filter_names *names, const char *path, struct err *err) {
    FILE *file = fopen(path, "re");
    if (!file)
        return err_errno(err, errno, path, "cannot open the list for %s", option);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool ok = true;
    while (ok && (n = getline(&line, &cap, file)) >= 0) {
        while (n > 0 && isspace((unsigned char)line[n - 1]))
            n--;
        ok = add_name(option, names, line, (size_t)n, err);
    }
    if (ok && ferror(file))
        ok = err_errno(err, errno, path, "cannot read the list for %s", option);
    free(line);
    fclose(file);
    return ok;
}

static size_t to_comma(const char *text) {
    return strcspn(text, ",");
}

/* `first`: how long the first name of a list is. */
static bool parse_names(const char *option, const char *text, size_t (*first)(const char *),
                        struct filter_names *names, struct err *err) {
    static const char prefix[] = "file://";
    if (!strncmp(text, prefix, sizeof prefix - 1))
        return add_file(option, names, text + sizeof prefix - 1, err);
    for (const char *at = text; *at;) {
        size_t len = first(at);
        if (!add_name(option, names, at, len, err))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}

bool filter_names_parse(const char *option, const char *text, struct filter_names *names, struct err *err) {
    return parse_names(option, text, to_comma, names, err);
}

bool filter_symbols_parse(const char *option, const char *text, struct filter_names *names, struct err *err) {
    return parse_names(option, text, symbol_name_in_list, names, err);
}

void filter_names_fini(struct filter_names *names) {
    for (size_t i = 0; i < names->list.count; i++)
        free(names->list.items[i]);
    vec_fini(&names->list);
}

bool filter_names_has(const struct filter_names *names, const char *name) {
    for (size_t i = 0; name && i < names->list.count; i++)
        if (!strcmp(name, names->list.items[i]))
            return true;
    return false;
}

bool filter_symbols_has(const struct filter_names *names, const char *name) {
    for (size_t i = 0; name && i < names->list.count; i++)
        if (symbol_name_matches(name, names->list.items[i]))
            return true;
    return false;
}

bool filter_parse(const struct filter_options *o, struct filter *f, struct err *err) {
    return (!o->cpus || read_list("--cpu", o->cpus, &f->cpus, err)) &&
           (!o->pids || read_list("--pid", o->pids, &f->pids, err)) &&
           (!o->tids || read_list("--tid", o->tids, &f->tids, err)) &&
           (!o->comms || filter_names_parse("--comms", o->comms, &f->comms, err));
}

void filter_fini(struct filter *f) {
    vec_fini(&f->cpus);
    vec_fini(&f->pids);
    vec_fini(&f->tids);
    filter_names_fini(&f->comms);
}

bool filter_check_cpus(const struct filter_options *o, const struct perfdata_events *events,
                       struct err *err) {
    for (size_t i = 0; o->cpus && i < events->list.count; i++)
        if (!(events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_CPU))
            return err_set(err, ERR_ABSENT, NULL,
                           "File does not contain CPU events. Remove -C option to proceed.");
    return true;
}

static bool contains(const struct filter_range *list, size_t count, uint32_t v) {
    for (size_t i = 0; i < count; i++)
        if (v >= list[i].first && v <= list[i].last)
            return true;
    return count == 0;
}

bool filter_cpu(const struct filter *f, uint32_t cpu) {
    return contains(f->cpus.items, f->cpus.count, cpu);
}

bool filter_sample(const struct filter *f, const struct model *m, const struct perfdata_sample *s,
                   struct model_when when) {
    if (!contains(f->cpus.items, f->cpus.count, s->cpu) || !contains(f->pids.items, f->pids.count, s->pid) ||
        !contains(f->tids.items, f->tids.count, s->tid))
        return false;
    return !f->comms.list.count || filter_names_has(&f->comms, model_comm(m, s->pid, s->tid, when, NULL));
}
