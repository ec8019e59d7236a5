/* SPDX-License-Identifier: Apache-2.0 */
#include "record/control.h"

#include <string.h>

static const struct {
    const char *word;
    enum record_command command;
    bool takes_name;
} COMMANDS[] = {
    {"enable", RECORD_COMMAND_ENABLE, true},
    {"disable", RECORD_COMMAND_DISABLE, true},
    {"stop", RECORD_COMMAND_STOP, false},
    {"ping", RECORD_COMMAND_PING, false},
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
