/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of all images of a session: finds for each image, when it is asked for and not before, the
 * file that has its names, proves that this is the image that was recorded, and builds a table of it.
 *
 *   symbol_store_add (per image, serially) -> symbol_store_table (any threads, each image by one of them)
 *
 * Proof: where the recording has a build-id, only bytes with that build-id are ever used. A kernel's names
 * come from the running kernel only if that is the recorded one, booted as it was then.
 * A path is opened at most once in a session, whether it is there or not, however many images ask for it.
 */
#ifndef SONDE_SYMBOL_STORE_H
#define SONDE_SYMBOL_STORE_H

#include "base/bytes.h"
#include "base/err.h"
#include "format/jitdump/jitcode.h"
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/added/kernel_facts.h"
#include "object/cfi.h"
#include "symbol/table.h"

/* Of the host or of guests; see perf-report(1), --vmlinux, --guestvmlinux and so on. All may be NULL. */
struct symbol_kernel_options {
    const char *vmlinux;
    const char *kallsyms;
    const char *modules; /* a copy of /proc/modules: where modules lie and how long they are */
};

/* An address that some function in a kernel returned to, and the address one frame further in: both as
 * recorded. */
struct symbol_return {
    uint64_t address, inner;
};
/* Ascending by address; no two are equal. */
struct symbol_returns {
    const struct symbol_return *list;
    size_t count;
};
enum symbol_space { SYMBOL_USER, SYMBOL_KERNEL, SYMBOL_GUEST_USER, SYMBOL_GUEST_KERNEL };

/* When a recording began and ended by its own clock; last_ns 0: not known. */
struct symbol_span {
    uint64_t first_ns, last_ns;
};

/* Texts are borrowed and must outlive the store. NULL and 0 are the defaults. */
struct symbol_options {
    const char *symfs; /* look for files below this directory, and nowhere else */
    const char *cache; /* the build-id cache's directory; NULL: none */
    /* A folder of the user's for what is expensive to find out and can be found out again at any time
     * (symbol/kernel_cache.h); made if need be. NULL: none. */
    const char *own_cache;
    struct symbol_kernel_options host, guest;
    bool ignore_vmlinux;         /* never use a vmlinux that was not asked for */
    bool ignore_vmlinux_buildid; /* use any vmlinux as if its build-id were right */
    bool raw_names;              /* --no-demangle */
    bool demangle_kernel;        /* --demangle-kernel */
    /* Files that the user vouches for, with commas between them: FILE or IMAGE=FILE; never proof. */
    const char *force_images;
    /* Where modules' sections lay (module_lines.h): two texts, empty where nothing is known, as they are when
     * the first module is asked for; NULL: none. */
    const struct bytes *module_lines;
    /* Which boot of which kernel was recorded; NULL: not known. */
    const struct perfdata_kernel_facts *kernel;
    const char *recorded_host;      /* the recording's host name; NULL: not known */
    const char *recorded_arch;      /* its machine, as uname(2) says it; NULL: not known */
    int64_t recorded_ns;            /* when it ended, since 1970; 0: not known */
    int64_t clock_to_wall_ns;       /* from the recording's clock to that; 0: not known */
    const struct symbol_span *span; /* of the recording, as known when the first file is asked for; NULL */
    const char *debuginfod_urls;    /* NULL: the network is not asked */
    unsigned debuginfod_total_ms;   /* for all images together; 0: 10 seconds */
    /* A sample of what was returned to in the host's kernel or a guest's; asked once for each where that is
     * to tell whether an image fits, in any thread. What it gives must outlive the store. NULL: not known. */
    struct symbol_returns (*returns)(void *ctx, enum symbol_space space);
    void *returns_ctx;
    struct bytes kept; /* files that the recording keeps: format/perfdata/added/kept.h; may be empty */
    bool kept_swap;
};

enum symbol_kind {
    SYMBOL_IMAGE_FILE,   /* a mapped file */
    SYMBOL_IMAGE_KERNEL, /* a kernel's own text */
    SYMBOL_IMAGE_MODULE, /* a kernel module: a path to a .ko, or [name] */
    SYMBOL_IMAGE_NAMED,  /* the record itself names it (KSYMBOL: BPF programs, trampolines): one symbol, the
                            image's name, over [0, end - start) */
    SYMBOL_IMAGE_VDSO,
    SYMBOL_IMAGE_JIT,  /* executable memory without a file: /tmp/perf-PID.map */
    SYMBOL_IMAGE_CODE, /* code that a jitdump tells of */
    SYMBOL_IMAGE_NONE, /* nothing can have names for it: stacks, sockets, data */
};

