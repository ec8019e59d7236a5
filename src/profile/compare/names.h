/* SPDX-License-Identifier: Apache-2.0 */
/* Names that builds give to the same function or library. */
#ifndef SONDE_PROFILE_COMPARE_NAMES_H
#define SONDE_PROFILE_COMPARE_NAMES_H

#include <stddef.h>

/* Returns how long a function's name is without what compilers append to clones of it: "mix" of
 * "mix.constprop.0.isra.3" (.constprop .isra .part .cold .lto_priv .llvm and numbers, of GCC and LLVM). The
 * whole length if there is nothing else. */
size_t compare_function_stem(const char *name, size_t len);

/* Returns how long a path's last component is without a library's version, and sets *from to where it
 * begins: "libfoo" of "/usr/lib/libfoo-2.31.so", "libfoo" of "libfoo.so.1.2". The whole component if it is no
 * library. */
size_t compare_library_stem(const char *path, size_t *from);

/* Returns how long a program's name is without what is appended to tell its builds apart: "tool" of
 * "tool.old", "tool-new", "tool_v2", "tool-1.10" and "tool~". At least one byte. */
size_t compare_program_stem(const char *name, size_t len);

#endif
