/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/common/options/words.h"

#include <string.h>

#include "cmd/config/config_keys.h"
#include "profile/columns/column.h"
#include "view/script/script_fields.h"

const char *words_at(enum option_words kind, size_t i) {
    struct profile_key_entry key;
    if (kind == OPTION_WORDS_KEYS)
        return profile_key_listed(i, &key) ? key.name : NULL;
    if (kind == OPTION_WORDS_VARIABLES)
        return config_key_at(i) ? config_key_at(i)->name : NULL;
    const struct script_field *field = kind == OPTION_WORDS_FIELDS ? script_field_listed(i) : NULL;
    return field ? field->name : NULL;
}

bool words_shown(const struct option *row) {
    size_t n = row->help ? strlen(row->help) : 0;
    return n && row->help[n - 1] == ':' && words_at(row->words, 0);
}

bool words_meaning(enum option_words kind, size_t i, struct word_meaning *out) {
    struct profile_key_entry key;
    const struct script_field *field = kind == OPTION_WORDS_FIELDS ? script_field_listed(i) : NULL;
    if (kind == OPTION_WORDS_KEYS && profile_key_listed(i, &key))
        *out = (struct word_meaning){key.key->help, profile_key_condition(key.key), NULL};
    else if (kind == OPTION_WORDS_VARIABLES && config_key_at(i))
        *out = (struct word_meaning){config_key_at(i)->help, NULL, config_key_at(i)->fallback};
    else if (field)
        *out = (struct word_meaning){field->help, NULL, NULL};
    else
        return false;
    return true;
}

void words_explain(struct out *o, enum option_words kind) {
    enum { WIDTH = 20 };
    struct word_meaning m;
    const char *word;
    for (size_t i = 0; (word = words_at(kind, i)); i++) {
        bool known = words_meaning(kind, i, &m);
        out_left(o, word, strlen(word), known ? WIDTH : 0);
        if (known)
            out_printf(o, "  %s", m.meaning);
        if (known && m.condition)
            out_printf(o, " (%s)", m.condition);
        if (known && m.fallback)
            out_printf(o, " (default: %s)", m.fallback);
        out_char(o, '\n');
    }
}