/* Code that a JIT announced. Borrowed; must outlive the store. */
struct symbol_code {
    const struct jitcode *code;
    const char *path; /* of the dump */
    /* NULL: what it says held when the samples were taken. Else, for people, why that is no more than likely.
     */
    const char *doubt;
};

/* A mapping of a part of an image. */
struct symbol_part {
    uint64_t start, last, offset; /* addresses, both inclusive; of `start` in the image */
};

/* What the recording knows of an image. Everything is copied. */
struct symbol_image {
    enum symbol_kind kind;
    enum symbol_space space;
    const char *name;      /* the path as recorded, or [vdso], [kernel.kallsyms], [ext4], /tmp/perf-42.map */
    bool deleted;          /* the name ends in " (deleted)" */
    struct bytes build_id; /* empty: not recorded */
    bool id_by_name;       /* it is what had the name when the recording was closed, or later: no proof */
    bool replaced;         /* another file took the name while recording */
    /* What identifies a file without a build-id; NULL: nothing recorded. */
    const struct perfdata_evidence *evidence;
    uint64_t dev,
        ino; /* of a file, as its map event says (dev as makedev(3) packs it); ino 0: not recorded */
    uint64_t mapped_ns; /* when it was mapped first, by the recording's clock; 0: before that began */
    uint32_t pid;       /* a process that mapped it; UINT32_MAX: not known */
    bool young;         /* of a JIT's memory: that process began while it was recorded */

    /* Kernels, modules and NAMED: where it was mapped, [start, end). An end of UINT64_MAX means that nobody
     * knew. */
    uint64_t start, end;

    /* Kernels. */
    const char *reference;      /* the symbol in the recorded name: "_text", "_stext"; NULL or empty: none */
    uint64_t reference_address; /* its recorded address */
    const char *release;        /* OSRELEASE of the recording; NULL: not known. Modules too */

    struct symbol_code code; /* CODE; not copied */

    /* JIT, a file in memory (memfd_create(2)), whose offsets count from its beginning: where it was mapped to
     * be executed, in the order of time. */
    const struct symbol_part *parts;
    size_t part_count;
};

struct symbol_store;

/* NULL and *err when memory ran out. `options` is copied, its texts are not. */
struct symbol_store *symbol_store_new(const struct symbol_options *options, struct err *err);
void symbol_store_free(struct symbol_store *s); /* NULL is allowed; frees all tables too */

/* Makes an image known: ids run from 0 in order of the calls. Opens nothing. The kernel of a module or
 * vdso must be made known before the table is asked for, if it is to prove anything. UINT32_MAX: memory. Not
 * while another thread uses the store. */
uint32_t symbol_store_add(struct symbol_store *s, const struct symbol_image *image);

/*
 * The image's symbols, loaded at the first call; NULL when there are none (symbol_store_source says why).
 * Valid until symbol_store_free. Different images may be asked for by different threads at the same time; the
 * first call for one image must be over before another thread asks for the same one.
 */
const struct symbol_table *symbol_store_table(struct symbol_store *s, uint32_t image);

enum symbol_status {
    SYMBOL_FOUND,
    SYMBOL_ABSENT,       /* no file has names for it */
    SYMBOL_CONTRADICTED, /* there is a file, but it is not what was recorded */
    SYMBOL_BROKEN,       /* there is a file that cannot be read or makes no sense */
    SYMBOL_HIDDEN,       /* the kernel hides addresses (kernel.kptr_restrict), or rights are missing */
    SYMBOL_NO_MEMORY,
};

