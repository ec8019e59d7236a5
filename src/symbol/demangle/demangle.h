/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles names: C++ (Itanium C++ ABI 5.1), Rust (legacy, and v0: RFC 2603), OCaml, Java in JIT images, D.
 * The text is what the newest perf prints, except for D, which perf does not demangle.
 */
#ifndef SONDE_SYMBOL_DEMANGLE_H
#define SONDE_SYMBOL_DEMANGLE_H

#include "base/arena.h"

/*
 * The readable text of `name`, NUL-terminated, in `arena`. NULL: it is not mangled (as most: that costs a few
 * comparisons) or badly mangled, the text would be longer than anybody reads (64 KiB), or memory ran out.
 * `name` is the symbol alone, without @plt or an offset. Bounded in time, memory and stack for any name.
 */
const char *symbol_demangle(const char *name, struct arena *arena);

/* Whether this build demangles C++ (libiberty). OCaml, Java and Rust always are. */
bool symbol_demangle_knows_cxx(void);

#endif
