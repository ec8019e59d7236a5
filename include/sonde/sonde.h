/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsonde: recordings of perf and sonde, record by record, with names for what ran.
 *
 *     struct sonde_session *s = sonde_open("perf.data", NULL, error, sizeof error);
 *     const struct sonde_record *r;
 *     while ((r = sonde_next(s)))
 *         for (size_t i = 0; i < sonde_record_frames(r); i++)
 *             puts(sonde_frame_symbol(sonde_record_frame(r, i)) ?: "?");
 *     sonde_close(s);
 *
 * It answers what `sonde script --json` with the same options does, by the same code. What that command takes
 * from its user's surroundings (a build-id cache, debuginfod) is used only if the options name it.
 *
 * A session is for one thread at a time; sessions are independent of each other. Nothing is ever printed, no
 * signal handler, memory setting or other state of the process is touched, and no environment variable is
 * read but TMPDIR.
 * Recordings are not trusted: whatever they hold, no function crashes, and memory stays in proportion to
 * them.
 *
 * What stays as it is within a major version: every function here, the numbers of the enums, the order and
 * meaning of the fields of struct sonde_options (new ones are added after; `size` says which there are).
 */
#ifndef SONDE_SONDE_H
#define SONDE_SONDE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_VERSION_MAJOR 0
#define SONDE_VERSION_MINOR 2

/* Returns the version of the library that runs: major * 1000 + minor. */
unsigned sonde_version(void);

/* --- Sessions ------------------------------------------------------------------------------------------ */

struct sonde_session; /* an open recording */
struct sonde_record;  /* the record that sonde_next returned last */
struct sonde_frame;   /* a place in code at an instant */

/* Zero is the default of every field. Texts are borrowed until sonde_close. */
struct sonde_options {
    size_t size;                /* sizeof(struct sonde_options) */
    const char *symfs;          /* look for files with symbols below this directory, and nowhere else */
    const char *build_id_cache; /* perf's cache of files by build-id, as ~/.debug; NULL: not used */
    const char *vmlinux;        /* the recorded kernel's image with symbols */
    const char *kallsyms;       /* alternatively, a copy of the recorded /proc/kallsyms */
    int raw_names;              /* leave C++, Rust and other names mangled */
    int file_order;             /* records come in the order of the file, not of time */
    /* Since version 0.2. Without these options no folder is written to and no server is contacted. */
    const char *own_cache;       /* a folder where sonde caches what is slow to compute */
    const char *debuginfod_urls; /* servers that are asked for files by build-id; sets $DEBUGINFOD_URLS */
    const char *jitdump_dir;     /* another directory in which to look for jitdumps */
    const char *guest_vmlinux, *guest_kallsyms, *guest_modules; /* the same of guests; /proc/modules */
    const char *force_images; /* files to use without proof: FILE or IMAGE=FILE, separated by commas */
    int demangle_kernel;      /* demangle the names of the kernel's functions, too */
    int strict;               /* give only names that are proved */
    unsigned max_stack;       /* the most addresses of a callchain that are read; 0: 127 */
};

/*
 * Opens a file, a directory recording, or "-" for standard input (which is read to its end at once).
 * `options` may be NULL. NULL on failure; `error`, unless `error_size` is 0, then holds one line that says
 * why.
 */
struct sonde_session *sonde_open(const char *path, const struct sonde_options *options, char *error,
                                 size_t error_size);
/* Opens a recording in memory, which must outlive the session; otherwise as sonde_open. */
struct sonde_session *sonde_open_memory(const void *data, size_t size, const struct sonde_options *options,
                                        char *error, size_t error_size);
/* Closes the session and frees everything that came from it. NULL is allowed. */
void sonde_close(struct sonde_session *session);

/* Returns the next record, valid until the next call for this session; NULL at the end or after a failure
 * (sonde_error). */
const struct sonde_record *sonde_next(struct sonde_session *session);
/* Goes back to the first record. */
void sonde_rewind(struct sonde_session *session);
/* Says in one line what went wrong, valid until sonde_close; NULL: nothing did. Damage in the recording is no
 * failure: what can be read is read, and the rest is counted. */
const char *sonde_error(const struct sonde_session *session);

