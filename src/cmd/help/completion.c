/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help/completion.h"

#include <stdio.h>
#include <string.h>

#include "cmd/common/command.h"
#include "cmd/common/options/words.h"
#include "cmd/help/toplevel.h"

static const char *const kind_names[OPTION_WORDS_COUNT] = {
    [OPTION_WORDS_NONE] = "files",    [OPTION_WORDS_KEYS] = "keys",
    [OPTION_WORDS_FIELDS] = "fields", [OPTION_WORDS_VARIABLES] = "variables",
    [OPTION_WORDS_EVENTS] = "events", [OPTION_WORDS_COMMS] = "comms",
    [OPTION_WORDS_DSOS] = "dsos",
};

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

/* "report:-s=keys" and "report:--sort=keys": whose values are words. */
static void value_kinds(struct out *o, const struct command *c) {
    for (const struct option *row = c->options; row && row->kind; row++) {
        if (!listed(row) || !row->words)
            continue;
        if (row->letter)
            out_printf(o, " %s:-%c=%s", c->name, row->letter, kind_names[row->words]);
        if (row->name)
            out_printf(o, " %s:--%s=%s", c->name, row->name, kind_names[row->words]);
    }
}

static void kind_words(struct out *o, enum option_words kind) {
    const char *word;
    for (size_t i = 0; (word = words_at(kind, i)); i++)
        out_printf(o, "%s%s", i ? " " : "", word);
}

/* Words are never given to `compgen -W`, which would run what a recording's names contain. */
static const char BASH_VALUES[] =
    "# The words that a value may be made of, one a line: kind, recording\n"
    "_sonde_words() {\n"
    "    case $1 in\n"
    "    keys) printf '%s\\n' $_sonde_keys ;;\n"
    "    fields) printf '%s\\n' $_sonde_fields ;;\n"
    "    variables) printf '%s\\n' $_sonde_variables ;;\n"
    "    events) sonde list --raw-dump 2>/dev/null | tr ' ' '\\n' ;;\n"
    "    comms) sonde report -q -i \"$2\" -g none -s comm -F comm -t '|' 2>/dev/null | sed 's/ *$//' | sort "
    "-u ;;\n"
    "    dsos) sonde report -q -i \"$2\" -g none -s dso -F dso -t '|' 2>/dev/null | sed 's/ *$//' | sort -u "
    ";;\n"
    "    esac\n"
    "}\n"
    "# Completes the part after the last comma (and a sign): kind, recording, what is there\n"
    "_sonde_value() {\n"
    "    local kind=$1 word=${3##*,} before= shown\n"
    "    [[ $3 == *,* ]] && before=${3%,*},\n"
    "    if [[ $kind == keys || $kind == fields ]] && [[ $word == [+-]* ]]; then\n"
    "        before+=${word:0:1} word=${word:1}\n"
    "    fi\n"
    "    while IFS= read -r shown; do\n"
    "        [[ -n $shown && $shown == \"$word\"* ]] || continue\n"
    "        [[ $kind == comms || $kind == dsos ]] && printf -v shown %q \"$shown\"\n"
    "        COMPREPLY+=(\"$before$shown\")\n"
    "    done < <(_sonde_words \"$kind\" \"$2\")\n"
    "    # readline replaces what follows the last : or = only\n"
    "    if [[ $3 == *[:=]* ]]; then\n"
    "        before=${3%\"${3##*[:=]}\"}\n"
    "        COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
    "    fi\n"
    "}\n";

static const char BASH_WALK[] =
    "_sonde() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} cur prev cmd= i words= kind= input=perf.data value\n"
    "    local -a typed\n"
    "    read -ra typed <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && typed+=('')\n"
    "    cur=${typed[-1]} prev=${typed[-2]}\n"
    "    COMPREPLY=()\n"
    "    for ((i = 1; i < ${#typed[@]} - 1; i++)); do\n"
    "        case ${typed[i]} in\n"
    "        -i | --input) input=${typed[i + 1]} ;;\n"
    "        --input=*) input=${typed[i]#*=} ;;\n"
    "        --buildid-dir) ((i++)) ;;\n"
    "        -*) ;;\n"
    "        *) cmd=${cmd:-${typed[i]}} ;;\n"
    "        esac\n"
    "    done\n"
    "    case $cmd in\n"
    "    '') words='";

