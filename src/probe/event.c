/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/event.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUFFIX_MAX = 1024 };

void probe_events_fini(probe_events *e) {
    for (size_t i = 0; i < e->count; i++)
        vec_fini(&e->items[i].args);
    vec_fini(e);
}

/* What follows the names. */
static void print_rest(struct out *o, const struct probe_event *e, bool tell_return) {
    if (e->path)
        out_printf(o, "%s:0x%llx", e->path, (unsigned long long)e->offset);
    else
        out_printf(o, "%s%s%s+%llu", e->module ? e->module : "", e->module ? ":" : "", e->symbol,
                   (unsigned long long)e->offset);
    if (e->semaphore)
        out_printf(o, "(0x%llx)", (unsigned long long)e->semaphore);
    out_str(o, tell_return ? "%return" : "");
    for (size_t i = 0; i < e->args.count; i++) {
        const struct probe_fetch *f = &e->args.items[i];
        out_printf(o, " %s%s%s%s%s", f->name ? f->name : "", f->name ? "=" : "", f->fetch, f->type ? ":" : "",
                   f->type ? f->type : "");
    }
}

void probe_event_print(struct out *o, const struct probe_event *e) {
    out_printf(o, "%c:%s/%s ", e->returns ? 'r' : 'p', e->group, e->event);
    print_rest(o, e, false);
}

void probe_events_print_boot(struct out *o, const probe_events *e) {
    for (size_t i = 0; i < e->count; i++) {
        bool told = false;
        for (size_t k = 0; k < i; k++)
            told |= !strcmp(e->items[k].event, e->items[i].event);
        for (size_t k = i, n = 0; !told && k < e->count; k++) {
            if (strcmp(e->items[k].event, e->items[i].event) != 0)
                continue;
            if (n++)
                out_str(o, ", '");
            else
                out_printf(o, "ftrace.event.kprobes.%s.probes = '", e->items[i].event);
            print_rest(o, &e->items[k], e->items[k].returns);
            out_char(o, '\'');
        }
        out_str(o, told ? "" : "\n");
    }
}

/* ---- reading ---- */

static bool parse_place(char *place, struct probe_event *out) {
    char *colon = strrchr(place, ':'), *end;
    if (*place == '/') {
        if (!colon)
            return false;
        *colon = '\0';
        out->path = place;
        out->offset = strtoull(colon + 1, &end, 0);
        if (*end == '(')
            out->semaphore = strtoull(end + 1, &end, 0);
        return true;
    }
    if (colon) {
        *colon = '\0';
        out->module = place;
        place = colon + 1;
    }
    char *plus = strchr(place, '+');
    if (plus) {
        *plus = '\0';
        out->offset = strtoull(plus + 1, NULL, 0);
    }
    out->symbol = place;
    return true;
}

