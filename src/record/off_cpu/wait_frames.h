/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait as a frame: the innermost one of a sample of --off-cpu says what the thread waits for ("sleeps in
 * futex"). Its address lies where no kernel has anything, and a KSYMBOL record (perf_event_open(2)) names it,
 * so all readers know it as they know other functions of the kernel (docs/FORMAT.md, "Frames of waits").
 */
#ifndef SONDE_RECORD_OFF_CPU_WAIT_FRAMES_H
#define SONDE_RECORD_OFF_CPU_WAIT_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/off_cpu.h"

/* Unused at the end of the address space: x86_64/mm.rst and arm64/memory.rst of the kernel's documentation.
 * The last page's addresses are markers in callchains. */
#define RECORD_WAIT_BASE  0xffffffffffff0000ull
#define RECORD_NAMED_BASE 0xffffffffffe00000ull
enum { RECORD_NAMED_NUMBERS = 1 << 16 }; /* frames with names of their own (named_frames.h) */
#define RECORD_WAKER_WORDS "woken by "   /* how the frames of wakers begin */
enum { RECORD_WAIT_BYTES = 16, RECORD_WAIT_NUMBERS = BPF_OFF_CPU_KINDS * 640, RECORD_WAIT_NAME = 64 };

/* The number of a kind of wait, below RECORD_WAIT_NUMBERS. */
uint32_t record_wait_number(const struct bpf_off_cpu_key *key);

/* Fills `name` with the wait's name, padded with NULs, and returns its length, below RECORD_WAIT_NAME - 8.
 * `machine` (uname(2)): whose system call numbers are meant. */
size_t record_wait_name(uint32_t number, const char *machine, char name[RECORD_WAIT_NAME]);

#endif
