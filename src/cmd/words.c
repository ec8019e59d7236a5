/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/words.h"

#include <string.h>

#include "profile/column.h"
#include "view/script_fields.h"

const char *words_at(enum option_words kind, size_t i) {
    struct profile_column_entry key;
    if (kind == OPTION_WORDS_KEYS)
        return profile_column_listed(i, &key) ? key.name : NULL;
    return kind == OPTION_WORDS_FIELDS ? script_fields_name(i) : NULL;
}

bool words_shown(const struct option *row) {
    size_t n = row->help ? strlen(row->help) : 0;
    return n && row->help[n - 1] == ':' && words_at(row->words, 0);
}

void words_explain(struct out *o, enum option_words kind) {
    struct profile_column_entry key;
    const char *word;
    for (size_t i = 0; (word = words_at(kind, i)); i++) {
        out_str(o, word);
        if (kind == OPTION_WORDS_KEYS && profile_column_listed(i, &key)) {
            out_fill(o, ' ', 20 - strlen(word));
            out_printf(o, "  %s", key.title);
            if (key.condition)
                out_printf(o, " (%s)", key.condition);
        }
        out_char(o, '\n');
    }
}
