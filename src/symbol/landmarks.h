/* SPDX-License-Identifier: Apache-2.0 */
/* Functions, known by name, that are entered or left in special ways. */
#ifndef SONDE_SYMBOL_LANDMARKS_H
#define SONDE_SYMBOL_LANDMARKS_H

#include <stdbool.h>

/* Whether the processor enters the kernel here by itself: the frame directly outside was interrupted, it did
 * not call. */
bool symbol_is_exception(const char *function);

/* Whether signal handlers return to it: trampolines of the vdso, C libraries, Go. */
bool symbol_is_signal_return(const char *function);

/* Whether a runtime's signal handlers make the interrupted program call it. The frame directly outside has
 * the address of the next instruction to run, as if that had called. */
bool symbol_is_injected(const char *function);

/* Whether kernel functions return to it without having been called from it. */
bool symbol_is_landing(const char *function);

#endif
