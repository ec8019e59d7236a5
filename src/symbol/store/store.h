/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbols of all images of a session: finds for each image, not before its table is needed, the file that
 * has its names, proves that it is what was recorded, and builds a table from it.
 *
 *   symbol_store_add (per image, serially) -> symbol_store_table (any threads, each image by one of them)
 *
 * Proof: where the recording has a build-id, only bytes with that build-id are ever used. A kernel's names
 * come from the running kernel only if that is the recorded one, in the same boot.
 * A path is opened at most once in a session, whether it exists or not, however many images need it.
 */
#ifndef SONDE_SYMBOL_STORE_H
#define SONDE_SYMBOL_STORE_H

#include "base/bytes.h"
#include "base/err.h"
#include "format/jitdump/jitcode.h"
#include "format/perfdata/added/evidence.h"
#include "format/perfdata/added/kernel_facts.h"
#include "object/dwarf/cfi.h"
#include "symbol/table.h"

/* Files for the host's kernel or guests'; see perf-report(1), --vmlinux, --guestvmlinux and so on. All may be
 * NULL. */
struct symbol_kernel_options {
    const char *vmlinux;
    const char *kallsyms;
    const char *modules; /* a copy of /proc/modules: where modules lie, and their sizes */
};

/* A return address in a kernel, and the address of the frame directly inside of it; both as recorded. */
struct symbol_return {
    uint64_t address, inner;
};
/* Sorted by address, without duplicates. */
struct symbol_returns {
    const struct symbol_return *list;
    size_t count;
};
enum symbol_space { SYMBOL_USER, SYMBOL_KERNEL, SYMBOL_GUEST_USER, SYMBOL_GUEST_KERNEL };

/* When a recording began and ended on its own clock; last_ns 0: not known. */
struct symbol_span {
    uint64_t first_ns, last_ns;
};

/* Texts are borrowed and must outlive the store. NULL and 0 are the defaults. */
struct symbol_options {
    const char *symfs; /* look for files below this directory, and nowhere else */
    const char *cache; /* the build-id cache's directory; NULL: none */
    /* A folder of the user's that caches what is expensive to find out (symbol/kernel_cache.h) and may be
     * deleted at any time; made if need be. NULL: none. */
    const char *own_cache;
    struct symbol_kernel_options host, guest;
    bool ignore_vmlinux;         /* never use a vmlinux that the user did not name */
    bool ignore_vmlinux_buildid; /* use any vmlinux as if its build-id were right */
    bool raw_names;              /* --no-demangle */
    bool demangle_kernel;        /* --demangle-kernel */
    /* Files that the user vouches for, separated by commas: FILE or IMAGE=FILE; never proof. */
    const char *force_images;
    /* Where modules' sections lay (module_lines.h): two texts, empty where nothing is known, read when the
     * first module is loaded; NULL: none. */
    const struct bytes *module_lines;
    /* Which boot of which kernel was recorded; NULL: not known. */
    const struct perfdata_kernel_facts *kernel;
    const char *recorded_host;      /* the recording's host name; NULL: not known */
    const char *recorded_arch;      /* its machine, as named by uname(2); NULL: not known */
    int64_t recorded_ns;            /* when it ended, since 1970; 0: not known */
    int64_t clock_to_wall_ns;       /* wall-clock time - the recording's; 0: not known */
    const struct symbol_span *span; /* of the recording, read when the first file is loaded; NULL: none */
    const char *debuginfod_urls;    /* NULL: the network is not used */
    unsigned debuginfod_total_ms;   /* for all images together; 0: 10 seconds */
    /* Returns some return addresses in the host's kernel or a guest's. Called at most once for each, in any
     * thread, when these must show whether an image fits. The result must outlive the store. NULL: not known.
     */
    struct symbol_returns (*returns)(void *ctx, enum symbol_space space);
    void *returns_ctx;
    struct bytes kept; /* files that the recording keeps: format/perfdata/added/kept.h; may be empty */
    bool kept_swap;
    bool frames_only; /* unwind tables are all that is wanted of files: their tables of symbols stay empty */
};

enum symbol_kind {
    SYMBOL_IMAGE_FILE,   /* a mapped file */
    SYMBOL_IMAGE_KERNEL, /* a kernel's own text */
    SYMBOL_IMAGE_MODULE, /* a kernel module: a path to a .ko, or [name] */
    SYMBOL_IMAGE_NAMED,  /* named by the record itself (KSYMBOL: BPF programs, trampolines): one symbol, the
                            image's name, over [0, end - start) */
    SYMBOL_IMAGE_VDSO,
    SYMBOL_IMAGE_JIT,  /* executable memory without a file: /tmp/perf-PID.map */
    SYMBOL_IMAGE_CODE, /* code from a jitdump */
    SYMBOL_IMAGE_NONE, /* nothing can have names for it: stacks, sockets, data */
};

