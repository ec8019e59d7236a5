/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands as rows of a table, and what every command needs besides its own work: options parsed as perf
 * does, errors as one line, a pager, checked standard output, exit codes.
 *
 * A command is one file cmd_NAME.c that defines `const struct command cmd_NAME`, one line in command.c's
 * table and one in command.h's list; see docs/HOWTO_ADD_COMMAND.md.
 */
#ifndef SONDE_CMD_COMMON_COMMAND_H
#define SONDE_CMD_COMMON_COMMAND_H

#include "base/err.h"
#include "base/text/out.h"
#include "cmd/common/options/option.h"
#include "cmd/common/terminal/pager.h"

struct perfconfig;

/* A file descriptor as a sink: the ctx of command_write_fd. */
struct command_sink {
    int fd;
    int errnum; /* why the first failed write failed */
};

enum command_exit {
    EXIT_OK = 0,
    EXIT_ERROR = 1,         /* something could not be read, or output failed */
    EXIT_USAGE = 129,       /* as perf */
    EXIT_INTERRUPTED = 130, /* ended early by ^C, as in shells; what was read is shown */
};

/* The environment of a command, for the duration of its run. */
struct command_env {
    const struct command *command;
    const char *program;             /* our own name: "sonde", or "perf" when called by that name */
    const struct perfconfig *config; /* never NULL */
    const char
        *buildid_dir; /* --buildid-dir, else buildid.dir of the configuration, else ~/.debug; NULL: no home */
    const char *own_cache;       /* sonde's own cache folder; NULL: none */
    const char *debuginfod_urls; /* $DEBUGINFOD_URLS; NULL: none */
    int pager;                   /* -1: as the configuration says; 0: --no-pager; 1: --paginate */
    int verbose;                 /* how much log_line shows: 0 warnings, 1 information, 2 all; -1 nothing */
    /* Owned by command_output and command_finish. */
    struct command_sink sink;
    struct pager pager_run;
};

struct command {
    const char *name;
    const char *summary;          /* one phrase for the list of commands */
    const char *const *usage;     /* what follows "sonde " in usage lines; ends with NULL */
    const struct option *options; /* NULL: none */
    enum option_words operands;   /* what they are, for completion and the manual */
    /* argv[0] is the command's name, argv[argc] NULL. Returns the exit code. */
    int (*run)(struct command_env *env, int argc, char **argv);
};

extern const struct command cmd_annotate;
extern const struct command cmd_archive;
extern const struct command cmd_buildid_cache;
extern const struct command cmd_buildid_list;
extern const struct command cmd_check;
extern const struct command cmd_config;
extern const struct command cmd_data;
extern const struct command cmd_diff;
extern const struct command cmd_doctor;
extern const struct command cmd_evlist;
extern const struct command cmd_export;
extern const struct command cmd_ftrace;
extern const struct command cmd_help;
extern const struct command cmd_import;
extern const struct command cmd_inject;
extern const struct command cmd_kallsyms;
extern const struct command cmd_kmem;
extern const struct command cmd_kwork;
extern const struct command cmd_list;
extern const struct command cmd_lock;
extern const struct command cmd_probe;
extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_sched;
extern const struct command cmd_script;
extern const struct command cmd_stat;
extern const struct command cmd_test;
extern const struct command cmd_timechart;
extern const struct command cmd_top;
extern const struct command cmd_trace;
extern const struct command cmd_version;
extern const struct command cmd_view;
extern const struct command cmd_waits;
extern const struct command cmd_why;

/* All commands, sorted by name; ends with NULL. */
extern const struct command *const command_table[];

/* A command of perf's that sonde does not have yet. */
struct command_absent {
    const char *name, *summary;
};
/* Ends with a NULL name. Names that are also in command_table are ignored here. */
extern const struct command_absent command_absent_table[];

/* Returns the command of that name, or NULL. */
const struct command *command_find(const char *name);
/* Returns the command of perf that sonde does not have yet; NULL: there is none of that name. */
const struct command_absent *command_find_absent(const char *name);

/* Parses *argv by the command's rows into `into`. True: *argc and *argv are now the operands. False: usage or
 * an error was printed; return *status. `flags`: enum option_parse_flags. */
bool command_options(struct command_env *env, void *into, unsigned flags, int *argc, char ***argv,
                     int *status);

/* Parses as command_options does, with the rows and usage lines of a verb of the command (as in `data
 * convert`). */
bool command_verb_options(struct command_env *env, const struct option *rows, const char *const *usage,
                          void *into, int *argc, char ***argv, int *status);
/* The same, up to the first operand: it and what follows are another command. */
bool command_verb_options_first(struct command_env *env, const struct option *rows, const char *const *usage,
                                void *into, int *argc, char ***argv, int *status);

/* Prints the command's usage lines and " Error: MESSAGE" (unless fmt is NULL) on stderr; returns EXIT_USAGE.
 */
int command_usage(const struct command_env *env, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns our own name: "perf" when called by that name, else "sonde". */
const char *command_program(void);

/* Replaces sonde's name by perf's in a message that has commands ("record with `sonde record`"), when called
 * perf. Returns `text`, or `room` with the changed text; a text that is too long stays unchanged. */
const char *command_words(const char *text, char *room, size_t size);
enum { COMMAND_WORDS_ROOM = 4096 };

/* Prints the error as one line on stderr; returns EXIT_ERROR (EXIT_USAGE for ERR_USAGE). */
int command_fail(const struct err *e);

/* Lets log_line print to stderr: warnings always, more with -v, nothing with quiet. Call it after option
 * parsing. */
void command_log(struct command_env *env, int verbose, bool quiet);

/* Opens standard output as `o`, through a pager if it is a terminal and neither options nor configuration
 * forbid it. False: out of memory; it was reported. */
bool command_output(struct command_env *env, struct out *o);

/* The same into a file, made or emptied, if `path` is not NULL. False: it was reported. */
bool command_output_to(struct command_env *env, const char *path, struct out *o);

/* Flushes and frees `o`, waits for the pager. Returns `status`, or EXIT_ERROR if that was 0 and output could
 * not be written (reported, unless the reader closed the pipe: EPIPE). */
int command_finish(struct command_env *env, struct out *o, int status);

/* A write function for out_init: `ctx` is a struct command_sink. Repeats short writes. */
bool command_write_fd(void *ctx, const char *p, size_t n);

#endif
