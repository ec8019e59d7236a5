/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a sample of --off-cpu that are no code, with their names: wakers, if they are asked for, the
 * farthest first, and what the thread waits for.
 *
 *     woken by nginx in sendto              who woke the one below, while the thread waited
 *     woken by app in futex                 who woke it
 *     sleeps in futex: mutex log (app)      what it waits for (waits/name/names.h)
 *
 * Programs in the kernel keep what is waited for, and who woke whom, under hashes. Here each is named once,
 * soon after it was first seen, as who is at the other end of a pipe may be gone a moment later.
 */
#ifndef SONDE_RECORD_OFF_CPU_NAMED_FRAMES_H
#define SONDE_RECORD_OFF_CPU_NAMED_FRAMES_H

#include "base/strpool.h"
#include "bpf/dist/off_cpu.h"
#include "os/bpf/bpf_object.h"
#include "record/off_cpu/wait_frames.h"
#include "record/write/sink.h"
#include "waits/name/names.h"

struct record_waker {
    uint64_t before; /* hash of the next one; 0: none */
    uint32_t frame;  /* in record_named_frames.frames */
};

struct record_named_frames {
    struct os_bpf_object *object; /* borrowed, as the next */
    const char *machine;
    struct waits_names names;
    struct strpool objects, frames; /* their texts; a frame's number is where its address lies */
    struct hash_map by_object;      /* hash -> number in `objects` */
    struct hash_map by_waker;       /* hash -> number in `wakers` */
    VEC(struct record_waker) wakers;
    VEC(uint64_t) seen;                                /* hashes that can leave the kernel's map */
    VEC(uint8_t) told;                                 /* by number of a frame: this file has its name */
    uint8_t plain_told[(RECORD_WAIT_NUMBERS + 7) / 8]; /* the same for record_wait_number: a bit each */
    uint32_t left;                                     /* how many may still be looked at in this turn */
    uint64_t unnamed; /* waits that have no name of their own, as there were too many */
    bool failed;      /* memory ran out */
};

/* `object` is open; `proc` NULL: nothing is looked at. */
void record_named_frames_init(struct record_named_frames *f, struct os_bpf_object *object,
                              const struct os_proc *proc, const char *machine);
void record_named_frames_fini(struct record_named_frames *f);

/* Names what is new, `most` objects at most. False: there is more. */
bool record_named_frames_look(struct record_named_frames *f, uint32_t most);

/* Appends the addresses of the wait's frames, innermost first, to `chain`; names that this file lacks go to
 * `w`. Returns how many: at most RECORD_NAMED_FRAMES_MOST. */
enum { RECORD_NAMED_FRAMES_MOST = BPF_OFF_CPU_WAKERS + 1 };
uint32_t record_named_frames_of(struct record_named_frames *f, const struct bpf_off_cpu_key *key,
                                uint64_t chain[RECORD_NAMED_FRAMES_MOST], const struct record_sink *sink,
                                struct writer *w);

/* Another file begins. */
void record_named_frames_forget(struct record_named_frames *f);

#endif