/* Code that a JIT announced. Borrowed; must outlive the store. */
struct symbol_code {
    const struct jitcode *code;
    const char *path; /* of the dump */
    /* For people: why it may not have been true yet when the samples were taken; NULL: it was. */
    const char *doubt;
};

/* A mapping of a part of an image. */
struct symbol_part {
    uint64_t start, last, offset; /* first and last address; offset of `start` in the image */
};

/* What the recording says about an image. Everything is copied, except `code`. */
struct symbol_image {
    enum symbol_kind kind;
    enum symbol_space space;
    const char *name;      /* the path as recorded, or [vdso], [kernel.kallsyms], [ext4], /tmp/perf-42.map */
    bool deleted;          /* the name ends in " (deleted)" */
    struct bytes build_id; /* empty: not recorded */
    bool id_by_name; /* the build-id was read from this path at the end of recording or later: no proof */
    bool replaced;   /* another file took the name while recording */
    /* What identifies a file without a build-id; NULL: not recorded. */
    const struct perfdata_evidence *evidence;
    uint64_t dev, ino;  /* of a file, from its map event (dev packed as by makedev(3)); ino 0: not recorded */
    uint64_t mapped_ns; /* when it was mapped first, on the recording's clock; 0: before the recording */
    uint32_t pid;       /* a process that mapped it; UINT32_MAX: not known */
    bool young;         /* JIT: the process, or its program, began during the recording */

    /* Kernels, modules and NAMED: where it was mapped, [start, end); end UINT64_MAX: not known. */
    uint64_t start, end;

    /* Kernels. */
    const char *reference;      /* the symbol in the recorded name: "_text", "_stext"; NULL or empty: none */
    uint64_t reference_address; /* its recorded address */
    const char *release;        /* OSRELEASE of the recording, for modules too; NULL: not known */

    struct symbol_code code; /* CODE; not copied */

    /* JIT, for a file in memory (memfd_create(2)): its executable mappings, in the order of time. Offsets in
     * the image are the file's. */
    const struct symbol_part *parts;
    size_t part_count;
};

struct symbol_store;

/* Copies `options`, but not its texts. NULL: out of memory. */
struct symbol_store *symbol_store_new(const struct symbol_options *options, struct err *err);
void symbol_store_free(struct symbol_store *s); /* NULL is allowed; frees all tables too */

/* Adds an image; returns its id, which count from 0. Opens no file. The kernel of a module or vdso can prove
 * it only if added before the table is loaded. UINT32_MAX: out of memory. Not while another thread uses the
 * store.
 */
uint32_t symbol_store_add(struct symbol_store *s, const struct symbol_image *image);

/*
 * The image's symbols, loaded at the first call; NULL: there are none (symbol_store_source says why). Valid
 * until symbol_store_free. Different threads may load different images at the same time; the first call for
 * one image must return before another thread makes one for the same.
 */
const struct symbol_table *symbol_store_table(struct symbol_store *s, uint32_t image);

enum symbol_status {
    SYMBOL_FOUND,
    SYMBOL_ABSENT,       /* no file has names for it */
    SYMBOL_CONTRADICTED, /* there is a file, but it is not what was recorded */
    SYMBOL_BROKEN,       /* there is a file, but it cannot be read or is invalid */
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
    SYMBOL_FROM_KALLSYMS,      /* --kallsyms, or one in the build-id cache */
    SYMBOL_FROM_LIVE_KALLSYMS, /* /proc/kallsyms */
    SYMBOL_FROM_VMLINUX,       /* a kernel image */
    SYMBOL_FROM_MODULE,        /* a module's file */
    SYMBOL_FROM_MAP,           /* perf-PID.map */
    SYMBOL_FROM_RECORD,        /* a record has the name */
    SYMBOL_FROM_SELF,          /* our own process: the vdso */
    SYMBOL_FROM_KEPT,          /* tables that the recording keeps */
    SYMBOL_FROM_JITDUMP,       /* code that a JIT described itself */
    SYMBOL_ORIGIN_COUNT
};

struct symbol_source {
    enum symbol_status status;
    enum symbol_origin origin;
    bool proved;      /* the bytes have the recorded build-id, or the names are recorded */
    const char *path; /* of the file used, as opened; else of the one refused; else NULL */
    const char *text; /* for people, if status is not FOUND: what failed and why, in one line; else NULL */
    /* The path of a vmlinux that perf shows in its dso column with -v (report) or --show-kernel-path
     * (script), instead of the recorded name; NULL: the recorded name is always shown. */
    const char *shown_path;
    bool has_slide; /* kernels: the file's addresses are not the recorded ones */
    int64_t slide;  /* recorded address - the file's */
    /* For people: what supports a file that nothing proves: "all of 212 return addresses in it follow
     * calls"; NULL: nothing. */
    const char *support;
};

