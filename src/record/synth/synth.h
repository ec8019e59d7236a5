/* SPDX-License-Identifier: Apache-2.0 */
/* What existed before the recording: kernel, modules, processes, told into a sink. */
#ifndef SONDE_RECORD_SYNTH_SYNTH_H
#define SONDE_RECORD_SYNTH_SYNTH_H

#include "os/proc/proc.h"
#include "record/write/sink.h"

/* A record_synth_fn; ctx: the const struct os_proc to ask. */
bool record_synth(void *ctx, const struct record_synth_request *r, const struct record_sink *sink,
                  struct err *err);

#endif
