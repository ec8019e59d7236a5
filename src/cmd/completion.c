/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/completion.h"

#include <stdio.h>
#include <string.h>

#include "cmd/command.h"
#include "cmd/toplevel.h"

static bool listed(const struct option *row) {
    return !(row->flags & OPTION_HIDDEN);
}

static bool needs_value(const struct option *row) {
    return option_takes_value(row) && !(row->flags & (OPTION_VALUE_OPTIONAL | OPTION_VALUE_ADOPT));
}

/* The help's first line, for a shell's single quotes: ' becomes '\''. `escape` lists characters that get a
 * backslash. */
static void quoted(struct out *o, const char *text, const char *escape) {
    for (; *text && *text != '\n'; text++) {
        if (*text == '\'') {
            out_str(o, "'\\''");
            continue;
        }
        if (strchr(escape, *text))
            out_char(o, '\\');
        out_char(o, *text);
    }
}

static void bash_options(struct out *o, const struct option *rows) {
    for (const struct option *row = rows; row && row->kind; row++) {
        if (listed(row) && row->letter)
            out_printf(o, " -%c", row->letter);
        if (listed(row) && row->name)
            out_printf(o, " --%s", row->name);
    }
}

static void bash_names(struct out *o) {
    for (size_t i = 0; command_table[i]; i++)
        out_printf(o, " %s", command_table[i]->name);
}

void completion_bash(struct out *o) {
    out_str(o, "# bash completion for sonde, made by the build\n"
               "_sonde() {\n"
               "    local cur=${COMP_WORDS[COMP_CWORD]} cmd= i words=\n"
               "    COMPREPLY=()\n"
               "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
               "        case ${COMP_WORDS[i]} in\n"
               "        --buildid-dir) ((i++)) ;;\n"
               "        -*) ;;\n"
               "        *)\n"
               "            cmd=${COMP_WORDS[i]}\n"
               "            break\n"
               "            ;;\n"
               "        esac\n"
               "    done\n"
               "    case $cmd in\n"
               "    '') words='");
    bash_names(o);
    bash_options(o, toplevel_option_rows);
    out_str(o, "' ;;\n");
    for (size_t i = 0; command_table[i]; i++) {
        const struct command *c = command_table[i];
        out_printf(o, "    %s) words='", c->name);
        if (strcmp(c->name, "help") == 0)
            bash_names(o);
        bash_options(o, c->options);
        out_str(o, "' ;;\n");
    }
    out_str(o, "    esac\n"
               "    if [[ $cur == -* || -z $cmd || $cmd == help ]]; then\n"
               "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
               "    fi\n"
               "}\n"
               "complete -o default -F _sonde sonde\n");
}

/* One row as _arguments takes it: '(-f --force)'{-f,--force}'[help]:file:_files'. */
static void zsh_option(struct out *o, const struct option *row) {
    out_str(o, "        ");
    if (row->letter && row->name)
        out_printf(o, "'(-%c --%s)'{-%c,--%s%s}'[", row->letter, row->name, row->letter, row->name,
                   needs_value(row) ? "=" : "");
    else if (row->letter)
        out_printf(o, "'-%c[", row->letter);
    else
        out_printf(o, "'--%s%s[", row->name, needs_value(row) ? "=" : "");
    quoted(o, row->help, "[]:\\");
    out_char(o, ']');
    if (needs_value(row)) {
        const char *arg = row->arg ? row->arg : "value";
        out_char(o, ':');
        quoted(o, arg, "[]:\\");
        out_str(o, ":_files");
    }
    out_str(o, "' \\\n");
}

static void zsh_options(struct out *o, const struct option *rows) {
    for (const struct option *row = rows; row && row->kind; row++)
        if (listed(row))
            zsh_option(o, row);
}

void completion_zsh(struct out *o) {
    out_str(o, "#compdef sonde\n# zsh completion for sonde, made by the build\n"
               "_sonde() {\n"
               "    local -a commands\n"
               "    local curcontext=$curcontext state line\n"
               "    commands=(\n");
    for (size_t i = 0; command_table[i]; i++) {
        out_printf(o, "        '%s:", command_table[i]->name);
        quoted(o, command_table[i]->summary, ":\\");
        out_str(o, "'\n");
    }
    out_str(o, "    )\n    _arguments -C \\\n");
    zsh_options(o, toplevel_option_rows);
    out_str(o, "        '1:command:->command' '*::argument:->argument'\n"
               "    case $state in\n"
               "    command) _describe command commands ;;\n"
               "    argument)\n"
               "        case $words[1] in\n");
    for (size_t i = 0; command_table[i]; i++) {
        const struct command *c = command_table[i];
        out_printf(o, "        %s) _arguments -s \\\n", c->name);
        zsh_options(o, c->options);
        out_printf(o, "        %s ;;\n",
                   strcmp(c->name, "help") == 0 ? "'1:command:->command'" : "'*:file:_files'");
    }
    out_str(o, "        esac\n"
               "        [[ $state == command ]] && _describe command commands\n"
               "        ;;\n"
               "    esac\n"
               "}\n"
               "_sonde \"$@\"\n");
}

static void fish_option(struct out *o, const char *when, const struct option *row) {
    out_printf(o, "complete -c sonde -n '%s'", when);
    if (row->letter)
        out_printf(o, " -s %c", row->letter);
    if (row->name)
        out_printf(o, " -l %s", row->name);
    if (needs_value(row))
        out_str(o, " -r");
    out_str(o, " -d '");
    for (const char *p = row->help; *p && *p != '\n'; p++) {
        if (*p == '\'' || *p == '\\')
            out_char(o, '\\');
        out_char(o, *p);
    }
    out_str(o, "'\n");
}

void completion_fish(struct out *o) {
    out_str(o, "# fish completion for sonde, made by the build\n");
    for (const struct option *row = toplevel_option_rows; row->kind; row++)
        if (listed(row))
            fish_option(o, "__fish_use_subcommand", row);
    for (size_t i = 0; command_table[i]; i++) {
        const struct command *c = command_table[i];
        char when[80];
        out_printf(o, "complete -c sonde -f -n '__fish_use_subcommand' -a %s -d '", c->name);
        quoted(o, c->summary, "\\");
        out_str(o, "'\n");
        snprintf(when, sizeof when, "__fish_seen_subcommand_from %s", c->name);
        for (const struct option *row = c->options; row && row->kind; row++)
            if (listed(row))
                fish_option(o, when, row);
    }
}
