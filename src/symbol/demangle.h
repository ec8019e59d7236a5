/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as compilers spell them -> as people write them: C++ (Itanium C++ ABI 5.1), Rust (legacy, and v0: RFC
 * 2603), OCaml, Java in JIT images, D. The text is what the newest perf prints, but for D, which perf leaves
 * as it is.
 */
#ifndef SONDE_SYMBOL_DEMANGLE_H
#define SONDE_SYMBOL_DEMANGLE_H

#include "base/arena.h"

/*
 * The readable text of `name`, NUL-terminated, in `arena`; NULL when it is not mangled (most are not: that
 * costs a few comparisons), when it is so badly that no text comes out, when that would be longer than
 * anybody reads (64 KiB), or when memory ran out. `name` is the symbol alone, without @plt or an offset.
 * Bounded in time, memory and stack whatever the name is.
 */
const char *symbol_demangle(const char *name, struct arena *arena);

/* True when this build knows C++ (libiberty). OCaml, Java and Rust are always known. */
bool symbol_demangle_knows_cxx(void);

#endif
