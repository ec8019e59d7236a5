/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One screen of a live profile as text, in the layout of perf top --stdio: a line about what was sampled
 * since the last screen, a rule, and the first rows of the profile.
 */
#ifndef SONDE_VIEW_TOP_TOP_TEXT_H
#define SONDE_VIEW_TOP_TOP_TEXT_H

#include "view/report/report_text.h"

/* What was counted since the last screen. */
struct top_counts {
    double seconds;
    uint64_t samples, kernel, exact; /* of `samples`: taken in the kernel; with an exact address */
    uint64_t lost, lost_ever;
    uint64_t stacks, stacks_cut; /* dumped stacks; of these not unwound, as there were too many */
    double own;                  /* our own CPU time, as a fraction of one CPU */
};

/* What is sampled, of whom. */
struct top_source {
    const char *event;                     /* the only one, or the first */
    uint64_t freq_hz, period;              /* one of them; both 0: it is not told */
    const char *pids, *tids, *user, *cpus; /* NULL: all */
    unsigned cpu_count;                    /* that are online */
};

struct top_screen {
    unsigned rows, cols; /* of the terminal; cols 0: lines are not cut */
    unsigned entries;    /* at most so many lines of the profile; 0: as many as there is room for */
};

/* Appends the line about what was counted: the irqs/sec and so on. */
void top_text_counts(const struct top_counts *c, const struct top_source *s, struct out *out);

/* "N of M stacks cut: too many to unwind"; "" without any. */
void top_text_cut(const struct top_counts *c, char *text, size_t size);

/* Appends a screen whose lines are `body`'s, as top_text_print. */
bool top_text_screen(const struct out *body, const struct top_counts *c, const struct top_source *s,
                     const struct top_screen *screen, struct out *out, struct err *err);

/* Appends a screen, without a newline after the last line. `o`: how the profile is to be printed. False:
 * memory.
 */
bool top_text_print(const struct profile *p, const struct report_text_options *o, const struct top_counts *c,
                    const struct top_source *s, const struct top_screen *screen, struct out *out,
                    struct err *err);

#endif
