/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings that `diff` compares, each read as `report` does. */
#ifndef SONDE_CMD_DIFF_DIFF_READ_H
#define SONDE_CMD_DIFF_DIFF_READ_H

#include "cmd/diff/diff_options.h"
#include "cmd/report/report_profile.h"

enum { DIFF_FILES_MAX = 64 };

struct diff_file {
    const char *path;
    struct recording recording;
    bool opened;
    struct report_options options; /* a copy, with the file's own --time */
    char *time;                    /* owned */
    struct report_session *session;
    struct arena arena;
    struct perfdata_texts command; /* as the header has it, in the arena */
};

struct diff_files {
    struct diff_file *list; /* owned; the base first */
    uint32_t count;
};

/* Reads the recording at f->path as f->options say, which were settled, into the rest of `f` (zeroed;
 * diff_file_fini in any case). False and *err: it could not be read. */
bool diff_file_read(struct diff_file *f, const struct command_env *env, struct err *err);
void diff_file_fini(struct diff_file *f);

/* Reads `count` recordings, at most DIFF_FILES_MAX, into `out` (zeroed; diff_files_free in any case). False
 * and *err: one could not be read. */
bool diff_files_read(struct diff_files *out, const char *const *paths, uint32_t count,
                     const struct diff_options *o, const struct command_env *env, struct err *err);
void diff_files_free(struct diff_files *f);

/* Returns the worst of the recordings' exit statuses (input_status). */
int diff_files_status(const struct diff_files *f);

/* Returns what a file has of an event of the base's, by name or, if there is none of that name, the one that
 * counts the same (as perf: cycles:u for cycles); .event NULL: it has none. */
struct compare_side diff_files_side(const struct diff_files *f, uint32_t file, const char *event);

/* Tells the user if a file is compared with itself, or with one of another architecture. */
void diff_say_files(const struct diff_files *f);
/* Tells the user which names are taken for one program, if any are, and where one side lacks names. */
void diff_say_matches(struct compare *c, const struct diff_files *f);

#endif
