/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of sonde's own: how sure a name is (symbol/grade.h). They come after all of perf's, so that an
 * abbreviated name means the same key as in perf. */
#include "profile/profile_internal.h"

PROFILE_WORD(grade, profile_grade_of(p, x->frame))

static void put_grade(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_str(o, grade_name((enum grade)profile_cell_word(p, x)));
}

PROFILE_WORD(identity, p->bases_of.items[x->frame].identity)

static void put_identity(const struct profile *p, const struct profile_cell *x, struct out *o) {
    out_str(o, symbol_identity_text((enum symbol_identity)profile_cell_word(p, x)));
}

PROFILE_WORD(provenance, p->bases_of.items[x->frame].text)

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
