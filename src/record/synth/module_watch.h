/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules that come and go while recording: each gets a map of the time when it came, so that stock
 * perf, whose own recordings have none for them, names their frames too. */
#ifndef SONDE_RECORD_SYNTH_MODULE_WATCH_H
#define SONDE_RECORD_SYNTH_MODULE_WATCH_H

#include "os/sysfs.h"
#include "record/synth/loaded_modules.h"
#include "record/synth/module_events.h"
#include "record/write/sink.h"

struct record_module_watch {
    const struct os_proc *proc;
    const struct sysfs *sys;
    bool ids;                           /* build-ids in map records */
    struct record_modules known;        /* as they were when last looked at */
    struct record_module_events events; /* when they came and went; without rings where that cannot be had */
    struct writer log;                  /* the text of PERFDATA_PART_MODULES */
};

/* Reads what is loaded now. False when memory ran out. */
bool record_module_watch_init(struct record_module_watch *m, const struct os_proc *proc,
                              const struct sysfs *sys, bool ids);
void record_module_watch_fini(struct record_module_watch *m);

/*
 * Looks again, and forgets the events taken until now but of modules that are not listed yet. Maps of new
 * modules are put as of their event, or where there is none, of `since_ns`, the recording's clock: a time
 * from which on they may have run, and not older than what has been written in earlier rounds. False and *err
 * when they could not be written.
 */
bool record_module_watch_look(struct record_module_watch *m, const struct record_sink *sink,
                              uint64_t since_ns, struct err *err);

#endif
