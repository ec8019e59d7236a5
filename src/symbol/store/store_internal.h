/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the store: the state of images and of the store, and functions for the loaders. */
#ifndef SONDE_SYMBOL_STORE_INTERNAL_H
#define SONDE_SYMBOL_STORE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/added/kept.h"
#include "os/run/debuginfod.h"
#include "symbol/kernel_cache.h"
#include "symbol/store/store.h"
#include "symbol/symfile.h"

struct store_image {
    struct symbol_image known; /* texts are copies */
    struct perfdata_evidence evidence;
    bool evidenced; /* the file that was opened last matches `evidence` */
    bool asked;
    const struct symbol_table *table;
    struct symbol_table *owned; /* the table, if it belongs to this image alone */
    struct symbol_source source;
    struct symbol_bytes bytes;
    const char *debug_path;                /* of bytes.debug; NULL: the image's own */
    struct symfile *framed, *framed_debug; /* the files that have its unwind tables; NULL: none */
    bool frames_asked;
    struct object_cfi *frames; /* JIT code: its unwind tables */
    struct writer built;       /* JIT code: the ELF file made of it when its bytes are needed first */
    VEC(struct symbol_try) tries;
    const char *warning;
    struct arena texts;
};

/* What is known of the running kernel; read once. */
struct store_live {
    bool known;
    struct object_build_id id; /* size 0: not known */
    char release[65], name[65];
    uint8_t boot[64]; /* the boot's id (random(4)), as text */
    size_t boot_size; /* 0: not known */
};

/* The running kernel's own symbols, cached by an earlier run. */
struct store_kernel_kept {
    bool asked;
    struct kernel_list *list; /* NULL: not kept */
    struct os_map map;
};

/* Addresses of a kernel's data that a copy of its memory may contain, read from a list of its symbols: kept
 * lists have no such data, as they are for names of functions. */
struct store_landmarks {
    const char *list_path; /* of the list that was read; NULL: none yet. Lives as long as the store */
    uint64_t banner, notes, notes_end; /* 0: not listed */
};

/* The files that the recording keeps (format/perfdata/added/kept.h), found by what proves them. */
struct store_kept {
    VEC(struct perfdata_kept) list;
    struct hash_map by_key;      /* key of the build-id, the file's state, or a perf map's pid -> index */
    VEC(uint8_t *) files;        /* unpacked content; owned */
    struct symfile **opened;     /* by index in the list; NULL: not yet */
    struct kernel_list *symbols; /* of a kernel; NULL: not kept, or not read yet */
    bool asked;
};

struct symbol_store {
    struct symbol_options options;
    struct symfile_cache files;
    VEC(struct store_image *) images;
    struct os_debuginfod *servers; /* NULL: the network is not used */
    pthread_mutex_t lock;          /* guards what follows */
    struct store_live live;
    struct store_kernel_kept kernel;
    struct store_landmarks landmarks;
    struct symbol_returns returns[2]; /* of the host's kernel, of guests' */
    bool has_returns[2];
    struct store_kept kept; /* list and by_key never change */
};

