/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds jitdumps, JITs' own records of their code, and feeds them to the model before it freezes:
 *
 *   resolve_jit_note_record (all) -> resolve_jit_feed -> model_freeze ; resolve_jit_code per image
 *   resolve_jit_note_record, resolve_jit_follow, sample, ...            a stream, whose dumps still grow
 *
 * A JIT that writes a jitdump maps a page of it executable, the marker, so that recordings have its path. Its
 * times are CLOCK_MONOTONIC's, the recording's are those of perf's clock.
 */
#ifndef SONDE_RESOLVE_JIT_H
#define SONDE_RESOLVE_JIT_H

#include "base/arena.h"
#include "base/vec.h"
#include "format/jitdump/jitcode.h"
#include "format/perfdata/added/clock_pair.h"
#include "format/perfdata/events/events.h"
#include "model/model.h"
#include "os/files/map.h"
#include "symbol/store/store.h"

/* What a recording says about CLOCK_MONOTONIC. */
enum resolve_jit_clock {
    RESOLVE_JIT_CLOCK_UNKNOWN, /* nothing: a dump is taken to begin when its marker was mapped */
    RESOLVE_JIT_CLOCK_SAME,    /* it is the recording's clock (-k mono) */
    RESOLVE_JIT_CLOCK_PAIRS,   /* two instants are known on both clocks */
};

/* Texts are borrowed; NULL where there is none. */
struct resolve_jit_options {
    const char *recording; /* its path: dumps may lie beside it */
    const char *dump_dir;  /* --jitdump-dir: where to look first */
    const char *symfs;     /* look for paths only below it */
    enum resolve_jit_clock clock;
    struct perfdata_clock_pair pairs[2];
    struct bytes kept; /* PERFDATA_PART_KEPT of the recording; empty: none. Borrowed */
    bool kept_swap;
};

struct resolve_jit_dump {
    uint32_t pid;             /* in the recording */
    const char *marker;       /* its path as mapped */
    const char *path;         /* of the file that was read; NULL: none was found */
    bool kept;                /* it is kept in the recording, and `path` says so */
    const char *why;          /* for people: why none was found, or the damage; else NULL */
    const char *image;        /* the file that the code would be in: DIR/jitted-PID.so */
    bool injected;            /* the recording has files with its code already: it is not used */
    bool again;               /* the program mapped its marker again: an earlier dump of the list is used */
    struct model_when mapped; /* when the marker was; time 0: before the recording */
    /* When the program that mapped it began (time 0: not seen), and when the process began its next program
     * (MODEL_WHEN_END: not seen). */
    struct model_when from, until;
    uint32_t later;        /* how many dumps of the list are of later programs with this pid and marker */
    uint32_t image_ids[2]; /* the model's: of code announced in time, and early (jitcode_event.early) */
    struct os_map map;
    struct arena unpacked; /* the content of a kept one */
    struct jitcode code;
    int64_t offset_ns; /* recording's clock - the dump's, at the dump's start */
    double rate;       /* ns of the recording's clock per ns of the dump's */
    const char *doubt; /* as symbol_code.doubt */
    /* Its times are those of the processor's counter, which `counter` converts. */
    bool counted;
    struct perfdata_time_conv counter;
    uint32_t before, of_process; /* index of the pid's previous dump (HASH_ABSENT: none); how many it has */
    /* For a dump that is read as it grows (resolve_jit_follow): */
    bool continues; /* it is a later part of the same file as another dump of the list */
    struct jit_growth *growth;
    uint8_t *read; /* the bytes that were read; owned */
    struct jit_step *steps;
    size_t step_count, next_step;
};

struct jit_growth;
struct jit_step;
struct resolve_jit;

/* Copies `options`, but not its texts. NULL: out of memory. */
struct resolve_jit *resolve_jit_new(const struct resolve_jit_options *options, struct err *err);
void resolve_jit_free(struct resolve_jit *j); /* NULL is allowed */

/* Remembers a map event of user space if it is a jitdump's marker, or of a file made from a jitdump; cheap
 * for all others. Each marker has its own dump: the same path may lead to another file once the process runs
 * another program. False: out of memory. */
bool resolve_jit_note_map(struct resolve_jit *j, uint32_t pid, struct bytes name, struct model_when when);
/* The same for any record: also notes conversions of the clock and programs that begin; ignores others. */
bool resolve_jit_note_record(struct resolve_jit *j, const struct perfdata_record *rec,
                             struct model_when when);

/* Learns from the events, once all are known, whether they were recorded with -k mono. */
void resolve_jit_use_clock(struct resolve_jit *j, const struct perfdata_events *events);

/* Learns the clock pairs from PERFDATA_PART_CLOCK of the preamble and of the trailer (either may be empty);
 * -k mono takes precedence. */
void resolve_jit_use_pairs(struct resolve_jit *j, struct bytes start, struct bytes end, bool swap);

/* Sets what else is known of the clock. */
void resolve_jit_set_clock(struct resolve_jit *j, enum resolve_jit_clock clock,
                           const struct perfdata_clock_pair pairs[2]);

/* Reads the dumps and feeds them to the model, which is not frozen (NULL: only reads them). A dump's `why`
 * says what could not be found or read. False: out of memory. */
bool resolve_jit_feed(struct resolve_jit *j, struct model *m, struct err *err);

/*
 * Replaces resolve_jit_feed for a streaming model: feeds it the dumps up to `now_ns`. Call it before
 * looking up anything at that time. New dumps are always read; with `grown`, known dumps are also checked for
 * new records. False: out of memory.
 */
bool resolve_jit_follow(struct resolve_jit *j, struct model *m, uint64_t now_ns, bool grown, struct err *err);

/* Finds the code of an image of the model. False: it has none. Valid as long as `j`. */
bool resolve_jit_code(const struct resolve_jit *j, uint32_t image, struct symbol_code *out);

/* The dumps, in order of their markers. */
size_t resolve_jit_count(const struct resolve_jit *j);
const struct resolve_jit_dump *resolve_jit_dump(const struct resolve_jit *j, size_t i);

/* Converts a time of the dump to the recording's clock; never before the marker. */
uint64_t resolve_jit_time(const struct resolve_jit_dump *d, uint64_t time);

#endif
