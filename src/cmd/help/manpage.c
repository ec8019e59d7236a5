/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/help/manpage.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/options/words.h"
#include "cmd/help/toplevel.h"
#include "config.h"

/* Text as man(7) wants it: hyphens that can be copied, no backslashes of its own. */
static void plain(struct out *o, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\\')
            out_str(o, "\\e");
        else if (p[i] == '-')
            out_str(o, "\\-");
        else
            out_char(o, p[i]);
    }
}

/* A line of running text: `x` bold, *x* italic. A control character of roff at its start is disarmed. */
static void inline_text(struct out *o, const char *p, size_t n) {
    if (n && (*p == '.' || *p == '\''))
        out_str(o, "\\&");
    while (n) {
        char mark = *p;
        const char *end = mark == '`' || mark == '*' ? memchr(p + 1, mark, n - 1) : NULL;
        if (!end || end == p + 1) {
            plain(o, p, 1);
            p++, n--;
            continue;
        }
        out_str(o, mark == '`' ? "\\fB" : "\\fI");
        plain(o, p + 1, (size_t)(end - p - 1));
        out_str(o, "\\fR");
        n -= (size_t)(end + 1 - p);
        p = end + 1;
    }
}

enum block { BLOCK_NONE, BLOCK_TEXT, BLOCK_EXAMPLE };

/* One line of a text after what it begins. `term`: what the next line, which begins with ": ", explains. */
static enum block text_line(struct out *o, enum block before, const char *line, size_t n, bool term) {
    bool example = n >= 4 && memcmp(line, "    ", 4) == 0;
    if (before == BLOCK_EXAMPLE && !example && n)
        out_str(o, ".fi\n.RE\n");
    if (n == 0)
        return before == BLOCK_TEXT ? BLOCK_NONE : before;
    if (example) {
        if (before != BLOCK_EXAMPLE)
            out_str(o, ".PP\n.RS 4\n.nf\n");
        if (line[4] == '.' || line[4] == '\'')
            out_str(o, "\\&");
        plain(o, line + 4, n - 4);
        out_char(o, '\n');
        return BLOCK_EXAMPLE;
    }
    if (term) {
        out_str(o, ".TP\n");
    } else if (n > 2 && memcmp(line, ": ", 2) == 0 && before == BLOCK_TEXT) {
        line += 2, n -= 2;
    } else if (n > 2 && memcmp(line, "- ", 2) == 0) {
        out_str(o, ".IP \\(bu 2\n");
        line += 2, n -= 2;
    } else if (before != BLOCK_TEXT) {
        out_str(o, ".PP\n");
    }
    while (n && *line == ' ')
        line++, n--;
    inline_text(o, line, n);
    out_char(o, '\n');
    return BLOCK_TEXT;
}

/* Prints lines up to the next "# NAME" (or the end) and returns where that begins. */
static const char *section_text(struct out *o, const char *text) {
    enum block block = BLOCK_NONE;
    while (*text && strncmp(text, "# ", 2) != 0) {
        size_t n = strcspn(text, "\n");
        const char *next = text + n + (text[n] == '\n');
        block = text_line(o, block, text, n, n && text[0] != ':' && strncmp(next, ": ", 2) == 0);
        text = next;
    }
    if (block == BLOCK_EXAMPLE)
        out_str(o, ".fi\n.RE\n");
    return text;
}

static void other_sections(struct out *o, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        out_str(o, ".SH ");
        plain(o, text + 2, n - 2);
        out_char(o, '\n');
        text = section_text(o, text + n + (text[n] == '\n'));
    }
}

static void option_item(struct out *o, const struct option *row) {
    char letter[2] = {row->letter, 0};
    bool optional = row->flags & (OPTION_VALUE_OPTIONAL | OPTION_VALUE_ADOPT);
    out_str(o, ".TP\n");
    if (row->letter)
        out_printf(o, "\\fB\\-%s\\fR%s", letter, row->name ? ", " : "");
    if (row->name) {
        out_str(o, "\\fB\\-\\-");
        plain(o, row->name, strlen(row->name));
        out_str(o, "\\fR");
    }
    if (option_takes_value(row)) {
        const char *arg = row->arg ? row->arg : "value";
        out_str(o, optional ? row->name ? "[=\\fI" : "[\\fI" : row->name ? "=\\fI" : " \\fI");
        plain(o, arg, strlen(arg));
        out_str(o, optional ? "\\fR]" : "\\fR");
    }
    out_char(o, '\n');
    for (const char *p = row->help; *p;) {
        size_t n = strcspn(p, "\n");
        inline_text(o, p, n);
        out_str(o, "\n");
        p += n + (p[n] == '\n');
        if (*p)
            out_str(o, ".br\n");
    }
    const char *word;
    for (size_t i = 0; words_shown(row) && (word = words_at(row->words, i)); i++) {
        plain(o, word, strlen(word));
        out_str(o, words_at(row->words, i + 1) ? ",\n" : ".\n");
    }
}

