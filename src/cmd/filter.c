/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/filter.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool add_comm(struct filter *f, const char *text, size_t len, struct err *err) {
    if (!len)
        return true;
    char **slot = vec_push(&f->comms);
    if (!slot || !(*slot = strndup(text, len)))
        return err_memory(err, "--comms");
    return true;
}

static bool add_comm_file(struct filter *f, const char *path, struct err *err) {
    FILE *file = fopen(path, "re");
    if (!file)
        return err_errno(err, errno, path, "cannot open the list of comms");
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool ok = true;
    while (ok && (n = getline(&line, &cap, file)) >= 0) {
        while (n > 0 && isspace((unsigned char)line[n - 1]))
            n--;
        ok = add_comm(f, line, (size_t)n, err);
    }
    if (ok && ferror(file))
        ok = err_errno(err, errno, path, "cannot read the list of comms");
    free(line);
    fclose(file);
    return ok;
}

static bool read_comms(struct filter *f, const char *text, struct err *err) {
    static const char prefix[] = "file://";
    if (!strncmp(text, prefix, sizeof prefix - 1))
        return add_comm_file(f, text + sizeof prefix - 1, err);
    for (const char *at = text; *at;) {
        size_t len = strcspn(at, ",");
        if (!add_comm(f, at, len, err))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}

bool filter_parse(const struct filter_options *o, struct filter *f, struct err *err) {
    return (!o->cpus || read_list("--cpu", o->cpus, &f->cpus, err)) &&
           (!o->pids || read_list("--pid", o->pids, &f->pids, err)) &&
           (!o->tids || read_list("--tid", o->tids, &f->tids, err)) &&
           (!o->comms || read_comms(f, o->comms, err));
}

void filter_fini(struct filter *f) {
    vec_fini(&f->cpus);
    vec_fini(&f->pids);
    vec_fini(&f->tids);
    for (size_t i = 0; i < f->comms.count; i++)
        free(f->comms.items[i]);
    vec_fini(&f->comms);
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
    if (!f->comms.count)
        return true;
    const char *comm = model_comm(m, s->pid, s->tid, when, NULL);
    for (size_t i = 0; comm && i < f->comms.count; i++)
        if (!strcmp(comm, f->comms.items[i]))
            return true;
    return false;
}
