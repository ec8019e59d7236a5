/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running kernel's own symbols, kept between runs: the kernel takes tens of milliseconds to write
 * /proc/kallsyms out, and nothing changes in that part of it until the next boot. What modules, BPF programs
 * and the like add to it is not kept.
 *
 * One file, "kernel-symbols", in a folder of the user's. All numbers are in the machine's byte order:
 *
 *   char magic[8]        "sondeks1"
 *   u64 checksum         XXH3-64 (xxHash, seed 0) of everything after it
 *   u32 order            0x01020304
 *   u32 key size, key    identifies the kernel and boot; padded with zeros to 8 bytes
 *   u64 symbols, texts   number of symbols, bytes of texts
 *   symbols, each        u64 address, u32 name (its offset in the texts), u32 type (as in kallsyms)
 *   texts                each ends in a zero byte
 */
#ifndef SONDE_SYMBOL_KERNEL_CACHE_H
#define SONDE_SYMBOL_KERNEL_CACHE_H

#include "os/files/map.h"
#include "symbol/kernel_list.h"

/* Identifies a running kernel: its boot and its build-id. Empty if either is not known: then nothing is kept.
 */
struct kernel_cache_key {
    uint8_t bytes[128];
    size_t size;
};
struct kernel_cache_key kernel_cache_key(struct bytes boot_id, struct bytes build_id);

/* Writes the file's content. False: out of memory, or there is nothing to keep. */
bool kernel_cache_encode(const struct kernel_list *l, const struct kernel_cache_key *key, struct writer *to);

/* The list in a file's content, from which it is borrowed. NULL: it is of another kernel or boot, damaged, or
 * memory ran out. */
struct kernel_list *kernel_cache_decode(struct bytes file, const struct kernel_cache_key *key);

/* Load and save the file in a folder. The list borrows from `map`. */
struct kernel_list *kernel_cache_load(const char *folder, const struct kernel_cache_key *key,
                                      struct os_map *map);
void kernel_cache_save(const char *folder, const struct kernel_cache_key *key, const struct kernel_list *l);

#endif