/* What is missing from the part of the recording that was read so far. */
enum sonde_loss {
    SONDE_LOST_EVENTS,    /* reported by the recorder (PERF_RECORD_LOST) */
    SONDE_LOST_SAMPLES,   /* likewise (PERF_RECORD_LOST_SAMPLES) */
    SONDE_BAD_RECORDS,    /* records that cannot be read */
    SONDE_SKIPPED_BYTES,  /* bytes between records */
    SONDE_UNKNOWN_EVENTS, /* samples whose id belongs to no event of the recording */
};
uint64_t sonde_loss(const struct sonde_session *session, enum sonde_loss which);

/* --- Records ------------------------------------------------------------------------------------------- */

/* Returns the type, a PERF_RECORD_* of perf_event_open(2) or, from 64 on, a type of perf record's own. 9 is a
 * sample. */
#define SONDE_RECORD_SAMPLE 9
unsigned sonde_record_type(const struct sonde_record *record);
/* Returns perf_event_header.misc. */
unsigned sonde_record_misc(const struct sonde_record *record);
/* Returns what follows the record's header, in the recording's byte order; valid as long as the record. */
const void *sonde_record_bytes(const struct sonde_record *record, size_t *size);
/* Returns the record's time in ns or, for a record without one, the latest time before it. */
uint64_t sonde_record_time(const struct sonde_record *record);
/* Returns the name of the record's event ("cycles:u"), or NULL. Valid until sonde_close. */
const char *sonde_record_event(const struct sonde_record *record);

/* The fields of samples. Other records have none of what follows. */
enum sonde_field {
    SONDE_IP,
    SONDE_PID,
    SONDE_TID,
    SONDE_TIME, /* ns */
    SONDE_ADDR,
    SONDE_ID,
    SONDE_STREAM_ID,
    SONDE_CPU,
    SONDE_PERIOD,
    SONDE_WEIGHT,
    SONDE_DATA_SRC, /* union perf_mem_data_src */
    SONDE_TRANSACTION,
    SONDE_PHYS_ADDR,
    SONDE_CGROUP, /* the cgroup's id */
    SONDE_DATA_PAGE_SIZE,
    SONDE_CODE_PAGE_SIZE,
};
/* Returns 1 and the field in *value if the sample has it, else 0 and 0. */
int sonde_record_get(const struct sonde_record *record, enum sonde_field field, uint64_t *value);
/* Returns the name that the thread had then; NULL if no record says. Valid until sonde_close. */
const char *sonde_record_comm(const struct sonde_record *record);
/* Returns PERF_SAMPLE_RAW: a tracepoint's fields, as recorded; NULL without. Valid as long as the record. */
const void *sonde_record_raw(const struct sonde_record *record, size_t *size);

/* Where a sample's frames come from. */
enum sonde_chain {
    SONDE_CHAIN_NONE,  /* recorded without a callchain: the only frame is the sample's own address, if it has
                          one */
    SONDE_CHAIN_EMPTY, /* likewise, because the callchain is empty or nothing in it is credible */
    SONDE_CHAIN_READ,  /* the callchain */
};
enum sonde_chain sonde_record_chain(const struct sonde_record *record);
/* Returns the number of frames: those of the callchain from the innermost on, without its context markers, up
 * to the first 127 (or max_stack), as `sonde script` shows them. A dumped user stack (--call-graph dwarf) is
 * unwound; a call stack that the processor recorded (--call-graph lbr) replaces the user part. Without a
 * callchain the sample's own address is the only frame; 0 if it has none either. */
size_t sonde_record_frames(const struct sonde_record *record);
/* Returns frame `index`; NULL if there is none. Valid as long as the record. */
const struct sonde_frame *sonde_record_frame(const struct sonde_record *record, size_t index);

/* --- Places -------------------------------------------------------------------------------------------- */

/* Texts of frames are valid until sonde_close. They are looked up when they are first asked for. */

/* Returns what was at an address of process `pid` at an instant (ns; UINT64_MAX: at the end). Valid until the
 * next sonde_resolve. NULL: out of memory. */
const struct sonde_frame *sonde_resolve(struct sonde_session *session, uint32_t pid, uint64_t time_ns,
                                        int in_kernel, uint64_t address);

/* Returns the address as recorded. For callers that is the return address, though their names are those of
 * the call before it. For callers in unwound stacks it is the address before the return address. */
