/* SPDX-License-Identifier: Apache-2.0 */
/* BPF programs that are loaded already, as KSYMBOL and BPF_EVENT records (perf_event_open(2)). */
#ifndef SONDE_RECORD_BPF_H
#define SONDE_RECORD_BPF_H

#include "os/proc.h"
#include "record/sink.h"

/* Each program's functions, then the program; none without the right to see them. False when memory ran out.
 */
bool record_bpf_encode(const struct os_proc *proc, const struct record_sink *sink, struct writer *w);

#endif
