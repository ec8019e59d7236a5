/* SPDX-License-Identifier: Apache-2.0 */
/* -e: which of its words are system calls, and which are events. */
#include <fnmatch.h>
#include <string.h>

#include "cmd/trace/trace_options.h"

void trace_select_fini(struct trace_select *s) {
    for (size_t i = 0; i < s->calls.count; i++)
        free(s->calls.items[i]);
    for (size_t i = 0; i < s->events.count; i++)
        free(s->events.items[i]);
    vec_fini(&s->calls);
    vec_fini(&s->events);
    *s = (struct trace_select){0};
}

/* Where a word ends: at a comma that is not within slashes or braces. */
static size_t word_length(const char *p) {
    size_t n = 0;
    bool slashes = false;
    for (int braces = 0; p[n]; n++) {
        braces += p[n] == '{' ? 1 : p[n] == '}' ? -1 : 0;
        if (p[n] == '/')
            slashes = !slashes;
        if (p[n] == ',' && braces <= 0 && !slashes)
            break;
    }
    return n;
}

static bool take_word(struct trace_select *s, const char *p, size_t n, const struct calls_table *table,
                      const struct calls_table *compat, struct err *err) {
    char *word = strndup(p, n);
    if (!word)
        return err_memory(err, "events");
    bool call = !strpbrk(word, ":/{") && (calls_table_has(table, word) || calls_table_has(compat, word));
    char **to = call ? vec_push(&s->calls) : vec_push(&s->events);
    if (!to) {
        free(word);
        return err_memory(err, "events");
    }
    *to = word;
    return true;
}

bool trace_select_parse(struct trace_select *s, const struct trace_options *o,
                        const struct calls_table *table, const struct calls_table *compat, struct err *err) {
    bool any = false;
    for (size_t i = 0; i < o->selected.count; i++) {
        const struct event_choice *c = &o->selected.items[i];
        if (c->what != EVENT_CHOICE_EVENT)
            continue;
        const char *p = c->text;
        any = true;
        if (*p == '!') {
            s->all_but = true;
            p++;
        }
        for (size_t n; *p; p += n + (p[n] == ',')) {
            n = word_length(p);
            if (n && !take_word(s, p, n, table, compat, err))
                return false;
        }
    }
    s->syscalls = !o->no_syscalls && (!any || s->calls.count || s->all_but);
    return true;
}

bool trace_select_call(const struct trace_select *s, const char *name) {
    if (!s->syscalls)
        return false;
    if (!s->calls.count)
        return true;
    for (size_t i = 0; name && i < s->calls.count; i++)
        if (fnmatch(s->calls.items[i], name, 0) == 0)
            return !s->all_but;
    return s->all_but;
}

bool trace_select_event(const struct trace_select *s, const char *name) {
    if (!s->events.count)
        return !s->calls.count;
    for (size_t i = 0; i < s->events.count; i++) {
        size_t n = strcspn(s->events.items[i], "/");
        char glob[256];
        if (n >= sizeof glob)
            continue;
        memcpy(glob, s->events.items[i], n);
        glob[n] = 0;
        if (fnmatch(glob, name, 0) == 0)
            return true;
    }
    return false;
}
