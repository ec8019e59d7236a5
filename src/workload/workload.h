/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small programs with known shapes, to be profiled: `sonde test -w NAME`. What
 * is hot has a symbol of its own that stays the same from build to build;
 * symbols, comms and arguments are those of perf's workloads of the same
 * names, as far as these show them. They see nothing of sonde.
 */
#ifndef SONDE_WORKLOAD_WORKLOAD_H
#define SONDE_WORKLOAD_WORKLOAD_H

#include <stdbool.h>

struct workload {
    const char *name;
    const char *args; /* what may follow the name, with the default; "" */
    const char *summary;
    /* argv[0 .. argc) are the arguments after the name. Returns the exit code. */
    int (*run)(int argc, char **argv);
    const char *comm; /* what it calls itself, at most 15 bytes; NULL: as the program is called */
};

extern const struct workload workload_brstack, workload_callchain, workload_context_switch_loop,
    workload_datasym, workload_deterministic, workload_inlineloop, workload_jitdump, workload_landlock,
    workload_leafloop, workload_named_threads, workload_noploop, workload_sqrtloop, workload_thloop,
    workload_traploop;

/* All of them, ended by NULL. */
extern const struct workload *const workload_table[];

/* Runs it. -1: there is no workload of that name. */
int workload_run(const char *name, int argc, char **argv);

/* Argument `index` as a number of at least 1, or the default when there are fewer. 0: it is no number (said
 * on stderr). */
unsigned workload_number(int argc, char **argv, int index, unsigned fallback);

/* Arms a timer to set *workload_done after argument 0 (default 1) seconds, 0.1 too; false if that is no such
 * number (said on stderr). */
bool workload_timer(int argc, char **argv);
extern volatile int workload_done;

/* For a function that keeps its own symbol and frame: extern, and declared so first. */
#ifdef __clang__
#define WORKLOAD_FUNCTION __attribute__((noinline))
#else
#define WORKLOAD_FUNCTION __attribute__((noinline, noclone, noipa))
#endif

/* At the start of such a function: makes it set up a frame pointer though it calls nobody, which gcc would
 * leave out in spite of all options, so that a chain of frames would lack its caller. */
#define WORKLOAD_FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

#endif
