/* SPDX-License-Identifier: Apache-2.0 */
#include "events/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    enum perf_command command;
    bool takes_name;
} COMMANDS[] = {
    {"enable", PERF_COMMAND_ENABLE, true},      {"disable", PERF_COMMAND_DISABLE, true},
    {"stop", PERF_COMMAND_STOP, false},         {"ping", PERF_COMMAND_PING, false},
    {"snapshot", PERF_COMMAND_SNAPSHOT, false}, {"evlist", PERF_COMMAND_LIST, true},
};

static enum perf_command parse(struct perf_control *c) {
    c->line[c->len] = '\0';
    size_t word = strcspn(c->line, " ");
    const char *name = c->line + word + strspn(c->line + word, " ");
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++) {
        if (strlen(COMMANDS[i].word) != word || strncmp(c->line, COMMANDS[i].word, word) != 0)
            continue;
        if (*name && !COMMANDS[i].takes_name)
            break;
        memmove(c->name, name, strlen(name) + 1);
        return COMMANDS[i].command;
    }
    return PERF_COMMAND_UNKNOWN;
}

enum perf_command perf_control_take(struct perf_control *c, const char *p, size_t n, size_t *taken) {
    for (size_t i = 0; i < n; i++) {
        if (p[i] != '\n') {
            if (c->len < sizeof c->line - 1)
                c->line[c->len++] = p[i];
            continue;
        }
        bool overlong = c->len == sizeof c->line - 1;
        enum perf_command command = overlong ? PERF_COMMAND_UNKNOWN : parse(c);
        *taken = i + 1;
        c->len = 0;
        return command;
    }
    *taken = n;
    return PERF_COMMAND_NONE;
}

static void put(struct writer *w, const char *text) {
    writer_put(w, text, strlen(text));
}

static void put_attr(struct writer *w, const struct perfdata_attr *a, bool all) {
    char line[256];
    const char *rate = a->flags & PERFDATA_ATTR_FREQ ? "sample_freq" : "sample_period";
    snprintf(line, sizeof line, ": %s=%" PRIu64, rate, a->sample_period);
    put(w, line);
    snprintf(line, sizeof line,
             ", type: %" PRIu32 ", config: 0x%" PRIx64 ", sample_type: 0x%" PRIx64 ", read_format: 0x%" PRIx64
             ", flags: 0x%" PRIx64,
             a->type, a->config, a->sample_type, a->read_format, a->flags);
    if (all)
        put(w, line);
}

bool perf_control_list(const struct perf_control_event *events, size_t count, const char *how,
                       struct writer *out) {
    bool rates = strcmp(how, "-F") == 0, all = strcmp(how, "-v") == 0, groups = strcmp(how, "-g") == 0;
    if (*how && !rates && !all && !groups)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const struct perf_control_event *p = &events[i];
        uint32_t members = groups && p->members ? p->members : 1;
        put(out, members > 1 ? "{" : "");
        for (uint32_t k = 0; k < members && i + k < count; k++) {
            put(out, k ? "," : "");
            put(out, events[i + k].name);
        }
        i += members - 1;
        put(out, members > 1 ? "}" : "");
        if (rates || all)
            put_attr(out, p->attr, all);
        put(out, "\n");
    }
    return true;
}
