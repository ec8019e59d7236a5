/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the store share: one image on its way to a table. */
#ifndef SONDE_SYMBOL_STORE_INTERNAL_H
#define SONDE_SYMBOL_STORE_INTERNAL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/perfdata/added/kept.h"
#include "os/debuginfod.h"
#include "symbol/kernel_cache.h"
#include "symbol/store.h"
#include "symbol/symfile.h"

struct store_image {
    struct symbol_image known; /* texts are copies */
    struct perfdata_evidence evidence;
    bool evidenced; /* the file that was opened last is what `evidence` tells of */
    bool asked;
    const struct symbol_table *table;
    struct symbol_table *owned; /* the table, when it is this image's alone */
    struct symbol_source source;
    struct symbol_bytes bytes;
    const char *debug_path;                /* of bytes.debug; NULL: like the image's own */
    struct symfile *framed, *framed_debug; /* that have its unwind tables; NULL: none */
    bool frames_asked;
    struct object_cfi *frames; /* of JIT code */
    struct writer built;       /* of JIT code: the file made of it, at the first question for its bytes */
    VEC(struct symbol_try) tries;
    const char *warning;
    struct arena texts;
};

/* What is known of the running kernel, found out once. */
struct store_live {
    bool known;
    struct object_build_id id; /* size 0: not known */
    char release[65], name[65];
    uint8_t boot[64]; /* the boot's id (random(4)), as it is written */
    size_t boot_size; /* 0: not known */
};

/* The running kernel's own symbols as an earlier run kept them. */
struct store_kernel_kept {
    bool asked;
    struct kernel_list *list; /* NULL: not kept */
    struct os_map map;
};

/* Data of a kernel's that a copy of its memory may have, by a list of its symbols: as such lists are kept for
 * names they have functions only. */
struct store_landmarks {
    const char *list_path;             /* NULL: none was asked for; lives as long as the store */
    uint64_t banner, notes, notes_end; /* 0: not listed */
};

/* What the recording keeps of files (format/perfdata/added/kept.h), found by what proves it. */
struct store_kept {
    VEC(struct perfdata_kept) list;
    struct hash_map by_key;      /* of build-id, state, or pid of a perf map -> index */
    VEC(uint8_t *) files;        /* unpacked; owned */
    struct symfile **opened;     /* by index in the list; NULL: not yet */
    struct kernel_list *symbols; /* of a kernel; NULL: not kept, or not asked for yet */
    bool asked;
};

struct symbol_store {
    struct symbol_options options;
    struct symfile_cache files;
    VEC(struct store_image *) images;
    struct os_debuginfod *servers; /* NULL: the network is not asked */
    pthread_mutex_t lock;          /* of what follows */
    struct store_live live;
    struct store_kernel_kept kernel;
    struct store_landmarks landmarks;
    struct symbol_returns returns[2]; /* of the host's kernel, of guests' */
    bool has_returns[2];
    struct store_kept kept; /* list and by_key never change */
};

