/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growing span of bytes in an unlinked temporary file: what a pipe delivered or a decompressor produced,
 * addressable like a mapped file and never in anonymous memory. Addresses never move while it grows.
 */
#ifndef SONDE_OS_SPOOL_H
#define SONDE_OS_SPOOL_H

#include "base/bytes.h"
#include "base/err.h"

struct os_spool {
    int fd;
    uint8_t *base;      /* of a large reservation of addresses; bytes [released, size) may be read */
    uint64_t reserved;  /* addresses reserved */
    uint64_t size;      /* bytes written */
    uint64_t allocated; /* bytes of the file that have room on the disk */
    uint64_t released;  /* bytes given back at the front */
    char dir[256];      /* for messages */
};

/* In $TMPDIR, or /tmp. False and *err when no file can be made there. */
bool os_spool_open(struct os_spool *s, struct err *err);
/* The same in memory: what is given back is free again at once. */
bool os_spool_open_memory(struct os_spool *s, struct err *err);
void os_spool_close(struct os_spool *s);

/* Room for `n` bytes after size; call os_spool_commit with what was really written. NULL and *err: disk
 * full... */
uint8_t *os_spool_room(struct os_spool *s, size_t n, struct err *err);
static inline void os_spool_commit(struct os_spool *s, size_t n) {
    s->size += n;
}

/* Writes what the spans hold after size, which then counts it. For what is not looked at soon: copied into
 * the room above, each new page would be a fault, which may wait for the disk. False and *err: disk full...
 */
bool os_spool_append(struct os_spool *s, const struct bytes *spans, size_t count, struct err *err);

/* Gives the disk blocks of bytes before `upto` back (where the file system can). They must not be read again.
 */
void os_spool_release(struct os_spool *s, uint64_t upto);

#endif
