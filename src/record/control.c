/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *word;
    enum record_command command;
    bool takes_name;
} COMMANDS[] = {
    {"enable", RECORD_COMMAND_ENABLE, true},      {"disable", RECORD_COMMAND_DISABLE, true},
    {"stop", RECORD_COMMAND_STOP, false},         {"ping", RECORD_COMMAND_PING, false},
    {"snapshot", RECORD_COMMAND_SNAPSHOT, false}, {"evlist", RECORD_COMMAND_LIST, true},
};

static enum record_command parse(struct record_control *c) {
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
    return RECORD_COMMAND_UNKNOWN;
}

enum record_command record_control_take(struct record_control *c, const char *p, size_t n, size_t *taken) {
    for (size_t i = 0; i < n; i++) {
        if (p[i] != '\n') {
            if (c->len < sizeof c->line - 1)
                c->line[c->len++] = p[i];
            continue;
        }
        bool overlong = c->len == sizeof c->line - 1;
        enum record_command command = overlong ? RECORD_COMMAND_UNKNOWN : parse(c);
        *taken = i + 1;
        c->len = 0;
        return command;
    }
    *taken = n;
    return RECORD_COMMAND_NONE;
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

bool record_control_list(const struct record_plan *plan, const char *how, struct writer *out) {
    bool rates = strcmp(how, "-F") == 0, all = strcmp(how, "-v") == 0, groups = strcmp(how, "-g") == 0;
    if (*how && !rates && !all && !groups)
        return false;
    for (uint32_t i = 0; i < plan->events.count; i++) {
        const struct record_event_plan *p = &plan->events.items[i];
        uint32_t members = groups && p->members ? p->members : 1;
        put(out, members > 1 ? "{" : "");
        for (uint32_t k = 0; k < members && i + k < plan->events.count; k++) {
            put(out, k ? "," : "");
            put(out, plan->events.items[i + k].name);
        }
        i += members - 1;
        put(out, members > 1 ? "}" : "");
        if (rates || all)
            put_attr(out, &p->attr, all);
        put(out, "\n");
    }
    return true;
}