/* Where the names come from. */
enum symbol_origin {
    SYMBOL_FROM_NOTHING,
    SYMBOL_FROM_FILE,          /* the mapped file itself */
    SYMBOL_FROM_CACHE,         /* the build-id cache */
    SYMBOL_FROM_DEBUG_FILE,    /* separate debug info: by build-id or .gnu_debuglink */
    SYMBOL_FROM_ROOT,          /* the file, seen from the process's own root directory */
    SYMBOL_FROM_DEBUGINFOD,    /* downloaded */
    SYMBOL_FROM_KALLSYMS,      /* --kallsyms, or the cache's */
    SYMBOL_FROM_LIVE_KALLSYMS, /* /proc/kallsyms */
    SYMBOL_FROM_VMLINUX,       /* a kernel image */
    SYMBOL_FROM_MODULE,        /* a module's file */
    SYMBOL_FROM_MAP,           /* perf-PID.map */
    SYMBOL_FROM_RECORD,        /* the recording names it itself */
    SYMBOL_FROM_SELF,          /* our own process: the vdso */
    SYMBOL_FROM_KEPT,          /* tables that the recording keeps */
    SYMBOL_FROM_JITDUMP,       /* code that a JIT described itself */
    SYMBOL_ORIGIN_COUNT
};

struct symbol_source {
    enum symbol_status status;
    enum symbol_origin origin;
    bool proved;      /* the bytes have the recorded build-id, or the recording itself says it */
    const char *path; /* of the file used, as opened; else of the one refused; else NULL */
    const char *text; /* one line for people when status is not FOUND: what and why; else NULL */
    /* With -v (report) or --show-kernel-path (script) perf shows this path of a vmlinux in its dso column,
     * and what was recorded otherwise; NULL: what was recorded always. */
    const char *shown_path;
    bool has_slide; /* kernels: from a file whose addresses are not the recorded ones */
    int64_t slide;  /* recorded address - the file's */
    /* What speaks for a file that nothing proves, for people: "all of 212 return addresses in it follow
     * calls"; NULL: nothing was found. */
    const char *support;
};

/* After symbol_store_table. Texts live until symbol_store_free. */
struct symbol_source symbol_store_source(const struct symbol_store *s, uint32_t image);

/* Every file that was tried for an image, in order. False at the end. `why` is NULL for the ones used. */
struct symbol_try {
    const char *path, *why;
};
bool symbol_store_try(const struct symbol_store *s, uint32_t image, size_t i, struct symbol_try *out);

/* The next of options.force_images that no image got its names from, so far; start with *i = 0. False at the
 * end; `path` is cut to its room. */
bool symbol_store_unused_force(const struct symbol_store *s, size_t *i, char *path, size_t room);

/* Why an image that was asked for has no names, where its user should know: its file contradicts the
 * recording, kernel addresses are hidden, and so on. NULL for all others. Images may have the same reason. */
const char *symbol_store_warning(const struct symbol_store *s, uint32_t image);

/* Why debuginfod servers could not be asked, or no more: os_debuginfod_trouble. NULL: nothing was wrong, or
 * nobody wanted them. */
const char *symbol_store_servers_trouble(const struct symbol_store *s);

/* The bytes after a loaded image, for code, lines and unwinding; both may be empty. `code`: the proved file
 * that has the machine code; offsets of the table are offsets in it (not for kernels and modules). `debug`:
 * the file that has DWARF, if that is another one. They live until symbol_store_free. */
struct symbol_bytes {
    struct bytes code, debug;
};
struct symbol_bytes symbol_store_bytes(const struct symbol_store *s, uint32_t image);
/* The dwz(1) file to which DWARF of a loaded image was moved, proved by the build-id in .gnu_debugaltlink;
 * `dwarf` is that image's, of symbol_store_bytes. Empty: it has no such link, or the file is not there. Opens
 * files; lives as those. */
struct bytes symbol_store_dwz(struct symbol_store *s, uint32_t image, struct bytes dwarf);

/* Perf maps that changed since they were read, or came, are read anew at the next question: what was given
 * out of images of kind JIT is void then. True if there was any. Not while another thread uses the store. */
bool symbol_store_refresh(struct symbol_store *s);

/* The unwind tables of a loaded image: of the file that gave its names, so proved as they are, and of its
 * separate debug file. False: there are none (with a layout, the file is there). Any number of threads; they
 * live until symbol_store_free. */
struct symbol_frames {
    const struct object_cfi *cfi;
    const struct object_layout *layout; /* from offsets to the tables' addresses; NULL: they are equal */
};
bool symbol_store_frames(struct symbol_store *s, uint32_t image, struct symbol_frames *out);

#endif