/* After symbol_store_table. Texts live until symbol_store_free. */
struct symbol_source symbol_store_source(const struct symbol_store *s, uint32_t image);

/* The i-th file that was tried for an image; `why` it was not used, NULL: it was. False: there is no more. */
struct symbol_try {
    const char *path, *why;
};
bool symbol_store_try(const struct symbol_store *s, uint32_t image, size_t i, struct symbol_try *out);

/* Finds the next of options.force_images that gave no image its names so far; start with *i = 0. False: there
 * is no more. `path` is cut to `room`. */
bool symbol_store_unused_force(const struct symbol_store *s, size_t *i, char *path, size_t room);

/* Why a loaded image has no names, if the user should know: its file contradicts the recording, kernel
 * addresses are hidden, and so on. NULL: nothing to warn of. Several images may have the same reason. */
const char *symbol_store_warning(const struct symbol_store *s, uint32_t image);

/* Why debuginfod servers could not be used, or not any more: os_debuginfod_trouble. NULL: nothing was wrong,
 * or they are not used. */
const char *symbol_store_servers_trouble(const struct symbol_store *s);

/* The files of a loaded image, for code, lines and unwinding; both may be empty. `code`: the proved file that
 * has the machine code; offsets of the table are offsets in it (not for kernels and modules). `debug`: the
 * file that has DWARF, if it is another one. They live until symbol_store_free. */
struct symbol_bytes {
    struct bytes code, debug;
};
struct symbol_bytes symbol_store_bytes(const struct symbol_store *s, uint32_t image);
/* The folder for what is expensive to find out; NULL: none. */
const char *symbol_store_own_cache(const struct symbol_store *s);
/* Whether names of users' code stay as they are linked (--no-demangle). */
bool symbol_store_raw_names(const struct symbol_store *s);
/* Whether these may tell source lines and inlined functions. Any number of threads. */
bool symbol_store_has_lines(const struct symbol_store *s, uint32_t image);

/* Machine code of a part of an image, from the file that gave its names, or the kernel's memory. */
struct symbol_machine_code {
    struct bytes bytes;   /* fewer than asked for if the file ends before, and 4 MiB at the most; live until
                             symbol_store_free */
    uint64_t address;     /* of the first, as disassemblers show it: the file's own, else as recorded */
    struct bytes elf;     /* the ELF image that says which machine it is for; empty: the recorded one */
    struct bytes section; /* name of its section in the file; empty: not known */
    const char *path;     /* of the file; NULL: the recording itself */
    bool proved;          /* as symbol_source.proved */
    const struct object_layout *layout; /* private, for symbol_machine_code_offset */
    uint64_t delta;
};
/* The code at offsets [start, end) of a loaded image. False: ERR_ABSENT: it is nowhere, and the message says
 * why; other errors are those of reading /proc/kcore. One thread at a time for each image. */
bool symbol_store_machine_code(struct symbol_store *s, uint32_t image, uint64_t start, uint64_t end,
                               struct symbol_machine_code *out, struct err *err);
/* The offset in the image of an address as in symbol_machine_code.address. False: there is none. */
bool symbol_machine_code_offset(const struct symbol_machine_code *c, uint64_t address, uint64_t *offset);

/* The dwz(1) file to which DWARF of a loaded image was moved, proved by the build-id in .gnu_debugaltlink;
 * `dwarf` is the file from symbol_store_bytes that has the link. Empty: it has none, or the dwz file was not
 * found. Opens files; lives as long as the store. */
struct bytes symbol_store_dwz(struct symbol_store *s, uint32_t image, struct bytes dwarf);
/* Split DWARF of a loaded image: its .dwp, and the .dwo that one of its units names, relative to `folder`
 * (NULL: not known). What of them belongs to the image is to be proved by the units' ids. Empty: not there.
 */
struct bytes symbol_store_dwp(struct symbol_store *s, uint32_t image);
struct bytes symbol_store_dwo(struct symbol_store *s, uint32_t image, const char *folder, const char *name);

/* For whoever runs for long: memory in which files were read goes back, until they are read again. */
void symbol_store_rest(struct symbol_store *s);

/* Makes perf maps that changed or appeared since they were read be read again at the next use. True if there
 * was any: tables of JIT images are then invalid. Not while another thread uses the store. */
bool symbol_store_refresh(struct symbol_store *s);

/* The unwind tables of a loaded image, from the file that gave its names, which is proved as far as these
 * are, and from its separate debug file. False: there are none (if `layout` is set, there is a file). Any
 * number of threads; they live until symbol_store_free. */
struct symbol_frames {
    const struct object_cfi *cfi;
    const struct object_layout *layout; /* converts offsets to the tables' addresses; NULL: they are equal */
};
bool symbol_store_frames(struct symbol_store *s, uint32_t image, struct symbol_frames *out);

#endif