/* A text in the image's arena; "" when memory ran out. */
const char *store_text(struct store_image *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Notes that `path` was tried; `why` it was not used, or NULL. */
void store_tried(struct store_image *im, const char *path, const char *why);

/* Fails the image: sets status, path and text unless an earlier, more telling status stands. Returns false.
 */
bool store_fail(struct store_image *im, enum symbol_status status, const char *path, const char *text);

/* As store_fail, from an error: ERR_ABSENT is SYMBOL_ABSENT, ERR_PERMISSION SYMBOL_HIDDEN... */
bool store_fail_err(struct store_image *im, const char *path, const struct err *err);

/* The table was made from `path`. Returns true. */
bool store_found(struct store_image *im, enum symbol_origin origin, const char *path, bool proved);

/* "16b4..." in the image's arena. */
const char *store_hex(struct store_image *im, struct bytes build_id);

/* The path of a kind of file (elf, debug, kallsyms, vdso) in the build-id cache, or NULL without a build-id
 * or cache. */
const char *store_cache_path(const struct symbol_store *s, struct store_image *im, const char *file);

/* The host's path for a recorded one: below --symfs. */
const char *store_host_path(const struct symbol_store *s, struct store_image *im, const char *path);

/* A file if it is there, and has the build-id that the recording has for the image (any, when the recording
 * has none). NULL: noted in tries and, for a contradiction, as the status. */
struct symfile *store_open_proved(struct symbol_store *s, struct store_image *im, const char *path);

/* False for an image whose build-id is known to be that of another file at its path; the image fails then. */
bool store_listed_rightly(struct symbol_store *s, struct store_image *im, const char *path);

/* C++ and Rust names of kernels are shown as they are unless asked otherwise. */
static inline bool store_raw_kernel_names(const struct symbol_store *s) {
    return s->options.raw_names || !s->options.demangle_kernel;
}

/* The separate debug file of `f`, which was recorded as `recorded` (a path), or NULL. */
struct symfile *store_find_debug(struct symbol_store *s, struct store_image *im, const struct symfile *f,
                                 const char *recorded);

/* Downloads a file by build-id, if servers were named. Its path, or NULL: noted in tries when it was asked
 * for. */
const char *store_download(struct symbol_store *s, struct store_image *im, struct bytes build_id,
                           enum os_debuginfod_kind kind);

/* The code that an image has at a recorded address: `at` in `code`. False: none, or it is not in the file. */
typedef bool store_code_fn(const void *ctx, uint64_t address, struct bytes *code, size_t *at);

/*
 * Whether what was returned to in the image, whose table is made, follows calls in the code of the file at
 * `path`, which is of e's machine: at least 99 % must. True as well where nothing tells (source.support says
 * which); else the image fails, and the table is gone.
 */
bool store_returns_fit(struct symbol_store *s, struct store_image *im, const char *path,
                       const struct object_elf *e, store_code_fn *code_at, const void *ctx);

/* The length of the first of options.force_images, FILE or IMAGE=FILE; *file becomes where FILE begins in it.
 */
static inline size_t store_forced_length(const char *one, size_t *file) {
    size_t n = strcspn(one, ","), image = strcspn(one, "=");
    *file = image < n ? image + 1 : 0;
    return n;
}

/* Whether a file that has the recorded build-id is proved by it. */
static inline bool store_id_proves(const struct symbol_image *known) {
    return known->build_id.size && !known->id_by_name;
}

/* Whether recorded processes may be running here still. */
bool store_processes_here(struct symbol_store *s);

/* The running kernel. */
const struct store_live *store_live(struct symbol_store *s);

/* False: memory. */
bool store_kept_init(struct symbol_store *s);
void store_kept_fini(struct symbol_store *s);

/* The file that the recording keeps of this image, proved; NULL when it keeps none. *whole: it has the
 * machine code too. */
struct symfile *store_kept_image(struct symbol_store *s, struct store_image *im, bool *whole);

/* The separate debug file that the recording keeps for images of that build-id; NULL: none. */
struct symfile *store_kept_debug(struct symbol_store *s, struct store_image *im, struct bytes build_id);

/* The list of symbols of the kernel with that build-id, which is read once; NULL: not kept. */
const struct kernel_list *store_kept_list(struct symbol_store *s, struct bytes build_id);

/* The map that process `pid` had written when it ended: appended to `text`. False when none is kept. */
bool store_kept_map(struct symbol_store *s, uint32_t pid, struct writer *text);

/* Loaders by kind: true with im->table set. */
bool store_load_file(struct symbol_store *s, struct store_image *im);
bool store_load_vdso(struct symbol_store *s, struct store_image *im);
bool store_load_kernel(struct symbol_store *s, struct store_image *im);
bool store_load_module(struct symbol_store *s, struct store_image *im);
/* Where the lasting code of a module ends, counted from where its map begins; 0: it has none. */
uint64_t store_module_code_end(const struct object_elf *e);
bool store_load_code(struct symbol_store *s, struct store_image *im);
/* Makes the file of JIT code if that was not done yet, for im->bytes. */
void store_code_bytes(struct symbol_store *s, struct store_image *im);
bool store_load_map(struct symbol_store *s, struct store_image *im);
bool store_load_named(struct symbol_store *s, struct store_image *im);

#endif
