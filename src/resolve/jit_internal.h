/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of resolve/jit share. */
#ifndef SONDE_RESOLVE_JIT_INTERNAL_H
#define SONDE_RESOLVE_JIT_INTERNAL_H

#include "base/hash.h"
#include "resolve/jit.h"

/* A process begins, or begins another program. */
struct jit_beginning {
    struct model_when when;
    uint32_t pid;
};

struct resolve_jit {
    struct resolve_jit_options options;
    struct arena texts;
    VEC(struct resolve_jit_dump *) dumps;
    VEC(struct jit_beginning) begun;
    struct hash_map last_of;           /* pid -> the last of its dumps in the list */
    struct hash_map injected;          /* pids whose code is in files already */
    struct hash_map by_image;          /* image -> its dump's index, doubled; odd: early code */
    struct perfdata_time_conv counter; /* of the processor's counter */
    bool growing;                      /* dumps are read as they grow */
    bool news;                         /* a marker came since the last look */
    VEC(uint32_t) waiting;             /* growing: dumps with steps to come */
    uint64_t next_ns;                  /* growing: nothing happens to code before */
};

/* What happens to code, in the order of time. */
struct jit_step {
    uint64_t time_ns; /* on the recording's clock */
    uint32_t event;   /* of the dump's code */
    uint8_t early;    /* the code is believed to be there, its announcement comes later */
};

/* A dump that is still being written. */
struct jit_growth {
    struct os_file file;
    uint8_t header[JITDUMP_HEADER_SIZE];
    uint64_t at, wanted; /* what was read is done with up to here; there is no more before it has so many */
    struct jitcode_history history;
    bool closed;    /* the JIT has said that it was all */
    bool replaced;  /* the file is of another program by now */
    unsigned tries; /* to find it */
};
void jit_growth_free(struct jit_growth *g);

/* Appended to j->dumps, all zero. NULL: memory. */
struct resolve_jit_dump *jit_new_dump(struct resolve_jit *j);

/* Finds out which program each marker is of, and which of them is one too many. */
void jit_settle_markers(struct resolve_jit *j);

/* Looks for the dump's file, and reads it. False: memory; else *d says what came of it. */
bool jit_find(struct resolve_jit *j, struct resolve_jit_dump *d, struct err *err);

/* How the times of the dump, of which something was read, become the recording's. */
void jit_set_clock(const struct resolve_jit *j, struct resolve_jit_dump *d);

/* Whether what was read began while the program ran that mapped the marker: with the same number another
 * program, before or after an exec, may have written another file of the same name. */
bool jit_is_of_that_program(const struct resolve_jit_dump *d);

/* Makes images of the model for the code of a dump. False: memory. */
bool jit_add_images(struct resolve_jit *j, size_t index, struct model *m, struct err *err);

/* Tells the model of an event: its code is early, or there in time. False: memory. */
bool jit_feed_event(const struct resolve_jit_dump *d, struct model *m, size_t i, bool early, struct err *err);

/* The time of an event on the recording's clock: since when it counts, early or in time. */
uint64_t jit_event_time(const struct resolve_jit_dump *d, size_t i, bool early);

/* Reads what the file of `g` has more, into d->read and d->code, which is empty without anything new. False
 * and *err: memory, or, at first, that it is no jitdump. */
bool jit_read_more(struct resolve_jit_dump *d, struct jit_growth *g, struct err *err);

#endif