static void option_section(struct out *o, const struct option *rows) {
    if (!rows || !rows->kind)
        return;
    out_str(o, ".SH OPTIONS\n");
    for (const struct option *row = rows; row->kind; row++)
        if (!(row->flags & OPTION_HIDDEN))
            option_item(o, row);
}

/* What words mean. */
static void word_section(struct out *o, enum option_words kind, const char *heading) {
    struct word_meaning m;
    const char *word;
    out_printf(o, ".SH %s\n", heading);
    for (size_t i = 0; (word = words_at(kind, i)); i++) {
        if (!words_meaning(kind, i, &m))
            continue;
        out_str(o, ".TP\n\\fB");
        plain(o, word, strlen(word));
        out_str(o, "\\fR\n");
        inline_text(o, m.meaning, strlen(m.meaning));
        if (m.condition) {
            out_str(o, " (");
            plain(o, m.condition, strlen(m.condition));
            out_char(o, ')');
        }
        if (m.fallback) {
            out_str(o, ". Default: ");
            plain(o, m.fallback, strlen(m.fallback));
        }
        out_char(o, '\n');
    }
}

static void word_sections(struct out *o, const struct command *c) {
    static const char *const headings[OPTION_WORDS_COUNT] = {
        [OPTION_WORDS_KEYS] = "SORT KEYS",
        [OPTION_WORDS_FIELDS] = "FIELDS",
        [OPTION_WORDS_VARIABLES] = "VARIABLES",
    };
    for (const struct option *row = c->options; row && row->kind; row++)
        if (words_shown(row))
            word_section(o, row->words, headings[row->words]);
    if (headings[c->operands])
        word_section(o, c->operands, headings[c->operands]);
}

static void title(struct out *o, const char *page, const char *summary) {
    out_str(o, ".\\\" Made by the build from the option tables and man/: do not edit.\n.TH ");
    for (const char *p = page; *p; p++)
        out_char(o, (char)toupper((unsigned char)*p));
    out_printf(o, " 1 \"\" \"sonde %s\" \"sonde Manual\"\n.SH NAME\n", SONDE_VERSION);
    plain(o, page, strlen(page));
    out_str(o, " \\- ");
    plain(o, summary, strlen(summary));
    out_str(o, "\n.SH SYNOPSIS\n");
}

void manpage_command(struct out *o, const struct command *c, const char *text) {
    char page[64];
    snprintf(page, sizeof page, "sonde-%s", c->name);
    title(o, page, c->summary);
    for (size_t i = 0; c->usage[i]; i++) {
        out_printf(o, "%s\\fBsonde\\fR ", i ? ".br\n" : "");
        plain(o, c->usage[i], strlen(c->usage[i]));
        out_char(o, '\n');
    }
    out_str(o, ".SH DESCRIPTION\n");
    const char *rest = section_text(o, text ? text : c->summary);
    option_section(o, c->options);
    word_sections(o, c);
    other_sections(o, rest);
    out_str(o, ".SH SEE ALSO\n.BR sonde (1)\n");
}

void manpage_program(struct out *o, const char *text) {
    title(o, "sonde", "a profiler for Linux that says how it knows");
    out_str(o, "\\fBsonde\\fR [options] \\fIcommand\\fR [arguments]\n.SH DESCRIPTION\n");
    const char *rest = section_text(o, text ? text : "");
    out_str(o, ".SH COMMANDS\n");
    for (size_t i = 0; command_table[i]; i++) {
        out_str(o, ".TP\n.BR ");
        const char *name = command_table[i]->name;
        out_str(o, "sonde\\-");
        plain(o, name, strlen(name));
        out_str(o, " (1)\n");
        inline_text(o, command_table[i]->summary, strlen(command_table[i]->summary));
        out_char(o, '\n');
    }
    option_section(o, toplevel_option_rows);
    other_sections(o, rest);
}
