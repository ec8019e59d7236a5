/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stat/shell_words.h"

#include <stdlib.h>
#include <string.h>

enum found { FOUND_WORD, FOUND_END, FOUND_SHELL, FOUND_OPEN };

/* Reads a quoted part that began with `quote`, up to behind its end. What it stands for goes to *to. */
static enum found quoted_part(const char **at, char **to, char quote) {
    for (const char *p = *at; *p; p++) {
        if (*p == quote) {
            *at = p + 1;
            return FOUND_WORD;
        }
        if (quote == '"' && strchr("$`", *p))
            return FOUND_SHELL;
        if (quote == '"' && *p == '\\' && p[1] && strchr("$`\"\\\n", p[1]) && *++p == '\n')
            continue;
        *(*to)++ = *p;
    }
    return FOUND_OPEN;
}

/* Reads the next word into `to`, which has room for the rest of the text. `first`: where "=" would be an
 * assignment. */
static enum found next_word(const char **at, char *to, bool first) {
    const char *p = *at + strspn(*at, " \t");
    enum found found = *p ? FOUND_WORD : FOUND_END;
    while (found == FOUND_WORD && *p && !strchr(" \t", *p)) {
        char c = *p++;
        if (c == '\'' || c == '"')
            found = quoted_part(&p, &to, c);
        else if (strchr("|&;<>()$`*?[#~{}!\n", c) || (first && c == '='))
            found = FOUND_SHELL;
        else if (c == '\\' && !*p)
            found = FOUND_OPEN;
        else if (c == '\\' && *p == '\n')
            p++;
        else
            *to++ = c == '\\' ? *p++ : c;
    }
    *to = 0;
    *at = p;
    return found;
}

static bool add(struct shell_words *w, size_t *count, const char *word) {
    char *copy = strdup(word), **more = copy ? realloc(w->argv, (*count + 2) * sizeof *more) : NULL;
    if (!more) {
        free(copy);
        return false;
    }
    w->argv = more;
    w->argv[(*count)++] = copy;
    w->argv[*count] = NULL;
    return true;
}

bool shell_words_split(const char *text, struct shell_words *out, struct err *err) {
    const char *at = text;
    char *word = malloc(strlen(text) + 1);
    size_t count = 0;
    enum found found = FOUND_END;
    *out = (struct shell_words){0};
    bool ok = word;
    while (ok && (found = next_word(&at, word, count == 0)) == FOUND_WORD)
        ok = add(out, &count, word);
    if (ok && found == FOUND_SHELL) {
        shell_words_fini(out);
        count = 0;
        out->shell = true;
        ok = add(out, &count, "sh") && add(out, &count, "-c") && add(out, &count, text);
    }
    free(word);
    if (!ok)
        err_memory(err, text);
    else if (found == FOUND_OPEN)
        ok = err_set(err, ERR_USAGE, "", "'%.200s': a quote does not end", text);
    else if (count == 0)
        ok = err_set(err, ERR_USAGE, "", "'%.200s' is no command", text);
    if (!ok)
        shell_words_fini(out);
    return ok;
}

void shell_words_fini(struct shell_words *w) {
    for (char **p = w->argv; p && *p; p++)
        free(*p);
    free(w->argv);
    *w = (struct shell_words){0};
}
