/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was made of images' DWARF (object/index/object_index.h), kept between runs: one file for each image,
 * "lines-" and a hash, in a folder of the user's (os/files/own_cache.h). Two writers, a torn or foreign file,
 * a full disk, a folder that cannot be written: all are as if nothing had been kept.
 */
#ifndef SONDE_RESOLVE_LINES_CACHE_H
#define SONDE_RESOLVE_LINES_CACHE_H

#include "object/index/object_index.h"
#include "os/files/map.h"

/* At most so much of one image and of all: what was not used for the longest time is removed. */
enum { LINES_CACHE_FILE_MAX = 256 << 20, LINES_CACHE_MAX = 512 << 20 };

/* What identifies the DWARF of an image; size 0: nothing does. */
struct lines_cache_key {
    uint8_t bytes[160];
    size_t size;
};

/* The key of an image with DWARF, and of the dwz file and .dwp that it needs (or empty): the build-id or else
 * the content cookie, and sizes. */
struct lines_cache_key lines_cache_key(struct bytes dwarf, struct bytes dwz, struct bytes dwp);

/* Maps the file of a key. Empty: there is none. */
bool lines_cache_load(const char *folder, const struct lines_cache_key *key, struct os_map *map);
/* Saves what an index has that its file does not have yet. */
void lines_cache_save(const char *folder, const struct lines_cache_key *key, struct object_index *x);

#endif
