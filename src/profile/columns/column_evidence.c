/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of sonde's own: how sure a name is (symbol/grade.h). They come after all of perf's, so that an
 * abbreviated name means the same key as in perf. */
#include "profile/profile_internal.h"

static unsigned words_grade(const struct profile *p, const struct profile_row *row, uint32_t frame,
                            uint64_t value, uint64_t *words) {
    (void)row, (void)value;
    words[0] = profile_grade_of(p, frame);
    return 1;
}

static void put_grade(const struct profile *p, const struct profile_table *t, const struct profile_row *row,
                      const struct profile_column *c, struct out *o) {
    (void)t;
    out_str(o, grade_name((enum grade)profile_key_word(p, c, row)));
}

static unsigned words_identity(const struct profile *p, const struct profile_row *row, uint32_t frame,
                               uint64_t value, uint64_t *words) {
    (void)row, (void)value;
    words[0] = p->bases_of.items[frame].identity;
    return 1;
}

static void put_identity(const struct profile *p, const struct profile_table *t,
                         const struct profile_row *row, const struct profile_column *c, struct out *o) {
    (void)t;
    out_str(o, symbol_identity_text((enum symbol_identity)profile_key_word(p, c, row)));
}

static unsigned words_provenance(const struct profile *p, const struct profile_row *row, uint32_t frame,
                                 uint64_t value, uint64_t *words) {
    (void)row, (void)value;
    words[0] = p->bases_of.items[frame].text;
    return 1;
}

static const struct profile_key rows[] = {
    {PROFILE_NAMES("grade", "Grade", "how sure the name is: exact, inferred, stale or unknown"),
     .kind = PROFILE_KEY_PLACE, .words = words_grade, .put = put_grade},
    {PROFILE_NAMES("identity", "Identity", "by what the file that gave the name was recognised"),
     .kind = PROFILE_KEY_PLACE, .finds = PROFILE_FINDS_EVIDENCE, .words = words_identity,
     .put = put_identity},
    {PROFILE_NAMES("provenance", "Provenance", "which table of which file gave the name"),
     .kind = PROFILE_KEY_PLACE, .finds = PROFILE_FINDS_EVIDENCE, .words = words_provenance,
     .rank = profile_rank_text, .put = profile_put_text},
};

const struct profile_key_list profile_evidence_keys = {rows, sizeof rows / sizeof *rows};