static bool parse_args(char *at, struct probe_event *out, struct err *err) {
    for (char *rest = NULL, *word = strtok_r(at, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        struct probe_fetch *f = vec_push(&out->args);
        if (!f)
            return err_memory(err, "probes");
        char *equals = strchr(word, '='), *colon;
        if (equals) {
            *equals = '\0';
            f->name = word;
            word = equals + 1;
        }
        f->fetch = word;
        if ((colon = strrchr(word, ':'))) {
            *colon = '\0';
            f->type = colon + 1;
        }
    }
    return true;
}

bool probe_event_parse(const char *line, struct arena *a, struct probe_event *out, struct err *err) {
    char *s = arena_strndup(a, line, strcspn(line, "\n"));
    *out = (struct probe_event){.offset = 0};
    if (!s)
        return err_memory(err, "probes");
    if (!*s)
        return err_set(err, ERR_ABSENT, "", "no probe");
    char *slash, *space = strchr(s, ' '), *name = strchr(s, ':');
    if ((*s != 'p' && *s != 'r') || !name || !space || name > space || !(slash = strchr(name, '/')) ||
        slash > space)
        return err_set(err, ERR_BROKEN, s, "is no probe that this sonde knows");
    *space = *slash = '\0';
    out->returns = *s == 'r';
    out->group = name + 1;
    out->event = slash + 1;
    char *place = space + 1, *args = strchr(place, ' ');
    if (args)
        *args = '\0';
    if (!parse_place(place, out))
        return err_set(err, ERR_BROKEN, out->event, "is no probe that this sonde knows");
    return !args || parse_args(args + 1, out, err);
}

/* ---- names ---- */

const char *probe_event_name(struct arena *a, const char *text) {
    char *name = arena_strndup(a, text, strlen(text));
    for (char *c = name; c && *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    return name && isdigit((unsigned char)*name) ? arena_printf(a, "_%s", name) : name;
}

const char *probe_event_group(struct arena *a, const char *path) {
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t n = 0;
    while (isalnum((unsigned char)base[n]) || base[n] == '_')
        n++;
    return arena_printf(a, "probe_%.*s", (int)(n < 40 ? n : 40), base);
}

bool probe_event_check(const struct probe_event *e, struct err *err) {
    if (strlen(e->event) >= PROBE_NAME_MAX)
        return err_set(err, ERR_USAGE, e->event,
                       "is too long for an event's name, which has at most 63 characters: write EVENT=%s",
                       e->given);
    if (strlen(e->group) >= PROBE_NAME_MAX)
        return err_set(err, ERR_USAGE, e->group,
                       "is too long for a group's name, which has at most 63 characters");
    for (const char *c = e->path ? e->path : ""; *c; c++)
        if (isspace((unsigned char)*c) || *c == '#')
            return err_set(
                err, ERR_UNSUPPORTED, e->path,
                "the kernel takes no path with spaces or '#': put a symbolic link to it elsewhere, and "
                "name that");
    return true;
}

static bool same_args(const struct probe_event *a, const struct probe_event *b) {
    if (a->args.count != b->args.count || a->returns != b->returns)
        return false;
    for (size_t i = 0; i < a->args.count; i++) {
        const struct probe_fetch *x = &a->args.items[i], *y = &b->args.items[i];
        if (strcmp(x->name ? x->name : "", y->name ? y->name : "") != 0 ||
            strcmp(x->type ? x->type : "", y->type ? y->type : "") != 0)
            return false;
    }
    return true;
}

static bool same_name(const struct probe_event *a, const char *group, const char *event) {
    return !strcmp(a->group, group) && !strcmp(a->event, event);
}

/* Whether the name is taken: by an existing event (*exists), or by one before the i-th that has other
 * arguments. */
static bool is_taken(const probe_events *e, size_t i, const probe_events *there, const char *event,
                     bool *exists) {
    const struct probe_event *this = &e->items[i];
    *exists = false;
    for (size_t k = 0; k < there->count; k++)
        if (same_name(&there->items[k], this->group, event))
            return *exists = true;
    for (size_t k = 0; k < i; k++)
        if (same_name(&e->items[k], this->group, event) && !same_args(&e->items[k], this))
            return true;
    return false;
}

bool probe_events_distinguish(probe_events *e, const probe_events *there, bool force, struct arena *a,
                              struct err *err) {
    for (size_t i = 0; i < e->count; i++) {
        struct probe_event *this = &e->items[i];
        const char *name = this->event;
        bool exists;
        for (unsigned n = 1; is_taken(e, i, there, name, &exists); n++) {
            if (exists && !force)
                return err_set(
                    err, ERR_USAGE, name,
                    "event \"%s:%s\" already exists: remove it with `sonde probe -d %s:%s`, or add "
                    "another of that name with -f",
                    this->group, name, this->group, name);
            if (n > SUFFIX_MAX)
                return err_set(err, ERR_USAGE, name, "there are too many events of that name");
            name = arena_printf(a, "%s_%u", this->event, n);
            if (!name)
                return err_memory(err, "probes");
        }
        this->event = name;
    }
    return true;
}