void completion_bash(struct out *o) {
    out_str(o, "# bash completion for sonde, made by the build\n_sonde_keys='");
    kind_words(o, OPTION_WORDS_KEYS);
    out_str(o, "'\n_sonde_fields='");
    kind_words(o, OPTION_WORDS_FIELDS);
    out_str(o, "'\n_sonde_variables='");
    kind_words(o, OPTION_WORDS_VARIABLES);
    out_str(o, "'\n");
    out_str(o, BASH_VALUES);
    out_str(o, BASH_WALK);
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
    out_str(o, "    esac\n    value=$prev\n"
               "    [[ $cur == --*=* ]] && value=${cur%%=*}\n"
               "    for i in");
    for (size_t i = 0; command_table[i]; i++)
        value_kinds(o, command_table[i]);
    out_str(o, "; do\n"
               "        [[ $i == \"$cmd:$value=\"* ]] && kind=${i##*=}\n"
               "    done\n"
               "    if [[ $cur != -* && -z $kind ]]; then\n"
               "        case $cmd in\n");
    for (size_t i = 0; command_table[i]; i++)
        if (command_table[i]->operands)
            out_printf(o, "        %s) kind=%s ;;\n", command_table[i]->name,
                       kind_names[command_table[i]->operands]);
    out_str(o, "        esac\n"
               "    fi\n"
               "    if [[ -n $kind ]]; then\n"
               "        [[ $cur == --*=* ]] && cur=${cur#*=}\n"
               "        _sonde_value \"$kind\" \"$input\" \"$cur\"\n"
               "    elif [[ $cur == -* || -z $cmd || $cmd == help ]]; then\n"
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
        out_printf(o, ":_%s%s", row->words ? "sonde_" : "", kind_names[row->words]);
    }
    out_str(o, "' \\\n");
}

static void zsh_options(struct out *o, const struct option *rows) {
    for (const struct option *row = rows; row && row->kind; row++)
        if (listed(row))
            zsh_option(o, row);
}

/* Each completes the part after the last comma (and a sign). */
static void zsh_words(struct out *o) {
    for (int kind = OPTION_WORDS_KEYS; kind < OPTION_WORDS_EVENTS; kind++) {
        out_printf(o, "_sonde_%s() {\n    compset -P '*,'\n    compset -P '[+-]'\n    compadd -S '' -- ",
                   kind_names[kind]);
        kind_words(o, (enum option_words)kind);
        out_str(o, "\n}\n");
    }
    out_str(o, "_sonde_events() {\n"
               "    compset -P '*,'\n"
               "    compadd -S '' -- ${=\"$(sonde list --raw-dump 2>/dev/null)\"}\n"
               "}\n"
               "_sonde_recorded() {\n"
               "    local input=${opt_args[-i]:-${opt_args[--input]:-perf.data}}\n"
               "    compset -P '*,'\n"
               "    compadd -S '' -- ${(f)\"$(sonde report -q -i ${(Q)input} -g none -s $1 -F $1 -t '|' "
               "2>/dev/null)\"}\n"
               "}\n"
               "_sonde_comms() { _sonde_recorded comm }\n"
               "_sonde_dsos() { _sonde_recorded dso }\n");
}

void completion_zsh(struct out *o) {
    out_str(o, "#compdef sonde\n# zsh completion for sonde, made by the build\n");
    zsh_words(o);
    out_str(o, "_sonde() {\n"
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
        if (c->operands)
            out_printf(o, "        '*:%s:_sonde_%s' ;;\n", kind_names[c->operands], kind_names[c->operands]);
        else
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
    if (needs_value(row) && row->words)
        out_printf(o, " -x -a '(__sonde_%s)'", kind_names[row->words]);
    else if (needs_value(row))
        out_str(o, " -r");
    out_str(o, " -d '");
    for (const char *p = row->help; *p && *p != '\n'; p++) {
        if (*p == '\'' || *p == '\\')
            out_char(o, '\\');
        out_char(o, *p);
    }
    out_str(o, "'\n");
}

static const char FISH_VALUES[] =
    "# Its arguments, each after what stands before the last comma (and a sign)\n"
    "function __sonde_list\n"
    "    set -l before (string match -r '^(?:--[a-z-]+=)?((?:.*,)?[+-]?)' -- (commandline -ct))[2]\n"
    "    printf '%s\\n' $before$argv\n"
    "end\n"
    "function __sonde_events\n"
    "    __sonde_list (sonde list --raw-dump 2>/dev/null | string split -n ' ')\n"
    "end\n"
    "# What the recording has under the key\n"
    "function __sonde_recorded\n"
    "    set -l typed (commandline -opc)\n"
    "    set -l input perf.data\n"
    "    set -l at (contains -i -- -i $typed; or contains -i -- --input $typed)\n"
    "    and set input $typed[(math $at + 1)]\n"
    "    __sonde_list (sonde report -q -i $input -g none -s $argv -F $argv -t '|' 2>/dev/null | string trim "
    "-r | sort -u)\n"
    "end\n"
    "function __sonde_comms\n    __sonde_recorded comm\nend\n"
    "function __sonde_dsos\n    __sonde_recorded dso\nend\n";

void completion_fish(struct out *o) {
    out_str(o, "# fish completion for sonde, made by the build\n");
    out_str(o, FISH_VALUES);
    for (int kind = OPTION_WORDS_KEYS; kind < OPTION_WORDS_EVENTS; kind++) {
        out_printf(o, "function __sonde_%s\n    __sonde_list ", kind_names[kind]);
        kind_words(o, (enum option_words)kind);
        out_str(o, "\nend\n");
    }
    for (size_t i = 0; command_table[i]; i++)
        if (command_table[i]->operands)
            out_printf(o, "complete -c sonde -f -n '__fish_seen_subcommand_from %s' -a '(__sonde_%s)'\n",
                       command_table[i]->name, kind_names[command_table[i]->operands]);
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