/* Formats a text in the image's arena; "" if memory ran out. */
const char *store_text(struct store_image *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes that `path` was tried, and `why` it was not used; NULL: it was. */
void store_tried(struct store_image *im, const char *path, const char *why);

/* Fails the image: sets status, path and text unless an earlier, more telling status stands. Returns false.
 */
bool store_fail(struct store_image *im, enum symbol_status status, const char *path, const char *text);

/* As store_fail, from an error: ERR_ABSENT is SYMBOL_ABSENT, ERR_PERMISSION SYMBOL_HIDDEN... */
bool store_fail_err(struct store_image *im, const char *path, const struct err *err);

/* Notes that the table was made from `path`. Returns true. */
bool store_found(struct store_image *im, enum symbol_origin origin, const char *path, bool proved);

/* The build-id in hexadecimal, "16b4...", in the image's arena. */
const char *store_hex(struct store_image *im, struct bytes build_id);

/* The path of a kind of file (elf, debug, kallsyms, vdso) in the build-id cache, or NULL without a build-id
 * or cache. */
const char *store_cache_path(const struct symbol_store *s, struct store_image *im, const char *file);

/* The host's path for a recorded one: below --symfs, if given. */
const char *store_host_path(const struct symbol_store *s, struct store_image *im, const char *path);

/* Opens a file if it exists and has the build-id recorded for the image; without one, if it fits what else
 * was recorded. NULL: noted in tries and, for a contradiction, as the status. */
struct symfile *store_open_proved(struct symbol_store *s, struct store_image *im, const char *path);

/* Whether the image's build-id can be its own. False: it is known to be that of another file at its path, and
 * the image fails. */
bool store_listed_rightly(struct symbol_store *s, struct store_image *im, const char *path);

/* Whether names of kernels are not demangled, which is the default. */
static inline bool store_raw_kernel_names(const struct symbol_store *s) {
    return s->options.raw_names || !s->options.demangle_kernel;
}

/* Finds the separate debug file of `f`, whose recorded path is `recorded`; NULL: none. */
struct symfile *store_find_debug(struct symbol_store *s, struct store_image *im, const struct symfile *f,
                                 const char *recorded);

/* Downloads a file by build-id, if servers were named. Returns its path; NULL: a failure is noted in tries.
 */
const char *store_download(struct symbol_store *s, struct store_image *im, struct bytes build_id,
                           enum os_debuginfod_kind kind);

/* Finds an image's code at a recorded address: offset *at in *code. False: it has none there, or not in the
 * file. */
typedef bool store_code_fn(const void *ctx, uint64_t address, struct bytes *code, size_t *at);

/*
 * Whether the recorded return addresses in the image, whose table is made, follow calls in the code of the
 * file at `path`, which is for e's machine: at least 99 % must. True also if that cannot be checked
 * (source.support says which). False: the image fails and loses its table.
 */
bool store_returns_fit(struct symbol_store *s, struct store_image *im, const char *path,
                       const struct object_elf *e, store_code_fn *code_at, const void *ctx);

/* The length of the first of options.force_images, FILE or IMAGE=FILE; *file is where FILE begins in it. */
static inline size_t store_forced_length(const char *one, size_t *file) {
    size_t n = strcspn(one, ","), image = strcspn(one, "=");
    *file = image < n ? image + 1 : 0;
    return n;
}

/* Whether a file that has the recorded build-id is proved by it. */
static inline bool store_id_proves(const struct symbol_image *known) {
    return known->build_id.size && !known->id_by_name;
}

/* Whether recorded processes may still be running here. */
bool store_processes_here(struct symbol_store *s);

/* What is known of the running kernel. */
const struct store_live *store_live(struct symbol_store *s);

/* False: out of memory. */
bool store_kept_init(struct symbol_store *s);
void store_kept_fini(struct symbol_store *s);

/* The proved file that the recording keeps for this image; NULL: none. *whole: it has the machine code too.
 */
struct symfile *store_kept_image(struct symbol_store *s, struct store_image *im, bool *whole);

/* The separate debug file that the recording keeps for images of that build-id; NULL: none. */
struct symfile *store_kept_debug(struct symbol_store *s, struct store_image *im, struct bytes build_id);

/* The kept list of symbols of the kernel with that build-id, read once; NULL: none is kept. */
const struct kernel_list *store_kept_list(struct symbol_store *s, struct bytes build_id);

/* Appends the perf map that process `pid` had written by its end to `text`. False: none is kept. */
bool store_kept_map(struct symbol_store *s, uint32_t pid, struct writer *text);

/* The loaders of each kind of image. True: im->table is set. */
bool store_load_file(struct symbol_store *s, struct store_image *im);
bool store_load_vdso(struct symbol_store *s, struct store_image *im);
bool store_load_kernel(struct symbol_store *s, struct store_image *im);
bool store_load_module(struct symbol_store *s, struct store_image *im);
/* The end of the module's code that stays loaded, counted from the start of its map; 0: it has none. */
uint64_t store_module_code_end(const struct object_elf *e);
bool store_load_code(struct symbol_store *s, struct store_image *im);
/* Sets im->bytes of JIT code to a file made of it, at the first call. */
void store_code_bytes(struct symbol_store *s, struct store_image *im);
bool store_load_map(struct symbol_store *s, struct store_image *im);
bool store_load_named(struct symbol_store *s, struct store_image *im);

#endif
