/* SPDX-License-Identifier: Apache-2.0 */
/* A function's instructions, for the terminal browser. */
#ifndef SONDE_CMD_REPORT_REPORT_ANNOTATE_H
#define SONDE_CMD_REPORT_REPORT_ANNOTATE_H

#include "cmd/report/report_profile.h"

/* All borrowed. */
struct report_annotate_wish {
    const struct report_session *session;
    struct recording *recording;
    const struct report_options *options;
    const struct recording_live *live; /* of the samples that it lists; NULL: of all of the recording */
    const char *function, *dso;        /* dso NULL: any */
    uint32_t event;                    /* of the recording */
};

/* Appends the function with what the samples hit of it, those that the session keeps; *line becomes the
 * number of the line, from 0, that was hit most. False: *err (ERR_ABSENT: no sample hit it). */
bool report_annotate(const struct report_annotate_wish *w, struct out *out, uint64_t *line, struct err *err);

#endif
