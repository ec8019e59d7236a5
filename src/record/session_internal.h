/* SPDX-License-Identifier: Apache-2.0 */
/* Between session.c, which begins, switches and ends a recording, and session_loop.c, which runs it. */
#ifndef SONDE_RECORD_SESSION_INTERNAL_H
#define SONDE_RECORD_SESSION_INTERNAL_H

#include "events/control.h"
#include "os/channel.h"
#include "os/files/place.h"
#include "os/proc/host.h"
#include "os/run/child.h"
#include "record/filter/filter.h"
#include "record/keep/identity.h"
#include "record/keep/keep.h"
#include "record/off_cpu/off_cpu.h"
#include "record/probes/probes.h"
#include "record/rings/drain.h"
#include "record/rings/readers.h"
#include "record/rings/trigger.h"
#include "record/session.h"
#include "record/synth/bpf_programs.h"
#include "record/synth/module_watch.h"
#include "record/write/boxes.h"
#include "record/write/facts.h"

enum { CHECKPOINT_MS = 1000 }; /* what is in the rings reaches the file at least so often */

/* What the poller is told of an event with, where it is no ring. */
static const uint64_t TAG_SIGNALS = UINT64_MAX, TAG_CONTROL = UINT64_MAX - 1, TAG_MODULES = UINT64_MAX - 2,
                      TAG_TRIGGER = UINT64_MAX - 3, TAG_CONSUMER = UINT64_MAX - 4;

struct session {
    const struct record_job *job;
    struct record_result *result;
    struct os_host host;
    struct os_signals signals;
    struct os_child child;
    bool had_child;
    struct perf_target target;
    struct perf_events defaults;
    struct writer notes; /* what events became of those that do not exist */
    struct record_plan config;
    struct record_opened opened;
    struct record_trigger trigger; /* of --switch-output-event */
    struct perfdata_events events;
    struct record_file file;
    bool file_open;
    struct record_build_ids build_ids;
    struct record_bpf bpf;
    struct perfdata_kernel_facts kernel_facts; /* no boot id: not found out yet */
    struct record_identities identities;
    struct record_keep keep;
    struct record_module_watch modules;
    int uevents; /* -1: none */
    bool modules_changed;
    struct record_off_cpu *off_cpu; /* NULL: not wanted */
    struct record_filters *filters; /* NULL: no event has one of samples */
    struct record_probes *probes;   /* NULL: there are none with arguments */
    struct record_compress compress;
    struct os_affinity affinity;
    struct record_write_thread thread;
    struct record_layout layout;
    struct record_readers readers; /* of --threads */
    struct record_drain drain;
    struct writer unwound; /* what became of stacks that were unwound */
    struct record_sink sink;
    struct writer pending; /* of the sink */
    bool hold;             /* it waits there */
    struct os_channel channel;
    struct perf_control control;
    int poller;
    size_t polled;                  /* event descriptors that have not hung up */
    bool stop, max_reached, failed; /* failed: not all could be written */
    char cgroup_folder[512];
    char main_file[4096]; /* of a directory */

    uint64_t seconds_told; /* by the last progress */
    int consumer_ms;       /* when the consumer wants its next turn */
    int patience_ms;       /* the longest that the next wait may be; 0: the first */

    /* What happens at given times (-D), in order. */
    uint64_t start_ns; /* os_clock_ns() when the command began */
    size_t toggles;    /* that are done: the first turns events on, the next off, and so on */

    /* --switch-output. */
    bool switch_asked, later_file; /* later: not the first */
    uint64_t file_start_ns;
    char **finished; /* names of the last files, a ring of as many as are kept; owned */
    uint64_t finished_count;
};

/* Bytes that the recording has so far, in all of its files. */
uint64_t record_session_file_size(struct session *s);
/* Hands the records that were made here to whoever writes. */
bool record_session_flush_sink(struct session *s, struct err *err);
/* How many bytes may still be written under --max-size. */
void record_session_set_budget(struct session *s);
/* --switch-output: closes the file and begins the next one. */
bool record_session_switch_file(struct session *s, struct err *err);

/* Forgets what was noted of mapped files so far. */
void record_session_forget(struct session *s);

/* Turns all events on or off; with `toggle`, as --control and -D do it, the side-band stays. */
bool record_session_enable(struct session *s, bool on, bool toggle, struct err *err);
/* The same for --off-cpu alone, if it is asked for. */
bool record_session_off_cpu(struct session *s, bool on, struct err *err);
/* Records what --off-cpu has summed, if it is asked for. */
bool record_session_take_off_cpu(struct session *s, struct err *err);
/* Writes the samples that the owner has made. */
bool record_session_take_made(struct session *s, struct err *err);

/* Takes what is in the rings, once. */
bool record_session_drain(struct session *s, struct err *err);
/* Records the kernel modules that came or went since the last look. */
bool record_session_look_at_modules(struct session *s, struct err *err);
/* Records until it is to end: the command ended, a signal, a command, a limit. */
bool record_session_run(struct session *s, struct err *err);

#endif
