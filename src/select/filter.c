/* SPDX-License-Identifier: Apache-2.0 */
#include "select/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/name_match.h"

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

bool filter_ranges_parse(const char *option, const char *text, struct filter_ranges *ranges,
                         struct err *err) {
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
        struct filter_range *slot = vec_push(&ranges->list);
        if (!slot)
            return err_memory(err, option);
        *slot = r;
        at += *at == ',';
    }
    if (!ranges->list.count)
        return err_set(err, ERR_USAGE, option, "the list is empty");
    return true;
}

void filter_ranges_fini(struct filter_ranges *ranges) {
    vec_fini(&ranges->list);
}

bool filter_ranges_have(const struct filter_ranges *ranges, uint64_t number) {
    for (size_t i = 0; i < ranges->list.count; i++)
        if (number >= ranges->list.items[i].first && number <= ranges->list.items[i].last)
            return true;
    return ranges->list.count == 0;
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

/* `first` returns the length of the first name of a list. */
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
    return (!o->cpus || filter_ranges_parse("--cpu", o->cpus, &f->cpus, err)) &&
           (!o->pids || filter_ranges_parse("--pid", o->pids, &f->pids, err)) &&
           (!o->tids || filter_ranges_parse("--tid", o->tids, &f->tids, err)) &&
           (!o->comms || filter_names_parse("--comms", o->comms, &f->comms, err));
}

void filter_fini(struct filter *f) {
    filter_ranges_fini(&f->cpus);
    filter_ranges_fini(&f->pids);
    filter_ranges_fini(&f->tids);
    filter_names_fini(&f->comms);
}

bool filter_cpu(const struct filter *f, uint32_t cpu) {
    return filter_ranges_have(&f->cpus, cpu);
}

bool filter_sample(const struct filter *f, const struct model *m, const struct perfdata_sample *s,
                   struct model_when when) {
    if (!filter_ranges_have(&f->cpus, s->cpu) || !filter_ranges_have(&f->pids, s->pid) ||
        !filter_ranges_have(&f->tids, s->tid))
        return false;
    return !f->comms.list.count || filter_names_has(&f->comms, model_comm(m, s->pid, s->tid, when, NULL));
}

bool filter_knows_cpus(const struct perfdata_events *events) {
    for (size_t i = 0; i < events->list.count; i++)
        if (!(events->list.items[i].attr.sample_type & PERFDATA_SAMPLE_CPU))
            return false;
    return true;
}
