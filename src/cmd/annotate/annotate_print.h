/* SPDX-License-Identifier: Apache-2.0 */
/* Annotates the functions of a recording that was read: for the command, and for the report's browser. */
#ifndef SONDE_CMD_ANNOTATE_ANNOTATE_PRINT_H
#define SONDE_CMD_ANNOTATE_ANNOTATE_PRINT_H

#include "annotate/profile.h"
#include "view/annotate/annotate_text.h"

/* Texts are borrowed. */
struct annotate_wish {
    const char *symbol;              /* only this function (symbol_name_matches); NULL: all */
    bool exact;                      /* it has exactly that name */
    const struct filter_names *dsos; /* only these objects; NULL or empty: all */
    const char *dso;                 /* only this one; NULL: all */
    const uint32_t *event;           /* only this event, and those that are grouped with it; NULL: all */
    double percent_limit;            /* only functions with at least that share of an event */
    bool ungrouped;                  /* each event of a group by itself */
    bool made_group;                 /* the first group was not recorded as one */
    bool skip_empty;                 /* events of a group without samples are not shown */
    bool skip_missing;               /* nothing is said of functions without code */
    bool first_only;                 /* one function */
    struct annotate_options code;
    struct annotate_text_options text; /* as far as it does not depend on the function */
    const char *symfs, *prefix;
    unsigned strip;
};

struct annotate_result {
    size_t printed, missed; /* functions */
    uint64_t hottest;       /* with first_only: the number of the line that was hit most */
    struct err why;         /* of the first that was missed */
};

/* Reads the samples and prints what is wished. What cannot be annotated is reported through log_line unless
 * it is not to be mentioned. False: *err: out of memory, or the recording cannot be read on. */
bool annotate_print(const struct annotate_input *in, const struct annotate_wish *w, struct out *out,
                    struct annotate_result *r, struct err *err);

#endif