uint64_t sonde_frame_address(const struct sonde_frame *frame);
/* Returns the function that covers the address, demangled unless raw_names is set; NULL: none is known. */
const char *sonde_frame_symbol(const struct sonde_frame *frame);
/* Returns the distance from the function's start; 0 without a function. */
uint64_t sonde_frame_symbol_offset(const struct sonde_frame *frame);
/* Returns the path of the file mapped there, "[kernel.kallsyms]", "[vdso]"...; NULL: nothing was mapped. */
const char *sonde_frame_image(const struct sonde_frame *frame);
/* Returns the offset in that file; in the kernel and in memory without a file, the address itself. */
uint64_t sonde_frame_image_offset(const struct sonde_frame *frame);
/* Returns the build-id that was recorded for the image; NULL, and *size 0, without one. */
const void *sonde_frame_build_id(const struct sonde_frame *frame, size_t *size);
/* Returns the source file, or NULL, and the line in *line (0: not known). `line` may be NULL. */
const char *sonde_frame_source(const struct sonde_frame *frame, unsigned *line);

/* The functions at an address: those whose calls the compiler inlined there, from the innermost outwards,
 * then the one whose code it is, which sonde_frame_symbol names. Returns how many there are: 0 if no function
 * is known, and 1 if nothing is inlined there, or no debugging information says so. */
size_t sonde_frame_functions(const struct sonde_frame *frame);
/* Returns the name of function `index`, NULL if there is none; and where in it: *file (NULL: not known) and
 * *line of the address in the innermost one, of the call that was inlined in the others. `file` and `line`
 * may be NULL. */
const char *sonde_frame_function(const struct sonde_frame *frame, size_t index, const char **file,
                                 unsigned *line);

/* --- Evidence ------------------------------------------------------------------------------------------ */

/* How well a frame's name is known. */
enum sonde_grade {
    SONDE_EXACT, /* the bytes that gave the name have the identity that was recorded when they were mapped */
    SONDE_INFERRED, /* consistent with all that was recorded, but not proved by it */
    SONDE_STALE,    /* the only candidate is provably another file than the one that ran: there is no name */
    SONDE_UNKNOWN,  /* nothing was mapped there, or no name is known */
};
enum sonde_grade sonde_frame_grade(const struct sonde_frame *frame);
/* "exact", "inferred", "stale", "unknown"; NULL for other numbers. */
const char *sonde_grade_name(enum sonde_grade grade);

/* The evidence for a name, as texts; sonde-why(1) prints them. More texts may be added. */

/* Says for people why the grade is no better; NULL: it is exact. */
const char *sonde_frame_why(const struct sonde_frame *frame);
/* Says how the file was recognised: "build-id", "cookie", "fstat", "kernel", "record"; "none". */
const char *sonde_frame_identity(const struct sonde_frame *frame);
/* Says which list has the name: "symtab", "dynsym", "minidebuginfo", "plt", "DWARF", "kallsyms", "jitdump",
 * "perf map", "ksymbol"; "none". */
const char *sonde_frame_list(const struct sonde_frame *frame);
/* Says for people where the names of its image come from: "the file itself", "the build-id cache"; "nothing".
 */
const char *sonde_frame_origin(const struct sonde_frame *frame);
/* Returns the file that gave the name, else the one that was refused; NULL: there is none. */
const char *sonde_frame_evidence_path(const struct sonde_frame *frame);

/* For a kernel frame, returns 1 and *slide, recorded addresses minus those of the file that gave its names;
 * else 0. */
int sonde_frame_slide(const struct sonde_frame *frame, int64_t *slide);

/* What was mapped at a frame's address. */
struct sonde_mapping {
    size_t size;          /* sizeof(struct sonde_mapping), set by the caller; new fields come after */
    uint64_t start, last; /* addresses, both inclusive */
    uint64_t offset;      /* the file offset of `start`, as recorded */
    uint64_t record;      /* the map record's place in the recording; UINT64_MAX: there is none, since a JIT
                             announced the code */
};
/* Returns 1 and *mapping; 0, and all fields 0 but `size`, if nothing was mapped there. */
int sonde_frame_mapping(const struct sonde_frame *frame, struct sonde_mapping *mapping);

#ifdef __cplusplus
}
#endif

#endif
