/* SPDX-License-Identifier: Apache-2.0 */
/* From a file that commands are given to whole stacks (stacks/stacks.h). */
#ifndef SONDE_CMD_VIEW_STACKS_INPUT_H
#define SONDE_CMD_VIEW_STACKS_INPUT_H

#include "cmd/common/command.h"
#include "cmd/diff/diff_read.h"
#include "cmd/report/report_options.h"
#include "stacks/stacks.h"

/* What is wanted of a recording: report's options, as far as they decide which samples count and how code is
 * named. */
struct stacks_options {
    struct report_options report;
    enum profile_chain_key frames;
    bool moments;
};

/* The rows of options that all commands with stacks have; `type` has a struct stacks_options `member`. */
#define STACKS_OPTION_ROWS(type, member)                                                                  \
    INPUT_OPTION(type, member.report.input), INPUT_FORCE_OPTION(type, member.report.force),               \
        OPTION_STRING('c', "comms", type, member.report.comms, "comm[,comm...]", "only these commands",   \
                      .words = OPTION_WORDS_COMMS),                                                       \
        OPTION_STRING('C', "cpu", type, member.report.cpus, "cpu", "only these CPUs"),                    \
        OPTION_STRING('d', "dsos", type, member.report.dsos, "dso[,dso...]",                              \
                      "only samples in these objects", .words = OPTION_WORDS_DSOS),                       \
        OPTION_STRING('S', "symbols", type, member.report.symbols, "symbol[,symbol...]",                  \
                      "only samples in these functions"),                                                 \
        OPTION_STRING(0, "pid", type, member.report.pids, "pid[,pid...]", "only these processes"),        \
        OPTION_STRING(0, "tid", type, member.report.tids, "tid[,tid...]", "only these threads"),          \
        OPTION_STRING(0, "time", type, member.report.time, "range", "only samples in this span of time"), \
        OPTION_STRING('k', "vmlinux", type, member.report.symbol.host.vmlinux, "file", "kernel image"),   \
        OPTION_STRING(0, "kallsyms", type, member.report.symbol.host.kallsyms, "file",                    \
                      "the kernel's list of symbols"),                                                    \
        OPTION_STRING(0, "symfs", type, member.report.symbol.symfs, "folder",                             \
                      "look for files with symbols below this folder"),                                   \
        OPTION_BOOL(0, "inline", type, member.report.inlines, "show inlined functions"),                  \
        OPTION_COUNT('v', "verbose", type, member.report.verbose, "say more"),                            \
        OPTION_BOOL('q', "quiet", type, member.report.quiet, "print no warnings or messages")

/* Sets the defaults. */
void stacks_options_init(struct stacks_options *o, const struct perfconfig *config);
void stacks_options_fini(struct stacks_options *o);

/* Adds the recording, or another file with stacks, at `path` to `s`, which is zeroed at first. Returns the
 * exit status: EXIT_OK, another one after it was reported what could not be read, or STACKS_FAILED: that was
 * reported, too, and there is nothing to show. kept: NULL or, zeroed, what then has the recording as it was
 * read, to be judged (without a session: it was another file, or could not be read); diff_file_fini in any
 * case. */
enum { STACKS_FAILED = -1 };
int stacks_read(struct command_env *env, struct stacks_options *o, const char *path, struct stacks *s,
                struct diff_file *kept);

#endif
