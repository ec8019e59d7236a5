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

/* Major * 1000 + minor, of the library that runs. */
unsigned sonde_version(void);

/* --- Sessions ------------------------------------------------------------------------------------------ */

struct sonde_session; /* an open recording */
struct sonde_record;  /* the one that sonde_next gave last */
struct sonde_frame;   /* a place in code at an instant */

/* Zero is the default of every field. Texts are borrowed until sonde_close. */
struct sonde_options {
    size_t size;                /* sizeof(struct sonde_options) */
    const char *symfs;          /* look for files with symbols below this directory, and nowhere else */
    const char *build_id_cache; /* perf's cache of files by build-id, as ~/.debug; NULL: none is used */
    const char *vmlinux;        /* the recorded kernel's image with symbols */
    const char *kallsyms;       /* or a copy of its /proc/kallsyms */
    int raw_names;              /* leave C++, Rust and other names mangled */
    int file_order;             /* records in the order of the file; else in the order of time */
    /* Since version 0.2. Without these options no folder is written to and no server is contacted. */
    const char *own_cache;       /* a folder where sonde caches what is slow to compute */
    const char *debuginfod_urls; /* servers to ask for files by build-id; $DEBUGINFOD_URLS is set to them */
    const char *jitdump_dir;     /* look for jitdumps here, too */
    const char *guest_vmlinux, *guest_kallsyms, *guest_modules; /* as vmlinux and kallsyms; /proc/modules */
    const char *force_images; /* files to take without proof: FILE or IMAGE=FILE, with commas between */
    int demangle_kernel;      /* the names of the kernel's functions, too */
    int strict;               /* no names but proved ones */
    unsigned max_stack;       /* so many addresses of a callchain at most; 0: 127 */
};

/*
 * Opens a file, a directory recording, or "-" for standard input (which is read to its end at once).
 * `options` may be NULL. NULL on failure; `error`, unless `error_size` is 0, then holds one line that says
 * why.
 */
struct sonde_session *sonde_open(const char *path, const struct sonde_options *options, char *error,
                                 size_t error_size);
/* The same over a recording in memory, which must outlive the session. */
struct sonde_session *sonde_open_memory(const void *data, size_t size, const struct sonde_options *options,
                                        char *error, size_t error_size);
/* Ends the session and everything that came from it. NULL is allowed. */
void sonde_close(struct sonde_session *session);

/* The next record, valid until the next call for this session; NULL at the end, or when something went wrong.
 */
const struct sonde_record *sonde_next(struct sonde_session *session);
/* Back to the first record. */
void sonde_rewind(struct sonde_session *session);
/* What went wrong, one line, until sonde_close; NULL: nothing. Damage in the recording is no failure: what
 * can be read is, and what cannot is counted. */
const char *sonde_error(const struct sonde_session *session);

/* What is missing from the recording, so far as it was read. */
enum sonde_loss {
    SONDE_LOST_EVENTS,    /* the recorder says so (PERF_RECORD_LOST) */
    SONDE_LOST_SAMPLES,   /* likewise (PERF_RECORD_LOST_SAMPLES) */
    SONDE_BAD_RECORDS,    /* cannot be read */
    SONDE_SKIPPED_BYTES,  /* between records */
    SONDE_UNKNOWN_EVENTS, /* samples whose id belongs to no event of the recording */
};
uint64_t sonde_loss(const struct sonde_session *session, enum sonde_loss which);

/* --- Records ------------------------------------------------------------------------------------------- */

/* PERF_RECORD_*: perf_event_open(2); from 64 on, those of perf record. 9 is a sample. */
#define SONDE_RECORD_SAMPLE 9
unsigned sonde_record_type(const struct sonde_record *record);
/* perf_event_header.misc */
unsigned sonde_record_misc(const struct sonde_record *record);
/* What follows the record's header, as recorded (also its byte order); valid as long as the record. */
const void *sonde_record_bytes(const struct sonde_record *record, size_t *size);
/* Its place in time, ns: its own time or, for a record without, the latest before it. */
uint64_t sonde_record_time(const struct sonde_record *record);
/* The name of the event it belongs to ("cycles:u"), or NULL. Valid until sonde_close. */
const char *sonde_record_event(const struct sonde_record *record);

/* Of samples; for all other records nothing below is there. */
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
    SONDE_CGROUP, /* an id */
    SONDE_DATA_PAGE_SIZE,
    SONDE_CODE_PAGE_SIZE,
};
/* 1 and *value when the sample has the field, else 0 (and *value is 0). */
int sonde_record_get(const struct sonde_record *record, enum sonde_field field, uint64_t *value);
/* What the thread was called then; NULL when no record says. Valid until sonde_close. */
const char *sonde_record_comm(const struct sonde_record *record);
/* PERF_SAMPLE_RAW: a tracepoint's fields, as recorded; NULL without. Valid as long as the record. */
const void *sonde_record_raw(const struct sonde_record *record, size_t *size);

