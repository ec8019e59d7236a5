/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a symbol is the one that a user means: people write `std::sort`, and symbols are called
 * `void std::sort<int*, less>(int*, int*, less)`. */
#ifndef SONDE_SYMBOL_NAME_MATCH_H
#define SONDE_SYMBOL_NAME_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether `wanted` is `name`, as it is displayed, possibly without what people leave out. At the end:
 * suffixes of parts and copies of functions (.cold, [clone .part.0]), qualifiers (const), parameters, the
 * last template arguments. At the beginning: the return type. Or all template arguments and ABI tags. Rust's
 * <a::B>::f is a::B::f too.
 */
bool symbol_name_matches(const char *name, const char *wanted);

/* The length of the first name in a list with commas; commas within brackets do not separate names. */
size_t symbol_name_in_list(const char *list);

#endif
