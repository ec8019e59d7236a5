/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a symbol is the one that a user means: people write `std::sort`, and symbols are called
 * `void std::sort<int*, less>(int*, int*, less)`. */
#ifndef SONDE_SYMBOL_NAME_MATCH_H
#define SONDE_SYMBOL_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * True when `wanted` is `name`, a name as it is shown, or what is left of it without some of what people
 * leave out, from its end: what compilers add to parts and copies of functions (.cold, [clone .part.0]),
 * qualifiers (const), parameters, the last template arguments; and from its beginning, the return type; or
 * without all template arguments and ABI tags. Rust's <a::B>::f is a::B::f too.
 */
bool symbol_name_matches(const char *name, const char *wanted);

/* Bytes of the first name in a list with commas: those within brackets part nothing. */
size_t symbol_name_in_list(const char *list);

#endif