/* Where a sample's frames come from. */
enum sonde_chain {
    SONDE_CHAIN_NONE,  /* it was recorded without a callchain: they are its own place, if it has an address */
    SONDE_CHAIN_EMPTY, /* likewise, because the callchain is empty, or nothing in it can be believed */
    SONDE_CHAIN_READ,  /* the callchain */
};
enum sonde_chain sonde_record_chain(const struct sonde_record *record);
/* How many frames: of the callchain, from the innermost on, without its markers, the first 127 (or what the
 * options say) as `sonde script` shows them. A user stack that was dumped (--call-graph dwarf) is unwound, a
 * call stack that the processor recorded (--call-graph lbr) stands for the user's part. Without a callchain
 * the sample's own place; 0 when there is none either. */
size_t sonde_record_frames(const struct sonde_record *record);
/* Frame `index`; NULL when there is none. Valid as long as the record. */
const struct sonde_frame *sonde_record_frame(const struct sonde_record *record, size_t index);

/* --- Places -------------------------------------------------------------------------------------------- */

/* Texts of frames are valid until sonde_close. What is asked for is looked up then and not before. */

/* What was at an address of process `pid` at an instant (ns; UINT64_MAX: at the end). Valid until the next
 * sonde_resolve. NULL: memory. */
const struct sonde_frame *sonde_resolve(struct sonde_session *session, uint32_t pid, uint64_t time_ns,
                                        int in_kernel, uint64_t address);

/* As recorded; of callers, the return address: they are named after the call that lies before it. Callers in
 * unwound stacks have the address before that. */
uint64_t sonde_frame_address(const struct sonde_frame *frame);
/* The function that covers it, demangled unless the options say no; NULL: none is known. */
const char *sonde_frame_symbol(const struct sonde_frame *frame);
/* How far after the function's start; 0 without one. */
uint64_t sonde_frame_symbol_offset(const struct sonde_frame *frame);
/* The path of what was mapped there, "[kernel.kallsyms]", "[vdso]"...; NULL: nothing was. */
const char *sonde_frame_image(const struct sonde_frame *frame);
/* Where in that file; the address itself in the kernel and in memory without a file. */
uint64_t sonde_frame_image_offset(const struct sonde_frame *frame);
/* The build-id that was recorded for it; NULL, and *size 0, without one. */
const void *sonde_frame_build_id(const struct sonde_frame *frame, size_t *size);
/* The source file (*line may be 0: not known), or NULL. `line` may be NULL. */
const char *sonde_frame_source(const struct sonde_frame *frame, unsigned *line);

/* --- Evidence ------------------------------------------------------------------------------------------ */

/* How well a frame's name is known. */
enum sonde_grade {
    SONDE_EXACT, /* the bytes that gave the name have the identity that was recorded when they were mapped */
    SONDE_INFERRED, /* consistent with all that was recorded, which is not enough to prove it */
    SONDE_STALE,    /* the only candidate is provably not what ran: there is no name */
    SONDE_UNKNOWN,  /* nothing was mapped there, or nothing has a name for it */
};
enum sonde_grade sonde_frame_grade(const struct sonde_frame *frame);
/* "exact", "inferred", "stale", "unknown"; NULL for other numbers. */
const char *sonde_grade_name(enum sonde_grade grade);

/* Texts of what the name rests on; sonde-why(1) prints them. New ones may come. */

/* Why the grade is no better, for people; NULL: it is exact. */
const char *sonde_frame_why(const struct sonde_frame *frame);
/* By what the file was recognised: "build-id", "cookie", "fstat", "kernel", "record"; "none". */
const char *sonde_frame_identity(const struct sonde_frame *frame);
/* The list that the name stands in: "symtab", "dynsym", "minidebuginfo", "plt", "DWARF", "kallsyms",
 * "jitdump", "perf map", "ksymbol"; "none". */
const char *sonde_frame_list(const struct sonde_frame *frame);
/* Where the names of its image come from, for people: "the file itself", "the build-id cache"; "nothing". */
const char *sonde_frame_origin(const struct sonde_frame *frame);
/* The file that gave the name, else the one that was refused; NULL: there is none. */
const char *sonde_frame_evidence_path(const struct sonde_frame *frame);

/* A kernel's: 1 and *slide, recorded addresses minus those of the file that gave its names; else 0. */
int sonde_frame_slide(const struct sonde_frame *frame, int64_t *slide);

/* What mapped the place. */
struct sonde_mapping {
    size_t size;          /* sizeof(struct sonde_mapping), set by the caller; new fields come after */
    uint64_t start, last; /* addresses, both inclusive */
    uint64_t offset;      /* of `start` in the file, as recorded */
    uint64_t record; /* where in the recording the map record lies; UINT64_MAX: none does, a JIT said it */
};
/* 1 and *mapping; 0, and all zero but `size`: nothing was mapped there. */
int sonde_frame_mapping(const struct sonde_frame *frame, struct sonde_mapping *mapping);

#ifdef __cplusplus
}
#endif

#endif
