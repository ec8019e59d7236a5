/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are known by name for how code gets into them and out of them. */
#ifndef SONDE_SYMBOL_LANDMARKS_H
#define SONDE_SYMBOL_LANDMARKS_H

#include <stdbool.h>

/* Where processors enter kernels: what lies directly outside of it on a stack was interrupted, not called
 * from. */
bool symbol_is_exception(const char *function);

/* What handlers of signals return to: of the vdso, C libraries, Go. */
bool symbol_is_signal_return(const char *function);

/* What signal handlers of a runtime let an interrupted program call: as if the instruction that is to come
 * next had done so, which lies directly outside of it on the stack. */
bool symbol_is_injected(const char *function);

/* What kernel functions return to without having been called from there. */
bool symbol_is_landing(const char *function);

#endif
