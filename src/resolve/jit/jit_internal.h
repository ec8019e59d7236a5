/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of resolve/jit. */
#ifndef SONDE_RESOLVE_JIT_INTERNAL_H
#define SONDE_RESOLVE_JIT_INTERNAL_H

#include "base/hash.h"
#include "resolve/jit/jit.h"

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
    struct hash_map last_of;           /* pid -> index of its last dump */
    struct hash_map injected;          /* pids whose code is in files already */
    struct hash_map by_image;          /* image -> 2 * its dump's index, + 1: early code */
    struct perfdata_time_conv counter; /* converts times of the processor's counter */
    bool growing;                      /* dumps are read as they grow */
    bool news;                         /* a marker came since the last look */
    VEC(uint32_t) waiting;             /* growing: dumps with steps not taken yet */
    uint64_t next_ns;                  /* growing: the time of the next step */
};

/* A change of the code, in the order of time. */
struct jit_step {
    uint64_t time_ns; /* on the recording's clock */
    uint32_t event;   /* index in the dump's code.events */
    uint8_t early;    /* the code is believed to exist already, but is announced later */
};

/* A dump that is still being written. */
struct jit_growth {
    struct os_file file;
    uint8_t header[JITDUMP_HEADER_SIZE];
    uint64_t at, wanted; /* all was read up to `at`; the next record needs `wanted` bytes from there on */
    struct jitcode_history history;
    bool closed;    /* the JIT has ended the dump */
    bool replaced;  /* the file belongs to another program by now */
    unsigned tries; /* how often the file was looked for */
};
void jit_growth_free(struct jit_growth *g);

/* Appends a zeroed dump to j->dumps. NULL: out of memory. */
struct resolve_jit_dump *jit_new_dump(struct resolve_jit *j);

/* Finds out which program mapped each marker, and sets `again` of repeated ones. */
void jit_settle_markers(struct resolve_jit *j);

/* Looks for the dump's file and reads it; d->path and d->why have the result. False: out of memory. */
bool jit_find(struct resolve_jit *j, struct resolve_jit_dump *d, struct err *err);

/* Sets how times of the dump, whose beginning was read, are converted to the recording's clock. */
void jit_set_clock(const struct resolve_jit *j, struct resolve_jit_dump *d);

/* Whether the file that was read was begun while the program that mapped the marker ran: another program with
 * the same pid, before or after an exec, may have written another file of the same name. */
bool jit_is_of_that_program(const struct resolve_jit_dump *d);

/* Makes images of the model for the code of a dump. False: out of memory. */
bool jit_add_images(struct resolve_jit *j, size_t index, struct model *m, struct err *err);

/* Feeds an event to the model, at its early or at its announced time. False: out of memory. */
bool jit_feed_event(const struct resolve_jit_dump *d, struct model *m, size_t i, bool early, struct err *err);

/* An event's early or announced time, on the recording's clock. */
uint64_t jit_event_time(const struct resolve_jit_dump *d, size_t i, bool early);

/* Reads what is new in the file of `g` into d->read and d->code, which may stay empty. False: out of memory,
 * or the file is no jitdump (found at the first reading only). */
bool jit_read_more(struct resolve_jit_dump *d, struct jit_growth *g, struct err *err);

#endif
