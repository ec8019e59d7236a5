/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabularies of options' values, for help, manual pages and completion. */
#ifndef SONDE_CMD_COMMON_WORDS_H
#define SONDE_CMD_COMMON_WORDS_H

#include "base/text/out.h"
#include "cmd/common/options/option.h"

/* Returns the i-th word; NULL after the last, and for words that depend on the machine or the recording. */
const char *words_at(enum option_words kind, size_t i);

/* What a word means, and when it is available. */
struct word_meaning {
    const char *meaning;
    const char *condition; /* "with --mem-mode"; NULL: always */
    const char *fallback;  /* what is taken when nothing is said; NULL: has none */
};
/* Finds the meaning of the i-th word. False: it is not known. */
bool words_meaning(enum option_words kind, size_t i, struct word_meaning *out);

/* Whether help shows the row's words after its text. */
bool words_shown(const struct option *row);

/* Prints one word per line, with its meaning where that is known, as for "-s help". */
void words_explain(struct out *o, enum option_words kind);

#endif
