/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JITs' own records of their code, found and told to the model before it freezes:
 *
 *   resolve_jit_note_record (all) -> resolve_jit_feed -> model_freeze ; resolve_jit_code per image
 *   resolve_jit_note_record, resolve_jit_follow, sample, ...            a stream, whose dumps still grow
 *
 * A JIT that writes a jitdump maps a page of it, executable, so that recordings tell where it is. Its times
 * are CLOCK_MONOTONIC's, the recording's are those of perf's clock.
 */
#ifndef SONDE_RESOLVE_JIT_H
#define SONDE_RESOLVE_JIT_H

#include "base/arena.h"
#include "base/vec.h"
#include "format/jitdump/jitcode.h"
#include "format/perfdata/added/clock_pair.h"
#include "format/perfdata/events/events.h"
#include "model/model.h"
#include "os/map.h"
#include "symbol/store.h"

/* What is known of CLOCK_MONOTONIC in a recording. */
enum resolve_jit_clock {
    RESOLVE_JIT_CLOCK_UNKNOWN, /* nothing: a dump begins when its marker was mapped */
    RESOLVE_JIT_CLOCK_SAME,    /* it is the recording's clock (-k mono) */
    RESOLVE_JIT_CLOCK_PAIRS,   /* two instants are known on both clocks */
};

/* Texts are borrowed; NULL where there is none. */
struct resolve_jit_options {
    const char *recording; /* its path: dumps may lie beside it */
    const char *dump_dir;  /* --jitdump-dir: where to look first */
    const char *symfs;     /* look for paths below it, and not elsewhere */
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
    const char *why;          /* none was found or it is damaged: for people; else NULL */
    const char *image;        /* the file that the code would be in: DIR/jitted-PID.so */
    bool injected;            /* the recording has files with its code already: it is not used */
    bool again;               /* the same program's marker once more: another one of the list is its dump */
    struct model_when mapped; /* the marker; time 0: before the recording */
    /* When the program that mapped it began and the process began the next one: time 0, MODEL_WHEN_END if
     * that was not seen. */
    struct model_when from, until;
    uint32_t later;        /* how many of the list are of later programs, with the same pid and marker */
    uint32_t image_ids[2]; /* the model's: of code announced in time, and early (jitcode_event.early) */
    struct os_map map;
    struct arena unpacked; /* of a kept one */
    struct jitcode code;
    int64_t offset_ns; /* recording's clock - the dump's, at the dump's start */
    double rate;       /* how many of its ns pass in one of the dump's */
    const char *doubt; /* as symbol_code.doubt */
    /* Its times are those of the processor's counter, which the recording knows. */
    bool counted;
    struct perfdata_time_conv counter;
    uint32_t before, of_process; /* the list's one of the same pid before (HASH_ABSENT: none); how many */
    /* Of a dump that is read as it grows (resolve_jit_follow). */
    bool continues; /* it holds what came after what another one of the list holds */
    struct jit_growth *growth;
    uint8_t *read; /* what was read; owned */
    struct jit_step *steps;
    size_t step_count, next_step;
};

struct jit_growth;
struct jit_step;
struct resolve_jit;

/* `options` is copied, its texts are not. NULL: memory. */
struct resolve_jit *resolve_jit_new(const struct resolve_jit_options *options, struct err *err);
void resolve_jit_free(struct resolve_jit *j); /* NULL is allowed */

/* Remembers a map event of user space if it tells of a jitdump, or of files made of one. Cheap for all
 * others. One dump for each marker: the same path may lead to another file once its process runs another
 * program. False: memory. */
bool resolve_jit_note_map(struct resolve_jit *j, uint32_t pid, struct bytes name, struct model_when when);
/* The same of any record, and what one says of the clock or of programs that begin; others are stepped over.
 */
bool resolve_jit_note_record(struct resolve_jit *j, const struct perfdata_record *rec,
                             struct model_when when);

/* The same from the events, once all of them are known: whether they were recorded with -k mono. */
void resolve_jit_use_clock(struct resolve_jit *j, const struct perfdata_events *events);

/* From the content of PERFDATA_PART_CLOCK, of the preamble and of the trailer (either may be empty): counts
 * less than -k mono. */
void resolve_jit_use_pairs(struct resolve_jit *j, struct bytes start, struct bytes end, bool swap);

/* What is known of the clock otherwise. */
void resolve_jit_set_clock(struct resolve_jit *j, enum resolve_jit_clock clock,
                           const struct perfdata_clock_pair pairs[2]);

/* Reads the dumps and tells the model, which is not frozen, what they say (NULL: only reads them). What
 * cannot be found or read is told of in `why`. False: memory. */
bool resolve_jit_feed(struct resolve_jit *j, struct model *m, struct err *err);

/*
 * Instead of resolve_jit_feed, for a streaming model: tells it what the dumps say up to `now_ns`. Call it
 * ahead of what is asked at that time. `grown`: time to look whether they are longer by now (of new ones it
 * is done in any case). False: memory.
 */
bool resolve_jit_follow(struct resolve_jit *j, struct model *m, uint64_t now_ns, bool grown, struct err *err);

/* The code of an image of the model; false when it has none. Valid as long as `j`. */
bool resolve_jit_code(const struct resolve_jit *j, uint32_t image, struct symbol_code *out);

/* The dumps, in order of their markers. */
size_t resolve_jit_count(const struct resolve_jit *j);
const struct resolve_jit_dump *resolve_jit_dump(const struct resolve_jit *j, size_t i);

/* A time of the dump on the recording's clock, but not before the marker. */
uint64_t resolve_jit_time(const struct resolve_jit_dump *d, uint64_t time);

#endif
