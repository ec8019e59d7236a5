/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of the disk that a session looks at, each opened at most once, whether it is there or not.
 * Everything handed out lives until symfile_cache_fini. Any number of threads.
 */
#ifndef SONDE_SYMBOL_SYMFILE_H
#define SONDE_SYMBOL_SYMFILE_H

#include <pthread.h>

#include "base/arena.h"
#include "base/strpool.h"
#include "object/build_id.h"
#include "object/dwarf/cfi.h"
#include "object/elf.h"
#include "os/files/map.h"
#include "os/proc/proc.h"
#include "symbol/kernel_list.h"

struct symfile {
    const char *path;
    struct err err;     /* code is ERR_NONE when it could be read */
    struct bytes bytes; /* unpacked, if it was compressed as modules are */
    bool is_elf;
    struct object_elf elf;
    struct object_layout layout;
    struct object_build_id id; /* size 0: none */

    /* The rest is private to symfile.c. */
    pthread_mutex_t lock;
    bool opened, listed;
    struct os_map map;
    struct arena unpacked;
    struct kernel_list *list;
    struct err list_err; /* why there is no list or table */
    struct symbol_table *table;
    bool is_text;               /* read by symfile_text_table */
    struct os_identity text_at; /* the file's identity at that time; all 0: it did not exist */
    bool framed;
    struct object_cfi *frames;
};

struct symfile_cache {
    pthread_mutex_t lock;
    struct strpool paths;
    VEC(struct symfile *) files; /* by path id */
};

bool symfile_cache_init(struct symfile_cache *c, struct err *err);
void symfile_cache_fini(struct symfile_cache *c);

/* The pages of files that were read go, until they are read again. */
void symfile_cache_rest(struct symfile_cache *c);

/* Opens a file; symfile.err says whether it could be read. NULL: out of memory. */
struct symfile *symfile_open(struct symfile_cache *c, const char *path);

/* As symfile_open for a file in memory, whose name must not be any path. */
struct symfile *symfile_borrow(struct symfile_cache *c, const char *name, struct bytes content);

/* The list of kernel symbols at `path`, read once; NULL and *err: there is none. */
const struct kernel_list *symfile_kernel_list(struct symfile_cache *c, const char *path, struct err *err);

/* The table that `build` makes from the text at `path` (which it takes over), made once; NULL and *err: there
 * is none. */
typedef struct symbol_table *symfile_build_fn(struct writer *text, struct err *err);
const struct symbol_table *symfile_text_table(struct symfile_cache *c, const char *path,
                                              symfile_build_fn *build, struct err *err);

/* Frees the tables of texts that changed or appeared since they were read: they are made again at the next
 * use. True if there was any. Not while another thread uses the cache. */
bool symfile_forget_changed(struct symfile_cache *c);

/* The unwind tables of the file, with those of its separate debug file (NULL: none), made at the first call;
 * NULL: there are none. */
const struct object_cfi *symfile_frames(struct symfile *f, const struct symfile *debug);

/* Whether the file has exactly this build-id. */
bool symfile_has_id(const struct symfile *f, struct bytes build_id);

#endif
