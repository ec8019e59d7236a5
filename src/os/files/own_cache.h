/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files that can be made again at any time, in a folder that is nobody else's: what others could have
 * written is not read. A file is replaced as a whole, so that a map of it never changes.
 */
#ifndef SONDE_OS_OWN_CACHE_H
#define SONDE_OS_OWN_CACHE_H

#include "os/files/map.h"

/* Maps folder/name. False, without a word, unless folder and file are ours, nobody else may write them, and
 * the file is a regular one of at most `max_bytes`. */
bool os_own_cache_map(const char *folder, const char *name, uint64_t max_bytes, struct os_map *out);

/* Puts a file there that only we may read, made of `count` parts, making the folder (and the one it lies in)
 * if need be. False, without a word and with nothing changed, when that cannot be done or the folder is not
 * ours alone. */
bool os_own_cache_put_parts(const char *folder, const char *name, const struct bytes *parts, size_t count);
bool os_own_cache_put(const char *folder, const char *name, struct bytes content);

/* Says that a file of the folder was used now. */
void os_own_cache_touch(const char *folder, const char *name);
/* Removes files whose names begin with `prefix`, those first that were not used for the longest time, until
 * all together have at most `max_bytes`; and what writers of such files left behind that were ended. */
void os_own_cache_trim(const char *folder, const char *prefix, uint64_t max_bytes);

#endif
