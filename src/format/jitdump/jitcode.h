/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that a jitdump tells of, as one image: each function has a place of its own in a made-up file, as
 * if the JIT had been a compiler and every version of every function was linked into one program. Where and
 * when it lay in memory is a list of events.
 *
 *   dump    LOAD f @1000    LOAD g @1040   MOVE f @1000 -> 2000      LOAD h @1000
 *   image   [f at 1000....][g at 1010.......][h at 1030...]          offsets in the image
 *   events  1000 is f       1040 is g      1000 is empty, 2000 is f  1000 is h
 */
#ifndef SONDE_FORMAT_JITDUMP_JITCODE_H
#define SONDE_FORMAT_JITDUMP_JITCODE_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "format/jitdump/jitdump.h"

enum {
    JITCODE_FIRST_OFFSET =
        0x1000,         /* of the first function in the image: its file begins with a page of tables */
    JITCODE_ALIGN = 16, /* between functions */
};

#define JITCODE_NONE UINT32_MAX

struct jitcode_function {
    uint64_t offset; /* in the image */
    uint64_t time;   /* of its LOAD record */
    uint64_t address, index;
    struct bytes name, code;
    struct bytes lines; /* of its DEBUG_INFO record, for jitcode_line_next; empty without, or if senseless */
    /* Not 0: the files' names in the lines are garbage of this constant size, and the function's own name
     * says which file it is. */
    uint32_t line_stride;
    struct bytes line_file;
    struct bytes inlines; /* for jitdump_inlines_open; empty without */
    struct jitdump_unwinding unwinding;
    uint32_t tid;
};

enum jitcode_event_kind {
    JITCODE_APPEARS, /* [address, address + size) is the function from now on */
    JITCODE_LEAVES,  /* that range is no announced code any more */
    JITCODE_CLOSED,  /* nothing is: the JIT has ended */
};

/*
 * JITs announce code after they made it, and some let it run before: Java's virtual machine leaves it to
 * another thread. So an address that nothing was announced for is believed to be already what is announced
 * for it soon.
 */
enum { JITCODE_EARLY_NS = 100000000 };

struct jitcode_event {
    uint64_t time;
    uint64_t early; /* appears: since when it may be believed to be there; `time` if only since then */
    uint64_t address, size;
    uint32_t function; /* JITCODE_NONE unless it appears */
    uint32_t kind;
};

struct jitcode {
    struct jitdump_header header;
    bool swap;
    /* The header's time, if it can be of the same clock as the records' (V8 has the wall clock there, in
     * microseconds); else the first record's. */
    bool header_timed;
    uint64_t start;
    VEC(struct jitcode_function) functions; /* ascending by offset */
    VEC(struct jitcode_event) events;       /* ascending by time */
    uint64_t end;                           /* the first offset after all functions */
    uint64_t refused;                       /* records that make no sense and were left out */
    struct err damage;                      /* code is not ERR_NONE: the first thing wrong */
    uint32_t line_shift;                    /* how much too high the addresses in DEBUG_INFO are */
    uint64_t whole, wanted;                 /* jitcode_read_part: see there */
};

/* Reads a whole dump, which is borrowed by everything in `out`. What is damaged is left out, and told of in
 * out->damage. False: it is no jitdump, or memory ran out. jitcode_fini is allowed in any case. */
bool jitcode_read(struct bytes file, struct jitcode *out, struct err *err);
void jitcode_fini(struct jitcode *j);

/* DEBUG_INFO and its like come before the LOAD they belong to; other threads' records may lie between.
 */
struct jitcode_pending {
    uint64_t address, count;
    uint64_t at; /* of its record, in the part */
    struct bytes lines;
    bool inlines; /* it is the body of a JITDUMP_INLINES record instead */
    bool kept;    /* from an earlier part, in `kept` of the history */
};

/* What was read of a dump that is still being written: all zero at first. */
struct jitcode_history {
    bool begun, ended; /* ended: nothing after can be found, it is damaged */
    bool swap, header_timed, shift_seen, shift_known;
    struct jitdump_header header;
    uint64_t start;
    VEC(struct jitcode_function) functions; /* of the parts so far */
    VEC(struct jitcode_pending) lines;      /* whose LOAD is yet to come */
    struct arena kept;
    struct hash_map by_address, by_index; /* the function that lies there now; the last with that index */
};

/*
 * Reads on: `part` begins where the last one's `whole` bytes ended (the first one with the dump's header),
 * and is borrowed by everything in `out` and by the history, which `out` borrows in turn. A function that
 * moves and came in an earlier part is in this one again. out->whole: how much of the part needs no further
 * look; there is no more before the part has out->wanted bytes. As jitcode_read otherwise.
 */
bool jitcode_read_part(struct bytes part, struct jitcode_history *h, struct jitcode *out, struct err *err);
void jitcode_history_fini(struct jitcode_history *h);

/* The lines of a function, ascending by address or not, as its writer put them; the file's name is whole
 * (*last holds it between calls: start with an empty one), addresses count from the function's start. */
bool jitcode_line_next(const struct jitcode *j, const struct jitcode_function *f, struct bytes *rest,
                       struct bytes *last, struct jitdump_line *out);

/* The function at an offset in the image, or NULL. */
const struct jitcode_function *jitcode_find(const struct jitcode *j, uint64_t offset);

/* Whether this is the name of a jitdump, DIR/jit-PID.dump: by mapping a page of it, executable, a JIT leaves
 * the trace in the recording that it wrote one. */
bool jitcode_is_marker(const char *path);

#endif
